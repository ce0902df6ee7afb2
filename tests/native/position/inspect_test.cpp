// SPDX-License-Identifier: MIT
// Looking at schemes: default positions, sizes beyond memory, and calls that a scheme has no answer for.
#include "position/inspect.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/status_message.h"
#include "position/t5_buckets.h"
#include "scheme_support.h"

namespace poslab {
namespace {

using testing::Boolean;
using testing::Make;
using testing::Number;
using testing::Numbers;
using testing::Tensors;

TEST_CASE("Queries stand at the end of the keys unless ids say otherwise, and both ways agree") {
  for (const char* type : {"alibi", "t5", "kerple"}) {
    Tensors tensors;
    if (type[0] == 't') tensors.Add("table", {32, 2}, 1, 1);
    if (type[0] == 'k') {
      tensors.Add("r1", {2}, std::vector<float>{1, 2});
      tensors.Add("r2", {2}, std::vector<float>{0.5f, 1});
    }
    const auto values = tensors.values();
    const auto scheme = Make(type);
    for (auto [queries, keys] : {std::pair<int64_t, int64_t>{4, 4}, {3, 50}, {50, 3}, {1, 1}}) {
      inspect::BiasArguments arguments;
      arguments.heads = 2, arguments.query_length = queries, arguments.key_length = keys, arguments.parameters = values;
      Buffer<float> by_default, by_ids, scattered;
      REQUIRE(inspect::Bias(*scheme, arguments, &by_default).ok());
      std::vector<int64_t> query_ids, key_ids;
      for (int64_t i = 0; i < queries; ++i) query_ids.push_back(i + keys - queries);
      for (int64_t j = 0; j < keys; ++j) key_ids.push_back(j);
      arguments.query_ids = query_ids.data(), arguments.key_ids = key_ids.data();
      REQUIRE(inspect::Bias(*scheme, arguments, &by_ids).ok());
      CHECK(std::equal(by_default.begin(), by_default.end(), by_ids.begin()));
      // A gap too wide for a table of all distances changes only the keys behind it.
      key_ids.back() = int64_t{1} << 40;
      REQUIRE(inspect::Bias(*scheme, arguments, &scattered).ok());
      for (int64_t n = 0; n < scattered.size(); ++n) {
        if (n % keys != keys - 1) CHECK(scattered[n] == by_ids[n]);
      }
    }
  }
}

TEST_CASE("Sizes beyond memory are refused with the number of bytes asked for") {
  Buffer<float> out;
  inspect::BiasArguments arguments;
  arguments.heads = 12, arguments.query_length = arguments.key_length = 9459;
  if (sizeof(void*) == 4) {
    const Status status = inspect::Bias(*Make("alibi"), arguments, &out);
    CHECK(status.code() == Code::kMemory);
    CHECK(status.given_number() == 4294688688.0);
    CHECK(Message(status).find("4294688688 bytes") != std::string::npos);
    CHECK(inspect::Table(*Make("sinusoidal"), 0, 7986355680 / 16, 4, {}, &out).given_number() == 7986355680.0);
  }
  arguments.query_length = arguments.key_length = 10000000;
  const Status status = inspect::Bias(*Make("alibi"), arguments, &out);
  CHECK(status.code() == Code::kMemory);
  CHECK(status.given_number() == 4.8e15);
  CHECK(Message(status).find("4800000000000000 bytes") != std::string::npos);
  // A product beyond 63 bits is no small number.
  arguments.query_length = arguments.key_length = int64_t{1} << 40;
  CHECK(inspect::Bias(*Make("alibi"), arguments, &out).code() == Code::kMemory);
  CHECK(inspect::Table(*Make("sinusoidal"), 0, int64_t{1} << 40, int64_t{1} << 40, {}, &out).code() == Code::kMemory);
  for (const int64_t head_dim : {int64_t{0}, int64_t{-2}, (int64_t{1} << 20) + 2, int64_t{1} << 52})
    CHECK(inspect::Frequencies(*Make("rope"), head_dim, 1).status().code() == Code::kRange);
  // And the next small call works.
  CHECK(inspect::Table(*Make("sinusoidal"), 0, 2, 4, {}, &out).ok());
}

TEST_CASE("Length 0 gives an empty result and negative lengths are refused by name") {
  Buffer<float> out;
  CHECK(inspect::Table(*Make("sinusoidal"), 0, 0, 4, {}, &out).ok());
  CHECK(out.size() == 0);
  CHECK(inspect::Rotate(*Make("rope"), 2, 0, 4, nullptr, {0, 0, nullptr}, &out).ok());
  inspect::BiasArguments arguments;
  arguments.heads = 2, arguments.query_length = 0, arguments.key_length = 3;
  CHECK(inspect::Bias(*Make("alibi"), arguments, &out).ok());
  CHECK(out.size() == 0);
  CHECK(inspect::Table(*Make("sinusoidal"), 0, -1, 4, {}, &out).argument() == "length");
  arguments.query_length = -1;
  CHECK(inspect::Bias(*Make("alibi"), arguments, &out).argument() == "queryLength");
  arguments.heads = 0;
  CHECK(inspect::Bias(*Make("alibi"), arguments, &out).argument() == "heads");
}

TEST_CASE("A call that a scheme has no answer for says which schemes have one") {
  Buffer<float> out;
  Buffer<int64_t> buckets;
  const float x[8] = {};
  const int64_t distances[] = {0};
  inspect::BiasArguments arguments;
  arguments.heads = 2, arguments.query_length = arguments.key_length = 2;
  const auto refused = [](const Status& status) {
    return status.code() == Code::kContradiction && status.argument() == "position" && !status.given().empty();
  };
  for (const char* type : {"none", "alibi", "rope", "xpos", "shaw", "t5"}) {
    CAPTURE(type);
    CHECK(refused(inspect::Table(*Make(type), 0, 2, 4, {}, &out)));
  }
  for (const char* type : {"none", "sinusoidal", "alibi", "shaw", "t5"}) {
    CAPTURE(type);
    CHECK(refused(inspect::Frequencies(*Make(type), 8, 4).status()));
    CHECK(refused(inspect::Rotate(*Make(type), 1, 1, 8, x, {0, 1, nullptr}, &out)));
  }
  for (const char* type : {"none", "sinusoidal", "learned", "rope", "xpos", "shaw", "transformer-xl"}) {
    CAPTURE(type);
    CHECK(refused(inspect::Bias(*Make(type), arguments, &out)));
    CHECK(refused(inspect::Slopes(*Make(type), 4).status()));
    CHECK(refused(inspect::Buckets(*Make(type), distances, &buckets)));
  }
  for (const char* type : {"t5", "kerple"}) CHECK(refused(inspect::Slopes(*Make(type), 4).status()));
  CHECK(refused(inspect::Rotate(*Make("xpos"), 1, 1, 8, x, {0, 1, nullptr}, &out)));
}

TEST_CASE("Buckets come for any distance, positions must be as many as rows") {
  Buffer<int64_t> buckets;
  const int64_t distances[] = {-200, -64, 0, 1, 200, INT64_MIN, INT64_MAX};
  REQUIRE(inspect::Buckets(*Make("t5", {Boolean("bidirectional", true)}), distances, &buckets).ok());
  CHECK(std::vector<int64_t>(buckets.begin(), buckets.end()) == std::vector<int64_t>{15, 14, 0, 17, 31, 15, 31});
  Buffer<float> out;
  const float x[16] = {};
  CHECK(inspect::Rotate(*Make("rope"), 1, 2, 8, x, {0, 1, nullptr}, &out).code() == Code::kShape);
}

TEST_CASE("Start parameters have the shapes of these dimensions, the same numbers for the same seed, and their floor") {
  Dimensions dimensions;
  dimensions.heads = 2;
  const auto kerple = inspect::StartParameters(*Make("kerple"), dimensions, 7);
  REQUIRE(kerple.ok());
  REQUIRE(kerple->size() == 2);
  CHECK((*kerple)[0].name == "r1");
  CHECK((*kerple)[1].shape == std::vector<int64_t>{2});
  for (const auto& tensor : *kerple) {
    for (float value : tensor.values.span()) CHECK((value >= 0.01f && value < 2));
  }
  const auto again = inspect::StartParameters(*Make("kerple"), dimensions, 7);
  const auto other = inspect::StartParameters(*Make("kerple"), dimensions, 8);
  CHECK((*again)[1].values[1] == (*kerple)[1].values[1]);
  CHECK((*other)[1].values[1] != (*kerple)[1].values[1]);
  CHECK(inspect::StartParameters(*Make("alibi"), dimensions, 7)->empty());
  CHECK(inspect::StartParameters(*Make("kerple"), {}, 7).status().code() == Code::kMissing);
  dimensions.head_dim = int64_t{1} << 60;
  CHECK(inspect::StartParameters(*Make("shaw"), dimensions, 7).status().code() == Code::kMemory);
  dimensions.model_dim = 8;
  for (const int64_t heads : {16, 24}) {  // whose product with the width is 0 and something small in 64 bits
    dimensions.heads = heads, dimensions.head_dim = (int64_t{1} << 60) + heads - 16;
    CHECK(inspect::StartParameters(*Make("transformer-xl"), dimensions, 7).status().code() == Code::kMemory);
    CHECK(!inspect::StartParameters(*Make("deberta"), dimensions, 7).ok());
  }
  dimensions.heads = int64_t{1} << 62;
  CHECK(inspect::StartParameters(*Make("dape"), dimensions, 7).status().code() == Code::kMemory);
  dimensions.heads = 2, dimensions.trained_length = std::numeric_limits<int64_t>::max();
  CHECK(inspect::StartParameters(*Make("swin"), dimensions, 7).status().code() == Code::kMemory);
}

TEST_CASE("Lengths and positions at the ends of what they may be are refused or taken, and nothing overflows") {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();
  Buffer<float> out;
  const float x[16] = {};
  const int64_t ids[2] = {kMost, kLeast};
  for (const Positions positions : {Positions{kMost, 2, nullptr}, Positions{kLeast, 2, nullptr}, Positions{0, 2, ids}})
    CHECK(inspect::Rotate(*Make("rope"), 1, 2, 8, x, positions, &out).argument() == "positions");
  inspect::BiasArguments arguments;
  arguments.heads = 1, arguments.key_length = 27, arguments.query_length = kLeast;
  CHECK(inspect::Bias(*Make("alibi"), arguments, &out).argument() == "queryLength");
  arguments.query_length = 27, arguments.key_length = kLeast;
  CHECK(inspect::Bias(*Make("alibi"), arguments, &out).argument() == "keyLength");
  // A width of 0 is no width that the tables could say better.
  Tensors tables;
  tables.Add("rows", {2, 4}, 1, 1);
  tables.Add("columns", {3, 4}, 1, 2);
  const auto values = tables.values();
  const auto grid = Make("axial-learned", {Number("gridHeight", 2), Number("gridWidth", 3)});
  CHECK(inspect::Table(*grid, 0, 3, 0, values, &out).ok());
  CHECK(out.empty());
  Buffer<int64_t> buckets;
  const int64_t distances[4] = {kLeast, -1000, kMost, 1000};
  REQUIRE(inspect::Buckets(*Make("deberta"), distances, &buckets).ok());
  CHECK(buckets[0] == buckets[1]);
  CHECK(buckets[2] == buckets[3]);
  CHECK(buckets[0] != buckets[2]);
}

}  // namespace
}  // namespace poslab
