// %% [markdown]
// # Training dynamics
//
// Everything about a model can be right, and it still does not learn. Or it learns for a while and then
// falls off a cliff. Three knobs decide: how large the steps are, how they begin, and how deep the
// model is.
//
// *How wrong may you turn them?* On a task this small every question costs about a second. So let us
// not guess: let us turn each knob all the way, and look.
//
// ## The task: sort a hand of cards
//
// The model sees six different cards out of thirteen and a bar, then writes the same cards in order,
// one by one. It is a GPT, it guesses the next card, and it is only marked on what stands behind the
// bar.

// %%
#include <algorithm>  // min_element, sort
#include <cmath>      // fabs, log, sqrt
#include <iterator>  // ssize

#include "core/rng.hpp"  // shuffle
#include "nn/gpt.hpp"
#include "notebooks_cpp/notebook.hpp"
#include "optim/trainer.hpp"

using namespace attn;

const std::vector<std::string> deck = {"2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A", "|"};
constexpr int bar = 13, no_mark = -100;
constexpr Index cards = 6, row = 2 * cards;

struct Hands {
  IntTensor reads, writes;  // (B, T)
};

Hands deal(Index B, std::uint64_t seed) {
  Rng rng(seed);
  Hands hands{IntTensor({B, row}), IntTensor({B, row})};
  for (Index b = 0; b < B; ++b) {
    std::vector<int> hand = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    shuffle(hand, rng);
    hand.resize(cards);
    std::vector<int> line = hand;
    line.push_back(bar);
    std::sort(hand.begin(), hand.end());
    line.insert(line.end(), hand.begin(), hand.end());
    for (Index t = 0; t < row; ++t) {
      hands.reads(b, t) = line[t];
      hands.writes(b, t) = t < cards ? no_mark : line[t + 1];
    }
  }
  return hands;
}

// %% [markdown]
// A *recipe* is all that we will change. `teach` follows it, and gives back the losses. If numbers run
// away to infinity, the library stops with an error: that, too, is a result.

// %%
struct Recipe {
  double rate = 3e-3;
  Index steps = 200, layers = 2, warmup = 0;
  bool pre_norm = true;
};

Gpt make_model(const Recipe& recipe) {
  Rng rng(notebook::seed());
  return Gpt({.vocabulary = std::ssize(deck), .d_model = 32, .heads = 4, .encoder_layers = 0,
              .decoder_layers = recipe.layers, .d_ff = 64, .dropout = 0, .positions = Positions::learned,
              .max_length = row, .pre_norm = recipe.pre_norm},
             rng);
}

Tensor loss_of(const Gpt& model, const Hands& hands) {
  return cross_entropy(model(hands.reads), hands.writes, {.ignore = no_mark});
}

struct Course {
  std::vector<double> losses;
  double end = INFINITY;  // the mean of the last twenty
};

Course teach(const Gpt& model, const Recipe& recipe) {
  Course course;
  Adam adam(parameters_of(model));
  try {
    train(adam,
          {.steps = recipe.steps, .schedule = {.peak = recipe.rate, .warmup = recipe.warmup}, .clip = 0,
           .progress = false},
          {.loss = [&](Index batch) {
            const Hands hands = deal(16, 1000 * notebook::seed() + std::uint64_t(batch));
            const Tensor loss = loss_of(model, hands);
            course.losses.push_back(loss.item());
            return StepLoss{loss, 0};
          }});
    course.end = 0;
    for (auto loss = course.losses.end() - 20; loss != course.losses.end(); ++loss) course.end += *loss / 20;
  } catch (const Error&) {  // not finite any more
  }
  return course;
}

Course teach(const Recipe& recipe) { return teach(make_model(recipe), recipe); }

// How much the scores for unseen hands move (root mean square) when one step is taken.
double change_by_one_step(const Recipe& recipe) {
  const Gpt model = make_model(recipe);
  const IntTensor unseen = deal(64, 5).reads;
  const Tensor before = model(unseen).detach();
  Adam adam(parameters_of(model));
  backward(loss_of(model, deal(16, 1)));
  adam.step(recipe.rate);
  const Tensor change = model(unseen).detach() - before;
  return std::sqrt(mean(change * change).item());
}

// %% tags=["active-cpp"]
int main(int argc, char** argv) { return notebook::run(argc, argv, "03_training_dynamics", [] {

// %% [markdown]
// Two hands, as the model reads and writes them:

// %%
const Hands example = deal(2, 7);
for (Index b = 0; b < 2; ++b) {
  for (Index t = 0; t < row; ++t) fmt::print("{:>3}", deck[example.reads(b, t)]);
  fmt::print("   writes");
  for (Index t = cards; t < row; ++t) fmt::print("{:>3}", deck[example.writes(b, t)]);
  fmt::print("\n");
}

// %% [markdown]
// ## One run
//
// **Change this and run again:** any member of the recipe.

// %%
const double blind = std::log(13.0);  // the loss of somebody who takes any of 13 cards
const Recipe recipe{.rate = 5e-3, .steps = notebook::fast() ? 80 : 600};
const Gpt model = make_model(recipe);
const Course course = teach(model, recipe);
notebook::show(viz::line_chart({{.name = "loss", .y = course.losses, .smooth = 0.9}},
                               {.title = "Learning to sort", .x_title = "step", .y_title = "cross-entropy",
                                .y_low = 0, .y_guides = {{.at = blind, .label = "any card"}}}),
               fmt::format("{} numbers learn. The loss ends at {:.3f}.", parameters_of(model).count(),
                           course.end));

// %%
const Hands unseen = deal(3, 123456789);
const IntTensor answers = argmax(model(unseen.reads));  // (B, T)
for (Index b = 0; b < 3; ++b) {
  fmt::print("hand ");
  for (Index t = 0; t < cards; ++t) fmt::print("{:>3}", deck[unseen.reads(b, t)]);
  fmt::print("   it says ");
  for (Index t = cards; t < row; ++t)
    fmt::print("{:>3}{}", deck[answers(b, t)], answers(b, t) == unseen.writes(b, t) ? " " : "!");
  fmt::print("\n");
}

// %% [markdown]
// (An exclamation mark is a wrong card. Each card is guessed with the right ones before it.)
//
// ## Knob one: how large is a step?
//
// The same model, the same cards, the same number of steps. Only the learning rate differs, over four
// powers of ten:

// %%
const Index steps = notebook::fast() ? 60 : 400;
const std::vector<double> rates = {3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1};
std::vector<viz::Series> curves;
viz::Series valley{.name = fmt::format("after {} steps", steps), .x = rates, .points = true};
for (const double rate : rates) {
  const Course run = teach({.rate = rate, .steps = steps});
  valley.y.push_back(run.end);
  curves.push_back({.name = fmt::format("{:g}", rate), .y = run.losses, .smooth = 0.93});
  fmt::print("rate {:7g}: loss {:.3f}\n", rate, run.end);
}

// %%
notebook::show(viz::line_chart({curves[1], curves[3], curves[5], curves[7]},
                               {.title = "Too small, fine, and too large", .x_title = "step",
                                .y_title = "cross-entropy", .y_low = 0, .y_high = 4,
                                .y_guides = {{.at = blind, .label = "any card"}}}),
               "Which one was ahead after twenty steps? And which one in the end?");

// %%
notebook::show(viz::line_chart({valley}, {.title = "The valley of learning rates", .x_title = "learning rate",
                                          .y_title = "loss at the end", .x_scale = viz::Scale::log10,
                                          .y_scale = viz::Scale::log10,
                                          .y_guides = {{.at = blind, .label = "any card"}}}),
               "The valley has two walls. Which one would you rather run into?");

// %%
const std::size_t best = std::min_element(valley.y.begin(), valley.y.end()) - valley.y.begin();
fmt::print("best rate: {:g}, loss {:.3f}\n", rates[best], valley.y[best]);
if (best >= 2) fmt::print("about ten times less: {:g}, loss {:.3f}\n", rates[best - 2], valley.y[best - 2]);
if (best + 2 < rates.size())
  fmt::print("about ten times more: {:g}, loss {:.3f}\n", rates[best + 2], valley.y[best + 2]);

// %% [markdown]
// To the left it is slow, and more steps help. To the right, more steps may not help at all. So people
// go up until it breaks, and then a step or two back. But *why* does it break, and does it have to?
//
// ## Knob two: how does it begin?
//
// Here is what Adam does in its very first step. The gradients differ from parameter to parameter. Now
// look at the last column:

// %%
const Gpt fresh = make_model({});
Adam adam(parameters_of(fresh));
backward(loss_of(fresh, deal(16, 1)));
std::vector<std::vector<real>> before, gradients;
for (const Parameter& p : parameters_of(fresh))
  before.push_back(p.tensor.values()), gradients.push_back(p.tensor.grad().values());
adam.step(1e-3);
fmt::print("{:<44} mean |gradient|   mean |move| / rate\n", "parameter");
for (std::size_t i = 0; i < before.size(); i += 3) {
  const Parameter p = parameters_of(fresh)[i];
  double gradient = 0, move = 0, n = double(before[i].size());
  for (std::size_t k = 0; k < before[i].size(); ++k) {
    gradient += std::fabs(gradients[i][k]) / n;
    move += std::fabs(p.tensor.data()[k] - before[i][k]) / n / 1e-3;
  }
  fmt::print("{:<44} {:15.1e} {:20.3f}\n", p.name, gradient, move);
}

// %% [markdown]
// $$p \leftarrow p - \eta \, \frac{\hat m}{\sqrt{\hat v} + \epsilon}, \qquad \text{at step 1: } \hat m = g, \; \sqrt{\hat v} = |g|$$
//
// In the first step Adam knows one gradient $g$, and divides it by its own size. Every weight moves by
// the whole learning rate (unless its gradient is nothing at all, as that of a key's bias, which the
// softmax cannot feel), in the direction that sixteen hands of cards happened to suggest. Warm-up takes
// these steps on tiptoe.
//
// And a deep model feels it most. All its layers move at once, each by the whole rate, and each builds
// on those below. How much do the scores for the next card change when *one* step is taken with rate
// 0.001? There are two ways to build a layer: *post-norm*, $\mathrm{LN}(x + f(x))$, as in the first
// transformer, and *pre-norm*, $x + f(\mathrm{LN}(x))$, where the sum goes through untouched.

// %%
std::vector<viz::Series> shocks;
for (const bool pre_norm : {false, true}) {
  viz::Series series{.name = pre_norm ? "pre-norm" : "post-norm", .points = true};
  for (const Index layers : {1, 2, 4, 8, 16}) {
    series.x.push_back(double(layers));
    series.y.push_back(change_by_one_step({.rate = 1e-3, .layers = layers, .pre_norm = pre_norm}));
  }
  shocks.push_back(series);
}
notebook::show(viz::line_chart(shocks, {.title = "What the first step does", .x_title = "layers",
                                        .y_title = "change of the scores (root mean square)",
                                        .x_scale = viz::Scale::log2, .y_low = 0}),
               "The same rate, the same first batch. Only the number of layers that move together differs.");

// %% [markdown]
// So let us see what warm-up is worth where it is needed: eight layers, post-norm, a high rate.

// %%
const Index long_steps = notebook::fast() ? 60 : 400;
std::vector<viz::Series> warm;
for (const Index warmup : {0, 10, 40, 160}) {
  const Course run =
      teach({.rate = 6e-3, .steps = long_steps, .layers = 8, .warmup = warmup, .pre_norm = false});
  warm.push_back({.name = fmt::format("{} steps", warmup), .y = run.losses, .smooth = 0.93});
  fmt::print("warm-up {:3} steps: loss {:.3f}\n", warmup, run.end);
}
notebook::show(viz::line_chart(warm, {.title = "Warm-up, eight layers, post-norm", .x_title = "step",
                                      .y_title = "cross-entropy", .y_low = 0, .y_high = 3.5,
                                      .y_guides = {{.at = blind, .label = "any card"}}}),
               "The same peak rate for all. What differs is only how they came up to it.");

// %% [markdown]
// ## Knob three, and all at once: how deep?
//
// Each cell is a training of its own: rate against depth, once for each place of the norm. No warm-up.

// %%
const std::vector<double> columns = {3e-4, 1e-3, 3e-3, 1e-2, 3e-2};
const std::vector<Index> layers = {1, 2, 4, 8};
const Index map_steps = notebook::fast() ? 25 : 200;
std::vector<viz::Image> maps;
for (const bool pre_norm : {false, true}) {
  viz::Matrix ends(4, 5);
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < 5; ++j) {
      const Recipe here{.rate = columns[j], .steps = map_steps, .layers = layers[i], .pre_norm = pre_norm};
      ends(i, j) = float(teach(here).end);
    }
  maps.push_back(viz::heatmap(ends, {.title = pre_norm ? "pre-norm" : "post-norm", .x_title = "learning rate",
                                     .y_title = "layers", .row_labels = {"1", "2", "4", "8"},
                                     .column_labels = {"0.0003", "0.001", "0.003", "0.01", "0.03"}, .low = 0,
                                     .high = 2.6, .value_title = "loss at the end", .color_bar = pre_norm,
                                     .numbers = true, .cell = 62}));
}
notebook::show(viz::row(maps, {.title = "Where can it live?"}),
               "Dark is good. Bright is where nothing was learned; blind guessing has 2.56.");

// %% [markdown]
// Depth and rate are one question, not two. Look for a rate that serves one layer and drowns eight;
// then look at the same cell in the other map.
//
// ## Play on
//
// * Give both maps a warm-up (`.warmup = 60` behind `.layers = layers[i]`). Which cells of the lost
//   land come back?
// * Deal nine cards (`cards = 9`). Is that harder, with only thirteen in the deck? Does the valley
//   move?
// * Replace `.clip = 0` by `.clip = 1`. Does the cliff move? (Adam divides by the size of the gradient.
//   What is left for clipping to do?)
// * Run with `--seed 2`. Which of your conclusions survive another seed? Only those are conclusions.
//
// Lesson 04 has the optimizers, lesson 10 the norms, lesson 12 the schedule of the paper.

// %% tags=["active-cpp"]
}); }
