// SPDX-License-Identifier: MIT
// Texts as ids: what is UTF-8 and what is not, the vocabulary, the cut, and where test windows end.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/status_message.h"
#include "lab/task.h"
#include "lab/text_task.h"

using poslab::Code;
using poslab::Corpus;
using poslab::MakeTask;
using poslab::WindowEnd;

namespace {

using CorpusResult = poslab::Result<std::shared_ptr<const Corpus>>;

CorpusResult MakeCorpus(const std::string& text, Corpus::Unit unit = Corpus::Unit::kCharacters) {
  return Corpus::Make({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, unit);
}

std::vector<int32_t> Ids(std::span<const int32_t> ids) { return {ids.begin(), ids.end()}; }

}  // namespace

TEST_CASE("A text is cut after nine tenths of its characters and numbered in code-point order") {
  const CorpusResult corpus = MakeCorpus("cabbacabaz");
  REQUIRE(corpus.ok());
  CHECK((*corpus)->vocabulary() == 4);  // a, b, c and the spare id
  CHECK(Ids((*corpus)->training()) == std::vector<int32_t>{2, 0, 1, 1, 0, 2, 0, 1, 0});
  CHECK(Ids((*corpus)->test()) == std::vector<int32_t>{3});  // z was never seen in training
  CHECK((*corpus)->Id('b') == 1);
  CHECK((*corpus)->Id('z') == 3);
  CHECK((*corpus)->Id(0x10ffff) == 3);
}

TEST_CASE("Characters of one to four bytes are one character each") {
  // One character of each length at both ends of its range, twice, so that all are in the training part.
  const std::string edges = "\x01\x7f\u0080\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff";
  const CorpusResult corpus = MakeCorpus(edges + edges);
  REQUIRE(corpus.ok());
  const std::vector<uint32_t> expected{1, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff};
  CHECK(std::vector<uint32_t>((*corpus)->symbols().begin(), (*corpus)->symbols().end()) == expected);
  CHECK((*corpus)->training().size() == 18);
  const auto task = MakeTask({.type = "text"}, *corpus, 1);
  REQUIRE(task.ok());
  CHECK((*task)->Text((*corpus)->training().subspan(0, 10)) == edges);
}

TEST_CASE("Bytes that are not UTF-8 are refused with their offset") {
  struct Case {
    const char* what;
    std::string bytes;
    size_t offset;
  };
  const Case cases[] = {
      {"a continuation on its own", "ab\x80xy", 2},
      {"an overlong slash of two bytes", "\xc0\xafxyz", 0},
      {"an overlong form that begins with C1",
       "a\xc1\xbf"
       "b",
       1},
      {"an overlong form of three bytes",
       "a\xe0\x9f\xbf"
       "b",
       1},
      {"an overlong form of four bytes",
       "\xf0\x8f\xbf\xbf"
       "b",
       0},
      {"a high surrogate", "abc\xed\xa0\x80", 3},
      {"a low surrogate", "abc\xed\xbf\xbf", 3},
      {"a value past U+10FFFF", "abcd\xf4\x90\x80\x80", 4},
      {"a lead byte past F4", "ab\xf5\x80\x80\x80", 2},
      {"FE", "ab\xfe", 2},
      {"FF",
       "\xff"
       "ab",
       0},
      {"a lead byte at the very end", "abcd\xc3", 4},
      {"three bytes cut off after two", "ab\xe4\xbd", 2},
      {"four bytes cut off after three", "ab\xf0\x9f\x98", 2},
      {"a lead byte followed by a letter",
       "\xc3"
       "abc",
       0},
      {"a third byte that is no continuation",
       "\xe4\xbd"
       "abc",
       0},
      {"a fault behind good characters", "\u00e4\u4f60\U0001f600\x80", 9},
  };
  for (const Case& bad : cases) {
    CAPTURE(std::string(bad.what));
    const CorpusResult corpus = MakeCorpus(bad.bytes);
    REQUIRE(!corpus.ok());
    CHECK(corpus.status().code() == Code::kFormat);
    CHECK(corpus.status().argument() == "task.text");
    CHECK(corpus.status().limits()[0] == static_cast<double>(bad.offset));
    // The same bytes are a fine corpus of bytes.
    CHECK(MakeCorpus(bad.bytes, Corpus::Unit::kBytes).ok());
  }
  CHECK(poslab::Message(MakeCorpus("ab\xff").status()) == "task.text must be UTF-8; the bytes at offset 2 are not.");
}

TEST_CASE("A byte order mark at the start is left out, anywhere else it is a character") {
  const CorpusResult marked = MakeCorpus(
      "\ufeffabababab\ufeffa"
      "abababab");
  REQUIRE(marked.ok());
  CHECK((*marked)->training().size() + (*marked)->test().size() == 18);
  CHECK((*marked)->symbols().size() == 3);
  CHECK((*marked)->symbols()[2] == 0xfeff);
  const CorpusResult bytes = MakeCorpus("\ufeffabababab", Corpus::Unit::kBytes);
  REQUIRE(bytes.ok());
  CHECK((*bytes)->training().size() + (*bytes)->test().size() == 11);
}

TEST_CASE("Line ends, tabs and zeros stay as they are") {
  const CorpusResult corpus = MakeCorpus(std::string("\0\t\r\n\r\n\n\t\r\n\r\n", 12));
  REQUIRE(corpus.ok());
  const std::vector<uint32_t> expected{0, '\t', '\n', '\r'};
  CHECK(std::vector<uint32_t>((*corpus)->symbols().begin(), (*corpus)->symbols().end()) == expected);
  CHECK((*corpus)->training().size() + (*corpus)->test().size() == 12);
}

TEST_CASE("A corpus of bytes has the bytes as vocabulary") {
  const std::string text = "\u00e4\u00e4\u00e4\u00e4\u00e4";  // C3 A4 five times
  const CorpusResult corpus = MakeCorpus(text, Corpus::Unit::kBytes);
  REQUIRE(corpus.ok());
  CHECK((*corpus)->vocabulary() == 3);
  CHECK((*corpus)->symbols()[0] == 0xa4);
  CHECK((*corpus)->symbols()[1] == 0xc3);
  const auto task = MakeTask({.type = "text"}, *corpus, 1);
  REQUIRE(task.ok());
  CHECK((*task)->Text((*corpus)->training().subspan(0, 4)) == "\u00e4\u00e4");
}

TEST_CASE("Unseen characters are written as the replacement character") {
  const CorpusResult corpus = MakeCorpus("aaaaaaaaab");
  REQUIRE(corpus.ok());
  const auto task = MakeTask({.type = "text"}, *corpus, 1);
  REQUIRE(task.ok());
  CHECK((*task)->Text((*corpus)->test()) == "\ufffd");
}

TEST_CASE("Texts without room for two parts are refused") {
  for (const char* text : {"", "a", "\u4f60", "\ufeff", "\ufeffa"}) {
    const CorpusResult corpus = MakeCorpus(text);
    REQUIRE(!corpus.ok());
    CHECK(corpus.status().code() == Code::kRange);
    CHECK(corpus.status().argument() == "task.text");
  }
  CHECK(MakeCorpus("ab").ok());
}

TEST_CASE("A text of one character, over and over, is a corpus with a vocabulary of one and the spare id") {
  const CorpusResult corpus = MakeCorpus(std::string(100, 'x'));
  REQUIRE(corpus.ok());
  CHECK((*corpus)->vocabulary() == 2);
  for (int32_t id : (*corpus)->test()) CHECK(id == 0);
}

TEST_CASE("A text that is too short for a length says how many characters are there and how many are needed") {
  const CorpusResult corpus = MakeCorpus(std::string(200, 'x'));  // 180 to train on, 20 to test on
  REQUIRE(corpus.ok());
  const auto made = MakeTask({.type = "text"}, *corpus, 1);
  REQUIRE(made.ok());
  const poslab::Task& task = **made;

  CHECK(task.CheckLength(179, true).ok());
  const poslab::Status training = task.CheckLength(180, true);
  CHECK(training.code() == Code::kRange);
  CHECK(training.argument() == "training.length");
  CHECK(training.given_number() == 180);
  CHECK(training.limits()[0] == 179);
  CHECK(training.limits()[1] == 180);
  CHECK(training.limits()[2] == 202);  // floor(0.9 * 202) = 181 = 180 + 1; floor(0.9 * 201) = 180

  CHECK(task.CheckLength(18, false).ok());
  const poslab::Status test = task.CheckLength(19, false);
  CHECK(test.code() == Code::kRange);
  CHECK(test.argument() == "test.lengths");
  CHECK(test.limits()[0] == 18);
  CHECK(test.limits()[1] == 20);
  CHECK(test.limits()[2] == 201);  // 201 - floor(0.9 * 201) = 21 = 19 + 2; of 200 it is 20

  CHECK(task.CheckLength(0, true).code() == Code::kRange);
  CHECK(task.CheckLength(-5, false).code() == Code::kRange);
  CHECK(task.CheckLength(INT64_MAX, false).code() == Code::kRange);
}

TEST_CASE("A text needs a corpus") {
  const auto task = MakeTask({.type = "text"}, nullptr, 1);
  REQUIRE(!task.ok());
  CHECK(task.status().code() == Code::kMissing);
}

TEST_CASE("Window w of W ends after the character that the experiment's formula says") {
  // T = 100, Nmax = 9: from 10 to 99; floor(10 + w * 89 / 3).
  CHECK(WindowEnd(100, 9, 0, 4) == 10);
  CHECK(WindowEnd(100, 9, 1, 4) == 39);
  CHECK(WindowEnd(100, 9, 2, 4) == 69);
  CHECK(WindowEnd(100, 9, 3, 4) == 99);
  // The built-in experiment on a test part of 119,032 characters: the second of 128 windows, floor(1025 + 118006 /
  // 127).
  CHECK(WindowEnd(119032, 1024, 1, 128) == 1954);
  CHECK(WindowEnd(119032, 1024, 127, 128) == 119031);
  // A single window is the first one; a test part that is just long enough has two ends.
  CHECK(WindowEnd(100, 9, 0, 1) == 10);
  CHECK(WindowEnd(11, 9, 0, 2) == 10);
  CHECK(WindowEnd(11, 9, 1, 2) == 10);
  CHECK(WindowEnd(12, 9, 1, 2) == 11);
}

TEST_CASE("Test windows of all lengths end at the same character") {
  std::string text(1000, ' ');
  for (size_t n = 0; n < text.size(); ++n) text[n] = static_cast<char>('a' + n * n % 23);
  const CorpusResult corpus = MakeCorpus(text);
  REQUIRE(corpus.ok());
  const auto task = MakeTask({.type = "text"}, *corpus, 1);
  REQUIRE(task.ok());
  const std::span<const int32_t> test = (*corpus)->test();
  constexpr int64_t kLongest = 40, kWindows = 7;
  for (int64_t window = 0; window < kWindows; ++window)
    for (int64_t length : {1, 8, 39, 40}) {
      std::vector<int32_t> ids(length, -7), targets(length, -7);
      (*task)->TestRow(length, kLongest, window, kWindows, 8, ids.data(), targets.data());
      const int64_t end = 41 + window * (100 - 1 - 41) / 6;  // of 100 test characters
      for (int64_t t = 0; t < length; ++t) {
        CHECK(ids[t] == test[end - length - 1 + t]);
        CHECK(targets[t] == test[end - length + t]);
      }
    }
}

TEST_CASE("Training windows start anywhere in the training part and never leave it") {
  std::string text;
  for (int n = 0; n < 20; ++n) text.push_back(static_cast<char>('a' + n));  // the place is the id; 18 to train on
  const CorpusResult corpus = MakeCorpus(text);
  REQUIRE(corpus.ok());
  const auto task = MakeTask({.type = "text"}, *corpus, 1);
  REQUIRE(task.ok());
  poslab::Random random(1);
  std::vector<int> starts(18);
  for (int n = 0; n < 2000; ++n) {
    int32_t ids[5], targets[5];
    (*task)->TrainingRow(5, &random, ids, targets);
    ++starts[ids[0]];
    for (int t = 0; t < 5; ++t) CHECK(targets[t] == ids[0] + t + 1);
    CHECK(targets[4] <= 17);
  }
  for (int start = 0; start <= 12; ++start) CHECK(starts[start] > 0);
}
