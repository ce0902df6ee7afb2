// SPDX-License-Identifier: MIT
// A number that changes with every field of a run's description and with its text: a saved state goes on only in the
// run that it came from (FNV-1a over words: it guards against mistakes, not against forgery).
#include <bit>

#include "lab/run_parts.h"

namespace poslab {
namespace {

class Hash {
 public:
  void Word(uint64_t word) { value_ = (value_ ^ word) * 0x100000001b3u; }
  void Whole(int64_t number) { Word(static_cast<uint64_t>(number)); }
  void Real(double number) { Word(std::bit_cast<uint64_t>(number)); }
  void Text(std::string_view text) {
    Whole(static_cast<int64_t>(text.size()));
    for (char sign : text) Word(static_cast<uint8_t>(sign));
  }
  void Position(const Description& position) {
    Text(position.type);
    Whole(static_cast<int64_t>(position.fields.size()));
    for (const Field& field : position.fields) {
      Text(field.name), Whole(static_cast<int64_t>(field.kind)), Real(field.number), Whole(field.boolean);
      Text(field.text), Whole(static_cast<int64_t>(field.numbers.size()));
      for (double number : field.numbers) Real(number);
    }
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325u;
};

void AddModel(const ModelDescription& d, Hash* hash) {
  for (int64_t number :
       {d.vocabulary, d.dim, d.heads, d.key_value_heads, d.head_dim, d.layers, d.feed_forward, d.trained_length,
        static_cast<int64_t>(d.norm), static_cast<int64_t>(d.norm_placement), static_cast<int64_t>(d.activation),
        static_cast<int64_t>(d.sinks), int64_t{d.gated}, int64_t{d.bias.has_value()}, int64_t{d.bias.value_or(false)},
        int64_t{d.tied}, int64_t{d.parallel}})
    hash->Whole(number);
}

void AddOptimizer(const OptimizerDescription& d, Hash* hash) {
  hash->Whole(d.warmup), hash->Whole(d.steps);
  for (double number : {d.learning_rate, d.weight_decay, d.clip, d.beta1, d.beta2, d.epsilon}) hash->Real(number);
}

void AddAtTest(const AtTest& change, Hash* hash) {
  hash->Whole(change.position.has_value());
  if (change.position) hash->Position(*change.position);
  hash->Whole(change.window.value_or(-1)), hash->Whole(change.shift.value_or(-1)), hash->Whole(change.interpolate);
  const Distances distances = change.distances.value_or(Distances{});
  hash->Whole(change.distances.has_value()), hash->Whole(static_cast<int64_t>(distances.kind));
  hash->Whole(distances.window), hash->Whole(distances.group);
}

}  // namespace

uint64_t Run::Parts::Fingerprint() const {
  Hash hash;
  hash.Text(description.task.type);
  hash.Whole(description.task.distance), hash.Whole(description.task.position);
  AddModel(description.model, &hash);
  AddOptimizer(description.optimizer, &hash);
  hash.Whole(description.length), hash.Whole(description.batch), hash.Whole(description.windows);
  hash.Whole(static_cast<int64_t>(description.seed));
  hash.Position(description.position);
  const PositionDraw draw = description.train_positions.value_or(PositionDraw{});
  hash.Whole(description.train_positions.has_value()), hash.Whole(static_cast<int64_t>(draw.policy));
  hash.Whole(draw.maximum), hash.Whole(draw.chunks);
  hash.Whole(static_cast<int64_t>(description.at_test.size()));
  for (const AtTest& change : description.at_test) AddAtTest(change, &hash);
  hash.Whole(lengths());
  for (int64_t length : description.test_lengths) hash.Whole(length);
  if (corpus) {
    const std::span<const int32_t> training = corpus->training(), test = corpus->test();
    for (uint32_t symbol : corpus->symbols()) hash.Word(symbol);
    for (int32_t id : training) hash.Word(static_cast<uint32_t>(id));
    for (int32_t id : test) hash.Word(static_cast<uint32_t>(id));
  }
  return hash.value();
}

}  // namespace poslab
