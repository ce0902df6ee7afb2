// SPDX-License-Identifier: MIT
// Tasks, their rows, and the corpora that some of them need; see lab.h.
#include "corpus.h"

#include <algorithm>

#include "border.h"
#include "lab.h"
#include "lab/run.h"
#include "lab_descriptions.h"

namespace poslab::border {
namespace {

const Corpus& NextCorpus(Arguments* in) { return *in->Next().object<CorpusPointer>(); }

}  // namespace

CorpusPointer NextMaybeCorpus(Arguments* in) {
  const Value corpus = in->Next();
  return IsGiven(corpus) ? corpus.object<CorpusPointer>() : nullptr;
}

void TasksCall(double) {
  Answer& answer = TheAnswer();
  answer.List();
  for (const TaskInfo& info : Tasks()) {
    answer.Object();
    answer.Field("type").Text(info.type);
    answer.Field("text").Truth(info.text);
    answer.Field("vocabulary").Number(static_cast<double>(info.vocabulary));
    answer.Field("guessAccuracy").Number(info.guess_accuracy);
    answer.Field("symbols").Text(info.symbols);
    answer.End();
  }
  answer.End();
}

void SampleCall(double message) {
  Arguments in(message);
  const Value description = in.Next();
  const CorpusPointer corpus = NextMaybeCorpus(&in);
  const int64_t length = in.NextCount();
  const double seed = in.NextNumber();
  Result<std::unique_ptr<Task>> task = MakeTask(TaskOf(description), corpus, 0);
  if (!task.ok()) return Failed(task.status());
  POSLAB_FAIL_IF_ERROR((*task)->CheckLength(length, /*training=*/true));
  Buffer<int32_t> ids, targets;
  POSLAB_FAIL_IF_ERROR(ids.Resize("length", length));
  POSLAB_FAIL_IF_ERROR(targets.Resize("length", length));
  POSLAB_FAIL_IF_ERROR(SampleRow(**task, length, static_cast<uint64_t>(seed), ids.data(), targets.data()));
  TheAnswer().Object();
  TheAnswer().Field("ids").Array(std::move(ids));
  TheAnswer().Field("targets").Array(std::move(targets));
  TheAnswer().End();
}

void MakeCorpus(double message) {
  Arguments in(message);
  const Value utf8 = in.Next();
  const bool as_bytes = in.Next().truth();
  Result<Buffer<uint8_t>> bytes = CopyBytes(utf8, "task.text");
  if (!bytes.ok()) return Failed(bytes.status());
  Result<CorpusPointer> corpus =
      Corpus::Make(bytes->span(), as_bytes ? Corpus::Unit::kBytes : Corpus::Unit::kCharacters);
  if (!corpus.ok()) return Failed(corpus.status());
  AnswerHandle("Corpus", new CorpusPointer(*corpus));
}

void CorpusDelete(double message) {
  Arguments in(message);
  delete &in.Next().object<CorpusPointer>();
  TheAnswer().Null();
}

void CorpusVocabulary(double message) {
  Arguments in(message);
  TheAnswer().Number(static_cast<double>(NextCorpus(&in).vocabulary()));
}

void CorpusTrainingSize(double message) {
  Arguments in(message);
  TheAnswer().Number(static_cast<double>(NextCorpus(&in).training().size()));
}

void CorpusTestSize(double message) {
  Arguments in(message);
  TheAnswer().Number(static_cast<double>(NextCorpus(&in).test().size()));
}

void CorpusSymbols(double message) {
  Arguments in(message);
  const auto& symbols = NextCorpus(&in).symbols();
  TheAnswer().Array(std::span<const int32_t>(reinterpret_cast<const int32_t*>(symbols.data()), symbols.size()));
}

void CorpusTestIds(double message) {
  Arguments in(message);
  const std::span<const int32_t> ids = NextCorpus(&in).test();
  const double from = in.NextNumber(), count = in.NextNumber();
  const size_t first = std::min(static_cast<size_t>(from), ids.size());
  TheAnswer().Array(ids.subspan(first, std::min(static_cast<size_t>(count), ids.size() - first)));
}

}  // namespace poslab::border
