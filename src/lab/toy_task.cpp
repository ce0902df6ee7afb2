// SPDX-License-Identifier: MIT
// What the toy tasks share: rows, their seeds, their checks and how ids are written.
#include "lab/toy_task.h"

#include <algorithm>

#include "lab/streams.h"

namespace poslab {

void ToyTask::TrainingRow(int64_t length, Random* random, int32_t* ids, int32_t* targets) const {
  std::fill(targets, targets + length, kNotScored);
  Fill(length, /*training=*/true, random, ids, targets);
}

void ToyTask::TestRow(int64_t length, int64_t, int64_t window, int64_t, int64_t, int32_t* ids, int32_t* targets) const {
  Random random(MixedSeed(test_seed_, static_cast<uint64_t>(window)), kTestStream);
  std::fill(targets, targets + length, kNotScored);
  Fill(length, /*training=*/false, &random, ids, targets);
}

Status ToyTask::CheckLength(int64_t length, bool training) const {
  const int64_t shortest = ShortestLength(training);
  if (length >= shortest) return Status::Ok();
  return Status::Number(Code::kRange, training ? "training.length" : "test.lengths", static_cast<double>(length),
                        "at least {0} (in shorter rows this task scores nothing)", static_cast<double>(shortest));
}

std::string ToyTask::Text(std::span<const int32_t> ids) const {
  std::string text;
  for (int32_t id : ids) {
    if (id >= 0 && static_cast<size_t>(id) < info_.symbols.size())
      text.push_back(info_.symbols[id]);
    else
      text.append("\uFFFD");
  }
  return text;
}

}  // namespace poslab
