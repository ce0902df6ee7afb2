// SPDX-License-Identifier: MIT
// One training step of the experiment's model (width 64, 4 heads, feed-forward 256, vocabulary 80): loss, gradients and
// AdamW; and one evaluation, forward only.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "model/adamw.h"
#include "model/model.h"

namespace poslab_bench {

struct TrainingShape {
  int64_t batch = 8, length = 128, layers = 2;
};

class TrainingWorkload {
 public:
  poslab::Status Make(std::string_view type, const TrainingShape& shape);
  poslab::Status Step();
  poslab::Status Score();
  double tokens() const { return static_cast<double>(shape_.batch * shape_.length); }

 private:
  TrainingShape shape_;
  std::unique_ptr<poslab::Model> model_;
  std::optional<poslab::AdamW> optimizer_;
  poslab::Buffer<int32_t> ids_, targets_;
  poslab::Buffer<float> losses_;
};

}  // namespace poslab_bench
