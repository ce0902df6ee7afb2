// SPDX-License-Identifier: MIT
// A text as ids. UTF-8 is decoded by the table of well-formed sequences (Unicode 15, table 3-7): overlong forms,
// surrogates, values past U+10FFFF and cut-off sequences are refused with their byte offset, never repaired.
#include <algorithm>

#include "lab/task.h"

namespace poslab {
namespace {

constexpr uint32_t kCodePoints = 0x110000;
constexpr int64_t kMaxTextBytes = INT32_MAX;
constexpr int64_t kMinSymbols = 2;  // one for each part

// The length of the well-formed sequence at the start of `bytes` and its code point, or 0 when there is none.
int DecodeOne(std::span<const uint8_t> bytes, uint32_t* code_point) {
  const uint8_t lead = bytes[0];
  if (lead < 0x80) {
    *code_point = lead;
    return 1;
  }
  // C0 and C1 would be overlong, F5 and above past U+10FFFF; the second byte has tighter limits after E0, ED, F0, F4.
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const int length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (bytes.size() < static_cast<size_t>(length)) return 0;
  const uint8_t lowest = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const uint8_t highest = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (bytes[1] < lowest || bytes[1] > highest) return 0;
  uint32_t value = ((lead & (0x7f >> length)) << 6) | (bytes[1] & 0x3f);
  for (int n = 2; n < length; ++n) {
    if ((bytes[n] & 0xc0) != 0x80) return 0;
    value = (value << 6) | (bytes[n] & 0x3f);
  }
  *code_point = value;
  return length;
}

// Writes the code points of `utf8` and returns their number, or says where the text is not UTF-8.
Result<int64_t> Decode(std::span<const uint8_t> utf8, uint32_t* code_points) {
  static constexpr uint8_t kByteOrderMark[] = {0xef, 0xbb, 0xbf};
  size_t offset = 0;
  if (utf8.size() >= 3 && std::equal(kByteOrderMark, kByteOrderMark + 3, utf8.begin())) offset = 3;
  int64_t count = 0;
  while (offset < utf8.size()) {
    const int length = DecodeOne(utf8.subspan(offset), &code_points[count]);
    if (length == 0) {
      Status status = Status::Text(Code::kFormat, "task.text", "", "UTF-8; the bytes at offset {0} are not");
      status->limits[0] = static_cast<double>(offset);
      return status;
    }
    offset += length;
    ++count;
  }
  return count;
}

}  // namespace

Result<std::shared_ptr<const Corpus>> Corpus::Make(std::span<const uint8_t> utf8, Unit unit) {
  if (utf8.size() > static_cast<size_t>(kMaxTextBytes))
    return Status::Number(Code::kRange, "task.text", static_cast<double>(utf8.size()), "at most {0} bytes",
                          static_cast<double>(kMaxTextBytes));
  Result<Buffer<uint32_t>> text = Buffer<uint32_t>::Make("task.text", static_cast<int64_t>(utf8.size()));
  if (!text.ok()) return text.status();
  int64_t count = static_cast<int64_t>(utf8.size());
  if (unit == Unit::kBytes) {
    std::copy(utf8.begin(), utf8.end(), text->begin());
  } else {
    Result<int64_t> decoded = Decode(utf8, text->data());
    if (!decoded.ok()) return decoded.status();
    count = *decoded;
  }
  if (count < kMinSymbols)
    return Status::Number(Code::kRange, "task.text", static_cast<double>(count), "at least {0} characters",
                          kMinSymbols);

  auto corpus = std::make_shared<Corpus>();
  corpus->unit_ = unit;
  const int64_t training_size = count * 9 / 10;
  corpus->training_size_ = static_cast<size_t>(training_size);

  // Pass 1: which symbols the training part has. Pass 2: number them in ascending order. Pass 3: the text as ids.
  Result<Buffer<int32_t>> ids_of_symbols = Buffer<int32_t>::Make("task.text", kCodePoints);
  if (!ids_of_symbols.ok()) return ids_of_symbols.status();
  Buffer<int32_t>& id_of = *ids_of_symbols;
  int64_t distinct = 0;
  for (int64_t n = 0; n < training_size; ++n) {
    int32_t& seen = id_of[(*text)[n]];
    distinct += seen == 0;
    seen = 1;
  }
  POSLAB_RETURN_IF_ERROR(corpus->symbols_.Resize("task.text", distinct));
  POSLAB_RETURN_IF_ERROR(corpus->ids_.Resize("task.text", count));
  const int32_t spare = static_cast<int32_t>(distinct);
  int32_t next = 0;
  for (uint32_t symbol = 0; symbol < kCodePoints; ++symbol) {
    if (id_of[symbol] != 0) corpus->symbols_[next] = symbol;
    id_of[symbol] = id_of[symbol] != 0 ? next++ : spare;
  }
  for (int64_t n = 0; n < count; ++n) corpus->ids_[n] = id_of[(*text)[n]];
  return std::shared_ptr<const Corpus>(std::move(corpus));
}

int32_t Corpus::Id(uint32_t symbol) const {
  const uint32_t* place = std::lower_bound(symbols_.begin(), symbols_.end(), symbol);
  if (place == symbols_.end() || *place != symbol) return static_cast<int32_t>(symbols_.size());
  return static_cast<int32_t>(place - symbols_.begin());
}

}  // namespace poslab
