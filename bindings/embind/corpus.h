// SPDX-License-Identifier: MIT
// A corpus as an argument: its handle is the address of a pointer to it, which runs may outlive.
#pragma once

#include <memory>

#include "lab/task.h"
#include "message.h"

namespace poslab::border {

using CorpusPointer = std::shared_ptr<const Corpus>;

// Null: no corpus.
CorpusPointer NextMaybeCorpus(Arguments* in);

}  // namespace poslab::border
