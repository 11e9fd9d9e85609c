// llama2.c's format: seven int32, then float32 arrays, part by part for all layers together.
#include "optim/published.hpp"

#include <cstdlib>   // abs
#include <cstring>   // memcpy
#include <iterator>  // ssize

#include "core/error.hpp"
#include "optim/mapped_file.hpp"
#include "optim/published_config.hpp"  // least_numbers

namespace attn {

Gpt load_llama2c(const std::filesystem::path& path) {
  const MappedFile file(path);
  struct Header {
    std::int32_t d_model, d_ff, layers, heads, kv_heads, vocabulary, length;
  } header;
  if (file.bytes().size() < sizeof(header)) fail("{}: too short for a model of llama2.c", path.string());
  std::memcpy(&header, file.bytes().data(), sizeof(header));
  const bool tied = header.vocabulary > 0;  // a negative number says that the output has a matrix of its own
  const TransformerConfig config{.vocabulary = std::abs(Index{header.vocabulary}),
                                 .d_model = header.d_model,
                                 .heads = header.heads,
                                 .kv_heads = header.kv_heads,
                                 .encoder_layers = 0,
                                 .decoder_layers = header.layers,
                                 .d_ff = header.d_ff,
                                 .dropout = 0,
                                 .positions = Positions::rope,
                                 .max_length = header.length,
                                 .pre_norm = true,
                                 .norm = NormKind::rms,
                                 .feed_forward = {.activation = Activation::silu, .gated = true},
                                 .bias = false,
                                 .tie_embeddings = tied,
                                 .scale_embeddings = false,
                                 .initialization = Initialization::none};
  try {
    config.check();
  } catch (const Error& error) {
    fail("{}: not a model of llama2.c: {}", path.string(), error.what());
  }
  const Index in_file = (std::ssize(file.bytes()) - Index(sizeof(header))) / 4;
  if (least_numbers(config) > in_file)
    fail("{}: its header describes a model of at least {} numbers, but it holds {}", path.string(),
         least_numbers(config), in_file);
  Rng none;
  Gpt model(config, none);
  Index at = 0;
  const auto read = [&](const Tensor& tensor) {
    if (tensor.numel() > in_file - at)
      fail("{}: it ends at number {} of the weights, where {} more are expected", path.string(), in_file,
           tensor.numel());
    for (Index i = 0; i < tensor.numel(); ++i) {
      float value;
      std::memcpy(&value, file.bytes().data() + sizeof(header) + 4 * (at + i), 4);
      tensor.data()[i] = value;
    }
    at += tensor.numel();
  };
  const auto read_all = [&](auto member) {
    for (const Block& block : model.stack.blocks) read(member(block));
  };
  read(model.token_embedding.table);
  read_all([](const Block& b) { return b.self_norm.gain; });
  read_all([](const Block& b) { return b.self.query.weight; });
  read_all([](const Block& b) { return b.self.key.weight; });
  read_all([](const Block& b) { return b.self.value.weight; });
  read_all([](const Block& b) { return b.self.output.weight; });
  read_all([](const Block& b) { return b.feed_forward_norm.gain; });
  read_all([](const Block& b) { return b.feed_forward.gate.weight; });
  read_all([](const Block& b) { return b.feed_forward.second.weight; });
  read_all([](const Block& b) { return b.feed_forward.first.weight; });
  read(model.stack.final_norm.gain);
  at += header.length * config.head_size();  // two tables of RoPE, which nobody needs
  if (!tied) read(model.projection.weight);
  return model;
}

}  // namespace attn
