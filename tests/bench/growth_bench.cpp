// How the cost of a training step grows: time and memory against length, batch, layers and vocabulary, and
// those of preparing a corpus against its lines.
//
//   growth_bench [--threads N] [words…]     only cases whose names hold one of the words
//   growth_bench --list                     the names
//
//   growth-length 1t: 1024 8.11 ms 9.1 MiB expected 3.2 of time 8.8 of memory
//   exponent growth-length 1t: time 1.52 (expected 1.47), memory 0.98 (expected 0.97)
//
// An exponent is the slope of the straight line through the points where both axes are logarithmic: 1 is
// proportional, 2 quadratic. What is expected is the slope of the counted work at the same points: the
// multiply-adds of a step, the numbers that it keeps, the lines of a corpus.
#include <sys/wait.h>  // waitpid
#include <unistd.h>    // fork, pipe

#include <algorithm>   // min
#include <cmath>       // log
#include <cstdio>      // remove
#include <cstdlib>     // atoi
#include <filesystem>  // temp_directory_path
#include <fstream>     // ofstream

#include "core/autograd.hpp"
#include "core/error.hpp"
#include "core/ops.hpp"
#include "core/parallel.hpp"
#include "nn/gpt.hpp"
#include "nn/text/batching.hpp"
#include "nn/text/corpus.hpp"
#include "optim/optimizer.hpp"
#include "tests/bench/measure.hpp"

using namespace attn;

namespace {

struct Point {
  double size;             // what grows
  double seconds, memory;  // measured; memory in MiB
  double work, kept;       // counted
};

double slope(const std::vector<Point>& points, double Point::*y) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (const Point& point : points) {
    const double u = std::log(point.size), v = std::log(point.*y);
    n += 1, sx += u, sy += v, sxx += u * u, sxy += u * v;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

struct Step {
  Index length = 64, batch = 8, layers = 2, vocabulary = 64;
  static constexpr Index d_model = 128, heads = 4;

  double tokens() const { return double(length * batch); }
  double parameters() const { return double(d_model * (12 * layers * d_model + vocabulary + length)); }
  // Each weight is multiplied three times per token (forward, and backward for input and weight), but for the
  // positions; the tiles of causal attention seven times (backward computes them again), half of each row.
  // Adam is some ten operations per number.
  double work() const {
    return 3 * tokens() * double(d_model * (12 * layers * d_model + vocabulary)) +
           3.5 * tokens() * double(layers * length * d_model) + 10 * parameters();
  }
  // Weights, gradients and Adam's two means; for each token some 28 rows per layer, the logits and their
  // own gradient.
  double kept() const { return 4 * parameters() + tokens() * double(28 * layers * d_model + 2 * vocabulary); }
};

Point measure(const Step& step, Index size, int threads) {
  Rng rng(1);
  const std::int64_t before = pool_statistics().bytes_in_use;
  reset_pool_peak();
  TransformerConfig config = gpt_config({.vocabulary = step.vocabulary,
                                         .d_model = Step::d_model,
                                         .heads = Step::heads,
                                         .layers = step.layers,
                                         .max_length = step.length});
  config.dropout = 0;
  const Gpt net(config, rng);
  Adam optimizer(parameters_of(net));
  IntTensor tokens({step.batch, step.length}), targets({step.batch, step.length});
  for (Index i = 0; i < tokens.numel(); ++i) {
    tokens[i] = int(rng.below(step.vocabulary));
    targets[i] = int(rng.below(step.vocabulary));
  }
  const double seconds = bench::best_times({[&] {
                                             backward(cross_entropy(net(tokens), targets));
                                             optimizer.step(1e-4);
                                           }},
                                           2, 0.05, threads == 1 ? bench::thread_seconds : bench::seconds)[0];
  const double memory = double(pool_statistics().peak_bytes - before) / 1048576;
  return {double(size), seconds, memory, step.work(), step.kept()};
}

// What comes before the first step on a corpus: a portion of it, vocabularies, tokens and a plan of batches.
constexpr Index in_memory = 300'000;
void prepare_corpus(const std::string& path) {
  Corpus corpus({path}, in_memory);
  Split split = split_by_source(corpus.portion(0), {.test = 1000});
  corpus.hold_out(split.test);
  const WordVocabulary source = WordVocabulary::learn(source_lines(split.train)),
                       target = WordVocabulary::learn(target_lines(split.train));
  const std::vector<EncodedPair> pairs = encode_pairs(split.train, source, target);
  plan_batches(pairs, {.tokens = 4096});
}

// In a process of its own, whose memory is its own.
Point measure_corpus(Index lines) {
  const std::string path = (std::filesystem::temp_directory_path() / "growth_bench.tsv").string();
  {
    std::ofstream file(path);
    Rng rng(2);
    for (Index i = 0; i < lines; ++i)
      for (int side = 0; side < 2; ++side) {
        const Index words = 4 + rng.below(6);
        for (Index w = 0; w < words; ++w) file << (w ? " w" : "w") << rng.below(4000);
        file << (side ? '\n' : '\t');
      }
  }
  int results[2];
  if (pipe(results) != 0) fail("pipe: no file descriptors left");
  const pid_t child = fork();
  if (child == 0) {
    const double start = bench::thread_seconds(), before = bench::resident_peak_mib();
    prepare_corpus(path);
    const double measured[2] = {bench::thread_seconds() - start, bench::resident_peak_mib() - before};
    _exit(write(results[1], measured, sizeof measured) == sizeof measured ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  double measured[2] = {};
  if (status != 0 || read(results[0], measured, sizeof measured) != sizeof measured)
    fail("a corpus of {} lines could not be prepared", lines);
  close(results[0]), close(results[1]);
  std::remove(path.c_str());
  return {double(lines), measured[0], measured[1], double(lines), double(std::min(lines, in_memory))};
}

void run(const std::string& name, int threads, const std::vector<Index>& sizes,
         const std::function<Point(Index)>& measured) {
  std::vector<Point> points;
  for (const Index size : sizes) {
    points.push_back(measured(size));
    const Point& point = points.back();
    fmt::print("{} {}t: {} {:.4g} ms {:.4g} MiB expected {:.6g} of time {:.6g} of memory\n", name, threads,
               size, 1e3 * point.seconds, point.memory, point.work, point.kept);
    std::fflush(stdout);
  }
  fmt::print("exponent {} {}t: time {:.2f} (expected {:.2f}), memory {:.2f} (expected {:.2f})\n", name,
             threads, slope(points, &Point::seconds), slope(points, &Point::work),
             slope(points, &Point::memory), slope(points, &Point::kept));
}

}  // namespace

int main(int argc, char** argv) {
  int threads = 1;
  bench::Choice choice;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--threads" && i + 1 < argc)
      threads = std::atoi(argv[++i]);
    else if (word == "--list")
      choice.list = true;
    else
      choice.words.push_back(word);
  }
  set_thread_count(threads);
  const auto grow = [&](const std::string& name, Step step, Index Step::*what,
                        const std::vector<Index>& sizes) {
    if (!choice.wants(name)) return;
    run(name, threads, sizes, [&](Index size) {
      step.*what = size;
      return measure(step, size, threads);
    });
  };
  if (threads == 1 && choice.wants("growth-corpus"))  // first: later this process has memory to hand on
    run("growth-corpus", threads, {300'000, 1'000'000, 5'000'000}, measure_corpus);
  grow("growth-length", {.batch = 1}, &Step::length, {256, 1024, 4096, 16384});
  grow("growth-batch", {}, &Step::batch, {1, 4, 16, 64, 256});
  grow("growth-layers", {}, &Step::layers, {1, 2, 4, 8, 16, 32});
  grow("growth-vocabulary", {.batch = 2}, &Step::vocabulary, {500, 2000, 8000, 32000, 128000});
  bench::noise.print(threads);
}
