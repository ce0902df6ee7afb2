// SPDX-License-Identifier: MIT
#include "position/temperature.h"

#include <algorithm>
#include <cmath>

#include "base/math.h"
#include "position/learned_tensors.h"

namespace poslab {
namespace {

using Kind = TemperatureSetting::Kind;
constexpr double kLlamaLength = 8192, kLlamaScale = 0.1, kStartSsmax = 0.43;

double FactorAt(const TemperatureSetting& setting, double length, double position) {
  const double seen = std::max(position + 1, 1.0);
  switch (setting.kind) {
    case Kind::kLogN:
      return std::max(1.0, Log(seen) / Log(length));
    case Kind::kLlama4:
      return 1 + setting.scale * Log(1 + std::floor(seen / length));
    default:
      return Log(seen);
  }
}

}  // namespace

std::span<const FieldRule> TemperatureRules() {
  static constexpr FieldRule kRules[] = {
      {.name = "temperature.kind", .kind = Field::Kind::kText, .choices = "log-n|llama4|ssmax"},
      {.name = "temperature.length", .kind = Field::Kind::kNumber, .minimum = 2, .maximum = kLargestWhole},
      {.name = "temperature.scale", .kind = Field::Kind::kNumber, .minimum = 0, .maximum = kNoLimit},
  };
  return kRules;
}

Result<TemperatureSetting> ParseTemperature(const Description& description) {
  TemperatureSetting setting;
  const std::string_view kind = TextOr(description, "temperature.kind", "");
  if (kind == "log-n") setting.kind = Kind::kLogN;
  if (kind == "llama4") setting.kind = Kind::kLlama4;
  if (kind == "ssmax") setting.kind = Kind::kSsmax;
  const bool has_length = setting.kind == Kind::kLogN || setting.kind == Kind::kLlama4;
  const Field *length = FindField(description, "temperature.length"),
              *scale = FindField(description, "temperature.scale");
  if (length && !has_length)
    return Status::Number(Code::kContradiction, "position.temperature.length", length->number,
                          "a length only with temperature.kind log-n or llama4");
  if (scale && setting.kind != Kind::kLlama4)
    return Status::Number(Code::kContradiction, "position.temperature.scale", scale->number,
                          "a scale only with temperature.kind llama4");
  const bool llama = setting.kind == Kind::kLlama4;
  setting.length = length ? length->number : llama ? kLlamaLength : 0;
  setting.scale = scale ? scale->number : kLlamaScale;
  return setting;
}

Status AddTemperatureSpec(const TemperatureSetting& setting, const Dimensions& dimensions,
                          std::vector<ParameterSpec>* specs) {
  if (setting.kind != Kind::kSsmax) return Status::Ok();
  if (dimensions.heads <= 0) return Status::Text(Code::kMissing, "heads", "", "how many heads there are");
  AddSpec("temperatures", {dimensions.heads}, {Start::Kind::kConstant, kStartSsmax, 0}, specs);
  return Status::Ok();
}

Status BindTemperature(const TemperatureSetting& setting, const BindArguments& arguments, Hooks* hooks) {
  if (setting.kind == Kind::kNone) return Status::Ok();
  const double length = setting.length > 0 ? setting.length : static_cast<double>(arguments.dimensions.trained_length);
  if (setting.kind == Kind::kLogN && length < 2)
    return Status::Text(Code::kMissing, "position.temperature.length", "", "the length that the model was trained on");
  hooks->temperature = std::make_unique<Temperature>();
  const Positions& positions = arguments.query_positions;
  Buffer<float>& by_query = hooks->temperature->by_query;
  POSLAB_RETURN_IF_ERROR(by_query.ResizeForOverwrite("queryPositions", positions.count));
  for (int64_t n = 0; n < positions.count; ++n)
    by_query[n] = static_cast<float>(FactorAt(setting, length, static_cast<double>(positions[n])));
  for (const TensorView<const float>& tensor : arguments.parameters)
    if (setting.kind == Kind::kSsmax && tensor.name == "temperatures") hooks->temperature->by_head = tensor.data;
  return Status::Ok();
}

void PullTemperature(const HookGradients& hook_gradients, ParameterGradients gradients) {
  for (const TensorView<float>& to : gradients) {
    if (to.name != "temperatures" || !to.data) continue;
    for (int64_t h = 0; h < hook_gradients.temperature.size(); ++h)
      to.data[h] += static_cast<float>(hook_gradients.temperature[h]);
  }
}

}  // namespace poslab
