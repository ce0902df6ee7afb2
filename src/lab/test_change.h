// SPDX-License-Identifier: MIT
// A change at test time made ready for one tested length: another scheme, a window, other distances of far keys, a shift, a
// stretched table.
#pragma once

#include <memory>

#include "lab/run.h"

namespace poslab {

// What does not depend on the length: contradictions and numbers outside their limits. `trained` is the encoding that
// the weights were trained with.
Status CheckAtTest(const AtTest& change, const Description& trained);

// Whether the model has the tensors that `scheme` learns, by name and shape: kNotDefined naming "atTest.position" if
// not.
Status CheckTensors(const Scheme& scheme, Model* model);

// The largest number of places from `shift` on that the scheme can embed with the model's tensors, or INT64_MAX.
int64_t DefinedPlaces(const Scheme& scheme, int64_t shift, Model* model);

// Owns what its RunOptions point to.
struct TestChange {
  RunOptions options;
  std::unique_ptr<Scheme> scheme;
  Buffer<float> table;  // [length, dim], when a learned table is stretched

  // For windows of `length` places on the model's weights as they are now. A scaling without `factor` gets
  // max(1, length / L), distances without a group the smallest that keeps them below L, a table is stretched only past its
  // end: at up to L nothing changes. kContradiction naming "atTest.distances" for a scheme that cannot have them.
  static Result<TestChange> Make(const AtTest& change, const Description& trained, Model* model, int64_t length);
};

}  // namespace poslab
