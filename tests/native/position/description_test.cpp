// SPDX-License-Identifier: MIT
// Scheme objects: every bad field is refused by its name, and near names are suggested.
#include <cmath>
#include <limits>

#include "base/status_message.h"
#include "scheme_support.h"

namespace poslab {
namespace {

using testing::Boolean;
using testing::Make;
using testing::Number;
using testing::Numbers;
using testing::Refusal;
using testing::Text;

TEST_CASE("Every scheme of the registry can be made from its name alone") {
  for (const SchemeEntry& entry : Schemes()) {
    CAPTURE(entry.type);
    const Result<std::unique_ptr<Scheme>> scheme = MakeScheme({std::string(entry.type), {}});
    REQUIRE(scheme.ok());
    CHECK((*scheme)->type() == entry.type);
    CHECK((*scheme)->embeds() == (entry.hooks == "embedding"));
    CHECK((*scheme)->acts_on_attention() == (!entry.hooks.empty() && entry.hooks != "embedding"));
  }
}

TEST_CASE("An unknown scheme is refused with the nearest known name") {
  const Status status = Refusal("alibbi");
  CHECK(status.code() == Code::kUnknownName);
  CHECK(status.argument() == "position.type");
  CHECK(status.given() == "alibbi");
  CHECK(status.suggestion() == "alibi");
  CHECK(Refusal("ALiBi").suggestion() == "alibi");
  CHECK(Refusal("transformerxl").suggestion() == "transformer-xl");
  CHECK(Refusal("sinusoid").suggestion() == "sinusoidal");
  CHECK(Refusal("rpoe").suggestion() == "rope");
  CHECK(Refusal("something else").suggestion() == "");
  CHECK(Refusal(std::string(10000, 'a')).suggestion() == "");
  CHECK(Refusal("").code() == Code::kMissing);
}

TEST_CASE("An unknown field is refused with the nearest field, nested names included") {
  Status status = Refusal("rope", {Number("rotaryDims", 8)});
  CHECK(status.code() == Code::kUnknownName);
  CHECK(status.argument() == "position.rotaryDims");
  CHECK(status.suggestion() == "rotaryDim");
  CHECK(Refusal("rope", {Number("factor", 2)}).suggestion() == "scaling.factor");
  CHECK(Refusal("rope", {Text("scaling.rope_type", "yarn")}).suggestion() == "scaling.ropeType");
  CHECK(Refusal("none", {Number("theta", 2)}).suggestion() == "");
  CHECK(Refusal("sandwich", {Number("something", 2)}).allowed() == "one of base, dim");
  CHECK(Refusal("forgetting", {Number("theta", 2)}).allowed() == "no field (this scheme has none)");
  CHECK(Refusal("t5", {Number("max_distance", 2)}).suggestion() == "maxDistance");
}

TEST_CASE("A field of another kind, a NaN and a number outside its limits are refused by name") {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  const auto check = [](const Status& status, Code code, const char* argument) {
    CAPTURE(argument);
    CHECK(status.code() == code);
    CHECK(status.argument() == argument);
    CHECK(status.allowed() != "");
  };
  check(Refusal("rope", {Text("theta", "big")}), Code::kType, "position.theta");
  check(Refusal("rope", {Number("layout", 1)}), Code::kType, "position.layout");
  check(Refusal("t5", {Number("bidirectional", 1)}), Code::kType, "position.bidirectional");
  check(Refusal("alibi", {Boolean("slopes", true)}), Code::kType, "position.slopes");
  check(Refusal("rope", {Text("layout", "halves")}), Code::kUnknownName, "position.layout");
  check(Refusal("sinusoidal", {Number("base", nan)}), Code::kRange, "position.base");
  check(Refusal("sinusoidal", {Number("base", 0)}), Code::kRange, "position.base");
  check(Refusal("sinusoidal", {Text("denominator", "half")}), Code::kUnknownName, "position.denominator");
  CHECK(Refusal("rope", {Text("layout", "halves")}).allowed() == "one of half, interleaved");
  check(Refusal("learned", {Number("offset", 0.5)}), Code::kRange, "position.offset");
  check(Refusal("learned", {Number("rows", 0)}), Code::kRange, "position.rows");
  check(Refusal("shaw", {Number("maxDistance", -1)}), Code::kRange, "position.maxDistance");
  check(Refusal("transformer-xl", {Number("clampLength", 0)}), Code::kRange, "position.clampLength");
  check(Refusal("t5", {Number("buckets", 1)}), Code::kRange, "position.buckets");
  check(Refusal("t5", {Number("buckets", 2), Boolean("bidirectional", true)}), Code::kRange, "position.buckets");
  check(Refusal("t5", {Number("maxDistance", 16)}), Code::kRange, "position.maxDistance");
  check(Refusal("t5", {Number("maxDistance", nan)}), Code::kRange, "position.maxDistance");
  check(Refusal("rope", {Number("theta", infinity)}), Code::kRange, "position.theta");
  check(Refusal("rope", {Number("theta", -1)}), Code::kRange, "position.theta");
  check(Refusal("rope", {Number("rotaryDim", 0)}), Code::kRange, "position.rotaryDim");
  check(Refusal("alibi", {Numbers("slopes", {0.5, nan})}), Code::kRange, "position.slopes[1]");
  check(Refusal("alibi", {Numbers("slopes", {})}), Code::kShape, "position.slopes");
  check(Refusal("alibi", {Text("slopes", "usual")}), Code::kUnknownName, "position.slopes");
  check(Refusal("xpos", {Number("scaleBase", 0)}), Code::kRange, "position.scaleBase");
  check(Refusal("kerple", {Text("kind", "exp")}), Code::kUnknownName, "position.kind");
  check(Refusal("rope", {Text("scaling.ropeType", "linear"), Number("scaling.factor", nan)}), Code::kRange,
        "position.scaling.factor");
  check(Refusal("rope", {Text("scaling.ropeType", "yarm")}), Code::kUnknownName, "position.scaling.ropeType");
}

TEST_CASE("The limits in a message are those of the field") {
  CHECK(Message(Refusal("t5", {Number("buckets", 1)})) ==
        "position.buckets is 1, but must be a whole number from 2 to 4096.");
  CHECK(Message(Refusal("rope", {Number("theta", 0)})) == "position.theta is 0, but must be a number above 0.");
  CHECK(Message(Refusal("shaw", {Number("maxDistance", 1.5)})).find("maxDistance is 1.5") != std::string::npos);
  CHECK(Message(Refusal("alibbi")).find("did you mean \"alibi\"?") != std::string::npos);
}

TEST_CASE("Fields are found by name, or their default is taken") {
  const Description description = {"x", {Number("a", 2), Boolean("b", true), Text("c", "word")}};
  CHECK(NumberOr(description, "a", 5) == 2);
  CHECK(NumberOr(description, "z", 5) == 5);
  CHECK(BooleanOr(description, "b", false));
  CHECK_FALSE(BooleanOr(description, "z", false));
  CHECK(TextOr(description, "c", "other") == "word");
  CHECK(TextOr(description, "z", "other") == "other");
  CHECK(FindField(description, "z") == nullptr);
}

TEST_CASE("Tensors that are missing, misshapen or unknown are refused by name") {
  const auto t5 = Make("t5");
  const BindArguments call = testing::Call(4, 8, 3, 3);
  testing::Tensors tensors;
  CHECK(t5->CheckParameters(call.dimensions, tensors.values()).code() == Code::kMissing);
  CHECK(t5->CheckParameters(call.dimensions, tensors.values()).argument() == "position.table");
  tensors.Add("table", {32, 3}, 1, 1);
  const Status shape = t5->CheckParameters(call.dimensions, tensors.values());
  CHECK(shape.code() == Code::kShape);
  CHECK(Message(shape) == "position.table is \"[32, 3]\", but must be shape [32, 4].");

  testing::Tensors more;
  more.Add("table", {32, 4}, 1, 1);
  CHECK(t5->CheckParameters(call.dimensions, more.values()).ok());
  more.Add("tabel", {32, 4}, 1, 1);
  const Status unknown = t5->CheckParameters(call.dimensions, more.values());
  CHECK(unknown.code() == Code::kUnknownName);
  CHECK(unknown.suggestion() == "table");
}

TEST_CASE("Position ids beyond 2^53 are refused before anything is computed") {
  const auto rope = Make("rope");
  BindArguments call = testing::Call(1, 8, 2, 2);
  const int64_t ids[] = {0, INT64_MAX};
  call.key_positions = {0, 2, ids};
  Hooks hooks;
  const Status status = rope->Bind(call, &hooks);
  CHECK(status.code() == Code::kRange);
  CHECK(status.argument() == "keyPositions");
  call.key_positions = {INT64_MAX - 1, 2, nullptr};
  CHECK(rope->Bind(call, &hooks).code() == Code::kRange);
  call.key_positions = {INT64_MIN, 2, nullptr};
  CHECK(rope->Bind(call, &hooks).code() == Code::kRange);
}

}  // namespace
}  // namespace poslab
