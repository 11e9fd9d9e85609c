// Int8Matrix: a weight in a quarter of the memory: whole numbers with one scale per row.
//
//   w(i, j) ≈ scale(i) q(i, j),   q(i, j) from -127 to 127,   scale(i) = max over j of |w(i, j)| / 127
//
//   const Int8Matrix small = quantise(weight);   // (out, in)
//   Tensor y = linear(x, small, bias);           // (..., in) -> (..., out), without gradients
//
// To write one token a model reads each of its weights once, and nearly all the time goes into that reading:
// a quarter of the bytes is up to four times the speed. Only weights are rounded, each by at most half its
// row's scale; x, the products and their sums stay real. For inference: nothing here has a gradient.
#pragma once

#include <cstdint>  // int8_t
#include <memory>   // shared_ptr

#include "core/kernels.hpp"  // Activation
#include "core/tensor.hpp"

namespace attn {

// A handle, as Tensor is one: copies share the numbers.
struct Int8Matrix {
  Index rows = 0, cols = 0;
  std::shared_ptr<const std::int8_t[]> values;  // (rows, cols)
  Tensor scales;                                // (rows)
  explicit operator bool() const { return values != nullptr; }
};

Int8Matrix quantise(const Tensor& weight);       // (rows, cols), all finite
Tensor dequantise(const Int8Matrix& quantised);  // (rows, cols): scale(i) q(i, j)

// As the ops of these names in core/ops.hpp. Throws where a gradient would be wanted.
Tensor linear(const Tensor& x, const Int8Matrix& weight, const Tensor& bias = {},
              Activation activation = Activation::none);
Tensor embedding(const Int8Matrix& table, const IntTensor& ids);

}  // namespace attn
