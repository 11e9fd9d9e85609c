#include "lessons/20_many_machines/toy.hpp"

#include <algorithm>    // copy, max, min, stable_sort
#include <cmath>        // log, pow, sqrt
#include <ctime>        // clock_gettime
#include <iterator>     // ssize
#include <mutex>        // mutex
#include <numeric>      // iota
#include <string_view>  // string_view

#include "core/autograd.hpp"
#include "core/hash.hpp"
#include "optim/optimizer.hpp"
#include "optim/parameter_block.hpp"

namespace attn {

namespace {

constexpr Index letters = 8, longest = 16;
constexpr double chance = 0.1;  // of a letter that is drawn instead of decided

// The letter after a and b; before the first letter there is 0.
int decided(int a, int b) { return 1 + int(philox(20, std::uint64_t(9 * a + b)) % letters); }

double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

}  // namespace

ToyBatch toy_batch(std::uint64_t seed, Index step, Index sentences) {
  Rng rng = shard_rng(seed + 1000, step, 0);
  const std::vector<int> padding(std::size_t(sentences * (longest - 1)), 0);
  ToyBatch batch{IntTensor({sentences, longest - 1}, padding), IntTensor({sentences, longest - 1}, padding)};
  for (Index b = 0; b < sentences; ++b) {
    const Index length = 4 + rng.below(longest - 3);
    int before = 0, last = 1 + int(rng.below(letters));
    for (Index t = 0; t + 1 < length; ++t) {
      const int next = rng.uniform() < chance ? 1 + int(rng.below(letters)) : decided(before, last);
      batch.tokens(b, t) = last, batch.targets(b, t) = next;
      before = last, last = next;
    }
  }
  return batch;
}

ToyBatch rows_of(const ToyBatch& batch, Range rows) {
  const auto part = [&](const IntTensor& all) {
    const Index width = all.shape()[1];
    IntTensor some({rows.end - rows.begin, width});
    for (Index i = 0; i < some.numel(); ++i) some[i] = all[rows.begin * width + i];
    return some;
  };
  return {part(batch.tokens), part(batch.targets)};
}

Index tokens_in(const ToyBatch& batch) {
  Index count = 0;
  for (Index i = 0; i < batch.targets.numel(); ++i) count += batch.targets[i] != 0;
  return count;
}

ToyBatch by_length(const ToyBatch& batch) {
  std::vector<Index> order(batch.tokens.shape()[0]);
  std::iota(order.begin(), order.end(), Index(0));
  const auto length = [&](Index b) { return tokens_in(rows_of(batch, {b, b + 1})); };
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return length(a) < length(b); });
  const ToyBatch sorted{batch.tokens.copy(), batch.targets.copy()};
  for (Index b = 0; b < std::ssize(order); ++b)
    for (Index t = 0; t < batch.tokens.shape()[1]; ++t)
      sorted.tokens(b, t) = batch.tokens(order[b], t), sorted.targets(b, t) = batch.targets(order[b], t);
  return sorted;
}

double floor_loss() {
  const double other = chance / double(letters), right = 1 - chance + other;
  return -right * std::log(right) - double(letters - 1) * other * std::log(other);
}

Gpt toy_model(std::uint64_t seed, real dropout) {
  Rng rng(seed);
  TransformerConfig config = gpt_config(
      {.vocabulary = letters + 1, .d_model = 32, .heads = 2, .layers = 1, .max_length = longest - 1});
  config.dropout = dropout;
  return Gpt(config, rng);
}

Tensor toy_loss(const Gpt& model, const ToyBatch& batch, const Context& context) {
  return cross_entropy(model(batch.tokens, context), batch.targets, {.ignore = 0});
}

Shards shards_of_batch(const Gpt& model, const ToyBatch& batch, Index count) {
  const ParameterBlock block(parameters_of(model));
  const Index per_shard = batch.tokens.shape()[0] / count;
  Shards shards;
  for (Index s = 0; s < count; ++s) {
    const ToyBatch rows = rows_of(batch, {s * per_shard, (s + 1) * per_shard});
    block.zero_grad();
    backward(toy_loss(model, rows));
    shards.gradients.emplace_back(block.gradients(), block.gradients() + block.size());
    shards.tokens.push_back(tokens_in(rows));
  }
  return shards;
}

std::vector<real> weighted(const Shards& shards, const std::vector<double>& weights) {
  std::vector<real> sum(shards.gradients[0].size(), 0);
  for (std::size_t s = 0; s < weights.size(); ++s)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += real(weights[s]) * shards.gradients[s][i];
  return sum;
}

double distance(const std::vector<real>& a, const std::vector<real>& b) {
  double apart = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) apart += std::pow(a[i] - b[i], 2), size += std::pow(b[i], 2);
  return std::sqrt(apart / size);
}

RangeAdam::RangeAdam(Range part)
    : part_(part), m_(std::size_t(part.end - part.begin)), v_(std::size_t(part.end - part.begin)) {}

void RangeAdam::step(real* values, const real* gradient, double rate) {
  ++steps_;
  const real b1 = real(0.9), b2 = real(0.98), epsilon = real(1e-9), lr = real(rate);
  const real c1 = real(1 / (1 - std::pow(0.9, steps_))), c2 = real(1 / (1 - std::pow(0.98, steps_)));
  for (Index i = part_.begin; i < part_.end; ++i) {
    const real g = gradient[i];
    real &m = m_[i - part_.begin], &v = v_[i - part_.begin];
    m = b1 * m + (1 - b1) * g;
    v = b2 * v + (1 - b2) * g * g;
    values[i] -= lr * (m * c1) / (std::sqrt(v * c2) + epsilon);
  }
}

std::uint64_t fingerprint(const real* numbers, Index count) {
  return fnv1a({reinterpret_cast<const char*>(numbers), std::size_t(count) * sizeof(real)});
}

Trained train_together(Group& group, const Recipe& recipe) {
  const Gpt model = toy_model(recipe.seed, recipe.dropout);  // the same weights everywhere: by the same seed
  const ParameterBlock block(parameters_of(model));
  const Index n = block.size(), per_shard = recipe.sentences / recipe.shards;
  ShardSum sum(group, recipe.shards, n + 1);  // the gradient, and after it the loss
  std::vector<Range> parts = sum.parts();     // who keeps which weights, if everybody keeps a part
  for (Range& part : parts) part.end = std::min(part.end, n);
  RangeAdam adam(recipe.keep_part ? parts[group.rank()] : Range{0, n});
  std::vector<real> numbers(std::size_t(n + 1));
  const Index mine = (sum.mine().end - sum.mine().begin) * per_shard;
  Trained trained{.sentences = mine, .kept = adam.kept(), .computing = 1e9, .adding = 1e9, .updating = 1e9};

  for (Index step = 0; step < recipe.steps; ++step) {
    const double start = now();
    const ToyBatch batch = toy_batch(recipe.seed, step, recipe.sentences);
    for (Index s = sum.mine().begin; s < sum.mine().end; ++s) {
      const ToyBatch shard = rows_of(batch, {s * per_shard, (s + 1) * per_shard});
      Rng noise = shard_rng(recipe.seed, step, recipe.noise_by_rank ? group.rank() : s);
      const real share = real(tokens_in(shard)) / real(tokens_in(batch));
      const Tensor loss = toy_loss(model, shard, {.training = true, .rng = &noise}) * share;
      block.zero_grad();
      backward(loss);
      std::copy(block.gradients(), block.gradients() + n, numbers.begin());
      numbers[n] = loss.item();
      sum.add(s, numbers.data());
    }
    const double computed = now();
    sum.finish(numbers.data(), !recipe.keep_part);
    const double added = now();
    adam.step(block.values(), numbers.data(), recipe.rate);
    const double updated = now();
    if (recipe.keep_part) {
      group.all_gather(block.values(), parts);
      group.broadcast(numbers[n], group.size() - 1);  // the loss is the last number of the last part
    }
    trained.losses.push_back(numbers[n]);
    trained.computing = std::min(trained.computing, computed - start);
    trained.adding = std::min(trained.adding, added - computed + now() - updated);
    trained.updating = std::min(trained.updating, updated - added);
  }
  trained.bits = fingerprint(block.values(), n);
  return trained;
}

Trained train_simulated(Index ranks, const Recipe& recipe) {
  Trained result;
  std::mutex mutex;
  simulate(ranks, [&](Group& group) {
    const Trained trained = train_together(group, recipe);
    const std::lock_guard lock(mutex);
    if (group.is_root()) result.losses = trained.losses, result.bits = trained.bits;
    result.sentences = std::max(result.sentences, trained.sentences);
    result.kept = std::max(result.kept, trained.kept);
    result.computing = std::max(result.computing, trained.computing);
    result.adding = std::max(result.adding, trained.adding);
    result.updating = std::max(result.updating, trained.updating);
  });
  return result;
}

Index steps_to(double target, Index sentences, double rate, std::uint64_t seed, Index most) {
  const Gpt model = toy_model(seed);
  Adam adam(parameters_of(model), paper_adam());
  const ToyBatch other = toy_batch(0, 1 << 20, 128);  // the same for all
  for (Index step = 0; step < most; ++step) {
    if (step % 5 == 0) {
      const NoGrad no_grad;
      if (toy_loss(model, other).item() < target) return step;
    }
    backward(toy_loss(model, toy_batch(seed, step, sentences)));
    adam.step(rate * std::min(1.0, double(step + 1) / 10));
  }
  return most;
}

}  // namespace attn
