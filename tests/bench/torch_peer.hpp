// libtorch's side of the model benchmarks, behind plain functions: its headers take half a minute to compile,
// so they are seen by torch_peer.cpp alone.
#pragma once

#include <functional>  // function
#include <string>      // string

#include "nn/gpt.hpp"

namespace attn::bench {

struct ModelCase {
  std::string name;  // "tiny"
  Index d_model, heads, layers, d_ff, vocabulary, batch, length;
  double gflop;  // of the matrix products of one training step
  bool decoder_only = false;
};

#ifdef ATTN_BENCH_TORCH
void torch_threads(int threads);
std::string torch_name();
// One training step (forward, backward, Adam) of libtorch's own Transformer.
std::function<void()> torch_step(const ModelCase& model, double dropout);
// Greedy decoding of `tokens` tokens for one sentence, without a cache, as libtorch users do it.
std::function<void()> torch_decode(const ModelCase& model, Index tokens);
// The logits of a GPT-2 on its own weights, written with libtorch's ops: (1, T) -> (1, T, V).
Tensor torch_logits(const Gpt& model, const IntTensor& tokens);
#endif

}  // namespace attn::bench
