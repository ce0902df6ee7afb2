// SPDX-License-Identifier: MIT
#include "position/table_resize.h"

#include <algorithm>
#include <cmath>

namespace poslab {
namespace {

// The kernel at a distance of at most 1, and from there to 2.
double Near(double a, double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; }
double Far(double a, double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; }

std::vector<Tap> AntialiasedTaps(int64_t index, int64_t from, int64_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to), widening = std::max(1.0, scale);
  const double centre = scale * (static_cast<double>(index) + 0.5);
  const auto first = std::max<int64_t>(0, static_cast<int64_t>(centre - 2 * widening + 0.5));
  const auto end = std::min<int64_t>(from, static_cast<int64_t>(centre + 2 * widening + 0.5));
  std::vector<Tap> taps;
  double sum = 0;
  for (int64_t at = first; at < end; ++at) {
    const double x = std::fabs((static_cast<double>(at) - centre + 0.5) / widening);
    taps.push_back({at, x < 1 ? Near(-0.5, x) : x < 2 ? Far(-0.5, x) : 0});
    sum += taps.back().share;
  }
  for (Tap& tap : taps) tap.share /= sum;
  return taps;
}

// to[c] = the sum of rows of `table` by their shares.
void Mix(const std::vector<Tap>& rows, const std::vector<Tap>& columns, int64_t width, const float* table, int64_t dim,
         float* to) {
  for (int64_t c = 0; c < dim; ++c) {
    double sum = 0;
    for (const Tap& row : rows)
      for (const Tap& column : columns)
        sum += row.share * column.share * static_cast<double>(table[(row.at * width + column.at) * dim + c]);
    to[c] = static_cast<float>(sum);
  }
}

}  // namespace

std::vector<Tap> BicubicTaps(int64_t index, int64_t from, int64_t to, bool antialias) {
  if (antialias) return AntialiasedTaps(index, from, to);
  constexpr double kSharpness = -0.75;
  const double place = (static_cast<double>(index) + 0.5) * static_cast<double>(from) / static_cast<double>(to) - 0.5;
  const double whole = std::floor(place), rest = place - whole;
  std::vector<Tap> taps = {{0, Far(kSharpness, rest + 1)},
                           {1, Near(kSharpness, rest)},
                           {2, Near(kSharpness, 1 - rest)},
                           {3, Far(kSharpness, 2 - rest)}};
  for (Tap& tap : taps) tap.at = std::clamp(static_cast<int64_t>(whole) - 1 + tap.at, int64_t{0}, from - 1);
  return taps;
}

void ResizeGrid(int64_t from_height, int64_t from_width, const float* from, int64_t to_height, int64_t to_width,
                int64_t dim, float* to, bool antialias) {
  std::vector<std::vector<Tap>> columns;
  for (int64_t x = 0; x < to_width; ++x) columns.push_back(BicubicTaps(x, from_width, to_width, antialias));
  for (int64_t y = 0; y < to_height; ++y) {
    const std::vector<Tap> rows = BicubicTaps(y, from_height, to_height, antialias);
    for (int64_t x = 0; x < to_width; ++x, to += dim)
      Mix(rows, columns[static_cast<size_t>(x)], from_width, from, dim, to);
  }
}

std::vector<Tap> StretchTaps(int64_t index, int64_t from, int64_t to) {
  if (to <= 1) return {{0, 1}};
  // index (from - 1) / (to - 1) in whole numbers, so that rows that are hit exactly come out exactly.
  const int64_t scaled = index * (from - 1), below = scaled / (to - 1);
  const double share = static_cast<double>(scaled % (to - 1)) / static_cast<double>(to - 1);
  return {{below, 1 - share}, {std::min(below + 1, from - 1), share}};
}

void StretchTable(const float* table, int64_t rows, int64_t dim, int64_t length, float* stretched) {
  for (int64_t i = 0; i < length; ++i) Mix(StretchTaps(i, rows, length), {{0, 1}}, 1, table, dim, stretched + i * dim);
}

}  // namespace poslab
