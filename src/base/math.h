// SPDX-License-Identifier: MIT
// Transcendental functions, computed in double and rounded to float once. The float functions of C libraries differ
// from one another in up to a tenth of all cases; so computed, glibc and musl (Emscripten) were seen to agree.
#pragma once

#include <cmath>

namespace poslab {

inline float Sin(double x) { return static_cast<float>(std::sin(x)); }
inline float Cos(double x) { return static_cast<float>(std::cos(x)); }
inline float Exp(double x) { return static_cast<float>(std::exp(x)); }
inline float Log(double x) { return static_cast<float>(std::log(x)); }
inline float Pow(double x, double exponent) { return static_cast<float>(std::pow(x, exponent)); }
inline float Tanh(double x) { return static_cast<float>(std::tanh(x)); }
inline float Erf(double x) { return static_cast<float>(std::erf(x)); }

}  // namespace poslab
