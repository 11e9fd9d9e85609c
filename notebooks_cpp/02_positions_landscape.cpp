// %% [markdown]
// # Positions as a landscape
//
// Attention is blind to order: shuffle the words, and it sees the same. So every transformer brings a
// map, on which each word finds its place. There are five well-known maps, and they could hardly look
// more different: a table of waves, a turning wheel, a slope. *What do they have in common?*
//
// Here we walk through the landscape instead of proving anything. Every picture has a number you can
// change.
//
// ## What we need
//
// The waves of the paper, but with a base of your own in place of the famous 10,000:
//
// $$\mathrm{PE}(p, 2i) = \sin(p \, \omega_i), \qquad \mathrm{PE}(p, 2i+1) = \cos(p \, \omega_i), \qquad \omega_i = \text{base}^{-2i/C}$$

// %%
#include <cmath>  // cos, pow, sin, sqrt

#include "nn/positions.hpp"
#include "notebooks_cpp/notebook.hpp"

using namespace attn;

Tensor waves(Index length, Index channels, double base) {  // (length, C)
  const Tensor table = zeros({length, channels});
  for (Index p = 0; p < length; ++p)
    for (Index c = 0; c < channels; ++c) {
      const double angle = double(p) * std::pow(base, -double(c - c % 2) / double(channels));
      table(p, c) = real(c % 2 ? std::cos(angle) : std::sin(angle));
    }
  return table;
}

// %% [markdown]
// A sine and its cosine are the hand of a clock: the sine says how far it points to the right, the
// cosine how far up. So a place is a row of clocks, and this draws them.

// %%
viz::Image draw_clocks(const Tensor& table, const std::vector<Index>& places, const std::string& title) {
  const int clocks = int(table.size(1) / 2), step = 62, left = 90, top = 80;
  viz::Image image(left + clocks * step + 20, top + int(places.size()) * step + 10);
  viz::draw_text(image, {20, 26}, title, {.size = 17, .bold = true});
  for (int i = 0; i < clocks; ++i)
    viz::draw_text(image, {left + (i + 0.5) * step, top - 18.0}, fmt::format("clock {}", i),
                   {.size = 12, .color = viz::paint::muted, .align = Align::center});
  for (std::size_t row = 0; row < places.size(); ++row) {
    const double y = top + (double(row) + 0.5) * step;
    viz::draw_text(image, {left - 16.0, y}, fmt::format("place {}", places[row]),
                   {.size = 13, .align = Align::right});
    for (int i = 0; i < clocks; ++i) {
      const viz::Point middle{left + (i + 0.5) * step, y};
      const double right = table(places[row], 2 * i), up = table(places[row], 2 * i + 1);
      viz::fill_circle(image, middle, 26, viz::paint::faint);
      viz::fill_circle(image, middle, 24.5, viz::paint::white);
      viz::line(image, middle, {middle.x + 21 * right, middle.y - 21 * up}, {viz::palette(i), 3});
    }
  }
  return image;
}

// %% [markdown]
// And two ways to ask a map a question. How alike are two places, as a function of the distance between
// them? And: if somebody shakes the table, which share of the places can still be told?

// %%
viz::Series by_distance(const std::string& name, const Tensor& table, Index distances) {
  viz::Series series{.name = name};
  for (Index d = 0; d < distances; ++d) series.y.push_back(sum(table[0] * table[d]).item());
  return series;
}

double still_read(const Tensor& table, double noise, Rng& rng) {
  const Tensor shaken = table + normal(table.shape(), rng, 0, real(noise));
  const IntTensor guesses = argmax(matmul(shaken, table, Transpose::second));  // the place most alike
  Index right = 0;
  for (Index p = 0; p < table.size(0); ++p) right += guesses[p] == p;
  return double(right) / double(table.size(0));
}

// %% [markdown]
// Further down a word meets copies of a word at every distance. `rope` of the library turns them:

// %%
Tensor rope_scores(const Tensor& query, const Tensor& key, Index distances) {  // (D), (D) -> (distances)
  const Index D = query.numel();
  const Tensor keys = rope(broadcast_to(reshape(key, {1, 1, D}), {1, distances, D}), 1);
  return matmul(keys[0], query);
}

// %% tags=["active-cpp"]
int main(int argc, char** argv) { return notebook::run(argc, argv, "02_positions_landscape", [] {

// %% [markdown]
// ## The sea
//
// **Change this and run again:** `base`. With 100 the waves on the right come alive, with 1,000,000
// they go to sleep.

// %%
const Index length = 100, C = 64;
const double base = 10000;
const Tensor table = waves(length, C, base);
fmt::print("largest difference from the library's table: {:.1e}\n",
           max_difference(table, sinusoidal_table(length, C)));
notebook::show(viz::heatmap(matrix_of(table), {.title = "One row for each place", .x_title = "channel",
                                               .y_title = "place", .colors = viz::Colors::diverging,
                                               .low = -1, .high = 1}),
               "Read a row from left to right: quick waves first, then slower and slower ones.");

// %% [markdown]
// ## The clocks
//
// The same table with only 16 channels, that is, 8 clocks. From one row to the next the place doubles.

// %%
const Tensor wall = waves(129, 16, base);
notebook::show(draw_clocks(wall, {0, 1, 2, 4, 8, 16, 32, 64}, "Eight clocks tell the place"),
               "All hands start upright. The first clock is the second hand, the last one the calendar.");

// %% [markdown]
// How long does a clock take to go round? In steps:

// %%
for (Index i = 0; i < 8; ++i)
  fmt::print("clock {}: once in {:10.1f} places\n", i, 2 * M_PI * std::pow(base, 2.0 * double(i) / 16));

// %% [markdown]
// ## Shake it
//
// A place is written in many clocks at once, and that is worth something. Add noise to every channel
// and read the place back from what is left. The numbers of the table lie between $-1$ and $1$. How
// much noise can it take before a thousand places get mixed up?

// %%
Rng rng(notebook::seed());
const Index places = notebook::fast() ? 200 : 1000;
std::vector<viz::Series> robust;
for (const Index channels : {4, 16, 64, 256}) {
  const Tensor map = waves(places, channels, base);
  viz::Series series{.name = fmt::format("{} channels", channels), .points = true};
  for (double noise = 0; noise < 2.05; noise += 0.1) {
    series.x.push_back(noise);
    series.y.push_back(100 * still_read(map, noise, rng));
  }
  robust.push_back(series);
}
notebook::show(viz::line_chart(robust, {.title = fmt::format("{} places, shaken and read back", places),
                                        .x_title = "deviation of the noise, on every channel",
                                        .y_title = "% of places read exactly", .y_low = 0}),
               "Nothing was trained. The place survives because it is spread over all channels.");

// %% [markdown]
// This is why the table can simply be *added* to the words: to a clock, a word is noise. The wider the
// model, the less they are in each other's way.
//
// ## Hills and valleys
//
// How alike are two places? Their product depends on the distance alone,
// $\mathrm{PE}_m \cdot \mathrm{PE}_n = \sum_i \cos(\omega_i (m - n))$, and it looks like this:

// %%
const Tensor alike = matmul(table, table, Transpose::second);  // (length, length)
notebook::show(viz::heatmap(matrix_of(alike), {.title = "How alike are two places?", .x_title = "place n",
                                               .y_title = "place m", .value_title = "product"}),
               "A ridge along the diagonal, the same height everywhere: each place is nearest to itself.");

// %% [markdown]
// Beside the ridge, does it go down for ever? That depends on the clocks. Small bases have no slow
// clock, and a table of random numbers, which is what a *learned* table is on its first day, has no
// clocks at all:

// %%
const Tensor random_table = normal({200, C}, rng, 0, real(std::sqrt(0.5)));
notebook::show(viz::line_chart({by_distance("base 10", waves(200, C, 10), 200),
                                by_distance("base 10,000", waves(200, C, 10000), 200),
                                by_distance("base 1,000,000", waves(200, C, 1000000), 200),
                                by_distance("random", random_table, 200)},
                               {.title = "Cuts through the landscape", .x_title = "distance",
                                .y_title = "product"}),
               "The higher the base, the wider the hill. Random places are strangers to their neighbours.");

// %% [markdown]
// **The surprise is far away.** With few clocks there comes a place where all hands point *nearly*
// where they pointed before. Place 0 has a double, and who reads the clocks in a hurry takes one for
// the other:

// %%
const Index far = notebook::fast() ? 1000 : 4000;
for (const Index channels : {4, 8, 16, 64})
  for (const double b : {10.0, 10000.0}) {
    const viz::Series hill = by_distance("", waves(far, channels, b), far);
    Index twin = 10;
    for (Index d = 10; d < far; ++d)
      if (hill.y[d] > hill.y[twin]) twin = d;
    fmt::print("{:2} clocks, base {:5}: of all places from 10 on, {:4} is most like place 0: {:5.1f}%\n",
               channels / 2, b, twin, 100 * hill.y[twin] / hill.y[0]);
  }

// %% [markdown]
// Many clocks rarely agree: that is why a model does not use two.
//
// **Change this and run again:** put your own numbers of channels and bases into the two lists. Can you
// find a place that is 99.9% like place 0?
//
// ## The wheel
//
// RoPE adds nothing. It takes a query or a key, two channels at a time, and *turns* each pair by an
// angle that grows with the place. Here are three pairs of a head with 32 channels, all starting at the
// same point:

// %%
const Index D = 32, walk = 14;
const Tensor start = reshape(waves(1, D, base), {1, 1, D});  // every pair is (0, 1)
std::vector<viz::Series> wheels;
for (const Index pair : {0, 3, 6}) {
  viz::Series series{.name = fmt::format("pair {}", pair), .points = true};
  for (Index p = 0; p < walk; ++p) {
    const Tensor turned = rope(start, 1, p);
    series.x.push_back((1 + 0.1 * double(pair)) * turned(0, 0, 2 * pair));
    series.y.push_back((1 + 0.1 * double(pair)) * turned(0, 0, 2 * pair + 1));
  }
  wheels.push_back(series);
}
notebook::show(viz::line_chart(wheels, {.title = fmt::format("A walk of {} places", walk),
                                        .x_title = "first channel of the pair",
                                        .y_title = "second channel", .x_low = -2, .x_high = 2, .y_low = -2,
                                        .y_high = 2, .width = 560, .height = 580}),
               "Same clocks, other use. (Outer circles are drawn larger only to tell them apart.)");

// %% [markdown]
// **A surprise, if you look closely:** take a row of the *wave* table and turn it with RoPE by $k$
// places. What comes out?

// %%
const Tensor sea = waves(100, D, base);
for (const Index k : {1, 7, 30}) {
  const Tensor turned = reshape(rope(reshape(sea[40], {1, 1, D}), 1, k), {D});
  fmt::print("place 40, turned by {:2}: differs from place {} by {:.1e}\n", k, 40 - k,
             max_difference(turned, sea[40 - k]));
}

// %% [markdown]
// Another row of the same table. Turning *is* walking: the waves and the wheel are one idea. The waves
// are where you are, the wheel is how you get there.
//
// So what does a word see that looks at copies of itself, 0, 1, 2, … places away? And at another word?

// %%
const Index reach = 200;
Tensor same_word = zeros({reach}), other_word = zeros({reach});
const int meetings = notebook::fast() ? 20 : 200;
for (int n = 0; n < meetings; ++n) {
  const Tensor word = normal({D}, rng), stranger = normal({D}, rng);
  same_word = same_word + rope_scores(word, word, reach) / real(meetings);
  other_word = other_word + rope_scores(word, stranger, reach) / real(meetings);
}
const Tensor one = normal({D}, rng);
viz::Series twice_waves = by_distance("waves, twice", waves(reach, D, base) * std::sqrt(real{2}), reach);
twice_waves.dashed = true;
notebook::show(viz::line_chart({{.name = "itself, mean of many words", .y = same_word.values()},
                                {.name = "itself, one word", .y = rope_scores(one, one, reach).values()},
                                {.name = "another word, mean", .y = other_word.values()}, twice_waves},
                               {.title = "RoPE: the score of a word by distance", .x_title = "distance",
                                .y_title = "score"}),
               "Compare the mean with the dashed hill of the waves. A single word has hills of its own.");

// %% [markdown]
// ## The slope
//
// ALiBi is the shortest of all: subtract $m$ points for each step of distance, with another slope $m$
// in each head. No waves, no wheel. How far does a head see when all words are equally interesting?

// %%
const Index H = 8, T = 400;
const Tensor view = softmax(alibi_bias(H, T, T));  // (H, T, T)
std::vector<viz::Series> views;
for (Index h = 0; h < H; ++h) {
  viz::Series series{.name = fmt::format("head {}", h + 1)};
  for (Index d = 0; d < T; ++d) series.y.push_back(view(h, T - 1, T - 1 - d));
  double seen = 0;
  Index steps = 0;
  while (seen < 0.9 && steps < T) seen += series.y[steps++];
  fmt::print("head {}: slope {:.4f}, 90% of its attention within {:3} places\n", h + 1,
             alibi_slopes(H)[h], steps);
  views.push_back(series);
}
notebook::show(viz::line_chart(views, {.title = "ALiBi: what the last word sees", .x_title = "places back",
                                       .y_title = "weight", .y_scale = viz::Scale::log10, .x_high = 120,
                                       .y_low = 1e-5}),
               "Straight lines on a logarithmic axis: each step back costs the same factor. Some heads are "
               "short-sighted, some see far.");

// %% [markdown]
// **Change this and run again:** `H`. With 2 heads there is only near and far; with 16 the slopes fill
// in.
//
// ## All maps on one table
//
// One word, repeated everywhere, and four maps of how strongly place $m$ is drawn to place $n$ (T5
// learns a number for each of its buckets; the picture shows which bucket):

// %%
const Index side = 48;
viz::Matrix wheel(side, side), buckets(side, side);
for (Index m = 0; m < side; ++m)
  for (Index n = 0; n < side; ++n) {
    wheel(m, n) = float(same_word(std::abs(m - n)));
    buckets(m, n) = float(t5_bucket(n - m, true));
  }
const viz::HeatmapOptions small{.x_title = "place n", .y_title = "place m", .color_bar = false, .cell = 5};
viz::HeatmapOptions titled[] = {small, small, small, small};
titled[0].title = "waves", titled[1].title = "RoPE";
titled[2].title = "ALiBi, head 4", titled[3].title = "T5, buckets";
const Tensor corner = slice(slice(alike, 0, 0, side), 1, 0, side);
notebook::show(viz::row({viz::heatmap(matrix_of(corner), titled[0]), viz::heatmap(wheel, titled[1]),
                         viz::heatmap(matrix_of(alibi_bias(H, side, side), {3}), titled[2]),
                         viz::heatmap(buckets, titled[3])}),
               "One thing they have in common: nothing changes along the diagonals. Only distance counts.");

// %% [markdown]
// That is what they have in common. They differ in what they say about distances that nobody has walked
// yet: waves and wheels come round again, slopes go on for ever, buckets end. And that decides what
// happens to a model that reads more words than it was trained on. Lesson 09 trains all of them on
// short rows, and then hands them long ones.
//
// ## Play on
//
// * Give the clocks picture the places `{0, 44, 88}`: the first clock has gone round seven and fourteen
//   times, and is nearly upright again each time. $44 / 7$ is almost $2 \pi$.
// * Shake only the slow half of the channels in `still_read`, then only the quick half. Which half do
//   you miss more if you want the exact place? And if it is enough to know the place roughly?
// * In `rope_scores`, turn the query, too:
//   `matmul(keys[0], rope(reshape(query, {1, 1, D}), 1, 5)[0][0])`. The top of the hill moves to place
//   5: the query stands there now.

// %% tags=["active-cpp"]
}); }
