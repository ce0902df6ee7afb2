// SPDX-License-Identifier: MIT
// Attention whose far keys are seen at other distances than they are, so that a model meets none that it was not trained
// on. Near keys (those of a window) are scored as ever, far ones with the scheme bound to other positions; both passes are
// merged by their log-sum-exp, so that memory stays O(L * D).
//   grouped   distance floor(i / group) - floor(j / group) + window - floor(window / group)   (Jin et al. 2024, Self-Extend)
//   clamped   distance `window`                                                                   (Su 2023, ReRoPE)
#pragma once

#include "attention/attention.h"

namespace poslab {

struct Distances {
  enum class Kind { kGrouped, kClamped } kind = Kind::kGrouped;
  int64_t window = 0;  // this many keys are near: the query itself and window - 1 before it; >= 1
  int64_t group = 1;   // >= 1
};

// The scheme bound twice, and the arguments of both passes.
class DistancedAttention {
 public:
  DistancedAttention() = default;
  DistancedAttention(const DistancedAttention&) = delete;  // its parts point at each other
  DistancedAttention& operator=(const DistancedAttention&) = delete;

  // `arguments` without hooks. kContradiction without mask.causal, or for a scheme that sums along a row of keys.
  Status Bind(const Scheme& scheme, const BindArguments& bind, const AttentionArguments& arguments,
              const Distances& distances);
  // Other heads of the same shapes under what was bound: the next sequence of a batch. Where `gates` were given, so
  // must these be.
  void SetHeads(const AttentionArguments& arguments);

  Status Forward(AttentionResults* results, AttentionWorkspace* workspace) const;
  // As AttentionBackward; the gradients of hooks are kept here, for Pull. Of `gradients->hooks` only `parameters` counts.
  Status Backward(const AttentionGradientArguments& forward, AttentionGradients* gradients,
                  AttentionWorkspace* workspace);
  Status Pull(const Scheme& scheme, ParameterGradients gradients) const;

 private:
  struct Part {
    Buffer<int64_t> query_ids, key_ids;
    BindArguments bind;
    Hooks hooks;
    HookGradients gradients;
    AttentionArguments arguments;
  };
  Part near_, far_;
};

}  // namespace poslab
