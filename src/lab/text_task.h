// SPDX-License-Identifier: MIT
// The task `text`: the next character of a corpus, in nats.
#pragma once

#include <memory>

#include "lab/task.h"

namespace poslab {

// How many characters of the test part window w of W ends after (experiment contract, "What is measured"):
// floor((longest + 1) + w * (size - 1 - (longest + 1)) / (W - 1)). A window of N places holds N + 1 characters, the
// last one scored only, so the shortest end that serves every length is longest + 1. A single window (W = 1) ends
// there. Needs size >= longest + 2, W >= 1.
int64_t WindowEnd(int64_t size, int64_t longest, int64_t window, int64_t windows);

std::unique_ptr<Task> MakeTextTask(std::shared_ptr<const Corpus> corpus);

}  // namespace poslab
