// Tensor: an array of numbers that remembers how it was computed.
//
// A Tensor is a handle: one pointer, counted. Copying it copies no numbers, and two handles may share one
// tensor. Values are contiguous and row-major: element (i, j) of a (R, C) tensor is data()[i * C + j].
// `reshape` and `detach` share the values of their input; every other op makes new ones.
//
//   Tensor w = normal({3, 2}, rng).requires_grad();
//   Tensor loss = sum(matmul(x, w));
//   backward(loss);                       // core/autograd.hpp
//   w.grad()                              // (3, 2): d loss / d w
//
// Tensors belong to one thread: the count is a plain integer, because an atomic one would cost more than a
// small op does. Inside an op, threads share the numbers, not the handles.
#pragma once

#include <fmt/format.h>  // formatter

#include <initializer_list>  // initializer_list
#include <iosfwd>            // ostream
#include <string>            // string
#include <utility>           // exchange, swap
#include <vector>            // vector

#include "core/pool.hpp"
#include "core/real.hpp"
#include "core/rng.hpp"
#include "core/shape.hpp"

namespace attn {

struct Node;  // how a tensor was computed: core/autograd.hpp

// A counted buffer from the pool: this header, then the numbers.
struct alignas(64) Storage {
  int references = 1;
  std::size_t bytes = 0;  // of the whole block
  void* data() { return this + 1; }

  static Storage* allocate(std::size_t data_bytes);
  void retain() { ++references; }
  void release() noexcept {
    if (--references == 0) pool_release(this, bytes);
  }
};

struct TensorBody {
  int references = 1;
  bool requires_grad = false;  // a leaf that wants a gradient, or computed from one
  bool retains_grad = false;   // an inner tensor that keeps its gradient after backward
  bool has_grad = false;       // something is in the gradient
  bool graph_freed = false;    // backward has run through here
  bool queued = false;         // backward will run this tensor's node
  bool fixed_grad = false;     // the gradient lies in a block of an optimizer's and stays there
  Shape shape;
  Index numel = 0;
  Storage* storage = nullptr;
  real* values = nullptr;
  Storage* grad_storage = nullptr;
  real* grad = nullptr;
  Node* node = nullptr;
};

class Tensor {
 public:
  Tensor() = default;
  Tensor(const Tensor& other) : body_(other.body_) {
    if (body_) ++body_->references;
  }
  Tensor(Tensor&& other) noexcept : body_(std::exchange(other.body_, nullptr)) {}
  Tensor& operator=(Tensor other) noexcept {
    std::swap(body_, other.body_);
    return *this;
  }
  ~Tensor() {
    if (body_ && --body_->references == 0) destroy(body_);
  }

  explicit operator bool() const { return body_ != nullptr; }  // false for a default-constructed one
  const Shape& shape() const { return body_->shape; }
  int rank() const { return body_->shape.rank(); }
  Index size(int axis) const;  // negative axes count from the end
  Index numel() const { return body_->numel; }
  real* data() const { return body_->values; }  // the handle is const, the numbers are not

  real item() const;  // the value of a tensor with one element
  template <class... I>
  real& operator()(I... i) const {
    return at({static_cast<Index>(i)...});
  }
  real& at(std::initializer_list<Index> index) const;
  Tensor operator[](Index i) const;  // the i-th part along the first axis, as an op with a gradient
  std::vector<real> values() const { return {data(), data() + numel()}; }
  std::string str() const;  // as NumPy prints it

  // Gradients.
  Tensor& requires_grad(bool on = true);  // of a leaf
  bool needs_grad() const { return body_->requires_grad; }
  bool is_leaf() const { return body_->node == nullptr && !body_->graph_freed; }
  Tensor& retain_grad();  // keep the gradient of an inner tensor
  Tensor grad() const;    // an empty Tensor if there is none
  void zero_grad() const;
  Tensor detach() const;  // the same values, outside the graph

  TensorBody* body() const { return body_; }
  static Tensor adopt(TensorBody* body) {
    Tensor tensor;
    tensor.body_ = body;
    return tensor;
  }

 private:
  static void destroy(TensorBody* body) noexcept;
  TensorBody* body_ = nullptr;
};

// A tensor of integers: token numbers, targets, the result of argmax. It has no gradient.
class IntTensor {
 public:
  IntTensor() = default;
  explicit IntTensor(const Shape& shape);
  IntTensor(const Shape& shape, const std::vector<int>& values);
  IntTensor(const IntTensor& other) : shape_(other.shape_), storage_(other.storage_) {
    if (storage_) storage_->retain();
  }
  IntTensor(IntTensor&& other) noexcept
      : shape_(other.shape_), storage_(std::exchange(other.storage_, nullptr)) {}
  IntTensor& operator=(IntTensor other) noexcept {
    std::swap(shape_, other.shape_);
    std::swap(storage_, other.storage_);
    return *this;
  }
  ~IntTensor() {
    if (storage_) storage_->release();
  }

  const Shape& shape() const { return shape_; }
  Index numel() const { return storage_ ? shape_.numel() : 0; }
  int* data() const { return storage_ ? static_cast<int*>(storage_->data()) : nullptr; }
  int& operator[](Index i) const { return data()[i]; }
  template <class... I>
  int& operator()(I... i) const {
    return at({static_cast<Index>(i)...});
  }
  int& at(std::initializer_list<Index> index) const;
  IntTensor reshape(const Shape& shape) const;
  std::vector<int> values() const { return {data(), data() + numel()}; }
  std::string str() const;

 private:
  Shape shape_;
  Storage* storage_ = nullptr;
};

// Creation. The random ones draw from an explicit generator: the same seed, the same numbers.
Tensor empty(const Shape& shape);  // values as they come: to be written by the caller
Tensor zeros(const Shape& shape);
Tensor ones(const Shape& shape);
Tensor full(const Shape& shape, real value);
Tensor arange(Index n);  // 0, 1, …, n-1
Tensor scalar(real value);
Tensor tensor(std::initializer_list<real> values);
Tensor tensor(std::initializer_list<std::initializer_list<real>> rows);
Tensor from_values(const Shape& shape, const std::vector<real>& values);
Tensor uniform(const Shape& shape, Rng& rng, real low = 0, real high = 1);
Tensor normal(const Shape& shape, Rng& rng, real mean = 0, real deviation = 1);

// Comparison, for people and tests.
bool equal(const Tensor& a, const Tensor& b);  // same shape, same values
// |a - b| <= atol + rtol |b| everywhere; false for different shapes and for NaN.
bool allclose(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8);
double max_difference(const Tensor& a, const Tensor& b);  // the largest |a - b|; NaN if any is

std::ostream& operator<<(std::ostream& out, const Tensor& tensor);
std::ostream& operator<<(std::ostream& out, const IntTensor& tensor);

// fmt::print("{}", tensor) prints what str() says.
struct TensorFormatter {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  template <class AnyTensor>
  auto format(const AnyTensor& tensor, fmt::format_context& context) const {
    return fmt::format_to(context.out(), "{}", tensor.str());
  }
};

}  // namespace attn

template <>
struct fmt::formatter<attn::Tensor> : attn::TensorFormatter {};
template <>
struct fmt::formatter<attn::IntTensor> : attn::TensorFormatter {};
