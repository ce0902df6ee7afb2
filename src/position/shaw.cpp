// SPDX-License-Identifier: MIT
// Two bands that point straight at the tables.
#include "position/shaw.h"

#include "position/learned_tensors.h"
#include "position/positions.h"

namespace poslab {
namespace {

constexpr int64_t kMaxDistance = 16;  // the paper's best setting
constexpr double kStartDeviation = 0.02;

class Shaw final : public Scheme {
 public:
  explicit Shaw(int64_t max_distance) : max_distance_(max_distance) {}

  std::string_view type() const override { return "shaw"; }
  bool acts_on_attention() const override { return true; }

  Result<std::vector<ParameterSpec>> Parameters(const Dimensions& dimensions) const override {
    if (dimensions.head_dim <= 0)
      return Status::Text(Code::kMissing, "headDim", "", "the width of a query and key head");
    std::vector<ParameterSpec> specs(2);
    specs[0].name = "keys";
    specs[0].shape = {rows(), dimensions.head_dim};
    specs[1].name = "values";
    specs[1].shape = {rows(), dimensions.value_dim > 0 ? dimensions.value_dim : dimensions.head_dim};
    for (ParameterSpec& spec : specs) spec.start = {Start::Kind::kNormal, kStartDeviation, 0};
    return specs;
  }

  Status CheckParameters(const Dimensions& dimensions, ParameterValues parameters) const override {
    Hooks unused;
    for (const TensorView<const float>& tensor : parameters) {
      if (tensor.name == "keys" || tensor.name == "values") continue;
      static constexpr std::string_view kKnown[] = {"keys", "values"};
      return Status::Text(Code::kUnknownName, "position." + std::string(tensor.name), tensor.name,
                          "a tensor of this scheme", NearestName(tensor.name, kKnown));
    }
    return BindTables(dimensions, parameters, &unused);
  }

  Status Bind(const BindArguments& arguments, Hooks* hooks) const override {
    POSLAB_RETURN_IF_ERROR(CheckBothPositions(arguments));
    return BindTables(arguments.dimensions, arguments.parameters, hooks);
  }

  Status Pull(const BindArguments&, const Hooks&, const HookGradients& hook_gradients,
              ParameterGradients gradients) const override {
    Add(hook_gradients.score_band_table, Find(gradients, "keys"));
    Add(hook_gradients.value_band_table, Find(gradients, "values"));
    return Status::Ok();
  }

 private:
  int64_t rows() const { return 2 * max_distance_ + 1; }

  Status BindTables(const Dimensions& dimensions, ParameterValues parameters, Hooks* hooks) const {
    const int64_t value_dim = dimensions.value_dim > 0 ? dimensions.value_dim : dimensions.head_dim;
    POSLAB_RETURN_IF_ERROR(BindTable(parameters, "keys", dimensions.heads, dimensions.head_dim, &hooks->score_band));
    if (!Find(parameters, "values")) return Status::Ok();
    return BindTable(parameters, "values", dimensions.heads, value_dim, &hooks->value_band);
  }

  Status BindTable(ParameterValues parameters, std::string_view name, int64_t heads, int64_t width,
                   std::unique_ptr<Band>* band) const {
    const TensorView<const float>* tensor = Find(parameters, name);
    const bool per_head = tensor && tensor->shape.size() == 3;
    const Result<const float*> table =
        per_head ? Numbers(parameters, name, {heads, rows(), width}) : Numbers(parameters, name, {rows(), width});
    if (!table.ok()) return table.status();
    *band = std::make_unique<Band>();
    (*band)->first = -max_distance_;
    (*band)->rows = rows();
    (*band)->width = width;
    (*band)->per_head = per_head;
    (*band)->table = *table;
    return Status::Ok();
  }

  static void Add(const Buffer<float>& from, const TensorView<float>* to) {
    if (!to || !to->data) return;
    for (int64_t n = 0; n < from.size(); ++n) to->data[n] += from[n];
  }

  int64_t max_distance_;
};

}  // namespace

Result<std::unique_ptr<Scheme>> MakeShaw(const Description& description) {
  const Result<int64_t> max_distance = ReadMaxDistance(description, kMaxDistance);
  if (!max_distance.ok()) return max_distance.status();
  return std::unique_ptr<Scheme>(std::make_unique<Shaw>(*max_distance));
}

}  // namespace poslab
