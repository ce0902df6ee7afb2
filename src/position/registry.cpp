// SPDX-License-Identifier: MIT
// One line a scheme, after the classic ones.
#include "position/registry.h"

#include <algorithm>
#include <array>

#include "position/axial_rope.h"
#include "position/classic_schemes.h"
#include "position/cope.h"
#include "position/dape.h"
#include "position/deberta.h"
#include "position/dynamic_bias.h"
#include "position/fire.h"
#include "position/forgetting.h"
#include "position/grid_bias.h"
#include "position/grid_embedding.h"
#include "position/pope.h"
#include "position/relative_scalar.h"
#include "position/sandwich.h"
#include "position/tisa.h"

namespace poslab {
namespace {

constexpr SchemeEntry kLaterSchemes[] = {
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

constexpr auto kSchemes = [] {
  std::array<SchemeEntry, std::size(kClassicSchemes) + std::size(kLaterSchemes)> all{};
  std::ranges::copy(kLaterSchemes, std::ranges::copy(kClassicSchemes, all.begin()).out);
  return all;
}();

}  // namespace

std::span<const SchemeEntry> Schemes() { return kSchemes; }

std::string_view OtherSchemes() { return ""; }

}  // namespace poslab
