// SPDX-License-Identifier: MIT
// One function a scaling type; each starts from the plain frequencies.
#include "position/rope_scaling.h"

#include <algorithm>
#include <cmath>

#include "base/math.h"

namespace poslab {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kYarnMagnitude = 0.1;    // Peng et al. 2023, equation 22: 0.1 ln(s) + 1
constexpr double kYarnEqualEnds = 0.001;  // keeps the ramp finite when both ends of the range fall together
constexpr double kLargestLength = 1e15;

using Type = RopeScaling::Type;

Status Missing(const char* field, const char* what) {
  return Status::Text(Code::kMissing, std::string("position.") + field, "", what);
}

std::optional<double> GivenNumber(const Description& description, std::string_view name) {
  const Field* field = FindField(description, name);
  return field ? std::optional<double>(field->number) : std::nullopt;
}

Type TypeOf(std::string_view name) {
  if (name == "linear") return Type::kLinear;
  if (name == "ntk") return Type::kNtk;
  if (name == "dynamic") return Type::kDynamic;
  if (name == "yarn") return Type::kYarn;
  if (name == "longrope") return Type::kLongrope;
  if (name == "llama3") return Type::kLlama3;
  if (name == "proportional") return Type::kProportional;
  return Type::kDefault;
}

// Fields without which a type cannot work, whatever the model around it says.
Status CheckRequired(const Description& description, Type type) {
  std::vector<const char*> required;
  if (type == Type::kLinear || type == Type::kNtk || type == Type::kDynamic) required = {"scaling.factor"};
  if (type == Type::kLongrope) required = {"scaling.shortFactor", "scaling.longFactor"};
  if (type == Type::kLlama3) {
    required = {"scaling.factor", "scaling.lowFreqFactor", "scaling.highFreqFactor",
                "scaling.originalMaxPositionEmbeddings"};
  }
  for (const char* field : required) {
    if (!FindField(description, field)) return Missing(field, "this scaling has no default for it");
  }
  return Status::Ok();
}

// A field that the type does not read would change nothing, without a word: somebody who gives it means another type.
// Not so the trained length: that is a fact about the model, which configs state beside any type.
Status CheckUsed(const Description& description, Type type) {
  struct Use {
    const char* field;
    std::initializer_list<Type> types;
    const char* allowed;
  };
  constexpr auto kYarnOnly = "left out or beside a ropeType that uses it (yarn)";
  constexpr auto kLongropeOnly = "left out or beside a ropeType that uses it (longrope)";
  constexpr auto kLlama3Only = "left out or beside a ropeType that uses it (llama3)";
  static const Use kUses[] = {
      {"scaling.factor",
       {Type::kLinear, Type::kNtk, Type::kDynamic, Type::kYarn, Type::kLongrope, Type::kLlama3, Type::kProportional},
       "left out or beside a ropeType that uses it (all but default)"},
      {"scaling.attentionFactor",
       {Type::kYarn, Type::kLongrope},
       "left out or beside a ropeType that uses it (yarn, longrope)"},
      {"scaling.betaFast", {Type::kYarn}, kYarnOnly},
      {"scaling.betaSlow", {Type::kYarn}, kYarnOnly},
      {"scaling.mscale", {Type::kYarn}, kYarnOnly},
      {"scaling.mscaleAllDim", {Type::kYarn}, kYarnOnly},
      {"scaling.truncate", {Type::kYarn}, kYarnOnly},
      {"scaling.shortFactor", {Type::kLongrope}, kLongropeOnly},
      {"scaling.longFactor", {Type::kLongrope}, kLongropeOnly},
      {"scaling.lowFreqFactor", {Type::kLlama3}, kLlama3Only},
      {"scaling.highFreqFactor", {Type::kLlama3}, kLlama3Only},
  };
  for (const auto& [name, types, allowed] : kUses) {
    const Field* field = FindField(description, name);
    if (!field || std::find(types.begin(), types.end(), type) != types.end()) continue;
    const std::string argument = std::string("position.") + name;
    return field->kind == Field::Kind::kNumber ? Status::Number(Code::kContradiction, argument, field->number, allowed)
                                               : Status::Text(Code::kContradiction, argument, "", allowed);
  }
  return Status::Ok();
}

// theta^(-2k / denominator) for k = 0 .. count - 1.
Result<FrequencyTable> PlainFrequencies(double theta, int64_t denominator, int64_t count) {
  FrequencyTable table;
  POSLAB_RETURN_IF_ERROR(table.inverse.Resize("position.rotaryDim", count));
  for (int64_t k = 0; k < count; ++k) {
    table.inverse[k] = Pow(theta, -static_cast<double>(2 * k) / static_cast<double>(denominator));
  }
  return table;
}

// theta * stretch^(r / (r - 2)): the last pair is slowed by `stretch`, the first not at all.
Result<double> StretchedTheta(const RopeSetting& setting, double stretch) {
  if (setting.rotary_dim <= 2) {
    return Status::Number(Code::kContradiction, "position.rotaryDim", static_cast<double>(setting.rotary_dim),
                          "at least {0} under ntk and dynamic scaling", 4);
  }
  const double r = static_cast<double>(setting.rotary_dim);
  return setting.theta * Pow(stretch, r / (r - 2));
}

// The length the model was trained with, before any extension.
std::optional<double> OriginalLength(const RopeScaling& scaling, const RopeSetting& setting) {
  if (scaling.original_max_position_embeddings) return scaling.original_max_position_embeddings;
  if (setting.max_position_embeddings) return setting.max_position_embeddings;
  if (setting.trained_length > 0) return setting.trained_length;
  return std::nullopt;
}

// A missing factor is the ratio of the two lengths, when both are known.
std::optional<double> FactorOrRatio(const RopeScaling& scaling, const RopeSetting& setting) {
  if (scaling.factor) return scaling.factor;
  if (!scaling.original_max_position_embeddings || !setting.max_position_embeddings) return std::nullopt;
  return *setting.max_position_embeddings / *scaling.original_max_position_embeddings;
}

double YarnMagnitude(double factor, double mscale) {
  return factor <= 1 ? 1 : kYarnMagnitude * mscale * Log(factor) + 1;
}

double YarnAttentionFactor(const RopeScaling& scaling, double factor) {
  if (scaling.attention_factor) return *scaling.attention_factor;
  if (scaling.mscale != 0 && scaling.mscale_all_dim != 0) {
    return YarnMagnitude(factor, scaling.mscale) / YarnMagnitude(factor, scaling.mscale_all_dim);
  }
  return YarnMagnitude(factor, 1);
}

Status Dynamic(const RopeScaling& scaling, const RopeSetting& setting, double* theta) {
  const double trained = setting.max_position_embeddings.value_or(setting.trained_length);
  if (trained <= 0) return Missing("maxPositionEmbeddings", "the trained length, from which dynamic scaling starts");
  // Up to the trained length the stretch is exactly 1, so theta stays as it is to the bit.
  const double length = std::max(static_cast<double>(setting.running_length), trained);
  const Result<double> stretched = StretchedTheta(setting, *scaling.factor * length / trained - (*scaling.factor - 1));
  if (!stretched.ok()) return stretched.status();
  *theta = length == trained ? setting.theta : *stretched;
  return Status::Ok();
}

Status Yarn(const RopeScaling& scaling, const RopeSetting& setting, FrequencyTable* table) {
  const std::optional<double> original = OriginalLength(scaling, setting), factor = FactorOrRatio(scaling, setting);
  if (!original) return Missing("scaling.originalMaxPositionEmbeddings", "the length the model was trained with");
  if (!factor)
    return Missing("scaling.factor", "a number, or both maxPositionEmbeddings and originalMaxPositionEmbeddings");
  if (setting.theta <= 1)
    return Status::Number(Code::kRange, "position.theta", setting.theta, "above {0} under yarn", 1);
  const double r = static_cast<double>(setting.rotary_dim);
  // The pair that turns `rotations` times over the original length.
  const auto pair_of = [&](double rotations) {
    return r * Log(*original / (rotations * 2 * kPi)) / (2 * Log(setting.theta));
  };
  double low = pair_of(scaling.beta_fast), high = pair_of(scaling.beta_slow);
  if (scaling.truncate) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0);
  high = std::min(high, r - 1);  // r - 1, not r/2 - 1: as published
  if (low == high) high += kYarnEqualEnds;
  for (int64_t k = 0; k < table->inverse.size(); ++k) {
    const double ramp = std::clamp((static_cast<double>(k) - low) / (high - low), 0.0, 1.0);
    const double frequency = table->inverse[k];
    table->inverse[k] = frequency * (1 - ramp) + frequency / *factor * ramp;
  }
  table->attention_factor = YarnAttentionFactor(scaling, *factor);
  return Status::Ok();
}

Status Longrope(const RopeScaling& scaling, const RopeSetting& setting, FrequencyTable* table) {
  const std::optional<double> original = OriginalLength(scaling, setting), factor = FactorOrRatio(scaling, setting);
  if (!original) return Missing("scaling.originalMaxPositionEmbeddings", "the length the model was trained with");
  const bool longer = static_cast<double>(setting.running_length) > *original;
  for (const std::vector<double>* list : {&scaling.short_factor, &scaling.long_factor}) {
    if (static_cast<int64_t>(list->size()) == table->inverse.size()) continue;
    const bool is_short = list == &scaling.short_factor;
    return Status::Number(Code::kShape, is_short ? "position.scaling.shortFactor" : "position.scaling.longFactor",
                          static_cast<double>(list->size()), "{0} numbers, one a pair of lanes",
                          static_cast<double>(table->inverse.size()));
  }
  const std::vector<double>& extension = longer ? scaling.long_factor : scaling.short_factor;
  for (int64_t k = 0; k < table->inverse.size(); ++k) table->inverse[k] /= extension[static_cast<size_t>(k)];
  if (scaling.attention_factor) {
    table->attention_factor = *scaling.attention_factor;
    return Status::Ok();
  }
  if (!factor)
    return Missing("scaling.factor", "a number, or both maxPositionEmbeddings and originalMaxPositionEmbeddings");
  if (*factor > 1 && *original <= 1) {
    return Status::Number(Code::kRange, "position.scaling.originalMaxPositionEmbeddings", *original,
                          "above {0} under longrope", 1);
  }
  table->attention_factor = *factor <= 1 ? 1 : std::sqrt(1 + Log(*factor) / Log(*original));
  return Status::Ok();
}

Status Llama3(const RopeScaling& scaling, FrequencyTable* table) {
  const double low = scaling.low_freq_factor, high = scaling.high_freq_factor;
  const double original = *scaling.original_max_position_embeddings, factor = *scaling.factor;
  for (double& frequency : table->inverse) {
    const double wavelength = 2 * kPi / frequency;
    if (wavelength > original / low) {
      frequency /= factor;
    } else if (high > low && wavelength >= original / high) {  // equal factors (Llama 4): a step, nothing blends
      const double smooth = (original / wavelength - low) / (high - low);
      frequency = (1 - smooth) * frequency / factor + smooth * frequency;
    }
  }
  return Status::Ok();
}

// The first floor(partial * d / 2) pairs of the whole head turn, with the head's width as denominator; the rest stand
// still.
Result<FrequencyTable> Proportional(const RopeScaling& scaling, const RopeSetting& setting) {
  const int64_t pairs = setting.head_dim / 2;
  const double partial = scaling.partial_rotary_factor.value_or(1);
  const auto turning = static_cast<int64_t>(std::floor(partial * static_cast<double>(setting.head_dim) / 2));
  Result<FrequencyTable> table = PlainFrequencies(setting.theta, setting.head_dim, pairs);
  if (!table.ok()) return table;
  for (int64_t k = 0; k < pairs; ++k) {
    table->inverse[k] = k < turning ? table->inverse[k] / scaling.factor.value_or(1) : 0;
  }
  return table;
}

}  // namespace

std::span<const FieldRule> RopeScalingRules() {
  using Kind = Field::Kind;
  static constexpr FieldRule kRules[] = {
      {.name = "scaling.ropeType",
       .kind = Kind::kText,
       .choices = "default|linear|ntk|dynamic|yarn|longrope|llama3|proportional"},
      {.name = "scaling.factor", .kind = Kind::kNumber, .minimum = kAboveZero, .maximum = kNoLimit},
      {.name = "scaling.originalMaxPositionEmbeddings", .kind = Kind::kNumber, .minimum = 1, .maximum = kLargestLength},
      {.name = "scaling.attentionFactor", .kind = Kind::kNumber, .minimum = 0, .maximum = kNoLimit},
      {.name = "scaling.betaFast", .kind = Kind::kNumber, .minimum = 0, .maximum = kNoLimit},
      {.name = "scaling.betaSlow", .kind = Kind::kNumber, .minimum = 0, .maximum = kNoLimit},
      {.name = "scaling.mscale", .kind = Kind::kNumber, .minimum = 0, .maximum = kNoLimit},
      {.name = "scaling.mscaleAllDim", .kind = Kind::kNumber, .minimum = 0, .maximum = kNoLimit},
      {.name = "scaling.truncate", .kind = Kind::kBoolean},
      {.name = "scaling.shortFactor", .kind = Kind::kNumbers, .minimum = kAboveZero, .maximum = kNoLimit},
      {.name = "scaling.longFactor", .kind = Kind::kNumbers, .minimum = kAboveZero, .maximum = kNoLimit},
      {.name = "scaling.lowFreqFactor", .kind = Kind::kNumber, .minimum = kAboveZero, .maximum = kNoLimit},
      {.name = "scaling.highFreqFactor", .kind = Kind::kNumber, .minimum = kAboveZero, .maximum = kNoLimit},
      {.name = "scaling.partialRotaryFactor", .kind = Kind::kNumber, .minimum = kAboveZero, .maximum = 1},
  };
  return kRules;
}

Status RefuseAmbiguousScaling(const Description& description) {
  for (const char* name : {"scaling.attnFactor", "scaling.attn_factor"}) {
    const Field* field = FindField(description, name);
    if (!field) continue;
    return Status::Number(Code::kContradiction, std::string("position.") + name, field->number,
                          "left out: programs disagree whether it replaces yarn's magnitude or multiplies it; say the "
                          "final size of cos and sin as attentionFactor");
  }
  return Status::Ok();
}

Result<RopeScaling> ParseRopeScaling(const Description& description) {
  RopeScaling scaling;
  const bool any = std::any_of(description.fields.begin(), description.fields.end(),
                               [](const Field& field) { return field.name.starts_with("scaling."); });
  if (!any) return scaling;
  if (!FindField(description, "scaling.ropeType")) return Missing("scaling.ropeType", "the name of the scaling");
  scaling.type = TypeOf(TextOr(description, "scaling.ropeType", ""));
  POSLAB_RETURN_IF_ERROR(CheckUsed(description, scaling.type));
  POSLAB_RETURN_IF_ERROR(CheckRequired(description, scaling.type));

  scaling.factor = GivenNumber(description, "scaling.factor");
  scaling.original_max_position_embeddings = GivenNumber(description, "scaling.originalMaxPositionEmbeddings");
  scaling.attention_factor = GivenNumber(description, "scaling.attentionFactor");
  const double beta_fast = NumberOr(description, "scaling.betaFast", 0);
  const double beta_slow = NumberOr(description, "scaling.betaSlow", 0);
  if (beta_fast != 0) scaling.beta_fast = beta_fast;
  if (beta_slow != 0) scaling.beta_slow = beta_slow;
  if (scaling.beta_fast < scaling.beta_slow) {
    return Status::Number(Code::kContradiction, "position.scaling.betaFast", scaling.beta_fast,
                          "at least betaSlow, {0}", scaling.beta_slow);
  }
  scaling.mscale = NumberOr(description, "scaling.mscale", 0);
  scaling.mscale_all_dim = NumberOr(description, "scaling.mscaleAllDim", 0);
  scaling.truncate = BooleanOr(description, "scaling.truncate", true);
  if (const Field* list = FindField(description, "scaling.shortFactor")) scaling.short_factor = list->numbers;
  if (const Field* list = FindField(description, "scaling.longFactor")) scaling.long_factor = list->numbers;
  scaling.low_freq_factor = NumberOr(description, "scaling.lowFreqFactor", 0);
  scaling.high_freq_factor = NumberOr(description, "scaling.highFreqFactor", 0);
  if (scaling.type == Type::kLlama3 && scaling.high_freq_factor < scaling.low_freq_factor) {
    return Status::Number(Code::kContradiction, "position.scaling.highFreqFactor", scaling.high_freq_factor,
                          "at least lowFreqFactor, {0}", scaling.low_freq_factor);
  }
  scaling.partial_rotary_factor = GivenNumber(description, "scaling.partialRotaryFactor");
  return scaling;
}

Result<FrequencyTable> ScaledFrequencies(const RopeScaling& scaling, const RopeSetting& setting) {
  if (scaling.type == Type::kProportional) return Proportional(scaling, setting);
  double theta = setting.theta;
  if (scaling.type == Type::kDynamic) POSLAB_RETURN_IF_ERROR(Dynamic(scaling, setting, &theta));
  if (scaling.type == Type::kNtk) {
    const Result<double> stretched = StretchedTheta(setting, *scaling.factor);
    if (!stretched.ok()) return stretched.status();
    theta = *stretched;
  }
  Result<FrequencyTable> table = PlainFrequencies(theta, setting.rotary_dim, setting.rotary_dim / 2);
  if (!table.ok()) return table;
  if (scaling.type == Type::kLinear) {
    for (double& frequency : table->inverse) frequency /= *scaling.factor;
  }
  if (scaling.type == Type::kYarn) POSLAB_RETURN_IF_ERROR(Yarn(scaling, setting, &*table));
  if (scaling.type == Type::kLongrope) POSLAB_RETURN_IF_ERROR(Longrope(scaling, setting, &*table));
  if (scaling.type == Type::kLlama3) POSLAB_RETURN_IF_ERROR(Llama3(scaling, &*table));
  return table;
}

}  // namespace poslab
