// Embedding: one learned vector for each token of the vocabulary.
//
// The paper multiplies the vectors by √d_model, because the same table, transposed, is also the output
// projection: there the entries have to be small (deviation 1/√d_model) so that logits start near 1, here
// they have to be as large as the positional encodings that are added to them.
#pragma once

#include <cmath>  // sqrt

#include "core/ops.hpp"
#include "core/parameters.hpp"

namespace attn {

struct Embedding {
  Tensor table;  // (V, C)
  real scale = 1;

  Embedding() = default;
  Embedding(Index vocabulary, Index d_model, Rng& rng, bool scaled = true)
      : table(
            normal({vocabulary, d_model}, rng, 0, 1 / std::sqrt(static_cast<real>(d_model))).requires_grad()),
        scale(scaled ? std::sqrt(static_cast<real>(d_model)) : real{1}) {}

  Tensor operator()(const IntTensor& ids) const {  // (...) -> (..., C)
    const Tensor vectors = embedding(table, ids);
    return scale == 1 ? vectors : vectors * scale;
  }
  Tensor logits(const Tensor& x) const { return linear(x, table); }  // (..., C) -> (..., V)
  void parameters(ParameterList& list) const { list.add("table", table); }
};

}  // namespace attn
