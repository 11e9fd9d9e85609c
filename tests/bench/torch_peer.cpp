#include "tests/bench/torch_peer.hpp"

#ifdef ATTN_BENCH_TORCH

#include <torch/torch.h>

#include <algorithm>  // copy_n
#include <cmath>      // sqrt

namespace attn::bench {
namespace {

// libtorch's Transformer takes (time, batch, channels) and has neither embeddings nor an output layer: those
// are added here as its users do. The decoder-only model is its encoder with a causal mask.
struct TorchModel : torch::nn::Module {
  torch::nn::Embedding embedding{nullptr};
  torch::nn::Transformer transformer{nullptr};
  torch::nn::TransformerEncoder stack{nullptr};
  torch::nn::Linear projection{nullptr};
  torch::Tensor positions, mask;
  double scale;

  TorchModel(const ModelCase& model, double dropout) : scale(std::sqrt(double(model.d_model))) {
    embedding = register_module("embedding", torch::nn::Embedding(model.vocabulary, model.d_model));
    projection = register_module("projection", torch::nn::Linear(model.d_model, model.vocabulary));
    if (model.decoder_only) {
      auto layer = torch::nn::TransformerEncoderLayer(
          torch::nn::TransformerEncoderLayerOptions(model.d_model, model.heads)
              .dim_feedforward(model.d_ff)
              .dropout(dropout)
              .activation(torch::kGELU));
      stack = register_module(
          "stack", torch::nn::TransformerEncoder(torch::nn::TransformerEncoderOptions(layer, model.layers)));
    } else {
      transformer = register_module(
          "transformer", torch::nn::Transformer(torch::nn::TransformerOptions(model.d_model, model.heads)
                                                    .num_encoder_layers(model.layers)
                                                    .num_decoder_layers(model.layers)
                                                    .dim_feedforward(model.d_ff)
                                                    .dropout(dropout)));
    }
    positions = torch::randn({model.length + 64, 1, model.d_model});
    mask = torch::nn::TransformerImpl::generate_square_subsequent_mask(model.length);
  }

  torch::Tensor embed(const torch::Tensor& tokens) {
    return embedding(tokens) * scale + positions.slice(0, 0, tokens.size(0));
  }
};

}  // namespace

void torch_threads(int threads) { at::set_num_threads(threads); }

std::string torch_name() { return "libtorch " + std::string(TORCH_VERSION) + " (Debian's build, no MKL)"; }

std::function<void()> torch_step(const ModelCase& model, double dropout) {
  auto net = std::make_shared<TorchModel>(model, dropout);
  net->train();
  auto optimizer = std::make_shared<torch::optim::Adam>(net->parameters(), torch::optim::AdamOptions(1e-4));
  const auto source = torch::randint(model.vocabulary, {model.length, model.batch}, torch::kLong);
  const auto target = torch::randint(model.vocabulary, {model.length, model.batch}, torch::kLong);
  const auto wanted = torch::randint(model.vocabulary, {model.length * model.batch}, torch::kLong);
  return [=] {
    optimizer->zero_grad();
    const auto states = model.decoder_only ? net->stack(net->embed(source), net->mask)
                                           : net->transformer(net->embed(source), net->embed(target),
                                                              torch::Tensor(), net->mask);
    const auto logits = net->projection(states).view({-1, model.vocabulary});
    torch::nn::functional::cross_entropy(logits, wanted).backward();
    optimizer->step();
  };
}

std::function<void()> torch_decode(const ModelCase& model, Index tokens) {
  auto net = std::make_shared<TorchModel>(model, 0.0);
  net->eval();
  const auto source = torch::randint(model.vocabulary, {model.length, 1}, torch::kLong);
  return [=] {
    const torch::NoGradGuard no_grad;
    const auto memory = net->transformer->encoder.forward<torch::Tensor>(net->embed(source));
    auto written = torch::ones({1, 1}, torch::kLong);
    for (Index i = 0; i < tokens; ++i) {
      const auto mask = torch::nn::TransformerImpl::generate_square_subsequent_mask(written.size(0));
      const auto states = net->transformer->decoder.forward<torch::Tensor>(net->embed(written), memory, mask);
      const auto next = net->projection(states[-1]).argmax(-1, true);
      written = torch::cat({written, next.view({1, 1})}, 0);
    }
  };
}

Tensor torch_logits(const Gpt& model, const IntTensor& tokens) {
  const torch::NoGradGuard no_grad;
  const auto shared = [](const Tensor& x) {
    return torch::from_blob(x.data(), std::vector<int64_t>(x.shape().begin(), x.shape().end()));
  };
  const auto linear = [&](const torch::Tensor& x, const Linear& layer) {
    return torch::linear(x, shared(layer.weight), shared(layer.bias));
  };
  const auto norm = [&](const torch::Tensor& x, const Norm& layer) {
    return torch::layer_norm(x, {x.size(-1)}, shared(layer.gain), shared(layer.bias), layer.epsilon);
  };
  const int64_t T = tokens.numel(), H = model.config.heads, D = model.config.head_size();
  const auto heads = [&](const torch::Tensor& x) { return x.view({1, T, H, D}).transpose(1, 2); };
  const auto future = torch::ones({T, T}, torch::kBool).triu(1);
  const auto ids = torch::tensor(tokens.values()).to(torch::kLong).view({1, T});

  auto x = torch::embedding(shared(model.token_embedding.table), ids) +
           shared(model.stack.positions.table).slice(0, 0, T);  // (1, T, C)
  for (const Block& block : model.stack.blocks) {
    const auto y = norm(x, block.self_norm);
    const auto q = heads(linear(y, block.self.query)), k = heads(linear(y, block.self.key)),
               v = heads(linear(y, block.self.value));  // (1, H, T, D)
    const auto scores = torch::matmul(q, k.transpose(2, 3)) / std::sqrt(double(D));
    const auto weights = torch::softmax(scores.masked_fill(future, -INFINITY), -1);
    x = x + linear(torch::matmul(weights, v).transpose(1, 2).reshape({1, T, H * D}), block.self.output);
    const auto hidden = linear(norm(x, block.feed_forward_norm), block.feed_forward.first);
    x = x + linear(torch::gelu(hidden, "tanh"), block.feed_forward.second);
  }
  const auto logits =
      torch::linear(norm(x, model.stack.final_norm), shared(model.token_embedding.table)).contiguous();
  const Tensor result = empty({1, T, model.config.vocabulary});
  std::copy_n(logits.data_ptr<float>(), result.numel(), result.data());
  return result;
}

}  // namespace attn::bench

#endif
