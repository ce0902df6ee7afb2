// SPDX-License-Identifier: MIT
// The made-up hooks of attention_support.h.
#include <algorithm>
#include <cmath>

#include "attention_support.h"

namespace poslab_test {

using poslab::Status;
using poslab::TileArguments;
using poslab::TileGradients;

namespace {

Learned Learn(std::string name, std::vector<float>& data, std::vector<double>& gradients) {
  gradients.assign(data.size(), 0.0);
  return {std::move(name), data.data(), static_cast<int64_t>(data.size()),
          [&gradients](int64_t n) { return gradients[static_cast<size_t>(n)]; }};
}

// Calls body(head slot, key, query, index of the logit).
template <typename Body>
void ForEachLogit(const TileArguments& tile, Body body) {
  for (int64_t h = 0; h < tile.heads; ++h)
    for (int64_t j = 0; j < tile.keys; ++j)
      for (int64_t i = 0; i < tile.queries; ++i) body(h, j, i, (h * tile.keys + j) * tile.stride + i);
}

double Position(const TileArguments& tile, int64_t query) {
  return static_cast<double>(tile.query_positions[tile.first_query + query]);
}
double KeyPosition(const TileArguments& tile, int64_t key) {
  return static_cast<double>(tile.key_positions[tile.first_key + key]);
}

}  // namespace

// ---- slices

TableSlice::TableSlice(Problem* problem, int64_t reach, uint32_t seed) : reach_(reach) {
  table_ = Values(seed).Fill(problem->shape().heads * (2 * reach + 1));
  problem->learned.push_back(Learn("slice table", table_, gradients_));
  problem->bias_magnitude += 1;
}

int64_t TableSlice::Row(int64_t head, int64_t distance) const {
  return head * (2 * reach_ + 1) + std::clamp(distance, -reach_, reach_) + reach_;
}

void TableSlice::Evaluate(int64_t head, int64_t first, int64_t count, float* bias) const {
  for (int64_t n = 0; n < count; ++n) bias[n] = table_[static_cast<size_t>(Row(head, first + n))];
}

void TableSlice::Accumulate(int64_t head, int64_t first, int64_t count, const double* gradient) {
  for (int64_t n = 0; n < count; ++n) gradients_[static_cast<size_t>(Row(head, first + n))] += gradient[n];
}

LogSlice::LogSlice(Problem* problem) {
  weights_ = Values(5).Fill(problem->shape().heads);
  problem->learned.push_back(Learn("slice weights", weights_, gradients_));
  problem->bias_magnitude += 20;
}

void LogSlice::Evaluate(int64_t head, int64_t first, int64_t count, float* bias) const {
  for (int64_t n = 0; n < count; ++n)
    bias[n] = static_cast<float>(-weights_[static_cast<size_t>(head)] *
                                 std::log1p(std::fabs(static_cast<double>(first + n))));
}

void LogSlice::Accumulate(int64_t head, int64_t first, int64_t count, const double* gradient) {
  for (int64_t n = 0; n < count; ++n)
    gradients_[static_cast<size_t>(head)] -= gradient[n] * std::log1p(std::fabs(static_cast<double>(first + n)));
}

SlopeSlice::SlopeSlice(Problem* problem, std::vector<float> slopes) : slopes_(std::move(slopes)) {
  const double steepest = *std::max_element(slopes_.begin(), slopes_.end());
  problem->bias_magnitude += steepest * static_cast<double>(problem->shape().queries + problem->shape().keys);
}

void SlopeSlice::Evaluate(int64_t head, int64_t first, int64_t count, float* bias) const {
  for (int64_t n = 0; n < count; ++n)
    bias[n] = -slopes_[static_cast<size_t>(head)] * static_cast<float>(std::abs(first + n));
}

// ---- tile hooks

namespace {

double Formula(const TileArguments& tile, int64_t query, int64_t key) {
  return std::sin(0.3 * Position(tile, query) + 1) * std::cos(0.2 * KeyPosition(tile, key));
}

}  // namespace

FormulaHook::FormulaHook(Problem* problem) {
  weights_ = Values(41).Fill(problem->shape().heads, 0.5f);
  problem->learned.push_back(Learn("formula weights", weights_, gradients_));
  problem->float_hook = true;
}

Status FormulaHook::Forward(const TileArguments& tile) const {
  ForEachLogit(tile, [&](int64_t h, int64_t j, int64_t i, int64_t at) {
    const double change = weights_[static_cast<size_t>(tile.head + h)] * Formula(tile, i, j);
    tile.logits[at] = static_cast<float>(tile.logits[at] * (1 + change) + change);
  });
  return Status::Ok();
}

Status FormulaHook::Backward(const TileArguments& tile, const TileGradients& gradients) {
  ForEachLogit(tile, [&](int64_t h, int64_t j, int64_t i, int64_t at) {
    const double f = Formula(tile, i, j), gradient = gradients.logits[at];
    const auto head = static_cast<size_t>(tile.head + h);
    gradients_[head] += gradient * f * (gradients.logits_before[at] + 1.0);
    gradients.logits[at] = static_cast<float>(gradient * (1 + weights_[head] * f));
  });
  return Status::Ok();
}

// The state is the sum of the gates after the tile's last key, up to the query's position.
Status ForgettingHook::Forward(const TileArguments& tile) const {
  for (int64_t h = 0; h < tile.heads; ++h) {
    for (int64_t i = 0; i < tile.queries; ++i) {
      float& sum = tile.state[h * tile.queries + i];
      for (int64_t j = tile.keys - 1; j >= 0; --j) {
        tile.logits[(h * tile.keys + j) * tile.stride + i] += sum;
        if (KeyPosition(tile, j) <= Position(tile, i))
          sum += tile.gates[h * tile.key_positions.count + tile.first_key + j];
      }
    }
  }
  return Status::Ok();
}

Status ForgettingHook::Backward(const TileArguments& tile, const TileGradients& gradients) {
  for (int64_t h = 0; h < tile.heads; ++h) {
    for (int64_t i = 0; i < tile.queries; ++i) {
      float& later = gradients.state[h * tile.queries + i];
      for (int64_t j = 0; j < tile.keys; ++j) {
        if (KeyPosition(tile, j) <= Position(tile, i))
          gradients.gates[h * tile.key_positions.count + tile.first_key + j] += later;
        later += gradients.logits[(h * tile.keys + j) * tile.stride + i];
      }
    }
  }
  return Status::Ok();
}

constexpr float kShare = 0.1f;

Status RunningHook::Forward(const TileArguments& tile) const {
  for (int64_t h = 0; h < tile.heads; ++h) {
    for (int64_t i = 0; i < tile.queries; ++i) {
      float& sum = tile.state[h * tile.queries + i];
      for (int64_t j = 0; j < tile.keys; ++j) {
        float& logit = tile.logits[(h * tile.keys + j) * tile.stride + i];
        sum += logit;
        logit += kShare * sum;
      }
    }
  }
  return Status::Ok();
}

Status RunningHook::Backward(const TileArguments& tile, const TileGradients& gradients) {
  for (int64_t h = 0; h < tile.heads; ++h) {
    for (int64_t i = 0; i < tile.queries; ++i) {
      float& sum = gradients.state[h * tile.queries + i];
      for (int64_t j = tile.keys - 1; j >= 0; --j) {
        float& gradient = gradients.logits[(h * tile.keys + j) * tile.stride + i];
        sum += kShare * gradient;
        gradient += sum;
      }
    }
  }
  return Status::Ok();
}

MixHook::MixHook(Problem* problem) {
  mix_ = Values(43).Fill(problem->shape().heads * problem->shape().heads);
  problem->learned.push_back(Learn("mix", mix_, gradients_));
  problem->float_hook = true;
  problem->bias_magnitude +=
      static_cast<double>(problem->shape().heads) * std::sqrt(static_cast<double>(problem->shape().dim));
}

Status MixHook::Forward(const TileArguments& tile) const {
  std::vector<float> before(static_cast<size_t>(tile.heads));
  const int64_t size = tile.keys * tile.stride;
  for (int64_t j = 0; j < tile.keys; ++j) {
    for (int64_t i = 0; i < tile.queries; ++i) {
      float* at = tile.logits + j * tile.stride + i;
      for (int64_t h = 0; h < tile.heads; ++h) before[static_cast<size_t>(h)] = at[h * size];
      for (int64_t h = 0; h < tile.heads; ++h) {
        double sum = 0;
        for (int64_t g = 0; g < tile.heads; ++g)
          sum += double{mix_[static_cast<size_t>(h * tile.heads + g)]} * before[static_cast<size_t>(g)];
        at[h * size] = static_cast<float>(sum);
      }
    }
  }
  return Status::Ok();
}

Status MixHook::Backward(const TileArguments& tile, const TileGradients& gradients) {
  std::vector<float> after(static_cast<size_t>(tile.heads));
  const int64_t size = tile.keys * tile.stride;
  for (int64_t j = 0; j < tile.keys; ++j) {
    for (int64_t i = 0; i < tile.queries; ++i) {
      const int64_t at = j * tile.stride + i;
      for (int64_t h = 0; h < tile.heads; ++h) after[static_cast<size_t>(h)] = gradients.logits[at + h * size];
      for (int64_t g = 0; g < tile.heads; ++g) {
        double sum = 0;
        for (int64_t h = 0; h < tile.heads; ++h) {
          const auto entry = static_cast<size_t>(h * tile.heads + g);
          sum += double{mix_[entry]} * after[static_cast<size_t>(h)];
          gradients_[entry] += double{after[static_cast<size_t>(h)]} * gradients.logits_before[at + g * size];
        }
        gradients.logits[at + g * size] = static_cast<float>(sum);
      }
    }
  }
  return Status::Ok();
}

Status DampedHook::Forward(const TileArguments& tile) const {
  ForEachLogit(tile, [&](int64_t h, int64_t j, int64_t i, int64_t at) {
    const float* query = tile.query + (h * tile.queries + i) * tile.head_dim;
    const float* key = tile.key + (h * tile.keys + j) * tile.head_dim;
    double sum = 0;
    for (int64_t d = 0; d < tile.head_dim; ++d) sum += double{query[d]} * key[d];
    tile.logits[at] = static_cast<float>(tile.scale * std::cos(0.1 * (Position(tile, i) - KeyPosition(tile, j))) * sum);
  });
  return Status::Ok();
}

Status DampedHook::Backward(const TileArguments& tile, const TileGradients& gradients) {
  ForEachLogit(tile, [&](int64_t h, int64_t j, int64_t i, int64_t at) {
    const int64_t query = (h * tile.queries + i) * tile.head_dim, key = (h * tile.keys + j) * tile.head_dim;
    const double factor =
        gradients.logits[at] * tile.scale * std::cos(0.1 * (Position(tile, i) - KeyPosition(tile, j)));
    if (factor == 0) return;
    for (int64_t d = 0; d < tile.head_dim; ++d) {
      gradients.query[query + d] += static_cast<float>(factor * tile.key[key + d]);
      gradients.key[key + d] += static_cast<float>(factor * tile.query[query + d]);
    }
  });
  return Status::Ok();
}

}  // namespace poslab_test
