// SPDX-License-Identifier: MIT
// The kernels of CoPE, the forgetting transformer, DAPE and PoPE against their plain references, tile by tile, with
// queries that do not fill the last vector.
#include <algorithm>
#include <cmath>

#include "base/math.h"
#include "base/sigmoid.h"
#include "position/cope_tile.h"
#include "position/dape_tile.h"
#include "position/pope_tile.h"
#include "scheme_support.h"

namespace poslab {
namespace {

using testing::Make;
using testing::NormalNumbers;
using testing::Number;
using testing::Tensors;
using testing::Text;

constexpr double kUnit = 1.0 / (1 << 24);  // of a float's rounding
constexpr int64_t kKeys = 23;

// A call of queries from position `start` on and keys from 0 on, with the hooks of a scheme.
struct TileCall {
  TileCall(const Scheme& scheme, const Tensors& tensors, int64_t heads, int64_t dim, int64_t queries, int64_t start)
      : values(tensors.values()), call(testing::Call(heads, dim, queries, kKeys)) {
    call.query_positions = {start, queries, nullptr};
    call.parameters = values;
    REQUIRE(scheme.Bind(call, &hooks).ok());
    tile.heads = hooks.tile->all_heads() ? heads : 1;
    tile.queries = tile.stride = queries, tile.head_dim = dim;
    tile.query_positions = call.query_positions, tile.key_positions = call.key_positions;
    state.resize(static_cast<size_t>(tile.heads * queries * hooks.tile->state_size()));
    tile.state = state.data();
    reach.assign(static_cast<size_t>(queries), kKeys);
    tile.reach = reach.data();
  }
  // Runs the keys in two tiles, the later ones first when the hook wants that. logits: [heads, keys, queries].
  void Forward(std::vector<float>* logits) {
    constexpr int64_t kFirst = 14;
    const bool descending = hooks.tile->descending();
    for (const bool second : {descending, !descending}) {
      tile.first_key = second ? kFirst : 0, tile.keys = second ? kKeys - kFirst : kFirst;
      std::vector<float> part(static_cast<size_t>(tile.heads * tile.keys * tile.queries));
      const auto from = [&](int64_t h) { return logits->begin() + (h * kKeys + tile.first_key) * tile.queries; };
      const int64_t size = tile.keys * tile.queries;
      for (int64_t h = 0; h < tile.heads; ++h) std::copy_n(from(h), size, part.begin() + h * size);
      tile.logits = part.data();
      tile.key = keys ? keys + tile.first_key * tile.head_dim : nullptr;
      REQUIRE(hooks.tile->Forward(tile).ok());
      for (int64_t h = 0; h < tile.heads; ++h) std::copy_n(part.begin() + h * size, size, from(h));
    }
  }

  std::vector<TensorView<const float>> values;
  BindArguments call;
  Hooks hooks;
  TileArguments tile;
  std::vector<float> state;
  std::vector<int64_t> reach;  // all keys
  const float* keys = nullptr;
};

TEST_CASE("CoPE's tiles are its plain reference, before and past the last count") {
  constexpr int64_t kDim = 6;
  for (const int64_t positions : {1, 3, 64}) {
    for (const int64_t queries : {1, 4, 7}) {
      CAPTURE(positions);
      CAPTURE(queries);
      Tensors tensors;
      tensors.Add("table", {positions, kDim}, 1, 1);
      const auto scheme = Make("cope", {Number("positions", static_cast<double>(positions))});
      TileCall call(*scheme, tensors, 1, kDim, queries, kKeys);
      const std::vector<float> rows = NormalNumbers(queries * kDim, 2), before = NormalNumbers(kKeys * queries, 3);
      std::vector<float> after = before;
      call.tile.query = rows.data();
      call.Forward(&after);
      for (int64_t i = 0; i < queries; ++i) {
        std::vector<double> logits;
        for (int64_t j = 0; j < kKeys; ++j) logits.push_back(before[static_cast<size_t>(j * queries + i)]);
        const float* query = rows.data() + i * kDim;
        const std::vector<double> terms =
            CopeTile::Reference(logits, query, tensors.numbers("table").data(), positions, kDim);
        double reach = 0;  // of any product
        for (int64_t p = 0; p < positions; ++p) {
          double sum = 0;
          for (int64_t d = 0; d < kDim; ++d)
            sum += std::fabs(query[d] * tensors.numbers("table")[static_cast<size_t>(p * kDim + d)]);
          reach = std::max(reach, sum);
        }
        // The count is off by what its gates are and by a rounding of a number below 2 each, and moves the term by up to
        // twice the reach; the products are off by a rounding a term, and interpolation and sum by a few more.
        const double count = kKeys * (kSigmoidRelativeError + kUnit);
        const double tolerance = reach * (2 * count + (2 * kDim + 6) * kUnit) + 8 * kUnit;
        for (int64_t j = 0; j < kKeys; ++j) {
          const auto at = static_cast<size_t>(j * queries + i);
          CHECK(std::fabs(after[at] - (logits[static_cast<size_t>(j)] + terms[static_cast<size_t>(j)])) <= tolerance);
        }
      }
    }
  }
}

TEST_CASE("Forgetting's tiles sum the gates of the keys that a query counts") {
  constexpr int64_t kStart = 12, kHidden = 5;
  constexpr int64_t kIds[] = {12, 14, 13, 3, 20, 16, 22};
  std::vector<uint8_t> mask(kKeys, 1);
  mask[kHidden] = 0;
  for (const bool irregular : {false, true}) {
    TileCall call(*Make("forgetting"), {}, 1, 4, 7, kStart);
    if (irregular) call.tile.query_positions.ids = kIds;
    const std::vector<float> gates = NormalNumbers(kKeys, 4);
    std::vector<float> logits(kKeys * 7);
    call.tile.gates = gates.data();
    call.tile.key_mask = mask.data();
    call.Forward(&logits);
    for (int64_t i = 0; i < 7; ++i) {
      double sum = 0;
      for (int64_t j = kKeys - 1; j >= 0; --j) {
        CHECK(std::fabs(logits[static_cast<size_t>(j * 7 + i)] - sum) <= kKeys * kKeys * 4 * kUnit);
        if (j != kHidden && j <= call.tile.query_positions[i]) sum += gates[static_cast<size_t>(j)];
      }
    }
  }
}

TEST_CASE("DAPE's tiles are its plain reference, with positions that step by one and with others") {
  constexpr int64_t kHeads = 3, kWidth = 5, kQueries = 7;
  constexpr int64_t kIds[] = {3, 9, 4, 22, 0, 7, 11};
  Tensors tensors;
  tensors.Add("r1", {kHeads}, std::vector<float>{0.7f, 1.1f, 0.2f});
  tensors.Add("r2", {kHeads}, std::vector<float>{0.4f, 0.1f, 0.9f});
  tensors.Add("weight1", {kWidth, 2 * kHeads}, 0.5, 5);
  tensors.Add("bias1", {kWidth}, 0.5, 6);
  tensors.Add("weight2", {kHeads, kWidth}, 0.5, 7);
  tensors.Add("bias2", {kHeads}, 0.5, 8);
  const auto scheme = Make("dape", {Number("width", kWidth)});
  for (const bool irregular : {false, true}) {
    TileCall call(*scheme, tensors, kHeads, 4, kQueries, 9);
    if (irregular) call.tile.query_positions.ids = kIds;
    const std::vector<float> before = NormalNumbers(kHeads * kKeys * kQueries, 9);
    std::vector<float> after = before;
    call.Forward(&after);
    const auto& slice = *static_cast<const DapeTile&>(*call.hooks.tile).base.slice;
    for (int64_t j = 0; j < kKeys; ++j) {
      for (int64_t i = 0; i < kQueries; ++i) {
        double logits[kHeads], biases[kHeads], expected[kHeads];
        const auto at = [&](int64_t h) { return static_cast<size_t>((h * kKeys + j) * kQueries + i); };
        for (int64_t h = 0; h < kHeads; ++h) {
          float bias;
          slice.Evaluate(h, j - call.tile.query_positions[i], 1, &bias);
          logits[h] = before[at(h)], biases[h] = bias;
        }
        DapeTile::Reference(logits, biases, tensors.numbers("weight1").data(), tensors.numbers("bias1").data(),
                            tensors.numbers("weight2").data(), tensors.numbers("bias2").data(), kHeads, kWidth,
                            expected);
        // Numbers and weights stay below 8 and 2: hidden units below 100, results below 1000, a rounding a term.
        for (int64_t h = 0; h < kHeads; ++h)
          CHECK(std::fabs(after[at(h)] - expected[h]) <= 1000 * (2 * kHeads + kWidth + 8) * kUnit);
      }
    }
  }
}

TEST_CASE("PoPE's tiles are its plain reference") {
  for (const int64_t dim : {4, 6, 9}) {
    constexpr int64_t kQueries = 7, kStart = 30;
    Tensors tensors;
    tensors.Add("phases", {1, dim}, std::vector<float>(static_cast<size_t>(dim), -0.75f));
    TileCall call(*Make("pope"), tensors, 1, dim, kQueries, kStart);
    const std::vector<float> queries = NormalNumbers(kQueries * dim, 10), keys = NormalNumbers(kKeys * dim, 11);
    call.tile.query = queries.data(), call.keys = keys.data(), call.tile.scale = 0.5f;
    std::vector<float> logits(static_cast<size_t>(kKeys * kQueries));
    call.Forward(&logits);
    for (int64_t j = 0; j < kKeys; ++j) {
      for (int64_t i = 0; i < kQueries; ++i) {
        std::vector<double> angles;
        for (int64_t d = 0; d < dim; ++d)
          angles.push_back(static_cast<double>(j - kStart - i) *
                               Pow(10000, -static_cast<double>(d) / static_cast<double>(dim)) -
                           0.75);
        const float *query = queries.data() + i * dim, *key = keys.data() + j * dim;
        const double expected = PopeTile::LogitReference(query, key, angles.data(), dim, 0.5);
        // Without turns the sum is its own reach; each of its 2 dim terms is off by two lengths' errors, six roundings of
        // panels and scale, and one a term of the sum.
        const std::vector<double> none(static_cast<size_t>(dim));
        const double reach = 2 * PopeTile::LogitReference(query, key, none.data(), dim, 0.5);
        const double tolerance = reach * (2 * kSoftplusRelativeError + (2 * static_cast<double>(dim) + 8) * kUnit);
        CHECK(std::fabs(logits[static_cast<size_t>(j * kQueries + i)] - expected) <= tolerance);
      }
    }
  }
}

}  // namespace
}  // namespace poslab
