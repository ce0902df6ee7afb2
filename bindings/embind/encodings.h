// SPDX-License-Identifier: MIT
// Calls about encodings alone. Each takes a FlatScheme and plain options and returns an Outcome (js/core-types.ts).
#pragma once

namespace poslab::border {

void SchemesList(double message);  // [{ type, hooks, gates }]
// The learnable tensors as training would start them: { tensors: [{ name, data, shape }] }.
void StartParametersCall(double message);
void TableCall(double message);
void FrequenciesCall(double message);
void RotateCall(double message);
// Position ids drawn by a policy: { ids }
void DrawPositionsCall(double message);
void SlopesCall(double message);
void BucketsCall(double message);
void BiasCall(double message);

}  // namespace poslab::border
