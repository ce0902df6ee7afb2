// SPDX-License-Identifier: MIT
// The list of poslab-classic.wasm: the ten schemes that models were first trained with. It stands before the core's own
// (src/position/registry.cpp), which the linker then leaves out, and with it every scheme that is not named here.
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
namespace {

constexpr SchemeEntry kSchemes[] = {
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

}  // namespace

std::span<const SchemeEntry> Schemes() { return kSchemes; }

std::string_view OtherSchemes() {
  return R"( (those of loadPosLab({ schemes: "classic" }); schemes: "all", the default, has every one))";
}

}  // namespace poslab
