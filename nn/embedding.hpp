// Embedding: one learned vector for each token of the vocabulary.
//
// The paper multiplies the vectors by √d_model, because the same table, transposed, is also the output
// projection. There its entries must be small (standard deviation 1/√d_model) so that logits start near 1;
// here they must be as large as the sinusoids that are added to them. GPT learns its positions, so they can
// start as small as the embeddings: no factor, and a standard deviation of 0.02 for both.
#pragma once

#include <cmath>  // sqrt

#include "core/error.hpp"
#include "core/int8.hpp"
#include "core/ops.hpp"
#include "core/parameters.hpp"
#include "nn/initialization.hpp"

namespace attn {

struct Embedding {
  Tensor table;       // (V, C)
  Int8Matrix int8;    // instead of the table, after quantise(): see nn/linear.hpp
  bool scale = true;  // × √C

  Embedding() = default;
  Embedding(Index vocabulary, Index d_model, Rng& rng, bool scale = true,
            Initialization initialization = Initialization::xavier)
      : table(initial_table({vocabulary, d_model}, rng, 1 / std::sqrt(real(d_model)), initialization)),
        scale(scale) {}

  Tensor operator()(const IntTensor& ids) const {  // (...) -> (..., C)
    const Tensor rows = int8 ? embedding(int8, ids) : embedding(table, ids);
    return scale ? rows * std::sqrt(real(rows.size(-1))) : rows;
  }
  Tensor logits(const Tensor& x, const Tensor& bias = {}) const {  // (..., C) -> (..., V)
    return int8 ? linear(x, int8, bias) : linear(x, table, bias);
  }
  void quantise() {
    if (!table) return;
    int8 = attn::quantise(table);
    table = Tensor();
  }
  void parameters(ParameterList& list) const {
    if (int8) fail("embedding: its table is int8, which can be neither trained nor saved");
    list.add("table", table);
  }
};

}  // namespace attn
