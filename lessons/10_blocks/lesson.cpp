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
#include <cmath>  // pow, sqrt

#include "core/autograd.hpp"
#include "core/ops.hpp"
#include "lessons/support/lesson.hpp"
#include "nn/transformer.hpp"

using namespace attn;

namespace {

constexpr real epsilon = real(1e-5);

// --- 1. Norms

const std::vector<std::string> words = {"the", "cat", "drank"};

Tensor three_words() {
  return tensor({{0.1, 0.2, 0.1, 0.0},      // the: small
                 {1.0, -2.0, 3.0, 2.0},     // cat
                 {40., 10.0, -20., 30.}});  // drank: some layer shouted
}

// y = (x − mean) / √(variance + ε), over the channels of one token; the variance is the mean square, ÷ C.
std::vector<double> normalised(const Tensor& x, Index token) {
  const Index C = x.size(1);
  double mean = 0, variance = 0;
  for (Index c = 0; c < C; ++c) mean += x(token, c) / static_cast<double>(C);
  for (Index c = 0; c < C; ++c)
    variance += (x(token, c) - mean) * (x(token, c) - mean) / static_cast<double>(C);
  std::vector<double> y;
  for (Index c = 0; c < C; ++c) y.push_back((x(token, c) - mean) / std::sqrt(variance + epsilon));
  return y;
}

void layer_norms(Lesson& lesson) {
  lesson.section("LayerNorm: one token at a time");
  const Tensor x = three_words();
  lesson.say("Three words of four channels. They come from different layers, and their sizes are far apart:");
  lesson.numbers(x, words, {}, 1);
  lesson.equation(
      "LayerNorm(x) = (x − E[x]) / √(Var[x] + ε) · gain + bias,   over the channels of each token");
  const Tensor y = layer_norm(x, {}, {}, epsilon);  // (T, C): gain 1, bias 0
  lesson.numbers(y, words);
  double worst = 0;
  for (Index t = 0; t < 3; ++t)
    for (Index c = 0; c < 4; ++c)
      worst = std::max(worst, std::fabs(normalised(x, t)[static_cast<std::size_t>(c)] - y(t, c)));
  lesson.claim(worst < 1e-5, "loops and the library agree: largest difference {:.1e}", worst);
  lesson.claim(std::fabs(mean(y[2]).item()) < 1e-6 && std::fabs(mean(y[2] * y[2]).item() - 1) < 1e-3,
               "each word has mean 0 and variance 1 now: `drank` has {:.4f}", mean(y[2] * y[2]).item());
  lesson.say(
      "The average runs over the channels of one token: never over time or over the batch, or a token would "
      "depend on "
      "its neighbours, on the padding and, when writing, on the future. The variance is the biased one (÷ C, "
      "not C − "
      "1), and ε stands inside the root: for a token of zeros it is all that stands between us and 0/0.");
  const Tensor alone = layer_norm(slice(x, 0, 1, 2), {}, {}, epsilon);
  lesson.claim(max_difference(alone[0], y[1]) == 0,
               "`cat` alone gives the same as `cat` among others: difference {:.0e}",
               max_difference(alone[0], y[1]));
  lesson.equation("RMSNorm(x) = x / √(E[x²] + ε) · gain");
  const Tensor rms = rms_norm(x, {}, epsilon);
  lesson.claim(
      std::fabs(mean(rms[1] * rms[1]).item() - 1) < 1e-3 && std::fabs(mean(rms[1]).item()) > 0.1,
      "RMSNorm leaves the mean where it is (`cat`: {:.2f}) and only sets the size, mean square {:.3f}: less "
      "work, as good in practice",
      mean(rms[1]).item(), mean(rms[1] * rms[1]).item());
}

// --- 2. Three ways to stack

enum class Wiring { post, pre, none };

struct Layer {
  MultiHeadAttention attention;
  FeedForward feed_forward;
  Norm first, second;
  Layer(const TransformerConfig& config, Rng& rng)
      : attention(config, true, rng),
        feed_forward(config, rng),
        first(NormKind::layer, config.d_model),
        second(NormKind::layer, config.d_model) {}
};

template <class Sublayer>
Tensor around(Wiring wiring, const Tensor& x, const Norm& norm, const Sublayer& f) {
  if (wiring == Wiring::post) return norm(x + f(x));  // the paper: LN(x + f(x))
  if (wiring == Wiring::pre) return x + f(norm(x));   // the path from top to bottom is free
  return f(x);                                        // no way around f
}

Tensor run_block(Wiring wiring, const Layer& layer, const Tensor& input) {  // (B, T, C) -> (B, T, C)
  Context context;
  const Tensor x = around(wiring, input, layer.first,
                          [&](const Tensor& y) { return layer.attention(y, y, {}, context, "block", 0); });
  return around(wiring, x, layer.second, [&](const Tensor& y) { return layer.feed_forward(y, context); });
}

struct Depth {
  std::vector<double> gradient;  // of the loss, at the input of each block, the bottom one first
  std::vector<double> size;      // of what comes into each block
  Tensor last;                   // what comes out of the last block
};

Depth measure(Wiring wiring, Index depth, std::uint64_t seed) {
  const TransformerConfig config{.d_model = 32, .heads = 4, .d_ff = 128, .dropout = 0};
  Rng rng(seed);
  std::vector<Layer> layers;
  for (Index i = 0; i < depth; ++i) layers.emplace_back(config, rng);
  const Linear output(config.d_model, 10, rng);
  IntTensor targets({2, 16});
  for (Index i = 0; i < targets.numel(); ++i) targets[i] = static_cast<int>(rng.below(10));
  Tensor x = normal({2, 16, config.d_model}, rng).requires_grad();  // (B, T, C)
  std::vector<Tensor> inputs;
  for (const Layer& layer : layers) {
    if (!inputs.empty()) x.retain_grad();
    inputs.push_back(x);
    x = run_block(wiring, layer, x);
  }
  Depth result;
  result.last = x.detach();
  // Pre-norm needs one more norm at the end.
  backward(cross_entropy(output(wiring == Wiring::pre ? layer_norm(x, {}, {}) : x), targets));
  for (const Tensor& input : inputs) {
    const Tensor gradient = input.grad(), values = input.detach();
    result.gradient.push_back(std::sqrt(static_cast<double>(sum(gradient * gradient).item())));
    result.size.push_back(std::sqrt(static_cast<double>(mean(values * values).item())));
  }
  return result;
}

// Single networks scatter: the geometric mean of the gradients of four.
Depth measure_four(Wiring wiring, Index depth, std::uint64_t seed) {
  Depth result = measure(wiring, depth, 4 * seed);
  for (std::uint64_t other = 1; other < 4; ++other) {
    const Depth next = measure(wiring, depth, 4 * seed + other);
    for (std::size_t i = 0; i < result.gradient.size(); ++i) result.gradient[i] *= next.gradient[i];
  }
  for (double& gradient : result.gradient) gradient = std::pow(gradient, 0.25);
  return result;
}

void depth(Lesson& lesson) {
  lesson.section("Residuals: a way around every layer");
  lesson.say(
      "Learning is gradients coming down from the loss. Through a plain stack each must pass every layer, "
      "and each layer "
      "takes its toll. With x + f(x) the derivative is 1 + f'(x): the 1 goes straight through, whatever f "
      "does. Where "
      "the norm stands matters, too:");
  lesson.equation(
      "post-norm  x = LN(x + f(x))   the paper        pre-norm  x = x + f(LN(x))   most models since");
  const Index blocks = 24;
  lesson.say(
      "{} fresh blocks, wired in three ways (the third has neither residuals nor norms): how large is the "
      "gradient at "
      "the input of each block? The mean of four networks:",
      blocks);
  const Depth post = measure_four(Wiring::post, blocks, lesson.seed),
              pre = measure_four(Wiring::pre, blocks, lesson.seed),
              none = measure_four(Wiring::none, blocks, lesson.seed);
  std::vector<std::vector<std::string>> rows;
  for (const Index block : {Index{1}, blocks / 4, blocks / 2, blocks}) {
    const std::size_t i = static_cast<std::size_t>(block - 1);
    rows.push_back({fmt::format("{}", block), fmt::format("{:.1e}", post.gradient[i]),
                    fmt::format("{:.1e}", pre.gradient[i]), fmt::format("{:.1e}", none.gradient[i])});
  }
  lesson.table({"block", "post-norm", "pre-norm", "no residual"}, rows);
  const auto kept = [](const Depth& d) { return d.gradient.front() / d.gradient.back(); };
  lesson.claim(
      kept(none) < 1e-3,
      "without residuals the bottom gets {:.0e} of what the top gets: it learns nothing, and the deeper, the "
      "worse",
      kept(none));
  lesson.claim(
      kept(pre) > 1.5 && kept(post) > 1e-2,
      "with them it arrives. Under pre-norm the way is free, and the bottom gets {:.1f} times as much as the "
      "top; under post-norm, where a norm stands behind every sum, {:.1f} times",
      kept(pre), kept(post));
  lesson.claim(
      post.gradient.back() > 2 * pre.gradient.back(),
      "and post-norm shakes the block next to the loss {:.0f} times harder than pre-norm. That is why the "
      "paper has to start with tiny steps (warm-up, lesson 12) and pre-norm models hardly need to",
      post.gradient.back() / pre.gradient.back());
  std::vector<double> numbers;
  for (Index i = 1; i <= blocks; ++i) numbers.push_back(static_cast<double>(i));
  lesson.picture(
      "gradients.png",
      viz::line_chart({{.name = "post-norm", .y = post.gradient, .x = numbers, .points = true},
                       {.name = "pre-norm", .y = pre.gradient, .x = numbers, .points = true},
                       {.name = "no residual", .y = none.gradient, .x = numbers, .points = true}},
                      {.title = "Gradient norm by depth",
                       .x_title = "block (1 is the bottom, the loss is at the right)",
                       .y_title = "norm of the gradient at its input",
                       .y_scale = viz::Scale::Log10,
                       .y_low = 1e-4}),
      "Gradient norm by depth",
      "The gradient comes in at the right. Without residuals it dies on its way down. Pre-norm is smooth, "
      "small near the loss, and reaches the bottom; post-norm is larger and less even.");
  lesson.say(
      "The price of pre-norm: every block adds to x and nobody takes away. Its size grows from {:.1f} at the "
      "bottom to "
      "{:.1f} at the top, so one more norm stands at the end. Under post-norm it is {:.1f} everywhere.",
      pre.size.front(), pre.size.back(), post.size.back());
  lesson.claim(pre.size.back() > 1.5 * pre.size.front() && std::fabs(post.size.back() - 1) < 0.05,
               "the sizes: {:.2f} times larger under pre-norm, {:.2f} under post-norm",
               pre.size.back() / pre.size.front(), post.size.back());
  const Tensor after = layer_norm(pre.last, {}, {}, epsilon);
  lesson.picture(
      "activations.png",
      viz::line_chart({viz::histogram("before the final norm", pre.last.values(), 60, -8, 8),
                       viz::histogram("after it", after.values(), 60, -8, 8)},
                      {.title = "Activations before and after the norm",
                       .x_title = "value",
                       .y_title = "share",
                       .y_low = 0}),
      "Activations before and after the norm",
      "Before: wide, after all that the blocks have added. After: deviation 1, what the next layer expects.");
}

void the_block(Lesson& lesson) {
  lesson.section("The whole block");
  lesson.say("Both wirings, written above in two lines each, against the library's Block:");
  for (const bool pre_norm : {false, true}) {
    const TransformerConfig config{
        .d_model = 32, .heads = 4, .d_ff = 128, .dropout = 0, .pre_norm = pre_norm};
    Rng rng(lesson.seed), same(lesson.seed), data(lesson.seed + 1);
    const Layer ours(config, rng);
    const Block block(config, false, false, same);
    Context context;
    const NoGrad no_grad;
    const Tensor x = normal({2, 5, 32}, data);
    const double difference = max_difference(run_block(pre_norm ? Wiring::pre : Wiring::post, ours, x),
                                             block(x, {}, {}, {}, context, 0));
    lesson.claim(difference < 1e-5, "{}: largest difference {:.1e}", pre_norm ? "pre-norm" : "post-norm",
                 difference);
  }
}

// --- 3. Why a feed-forward network?

// The weights (H, T, T) that each layer gives while it reads x; no norms here, they are not linear either.
struct Frozen {
  std::vector<Tensor> weights;
};

Tensor attention_only(const std::vector<MultiHeadAttention>& layers, const Tensor& values,
                      const Frozen& frozen) {
  Tensor x = values;  // (1, T, C)
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const MultiHeadAttention& layer = layers[i];
    const Tensor v =
        split_heads(matmul(x, layer.value.weight, Transpose::second), layer.heads);  // (1, H, T, D)
    x = x + matmul(merge_heads(matmul(frozen.weights[i], v)), layer.output.weight, Transpose::second);
  }
  return x;
}

Frozen watch(const std::vector<MultiHeadAttention>& layers, const Tensor& input) {
  Frozen frozen;
  Tensor x = input;
  for (const MultiHeadAttention& layer : layers) {
    AttentionMaps maps;
    Context context{.maps = &maps};
    x = x + layer(x, x, {}, context, "watched", 0);
    frozen.weights.push_back(maps[0].weights);
  }
  return frozen;
}

void feed_forward(Lesson& lesson) {
  lesson.section("Why a feed-forward network?");
  lesson.say(
      "Attention chooses, but what it does with the chosen is only an average: a matrix of weights times the "
      "values. "
      "Hold the weights fixed, and a stack of any depth is linear in the values: it can add and mix, and "
      "never bend. "
      "The test: does f(2a + 3b) equal 2 f(a) + 3 f(b)? Six layers of attention, with the weights they gave "
      "while "
      "reading one sentence:");
  const NoGrad no_grad;
  const TransformerConfig config{.d_model = 16, .heads = 2, .d_ff = 64, .dropout = 0, .bias = false};
  Rng rng(lesson.seed);
  std::vector<MultiHeadAttention> layers;
  std::vector<FeedForward> networks;
  for (int i = 0; i < 6; ++i) layers.emplace_back(config, true, rng), networks.emplace_back(config, rng);
  const Tensor sentence = normal({1, 7, 16}, rng), a = normal({1, 7, 16}, rng), b = normal({1, 7, 16}, rng);
  const Frozen frozen = watch(layers, sentence);
  const auto bend = [&](const auto& f) {  // how far from linear, for the size of the result
    const Tensor together = f(a * real(2) + b * real(3)), apart = f(a) * real(2) + f(b) * real(3);
    return max_difference(together, apart) / static_cast<double>(max(apart * apart).item() + 1e-9) *
           std::sqrt(static_cast<double>(max(apart * apart).item()));
  };
  const double linear = bend([&](const Tensor& x) { return attention_only(layers, x, frozen); });
  const double bent = bend([&](const Tensor& values) {
    Tensor x = values;
    Context context;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      x = attention_only({layers[i]}, x, {{frozen.weights[i]}});
      x = x + networks[i](x, context);
    }
    return x;
  });
  const Frozen own = watch(layers, sentence);
  lesson.claim(max_difference(attention_only(layers, sentence, own),
                              [&] {
                                Tensor x = sentence;
                                Context context;
                                for (const MultiHeadAttention& layer : layers)
                                  x = x + layer(x, x, {}, context, "plain", 0);
                                return x;
                              }()) < 1e-4,
               "with the weights of its own sentence, the frozen stack is {} itself", "the stack");
  lesson.claim(linear < 1e-4,
               "attention alone: f(2a + 3b) and 2 f(a) + 3 f(b) differ by {:.1e} of their size", linear);
  lesson.claim(bent > 100 * linear && bent > 1e-3, "with a feed-forward network after each: by {:.2f}", bent);

  lesson.say("So every token then gets a network of its own, the same for all:");
  lesson.equation("FFN(x) = max(0, x W_1 + b_1) W_2 + b_2,   512 → 2048 → 512");
  Rng dice(lesson.seed);
  const Index paper = parameters_of(FeedForward({}, dice)).count(),
              attention_part = parameters_of(MultiHeadAttention({}, true, dice)).count();
  const Index swiglu =
      parameters_of(FeedForward({.d_ff = 1365, .feed_forward = FeedForwardKind::swiglu, .bias = false}, dice))
          .count();
  lesson.claim(paper == 2 * 512 * 2048 + 2048 + 512,
               "it has {} parameters, attention {}: two thirds of a block are here", paper, attention_part);
  lesson.say(
      "What bends: ReLU cuts off at 0; GELU does it smoothly (BERT, GPT); SwiGLU, silu(x W_g) ∘ (x W_1), "
      "lets one half "
      "decide what of the other passes. It has three matrices, so d_ff is made a third smaller: with 1365, "
      "{} "
      "parameters.",
      swiglu);
  viz::Numbers xs, relus, gelus, silus;
  for (int i = -40; i <= 30; ++i) xs.push_back(i / 10.0);
  const Tensor points = from_values({static_cast<Index>(xs.size())}, std::vector<real>(xs.begin(), xs.end()));
  lesson.picture("bends.png",
                 viz::line_chart({{.name = "ReLU", .y = relu(points).values(), .x = xs},
                                  {.name = "GELU", .y = gelu(points).values(), .x = xs},
                                  {.name = "SiLU, the gate of SwiGLU", .y = silu(points).values(), .x = xs}},
                                 {.title = "What bends", .x_title = "in", .y_title = "out"}),
                 "Activations",
                 "Left of 0 little passes, right of it nearly everything. The smooth ones dip below 0.");
}

// --- 4. Dropout

void dropping(Lesson& lesson) {
  lesson.section("Dropout: in training only");
  lesson.say(
      "In training each number is set to 0 with probability p, so that the network cannot lean on a single "
      "one. The rest "
      "is multiplied by 1/(1 − p): then the sum that the next layer sees stays the same on average, and "
      "nothing has to "
      "change when dropout is switched off.");
  const Tensor x = ones({100000});
  Rng rng(lesson.seed);
  const real p = real(0.1);
  Context training{.training = true, .rng = &rng}, evaluation;
  const Tensor dropped = training.drop(x, p);
  const double average = mean(dropped).item();
  Index zeros_seen = 0;
  for (const real value : dropped.values()) zeros_seen += value == 0;
  lesson.table({"100,000 ones, p = 0.1", "zeros", "mean"},
               {{"training", fmt::format("{}", zeros_seen), fmt::format("{:.4f}", average)},
                {"the same without 1/(1 − p)", fmt::format("{}", zeros_seen),
                 fmt::format("{:.4f}", average * (1 - static_cast<double>(p)))},
                {"evaluation", "0", fmt::format("{:.4f}", mean(evaluation.drop(x, p)).item())}});
  lesson.claim(
      std::fabs(average - 1) < 0.01 && std::fabs(static_cast<double>(zeros_seen) / 100000 - 0.1) < 0.01,
      "a tenth is gone and the mean is still {:.3f}", average);
  lesson.claim(equal(evaluation.drop(x, p), x), "in evaluation nothing is touched: {} differences", 0);
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
        lesson.try_next({{"In around, write `norm(x) + f(norm(x))` for pre-norm: the residual taken from the "
                          "normalised input.",
                          "The norm is back on the main path: the claim about the library's block fails, and "
                          "x no longer grows."},
                         {"In feed_forward, take the feed-forward networks out of the second stack (the line "
                          "with networks[i]).",
                          "Both stacks are linear, and the claim that the second one bends fails."},
                         {"In dropping, set p to 0.5.",
                          "Half is gone, the others count double, and the mean is still about 1 (the "
                          "claim about a tenth fails)."}});
      });
}
