// SPDX-License-Identifier: MIT
#include "attention/band_window.h"

#include <cstring>

#include "attention/bands.h"

namespace poslab {
namespace {

// Heads share the making of rows as far as they fit here, gradients included.
constexpr int64_t kShared = 1 << 20;

}  // namespace

BandWindow::BandWindow(const Call& call, HookGradients* gradients)
    : call_(call), gradients_(gradients), band_(call.query_band) {
  if (!band_ || !band_->made) return;
  whole_ = band_;
  band_ = &view_;
  view_.width = whole_->width;
  view_.bias = whole_->bias;
  view_.per_head = call.group > 1;
  all_ = {0, whole_->rows};
  if (call.queries == 0 || call.keys == 0) return;
  int64_t met = 1;
  if (call.contiguous()) {
    all_ = whole_tiles() ? RowsOf(-(call.queries - 1), call.keys - 1)
                         : RowsOf(call.visibility.LowestDifference(), call.visibility.HighestDifference());
    for (int64_t first = 0; first < call.queries; first += kTile) {
      const Rows rows = Met(first, std::min<int64_t>(kTile, call.queries - first));
      met = std::max(met, rows.end - rows.first);
    }
  } else {
    met = all_.end - all_.first;
  }
  const int64_t count = all_.end - all_.first, bytes = whole_->width * static_cast<int64_t>(sizeof(float));
  most_heads_ = call.group > 1 ? call.heads : std::min(call.heads, kShared / (gradients ? 2 : 1) / bytes / count);
  // An eighth more than is met: so much is made at a time.
  room_ = most_heads_ > 0 ? count : std::min(count, met + met / 8 + kTile);
  most_heads_ = std::max<int64_t>(1, most_heads_);
}

void BandWindow::LayOut(Arena* arena) {
  if (!whole_) return;
  rows_ = arena->Take<float>(most_heads_ * room_ * whole_->width);
  if (gradients_) row_gradients_ = arena->Take<float>(most_heads_ * room_ * whole_->width);
}

BandWindow::Rows BandWindow::RowsOf(int64_t lowest, int64_t highest) const {
  const int64_t before = call_.key_positions.start - call_.query_positions.start - whole_->first;
  const int64_t first = std::clamp<int64_t>(before + lowest, 0, whole_->rows - 1);
  return {first, std::clamp<int64_t>(before + highest, first, whole_->rows - 1) + 1};
}

BandWindow::Rows BandWindow::Met(int64_t first_query, int64_t queries) const {
  if (!call_.contiguous()) return all_;
  const int64_t last_query = first_query + queries - 1;
  const int64_t begin = whole_tiles() ? 0 : call_.visibility.Begin(first_query);
  const int64_t end = whole_tiles() ? call_.keys : call_.visibility.End(last_query);
  Rows rows = RowsOf(begin - last_query, end - 1 - first_query);
  rows.first = std::clamp(rows.first, all_.first, all_.end - 1);
  rows.end = std::clamp(rows.end, rows.first + 1, all_.end);
  return rows;
}

Status BandWindow::Reach(int64_t head, int64_t first_query, int queries) {
  if (!whole_) return Status::Ok();
  if (head < head_ || head >= head_ + heads_) {
    POSLAB_RETURN_IF_ERROR(Pull(first_, end_));
    head_ = head;
    heads_ = std::min(most_heads_, call_.heads - head);
    first_ = end_ = 0;
  }
  const Rows met = Met(first_query, queries);
  if (met.first < first_ || met.end > end_) {
    const int64_t end = room_ == all_.end - all_.first ? all_.end : met.end;
    POSLAB_RETURN_IF_ERROR(Move({std::max(all_.first, end - room_), end}));
  }
  view_.first = whole_->first + first_;
  view_.rows = end_ - first_;
  view_.table = rows_ + (view_.per_head ? 0 : (head - head_) * view_.rows * view_.width);
  return Status::Ok();
}

// Several heads move from nothing only.
Status BandWindow::Move(Rows to) {
  const int64_t kept_first = std::clamp(first_, to.first, to.end), kept_end = std::clamp(end_, kept_first, to.end);
  POSLAB_RETURN_IF_ERROR(Pull(first_, std::min(kept_first, end_)));
  POSLAB_RETURN_IF_ERROR(Pull(std::max(kept_end, first_), end_));
  const int64_t from_first = first_, width = whole_->width;
  first_ = to.first, end_ = to.end;
  const auto keep = [&](float* rows) {
    const auto bytes = static_cast<size_t>((kept_end - kept_first) * width) * sizeof(float);
    if (bytes > 0) std::memmove(rows + Place(kept_first), rows + (kept_first - from_first) * width, bytes);
  };
  keep(rows_);
  if (row_gradients_) {
    keep(row_gradients_);
    const int64_t size = heads_ * (end_ - first_) * width;
    std::fill(row_gradients_, row_gradients_ + Place(kept_first), 0.0f);
    std::fill(row_gradients_ + Place(kept_end), row_gradients_ + size, 0.0f);
  }
  POSLAB_RETURN_IF_ERROR(Fill(first_, kept_first));
  return Fill(kept_end, end_);
}

Status BandWindow::Fill(int64_t first, int64_t end) const {
  if (first >= end) return Status::Ok();
  return whole_->made->Fill(head_, heads_, first, end - first, rows_ + Place(first));
}

Status BandWindow::Pull(int64_t first, int64_t end) const {
  if (!row_gradients_ || first >= end || gradients_->parameters.empty()) return Status::Ok();
  return whole_->made->Pull(head_, heads_, first, end - first, row_gradients_ + Place(first), gradients_->parameters);
}

float* BandWindow::Gradient(int64_t head) const {
  if (!whole_) return BandGradient(*band_, head, gradients_->score_band_table.data());
  return row_gradients_ + (head - head_) * view_.rows * view_.width;
}

}  // namespace poslab
