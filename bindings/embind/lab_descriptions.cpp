// SPDX-License-Identifier: MIT
// Field by field; the TypeScript layer has checked names and kinds, the core checks what they mean.
#include "lab_descriptions.h"

#include "attention.h"
#include "border.h"

namespace poslab::border {

ModelDescription ModelOf(Value object) {
  ModelDescription model;
  model.vocabulary = CountOf(object, "vocabulary");
  model.dim = CountOf(object, "dim");
  model.heads = CountOf(object, "heads");
  model.key_value_heads = CountOf(object, "keyValueHeads");
  model.layers = CountOf(object, "layers");
  model.feed_forward = CountOf(object, "feedForward");
  model.trained_length = CountOf(object, "trainedLength");
  if (TextOf(object, "norm") == "rms") model.norm = ModelDescription::Norm::kRms;
  if (TextOf(object, "normPlacement") == "post") model.norm_placement = ModelDescription::NormPlacement::kPost;
  const std::string activation = TextOf(object, "activation");
  if (activation == "relu") model.activation = ModelDescription::Activation::kRelu;
  if (activation == "silu") model.activation = ModelDescription::Activation::kSilu;
  model.gated = TruthOf(object, "gated");
  const std::string sinks = TextOf(object, "sinks");
  if (sinks == "zero") model.sinks = ModelDescription::Sinks::kZero;
  if (sinks == "learned") model.sinks = ModelDescription::Sinks::kLearned;
  if (IsGiven(object["bias"])) model.bias = TruthOf(object, "bias");
  model.tied = TruthOf(object, "tied");
  model.parallel = TruthOf(object, "parallel");
  return model;
}

OptimizerDescription OptimizerOf(Value object) {
  OptimizerDescription optimizer;
  optimizer.learning_rate = NumberOf(object, "learningRate");
  optimizer.warmup = CountOf(object, "warmup");
  optimizer.steps = CountOf(object, "steps");
  optimizer.weight_decay = NumberOf(object, "weightDecay");
  optimizer.clip = NumberOf(object, "clip");
  optimizer.beta1 = NumberOf(object, "beta1");
  optimizer.beta2 = NumberOf(object, "beta2");
  return optimizer;
}

TaskDescription TaskOf(Value object) {
  TaskDescription task;
  task.type = TextOf(object, "type");
  task.distance = CountOf(object, "distance");
  task.position = CountOf(object, "position");
  return task;
}

PositionDraw PositionDrawOf(Value object) {
  const std::string policy = TextOf(object, "policy");
  PositionDraw draw;
  if (policy == "shift") draw.policy = PositionDraw::Policy::kShift;
  if (policy == "pose") draw.policy = PositionDraw::Policy::kPose;
  draw.maximum = CountOf(object, "maximum");
  draw.chunks = CountOf(object, "chunks");
  return draw;
}

AtTest ChangeOf(Value object) {
  AtTest change;
  if (IsGiven(object["position"])) change.position = DescriptionOf(object["position"]);
  change.window = MaybeCount(object, "window");
  change.shift = MaybeCount(object, "shift");
  change.interpolate = TruthOf(object, "interpolate");
  if (const Value distances = object["distances"]; IsGiven(distances)) change.distances = DistancesOf(distances);
  return change;
}

RunDescription RunOf(Value object) {
  RunDescription run;
  run.task = TaskOf(object["task"]);
  run.model = ModelOf(object["model"]);
  run.optimizer = OptimizerOf(object["optimizer"]);
  run.length = CountOf(object, "length");
  run.batch = CountOf(object, "batch");
  run.position = DescriptionOf(object["position"]);
  if (const Value draw = object["trainPositions"]; IsGiven(draw)) run.train_positions = PositionDrawOf(draw);
  for (Value change : object["atTest"]) run.at_test.push_back(ChangeOf(change));
  run.test_lengths = CountsOf(object["testLengths"]);
  run.windows = CountOf(object, "windows");
  run.seed = static_cast<uint64_t>(NumberOf(object, "seed"));
  return run;
}

}  // namespace poslab::border
