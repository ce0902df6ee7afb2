// SPDX-License-Identifier: MIT
// The definition of attention with hooks, written down row by row. Shares no kernel with the engine.
#include "attention/reference.h"

#include <algorithm>
#include <cmath>

#include "attention/check.h"

namespace poslab {
namespace {

class Reference {
 public:
  Reference(const AttentionArguments& arguments, ReferenceResults* results)
      : a_(arguments), hooks_(arguments.hooks ? *arguments.hooks : none_), results_(results) {
    const auto width = static_cast<double>(hooks_.score_terms * a_.query.dim);
    scale_ = a_.scale ? static_cast<double>(*a_.scale) : 1 / std::sqrt(width);
  }
  Status Run();

 private:
  bool Sees(int64_t query, int64_t key) const;
  // Later than the query, or in a later document: in no state that is carried along its row.
  bool OutOfReach(int64_t query, int64_t key) const;
  // Row `index` of a head, turned.
  void Turned(const HeadsView<const float>& view, int64_t head, int64_t index, bool is_key, Buffer<double>* row) const;
  int64_t Distance(int64_t query, int64_t key) const { return a_.key_positions[key] - a_.query_positions[query]; }
  const float* BandRow(const Band& band, int64_t head, int64_t distance) const;
  void ContentRow(int64_t head, int64_t query);
  void AddBiases(int64_t head, int64_t query);
  Status HookRow(int64_t first_head, int64_t heads, int64_t query);
  void Softmax(int64_t head, int64_t query);

  int64_t Lk() const { return a_.key.length; }
  int64_t KeyHead(int64_t head) const { return head / (a_.query.heads / a_.key.heads); }
  double* Scores(int64_t head, int64_t query) {
    return results_->scores.data() + (head * a_.query.length + query) * Lk();
  }

  const AttentionArguments& a_;
  const Hooks none_;
  const Hooks& hooks_;
  ReferenceResults* results_;
  double scale_;
  Buffer<double> query_, key_;
};

bool Reference::OutOfReach(int64_t query, int64_t key) const {
  const bool bottom_right = a_.mask.alignment == Mask::Alignment::kBottomRight;
  const int64_t last = query + (bottom_right ? Lk() - a_.query.length : 0);
  if (a_.mask.causal && key > last) return true;
  return a_.mask.documents && last >= 0 && last < Lk() && a_.mask.documents[key] > a_.mask.documents[last];
}

bool Reference::Sees(int64_t query, int64_t key) const {
  const bool bottom_right = a_.mask.alignment == Mask::Alignment::kBottomRight;
  const int64_t last = query + (bottom_right ? Lk() - a_.query.length : 0);
  if (OutOfReach(query, key)) return false;
  if (a_.mask.window && last - key >= *a_.mask.window) return false;
  if (a_.mask.beyond && last - key < *a_.mask.beyond) return false;
  if (a_.mask.documents) {
    if (last < 0 || last >= Lk()) return false;
    if (a_.mask.documents[last] != a_.mask.documents[key]) return false;
  }
  return !a_.mask.key_mask || a_.mask.key_mask[key];
}

void Reference::Turned(const HeadsView<const float>& view, int64_t head, int64_t index, bool is_key,
                       Buffer<double>* row) const {
  for (int64_t d = 0; d < view.dim; ++d) (*row)[d] = view.row(head, index)[d];
  const Rotation* rotation = hooks_.rotation.get();
  if (!is_key && hooks_.temperature) {
    const Temperature& temperature = *hooks_.temperature;
    for (double& x : *row) x *= temperature.by_query[index] * (temperature.by_head ? temperature.by_head[head] : 1.0);
  }
  // To a tile hook that carries sums along a row a hidden key is a zero, whatever it holds.
  if (is_key && a_.mask.key_mask && !a_.mask.key_mask[index]) std::fill(row->begin(), row->end(), 0.0);
  if (!rotation) return;
  const bool key_table = is_key ? !rotation->key_cos.empty() : rotation->query_row_in_key >= 0;
  const int64_t table_row = !is_key && key_table ? index + rotation->query_row_in_key : index;
  const Buffer<float>& cos = key_table ? rotation->key_cos : rotation->query_cos;
  const Buffer<float>& sin = key_table ? rotation->key_sin : rotation->query_sin;
  for (int64_t k = 0; k < rotation->pairs; ++k) {
    const bool half = rotation->layout == Rotation::Layout::kHalf;
    double& x = (*row)[half ? k : 2 * k];
    double& y = (*row)[half ? k + rotation->pairs : 2 * k + 1];
    const double c = cos[table_row * rotation->pairs + k], s = sin[table_row * rotation->pairs + k];
    const double turned = x * c - y * s;
    y = y * c + x * s;
    x = turned;
  }
}

const float* Reference::BandRow(const Band& band, int64_t head, int64_t distance) const {
  const int64_t row = std::clamp(distance, band.first, band.first + band.rows - 1) - band.first;
  return band.table + ((band.per_head ? head * band.rows : 0) + row) * band.width;
}

// scale * (q + u) . k
void Reference::ContentRow(int64_t head, int64_t query) {
  Turned(a_.query, head, query, false, &query_);
  for (int64_t j = 0; j < Lk(); ++j) {
    Turned(a_.key, KeyHead(head), j, true, &key_);
    double sum = 0;
    for (int64_t d = 0; d < a_.query.dim; ++d)
      sum += (query_[d] + (hooks_.query_bias ? hooks_.query_bias[head * a_.query.dim + d] : 0)) * key_[d];
    Scores(head, query)[j] = scale_ * sum;
  }
}

// Slice and band; expects the turned query in query_.
void Reference::AddBiases(int64_t head, int64_t query) {
  for (int64_t j = 0; j < Lk(); ++j) {
    double& score = Scores(head, query)[j];
    if (hooks_.slice && !hooks_.slice->slopes().empty()) {
      score -= static_cast<double>(hooks_.slice->slopes()[static_cast<size_t>(head)]) *
               std::fabs(static_cast<double>(Distance(query, j)));
    } else if (hooks_.slice) {
      float bias;
      hooks_.slice->Evaluate(head, Distance(query, j), 1, &bias);
      score += bias;
    }
    for (const Band* band : {hooks_.score_band.get(), hooks_.key_band.get()}) {
      if (!band) continue;
      const float* relative = BandRow(*band, head, Distance(query, j));
      if (band->side == Band::Side::kKey) Turned(a_.key, KeyHead(head), j, true, &key_);
      double sum = 0;
      for (int64_t d = 0; d < band->width; ++d) {
        const double bias = band->bias ? band->bias[head * band->width + d] : 0;
        sum += (band->side == Band::Side::kKey ? key_[d] : query_[d] + bias) * relative[d];
      }
      score += scale_ * sum;
    }
  }
}

Status Reference::HookRow(int64_t first_head, int64_t heads, int64_t query) {
  const TileHook& hook = *hooks_.tile;
  const int64_t dim = a_.query.dim;
  Buffer<float> queries, keys, logits, state;
  POSLAB_RETURN_IF_ERROR(queries.Resize("reference", heads * dim));
  POSLAB_RETURN_IF_ERROR(keys.Resize("reference", heads * dim));
  POSLAB_RETURN_IF_ERROR(logits.Resize("reference", heads));
  POSLAB_RETURN_IF_ERROR(state.Resize("reference", heads * hook.state_size()));
  TileArguments tile;
  tile.head = first_head, tile.heads = heads;
  tile.first_query = query, tile.queries = 1, tile.keys = 1;
  tile.query_positions = a_.query_positions, tile.key_positions = a_.key_positions;
  tile.query = queries.data(), tile.key = keys.data(), tile.head_dim = dim;
  tile.scale = static_cast<float>(scale_);
  tile.key_mask = a_.mask.key_mask;
  tile.gates = a_.gates ? a_.gates + first_head * Lk() : nullptr;
  tile.logits = logits.data(), tile.stride = 1, tile.state = state.data();
  const int64_t reach = Lk();
  tile.reach = &reach;
  for (int64_t n = 0; n < Lk(); ++n) {
    const int64_t j = hook.descending() ? Lk() - 1 - n : n;
    if (OutOfReach(query, j)) continue;
    tile.first_key = j;
    for (int64_t h = 0; h < heads; ++h) {
      Turned(a_.query, first_head + h, query, false, &query_);
      Turned(a_.key, KeyHead(first_head + h), j, true, &key_);
      for (int64_t d = 0; d < dim; ++d) {
        queries[h * dim + d] = static_cast<float>(query_[d]);
        keys[h * dim + d] = static_cast<float>(key_[d]);
      }
      logits[h] = static_cast<float>(Scores(first_head + h, query)[j]);
    }
    POSLAB_RETURN_IF_ERROR(hook.Forward(tile));
    for (int64_t h = 0; h < heads; ++h) Scores(first_head + h, query)[j] = logits[h];
  }
  return Status::Ok();
}

void Reference::Softmax(int64_t head, int64_t query) {
  const int64_t row = head * a_.query.length + query, dim = a_.value.dim;
  double* scores = Scores(head, query);
  double* weights = results_->weights.data() + row * Lk();
  double largest = a_.sinks ? a_.sinks[head] : -INFINITY, sum = 0;
  for (int64_t j = 0; j < Lk(); ++j) {
    if (!Sees(query, j)) scores[j] = -INFINITY;
    largest = std::max(largest, scores[j]);
  }
  results_->log_sum_exp[row] = -INFINITY;
  if (largest == -INFINITY) return;
  if (a_.sinks) sum = std::exp(a_.sinks[head] - largest);
  for (int64_t j = 0; j < Lk(); ++j) sum += weights[j] = std::exp(scores[j] - largest);
  results_->log_sum_exp[row] = largest + std::log(sum);
  for (int64_t j = 0; j < Lk(); ++j) {
    weights[j] /= sum;
    if (!Sees(query, j)) continue;
    const float* value = a_.value.row(KeyHead(head), j);
    const float* relative = hooks_.value_band ? BandRow(*hooks_.value_band, head, Distance(query, j)) : nullptr;
    for (int64_t d = 0; d < dim; ++d)
      results_->output[row * dim + d] += weights[j] * (static_cast<double>(value[d]) + (relative ? relative[d] : 0));
  }
}

Status Reference::Run() {
  const int64_t heads = a_.query.heads, queries = a_.query.length;
  POSLAB_RETURN_IF_ERROR(results_->output.Resize("reference", heads * queries * a_.value.dim));
  POSLAB_RETURN_IF_ERROR(results_->log_sum_exp.Resize("reference", heads * queries));
  POSLAB_RETURN_IF_ERROR(results_->weights.Resize("reference", heads * queries * Lk()));
  POSLAB_RETURN_IF_ERROR(results_->scores.Resize("reference", heads * queries * Lk()));
  POSLAB_RETURN_IF_ERROR(query_.Resize("reference", a_.query.dim));
  POSLAB_RETURN_IF_ERROR(key_.Resize("reference", a_.query.dim));
  const bool replaces = hooks_.tile && hooks_.tile->replaces_content();
  const int64_t group = hooks_.tile && hooks_.tile->all_heads() ? heads : 1;
  for (int64_t first = 0; first < heads; first += group) {
    for (int64_t i = 0; i < queries; ++i) {
      for (int64_t h = first; h < first + group; ++h) ContentRow(h, i);
      if (replaces) POSLAB_RETURN_IF_ERROR(HookRow(first, group, i));
      for (int64_t h = first; h < first + group; ++h) {
        Turned(a_.query, h, i, false, &query_);
        AddBiases(h, i);
      }
      if (hooks_.tile && !replaces) POSLAB_RETURN_IF_ERROR(HookRow(first, group, i));
      for (int64_t h = first; h < first + group; ++h) Softmax(h, i);
    }
  }
  return Status::Ok();
}

void Round(const Buffer<double>& from, float* to) {
  if (!to) return;
  for (int64_t n = 0; n < from.size(); ++n) to[n] = static_cast<float>(from[n]);
}

}  // namespace

Status AttentionReference(const AttentionArguments& arguments, ReferenceResults* results) {
  POSLAB_RETURN_IF_ERROR(CheckAttention(arguments));
  return Reference(arguments, results).Run();
}

Status AttentionReference(const AttentionArguments& arguments, AttentionResults* results) {
  POSLAB_RETURN_IF_ERROR(CheckResults(arguments, *results));
  ReferenceResults reference;
  POSLAB_RETURN_IF_ERROR(AttentionReference(arguments, &reference));
  const HeadsView<float>& output = results->output;
  for (int64_t h = 0; h < output.heads; ++h)
    for (int64_t n = 0; n < output.length; ++n)
      for (int64_t d = 0; d < output.dim; ++d)
        output.row(h, n)[d] = static_cast<float>(reference.output[(h * output.length + n) * output.dim + d]);
  Round(reference.log_sum_exp, results->log_sum_exp);
  Round(reference.weights, results->weights);
  Round(reference.scores, results->scores);
  return Status::Ok();
}

}  // namespace poslab
