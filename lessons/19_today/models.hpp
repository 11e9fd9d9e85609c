// The models of lesson 19: a GPT as it starts at this size, LoRA's adapters, a mixture of experts, and a GPT
// that reads several tokens at once and can forget them again.
#pragma once

#include "lessons/19_today/training.hpp"
#include "nn/gpt.hpp"

namespace attn {

// GPT-2's deviation of 0.02 was made for C = 768 and more. Here matrices start with 1/√in, tables with 0.1.
Gpt fresh_gpt(const TransformerConfig& config, Rng& rng);
Gpt copy_of(const Gpt& model);  // with weights of its own

// The matrices of all blocks: attention's four and those of the feed-forward networks.
std::vector<Linear*> matrices_of(Gpt& model);

// A matrix rounded to integers of so many bits and turned back, with a scale per row or one for all.
Tensor rounded(const Tensor& w, int bits, bool by_row);

// LoRA (Hu et al., 2021): each matrix W of a frozen model becomes W + (α/r) B A, and only A and B learn.
struct Lora {
  struct Adapter {
    Linear* layer;
    Tensor w, a, b;  // (out, in), (r, in), (out, r)
  };
  Gpt model;
  std::vector<Adapter> adapters;
  real scale;  // α/r

  Lora(const Gpt& base, Index rank, real alpha, Rng& rng);
  Lora(const Lora&) = delete;  // the adapters point into the model
  void merge();                // W + (α/r) B A becomes the weight of each layer: the model can be used
  void take_out();             // the model is again what it was
  void parameters(ParameterList& list) const;
};

// A feed-forward layer of E experts, of which each token passes through one (Switch Transformer: Fedus et
// al., 2021): y = p_e(x) Expert_e(x), where p is the router's softmax and e its largest.
struct Experts {
  Linear router;  // (E, C)
  std::vector<FeedForward> experts;

  struct Result {
    Tensor output;            // (N, C)
    Tensor balance;           // E Σ f_e P_e, one number
    std::vector<int> chosen;  // (N)
  };
  Experts(const TransformerConfig& config, Index count, Rng& rng);
  Result operator()(const Tensor& x) const;  // x (N, C)
  void parameters(ParameterList& list) const;
};

// A GPT (pre-norm) whose feed-forward networks are experts.
struct ExpertGpt {
  Gpt gpt;
  std::vector<Experts> layers;

  struct Result {
    Tensor logits;                         // (B, T, V)
    Tensor balance;                        // the mean over the layers
    std::vector<std::vector<int>> chosen;  // by layer, (B*T)
  };
  ExpertGpt(const TransformerConfig& config, Index experts, Rng& rng);
  Result operator()(const IntTensor& tokens) const;
  void parameters(ParameterList& list) const;
};

// A text that a model has read, in its cache. It can read further tokens, and forget the newest again.
class Reader {
 public:
  explicit Reader(const Gpt& model) : model_(model) {}
  Index length() const { return cache_.length(); }
  Tensor read(const std::vector<int>& tokens);  // -> logits (n, V), for the token after each
  void forget_from(Index length);               // what it has read from there on

 private:
  const Gpt& model_;
  DecoderCache cache_;
};

}  // namespace attn
