// SPDX-License-Identifier: MIT
// RoPE scalings against golden values in double precision, required fields, and what follows the running length.
#include "position/rope_scaling.h"

#include <algorithm>
#include <cmath>

#include "base/status_message.h"
#include "position/inspect.h"
#include "scheme_support.h"

namespace poslab {
namespace {

using testing::Boolean;
using testing::Make;
using testing::Number;
using testing::Numbers;
using testing::Refusal;
using testing::Text;

FrequencyTable FrequenciesOf(std::vector<Field> fields, int64_t head_dim, int64_t length = 1) {
  Result<FrequencyTable> table = inspect::Frequencies(*Make("rope", std::move(fields)), head_dim, length);
  REQUIRE(table.ok());
  return std::move(*table);
}

Status FrequencyRefusal(std::vector<Field> fields, int64_t head_dim, int64_t trained_length = 0) {
  return inspect::Frequencies(*Make("rope", std::move(fields)), head_dim, 1, {.trained_length = trained_length})
      .status();
}

// The theta that these frequencies belong to: pair 1 is theta^(-2 / r).
double ThetaOf(const FrequencyTable& table) {
  return std::pow(table.inverse[1], -static_cast<double>(table.inverse.size()));
}

std::vector<Field> DynamicFields(double theta) {
  return {Number("theta", theta), Number("maxPositionEmbeddings", 2048), Text("scaling.ropeType", "dynamic"),
          Number("scaling.factor", 2)};
}

TEST_CASE("Dynamic NTK follows the running length and is exactly plain up to the trained one") {
  const auto theta_at = [](int64_t length) { return ThetaOf(FrequenciesOf(DynamicFields(10000), 128, length)); };
  CHECK(theta_at(2049) == doctest::Approx(10009.9207).epsilon(1e-8));
  CHECK(theta_at(4096) == doctest::Approx(30527.73675).epsilon(1e-9));
  CHECK(theta_at(8192) == doctest::Approx(72195.8601).epsilon(1e-9));
  const FrequencyTable plain = FrequenciesOf({}, 128);
  for (int64_t length : {0, 1, 512, 2047, 2048}) {
    const FrequencyTable table = FrequenciesOf(DynamicFields(10000), 128, length);
    CHECK(std::equal(plain.inverse.begin(), plain.inverse.end(), table.inverse.begin()));
  }
}

TEST_CASE("Dynamic NTK below the trained length is never negative nor NaN") {
  const FrequencyTable plain = FrequenciesOf({Number("theta", 1000)}, 64);
  const FrequencyTable table = FrequenciesOf(DynamicFields(1000), 64, 512);
  CHECK(std::equal(plain.inverse.begin(), plain.inverse.end(), table.inverse.begin()));
}

TEST_CASE("A rotation under dynamic NTK goes by its own largest position") {
  const auto scheme = Make("rope", DynamicFields(10000));
  BindArguments call = testing::Call(1, 128, 1, 4096);
  Hooks at_length, told;
  REQUIRE(scheme->Bind(call, &at_length).ok());
  const double angle = 4095 * std::pow(30527.73675, -2.0 / 128);
  CHECK(at_length.rotation->key_cos[4095 * 64 + 1] == doctest::Approx(std::cos(angle)).epsilon(1e-4));
  call.running_length = 2048;
  REQUIRE(scheme->Bind(call, &told).ok());
  CHECK(told.rotation->key_cos[4095 * 64 + 1] ==
        doctest::Approx(std::cos(4095 * std::pow(10000.0, -2.0 / 128))).epsilon(1e-6));
}

TEST_CASE("Static NTK stretches theta") {
  const auto theta = [](double factor) {
    return ThetaOf(FrequenciesOf({Text("scaling.ropeType", "ntk"), Number("scaling.factor", factor)}, 128));
  };
  CHECK(theta(2) == doctest::Approx(20221.26169).epsilon(1e-9));
  CHECK(theta(8) == doctest::Approx(82684.62264).epsilon(1e-9));
}

TEST_CASE("Linear scaling divides every frequency") {
  const FrequencyTable plain = FrequenciesOf({}, 64);
  const FrequencyTable table = FrequenciesOf({Text("scaling.ropeType", "linear"), Number("scaling.factor", 8)}, 64);
  for (int64_t k = 0; k < 32; ++k) CHECK(table.inverse[k] == plain.inverse[k] / 8);
  // Gemma 3: at position 8 the global pair 0 has turned by 1, the local one by 8.
  CHECK(8 * table.inverse[0] == 1);
  CHECK(8 * plain.inverse[0] == 8);
}

std::vector<Field> GptOss() {
  return {Number("theta", 150000),        Text("scaling.ropeType", "yarn"),
          Number("scaling.factor", 32),   Number("scaling.originalMaxPositionEmbeddings", 4096),
          Number("scaling.betaFast", 32), Number("scaling.betaSlow", 1)};
}

TEST_CASE("Yarn's correction range is truncated unless told not to") {
  std::vector<Field> fields = GptOss();
  const auto check = [](const FrequencyTable& table, double pair9, double pair16, double pair17) {
    CHECK(table.inverse[9] == doctest::Approx(pair9).epsilon(1e-8));
    CHECK(table.inverse[16] == doctest::Approx(pair16).epsilon(1e-8));
    CHECK(table.inverse[17] == doctest::Approx(pair17).epsilon(1e-8));
    CHECK(table.attention_factor == doctest::Approx(1.346573590).epsilon(1e-9));
  };
  check(FrequenciesOf(fields, 64), 0.0316207523, 5.80947502e-4, 2.27947796e-4);
  fields.push_back(Boolean("scaling.truncate", true));
  check(FrequenciesOf(fields, 64), 0.0316207523, 5.80947502e-4, 2.27947796e-4);
  fields.back() = Boolean("scaling.truncate", false);
  check(FrequenciesOf(fields, 64), 0.0317056962, 4.56483919e-4, 1.29318701e-4);
}

TEST_CASE("Yarn leaves the fast pairs, divides the slow ones and ramps between 23 and 40 for Qwen's settings") {
  const std::vector<Field> fields = {Number("theta", 1e6), Text("scaling.ropeType", "yarn"),
                                     Number("scaling.factor", 4),
                                     Number("scaling.originalMaxPositionEmbeddings", 32768)};
  const FrequencyTable table = FrequenciesOf(fields, 128), plain = FrequenciesOf({Number("theta", 1e6)}, 128);
  for (int64_t k = 0; k < 64; ++k) {
    const double ramp = std::clamp(static_cast<double>(k - 23) / (40 - 23), 0.0, 1.0);
    CHECK(table.inverse[k] == doctest::Approx(plain.inverse[k] * (1 - ramp + ramp / 4)).epsilon(1e-14));
  }
  CHECK(table.attention_factor == doctest::Approx(1.138629436).epsilon(1e-9));
}

TEST_CASE("Yarn's betas of 0 mean the defaults, and a missing factor is the ratio of the lengths") {
  std::vector<Field> fields = GptOss();
  const FrequencyTable expected = FrequenciesOf(fields, 64);
  fields[4] = Number("scaling.betaFast", 0);
  fields[5] = Number("scaling.betaSlow", 0);
  FrequencyTable table = FrequenciesOf(fields, 64);
  CHECK(std::equal(expected.inverse.begin(), expected.inverse.end(), table.inverse.begin()));
  fields[2] = Number("maxPositionEmbeddings", 131072);
  table = FrequenciesOf(fields, 64);
  CHECK(std::equal(expected.inverse.begin(), expected.inverse.end(), table.inverse.begin()));
  CHECK(table.attention_factor == expected.attention_factor);
}

TEST_CASE("A given attentionFactor is final, also when it is 0") {
  std::vector<Field> fields = GptOss();
  fields.push_back(Number("scaling.attentionFactor", 0));
  CHECK(FrequenciesOf(fields, 64).attention_factor == 0);
  fields.back() = Number("scaling.attentionFactor", 0.8782488563);
  CHECK(FrequenciesOf(fields, 64).attention_factor == 0.8782488563);
}

TEST_CASE("attn_factor is ambiguous and is asked about, not guessed") {
  for (const char* name : {"scaling.attnFactor", "scaling.attn_factor"}) {
    std::vector<Field> fields = GptOss();
    fields.push_back(Number(name, 0.8782488563));
    const Status status = Refusal("rope", fields);
    CHECK(status.code() == Code::kContradiction);
    CHECK(status.argument() == std::string("position.") + name);
    CHECK(Message(status).find("attentionFactor") != std::string::npos);
  }
  // As a multiplier, the product with yarn's own magnitude would be 1.
  const FrequencyTable table = FrequenciesOf({Text("scaling.ropeType", "yarn"), Number("scaling.factor", 4),
                                              Number("scaling.originalMaxPositionEmbeddings", 32768)},
                                             128);
  CHECK(table.attention_factor * 0.8782488563 == doctest::Approx(1.0).epsilon(1e-9));
}

TEST_CASE("mscale and mscaleAllDim act together or not at all") {
  const auto factor = [](std::vector<Field> more) {
    std::vector<Field> fields = {Text("scaling.ropeType", "yarn"), Number("scaling.factor", 40),
                                 Number("scaling.originalMaxPositionEmbeddings", 4096)};
    fields.insert(fields.end(), more.begin(), more.end());
    return FrequenciesOf(fields, 64).attention_factor;
  };
  CHECK(factor({Number("scaling.mscale", 0.707), Number("scaling.mscaleAllDim", 0.707)}) == 1);
  CHECK(factor({Number("scaling.mscale", 1), Number("scaling.mscaleAllDim", 1)}) == 1);
  CHECK(factor({Number("scaling.mscale", 1), Number("scaling.mscaleAllDim", 0.8)}) ==
        doctest::Approx(1.0569662568).epsilon(1e-10));
  const double alone = factor({});
  CHECK(alone == doctest::Approx(0.1 * std::log(40.0) + 1).epsilon(1e-15));
  CHECK(factor({Number("scaling.mscale", 0.707)}) == alone);
  CHECK(factor({Number("scaling.mscale", 0.707), Number("scaling.mscaleAllDim", 0)}) == alone);
  // What multi-head latent attention multiplies its softmax scale by, for the record of the same formula.
  CHECK(std::pow(0.1 * 0.707 * std::log(40.0) + 1, 2) == doctest::Approx(1.5896261651).epsilon(1e-10));
}

TEST_CASE("Llama 3 leaves short waves, divides long ones and blends between") {
  const auto fields = [](double factor) {
    return std::vector<Field>{Number("theta", 500000),
                              Text("scaling.ropeType", "llama3"),
                              Number("scaling.factor", factor),
                              Number("scaling.lowFreqFactor", 1),
                              Number("scaling.highFreqFactor", 4),
                              Number("scaling.originalMaxPositionEmbeddings", 8192)};
  };
  const FrequencyTable big = FrequenciesOf(fields(8), 128), plain = FrequenciesOf({Number("theta", 500000)}, 128);
  for (int64_t k = 0; k <= 28; ++k) CHECK(big.inverse[k] == plain.inverse[k]);
  for (int64_t k = 29; k <= 34; ++k) {
    CHECK(big.inverse[k] < plain.inverse[k]);
    CHECK(big.inverse[k] > plain.inverse[k] / 8);
  }
  for (int64_t k = 35; k < 64; ++k) CHECK(big.inverse[k] == plain.inverse[k] / 8);
  CHECK(big.inverse[29] == doctest::Approx(2.16657076e-3).epsilon(1e-8));
  CHECK(big.inverse[34] == doctest::Approx(1.78507813e-4).epsilon(1e-8));
  CHECK(FrequenciesOf(fields(32), 64).inverse[31] == doctest::Approx(9.41830673e-8).epsilon(1e-8));
  CHECK(FrequenciesOf(fields(8), 64).inverse[31] == doctest::Approx(3.76732269e-7).epsilon(1e-8));
}

TEST_CASE("Llama 4 gives both factors as 1: long waves are divided, the others stay, nothing blends") {
  const FrequencyTable plain = FrequenciesOf({Number("theta", 500000)}, 128);
  const FrequencyTable scout =
      FrequenciesOf({Number("theta", 500000), Text("scaling.ropeType", "llama3"), Number("scaling.factor", 16),
                     Number("scaling.lowFreqFactor", 1), Number("scaling.highFreqFactor", 1),
                     Number("scaling.originalMaxPositionEmbeddings", 8192)},
                    128);
  // 2 pi 500000^(2 * 34 / 128) = 6695, and 8219 for the next pair.
  for (int64_t k = 0; k < 35; ++k) CHECK(scout.inverse[k] == plain.inverse[k]);
  for (int64_t k = 35; k < 64; ++k) CHECK(scout.inverse[k] == plain.inverse[k] / 16);
}

std::vector<Field> Phi3() {
  std::vector<double> shorter, longer;
  for (int k = 0; k < 48; ++k) shorter.push_back(1 + 0.01 * k), longer.push_back(1 + k);
  return {Number("maxPositionEmbeddings", 131072), Text("scaling.ropeType", "longrope"),
          Number("scaling.originalMaxPositionEmbeddings", 4096), Numbers("scaling.shortFactor", shorter),
          Numbers("scaling.longFactor", longer)};
}

TEST_CASE("LongRoPE changes its list when the running length passes the original one") {
  const FrequencyTable plain = FrequenciesOf({}, 96);
  for (int64_t length : {1, 4096}) CHECK(FrequenciesOf(Phi3(), 96, length).inverse[10] == plain.inverse[10] / 1.1);
  for (int64_t length : {4097, 100000}) CHECK(FrequenciesOf(Phi3(), 96, length).inverse[10] == plain.inverse[10] / 11);
  CHECK(FrequenciesOf(Phi3(), 96).attention_factor == doctest::Approx(1.1902380714).epsilon(1e-10));
  std::vector<Field> fields = Phi3();
  fields.push_back(Number("scaling.factor", 1));
  CHECK(FrequenciesOf(fields, 96).attention_factor == 1);
  fields.back() = Number("scaling.attentionFactor", 1.5);
  CHECK(FrequenciesOf(fields, 96).attention_factor == 1.5);
  const Status status = FrequencyRefusal(Phi3(), 64);
  CHECK(status.code() == Code::kShape);
  CHECK(status.argument() == "position.scaling.shortFactor");
}

TEST_CASE("Proportional RoPE pairs lanes across the whole head") {
  const std::vector<Field> fields = {Number("theta", 1e6), Text("scaling.ropeType", "proportional"),
                                     Number("scaling.partialRotaryFactor", 0.25)};
  const FrequencyTable table = FrequenciesOf(fields, 512);
  REQUIRE(table.inverse.size() == 256);
  CHECK(table.inverse[1] == doctest::Approx(0.947463526).epsilon(1e-9));
  CHECK(table.inverse[63] == doctest::Approx(0.0333762469).epsilon(1e-9));
  for (int64_t k = 64; k < 256; ++k) CHECK(table.inverse[k] == 0);
  // Ordinary partial rotation has other frequencies and other partners.
  const FrequencyTable partial = FrequenciesOf({Number("theta", 1e6), Number("rotaryDim", 128)}, 512);
  CHECK(partial.inverse[1] == doctest::Approx(0.805842188).epsilon(1e-9));
  CHECK(partial.inverse[63] == doctest::Approx(1.24093776e-6).epsilon(1e-8));

  std::vector<float> x(512, 0.f);
  x[0] = 1;
  Buffer<float> turned;
  REQUIRE(inspect::Rotate(*Make("rope", fields), 1, 1, 512, x.data(), {3, 1, nullptr}, &turned).ok());
  for (int64_t lane = 0; lane < 512; ++lane) {
    if (lane != 0 && lane != 256) CHECK(turned[lane] == 0);
  }
  CHECK(turned[0] == static_cast<float>(std::cos(3.0)));
  CHECK(turned[256] == static_cast<float>(std::sin(3.0)));
  CHECK(FrequencyRefusal({Text("scaling.ropeType", "proportional"), Number("rotaryDim", 64)}, 512).code() ==
        Code::kContradiction);
}

TEST_CASE("partialRotaryFactor is the head's share under every other type") {
  const FrequencyTable share = FrequenciesOf(
      {Text("scaling.ropeType", "linear"), Number("scaling.factor", 2), Number("scaling.partialRotaryFactor", 0.25)},
      64);
  const FrequencyTable width =
      FrequenciesOf({Text("scaling.ropeType", "linear"), Number("scaling.factor", 2), Number("rotaryDim", 16)}, 64);
  REQUIRE(share.inverse.size() == 8);
  CHECK(std::equal(share.inverse.begin(), share.inverse.end(), width.inverse.begin()));
}

TEST_CASE("What a scaling needs and does not get is asked for by name") {
  const auto missing = [](std::vector<Field> fields) {
    const Status status = Refusal("rope", std::move(fields));
    CHECK(status.code() == Code::kMissing);
    return status.argument();
  };
  CHECK(missing({Number("scaling.factor", 2)}) == "position.scaling.ropeType");
  for (const char* type : {"linear", "ntk", "dynamic"})
    CHECK(missing({Text("scaling.ropeType", type)}) == "position.scaling.factor");
  CHECK(missing({Text("scaling.ropeType", "longrope")}) == "position.scaling.shortFactor");
  CHECK(missing({Text("scaling.ropeType", "llama3"), Number("scaling.factor", 8)}) == "position.scaling.lowFreqFactor");

  const std::vector<Field> yarn = {Text("scaling.ropeType", "yarn"), Number("scaling.factor", 2)};
  CHECK(FrequencyRefusal(yarn, 64).argument() == "position.scaling.originalMaxPositionEmbeddings");
  CHECK(FrequencyRefusal(yarn, 64, 128).ok());
  CHECK(FrequencyRefusal({Text("scaling.ropeType", "yarn")}, 64, 128).argument() == "position.scaling.factor");
  const std::vector<Field> dynamic = {Text("scaling.ropeType", "dynamic"), Number("scaling.factor", 2)};
  CHECK(FrequencyRefusal(dynamic, 64).argument() == "position.maxPositionEmbeddings");
  CHECK(FrequencyRefusal(dynamic, 64, 128).ok());
}

TEST_CASE("A field that the scaling does not use is refused by name") {
  const auto refused = [](const char* type, Field field) {
    const std::string argument = "position." + field.name;
    std::vector<Field> fields = {Text("scaling.ropeType", type), std::move(field)};
    if (std::string_view(type) != "default" && argument != "position.scaling.factor")
      fields.push_back(Number("scaling.factor", 2));
    const Status status = Refusal("rope", std::move(fields));
    CHECK(status.code() == Code::kContradiction);
    CHECK(status.argument() == argument);
    return Message(status);
  };
  CHECK(refused("ntk", Number("scaling.betaFast", 16)) ==
        "position.scaling.betaFast is 16, but must be left out or beside a ropeType that uses it (yarn).");
  CHECK(refused("linear", Boolean("scaling.truncate", false)) ==
        "position.scaling.truncate must be left out or beside a ropeType that uses it (yarn).");
  refused("default", Number("scaling.factor", 2));
  refused("dynamic", Number("scaling.betaFast", 32));
  refused("llama3", Number("scaling.attentionFactor", 1));
  refused("longrope", Number("scaling.mscale", 1));
  refused("yarn", Numbers("scaling.shortFactor", {1}));
  refused("yarn", Number("scaling.lowFreqFactor", 1));
  // A misspelt type is told first, not the fields that it would not use.
  const Status misspelt = Refusal("rope", {Text("scaling.ropeType", "yarm"), Number("scaling.betaFast", 16)});
  CHECK(misspelt.argument() == "position.scaling.ropeType");
  CHECK(misspelt.suggestion() == "yarn");
}

TEST_CASE("Contradictory scalings are refused") {
  CHECK(
      Refusal("rope", {Text("scaling.ropeType", "yarn"), Number("scaling.betaFast", 1), Number("scaling.betaSlow", 32)})
          .code() == Code::kContradiction);
  CHECK(Refusal("rope",
                {Text("scaling.ropeType", "llama3"), Number("scaling.factor", 8), Number("scaling.lowFreqFactor", 4),
                 Number("scaling.highFreqFactor", 3), Number("scaling.originalMaxPositionEmbeddings", 8192)})
            .code() == Code::kContradiction);
  for (const char* type : {"ntk", "dynamic"}) {
    CHECK(FrequencyRefusal(
              {Number("maxPositionEmbeddings", 64), Text("scaling.ropeType", type), Number("scaling.factor", 2)}, 2)
              .argument() == "position.rotaryDim");
  }
  CHECK(FrequencyRefusal({Number("theta", 1), Text("scaling.ropeType", "yarn"), Number("scaling.factor", 2)}, 8, 64)
            .argument() == "position.theta");
}

TEST_CASE("No setting gives a frequency that is not finite") {
  for (const std::string type : {"default", "linear", "ntk", "dynamic", "yarn", "llama3", "proportional"}) {
    for (double factor : {0.25, 1.0, 2.0, 1000.0}) {
      for (int64_t length : {0, 1, 64, 65, 1000000}) {
        std::vector<Field> fields = {Text("scaling.ropeType", type), Number("maxPositionEmbeddings", 64)};
        if (type != "default") fields.push_back(Number("scaling.factor", factor));
        if (type == "yarn" || type == "llama3") fields.push_back(Number("scaling.originalMaxPositionEmbeddings", 64));
        if (type == "llama3") {
          fields.push_back(Number("scaling.lowFreqFactor", 1));
          fields.push_back(Number("scaling.highFreqFactor", 4));
        }
        const FrequencyTable table = FrequenciesOf(std::move(fields), 16, length);
        CHECK(std::all_of(table.inverse.begin(), table.inverse.end(),
                          [](double f) { return std::isfinite(f) && f >= 0; }));
        CHECK(std::isfinite(table.attention_factor));
      }
    }
  }
}

}  // namespace
}  // namespace poslab
