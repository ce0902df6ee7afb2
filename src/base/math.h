// SPDX-License-Identifier: MIT
// Transcendental functions in double. C libraries differ from one another in the last digit, and theirs carry tables
// that would be a tenth of the module; these are short series, made of +, -, * and / alone, so that every build on every
// machine gives the same bits. What is rounded to float from them is the float nearest to the true value but for one
// case in some 10^8.
#pragma once

#include <cstdint>

namespace poslab {

// e^x. Largest error seen: 0.9 units in the last place; 0 below -745.14, infinity above 709.79.
double Exp(double x);

// ln x. Largest error seen: 0.8 units in the last place; -infinity for 0, NaN below.
double Log(double x);

// base^exponent for a base of at least 0. Largest error seen: 0.9 units in the last place for results between e^-15 and
// e^15, 2.6 beyond. 0^0 = 1, 0^y = 0 for y > 0.
double Pow(double base, double exponent);

// sin x and cos x. Largest error seen: 0.8 units in the last place for |x| <= 1e6, 1e-13 up to 2^53. Neighbouring doubles
// beyond are further apart than a radian: the pair is then a point of the unit circle, and no digit of x says which.
struct SineAndCosine {
  double sine, cosine;
};
SineAndCosine SinCos(double x);
inline double Sin(double x) { return SinCos(x).sine; }
inline double Cos(double x) { return SinCos(x).cosine; }

}  // namespace poslab
