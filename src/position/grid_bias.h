// SPDX-License-Identifier: MIT
// Biases of the difference of rows and of columns on a grid (the windows of vision transformers): query at (y, x), key at
// (y', x'), dy = y - y', dx = x - x'.
//   swin     table[(dy + h - 1)(2w - 1) + dx + w - 1, head]                         (Liu et al. 2021, eq. 4)
//   levit    table[|dy| w + |dx|, head]                                              (Graham et al. 2021, section 4.3)
//   log-cpb  16 sigmoid(perceptron(c(dy, h), c(dx, w))[head]), with log-spaced coordinates
//            c(d, n) = sign(d) log2(1 + 8 |d| / (n - 1)) / log2 8                    (Liu et al. 2022, Swin V2, eq. 4)
// A difference that a table has no row for is not defined; log-cpb is defined everywhere.
#pragma once

#include <memory>

#include "position/scheme.h"

namespace poslab {

// Fields of all: gridHeight h (1), gridWidth w (as many columns as the trained length needs).
// Tensor: table [(2h - 1)(2w - 1), heads].
Result<std::unique_ptr<Scheme>> MakeSwin(const Description& description);
// Tensor: table [h w, heads] (LeViT's attention_biases, transposed).
Result<std::unique_ptr<Scheme>> MakeLevit(const Description& description);
// Further fields: width (512), of the hidden layer. h and w are the pretrained window's, whatever grid is looked at; where
// no width is known, that of the call.
// Tensors: weight1 [width, 2], bias1 [width], weight2 [heads, width].
Result<std::unique_ptr<Scheme>> MakeLogCpb(const Description& description);

}  // namespace poslab
