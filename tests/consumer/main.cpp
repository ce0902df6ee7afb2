// SPDX-License-Identifier: MIT
// Causal attention under ALiBi, computed through the public headers and compared with the value worked by hand; and one
// wrong scheme object, whose message is printed.

#include <poslab/attention/attention.h>
#include <poslab/base/status_message.h>
#include <poslab/position/registry.h>
#include <cmath>
#include <cstdio>

int main() {
  constexpr int64_t kHeads = 1, kLength = 2, kWidth = 2;
  auto scheme = poslab::MakeScheme({.type = "alibi", .fields = {}});
  if (!scheme.ok()) return std::printf("%s\n", poslab::Message(scheme.status()).c_str()), 1;

  const poslab::Positions positions{.start = 0, .count = kLength};
  poslab::Hooks hooks;
  poslab::BindArguments bind;
  bind.dimensions = {.heads = kHeads, .head_dim = kWidth, .value_dim = kWidth};
  bind.query_positions = bind.key_positions = positions;
  bind.running_length = kLength;
  if (auto status = (*scheme)->Bind(bind, &hooks); !status.ok())
    return std::printf("%s\n", poslab::Message(status).c_str()), 1;

  // Queries of zeros: the weights come from the bias alone.
  const float query[kLength * kWidth] = {0, 0, 0, 0};
  const float value[kLength * kWidth] = {1, 0, 0, 1};
  float output[kLength * kWidth] = {};
  using View = poslab::HeadsView<const float>;
  poslab::AttentionArguments arguments;
  arguments.query = arguments.key = View::Packed(query, kHeads, kLength, kWidth);
  arguments.value = View::Packed(value, kHeads, kLength, kWidth);
  arguments.hooks = &hooks;
  arguments.query_positions = arguments.key_positions = positions;
  arguments.mask.causal = true;
  poslab::AttentionResults results;
  results.output = poslab::HeadsView<float>::Packed(output, kHeads, kLength, kWidth);
  poslab::AttentionWorkspace workspace;
  if (auto status = poslab::Attention(arguments, &results, &workspace); !status.ok()) {
    return std::printf("%s\n", poslab::Message(status).c_str()), 1;
  }

  // One head has the slope 2^-8: the second token sees the first at the logit -2^-8 and itself at 0.
  const double first = std::exp(-1.0 / 256) / (1 + std::exp(-1.0 / 256));
  const double error = std::fabs(output[2] - first) + std::fabs(output[3] - (1 - first)) + std::fabs(output[0] - 1.0);
  std::printf("ALiBi: weights %.6f %.6f, error %.1e\n", output[2], output[3], error);

  const auto wrong = poslab::MakeScheme({.type = "alibbi", .fields = {}});
  std::printf("alibbi: %s\n", poslab::Message(wrong.status()).c_str());
  return error < 1e-6 && !wrong.ok() ? 0 : 1;
}
