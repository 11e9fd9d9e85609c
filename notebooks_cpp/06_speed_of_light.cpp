// %% [markdown]
// # The speed of light
//
// Your processor has a speed limit: so many multiplications and additions a second and not one more.
// There is a second limit, less well known: so many bytes a second from memory. Everything a model does
// runs into one of the two.
//
// *How close do we get, and which of the two is in the way?* Every number below is measured on the
// machine in front of you, so yours will differ from those of anybody else. If other programs are
// running, run it twice.
//
// ## What we need
//
// A clock, and the best of several tries: a neighbour on the machine can only make things slower.

// %%
#include <time.h>  // clock_gettime

#include <algorithm>      // max, max_element, min
#include <map>            // map
#include <unordered_map>  // unordered_map

#include "core/gemm.hpp"
#include "core/op.hpp"  // node_of
#include "core/parallel.hpp"
#include "nn/decode.hpp"
#include "notebooks_cpp/notebook.hpp"
#include "optim/optimizer.hpp"

using namespace attn;

// With one thread, only the time in which it really ran.
double now() {
  timespec moment;
  clock_gettime(thread_count() > 1 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &moment);
  return double(moment.tv_sec) + 1e-9 * double(moment.tv_nsec);
}

template <class Work>
double seconds_of(const Work& work) {
  const double patience = notebook::fast() ? 0.02 : 0.15;
  double best = 1e9, total = 0;
  for (int round = 0; round < 3 || (round < 200 && total < patience); ++round) {
    const double start = now();
    work();
    const double seconds = now() - start;
    best = std::min(best, seconds), total += seconds;
  }
  return best;
}

// %% [markdown]
// The first limit: multiply-adds in registers that wait for nothing. The second: reading an array and
// adding it up, shared among the threads. (FLOP: a multiplication or an addition.)

// %%
double peak_gflops() {  // of one core
  double flop = 0;
  const double seconds = seconds_of([&] { flop = kernels().burn(100000); });
  return flop / seconds / 1e9;
}

double read_gigabytes(Index bytes) {  // a second
  const Index n = bytes / Index(sizeof(real)), chunk = std::min<Index>(n, 1 << 16);
  const Index passes = std::max<Index>(1, (1 << 22) / bytes);
  const Tensor x = ones({n});
  std::vector<real> sums(std::size_t(n / chunk));
  const double seconds = seconds_of([&] {
    for (Index pass = 0; pass < passes; ++pass)
      parallel_for(n, chunk, [&](Index begin, Index end) {
        for (Index i = begin; i < end; i += chunk)
          sums[i / chunk] = kernels().sum(std::min(chunk, end - i), x.data() + i);
      });
  });
  return double(passes * bytes) / seconds / 1e9;
}

// %% [markdown]
// A place on the map: how many FLOP an operation does for each byte that it has to touch at least once,
// and how many it does a second.

// %%
struct Place {
  std::string name;
  double intensity, gflops;  // FLOP per byte, 10⁹ FLOP a second
};

template <class Work>
Place measure(const std::string& name, double flop, double numbers, const Work& work) {
  return {name, flop / (numbers * sizeof(real)), flop / seconds_of(work) / 1e9};
}

void put(const std::vector<Place>& places, viz::Series& series) {
  for (const Place& place : places) {
    series.x.push_back(place.intensity), series.y.push_back(place.gflops);
    series.labels.push_back(place.name);
  }
}

Place product(Index n) {  // (n, n) x (n, n)
  const Tensor a = ones({n, n}), b = ones({n, n}), c = zeros({n, n});
  const ConstMatrix A{a.data(), n, n}, B{b.data(), n, n};
  const Matrix C{c.data(), n, n};
  return measure(fmt::format("{}", n), 2.0 * n * n * n, 3.0 * n * n, [&] { gemm(A, B, C); });
}

std::vector<Place> ops_of_a_model() {
  const NoGrad no_grad;
  const Index rows = notebook::fast() ? 1024 : 8192, C = 512, words = 512;
  const Tensor x = ones({rows, C}), y = ones({rows, C}), weight = ones({4 * C, C});
  const Tensor q = ones({8, words, 64}), one = ones({1, C});
  const double n = double(rows * C), w = double(weight.numel());
  return {measure("add", n, 3 * n, [&] { x + y; }),
          measure("layer_norm", 8 * n, 2 * n, [&] { layer_norm(x, {}, {}); }),
          measure("softmax", 5 * n, 2 * n, [&] { softmax(x); }),
          measure("linear, 1 word", 2 * w, w, [&] { linear(one, weight); }),
          measure("linear, all words", 2 * w * rows, w + 5 * n, [&] { linear(x, weight); }),
          measure("attention", 4.0 * 8 * words * words * 64, 4.0 * q.numel(), [&] { attention(q, q, q); })};
}

// %% [markdown]
// Where does the time of a training step go? The forward pass is written out with a stopwatch around
// each op. For the way back there is a trick: the graph is data. Each node holds a pointer to the
// function that will run, and we put our own in its place, which looks at the clock and calls the
// original.

// %%
std::map<std::string, double> forward_seconds, backward_seconds;
std::unordered_map<Node*, void (*)(Node*, const Tensor&)> originals;

template <class Work>
auto timed(const char* op, const Work& work) {
  const double start = now();
  auto result = work();
  forward_seconds[op] += now() - start;
  return result;
}

void run_timed(Node* node, const Tensor& output) {
  const char* op = node->op;
  const double start = now();
  originals.at(node)(node, output);
  backward_seconds[op] += now() - start;
}

void watch(const Tensor& tensor) {
  Node* node = node_of(tensor);
  if (!node || originals.count(node)) return;
  originals[node] = node->run;
  node->run = run_timed;
  for (const Tensor& input : node->inputs()) watch(input);
}

// %%
Tensor timed_loss(const Gpt& model, const IntTensor& tokens, const IntTensor& targets) {
  Tensor h = timed("embedding", [&] { return model.token_embedding(tokens); });  // (B, T, C)
  h = timed("add", [&] { return model.stack.positions.add_to(h); });
  for (const Block& block : model.stack.blocks) {
    const MultiHeadAttention& self = block.self;
    const Tensor x = timed("layer_norm", [&] { return block.self_norm(h); });
    const Tensor q = timed("linear", [&] { return self.query(x); });
    const Tensor k = timed("linear", [&] { return self.key(x); });
    const Tensor v = timed("linear", [&] { return self.value(x); });
    const Tensor mixed = timed("attention", [&] {
      return attention(q, k, v, {.heads = self.heads, .mask = {.causal = true}});
    });
    const Tensor handed_on = timed("linear", [&] { return self.output(mixed); });
    h = timed("add", [&] { return h + handed_on; });
    const Tensor y = timed("layer_norm", [&] { return block.feed_forward_norm(h); });
    const Tensor hidden = timed("linear", [&] { return block.feed_forward.first(y, Activation::gelu); });
    const Tensor out = timed("linear", [&] { return block.feed_forward.second(hidden); });
    h = timed("add", [&] { return h + out; });
  }
  h = timed("layer_norm", [&] { return model.stack.final_norm(h); });
  const Tensor logits = timed("linear", [&] { return model.token_embedding.logits(h); });  // (B, T, V)
  return timed("cross_entropy", [&] { return cross_entropy(logits, targets); });
}

// %% [markdown]
// And the plain training step, without stopwatches:

// %%
IntTensor random_tokens(Index B, Index T, Index V, Rng& rng) {
  const IntTensor tokens({B, T});
  for (Index i = 0; i < tokens.numel(); ++i) tokens[i] = int(rng.below(V));
  return tokens;
}

double step_seconds(const Gpt& model, Adam& adam, Index B, Rng& rng) {
  const Index T = model.config.max_length, V = model.config.vocabulary;
  const IntTensor tokens = random_tokens(B, T, V, rng), targets = random_tokens(B, T, V, rng);
  return seconds_of([&] {
    backward(cross_entropy(model(tokens), targets));
    adam.step(1e-3);
  });
}

double read_seconds(const Gpt& model, Index rows, Rng& rng) {
  const NoGrad no_grad;
  const IntTensor tokens = random_tokens(rows, model.config.max_length, model.config.vocabulary, rng);
  return seconds_of([&] { model(tokens); });
}

double write_seconds(const Gpt& model, Index rows, Index count, Rng& rng) {  // one token after the other
  const NoGrad no_grad;
  return seconds_of([&] {
    GptWriter writer(model, rows);
    for (Index t = 0; t < count; ++t) writer.next(random_tokens(rows, 1, model.config.vocabulary, rng));
  });
}

// %% tags=["active-cpp"]
int main(int argc, char** argv) { return notebook::run(argc, argv, "06_speed_of_light", [] {

// %% [markdown]
// ## Two limits
//
// First the arithmetic:

// %%
const int threads = thread_count();
const double peak = peak_gflops() * threads;
fmt::print("{}\n", version_text());
fmt::print("{:.0f} GFLOP/s with {} thread{}, when there is nothing to wait for\n", peak, threads,
           threads > 1 ? "s" : "");
fmt::print("While light travels 30 cm, that is {:.0f} operations.\n", peak);

// %% [markdown]
// How fast are bytes? That depends on how far away they are. Read arrays of growing size, again and
// again:

// %%
viz::Series ladder{.name = "reading", .points = true};
const Index largest = notebook::fast() ? 32 << 20 : 256 << 20;
for (Index bytes = 4 << 10; bytes <= largest; bytes *= 2) {
  ladder.x.push_back(double(bytes) / 1024);
  ladder.y.push_back(read_gigabytes(bytes));
}
const double near_by = *std::max_element(ladder.y.begin(), ladder.y.end()), far_away = ladder.y.back();
fmt::print("nearest cache {:.0f} GB/s, {} MB {:.0f} GB/s: {:.1f} times slower\n", near_by, largest >> 20,
           far_away, near_by / far_away);
notebook::show(viz::line_chart({ladder}, {.title = "The same loop, farther and farther away",
                                          .x_title = "size of the array (KB)", .y_title = "GB a second",
                                          .x_scale = viz::Scale::log2, .y_low = 0}),
               "Steps down are the ends of caches. (Threads share arrays from 512 KB on.)");

// %% [markdown]
// ## The roof
//
// An operation that does $I$ FLOP for each byte cannot run faster than
//
// $$\min(\text{peak}, \; \text{bandwidth} \cdot I)$$
//
// Drawn against $I$, that is a roof: a slope where memory decides, flat where arithmetic does. The
// product of two $n \times n$ matrices does $2 n^3$ FLOP on $3 n^2$ numbers, so with growing $n$ it
// walks to the right by itself:

// %%
std::vector<Place> products;
for (const Index n : {4, 8, 16, 32, 64, 128, 256, 512, 1024})
  if (n <= 512 || !notebook::fast()) products.push_back(product(n));
fmt::print("   n   FLOP per byte   GFLOP/s   of the peak\n");
for (const Place& p : products)
  fmt::print("{:>4} {:12.1f} {:11.1f} {:11.1f}%\n", p.name, p.intensity, p.gflops, 100 * p.gflops / peak);

// %%
const std::vector<Place> ops = ops_of_a_model();
viz::Series roof{.name = "roof, from memory", .x = {0.05, peak / far_away, 400}};
viz::Series inner{.name = "roof, from the nearest cache", .x = {0.05, peak / near_by, 400}, .dashed = true};
for (const double i : roof.x) roof.y.push_back(std::min(peak, far_away * i));
for (const double i : inner.x) inner.y.push_back(std::min(peak, near_by * i));
viz::Series squares{.name = "n x n products", .points = true};
viz::Series dots{.name = "ops of a model", .line = false, .points = true};
put(products, squares), put(ops, dots);
notebook::show(viz::line_chart({roof, inner, squares, dots},
                               {.title = "The roofline of this machine", .x_title = "FLOP per byte",
                                .y_title = "GFLOP/s", .x_scale = viz::Scale::log2,
                                .y_scale = viz::Scale::log10, .width = 900, .height = 560}),
               "Under the slope, more arithmetic would be free. Under the flat roof, fewer bytes do not help.");

// %% [markdown]
// A point above the solid roof is no miracle: its numbers were still in a cache, where the dashed roof
// holds.
//
// Look at *linear, 1 word* and *linear, all words*. The same weights, the same op. One word has to
// fetch every weight for two FLOP; many words fetch it once and share. This is the whole difference
// between reading a text and writing one, and we will meet it again below.
//
// ## A training step, op by op
//
// **Change this and run again:** the size of the model. Which bar grows fastest with `d_model`? And
// with `max_length`?

// %%
Rng rng(notebook::seed());
const GptSize size{.vocabulary = 256, .d_model = 128, .heads = 4, .layers = 2, .max_length = 128};
const Gpt model(gpt_config(size), rng);
Adam adam(parameters_of(model));
const Index B = 8, T = model.config.max_length;
const IntTensor tokens = random_tokens(B, T, 256, rng), targets = random_tokens(B, T, 256, rng);
fmt::print("{} numbers, {} tokens per step\n", parameters_of(model).count(), B * T);
fmt::print("with stopwatches the loss is {:.6f}, without {:.6f}\n", timed_loss(model, tokens, targets).item(),
           cross_entropy(model(tokens), targets).item());

// %%
const int rounds = notebook::fast() ? 3 : 20;
double adam_seconds = 0;
forward_seconds.clear(), backward_seconds.clear();
for (int round = 0; round < rounds; ++round) {
  const Tensor loss = timed_loss(model, tokens, targets);
  originals.clear();
  watch(loss);
  backward(loss);
  const double start = now();
  adam.step(1e-3);
  adam_seconds += now() - start;
}

// %%
double all = adam_seconds;
for (const auto& entry : forward_seconds) all += entry.second;
for (const auto& entry : backward_seconds) all += entry.second;
std::vector<std::string> names;
viz::BarSeries there{.name = "forward"}, back{.name = "backward"};
for (const char* op : {"linear", "attention", "layer_norm", "add", "embedding", "cross_entropy"}) {
  names.push_back(op);
  there.values.push_back(1000 * forward_seconds[op] / rounds);
  back.values.push_back(1000 * backward_seconds[op] / rounds);
  fmt::print("{:<14} forward {:6.2f} ms, backward {:6.2f} ms, {:4.1f}% of the step\n", op,
             there.values.back(), back.values.back(), 100 * (forward_seconds[op] + backward_seconds[op]) / all);
}
fmt::print("{:<14} {:33.2f} ms, {:4.1f}%\n", "Adam", 1000 * adam_seconds / rounds, 100 * adam_seconds / all);
notebook::show(viz::grouped_bar_chart(names, {there, back}, {.title = "Where a training step goes",
                                                             .value_title = "ms a step", .numbers = false}),
               "For each product on the way there, the way back has two: for the input, for the weights.");

// %% [markdown]
// ## How far from light?
//
// A step needs about 6 FLOP for each weight and token: 2 on the way there, 4 on the way back. Attention
// comes on top, with $12 \, T C$ for each token and layer, half of which the mask saves. Divide by the
// peak, and you have the time that this step would take if nothing ever waited:

// %%
const Index C = size.d_model;
const double weights = double(parameters_of(model).count() - T * C);  // positions are only added
const double attention_flop = 6.0 * double(T * C * size.layers);
const double flop = double(B * T) * (6 * weights + attention_flop);
const double ideal = flop / (peak * 1e9), real_time = step_seconds(model, adam, B, rng);
fmt::print("{:.2f} GFLOP a step\n", flop / 1e9);
fmt::print("at the speed of light {:.2f} ms, measured {:.2f} ms: {:.0f}% of it\n", 1000 * ideal,
           1000 * real_time, 100 * ideal / real_time);

// %% [markdown]
// ## Company makes fast
//
// Tokens a second, by the number of sentences that go through together: when the model trains, when it
// reads (forward only), and when it writes, one token after the other. Where does company help?

// %%
viz::Series learning{.name = "training", .points = true}, reading{.name = "reading", .points = true};
viz::Series writing{.name = "writing", .points = true};
for (const Index rows : {1, 2, 4, 8, 16, 32}) {
  if (notebook::fast() && rows > 8) break;
  const double n = double(rows), words = double(T);
  learning.x.push_back(n), learning.y.push_back(n * words / step_seconds(model, adam, rows, rng));
  reading.x.push_back(n), reading.y.push_back(n * words / read_seconds(model, rows, rng));
  writing.x.push_back(n), writing.y.push_back(n * 32 / write_seconds(model, rows, 32, rng));
  fmt::print("{:2} sentences: tokens/s training {:7.0f}, reading {:7.0f}, writing {:7.0f}\n", rows,
             learning.y.back(), reading.y.back(), writing.y.back());
}
notebook::show(viz::line_chart({learning, reading, writing},
                               {.title = "Tokens a second", .x_title = "sentences at once",
                                .y_title = "tokens a second", .x_scale = viz::Scale::log2, .y_low = 0}),
               "What is read is a batch of words already. What is written comes word by word.");

// %% [markdown]
// Training does three times the arithmetic of reading. Compare reading with writing in the first line:
// the arithmetic is the same. What differs is how many words share each weight that is fetched, and
// each op that is started. A server that answers many people at once is cheaper for each of them, and
// this is why.
//
// ## The same step on older machines
//
// The kernels are compiled for several instruction sets. We can pretend that this processor is ten
// years old:

// %%
const std::string native = kernels().name;
double slowest = 0;
for (int set = 0; set < kernel_set_count(); ++set) {
  use_kernels(kernel_set(set).name);
  const double seconds = step_seconds(model, adam, B, rng), limit = peak_gflops() * threads;
  slowest = std::max(slowest, seconds);
  fmt::print("{:<9} {:2} numbers at once: step {:7.2f} ms ({:4.1f} times faster), peak {:5.0f} GFLOP/s\n",
             kernels().name, kernels().width, 1000 * seconds, slowest / seconds, limit);
}
use_kernels(native.c_str());

// %% [markdown]
// Same source, same numbers (to the last digits of rounding), same machine. Only the width of a single
// instruction is another.
//
// ## Play on
//
// * Set `d_model` to 32. The products get small, and everything around them shows: which ops rise in
//   the list?
// * Set `max_length` to 512 and `B` to 2: as many tokens, but attention has four times the pairs.
// * Run with `--threads 1` and with `--threads 2`. Does the flat part of the roof double? And the
//   slope?
// * Where on the roofline would Adam stand? Count: it reads four arrays and writes three, and does
//   about a dozen FLOP for each number.
//
// Lesson 03 climbs from three plain loops to the kernel that you have just measured, lesson 18 shows
// how attention avoids the bytes that it cannot afford, and `make bench` compares all of it with the
// libraries that the world uses.

// %% tags=["active-cpp"]
}); }
