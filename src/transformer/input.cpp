// SPDX-License-Identifier: MIT
// What comes into a model: checks of a sequence, and its rows before the first block.
#include <algorithm>

#include "model/linear.h"
#include "model/pass_memory.h"
#include "position/table_resize.h"
#include "transformer/image.h"
#include "transformer/transformer_parts.h"

namespace poslab {
namespace {

Status CheckCount(const char* argument, size_t given, int64_t wanted, const char* allowed) {
  if (given == 0 || static_cast<int64_t>(given) == wanted) return Status::Ok();
  return Status::Number(Code::kShape, argument, static_cast<double>(given), allowed, static_cast<double>(wanted));
}

Status CheckIds(const char* argument, std::span<const int32_t> ids, int64_t count) {
  for (int32_t id : ids)
    if (id < 0 || id >= count)
      return Status::Number(Code::kRange, argument, id, "ids from 0 to {0}", static_cast<double>(count - 1));
  return Status::Ok();
}

Status CheckPixels(const ImageDescription& image, const ModelInput& input) {
  for (int64_t side : {input.height, input.width})
    if (side < image.patch || side % image.patch != 0 || side > int64_t{1} << 20)
      return Status::Number(Code::kShape, "pixels", static_cast<double>(side),
                            "height and width that are multiples of the patch, {0}", static_cast<double>(image.patch));
  const int64_t size = CheckedProduct({image.channels, input.height, input.width});
  if (static_cast<int64_t>(input.pixels.size()) != size)
    return Status::Number(Code::kShape, "pixels", static_cast<double>(input.pixels.size()),
                          "{0} channels times height times width", static_cast<double>(image.channels));
  return Status::Ok();
}

}  // namespace

int64_t Transformer::Parts::InputRows(const ModelInput& input) const {
  if (!architecture.image) return static_cast<int64_t>(input.ids.size());
  const ImageDescription& image = *architecture.image;
  return (image.class_token ? 1 : 0) + (input.height / image.patch) * (input.width / image.patch);
}

Status Transformer::Parts::CheckInput(const ModelInput& input) const {
  if (!weights.complete())
    return Status::Text(Code::kState, "model", "weights that are not all set", "a model whose missing() is empty");
  const bool image = architecture.image.has_value();
  if (image && (!input.ids.empty() || input.pixels.empty()))
    return Status::Text(Code::kMissing, "pixels", input.ids.empty() ? "" : "ids", "an image, and no ids");
  if (!image && !input.pixels.empty())
    return Status::Text(Code::kContradiction, "pixels", "an image", "ids: this model reads tokens");
  POSLAB_RETURN_IF_ERROR(image ? CheckPixels(*architecture.image, input)
                               : CheckIds("ids", input.ids, architecture.vocabulary));
  const int64_t rows = InputRows(input);
  POSLAB_RETURN_IF_ERROR(CheckCount("attentionMask", input.mask.size(), rows, "{0} entries, one a token"));
  POSLAB_RETURN_IF_ERROR(CheckCount("positions", input.positions.size(), rows, "{0} ids, one a token"));
  if (!input.token_types.empty() && architecture.token_types == 0)
    return Status::Text(Code::kContradiction, "tokenTypes", "given", "none: this model has no token types");
  POSLAB_RETURN_IF_ERROR(CheckCount("tokenTypes", input.token_types.size(), rows, "{0} ids, one a token"));
  POSLAB_RETURN_IF_ERROR(CheckIds("tokenTypes", input.token_types, architecture.token_types));
  if (input.memory_rows > 0 && architecture.memory_length == 0)
    return Status::Text(Code::kContradiction, "memory", "given", "none: this model keeps no memory");
  if (input.memory_rows > 0 && !input.positions.empty())
    return Status::Text(Code::kContradiction, "positions", "given",
                        "none together with memory, whose places count too");
  const int64_t memory_size = CheckedProduct({last_layers(), input.memory_rows, architecture.dim});
  if (static_cast<int64_t>(input.memory.size()) != memory_size)
    return Status::Number(Code::kShape, "memory", static_cast<double>(input.memory.size()),
                          "[layers, M, dim] with {0} numbers a token",
                          static_cast<double>(last_layers() * architecture.dim));
  if (!architecture.two_stacks() && !input.decoder_ids.empty())
    return Status::Text(Code::kContradiction, "decoderIds", "given", "none: this model has one stack");
  return CheckIds("decoderIds", input.decoder_ids, architecture.vocabulary);
}

Status Transformer::Parts::EmbedTokens(Half* half, std::span<const int32_t> ids, std::span<const int32_t> token_types,
                                       Positions positions) {
  const int64_t dim = architecture.dim;
  POSLAB_RETURN_IF_ERROR(Grow(CheckedProduct({static_cast<int64_t>(ids.size()), dim}), &half->rows));
  const Weight& table = weights[half->tensors->embedding];
  const auto scale = static_cast<float>(half->description->embedding_scale);
  float* row = half->rows.data();
  for (size_t n = 0; n < ids.size(); ++n, row += dim) {
    table.CopyRow(ids[n], row);
    if (scale != 1)
      for (int64_t c = 0; c < dim; ++c) row[c] *= scale;
    if (tensors.token_types == Weights::kNone) continue;
    const int64_t type = token_types.empty() ? 0 : token_types[n];
    AddInto(dim, weights.numbers(tensors.token_types) + type * dim, row);
  }
  return half->positions.AddEmbedding(positions, nullptr, half->rows.data());
}

Status Transformer::Parts::EmbedImage(const ModelInput& input) {
  const ImageDescription& image = *architecture.image;
  const int64_t dim = architecture.dim, before = image.class_token ? 1 : 0;
  const int64_t high = input.height / image.patch, wide = input.width / image.patch;
  const int64_t trained_high = image.height / image.patch, trained_wide = image.width / image.patch;
  POSLAB_RETURN_IF_ERROR(Grow(high * wide * image.patch_size(), &patches));
  POSLAB_RETURN_IF_ERROR(Grow(CheckedProduct({before + high * wide, dim}), &encoder.rows));
  CutPatches(image, input.height, input.width, input.pixels.data(), patches.data());
  float* rows = encoder.rows.data();
  if (before) std::copy_n(weights.numbers(tensors.class_token), dim, rows);
  Product(weights[tensors.patch.weight], {high * wide, patches.data(), image.patch_size(),
                                          weights.numbers(tensors.patch.bias), rows + before * dim, dim, false});
  const Positions positions{change.shift, before + high * wide, nullptr};
  const TensorView<const float>* table = encoder.positions.EmbeddingTable();
  const bool same = high == trained_high && wide == trained_wide;
  if (same || !table || table->shape != std::vector<int64_t>{before + trained_high * trained_wide, dim})
    return encoder.positions.AddEmbedding(positions, nullptr, rows);
  // A learned grid goes along with the image; the class token's row stays.
  POSLAB_RETURN_IF_ERROR(Grow(positions.count * dim, &resized));
  std::copy_n(table->data, before * dim, resized.data());
  ResizeGrid(trained_high, trained_wide, table->data + before * dim, high, wide, dim, resized.data() + before * dim);
  const TensorView<const float> view{table->name, resized.data(), {positions.count, dim}};
  return encoder.positions.AddEmbedding(positions, &view, rows);
}

}  // namespace poslab
