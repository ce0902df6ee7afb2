// SPDX-License-Identifier: MIT
// The learnable tensors of a scheme during one call: values in the order of its specs, and their gradients summed in
// double until Pull hands them over.
#pragma once

#include <vector>

#include "base/buffer.h"
#include "position/description.h"
#include "position/scheme.h"

namespace poslab {

// Appends a tensor to a scheme's list.
void AddSpec(std::string_view name, std::initializer_list<int64_t> shape, Start start,
             std::vector<ParameterSpec>* specs, bool decay = false);

// maxDistance of a scheme whose one field it is: its table has a row for each distance from -maxDistance to maxDistance.
Result<int64_t> ReadMaxDistance(const Description& description, int64_t otherwise);

class LearnedTensors {
 public:
  // Checks the call's tensors as the scheme does and makes room for their gradients.
  Status Bind(const Scheme& scheme, const BindArguments& arguments);

  bool empty() const { return entries_.empty(); }
  const float* value(size_t n) const { return entries_[n].value; }
  double* gradient(size_t n) { return gradients_.data() + entries_[n].offset; }
  int64_t size(size_t n) const { return entries_[n].size; }
  void Pull(ParameterGradients gradients) const;

 private:
  struct Entry {
    std::string_view name;  // of the call's tensor
    const float* value;
    int64_t offset, size;
  };
  std::vector<Entry> entries_;
  Buffer<double> gradients_;  // of all tensors, one after the other
};

}  // namespace poslab
