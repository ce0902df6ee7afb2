// SPDX-License-Identifier: MIT
// What poslab-models.wasm offers beyond poslab.wasm: whole architectures, for those who open checkpoints. A module of
// its own, so that nobody else loads it, and with memory of its own, which goes when the model goes.
#include "embind/calls.h"
#include "embind/models.h"

namespace {

using namespace poslab::border;  // NOLINT: this file is a table of that namespace

constexpr CallEntry kCalls[] = {
    {"makeTransformer", MakeTransformer},
    {"estimateTransformer", EstimateTransformer},
    {"Transformer_delete", TransformerDelete},
    {"Transformer_tensors", TransformerTensors},
    {"Transformer_missing", TransformerMissing},
    {"Transformer_setTensor", TransformerSetTensor},
    {"Transformer_change", TransformerChange},
    {"Transformer_logits", TransformerLogits},
    {"Transformer_losses", TransformerLosses},
    {"Transformer_attention", TransformerAttention},
    {"Transformer_hiddenStates", TransformerHiddenStates},
    {"Transformer_encode", TransformerEncode},
    {"Transformer_append", TransformerAppend},
    {"Transformer_cached", TransformerCached},
    {"Transformer_truncate", TransformerTruncate},
};

}  // namespace

EMSCRIPTEN_BINDINGS(models) { Register(kCalls); }
