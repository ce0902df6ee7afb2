// SPDX-License-Identifier: MIT
// One run of an experiment: one encoding, one seed: train at length L, then measure at every test length, and again for
// every change "at test time". It works in slices (Advance), so that a caller can report, pause, cancel and resume; a
// resumed run ends with the same bytes as one that was never interrupted. The numbers are those of the experiment
// contract, "What is measured".
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/task.h"
#include "model/adamw.h"
#include "model/model.h"
#include "position/draw_positions.h"

namespace poslab {

// A change at test time on the trained weights. Scalings without `factor` take N / L at each tested length N (1 where N
// is not longer than L); L is the trained and original length unless given.
struct AtTest {
  // Far keys at other distances. A group of 0 is the smallest that keeps every distance of a tested length below L; where
  // the window reaches that far by itself, it keeps them from growing past the window.
  std::optional<Distances> distances;
  // The whole encoding is replaced, embedding included. What it learns it takes from the trained weights by name; a
  // scheme whose tensors they do not have is kNotDefined.
  std::optional<Description> position;
  std::optional<int64_t> window;  // >= 1
  std::optional<int64_t> shift;   // of all positions, >= 0
  // Stretch a learned table to the tested length, past L: linear interpolation between rows, the first and the last row
  // staying first and last. Goes with a window, not with position or shift.
  bool interpolate = false;
};

struct RunDescription {
  TaskDescription task;
  ModelDescription model;  // vocabulary and trained_length are filled in by the run
  OptimizerDescription optimizer;
  int64_t length = 64;  // L
  int64_t batch = 16;
  Description position;  // the encoding
  // Positions of training rows, drawn anew at every step for the whole batch; absent: 0, 1, ... What is measured stands at
  // 0, 1, ... too, but for `randomized`, which draws once a tested length, as its authors do.
  std::optional<PositionDraw> train_positions;
  std::vector<AtTest> at_test;
  std::vector<int64_t> test_lengths;
  int64_t windows = 128;
  uint64_t seed = 1;
};

struct LengthResult {
  int64_t length = 0;
  bool defined = true;
  Status reason;  // why it is not defined; its text lives as long as the run
  // Means in nats over the scored places of all windows, and over those among the last floor(L / 4) (at least one);
  // standard errors over windows; NaN where no place is scored.
  double loss = 0, loss_error = 0, loss_at_end = 0, loss_at_end_error = 0;
  double accuracy = 0, accuracy_at_end = 0;  // toy tasks only, 0 .. 1
};

// Mean loss by position, from the windows of the longest length that is defined; the last bin may be narrower.
struct PositionResult {
  int64_t bin_width = 0;     // floor(L / 16), at least 1
  std::vector<double> loss;  // NaN where nothing is scored
};

struct TestChange;

class Run {
 public:
  // Checks everything (sizes in 64 bits, names, contradictions, whether changes at test time can work) and allocates;
  // nothing is trained yet. Arguments are named as in the experiment: "training.length", "position.theta",
  // "atTest.window", ...
  static Result<std::unique_ptr<Run>> Make(const RunDescription& description, std::shared_ptr<const Corpus> corpus);
  ~Run();

  enum class Phase { kTraining, kMeasuring, kDone };
  struct Progress {
    Phase phase = Phase::kTraining;
    int64_t step = 0, steps = 0;           // training
    double loss = 0;                       // of the last step; NaN before the first
    int64_t measured = 0, to_measure = 0;  // windows
  };
  Progress progress() const;

  // Does the next slice: up to `steps` training steps, or as much measuring as costs about the same (at least one
  // window). kDiverged names the step; the last weights that gave a finite loss stay and can be saved and measured
  // (SkipToMeasuring). A length that cannot be measured (a table that ends, memory) is a result with its reason.
  Status Advance(int64_t steps);
  void SkipToMeasuring();

  std::span<const double> losses() const;  // one a training step so far
  std::span<const LengthResult> by_length() const;
  const PositionResult& by_position() const;
  // One a RunDescription::at_test entry.
  std::span<const std::vector<LengthResult>> at_test() const;

  // Measures the weights as they are now at one length (at any time, training goes on unharmed): the live curve, and
  // switches that the page thinks of later. `windows` of them, which end at the same characters for all lengths up to
  // the longest of the description; by_position as well when not null. What is not defined is a failure here.
  Result<LengthResult> Measure(const AtTest& change, int64_t length, int64_t windows, PositionResult* by_position);

  // Continues `prompt` (at least one id) by `count` ids, sampled with a temperature from a seed of its own (0 =
  // greedy); for "what it writes". losses (or null) gets the model's own negative log-likelihood of each new id, in
  // nats. The change is that for the length of the whole text. kNotDefined before anything is written when the text
  // would leave a learned table.
  Status Generate(std::span<const int32_t> prompt, int64_t count, double temperature, uint64_t seed,
                  const AtTest& change, int32_t* ids, float* losses);

  Model& model();
  // Moments, step, generator, losses, what was measured, the last good weights: with the model's weights, everything
  // that a resumed run needs.
  Result<Buffer<uint8_t>> SaveState() const;
  // Goes on where the saved run was; the caller sets the model's weights as well. kFormat when the bytes are not a
  // state, kContradiction when it belongs to another description, seed or text; the run then is as it was.
  Status LoadState(std::span<const uint8_t> state);

  // What has access to the parts: measuring in slices, looking at attention (lab/live.h).
  friend class LiveMeasurement;
  friend Result<TestChange> LookUnder(Run* run, const AtTest& change, int64_t length);

 private:
  Run();
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace poslab
