// SPDX-License-Identifier: MIT
// The hooks of attention, and the one interface that every positional encoding fills in. A scheme knows its formula and
// nothing of SIMD, threads, masks or training; the attention engine knows the hooks and no scheme by name.
//
//   embedding  adds p(i) to the token's vector before the first layer
//   rotation   turns q(i) and k(j), each by its own position
//   score      slice: b_h(j - i) | band: q(i) . r(j - i) | tile: any change of the logits of one tile
//   value      adds sum_j a_ij r'(j - i) to the output (a band)
//
// Life of a scheme: Make (registry.h) checks the description; Parameters says which learnable tensors it has; Bind
// turns positions and parameter values into Hooks for one call; the engine runs, and in training fills HookGradients;
// Pull turns those into gradients of the parameters.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "base/status.h"
#include "position/description.h"

namespace poslab {

// What surrounds a scheme. Zero means "not known here": a scheme that needs it returns kMissing.
struct Dimensions {
  int64_t heads = 0;
  int64_t head_dim = 0;        // width of a query and key head
  int64_t value_dim = 0;       // width of a value head
  int64_t model_dim = 0;       // width of a token's vector
  int64_t trained_length = 0;  // L of an experiment: default for `maxPositionEmbeddings`, learned rows, scalings
  int64_t layer = 0;           // of a model, from 0
};

// Position ids: `start` + index, or `ids` (which then holds `count` of them). Ids are integers. Tokens on a grid or in a
// film have one id an axis: `ids` is then [count, axes], and only schemes that say so take them (CheckPositions).
struct Positions {
  int64_t start = 0;
  int64_t count = 0;
  const int64_t* ids = nullptr;
  int64_t axes = 1;
  int64_t operator[](int64_t index) const { return ids ? ids[index * axes] : start + index; }  // of the first axis
  // One id a token is that of every axis.
  int64_t At(int64_t index, int64_t axis) const { return ids && axes > 1 ? ids[index * axes + axis] : (*this)[index]; }
  bool contiguous() const { return ids == nullptr; }
  int64_t Largest() const;  // of all axes; -1 when count is 0
};

// How a learnable tensor starts.
struct Start {
  enum class Kind { kNormal, kUniform, kConstant } kind = Kind::kConstant;
  double a = 0;  // standard deviation | lower end | the constant
  double b = 0;  // | upper end |
};

// A learnable tensor of a scheme. In weight files it is "position.<name>" when all layers share it and
// "blocks.<i>.position.<name>" otherwise.
struct ParameterSpec {
  std::string name;  // "table", "keys", "projection", ...
  std::vector<int64_t> shape;
  Start start;
  bool decay = false;  // weight decay applies
  bool shared_by_layers = false;
  float minimum = -INFINITY;  // kept at or above this after every update
};

// The value (or gradient) of a learnable tensor.
template <typename T>
struct TensorView {
  std::string_view name;
  T* data = nullptr;
  std::vector<int64_t> shape;
  int64_t size() const {
    int64_t n = 1;
    for (int64_t extent : shape) n *= extent;
    return n;
  }
};
using ParameterValues = std::span<const TensorView<const float>>;
using ParameterGradients = std::span<const TensorView<float>>;  // accumulated into

// ---------------------------------------------------------------------------------------------------- hooks

// Rotation: pair k of a row is turned by the angle of its position; cos and sin (attention factor included) come as
// float tables, computed in double. Lanes from 2 * pairs on stay as they are.
//   half:        pair k is lanes (k, k + pairs)            interleaved: pair k is lanes (2k, 2k + 1)
struct Rotation {
  enum class Layout { kHalf, kInterleaved } layout = Layout::kHalf;
  int64_t pairs = 0;
  std::vector<uint8_t> axes;           // [pairs]: which axis of the positions a pair turns by; empty: the first
  Buffer<float> query_cos, query_sin;  // [queries, pairs]
  Buffer<float> key_cos, key_sin;      // [keys, pairs]; empty when shared with the queries' (key_offset rows further)
  int64_t query_row_in_key = -1;  // >= 0: query i uses row i + query_row_in_key of the key tables; query tables empty
  bool learns = false;            // wants HookGradients::rotation
};

// Temperature: q(i) of head h is multiplied by by_query[i] and by_head[h], after it was turned.
struct Temperature {
  Buffer<float> by_query;          // [queries]
  const float* by_head = nullptr;  // [heads], or null: 1
};

// Slice: a bias that depends on the head and on the distance j - i of positions only.
class Slice {
 public:
  virtual ~Slice() = default;
  // When every head is -slope * |j - i|: the slopes [heads]; the engine then computes the bias in registers.
  virtual std::span<const float> slopes() const { return {}; }
  // bias[n] for the distances first, first + 1, ..., first + count - 1.
  virtual void Evaluate(int64_t head, int64_t first, int64_t count, float* bias) const = 0;
  // The backward twin: gradient[n] is the gradient of the bias at those distances. Accumulates inside the slice, for
  // Scheme::Pull. No-op for schemes that learn nothing.
  virtual void Accumulate(int64_t head, int64_t first, int64_t count, const double* gradient) {
    (void)head, (void)first, (void)count, (void)gradient;
  }
  // Distances <= lowest() share a value, as do those >= highest(): keeps tables short when positions have wide gaps.
  virtual int64_t lowest() const { return INT64_MIN; }
  virtual int64_t highest() const { return INT64_MAX; }
  virtual bool learns() const { return false; }
};

// Rows of a band that are made as they are needed, for tables that would be larger than what attention may take.
class BandRows {
 public:
  virtual ~BandRows() = default;
  // Rows first to first + count - 1 of heads head to head + heads - 1: [heads, count, width].
  virtual Status Fill(int64_t head, int64_t heads, int64_t first, int64_t count, float* rows) const = 0;
  // The backward twin: adds what the gradient of these rows means for parameters to theirs.
  virtual Status Pull(int64_t head, int64_t heads, int64_t first, int64_t count, const float* row_gradients,
                      ParameterGradients gradients) const = 0;
};

// Band: a table of relative vectors by distance. Row of a distance j - i: clamp(j - i, first, first + rows - 1) -
// first.
//   score, side kQuery: logit += scale * (q(i) + bias_h) . r(row)      (Shaw's keys; Transformer-XL with v as bias)
//   score, side kKey:   logit += scale * k(j) . r(row)                  (DeBERTa's position-to-content, a key_band beside)
//   value:              output(i) += sum_j a_ij r'(row)
struct Band {
  enum class Side { kQuery, kKey } side = Side::kQuery;
  int64_t first = 0;  // the distance of row 0
  int64_t rows = 0;
  int64_t width = 0;             // head_dim (score) or value_dim (value)
  bool per_head = false;         // table [heads, rows, width], or [rows, width] for all heads
  const float* table = nullptr;  // points into parameter memory or into `owned`; null: `made`
  const float* bias = nullptr;   // [heads, width] added to the query for this term, or null
  Buffer<float> owned;
  std::unique_ptr<BandRows> made;  // for score bands of side kQuery, one table a head
};

// Tile: any change of the logits of some queries x some keys. The engine calls Forward for each tile of a row block in
// the key order that the hook asks for, then goes on with the softmax; hidden entries are replaced afterwards, so a
// hook need not know the mask. Logits are stored keys-major: logits[key * stride + query]. Keys that the key mask hides
// come as zero rows. Tiles that no query sees are left out, but for those that a state is carried through on its way to
// seen ones; keys in a query's future (causal) or in a later document are never on that way, and a descending hook must
// itself leave them out of its state where they share a tile with others (`reach`).
struct TileArguments {
  int64_t head = 0;                      // first head of this call
  int64_t heads = 1;                     // 1, or all heads when all_heads()
  int64_t first_query = 0, queries = 0;  // indices
  int64_t first_key = 0, keys = 0;
  Positions query_positions, key_positions;  // of the whole call; index with first_query + n
  const float* query = nullptr;  // the rotated, scaled-by-nothing query rows of the tile [heads, queries, head_dim]
  const float* key = nullptr;    // the rotated key rows of the tile [heads, keys, head_dim]
  int64_t head_dim = 0;
  float scale = 1;                    // what q.k is multiplied by
  const float* gates = nullptr;       // per-token inputs [heads, keys of the call], from head `head` on, or null
  const uint8_t* key_mask = nullptr;  // [keys of the call], 0 = hidden; null: none
  // [heads, keys, stride]; in: scaled content logits with slices and bands (undefined when replaces_content(); those are
  // then added afterwards). Backward gets here what Forward got.
  float* logits = nullptr;
  int64_t stride = 0;
  float* state = nullptr;  // [heads, queries, state_size()], zero before a row's first tile
  // [queries], never falling: the keys of the call, from the first on, that may be in a query's state.
  const int64_t* reach = nullptr;
};
struct TileGradients {
  const float* logits_before = nullptr;  // what Forward got, or null when replaces_content()
  float* logits = nullptr;               // in: gradient of the changed logits; out: gradient of the content logits
  float* query = nullptr;                // accumulate [heads, queries, head_dim] (through this hook only), or null
  float* key = nullptr;                  // accumulate [heads, keys, head_dim], or null
  float* gates = nullptr;                // accumulate [heads, length] or null
  float* state = nullptr;                // gradient of the carried state; tiles come in reverse order
};
class TileHook {
 public:
  virtual ~TileHook() = default;
  virtual bool all_heads() const { return false; }         // needs every head's tile at once (DAPE)
  virtual bool descending() const { return false; }        // key tiles from the last to the first
  virtual bool replaces_content() const { return false; }  // computes q.k itself (xPos)
  virtual bool uses_vectors() const { return false; }      // wants query and key rows
  virtual bool position_only() const { return false; }     // adds a bias of head and positions alone (FIRE)
  virtual int64_t state_size() const { return 0; }         // floats a query row carries from tile to tile
  virtual Status Forward(const TileArguments& tile) const = 0;
  // Gets the same arguments (the state as it was before this tile) and the gradients; accumulates its own parameters'
  // gradients inside, for Scheme::Pull.
  virtual Status Backward(const TileArguments& tile, const TileGradients& gradients) = 0;
};

// What Bind gives the engine for one call. Empty members cost nothing.
struct Hooks {
  std::unique_ptr<Rotation> rotation;
  std::unique_ptr<Temperature> temperature;
  std::unique_ptr<Slice> slice;
  std::unique_ptr<Band> score_band;
  std::unique_ptr<Band> key_band;  // of side kKey, where score_band is of side kQuery
  std::unique_ptr<Band> value_band;
  std::unique_ptr<TileHook> tile;
  const float* query_bias = nullptr;  // [heads, head_dim] added to q for the content term q.k (Transformer-XL's u)
  int64_t score_terms = 1;  // products that a logit sums: the default scale is 1 / sqrt(score_terms * head_dim)
};

// What the engine gives back for Pull (slices and tiles accumulate inside themselves).
struct HookGradients {
  Buffer<float> score_band_table;  // like the band's table; empty when its rows are made as needed
  Buffer<float> score_band_bias;   // [heads, width]
  Buffer<float> key_band_table;
  Buffer<float> value_band_table;
  Buffer<float> query_bias;       // [heads, head_dim]
  Buffer<double> rotation;        // [pairs]: by the frequency, the sum of position times the gradient of the angle
  Buffer<double> temperature;     // [heads]: by by_head
  ParameterGradients parameters;  // where rows that are made as needed add theirs; empty: not wanted
};

// ---------------------------------------------------------------------------------------------------- the scheme

// What a rotation turns by: pair k of the token at position p by the angle p * inverse[k] + phase[k], cos and sin both
// times `attention_factor`.
struct FrequencyTable {
  Buffer<double> inverse;  // [pairs]
  Buffer<double> phase;    // [pairs], of normalized coordinates on a grid; empty: none
  double attention_factor = 1;
};

struct BindArguments {
  Dimensions dimensions;
  Positions query_positions, key_positions;
  int64_t running_length = 0;  // largest position + 1: what dynamic and longrope scalings look at
  ParameterValues parameters;
};

class Scheme {
 public:
  virtual ~Scheme() = default;

  virtual std::string_view type() const = 0;

  // How many ids a token may have beside one: 2 for schemes of grids.
  virtual int64_t axes() const { return 1; }

  // The learnable tensors for these dimensions, or why the scheme cannot work with them (odd rotaryDim, ...).
  virtual Result<std::vector<ParameterSpec>> Parameters(const Dimensions& dimensions) const;

  // Checks given parameter tensors (shapes, presence). Default: every spec of Parameters must be there with its shape.
  // Schemes with optional or alternative shapes (Shaw) override it.
  virtual Status CheckParameters(const Dimensions& dimensions, ParameterValues parameters) const;

  // --- embedding hook: rows[n] += p(positions[n]), rows [count, dim]. kNotDefined past a learned table.
  virtual bool embeds() const { return false; }
  virtual Status AddEmbedding(Positions positions, int64_t dim, ParameterValues parameters, float* rows) const;
  // Its backward twin: accumulates the parameters' gradients from the gradient of the rows.
  virtual Status EmbeddingBackward(Positions positions, int64_t dim, const float* row_gradients,
                                   ParameterGradients gradients) const;

  // --- rotation, score and value hooks
  virtual bool acts_on_attention() const { return false; }
  virtual Status Bind(const BindArguments& arguments, Hooks* hooks) const;
  virtual Status Pull(const BindArguments& arguments, const Hooks& hooks, const HookGradients& hook_gradients,
                      ParameterGradients gradients) const;

  // --- per-token inputs of a tile hook, made from the rows x [count, model_dim] that attention gets
  virtual bool gates() const { return false; }
  // gates: [heads, count]
  virtual Status MakeGates(const Dimensions& dimensions, ParameterValues parameters, const float* x, int64_t count,
                           float* gates) const;
  // Its backward twin: adds to the gradients of x and of the parameters.
  virtual Status GatesBackward(const Dimensions& dimensions, ParameterValues parameters, const float* x, int64_t count,
                               const float* gate_gradients, float* x_gradient, ParameterGradients gradients) const;

  // Layers with the same number are treated alike: what is bound for one of them serves the others.
  virtual int64_t LayerKind(int64_t layer) const {
    (void)layer;
    return 0;
  }

  // --- what pages and tools look at (position/inspect.h). kContradiction for schemes that have no such thing.
  // A learned frequency that is not among `parameters` is at its start.
  virtual Result<FrequencyTable> Frequencies(const Dimensions& dimensions, int64_t running_length,
                                             ParameterValues parameters = {}) const;
  // buckets[n] of the distances[n] = j - i; count of them.
  virtual Status Buckets(const int64_t* distances, int64_t count, int64_t* buckets) const;

  // Largest position + 1 that the scheme can embed, or INT64_MAX: lets an experiment say "not defined" beforehand.
  virtual int64_t DefinedLength(ParameterValues parameters) const {
    (void)parameters;
    return INT64_MAX;
  }

 protected:
  // The tensor called `name`, or null.
  static const TensorView<const float>* Find(ParameterValues parameters, std::string_view name);
  static const TensorView<float>* Find(ParameterGradients gradients, std::string_view name);
  // The numbers of the tensor called `name`; kMissing without it, kShape when its shape is another.
  static Result<const float*> Numbers(ParameterValues parameters, std::string_view name,
                                      std::initializer_list<int64_t> shape);
};

}  // namespace poslab
