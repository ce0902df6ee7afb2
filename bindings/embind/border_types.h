// SPDX-License-Identifier: MIT
// The forms of what crosses the border, for the declarations that Emscripten writes (poslab.d.ts): in C++ each is a
// plain val, in TypeScript a type of js/core-types.ts.
#pragma once

#include <emscripten/bind.h>

// T(name in C++, type in TypeScript)
#define POSLAB_CORE_TYPE(name) "import('../core-types.js')." name
#define POSLAB_OUTCOME(type) POSLAB_CORE_TYPE("Outcome<") type ">"
#define POSLAB_BORDER_TYPES(T)                                                 \
  T(FlatScheme, POSLAB_CORE_TYPE("FlatScheme"))                                \
  T(CoreInput, POSLAB_CORE_TYPE("CoreInput"))                                  \
  T(MaybeIds, POSLAB_CORE_TYPE("IdBytes | null"))                              \
  T(Ids, POSLAB_CORE_TYPE("IdBytes"))                                          \
  T(AttentionOptions, POSLAB_CORE_TYPE("CoreAttentionCall"))                   \
  T(TaskOptions, POSLAB_CORE_TYPE("CoreTask"))                                 \
  T(ModelOptions, POSLAB_CORE_TYPE("CoreModelShape"))                          \
  T(OptimizerOptions, POSLAB_CORE_TYPE("CoreOptimizer"))                       \
  T(RunOptions, POSLAB_CORE_TYPE("CoreRunDescription"))                        \
  T(Change, POSLAB_CORE_TYPE("CoreChange"))                                    \
  T(ArchitectureOptions, POSLAB_CORE_TYPE("CoreArchitecture"))                 \
  T(InputOptions, POSLAB_CORE_TYPE("CoreModelInput"))                          \
  T(PositionChangeOptions, POSLAB_CORE_TYPE("CorePositionChange"))             \
  T(TensorPlaces, POSLAB_CORE_TYPE("CoreTensorPlace[]"))                       \
  T(Names, "string[]")                                                         \
  T(LogitsOutcome, POSLAB_OUTCOME("{ logits: Float32Array }"))                 \
  T(EstimateOutcome, POSLAB_OUTCOME(POSLAB_CORE_TYPE("CoreMemoryEstimate")))   \
  T(TransformerOutcome, POSLAB_OUTCOME("{ model: Transformer }"))              \
  T(SchemeList, POSLAB_CORE_TYPE("CoreSchemeInfo[]"))                          \
  T(TaskList, POSLAB_CORE_TYPE("CoreTaskInfo[]"))                              \
  T(ParameterList, POSLAB_CORE_TYPE("CoreParameter[]"))                        \
  T(RunProgress, POSLAB_CORE_TYPE("CoreProgress"))                             \
  T(RunResults, POSLAB_CORE_TYPE("CoreRunResults"))                            \
  T(Sizes, POSLAB_CORE_TYPE("CoreSizes"))                                      \
  T(TensorsOutcome, POSLAB_OUTCOME(POSLAB_CORE_TYPE("CoreTensors")))           \
  T(TensorOutcome, POSLAB_OUTCOME(POSLAB_CORE_TYPE("CoreTensor")))             \
  T(FrequenciesOutcome, POSLAB_OUTCOME(POSLAB_CORE_TYPE("CoreFrequencies")))   \
  T(BytesOutcome, POSLAB_OUTCOME("{ bytes: Uint8Array }"))                     \
  T(AttentionOutcome, POSLAB_OUTCOME(POSLAB_CORE_TYPE("CoreAttentionResult"))) \
  T(GradientsOutcome, POSLAB_OUTCOME(POSLAB_CORE_TYPE("CoreGradients")))       \
  T(RowOutcome, POSLAB_OUTCOME(POSLAB_CORE_TYPE("CoreRow")))                   \
  T(MeasuringOutcome, POSLAB_OUTCOME(POSLAB_CORE_TYPE("CoreMeasuring")))       \
  T(GeneratedOutcome, POSLAB_OUTCOME(POSLAB_CORE_TYPE("CoreGenerated")))       \
  T(DoneOutcome, POSLAB_OUTCOME("object"))                                     \
  T(LossOutcome, POSLAB_OUTCOME("{ loss: number }"))                           \
  T(NormOutcome, POSLAB_OUTCOME("{ gradientNorm: number }"))                   \
  T(LossesOutcome, POSLAB_OUTCOME("{ losses: Float32Array }"))                 \
  T(CorpusOutcome, POSLAB_OUTCOME("{ corpus: Corpus }"))                       \
  T(RunOutcome, POSLAB_OUTCOME("{ run: Run }"))                                \
  T(TrainerOutcome, POSLAB_OUTCOME("{ trainer: Trainer }"))                    \
  T(Numbers, POSLAB_CORE_TYPE("NumberSource"))                                 \
  T(Bytes, "Uint8Array")                                                       \
  T(Floats, "Float32Array")                                                    \
  T(Doubles, "Float64Array")                                                   \
  T(Tokens, "Int32Array")                                                      \
  T(Symbols, "Uint32Array")

namespace poslab::border {

#define POSLAB_DECLARE_TYPE(name, type) EMSCRIPTEN_DECLARE_VAL_TYPE(name)
POSLAB_BORDER_TYPES(POSLAB_DECLARE_TYPE)
#undef POSLAB_DECLARE_TYPE

}  // namespace poslab::border
