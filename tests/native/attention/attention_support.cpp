// SPDX-License-Identifier: MIT
#include "attention_support.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

namespace poslab_test {

using poslab::AttentionArguments;
using poslab::AttentionResults;
using poslab::Band;
using poslab::HeadsView;
using poslab::Positions;
using poslab::ReferenceResults;
using poslab::Rotation;

Problem::Problem(Shape shape, uint32_t seed) : shape_(shape) {
  Values values(seed);
  query = values.Fill(shape.heads * shape.queries * shape.dim);
  key = values.Fill(shape.key_value_heads * shape.keys * shape.dim);
  value = values.Fill(shape.key_value_heads * shape.keys * shape.value_dim);
}

void Problem::Interleave(int64_t pad, int64_t shift) {
  interleaved_ = true, pad_ = pad, shift_ = shift;
  const auto move = [&](std::vector<float>& data, int64_t heads, int64_t length, int64_t dim) {
    std::vector<float> moved(static_cast<size_t>(shift + length * (heads * dim + pad)), 99.0f);
    const HeadsView<float> from = HeadsView<float>::Packed(data.data(), heads, length, dim),
                           to = View(moved, heads, length, dim);
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t n = 0; n < length; ++n) std::copy_n(from.row(h, n), dim, to.row(h, n));
    data = moved;
  };
  move(query, shape_.heads, shape_.queries, shape_.dim);
  move(key, shape_.key_value_heads, shape_.keys, shape_.dim);
  move(value, shape_.key_value_heads, shape_.keys, shape_.value_dim);
}

HeadsView<float> Problem::View(std::vector<float>& data, int64_t heads, int64_t length, int64_t dim) const {
  if (!interleaved_) return HeadsView<float>::Packed(data.data(), heads, length, dim);
  return {data.data() + shift_, heads, length, dim, dim, heads * dim + pad_};
}

void Problem::SetPositions(std::vector<int64_t> queries, std::vector<int64_t> keys) {
  query_ids_ = std::move(queries), key_ids_ = std::move(keys);
}

void Problem::SetKeyMask(std::vector<uint8_t> mask) { key_mask_ = std::move(mask); }

void Problem::SetGates() {
  gates = Values(11).Fill(shape_.heads * shape_.keys, 0.25f);
  gate_gradients.assign(gates.size(), 0.0f);
}

void Problem::SetSinks() {
  sinks = Values(13).Fill(shape_.heads);
  sink_gradients.assign(sinks.size(), 0.0f);
}

void Problem::AddKeyBand(int64_t first, int64_t rows) {
  hooks.key_band = std::make_unique<Band>();
  key_table = Values(47).Fill(shape_.heads * rows * shape_.dim);
  Band& band = *hooks.key_band;
  band.side = Band::Side::kKey, band.first = first, band.rows = rows, band.width = shape_.dim, band.per_head = true;
  band.table = key_table.data();
  bias_magnitude += 2 * std::sqrt(static_cast<double>(shape_.dim));
}

void Problem::AddTemperature(bool by_head) {
  hooks.temperature = std::make_unique<poslab::Temperature>();
  REQUIRE(hooks.temperature->by_query.Resize("test", shape_.queries).ok());
  for (int64_t n = 0; n < shape_.queries; ++n) hooks.temperature->by_query[n] = 1 + 0.25f * static_cast<float>(n % 5);
  if (by_head) temperatures = Values(53).Fill(shape_.heads);
  if (by_head) hooks.temperature->by_head = temperatures.data();
  bias_magnitude += 2 * std::sqrt(static_cast<double>(shape_.dim));
}

void Problem::AddRotation(Rotation::Layout layout, int64_t pairs, bool shared) {
  auto rotation = std::make_unique<Rotation>();
  rotation->layout = layout;
  rotation->pairs = pairs;
  const auto fill = [&](const Positions& positions, poslab::Buffer<float>* cos, poslab::Buffer<float>* sin) {
    REQUIRE(cos->Resize("cos", positions.count * pairs).ok());
    REQUIRE(sin->Resize("sin", positions.count * pairs).ok());
    for (int64_t n = 0; n < positions.count; ++n) {
      for (int64_t k = 0; k < pairs; ++k) {
        const double angle = static_cast<double>(positions[n]) / std::pow(3.0, static_cast<double>(k));
        (*cos)[n * pairs + k] = static_cast<float>(1.25 * std::cos(angle));  // with a factor, as YaRN has
        (*sin)[n * pairs + k] = static_cast<float>(1.25 * std::sin(angle));
      }
    }
  };
  const AttentionArguments a = arguments();
  fill(a.key_positions, &rotation->key_cos, &rotation->key_sin);
  if (shared)
    rotation->query_row_in_key = shape_.keys - shape_.queries;
  else
    fill(a.query_positions, &rotation->query_cos, &rotation->query_sin);
  hooks.rotation = std::move(rotation);
  bias_magnitude += 1;  // 1.25^2 on the content
}

void Problem::AddScoreBand(Band::Side side, int64_t first, int64_t rows, bool per_head, bool bias) {
  auto band = std::make_unique<Band>();
  score_table = Values(17).Fill((per_head ? shape_.heads : 1) * rows * shape_.dim);
  if (bias) score_bias = Values(19).Fill(shape_.heads * shape_.dim);
  band->side = side, band->first = first, band->rows = rows, band->width = shape_.dim, band->per_head = per_head;
  band->table = score_table.data();
  band->bias = bias ? score_bias.data() : nullptr;
  hooks.score_band = std::move(band);
  bias_magnitude += 2 * std::sqrt(static_cast<double>(shape_.dim));
}

void Problem::AddValueBand(int64_t first, int64_t rows, bool per_head) {
  auto band = std::make_unique<Band>();
  value_table = Values(23).Fill((per_head ? shape_.heads : 1) * rows * shape_.value_dim);
  band->first = first, band->rows = rows, band->width = shape_.value_dim, band->per_head = per_head;
  band->table = value_table.data();
  hooks.value_band = std::move(band);
}

void Problem::AddQueryBias() {
  query_bias = Values(29).Fill(shape_.heads * shape_.dim);
  hooks.query_bias = query_bias.data();
  bias_magnitude += std::sqrt(static_cast<double>(shape_.dim));
}

AttentionArguments Problem::arguments() const {
  AttentionArguments a;
  auto& self = const_cast<Problem&>(*this);
  const auto view = [&](std::vector<float>& data, int64_t heads, int64_t length, int64_t dim) {
    const HeadsView<float> v = View(data, heads, length, dim);
    return HeadsView<const float>{v.data, v.heads, v.length, v.dim, v.head_stride, v.row_stride};
  };
  a.query = view(self.query, shape_.heads, shape_.queries, shape_.dim);
  a.key = view(self.key, shape_.key_value_heads, shape_.keys, shape_.dim);
  a.value = view(self.value, shape_.key_value_heads, shape_.keys, shape_.value_dim);
  a.hooks = &hooks;
  a.query_positions = poslab::DefaultQueryPositions(shape_.queries, shape_.keys, mask.alignment);
  a.key_positions = {0, shape_.keys, nullptr};
  if (!query_ids_.empty()) a.query_positions.ids = query_ids_.data();
  if (!key_ids_.empty()) a.key_positions.ids = key_ids_.data();
  a.mask = mask;
  if (!key_mask_.empty()) a.mask.key_mask = key_mask_.data();
  a.scale = scale;
  if (!gates.empty()) a.gates = gates.data();
  if (!sinks.empty()) a.sinks = sinks.data();
  return a;
}

namespace {

// |error| of a score: a sum of D products of terms up to 1 and the additions after it, each rounding 2^-24 of what it
// rounds; roundings are taken as independent, so that n of them count 2 sqrt(n).
double ScoreTolerance(const Problem& problem) {
  const auto dim = static_cast<double>(problem.shape().dim);
  const double scale = problem.scale ? std::fabs(*problem.scale) : 1 / std::sqrt(dim);
  return std::ldexp(1.0, -24) * (2 * std::sqrt(dim) + 6) * (scale * dim + problem.bias_magnitude);
}

// |error| of an output whose values reach 1 (2 with a value band): weights are off by the error of two scores, the
// exponential twice, and sums over the keys.
double OutputTolerance(const Problem& problem) {
  const auto keys = static_cast<double>(std::max<int64_t>(1, problem.shape().keys));
  const double relative = 2 * ScoreTolerance(problem) + 2 * 2.7e-7 + std::ldexp(1.0, -24) * (4 * std::sqrt(keys) + 8);
  return (problem.hooks.value_band ? 2 : 1) * relative;
}

// Largest |got - expected|; infinite and NaN entries must agree exactly.
template <typename Get>
double LargestDifference(const poslab::Buffer<double>& expected, Get got) {
  double largest = 0;
  for (int64_t n = 0; n < expected.size(); ++n) {
    const double value = got(n);
    if (std::isfinite(expected[n]))
      largest = std::isfinite(value) ? std::max(largest, std::fabs(value - expected[n])) : INFINITY;
    else if (!(value == expected[n] || (std::isnan(value) && std::isnan(expected[n]))))
      largest = INFINITY;
    if (largest == INFINITY) break;
  }
  return largest;
}

double Loss(const Problem& problem, const std::vector<float>& output_gradient) {
  ReferenceResults results;
  REQUIRE(poslab::AttentionReference(problem.arguments(), &results).ok());
  double loss = 0;
  for (int64_t n = 0; n < results.output.size(); ++n)
    loss += results.output[n] * output_gradient[static_cast<size_t>(n)];
  return loss;
}

}  // namespace

void CheckForward(const Problem& problem) {
  const Shape& s = problem.shape();
  CAPTURE(s.heads);
  CAPTURE(s.queries);
  CAPTURE(s.keys);
  CAPTURE(s.dim);
  CAPTURE(s.value_dim);
  const AttentionArguments arguments = problem.arguments();
  ReferenceResults expected;
  REQUIRE(poslab::AttentionReference(arguments, &expected).ok());

  std::vector<float> output(static_cast<size_t>(expected.output.size()) + 16, 55.0f);
  std::vector<float> log_sum_exp(static_cast<size_t>(expected.log_sum_exp.size()));
  std::vector<float> weights(static_cast<size_t>(expected.weights.size())), scores(weights.size());
  poslab::AttentionWorkspace workspace;
  AttentionResults results;
  results.output = problem.View(output, s.heads, s.queries, s.value_dim);
  std::vector<float> packed(static_cast<size_t>(expected.output.size()));
  if (results.output.row_stride != s.value_dim) {  // room for the padding of interleaved rows
    output.assign(
        output.size() + static_cast<size_t>(s.queries * (results.output.row_stride - s.heads * s.value_dim) + 64),
        55.0f);
    results.output = problem.View(output, s.heads, s.queries, s.value_dim);
  }
  results.log_sum_exp = log_sum_exp.data();
  results.weights = weights.data();
  results.scores = scores.data();
  REQUIRE(poslab::Attention(arguments, &results, &workspace).ok());

  const double score_tolerance = ScoreTolerance(problem);
  CHECK(LargestDifference(expected.output, [&](int64_t n) {
          const int64_t d = n % s.value_dim, row = n / s.value_dim;
          return results.output.row(row / s.queries, row % s.queries)[d];
        }) <= OutputTolerance(problem));
  CHECK(LargestDifference(expected.weights, [&](int64_t n) { return weights[static_cast<size_t>(n)]; }) <=
        OutputTolerance(problem));
  CHECK(LargestDifference(expected.scores, [&](int64_t n) { return scores[static_cast<size_t>(n)]; }) <=
        score_tolerance);
  CHECK(LargestDifference(expected.log_sum_exp, [&](int64_t n) { return log_sum_exp[static_cast<size_t>(n)]; }) <=
        score_tolerance + OutputTolerance(problem));
  // Nothing outside the output is written.
  const int64_t used = std::count(output.begin(), output.end(), 55.0f);
  CHECK(used == static_cast<int64_t>(output.size()) - expected.output.size());

  // The same without the extras, and again with the same workspace.
  std::vector<float> plain(output.size(), 55.0f);
  AttentionResults again;
  again.output = problem.View(plain, s.heads, s.queries, s.value_dim);
  REQUIRE(poslab::Attention(arguments, &again, &workspace).ok());
  int64_t different = 0;
  for (size_t n = 0; n < plain.size(); ++n)
    different += !(plain[n] == output[n] || (std::isnan(plain[n]) && std::isnan(output[n])));
  CHECK(different == 0);
}

void CheckBackward(Problem& problem, int samples) {
  const Shape& s = problem.shape();
  CAPTURE(s.heads);
  CAPTURE(s.queries);
  CAPTURE(s.keys);
  CAPTURE(s.dim);
  CAPTURE(s.value_dim);
  const AttentionArguments arguments = problem.arguments();
  const int64_t rows = s.heads * s.queries;
  std::vector<float> output(static_cast<size_t>(rows * s.value_dim)), log_sum_exp(static_cast<size_t>(rows));
  const std::vector<float> output_gradient = Values(31).Fill(rows * s.value_dim);
  poslab::AttentionWorkspace workspace;
  AttentionResults results;
  results.output = HeadsView<float>::Packed(output.data(), s.heads, s.queries, s.value_dim);
  results.log_sum_exp = log_sum_exp.data();
  REQUIRE(poslab::Attention(arguments, &results, &workspace).ok());

  std::vector<float> query(problem.query.size()), key(problem.key.size()), value(problem.value.size());
  poslab::HookGradients hooks;
  poslab::AttentionGradientArguments forward;
  forward.output = HeadsView<const float>::Packed(output.data(), s.heads, s.queries, s.value_dim);
  forward.log_sum_exp = log_sum_exp.data();
  forward.output_gradient = HeadsView<const float>::Packed(output_gradient.data(), s.heads, s.queries, s.value_dim);
  poslab::AttentionGradients gradients;
  gradients.query = problem.View(query, s.heads, s.queries, s.dim);
  gradients.key = problem.View(key, s.key_value_heads, s.keys, s.dim);
  gradients.value = problem.View(value, s.key_value_heads, s.keys, s.value_dim);
  gradients.hooks = &hooks;
  if (!problem.gates.empty()) {
    std::fill(problem.gate_gradients.begin(), problem.gate_gradients.end(), 0.0f);
    gradients.gates = problem.gate_gradients.data();
  }
  if (!problem.sinks.empty()) {
    std::fill(problem.sink_gradients.begin(), problem.sink_gradients.end(), 0.0f);
    gradients.sinks = problem.sink_gradients.data();
  }
  REQUIRE(poslab::AttentionBackward(arguments, forward, &gradients, &workspace).ok());

  std::vector<Learned> all;
  const auto add = [&](const char* name, std::vector<float>& data, const float* gradient) {
    if (!data.empty())
      all.push_back({name, data.data(), static_cast<int64_t>(data.size()),
                     [gradient](int64_t n) { return double{gradient[n]}; }});
  };
  add("query", problem.query, query.data());
  add("key", problem.key, key.data());
  add("value", problem.value, value.data());
  add("score table", problem.score_table, hooks.score_band_table.data());
  add("score bias", problem.score_bias, hooks.score_band_bias.data());
  add("value table", problem.value_table, hooks.value_band_table.data());
  add("query bias", problem.query_bias, hooks.query_bias.data());
  add("gates", problem.gates, problem.gate_gradients.data());
  add("sinks", problem.sinks, problem.sink_gradients.data());
  add("key table", problem.key_table, hooks.key_band_table.data());
  if (!problem.temperatures.empty())
    all.push_back({"temperatures", problem.temperatures.data(), static_cast<int64_t>(problem.temperatures.size()),
                   [&hooks](int64_t n) { return hooks.temperature[n]; }});
  all.insert(all.end(), problem.learned.begin(), problem.learned.end());

  // Central differences with a step of 2^-7 are off by step^2 / 6 of a third derivative, which is at most the gradient's
  // own size here; a tile hook rounds its logits to float, 2^-24 of each, which the step divides.
  const double step = std::ldexp(1.0, -7);
  Values places(37);
  for (Learned& tensor : all) {
    CAPTURE(tensor.name);
    double largest = 1;
    for (int64_t n = 0; n < tensor.count; ++n) largest = std::max(largest, std::fabs(tensor.gradient(n)));
    const double tolerance = largest * (step * step / 6 * 4 + 40 * OutputTolerance(problem)) +
                             (problem.float_hook ? ScoreTolerance(problem) / step : 0);
    const int64_t count = std::min<int64_t>(samples, tensor.count);
    const auto loss = [&] {
      if (problem.rebind) problem.rebind();
      return Loss(problem, output_gradient);
    };
    for (int64_t m = 0; m < count; ++m) {
      const int64_t n = count == tensor.count ? m : places.Below(static_cast<uint32_t>(tensor.count));
      const float kept = tensor.data[n];
      tensor.data[n] = static_cast<float>(kept + step);
      const double above = loss();
      tensor.data[n] = static_cast<float>(kept - step);
      const double below = loss();
      tensor.data[n] = kept;
      CAPTURE(n);
      CHECK(std::fabs(tensor.gradient(n) - (above - below) / (2 * step)) <= tolerance);
    }
  }
}

}  // namespace poslab_test
