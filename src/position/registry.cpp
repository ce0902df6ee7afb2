// SPDX-License-Identifier: MIT
// One line a scheme.
#include "position/registry.h"

#include "position/alibi.h"
#include "position/axial_rope.h"
#include "position/cope.h"
#include "position/dape.h"
#include "position/deberta.h"
#include "position/dynamic_bias.h"
#include "position/fire.h"
#include "position/forgetting.h"
#include "position/grid_bias.h"
#include "position/grid_embedding.h"
#include "position/kerple.h"
#include "position/learned.h"
#include "position/none.h"
#include "position/pope.h"
#include "position/relative_scalar.h"
#include "position/rope.h"
#include "position/sandwich.h"
#include "position/shaw.h"
#include "position/sinusoidal.h"
#include "position/t5.h"
#include "position/tisa.h"
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
    {"fire", "score", MakeFire},
    {"sandwich", "score", MakeSandwich},
    {"tisa", "score", MakeTisa},
    {"relative-scalar", "score", MakeRelativeScalar},
    {"dynamic-bias", "score", MakeDynamicBias},
    {"cope", "score", MakeCope},
    {"forgetting", "score", MakeForgetting},
    {"deberta", "score", MakeDeberta},
    {"dape", "score", MakeDape},
    {"pope", "rotation score", MakePope},
    {"axial-rope", "rotation", MakeAxialRope},
    {"swin", "score", MakeSwin},
    {"levit", "score", MakeLevit},
    {"log-cpb", "score", MakeLogCpb},
    {"sinusoidal-2d", "embedding", MakeSinusoidal2d},
    {"axial-learned", "embedding", MakeAxialLearned},
    {"learned-grid", "embedding", MakeLearnedGrid},
};

}  // namespace

std::span<const SchemeEntry> Schemes() { return kSchemes; }

std::string_view OtherSchemes() { return ""; }

}  // namespace poslab
