// Whole training steps and decoding, beside libtorch, and tiled attention beside composed ops.
//
//   model_bench [--threads N] [--seconds S] [words…]      only cases whose names hold one of the words
//   model_bench --memory ours|libtorch step-base           peak memory of three steps, in a process of its
//   own
//
// Lines: `ratio <case> <threads>t vs <peer>: 1.23`, above 1 means that we are faster; `peak <case>
// <threads>t: 71%` is the share of the FMA peak that the matrix products of a step reach; `memory …` in MiB.
#include <fmt/format.h>  // print
#include <omp.h>         // omp_set_num_threads

#include <cstdlib>  // atof, atoi
#include <fstream>  // ifstream
#include <memory>   // make_shared

#include "core/autograd.hpp"
#include "core/parallel.hpp"
#include "nn/decode.hpp"
#include "nn/gpt.hpp"
#include "optim/optimizer.hpp"
#include "tests/bench/fma_peak.hpp"
#include "tests/bench/torch_peer.hpp"

using namespace attn;
using bench::ModelCase;

namespace {

const std::vector<ModelCase> models = {
    {"tiny", 64, 4, 2, 256, 200, 32, 12, 0.58},
    {"small", 128, 4, 3, 512, 1000, 64, 16, 9.5},
    {"base", 512, 8, 6, 2048, 8000, 16, 32, 150},
    {"nano", 128, 4, 4, 512, 65, 12, 64, 4.0, true},
};

IntTensor random_tokens(const Shape& shape, Index vocabulary, Rng& rng) {
  IntTensor tokens(shape);
  for (Index i = 0; i < tokens.numel(); ++i) tokens[i] = int(rng.below(vocabulary));
  return tokens;
}

TransformerConfig configuration(const ModelCase& model, double dropout) {
  if (model.decoder_only) {
    TransformerConfig config = gpt_config({.vocabulary = model.vocabulary,
                                           .d_model = model.d_model,
                                           .heads = model.heads,
                                           .layers = model.layers,
                                           .max_length = model.length});
    config.tie_embeddings = false;
    return config;
  }
  return {.source_vocabulary = model.vocabulary,
          .vocabulary = model.vocabulary,
          .d_model = model.d_model,
          .heads = model.heads,
          .encoder_layers = model.layers,
          .decoder_layers = model.layers,
          .d_ff = model.d_ff,
          .dropout = real(dropout),
          .tie_embeddings = false,
          .share_embeddings = true};
}

// One training step: forward, backward, Adam.
template <class Model, class Logits>
std::function<void()> training_step(std::shared_ptr<Model> net, const IntTensor& wanted,
                                    const Logits& logits) {
  auto optimizer = std::make_shared<Adam>(parameters_of(*net));
  auto rng = std::make_shared<Rng>(3);
  return [=] {
    backward(cross_entropy(logits(*net, {.training = true, .rng = rng.get()}), wanted));
    optimizer->step(1e-4);
  };
}

std::function<void()> our_step(const ModelCase& model, double dropout) {
  Rng rng(1);
  const TransformerConfig config = configuration(model, dropout);
  const Shape shape{model.batch, model.length};
  const IntTensor source = random_tokens(shape, model.vocabulary, rng),
                  target = random_tokens(shape, model.vocabulary, rng);
  const IntTensor wanted = random_tokens(shape, model.vocabulary, rng);
  if (model.decoder_only)
    return training_step(std::make_shared<Gpt>(config, rng), wanted,
                         [source](const Gpt& net, const Context& context) { return net(source, context); });
  return training_step(std::make_shared<Transformer>(config, rng), wanted,
                       [source, target](const Transformer& net, const Context& context) {
                         return net(source, target, context);
                       });
}

std::function<void()> our_decode(const ModelCase& model, Index tokens) {
  Rng rng(1);
  auto net = std::make_shared<Transformer>(configuration(model, 0), rng);
  const IntTensor source = random_tokens({1, model.length}, model.vocabulary, rng);
  return [=] {
    TransformerWriter writer(*net, source);
    greedy(writer, {.start = 1, .end = -1, .max_length = tokens});
  };
}

struct Settings {
  int threads = 1;
  double seconds = 6;  // a case
  std::vector<std::string> words;

  bool wants(const std::string& name) const {
    bool wanted = words.empty();
    for (const std::string& word : words) wanted |= name.find(word) != std::string::npos;
    return wanted;
  }
};

// Runs the contestants in turn for about `settings.seconds` and returns the best time of each.
std::vector<double> compare(const Settings& settings, const std::vector<std::function<void()>>& functions) {
  const auto clock = settings.threads == 1 ? bench::thread_seconds : bench::seconds;
  const double start = bench::seconds();
  std::vector<double> best = bench::best_times(functions, 1, 0, clock);
  while (bench::seconds() - start < settings.seconds) {
    const std::vector<double> times = bench::best_times(functions, 1, 0, clock);
    for (std::size_t i = 0; i < best.size(); ++i) best[i] = std::min(best[i], times[i]);
  }
  return best;
}

void report(const std::string& name, const Settings& settings, const std::vector<double>& times,
            const std::string& peer) {
  if (times.size() > 1)
    fmt::print("ratio {} {}t vs {}: {:.2f}  ({:.2f} ms against {:.2f})\n", name, settings.threads, peer,
               times[1] / times[0], 1e3 * times[0], 1e3 * times[1]);
  else
    fmt::print("time {} {}t: {:.2f} ms\n", name, settings.threads, 1e3 * times[0]);
  std::fflush(stdout);
}

void run_steps(const Settings& settings, double peak) {
  for (const ModelCase& model : models)
    for (const double dropout : {0.1, 0.0}) {
      if (model.decoder_only && dropout > 0) continue;
      const std::string name = "step-" + model.name + (dropout > 0 || model.decoder_only ? "" : "-nodrop");
      if (!settings.wants(name)) continue;
      std::vector<std::function<void()>> functions{our_step(model, dropout)};
#ifdef ATTN_BENCH_TORCH
      functions.push_back(bench::torch_step(model, dropout));
#endif
      const std::vector<double> times = compare(settings, functions);
      report(name, settings, times, "libtorch");
      fmt::print("peak {} {}t: {:.0f}%  ({:.1f} GFLOP/s)\n", name, settings.threads,
                 100 * model.gflop / times[0] / peak, model.gflop / times[0]);
    }
}

void run_decoding(const Settings& settings) {
  for (const ModelCase& model : models) {
    const std::string name = "decode-" + model.name;
    if (model.decoder_only || !settings.wants(name)) continue;
    std::vector<std::function<void()>> functions{our_decode(model, 20)};
#ifdef ATTN_BENCH_TORCH
    functions.push_back(bench::torch_decode(model, 20));
#endif
    report(name, settings, compare(settings, functions), "libtorch");
  }
}

// Tiled attention, forward and backward, beside softmax(Q Kᵀ / √D + mask) V by separate ops, which need the
// whole (H, T, T) matrix several times over.
void run_attention(const Settings& settings, bool causal) {
  const std::string name = causal ? "attention-2048" : "attention-2048-unmasked";
  if (!settings.wants(name)) return;
  const Index T = 2048, H = 8, D = 64;
  Rng rng(1);
  const auto input = [&] { return normal({1, T, H * D}, rng).requires_grad(); };
  const auto heads = [&](const Tensor& x) { return split_heads(x.detach(), H).requires_grad(); };
  const Tensor q = input(), k = input(), v = input(), qh = heads(q), kh = heads(k), vh = heads(v);
  const Tensor mask = causal ? bias_of(causal_mask(T)) : Tensor();
  const std::function<void()> tiled = [&] {
    backward(sum(attention(q, k, v, {.heads = H, .mask = {.causal = causal}})));
  };
  const std::function<void()> composed = [&] {
    backward(sum(scaled_dot_product_attention(qh, kh, vh, mask).output));
  };
  report(name, settings, compare(settings, {tiled, composed}), "composed");
  double extra[2];
  for (int i = 0; i < 2; ++i) {
    for (const Tensor& leaf : {q, k, v, qh, kh, vh}) leaf.zero_grad();
    reset_pool_peak();
    const auto before = pool_statistics().bytes_in_use;
    (i == 0 ? tiled : composed)();
    extra[i] = double(pool_statistics().peak_bytes - before) / 1048576;
  }
  fmt::print("memory {}: tiled {:.1f} MiB, composed {:.1f} MiB\n", name, extra[0], extra[1]);
}

double resident_peak_mib() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line))
    if (line.rfind("VmHWM:", 0) == 0) return std::atof(line.c_str() + 6) / 1024;
  return 0;
}

int measure_memory(const std::string& who, const std::string& wanted) {
  for (const ModelCase& model : models) {
    if (wanted != "step-" + model.name) continue;
    const double before = resident_peak_mib();
    std::function<void()> step;
    if (who == "ours") step = our_step(model, model.decoder_only ? 0 : 0.1);
#ifdef ATTN_BENCH_TORCH
    if (who == "libtorch") step = bench::torch_step(model, model.decoder_only ? 0 : 0.1);
#endif
    if (!step) break;
    for (int i = 0; i < 3; ++i) step();
    fmt::print("memory {} {}: {:.1f} MiB\n", wanted, who, resident_peak_mib() - before);
    return 0;
  }
  fmt::print(stderr, "model_bench: no such case or contestant: {} {}\n", who, wanted);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--threads" && i + 1 < argc)
      settings.threads = std::atoi(argv[++i]);
    else if (word == "--seconds" && i + 1 < argc)
      settings.seconds = std::atof(argv[++i]);
    else if (word == "--memory" && i + 2 < argc)
      return measure_memory(argv[i + 1], argv[i + 2]);
    else
      settings.words.push_back(word);
  }
  set_thread_count(settings.threads);
  omp_set_num_threads(settings.threads);
#ifdef ATTN_BENCH_TORCH
  bench::torch_threads(settings.threads);
  fmt::print("peer {}\n", bench::torch_name());
#else
  fmt::print("libtorch is not installed (`make bench-peers` installs it): our own times alone\n");
#endif
  const double peak = bench::fma_peak_gflops() * settings.threads;
  fmt::print("kernels {}, peak {:.1f} GFLOP/s on {} threads\n", kernels().name, peak, settings.threads);
  run_steps(settings, peak);
  run_decoding(settings);
  run_attention(settings, true);
  run_attention(settings, false);
}
