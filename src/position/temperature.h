// SPDX-License-Identifier: MIT
// Temperatures that grow with the position p of the query, as an option of schemes (fields "temperature.*"): attention
// over more keys would otherwise flatten.
//   log-n    q *= max(1, ln(p + 1) / ln(length))                     (Su 2021; Qwen 1), length: the trained one
//   llama4   q *= 1 + scale ln(1 + floor((p + 1) / length))          (Llama 4: scale 0.1, length 8192)
//   ssmax    q *= s_h ln(p + 1), s learned                           (Nakanishi 2025, scalable softmax; s starts at 0.43)
#pragma once

#include <memory>
#include <vector>

#include "position/description.h"
#include "position/scheme.h"

namespace poslab {

struct TemperatureSetting {
  enum class Kind { kNone, kLogN, kLlama4, kSsmax } kind = Kind::kNone;
  double length = 0;  // 0: the default of the kind
  double scale = 0;
};

// Fields temperature.kind "log-n" | "llama4" | "ssmax", temperature.length, temperature.scale.
std::span<const FieldRule> TemperatureRules();
// After CheckFields; kMissing or kContradiction for fields that the kind does not have.
Result<TemperatureSetting> ParseTemperature(const Description& description);

// Adds the tensor of ssmax, "temperatures" [heads].
Status AddTemperatureSpec(const TemperatureSetting& setting, const Dimensions& dimensions,
                          std::vector<ParameterSpec>* specs);
Status BindTemperature(const TemperatureSetting& setting, const BindArguments& arguments, Hooks* hooks);
void PullTemperature(const HookGradients& hook_gradients, ParameterGradients gradients);

}  // namespace poslab
