// SPDX-License-Identifier: MIT
// What a run trains on: text of a corpus, or a toy task with a hand-checkable rule. A task fills rows of ids and
// targets; a target of -1 is not scored. Toy answers are read at the place itself; text predicts the next character.
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
  std::string type = "text";  // one of Tasks()
  int64_t distance = 5;       // lookback: 1 ..
  int64_t position = 5;       // fixed-position: 0 ..
};

// A text cut into training (first 90 % of the characters) and test part, as ids. Vocabulary: the training part's
// distinct characters (or bytes) in code-point order, and one spare id, the last, for unseen ones.
class Corpus {
 public:
  enum class Unit { kCharacters, kBytes };
  // kFormat with the byte offset (limits[0]) for text that is not UTF-8 (characters only); kRange when it is too short
  // to cut (fewer than 2) or has more than 2^31 - 1 bytes. A byte order mark at the start is a signature, not a
  // character, and is left out; line ends stay as they are. As bytes everything is kept.
  static Result<std::shared_ptr<const Corpus>> Make(std::span<const uint8_t> utf8, Unit unit);
  Unit unit() const { return unit_; }
  int64_t vocabulary() const { return symbols_.size() + 1; }
  std::span<const int32_t> training() const { return ids_.span().subspan(0, training_size_); }
  std::span<const int32_t> test() const { return ids_.span().subspan(training_size_); }
  // The code point or byte of each id but the spare one.
  std::span<const uint32_t> symbols() const { return symbols_.span(); }
  // The id of a code point or byte; the spare id when the training part does not have it.
  int32_t Id(uint32_t symbol) const;

 private:
  Buffer<int32_t> ids_;
  size_t training_size_ = 0;
  Buffer<uint32_t> symbols_;  // ascending
  Unit unit_ = Unit::kCharacters;
};

// The names of all tasks; what each one scores at is in task.cpp beside its rule.
struct TaskInfo {
  std::string_view type;
  bool text = false;
  int64_t vocabulary = 0;     // toy tasks
  double guess_accuracy = 0;  // of random guessing among the possible answers
  std::string_view symbols;   // toy tasks: how id n is written, one ASCII character each
};
std::span<const TaskInfo> Tasks();

class Task {
 public:
  virtual ~Task() = default;
  virtual int64_t vocabulary() const = 0;
  virtual bool text() const = 0;
  // One training row of `length` places, L of the run (it bounds the sizes of copy and reverse).
  virtual void TrainingRow(int64_t length, Random* random, int32_t* ids, int32_t* targets) const = 0;
  // Row w of W test rows of `length` places, for lengths up to longest; text rows end at the same character for every
  // length, toy rows come from a seed of their own.
  virtual void TestRow(int64_t length, int64_t longest, int64_t window, int64_t windows, int64_t trained_length,
                       int32_t* ids, int32_t* targets) const = 0;
  // Whether rows of this length can be had (text long enough, copy needs length >= 9 to train on, ...): kRange naming
  // "training.length" or "test.lengths". Rows of a length that was not checked must not be asked for.
  virtual Status CheckLength(int64_t length, bool training) const = 0;
  // The ids as text (UTF-8, or the bytes themselves for a corpus of bytes); the spare id is U+FFFD.
  virtual std::string Text(std::span<const int32_t> ids) const = 0;
};
Result<std::unique_ptr<Task>> MakeTask(const TaskDescription& description, std::shared_ptr<const Corpus> corpus,
                                       uint64_t test_seed);

// A row such as training draws, from a seed of its own: the sample strings of the page. ids and targets [length].
Status SampleRow(const Task& task, int64_t length, uint64_t seed, int32_t* ids, int32_t* targets);

}  // namespace poslab
