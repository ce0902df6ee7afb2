// SPDX-License-Identifier: MIT
#include "position/dape.h"

#include "position/dape_tile.h"
#include "position/registry.h"
#include "position/small_mlp.h"

namespace poslab {
namespace {

constexpr double kWidth = 32;

class Dape final : public Scheme {
 public:
  Dape(std::unique_ptr<Scheme> base, int64_t width) : base_(std::move(base)), width_(width) {}

  std::string_view type() const override { return "dape"; }
  bool acts_on_attention() const override { return true; }

  Result<std::vector<ParameterSpec>> Parameters(const Dimensions& dimensions) const override {
    if (dimensions.heads <= 0) return Status::Text(Code::kMissing, "heads", "", "how many heads there are");
    Result<std::vector<ParameterSpec>> specs = base_->Parameters(dimensions);
    if (specs.ok()) SmallMlp::AddSpecs({CheckedProduct({2, dimensions.heads}), width_, dimensions.heads}, &*specs);
    return specs;
  }

  Status Bind(const BindArguments& arguments, Hooks* hooks) const override {
    const Result<std::vector<ParameterSpec>> specs = base_->Parameters(arguments.dimensions);
    if (!specs.ok()) return specs.status();
    std::vector<TensorView<const float>> of_base;
    for (const TensorView<const float>& tensor : arguments.parameters)
      for (const ParameterSpec& spec : *specs)
        if (tensor.name == spec.name) of_base.push_back(tensor);
    BindArguments base_arguments = arguments;
    base_arguments.parameters = of_base;
    Hooks base;
    POSLAB_RETURN_IF_ERROR(base_->Bind(base_arguments, &base));
    auto tile = std::make_unique<DapeTile>(arguments.dimensions.heads, width_, specs->size(), std::move(base));
    POSLAB_RETURN_IF_ERROR(tile->tensors.Bind(*this, arguments));
    POSLAB_RETURN_IF_ERROR(tile->Prepare(arguments));
    hooks->tile = std::move(tile);
    return Status::Ok();
  }

  Status Pull(const BindArguments& arguments, const Hooks& hooks, const HookGradients& hook_gradients,
              ParameterGradients gradients) const override {
    auto& tile = static_cast<DapeTile&>(*hooks.tile);
    tile.Finish();
    tile.tensors.Pull(gradients);
    return base_->Pull(arguments, tile.base, hook_gradients, gradients);
  }

 private:
  std::unique_ptr<Scheme> base_;
  int64_t width_;
};

}  // namespace

Result<std::unique_ptr<Scheme>> MakeDape(const Description& description) {
  static constexpr FieldRule kRules[] = {
      {.name = "base", .kind = Field::Kind::kText, .choices = "kerple|alibi|t5|sandwich|tisa|relative-scalar"},
      {.name = "width", .kind = Field::Kind::kNumber, .minimum = 1, .maximum = 1024, .integer = true},
  };
  POSLAB_RETURN_IF_ERROR(CheckFields(description, kRules));
  Result<std::unique_ptr<Scheme>> base = MakeScheme({std::string(TextOr(description, "base", "kerple")), {}});
  if (!base.ok()) return base.status();
  return std::unique_ptr<Scheme>(
      std::make_unique<Dape>(std::move(*base), static_cast<int64_t>(NumberOr(description, "width", kWidth))));
}

}  // namespace poslab
