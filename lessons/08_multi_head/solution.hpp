// Solution 08: several heads.
#pragma once

#include "lessons/coach/exercise.hpp"

namespace exercise {

// Reshaping (T, C) to (T, H, D) only gives the channels two names, h and d; nothing moves in memory. The swap
// of T and H does move: afterwards the tokens of one head lie together, as a matrix (T, D) that can attend.
Tensor split_heads(const Tensor& x, Index heads) {
  const Index B = x.size(0), T = x.size(1), D = x.size(2) / heads;
  Tensor out = empty({B, heads, T, D});
  for (Index b = 0; b < B; ++b)
    for (Index h = 0; h < heads; ++h)
      for (Index t = 0; t < T; ++t)
        for (Index d = 0; d < D; ++d) out(b, h, t, d) = x(b, t, h * D + d);
  return out;
}

// The same two steps backwards: swap first, then forget the two names.
Tensor merge_heads(const Tensor& x) {
  const Index B = x.size(0), H = x.size(1), T = x.size(2), D = x.size(3);
  return reshape(permute(x, {0, 2, 1, 3}), {B, T, H * D});
}

// matmul and softmax treat (B, H) as so many separate matrices: no loop over heads is needed. √D is that of a
// head, because a score is a sum of D products.
Tensor multi_head(const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v, const Tensor& w_o,
                  Index heads) {
  const Tensor q = split_heads(matmul(x, w_q), heads);  // (B, H, T, D)
  const Tensor k = split_heads(matmul(x, w_k), heads);
  const Tensor v = split_heads(matmul(x, w_v), heads);
  const Tensor scores = matmul(q, k, Transpose::second) / std::sqrt(real(q.size(3)));  // (B, H, T, T)
  return matmul(merge_heads(matmul(softmax(scores), v)), w_o);                         // (B, T, C)
}

// Nothing is copied: query head h only has to know where to look, at h / (H / G).
Tensor grouped_query(const Tensor& q, const Tensor& k, const Tensor& v) {
  const Index group = q.size(0) / k.size(0);
  std::vector<Tensor> heads;
  for (Index h = 0; h < q.size(0); ++h) {
    const Tensor scores =
        matmul(q[h], k[h / group], Transpose::second) / std::sqrt(real(q.size(2)));  // (T, S)
    heads.push_back(matmul(softmax(scores), v[h / group]));                          // (T, E)
  }
  return stack(heads);
}

// Keys and values: hence the 2. Query heads do not appear: queries are used once and forgotten.
Index cache_numbers(Index layers, Index kv_heads, Index head_size, Index tokens) {
  return 2 * layers * kv_heads * head_size * tokens;
}

}  // namespace exercise
