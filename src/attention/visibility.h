// SPDX-License-Identifier: MIT
// Which keys a query sees by index (causal, alignment, window), and how that cuts the tiles that the engine works on.
// Keys hidden by a key mask are not cut out here: their rows are zeroed when packed and their scores replaced.
#pragma once

#include <cstdint>

#include "attention/attention.h"

namespace poslab {

// A tile is at most this many keys x this many queries; also the distance between two rows of a tile of scores. 64 x 64
// scores, their panel of queries and a tile of keys of 64 floats each fill 48 KiB.
constexpr int kTile = 64;
// Lanes are taken in groups of this many: the width of the register tile of base/matmul.h.
constexpr int kGroup = 8;

// A half-open range inside a tile.
struct Range {
  int begin = 0, end = 0;
  bool empty() const { return begin >= end; }
};

struct Visibility {
  int64_t queries = 0, keys = 0;
  bool causal = false;
  int64_t shift = 0;   // query i sees keys up to i + shift
  int64_t window = 0;  // and this many of them at most; 0: all
  int64_t beyond = 0;  // but for this many of the last ones
  const uint8_t* key_mask = nullptr;
  const int64_t* documents = nullptr;  // [keys], never falling

  // The keys that a query sees by index: [Begin, End), which may be empty.
  int64_t Begin(int64_t query) const;
  int64_t End(int64_t query) const;
  // The end with the last ones that `beyond` hides: what comes after it is in the query's future or in a later document.
  int64_t Reach(int64_t query) const;
  // The differences key - query that any pair seen can have: [lowest, highest], empty when lowest > highest.
  int64_t LowestDifference() const;
  int64_t HighestDifference() const;

 private:
  // The keys of the query's document; all without documents.
  int64_t DocumentBegin(int64_t query) const;
  int64_t DocumentEnd(int64_t query) const;
};

Visibility MakeVisibility(const Mask& mask, int64_t queries, int64_t keys);

// Some keys x some queries, queries being the lanes. Lanes are padded to a multiple of 4; a padded lane sees what the last
// query sees and what is computed for it is never used.
struct Tile {
  int64_t first_query = 0, first_key = 0;
  int queries = 0, lanes = 0, keys = 0;
  bool whole = true;            // every query sees every key, by index
  Range lane[kTile];            // the keys that a lane sees (not filled in when whole); no end is left of one before
  Range group[kTile / kGroup];  // the keys that any lane of a group sees
  Range row[kTile / kGroup];    // the lanes that see any of the keys 8 n to 8 n + 7

  int groups() const { return (lanes + kGroup - 1) / kGroup; }
  int GroupWidth(int n) const { return lanes - n * kGroup < kGroup ? lanes - n * kGroup : kGroup; }
};

// Fills in `tile`; false when none of its queries sees any of its keys.
bool MakeTile(const Visibility& visibility, int64_t first_query, int queries, int64_t first_key, int keys, Tile* tile);

// Replaces what is hidden inside the ranges of `tile.group` by `value`; with `key_mask`, hidden keys' rows too.
// scores: [keys, kTile].
void ReplaceHidden(const Visibility& visibility, const Tile& tile, float value, float* scores);

// Zeroes what lies outside the ranges of `tile.group` but in the same eight keys, so that eight rows of keys can be
// multiplied with all lanes of their `tile.row`.
void ClearAround(const Tile& tile, float* scores);

}  // namespace poslab
