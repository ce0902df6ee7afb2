// SPDX-License-Identifier: MIT
// RoPE: layouts, partial widths, precision of far angles, and what makes it RoPE: norms kept, scores of distances only.
#include "position/rope.h"

#include <cmath>

#include "position/inspect.h"
#include "position/rotation.h"
#include "scheme_support.h"

namespace poslab {
namespace {

using testing::Make;
using testing::NormalNumbers;
using testing::Number;
using testing::Text;

std::vector<float> RotateOne(const Scheme& scheme, const std::vector<float>& x, int64_t position) {
  Buffer<float> out;
  const int64_t width = static_cast<int64_t>(x.size());
  REQUIRE(inspect::Rotate(scheme, 1, 1, width, x.data(), {position, 1, nullptr}, &out).ok());
  return {out.begin(), out.end()};
}

double Dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t n = 0; n < a.size(); ++n) sum += static_cast<double>(a[n]) * b[n];
  return sum;
}

TEST_CASE("The two layouts turn [1, 2, 3, 4] at position 1 into their published values") {
  const std::vector<float> x = {1, 2, 3, 4};
  const std::vector<float> interleaved = RotateOne(*Make("rope", {Text("layout", "interleaved")}), x, 1);
  const std::vector<float> half = RotateOne(*Make("rope"), x, 1);
  const double expected_interleaved[] = {-1.142640, 1.922076, 2.959851, 4.029800};
  const double expected_half[] = {-1.984111, 1.959901, 2.462378, 4.019800};
  for (size_t n = 0; n < 4; ++n) {
    // Six digits are given; a float near 4 adds 2.4e-7.
    CHECK(std::fabs(interleaved[n] - expected_interleaved[n]) < 8e-7);
    CHECK(std::fabs(half[n] - expected_half[n]) < 8e-7);
  }
}

TEST_CASE("Permuted lanes give equal scores in both layouts") {
  constexpr size_t kDim = 16;
  const std::vector<float> query = NormalNumbers(kDim, 1), key = NormalNumbers(kDim, 2);
  // Lane k of the half layout's first half is lane 2k of the interleaved one.
  const auto interleave = [&](const std::vector<float>& x) {
    std::vector<float> permuted(kDim);
    for (size_t k = 0; k < kDim / 2; ++k) permuted[2 * k] = x[k], permuted[2 * k + 1] = x[k + kDim / 2];
    return permuted;
  };
  const auto half = Make("rope"), interleaved = Make("rope", {Text("layout", "interleaved")});
  const double a = Dot(RotateOne(*half, query, 9), RotateOne(*half, key, 2));
  const double b = Dot(RotateOne(*interleaved, interleave(query), 9), RotateOne(*interleaved, interleave(key), 2));
  CHECK(std::fabs(a - b) < 1e-6);
}

TEST_CASE("Scores depend on the distance only, near zero and at large positions, for every layout and width") {
  constexpr int64_t kDim = 32;
  const std::vector<float> query = NormalNumbers(kDim, 3), key = NormalNumbers(kDim, 4);
  const double size = std::sqrt(Dot(query, query) * Dot(key, key));
  for (const char* layout : {"half", "interleaved"}) {
    for (int64_t rotary_dim : {2, 10, 32}) {
      const auto scheme = Make("rope", {Text("layout", layout), Number("rotaryDim", static_cast<double>(rotary_dim))});
      for (int64_t distance : {0, 1, 17, 1000}) {
        const double near = Dot(RotateOne(*scheme, query, distance), RotateOne(*scheme, key, 0));
        for (int64_t shift : {1, 1000, 1000000, 100000000, -5000}) {
          const double far = Dot(RotateOne(*scheme, query, distance + shift), RotateOne(*scheme, key, shift));
          // A turned lane: two table entries and three operations, each within 2^-24 of the pair's size: 4 * 2^-24 of
          // the vectors' size a side, two sides, two scores. An angle p w is off by 2 p 2^-53 on each side.
          const double angle = 4 * std::fabs(static_cast<double>(shift + distance)) * 0x1p-53;
          CHECK(std::fabs(near - far) <= size * (16 * 0x1p-24 + angle));
        }
      }
    }
  }
}

TEST_CASE("A rotation keeps the norm, and the opposite angle undoes it") {
  constexpr int64_t kDim = 24, kLength = 9;
  const std::vector<float> x = NormalNumbers(2 * kLength * kDim, 5);
  for (const char* layout : {"half", "interleaved"}) {
    const auto scheme = Make("rope", {Text("layout", layout)});
    Buffer<float> turned;
    REQUIRE(inspect::Rotate(*scheme, 2, kLength, kDim, x.data(), {123456, kLength, nullptr}, &turned).ok());
    BindArguments call = testing::Call(2, kDim, kLength, kLength);
    call.query_positions.start = call.key_positions.start = 123456;
    Hooks hooks;
    REQUIRE(scheme->Bind(call, &hooks).ok());
    std::vector<float> back(x.size());
    TurnRows(*hooks.rotation, 2, kLength, kDim, turned.data(), back.data(), true);
    for (int64_t row = 0; row < 2 * kLength; ++row) {
      double before = 0, after = 0;
      for (int64_t c = 0; c < kDim; ++c) {
        const size_t n = static_cast<size_t>(row * kDim + c);
        before += static_cast<double>(x[n]) * x[n];
        after += static_cast<double>(turned[row * kDim + c]) * turned[row * kDim + c];
        // Two turns, 4 * 2^-24 of the pair's size (below 6) each.
        CHECK(std::fabs(back[n] - x[n]) < 48 * 0x1p-24);
      }
      CHECK(std::sqrt(after) == doctest::Approx(std::sqrt(before)).epsilon(8 * 0x1p-24));
    }
    // In place it is the same.
    std::vector<float> in_place = x;
    TurnRows(*hooks.rotation, 2, kLength, kDim, in_place.data(), in_place.data());
    for (size_t n = 0; n < x.size(); ++n) CHECK(in_place[n] == turned[static_cast<int64_t>(n)]);
  }
}

TEST_CASE("Lanes past the rotary width stay as they are, and the width is the denominator") {
  const std::vector<float> x = NormalNumbers(16, 6);
  const std::vector<float> turned = RotateOne(*Make("rope", {Number("rotaryDim", 8)}), x, 50);
  for (size_t n = 8; n < 16; ++n) CHECK(turned[n] == x[n]);
  const std::vector<float> alone = RotateOne(*Make("rope"), {x.begin(), x.begin() + 8}, 50);
  for (size_t n = 0; n < 8; ++n) CHECK(turned[n] == alone[n]);
}

TEST_CASE("Angles are not computed in half precision, nor in float") {
  // r = 32, theta 1e4, position 1857, pair 1: half precision gives a cosine of -0.408, the angle rounded to float
  // (1044.267822) gives 0.306711. The angle is 1044.2678409 and its cosine 0.306693.
  std::vector<float> x(32, 0.f);
  x[1] = 1;
  const float turned = RotateOne(*Make("rope"), x, 1857)[1];
  CHECK(turned == static_cast<float>(std::cos(1857 * std::pow(10000.0, -2.0 / 32))));
  CHECK(std::fabs(turned - 0.306711) < 2e-5);
  // Far away the float product p * w alone is off by 0.03 radians.
  std::vector<float> far(128, 0.f);
  far[3] = 1;
  const double angle = 1048575 * std::pow(500000.0, -6.0 / 128);
  CHECK(std::fabs(RotateOne(*Make("rope", {Number("theta", 500000)}), far, 1048575)[3] - std::cos(angle)) < 1e-7);
}

TEST_CASE("Odd widths and widths beyond the head are refused") {
  Buffer<float> out;
  const std::vector<float> x(16, 1.f);
  const auto status = [&](std::vector<Field> fields, int64_t head_dim) {
    return inspect::Rotate(*Make("rope", std::move(fields)), 1, 2, head_dim, x.data(), {0, 2, nullptr}, &out);
  };
  CHECK(status({Number("rotaryDim", 5)}, 8).argument() == "position.rotaryDim");
  CHECK(status({Number("rotaryDim", 5)}, 8).code() == Code::kRange);
  CHECK(status({Number("rotaryDim", 16)}, 8).given_number() == 16);
  CHECK(status({}, 7).argument() == "headDim");
  CHECK(status({}, 0).code() == Code::kMissing);
  CHECK(status({Text("scaling.ropeType", "default"), Number("scaling.partialRotaryFactor", 0.4)}, 8).given_number() ==
        3);
  CHECK(
      status({Text("scaling.ropeType", "default"), Number("scaling.partialRotaryFactor", 0.5), Number("rotaryDim", 6)},
             8)
          .code() == Code::kContradiction);
  Dimensions dimensions;
  dimensions.head_dim = 7;
  CHECK(Make("rope")->Parameters(dimensions).status().argument() == "headDim");
}

TEST_CASE("Queries share the keys' table where they can, and have their own where they cannot") {
  const auto scheme = Make("rope");
  BindArguments call = testing::Call(1, 8, 3, 10);
  Hooks hooks;
  REQUIRE(scheme->Bind(call, &hooks).ok());
  CHECK(hooks.rotation->query_row_in_key == 7);
  CHECK(hooks.rotation->query_cos.empty());
  CHECK(hooks.rotation->key_cos.size() == 10 * 4);
  call = testing::Call(1, 8, 10, 3);
  REQUIRE(scheme->Bind(call, &hooks).ok());
  CHECK(hooks.rotation->query_row_in_key == -1);
  CHECK(hooks.rotation->query_cos.size() == 10 * 4);
  CHECK(hooks.rotation->query_cos[0] == static_cast<float>(std::cos(-7.0)));
  const int64_t ids[] = {4, 4, 0};
  call.key_positions = {0, 3, ids};
  REQUIRE(scheme->Bind(call, &hooks).ok());
  CHECK(hooks.rotation->key_sin[4] == static_cast<float>(std::sin(4.0)));
  CHECK(hooks.rotation->key_sin[8] == 0);
  const int64_t last[] = {4, 0}, other[] = {4, 1};
  call.query_positions = {0, 2, last};
  REQUIRE(scheme->Bind(call, &hooks).ok());
  CHECK(hooks.rotation->query_row_in_key == 1);
  call.query_positions = {0, 2, other};
  REQUIRE(scheme->Bind(call, &hooks).ok());
  CHECK(hooks.rotation->query_row_in_key == -1);
}

}  // namespace
}  // namespace poslab
