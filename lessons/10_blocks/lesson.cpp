// Lesson 10. What holds a deep stack together?
//
// A transformer is one block, many times over. Attention lets tokens look at each other, a feed-forward
// network works on each token alone, and three plain things keep the stack from falling apart:
//
//   residual   x + f(x): what was there stays, the sublayer only adds
//   norm       each token is brought to mean 0 and deviation 1, so that no layer shouts
//   dropout    in training, a tenth of the numbers is missing, so that none is relied on
//
// B batch, T time, C channels.
#include <algorithm>  // fill
#include <cmath>      // pow, sqrt
#include <iterator>   // ssize

#include "core/autograd.hpp"
#include "core/ops.hpp"
#include "lessons/support/lesson.hpp"
#include "nn/transformer.hpp"

using namespace attn;

namespace {

constexpr real epsilon = real(1e-5);

// 1. Norms

const std::vector<std::string> words = {"the", "cat", "drank"};

Tensor three_words() {
  return tensor({{0.1, 0.2, 0.1, 0.0},      // the: small
                 {1.0, -2.0, 3.0, 2.0},     // cat
                 {40., 10.0, -20., 30.}});  // drank: some layer shouted
}

void layer_norms(Lesson& lesson) {
  lesson.section("LayerNorm: one token at a time");
  const Tensor x = three_words();
  lesson.say("Three words of four channels, whose sizes are far apart:");
  lesson.numbers(x, words, {}, 1);
  lesson.equation(
      "LayerNorm(x) = (x − E[x]) / √(Var[x] + ε) · gain + bias,   over the channels of each token");
  const Tensor y = layer_norm(x, {}, {}, epsilon);  // (T, C): gain 1, bias 0
  lesson.numbers(y, words);
  lesson.say("Two numbers per word were taken out, its mean E[x] and its deviation √(Var[x] + ε):");
  const Tensor centre = mean(x, 1, true);                                               // (T, 1)
  const Tensor deviation = sqrt(mean((x - centre) * (x - centre), 1, true) + epsilon);  // (T, 1)
  lesson.numbers(concat({centre, deviation}, 1), words, {"mean", "deviation"});
  const double difference = max_difference(y * deviation + centre, x);
  lesson.claim(difference < 1e-4,
               "put back, they give the words as they were, y · deviation + mean = x: difference {:.1e}",
               difference);
  lesson.claim(std::fabs(mean(y[2]).item()) < 1e-6 && std::fabs(mean(y[2] * y[2]).item() - 1) < 1e-3,
               "each word has mean 0 and variance 1 now; the variance of `drank` is {:.4f}",
               mean(y[2] * y[2]).item());
  lesson.say(
      "The average runs over the channels of one token: never over time or over the batch, or a token would "
      "depend on its neighbours, on the padding and, when writing, on the future. The variance is the biased "
      "one (÷ C, not C − 1), and ε stands inside the root: for a token whose channels are all alike it is "
      "all that stands between us and 0/0.");
  const Tensor alone = layer_norm(slice(x, 0, 1, 2), {}, {}, epsilon);
  lesson.claim(max_difference(alone[0], y[1]) == 0,
               "`cat` alone gives the same as `cat` among others: difference {:.0e}",
               max_difference(alone[0], y[1]));
  lesson.equation("RMSNorm(x) = x / √(E[x²] + ε) · gain");
  const Tensor rms = rms_norm(x, {}, epsilon);
  lesson.claim(std::fabs(mean(rms[1] * rms[1]).item() - 1) < 1e-3 && std::fabs(mean(rms[1]).item()) > 0.1,
               "RMSNorm leaves the mean where it is (`cat`: {:.2f}) and only sets the size, mean square "
               "{:.3f}: less work, and many newer models do with it",
               mean(rms[1]).item(), mean(rms[1] * rms[1]).item());
}

// 2. Ways to stack

enum class Wiring { post, pre, norm_only, bare };

// The library's Block has residuals, post-norm or pre-norm. Here are its parts without a way around them.
Tensor run_block(Wiring wiring, const Block& block, const Tensor& x) {  // (B, T, C) -> (B, T, C)
  if (wiring == Wiring::post || wiring == Wiring::pre) return block(x);
  const auto norm = [&](const Tensor& y) { return wiring == Wiring::bare ? y : layer_norm(y, {}, {}); };
  return norm(block.feed_forward(norm(block.self(x))));
}

struct Depth {
  std::vector<double> gradient;  // of the loss, at the input of each block, the bottom one first
  std::vector<double> size;      // of what comes into each block
  std::vector<double> spread;    // how far its tokens are from their mean, as a share of that size
  Tensor last;                   // what comes out of the last block
};

double root_mean_square(const Tensor& x) { return std::sqrt(double(mean(x * x).item())); }

Depth measure(Wiring wiring, Index depth, std::uint64_t seed) {
  const TransformerConfig config{
      .d_model = 32, .heads = 4, .d_ff = 128, .dropout = 0, .pre_norm = wiring == Wiring::pre};
  Rng rng(seed);
  std::vector<Block> blocks;
  for (Index i = 0; i < depth; ++i) blocks.emplace_back(config, BlockKind::encoder, rng);
  const Linear output(config.d_model, 10, rng);
  IntTensor targets({2, 16});
  for (Index i = 0; i < targets.numel(); ++i) targets[i] = int(rng.below(10));
  Tensor x = normal({2, 16, config.d_model}, rng).requires_grad();  // (B, T, C)
  std::vector<Tensor> inputs;
  for (const Block& block : blocks) {
    if (!inputs.empty()) x.retain_grad();
    inputs.push_back(x);
    x = run_block(wiring, block, x);
  }
  Depth result;
  result.last = x.detach();
  // Pre-norm needs one more norm at the end.
  backward(cross_entropy(output(wiring == Wiring::pre ? layer_norm(x, {}, {}) : x), targets));
  for (const Tensor& input : inputs) {
    const Tensor gradient = input.grad(), values = input.detach();
    result.gradient.push_back(std::sqrt(double(sum(gradient * gradient).item())));
    result.size.push_back(root_mean_square(values));
    result.spread.push_back(root_mean_square(values - mean(values, 1, true)) / result.size.back());
  }
  return result;
}

// Single networks scatter: the geometric means of four.
Depth measure_four(Wiring wiring, Index depth, std::uint64_t seed) {
  Depth result = measure(wiring, depth, 4 * seed);
  for (std::uint64_t other = 1; other < 4; ++other) {
    const Depth next = measure(wiring, depth, 4 * seed + other);
    for (Index i = 0; i < std::ssize(result.gradient); ++i)
      result.gradient[i] *= next.gradient[i], result.spread[i] *= next.spread[i];
  }
  for (double& gradient : result.gradient) gradient = std::pow(gradient, 0.25);
  for (double& spread : result.spread) spread = std::pow(spread, 0.25);
  return result;
}

void depth(Lesson& lesson) {
  lesson.section("Residuals: a way around every layer");
  lesson.say(
      "Learning is gradients coming down from the loss. Through a plain stack each must pass every layer, "
      "and each layer takes its toll. With x + f(x) the derivative is 1 + f'(x): the 1 goes straight "
      "through, whatever f does. Where the norm stands matters, too:");
  lesson.equation(
      "post-norm  x = LN(x + f(x))   the paper        pre-norm  x = x + f(LN(x))   most models since");
  const Index blocks = 24;
  lesson.say(
      "{} fresh blocks, wired in these two ways and, to see who does what, in two more: with norms but "
      "without residuals, LN(f(x)), and with neither, f(x) alone. How large is the gradient at the input of "
      "each block (block 1 is the bottom, the loss stands above block {})? The geometric mean of four "
      "networks:",
      blocks, blocks);
  const Depth post = measure_four(Wiring::post, blocks, lesson.seed),
              pre = measure_four(Wiring::pre, blocks, lesson.seed),
              norm_only = measure_four(Wiring::norm_only, blocks, lesson.seed),
              bare = measure_four(Wiring::bare, blocks, lesson.seed);
  const auto by_block = [&](std::vector<double> Depth::*what) {
    std::vector<std::vector<std::string>> rows;
    for (const Index block : {Index{1}, blocks / 4, blocks / 2, blocks}) {
      rows.push_back({fmt::format("{}", block)});
      for (const Depth* wiring : {&post, &pre, &norm_only, &bare})
        rows.back().push_back(fmt::format("{:.1e}", (wiring->*what)[block - 1]));
    }
    lesson.table({"block", "post-norm", "pre-norm", "norm, no residual", "neither"}, rows);
  };
  by_block(&Depth::gradient);
  const auto kept = [](const Depth& d) { return d.gradient.front() / d.gradient.back(); };
  lesson.claim(kept(bare) < 1e-3,
               "with neither, the bottom gets {:.0e} of what the top gets: it learns nothing, and the "
               "deeper, the worse",
               kept(bare));
  lesson.claim(kept(pre) > 1.5 && kept(post) > 1e-2,
               "with both it arrives. Under pre-norm the way is free, and the bottom gets {:.1f} times as "
               "much as the top; under post-norm, where a norm stands behind every sum, {:.1f} times",
               kept(pre), kept(post));
  lesson.claim(
      post.gradient.back() > 2 * pre.gradient.back(),
      "and post-norm shakes the block next to the loss {:.0f} times harder than pre-norm. That is one reason "
      "why the paper has to start with tiny steps (warm-up, lesson 12) and pre-norm models hardly need to",
      post.gradient.back() / pre.gradient.back());
  lesson.say(
      "Norms alone hold the size of the gradient, too. What they cannot hold is what it is about. Attention "
      "averages, and tokens that are averaged again and again become alike. How far are the tokens at the "
      "input of each block from their mean, for their size?");
  by_block(&Depth::spread);
  const auto after_five = [](const Depth& d) { return d.spread[5]; };
  lesson.claim(after_five(norm_only) < 1e-4 && after_five(bare) < 1e-4 && after_five(pre) > 0.1 &&
                   after_five(post) > 0.1,
               "without residuals all tokens are the same after five blocks (to {:.0e}, which is rounding): "
               "nobody can tell the words apart any more. With them each token keeps itself, x, and they "
               "still differ by {:.0f}% (pre-norm) and {:.0f}% (post-norm)",
               after_five(norm_only), 100 * after_five(pre), 100 * after_five(post));
  viz::Numbers numbers;
  for (Index i = 1; i <= blocks; ++i) numbers.push_back(double(i));
  const auto chart = [&](const std::string& title, const std::string& measured,
                         std::vector<double> Depth::*what) {
    return viz::line_chart({{.name = "post-norm", .y = post.*what, .x = numbers, .points = true},
                            {.name = "pre-norm", .y = pre.*what, .x = numbers, .points = true},
                            {.name = "norm, no residual", .y = norm_only.*what, .x = numbers, .points = true},
                            {.name = "neither", .y = bare.*what, .x = numbers, .points = true}},
                           {.title = title,
                            .x_title = "block (1 is the bottom, the loss is at the right)",
                            .y_title = measured,
                            .y_scale = viz::Scale::log10,
                            .width = 600});
  };
  lesson.picture(
      "gradients.png",
      viz::row({chart("Gradient norm by depth", "norm of the gradient at its input", &Depth::gradient),
                chart("How different the tokens are", "distance from their mean, for their size",
                      &Depth::spread)}),
      "Gradient norm by depth",
      "Left: the gradient comes in at the right. With neither norm nor residual it dies on its way down. "
      "Right: without residuals the tokens are all alike after a few blocks, norm or not. Only the wirings "
      "with both keep the gradient and the words.");
  lesson.say(
      "The price of pre-norm: every block adds to x and nobody takes away. Its size grows from {:.1f} at the "
      "bottom to {:.1f} at the top, so one more norm stands at the end. Under post-norm it is {:.1f} "
      "everywhere.",
      pre.size.front(), pre.size.back(), post.size.back());
  lesson.claim(pre.size.back() > 1.5 * pre.size.front() && std::fabs(post.size.back() - 1) < 0.05,
               "the sizes: {:.2f} times larger under pre-norm, {:.2f} under post-norm",
               pre.size.back() / pre.size.front(), post.size.back());
  const Tensor after = layer_norm(pre.last, {}, {}, epsilon);
  lesson.picture(
      "activations.png",
      viz::line_chart({viz::histogram("before the final norm", pre.last.values(), 60, -20, 20),
                       viz::histogram("after it", after.values(), 60, -20, 20)},
                      {.title = "Activations before and after the norm",
                       .x_title = "value",
                       .y_title = "share",
                       .y_low = 0}),
      "Activations before and after the norm",
      "Before: wide, after all that the blocks have added. After: deviation 1, what the next layer expects.");
}

void the_block(Lesson& lesson) {
  lesson.section("The whole block");
  lesson.say(
      "A block is attention, then a feed-forward network, each wired in the same way. The wiring shows when "
      "both have nothing to say: with the matrices at their ends set to 0, f(x) = 0, and what is left is the "
      "main path alone.");
  for (const bool pre_norm : {false, true}) {
    const TransformerConfig config{
        .d_model = 32, .heads = 4, .d_ff = 128, .dropout = 0, .pre_norm = pre_norm};
    Rng rng(lesson.seed);
    const Block block(config, BlockKind::encoder, rng);
    for (const Linear* last : {&block.self.output, &block.feed_forward.second})
      for (const Tensor& numbers : {last->weight, last->bias})
        std::fill(numbers.data(), numbers.data() + numbers.numel(), real(0));
    const NoGrad no_grad;
    const Tensor x = normal({2, 5, 32}, rng), y = block(x);
    if (pre_norm)
      lesson.claim(equal(y, x), "pre-norm: x comes out as it went in, to the last bit");
    else
      lesson.claim(max_difference(y, layer_norm(layer_norm(x, {}, {}), {}, {})) < 1e-5,
                   "post-norm: LN(LN(x)) comes out, normalised once by each of the two sublayers");
  }
}

// 3. Why a feed-forward network?

// The weights (H, T, T) that each layer gives while it reads x; no norms here, they are not linear either.
struct Watched {
  std::vector<Tensor> weights;
  Tensor output;  // (1, T, C)
};

Tensor attention_only(const std::vector<MultiHeadAttention>& layers, const Tensor& values,
                      const std::vector<Tensor>& weights) {
  Tensor x = values;  // (1, T, C)
  for (Index i = 0; i < std::ssize(layers); ++i) {
    const MultiHeadAttention& layer = layers[i];
    const Tensor v =
        split_heads(matmul(x, layer.value.weight, Transpose::second), layer.heads);  // (1, H, T, D)
    x = x + matmul(merge_heads(matmul(weights[i], v)), layer.output.weight, Transpose::second);
  }
  return x;
}

Watched watch(const std::vector<MultiHeadAttention>& layers, const Tensor& input) {
  Watched watched{{}, input};
  for (const MultiHeadAttention& layer : layers) {
    AttentionMaps maps;
    watched.output = watched.output + layer(watched.output, {}, {.maps = &maps});
    watched.weights.push_back(maps[0].weights);
  }
  return watched;
}

void feed_forward(Lesson& lesson) {
  lesson.section("Why a feed-forward network?");
  lesson.say(
      "Attention chooses, but what it does with the chosen is only an average: a matrix of weights times the "
      "values. Hold the weights fixed, and a stack of any depth is linear in the values: it can add and mix, "
      "and never bend. The test: does f(2a + 3b) equal 2 f(a) + 3 f(b)? Six layers of attention, with the "
      "weights they gave while reading one sentence:");
  const NoGrad no_grad;
  const TransformerConfig config{.d_model = 16, .heads = 2, .d_ff = 64, .dropout = 0, .bias = false};
  Rng rng(lesson.seed);
  std::vector<MultiHeadAttention> layers;
  std::vector<FeedForward> networks;
  for (int i = 0; i < 6; ++i) layers.emplace_back(config, rng), networks.emplace_back(config, rng);
  const Tensor sentence = normal({1, 7, 16}, rng), a = normal({1, 7, 16}, rng), b = normal({1, 7, 16}, rng);
  const Watched watched = watch(layers, sentence);
  const double same = max_difference(attention_only(layers, sentence, watched.weights), watched.output);
  lesson.claim(
      same < 1e-4,
      "with them held fixed, the stack gives for that sentence what it gave before: difference {:.1e}", same);
  const auto bend = [&](const auto& f) {  // how far from linear, for the size of the result
    const Tensor together = f(a * real(2) + b * real(3)), apart = f(a) * real(2) + f(b) * real(3);
    return max_difference(together, apart) / std::sqrt(double(max(apart * apart).item()));
  };
  const double linear = bend([&](const Tensor& x) { return attention_only(layers, x, watched.weights); });
  const double bent = bend([&](const Tensor& values) {
    Tensor x = values;
    for (Index i = 0; i < std::ssize(layers); ++i) {
      x = attention_only({layers[i]}, x, {watched.weights[i]});
      x = x + networks[i](x);
    }
    return x;
  });
  lesson.claim(linear < 1e-4,
               "attention alone: f(2a + 3b) and 2 f(a) + 3 f(b) differ by {:.1e} of their size", linear);
  lesson.claim(bent > 100 * linear && bent > 1e-3, "with a feed-forward network after each: by {:.2f}", bent);

  lesson.say(
      "So after attention comes a small network that works on each token alone, the same for all tokens:");
  lesson.equation("FFN(x) = max(0, x W_1 + b_1) W_2 + b_2,   512 → 2048 → 512");
  Rng dice(lesson.seed);
  const Index paper = parameters_of(FeedForward({}, dice)).count(),
              attention_part = parameters_of(MultiHeadAttention({}, dice)).count();
  const Index swiglu =
      parameters_of(
          FeedForward(
              {.d_ff = 1365, .feed_forward = {.activation = Activation::silu, .gated = true}, .bias = false},
              dice))
          .count();
  lesson.claim(paper == 2 * 512 * 2048 + 2048 + 512,
               "it has {} parameters, attention {}: two thirds of a block are in the feed-forward network",
               paper, attention_part);
  lesson.say(
      "What bends: ReLU cuts off at 0; GELU does it smoothly (BERT, GPT); SwiGLU, silu(x W_g) ∘ (x W_1), "
      "lets one product decide what of the other passes. It has three matrices instead of two, so d_ff is "
      "made a third smaller: with 1365 it has {} parameters, about as many as above.",
      swiglu);
  viz::Numbers xs, relus, gelus, silus;
  for (int i = -40; i <= 30; ++i) xs.push_back(i / 10.0);
  const Tensor points = from_values({std::ssize(xs)}, std::vector<real>(xs.begin(), xs.end()));
  lesson.picture("bends.png",
                 viz::line_chart({{.name = "ReLU", .y = relu(points).values(), .x = xs},
                                  {.name = "GELU", .y = gelu(points).values(), .x = xs},
                                  {.name = "SiLU, the gate of SwiGLU", .y = silu(points).values(), .x = xs}},
                                 {.title = "What bends", .x_title = "in", .y_title = "out"}),
                 "Activations",
                 "Left of 0 little passes, right of it nearly everything. ReLU has a corner at 0; the smooth "
                 "ones dip below 0 and have none.");
}

// 4. Dropout

void dropping(Lesson& lesson) {
  lesson.section("Dropout: in training only");
  lesson.say(
      "In training each number is set to 0 with probability p, so that the network cannot lean on a single "
      "one. The rest is multiplied by 1/(1 − p): then the sum that the next layer sees stays the same on "
      "average, and nothing has to change when dropout is switched off.");
  const Tensor x = ones({100000});
  Rng rng(lesson.seed);
  const real p = real(0.1);
  const Context training{.training = true, .rng = &rng}, evaluation;
  const Tensor dropped = training.drop(x, p);
  const double average = mean(dropped).item();
  Index zeros_seen = 0;
  for (const real value : dropped.values()) zeros_seen += value == 0;
  lesson.table({"100,000 ones, p = 0.1", "zeros", "mean"},
               {{"training", fmt::format("{}", zeros_seen), fmt::format("{:.4f}", average)},
                {"the same without 1/(1 − p)", fmt::format("{}", zeros_seen),
                 fmt::format("{:.4f}", average * (1 - double(p)))},
                {"evaluation", "0", fmt::format("{:.4f}", mean(evaluation.drop(x, p)).item())}});
  lesson.claim(std::fabs(average - 1) < 0.01 && std::fabs(double(zeros_seen) / 100000 - 0.1) < 0.01,
               "a tenth is gone and the mean is still {:.3f}", average);
  lesson.claim(equal(evaluation.drop(x, p), x), "in evaluation nothing is touched");
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(
      argc, argv, {.name = "10_blocks", .question = "What holds a deep stack together?"}, [](Lesson& lesson) {
        layer_norms(lesson);
        depth(lesson);
        the_block(lesson);
        feed_forward(lesson);
        dropping(lesson);
        lesson.try_next(
            {{"In depth, set blocks to 48.",
              "With neither, what reaches the bottom is the square of what it was, about 1e-12 of "
              "the top. Post-norm still has its gradient, but now loses the words: its tokens "
              "are all alike long before the top. Pre-norm keeps both."},
             {"In feed_forward, take the feed-forward networks out of the second stack (the line "
              "with networks[i]).",
              "Both stacks are linear, and the claim that the second one bends fails."},
             {"In dropping, set p to 0.5.",
              "Half is gone, the others count double, and the mean is still about 1 (the claim "
              "about a tenth fails)."}});
      });
}
