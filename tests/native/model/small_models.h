// SPDX-License-Identifier: MIT
// Small models for tests: one description, changed here and there, and schemes from the registry by name.
#pragma once

#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <vector>

#include "model/model.h"
#include "position/registry.h"

namespace poslab_test {

inline poslab::ModelDescription SmallDescription() {
  poslab::ModelDescription d;
  d.vocabulary = 7, d.dim = 8, d.heads = 2, d.layers = 2, d.feed_forward = 6, d.trained_length = 6;
  return d;
}

inline std::shared_ptr<const poslab::Scheme> SchemeOf(const poslab::Description& description) {
  auto scheme = poslab::MakeScheme(description);
  REQUIRE_MESSAGE(scheme.ok(), scheme.status().argument());
  return std::move(*scheme);
}
inline std::shared_ptr<const poslab::Scheme> SchemeOf(const std::string& type) {
  return SchemeOf(poslab::Description{type, {}});
}

inline poslab::Field Number(const std::string& name, double value) {
  poslab::Field field;
  field.name = name, field.kind = poslab::Field::Kind::kNumber, field.number = value;
  return field;
}
inline poslab::Field Boolean(const std::string& name, bool value) {
  poslab::Field field;
  field.name = name, field.kind = poslab::Field::Kind::kBoolean, field.boolean = value;
  return field;
}
inline poslab::Field Text(const std::string& name, const std::string& value) {
  poslab::Field field;
  field.name = name, field.kind = poslab::Field::Kind::kText, field.text = value;
  return field;
}

// A model with its starting weights, moved a little so that no bias, gain or slope stands at a special value.
inline std::unique_ptr<poslab::Model> MakeModel(const poslab::ModelDescription& description,
                                                std::vector<std::shared_ptr<const poslab::Scheme>> schemes,
                                                uint64_t seed = 1) {
  auto model = poslab::Model::Make(description, std::move(schemes));
  REQUIRE_MESSAGE(model.ok(), model.status().argument());
  poslab::Random random(seed);
  (*model)->Initialize(&random);
  for (float& weight : (*model)->weights()) weight += static_cast<float>(0.1 * random.Uniform());
  return std::move(*model);
}

}  // namespace poslab_test
