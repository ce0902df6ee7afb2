// SPDX-License-Identifier: MIT
// What a ModelDescription may be: every field by its public name, then combinations, then the memory of the whole.
#include <cmath>
#include <initializer_list>

#include "model/model.h"

namespace poslab {
namespace {

// Far beyond what one thread can train; they keep products of two fields far from 2^63.
constexpr int64_t kLargestWidth = int64_t{1} << 20;
constexpr int64_t kLargestVocabulary = int64_t{1} << 24;
constexpr int64_t kMostLayers = 1024;
// Weights, their transposes and gradients; moments are asked for by the optimiser.
constexpr double kBytesPerParameter = 3 * sizeof(float);

struct FieldLimit {
  const char* name;
  int64_t given, smallest, largest;
};

Status CheckLimits(std::initializer_list<FieldLimit> limits) {
  for (const FieldLimit& limit : limits)
    if (limit.given < limit.smallest || limit.given > limit.largest)
      return Status::Number(Code::kRange, limit.name, static_cast<double>(limit.given),
                            "a whole number from {0} to {1}", static_cast<double>(limit.smallest),
                            static_cast<double>(limit.largest));
  return Status::Ok();
}

// In double, which cannot overflow; biases, norms and positions are left out, matrices decide.
double MatrixParameters(const ModelDescription& d, double query_width, double key_width) {
  const double dim = static_cast<double>(d.dim), vocabulary = static_cast<double>(d.vocabulary);
  const double attention = (2 * query_width + 2 * key_width) * dim;
  const double feed_forward = (d.gated ? 3 : 2) * dim * static_cast<double>(d.feed_forward);
  return (d.tied ? 1 : 2) * vocabulary * dim + static_cast<double>(d.layers) * (attention + feed_forward);
}

}  // namespace

Status CheckModel(const ModelDescription& d) {
  POSLAB_RETURN_IF_ERROR(CheckLimits({{"model.vocabulary", d.vocabulary, 1, kLargestVocabulary},
                                      {"model.dim", d.dim, 1, kLargestWidth},
                                      {"model.heads", d.heads, 1, kLargestWidth},
                                      {"model.keyValueHeads", d.key_value_heads, 0, d.heads},
                                      {"model.headDim", d.head_dim, 0, kLargestWidth},
                                      {"model.layers", d.layers, 1, kMostLayers},
                                      {"model.feedForward", d.feed_forward, 1, kLargestWidth},
                                      {"model.trainedLength", d.trained_length, 0, INT64_MAX}}));
  if (d.head_dim == 0 && d.dim % d.heads != 0)
    return Status::Number(Code::kRange, "model.heads", static_cast<double>(d.heads),
                          "a divisor of model.dim, which is {0}, unless model.headDim is given",
                          static_cast<double>(d.dim));
  if (d.key_value_heads != 0 && d.heads % d.key_value_heads != 0)
    return Status::Number(Code::kRange, "model.keyValueHeads", static_cast<double>(d.key_value_heads),
                          "a divisor of model.heads, which is {0}", static_cast<double>(d.heads));
  const double head_dim = static_cast<double>(d.head_dim ? d.head_dim : d.dim / d.heads);
  const double query_width = static_cast<double>(d.heads) * head_dim;
  if (query_width > static_cast<double>(kLargestWidth))
    return Status::Number(Code::kRange, "model.headDim", head_dim, "at most {0} for heads times headDim",
                          static_cast<double>(kLargestWidth));
  const double key_width = static_cast<double>(d.key_value_heads ? d.key_value_heads : d.heads) * head_dim;
  const double bytes = MatrixParameters(d, query_width, key_width) * kBytesPerParameter;
  if (bytes > static_cast<double>(kMaxBytes))
    return Status::Number(Code::kMemory, "model", bytes, "at most {0} bytes for the model's weights and gradients",
                          static_cast<double>(kMaxBytes));
  return Status::Ok();
}

}  // namespace poslab
