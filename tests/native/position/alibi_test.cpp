// SPDX-License-Identifier: MIT
// ALiBi: the slopes of any number of heads, and a bias that falls with the distance.
#include "position/alibi.h"

#include <cmath>

#include "position/inspect.h"
#include "scheme_support.h"

namespace poslab {
namespace {

using testing::Make;
using testing::Numbers;
using testing::Text;

std::vector<float> SlopesOf(int64_t heads) {
  const Result<Buffer<float>> slopes = inspect::Slopes(*Make("alibi"), heads);
  REQUIRE(slopes.ok());
  return {slopes->begin(), slopes->end()};
}

TEST_CASE("Slopes of a power of two of heads are one geometric series") {
  CHECK(SlopesOf(1) == std::vector<float>{0.00390625f});
  CHECK(SlopesOf(2) == std::vector<float>{0.0625f, 0.00390625f});
  const std::vector<float> eight = SlopesOf(8);
  for (size_t h = 0; h < 8; ++h) CHECK(eight[h] == std::ldexp(1.f, -static_cast<int>(h) - 1));
}

TEST_CASE("Slopes of other numbers of heads take every other one of twice as many") {
  // Seven digits are given, so half a unit of the seventh is the tolerance.
  const auto near = [](float got, double expected) { return std::fabs(got - expected) < 5.1e-8; };
  CHECK(SlopesOf(3) == std::vector<float>{0.0625f, 0.00390625f, 0.25f});
  const std::vector<float> twelve = SlopesOf(12);
  CHECK(twelve[7] == 0.00390625f);
  const double rest[] = {0.7071068, 0.3535534, 0.1767767, 0.0883883};
  for (size_t h = 0; h < 4; ++h) CHECK(near(twelve[8 + h], rest[h]));
  CHECK(near(SlopesOf(14).back(), 0.0220971));
  const std::vector<float> forty = SlopesOf(40);
  CHECK(near(forty[0], 0.8408964));
  CHECK(near(forty[32], 0.9170040));
  CHECK(near(forty[39], 0.2726269));
  const std::vector<float> bloom = SlopesOf(112);
  CHECK(near(bloom[0], 0.9170040));
  CHECK(near(bloom[64], 0.9576033));
  CHECK(near(bloom[111], 0.0163168));
}

TEST_CASE("Given slopes are used as they are, one a head") {
  const auto scheme = Make("alibi", {Numbers("slopes", {0.5, 0.25})});
  const Result<Buffer<float>> slopes = inspect::Slopes(*scheme, 2);
  REQUIRE(slopes.ok());
  CHECK((*slopes)[1] == 0.25f);
  const Status status = inspect::Slopes(*scheme, 3).status();
  CHECK(status.code() == Code::kShape);
  CHECK(status.argument() == "position.slopes");
  CHECK(inspect::Slopes(*Make("alibi"), 0).status().code() == Code::kRange);
  CHECK(inspect::Slopes(*Make("alibi", {Text("slopes", "standard")}), 4).ok());
}

TEST_CASE("The bias is the slope times the distance, the same along every diagonal, falling away from the query") {
  Buffer<float> bias;
  inspect::BiasArguments arguments;
  arguments.heads = 3, arguments.query_length = 5, arguments.key_length = 9;
  REQUIRE(inspect::Bias(*Make("alibi"), arguments, &bias).ok());
  const std::vector<float> slopes = SlopesOf(3);
  for (int64_t h = 0; h < 3; ++h) {
    for (int64_t i = 0; i < 5; ++i) {
      for (int64_t j = 0; j < 9; ++j) {
        const float at = bias[(h * 5 + i) * 9 + j];
        CHECK(at == -slopes[static_cast<size_t>(h)] * std::fabs(static_cast<float>(i + 4 - j)));
        if (i > 0 && j > 0) CHECK(at == bias[(h * 5 + i - 1) * 9 + j - 1]);
        if (j > 0 && j <= i + 4) CHECK(at > bias[(h * 5 + i) * 9 + j - 1]);
      }
    }
  }
}

TEST_CASE("The registers' slopes and the evaluated slice are the same bias") {
  const auto scheme = Make("alibi");
  Hooks hooks;
  REQUIRE(scheme->Bind(testing::Call(5, 8, 4, 4), &hooks).ok());
  REQUIRE(hooks.slice->slopes().size() == 5);
  float bias[7];
  for (int64_t h = 0; h < 5; ++h) {
    hooks.slice->Evaluate(h, -3, 7, bias);
    for (int64_t n = 0; n < 7; ++n) {
      // One rounding either way: the slope is a float and the distance small.
      CHECK(bias[n] == -hooks.slice->slopes()[static_cast<size_t>(h)] * std::fabs(static_cast<float>(n - 3)));
    }
  }
}

TEST_CASE("Keys after the query have slopes of their own where they are given") {
  const auto scheme =
      Make("alibi", {testing::Numbers("slopes", {0.5, 0.25}), testing::Numbers("futureSlopes", {2, -1})});
  Buffer<float> bias;
  inspect::BiasArguments arguments;
  arguments.heads = 2, arguments.query_length = 3, arguments.key_length = 3;
  REQUIRE(inspect::Bias(*scheme, arguments, &bias).ok());
  const std::vector<float> expected = {0, -2, -4, -0.5f, 0, -2, -1, -0.5f, 0, 0, 1, 2, -0.25f, 0, 1, -0.5f, -0.25f, 0};
  CHECK(std::vector<float>(bias.begin(), bias.end()) == expected);
  CHECK(inspect::Slopes(*scheme, 2).status().code() == Code::kContradiction);
}

TEST_CASE("Of biased heads the first have the standard slopes of that many, the others none") {
  const auto scheme = Make("alibi", {testing::Number("biasedHeads", 2)});
  const Result<Buffer<float>> slopes = inspect::Slopes(*scheme, 5);
  REQUIRE(slopes.ok());
  CHECK(std::vector<float>(slopes->begin(), slopes->end()) == std::vector<float>{0.0625f, 0.00390625f, 0, 0, 0});
  CHECK(inspect::Slopes(*scheme, 1).status().argument() == "position.biasedHeads");
  CHECK(testing::Refusal("alibi", {testing::Numbers("slopes", {1}), testing::Number("biasedHeads", 1)}).argument() ==
        "position.biasedHeads");
}

}  // namespace
}  // namespace poslab
