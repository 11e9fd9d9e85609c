// Parts: the functions that a model is put together from, each from the learner, from us, or with a mistake.
//
//   Parts parts({.milestone = 3, .parts = "softmax=ours"});
//   Tensor c = parts.product(a, b);
//
// Functions that passed their check (my/.progress) are the learner's; what is not done is ours: the library's
// where it has the function, else our solution. See boundary.hpp for what happens when one of them fails, and
// ops.hpp for how they become ops with a gradient.
#pragma once

#include <functional>  // function
#include <optional>    // optional
#include <string>      // string
#include <tuple>       // tuple
#include <vector>      // vector

#include "core/autograd.hpp"  // NoGrad
#include "lessons/mine/boundary.hpp"
#include "lessons/mine/exports.hpp"

namespace attn::mine {

class AnyPart : public PartInUse {
 public:
  AnyPart(std::vector<AnyPart*>& all, const char* name) : PartInUse{*find_function(name)} {
    all.push_back(this);
  }
  virtual ~AnyPart() = default;
  AnyPart(const AnyPart&) = delete;
  AnyPart& operator=(const AnyPart&) = delete;

  virtual bool has_library() const = 0;
  virtual void take(const Exports& from, const std::string& name, bool as_ours) = 0;
  virtual void use_ours() = 0;
  // Microseconds per call, of this part and of ours, on the largest arguments that it was called with.
  struct Times {
    double used, ours;
    std::string size;  // "(320,32) x (32,128)"
    double flop = 0;   // per call, of a product
  };
  virtual std::optional<Times> times() const = 0;
};

template <class Signature>
class Part;

template <class Result, class... Arguments>
class Part<Result(Arguments...)> : public AnyPart {
 public:
  using AnyPart::AnyPart;

  Result operator()(Arguments... arguments) const {
    const Running running(*this);
    if constexpr (is_timed) keep_largest(arguments...);
    try {
      return function_(static_cast<Arguments>(arguments)...);
    } catch (const Fault&) {
      throw;
    } catch (...) {
      refuse_exception(*this);
    }
  }

  // The library's function, which is taken when the part is ours.
  void library(std::function<Result(Arguments...)> function) { ours_ = function_ = std::move(function); }
  bool has_library() const override { return bool(ours_); }
  void take(const Exports& from, const std::string& name, bool as_ours) override {
    function_ = from.get<Result(Arguments...)>(name);
    if (as_ours) ours_ = function_;
  }
  void use_ours() override { function_ = ours_; }
  std::optional<Times> times() const override;

 private:
  template <class Argument>
  static constexpr bool is_plain = (std::is_same_v<Argument, const Tensor&> ||
                                    std::is_same_v<Argument, const Shape&> || std::is_arithmetic_v<Argument>);
  static constexpr bool is_timed = (is_plain<Arguments> && ...);  // again on the same arguments: no harm done

  void keep_largest(const Arguments&... arguments) const {
    Index size = 0;
    const auto add = [&](const auto& argument) {
      if constexpr (requires { argument.numel(); }) size += argument.numel();
    };
    (add(arguments), ...);
    if (size > largest_) largest_ = size, largest_arguments_.emplace(arguments...);
  }

  std::function<Result(Arguments...)> function_, ours_;
  mutable Index largest_ = 0;
  mutable std::optional<std::tuple<std::decay_t<Arguments>...>> largest_arguments_;
};

struct PartsSettings {
  int milestone = 1;
  std::string parts = {};    // "softmax=ours,product=multiply_ikj": PARTS of the command line
  std::string mistake = {};  // "scores: no scaling", or the name alone if only one function has it
  bool solutions = false;    // as if our solutions were the learner's files
  bool checked = false;      // every t(i, j) and v[i] is checked, as in `make check`
};

class Parts {
 public:
  explicit Parts(const PartsSettings& settings);  // builds and loads what is needed; throws one sentence

  const std::vector<AnyPart*>& all() const { return used_; }  // those of this milestone
  const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  std::vector<AnyPart*> every_, used_;
  std::vector<std::string> remarks_;  // files that do not compile

 public:
  using T = const Tensor&;
  Part<Tensor(T, T)> product{every_, "product"};
  Part<TwoTensors(T, T, T)> matmul_backward{every_, "matmul_backward"};
  Part<Tensor(T, T)> broadcast_add{every_, "broadcast_add"};
  Part<Tensor(T, const Shape&)> broadcast_backward{every_, "broadcast_backward"};
  Part<void(T, T, T, Tensor&, Tensor&)> mul_backward{every_, "mul_backward"};
  Part<Tensor(T, T)> relu_backward{every_, "relu_backward"};
  Part<real(T, const std::vector<int>&)> batch_loss{every_, "batch_loss"};
  Part<Tensor(T, const std::vector<int>&)> batch_loss_backward{every_, "batch_loss_backward"};
  Part<void(Tensor&, T, AdamMemory&, const AdamRates&)> adam_step{every_, "adam_step"};
  Part<std::pair<int, int>(const std::vector<int>&)> frequent_pair{every_, "frequent_pair"};
  Part<std::vector<int>(const std::vector<int>&, int, int, int)> merge_once{every_, "merge_once"};
  Part<std::vector<int>(const std::string&, const Merges&)> bpe_encode{every_, "bpe_encode"};
  Part<std::string(const std::vector<int>&, const Merges&)> bpe_decode{every_, "bpe_decode"};
  Part<TwoTables(const std::vector<std::vector<int>>&, int)> pad_rows{every_, "pad_rows"};
  Part<Tensor(const std::vector<int>&, T, Index)> lookup_backward{every_, "lookup_backward"};
  Part<Tensor(T, T)> scores{every_, "scores"};
  Part<TwoTensors(T, T, T)> scores_backward{every_, "scores_backward"};
  Part<Tensor(T)> row_softmax{every_, "row_softmax"};
  Part<Tensor(T, T)> masked_softmax{every_, "masked_softmax"};
  Part<Tensor(T, T)> softmax_backward{every_, "softmax_backward"};
  Part<Tensor(Index)> causal_mask{every_, "causal_mask"};
  Part<Tensor(const std::vector<int>&, Index)> padding_mask{every_, "padding_mask"};
  Part<Tensor(const std::vector<int>&, Index)> decoder_mask{every_, "decoder_mask"};
  Part<Tensor(T, Index)> split_heads{every_, "split_heads"};
  Part<Tensor(T)> merge_heads{every_, "merge_heads"};
  Part<Tensor(Index, Index)> sinusoids{every_, "sinusoids"};
  Part<Tensor(T)> rotate_pairs{every_, "rotate_pairs"}, rotate_back{every_, "rotate_back"};
  Part<Tensor(T, T, T, real)> normalise{every_, "normalise"};
  Part<Tensor(T, T, T, real)> normalise_backward{every_, "normalise_backward"};
  Part<Tensor(T, const Sublayer&, const Sublayer&, const Sublayer&, const Sublayer&)> pre_norm_block{
      every_, "pre_norm_block"};
  Part<Tensor(T, Index, const LayerParts&)> encoder_layer{every_, "encoder_layer"};
  Part<Tensor(T, T, Index, const LayerParts&)> decoder_layer{every_, "decoder_layer"};
  Part<IntTensor(const IntTensor&, int)> shift_targets{every_, "shift_targets"};
  Part<real(T, const IntTensor&, real)> sentence_loss{every_, "sentence_loss"};
  Part<Tensor(T, const IntTensor&, real)> sentence_loss_backward{every_, "sentence_loss_backward"};
  Part<real(Index, Index, Index)> learning_rate{every_, "learning_rate"};
  Part<real(std::vector<Tensor>&, real)> clip_gradients{every_, "clip_gradients"};
  Part<real(const std::vector<real>&, const std::vector<Index>&)> perplexity{every_, "perplexity"};
  Part<TwoTables(const std::vector<std::vector<int>>&)> dictate{every_, "dictate"};
  Part<ThreeMasks(const IntTensor&, const IntTensor&)> three_masks{every_, "three_masks"};
  Part<std::vector<int>(const Writer&, int)> write_greedily{every_, "write_greedily"};
  Part<double(const std::vector<Words>&, const std::vector<Words>&)> corpus_bleu{every_, "corpus_bleu"};
  Part<std::vector<int>(const Writer&, int, int, double)> search_beam{every_, "search_beam"};
  Part<std::vector<double>(const std::vector<double>&, int)> keep_top_k{every_, "keep_top_k"};
  Part<std::vector<double>(const std::vector<double>&, double)> keep_top_p{every_, "keep_top_p"};
  Part<Tensor(T, T, CachedHead&)> cached_step{every_, "cached_step"};
  Part<TwoTables(const std::vector<int>&, const std::vector<int>&, int)> next_token_windows{
      every_, "next_token_windows"};
  Part<Tensor(const GptWeights&, const std::vector<int>&)> gpt_logits{every_, "gpt_logits"};
  Part<std::vector<int>(const Reader&, const std::vector<int>&, int, int)> generate{every_, "generate"};
};

void use_library(Parts& parts);  // ours.cpp: the library's functions for the parts that it has

// Times a call until it has taken a few milliseconds.
template <class Call>
double microseconds(const Call& call) {
  using Clock = std::chrono::steady_clock;
  double best = 1e30;
  for (int repetition = 0; repetition < 3; ++repetition) {
    Index count = 0;
    const auto start = Clock::now();
    double seconds = 0;
    do {
      call();
      ++count;
      seconds = std::chrono::duration<double>(Clock::now() - start).count();
    } while (seconds < 2e-3);
    best = std::min(best, 1e6 * seconds / double(count));
  }
  return best;
}

template <class Result, class... Arguments>
std::optional<AnyPart::Times> Part<Result(Arguments...)>::times() const {
  if (!largest_arguments_) return std::nullopt;
  const NoGrad no_grad;
  auto arguments = *largest_arguments_;
  const auto time = [&](const std::function<Result(Arguments...)>& function) {
    return microseconds([&] {
      std::apply([&](auto&... argument) { function(static_cast<Arguments>(argument)...); }, arguments);
    });
  };
  Times times{time(function_), time(ours_), ""};
  std::vector<Shape> shapes;
  const auto look = [&](const auto& argument) {
    if constexpr (std::is_same_v<std::decay_t<decltype(argument)>, Tensor>)
      shapes.push_back(argument.shape());
  };
  std::apply([&](const auto&... argument) { (look(argument), ...); }, arguments);
  for (const Shape& shape : shapes) times.size += (times.size.empty() ? "" : ", ") + shape.str();
  if (asked.name == "product" && shapes.size() == 2)
    times.flop = 2.0 * double(shapes[0][0] * shapes[0][1] * shapes[1][1]);
  return times;
}

}  // namespace attn::mine
