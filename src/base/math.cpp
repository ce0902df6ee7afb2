// SPDX-License-Identifier: MIT
// Reduction to a short interval (Cody & Waite 1980), Taylor series there, and the leading terms added last. Where one
// double is too short, a sum of two is kept (Dekker 1971).
#include "base/math.h"

#include <bit>
#include <cmath>
#include <limits>

namespace poslab {
namespace {

// A number as the sum of a double and a much smaller one.
struct Pair {
  double high, low;
};

Pair Sum(double a, double b) {
  const double high = a + b, other = high - a;
  return {high, (a - (high - other)) + (b - other)};
}

// The upper 26 bits: products of two such are exact.
double Upper(double a) { return std::bit_cast<double>(std::bit_cast<uint64_t>(a) & ~uint64_t{0x7ffffff}); }

Pair Product(double a, double b) {
  const double high = a * b, a1 = Upper(a), b1 = Upper(b), a2 = a - a1, b2 = b - b1;
  return {high, ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2};
}

// c[0] + c[1] z + ... + c[count - 1] z^(count - 1)
double Polynomial(const double* c, int count, double z) {
  double sum = c[count - 1];
  for (int n = count - 2; n >= 0; --n) sum = sum * z + c[n];
  return sum;
}

double PowerOfTwo(int64_t n) { return std::bit_cast<double>(static_cast<uint64_t>(n + 1023) << 52); }

// Whole numbers from 2^52 on have no fraction to round.
double Round(double x) {
  constexpr double kFirst = 4503599627370496;
  if (std::fabs(x) >= kFirst) return x;
  return x < 0 ? (x - kFirst) + kFirst : (x + kFirst) - kFirst;
}

// ln 2 in two parts, the first with 32 trailing zero bits: its product with an exponent is exact.
constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;

// 1 / n! from 2! on: e^r to degree 13 leaves out less than 2^-57 for |r| <= ln 2 / 2.
constexpr double kExpSeries[] = {1 / 2.0,       1 / 6.0,        1 / 24.0,        1 / 120.0,
                                 1 / 720.0,     1 / 5040.0,     1 / 40320.0,     1 / 362880.0,
                                 1 / 3628800.0, 1 / 39916800.0, 1 / 479001600.0, 1 / 6227020800.0};

// e^(x + low) for a low that is small beside x.
double ExpOfPair(double x, double low) {
  if (!(x < 709.79)) return x + std::numeric_limits<double>::infinity();
  if (x < -745.2) return 0;
  const double n = Round(x * 0x1.71547652b82fep+0);
  const double high = x - n * kLn2High, tail = n * kLn2Low - low;
  const double r = high - tail, lost = (high - r) - tail;
  const double power = 1 + (r + (r * r * Polynomial(kExpSeries, 12, r) + (lost + r * lost)));
  // In two steps, so that neither overflows when the result does not.
  const int64_t exponent = static_cast<int64_t>(n), half = exponent / 2;
  return power * PowerOfTwo(half) * PowerOfTwo(exponent - half);
}

// x = 2^exponent * (1 + f), with 1 + f between sqrt(1/2) and sqrt(2). x is positive and finite.
struct Split {
  double exponent, f;
};
Split SplitOf(double x) {
  int64_t exponent = 0;
  if (x < std::numeric_limits<double>::min()) x *= PowerOfTwo(54), exponent = -54;
  const uint64_t bits = std::bit_cast<uint64_t>(x), one = std::bit_cast<uint64_t>(1.0);
  // Counting from sqrt(1/2) makes the carry into the exponent do the rounding.
  const uint64_t from = bits - std::bit_cast<uint64_t>(0x1.6a09e667f3bcdp-1) + one;
  exponent += static_cast<int64_t>(from >> 52) - 1023;
  const uint64_t fraction = bits - ((from & (uint64_t{0x7ff} << 52)) - one);
  return {static_cast<double>(exponent), std::bit_cast<double>(fraction) - 1};
}

// ln(1 + f) = 2 (s + s^3 / 3 + s^5 / 5 + ...) with s = f / (2 + f); |s| <= 0.172.
constexpr double kLogSeries[] = {2 / 3.0,  2 / 5.0,  2 / 7.0,  2 / 9.0,  2 / 11.0,
                                 2 / 13.0, 2 / 15.0, 2 / 17.0, 2 / 19.0, 2 / 21.0};

double LogTail(double z) { return z * Polynomial(kLogSeries, 10, z); }

// pi / 2 in three parts of 53 bits.
constexpr double kHalfPi[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};

// (sin r - r) / r^3 and (cos r - 1 + r^2 / 2) / r^4 by powers of r^2, for |r| <= pi / 4.
constexpr double kSineSeries[] = {-1 / 6.0,        1 / 120.0,        -1 / 5040.0,          1 / 362880.0,
                                  -1 / 39916800.0, 1 / 6227020800.0, -1 / 1307674368000.0, 1 / 355687428096000.0};
constexpr double kCosineSeries[] = {1 / 24.0,        -1 / 720.0,         1 / 40320.0,         -1 / 3628800.0,
                                    1 / 479001600.0, -1 / 87178291200.0, 1 / 20922789888000.0};

}  // namespace

double Exp(double x) { return ExpOfPair(x, 0); }

double Log(double x) {
  if (!(x > 0)) return x == 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  if (x == std::numeric_limits<double>::infinity()) return x;
  const auto [exponent, f] = SplitOf(x);
  const double s = f / (2 + f), half_square = 0.5 * f * f;
  // 2 s = f - s f and s f = f^2 / 2 - s f^2 / 2: f, the largest, is added last.
  const double below = half_square - (s * (half_square + LogTail(s * s)) + exponent * kLn2Low);
  return exponent * kLn2High - (below - f);
}

double Pow(double base, double exponent) {
  if (exponent == 0 || base == 1) return 1;
  if (base == 0) return exponent > 0 ? 0 : std::numeric_limits<double>::infinity();
  if (!(base > 0) || base == std::numeric_limits<double>::infinity()) return Exp(exponent * Log(base));
  // ln(base) as a pair: s = f / (2 + f) with what the division lost, then the series.
  const auto [power, f] = SplitOf(base);
  const Pair divisor = Sum(2, f);
  const double s = f / divisor.high;
  const Pair back = Product(s, divisor.high);
  const double s_low = (((f - back.high) - back.low) - s * divisor.low) / divisor.high;
  const Pair first = Sum(power * kLn2High, 2 * s);
  const double rest = power * kLn2Low + 2 * s_low + s * LogTail(s * s);
  const Pair log = Sum(first.high, first.low + rest);
  const Pair product = Product(exponent, log.high);
  if (!(std::fabs(product.high) < 800)) return ExpOfPair(product.high, 0);
  return ExpOfPair(product.high, product.low + exponent * log.low);
}

SineAndCosine SinCos(double x) {
  constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1, kFarthest = 9007199254740992;
  if (!(std::fabs(x) < std::numeric_limits<double>::infinity())) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    return {none, none};
  }
  if (std::fabs(x) > kFarthest) x = std::fmod(x, 4 * kHalfPi[0]);
  const double n = Round(x * kTwoOverPi);
  Pair r{x, 0};
  for (double part : kHalfPi) {
    const Pair product = Product(n, part), difference = Sum(r.high, -product.high);
    r = Sum(difference.high, r.low + (difference.low - product.low));
  }
  const double z = r.high * r.high, half = 0.5 * z, rounded = 1 - half;
  const double sine = r.high + (r.high * z * Polynomial(kSineSeries, 8, z) + r.low * (1 - half));
  const double cosine = rounded + (((1 - rounded) - half) + (z * z * Polynomial(kCosineSeries, 7, z) - r.high * r.low));
  switch (static_cast<int64_t>(n) & 3) {
    case 0:
      return {sine, cosine};
    case 1:
      return {cosine, -sine};
    case 2:
      return {-sine, -cosine};
    default:
      return {-cosine, sine};
  }
}

}  // namespace poslab
