/// Take the weights of a model of this year, Llama, Qwen or Mistral, and look inside: after lesson 15 you
/// will know nearly everything, and yet no part is quite what it was in *Attention is all you need* (Vaswani
/// et al., 2017). What has changed, and what for? This lesson puts the changes into lesson 15's model one at
/// a time, and measures each. Some make it better. Others do nothing for a model as small as ours: they save
/// memory or time, or keep a model of a hundred layers from falling apart. You will see which is which.
///
/// Then come four ideas about what to do with a model that is already trained, or too large to train:
///
/// | idea | what it is for |
/// |---|---|
/// | LoRA | teach a large model something new with few new numbers |
/// | mixture of experts | more weights, the same work per token |
/// | int8 weights | a quarter of the memory, and of the bytes read per token |
/// | speculative decoding | the same text in fewer passes through the large model |
///
/// Letters for sizes: B texts in a batch, T tokens in each, C channels, V the vocabulary, D the size of
/// a head.
#include <algorithm>  // find_if, max, min, min_element
#include <cmath>      // exp, fabs, round, sqrt
#include <iterator>   // ssize
#include <map>        // map

#include "core/autograd.hpp"
#include "core/parallel.hpp"  // set_thread_count
#include "lessons/19_today/drafts.hpp"
#include "lessons/19_today/fine_tuning.hpp"
#include "lessons/19_today/pictures.hpp"
#include "lessons/19_today/routing.hpp"
#include "lessons/support/cpu_time.hpp"
#include "lessons/support/lesson.hpp"
#include "nn/quantise.hpp"

using namespace attn;

namespace {

// A model of the race: the one before it and one change.
struct Variant {
  std::string name, year;
  TransformerConfig config;
  double rate;  // the best of 4e-3, 8e-3, 12e-3 and 20e-3, found with other seeds
  std::vector<double> losses = {};
  std::vector<Gpt> models = {};
};

std::vector<Variant> one_change_each(Index vocabulary, Index T) {
  TransformerConfig config =
      gpt_config({.vocabulary = vocabulary, .d_model = 32, .heads = 4, .layers = 2, .max_length = T});
  config.pre_norm = false;
  config.feed_forward = {.activation = Activation::relu};
  std::vector<Variant> variants = {{"the block of 2017", "2017", config, 12e-3}};
  const auto change = [&](const char* name, const char* year, double rate) {
    variants.push_back({name, year, config, rate});
  };
  config.pre_norm = true, change("pre-norm", "2019", 8e-3);
  config.norm = NormKind::rms, change("RMSNorm", "2019", 8e-3);
  config.feed_forward = {.activation = Activation::silu, .gated = true};
  config.d_ff = 8 * config.d_model / 3, change("SwiGLU", "2020", 12e-3);
  config.positions = Positions::rope, change("RoPE", "2021", 12e-3);
  config.kv_heads = 2, change("grouped queries", "2023", 12e-3);
  config.bias = false, change("no biases", "2022", 12e-3);
  return variants;
}

/// ## One change at a time
///
/// We begin with the block of 2017 as a decoder alone: LayerNorm after each sum, a feed-forward network with
/// ReLU, a table of positions that is added to the embeddings (the paper found a learned one as good as its
/// sinusoids), keys and values for every head, biases everywhere. Each row of the table below changes one
/// thing in the model of the row before it, and the last row is the block of Llama (Touvron et al., 2023).
///
/// A race is fair if each runs at its best. Every row has the learning rate that suited it best of four,
/// found beforehand with other seeds. All rows see the same windows of text, seed by seed, so that what they
/// differ by is the change and not the luck of a batch; ± is the standard deviation between seeds. (GPT-2's
/// initial weights, with a standard deviation of 0.02, suit its C of 768. At C = 32 all rows learn faster
/// with 1/√C for the matrices and 0.1 for the tables, so all start like that.)
std::vector<Variant> race(Lesson& lesson, const Course& course) {
  lesson.picture(
      "blocks.png", draw_two_blocks(), "The block of 2017 and of today",
      "Read upwards along the thick line, the residual stream. Today it runs through without a norm "
      "on it, nothing is added for positions, and q and k are rotated instead.");
  std::vector<Variant> variants = one_change_each(course.text.vocabulary.size(), course.recipe.T);
  for (Variant& variant : variants)
    for (const std::uint64_t seed : course.seeds) {
      Rng rng(seed);
      variant.models.push_back(fresh_gpt(variant.config, rng));
      train_gpt(variant.models.back(), course, variant.rate, seed);
      variant.losses.push_back(unseen_loss(variant.models.back(), course));
    }
  std::vector<std::vector<std::string>> rows;
  std::vector<SeedRow> dots;
  for (Index i = 0; i < std::ssize(variants); ++i) {
    const Variant& now = variants[i];
    const std::vector<double> change =
        i ? difference(now.losses, variants[i - 1].losses) : std::vector<double>{0, 0};
    rows.push_back({now.name, now.year, grouped(parameters_of(now.models[0]).count()),
                    spread_of(now.losses).str(), i ? spread_of(change).str() : "",
                    i ? fmt::format("{} of {}", count_below(change, 0), course.seeds.size()) : ""});
    dots.push_back({now.name, now.losses});
  }
  lesson.table({"with this change", "since", "parameters", "loss", "change", "better"}, rows);
  lesson.picture("changes.png",
                 draw_seeds(dots, "Loss on unseen stories, one change after the other", "nats per character"),
                 "Loss by change, with its spread",
                 fmt::format("A dot for each of {} seeds, a line at their mean. {} steps of training each.",
                             course.seeds.size(), course.recipe.steps));
  const double first = spread_of(variants.front().losses).mean, last = spread_of(variants.back().losses).mean;
  lesson.claim(
      count_below(difference(variants.back().losses, variants.front().losses), 0) == std::ssize(course.seeds),
      "with every seed today's block ends lower than that of 2017: {:.2f} instead of {:.2f} nats per "
      "character, after the same steps and with fewer parameters",
      last, first);
  return variants;
}

const std::vector<double>& losses_of(const std::vector<Variant>& variants, const std::string& name) {
  return std::find_if(variants.begin(), variants.end(), [&](const Variant& one) { return one.name == name; })
      ->losses;
}

/// ## Norms: before, and without the mean
///
/// **Pre-norm**, x + f(LN(x)), leaves the sum alone: what a block adds stays there, and the gradient comes
/// down along the same line unchanged. GPT-2 (2019) moved the norms there, and Xiong et al. (2020) explained
/// why it trains without warm-up. **RMSNorm** (Zhang and Sennrich, 2019) is LayerNorm without subtracting the
/// mean and without a bias: it only brings a token to the same size.
///
/// $$ RMSNorm(x) = g ∘ x / √(mean(x²) + ε) $$
void norms(Lesson& lesson, const std::vector<Variant>& variants) {
  const std::vector<double> x = {3, -1, 4, 2};
  double mean = 0, square = 0;
  for (const double number : x) mean += number / 4, square += number * number / 4;
  const double variance = square - mean * mean;
  std::vector<std::vector<std::string>> rows = {{"x"}, {"LayerNorm"}, {"RMSNorm"}};
  const NoGrad no_grad;
  const Tensor token = tensor({3, -1, 4, 2}), ones_ = ones({4});
  const Tensor layer = layer_norm(token, ones_, {}), rms = rms_norm(token, ones_);
  double worst = 0;
  for (Index i = 0; i < 4; ++i) {
    const double by_layer = (x[i] - mean) / std::sqrt(variance), by_rms = x[i] / std::sqrt(square);
    worst = std::max({worst, std::fabs(by_layer - layer(i)), std::fabs(by_rms - rms(i))});
    rows[0].push_back(fmt::format("{:.0f}", x[i]));
    rows[1].push_back(fmt::format("{:.3f}", by_layer));
    rows[2].push_back(fmt::format("{:.3f}", by_rms));
  }
  lesson.table({"", "0", "1", "2", "3"}, rows);
  lesson.claim(worst < 1e-4, "loops and ops agree: largest difference {:.0e}", worst);
  const Spread pre = spread_of(
                   difference(losses_of(variants, "pre-norm"), losses_of(variants, "the block of 2017"))),
               root = spread_of(difference(losses_of(variants, "RMSNorm"), losses_of(variants, "pre-norm")));
  if (!lesson.fast)
    lesson.claim(
        pre.mean > -0.1 && root.mean > -0.1,
        "neither makes a model of two blocks much better: pre-norm changes the loss by {}, RMSNorm by {}",
        pre.str(2), root.str(2));
  /// So why does everybody have them? Pre-norm is for depth: in lesson 10 six post-norm layers did not learn
  /// at a rate at which one layer does, and six pre-norm layers did. RMSNorm is for speed: a token's mean
  /// need not be known before its size can be summed up. At our size that cannot be noticed.
}

/// ## SwiGLU: a gate in the feed-forward network
///
/// A feed-forward network decides with ReLU what passes, by its sign alone. A *gated linear unit* asks a
/// second matrix (Shazeer, 2020): one product says what, the other how much. With SiLU(z) = z · sigmoid(z)
/// as the gate it is called SwiGLU:
///
/// $$ FFN(x) = W_2 (SiLU(W_g x) ∘ W_1 x) $$
///
/// Three matrices instead of two would be half as many weights again, so the inner width is cut to two
/// thirds, 8/3 C instead of 4 C. Only then is the comparison fair:
void swiglu(Lesson& lesson, const std::vector<Variant>& variants) {
  const auto weights = [](const Variant& variant) {
    const FeedForward& network = variant.models[0].stack.blocks[0].feed_forward;
    return network.first.weight.numel() + network.second.weight.numel() +
           (network.kind.gated ? network.gate.weight.numel() : 0);
  };
  const Index plain = weights(variants[2]), gated = weights(variants[3]);
  const std::vector<double> change =
      difference(losses_of(variants, "SwiGLU"), losses_of(variants, "RMSNorm"));
  lesson.claim(
      std::fabs(double(gated - plain)) < 0.02 * double(plain) && (lesson.fast || spread_of(change).mean < 0),
      "with {} weights in place of {}, SwiGLU changes the loss by {}: better with {} of {} seeds",
      grouped(gated), grouped(plain), spread_of(change).str(2), count_below(change, 0), change.size());
  /// Why does it help? Its author wrote: "We offer no explanation as to why these architectures seem to
  /// work; we attribute their success, as all else, to divine benevolence."
}

/// ## RoPE: positions as rotations
///
/// Lesson 09 derived it: rotate q and k by an angle that grows with the position, and q·k depends on how far
/// apart two tokens are, not on where they stand (Su et al., 2021). Nothing is added to the embeddings, and
/// there is no table to learn. A table has to learn for each position anew that the character before
/// matters; a rotation has to learn it once.
void rope_pays(Lesson& lesson, const std::vector<Variant>& variants) {
  const std::vector<double> change = difference(losses_of(variants, "RoPE"), losses_of(variants, "SwiGLU"));
  lesson.claim(count_below(change, 0) == std::ssize(change),
               "RoPE changes the loss by {}, and lowers it with every seed", spread_of(change).str(2));
}

/// ## Grouped queries, and no biases
///
/// **Grouped-query attention** (Ainslie et al., 2023; lessons 08 and 18) gives several query heads one head
/// of keys and values to share. It is not meant to lower the loss. It makes the cache smaller, and with it
/// what has to be read for every token that is written:
void grouped_queries(Lesson& lesson, const std::vector<Variant>& variants, const Course& course) {
  const auto cache_bytes = [&](const Variant& variant) {
    const NoGrad no_grad;
    DecoderCache cache;
    variant.models[0](window_at(course.text.unseen, 0, 32).reads, cache);
    Index numbers = 0;
    for (const DecoderCache::Layer& layer : cache.layers) numbers += layer.self.numel();
    return numbers * Index(sizeof(real));
  };
  const Index before = cache_bytes(variants[4]), after = cache_bytes(variants[5]);
  const Spread change =
      spread_of(difference(losses_of(variants, "grouped queries"), losses_of(variants, "RoPE")));
  lesson.claim(before == 2 * after && change.mean < (lesson.fast ? 0.4 : 0.15),
               "after 32 characters the cache has {} bytes instead of {}; the loss changes by {}",
               grouped(after), grouped(before), change.str(2));

  /// **No biases**: PaLM (Chowdhery et al., 2022) left them out of all layers and trained more stably, and
  /// Llama did the same. In our small model they are missed, as the last row of the table shows (with --fast
  /// it is too early to see). Which of them? Two are special in a model with RoPE: those of q and k are
  /// rotated, too, so a head can say *look three characters back, whatever stands there* by its biases
  /// alone. As a control, we keep these two and leave out the rest:
  std::vector<double> control;
  for (const std::uint64_t seed : course.seeds) {
    TransformerConfig config = variants.back().config;
    config.bias = true;
    Rng rng(seed);
    Gpt model = fresh_gpt(config, rng);
    for (Block& block : model.stack.blocks)
      for (Linear* layer : {&block.self.value, &block.self.output, &block.feed_forward.first,
                            &block.feed_forward.gate, &block.feed_forward.second})
        layer->bias = Tensor();
    train_gpt(model, course, variants.back().rate, seed);
    control.push_back(unseen_loss(model, course));
  }
  const std::vector<double>&with = losses_of(variants, "grouped queries"), &without = variants.back().losses;
  lesson.table({"biases", "loss"}, {{"everywhere", spread_of(with).str()},
                                    {"nowhere", spread_of(without).str()},
                                    {"in q and k", spread_of(control).str()}});
  if (!lesson.fast)
    lesson.claim(spread_of(difference(control, without)).mean < 0,
                 "biases in q and k alone change the loss by {} against none: they were what was missed",
                 spread_of(difference(control, without)).str(2));
  /// Qwen (Bai et al., 2023) keeps them, those of v as well, to read longer texts than it was trained on. In
  /// a model of Llama's size there are weights enough to do without.
}

/// ## LoRA: a small change of large weights
///
/// A model is trained once, by somebody with many machines, and then has to learn something new: a style, a
/// task, your documents. Training all of its weights further needs memory for weights, gradients and Adam's
/// two averages, four numbers per weight, and leaves a full copy for each task. **LoRA**, *low-rank
/// adaptation* (Hu et al., 2021), freezes every matrix W and learns the product of two thin ones that is
/// added to it:
///
/// $$ W' = W + (α / r) B A,   A: r × in,   B: out × r $$
///
/// Its rank r is small, 8 or 16. B starts at 0, so training starts from the model as it is; α / r keeps
/// updates of different ranks about equally large. For a matrix of 2 × 3 and rank 1, with A = (1 2 0), B =
/// (0.5 −1) and α = 2:
void lora(Lesson& lesson, const Course& course, const std::vector<Gpt>& bases) {
  const Tensor w = tensor({{1, 0, 2}, {0, 1, 0}}), a = tensor({{1, 2, 0}}),
               b = reshape(tensor({real(0.5), -1}), {2, 1});
  Tensor by_loops = zeros({2, 3});
  for (Index o = 0; o < 2; ++o)
    for (Index i = 0; i < 3; ++i) by_loops(o, i) = w(o, i) + real(2.0 / 1) * b(o, 0) * a(0, i);
  lesson.numbers(concat({w, by_loops}, 1), {"row 0", "row 1"}, {"W", "", "", "W'", "", ""}, 1);
  lesson.claim(max_difference(by_loops, w + matmul(b, a) * real(2)) < 1e-6,
               "five numbers, A and B, change a matrix of six; at 4,096 × 4,096 and rank 8, {} change {}",
               grouped(8 * 2 * 4096), grouped(4096 * 4096));

  /// Now our models are to learn fairy tales: the same sentences, but about dragons, castles and crowns. All
  /// weights, or adapters on every matrix; each at the learning rate that suits it:
  const FineTuning tuning = learn_fairy_tales(course, bases, lesson.fast ? 40 : 100, 4711 + lesson.seed);
  const std::vector<Way>& ways = tuning.ways;
  std::vector<std::vector<std::string>> rows;
  for (const Way& way : ways)
    rows.push_back({way.name, way.numbers ? grouped(way.numbers) : "", spread_of(way.tales).str(),
                    spread_of(way.stories).str()});
  lesson.table({"what learns", "trained numbers", "loss on fairy tales", "on the old stories"}, rows);
  const std::vector<double> all = difference(ways[0].tales, ways[1].tales),
                            low = difference(ways[0].tales, ways[3].tales);
  std::vector<double> share;
  for (Index i = 0; i < std::ssize(all); ++i) share.push_back(100 * low[i] / all[i]);
  const double least = *std::min_element(share.begin(), share.end());
  lesson.claim(
      least > (lesson.fast ? 30 : 50),
      "rank 4 with {:.0f}% of the numbers brings {} percent of the gain that training all of them brings "
      "({:.0f} at least)",
      100.0 * double(ways[3].numbers) / double(ways[1].numbers), spread_of(share).str(0), least);
  lesson.claim(
      tuning.merged_differs < 1e-4,
      "W' x is W x + (α/r) B (A x), to {:.0e}: merged, an adapter costs nothing when the model is used",
      tuning.merged_differs);
  lesson.claim(tuning.taken_out_differs == 0,
               "taken out again, the model is what it was: the logits differ by {:.0f}",
               tuning.taken_out_differs);
  /// With C = 32 a matrix of rank 4 is not small, and the rank limits what can be learned; nor is it faster
  /// here. In a model with C = 4,096 rank 8 is 0.4% of a matrix, and the memory for gradients and Adam's
  /// averages, most of what training needs, all but disappears.
}

/// ## A mixture of experts
///
/// A feed-forward network is where a model keeps most of what it knows, and each token pays for all of it. A
/// **mixture of experts** (MoE; Shazeer et al., 2017) has several such networks, and a *router*, one small
/// matrix, that sends each token to one of them (top-1, as in the Switch Transformer; Fedus et al., 2021) or
/// to two (Mixtral). Weights grow with the number of experts, the work per token does not:
///
/// $$ y = p_e Expert_e(x),   p = softmax(W_r x),   e = argmax p $$
///
/// The choice e has no gradient, since a small change of W_r does not change it. But p_e has: a router that
/// gets better results from an expert learns to be surer of it. Four tokens, three experts:
void experts(Lesson& lesson, const Course& course) {
  const Tensor logits = tensor({{2, 0, 0}, {1, 1, 0}, {0, 0, 3}, {2, 1, 0}});
  const std::vector<std::string> tokens = {"T", "h", "e", "␣"};
  std::vector<std::vector<std::string>> rows;
  std::vector<double> count(3, 0.0), probability(3, 0.0);
  for (Index n = 0; n < 4; ++n) {
    Index best = 0;
    double sum = 0;
    for (Index e = 0; e < 3; ++e) {
      sum += std::exp(logits(n, e));
      if (logits(n, e) > logits(n, best)) best = e;
    }
    for (Index e = 0; e < 3; ++e) probability[e] += std::exp(logits(n, e)) / sum / 4;
    count[best] += 0.25;
    rows.push_back({tokens[n], fmt::format("{:.0f} {:.0f} {:.0f}", logits(n, 0), logits(n, 1), logits(n, 2)),
                    fmt::format("{}", best), fmt::format("{:.2f}", std::exp(logits(n, best)) / sum)});
  }
  lesson.table({"token", "logits", "expert", "its weight p"}, rows);

  /// ## All to one
  ///
  /// There is a trap. An expert that happens to be a little better gets more tokens, learns more from them,
  /// and gets better still, while the others never learn: the router *collapses*. A second loss works
  /// against it. With f_e the fraction of tokens that go to expert e, and P_e its mean probability:
  ///
  /// $$ L_balance = E Σ_e f_e P_e $$
  ///
  /// It is 1 if all is even, and E if all tokens go to one expert surely. f has no gradient, but P has: what
  /// is too busy becomes less probable.
  double balance = 0;
  for (Index e = 0; e < 3; ++e) balance += 3 * count[e] * probability[e];
  const Tensor p = softmax(logits), f = tensor({real(count[0]), real(count[1]), real(count[2])});
  const double by_ops = 3 * sum(f * mean(p, 0)).item();
  lesson.claim(std::fabs(balance - by_ops) < 1e-5 && balance > 1,
               "for the four tokens it is {:.3f} by loops and {:.3f} by ops: expert 0 has {:.0f}% of them",
               balance, by_ops, 100 * count[0]);

  lesson.say(
      "Four experts, each as wide as the one feed-forward network of the first row (8 units, very narrow, so "
      "that there is something to gain), {} seeds. `used` is how many weights of a block's feed-forward "
      "networks a token meets, `busiest` the share of the tokens that the busiest expert gets:",
      course.seeds.size());
  TransformerConfig config = one_change_each(course.text.vocabulary.size(), course.recipe.T).back().config;
  const Index E = 4, narrow = 8, one = 3 * config.d_model * narrow;  // the weights of a SwiGLU network
  rows.clear();
  const auto add = [&](const char* name, Index used, const Routed& result) {
    rows.push_back({name, grouped(result.parameters), grouped(used), spread_of(result.losses).str(),
                    result.busiest.empty() ? "" : spread_of(result.busiest).str(0) + "%"});
    return result;
  };
  config.d_ff = narrow;
  const Routed narrow_dense = add("one network", one, train_dense(course, config)),
               unbalanced = add("four experts, no balance", one, train_experts(course, config, E, 0)),
               balanced = add("four experts, balanced", one, train_experts(course, config, E, real(0.1)));
  config.d_ff = E * narrow;
  add("one network, four times as wide", E * one, train_dense(course, config));
  lesson.table({"feed-forward", "parameters", "used", "loss", "busiest"}, rows);
  const Spread gain = spread_of(difference(balanced.losses, narrow_dense.losses));
  lesson.claim(
      spread_of(balanced.busiest).mean + 5 < spread_of(unbalanced.busiest).mean,
      "with the balance loss the busiest of four experts has {} percent of the tokens, without it {}",
      spread_of(balanced.busiest).str(0), spread_of(unbalanced.busiest).str(0));
  if (!lesson.fast)
    lesson.claim(
        gain.mean < 0.03,
        "for the same work per token, four experts are no worse than one network: they change the loss by {}",
        gain.str(2));
  lesson.picture(
      "routing.png", draw_routing(balanced.read, balanced.chosen, E, course.text.vocabulary),
      "Who is routed where",
      "The first layer of one of the balanced models. Each column sums to 1: most characters have an "
      "expert of their own choice, which nobody assigned to them.");
  /// The last row is the control: all those weights in one network, for four times the work. Why is so
  /// little gained here? Each expert learns from a quarter of the tokens. Mixtures pay where there is far
  /// more text than a model's weights can hold, and where work per token is what costs: DeepSeek-V3 (2024)
  /// has 671 billion parameters and uses 37 billion of them for a token.
}

/// ## Weights in 8 bits
///
/// To write one token, a model reads every weight once and does two operations with it. A processor can
/// do far more in the time that reading takes, so the bytes decide: half as many bytes, nearly twice as
/// fast. **Int8** keeps a weight as an integer from −127 to 127, and for each row the step between
/// neighbouring integers:
///
/// $$ scale_r = max_c |w_rc| / 127 $$
///
/// $$ q_rc = round(w_rc / scale_r),   w_rc ≈ scale_r q_rc $$
void int8_weights(Lesson& lesson, const Course& course, const std::vector<Gpt>& models) {
  const NoGrad no_grad;
  const Tensor w =
      tensor({{real(0.50), real(-1.27), real(0.013)}, {real(0.020), real(0.001), real(-0.0127)}});
  const Int8Matrix small = quantise(w);
  std::vector<std::vector<std::string>> rows;
  bool same = true;
  for (Index r = 0; r < 2; ++r) {
    double largest = 0;
    for (Index c = 0; c < 3; ++c) largest = std::max(largest, std::fabs(double(w(r, c))));
    const double scale = largest / 127;
    std::vector<std::string> row = {fmt::format("{:g}, {:g}, {:g}", w(r, 0), w(r, 1), w(r, 2)),
                                    fmt::format("{:.6f}", scale), ""};
    for (Index c = 0; c < 3; ++c) {
      const int q = int(std::round(w(r, c) / scale));
      same = same && q == small.values[r * 3 + c];
      row[2] += (c ? ", " : "") + std::to_string(q);
    }
    rows.push_back(row);
  }
  lesson.table({"row", "scale", "integers"}, rows);
  lesson.claim(same, "the loops give the integers of core/int8.hpp");

  /// ## One scale for each row
  ///
  /// With a single scale for the matrix, the second row would be 2, 0, −1: one large weight anywhere makes
  /// the step of all others coarse. In our trained models, all matrices rounded and turned back:
  rows.clear();
  const auto increase = [&](int bits, bool by_row) {
    std::vector<double> more;
    for (Index i = 0; i < std::ssize(models); ++i) {
      Gpt copy = copy_of(models[i]);
      for (Linear* layer : matrices_of(copy)) layer->weight = rounded(layer->weight, bits, by_row);
      copy.token_embedding.table = rounded(copy.token_embedding.table, bits, by_row);
      more.push_back(unseen_loss(copy, course) - unseen_loss(models[i], course));
    }
    return more;
  };
  std::map<int, double> by_row, by_matrix;
  for (const int bits : {8, 6, 4, 3}) {
    const Spread row = spread_of(increase(bits, true)), matrix = spread_of(increase(bits, false));
    by_row[bits] = row.mean, by_matrix[bits] = matrix.mean;
    rows.push_back({std::to_string(bits), row.str(4), matrix.str(4)});
  }
  lesson.table({"bits", "loss more, a scale per row", "loss more, one scale"}, rows);
  lesson.claim(std::fabs(by_row[8]) < 0.005,
               "8 bits by row change the loss by {:.4f} on average: nobody will notice", by_row[8]);
  lesson.claim(by_row[4] < by_matrix[4] && by_row[4] > 5 * std::fabs(by_row[8]),
               "with 4 bits the loss grows by {:.3f} by row, and by {:.3f} with one scale for each matrix",
               by_row[4], by_matrix[4]);

  /// ## Fewer bits
  ///
  /// Models of many billion parameters are run with 4 bits, with a scale for each 32 or 64 weights instead
  /// of a whole row, or with weights that were adjusted so that their errors cancel (GPTQ: Frantar et al.,
  /// 2022). The library has 8 bits as a real type, not rounded floats; `quantise` of nn/quantise.hpp
  /// changes a model in place:
  std::vector<double> differs;
  Index floats = 0, bytes = 0;
  for (const Gpt& trained : models) {
    Gpt model = trained;  // the copy's layers let go of their floats, the original keeps them
    floats = 0, bytes = 0;
    for (const Linear* layer : matrices_of(model)) {
      floats += layer->weight.numel() * 4;
      bytes += layer->weight.numel() + 4 * layer->weight.size(0);
    }
    quantise(model);
    differs.push_back(unseen_loss(model, course) - unseen_loss(trained, course));
  }
  lesson.claim(std::fabs(spread_of(differs).mean) < 0.005 && 3 * bytes < floats,
               "the matrices of the blocks have {} bytes instead of {}, and the loss changes by {}",
               grouped(bytes), grouped(floats), spread_of(differs).str(4));
}

// If q proposes and p judges: for each token, how often it is proposed and accepted, and how often it is
// drawn after a rejection.
struct TwoWays {
  double accepted, drawn;
};

std::vector<TwoWays> two_ways(const std::vector<double>& p, const std::vector<double>& q) {
  double rejected = 1, missing = 0;
  for (Index x = 0; x < std::ssize(p); ++x)
    rejected -= std::min(p[x], q[x]), missing += std::max(p[x] - q[x], 0.0);
  std::vector<TwoWays> ways;
  for (Index x = 0; x < std::ssize(p); ++x)
    ways.push_back({std::min(p[x], q[x]), rejected * std::max(p[x] - q[x], 0.0) / missing});
  return ways;
}

/// ## Speculative decoding
///
/// Writing is slow because each token needs a pass of its own. Reading is not: all tokens of a text pass
/// through at once, and a few cost hardly more than one, since the weights are fetched only once.
/// **Speculative decoding** (Leviathan et al., 2023; Chen et al., 2023) turns writing into reading. A small,
/// cheap *draft* model writes k tokens; the large model reads them in one pass, which gives its own
/// distribution at each of them; and now each is accepted or rejected. Token x, drawn by the draft with
/// probability q(x), where the large model has p(x), is accepted with probability min(1, p(x) / q(x)). At
/// the first rejection one token is drawn from what is missing, max(p − q, 0), divided by its sum, and the
/// rest of the draft is thrown away. If all k are accepted, the last row of the pass gives one more token
/// for nothing.
///
/// ## Nothing is lost
///
/// What is written has exactly the large model's distribution, however bad the draft. A token x comes about
/// in two ways: it was proposed and accepted, q · min(1, p/q) = min(p, q); or something else was rejected,
/// which happens with probability 1 − Σ min(p, q), and x was drawn from what is missing. Three words:
void speculative_decoding(Lesson& lesson, const Course& course) {
  const std::vector<double> p = {0.6, 0.3, 0.1}, q = {0.3, 0.2, 0.5};
  std::vector<std::vector<std::string>> rows;
  double worst = 0;
  const std::vector<std::string> words = {"cat", "dog", "fox"};
  for (Index x = 0; x < 3; ++x) {
    const auto [accepted, drawn] = two_ways(p, q)[x];
    worst = std::max(worst, std::fabs(accepted + drawn - p[x]));
    rows.push_back({words[x], fmt::format("{}", p[x]), fmt::format("{}", q[x]),
                    fmt::format("{:.2f}", accepted), fmt::format("{:.2f}", drawn),
                    fmt::format("{:.2f}", accepted + drawn)});
  }
  lesson.table({"word", "p", "q", "proposed and accepted", "drawn after a rejection", "together"}, rows);
  lesson.claim(worst < 1e-12, "both ways together are p, to {:.0e}", worst);

  /// With temperature 0 both distributions are certain of one token: a proposal is accepted if it is the
  /// large model's own choice, and the text is the same, character by character. Our large model now has
  /// four blocks of C = 64, the draft a single one of C = 32; both learned from the same stories. The draft
  /// takes about a sixth of the large model's time, where in practice it takes a few percent. So we add four
  /// blocks with wide feed-forward networks whose last matrices are 0: they read 1.6 million weights, and
  /// change no word. Five texts are continued:
  const DraftPair pair = train_pair(
      course, one_change_each(course.text.vocabulary.size(), course.recipe.T).back().config, lesson.seed);
  const Gpt &draft = pair.draft, &model = pair.model;
  Rng rng(lesson.seed);
  const Index count = lesson.fast ? 40 : 60;
  std::vector<std::vector<int>> prompts;
  for (const char* prompt :
       {"Anna had a ", "Ben and the ", "One day Clara ", "Once there was a ", "The fox "})
    prompts.push_back(course.text.vocabulary.encode(prompt));
  std::vector<std::vector<int>> alone;
  for (const std::vector<int>& prompt : prompts)
    alone.push_back(write_alone(model, prompt, count, 0, rng).tokens);
  const double time_alone = seconds_of([&] { write_alone(model, prompts[0], count, 0, rng); });
  rows = {{"none", "1", fmt::format("{:.0f} µs", 1e6 * time_alone / double(count))}};
  bool same = true;
  double best_passes = 1;
  Written shown;
  for (const Index k : {1, 2, 3, 4, 8}) {
    std::vector<double> passes;
    for (Index i = 0; i < std::ssize(prompts); ++i) {
      const Written written = write_with_draft(model, draft, prompts[i], count, k, 0, rng);
      same = same && written.tokens == alone[i];
      passes.push_back(double(written.passes) / double(count));
      if (i == 0 && k == 3) shown = written;
    }
    const double time = seconds_of([&] { write_with_draft(model, draft, prompts[0], count, k, 0, rng); });
    best_passes = std::min(best_passes, spread_of(passes).mean);
    rows.push_back({fmt::format("{}", k), spread_of(passes).str(2),
                    fmt::format("{:.0f} µs", 1e6 * time / double(count))});
  }
  lesson.table({"drafted", "passes per character", "time per character"}, rows);
  lesson.claim(same, "with every draft length all five texts are the same, character by character");
  lesson.claim(
      best_passes < 0.75,
      "instead of one pass of the large model per character, {:.2f} are enough with the longest draft",
      best_passes);
  std::vector<viz::Token> tokens = {viz::Token("Anna had a ", -1)};
  for (const Piece& piece : shown.pieces) {
    if (!piece.accepted.empty()) tokens.emplace_back(course.text.vocabulary.decode(piece.accepted), 2);
    tokens.emplace_back(course.text.vocabulary.decode({piece.last}), piece.bonus ? 0 : 1);
  }
  lesson.picture(
      "drafts.png",
      viz::token_rows(
          {{.name = "3 drafted", .detail = fmt::format("{} passes", shown.passes), .tokens = tokens}},
          {.title = "Accepted drafts",
           .legend = {{"accepted", 2}, {"one more for nothing", 0}, {"a replacement", 1}}}),
      "Accepted drafts",
      "Each green box was written by the draft. Each blue or orange character ended a pass of the large "
      "model, which would have needed a pass for every character.");

  /// With a temperature it is the distribution that stays the same. After each prompt we take p and q of our
  /// two models, and compute as above what would be written:
  worst = 0;
  double agree = 0;
  for (const std::vector<int>& prompt : prompts) {
    const std::vector<double> target = next_distribution(model, prompt, 1);
    const std::vector<TwoWays> ways = two_ways(target, next_distribution(draft, prompt, 1));
    for (Index x = 0; x < std::ssize(target); ++x) {
      agree += ways[x].accepted / double(prompts.size());
      worst = std::max(worst, std::fabs(ways[x].accepted + ways[x].drawn - target[x]));
    }
  }
  lesson.claim(worst < 1e-6,
               "of {} characters after five prompts none has another probability than p, to {:.0e}; {:.0f}% "
               "of the proposals there would be accepted",
               course.text.vocabulary.size(), worst, 100 * agree);
  /// The draft decides only how fast it goes. The longer it is, the fewer passes; but more of it is thrown
  /// away, and reading k + 1 tokens takes longer than reading one, so there is a best length. With large
  /// models texts come two to three times as fast (Leviathan et al.).
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(
      argc, argv, {.name = "19_today", .question = "What has changed since 2017, and what is it good for?"},
      [](Lesson& lesson) {
        set_thread_count(1);  // so that the time of this thread is all the time there is
        Course course{
            load_text("", lesson.fast ? 1000 : 3000, lesson.seed), {.steps = lesson.fast ? 50 : 220}, {}};
        for (int i = 1; i <= (lesson.fast ? 2 : 5); ++i)
          course.seeds.push_back(lesson.seed * 100 + std::uint64_t(i));
        const std::vector<Variant> variants = race(lesson, course);
        norms(lesson, variants);
        swiglu(lesson, variants);
        rope_pays(lesson, variants);
        grouped_queries(lesson, variants, course);
        const std::vector<Gpt>& models = variants.back().models;
        lora(lesson, course, models);
        experts(lesson, course);
        int8_weights(lesson, course, models);
        speculative_decoding(lesson, course);
        /// ## Real weights
        ///
        /// All of this is in models that you can download, and the engine runs them. If you have a folder of
        /// a published Llama (or a `stories15M.bin` of llama2.c), go on with a text of yours:
        /// `build/lessons/15_gpt --weights DIR "Once upon a time"`; `--layer 3 --head 2` draws what a head
        /// looked at. The README lists which files are needed.
        ///
        /// ## Check yourself
        ///
        /// - **Which of the changes make a model better, and what are the others for?** Here RoPE, and
        ///   SwiGLU a little. Pre-norm is for depth, RMSNorm for speed, grouped queries for the cache, and
        ///   biases are left out because large models do not need them.
        /// - **What goes in, what comes out?** Of a block, as ever: (B, T, C) and (B, T, C). LoRA: W (out,
        ///   in), A (r, in) and B (out, r) give a matrix as large as W. A router: (N, C) gives N experts
        ///   and N weights. A draft: k tokens, k + 1 distributions of the large model, and 1 to k + 1
        ///   tokens written.
        /// - **What goes wrong** without LoRA's scale, without a balance loss, with one scale for a whole
        ///   matrix, and if a rejected token is drawn anew from p? The merged model is not the trained one;
        ///   few experts get all tokens; small rows are rounded away; and the text has another distribution.
        ///
        /// ## Read on
        ///
        /// - Touvron et al., 2023: *LLaMA: open and efficient foundation language models*. The block.
        /// - Shazeer, 2020: *GLU variants improve transformer*.
        /// - Hu et al., 2021: *LoRA: low-rank adaptation of large language models*.
        /// - Fedus, Zoph and Shazeer, 2021: *Switch transformers: scaling to trillion parameter models with
        ///   simple and efficient sparsity*.
        /// - Dettmers et al., 2022: *LLM.int8(): 8-bit matrix multiplication for transformers at scale*.
        /// - Leviathan, Kalman and Matias, 2023: *Fast inference from transformers via speculative decoding*.
        lesson.try_next(
            {{"In one_change_each, set `config.d_ff` to 4 * config.d_model for SwiGLU.",
              "Its loss falls further, and the claim of equal weights breaks: half as many weights again."},
             {"In fine_tuning.cpp, add a way of rank 16.",
              "More of what full training gives, for nearly as many numbers: at C = 32 it saves nothing."},
             {"In drafts.cpp, in write_with_draft, always accept.",
              "Fewest passes of all, and the texts are the draft's: the claim of equal texts breaks."}});
      });
}
