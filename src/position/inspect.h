// SPDX-License-Identifier: MIT
// Looking at a scheme: the tables, frequencies, rotated vectors, slopes, buckets and bias matrices that pages, case
// files and the package's calls show. Schemes are reached through their hooks only, never by name. Every size is
// checked in 64 bits before memory is asked for; kContradiction when the scheme has no such thing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "base/status.h"
#include "position/scheme.h"

namespace poslab::inspect {

// The learnable tensors of a scheme as training would start them in a model of these dimensions, drawn with this seed.
// Empty for schemes that learn nothing.
struct StartTensor {
  std::string name;
  std::vector<int64_t> shape;
  Buffer<float> values;
};
Result<std::vector<StartTensor>> StartParameters(const Scheme& scheme, const Dimensions& dimensions, uint64_t seed);

// p(start), ..., p(start + length - 1) of an embedding scheme. out: [length, dim]
Status Table(const Scheme& scheme, int64_t start, int64_t length, int64_t dim, ParameterValues parameters,
             Buffer<float>* out);

// Inverse frequencies [pairs] and the attention factor of a rotating scheme; `length` is the running length (largest
// position + 1) that dynamic and longrope look at.
struct FrequencyOptions {
  int64_t trained_length = 0;       // stands in for maxPositionEmbeddings; 0: not known
  ParameterValues parameters = {};  // learned frequencies; those that are not given are at their start
};
Result<FrequencyTable> Frequencies(const Scheme& scheme, int64_t head_dim, int64_t length,
                                   const FrequencyOptions& options = {});

struct RotateOptions {
  bool inverse = false;             // undoes the turn, and the attention factor
  int64_t running_length = 0;       // what dynamic and longrope look at; 0: the largest position + 1
  ParameterValues parameters = {};  // what the scheme learns
};
// x [heads, length, head_dim] turned by positions (positions.count == length). out: like x. Schemes that also change
// scores by distance (xpos) have no such per-token form in float32 and are refused.
Status Rotate(const Scheme& scheme, int64_t heads, int64_t length, int64_t head_dim, const float* x,
              Positions positions, Buffer<float>* out, const RotateOptions& options = {});

// The slope of each head, for schemes whose bias is -slope * |i - j|. [heads]
Result<Buffer<float>> Slopes(const Scheme& scheme, int64_t heads);

// The bucket of each distance j - i. out: like distances.
Status Buckets(const Scheme& scheme, std::span<const int64_t> distances, Buffer<int64_t>* out);

// Query i stands at i + (key_length - query_length) and key j at j unless ids are given.
struct BiasArguments {
  int64_t heads = 0, query_length = 0, key_length = 0;
  const int64_t* query_ids = nullptr;  // [query_length, query_axes] or null
  const int64_t* key_ids = nullptr;    // [key_length, key_axes] or null
  ParameterValues parameters;
  int64_t query_axes = 1, key_axes = 1;  // ids a token
};
// What the scheme adds to the logits, for schemes whose bias depends on head and positions only.
// out: [heads, query_length, key_length]
Status Bias(const Scheme& scheme, const BiasArguments& arguments, Buffer<float>* out);

}  // namespace poslab::inspect
