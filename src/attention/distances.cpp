// SPDX-License-Identifier: MIT
#include "attention/distances.h"

#include <algorithm>
#include <cmath>

#include "base/math.h"
#include "position/positions.h"

namespace poslab {
namespace {

int64_t FloorDivide(int64_t a, int64_t b) { return a / b - (a % b < 0); }

// Where the far pass sees the tokens of one side.
Status MapPositions(const Distances& distances, bool queries, Positions positions, Buffer<int64_t>* ids,
                    Positions* mapped) {
  POSLAB_RETURN_IF_ERROR(ids->ResizeForOverwrite("positions", positions.count));
  const bool grouped = distances.kind == Distances::Kind::kGrouped;
  const int64_t offset = !queries  ? 0
                         : grouped ? distances.window - distances.window / distances.group
                                   : distances.window;
  for (int64_t n = 0; n < positions.count; ++n)
    (*ids)[n] = (grouped ? FloorDivide(positions[n], distances.group) : 0) + offset;
  *mapped = {0, positions.count, ids->data()};
  return Status::Ok();
}

// What a part's weights are multiplied by, given its log-sum-exp and that of the whole.
double ShareOf(float part, double whole) { return part == -INFINITY ? 0 : Exp(static_cast<double>(part) - whole); }

double LogOfSum(float a, float b) {
  const double larger = std::max(a, b), smaller = std::min(a, b);
  if (smaller == -INFINITY) return larger;
  return larger + Log(1 + Exp(smaller - larger));
}

}  // namespace

Status DistancedAttention::Bind(const Scheme& scheme, const BindArguments& bind, const AttentionArguments& arguments,
                                const Distances& distances) {
  const auto at_least_one = [](const char* argument, int64_t given) {
    return Status::Number(Code::kRange, argument, static_cast<double>(given), "a whole number of at least 1");
  };
  if (distances.window < 1) return at_least_one("distances.window", distances.window);
  if (distances.group < 1) return at_least_one("distances.group", distances.group);
  if (!arguments.mask.causal)
    return Status::Text(Code::kContradiction, "distances", "given", "used only together with mask.causal");
  POSLAB_RETURN_IF_ERROR(CheckBothPositions(bind));
  near_.bind = far_.bind = bind;
  near_.bind.running_length = far_.bind.running_length = RunningLength(bind);
  POSLAB_RETURN_IF_ERROR(
      MapPositions(distances, true, bind.query_positions, &far_.query_ids, &far_.bind.query_positions));
  POSLAB_RETURN_IF_ERROR(MapPositions(distances, false, bind.key_positions, &far_.key_ids, &far_.bind.key_positions));
  for (Part* part : {&near_, &far_}) {
    POSLAB_RETURN_IF_ERROR(scheme.Bind(part->bind, &part->hooks));
    part->arguments = arguments;
    part->arguments.hooks = &part->hooks;
    part->arguments.query_positions = part->bind.query_positions;
    part->arguments.key_positions = part->bind.key_positions;
  }
  if (near_.hooks.tile && near_.hooks.tile->state_size() > 0) {
    return Status::Text(Code::kContradiction, "distances", scheme.type(),
                        "left out for a scheme that counts along the keys of a row");
  }
  // Temperatures grow with the position that the query has, not with the one that far keys see it at.
  if (near_.hooks.temperature) {
    const Buffer<float>& factors = near_.hooks.temperature->by_query;
    std::copy(factors.begin(), factors.end(), far_.hooks.temperature->by_query.begin());
  }
  std::optional<int64_t>& window = near_.arguments.mask.window;
  window = std::min(window.value_or(distances.window), distances.window);
  far_.arguments.mask.beyond = distances.window;
  far_.arguments.sinks = nullptr;
  return Status::Ok();
}

void DistancedAttention::SetHeads(const AttentionArguments& arguments) {
  for (Part* part : {&near_, &far_}) {
    part->arguments.query = arguments.query, part->arguments.key = arguments.key;
    part->arguments.value = arguments.value, part->arguments.gates = arguments.gates;
  }
}

Status DistancedAttention::Forward(AttentionResults* results, AttentionWorkspace* workspace) const {
  const HeadsView<float>& output = results->output;
  const int64_t rows = output.heads * output.length, keys = near_.arguments.key.length;
  const bool matrix = results->weights || results->scores;
  Buffer<float> other, near_sums, far_sums, near_scores, far_scores;
  POSLAB_RETURN_IF_ERROR(other.Resize("output", CheckedProduct({rows, output.dim})));
  POSLAB_RETURN_IF_ERROR(near_sums.Resize("logSumExp", rows));
  POSLAB_RETURN_IF_ERROR(far_sums.Resize("logSumExp", rows));
  POSLAB_RETURN_IF_ERROR(near_scores.Resize("scores", matrix ? CheckedProduct({rows, keys}) : 0));
  POSLAB_RETURN_IF_ERROR(far_scores.Resize("scores", near_scores.size()));
  AttentionResults near = {output, near_sums.data(), nullptr, near_scores.data()};
  AttentionResults far = {HeadsView<float>::Packed(other.data(), output.heads, output.length, output.dim),
                          far_sums.data(), nullptr, far_scores.data()};
  POSLAB_RETURN_IF_ERROR(Attention(near_.arguments, &near, workspace));
  POSLAB_RETURN_IF_ERROR(Attention(far_.arguments, &far, workspace));
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t head = row / output.length, query = row % output.length;
    const double sum = LogOfSum(near_sums[row], far_sums[row]);
    const double near_share = ShareOf(near_sums[row], sum), far_share = ShareOf(far_sums[row], sum);
    float* to = output.row(head, query);
    const float* from = far.output.row(head, query);
    for (int64_t d = 0; d < output.dim; ++d) to[d] = static_cast<float>(near_share * to[d] + far_share * from[d]);
    if (results->log_sum_exp) results->log_sum_exp[row] = static_cast<float>(sum);
    for (int64_t j = 0; matrix && j < keys; ++j) {
      // One of the two is -infinity: no key is both near and far.
      const float score = std::max(near_scores[row * keys + j], far_scores[row * keys + j]);
      if (results->scores) results->scores[row * keys + j] = score;
      if (results->weights) results->weights[row * keys + j] = static_cast<float>(ShareOf(score, sum));
    }
  }
  return Status::Ok();
}

Status DistancedAttention::Backward(const AttentionGradientArguments& forward, AttentionGradients* gradients,
                                    AttentionWorkspace* workspace) {
  // Weights come from the sum of both parts, and so each part's gradients are those of the whole.
  AttentionGradients to = *gradients;
  if (gradients->hooks) near_.gradients.parameters = far_.gradients.parameters = gradients->hooks->parameters;
  to.hooks = &near_.gradients;
  POSLAB_RETURN_IF_ERROR(AttentionBackward(near_.arguments, forward, &to, workspace));
  to.hooks = &far_.gradients;
  to.sinks = nullptr;
  return AttentionBackward(far_.arguments, forward, &to, workspace);
}

Status DistancedAttention::Pull(const Scheme& scheme, ParameterGradients gradients) const {
  for (const Part* part : {&near_, &far_})
    POSLAB_RETURN_IF_ERROR(scheme.Pull(part->bind, part->hooks, part->gradients, gradients));
  return Status::Ok();
}

}  // namespace poslab
