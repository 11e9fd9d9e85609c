// Embedding: one learned vector for each token of the vocabulary.
//
// The paper multiplies the vectors by √d_model, because the same table, transposed, is also the output
// projection. There its entries must be small (standard deviation 1/√d_model) so that logits start near 1;
// here they must be as large as the positional encodings that are added to them.
#pragma once

#include <cmath>  // sqrt

#include "core/ops.hpp"
#include "core/parameters.hpp"

namespace attn {

struct Embedding {
  Tensor table;  // (V, C)

  Embedding() = default;
  Embedding(Index vocabulary, Index d_model, Rng& rng)
      : table(normal({vocabulary, d_model}, rng, 0, 1 / std::sqrt(real(d_model))).requires_grad()) {}

  Tensor operator()(const IntTensor& ids) const {  // (...) -> (..., C)
    return embedding(table, ids) * std::sqrt(real(table.size(1)));
  }
  Tensor logits(const Tensor& x) const { return linear(x, table); }  // (..., C) -> (..., V)
  void parameters(ParameterList& list) const { list.add("table", table); }
};

}  // namespace attn
