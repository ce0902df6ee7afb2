// SPDX-License-Identifier: MIT
// What every WebAssembly module offers to the TypeScript layer, as a table: encodings and attention. Every call reads its
// arguments, checks and calls the core (its parts are in bindings/embind), and puts its answer together;
// js/core-calls.ts is the other side, js/core-interface.ts says in types what each takes and gives. No call throws. The
// lab and whole architectures are tables of their own, embind_lab.cpp and embind_models.cpp: a module without them is
// a smaller one.
#include <cstdlib>

#include "embind/attention.h"
#include "embind/calls.h"
#include "embind/encodings.h"
#include "embind/message.h"

namespace {

using namespace poslab::border;  // NOLINT: this file is a table of that namespace

// Room for the arguments of a call: its address, or 0 when there is none.
double Reserve(double bytes) {
  return static_cast<double>(reinterpret_cast<uintptr_t>(std::aligned_alloc(16, static_cast<size_t>(bytes))));
}
// Where the answer of the last call is.
double AnswerAddress() { return static_cast<double>(reinterpret_cast<uintptr_t>(TheAnswer().bytes())); }
// The answer was read: gives back what it and the arguments took.
void Release(double message) {
  TheAnswer().Clear();
  std::free(reinterpret_cast<void*>(static_cast<uintptr_t>(message)));
}

void Version(double) { TheAnswer().Text(POSLAB_VERSION); }

constexpr CallEntry kCalls[] = {
    {"version", Version},
    // encodings
    {"schemes", SchemesList},
    {"startParameters", StartParametersCall},
    {"table", TableCall},
    {"frequencies", FrequenciesCall},
    {"rotate", RotateCall},
    {"drawPositions", DrawPositionsCall},
    {"slopes", SlopesCall},
    {"buckets", BucketsCall},
    {"bias", BiasCall},
    // attention
    {"attention", AttentionCall},
    {"attentionGradients", AttentionGradientsCall},
};

}  // namespace

EMSCRIPTEN_BINDINGS(poslab) {
  emscripten::function("reserve", Reserve);
  emscripten::function("answer", AnswerAddress);
  emscripten::function("release", Release);
  Register(kCalls);
}
