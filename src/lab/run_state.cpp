// SPDX-License-Identifier: MIT
// A run's state as bytes, and back. Layout, all little-endian:
//   "PosLabR1", fingerprint u64, parameters P i64
//   phase u8, diverged u8, step i64, batch generator u64 u64
//   losses f64[step], first and second moments and last good weights f32[P] each
//   job i64, then a result for each job before it (see SaveResult)
//   by position: length i64, bins i64, losses f64[bins]
//   windows added to the job under way i64 (-1: none), their sums, the sums by position
// Writing and reading stand side by side; what is read is checked as a whole before anything of the run is changed.
#include <algorithm>
#include <cmath>

#include "lab/run_parts.h"
#include "lab/state_bytes.h"

namespace poslab {
namespace {

constexpr std::string_view kMagic = "PosLabR1";
constexpr uint32_t kLongestText = 4096;

void SaveResult(const LengthResult& result, StateWriter* writer) {
  writer->Number<int64_t>(result.length);
  writer->Number<uint8_t>(result.defined);
  for (double number : {result.loss, result.loss_error, result.loss_at_end, result.loss_at_end_error, result.accuracy,
                        result.accuracy_at_end})
    writer->Number(number);
  const Failure& reason = result.reason.failure();
  writer->Number<uint8_t>(static_cast<uint8_t>(reason.code));
  for (std::string_view text : {std::string_view(reason.argument), std::string_view(reason.given),
                                std::string_view(reason.allowed), std::string_view(reason.suggestion)})
    writer->Text(text.substr(0, kLongestText));
  writer->Number<uint8_t>(reason.given_number.has_value());
  writer->Number<double>(reason.given_number.value_or(0));
  for (double limit : reason.limits) writer->Number(limit);
}

LengthResult LoadResult(StateReader* reader) {
  LengthResult result;
  result.length = reader->Number<int64_t>();
  result.defined = reader->Number<uint8_t>() != 0;
  for (double* number : {&result.loss, &result.loss_error, &result.loss_at_end, &result.loss_at_end_error,
                         &result.accuracy, &result.accuracy_at_end})
    *number = reader->Number<double>();
  Failure reason;
  const uint8_t code = reader->Number<uint8_t>();
  reader->Require(code <= static_cast<uint8_t>(Code::kState) && result.defined == (code == 0));
  reason.code = static_cast<Code>(code);
  reason.argument = reader->Text(kLongestText);
  reason.given = reader->Text(kLongestText);
  reason.allowed = reader->Text(kLongestText);
  reason.suggestion = reader->Text(kLongestText);
  const bool has_number = reader->Number<uint8_t>() != 0;
  const double number = reader->Number<double>();
  if (has_number) reason.given_number = number;
  for (double& limit : reason.limits) limit = reader->Number<double>();
  if (reason.code != Code::kOk) result.reason = Status(reason);
  return result;
}

void SaveMeasurement(Measurement& measurement, StateWriter* writer) {
  writer->Number<int64_t>(measurement.added());
  for (const Measurement::WindowSums& sums :
       measurement.window_sums().subspan(0, static_cast<size_t>(measurement.added()))) {
    writer->Number(sums.loss), writer->Number(sums.end_loss);
    for (int64_t count : {sums.scored, sums.end_scored, sums.correct, sums.end_correct}) writer->Number(count);
  }
  for (const Measurement::BinSums& bin : measurement.bin_sums()) writer->Number(bin.loss), writer->Number(bin.scored);
}

// `measurement` has been started on the job's length.
void LoadMeasurement(int64_t added, StateReader* reader, Measurement* measurement) {
  const int64_t length = measurement->length();
  const auto count = [&](int64_t most) {
    const int64_t number = reader->Number<int64_t>();
    reader->Require(number >= 0 && number <= most);
    return number;
  };
  for (int64_t w = 0; w < added && reader->good(); ++w) {
    Measurement::WindowSums& sums = measurement->window_sums()[static_cast<size_t>(w)];
    sums.loss = reader->Number<double>(), sums.end_loss = reader->Number<double>();
    sums.scored = count(length), sums.end_scored = count(sums.scored);
    sums.correct = count(sums.scored), sums.end_correct = count(sums.end_scored);
  }
  for (Measurement::BinSums& bin : measurement->bin_sums()) {
    bin.loss = reader->Number<double>();
    bin.scored = count(length * added);
  }
  measurement->set_added(added);
}

bool AllFinite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
}

// What LoadState reads before it touches the run.
struct Loaded {
  uint8_t phase = 0, diverged = 0;
  int64_t step = 0, job = 0, by_position_length = 0, added = -1;
  Random::State batches{};
  Buffer<double> losses;
  Buffer<float> first, second, good;
  std::vector<LengthResult> results;
  PositionResult by_position;
  Measurement measurement;
};

Status Broken(const StateReader& reader) {
  Status status =
      Status::Text(Code::kFormat, "state", "", "the saved state of a run, which it stops being at byte {0}");
  status->limits[0] = static_cast<double>(reader.offset());
  return status;
}

}  // namespace

Result<Buffer<uint8_t>> Run::SaveState() const {
  Parts& parts = *parts_;
  const auto write = [&](StateWriter* writer) {
    for (char sign : kMagic) writer->Number(sign);
    writer->Number(parts.fingerprint);
    writer->Number<int64_t>(parts.model->parameter_count());
    writer->Number<uint8_t>(static_cast<uint8_t>(parts.phase));
    writer->Number<uint8_t>(parts.diverged);
    writer->Number<int64_t>(parts.optimizer.step());
    writer->Number(parts.batches.state().state), writer->Number(parts.batches.state().increment);
    writer->Numbers(losses());
    for (std::span<const float> values :
         {std::span<const float>(parts.optimizer.first_moment()),
          std::span<const float>(parts.optimizer.second_moment()), std::span<const float>(parts.good_weights.span())})
      writer->Numbers(values);
    writer->Number<int64_t>(parts.job);
    for (const LengthResult& result : parts.by_length) SaveResult(result, writer);
    for (const auto& results : parts.at_test)
      for (const LengthResult& result : results) SaveResult(result, writer);
    writer->Number<int64_t>(parts.by_position_length);
    writer->Number<int64_t>(static_cast<int64_t>(parts.by_position.loss.size()));
    writer->Numbers(std::span<const double>(parts.by_position.loss));
    if (parts.under_way)
      SaveMeasurement(parts.measurement, writer);
    else
      writer->Number<int64_t>(-1);
  };
  StateWriter counter;
  write(&counter);
  Result<Buffer<uint8_t>> state = Buffer<uint8_t>::Make("state", counter.size());
  if (!state.ok()) return state;
  StateWriter writer(state->data());
  write(&writer);
  return state;
}

namespace {

// Phase, generator, losses, moments.
Status ReadTraining(const RunDescription& description, int64_t parameters, StateReader* reader, Loaded* loaded) {
  loaded->phase = reader->Number<uint8_t>();
  loaded->diverged = reader->Number<uint8_t>();
  loaded->step = reader->Number<int64_t>();
  loaded->batches.state = reader->Number<uint64_t>();
  loaded->batches.increment = reader->Number<uint64_t>();
  const int64_t steps = description.optimizer.steps;
  reader->Require(loaded->phase <= static_cast<uint8_t>(Run::Phase::kDone) && loaded->diverged <= 1);
  reader->Require(loaded->step >= 0 && loaded->step <= steps && loaded->batches.increment % 2 == 1);
  reader->Require(loaded->phase != static_cast<uint8_t>(Run::Phase::kTraining) || loaded->step < steps);
  if (!reader->good()) return Broken(*reader);
  POSLAB_RETURN_IF_ERROR(loaded->losses.Resize("state", steps));
  const std::span<double> losses = loaded->losses.span().subspan(0, static_cast<size_t>(loaded->step));
  reader->Numbers(losses);
  for (double loss : losses) reader->Require(std::isfinite(loss));
  for (Buffer<float>* values : {&loaded->first, &loaded->second, &loaded->good}) {
    POSLAB_RETURN_IF_ERROR(values->Resize("state", parameters));
    reader->Numbers(values->span());
    reader->Require(AllFinite(values->span()));
  }
  return reader->good() ? Status::Ok() : Broken(*reader);
}

// Results of the jobs that are done, and the losses by position.
Status ReadResults(const RunDescription& description, int64_t jobs, StateReader* reader, Loaded* loaded) {
  const std::vector<int64_t>& lengths = description.test_lengths;
  loaded->job = reader->Number<int64_t>();
  reader->Require(loaded->job >= 0 && loaded->job <= jobs);
  reader->Require((loaded->phase == static_cast<uint8_t>(Run::Phase::kDone)) == (loaded->job == jobs));
  reader->Require(loaded->phase != static_cast<uint8_t>(Run::Phase::kTraining) || loaded->job == 0);
  for (int64_t job = 0; job < loaded->job && reader->good(); ++job) {
    loaded->results.push_back(LoadResult(reader));
    reader->Require(loaded->results.back().length == lengths[static_cast<size_t>(job) % lengths.size()]);
  }
  const int64_t length = reader->Number<int64_t>(), bins = reader->Number<int64_t>();
  const int64_t width = BinWidth(description.length);
  const bool known = length == 0 || std::find(lengths.begin(), lengths.end(), length) != lengths.end();
  reader->Require(known && bins == (length + width - 1) / width && bins <= reader->left() / int64_t{sizeof(double)});
  if (!reader->good()) return Broken(*reader);
  loaded->by_position_length = length;
  if (length == 0) return Status::Ok();
  loaded->by_position.bin_width = width;
  loaded->by_position.loss.resize(static_cast<size_t>(bins));
  reader->Numbers(std::span<double>(loaded->by_position.loss));
  return Status::Ok();
}

// The sums of the job that is under way, if one is.
Status ReadMeasurement(const RunDescription& description, StateReader* reader, Loaded* loaded) {
  const std::vector<int64_t>& lengths = description.test_lengths;
  loaded->added = reader->Number<int64_t>();
  reader->Require(loaded->added >= -1 && loaded->added < description.windows);
  reader->Require(loaded->added == -1 || loaded->phase == static_cast<uint8_t>(Run::Phase::kMeasuring));
  if (reader->good() && loaded->added >= 0) {
    const int64_t length = lengths[static_cast<size_t>(loaded->job) % lengths.size()];
    POSLAB_RETURN_IF_ERROR(loaded->measurement.Start(length, description.windows, description.length));
    LoadMeasurement(loaded->added, reader, &loaded->measurement);
  }
  reader->Require(reader->left() == 0);
  return reader->good() ? Status::Ok() : Broken(*reader);
}

}  // namespace

Status Run::LoadState(std::span<const uint8_t> state) {
  Parts& parts = *parts_;
  StateReader reader(state);
  for (char sign : kMagic) reader.Require(reader.Number<char>() == sign);
  if (!reader.good()) return Broken(reader);
  const uint64_t fingerprint = reader.Number<uint64_t>();
  if (reader.good() && fingerprint != parts.fingerprint)
    return Status::Text(Code::kContradiction, "state", "the state of another run",
                        "one of a run with the same description, seed and text");
  reader.Require(reader.Number<int64_t>() == parts.model->parameter_count());
  if (!reader.good()) return Broken(reader);
  Loaded loaded;
  POSLAB_RETURN_IF_ERROR(ReadTraining(parts.description, parts.model->parameter_count(), &reader, &loaded));
  POSLAB_RETURN_IF_ERROR(ReadResults(parts.description, parts.jobs(), &reader, &loaded));
  POSLAB_RETURN_IF_ERROR(ReadMeasurement(parts.description, &reader, &loaded));

  // Everything is there and makes sense: from here on nothing can fail.
  parts.phase = static_cast<Phase>(loaded.phase);
  parts.diverged = loaded.diverged != 0;
  parts.optimizer.set_step(loaded.step);
  parts.batches.set_state(loaded.batches);
  parts.losses = std::move(loaded.losses);
  std::copy(loaded.first.begin(), loaded.first.end(), parts.optimizer.first_moment().begin());
  std::copy(loaded.second.begin(), loaded.second.end(), parts.optimizer.second_moment().begin());
  parts.good_weights = std::move(loaded.good);
  parts.by_length.clear();
  for (auto& results : parts.at_test) results.clear();
  for (parts.job = 0; parts.job < loaded.job; ++parts.job)
    parts.results(parts.job_entry()).push_back(std::move(loaded.results[static_cast<size_t>(parts.job)]));
  parts.by_position = std::move(loaded.by_position);
  parts.by_position_length = loaded.by_position_length;
  parts.measurement = std::move(loaded.measurement);
  parts.under_way = loaded.added >= 0;
  parts.change.reset();
  return Status::Ok();
}

}  // namespace poslab
