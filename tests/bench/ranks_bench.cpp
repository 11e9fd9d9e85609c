// Training on several ranks, by the clock: beside threads, and beside a model of its time.
//
//   mpirun -n 2 --bind-to none build/tests/bench/ranks_bench [--seconds S] [words…]     the cases ranks-…
//   mpirun -n 4 --oversubscribe --bind-to none --mca pml ob1 --mca btl self,tcp …       the cases loopback-…,
//                                                  whose messages take the machine's own network
//   ranks_bench --list                             the names
//
// Everything alternates in one run, and the best of each counts: ranks that wait for each other need a quiet
// machine. Lines:
//
//   ratio ranks-small 2t vs threads: 0.98    two ranks of one thread beside one process of two threads; above
//                                            1 the ranks are faster. `cpu …` is the same in processor time
//                                            (with GOMP_SPINCOUNT=0, so that threads that wait do not spin)
//   exchange ranks-small …                   what two ranks spend in summing gradients, waiting included
//   prices loopback-small 2 cores: …         what the parts of a step cost, measured one by one
//   model loopback-small 4 ranks: …          the step that these prices predict, and the one measured
//
// The model of a step on N ranks with S shards and n parameters of 4 bytes, on a machine of P cores:
//
//   T(N) = N / min(N, P) · [(S · shard + sum) / N + 2 (N - 1) (latency + 4 n/N · byte) + update]
//
// In the brackets is the work of one rank: its share of the gradients and of their sum, its messages, and the
// update of all parameters. The factor says that ranks share cores. Cores share the memory, so prices depend
// on how many are busy: they are measured on one core, for N = 1, and on all P at once.
#include <fmt/core.h>  // print

#include <cstdlib>   // atof
#include <optional>  // optional
#include <thread>    // hardware_concurrency

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
  double gflop;  // of the matrix products of a step
};
const std::vector<Case> cases = {{"small", 128, 4, 3, 512, 1000, 64, 16, 9.5},
                                 {"base", 512, 8, 6, 2048, 8000, 16, 32, 150}};

constexpr Index shards = 4;  // of a batch, for the model of time

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
  void gradients_of(Index shard, const ShardSum& sum) {
    gradients(shards_of(size.batch, shard, sum.shards()));
    optimizer.block.gradients();  // those that were not reached are 0 now
  }
  // Returns the seconds that the exchange took after backward.
  double shared(ShardSum& sum, bool overlap) {
    const ParameterBlock& block = optimizer.block;
    for (Index shard = sum.mine().begin; shard + 1 < sum.mine().end; ++shard) {
      gradients_of(shard, sum);
      sum.add(shard, block.gradient_memory());
      block.zero_grad();
    }
    const Index last = sum.mine().end - 1;
    sum.add(last, block.gradient_memory());
    {
      std::optional<LeafHook> hook;
      if (overlap) hook.emplace([&](const Tensor& parameter) { sum.complete(block.range_of(parameter)); });
      gradients_of(last, sum);
    }
    const double start = bench::seconds();
    sum.finish(block.given_gradients());
    const double took = bench::seconds() - start;
    optimizer.step(1e-4);
    return took;
  }
};

// The first ranks of a group, as a group.
class First : public Group {
 public:
  First(Group& all, Index size) : all_(all), size_(size) {}
  Index rank() const override { return all_.rank(); }
  Index size() const override { return size_; }
  void send(Index to, std::span<const std::byte> bytes, int tag) override { all_.send(to, bytes, tag); }
  void receive(Index from, std::span<std::byte> bytes, int tag) override { all_.receive(from, bytes, tag); }
  void wait() override { all_.wait(); }
  void progress() override { all_.progress(); }

 private:
  Group& all_;
  Index size_;
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

// What parts of a step cost, in seconds, while so many cores are busy.
struct Prices {
  Index cores;
  double shard = 1e9, sum = 1e9, update = 1e9;  // a gradient; the sum of all shards; the update
  double messages = 1e9, megabytes = 1e9;       // 100 of no length; 8 MB at once

  double latency() const { return cores > 1 ? messages / 100 : 0; }
  double byte() const { return cores > 1 ? megabytes / double(8 << 20) : 0; }
  double step(double N, double n) const {
    const double work =
        (double(shards) * shard + sum) / N + 2 * (N - 1) * (latency() + 4 * n / N * byte()) + update;
    return N / double(cores) * work;
  }
};

// The least time that the ranks needed for some work, until the last of them is done.
template <class Work>
void improve(double& best, Group& group, const Work& work) {
  for (int i = 0; i < 3; ++i) {
    group.barrier();
    const double start = bench::seconds();
    work();
    best = std::min(best, group.largest(bench::seconds() - start));
  }
}

// On all ranks of the group at once, each on a core of its own.
void measure(Group& group, Step& step, Prices& prices) {
  const ParameterBlock& block = step.optimizer.block;
  ShardSum sum(alone(), shards, block.size());
  step.whole();  // all memory is there now
  improve(prices.shard, group, [&] { step.gradients_of(0, sum), block.zero_grad(); });
  improve(prices.sum, group, [&] {
    for (Index s = 0; s < shards; ++s) sum.add(s, block.given_gradients());
    sum.finish(block.given_gradients());
  });
  improve(prices.update, group, [&] { block.given_gradients(), step.optimizer.step(1e-4); });
  if (group.size() == 1) return;
  std::vector<std::byte> sent(8 << 20), received(8 << 20);
  const auto exchange = [&](std::size_t bytes) {  // both send and receive, as when gradients are summed
    group.send(group.rank() ^ 1, std::span(sent).first(bytes));
    group.receive(group.rank() ^ 1, std::span(received).first(bytes));
    group.wait();
  };
  improve(prices.messages, group, [&] {
    for (int i = 0; i < 100; ++i) exchange(1);
  });
  improve(prices.megabytes, group, [&] { exchange(sent.size()); });
}

void check_model(Group& group, const Case& size, double seconds) {
  set_thread_count(1);
  Step step(size);
  const Index n = step.optimizer.block.size(), cores = std::thread::hardware_concurrency();
  std::vector<Prices> prices{{1}};
  if (cores > 1) prices.push_back({std::min(cores, group.size()) / 2 * 2});  // pairs exchange messages
  std::vector<std::pair<Index, double>> steps{{1, 1e9}, {2, 1e9}, {4, 1e9}};
  const double start = bench::seconds();
  for (bool more = true; more;) {
    for (Prices& some : prices) {
      First busy(group, some.cores);
      if (group.rank() < busy.size()) measure(busy, step, some);
      group.barrier();
    }
    for (auto& [ranks, best] : steps) {
      First some(group, ranks);
      if (group.rank() < ranks) {
        ShardSum sum(some, shards, n);
        step.shared(sum, true);
        improve(best, some, [&] { step.shared(sum, true); });
      }
      group.barrier();
    }
    more = bench::seconds() - start < seconds;
    group.broadcast(more);
  }
  for (const Prices& p : prices) {
    fmt::print(
        "prices loopback-{} {} cores busy: shard {:.2f} ms ({:.0f} GFLOP/s each), sum {:.2f}, update {:.2f}",
        size.name, p.cores, 1e3 * p.shard, size.gflop / double(shards) / p.shard, 1e3 * p.sum,
        1e3 * p.update);
    if (p.cores > 1) fmt::print(", message {:.1f} µs and {:.2f} GB/s", 1e6 * p.latency(), 1e-9 / p.byte());
    fmt::print("; {} numbers\n", n);
  }
  for (const auto& [ranks, best] : steps) {
    const Prices& fitting = prices[ranks > 1 ? prices.size() - 1 : 0];
    const double predicted = fitting.step(double(ranks), double(n));
    fmt::print("model loopback-{} {} ranks: {:.2f} ms predicted, {:.2f} measured: {:+.0f}%\n", size.name,
               ranks, 1e3 * predicted, 1e3 * best, 100 * (predicted / best - 1));
  }
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
  if (group.size() != 2 && group.size() != 4 && !choice.list) {
    fmt::print(stderr, "ranks_bench: {} processes, not 2 or 4: mpirun -n 4 {}\n", group.size(), argv[0]);
    abandon_world(2);
    return 2;
  }
  for (const Case& size : cases) {
    if (choice.wants("ranks-" + size.name) && group.size() == 2) compare(group, size, seconds);
    if (choice.wants("loopback-" + size.name) && group.size() == 4) check_model(group, size, seconds);
  }
}
