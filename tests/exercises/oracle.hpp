// What the oracles share. Where the library has a function, it is the right answer.
#pragma once

#include <cmath>      // sqrt
#include <stdexcept>  // invalid_argument
#include <vector>

#include "core/autograd.hpp"
#include "core/error.hpp"
#include "core/ops.hpp"

namespace oracle {

// The gradient of x, given that of f(x), by the library's own backward.
template <class F>
attn::Tensor pulled_back(const F& f, const attn::Tensor& x, const attn::Tensor& gradient) {
  attn::Tensor leaf = from_values(x.shape(), x.values());
  leaf.requires_grad();
  backward(f(leaf), gradient);
  return leaf.grad();
}

// The same, refused as a contract asks for: what does not fit is an invalid argument.
template <class F>
auto refusing(const F& f) {
  try {
    return f();
  } catch (const attn::Error& error) {
    throw std::invalid_argument(error.what());
  }
}

// softmax(q kᵀ / √D) v: without tiles, and, unlike the library's op, for values of any width.
inline attn::Tensor scores(const attn::Tensor& q, const attn::Tensor& k) {
  return matmul(q, k, attn::Transpose::second) / std::sqrt(attn::real(q.size(-1)));
}
inline attn::Tensor attend(const attn::Tensor& q, const attn::Tensor& k, const attn::Tensor& v) {
  return matmul(softmax(scores(q, k)), v);
}

// A copy of the shared keys or values (K, T, D) for each of the query heads: (H, T, D).
inline attn::Tensor share_heads(const attn::Tensor& k, attn::Index heads) {
  if (heads % k.size(0) != 0) throw std::invalid_argument("heads must be a multiple of the kv heads");
  std::vector<int> shared;
  for (attn::Index h = 0; h < heads; ++h) shared.push_back(int(h * k.size(0) / heads));
  return take_rows(k, shared);
}

}  // namespace oracle
