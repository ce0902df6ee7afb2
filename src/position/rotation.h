// SPDX-License-Identifier: MIT
// Rotation tables from frequencies (Su et al. 2021, RoFormer), and turning rows by them. The attention engine turns
// rows as it packs them; TurnRows is for callers who want the turned rows themselves.
#pragma once

#include <cstdint>
#include <memory>

#include "base/status.h"
#include "position/scheme.h"

namespace poslab {

// Tables of cos and sin, times the attention factor, for both sides; one table for both when the queries are a run of the
// keys: of a contiguous call, or the last ones by their ids. `axes` [pairs]: which id of a token each pair turns by,
// where tokens have several.
Result<std::unique_ptr<Rotation>> MakeRotation(const FrequencyTable& frequencies, Rotation::Layout layout,
                                               Positions queries, Positions keys, std::span<const uint8_t> axes = {});

// to[h, n] = from[h, n] turned as key n of `rotation`; both [heads, length, dim]; may be the same memory. The backward
// twin turns by the opposite angle: `inverse`.
void TurnRows(const Rotation& rotation, int64_t heads, int64_t length, int64_t dim, const float* from, float* to,
              bool inverse = false);

}  // namespace poslab
