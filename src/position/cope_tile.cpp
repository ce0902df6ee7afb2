// SPDX-License-Identifier: MIT
#include "position/cope_tile.h"

#include <algorithm>
#include <cmath>

#include "base/math.h"
#include "base/matmul.h"
#include "base/sigmoid.h"
#include "base/transpose.h"

namespace poslab {

Status CopeTile::Prepare(const BindArguments& arguments) {
  // No more counts than keys are ever met, and none of 0 keys.
  const int64_t dim = arguments.dimensions.head_dim;
  transposed_columns_ = std::min(positions_, arguments.key_positions.count + 1) + 1;
  POSLAB_RETURN_IF_ERROR(transposed_.ResizeForOverwrite("table", CheckedProduct({transposed_columns_, dim})));
  const int64_t rows = std::min(positions_, transposed_columns_);
  Transpose(tensors.value(0), dim, rows, dim, transposed_.data(), transposed_columns_);
  for (int64_t d = 0; d < dim && rows < transposed_columns_; ++d) {
    float* row = transposed_.data() + d * transposed_columns_;
    row[rows] = row[rows - 1];
  }
  return Status::Ok();
}

Status CopeTile::MakeProducts(const TileArguments& tile, int64_t slot) const {
  const float* wholes = tile.state + slot * tile.queries * state_size();
  const auto limit = static_cast<float>(positions_ - 1);
  float lowest = limit, highest = 0;
  for (int64_t n = 0; n < tile.queries; ++n) {
    const float whole = wholes[n] < limit ? wholes[n] : limit;
    lowest = std::min(lowest, whole);
    highest = std::max(highest, whole);
  }
  first_ = static_cast<int64_t>(lowest);
  const int64_t last = std::min(positions_ - 1, static_cast<int64_t>(highest) + tile.keys + 1);
  columns_ = std::min(last - first_ + 2, transposed_columns_ - first_);
  POSLAB_RETURN_IF_ERROR(products_.ResizeForOverwrite("query", CheckedProduct({tile.queries, columns_})));
  MatMulArguments product;
  product.m = tile.queries, product.n = columns_, product.k = tile.head_dim;
  product.a = tile.query + slot * tile.queries * tile.head_dim, product.a_row_stride = tile.head_dim;
  product.b = transposed_.data() + first_, product.b_row_stride = transposed_columns_;
  product.c = products_.data(), product.c_row_stride = columns_;
  MatMul(product);
  return Status::Ok();
}

void CopeTile::Count::Add(v128_t gate) {
  share = wasm_f32x4_add(share, gate);
  const v128_t one = wasm_f32x4_splat(1.0f), carry = wasm_v128_and(one, wasm_f32x4_ge(share, one));
  share = wasm_f32x4_sub(share, carry);
  whole = wasm_f32x4_add(whole, carry);
}

CopeTile::Count CopeTile::LoadCount(const TileArguments& tile, int64_t slot, int64_t query) const {
  const float* wholes = tile.state + slot * tile.queries * state_size() + query;
  return {LoadLanes(wholes, tile.queries - query), LoadLanes(wholes + tile.queries, tile.queries - query)};
}

CopeTile::Place CopeTile::PlaceOf(Count count, int64_t query, int64_t queries) const {
  const v128_t limit = Limit(), open = wasm_f32x4_lt(count.whole, limit);
  const v128_t below = wasm_v128_bitselect(count.whole, limit, open);
  int32_t columns[4];
  wasm_v128_store(columns, wasm_i32x4_trunc_sat_f32x4(below));
  Place result;
  for (int n = 0; n < 4; ++n)
    result.at[n] =
        std::min(query + n, queries - 1) * columns_ + std::clamp<int64_t>(columns[n] - first_, 0, columns_ - 2);
  const float* products = products_.data();
  // Both neighbours of a lane at once.
  v128_t low = wasm_v128_load64_zero(products + result.at[0]), high = wasm_v128_load64_zero(products + result.at[2]);
  low = wasm_v128_load64_lane(products + result.at[1], low, 1);
  high = wasm_v128_load64_lane(products + result.at[3], high, 1);
  result.below = wasm_i32x4_shuffle(low, high, 0, 2, 4, 6);
  result.above = wasm_i32x4_shuffle(low, high, 1, 3, 5, 7);
  result.share = wasm_v128_and(count.share, open);
  return result;
}

Status CopeTile::Forward(const TileArguments& tile) const {
  const CountedKeys counted(tile);
  for (int64_t slot = 0; slot < tile.heads; ++slot) {
    POSLAB_RETURN_IF_ERROR(MakeProducts(tile, slot));
    float* logits = tile.logits + slot * tile.keys * tile.stride;
    float* wholes = tile.state + slot * tile.queries * state_size();
    for (int64_t i = 0; i < tile.queries; i += 4) {
      const int64_t lanes = tile.queries - i;
      Count count = LoadCount(tile, slot, i);
      bool open = AnyBelow(count);
      v128_t term = PlaceOf(count, i, tile.queries).below;  // of the last count, unless it is open
      for (int64_t j = tile.keys - 1; j >= 0; --j) {
        const v128_t counts = counted(i, lanes, j);
        if (!wasm_v128_any_true(counts)) continue;
        const v128_t logit = LoadLanes(logits + j * tile.stride + i, lanes);
        if (open) {
          count.Add(wasm_v128_and(Sigmoid(logit), counts));
          const Place place = PlaceOf(count, i, tile.queries);
          term = MulAdd(place.share, wasm_f32x4_sub(place.above, place.below), place.below);
          open = AnyBelow(count);
        }
        const v128_t sum = wasm_f32x4_add(logit, wasm_v128_and(term, counts));
        StoreLanes(logits + j * tile.stride + i, lanes, sum);
      }
      StoreLanes(wholes + i, lanes, count.whole);
      StoreLanes(wholes + tile.queries + i, lanes, count.share);
    }
  }
  return Status::Ok();
}

Status CopeTile::Backward(const TileArguments& tile, const TileGradients& gradients) {
  POSLAB_RETURN_IF_ERROR(counts_.ResizeForOverwrite("key", CheckedProduct({tile.keys, 8})));
  POSLAB_RETURN_IF_ERROR(gates_.ResizeForOverwrite("key", counts_.size() / 2));
  for (int64_t slot = 0; slot < tile.heads; ++slot) {
    POSLAB_RETURN_IF_ERROR(MakeProducts(tile, slot));
    POSLAB_RETURN_IF_ERROR(by_product_.ResizeForOverwrite("query", products_.size()));
    std::fill(by_product_.begin(), by_product_.end(), 0.0f);
    for (int64_t i = 0; i < tile.queries; i += 4) BackwardLanes(tile, gradients, slot, i);
    POSLAB_RETURN_IF_ERROR(ThroughProducts(tile, gradients, slot));
  }
  return Status::Ok();
}

void CopeTile::BackwardLanes(const TileArguments& tile, const TileGradients& gradients, int64_t slot, int64_t query) {
  const CountedKeys counted(tile);
  const int64_t lanes = tile.queries - query, from = slot * tile.keys * tile.stride + query;
  const float* before = gradients.logits_before + from;
  float* through = gradients.logits + from;
  Count count = LoadCount(tile, slot, query);
  int64_t first = tile.keys;  // of the keys whose gates are open
  for (int64_t j = tile.keys - 1; j >= 0 && AnyBelow(count); --j) {
    const v128_t gate = wasm_v128_and(Sigmoid(LoadLanes(before + j * tile.stride, lanes)), counted(query, lanes, j));
    count.Add(gate);
    wasm_v128_store(gates_.data() + 4 * j, gate);
    wasm_v128_store(counts_.data() + 8 * j, count.whole);
    wasm_v128_store(counts_.data() + 8 * j + 4, count.share);
    first = j;
  }
  const auto add = [&](const Place& place, v128_t below, v128_t above) {
    const v128_t pairs[] = {wasm_i32x4_shuffle(below, above, 0, 4, 1, 5), wasm_i32x4_shuffle(below, above, 2, 6, 3, 7)};
    float terms[8];
    wasm_v128_store(terms, pairs[0]);
    wasm_v128_store(terms + 4, pairs[1]);
    for (int n = 0; n < 4; ++n) {
      by_product_[place.at[n]] += terms[2 * n];
      by_product_[place.at[n] + 1] += terms[2 * n + 1];
    }
  };
  // All lanes are at the last count: its product gets every gradient, and the gates get none.
  v128_t sum = wasm_f32x4_splat(0.0f);
  for (int64_t j = 0; j < first; ++j)
    sum = wasm_f32x4_add(sum, wasm_v128_and(LoadLanes(through + j * tile.stride, lanes), counted(query, lanes, j)));
  if (first > 0) add(PlaceOf(count, query, tile.queries), sum, wasm_f32x4_splat(0.0f));
  float* state = gradients.state + slot * tile.queries * state_size() + query;  // of a count as a whole: one number
  v128_t later = LoadLanes(state, lanes);                                       // from the keys before this one
  for (int64_t j = first; j < tile.keys; ++j) {
    const v128_t counts = counted(query, lanes, j);
    if (!wasm_v128_any_true(counts)) continue;
    const v128_t whole = LoadLanes(through + j * tile.stride, lanes), gradient = wasm_v128_and(whole, counts);
    const Count at_key{wasm_v128_load(counts_.data() + 8 * j), wasm_v128_load(counts_.data() + 8 * j + 4)};
    const Place place = PlaceOf(at_key, query, tile.queries);
    const v128_t above = wasm_f32x4_mul(gradient, place.share);
    add(place, wasm_f32x4_sub(gradient, above), above);
    later = MulAdd(gradient, wasm_f32x4_sub(place.above, place.below), later);
    const v128_t gate = wasm_v128_load(gates_.data() + 4 * j);
    const v128_t slope = wasm_f32x4_mul(gate, wasm_f32x4_sub(wasm_f32x4_splat(1.0f), gate));
    StoreLanes(through + j * tile.stride, lanes,
               wasm_f32x4_add(whole, wasm_v128_and(wasm_f32x4_mul(later, slope), counts)));
  }
  StoreLanes(state, lanes, later);
}

Status CopeTile::ThroughProducts(const TileArguments& tile, const TileGradients& gradients, int64_t slot) {
  const int64_t dim = tile.head_dim, rows = std::min(columns_, positions_ - first_);
  const float* queries = tile.query + slot * tile.queries * dim;
  MatMulArguments product;
  product.n = dim, product.a = by_product_.data(), product.b_row_stride = product.c_row_stride = dim;
  if (gradients.query) {
    product.m = tile.queries, product.k = rows, product.a_row_stride = columns_;
    product.b = tensors.value(0) + first_ * dim;
    product.c = gradients.query + slot * tile.queries * dim, product.accumulate = true;
    MatMul(product);
  }
  POSLAB_RETURN_IF_ERROR(by_table_.ResizeForOverwrite("table", CheckedProduct({rows, dim})));
  product.m = rows, product.k = tile.queries, product.a_row_stride = 1, product.a_column_stride = columns_;
  product.b = queries, product.c = by_table_.data(), product.accumulate = false;
  MatMul(product);
  double* by_table = tensors.gradient(0) + first_ * dim;
  for (int64_t n = 0; n < rows * dim; ++n) by_table[n] += by_table_[n];
  return Status::Ok();
}

std::vector<double> CopeTile::Reference(const std::vector<double>& logits, const float* query, const float* table,
                                        int64_t positions, int64_t dim) {
  std::vector<double> terms(logits.size());
  double count = 0;
  for (size_t j = logits.size(); j-- > 0;) {
    count += 1 / (1 + Exp(-logits[j]));
    const double place = std::min(count, static_cast<double>(positions - 1)), below = std::floor(place);
    const float* lower = table + static_cast<int64_t>(below) * dim;
    const float* upper = table + static_cast<int64_t>(std::ceil(place)) * dim;
    for (int64_t d = 0; d < dim; ++d)
      terms[j] += query[d] * (lower[d] + (place - below) * (static_cast<double>(upper[d]) - lower[d]));
  }
  return terms;
}

}  // namespace poslab
