// %% [markdown]
// # How far does it go?
//
// One machine is too slow, so you take eight. Then sixty-four, then a thousand. When do more machines
// stop helping?
//
// *A step of training on many machines can be priced in advance*: so much arithmetic, so many messages,
// so many bytes. We measure the prices on the machine in front of you, check the sum of them against
// real steps on 1, 2 and 4 ranks, and then follow it to machines that you do not have. Lesson 20
// explains ranks, shards and all-reduce.
//
// ## What we need
//
// A clock that counts only the time in which this thread really ran: then others on the machine do not
// count, nor does waiting for a message. What is measured is the work of a rank; on a core of its own it
// would take as long.

// %%
#include <time.h>  // clock_gettime

#include <algorithm>  // copy, max, min
#include <mutex>      // mutex
#include <thread>     // hardware_concurrency

#include "core/parallel.hpp"
#include "nn/gpt.hpp"
#include "notebooks_cpp/notebook.hpp"
#include "optim/optimizer.hpp"
#include "optim/shards.hpp"

using namespace attn;

double now() {
  timespec moment;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &moment);
  return double(moment.tv_sec) + 1e-9 * double(moment.tv_nsec);
}

template <class Work>
double seconds_of(const Work& work) {  // the best of several: the least disturbed
  double best = 1e9;
  for (int round = 0; round < (notebook::fast() ? 4 : 6); ++round) {
    const double start = now();
    work();
    best = std::min(best, now() - start);
  }
  return best;
}

// %% [markdown]
// A GPT to train, with few tokens for its size, so that messages matter. A batch has four shards, and
// each shard is one text. The prices: the gradient of a shard, the sum of all shards, the update.

// %%
constexpr Index shards = 4, length = 64, vocabulary = 256;

Gpt make_model() {
  Rng rng(notebook::seed());
  return Gpt(gpt_config({.vocabulary = vocabulary, .d_model = 128, .layers = 4, .max_length = length}), rng);
}

IntTensor random_text(Rng& rng) {
  const IntTensor tokens({1, length});
  for (Index t = 0; t < length; ++t) tokens[t] = int(rng.below(vocabulary));
  return tokens;
}

void gradient_of_a_shard(const Gpt& model, Rng& rng) {
  const IntTensor tokens = random_text(rng), targets = random_text(rng);
  backward(cross_entropy(model(tokens), targets));
}

struct Prices {                  // in seconds
  double shard = 0;              // the gradient of a shard
  double sum = 0, update = 0;    // adding up all shards, and Adam's step, on one rank
  double latency = 0, byte = 0;  // a message, and each byte of it
};

// %% [markdown]
// A message between two ranks, there and back. Simulated ranks are threads, and a message is copied
// into memory and out again; it is priced with both copies and with waking the receiver.

// %%
double message_seconds(Index bytes) {
  double seconds = 1e9;
  simulate(2, [&](Group& group) {
    std::vector<std::byte> text(std::size_t(bytes), std::byte{1});
    const double once = seconds_of([&] {
      for (int round = 0; round < 10; ++round) {
        group.send(1 - group.rank(), text);
        group.receive(1 - group.rank(), text);
        group.wait();
      }
    });
    if (group.rank() == 0) seconds = once / 10;
  });
  return seconds;
}

// %%
Prices measure_prices(Index ranks) {
  Prices prices;
  simulate(ranks, [&](Group& group) {  // all at work: they share caches and memory
    const Gpt model = make_model();
    Adam adam(parameters_of(model));
    const Index n = adam.block.size();
    Rng rng(notebook::seed());
    const double shard = seconds_of([&] {
      adam.block.zero_grad();
      gradient_of_a_shard(model, rng);
    });
    const double with_update = seconds_of([&] {
      gradient_of_a_shard(model, rng);
      adam.step(1e-3);
    });
    ShardSum all(alone(), shards, n);
    const double with_sum = seconds_of([&] {
      for (Index s = 0; s < shards; ++s) {
        adam.block.zero_grad();
        gradient_of_a_shard(model, rng);
        all.add(s, adam.block.gradient_memory());
      }
      all.finish(adam.block.gradient_memory());
    });
    if (group.is_root())
      prices = {shard, std::max(0.0, with_sum - double(shards) * shard), std::max(0.0, with_update - shard)};
  });
  prices.latency = message_seconds(8);
  prices.byte = (message_seconds(1 << 20) - prices.latency) / double(1 << 20);
  return prices;
}

// %% [markdown]
// And the real thing: steps on N simulated ranks, each with a model of its own, timed from beginning to
// end.

// %%
double real_step(Index ranks) {
  double busiest = 0;
  std::mutex mutex;
  simulate(ranks, [&](Group& group) {
    const Gpt model = make_model();
    Adam adam(parameters_of(model));
    ShardSum sum(group, shards, adam.block.size());
    Rng rng(notebook::seed());
    const double seconds = seconds_of([&] {
      for (Index s = sum.mine().begin; s < sum.mine().end; ++s) {
        adam.block.zero_grad();
        gradient_of_a_shard(model, rng);
        sum.add(s, adam.block.gradient_memory());
      }
      sum.finish(adam.block.gradient_memory());
      adam.step(1e-3);
    });
    const std::lock_guard lock(mutex);
    busiest = std::max(busiest, seconds);
  });
  return busiest;
}

// %% tags=["active-cpp"]
int main(int argc, char** argv) { return notebook::run(argc, argv, "07_how_far", [] {

// %% [markdown]
// ## The prices here

// %%
set_thread_count(1);
const Prices prices = measure_prices(1);
const double n = double(parameters_of(make_model()).count());
const double weights = n - double(length * 128);  // positions are only added
const double shard_flop = double(length) * (6 * weights + 6 * double(length * 128 * 4));  // and attention
const double rate = shard_flop / prices.shard;
fmt::print("{} parameters, {} tokens per shard\n", grouped(Index(n)), length);
fmt::print("gradient of a shard   {:8.3f} ms  ({:.0f} GFLOP/s on one core)\n", 1e3 * prices.shard,
           1e-9 * rate);
fmt::print("sum of {} shards       {:8.3f} ms\n", shards, 1e3 * prices.sum);
fmt::print("update by Adam        {:8.3f} ms\n", 1e3 * prices.update);
fmt::print("message               {:8.3f} µs, and {:.1f} GB per second\n", 1e6 * prices.latency,
           1e-9 / prices.byte);

// %% [markdown]
// ## The bill
//
// With $S$ shards, $N$ ranks and $n$ parameters of 4 bytes, a rank computes $S/N$ gradients and does an $N$th
// of the additions, sends and receives $2 (N - 1)$ messages of an $N$th of the gradient, and updates all
// parameters:
//
// $$T(N) = \frac{S \, t_{shard} + t_{sum}}{N} + 2 (N - 1) \left(\alpha + \frac{4 n}{N} \beta\right) + t_{update}$$
//
// Here $\alpha$ is the price of a message and $\beta$ that of a byte. Does it hold? Below is the processor time per step of the busiest rank, the best of
// several. The prices are measured again beside it, with as many ranks at work: what shares caches and memory is
// slower than what has them to itself, and a machine that others use changes from minute to minute:

// %%
const auto bill = [&](double N, const Prices& p) {
  const double S = double(shards);
  return (S * p.shard + p.sum) / N + 2 * (N - 1) * (p.latency + 4 * n / N * p.byte) + p.update;
};
viz::BarSeries predicted{.name = "predicted"}, measured{.name = "measured"};
std::vector<std::string> names;
fmt::print("ranks   predicted    measured    off by\n");
for (const Index ranks : {1, 2, 4}) {
  double expected = 1e9, found = 1e9;
  for (int round = 0; round < (notebook::fast() ? 1 : 6); ++round) {
    expected = std::min(expected, bill(double(ranks), measure_prices(ranks)));
    found = std::min(found, real_step(ranks));
  }
  names.push_back(fmt::format("{} rank{}", ranks, ranks > 1 ? "s" : ""));
  predicted.values.push_back(1e3 * expected), measured.values.push_back(1e3 * found);
  fmt::print("{:5} {:9.2f} ms {:8.2f} ms {:8.0f}%\n", ranks, 1e3 * expected, 1e3 * found,
             100 * (expected / found - 1));
}
notebook::show(viz::grouped_bar_chart(names, {predicted, measured},
                                      {.title = "A step on simulated ranks",
                                       .value_title = "ms of processor time"}),
               "Twice the ranks do not halve the step: the sum and the update stay.");

// %% [markdown]
// ## By the clock
//
// Simulated ranks are threads, and processor time leaves waiting out. So the same once more with processes, by
// the clock: after `make mpi`, `make bench CASES=loopback` trains Transformers on 1, 2 and 4 ranks that MPI
// joins through the machine's own network (TCP on the loopback interface). If there are more ranks than
// cores, they take turns: a step on $P$ cores takes
//
// $$\frac{N}{\min(N, P)} \, T(N)$$
//
// It found this on a virtual machine with two cores (Intel Xeon, AVX-512), one thread per rank, 4 shards per
// step. *Small* is a Transformer of 1.6 million parameters with 1,024 target tokens per step, *base* one of 52
// million with 512. A message took 10 to 12 µs, and 2.2 to 2.4 GB per second went each way.
//
// | model | ranks | predicted | measured | off by |
// |---|---|---|---|---|
// | small | 1 | 91.7 ms | 95.0 ms | -3% |
// | small | 2 | 54.1 ms | 56.7 ms | -4% |
// | small | 4 | 61.4 ms | 63.1 ms | -3% |
// | base | 1 | 1,529 ms | 1,472 ms | +4% |
// | base | 2 | 1,065 ms | 1,086 ms | -2% |
// | base | 4 | 1,332 ms | 1,366 ms | -3% |
//
// Four ranks on two cores are slower than two: they have no more arithmetic to share, but more messages and
// twice the updates. And here, too, a shard takes longer when both cores are busy: 24.0 ms instead of 21.9
// (small), 403 instead of 328 (base).
//
// %% [markdown]
// ## Machines that we do not have
//
// Now the same bill with other prices. What counts of a machine is how fast it computes and how it is
// connected: the prices of a network are those of its data sheet, and arithmetic is taken at the rate that
// was measured above, on all cores. (The last one is a node of 8 GPUs that reach 40% of their peak.)

// %%
struct Machine {
  std::string name;
  double flops, latency, bytes_a_second;
};
const double here = rate * double(std::max(1, int(std::thread::hardware_concurrency())));
const std::vector<Machine> machines = {
    {"like this one, 1 Gbit/s", here, 50e-6, 1e9 / 8},
    {"like this one, 10 Gbit/s", here, 30e-6, 10e9 / 8},
    {"64 cores, 100 Gbit/s", 64 * rate, 5e-6, 100e9 / 8},
    {"8 GPUs, 3,200 Gbit/s", 8 * 0.4 * 312e12, 5e-6, 3200e9 / 8},
};
struct Job {
  std::string name;
  double parameters, tokens;
};
const std::vector<Job> jobs = {{"Transformer base", 63082496, 25000}, {"GPT-2 124M", 124439808, 524288}};

const auto computing = [](const Job& job, const Machine& machine, double N) {
  return 6 * job.parameters * job.tokens / machine.flops / N;
};
const auto messages = [](const Job& job, const Machine& machine, double N) {
  return 2 * (N - 1) * (machine.latency + 4 * job.parameters / N / machine.bytes_a_second);
};

// %% [markdown]
// The base model of 2017 with its batches of 25,000 tokens, and GPT-2 with batches of half a million. The
// batch stays the same, only more machines share it. Arithmetic: 6 FLOP for each parameter and token. Sum
// and update are left out; they are small beside the rest and shared as well if each rank keeps a part
// (ZeRO).

// %%
for (const Job& job : jobs) {
  fmt::print("{}, {} tokens per step\n", job.name, grouped(Index(job.tokens)));
  fmt::print("  {:<26} {:>6} {:>12} {:>11} {:>9} {:>9}\n", "machines", "nodes", "computing", "messages",
             "speed-up", "of ideal");
  for (const Machine& machine : machines)
    for (const double N : {1.0, 8.0, 64.0, 1024.0}) {
      const double c = computing(job, machine, N), m = messages(job, machine, N);
      const double times = computing(job, machine, 1) / (c + m);
      fmt::print("  {:<26} {:6.0f} {:10.3g} s {:9.3g} s {:9.1f} {:8.1f}%\n", N == 1 ? machine.name : "", N,
                 c, m, times, 100 * times / N);
    }
  fmt::print("\n");
}

// %%
std::vector<viz::Image> charts;
for (const Job& job : jobs) {
  std::vector<viz::Series> lines;
  for (int i = 1; i < 4; i += 2) {
    const Machine& machine = machines[i];
    viz::Series work{.name = "computing, " + machine.name, .color = i},
        talk{.name = "messages, " + machine.name, .dashed = true, .color = i};
    for (double N = 2; N <= 4096; N *= 2) {
      work.x.push_back(N), work.y.push_back(computing(job, machine, N));
      talk.x.push_back(N), talk.y.push_back(messages(job, machine, N));
    }
    lines.push_back(work), lines.push_back(talk);
  }
  charts.push_back(viz::line_chart(
      lines, {.title = job.name, .x_title = "nodes", .y_title = "seconds per step",
              .x_scale = viz::Scale::log2, .y_scale = viz::Scale::log10, .width = 520}));
}
notebook::show(viz::row(charts),
               "Computing falls with the number of nodes, messages do not: where the lines of a colour "
               "cross, half of the time is spent waiting.");

// %% [markdown]
// ## Where messages win
//
// The bytes that a rank sends are nearly the same on any number of ranks, so the time for messages hardly
// falls; and the number of messages grows. So there is a number of nodes from which messages take longer
// than arithmetic, and it can be computed:

// %%
for (const Job& job : jobs)
  for (const Machine& machine : machines) {
    double N = 2;
    while (N < 1e6 && messages(job, machine, N) < computing(job, machine, N)) ++N;
    fmt::print("{:<17} {:<26} from {:>6} nodes on\n", job.name, machine.name, grouped(Index(N)));
  }

// %% [markdown]
// On the same network a faster machine reaches this point *sooner*: its computing takes less time beside
// the same messages. This is why clusters of fast machines need fast networks.
//
// ## The way out: more to compute
//
// If the batch grows with the number of nodes, each has as much to do as before, and the price of an
// exchange is shared by more tokens. How many tokens must a node have in a step so that messages take at
// most a tenth of the time, on 1,024 nodes?

// %%
for (const Job& job : jobs)
  for (const Machine& machine : machines) {
    const double tokens = 9 * messages(job, machine, 1024) * machine.flops / (6 * job.parameters);
    fmt::print("{:<17} {:<26} {:>11} tokens per node, {:.1e} per step\n", job.name, machine.name,
               grouped(Index(tokens)), 1024 * tokens);
  }

// %% [markdown]
// But a batch cannot grow at will: above the critical batch size (lesson 20) more tokens per step save no
// steps. Between the two lies what is possible. Large models get further in three ways: they send while
// they still compute, which hides messages behind the backward pass; they send 2 bytes per number instead of
// 4; and they also cut the model itself, by layers or within them, so that fewer ranks have to agree on
// each parameter.
//
// ## Play on
//
// * What moves the crossover further: twice the bandwidth, or half the latency? Change `machines` and see.
//   From how many nodes on does latency matter at all?
// * Send 2 bytes per number: write 2 instead of 4 in `messages`.
// * Add a job: 7 billion parameters, 4 million tokens per step. Which machine can do it in a second?
// * Set `length` to 256. The bill has to hold there, too: does it?
//
// What is left out: machines that are slower than others, on which everybody waits; networks whose lines
// are shared; and failures, which come every few hours when there are thousands of machines.

// %% tags=["active-cpp"]
}); }
