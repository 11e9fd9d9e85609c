#include "core/ops.hpp"

#include <algorithm>  // copy
#include <iterator>   // ssize
#include <vector>     // vector

#include "core/error.hpp"
#include "core/kernels.hpp"
#include "core/op.hpp"

namespace attn {

// out[i] = table[ids[i]]: the same as a one-hot matrix times the table, without the multiplications by 0.
Tensor embedding(const Tensor& table, const IntTensor& ids) {
  if (table.rank() != 2) fail("embedding: the table has shape {}, not (V,C)", table.shape().str());
  const Index V = table.shape()[0], C = table.shape()[1], n = ids.numel();
  const Tensor out = empty(ids.shape().inserted(ids.shape().rank(), C));  // (..., C)
  for (Index i = 0; i < n; ++i) {
    if (ids[i] < 0 || ids[i] >= V)
      fail("embedding: id {} (number {} of {}) is outside the table {}", ids[i], i, ids.shape().str(),
           table.shape().str());
    const real* row = table.data() + ids[i] * C;
    std::copy(row, row + C, out.data() + i * C);
  }
  // A row that was looked up several times gets the sum of the gradients.
  return record(out, "embedding", {table}, [table, ids = ids.copy(), C, n](const Tensor& out) {
    real* gradient = zeroed_grad(table);
    for (Index i = 0; i < n; ++i) {
      real* row = gradient + ids[i] * C;
      kernels().add(C, row, grad_data(out) + i * C, row);
    }
  });
}

Tensor take_rows(const Tensor& x, const std::vector<int>& rows) {
  const Index count = std::ssize(rows), available = x.size(0);
  const Tensor table = reshape(x, {available, available ? x.numel() / available : 0});
  return reshape(embedding(table, IntTensor({count}, rows)), x.shape().with(0, count));
}

}  // namespace attn
