// SPDX-License-Identifier: MIT
// Calls about encodings alone. Each takes a FlatScheme and plain options and returns an Outcome (js/core-types.ts).
#pragma once

#include <emscripten/val.h>

namespace poslab::border {

using emscripten::val;

val SchemesList();  // [{ type, hooks, gates }]
// The learnable tensors as training would start them: { tensors: [{ name, data, shape }] }.
val StartParametersCall(const val& scheme, const val& dimensions, double seed);
val TableCall(const val& scheme, double length, double dim, double start);
val FrequenciesCall(const val& scheme, double head_dim, double length);
val RotateCall(const val& scheme, const val& x, const val& positions, double start);
val SlopesCall(const val& scheme, double heads);
val BucketsCall(const val& scheme, const val& distances);
val BiasCall(const val& scheme, double heads, double queries, double keys, const val& query_positions,
             const val& key_positions);

}  // namespace poslab::border
