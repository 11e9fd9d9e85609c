// Two ranks of one thread beside one process of two threads, in one run that alternates between them:
//
//   mpirun -n 2 --bind-to none build/tests/bench/ranks_bench [--seconds S] [words…]
//   ranks_bench --list                      the names
//
// Lines: `ratio ranks-small 2t vs threads: 0.98`, above 1 means that the ranks are faster; `cpu …` is the
// same in processor time (with GOMP_SPINCOUNT=0, so that threads that wait do not spin); `exchange …` is the
// time that two ranks spend in summing the gradients, waiting for each other included.
#include <fmt/core.h>  // print

#include <cstdlib>   // atof
#include <optional>  // optional

#include "core/autograd.hpp"
#include "core/leaf_hook.hpp"
#include "core/parallel.hpp"
#include "nn/transformer.hpp"
#include "optim/optimizer.hpp"
#include "optim/shards.hpp"
#include "tests/bench/measure.hpp"

using namespace attn;

namespace {

struct Case {
  std::string name;
  Index d_model, heads, layers, d_ff, vocabulary, batch, length;
};
const std::vector<Case> cases = {{"small", 128, 4, 3, 512, 1000, 64, 16},
                                 {"base", 512, 8, 6, 2048, 8000, 16, 32}};

// A model and one batch for it, of which a step may take some rows.
struct Step {
  Case size;
  Rng rng{1};
  Transformer model;
  Adam optimizer;
  IntTensor source, target;

  explicit Step(const Case& size)
      : size(size),
        model({.source_vocabulary = size.vocabulary,
               .vocabulary = size.vocabulary,
               .d_model = size.d_model,
               .heads = size.heads,
               .encoder_layers = size.layers,
               .decoder_layers = size.layers,
               .d_ff = size.d_ff,
               .dropout = real(0.1),
               .tie_embeddings = false,
               .share_embeddings = true},
              rng),
        optimizer(parameters_of(model)),
        source(tokens()),
        target(tokens()) {}

  IntTensor tokens() {
    IntTensor ids({size.batch, size.length});
    for (Index i = 0; i < ids.numel(); ++i) ids[i] = int(rng.below(size.vocabulary));
    return ids;
  }
  void gradients(Range rows) {
    const auto some = [&](const IntTensor& all) {
      const int* begin = all.data() + rows.begin * size.length;
      return IntTensor({rows.end - rows.begin, size.length},
                       {begin, begin + (rows.end - rows.begin) * size.length});
    };
    const Tensor logits = model(some(source), some(target), {.training = true, .rng = &rng});
    backward(cross_entropy(logits, some(target)) * real(double(rows.end - rows.begin) / double(size.batch)));
  }
  void whole() {
    gradients({0, size.batch});
    optimizer.step(1e-4);
  }
  // Returns the seconds that the exchange took after backward.
  double shared(ShardSum& sum, bool overlap) {
    const ParameterBlock& block = optimizer.block;
    sum.add(sum.mine().begin, block.gradient_memory());
    {
      std::optional<LeafHook> hook;
      if (overlap) hook.emplace([&](const Tensor& parameter) { sum.complete(block.range_of(parameter)); });
      gradients(shards_of(size.batch, sum.mine().begin, 2));
    }
    block.gradients();
    const double start = bench::seconds();
    sum.finish(optimizer.block.given_gradients());
    const double took = bench::seconds() - start;
    optimizer.step(1e-4);
    return took;
  }
};

double process_seconds() {  // of all threads together
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

void compare(Group& group, const Case& size, double seconds) {
  Step step(size);
  ShardSum sum(group, 2, step.optimizer.block.size());
  double threads = 1e9, ranks[2] = {1e9, 1e9}, exchange[2] = {1e9, 1e9};  // without overlap and with it
  double threads_cpu = 1e9, ranks_cpu = 1e9;  // on a busy machine the better clock
  const double start = bench::seconds();
  for (bool more = true; more;) {
    set_thread_count(2);
    double begin = bench::seconds(), begin_cpu = process_seconds();
    if (group.is_root()) step.whole();  // while the other one sleeps
    threads = std::min(threads, bench::seconds() - begin);
    threads_cpu = std::min(threads_cpu, (process_seconds() - begin_cpu) / 2);
    set_thread_count(1);
    for (const bool overlap : {false, true})
      for (int i = 0; i < 2; ++i) {
        group.barrier();
        begin = bench::seconds(), begin_cpu = process_seconds();
        exchange[overlap] = std::min(exchange[overlap], step.shared(sum, overlap));
        ranks[overlap] = std::min(ranks[overlap], bench::seconds() - begin);
        ranks_cpu = std::min(ranks_cpu, process_seconds() - begin_cpu);
      }
    more = bench::seconds() - start < seconds;
    group.broadcast(more);
  }
  fmt::print("ratio ranks-{} 2t vs threads: {:.2f}  ({:.2f} ms against {:.2f})\n", size.name,
             threads / ranks[1], 1e3 * ranks[1], 1e3 * threads);
  fmt::print("cpu ranks-{}: {:.2f}  ({:.2f} ms in each rank, {:.2f} in each of two threads)\n", size.name,
             threads_cpu / ranks_cpu, 1e3 * ranks_cpu, 1e3 * threads_cpu);
  fmt::print(
      "exchange ranks-{} after backward: {:.2f} ms, and {:.2f} (of {:.2f}) if it does not overlap; {} "
      "numbers\n",
      size.name, 1e3 * exchange[1], 1e3 * exchange[0], 1e3 * ranks[0], step.optimizer.block.size());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 10;  // a case
  bench::Choice choice;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--seconds" && i + 1 < argc)
      seconds = std::atof(argv[++i]);
    else if (word == "--list")
      choice.list = true;
    else
      choice.words.push_back(word);
  }
  Group& group = world();
  if (group.size() != 2 && !choice.list) {
    fmt::print(stderr, "ranks_bench: {} processes, not 2: mpirun -n 2 --bind-to none {}\n", group.size(),
               argv[0]);
    abandon_world(2);
    return 2;
  }
  for (const Case& size : cases)
    if (choice.wants("ranks-" + size.name)) compare(group, size, seconds);
}
