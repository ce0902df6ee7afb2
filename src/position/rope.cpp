// SPDX-License-Identifier: MIT
// Fields, the rotary width, and the rotation hook.
#include "position/rope.h"

#include <algorithm>
#include <cmath>

#include "position/learned_tensors.h"
#include "position/positions.h"
#include "position/rope_scaling.h"
#include "position/rotation.h"
#include "position/temperature.h"

namespace poslab {
namespace {

constexpr double kTheta = 10000;  // Su et al. 2021
constexpr size_t kMostAxes = 8;
constexpr const char* kFactors = "frequencyFactors";  // the tensor of learnedFrequencies

// What is not part of the rotation's own formula.
struct RopeExtras {
  bool learned = false;          // frequencies
  int64_t interval = 0;          // every n-th layer does not turn; 0: every layer turns
  std::vector<double> sections;  // pairs an axis; empty: there is one axis
  bool interleaved_sections = false;
  TemperatureSetting temperature;
};

class Rope final : public Scheme {
 public:
  Rope(RopeScaling scaling, Rotation::Layout layout, double theta, int64_t rotary_dim,
       std::optional<double> max_position_embeddings, RopeExtras extras)
      : scaling_(std::move(scaling)),
        layout_(layout),
        theta_(theta),
        rotary_dim_(rotary_dim),
        max_position_embeddings_(max_position_embeddings),
        extras_(extras) {}

  std::string_view type() const override { return "rope"; }
  int64_t axes() const override { return std::max<int64_t>(1, static_cast<int64_t>(extras_.sections.size())); }
  bool acts_on_attention() const override { return true; }
  int64_t LayerKind(int64_t layer) const override { return Turns(layer) ? 0 : 1; }

  Result<std::vector<ParameterSpec>> Parameters(const Dimensions& dimensions) const override {
    std::vector<ParameterSpec> specs;
    if (dimensions.head_dim > 0) {
      const Result<FrequencyTable> frequencies = Frequencies(dimensions, 0, {});
      if (!frequencies.ok()) return frequencies.status();
      if (extras_.learned) AddSpec(kFactors, {frequencies->inverse.size()}, {Start::Kind::kConstant, 1, 0}, &specs);
    } else if (extras_.learned) {
      return Status::Text(Code::kMissing, "headDim", "", "the width of a query and key head");
    }
    POSLAB_RETURN_IF_ERROR(AddTemperatureSpec(extras_.temperature, dimensions, &specs));
    return specs;
  }

  Status Bind(const BindArguments& arguments, Hooks* hooks) const override {
    POSLAB_RETURN_IF_ERROR(CheckBothPositions(arguments, axes()));
    POSLAB_RETURN_IF_ERROR(CheckParameters(arguments.dimensions, arguments.parameters));
    const bool turns = Turns(arguments.dimensions.layer);
    // Llama 4 warms up the layers without positions only.
    const bool warm = extras_.temperature.kind != TemperatureSetting::Kind::kLlama4 || !turns || !extras_.interval;
    if (warm) POSLAB_RETURN_IF_ERROR(BindTemperature(extras_.temperature, arguments, hooks));
    if (!turns) return Status::Ok();
    const Result<FrequencyTable> frequencies =
        Frequencies(arguments.dimensions, RunningLength(arguments), arguments.parameters);
    if (!frequencies.ok()) return frequencies.status();
    const Result<std::vector<uint8_t>> by_axis = Axes(frequencies->inverse.size());
    if (!by_axis.ok()) return by_axis.status();
    Result<std::unique_ptr<Rotation>> rotation =
        MakeRotation(*frequencies, layout_, arguments.query_positions, arguments.key_positions, *by_axis);
    if (!rotation.ok()) return rotation.status();
    hooks->rotation = std::move(*rotation);
    hooks->rotation->learns = extras_.learned;
    return Status::Ok();
  }

  Status Pull(const BindArguments& arguments, const Hooks& hooks, const HookGradients& hook_gradients,
              ParameterGradients gradients) const override {
    PullTemperature(hook_gradients, gradients);
    const TensorView<float>* factors = Find(gradients, kFactors);
    if (!factors || !hooks.rotation || hook_gradients.rotation.empty()) return Status::Ok();
    const Result<FrequencyTable> frequencies = Frequencies(arguments.dimensions, RunningLength(arguments), {});
    if (!frequencies.ok()) return frequencies.status();
    for (int64_t k = 0; k < factors->size(); ++k)
      factors->data[k] += static_cast<float>(frequencies->inverse[k] * hook_gradients.rotation[k]);
    return Status::Ok();
  }

  Result<FrequencyTable> Frequencies(const Dimensions& dimensions, int64_t running_length,
                                     ParameterValues parameters) const override {
    const Result<int64_t> rotary_dim = RotaryDim(dimensions.head_dim);
    if (!rotary_dim.ok()) return rotary_dim.status();
    RopeSetting setting;
    setting.theta = theta_;
    setting.head_dim = dimensions.head_dim;
    setting.rotary_dim = *rotary_dim;
    setting.max_position_embeddings = max_position_embeddings_;
    setting.trained_length = static_cast<double>(dimensions.trained_length);
    setting.running_length = running_length;
    Result<FrequencyTable> frequencies = ScaledFrequencies(scaling_, setting);
    if (!frequencies.ok()) return frequencies;
    const int64_t pairs = frequencies->inverse.size();
    POSLAB_RETURN_IF_ERROR(Axes(pairs).status());
    if (!Find(parameters, kFactors)) return frequencies;
    const Result<const float*> factors = Numbers(parameters, kFactors, {pairs});
    if (!factors.ok()) return factors.status();
    for (int64_t k = 0; k < pairs; ++k) frequencies->inverse[k] *= (*factors)[k];
    return frequencies;
  }

 private:
  bool Turns(int64_t layer) const { return !extras_.interval || (layer + 1) % extras_.interval != 0; }
  bool proportional() const { return scaling_.type == RopeScaling::Type::kProportional; }

  // Which of a token's ids each pair turns by; empty without sections.
  Result<std::vector<uint8_t>> Axes(int64_t pairs) const {
    const auto count = static_cast<int64_t>(extras_.sections.size());
    std::vector<uint8_t> by_axis;
    double sum = 0;
    for (double section : extras_.sections) sum += section;
    if (count == 0) return by_axis;
    if (sum != static_cast<double>(pairs)) {
      return Status::Number(Code::kContradiction, "position.sections", sum, "in all as many pairs as turn, {0}",
                            static_cast<double>(pairs));
    }
    const auto section = [this](int64_t axis) {
      return static_cast<int64_t>(extras_.sections[static_cast<size_t>(axis)]);
    };
    for (int64_t axis = 0; axis < count; ++axis)
      by_axis.insert(by_axis.end(), static_cast<size_t>(section(axis)), static_cast<uint8_t>(axis));
    if (!extras_.interleaved_sections) return by_axis;
    for (int64_t k = 0; k < pairs; ++k) {
      const int64_t axis = k % count;
      by_axis[static_cast<size_t>(k)] = static_cast<uint8_t>(k < count * section(axis) ? axis : 0);
    }
    for (int64_t axis = 1; axis < count; ++axis) {
      if (std::count(by_axis.begin(), by_axis.end(), axis) == section(axis)) continue;
      return Status::Number(Code::kContradiction, "position.sections", extras_.sections[static_cast<size_t>(axis)],
                            "at most a {0}th of the pairs for every axis but the first where they are interleaved",
                            static_cast<double>(count));
    }
    return by_axis;
  }

  // r for this head: rotaryDim, or the head's share partialRotaryFactor, or the head. An odd width has no pairs.
  Result<int64_t> RotaryDim(int64_t head_dim) const {
    if (head_dim <= 0) return Status::Text(Code::kMissing, "headDim", "", "the width of a query and key head");
    const char* argument = rotary_dim_ ? "position.rotaryDim" : "headDim";
    int64_t width = rotary_dim_ ? rotary_dim_ : head_dim;
    if (scaling_.partial_rotary_factor && !proportional()) {
      argument = "position.scaling.partialRotaryFactor";
      width = static_cast<int64_t>(static_cast<double>(head_dim) * *scaling_.partial_rotary_factor);
      if (rotary_dim_ && rotary_dim_ != width) {
        return Status::Number(Code::kContradiction, "position.rotaryDim", static_cast<double>(rotary_dim_),
                              "left out, or what partialRotaryFactor makes of the head, {0}",
                              static_cast<double>(width));
      }
    }
    if (width < 2 || width > head_dim || width % 2) {
      return Status::Number(Code::kRange, argument, static_cast<double>(width),
                            "an even number of lanes from 2 to the head's {0}", static_cast<double>(head_dim));
    }
    if (proportional() && width != head_dim) {
      return Status::Number(Code::kContradiction, "position.rotaryDim", static_cast<double>(width),
                            "left out: proportional scaling pairs the lanes of the whole head, {0}",
                            static_cast<double>(head_dim));
    }
    return width;
  }

  RopeScaling scaling_;
  Rotation::Layout layout_;
  double theta_;
  int64_t rotary_dim_;  // 0: the head
  std::optional<double> max_position_embeddings_;
  RopeExtras extras_;
};

}  // namespace

Result<std::unique_ptr<Scheme>> MakeRope(const Description& description) {
  static constexpr FieldRule kRules[] = {
      {.name = "theta", .kind = Field::Kind::kNumber, .minimum = kAboveZero, .maximum = kNoLimit},
      {.name = "layout", .kind = Field::Kind::kText, .choices = "half|interleaved"},
      {.name = "rotaryDim", .kind = Field::Kind::kNumber, .minimum = 2, .maximum = kLargestWhole, .integer = true},
      {.name = "maxPositionEmbeddings", .kind = Field::Kind::kNumber, .minimum = 1, .maximum = kLargestWhole},
      {.name = "learnedFrequencies", .kind = Field::Kind::kBoolean},
      {.name = "noRopeLayerInterval",
       .kind = Field::Kind::kNumber,
       .minimum = 2,
       .maximum = kLargestWhole,
       .integer = true},
      {.name = "sections", .kind = Field::Kind::kNumbers, .minimum = 0, .maximum = kLargestWhole, .integer = true},
      {.name = "sectionOrder", .kind = Field::Kind::kText, .choices = "contiguous|interleaved"},
  };
  std::vector<FieldRule> rules(std::begin(kRules), std::end(kRules));
  rules.insert(rules.end(), RopeScalingRules().begin(), RopeScalingRules().end());
  rules.insert(rules.end(), TemperatureRules().begin(), TemperatureRules().end());
  POSLAB_RETURN_IF_ERROR(RefuseAmbiguousScaling(description));
  POSLAB_RETURN_IF_ERROR(CheckFields(description, rules));
  Result<RopeScaling> scaling = ParseRopeScaling(description);
  if (!scaling.ok()) return scaling.status();

  const Result<TemperatureSetting> temperature = ParseTemperature(description);
  if (!temperature.ok()) return temperature.status();
  RopeExtras extras;
  extras.learned = BooleanOr(description, "learnedFrequencies", false);
  extras.interval = static_cast<int64_t>(NumberOr(description, "noRopeLayerInterval", 0));
  extras.temperature = *temperature;
  extras.interleaved_sections = TextOr(description, "sectionOrder", "contiguous") == "interleaved";
  if (const Field* sections = FindField(description, "sections"))
    extras.sections = sections->numbers;
  else if (FindField(description, "sectionOrder"))
    return Status::Text(Code::kMissing, "position.sections", "", "how many pairs turn by each axis");
  if (extras.sections.size() > kMostAxes) {
    return Status::Number(Code::kRange, "position.sections", static_cast<double>(extras.sections.size()),
                          "at most {0} numbers, one an axis", static_cast<double>(kMostAxes));
  }
  const Field* longest = FindField(description, "maxPositionEmbeddings");
  const bool half = TextOr(description, "layout", "half") == "half";
  return std::unique_ptr<Scheme>(std::make_unique<Rope>(
      std::move(*scaling), half ? Rotation::Layout::kHalf : Rotation::Layout::kInterleaved,
      NumberOr(description, "theta", kTheta), static_cast<int64_t>(NumberOr(description, "rotaryDim", 0)),
      longest ? std::optional<double>(longest->number) : std::nullopt, extras));
}

}  // namespace poslab
