// SPDX-License-Identifier: MIT
// Activations of the feed-forward part, with their derivatives: GELU (Hendrycks & Gimpel 2016) in its three forms, ReLU
// and its square (So et al. 2021), and SiLU (Elfwing, Uchibe & Doya 2018). The tanh form of GELU is computed as
// x sigmoid(2 sqrt(2/pi) (x + 0.044715 x^3)), which is that form exactly and needs one exponential; the one by erf
// through Abramowitz & Stegun 7.1.26, which is off by at most 1.5e-7.
#pragma once

#include <cstdint>

#include "model/model.h"

namespace poslab {

// y[n] = f(x[n]); derivative[n] = f'(x[n]) when not null. y and derivative may each be x.
void ActivationForward(ModelDescription::Activation kind, int64_t count, const float* x, float* y, float* derivative);
// The same in double by libm: what the kernel is tested against.
void ActivationReference(ModelDescription::Activation kind, int64_t count, const float* x, double* y,
                         double* derivative);

// x[n] *= y[n].
void MultiplyInto(int64_t count, const float* y, float* x);
// z[n] = x[n] * y[n].
void Multiply(int64_t count, const float* x, const float* y, float* z);

}  // namespace poslab
