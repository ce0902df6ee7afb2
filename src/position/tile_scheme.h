// SPDX-License-Identifier: MIT
// What schemes share that are a tile hook with learnable tensors.
#pragma once

#include <memory>

#include "position/learned_tensors.h"

namespace poslab {

class LearnedTile : public TileHook {
 public:
  // Once the tensors are bound; and once the engine is done, before their gradients are handed over.
  virtual Status Prepare(const BindArguments& arguments) {
    (void)arguments;
    return Status::Ok();
  }
  virtual void Finish() {}

  LearnedTensors tensors;
};

class TileScheme : public Scheme {
 public:
  bool acts_on_attention() const final { return true; }
  Status Bind(const BindArguments& arguments, Hooks* hooks) const final;
  Status Pull(const BindArguments& arguments, const Hooks& hooks, const HookGradients& hook_gradients,
              ParameterGradients gradients) const final;

 protected:
  // What the shapes of given tensors say of sizes that are not known.
  virtual Dimensions Completed(Dimensions dimensions, ParameterValues parameters) const {
    (void)parameters;
    return dimensions;
  }
  virtual std::unique_ptr<LearnedTile> MakeTile(const Dimensions& dimensions) const = 0;
};

}  // namespace poslab
