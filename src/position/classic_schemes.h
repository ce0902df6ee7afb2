// SPDX-License-Identifier: MIT
// The ten schemes that models were first trained with, a line each: the beginning of the list of all (registry.cpp), and
// the whole list of poslab-classic.wasm (bindings/embind/classic/schemes.cpp).
#pragma once

#include "position/alibi.h"
#include "position/kerple.h"
#include "position/learned.h"
#include "position/none.h"
#include "position/registry.h"
#include "position/rope.h"
#include "position/shaw.h"
#include "position/sinusoidal.h"
#include "position/t5.h"
#include "position/transformer_xl.h"
#include "position/xpos.h"

namespace poslab {

inline constexpr SchemeEntry kClassicSchemes[] = {
    {"none", "", MakeNone},
    {"sinusoidal", "embedding", MakeSinusoidal},
    {"learned", "embedding", MakeLearned},
    {"shaw", "score value", MakeShaw},
    {"transformer-xl", "score", MakeTransformerXl},
    {"t5", "score", MakeT5},
    {"rope", "rotation", MakeRope},
    {"alibi", "score", MakeAlibi},
    {"xpos", "rotation score", MakeXpos},
    {"kerple", "score", MakeKerple},
};

}  // namespace poslab
