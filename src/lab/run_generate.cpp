// SPDX-License-Identifier: MIT
// Text that the model writes: one id after the other, each pass over everything so far. There is no cache of keys, so
// that any change at test time (a scaling that follows the length, a window) works as it does when measured.
#include <algorithm>
#include <cmath>

#include "base/math.h"
#include "lab/run_parts.h"
#include "lab/streams.h"

namespace poslab {
namespace {

double LogSumExp(std::span<const float> logits, double temperature) {
  const double largest = *std::max_element(logits.begin(), logits.end()) / temperature;
  double sum = 0;
  for (float logit : logits) sum += Exp(logit / temperature - largest);
  return largest + Log(sum);
}

// The most likely id (the first of equals) at temperature 0, else one drawn from softmax(logits / temperature).
int32_t Draw(std::span<const float> logits, double temperature, Random* random) {
  const auto best = static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  if (temperature == 0) return best;
  const double normalizer = LogSumExp(logits, temperature);
  double left = random->Uniform();
  for (size_t id = 0; id < logits.size(); ++id) {
    left -= Exp(logits[id] / temperature - normalizer);
    if (left < 0) return static_cast<int32_t>(id);
  }
  return best;  // the probabilities added up to a little less than the draw
}

}  // namespace

Status Run::Generate(std::span<const int32_t> prompt, int64_t count, double temperature, uint64_t seed,
                     const AtTest& change, int32_t* ids, float* losses) {
  Parts& parts = *parts_;
  if (prompt.empty()) return Status::Text(Code::kMissing, "prompt", "", "at least one id");
  POSLAB_RETURN_IF_ERROR(CheckWhole("prompt", static_cast<int64_t>(prompt.size()), kLargestLength));
  if (count == 0) return Status::Ok();
  POSLAB_RETURN_IF_ERROR(CheckWhole("count", count, kLargestLength));
  if (!(temperature >= 0) || std::isinf(temperature))
    return Status::Number(Code::kRange, "temperature", temperature, "a finite number from 0");
  POSLAB_RETURN_IF_ERROR(CheckAtTest(change, parts.description.position));

  // The last id is written, never read: the longest pass is one place shorter than the text.
  const int64_t begin = static_cast<int64_t>(prompt.size()), longest_pass = begin + count - 1;
  Result<TestChange> made = TestChange::Make(change, parts.description.position, parts.model.get(), longest_pass);
  if (!made.ok()) return made.status();
  const Scheme& scheme = made->scheme ? *made->scheme : *parts.scheme;
  const int64_t places = DefinedPlaces(scheme, made->options.position_offset, parts.model.get());
  if (longest_pass > places && !made->options.table_override)
    return Status::Number(Code::kNotDefined, "count", static_cast<double>(count),
                          "at most {0} after this prompt: the encoding ends after {1} positions",
                          static_cast<double>(std::max<int64_t>(0, places - begin + 1)), static_cast<double>(places));
  Result<Buffer<int32_t>> text = Buffer<int32_t>::Make("count", begin + count);
  if (!text.ok()) return text.status();
  std::copy(prompt.begin(), prompt.end(), text->begin());

  Random random(seed, kGenerateStream);
  for (int64_t n = 0; n < count; ++n) {
    const int64_t length = begin + n;
    const Result<std::span<const float>> all =
        parts.model->Forward(text->span().subspan(0, static_cast<size_t>(length)), 1, length, made->options);
    if (!all.ok()) return all.status();
    const size_t vocabulary = static_cast<size_t>(parts.description.model.vocabulary);
    const std::span<const float> logits = all->subspan(all->size() - vocabulary);
    for (float logit : logits)
      if (!std::isfinite(logit))
        return Status::Text(Code::kNotDefined, "logits", "", "finite numbers, which they are not");
    const int32_t id = Draw(logits, temperature, &random);
    (*text)[length] = ids[n] = id;
    if (losses) losses[n] = static_cast<float>(LogSumExp(logits, 1) - logits[static_cast<size_t>(id)]);
  }
  return Status::Ok();
}

}  // namespace poslab
