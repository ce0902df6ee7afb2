// SPDX-License-Identifier: MIT
// The toy tasks `copy` and `reverse`: write down again what came before the separator.
#include <algorithm>

#include "lab/toy_task.h"

namespace poslab {
namespace {

constexpr int32_t kSeparator = kSymbols;
constexpr int32_t kBlank = kSymbols + 1;
constexpr int64_t kFewestSymbols = 4;  // in training

// n symbols of 16, a separator at place n, then the n answers (the symbols again, or from the last to the first), each
// of them the input of the next place; the rest of the row is blank. Scored are the n places from the separator on: at
// place n + k the answer is number k. n is floor((length - 1) / 2) at test, uniform from 4 up to that in training.
class Copy : public ToyTask {
 public:
  Copy(const TaskInfo& info, uint64_t test_seed, bool reverse) : ToyTask(info, test_seed), reverse_(reverse) {}

 private:
  void Fill(int64_t length, bool training, Random* random, int32_t* ids, int32_t* targets) const override {
    const int64_t most = (length - 1) / 2;
    const int64_t symbols =
        training ? kFewestSymbols + random->Below(static_cast<uint32_t>(most - kFewestSymbols + 1)) : most;
    std::fill(ids, ids + length, kBlank);
    for (int64_t k = 0; k < symbols; ++k) ids[k] = static_cast<int32_t>(random->Below(kSymbols));
    ids[symbols] = kSeparator;
    for (int64_t k = 0; k < symbols; ++k) {
      const int32_t answer = ids[reverse_ ? symbols - 1 - k : k];
      targets[symbols + k] = answer;
      ids[symbols + 1 + k] = answer;
    }
  }
  int64_t ShortestLength(bool training) const override { return training ? 2 * kFewestSymbols + 1 : 3; }

  bool reverse_;
};

}  // namespace

std::unique_ptr<Task> MakeCopy(const TaskInfo& info, uint64_t test_seed, bool reverse) {
  return std::make_unique<Copy>(info, test_seed, reverse);
}

}  // namespace poslab
