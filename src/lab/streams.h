// SPDX-License-Identifier: MIT
// Which stream of random numbers (base/random.h) serves which use, so that one use never shifts another: a seed gives
// the same batches under every encoding, and a look at the weights in the middle of training changes nothing.
#pragma once

#include <cstdint>

namespace poslab {

constexpr uint64_t kWeightStream = 1;    // initial weights, from the run's seed
constexpr uint64_t kBatchStream = 2;     // training rows, from the run's seed
constexpr uint64_t kTestStream = 3;      // toy test rows, from kTestSeed and the number of the window
constexpr uint64_t kGenerateStream = 4;  // sampled text, from the seed of the call
constexpr uint64_t kSampleStream = 5;    // sample rows, from the seed of the call
constexpr uint64_t kPositionStream = 6;  // positions, from the run's seed and the step, or kTestSeed and the length

// One seed for every run's test rows: encodings and seeds are compared on the same rows.
constexpr uint64_t kTestSeed = 20170612;

// The seed of row `window`: neighbouring seeds of a PCG start close together, so they are mixed first (the finalizer of
// SplitMix64, Steele, Lea & Flood 2014).
constexpr uint64_t MixedSeed(uint64_t seed, uint64_t window) {
  uint64_t mixed = seed + (window + 1) * 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
  return mixed ^ (mixed >> 31);
}

}  // namespace poslab
