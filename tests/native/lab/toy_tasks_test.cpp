// SPDX-License-Identifier: MIT
// Every toy task's rule, worked out again from the ids alone, on training and test rows of many lengths.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "lab/task.h"

using poslab::Code;
using poslab::MakeTask;
using poslab::Random;
using poslab::Task;
using poslab::TaskDescription;

namespace {

struct Row {
  std::vector<int32_t> ids, targets;
  int64_t length() const { return static_cast<int64_t>(ids.size()); }
};

std::unique_ptr<Task> Make(const TaskDescription& description) {
  auto task = MakeTask(description, nullptr, 99);
  REQUIRE(task.ok());
  return std::move(*task);
}

Row Training(const Task& task, int64_t length, Random* random) {
  Row row{std::vector<int32_t>(length, -9), std::vector<int32_t>(length, -9)};
  task.TrainingRow(length, random, row.ids.data(), row.targets.data());
  return row;
}

Row Test(const Task& task, int64_t length, int64_t window) {
  Row row{std::vector<int32_t>(length, -9), std::vector<int32_t>(length, -9)};
  task.TestRow(length, 4096, window, 128, 64, row.ids.data(), row.targets.data());
  return row;
}

// Calls `check` with many training and test rows, and makes sure that all ids are in the vocabulary and all are used.
void CheckRows(const TaskDescription& description, std::vector<int64_t> lengths,
               const std::function<void(const Row&, bool)>& check) {
  const auto task = Make(description);
  Random random(11);
  std::set<int32_t> used;
  for (int64_t length : lengths) {
    CAPTURE(length);
    for (int64_t n = 0; n < 60; ++n)
      for (bool training : {true, false}) {
        if (!task->CheckLength(length, training).ok()) continue;
        const Row row = training ? Training(*task, length, &random) : Test(*task, length, n);
        for (int32_t id : row.ids) {
          REQUIRE(id >= 0);
          REQUIRE(id < task->vocabulary());
          used.insert(id);
        }
        for (int32_t target : row.targets) {
          REQUIRE(target >= -1);
          REQUIRE(target < task->vocabulary());
          if (target >= 0) used.insert(target);
        }
        check(row, training);
      }
  }
  CHECK(static_cast<int64_t>(used.size()) == task->vocabulary());
}

const std::vector<int64_t> kLengths{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 31, 32, 33, 64, 257};

}  // namespace

TEST_CASE("lookback: the answer is the symbol so many places back, from the first place that has one") {
  for (int64_t distance : {1, 5, 9})
    CheckRows({.type = "lookback", .distance = distance}, kLengths, [&](const Row& row, bool) {
      for (int64_t t = 0; t < row.length(); ++t) CHECK(row.targets[t] == (t < distance ? -1 : row.ids[t - distance]));
    });
}

TEST_CASE("fixed-position: the answer after that place is the symbol that stood there") {
  for (int64_t position : {0, 5})
    CheckRows({.type = "fixed-position", .position = position}, kLengths, [&](const Row& row, bool) {
      for (int64_t t = 0; t < row.length(); ++t) CHECK(row.targets[t] == (t <= position ? -1 : row.ids[position]));
    });
}

TEST_CASE("first: the answer after the first place is its symbol, whatever `position` says") {
  CheckRows({.type = "first", .position = 7}, kLengths, [](const Row& row, bool) {
    for (int64_t t = 0; t < row.length(); ++t) CHECK(row.targets[t] == (t == 0 ? -1 : row.ids[0]));
  });
}

TEST_CASE("needle: one mark in the first quarter is the answer for ever after") {
  CheckRows({.type = "needle"}, kLengths, [](const Row& row, bool) {
    const auto is_mark = [](int32_t id) { return id >= 16; };
    CHECK(std::count_if(row.ids.begin(), row.ids.end(), is_mark) == 1);
    const int64_t place = std::find_if(row.ids.begin(), row.ids.end(), is_mark) - row.ids.begin();
    CHECK(4 * (place + 1) <= row.length());  // the whole of the place lies in the first quarter
    for (int64_t t = 0; t < row.length(); ++t) CHECK(row.targets[t] == (t <= place ? -1 : row.ids[place]));
  });
}

TEST_CASE("needle: every place of the first quarter and every mark comes up") {
  const auto task = Make({.type = "needle"});
  std::set<int64_t> places, marks;
  for (int64_t window = 0; window < 400; ++window) {
    const Row row = Test(*task, 32, window);
    const auto mark = std::find_if(row.ids.begin(), row.ids.end(), [](int32_t id) { return id >= 16; });
    places.insert(mark - row.ids.begin()), marks.insert(*mark);
  }
  CHECK(places == std::set<int64_t>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(marks.size() == 8);
}

TEST_CASE("recall: pairs of key and value keep to one map, and keys that were there before are answered") {
  CheckRows({.type = "recall"}, kLengths, [](const Row& row, bool) {
    std::map<int32_t, int32_t> value_of;
    for (int64_t t = 0; t < row.length(); t += 2) {
      const int32_t key = row.ids[t];
      CHECK(key < 8);
      const auto before = value_of.find(key);
      CHECK(row.targets[t] == (before == value_of.end() ? -1 : before->second));
      if (t + 1 == row.length()) break;
      const int32_t value = row.ids[t + 1];
      CHECK(value >= 8);
      CHECK(row.targets[t + 1] == -1);
      if (before != value_of.end()) CHECK(before->second == value);
      value_of[key] = value;
    }
  });
}

TEST_CASE("recall: sequences have maps of their own") {
  const auto task = Make({.type = "recall"});
  std::set<int32_t> values_of_key_0;
  for (int64_t window = 0; window < 200; ++window) {
    const Row row = Test(*task, 32, window);
    for (int64_t t = 0; t + 1 < row.length(); t += 2)
      if (row.ids[t] == 0) values_of_key_0.insert(row.ids[t + 1]);
  }
  CHECK(values_of_key_0.size() == 8);
}

TEST_CASE("position-modulo: the answer is the place modulo 4, with ids of its own") {
  CheckRows({.type = "position-modulo"}, kLengths, [](const Row& row, bool) {
    for (int64_t t = 0; t < row.length(); ++t) {
      CHECK(row.ids[t] < 16);
      CHECK(row.targets[t] == 16 + t % 4);
    }
  });
}

TEST_CASE("majority: the side that leads clearly is the answer, other places are not scored") {
  CheckRows({.type = "majority"}, kLengths, [](const Row& row, bool) {
    int64_t ones = 0;
    for (int64_t t = 0; t < row.length(); ++t) {
      ones += row.ids[t];
      const int64_t zeros = t + 1 - ones;
      const double difference = std::fabs(static_cast<double>(ones - zeros));
      // sqrt is exact where the comparison is close: difference = 2 + sqrt(t) / 2 needs a square t.
      const bool clear = difference >= 2 + std::sqrt(static_cast<double>(t)) / 2;
      CHECK(row.targets[t] == (clear ? (ones > zeros ? 1 : 0) : -1));
    }
  });
}

TEST_CASE("copy and reverse: symbols, separator, answers as the next inputs, blanks") {
  for (const std::string type : {"copy", "reverse"}) {
    const bool reverse = type[0] == 'r';
    CheckRows({.type = type}, kLengths, [&](const Row& row, bool training) {
      const int64_t length = row.length();
      const int64_t n = std::find(row.ids.begin(), row.ids.end(), 16) - row.ids.begin();
      REQUIRE(n < length);
      CHECK(2 * n + 1 <= length);
      if (training)
        CHECK((n >= 4 && n <= (length - 1) / 2));
      else
        CHECK(n == (length - 1) / 2);
      for (int64_t t = 0; t < length; ++t) {
        const bool scored = t >= n && t < 2 * n;
        const int64_t k = t - n;  // number of the answer
        CHECK(row.targets[t] == (scored ? row.ids[reverse ? n - 1 - k : k] : -1));
        if (scored) CHECK(row.ids[t + 1] == row.targets[t]);
        if (t < n) CHECK(row.ids[t] < 16);
        if (t > 2 * n) CHECK(row.ids[t] == 17);
      }
    });
  }
}

TEST_CASE("copy: every number of symbols from 4 to half the row comes up in training") {
  const auto task = Make({.type = "copy"});
  Random random(3);
  std::set<int64_t> sizes;
  for (int n = 0; n < 600; ++n) {
    const Row row = Training(*task, 33, &random);
    sizes.insert(std::find(row.ids.begin(), row.ids.end(), 16) - row.ids.begin());
  }
  CHECK(sizes == std::set<int64_t>{4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
}

TEST_CASE("The 16 symbols of random rows are equally frequent") {
  for (const std::string type : {"lookback", "first", "position-modulo", "copy"}) {
    CAPTURE(type);
    const auto task = Make({.type = type});
    Random random(21);
    std::vector<int> counts(16);
    int total = 0;
    for (int n = 0; n < 400; ++n) {
      const Row row = Training(*task, 64, &random);
      const int64_t end = type == "copy" ? std::find(row.ids.begin(), row.ids.end(), 16) - row.ids.begin() : 64;
      for (int64_t t = 0; t < end; ++t) ++counts[row.ids[t]], ++total;
    }
    const double mean = total / 16.0;
    for (int count : counts) CHECK(std::fabs(count - mean) < 6 * std::sqrt(mean));
  }
}

TEST_CASE("Test rows depend on the test seed and the window alone, and training rows on the generator") {
  for (const poslab::TaskInfo& info : poslab::Tasks()) {
    if (info.text) continue;
    CAPTURE(std::string(info.type));
    const auto task = Make({.type = std::string(info.type)});
    const auto again = Make({.type = std::string(info.type)});
    auto other = MakeTask({.type = std::string(info.type)}, nullptr, 100);
    REQUIRE(other.ok());
    const Row row = Test(*task, 64, 3);
    CHECK(Test(*again, 64, 3).ids == row.ids);
    CHECK(Test(*task, 64, 3).ids == row.ids);
    CHECK(Test(*task, 64, 4).ids != row.ids);
    CHECK(Test(**other, 64, 3).ids != row.ids);
    Random one(5), same(5);
    CHECK(Training(*task, 64, &one).ids == Training(*again, 64, &same).ids);
    CHECK(Training(*task, 64, &one).ids != Training(*task, 64, &one).ids);
  }
}

TEST_CASE("Sample rows come from the seed of the call and obey the length checks") {
  const auto task = Make({.type = "copy"});
  std::vector<int32_t> ids(33), targets(33), again(33), again_targets(33);
  REQUIRE(poslab::SampleRow(*task, 33, 1, ids.data(), targets.data()).ok());
  REQUIRE(poslab::SampleRow(*task, 33, 1, again.data(), again_targets.data()).ok());
  CHECK(ids == again);
  CHECK(targets == again_targets);
  REQUIRE(poslab::SampleRow(*task, 33, 2, again.data(), again_targets.data()).ok());
  CHECK(ids != again);
  CHECK(poslab::SampleRow(*task, 8, 1, ids.data(), targets.data()).code() == Code::kRange);
}

TEST_CASE("Ids are written one sign each, and copy reads like what it is") {
  for (const poslab::TaskInfo& info : poslab::Tasks()) {
    if (info.text) continue;
    CAPTURE(std::string(info.type));
    CHECK(static_cast<int64_t>(info.symbols.size()) == info.vocabulary);
    CHECK(std::set<char>(info.symbols.begin(), info.symbols.end()).size() == info.symbols.size());
  }
  const auto task = Make({.type = "copy"});
  const std::vector<int32_t> ids{0, 1, 15, 16, 0, 1, 15, 17, 99, -1};
  CHECK(task->Text(ids) == "abp|abp_\ufffd\ufffd");
}

TEST_CASE("The guess accuracy is one in the number of possible answers") {
  for (const poslab::TaskInfo& info : poslab::Tasks()) {
    if (info.text) continue;
    CAPTURE(std::string(info.type));
    const auto task = Make({.type = std::string(info.type)});
    std::set<int32_t> answers;
    for (int64_t window = 0; window < 300; ++window)
      for (int32_t target : Test(*task, 64, window).targets)
        if (target >= 0) answers.insert(target);
    CHECK(info.guess_accuracy == 1.0 / static_cast<double>(answers.size()));
  }
}

TEST_CASE("Rows in which nothing could be scored are refused by their length") {
  struct Case {
    TaskDescription task;
    int64_t training, test;  // the shortest lengths
  };
  for (const Case& c :
       {Case{{.type = "lookback", .distance = 7}, 8, 8}, Case{{.type = "fixed-position", .position = 5}, 7, 7},
        Case{{.type = "first"}, 2, 2}, Case{{.type = "needle"}, 4, 4}, Case{{.type = "recall"}, 3, 3},
        Case{{.type = "position-modulo"}, 1, 1}, Case{{.type = "majority"}, 3, 3}, Case{{.type = "copy"}, 9, 3},
        Case{{.type = "reverse"}, 9, 3}}) {
    CAPTURE(c.task.type);
    const auto task = Make(c.task);
    CHECK(task->CheckLength(c.training, true).ok());
    CHECK(task->CheckLength(c.test, false).ok());
    const poslab::Status training = task->CheckLength(c.training - 1, true);
    CHECK(training.code() == Code::kRange);
    CHECK(training.argument() == "training.length");
    CHECK(training.limits()[0] == c.training);
    const poslab::Status test = task->CheckLength(c.test - 1, false);
    CHECK(test.code() == Code::kRange);
    CHECK(test.argument() == "test.lengths");
    CHECK(task->CheckLength(INT64_MIN, true).code() == Code::kRange);
  }
}

TEST_CASE("Unknown tasks get the nearest name, places outside their limits an error") {
  const auto misspelt = MakeTask({.type = "lookbak"}, nullptr, 1);
  REQUIRE(!misspelt.ok());
  CHECK(misspelt.status().code() == Code::kUnknownName);
  CHECK(misspelt.status().argument() == "task.type");
  CHECK(misspelt.status().suggestion() == "lookback");
  for (int64_t distance : {INT64_MIN, int64_t{-1}, int64_t{0}, int64_t{1} << 40}) {
    const auto task = MakeTask({.type = "lookback", .distance = distance}, nullptr, 1);
    REQUIRE(!task.ok());
    CHECK(task.status().code() == Code::kRange);
    CHECK(task.status().argument() == "task.distance");
  }
  const auto negative = MakeTask({.type = "fixed-position", .position = -1}, nullptr, 1);
  REQUIRE(!negative.ok());
  CHECK(negative.status().argument() == "task.position");
}
