// SPDX-License-Identifier: MIT
// A learned table of absolute positions (Gehring et al. 2017; BERT, GPT-2): the token at position p gets row
// p + offset added to its embedding (offset 2 as in OPT and BART). A position without a row is not defined; it is
// never wrapped or clamped.
#pragma once

#include <memory>

#include "position/scheme.h"

namespace poslab {

// Fields: offset (0): the row of position 0; rows: of a table yet to be made (default trained length + offset); stretchTo
// (none): positions 0 .. stretchTo - 1 are laid over the rows from `offset` on, each between two rows (table_resize.h).
// Tensors: table [rows, dim], shared by all layers; starts normal with standard deviation 0.02.
Result<std::unique_ptr<Scheme>> MakeLearned(const Description& description);

}  // namespace poslab
