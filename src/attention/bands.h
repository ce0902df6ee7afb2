// SPDX-License-Identifier: MIT
// Bands on tiles. Row r of a tile's band is the relative vector of the tile's r-th distance, so scores are rows x queries
// (a product like that of the keys) with each lane read one row further down: the skew of Transformer-XL (Dai et al.
// 2019, appendix B), done tile by tile in registers. Rows past the ends of the table share its first or last row; a tile
// that lies wholly past an end costs one addition an entry. Tiles whose positions do not step by one go entry by entry.
#pragma once

#include <algorithm>
#include <cstdint>

#include "attention/call.h"
#include "attention/rows.h"

namespace poslab {

// Most distances of a tile.
constexpr int kTileDistances = 2 * kTile - 1;

// How the distances of a tile meet the rows of a band. Entry (key, lane) has distance number key - lane + lanes - 1.
struct BandTile {
  bool regular = true;     // positions step by one along both sides; nothing below is filled in otherwise
  int count = 0;           // keys + lanes - 1 distances
  int begin = 0, end = 0;  // numbers with rows of their own; below them the first row, from `end` on the last
  int64_t first_row = 0;   // the row of number `begin`
  int64_t Row(const Band& band, int number) const {
    return std::clamp<int64_t>(first_row + number - begin, 0, band.rows - 1);
  }
  bool AllFirst() const { return begin >= count; }
  bool AllLast() const { return end <= 0; }
};
BandTile MakeBandTile(const Call& call, const Band& band, const Tile& tile);

// The row of the band that an entry meets, whatever the positions are.
int64_t BandRow(const Call& call, const Band& band, const Tile& tile, int key, int lane);

// The table of one head, [rows, width].
inline const float* BandTable(const Band& band, int64_t head) {
  return band.table + (band.per_head ? head * band.rows * band.width : 0);
}
inline float* BandGradient(const Band& band, int64_t head, float* gradient) {
  return gradient + (band.per_head ? head * band.rows * band.width : 0);
}

// Memory that all functions below share.
struct BandScratch {
  float* by_distance = nullptr;  // [kTileDistances + 1, kTile]
  float* row = nullptr;          // [width]
  void LayOut(Arena* arena, int64_t width);
};

// One side-kQuery band (or value band) of one head with a block of queries: their rows, their panel, and what belongs to
// the two ends of the table.
struct BandBlock {
  const float* rows = nullptr;   // [queries, width]
  const float* panel = nullptr;  // [width, kTile]
  float* ends = nullptr;         // [2, kTile]: scores of the first and the last row
};

// ends = table[first and last row] . panel.
void ScoreBandEnds(const Band& band, int64_t head, int lanes, const BandBlock& block);
// scores[key][lane] += rows[lane] . r(distance), where the tile is seen.
void AddBandScores(const Call& call, const Band& band, int64_t head, const Tile& tile, const BandBlock& block,
                   const BandScratch& scratch, float* scores);

// Orders weights by distance into the scratch, for the two functions after it, and adds what meets the ends of the table
// to ends [2, kTile]. Weights must be zero where hidden.
void SumByDistance(const Call& call, const Band& band, const Tile& tile, const float* weights,
                   const BandScratch& scratch, float* ends);

// out[d][lane] += sum over keys of weights[key][lane] * r(distance)[d], but for the ends of the table, which AddBandEnds
// adds once for many tiles. out: [width, kTile].
void AddBandByLane(const Call& call, const Band& band, int64_t head, const Tile& tile, const float* weights,
                   const BandScratch& scratch, float* out);
void AddBandEnds(const Band& band, int64_t head, int lanes, const float* ends, float* out);

// gradient[row of distance][d] += sum over entries of weights[key][lane] * rows[lane][d], likewise. rows: [queries, width];
// `gradient` is the head's table.
void AddBandGradient(const Call& call, const Band& band, const Tile& tile, const float* weights, const float* rows,
                     const BandScratch& scratch, float* gradient);
void AddBandEndsGradient(const Band& band, int queries, const float* ends, const float* rows, float* gradient);

}  // namespace poslab
