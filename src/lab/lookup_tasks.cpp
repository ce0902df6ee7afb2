// SPDX-License-Identifier: MIT
// Toy tasks whose answer is one earlier place of the row: a distance back (lookback), a place counted from the start
// (fixed-position, first), or wherever the mark stood (needle).
#include <algorithm>

#include "lab/toy_task.h"

namespace poslab {
namespace {

constexpr uint32_t kMarks = 8;  // the needle's ids are kSymbols ..  kSymbols + 7

void FillWithSymbols(int64_t length, Random* random, int32_t* ids) {
  for (int64_t t = 0; t < length; ++t) ids[t] = static_cast<int32_t>(random->Below(kSymbols));
}

// 16 symbols at random; the answer at t is x(t - distance), for t >= distance.
class Lookback : public ToyTask {
 public:
  Lookback(const TaskInfo& info, uint64_t test_seed, int64_t distance)
      : ToyTask(info, test_seed), distance_(distance) {}

 private:
  void Fill(int64_t length, bool, Random* random, int32_t* ids, int32_t* targets) const override {
    FillWithSymbols(length, random, ids);
    for (int64_t t = distance_; t < length; ++t) targets[t] = ids[t - distance_];
  }
  int64_t ShortestLength(bool) const override { return distance_ + 1; }

  int64_t distance_;
};

// 16 symbols at random; the answer at every t > position is x(position).
class FixedPosition : public ToyTask {
 public:
  FixedPosition(const TaskInfo& info, uint64_t test_seed, int64_t position)
      : ToyTask(info, test_seed), position_(position) {}

 private:
  void Fill(int64_t length, bool, Random* random, int32_t* ids, int32_t* targets) const override {
    FillWithSymbols(length, random, ids);
    for (int64_t t = position_ + 1; t < length; ++t) targets[t] = ids[position_];
  }
  int64_t ShortestLength(bool) const override { return position_ + 2; }

  int64_t position_;
};

// 16 symbols at random and one of 8 marks at a random place p in the first quarter (p < length / 4); the answer at
// every t > p is that mark.
class Needle : public ToyTask {
 public:
  using ToyTask::ToyTask;

 private:
  void Fill(int64_t length, bool, Random* random, int32_t* ids, int32_t* targets) const override {
    const int32_t mark = static_cast<int32_t>(kSymbols + random->Below(kMarks));
    const int64_t place = random->Below(static_cast<uint32_t>(length / 4));
    FillWithSymbols(length, random, ids);
    ids[place] = mark;
    for (int64_t t = place + 1; t < length; ++t) targets[t] = mark;
  }
  int64_t ShortestLength(bool) const override { return 4; }  // the first quarter has a place
};

}  // namespace

std::unique_ptr<Task> MakeLookback(const TaskInfo& info, uint64_t test_seed, int64_t distance) {
  return std::make_unique<Lookback>(info, test_seed, distance);
}

std::unique_ptr<Task> MakeFixedPosition(const TaskInfo& info, uint64_t test_seed, int64_t position) {
  return std::make_unique<FixedPosition>(info, test_seed, position);
}

std::unique_ptr<Task> MakeNeedle(const TaskInfo& info, uint64_t test_seed) {
  return std::make_unique<Needle>(info, test_seed);
}

}  // namespace poslab
