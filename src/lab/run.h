// SPDX-License-Identifier: MIT
// One run of an experiment: one encoding, one seed: train at length L, then measure at every test length, and again for
// every change "at test time". It works in slices (Advance), so that a caller can report, pause, cancel and resume; a
// resumed run ends with the same bytes as one that was never interrupted. ../shared experiment contract, "What is measured".
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/task.h"
#include "model/adamw.h"
#include "model/model.h"

namespace poslab {

// A change at test time on the trained weights. Scalings without `factor` take N / L at each tested length N; L is the
// trained and original length unless given.
struct AtTest {
  std::optional<Description> position;
  std::optional<int64_t> window;
  std::optional<int64_t> shift;
  bool interpolate = false;   // stretch a learned table to the tested length (linear interpolation between rows)
};

struct RunDescription {
  TaskDescription task;
  ModelDescription model;           // vocabulary and trained_length are filled in by the run
  OptimizerDescription optimizer;
  int64_t length = 64;              // L
  int64_t batch = 16;
  Description position;             // the encoding
  std::vector<AtTest> at_test;
  std::vector<int64_t> test_lengths;
  int64_t windows = 128;
  uint64_t seed = 1;
};

struct LengthResult {
  int64_t length = 0;
  bool defined = true;
  Status reason;                    // why it is not defined
  double loss = 0, loss_error = 0, loss_at_end = 0, loss_at_end_error = 0;
  double accuracy = 0, accuracy_at_end = 0;  // toy tasks only
};

struct PositionResult {
  int64_t bin_width = 0;
  std::vector<double> loss;         // NaN where nothing is scored
};

class Run {
 public:
  // Checks everything (sizes in 64 bits, names, contradictions) and allocates; nothing is trained yet.
  static Result<std::unique_ptr<Run>> Make(const RunDescription& description, std::shared_ptr<const Corpus> corpus);
  ~Run();

  enum class Phase { kTraining, kMeasuring, kDone };
  struct Progress {
    Phase phase = Phase::kTraining;
    int64_t step = 0, steps = 0;         // training
    double loss = 0;                     // of the last step
    int64_t measured = 0, to_measure = 0;  // windows
  };
  Progress progress() const;

  // Does the next slice: up to `steps` training steps, or as much measuring as costs about the same. kDiverged names
  // the step; the last good weights stay and can be saved and measured (SkipToMeasuring).
  Status Advance(int64_t steps);
  void SkipToMeasuring();

  std::span<const double> losses() const;   // one a training step so far
  std::span<const LengthResult> by_length() const;
  const PositionResult& by_position() const;
  // One a RunDescription::at_test entry.
  std::span<const std::vector<LengthResult>> at_test() const;

  // Measures the weights as they are now at one length (at any time, training goes on unharmed): the live curve, and
  // switches that the page thinks of later. `windows` of them; by_position as well when not null.
  Result<LengthResult> Measure(const AtTest& change, int64_t length, int64_t windows, PositionResult* by_position);

  // Continues `prompt` by `count` ids, sampled with a temperature from a seed of its own (0 = greedy); for "what it writes".
  // losses gets the model's own negative log-likelihood of each new id.
  Status Generate(std::span<const int32_t> prompt, int64_t count, double temperature, uint64_t seed, const AtTest& change,
                  int32_t* ids, float* losses);

  Model& model();
  // Moments, step, generator, losses: with the weights, everything that a resumed run needs.
  Result<Buffer<uint8_t>> SaveState() const;   // without the weights
  Status LoadState(std::span<const uint8_t> state);

 private:
  Run();
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace poslab
