// SPDX-License-Identifier: MIT
// The learned table: offsets, the end of the table, and its gradient.
#include <cmath>

#include "base/status_message.h"
#include "position/inspect.h"
#include "scheme_support.h"

namespace poslab {
namespace {

using testing::Make;
using testing::Number;
using testing::Tensors;

Tensors CountedTable(int64_t rows, int64_t dim) {
  std::vector<float> numbers;
  for (int64_t n = 0; n < rows * dim; ++n) numbers.push_back(static_cast<float>(n));
  Tensors tensors;
  tensors.Add("table", {rows, dim}, numbers);
  return tensors;
}

TEST_CASE("A position gets the row at its offset") {
  const Tensors tensors = CountedTable(10, 2);
  Buffer<float> out;
  REQUIRE(inspect::Table(*Make("learned", {Number("offset", 2)}), 3, 2, 2, tensors.values(), &out).ok());
  CHECK(std::vector<float>(out.begin(), out.end()) == std::vector<float>{10, 11, 12, 13});
  REQUIRE(inspect::Table(*Make("learned", {Number("offset", 2)}), -2, 1, 2, tensors.values(), &out).ok());
  CHECK(out[0] == 0);
}

TEST_CASE("A position past the last row is not defined, and says so") {
  const Tensors tensors = CountedTable(4, 2);
  Buffer<float> out;
  const Status past = inspect::Table(*Make("learned"), 3, 3, 2, tensors.values(), &out);
  CHECK(past.code() == Code::kNotDefined);
  CHECK(Message(past) == "position is 4, but must be a position from 0 to 3: the table has 4 rows.");
  CHECK(inspect::Table(*Make("learned"), 100, 1, 2, tensors.values(), &out).given_number() == 100);
  CHECK(inspect::Table(*Make("learned"), -1, 1, 2, tensors.values(), &out).code() == Code::kNotDefined);
  // A table of 514 rows with offset 2 carries 512 tokens.
  const Tensors roberta = CountedTable(514, 1);
  const auto scheme = Make("learned", {Number("offset", 2)});
  CHECK(inspect::Table(*scheme, 0, 512, 1, roberta.values(), &out).ok());
  CHECK(inspect::Table(*scheme, 0, 513, 1, roberta.values(), &out).code() == Code::kNotDefined);
  CHECK(scheme->DefinedLength(roberta.values()) == 512);
  const int64_t ids[] = {0, 512, 1};
  float rows[3] = {};
  CHECK(scheme->AddEmbedding({0, 3, ids}, 1, roberta.values(), rows).code() == Code::kNotDefined);
  CHECK(rows[0] == 0);
}

TEST_CASE("The table to be learned has a row for every trained position, or as many as asked for") {
  Dimensions dimensions;
  dimensions.model_dim = 8;
  CHECK(Make("learned")->Parameters(dimensions).status().code() == Code::kMissing);
  dimensions.trained_length = 64;
  const auto specs = Make("learned")->Parameters(dimensions);
  REQUIRE(specs.ok());
  CHECK((*specs)[0].shape == std::vector<int64_t>{64, 8});
  CHECK((*specs)[0].shared_by_layers);
  CHECK((*specs)[0].start.kind == Start::Kind::kNormal);
  CHECK((*specs)[0].start.a == 0.02);
  CHECK_FALSE((*specs)[0].decay);
  CHECK((*Make("learned", {Number("offset", 2)})->Parameters(dimensions))[0].shape[0] == 66);
  CHECK((*Make("learned", {Number("rows", 100)})->Parameters(dimensions))[0].shape[0] == 100);
}

TEST_CASE("A given table must have the rows that the description says and the width of the call") {
  Dimensions dimensions;
  dimensions.model_dim = 2;
  const Tensors tensors = CountedTable(4, 2);
  CHECK(Make("learned")->CheckParameters(dimensions, tensors.values()).ok());
  CHECK(Make("learned", {Number("rows", 4)})->CheckParameters(dimensions, tensors.values()).ok());
  CHECK(Make("learned", {Number("rows", 5)})->CheckParameters(dimensions, tensors.values()).code() == Code::kShape);
  dimensions.model_dim = 3;
  CHECK(Make("learned")->CheckParameters(dimensions, tensors.values()).code() == Code::kShape);
  CHECK(Make("learned")->CheckParameters(dimensions, {}).code() == Code::kMissing);
}

TEST_CASE("The gradient of a row of the table is the sum over the tokens that used it") {
  Tensors tensors = CountedTable(5, 2);
  const auto scheme = Make("learned", {Number("offset", 1)});
  const int64_t ids[] = {0, 3, 0};
  const float row_gradients[] = {1, 2, 10, 20, 100, 200};
  // The loss sum(row_gradients * rows) is linear in the table, so a whole step is its finite difference.
  const auto loss = [&] {
    std::vector<float> rows(6, 0.f);
    REQUIRE(scheme->AddEmbedding({0, 3, ids}, 2, tensors.values(), rows.data()).ok());
    double sum = 0;
    for (size_t n = 0; n < rows.size(); ++n) sum += static_cast<double>(row_gradients[n]) * rows[n];
    return sum;
  };
  std::vector<double> expected;
  for (float& number : tensors.numbers("table")) {
    number += 1;
    const double above = loss();
    number -= 2;
    expected.push_back((above - loss()) / 2);
    number += 1;
  }
  REQUIRE(scheme->EmbeddingBackward({0, 3, ids}, 2, row_gradients, tensors.gradients()).ok());
  for (size_t n = 0; n < expected.size(); ++n) CHECK(tensors.gradient("table")[n] == expected[n]);
  CHECK(tensors.gradient("table")[2] == 101);
}

}  // namespace
}  // namespace poslab
