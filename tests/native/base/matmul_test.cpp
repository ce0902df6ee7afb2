// SPDX-License-Identifier: MIT
// The matrix product against its plain reference over tails, strides and both orders of A.
#include "base/matmul.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace {

using poslab::MatMul;
using poslab::MatMulArguments;
using poslab::MatMulReference;

// Uniform in [-1, 1) from a fixed linear congruence: the values need no quality.
class Values {
 public:
  float Next() {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<float>(static_cast<int32_t>(state_)) / 2147483648.0f;
  }
  std::vector<float> Fill(int64_t count) {
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = Next();
    return values;
  }

 private:
  uint32_t state_ = 7;
};

constexpr float kUntouched = 77.0f;

// One product with the given shape; `shift` moves every operand off its 16-byte alignment by so many floats and `pad`
// widens every row stride.
void CheckProduct(int64_t m, int64_t n, int64_t k, bool transposed, bool accumulate, int64_t shift, int64_t pad) {
  CAPTURE(m);
  CAPTURE(n);
  CAPTURE(k);
  CAPTURE(transposed);
  CAPTURE(accumulate);
  CAPTURE(shift);
  Values values;
  const int64_t a_stride = (transposed ? m : k) + pad, b_stride = n + pad, c_stride = n + pad;
  const std::vector<float> a = values.Fill(shift + a_stride * (transposed ? k : m));
  const std::vector<float> b = values.Fill(shift + b_stride * k);
  std::vector<float> c(static_cast<size_t>(shift + c_stride * m), kUntouched);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) c[static_cast<size_t>(shift + i * c_stride + j)] = values.Next();
  std::vector<float> expected = c, magnitude = c;
  for (float& value : magnitude) value = std::fabs(value);

  MatMulArguments product;
  product.m = m, product.n = n, product.k = k;
  product.a = a.data() + shift;
  product.a_row_stride = transposed ? 1 : a_stride;
  product.a_column_stride = transposed ? a_stride : 1;
  product.b = b.data() + shift;
  product.b_row_stride = b_stride;
  product.c = c.data() + shift;
  product.c_row_stride = c_stride;
  product.accumulate = accumulate;
  MatMul(product);
  product.c = expected.data() + shift;
  MatMulReference(product);

  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < c_stride && i * c_stride + j + shift < static_cast<int64_t>(c.size()); ++j) {
      const auto at = static_cast<size_t>(shift + i * c_stride + j);
      if (j >= n) {
        CHECK(c[at] == kUntouched);
        continue;
      }
      double sum = accumulate ? magnitude[at] : 0.0;
      for (int64_t l = 0; l < k; ++l)
        sum += std::fabs(static_cast<double>(product.a[i * product.a_row_stride + l * product.a_column_stride]) *
                         product.b[l * b_stride + j]);
      // A chain of k products and k sums in float: each rounding is 2^-24, and the first product passes all of them
      // (Higham 2002, 3.1); one more for the reference's own rounding to float.
      const double tolerance = static_cast<double>(k + 2) * std::ldexp(1.0, -24) * sum;
      CHECK(std::fabs(static_cast<double>(c[at]) - expected[at]) <= tolerance);
    }
  }
}

}  // namespace

TEST_CASE("the matrix product agrees with its reference for every tail in every dimension") {
  for (int64_t m : {1, 2, 3, 4, 5, 7, 9})
    for (int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 17})
      for (int64_t k : {0, 1, 2, 3, 5, 16})
        for (bool transposed : {false, true})
          for (bool accumulate : {false, true}) CheckProduct(m, n, k, transposed, accumulate, (m + n) % 4, k % 3);
}

TEST_CASE("the matrix product agrees with its reference where it packs and splits the depth") {
  for (bool transposed : {false, true})
    for (bool accumulate : {false, true})
      for (int64_t shift : {0, 1, 3}) {
        CheckProduct(37, 101, 70, transposed, accumulate, shift, 0);
        CheckProduct(64, 64, 64, transposed, accumulate, shift, 0);
        CheckProduct(33, 20, 515, transposed, accumulate, shift, 100);
        CheckProduct(3, 130, 256, transposed, accumulate, shift, 1);
      }
}

TEST_CASE("the matrix product reads A through two strides that are both not 1") {
  Values values;
  const std::vector<float> a = values.Fill(5 * 14), b = values.Fill(7 * 6);
  std::vector<float> c(30), expected(30);
  MatMulArguments product{5, 6, 7, a.data(), 14, 2, b.data(), 6, c.data(), 6, false};
  MatMul(product);
  product.c = expected.data();
  MatMulReference(product);
  // As above with sums of at most 7 products below 1.
  for (size_t i = 0; i < c.size(); ++i) CHECK(std::fabs(c[i] - expected[i]) <= 7 * 9 * std::ldexp(1.0, -24));
}

TEST_CASE("an entry of a matrix product has the same bits alone as inside the whole product") {
  Values values;
  constexpr int64_t kM = 45, kN = 113, kK = 300;
  const std::vector<float> a = values.Fill(kM * kK), b = values.Fill(kK * kN);
  std::vector<float> whole(kM * kN);
  MatMul({kM, kN, kK, a.data(), kK, 1, b.data(), kN, whole.data(), kN, false});
  int64_t different = 0;
  for (int64_t i = 0; i < kM; ++i) {
    for (int64_t j = 0; j < kN; ++j) {
      float alone = 0;
      MatMul({1, 1, kK, a.data() + i * kK, kK, 1, b.data() + j, kN, &alone, 1, false});
      different += alone != whole[static_cast<size_t>(i * kN + j)];
    }
  }
  CHECK(different == 0);
}

TEST_CASE("an empty matrix product writes nothing, and one of depth 0 is zero") {
  float c[4] = {1, 2, 3, 4};
  MatMul({0, 2, 2, nullptr, 2, 1, nullptr, 2, c, 2, false});
  MatMul({2, 0, 2, nullptr, 2, 1, nullptr, 2, c, 2, false});
  MatMul({2, 2, 0, nullptr, 2, 1, nullptr, 2, c, 2, true});
  CHECK(c[0] == 1);
  CHECK(c[3] == 4);
  MatMul({2, 2, 0, nullptr, 2, 1, nullptr, 2, c, 2, false});
  for (float value : c) CHECK(value == 0);
}
