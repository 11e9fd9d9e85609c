// The pictures of lesson 09.
#pragma once

#include <complex>  // complex
#include <string>   // string
#include <vector>   // vector

#include "core/tensor.hpp"
#include "core/viz/viz.hpp"

namespace attn {

// RoPE turning: for each pair of positions (query at m, key at n) the query and the key as arrows, turned by
// mθ and nθ, and the angle between them.
struct Turned {
  int m, n;
  std::complex<double> query, key;
};
viz::Image turning_arrows(const std::vector<Turned>& panels);

// Rows of clocks: hands(position, pair) are angles in radians from the first axis, counterclockwise.
viz::Image clocks(const std::vector<int>& positions, const std::vector<std::vector<double>>& hands,
                  const std::vector<std::string>& names);

// The sinusoidal table (T, C) beside the same positions as bits.
viz::Image bits_and_sines(const Tensor& table);

// Rows of the products (T, T) of all positions, against the position and against the distance.
viz::Image products_by_distance(const Tensor& products, const std::vector<Index>& rows);

viz::Image bias_maps(Index T);                            // ALiBi's bias and T5's buckets, (T, T)
viz::Image learned_against_fixed(const Tensor& t5_bias);  // (T, T), beside ALiBi's; the future is pale

}  // namespace attn
