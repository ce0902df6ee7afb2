// SPDX-License-Identifier: MIT
// The engine of loaded models against the training model with the same weights, and against itself: token by token,
// padded, and with positions otherwise than trained. (Reference logits of real families: tests/js/models.)
#include "transformer/transformer.h"

#include <doctest/doctest.h>
#include <cmath>
#include <vector>

#include "model/random_rows.h"
#include "model/small_models.h"
#include "position/scheme_support.h"

using namespace poslab;
using namespace poslab_test;
using poslab::testing::Numbers;

namespace {

constexpr int64_t kLength = 9;
constexpr double kNear = 2e-5;

StackDescription SmallStack(bool causal, const Description& position) {
  StackDescription stack;
  stack.layers = 2, stack.heads = 4, stack.key_value_heads = 2, stack.head_dim = 12, stack.feed_forward = 10;
  stack.causal = causal;
  stack.position = {position};
  stack.windows = {0, 0};
  return stack;
}

Architecture SmallDecoder(const Description& position) {
  Architecture architecture;
  architecture.dim = 8, architecture.vocabulary = 11, architecture.trained_length = 64;
  architecture.decoder = SmallStack(true, position);
  architecture.head.emplace().outputs = 11;
  return architecture;
}

std::unique_ptr<Transformer> Make(const Architecture& architecture) {
  auto made = Transformer::Make(architecture);
  REQUIRE_MESSAGE(made.ok(), made.status().argument());
  return std::move(*made);
}

std::unique_ptr<Transformer> Filled(const Architecture& architecture, uint64_t seed = 3) {
  auto model = Make(architecture);
  for (const Weight& weight : model->weights().list()) {
    auto numbers = RandomRows(weight.size(), ++seed, 0.4);
    if (weight.shape.size() == 1)
      for (float& number : numbers) number += 0.7f;
    REQUIRE(model->weights().Set(weight.name, numbers, 0, false).ok());
  }
  REQUIRE(model->weights().complete());
  return model;
}

ModelInput Ids(const std::vector<int32_t>& ids) {
  ModelInput input;
  input.ids = ids;
  return input;
}

std::vector<float> Logits(Transformer* model, const ModelInput& input) {
  const auto logits = model->Logits(input);
  REQUIRE_MESSAGE(logits.ok(), logits.status().argument());
  return {logits->begin(), logits->end()};
}

std::vector<float> RowOf(const std::vector<float>& rows, int64_t row, int64_t width) {
  return {rows.begin() + row * width, rows.begin() + (row + 1) * width};
}

void CheckDecoding(Transformer* model, const std::vector<int32_t>& ids, const std::vector<float>& whole) {
  const auto outputs = static_cast<int64_t>(whole.size() / ids.size());
  const std::span<const int32_t> all(ids);
  for (int64_t from = 0; from < static_cast<int64_t>(ids.size());) {
    const int64_t count = from == 0 ? 4 : 1;
    const auto logits = model->Append(all.subspan(static_cast<size_t>(from), static_cast<size_t>(count)));
    REQUIRE_MESSAGE(logits.ok(), logits.status().argument());
    from += count;
    CHECK(LargestDifference(*logits, RowOf(whole, from - 1, outputs)) < kNear);
    CHECK(model->cached() == from);
  }
}

}  // namespace

TEST_CASE("Loaded weights give what the training model gives with them") {
  using D = ModelDescription;
  struct Variant {
    const char* name;
    void (*change)(D*, StackDescription*);
  };
  const Variant variants[] = {{"default", [](D*, StackDescription*) {}},
                              {"sinks", [](D* d, StackDescription* s) { d->sinks = s->sinks = D::Sinks::kLearned; }},
                              {"sinks of 0", [](D* d, StackDescription* s) { d->sinks = s->sinks = D::Sinks::kZero; }},
                              {"post-norm, bias everywhere, relu",
                               [](D* d, StackDescription* s) {
                                 d->norm_placement = s->norm_placement = D::NormPlacement::kPost;
                                 d->bias = true;
                                 s->final_norm = false;
                                 s->bias = {true, true, true, true, true, true, true};
                                 d->activation = s->activation = D::Activation::kRelu;
                               }},
                              {"parallel, gated, RMSNorm, silu", [](D* d, StackDescription* s) {
                                 d->parallel = d->gated = s->gated = true;
                                 s->parallel = StackDescription::Parallel::kOneNorm;
                                 d->norm = D::Norm::kRms, s->norm = NormKind::kRms, s->norm_bias = false;
                                 d->bias = false;
                                 s->bias = {};
                                 d->activation = s->activation = D::Activation::kSilu;
                               }}};
  for (const Variant& variant : variants)
    for (const SchemeEntry& entry : Schemes()) {
      CAPTURE(variant.name);
      CAPTURE(entry.type);
      const Description position{std::string(entry.type), {}};
      D d = SmallDescription();
      d.head_dim = 12, d.heads = 4, d.key_value_heads = 2, d.feed_forward = 10, d.trained_length = 16;
      Architecture architecture = SmallDecoder(position);
      architecture.vocabulary = architecture.head->outputs = d.vocabulary;
      architecture.trained_length = 16;
      architecture.decoder->bias.in = architecture.decoder->bias.out = true;
      variant.change(&d, &*architecture.decoder);
      const auto trained = MakeModel(d, {SchemeOf(position)});
      const auto loaded = Make(architecture);
      for (const ParameterInfo& info : trained->parameters()) {
        CAPTURE(info.name);
        const std::span<const float> numbers = trained->weights().subspan(info.offset, info.size);
        CHECK(loaded->weights().Set(info.name, numbers, 0, false).ok());
      }
      REQUIRE(loaded->weights().complete());
      const auto ids = RandomIds(kLength, 7, 5);
      const auto expected = trained->Forward(ids, 1, kLength);
      REQUIRE(expected.ok());
      const auto logits = Logits(loaded.get(), Ids(ids));
      CHECK(LargestDifference(logits, *expected) < kNear);
      CheckDecoding(loaded.get(), ids, logits);
    }
}

TEST_CASE("Decoding with a cache gives the whole pass, whatever the blocks and positions") {
  const Description rope{"rope", {Number("rotaryDim", 4)}};
  for (int variant = 1; variant < 6; ++variant) {
    CAPTURE(variant);
    Architecture architecture = SmallDecoder(rope);
    StackDescription& stack = *architecture.decoder;
    if (variant == 2) stack.parallel = StackDescription::Parallel::kTwoNorms, stack.windows = {3, 0};
    if (variant == 3) stack.query_key_norm = StackDescription::QueryKeyNorm::kHead;
    if (variant == 4) stack.query_key_norm = StackDescription::QueryKeyNorm::kRow, architecture.head->tied = true;
    if (variant == 5) stack.position = {rope, Description{"alibi", {}}};
    const auto model = Filled(architecture);
    const auto ids = RandomIds(kLength, 11, 5);
    const auto whole = Logits(model.get(), Ids(ids));
    CheckDecoding(model.get(), ids, whole);
    // Back to the fourth token, and on with others.
    REQUIRE(model->Truncate(4).ok());
    auto others = ids;
    others[4] = (others[4] + 1) % 11;
    const auto logits = model->Append(std::span(others).subspan(4, 3));
    REQUIRE(logits.ok());
    CHECK(LargestDifference(*logits, RowOf(Logits(model.get(), Ids(others)), 6, 11)) < kNear);
  }
}

// Angles that change with the length change what deeper layers make of earlier tokens too.
TEST_CASE("Under a scaling by the running length, decoding gives the whole pass at every length, and back again") {
  const Description scalings[] = {
      {"rope", {Text("scaling.ropeType", "dynamic"), Number("scaling.factor", 2), Number("maxPositionEmbeddings", 4)}},
      {"rope",
       {Text("scaling.ropeType", "longrope"), Number("maxPositionEmbeddings", 32),
        Number("scaling.originalMaxPositionEmbeddings", 6), Numbers("scaling.shortFactor", {1, 1, 1.1, 1.2, 1.3, 1.5}),
        Numbers("scaling.longFactor", {1, 1.5, 3, 4, 5, 7})}}};
  for (const Description& scaling : scalings) {
    const auto model = Filled(SmallDecoder(scaling));
    const auto ids = RandomIds(kLength, 11, 5);
    const auto check = [&](int64_t length, int64_t count) {
      const auto logits = model->Append(std::span(ids).subspan(static_cast<size_t>(length - count), count));
      REQUIRE(logits.ok());
      const std::vector<float> step(logits->begin(), logits->end());
      CHECK(model->cached() == length);
      CHECK(LargestDifference(
                step, RowOf(Logits(model.get(), Ids({ids.begin(), ids.begin() + length})), length - 1, 11)) < kNear);
    };
    for (int64_t length = 1; length <= kLength; ++length) check(length, 1);
    // The cache of a shorter text was made by the angles of the longer one.
    REQUIRE(model->Truncate(2).ok());
    check(5, 3);
    check(7, 2);
  }
}

// Layers that a scheme treats differently are bound apart, in a pass and in the cache.
TEST_CASE("A rotation that leaves out every second layer is that of a list of layers") {
  const Description interval{"rope", {Number("noRopeLayerInterval", 2)}}, rope{"rope", {}}, none{"none", {}};
  Architecture architecture = SmallDecoder(interval);
  architecture.decoder->layers = 4, architecture.decoder->windows = {0, 0, 0, 0};
  Architecture listed = architecture;
  listed.decoder->position = {rope, none, rope, none};
  const auto ids = RandomIds(kLength, 11, 5);
  const auto model = Filled(architecture), same = Filled(listed);
  const auto whole = Logits(model.get(), Ids(ids));
  CHECK(LargestDifference(whole, Logits(same.get(), Ids(ids))) == 0);
  CheckDecoding(model.get(), ids, whole);
  listed.decoder->position = {rope};
  CHECK(LargestDifference(whole, Logits(Filled(listed).get(), Ids(ids))) > 1e-3);
}

TEST_CASE("An encoder-decoder decodes token by token, and padding of its input is not seen") {
  Architecture architecture = SmallDecoder({"sinusoidal", {}});
  architecture.encoder = SmallStack(false, {"sinusoidal", {}});
  for (bool post : {false, true}) {
    for (StackDescription* stack : {&*architecture.encoder, &*architecture.decoder})
      if (post) stack->norm_placement = ModelDescription::NormPlacement::kPost, stack->final_norm = false;
    const auto model = Filled(architecture);
    const auto ids = RandomIds(5, 11, 6), decoder_ids = RandomIds(kLength, 11, 7);
    ModelInput input = Ids(ids);
    input.decoder_ids = decoder_ids;
    const auto whole = Logits(model.get(), input);
    CHECK(model->Append(decoder_ids).ok());  // the encoder's rows are there
    REQUIRE(model->Encode(Ids(ids)).ok());
    CheckDecoding(model.get(), decoder_ids, whole);

    auto padded = ids;
    padded.insert(padded.end(), {3, 3});
    const std::vector<uint8_t> mask = {1, 1, 1, 1, 1, 0, 0};
    input.ids = padded, input.mask = mask;
    CHECK(LargestDifference(Logits(model.get(), input), whole) < kNear);
  }
}

TEST_CASE("Left padding with its positions gives the logits of the tokens alone") {
  const auto model = Filled(SmallDecoder({"rope", {}}));
  const auto ids = RandomIds(5, 11, 6);
  std::vector<int32_t> padded = {4, 4, 4};
  padded.insert(padded.end(), ids.begin(), ids.end());
  const std::vector<uint8_t> mask = {0, 0, 0, 1, 1, 1, 1, 1};
  const std::vector<int64_t> positions = {0, 0, 0, 0, 1, 2, 3, 4};
  ModelInput input = Ids(padded);
  input.mask = mask, input.positions = positions;
  const auto logits = Logits(model.get(), input), alone = Logits(model.get(), Ids(ids));
  CHECK(LargestDifference(std::span(logits).subspan(3 * 11), std::span(alone)) < kNear);
}

TEST_CASE("A change of positions holds until it is taken back") {
  const auto model = Filled(SmallDecoder({"rope", {}}));
  const auto other = Filled(SmallDecoder({"alibi", {}}));
  const auto ids = RandomIds(kLength, 11, 6);
  const auto before = Logits(model.get(), Ids(ids));
  PositionChange change;
  change.decoder.scheme = SchemeOf("alibi");
  REQUIRE(model->Change(change).ok());
  CHECK(LargestDifference(Logits(model.get(), Ids(ids)), Logits(other.get(), Ids(ids))) == 0);
  // RoPE sees distances only, so that a shift of all ids changes nothing.
  PositionChange shifted;
  shifted.shift = 100;
  REQUIRE(model->Change(shifted).ok());
  CHECK(LargestDifference(Logits(model.get(), Ids(ids)), before) < kNear);
  PositionChange windowed;
  windowed.window = 2;
  REQUIRE(model->Change(windowed).ok());
  const auto seen = Logits(model.get(), Ids(ids));
  CHECK(LargestDifference(seen, before) > 1e-2);
  CheckDecoding(model.get(), ids, seen);
  REQUIRE(model->Change({}).ok());
  CHECK(LargestDifference(Logits(model.get(), Ids(ids)), before) == 0);
}

TEST_CASE("Another scheme takes the model's own tensors where it has them, and is refused where it lacks them") {
  const auto model = Filled(SmallDecoder({"learned", {Number("rows", 12)}}));
  PositionChange change;
  change.decoder.scheme = SchemeOf(Description{"learned", {Number("offset", 2)}});
  REQUIRE(model->Change(change).ok());
  CHECK(model->Logits(Ids(RandomIds(10, 11, 1))).ok());
  CHECK(model->Logits(Ids(RandomIds(11, 11, 1))).status().code() == Code::kNotDefined);
  change.decoder.scheme = SchemeOf("t5");
  CHECK(!model->Change(change).ok());
  CHECK(model->Logits(Ids(RandomIds(10, 11, 1))).ok());  // as before
}

TEST_CASE("Losses, memory and attention are those of the logits") {
  Architecture architecture = SmallDecoder({"transformer-xl", {}});
  architecture.memory_length = 20;
  const auto model = Filled(architecture);
  const auto ids = RandomIds(kLength, 11, 6);
  auto targets = RandomIds(kLength, 11, 8);
  targets[2] = -1;
  const auto logits = Logits(model.get(), Ids(ids));
  const auto losses = model->Losses(Ids(ids), targets);
  REQUIRE(losses.ok());
  for (int64_t row = 0; row < kLength; ++row) {
    if (row == 2) {
      CHECK(std::isnan((*losses)[row]));
      continue;
    }
    double sum = 0;
    for (float logit : RowOf(logits, row, 11)) sum += std::exp(static_cast<double>(logit));
    CHECK((*losses)[row] ==
          doctest::Approx(std::log(sum) - logits[static_cast<size_t>(row * 11 + targets[static_cast<size_t>(row)])])
              .epsilon(1e-5));
  }
  // One layer sees exactly the hidden states: two segments are one.
  architecture.decoder->layers = 1, architecture.decoder->windows = {0};
  const auto shallow = Filled(architecture);
  const auto whole = Logits(shallow.get(), Ids(ids));
  Logits(shallow.get(), Ids({ids.begin(), ids.begin() + 4}));
  const std::vector<float> memory(shallow->hidden_states().begin(), shallow->hidden_states().end());
  CHECK(shallow->hidden_rows() == 4);
  const std::vector<int32_t> rest(ids.begin() + 4, ids.end());
  ModelInput second = Ids(rest);
  second.memory = memory, second.memory_rows = 4;
  const auto logits_of_rest = Logits(shallow.get(), second);
  CHECK(LargestDifference(logits_of_rest, std::span(whole).subspan(4 * 11)) < kNear);
  CHECK(shallow->hidden_rows() == kLength);
  const auto picture = shallow->Attention(second, 0, AttentionKind::kSelf);
  REQUIRE(picture.ok());
  CHECK(picture->keys == kLength);
  for (int64_t row = 0; row < picture->heads * picture->queries; ++row) {
    double sum = 0;
    for (int64_t key = 0; key < picture->keys; ++key) sum += picture->weights[row * picture->keys + key];
    CHECK(sum == doctest::Approx(1).epsilon(1e-5));
  }
}

TEST_CASE("What is wrong is refused by name, and the model goes on") {
  Architecture architecture = SmallDecoder({"rope", {}});
  const auto model = Make(architecture);
  CHECK(model->Logits(Ids({1})).status().code() == Code::kState);
  const auto full = Filled(architecture);
  CHECK(full->Logits(Ids({1, 11})).status().argument() == "ids");
  CHECK(full->Logits(Ids({})).ok());
  ModelInput masked = Ids({1, 2});
  const std::vector<uint8_t> mask = {1};
  const std::vector<int32_t> ids = {1, 2};
  masked.ids = ids, masked.mask = mask;
  CHECK(full->Logits(masked).status().argument() == "attentionMask");
  CHECK(full->Append({}).status().argument() == "ids");
  CHECK(full->Truncate(1).argument() == "length");
  CHECK(full->Attention(Ids(ids), 2, AttentionKind::kSelf).status().argument() == "layer");
  CHECK(full->Attention(Ids(ids), 0, AttentionKind::kCross).status().argument() == "kind");
  const std::vector<float> two = {1, 2};
  CHECK(full->weights().Set("embedding.wieght", two, 0, false).suggestion() == "embedding.weight");
  CHECK(full->weights().Set("norm.gain", two, 7, false).code() == Code::kShape);
  CHECK(model->weights().Set("norm.gain", two, 2, false).code() == Code::kRange);

  const auto refused = [](Architecture changed) { return Transformer::Make(std::move(changed)).status().argument(); };
  architecture.decoder->key_value_heads = 3;
  CHECK(refused(architecture) == "architecture.decoder.keyValueHeads");
  architecture.decoder->key_value_heads = 2, architecture.decoder->windows = {1};
  CHECK(refused(architecture) == "architecture.decoder.window.length");
  architecture.decoder->windows = {0, 0}, architecture.decoder->feed_forward = int64_t{1} << 40;
  CHECK(refused(architecture) == "architecture.decoder.feedForward");
  architecture.decoder->feed_forward = 10, architecture.head->outputs = 12, architecture.head->tied = true;
  CHECK(refused(architecture) == "architecture.head.tied");
}
