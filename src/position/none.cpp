// SPDX-License-Identifier: MIT
// The scheme that does nothing, but for a temperature where one is asked for.
#include "position/none.h"

#include "position/temperature.h"

namespace poslab {
namespace {

class None final : public Scheme {
 public:
  explicit None(TemperatureSetting temperature) : temperature_(temperature) {}

  std::string_view type() const override { return "none"; }
  bool acts_on_attention() const override { return temperature_.kind != TemperatureSetting::Kind::kNone; }

  Result<std::vector<ParameterSpec>> Parameters(const Dimensions& dimensions) const override {
    std::vector<ParameterSpec> specs;
    POSLAB_RETURN_IF_ERROR(AddTemperatureSpec(temperature_, dimensions, &specs));
    return specs;
  }

  Status Bind(const BindArguments& arguments, Hooks* hooks) const override {
    POSLAB_RETURN_IF_ERROR(CheckParameters(arguments.dimensions, arguments.parameters));
    return BindTemperature(temperature_, arguments, hooks);
  }

  Status Pull(const BindArguments&, const Hooks&, const HookGradients& hook_gradients,
              ParameterGradients gradients) const override {
    PullTemperature(hook_gradients, gradients);
    return Status::Ok();
  }

 private:
  TemperatureSetting temperature_;
};

}  // namespace

Result<std::unique_ptr<Scheme>> MakeNone(const Description& description) {
  POSLAB_RETURN_IF_ERROR(CheckFields(description, TemperatureRules()));
  const Result<TemperatureSetting> temperature = ParseTemperature(description);
  if (!temperature.ok()) return temperature.status();
  return std::unique_ptr<Scheme>(std::make_unique<None>(*temperature));
}

}  // namespace poslab
