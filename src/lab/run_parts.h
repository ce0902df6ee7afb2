// SPDX-License-Identifier: MIT
// What a Run is made of, shared by its files: run.cpp (making, asking), run_training.cpp, run_measuring.cpp, live.cpp,
// run_generate.cpp, run_state.cpp and fingerprint.cpp.
#pragma once

#include <optional>

#include "lab/measurement.h"
#include "lab/run.h"
#include "lab/test_change.h"

namespace poslab {

// The longest row that is trained or measured on: far past what can be computed, and safe in 63-bit products.
constexpr int64_t kLargestLength = int64_t{1} << 30;
constexpr int64_t kMostWindows = int64_t{1} << 20;

// kRange unless `given` is from 1 to `largest`.
Status CheckWhole(const char* argument, int64_t given, int64_t largest);

struct Run::Parts {
  // --- the description and what was made from it
  RunDescription description;  // the model's vocabulary and trained length filled in
  std::shared_ptr<const Corpus> corpus;
  std::unique_ptr<Task> task;
  std::shared_ptr<const Scheme> scheme;
  std::unique_ptr<Model> model;
  int64_t longest = 0;  // of the test lengths
  uint64_t fingerprint = 0;

  // --- training
  Phase phase = Phase::kTraining;
  AdamW optimizer;
  Random batches{0};
  Buffer<int32_t> ids, targets;  // [batch, L]
  Buffer<int64_t> positions;     // drawn ones, of the row that is trained or measured
  Buffer<double> losses;         // [steps]
  Buffer<float> good_weights;    // the last ones that gave a finite loss
  bool diverged = false;

  // --- measuring: one job an entry (the run itself, then every change at test time) and length
  int64_t job = 0;
  bool under_way = false;  // `measurement` has begun on this job
  Measurement measurement;
  std::optional<TestChange> change;  // of this job, once something was measured since it began or was loaded
  struct Rows {
    Buffer<int32_t> ids, targets;  // [windows of a slice, length]
    Buffer<float> losses;
    Buffer<uint8_t> correct;
    Status Resize(int64_t count);
  } rows;
  std::vector<LengthResult> by_length;
  std::vector<std::vector<LengthResult>> at_test;
  PositionResult by_position;
  int64_t by_position_length = 0;

  int64_t lengths() const { return static_cast<int64_t>(description.test_lengths.size()); }
  int64_t jobs() const { return lengths() * (1 + static_cast<int64_t>(description.at_test.size())); }
  int64_t job_length() const { return description.test_lengths[static_cast<size_t>(job % lengths())]; }
  int64_t job_entry() const { return job / lengths() - 1; }  // -1: the run itself
  // Where the results of an entry go.
  std::vector<LengthResult>& results(int64_t entry) {
    return entry < 0 ? by_length : at_test[static_cast<size_t>(entry)];
  }

  // run_training.cpp
  // Positions of rows of this length into `options`, where they are drawn; `seed` and `count` say which draw.
  Status DrawInto(int64_t length, uint64_t seed, int64_t count, RunOptions* options);
  Status Train(int64_t steps);
  Status TrainStep();
  Status Diverged() const;

  // run_measuring.cpp
  Status MeasureSlice(int64_t steps);
  Status StartJob();
  void FinishJob(LengthResult result);
  // Scores windows `first` .. `first + count - 1` of a length into `into`; 0 < count.
  Status ScoreWindows(const RunOptions& options, int64_t first, int64_t count, int64_t windows, int64_t longest_length,
                      Rows* buffers, Measurement* into);
  // How many windows of a length go through the model at once: about as many places as a training batch has.
  int64_t WindowsTogether(int64_t length) const;
  // Arithmetic of one window's forward pass, in multiply-adds: what slices are measured out by.
  double ForwardCost(int64_t length) const;

  // fingerprint.cpp: a number that changes with anything that a saved state depends on.
  uint64_t Fingerprint() const;
};

}  // namespace poslab
