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

#include <fmt/core.h>  // formatter

#include <initializer_list>  // initializer_list
#include <string>            // string
#include <utility>           // exchange, swap
#include <vector>            // vector

#include "core/pool.hpp"
#include "core/real.hpp"
#include "core/rng.hpp"
#include "core/shape.hpp"

namespace attn {

struct Node;  // how a tensor was computed: core/op.hpp

// The double build, which is for tests, notices when values that a gradient needs change between forward and
// backward: see Note [Values that change] in core/autograd.cpp.
constexpr bool watches_values = sizeof(real) == sizeof(double);

// A counted pointer; the count is in the object, which destroys itself when nobody points to it any more.
template <class T>
class Counted {
 public:
  Counted() = default;
  explicit Counted(T* fresh) : object_(fresh) {}  // whose count is 1 already
  Counted(const Counted& other) : object_(other.object_) {
    if (object_) ++object_->references;
  }
  Counted(Counted&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Counted& operator=(Counted other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Counted() {
    if (object_ && --object_->references == 0) object_->destroy();
  }
  T* get() const { return object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
};

// A buffer from the pool: this header, then the numbers.
struct alignas(64) Storage {
  int references = 1;
  std::size_t bytes = 0;  // of the whole block
  template <class T>
  T* data() {
    return reinterpret_cast<T*>(this + 1);
  }
  void destroy() noexcept { pool_release(this, bytes); }
  static Counted<Storage> allocate(std::size_t data_bytes);
};

[[noreturn, gnu::cold]] void refuse_empty(
    const char* type);  // throws: nothing was ever assigned to this handle

class Tensor {
 public:
  Tensor() = default;  // empty: a missing bias or mask. Whatever else is done with it throws.
  explicit operator bool() const { return bool(body_); }  // false for a default-constructed one
  bool is(const Tensor& other) const { return body_.get() == other.body_.get(); }  // two handles, one tensor
  bool is_shared() const { return body().references > 1; }                         // there is another handle
  const Shape& shape() const { return body().shape; }
  int rank() const { return body().shape.rank(); }
  Index size(int axis) const;  // negative axes count from the end
  Index numel() const { return body().numel; }
  real* data() const {  // the handle is const, the numbers are not
    if constexpr (watches_values) note_reading();
    return body().values;
  }

  real item() const;  // the value of a tensor with one element
  template <class... I>
  real& operator()(I... i) const {
    return data()[shape().offset({Index(i)...})];
  }
  Tensor operator[](Index i) const;  // the i-th part along the first axis, as an op with a gradient
  std::vector<real> values() const { return {data(), data() + numel()}; }
  std::string str() const;  // as NumPy prints it

  // Gradients.
  Tensor& requires_grad(bool on = true);  // of a leaf
  bool needs_grad() const { return body().requires_grad; }
  bool is_leaf() const { return body().node == nullptr && !body().graph_freed; }
  Tensor& retain_grad();  // keep the gradient of an inner tensor
  bool has_grad() const { return body().has_grad; }
  Tensor grad() const;  // an empty Tensor if there is none
  void zero_grad() const;
  Tensor detach() const;  // the same values, outside the graph

  // Optimizers keep all parameters in one block. The values of this leaf move into `values` and its gradient
  // into `gradients`, from element `offset` on, and stay there until it leaves the block: then it keeps its
  // values and loses its gradient.
  void move_to_block(const Tensor& values, const Tensor& gradients, Index offset) const;
  void leave_block() const;
  bool in_block() const { return body().in_block; }

 private:
  friend struct TensorInternals;  // core/op.hpp
  friend Tensor empty(const Shape& shape);
  friend Tensor reshape(const Tensor& x, const Shape& shape);

  struct Body {
    Body(const Shape& shape, Counted<Storage> storage, real* values)
        : shape(shape), numel(shape.numel()), storage(std::move(storage)), values(values) {}
    void destroy() noexcept;

    int references = 1;
    bool requires_grad = false;  // a leaf that wants a gradient, or computed from one
    bool retains_grad = false;   // an inner tensor that keeps its gradient after backward
    bool has_grad = false;       // something is in the gradient
    bool graph_freed = false;    // backward has run through here
    bool queued = false;         // backward will run this tensor's node
    bool in_block = false;       // the gradient lies in an optimizer's block and stays there
    Shape shape;
    Index numel;
    Counted<Storage> storage;
    union {
      real* values;
      Body* next;  // once nobody needs the values: a list of bodies to be destroyed
    };
    Counted<Storage> grad_storage;
    real* grad = nullptr;
    Node* node = nullptr;
  };
  Tensor(const Shape& shape, Counted<Storage> storage, real* values);
  void note_reading() const;  // core/autograd.cpp
  Body& body() const {
    if (!body_) refuse_empty("Tensor");
    return *body_.get();
  }

  Counted<Body> body_;
};

// A tensor of integers: token numbers, targets, the result of argmax. It has no gradient.
class IntTensor {
 public:
  IntTensor() = default;  // empty, as a Tensor may be
  explicit IntTensor(const Shape& shape);
  IntTensor(const Shape& shape, const std::vector<int>& values);

  explicit operator bool() const { return bool(storage_); }
  const Shape& shape() const {
    if (!storage_) refuse_empty("IntTensor");
    return shape_;
  }
  Index numel() const { return storage_ ? shape_.numel() : 0; }  // of an empty one 0
  int* data() const {
    if (!storage_) refuse_empty("IntTensor");
    return storage_->data<int>();
  }
  int& operator[](Index i) const { return data()[i]; }
  template <class... I>
  int& operator()(I... i) const {
    return data()[shape().offset({Index(i)...})];
  }
  std::vector<int> values() const { return {data(), data() + numel()}; }
  IntTensor copy() const;  // with values of its own
  std::string str() const;

 private:
  Shape shape_;
  Counted<Storage> storage_;
};

// Creation. The random ones draw from an explicit generator: the same seed, the same numbers.
Tensor empty(const Shape& shape);  // not initialised: the caller writes the values
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

bool equal(const Tensor& a, const Tensor& b);             // same shape, same values
double max_difference(const Tensor& a, const Tensor& b);  // the largest |a - b|; NaN if any is

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
