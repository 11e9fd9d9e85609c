// ParameterList: the tensors of a model that are learned, with their names, in a fixed order.
//
// Every layer has `void parameters(ParameterList& list)`, which adds its own tensors and, under a prefix,
// those of the layers it is made of: `encoder.0.attention.query.weight`. Optimizers, checkpoints and
// parameter counts all read this list. A tensor that is used in two places (tied weights) appears once, under
// its first name.
#pragma once

#include <iterator>  // ssize
#include <string>    // string
#include <vector>    // vector

#include "core/tensor.hpp"

namespace attn {

struct Parameter {
  std::string name;
  Tensor tensor;
};

class ParameterList {
 public:
  void add(const std::string& name, const Tensor& tensor) {
    if (!tensor) return;  // a layer without a bias
    for (const Parameter& known : items_)
      if (known.tensor.is(tensor)) return;
    items_.push_back({prefix_ + name, tensor});
  }

  template <class Layer>
  void add_layer(const std::string& name, const Layer& layer) {
    const std::string before = prefix_;
    prefix_ += name + ".";
    layer.parameters(*this);
    prefix_ = before;
  }

  template <class Layer>
  void add_layers(const std::string& name, const std::vector<Layer>& layers) {
    for (Index i = 0; i < std::ssize(layers); ++i) add_layer(name + "." + std::to_string(i), layers[i]);
  }

  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  Index size() const { return std::ssize(items_); }
  const Parameter& operator[](Index i) const { return items_[i]; }

  Index count() const {  // of numbers
    Index total = 0;
    for (const Parameter& parameter : items_) total += parameter.tensor.numel();
    return total;
  }

  void zero_grad() const {
    for (const Parameter& parameter : items_) parameter.tensor.zero_grad();
  }

 private:
  std::vector<Parameter> items_;
  std::string prefix_;
};

template <class Model>
ParameterList parameters_of(const Model& model) {
  ParameterList list;
  model.parameters(list);
  return list;
}

}  // namespace attn
