// SPDX-License-Identifier: MIT
// Rotary position embedding in two dimensions: some pairs of lanes turn by the row of a token (y), the others by its
// column (x). Implementations differ in four choices, each a field:
//   order        blocks: the first half of the pairs belongs to one axis (Qwen2-VL's vision tower, EVA-02, Pixtral,
//                DINOv3); alternating: pairs take turns (HunyuanImage 3)
//   frequencies  restart: each axis has theta^(-2m / (r / 2)), m = 0, 1, ... (Qwen2-VL, EVA-02, DINOv3); split: of the
//                theta^(-2k / r) one axis has the even k, the other the odd ones (Pixtral, HunyuanImage 3)
//   firstAxis    y (all of the above) or x (Llama 4's vision tower, torchtune)
//   coordinates  index, or normalized: 2 pi ((2 p + 1) / n - 1) in place of the index p of n rows or columns (DINOv3)
// and in the lane layout of RoPE. The scores depend on the difference of rows and of columns only.
#pragma once

#include <memory>

#include "position/scheme.h"

namespace poslab {

// Fields: theta (10000; DINOv3 has 100), layout ("half"), rotaryDim (the head; a multiple of 4), order ("blocks"),
// frequencies ("restart"), firstAxis ("y"), coordinates ("index"); gridHeight, gridWidth and prefixTokens (grid.h), which
// `normalized` needs; class and register tokens do not turn.
Result<std::unique_ptr<Scheme>> MakeAxialRope(const Description& description);

}  // namespace poslab
