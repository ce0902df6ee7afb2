// SPDX-License-Identifier: MIT
// Loaded models as seen from JavaScript: whole architectures with weights from elsewhere (transformer/transformer.h).
#pragma once

#include <emscripten/val.h>

#include <memory>
#include <string>

#include "transformer/transformer.h"

namespace poslab::border {

using emscripten::val;

class TransformerObject {
 public:
  explicit TransformerObject(std::unique_ptr<Transformer> transformer) : transformer_(std::move(transformer)) {}
  val Tensors() const;  // [{ name, shape }]
  val Missing() const;  // [name]
  val SetTensor(const std::string& name, const val& numbers, double from, bool transposed);
  val Change(const val& change);
  val Logits(const val& input);                                            // tensor
  val Losses(const val& input, const val& targets);                        // { losses }
  val Attention(const val& input, double layer, const std::string& kind);  // tensor
  val HiddenStates() const;                                                // tensor
  val Encode(const val& input);
  val Append(const val& ids);  // { logits }
  double cached() const { return static_cast<double>(transformer_->cached()); }
  val Truncate(double length);

 private:
  Result<OtherScheme> OtherSchemeOf(const val& flat, const std::optional<StackDescription>& stack) const;

  std::unique_ptr<Transformer> transformer_;
};
val MakeTransformer(const val& architecture);                     // { model }
val EstimateTransformer(const val& architecture, double length);  // { weights, pass, cachePerToken }

// Field by field; bindings/js/models/core-model.ts fills in defaults.
Architecture ArchitectureOf(const val& object);

}  // namespace poslab::border
