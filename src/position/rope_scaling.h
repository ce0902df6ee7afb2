// SPDX-License-Identifier: MIT
// The frequencies of rotary embeddings and their scalings for texts longer than the trained ones, as Hugging Face
// computes them (names in camelCase), here in double:
//   linear (Chen et al. 2023), ntk and dynamic (bloc97, emozilla 2023), yarn (Peng et al. 2023), longrope (Ding et al.
//   2024), llama3 (Llama team 2024), proportional (Gemma 4; p-RoPE of Barbero et al. 2024).
// With r = rotaryDim: f_k = theta^(-2k / r), k = 0 .. r/2 - 1; each type changes f_k, and yarn and longrope also the
// size of cos and sin.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "position/description.h"
#include "position/scheme.h"

namespace poslab {

struct RopeScaling {
  enum class Type { kDefault, kLinear, kNtk, kDynamic, kYarn, kLongrope, kLlama3, kProportional };
  Type type = Type::kDefault;
  std::optional<double> factor;
  std::optional<double> original_max_position_embeddings;
  std::optional<double> attention_factor;  // final: nothing is multiplied to it, 0 included
  double beta_fast = 32, beta_slow = 1;    // 0 means the default, as null and 0 do in Hugging Face's code
  double mscale = 0, mscale_all_dim = 0;   // both or neither; 0: not given
  bool truncate = true;
  std::vector<double> short_factor, long_factor;  // [r / 2]
  double low_freq_factor = 0, high_freq_factor = 0;
  std::optional<double> partial_rotary_factor;
};

// The table of the "scaling.*" fields.
std::span<const FieldRule> RopeScalingRules();

// Before CheckFields, because it deserves more than "unknown": `attn_factor` is what some programs multiply to yarn's own
// magnitude and others take for the final one.
Status RefuseAmbiguousScaling(const Description& description);

// Reads the "scaling.*" fields after CheckFields; kMissing for what the type needs whatever surrounds it, kContradiction
// for what it does not read.
Result<RopeScaling> ParseRopeScaling(const Description& description);

// What the frequencies depend on beside the scaling.
struct RopeSetting {
  double theta = 10000;
  int64_t head_dim = 0;
  int64_t rotary_dim = 0;                         // r: even, 2 .. head_dim
  std::optional<double> max_position_embeddings;  // as the model's config says
  double trained_length = 0;                      // of an experiment, when max_position_embeddings is not said
  int64_t running_length = 0;                     // largest position + 1: for dynamic and longrope
};

// f_k for the setting [r / 2]; for proportional [head_dim / 2], because it pairs lanes across the whole head.
Result<FrequencyTable> ScaledFrequencies(const RopeScaling& scaling, const RopeSetting& setting);

}  // namespace poslab
