// SPDX-License-Identifier: MIT
// Loaded models as seen from JavaScript: whole architectures with weights from elsewhere (transformer/transformer.h).
// Arguments and answers are declared in js/core-interface.ts; calls that begin with Transformer take the model first.
#pragma once

#include "message.h"
#include "transformer/transformer.h"

namespace poslab::border {

void MakeTransformer(double message);
void EstimateTransformer(double message);
void TransformerDelete(double message);
void TransformerTensors(double message);
void TransformerMissing(double message);
void TransformerSetTensor(double message);
void TransformerChange(double message);
void TransformerLogits(double message);
void TransformerLosses(double message);
void TransformerAttention(double message);
void TransformerHiddenStates(double message);
void TransformerEncode(double message);
void TransformerAppend(double message);
void TransformerCached(double message);
void TransformerTruncate(double message);

// Field by field; bindings/js/models/core-model.ts fills in defaults.
Architecture ArchitectureOf(Value object);

}  // namespace poslab::border
