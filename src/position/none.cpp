// SPDX-License-Identifier: MIT
// The scheme that does nothing: every default of Scheme.
#include "position/none.h"

namespace poslab {
namespace {

class None final : public Scheme {
 public:
  std::string_view type() const override { return "none"; }
};

}  // namespace

Result<std::unique_ptr<Scheme>> MakeNone(const Description& description) {
  POSLAB_RETURN_IF_ERROR(CheckFields(description, {}));
  return std::unique_ptr<Scheme>(std::make_unique<None>());
}

}  // namespace poslab
