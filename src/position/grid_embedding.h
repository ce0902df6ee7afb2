// SPDX-License-Identifier: MIT
// Embeddings of tokens on a grid (grid.h), added to the token's vector:
//   sinusoidal-2d   half of the columns are the sinusoid of the row, the other half that of the column of the grid.
//                   MAE (He et al. 2022): concatenated, firstAxis x. DETR (Carion et al. 2020, appendix): interleaved,
//                   firstAxis y, normalized coordinates 2 pi (p + 1) / (n + 1e-6) in place of the index p of n.
//   axial-learned   a table of rows and one of columns, added up (Ho et al. 2019) or side by side (Reformer, DETR)
//   learned-grid    a row of its own for every class or register token and every place (Dosovitskiy et al. 2021, ViT),
//                   and for a grid of another size the bicubic mean of those of the trained one (table_resize.h)
// A place that a table does not have is not defined.
#pragma once

#include <memory>

#include "position/scheme.h"

namespace poslab {

// Fields: base (10000), layout ("concatenated"), firstAxis ("x"), coordinates ("index"); gridHeight (1), gridWidth (all
// tokens in one row; `normalized` needs it), prefixTokens (0), to which nothing is added. The width is a multiple of 4.
Result<std::unique_ptr<Scheme>> MakeSinusoidal2d(const Description& description);

// Fields: combine ("sum" | "concatenate"), firstAxis ("y": which is first side by side), gridHeight (1), gridWidth.
// Tensors: rows [gridHeight, dim], columns [gridWidth, dim]; side by side half as wide each.
Result<std::unique_ptr<Scheme>> MakeAxialLearned(const Description& description);

// Fields: gridHeight (1), gridWidth, prefixTokens (0); targetHeight, targetWidth (as the grid), antialias (false).
// Tensor: table [prefixTokens + gridHeight gridWidth, dim].
Result<std::unique_ptr<Scheme>> MakeLearnedGrid(const Description& description);

}  // namespace poslab
