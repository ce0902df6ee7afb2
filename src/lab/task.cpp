// SPDX-License-Identifier: MIT
// The table of tasks. Rules and scored places are beside each task's code: text_task.cpp, lookup_tasks.cpp,
// recall_task.cpp, counting_tasks.cpp, copy_tasks.cpp.
#include "lab/task.h"

#include "lab/streams.h"
#include "lab/text_task.h"
#include "lab/toy_task.h"
#include "position/description.h"

namespace poslab {
namespace {

// Ids are written a .. p for the 16 symbols, A .. H for marks, digits for values and counts.
constexpr TaskInfo kTasks[] = {
    {"text", true, 0, 0, ""},                                         // the next character
    {"lookback", false, 16, 1.0 / 16, "abcdefghijklmnop"},            // scored: t >= distance
    {"fixed-position", false, 16, 1.0 / 16, "abcdefghijklmnop"},      // t > position
    {"first", false, 16, 1.0 / 16, "abcdefghijklmnop"},               // t > 0
    {"needle", false, 24, 1.0 / 8, "abcdefghijklmnopABCDEFGH"},       // after the mark
    {"recall", false, 16, 1.0 / 8, "abcdefgh12345678"},               // keys that were there before
    {"position-modulo", false, 20, 1.0 / 4, "abcdefghijklmnop0123"},  // all t
    {"majority", false, 2, 1.0 / 2, "01"},                            // where the majority is clear
    {"copy", false, 18, 1.0 / 16, "abcdefghijklmnop|_"},              // from the separator on, n answers
    {"reverse", false, 18, 1.0 / 16, "abcdefghijklmnop|_"},           // the same
};

constexpr int64_t kLargestPlace = 1 << 20;  // of `distance` and `position`: far past any row that can be trained on

const TaskInfo* FindTask(std::string_view type) {
  for (const TaskInfo& info : kTasks)
    if (info.type == type) return &info;
  return nullptr;
}

Status CheckPlace(const char* argument, int64_t given, int64_t smallest) {
  if (given >= smallest && given <= kLargestPlace) return Status::Ok();
  return Status::Number(Code::kRange, argument, static_cast<double>(given), "a whole number from {0} to {1}",
                        static_cast<double>(smallest), static_cast<double>(kLargestPlace));
}

}  // namespace

std::span<const TaskInfo> Tasks() { return kTasks; }

Result<std::unique_ptr<Task>> MakeTask(const TaskDescription& description, std::shared_ptr<const Corpus> corpus,
                                       uint64_t test_seed) {
  const std::string& type = description.type;
  const TaskInfo* info = FindTask(type);
  if (!info) {
    std::vector<std::string_view> known;
    for (const TaskInfo& task : kTasks) known.push_back(task.type);
    return Status::Text(Code::kUnknownName, "task.type", type, "the type of a task", NearestName(type, known));
  }
  if (info->text) {
    if (!corpus) return Status::Text(Code::kMissing, "task.text", "", "a text to train on");
    return MakeTextTask(std::move(corpus));
  }
  if (type == "lookback") {
    POSLAB_RETURN_IF_ERROR(CheckPlace("task.distance", description.distance, 1));
    return MakeLookback(*info, test_seed, description.distance);
  }
  if (type == "fixed-position") {
    POSLAB_RETURN_IF_ERROR(CheckPlace("task.position", description.position, 0));
    return MakeFixedPosition(*info, test_seed, description.position);
  }
  if (type == "first") return MakeFixedPosition(*info, test_seed, 0);
  if (type == "needle") return MakeNeedle(*info, test_seed);
  if (type == "recall") return MakeRecall(*info, test_seed);
  if (type == "position-modulo") return MakePositionModulo(*info, test_seed);
  if (type == "majority") return MakeMajority(*info, test_seed);
  return MakeCopy(*info, test_seed, /*reverse=*/type == "reverse");
}

Status SampleRow(const Task& task, int64_t length, uint64_t seed, int32_t* ids, int32_t* targets) {
  POSLAB_RETURN_IF_ERROR(task.CheckLength(length, /*training=*/true));
  Random random(seed, kSampleStream);
  task.TrainingRow(length, &random, ids, targets);
  return Status::Ok();
}

}  // namespace poslab
