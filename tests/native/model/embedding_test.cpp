// SPDX-License-Identifier: MIT
// Embedding rows by id, with positional rows, and the sums that come back.
#include "model/embedding.h"

#include <doctest/doctest.h>
#include <vector>

#include "model/random_rows.h"

using namespace poslab;
using poslab_test::RandomRows;

TEST_CASE("Each row is its id's row plus its position's, and gradients come back summed") {
  const int64_t batch = 2, length = 3;
  for (int64_t dim : {1, 4, 7}) {
    const std::vector<int32_t> ids = {1, 1, 0, 3, 1, 0};  // id 1 three times, id 2 never
    const std::vector<float> table = RandomRows(4 * dim, 1), positional = RandomRows(length * dim, 2);
    std::vector<float> x(batch * length * dim);
    EmbeddingForward(batch, length, dim, ids.data(), table.data(), positional.data(), x.data());
    for (int64_t r = 0; r < batch * length; ++r)
      for (int64_t n = 0; n < dim; ++n)
        CHECK(x[r * dim + n] == table[ids[r] * dim + n] + positional[(r % length) * dim + n]);
    EmbeddingForward(batch, length, dim, ids.data(), table.data(), nullptr, x.data());
    CHECK(x[0] == table[dim]);

    const std::vector<float> gradient(batch * length * dim, 1.0f);
    std::vector<float> table_gradient(4 * dim, 0.0f), positional_gradient(length * dim, 0.0f);
    EmbeddingBackward(batch, length, dim, ids.data(), gradient.data(), table_gradient.data(),
                      positional_gradient.data());
    const float counts[] = {2, 3, 0, 1};
    for (int64_t n = 0; n < 4 * dim; ++n) CHECK(table_gradient[n] == counts[n / dim]);
    for (float sum : positional_gradient) CHECK(sum == 2.0f);
  }
}
