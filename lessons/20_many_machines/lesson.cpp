/// To show GPT-2 (124 million parameters) 10 billion tokens takes 6 · parameters · tokens = 7 · 10¹⁸
/// operations (lesson 12): more than a year on a machine that does 200 billion per second. A thousand such
/// machines could do it in half a day, if they did not wait for each other too long. The usual way is
/// **data parallelism**: every machine has the whole model, a batch is cut into **shards**, each machine
/// computes the gradient of its shards, and the gradients are added up. Then all take the same step and are
/// equal again.
///
/// A **rank** is one of the processes that train together, counted from 0. What one rank knows another one
/// gets only in a message. An **all-reduce** is the exchange after which every rank has the sum of what all
/// ranks had. Three things can go wrong: the wrong thing is summed, it is summed in an order that changes
/// from run to run, or the messages take longer than the arithmetic. This lesson takes them one by one, with
/// ranks that are threads of this program (`simulate` in optim/group.hpp); under `mpirun` the same code runs
/// on processes and machines.
///
/// Letters for sizes: N ranks, S shards, n parameters.
#include <algorithm>  // max, min, sort
#include <cmath>      // fabs
#include <iterator>   // ssize
#include <set>        // set

#include "core/autograd.hpp"
#include "core/parallel.hpp"  // set_thread_count
#include "lessons/20_many_machines/exchange.hpp"
#include "lessons/20_many_machines/pictures.hpp"
#include "lessons/20_many_machines/toy.hpp"
#include "lessons/support/lesson.hpp"

using namespace attn;

namespace {

using Numbers = std::vector<real>;

/// ## A batch in shards
///
/// The loss of a batch is a mean over its tokens, and so is the gradient. If shard s has tₛ tokens and the
/// mean gradient gₛ, then tₛ gₛ is the sum over its tokens; sums can be added, and all tokens together
/// divide them once:
///
/// $$ g = Σ_s t_s g_s / Σ_s t_s $$
///
/// So every shard counts by its number of tokens. Averaging the gₛ instead is the commonest mistake: a
/// token in a short shard then counts more than one in a long shard. The toy of this lesson is a language
/// of 8 letters, where each letter is mostly decided by the two before it, and a GPT of one layer. A batch
/// of its sentences, sorted by length as in lesson 12:
void batch_in_shards(Lesson& lesson) {
  const Gpt model = toy_model(lesson.seed);
  const ToyBatch batch = by_length(toy_batch(lesson.seed, 0, 32));
  const Numbers whole = shards_of_batch(model, batch, 1).gradients[0];
  std::vector<std::vector<std::string>> rows;
  double worst_right = 0, least_wrong = 1;
  for (const Index S : {2, 4, 8}) {
    const Shards shards = shards_of_batch(model, batch, S);
    std::vector<double> by_tokens, equal(std::size_t(S), 1.0 / double(S));
    for (const Index tokens : shards.tokens) by_tokens.push_back(double(tokens) / double(tokens_in(batch)));
    const double right = distance(weighted(shards, by_tokens), whole),
                 wrong = distance(weighted(shards, equal), whole);
    worst_right = std::max(worst_right, right), least_wrong = std::min(least_wrong, wrong);
    rows.push_back({fmt::format("{}", S),
                    fmt::format("{} to {}", shards.tokens.front(), shards.tokens.back()),
                    fmt::format("{:.5f}%", 100 * right), fmt::format("{:.1f}%", 100 * wrong)});
  }
  lesson.say(
      "How far the combined gradient is from that of the whole batch ({} tokens), relative to its length:",
      tokens_in(batch));
  lesson.table({"shards", "tokens per shard", "weighted by tokens", "mean of means"}, rows);
  lesson.claim(worst_right < 1e-5 && least_wrong > 0.05,
               "weighted by tokens the cut does not matter; the mean of means is {:.0f}% off or more, and "
               "another gradient for each number of shards",
               100 * least_wrong);
}

/// ## The order of a sum
///
/// Now the sums are right, but are they the same? Floating-point numbers are rounded after every addition,
/// so (a + b) + c and a + (b + c) may differ. A float has 24 bits; beside 10⁸ a 1 disappears:
void order_of_a_sum(Lesson& lesson) {
  const float a = 1e8F, b = 1, c = -1e8F, d = 1;
  lesson.table({"1e8, 1, −1e8, 1", "result"},
               {{"from left to right: ((a + b) + c) + d", fmt::format("{}", ((a + b) + c) + d)},
                {"in pairs: (a + b) + (c + d)", fmt::format("{}", (a + b) + (c + d))},
                {"another order: (a + c) + (b + d)", fmt::format("{}", (a + c) + (b + d))}});

  /// Gradients are not as extreme, but their last bits do depend on the order. If a rank adds what arrives
  /// as it arrives, the order is that of the network. Eight shards, in 50 random orders of arrival:
  const Gpt model = toy_model(lesson.seed);
  const Shards shards = shards_of_batch(model, toy_batch(lesson.seed, 0, 32), 8);
  const Index n = std::ssize(shards.gradients[0]);
  Rng rng(lesson.seed);
  std::set<std::uint64_t> as_they_come, by_the_tree;
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<Index> arrival = {0, 1, 2, 3, 4, 5, 6, 7};
    shuffle(arrival, rng);
    Numbers chain(std::size_t(n), 0);
    std::vector<Numbers> place(8);
    for (const Index s : arrival) {
      for (Index i = 0; i < n; ++i) chain[i] += shards.gradients[s][i];
      place[s] = shards.gradients[s];  // wait until all are there, then add in the order of the tree
    }
    for (const Index step : {1, 2, 4})
      for (Index s = 0; s + step < 8; s += 2 * step)
        for (Index i = 0; i < n; ++i) place[s][i] += place[s + step][i];
    as_they_come.insert(fingerprint(chain.data(), n));
    by_the_tree.insert(fingerprint(place[0].data(), n));
  }
  lesson.claim(as_they_come.size() > 40 && by_the_tree.size() == 1,
               "added as they arrive: {} different gradients in 50 runs; added by a fixed tree: {}",
               as_they_come.size(), by_the_tree.size());

  /// A difference in the last bit is harmless in itself, but training amplifies it. Here are two runs with
  /// the same initial weights and the same batches. They differ in the order in which the gradients of a
  /// batch's sentences are added (once in 8 shards, once in 4). How far apart are their losses?
  Recipe recipe{.seed = lesson.seed, .steps = lesson.fast ? 200 : 300, .rate = 0.012};
  Recipe in_fours = recipe;
  in_fours.shards = 4;
  const Trained one = train_together(alone(), recipe), other = train_together(alone(), in_fours);
  viz::Series apart;  // the largest difference in the 20 steps before
  for (Index step = 0; step < recipe.steps; ++step) {
    double most = 0;
    for (Index i = std::max<Index>(step - 19, 0); i <= step; ++i)
      most = std::max(most, std::fabs(one.losses[i] - other.losses[i]));
    apart.y.push_back(most);
  }
  lesson.picture("apart.png",
                 viz::line_chart({apart}, {.title = "Two orders of the same sums",
                                           .x_title = "step",
                                           .y_title = "difference of the losses",
                                           .y_scale = viz::Scale::log10}),
                 "A last bit, amplified",
                 "The two trainings differ in the order of additions only. For a while their losses agree to "
                 "seven digits; then the difference grows until they are two different runs.");
  lesson.claim(apart.y.back() > 5 * apart.y[4],
               "the losses differ by {:.0e} in the first 5 steps and by {:.0e} in the last 20 of {}",
               apart.y[4], apart.y.back(), recipe.steps);

  /// Then no error can be reproduced, no change be compared, no run be resumed exactly. So the library fixes
  /// the order once, as a binary tree over the shards (cut in the middle, each half summed by itself),
  /// whatever the number of ranks. A rank computes neighbouring shards; whole subtrees of them it adds
  /// alone, and only their sums travel:
  lesson.picture("trees.png", draw_trees({1, 2, 3, 4}), "One tree, any number of ranks",
                 "Coloured sums are made by one rank alone. Dashed lines are messages; the grey sums come "
                 "after them. Each + adds the same two numbers in all four pictures, so all have the same "
                 "bits.");

  /// That is `ShardSum` in optim/shards.hpp. The toy, trained on simulated ranks, each with a model of its
  /// own. The last column is a fingerprint of all weights at the end:
  recipe.steps = lesson.fast ? 10 : 30;
  std::vector<std::vector<std::string>> rows;
  std::set<std::uint64_t> bits;
  for (const Index ranks : {1, 2, 3, 4, 8}) {
    const Trained trained = train_simulated(ranks, recipe);
    bits.insert(trained.bits);
    rows.push_back({fmt::format("{}", ranks), fmt::format("{:.9f}", trained.losses.back()),
                    fmt::format("{:016x}", trained.bits)});
  }
  lesson.table({"ranks", "last loss", "fingerprint of the weights"}, rows);
  lesson.claim(bits.size() == 1, "1, 2, 3, 4 and 8 ranks end with the same bits after {} steps",
               recipe.steps);
  if (world().size() > 1) {
    world().broadcast(recipe);  // the other processes wait for it in main
    const Trained trained = train_together(world(), recipe);
    lesson.claim(bits.count(trained.bits) == 1, "and so do these {} processes, by MPI: {:016x}",
                 world().size(), trained.bits);
  }
  lesson.say(
      "The number of shards is a setting of the run, as the batch size is. It stays when the number of ranks "
      "changes, and there can be no more ranks than shards.");
}

/// ## Noise belongs to the shard
///
/// Dropout draws random numbers. If each rank draws from a generator of its own (nanoGPT seeds by rank), a
/// shard loses other neurons when another rank computes it. So the random numbers have to be a function of
/// the seed, the step and the shard, and of nothing else: `shard_rng`. With dropout 0.1:
void noise(Lesson& lesson) {
  std::vector<std::vector<std::string>> rows;
  std::set<std::uint64_t> by_rank, by_shard;
  for (const Index ranks : {1, 2, 4}) {
    Recipe recipe{.seed = lesson.seed, .steps = 10, .dropout = real(0.1)};
    const Trained right = train_simulated(ranks, recipe);
    recipe.noise_by_rank = true;
    const Trained wrong = train_simulated(ranks, recipe);
    by_shard.insert(right.bits), by_rank.insert(wrong.bits);
    rows.push_back({fmt::format("{}", ranks), fmt::format("{:.6f}", right.losses.back()),
                    fmt::format("{:.6f}", wrong.losses.back())});
  }
  lesson.table({"ranks", "loss, noise by shard", "loss, noise by rank"}, rows);
  lesson.claim(by_shard.size() == 1 && by_rank.size() == 3,
               "drawn by shard, all runs are one; drawn by rank, every number of ranks is another run");
}

/// ## The ring
///
/// Who sends what to whom? If all ranks send their n numbers to rank 0 (a *star*), rank 0 receives N − 1
/// vectors, one after the other, while the others wait. A *tree* takes fewer rounds: pairs, then pairs of
/// pairs, log₂ N of them up and as many down; but each message is a whole vector. The **ring all-reduce**
/// (Patarasuk and Yuan, 2009) keeps every line busy all the time. The vector is cut into N chunks, and
/// everybody sends one chunk to the right in each step. For N − 1 steps the receiver adds (*reduce-scatter*):
/// then each rank has the whole sum of one chunk. For N − 1 more steps the sums are handed round
/// (*all-gather*):
void ring(Lesson& lesson) {
  lesson.picture("ring.png", draw_ring(), "Who sends what when",
                 "Rows are ranks, columns the chunks A to D. A number says of how many ranks a chunk is the "
                 "sum; green is complete. Orange is sent next, to the rank below it, from the last to the "
                 "first.");
  /// Counted, not computed: 8 ranks add up vectors of 262,144 numbers (1 MB). `steps` is the longest chain of
  /// messages that had to wait for each other; messages and bytes are those that the busiest rank sends:
  const Index N = 8, length = 1 << 18;
  Rng rng(lesson.seed);
  std::vector<Numbers> long_vectors;
  for (Index rank = 0; rank < N; ++rank) long_vectors.push_back(normal({length}, rng).values());
  const auto by_shards = [&](Group& group, Numbers& numbers) {
    ShardSum sum(group, group.size(), std::ssize(numbers));
    sum.add(group.rank(), numbers.data());
    sum.finish(numbers.data());
  };
  const std::vector<WayToAdd> ways = {{"star", star_all_reduce},
                                      {"tree", tree_all_reduce},
                                      {"ring", ring_all_reduce},
                                      {"ShardSum", by_shards}};
  std::vector<std::vector<std::string>> rows;
  std::vector<Traffic> counted;
  std::vector<double> vectors_sent;
  bool same_everywhere = true;
  for (const WayToAdd& way : ways) {
    const Added added = add_up(way, long_vectors);
    for (const Numbers& result : added.results) same_everywhere &= result == added.results[0];
    counted.push_back(added.busiest);
    vectors_sent.push_back(double(added.busiest.bytes) / double(length * Index(sizeof(real))));
    rows.push_back({way.name, fmt::format("{}", counted.back().steps),
                    fmt::format("{}", counted.back().messages), grouped(counted.back().bytes),
                    fmt::format("{:.2f}", vectors_sent.back())});
  }
  lesson.table({"way", "steps", "messages", "bytes", "in vectors"}, rows);
  const Index log_N = 3;
  lesson.claim(
      same_everywhere && counted[0].messages == N - 1 && counted[1].messages == log_N &&
          counted[1].steps == 2 * log_N && counted[2].messages == 2 * (N - 1) &&
          counted[2].steps == 2 * (N - 1) && vectors_sent[2] == 2.0 * (N - 1) / N,
      "as the formulas say: the root of a star sends N − 1 = {} vectors, that of a tree log₂ N = {}; a "
      "rank of a ring sends 2 (N − 1) / N = {:.2f}, in 2 (N − 1) = {} steps",
      N - 1, log_N, 2.0 * (N - 1) / N, 2 * (N - 1));
  lesson.claim(
      vectors_sent[3] == vectors_sent[2] && counted[3].steps == 2,
      "`ShardSum` sends as much as the ring, in {} steps instead of {}: each chunk goes directly to the "
      "rank that adds it, and from there to all",
      counted[3].steps, counted[2].steps);
  /// However many ranks there are, a rank sends less than two vectors. That is the least possible: each of
  /// its numbers has to leave it once, and each sum to reach it once.
  ///
  /// In a ring each chunk starts at another rank and is added from there on, so its order depends on N. The
  /// gradients of 8 shards of the toy, on 1, 2, 4 and 8 ranks:
  const std::vector<Numbers> vectors =
      shards_of_batch(toy_model(lesson.seed), toy_batch(lesson.seed, 0, 32), N).gradients;
  const Index n = std::ssize(vectors[0]);
  std::set<std::uint64_t> ring_bits, tree_bits;
  for (const Index ranks : {1, 2, 4, 8}) {
    // Each rank first adds its own, as a subtree.
    std::vector<Numbers> own = vectors;
    for (Index step = 1; step < N / ranks; step *= 2)
      for (Index s = 0; s < N; s += 2 * step)
        for (Index i = 0; i < n; ++i) own[s][i] += own[s + step][i];
    std::vector<Numbers> of_ranks;
    for (Index rank = 0; rank < ranks; ++rank) of_ranks.push_back(own[rank * (N / ranks)]);
    ring_bits.insert(fingerprint(add_up(ways[2], of_ranks).results[0].data(), n));
    tree_bits.insert(fingerprint(add_up(ways[3], of_ranks).results[0].data(), n));
  }
  lesson.claim(ring_bits.size() > 1 && tree_bits.size() == 1,
               "on 1, 2, 4 and 8 ranks the ring gives {} different sums, the fixed tree {}", ring_bits.size(),
               tree_bits.size());
}

/// ## What a message costs
///
/// Every message has a fixed price, the **latency** α, and a price per byte, 1 / **bandwidth**:
///
/// $$ time = α + bytes / bandwidth $$
///
/// Here a message is two copies in memory, and α is what it takes to hand it over and to wake the receiver:
void messages(Lesson& lesson) {
  std::vector<std::vector<std::string>> rows;
  for (const Index bytes : {8, 1 << 12, 1 << 16, 1 << 20}) {
    const double seconds = message_seconds(bytes);
    rows.push_back({grouped(bytes), fmt::format("{:.1f} µs", 1e6 * seconds),
                    fmt::format("{:.3f} GB/s", 1e-9 * double(bytes) / seconds)});
  }
  lesson.table({"bytes", "time of a message", "bandwidth"}, rows);
  /// The fewer bytes, the more of the time is latency: see how the bandwidth grows with the message.
  ///
  /// With both prices the three ways can be compared for any network. A vector of b bytes on N ranks:
  ///
  /// | way | time | good for |
  /// |---|---|---|
  /// | star | 2 (N − 1) (α + b / bandwidth) | two or three ranks |
  /// | tree | 2 log₂ N (α + b / bandwidth) | short vectors: few rounds |
  /// | ring | 2 (N − 1) (α + b / (N · bandwidth)) | long vectors: few bytes |
  ///
  /// On 64 ranks with Ethernet of 10 Gbit/s and a latency of 30 µs:
  const Network ethernet{30e-6, 8 / 10e9};
  const double N = 64;
  viz::Series star{.name = "star"}, tree{.name = "tree"}, circle{.name = "ring"};
  double crossover = 0;
  for (double bytes = 64; bytes <= 1.1e9; bytes *= 2) {
    for (viz::Series* series : {&star, &tree, &circle}) series->x.push_back(bytes);
    star.y.push_back(1e3 * star_seconds(N, bytes, ethernet));
    tree.y.push_back(1e3 * tree_seconds(N, bytes, ethernet));
    circle.y.push_back(1e3 * ring_seconds(N, bytes, ethernet));
    if (crossover == 0 && circle.y.back() < tree.y.back()) crossover = bytes;
  }
  lesson.picture("ring_or_tree.png",
                 viz::line_chart({star, tree, circle}, {.title = "An all-reduce on 64 ranks, 10 Gbit/s",
                                                        .x_title = "bytes in the vector",
                                                        .y_title = "milliseconds",
                                                        .x_scale = viz::Scale::log10,
                                                        .y_scale = viz::Scale::log10}),
                 "Ring or tree?",
                 "On the left only the number of rounds counts, on the right only the bytes. Libraries like "
                 "NCCL and MPI switch from one to the other.");
  const double gradient = 4 * 124439808.0;
  lesson.claim(
      tree_seconds(N, 1e3, ethernet) < ring_seconds(N, 1e3, ethernet) &&
          ring_seconds(N, gradient, ethernet) < tree_seconds(N, gradient, ethernet) / 5,
      "up to about {:.1f} MB the tree is faster; for the gradient of GPT-2 (498 MB) it takes {:.1f} s, "
      "the ring {:.1f} s",
      crossover / 1e6, tree_seconds(N, gradient, ethernet), ring_seconds(N, gradient, ethernet));
}

// What a rank of data-parallel training holds, in bytes per parameter: weights 4, gradient 4, Adam 8.
double bytes_per_parameter(int stage, double N) {
  const double weights = stage >= 3 ? 4 / N : 4, gradient = stage >= 2 ? 4 / N : 4,
               adam = stage >= 1 ? 8 / N : 8;
  return weights + gradient + adam;
}

/// ## Where the time goes
///
/// Of a step's time only the computing is divided by N. Adding up is new, and the update is done N times
/// over, once by each rank, on the same numbers. Processor time of the busiest rank, in milliseconds per
/// step, with 8 shards:
void where_time_goes(Lesson& lesson) {
  std::vector<std::vector<std::string>> rows;
  viz::Series computing{.name = "computing", .points = true}, adding{.name = "adding up", .points = true},
      updating{.name = "updating", .points = true},
      ideal{.name = "computing / N", .dashed = true, .color = 0};
  const std::vector<Index> counts = {1, 2, 4, 8};
  std::vector<Index> shares, kept;
  for (const Index ranks : counts) {
    const Trained trained =
        train_simulated(ranks, {.seed = lesson.seed, .sentences = 64, .steps = lesson.fast ? 20 : 60});
    for (viz::Series* series : {&computing, &adding, &updating, &ideal}) series->x.push_back(double(ranks));
    shares.push_back(trained.sentences), kept.push_back(trained.kept);
    computing.y.push_back(1e3 * trained.computing);
    adding.y.push_back(1e3 * trained.adding);
    updating.y.push_back(1e3 * trained.updating);
    ideal.y.push_back(computing.y[0] / double(ranks));
    rows.push_back({fmt::format("{}", ranks), fmt::format("{:.2f} ms", computing.y.back()),
                    fmt::format("{:.3f} ms", adding.y.back()), fmt::format("{:.3f} ms", updating.y.back())});
  }
  lesson.table({"ranks", "time computing", "adding up", "updating"}, rows);
  lesson.claim(shares.back() * counts.back() == shares.front() && kept.front() == kept.back(),
               "of {} sentences each of {} ranks computes {}, but all of them update all {} weights",
               shares.front(), counts.back(), shares.back(), grouped(kept.back() / 2));
  /// This is Amdahl's law (1967): what is not divided decides in the end. Two remedies are usual. Larger
  /// batches give each rank more to compute for one exchange (below). And the exchange can begin before the
  /// computing has ended: the gradient of the last layer is known first and can travel while the others are
  /// computed (Li et al., 2020).

  /// ## Who keeps Adam's averages
  ///
  /// In plain data parallelism every rank holds everything: 16 bytes per parameter, 4 for the weight, 4 for
  /// its gradient, 8 for Adam's two averages. But the averages are needed only where the update is
  /// computed, and all ranks compute the same. **ZeRO** (Rajbhandari et al., 2020) lets each rank keep and
  /// update one part. In stage 1 that is Adam's averages, in stage 2 also the summed gradient, in stage 3
  /// also the weights, which are then sent around when a layer needs them.
  ///
  /// Stage 1 sends no more than before: a reduce-scatter leaves each rank with the sum of its part, it
  /// updates the weights of that part, and the all-gather hands round weights instead of gradients. Adam is
  /// here a loop over a range (toy.cpp); the library's optimizers do the same if they are given a part.
  /// (Parts begin at multiples of 4,096 parameters, so they are not quite equal.)
  rows.clear();
  const Trained plain = train_simulated(4, {.seed = lesson.seed});
  bool same = true;
  Index kept_by_four = 0;
  for (const Index ranks : {1, 2, 4}) {
    const Trained parts = train_simulated(ranks, {.seed = lesson.seed, .keep_part = true});
    same = same && parts.bits == plain.bits;
    kept_by_four = parts.kept;
    rows.push_back({fmt::format("{}", ranks), grouped(parts.kept * Index(sizeof(real))),
                    fmt::format("{:016x}", parts.bits)});
  }
  lesson.table({"ranks", "bytes of Adam's averages, most on a rank", "fingerprint of the weights"}, rows);
  lesson.claim(same && kept_by_four < plain.kept / 2,
               "4 ranks keep {} bytes each instead of {}, and the weights have the same bits",
               grouped(kept_by_four * Index(sizeof(real))), grouped(plain.kept * Index(sizeof(real))));
  rows.clear();
  viz::Series stages[4];
  for (int stage = 0; stage < 4; ++stage) {
    stages[stage] = {.name = stage == 0 ? "plain" : fmt::format("ZeRO stage {}", stage), .points = true};
    rows.push_back({stages[stage].name});
    for (const double ranks : {1.0, 8.0, 64.0}) {
      const double gb = bytes_per_parameter(stage, ranks) * 7e9 / 1e9;
      rows.back().push_back(fmt::format("{:.{}f} GB", gb, gb < 10 ? 1 : 0));
    }
    for (double ranks = 1; ranks <= 64; ranks *= 2) {
      stages[stage].x.push_back(ranks);
      stages[stage].y.push_back(bytes_per_parameter(stage, ranks) * 7);
    }
  }
  lesson.say("By the same count, a model of 7 billion parameters, without its intermediate results:");
  lesson.table({"per rank", "1 rank", "8 ranks", "64 ranks"}, rows);
  lesson.picture(
      "time_and_memory.png",
      viz::row({viz::line_chart({computing, adding, updating, ideal}, {.title = "Time of a step, measured",
                                                                       .x_title = "ranks",
                                                                       .y_title = "ms of processor time",
                                                                       .x_scale = viz::Scale::log2,
                                                                       .y_low = 0,
                                                                       .width = 520}),
                viz::line_chart({stages[0], stages[1], stages[2], stages[3]},
                                {.title = "Memory per rank, 7 billion parameters",
                                 .x_title = "ranks",
                                 .y_title = "GB",
                                 .x_scale = viz::Scale::log2,
                                 .y_low = 0,
                                 .width = 520})}),
      "Time and memory against the number of ranks",
      "Left: only the computing is divided. Right: what data parallelism repeats on every rank, and what "
      "is left of it if each rank keeps a part.");
}

// Of runs that differ in their random numbers only.
struct Spread {
  double median, half_range;
};
Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], (values.back() - values.front()) / 2};
}

/// ## A larger batch, a larger rate
///
/// More machines are of use only if the batch grows with them. A batch four times as large costs each of
/// four machines no more time; does it save steps? Its gradient has half the noise (the standard deviation
/// of a mean falls with √B), so each step can be bolder. Two rules of thumb say by how much: k times the
/// batch, k times the rate for SGD (Goyal et al., 2017), √k times for Adam (Malladi et al., 2022). Measured
/// on the toy: how many steps of Adam until the loss on other sentences is below 0.8 (at the start it is
/// 2.2, the least possible is 0.47), for each batch size at several rates. The median of five runs,
/// ± half the distance from the best to the worst (with --fast one run):
void batch_and_rate(Lesson& lesson) {
  const std::vector<Index> sizes =
      lesson.fast ? std::vector<Index>{4, 64} : std::vector<Index>{4, 16, 64, 256};
  const std::vector<double> rates = lesson.fast ? std::vector<double>{0.004, 0.008, 0.016}
                                                : std::vector<double>{0.002, 0.004, 0.008, 0.016, 0.032};
  const int runs = lesson.fast ? 1 : 5;
  const Index most = 600;
  std::vector<std::vector<std::string>> rows;
  std::vector<viz::Series> valleys;
  std::vector<double> best_rates;
  viz::Series fewest{.name = "steps at the best rate", .points = true},
      straight{.name = "steps ∝ 1 / B", .dashed = true};
  for (const Index B : sizes) {
    rows.push_back({fmt::format("{}", B)});
    viz::Series valley{.name = fmt::format("B = {}", B), .points = true};
    double best = 1e9, best_rate = 0;
    for (const double rate : rates) {
      if (B == 256 && rate < 0.007) {  // slow there as well, and these steps are long
        rows.back().push_back("");
        continue;
      }
      std::vector<double> steps;
      for (int run = 0; run < runs; ++run)
        steps.push_back(double(steps_to(0.8, B, rate, 5 * lesson.seed + std::uint64_t(run), most)));
      const auto [middle, half_range] = spread_of(steps);
      valley.x.push_back(1000 * rate), valley.y.push_back(middle);
      rows.back().push_back(middle == double(most) ? fmt::format("> {}", most)
                            : runs == 1            ? fmt::format("{:.0f}", middle)
                                                   : fmt::format("{:.0f} ± {:.0f}", middle, half_range));
      if (middle < best) best = middle, best_rate = rate;
    }
    best_rates.push_back(best_rate);
    valleys.push_back(valley);
    fewest.x.push_back(double(B)), fewest.y.push_back(best);
    straight.x.push_back(double(B)), straight.y.push_back(fewest.y[0] * double(sizes[0]) / double(B));
  }
  std::vector<std::string> header = {"B \\ rate"};
  for (const double rate : rates) header.push_back(fmt::format("{}", rate));
  lesson.table(header, rows);
  const Index of_4 = 0, of_64 = lesson.fast ? 1 : 2, high = lesson.fast ? 2 : 3;
  const auto more_than_best = [&](Index of) { return valleys[of].y[high] / fewest.y[of]; };
  lesson.claim(
      fewest.y[of_64] < fewest.y[of_4] / 2 && more_than_best(of_4) > 1.1 &&
          more_than_best(of_4) > more_than_best(of_64),
      "larger batches need fewer steps and bear a higher rate: at {} a batch of 64 takes {:.0f} steps (its "
      "best: {:.0f}), a batch of 4 takes {:.0f}{} (its best: {:.0f})",
      rates[high], valleys[of_64].y[high], fewest.y[of_64], valleys[of_4].y[high],
      valleys[of_4].y[high] < double(most) ? "" : " or more", fewest.y[of_4]);
  lesson.say(
      "From a batch of 4 to one of 64, sixteen times as large, the best of these rates goes from {} to {}. "
      "The √ rule says four times. The valleys are flat, and a factor of 2 costs little, so this cannot "
      "prove it.",
      best_rates[of_4], best_rates[of_64]);
  if (!lesson.fast) {
    const double first = fewest.y[0] / fewest.y[1], last = fewest.y[2] / fewest.y[3];
    lesson.claim(
        first > last && last < 2,
        "but not forever: the first four times the batch divides the steps by {:.1f}, the last by {:.1f}",
        first, last);
  }
  lesson.picture(
      "batch_and_rate.png",
      viz::row({viz::line_chart(valleys, {.title = "Steps to a loss of 0.8",
                                          .x_title = "learning rate · 1000",
                                          .y_title = "steps",
                                          .x_scale = viz::Scale::log2,
                                          .y_low = 0,
                                          .width = 520}),
                viz::line_chart({fewest, straight}, {.title = "At the best rate",
                                                     .x_title = "sentences in a batch",
                                                     .y_title = "steps",
                                                     .x_scale = viz::Scale::log2,
                                                     .y_scale = viz::Scale::log2,
                                                     .width = 520})}),
      "Batch size and learning rate",
      "Left: the valley moves to the right as the batch grows (a point at 600 has not got there). Right: "
      "steps saved by larger batches; the further the curve is above the dashed line, the less a larger "
      "batch saves.");
  /// Where the curve bends is called the *critical batch size* (McCandlish et al., 2018). Below it noise is
  /// the limit, and twice the machines take nearly half the steps. Above it every step is about as good as
  /// it can be, and more sentences only confirm it. It is larger for harder tasks and late in training;
  /// large language models are trained with millions of tokens per step.
}

}  // namespace

int main(int argc, char** argv) {
  if (launched_rank() > 0) {  // under mpirun: rank 0 tells the lesson, the others take part in one training
    set_thread_count(1);
    Recipe recipe;
    world().broadcast(recipe);
    train_together(world(), recipe);
    return 0;
  }
  return run_lesson(
      argc, argv, {.name = "20_many_machines", .question = "How do many machines train one model?"},
      [](Lesson& lesson) {
        set_thread_count(1);  // ranks are threads here
        batch_in_shards(lesson);
        order_of_a_sum(lesson);
        noise(lesson);
        ring(lesson);
        messages(lesson);
        where_time_goes(lesson);
        batch_and_rate(lesson);
        /// ## How far does it go?
        ///
        /// Put together: a step takes the computing of one shard, plus the time of an all-reduce, plus an
        /// update. The notebook `07_how_far` measures the prices on your machine, checks the sum of them
        /// against real steps, and follows it to 8, 64 and 1,024 machines: up to where the messages take
        /// longer than the arithmetic.
        ///
        /// ## Check yourself
        ///
        /// - **What is summed, and what comes out?** Each rank puts in the gradients of its shards, n
        ///   numbers each, weighted by their tokens. Every rank gets the same n numbers: the gradient of the
        ///   whole batch.
        /// - **Why a fixed tree?** Rounding depends on the order of additions. If only the shards decide who
        ///   meets whom, the bits do not depend on how many ranks there are or who is late.
        /// - **What goes wrong without the weights?** The mean of means counts a token of a short shard more,
        ///   and the result depends on how the batch was cut.
        /// - **Why a ring?** Each rank sends less than two vectors, however many ranks there are. It pays for
        ///   this with 2 (N − 1) rounds of latency.
        ///
        /// ## Read on
        ///
        /// - Patarasuk and Yuan, 2009: *Bandwidth optimal all-reduce algorithms for clusters of
        ///   workstations*. The ring.
        /// - Thakur, Rabenseifner and Gropp, 2005: *Optimization of collective communication operations in
        ///   MPICH*. When to use which.
        /// - Goyal et al., 2017: *Accurate, large minibatch SGD: training ImageNet in 1 hour*.
        /// - McCandlish et al., 2018: *An empirical model of large-batch training*. The critical batch size.
        /// - Rajbhandari et al., 2020: *ZeRO: memory optimizations toward training trillion parameter
        ///   models*.
        /// - Li et al., 2020: *PyTorch distributed: experiences on accelerating data parallel training*.
        /// - Malladi et al., 2022: *On the SDEs and scaling rules for adaptive gradient algorithms*. √k for
        ///   Adam.
        lesson.try_next(
            {{"In toy.cpp, in train_together, set share to 1 / real(recipe.shards).",
              "The mean of means: still the same bits on any number of ranks, and the claims hold. That a "
              "sum can be repeated does not make it right."},
             {"In toy.cpp, in train_together, call shard_rng with group.rank() as its last argument, always.",
              "The claim of `Noise belongs to the shard` fails: every number of ranks is another run."},
             {"Run it as processes: `make mpi`, then `mpirun -n 3 build/lessons/20_many_machines --fast`.",
              "One more claim: three processes end with the fingerprint of the simulated ranks."}});
      });
}
