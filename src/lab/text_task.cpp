// SPDX-License-Identifier: MIT
// The task `text`: every place is scored, its answer is the character that follows.
#include "lab/text_task.h"

#include <algorithm>
#include <cmath>

namespace poslab {
namespace {

constexpr uint32_t kReplacementCharacter = 0xfffd;

void AppendUtf8(uint32_t code_point, std::string* text) {
  auto append = [text](uint32_t byte) { text->push_back(static_cast<char>(byte)); };
  auto continuation = [&](int shift) { append(0x80 | ((code_point >> shift) & 0x3f)); };
  if (code_point < 0x80) {
    append(code_point);
  } else if (code_point < 0x800) {
    append(0xc0 | (code_point >> 6)), continuation(0);
  } else if (code_point < 0x10000) {
    append(0xe0 | (code_point >> 12)), continuation(6), continuation(0);
  } else {
    append(0xf0 | (code_point >> 18)), continuation(12), continuation(6), continuation(0);
  }
}

class TextTask : public Task {
 public:
  explicit TextTask(std::shared_ptr<const Corpus> corpus) : corpus_(std::move(corpus)) {}

  int64_t vocabulary() const override { return corpus_->vocabulary(); }
  bool text() const override { return true; }

  // Training windows start anywhere in the training part that leaves room for the last answer.
  void TrainingRow(int64_t length, Random* random, int32_t* ids, int32_t* targets) const override {
    const std::span<const int32_t> text = corpus_->training();
    const uint32_t starts = static_cast<uint32_t>(text.size()) - static_cast<uint32_t>(length);
    CopyRow(text.data() + random->Below(starts), length, ids, targets);
  }

  void TestRow(int64_t length, int64_t longest, int64_t window, int64_t windows, int64_t, int32_t* ids,
               int32_t* targets) const override {
    const std::span<const int32_t> text = corpus_->test();
    const int64_t end = WindowEnd(static_cast<int64_t>(text.size()), longest, window, windows);
    CopyRow(text.data() + end - length - 1, length, ids, targets);
  }

  Status CheckLength(int64_t length, bool training) const override {
    const int64_t size = static_cast<int64_t>(training ? corpus_->training().size() : corpus_->test().size());
    // Training: the answer of the last place. Test: so that the first window does not end after the last one.
    const int64_t longest = size - (training ? 1 : 2);
    if (length >= 1 && length <= longest) return Status::Ok();
    if (length >= 1 || longest < 1)
      return Status::Number(
          Code::kRange, training ? "training.length" : "test.lengths", static_cast<double>(length),
          training
              ? "at most {0} with this text, whose training part (nine tenths) has {1} characters (this length needs "
                "a text of {2})"
              : "at most {0} with this text, whose test part (the last tenth) has {1} characters (this length needs a "
                "text of {2})",
          static_cast<double>(std::max<int64_t>(longest, 0)), static_cast<double>(size),
          CharactersNeeded(length, training));
    return Status::Number(Code::kRange, training ? "training.length" : "test.lengths", static_cast<double>(length),
                          "1 or more");
  }

  std::string Text(std::span<const int32_t> ids) const override {
    const std::span<const uint32_t> symbols = corpus_->symbols();
    std::string text;
    for (int32_t id : ids) {
      const bool known = id >= 0 && static_cast<size_t>(id) < symbols.size();
      const uint32_t symbol = known ? symbols[id] : kReplacementCharacter;
      if (known && corpus_->unit() == Corpus::Unit::kBytes)
        text.push_back(static_cast<char>(symbol));
      else
        AppendUtf8(symbol, &text);
    }
    return text;
  }

 private:
  static void CopyRow(const int32_t* text, int64_t length, int32_t* ids, int32_t* targets) {
    std::copy(text, text + length, ids);
    std::copy(text + 1, text + 1 + length, targets);
  }

  // The smallest text whose training part (floor(0.9 n)) or test part (the rest) is long enough for a row.
  static double CharactersNeeded(int64_t length, bool training) {
    const double part = static_cast<double>(std::max<int64_t>(length, 1)) + (training ? 1 : 2);
    return training ? std::ceil(10 * part / 9) : 10 * part - 9;
  }

  std::shared_ptr<const Corpus> corpus_;
};

}  // namespace

int64_t WindowEnd(int64_t size, int64_t longest, int64_t window, int64_t windows) {
  const int64_t first = longest + 1;
  if (windows <= 1) return first;
  return first + window * (size - 1 - first) / (windows - 1);
}

std::unique_ptr<Task> MakeTextTask(std::shared_ptr<const Corpus> corpus) {
  return std::make_unique<TextTask>(std::move(corpus));
}

}  // namespace poslab
