// SPDX-License-Identifier: MIT
// Plain objects (js/core-types.ts) into the lab's descriptions.
#pragma once

#include "lab/run.h"
#include "message.h"

namespace poslab::border {

ModelDescription ModelOf(Value object);
OptimizerDescription OptimizerOf(Value object);
TaskDescription TaskOf(Value object);
PositionDraw PositionDrawOf(Value object);
AtTest ChangeOf(Value object);
RunDescription RunOf(Value object);

}  // namespace poslab::border
