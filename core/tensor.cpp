#include "core/tensor.hpp"

#include <algorithm>  // copy, count, equal, fill, find, max, min
#include <cmath>      // fabs, isnan, nextafter
#include <iterator>   // ssize

#include "core/error.hpp"
#include "core/op.hpp"
#include "core/ops.hpp"

namespace attn {

Counted<Storage> Storage::allocate(std::size_t data_bytes) {
  const std::size_t bytes = sizeof(Storage) + data_bytes;
  return Counted(new (pool_allocate(bytes)) Storage{.bytes = bytes});
}

// Inline, because every op goes through here.
[[gnu::always_inline]] inline Tensor::Tensor(const Shape& shape, Counted<Storage> storage, real* values)
    : body_(new (pool_allocate(sizeof(Body))) Body(shape, std::move(storage), values)) {}

// A graph that is dropped without a backward is a chain of handles as long as the graph is deep. Bodies with
// a node wait in a list, which the outermost call works off: no recursion, however deep.
void Tensor::Body::destroy() noexcept {
  static thread_local Body* pending = nullptr;
  static thread_local bool working = false;
  if (!node) {
    this->~Body();
    return pool_release(this, sizeof(Body));
  }
  next = std::exchange(pending, this);
  if (working) return;
  working = true;
  while (pending) {
    Body* body = std::exchange(pending, pending->next);
    free_node(std::exchange(body->node, nullptr));
    body->destroy();
  }
  working = false;
}

void refuse_empty(const char* type) {
  fail("{}: this one is empty: nothing was ever assigned to it, so it has no shape and no values", type);
}

Index Tensor::size(int axis) const { return shape()[normalize_axis("size", shape(), axis)]; }

real Tensor::item() const {
  if (numel() != 1)
    fail("item: the tensor has shape {}; only a tensor with one element has an item", shape().str());
  return data()[0];
}

Tensor Tensor::operator[](Index i) const { return select(*this, 0, i); }

Tensor& Tensor::requires_grad(bool on) {
  if (!is_leaf())
    fail("requires_grad: {} was computed by an op; only leaves can be told to (see detach)", shape().str());
  body().requires_grad = on;
  return *this;
}

Tensor& Tensor::retain_grad() {
  if (!needs_grad()) fail("retain_grad: {} needs no gradient", shape().str());
  body().retains_grad = true;
  return *this;
}

Tensor Tensor::grad() const {
  if (!has_grad()) return {};
  return Tensor(shape(), body().grad_storage, body().grad);
}

void Tensor::zero_grad() const {
  Body& fields = body();
  fields.has_grad = false;
  if (fields.in_block) return;
  fields.grad_storage = {};
  fields.grad = nullptr;
}

Tensor Tensor::detach() const { return Tensor(shape(), body().storage, data()); }

void Tensor::move_to_block(const Tensor& values, const Tensor& gradients, Index offset) const {
  zero_grad();
  std::copy(data(), data() + numel(), values.data() + offset);
  Body& fields = body();
  fields.storage = values.body().storage;
  fields.values = values.data() + offset;
  fields.grad_storage = gradients.body().storage;
  fields.grad = gradients.data() + offset;
  fields.in_block = true;
}

void Tensor::leave_block() const {
  body().in_block = false;
  zero_grad();
}

Tensor reshape(const Tensor& x, const Shape& shape) {
  if (shape.numel() != x.numel())
    fail("reshape: {} has {} elements, {} has {}", x.shape().str(), x.numel(), shape.str(), shape.numel());
  const Tensor y(shape, x.body().storage, x.data());
  return record(y, "reshape", {x}, [x](const Tensor& y) { pass_grad(y, x); });
}

Tensor reshape(const Tensor& x, std::span<const Index> sizes) {
  const auto inferred = std::find(sizes.begin(), sizes.end(), -1);
  if (inferred == sizes.end()) return reshape(x, Shape(sizes));
  std::vector<Index> all(sizes.begin(), sizes.end());
  Index& missing = all[inferred - sizes.begin()] = 1;
  if (std::count(all.begin(), all.end(), -1)) fail("reshape: only one axis can be -1");
  const Shape rest(all);
  if (rest.numel() == 0 || x.numel() % rest.numel())
    fail("reshape: no size in place of -1 makes the {} elements of {}: the other axes have {}", x.numel(),
         x.shape().str(), rest.numel());
  missing = x.numel() / rest.numel();
  return reshape(x, Shape(all));
}

IntTensor::IntTensor(const Shape& shape)
    : shape_(shape), storage_(Storage::allocate(std::size_t(shape.numel()) * sizeof(int))) {}

IntTensor::IntTensor(const Shape& shape, const std::vector<int>& values) : IntTensor(shape) {
  if (shape.numel() != std::ssize(values))
    fail("IntTensor: {} values do not fill the shape {}", values.size(), shape.str());
  std::copy(values.begin(), values.end(), data());
}

IntTensor IntTensor::copy() const {
  IntTensor out(shape());
  std::copy(data(), data() + numel(), out.data());
  return out;
}

Tensor empty(const Shape& shape) {
  const Tensor out(shape, {}, nullptr);
  out.body_->storage = Storage::allocate(std::size_t(out.numel()) * sizeof(real));
  out.body_->values = out.body_->storage->data<real>();
  return out;
}

Tensor full(const Shape& shape, real value) {
  Tensor out = empty(shape);
  std::fill(out.data(), out.data() + out.numel(), value);
  return out;
}

Tensor zeros(const Shape& shape) { return full(shape, 0); }
Tensor ones(const Shape& shape) { return full(shape, 1); }
Tensor scalar(real value) { return full({}, value); }

Tensor arange(Index n) {
  Tensor out = empty({n});
  for (Index i = 0; i < n; ++i) out.data()[i] = real(i);
  return out;
}

Tensor from_values(const Shape& shape, const std::vector<real>& values) {
  if (shape.numel() != std::ssize(values))
    fail("from_values: {} values do not fill the shape {}", values.size(), shape.str());
  Tensor out = empty(shape);
  std::copy(values.begin(), values.end(), out.data());
  return out;
}

Tensor tensor(std::initializer_list<real> values) { return from_values({std::ssize(values)}, values); }

Tensor tensor(std::initializer_list<std::initializer_list<real>> rows) {
  std::vector<real> values;
  for (const auto& row : rows) {
    if (row.size() != rows.begin()->size())
      fail("tensor: a row has {} values, the first one {}", row.size(), rows.begin()->size());
    values.insert(values.end(), row.begin(), row.end());
  }
  const Index columns = rows.size() ? Index(rows.begin()->size()) : 0;
  return from_values({Index(rows.size()), columns}, values);
}

Tensor uniform(const Shape& shape, Rng& rng, real low, real high) {
  if (!(low <= high)) fail("uniform: the range from {} to {} is empty", low, high);
  Tensor out = empty(shape);
  const real last = std::nextafter(high, low);  // a draw just below 1 would be rounded up to `high`
  for (Index i = 0; i < out.numel(); ++i)
    out.data()[i] = std::min(low + (high - low) * real(rng.uniform()), last);
  return out;
}

Tensor normal(const Shape& shape, Rng& rng, real mean, real deviation) {
  Tensor out = empty(shape);
  for (Index i = 0; i < out.numel(); ++i) out.data()[i] = mean + deviation * real(rng.normal());
  return out;
}

bool equal(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::equal(a.data(), a.data() + a.numel(), b.data());
}

double max_difference(const Tensor& a, const Tensor& b) {
  if (!(a.shape() == b.shape())) fail("max_difference: {} and {}", a.shape().str(), b.shape().str());
  double worst = 0;
  for (Index i = 0; i < a.numel(); ++i) {
    const double x = a.data()[i], y = b.data()[i];
    const double difference = x == y ? 0 : std::fabs(x - y);
    if (std::isnan(difference)) return difference;
    worst = std::max(worst, difference);
  }
  return worst;
}

}  // namespace attn
