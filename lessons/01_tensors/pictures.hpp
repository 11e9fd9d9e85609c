// The pictures of lesson 01: a table as a strip of memory, the strip read three ways, and the row that meets
// a column. For small tables.
#pragma once

#include <string>  // string
#include <vector>  // vector

#include "core/tensor.hpp"
#include "core/viz/image.hpp"

namespace attn {

using Labels = std::vector<std::string>;

// The table `x` above the strip of memory that holds it, and the jumps that lead to element (i, j).
viz::Image strip_picture(const Tensor& x, const Labels& rows, const Labels& columns, Index i, Index j);

// One strip read three ways: as it is, reshaped, and transposed by swapping the strides.
viz::Image strides_picture(const Tensor& x, const Labels& rows, const Labels& columns);

// c = a b, laid out so that row i of a and column j of b meet at c(i, j).
struct Product {
  Tensor a, b, c;
  Labels rows, inner, columns;
  std::string a_name, b_name, c_name;
};
viz::Image product_picture(const Product& product, Index i, Index j);

}  // namespace attn
