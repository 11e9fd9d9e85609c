// What an op costs beside its arithmetic: a chain of 64 ops on 16 numbers each, forward and backward.
//
//   overhead_bench        prints  op-overhead: N ns per op (forward + backward)
//
// Compiled with -DATTN_BENCH_TORCH it runs the same chain in libtorch right after, and prints the ratio.
// The best of many rounds counts: what is measured is the code, not what else the machine was doing.
#include <fmt/core.h>  // print

#include <algorithm>    // min
#include <chrono>       // steady_clock
#include <string_view>  // string_view

#include "core/autograd.hpp"
#include "core/ops.hpp"

#ifdef ATTN_BENCH_TORCH
#include <torch/torch.h>  // ones, set_num_threads, tanh, sigmoid
#endif

namespace {

constexpr int ops = 64;

// Four kinds of ops: two with two inputs that need a gradient, two with one.
template <class AnyTensor>
AnyTensor chain(const AnyTensor& x, const AnyTensor& scale, const AnyTensor& shift) {
  AnyTensor y = x;
  for (int i = 0; i < ops / 4; ++i) y = sigmoid(tanh(y * scale + shift));
  return y;
}

// Nanoseconds an op, in the best of `rounds` rounds of 20 repetitions.
template <class Step>
double best_of(int rounds, const Step& step) {
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 20; ++i) step();
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count() / (20 * ops));
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--list") return fmt::print("op-overhead\n"), 0;
  attn::Rng rng(1);
  const attn::Tensor x = attn::normal({16}, rng), ones = attn::ones({16});
  attn::Tensor scale = attn::normal({16}, rng).requires_grad(), shift = attn::zeros({16}).requires_grad();
  const double ours = best_of(2000, [&] {
    attn::backward(chain(x, scale, shift), ones);
    scale.zero_grad();
    shift.zero_grad();
  });
  fmt::print("op-overhead: {:.0f} ns per op (forward + backward)\n", ours);

#ifdef ATTN_BENCH_TORCH
  torch::set_num_threads(1);
  const torch::Tensor torch_x = torch::randn({16}), torch_ones = torch::ones({16});
  torch::Tensor torch_scale = torch::randn({16}).requires_grad_(),
                torch_shift = torch::zeros({16}).requires_grad_();
  const double theirs = best_of(200, [&] {
    chain(torch_x, torch_scale, torch_shift).backward(torch_ones);
    torch_scale.mutable_grad() = torch::Tensor();
    torch_shift.mutable_grad() = torch::Tensor();
  });
  fmt::print("op-overhead of libtorch: {:.0f} ns per op (forward + backward)\n", theirs);
  fmt::print("ratio op-overhead 1t vs libtorch: {:.1f}\n", theirs / ours);
#endif
}
