// What a file of answers offers to the milestones: its functions, by name.
//
// Each file (a learner's, our solution, or our solution with a mistake) is compiled alone, as a shared object
// whose names nobody else sees, together with exports/NN_name.cpp: two exercises may use the same name, and
// two files may answer the same exercise. Where a function takes a struct of its lesson (types.hpp), the
// wrapper there takes the types below instead.
#pragma once

#include <any>         // any
#include <functional>  // function
#include <map>         // map
#include <string>      // string
#include <utility>     // pair
#include <vector>      // vector

#include "core/tensor.hpp"

namespace attn::mine {

using TwoTensors = std::pair<Tensor, Tensor>;
using TwoTables = std::pair<IntTensor, IntTensor>;
using Merges = std::vector<std::pair<int, int>>;
using Words = std::vector<std::string>;
using Sublayer = std::function<Tensor(const Tensor&)>;
using Writer = std::function<std::vector<double>(const std::vector<int>& written)>;
using Reader = std::function<Tensor(const std::vector<int>& tokens)>;

struct AdamMemory {
  Tensor m, v;  // (n), (n)
  int step = 0;
};
struct AdamRates {
  real rate, beta1 = real(0.9), beta2 = real(0.98), epsilon = real(1e-9);  // the paper's
};

// What exercise 11 calls `look`, `feed` and `normalise`.
struct LayerParts {
  std::function<Tensor(const Tensor&asking, const Tensor&answering, const Tensor&visible)> self, cross;
  Sublayer feed, norm;
};

struct ThreeMasks {
  Tensor encoder, decoder, cross;  // (B, S, S), (B, T, T), (B, T, S)
};

struct GptWeights {
  Tensor embedding, positions;  // (V, C), (L, C)
  std::vector<Sublayer> blocks;
  Tensor gain, bias;  // (C), (C)
};

struct CachedHead {
  Tensor query, key, value;          // (C, C) each
  std::vector<Tensor> keys, values;  // (C) each: of the tokens so far
};

class Exports {
 public:
  template <class Function>
  void add(const std::string& name, const Function& function) {
    functions_[name] = std::function(function);
  }
  template <class Signature>
  std::function<Signature> get(const std::string& name) const {
    return std::any_cast<std::function<Signature>>(functions_.at(name));
  }

 private:
  std::map<std::string, std::any> functions_;
};

}  // namespace attn::mine

// Defined by each exports/NN_name.cpp, which also includes the file of answers, EXERCISE.
extern "C" __attribute__((visibility("default"))) void export_functions(attn::mine::Exports& exports);
