// SPDX-License-Identifier: MIT
// What poslab-models.wasm offers beyond poslab.wasm: whole architectures, for those who open checkpoints. A module of
// its own, so that nobody else loads it, and with memory of its own, which goes when the model goes.
#include <emscripten/bind.h>

#include "embind/border_types.h"
#include "embind/models.h"

namespace {

using namespace poslab::border;  // NOLINT: this file is a table of that namespace
using emscripten::class_;
using emscripten::function;
using TransformerPointer = std::shared_ptr<TransformerObject>;

}  // namespace

EMSCRIPTEN_BINDINGS(models) {
  function(
      "makeTransformer",
      +[](const ArchitectureOptions& architecture) { return TransformerOutcome(MakeTransformer(architecture)); });
  function(
      "estimateTransformer", +[](const ArchitectureOptions& architecture, double length) {
        return EstimateOutcome(EstimateTransformer(architecture, length));
      });
  class_<TransformerObject>("Transformer")
      .smart_ptr<TransformerPointer>("TransformerPointer")
      .function(
          "tensors", +[](const TransformerObject& model) { return TensorPlaces(model.Tensors()); })
      .function(
          "missing", +[](const TransformerObject& model) { return Names(model.Missing()); })
      .function(
          "setTensor", +[](TransformerObject& model, const std::string& name, const Numbers& numbers, double from,
                           bool transposed) { return DoneOutcome(model.SetTensor(name, numbers, from, transposed)); })
      .function(
          "change", +[](TransformerObject& model,
                        const PositionChangeOptions& change) { return DoneOutcome(model.Change(change)); })
      .function(
          "logits",
          +[](TransformerObject& model, const InputOptions& input) { return TensorOutcome(model.Logits(input)); })
      .function(
          "losses", +[](TransformerObject& model, const InputOptions& input,
                        const Numbers& targets) { return LossesOutcome(model.Losses(input, targets)); })
      .function(
          "attention", +[](TransformerObject& model, const InputOptions& input, double layer,
                           const std::string& kind) { return TensorOutcome(model.Attention(input, layer, kind)); })
      .function(
          "hiddenStates", +[](const TransformerObject& model) { return TensorOutcome(model.HiddenStates()); })
      .function(
          "encode",
          +[](TransformerObject& model, const InputOptions& input) { return DoneOutcome(model.Encode(input)); })
      .function(
          "append", +[](TransformerObject& model, const Numbers& ids) { return LogitsOutcome(model.Append(ids)); })
      .function("cached", &TransformerObject::cached)
      .function(
          "truncate", +[](TransformerObject& model, double length) { return DoneOutcome(model.Truncate(length)); });
}
