// SPDX-License-Identifier: MIT
// What a run trains on: text of a corpus, or a toy task with a hand-checkable rule. A task fills rows of ids and targets;
// a target of -1 is not scored. Toy answers are read at the place itself; text predicts the next character.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "base/random.h"
#include "base/status.h"

namespace poslab {

struct TaskDescription {
  std::string type = "text";   // text, lookback, fixed-position, first, needle, recall, position-modulo, majority, copy, reverse
  int64_t distance = 5;        // lookback
  int64_t position = 5;        // fixed-position
};

// A text cut into training (first 90 % of the characters) and test part, as ids. Vocabulary: the training part's distinct
// characters (or bytes) in code-point order, and one spare id, the last, for unseen ones.
class Corpus {
 public:
  enum class Unit { kCharacters, kBytes };
  // kFormat with the byte offset for text that is not UTF-8 (characters only); kRange when it is too short to cut.
  static Result<std::shared_ptr<const Corpus>> Make(std::span<const uint8_t> utf8, Unit unit);
  int64_t vocabulary() const { return static_cast<int64_t>(symbols_.size()) + 1; }
  std::span<const int32_t> training() const { return ids_.span().subspan(0, training_size_); }
  std::span<const int32_t> test() const { return ids_.span().subspan(training_size_); }
  std::span<const uint32_t> symbols() const { return symbols_; }  // code point or byte of each id but the spare one

 private:
  Buffer<int32_t> ids_;
  size_t training_size_ = 0;
  std::vector<uint32_t> symbols_;
};

// The names of all tasks; what each one scores at is in task.cpp beside its rule.
struct TaskInfo {
  std::string_view type;
  bool text = false;
  int64_t vocabulary = 0;     // toy tasks
  double guess_accuracy = 0;  // of random guessing among the possible answers
};
std::span<const TaskInfo> Tasks();

class Task {
 public:
  virtual ~Task() = default;
  virtual int64_t vocabulary() const = 0;
  virtual bool text() const = 0;
  // One training row of `length` places. `trained_length` L bounds the sizes of copy and reverse.
  virtual void TrainingRow(int64_t length, Random* random, int32_t* ids, int32_t* targets) const = 0;
  // Row w of W test rows of `length` places, for lengths up to longest; text rows end at the same character for every
  // length, toy rows come from a seed of their own.
  virtual void TestRow(int64_t length, int64_t longest, int64_t window, int64_t windows, int64_t trained_length,
                       int32_t* ids, int32_t* targets) const = 0;
  // Whether rows of this length can be had (text long enough, copy needs length >= 9, ...).
  virtual Status CheckLength(int64_t length, bool training) const = 0;
};
Result<std::unique_ptr<Task>> MakeTask(const TaskDescription& description, std::shared_ptr<const Corpus> corpus, uint64_t test_seed);

}  // namespace poslab
