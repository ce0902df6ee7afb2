// SPDX-License-Identifier: MIT
// The transformer written a second time, plainly and in double, without positions: what the model's loss and gradients
// are tested against. It reads the weights by their names.
#pragma once

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "model/model.h"

namespace poslab_test {

class ReferenceModel {
 public:
  using Rows = std::vector<std::vector<double>>;

  // `weights` in the layout of `parameters`; both must outlive this.
  ReferenceModel(const poslab::ModelDescription& description, std::span<const poslab::ParameterInfo> parameters,
                 const std::vector<double>& weights)
      : d_(description), parameters_(parameters), weights_(weights) {}

  // Mean cross-entropy over the places whose target is not -1.
  double Loss(std::span<const int32_t> ids, std::span<const int32_t> targets, int64_t batch, int64_t length) const {
    double sum = 0;
    int64_t scored = 0;
    for (int64_t b = 0; b < batch; ++b) {
      const Rows logits = Logits(ids.subspan(b * length, length));
      for (int64_t i = 0; i < length; ++i) {
        const int32_t target = targets[b * length + i];
        if (target < 0) continue;
        double total = 0;
        for (double logit : logits[i]) total += std::exp(logit);
        sum += std::log(total) - logits[i][target];
        ++scored;
      }
    }
    return sum / static_cast<double>(scored);
  }

  Rows Logits(std::span<const int32_t> ids) const {
    const bool pre = d_.norm_placement == poslab::ModelDescription::NormPlacement::kPre;
    const double* table = Find("embedding.weight");
    Rows x(ids.size(), std::vector<double>(d_.dim));
    for (size_t i = 0; i < ids.size(); ++i)
      for (int64_t n = 0; n < d_.dim; ++n) x[i][n] = table[ids[i] * d_.dim + n];
    for (int64_t layer = 0; layer < d_.layers; ++layer) {
      const std::string block = "blocks." + std::to_string(layer);
      const auto norm1 = [&](const Rows& rows) { return Norm(block + ".norm1", rows); };
      const auto norm2 = [&](const Rows& rows) { return Norm(block + ".norm2", rows); };
      const auto attention = [&](const Rows& rows) { return Attention(block + ".attention", rows); };
      const auto feed_forward = [&](const Rows& rows) { return FeedForward(block + ".feedForward", rows); };
      if (pre && d_.parallel) {
        const Rows normed = norm1(x);
        x = Sum(Sum(x, attention(normed)), feed_forward(normed));
      } else if (pre) {
        x = Sum(x, attention(norm1(x)));
        x = Sum(x, feed_forward(norm2(x)));
      } else if (d_.parallel) {
        x = norm1(Sum(Sum(x, attention(x)), feed_forward(x)));
      } else {
        x = norm1(Sum(x, attention(x)));
        x = norm2(Sum(x, feed_forward(x)));
      }
    }
    if (pre) x = Norm("norm", x);
    return Linear(d_.tied ? "embedding" : "head", x);
  }

 private:
  const double* Find(const std::string& name, int64_t* rows = nullptr) const {
    for (const poslab::ParameterInfo& info : parameters_)
      if (info.name == name) {
        if (rows) *rows = info.shape[0];
        return weights_.data() + info.offset;
      }
    return nullptr;
  }

  static Rows Sum(Rows a, const Rows& b) {
    for (size_t i = 0; i < a.size(); ++i)
      for (size_t n = 0; n < a[i].size(); ++n) a[i][n] += b[i][n];
    return a;
  }

  Rows Linear(const std::string& name, const Rows& x) const {
    int64_t outputs = 0;
    const double* weight = Find(name + ".weight", &outputs);
    const double* bias = Find(name + ".bias");
    Rows y(x.size(), std::vector<double>(outputs));
    for (size_t i = 0; i < x.size(); ++i)
      for (int64_t o = 0; o < outputs; ++o) {
        double sum = bias ? bias[o] : 0;
        for (size_t n = 0; n < x[i].size(); ++n) sum += weight[o * static_cast<int64_t>(x[i].size()) + n] * x[i][n];
        y[i][o] = sum;
      }
    return y;
  }

  Rows Norm(const std::string& name, const Rows& x) const {
    const double* gain = Find(name + ".gain");
    const double* bias = Find(name + ".bias");
    Rows y = x;
    for (std::vector<double>& row : y) {
      const double width = static_cast<double>(row.size());
      double mean = 0, square = 0;
      if (d_.norm == poslab::ModelDescription::Norm::kLayer)
        for (double v : row) mean += v / width;
      for (double v : row) square += (v - mean) * (v - mean) / width;
      for (size_t n = 0; n < row.size(); ++n)
        row[n] = (row[n] - mean) / std::sqrt(square + 1e-5) * gain[n] + (bias ? bias[n] : 0);
    }
    return y;
  }

  Rows Attention(const std::string& name, const Rows& x) const {
    const Rows q = Linear(name + ".query", x), k = Linear(name + ".key", x), v = Linear(name + ".value", x);
    const int64_t group = d_.heads / d_.key_value_heads, dim = d_.head_dim;
    Rows joined(x.size(), std::vector<double>(d_.heads * dim, 0.0));
    for (int64_t h = 0; h < d_.heads; ++h)
      for (size_t i = 0; i < x.size(); ++i) {
        std::vector<double> weights(i + 1, 0.0);
        double total = 0;
        for (size_t j = 0; j <= i; ++j) {
          for (int64_t n = 0; n < dim; ++n) weights[j] += q[i][h * dim + n] * k[j][h / group * dim + n];
          weights[j] = std::exp(weights[j] / std::sqrt(static_cast<double>(dim)));
          total += weights[j];
        }
        for (size_t j = 0; j <= i; ++j)
          for (int64_t n = 0; n < dim; ++n) joined[i][h * dim + n] += weights[j] / total * v[j][h / group * dim + n];
      }
    return Linear(name + ".output", joined);
  }

  double Activate(double x) const {
    using Activation = poslab::ModelDescription::Activation;
    if (d_.activation == Activation::kRelu) return x > 0 ? x : 0;
    if (d_.activation == Activation::kSilu) return x / (1 + std::exp(-x));
    return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
  }

  Rows FeedForward(const std::string& name, const Rows& x) const {
    Rows hidden = Linear(name + ".in", x);
    if (d_.gated) {
      const Rows gate = Linear(name + ".gate", x);
      for (size_t i = 0; i < x.size(); ++i)
        for (size_t n = 0; n < hidden[i].size(); ++n) hidden[i][n] *= Activate(gate[i][n]);
    } else {
      for (std::vector<double>& row : hidden)
        for (double& v : row) v = Activate(v);
    }
    return Linear(name + ".out", hidden);
  }

  const poslab::ModelDescription& d_;
  std::span<const poslab::ParameterInfo> parameters_;
  const std::vector<double>& weights_;
};

}  // namespace poslab_test
