// SPDX-License-Identifier: MIT
// What the toy tasks share: a table row that names them, rows drawn from a generator, and test rows from seeds of their
// own. Each task adds its rule: how a row is filled and which lengths it needs.
#pragma once

#include <memory>

#include "lab/task.h"

namespace poslab {

constexpr uint32_t kSymbols = 16;  // the symbols of most tasks: ids 0 .. 15
constexpr int32_t kNotScored = -1;

class ToyTask : public Task {
 public:
  ToyTask(const TaskInfo& info, uint64_t test_seed) : info_(info), test_seed_(test_seed) {}

  int64_t vocabulary() const final { return info_.vocabulary; }
  bool text() const final { return false; }
  void TrainingRow(int64_t length, Random* random, int32_t* ids, int32_t* targets) const final;
  // Row `window` comes from its own seed, whatever the length: a shorter row begins like a longer one as far as the
  // rule allows, so that lengths are compared on the same draws.
  void TestRow(int64_t length, int64_t longest, int64_t window, int64_t windows, int64_t trained_length, int32_t* ids,
               int32_t* targets) const final;
  Status CheckLength(int64_t length, bool training) const final;
  std::string Text(std::span<const int32_t> ids) const final;

 protected:
  // Fills a row; all targets are kNotScored beforehand.
  virtual void Fill(int64_t length, bool training, Random* random, int32_t* ids, int32_t* targets) const = 0;
  // The shortest row in which something can be scored.
  virtual int64_t ShortestLength(bool training) const = 0;

 private:
  TaskInfo info_;
  uint64_t test_seed_;
};

// One maker a task; `info` is its row of Tasks().
std::unique_ptr<Task> MakeLookback(const TaskInfo& info, uint64_t test_seed, int64_t distance);
std::unique_ptr<Task> MakeFixedPosition(const TaskInfo& info, uint64_t test_seed, int64_t position);
std::unique_ptr<Task> MakeNeedle(const TaskInfo& info, uint64_t test_seed);
std::unique_ptr<Task> MakeRecall(const TaskInfo& info, uint64_t test_seed);
std::unique_ptr<Task> MakePositionModulo(const TaskInfo& info, uint64_t test_seed);
std::unique_ptr<Task> MakeMajority(const TaskInfo& info, uint64_t test_seed);
std::unique_ptr<Task> MakeCopy(const TaskInfo& info, uint64_t test_seed, bool reverse);

}  // namespace poslab
