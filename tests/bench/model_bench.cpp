// Whole training steps and decoding, beside libtorch, and tiled attention beside composed ops.
//
//   model_bench [--threads N] [--seconds S] [words…]      only cases whose names hold one of the words
//   model_bench --list                                    the names
//   model_bench --memory ours|libtorch step-base          peak memory of three steps, in its own process
//   model_bench --load DIR                                seconds to load a published GPT
//
// Lines: `ratio <case> <threads>t vs <peer>: 1.23`, above 1 means that we are faster; `peak <case>
// <threads>t: 71%` is the share of the FMA peak that the matrix products of a step reach; `bandwidth <case>
// <threads>t: 83%` compares writing one token with reading, once, the weights that it needs; `difference
// <case> vs <peer>: 1e-6` is between results; `memory …` in MiB.
#include <fmt/core.h>  // print
#include <omp.h>       // omp_set_num_threads
#include <unistd.h>    // getpid

#include <cstddef>     // byte
#include <cstdio>      // fscanf, pclose, popen
#include <cstdlib>     // atof, atoi
#include <filesystem>  // create_directories, file_size, remove_all, temp_directory_path
#include <memory>      // make_shared
#include <span>        // span

#include "core/autograd.hpp"
#include "core/parallel.hpp"
#include "nn/decode.hpp"
#include "nn/gpt.hpp"
#include "nn/quantise.hpp"
#include "optim/optimizer.hpp"
#include "optim/published.hpp"
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
  bench::Choice choice;

  bool wants(const std::string& name) const { return choice.wants(name); }
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

// Random weights without the time that drawing 124 million normal numbers takes.
void fill(const ParameterList& parameters) {
  std::uint32_t bits = 1;
  for (const Parameter& parameter : parameters)
    for (Index i = 0; i < parameter.tensor.numel(); ++i)
      parameter.tensor.data()[i] = real(std::int32_t(bits = 1664525 * bits + 1013904223)) * real(1e-11);
}

// Reads memory as fast as the machine can: what decoding, which has little else to do, is held against.
struct Reader {
  std::vector<std::span<const std::byte>> pieces;

  void add(const void* data, std::size_t bytes) {
    pieces.emplace_back(static_cast<const std::byte*>(data), bytes);
  }
  void add(const Linear& layer) {
    if (layer.int8) add(layer.int8.values.get(), std::size_t(layer.int8.rows * layer.int8.cols));
    if (layer.weight) add(layer.weight.data(), std::size_t(layer.weight.numel()) * sizeof(real));
  }
  void add(const Stack& stack) {
    for (const Block& block : stack.blocks) {
      for (const Linear* layer : {&block.self.query, &block.self.key, &block.self.value, &block.self.output,
                                  &block.cross.query, &block.cross.output, &block.feed_forward.first,
                                  &block.feed_forward.gate, &block.feed_forward.second})
        add(*layer);
    }
  }
  double bytes() const {
    double total = 0;
    for (const auto& piece : pieces) total += double(piece.size());
    return total;
  }
  // A word of each cache line, in 8 places at once: nothing that we tried reads faster.
  void operator()() const {
    constexpr std::size_t streams = 8, line = 64;
    for (const auto& piece : pieces) {
      const std::size_t stretch = piece.size() / streams / line * line;
      parallel_for(Index(stretch / line), 256, [&](Index begin, Index end) {
        int sum = 0;
        for (Index i = begin; i < end; ++i)
          for (std::size_t s = 0; s < streams; ++s) sum += int(piece[s * stretch + std::size_t(i) * line]);
        asm volatile("" ::"r"(sum));  // the compiler must compute it
      });
    }
  }
};

// One token of a model that reads `reader` for each; `writer` has begun to write.
template <class SomeWriter>
void run_bandwidth(const std::string& name, const Settings& settings, const SomeWriter& begun,
                   const Reader& reader) {
  constexpr Index tokens = 8;
  const auto write = [&] {
    SomeWriter writer = begun;
    greedy(writer, {.end = -1, .max_length = tokens});
  };
  const auto read = [&] {
    for (Index i = 0; i < tokens; ++i) reader();
  };
  const std::vector<double> times = compare(settings, {write, read});
  const double token = times[0] / tokens, reading = times[1] / tokens;
  fmt::print(
      "bandwidth {} {}t: {:.0f}%  ({:.2f} ms per token, and {:.2f} to read {:.0f} MB at {:.1f} GB/s)\n", name,
      settings.threads, 100 * reading / token, 1e3 * token, 1e3 * reading, 1e-6 * reader.bytes(),
      1e-9 * reader.bytes() / reading);
  std::fflush(stdout);
}

TransformerConfig gpt2_shape() {
  TransformerConfig config =
      gpt_config({.vocabulary = 50257, .d_model = 768, .heads = 12, .layers = 12, .max_length = 1024});
  config.initialization = Initialization::none;
  return config;
}

void run_bandwidths(const Settings& settings) {
  Rng rng(1);
  if (settings.wants("token-base")) {
    const Transformer net(configuration(models[2], 0), rng);
    Reader reader;
    reader.add(net.decoder);
    reader.add(net.projection);
    TransformerWriter writer(net, random_tokens({1, models[2].length}, models[2].vocabulary, rng));
    writer.next(IntTensor({1, 1}, {1}));  // keys and values of the source are computed once
    run_bandwidth("token-base", settings, writer, reader);
  }
  for (const bool int8 : {false, true}) {
    const std::string name = int8 ? "token-gpt2-int8" : "token-gpt2";
    if (!settings.wants(name)) continue;
    Gpt net(gpt2_shape(), rng);
    fill(parameters_of(net));
    if (int8) quantise(net);
    Reader reader;
    reader.add(net.stack);
    Linear head;
    head.weight = net.token_embedding.table, head.int8 = net.token_embedding.int8;
    reader.add(head);
    GptWriter writer(net);
    writer.next(random_tokens({1, 16}, net.config.vocabulary, rng));
    run_bandwidth(name, settings, writer, reader);
  }
}

int measure_load(const std::string& folder) {
  const double start = bench::seconds();
  const Gpt model = PublishedModel(folder).gpt();
  fmt::print("{}\n", bench::seconds() - start);
  return 0;
}

// From a warm file cache, each time in a fresh process, whose memory is fresh as well.
void run_loading(const Settings& settings) {
  if (!settings.wants("load-gpt2")) return;
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("load-gpt2-{}", getpid());
  std::filesystem::create_directories(folder);
  {
    Rng rng(1);
    const Gpt net(gpt2_shape(), rng);
    fill(parameters_of(net));
    save_published(folder, "gpt2", net.config, parameters_of(net));
  }
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  double best = 1e9;
  for (const double start = bench::seconds(); bench::seconds() - start < settings.seconds;) {
    FILE* const output = popen(
        fmt::format("{} --threads {} --load {}", program, settings.threads, folder.string()).c_str(), "r");
    double took = 1e9;
    if (!output || std::fscanf(output, "%lf", &took) != 1)
      fmt::print(stderr, "model_bench: no time to load\n");
    if (output) pclose(output);
    best = std::min(best, took);
  }
  fmt::print("time load-gpt2 {}t: {:.2f} ms  ({:.0f} MB)\n", settings.threads, 1e3 * best,
             1e-6 * double(std::filesystem::file_size(folder / "model.safetensors")));
  std::filesystem::remove_all(folder);
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

#ifdef ATTN_BENCH_TORCH
// A second opinion on what a GPT-2 computes.
void compare_logits(const Settings& settings) {
  if (!settings.wants("gpt2-logits")) return;
  TransformerConfig config =
      gpt_config({.vocabulary = 1000, .d_model = 96, .heads = 6, .layers = 4, .max_length = 64});
  config.feed_forward.activation = Activation::gelu_tanh;
  Rng rng(1);
  const Gpt net(config, rng);
  for (const Parameter& parameter : parameters_of(net))  // larger than initial ones: every part counts
    for (Index i = 0; i < parameter.tensor.numel(); ++i)
      parameter.tensor.data()[i] += real(0.1 * rng.normal());
  const NoGrad no_grad;
  const IntTensor tokens = random_tokens({1, 48}, config.vocabulary, rng);
  const Tensor ours = net(tokens);
  fmt::print("difference gpt2-logits vs libtorch: {:.1e}  (the largest logit is {:.1f})\n",
             max_difference(ours, bench::torch_logits(net, tokens)),
             kernels().max(ours.numel(), ours.data()));
}
#endif

int measure_memory(const std::string& who, const std::string& wanted) {
  for (const ModelCase& model : models) {
    if (wanted != "step-" + model.name) continue;
    const double before = bench::resident_peak_mib();
    std::function<void()> step;
    if (who == "ours") step = our_step(model, model.decoder_only ? 0 : 0.1);
#ifdef ATTN_BENCH_TORCH
    if (who == "libtorch") step = bench::torch_step(model, model.decoder_only ? 0 : 0.1);
#endif
    if (!step) break;
    for (int i = 0; i < 3; ++i) step();
    fmt::print("memory {} {}: {:.1f} MiB\n", wanted, who, bench::resident_peak_mib() - before);
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
    else if (word == "--load" && i + 1 < argc)
      return set_thread_count(settings.threads), measure_load(argv[i + 1]);
    else if (word == "--list")
      settings.choice.list = true;
    else
      settings.choice.words.push_back(word);
  }
  set_thread_count(settings.threads);
  omp_set_num_threads(settings.threads);
  double peak = 0;
  if (!settings.choice.list) {
#ifdef ATTN_BENCH_TORCH
    bench::torch_threads(settings.threads);
    fmt::print("peer {}\n", bench::torch_name());
#else
    fmt::print("libtorch is not installed (`make bench-peers` installs it): our own times alone\n");
#endif
    peak = bench::fma_peak_gflops() * settings.threads;
    fmt::print("kernels {}, peak {:.1f} GFLOP/s on {} threads\n", kernels().name, peak, settings.threads);
  }
#ifdef ATTN_BENCH_TORCH
  compare_logits(settings);
#endif
  run_steps(settings, peak);
  run_decoding(settings);
  run_bandwidths(settings);
  run_loading(settings);
  run_attention(settings, true);
  run_attention(settings, false);
  bench::noise.print(settings.threads);
}
