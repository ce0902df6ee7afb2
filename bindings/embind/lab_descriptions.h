// SPDX-License-Identifier: MIT
// Plain objects (js/core-types.ts) into the lab's descriptions.
#pragma once

#include <emscripten/val.h>

#include "lab/run.h"

namespace poslab::border {

ModelDescription ModelOf(const emscripten::val& object);
OptimizerDescription OptimizerOf(const emscripten::val& object);
TaskDescription TaskOf(const emscripten::val& object);
AtTest ChangeOf(const emscripten::val& object);
RunDescription RunOf(const emscripten::val& object);

}  // namespace poslab::border
