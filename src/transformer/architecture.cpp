// SPDX-License-Identifier: MIT
#include "transformer/architecture.h"

#include <cmath>

namespace poslab {
namespace {

// Beyond any model that fits into 4 GiB; products of three of them stay far from 2^63.
constexpr int64_t kLargestWidth = int64_t{1} << 20;
constexpr int64_t kMostLayers = 1024;

class Checks {
 public:
  explicit Checks(std::string path) : path_(std::move(path)) {}

  Checks& Range(const char* name, int64_t given, int64_t smallest, int64_t largest) {
    if (status_.ok() && (given < smallest || given > largest))
      status_ = Status::Number(Code::kRange, path_ + name, static_cast<double>(given), "a whole number from {0} to {1}",
                               static_cast<double>(smallest), static_cast<double>(largest));
    return *this;
  }
  Checks& Finite(const char* name, double given) {
    if (status_.ok() && !std::isfinite(given))
      status_ = Status::Number(Code::kRange, path_ + name, given, "a finite number");
    return *this;
  }
  Checks& Divides(const char* name, int64_t given, int64_t whole, const char* allowed) {
    if (status_.ok() && whole % given != 0)
      status_ =
          Status::Number(Code::kRange, path_ + name, static_cast<double>(given), allowed, static_cast<double>(whole));
    return *this;
  }
  Checks& Contradicts(bool wrong, const char* name, const char* given, const char* allowed) {
    if (status_.ok() && wrong) status_ = Status::Text(Code::kContradiction, path_ + name, given, allowed);
    return *this;
  }
  const Status& status() const { return status_; }

 private:
  std::string path_;
  Status status_;
};

Status CheckStack(const StackDescription& s, const char* path) {
  Checks checks(path);
  checks.Range("layers", s.layers, 1, kMostLayers)
      .Range("heads", s.heads, 1, kLargestWidth)
      .Range("keyValueHeads", s.key_value_heads, 1, s.heads)
      .Range("headDim", s.head_dim, 1, kLargestWidth / s.heads)
      .Range("feedForward", s.feed_forward, 1, kLargestWidth)
      .Finite("scale", s.scale.value_or(1))
      .Finite("embeddingScale", s.embedding_scale)
      .Finite("norm.epsilon", s.epsilon);
  POSLAB_RETURN_IF_ERROR(checks.status());
  const auto given = static_cast<int64_t>(s.position.size());
  checks.Divides("keyValueHeads", s.key_value_heads, s.heads, "a divisor of the heads, which are {0}")
      .Range("window.length", static_cast<int64_t>(s.windows.size()), s.layers, s.layers)
      .Range("position.length", given == 1 ? s.layers : given, s.layers, s.layers)
      .Contradicts(s.epsilon < 0, "norm.epsilon", "below 0", "a number of at least 0")
      .Contradicts(!s.pre_norm() && s.parallel != StackDescription::Parallel::kNo, "parallel", "with post-norm",
                   "false, or a norm before the parts");
  for (int64_t window : s.windows)
    checks.Range("window", window, 0, INT64_MAX)
        .Contradicts(window > 0 && !s.causal, "window", "a window", "a window only in a causal stack");
  return checks.status();
}

Status CheckImage(const ImageDescription& image) {
  return Checks("architecture.image.")
      .Range("channels", image.channels, 1, 4096)
      .Range("patch", image.patch, 1, 4096)
      .Range("height", image.height, image.patch, kLargestWidth)
      .Range("width", image.width, image.patch, kLargestWidth)
      .status();
}

}  // namespace

Status CheckArchitecture(const Architecture& a) {
  Checks checks("architecture.");
  checks.Range("dim", a.dim, 1, kLargestWidth)
      .Range("vocabulary", a.vocabulary, a.image ? 0 : 1, int64_t{1} << 24)
      .Range("trainedLength", a.trained_length, 0, INT64_MAX)
      .Range("tokenTypes", a.token_types, 0, kLargestWidth)
      .Range("memoryLength", a.memory_length, 0, kLargestWidth)
      .Contradicts(!a.encoder && !a.decoder, "encoder", "none", "an encoder, a decoder or both")
      .Contradicts(a.encoder && a.encoder->causal, "encoder.causal", "true", "false")
      .Contradicts(a.decoder && !a.decoder->causal, "decoder.causal", "false", "true")
      .Contradicts(a.separate_embeddings && !a.two_stacks(), "separateEmbeddings", "true",
                   "false where there is one stack")
      .Contradicts(a.image && a.decoder, "image", "with a decoder", "images with an encoder alone")
      .Contradicts(a.memory_length > 0 && (!a.decoder || a.encoder), "memoryLength", "with an encoder",
                   "memory for a decoder alone");
  POSLAB_RETURN_IF_ERROR(checks.status());
  if (a.encoder) POSLAB_RETURN_IF_ERROR(CheckStack(*a.encoder, "architecture.encoder."));
  if (a.decoder) POSLAB_RETURN_IF_ERROR(CheckStack(*a.decoder, "architecture.decoder."));
  if (a.image) POSLAB_RETURN_IF_ERROR(CheckImage(*a.image));
  if (!a.head) return Status::Ok();
  return checks.Range("head.outputs", a.head->outputs, 1, int64_t{1} << 24)
      .Finite("head.scale", a.head->scale)
      .Contradicts(a.head->tied && a.head->outputs != a.vocabulary, "head.tied", "true with other outputs",
                   "as many outputs as the vocabulary has, when the head is tied")
      .status();
}

std::string_view StackPrefix(const Architecture& architecture, const StackDescription& stack) {
  if (!architecture.two_stacks()) return "";
  return &stack == &*architecture.encoder ? "encoder." : "decoder.";
}

}  // namespace poslab
