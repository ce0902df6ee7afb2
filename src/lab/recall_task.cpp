// SPDX-License-Identifier: MIT
// The toy task `recall` (associative recall): which value followed this key before?
#include "lab/toy_task.h"

namespace poslab {
namespace {

constexpr uint32_t kKeys = 8;    // ids 0 .. 7
constexpr uint32_t kValues = 8;  // ids 8 .. 15

// Pairs key value key value ...; every sequence draws its own map, a value for each of the 8 keys, and then keys at
// random. At a key that was there before the answer is its value. A row of odd length ends with a key.
class Recall : public ToyTask {
 public:
  using ToyTask::ToyTask;

 private:
  void Fill(int64_t length, bool, Random* random, int32_t* ids, int32_t* targets) const override {
    int32_t value_of[kKeys];
    bool seen[kKeys] = {};
    for (int32_t& value : value_of) value = static_cast<int32_t>(kKeys + random->Below(kValues));
    for (int64_t t = 0; t < length; t += 2) {
      const uint32_t key = random->Below(kKeys);
      ids[t] = static_cast<int32_t>(key);
      if (seen[key]) targets[t] = value_of[key];
      seen[key] = true;
      if (t + 1 < length) ids[t + 1] = value_of[key];
    }
  }
  int64_t ShortestLength(bool) const override { return 3; }  // key value key
};

}  // namespace

std::unique_ptr<Task> MakeRecall(const TaskInfo& info, uint64_t test_seed) {
  return std::make_unique<Recall>(info, test_seed);
}

}  // namespace poslab
