// SPDX-License-Identifier: MIT
// The list of poslab-classic.wasm and poslab-attention.wasm: the classic schemes. It stands before the core's own
// (src/position/registry.cpp), which the linker then leaves out, and with it every scheme that is not named here.
#include "position/classic_schemes.h"

namespace poslab {

std::span<const SchemeEntry> Schemes() { return kClassicSchemes; }

std::string_view OtherSchemes() { return R"( (the classic ones; loadPosLab({ schemes: "all" }) has every one))"; }

}  // namespace poslab
