#include "core/tensor.hpp"

#include <algorithm>  // copy, equal, fill, max, min
#include <cmath>      // fabs, isinf, isnan, nextafter

#include "core/autograd.hpp"
#include "core/error.hpp"
#include "core/ops.hpp"

namespace attn {
namespace {

TensorBody* new_body(const Shape& shape) {
  TensorBody* body = new (pool_allocate(sizeof(TensorBody))) TensorBody;
  body->shape = shape;
  body->numel = shape.numel();
  return body;
}

Index offset(const char* op, const Shape& shape, std::initializer_list<Index> index) {
  if (static_cast<int>(index.size()) != shape.rank())
    fail("{}: {} indices for a tensor of shape {}", op, index.size(), shape.str());
  Index position = 0;
  int axis = 0;
  for (const Index i : index) {
    if (i < 0 || i >= shape[axis])
      fail("{}: index {} is outside axis {} of {}, which has size {}", op, i, axis, shape.str(), shape[axis]);
    position = position * shape[axis++] + i;
  }
  return position;
}

// A tensor on storage that exists already.
Tensor share(const Shape& shape, Storage* storage, real* values) {
  TensorBody* body = new_body(shape);
  storage->retain();
  body->storage = storage;
  body->values = values;
  return Tensor::adopt(body);
}

}  // namespace

Storage* Storage::allocate(std::size_t data_bytes) {
  const std::size_t bytes = sizeof(Storage) + data_bytes;
  Storage* storage = new (pool_allocate(bytes)) Storage;
  storage->bytes = bytes;
  return storage;
}

// A graph that is dropped without a backward is a chain of handles as long as the graph is deep. Bodies are
// collected in a list, and only the outermost call works it off: no recursion, however deep.
void Tensor::destroy(TensorBody* body) noexcept {
  static thread_local TensorBody* pending = nullptr;
  static thread_local bool working = false;
  if (body->node) {
    // The list is linked through the values pointer, which a dead tensor does not need any more.
    body->values = reinterpret_cast<real*>(pending);
    pending = body;
    if (working) return;
    working = true;
    while (pending) {
      TensorBody* next = pending;
      pending = reinterpret_cast<TensorBody*>(next->values);
      free_node(std::exchange(next->node, nullptr));
      destroy(next);
    }
    working = false;
    return;
  }
  if (body->storage) body->storage->release();
  if (body->grad_storage) body->grad_storage->release();
  pool_release(body, sizeof(TensorBody));
}

Index Tensor::size(int axis) const { return shape()[normalize_axis("size", shape(), axis)]; }

real Tensor::item() const {
  if (numel() != 1)
    fail("item: the tensor has shape {}; only a tensor with one element has an item", shape().str());
  return data()[0];
}

real& Tensor::at(std::initializer_list<Index> index) const { return data()[offset("at", shape(), index)]; }

Tensor Tensor::operator[](Index i) const { return select(*this, 0, i); }

Tensor& Tensor::requires_grad(bool on) {
  if (!is_leaf())
    fail("requires_grad: {} was computed by an op; only leaves can be told to (see detach)", shape().str());
  body_->requires_grad = on;
  return *this;
}

Tensor& Tensor::retain_grad() {
  if (!needs_grad()) fail("retain_grad: {} needs no gradient", shape().str());
  body_->retains_grad = true;
  return *this;
}

Tensor Tensor::grad() const {
  if (!body_->has_grad) return {};
  return share(shape(), body_->grad_storage, body_->grad);
}

void Tensor::zero_grad() const {
  body_->has_grad = false;
  if (body_->fixed_grad || !body_->grad_storage) return;
  body_->grad_storage->release();
  body_->grad_storage = nullptr;
  body_->grad = nullptr;
}

Tensor Tensor::detach() const { return share(shape(), body_->storage, data()); }

Tensor reshape(const Tensor& x, const Shape& shape) {
  if (shape.numel() != x.numel())
    fail("reshape: {} has {} elements, {} has {}", x.shape().str(), x.numel(), shape.str(), shape.numel());
  const Tensor y = share(shape, x.body()->storage, x.data());
  return record(y, "reshape", {x}, [x](const Tensor& y) { pass_grad(y, x); });
}

IntTensor::IntTensor(const Shape& shape)
    : shape_(shape), storage_(Storage::allocate(static_cast<std::size_t>(shape.numel()) * sizeof(int))) {}

IntTensor::IntTensor(const Shape& shape, const std::vector<int>& values) : IntTensor(shape) {
  if (shape.numel() != static_cast<Index>(values.size()))
    fail("IntTensor: {} values do not fill the shape {}", values.size(), shape.str());
  std::copy(values.begin(), values.end(), data());
}

int& IntTensor::at(std::initializer_list<Index> index) const { return data()[offset("at", shape_, index)]; }

IntTensor IntTensor::reshape(const Shape& shape) const {
  if (shape.numel() != numel())
    fail("reshape: {} has {} elements, {} has {}", shape_.str(), numel(), shape.str(), shape.numel());
  IntTensor out = *this;
  out.shape_ = shape;
  return out;
}

Tensor empty(const Shape& shape) {
  const Tensor out = Tensor::adopt(new_body(shape));
  TensorBody* body = out.body();
  body->storage = Storage::allocate(static_cast<std::size_t>(body->numel) * sizeof(real));
  body->values = static_cast<real*>(body->storage->data());
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
  for (Index i = 0; i < n; ++i) out.data()[i] = static_cast<real>(i);
  return out;
}

Tensor from_values(const Shape& shape, const std::vector<real>& values) {
  if (shape.numel() != static_cast<Index>(values.size()))
    fail("from_values: {} values do not fill the shape {}", values.size(), shape.str());
  Tensor out = empty(shape);
  std::copy(values.begin(), values.end(), out.data());
  return out;
}

Tensor tensor(std::initializer_list<real> values) {
  return from_values({static_cast<Index>(values.size())}, values);
}

Tensor tensor(std::initializer_list<std::initializer_list<real>> rows) {
  std::vector<real> values;
  for (const auto& row : rows) {
    if (row.size() != rows.begin()->size())
      fail("tensor: a row has {} values, the first one {}", row.size(), rows.begin()->size());
    values.insert(values.end(), row.begin(), row.end());
  }
  const Index columns = rows.size() ? static_cast<Index>(rows.begin()->size()) : 0;
  return from_values({static_cast<Index>(rows.size()), columns}, values);
}

Tensor uniform(const Shape& shape, Rng& rng, real low, real high) {
  if (!(low <= high)) fail("uniform: there is nothing between {} and {}", low, high);
  Tensor out = empty(shape);
  const real last = std::nextafter(high, low);  // a draw just below 1 would be rounded up to `high`
  for (Index i = 0; i < out.numel(); ++i)
    out.data()[i] = std::min(low + (high - low) * static_cast<real>(rng.uniform()), last);
  return out;
}

Tensor normal(const Shape& shape, Rng& rng, real mean, real deviation) {
  Tensor out = empty(shape);
  for (Index i = 0; i < out.numel(); ++i) out.data()[i] = mean + deviation * static_cast<real>(rng.normal());
  return out;
}

bool equal(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::equal(a.data(), a.data() + a.numel(), b.data());
}

bool allclose(const Tensor& a, const Tensor& b, double rtol, double atol) {
  if (!(a.shape() == b.shape())) return false;
  for (Index i = 0; i < a.numel(); ++i) {
    const double x = a.data()[i], y = b.data()[i];
    const double difference = x == y ? 0 : std::fabs(x - y);  // inf equals inf, but is close to nothing else
    if (!(difference <= atol + rtol * std::fabs(y)) || std::isinf(difference)) return false;
  }
  return true;
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
