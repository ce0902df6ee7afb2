// SPDX-License-Identifier: MIT
// Toy tasks that count: the place itself (position-modulo) or what came so far (majority).
#include <cstdlib>

#include "lab/toy_task.h"

namespace poslab {
namespace {

constexpr int64_t kModulus = 4;  // the answers' ids are kSymbols .. kSymbols + 3

// 16 symbols at random; the answer at every t is t mod 4, whatever the symbols are.
class PositionModulo : public ToyTask {
 public:
  using ToyTask::ToyTask;

 private:
  void Fill(int64_t length, bool, Random* random, int32_t* ids, int32_t* targets) const override {
    for (int64_t t = 0; t < length; ++t) {
      ids[t] = static_cast<int32_t>(random->Below(kSymbols));
      targets[t] = static_cast<int32_t>(kSymbols + t % kModulus);
    }
  }
  int64_t ShortestLength(bool) const override { return 1; }
};

// Coin flips (ids 0 and 1); the answer at t is the side that came up more often among x(0) .. x(t), where that is
// clear: where the counts differ by at least 2 + sqrt(t) / 2.
class Majority : public ToyTask {
 public:
  using ToyTask::ToyTask;

 private:
  void Fill(int64_t length, bool, Random* random, int32_t* ids, int32_t* targets) const override {
    int64_t lead = 0;  // how much oftener 1 came up than 0
    for (int64_t t = 0; t < length; ++t) {
      ids[t] = static_cast<int32_t>(random->Below(2));
      lead += ids[t] == 1 ? 1 : -1;
      // difference >= 2 + sqrt(t) / 2, without the root: (2 (difference - 2))^2 >= t.
      const int64_t excess = 2 * (std::abs(lead) - 2);
      if (excess >= 0 && excess * excess >= t) targets[t] = lead > 0 ? 1 : 0;
    }
  }
  int64_t ShortestLength(bool) const override { return 3; }  // three alike are the first clear majority
};

}  // namespace

std::unique_ptr<Task> MakePositionModulo(const TaskInfo& info, uint64_t test_seed) {
  return std::make_unique<PositionModulo>(info, test_seed);
}

std::unique_ptr<Task> MakeMajority(const TaskInfo& info, uint64_t test_seed) {
  return std::make_unique<Majority>(info, test_seed);
}

}  // namespace poslab
