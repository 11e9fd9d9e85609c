// %% [markdown]
// # Attention by hand
//
// > The trophy does not fit the suitcase because it is **big**.
//
// What is big? You did not hesitate: the trophy. Now put *small* in place of *big*, and the same `it`
// is the suitcase. One word at the end of the sentence has turned another word around.
//
// How could something that only multiplies and adds do this? Here you write the sentence, you say in a
// small table what each word is, and you decide who asks for what. Nothing is learned, everything is in
// your hands. Change a line, run again, and see who looks at whom.
//
// ## What we need
//
// A word becomes a row of numbers, its *features*, taken from a table. Words that are not in the table
// are rows of zeros: glue.

// %%
#include <algorithm>  // find, max
#include <cmath>      // exp, fabs, sqrt
#include <iterator>  // ssize
#include <map>        // map

#include "core/ops.hpp"
#include "lessons/support/lesson.hpp"  // matrix_of
#include "nn/attention.hpp"
#include "nn/text/characters.hpp"  // split_at_spaces
#include "notebooks_cpp/notebook.hpp"

using namespace attn;
using Words = std::vector<std::string>;
using Table = std::map<std::string, std::vector<real>>;

Words words_of(const std::string& sentence) {
  Words words;
  for (const auto& word : split_at_spaces(sentence)) words.emplace_back(word);
  return words;
}

Index place_of(const Words& words, const std::string& word) {
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) fail("there is no `{}` here: have another look at the names you wrote", word);
  return found - words.begin();
}

Tensor vectors_of(const Words& words, const Table& table, Index features) {  // (T, C)
  const Tensor x = zeros({std::ssize(words), features});
  for (std::size_t t = 0; t < words.size(); ++t)
    if (const auto row = table.find(words[t]); row != table.end())
      for (std::size_t c = 0; c < row->second.size(); ++c) x(t, c) = row->second[c];
  return x;
}

// %% [markdown]
// A *wish* says who looks for what, and how hard: `{"refers", "thing", 9}` means that a word which
// refers to something looks for a thing. Wishes are the entries of the matrix $W_Q$ that makes queries,
// $q = x W_Q$. To keep our hands free, keys and values are the words themselves: $k = v = x$.

// %%
struct Wish {
  std::string who, what;
  real strength;
};

Tensor wishes(const Words& features, const std::vector<Wish>& list) {  // (C, C)
  const Index C = std::ssize(features);
  const Tensor w_query = zeros({C, C});
  for (const Wish& wish : list)
    w_query(place_of(features, wish.who), place_of(features, wish.what)) = wish.strength;
  return w_query;
}

struct Look {
  Tensor weights, output;  // (T, T), (T, C)
};

Look look(const Tensor& x, const Tensor& w_query) {
  const Shape one{1, 1, x.size(0), x.size(1)};  // one sentence, one head
  const Tensor q = reshape(matmul(x, w_query), one), k = reshape(x, one);
  const AttentionResult result = scaled_dot_product_attention(q, k, k);
  return {result.weights[0][0], result.output[0][0]};
}

std::string favourite(const Tensor& weights, const Words& words) {  // (T): "trophy 86%"
  const int best = argmax(weights)[0];
  return fmt::format("{} {:.0f}%", words[best], 100 * weights(best));
}

// %% tags=["active-cpp"]
int main(int argc, char** argv) { return notebook::run(argc, argv, "01_attention_by_hand", [] {

// %% [markdown]
// ## Your sentence, your table
//
// **These two are yours.** Write another sentence, give its words features of your own, and name the
// word `who` whose look is followed below.

// %%
const std::string sentence = "the trophy does not fit the suitcase because it is big";
const std::string who = "it";
const Words features = {"thing", "goes in", "holds", "big", "small", "not", "refers"};
const Table table = {
    {"trophy",   {1, 1, 0, 0, 0, 0, 0}},
    {"suitcase", {1, 0, 1, 0, 0, 0, 0}},
    {"big",      {0, 0, 0, 1, 0, 0, 0}},
    {"small",    {0, 0, 0, 0, 1, 0, 0}},
    {"not",      {0, 0, 0, 0, 0, 1, 0}},
    {"it",       {0, 0, 0, 0, 0, 0, 1}},
};

// %%
const Words words = words_of(sentence);
const Index T = std::ssize(words), C = std::ssize(features);
const Tensor x = vectors_of(words, table, C);  // (T, C)
notebook::show(viz::heatmap(matrix_of(x), {.title = "The sentence, as numbers",
                                           .x_title = "feature", .y_title = "word",
                                           .row_labels = words, .column_labels = features,
                                           .value_title = "how much of it", .cell = 34}),
               "A row for each word, a column for each feature. Dark rows are glue.");

// %% [markdown]
// ## One word looks around
//
// Five steps, with loops and a calculator's patience: a query, its product with every key, the division
// by $\sqrt{d}$, the exponential, and the share of the sum:
//
// $$s_j = \frac{q \cdot k_j}{\sqrt{d}}, \qquad w_j = \frac{e^{s_j}}{\sum_i e^{s_i}}$$

// %%
const Tensor asks = wishes(features, {{"refers", "thing", 9}});
const Index me = place_of(words, who);
const Tensor q = matmul(x[me], asks);  // (C)
std::vector<double> scores(words.size()), weights(words.size());
double total = 0;
for (Index j = 0; j < T; ++j) {
  double product = 0;
  for (Index c = 0; c < C; ++c) product += q(c) * x(j, c);
  scores[j] = product / std::sqrt(double(C));
  total += std::exp(scores[j]);
}
for (Index j = 0; j < T; ++j) weights[j] = std::exp(scores[j]) / total;
fmt::print("`{}` looks at     score     e^score   weight\n", who);
for (Index j = 0; j < T; ++j)
  fmt::print("  {:<14} {:7.2f} {:11.2f}   {:5.1f}%\n", words[j], scores[j], std::exp(scores[j]),
             100 * weights[j]);

// %% [markdown]
// The library does the same for all words at once. Two matrix products and a softmax:
//
// $$\mathrm{Attention}(Q, K, V) = \mathrm{softmax}\left(\frac{Q K^\top}{\sqrt{d}}\right) V$$

// %%
const Look once = look(x, asks);
double worst = 0;
for (Index j = 0; j < T; ++j) worst = std::max(worst, std::fabs(weights[j] - double(once.weights(me, j))));
fmt::print("largest difference between your loops and the library: {:.1e}\n", worst);
notebook::show(viz::heatmap(matrix_of(once.weights), {.title = "Who looks at whom",
                                                      .x_title = "the word that is looked at",
                                                      .y_title = "the word that asks",
                                                      .row_labels = words, .column_labels = words,
                                                      .low = 0, .value_title = "weight"}),
               "Each row sums to 1. A word without a wish looks at everything alike: an even row.");

// %% [markdown]
// `it` found the two things and cannot choose. Fair enough: it asked for things, no more.
//
// **Change this and run again:** the strength 9. With 0 nobody wishes anything; with 90 the softmax
// lets nothing else through. Here is every strength at once:

// %%
const Words strengths = {"0", "1", "2", "4", "6", "9", "12", "16", "30"};
viz::Matrix dial(std::ssize(strengths), T);
for (Index i = 0; i < dial.rows; ++i) {
  const Look at_this = look(x, wishes(features, {{"refers", "thing", std::stof(strengths[i])}}));
  for (Index j = 0; j < T; ++j) dial(i, j) = 100 * at_this.weights(me, j);
}
notebook::show(viz::heatmap(dial, {.title = fmt::format("How hard does `{}` wish?", who),
                                   .x_title = "the word that is looked at", .y_title = "strength of the wish",
                                   .row_labels = strengths, .column_labels = words, .low = 0,
                                   .value_title = "% of its attention", .numbers = true, .decimals = 0}),
               "From a mean over everything to a choice, without a jump. That is why it can be learned.");

// %% [markdown]
// ## The first surprise
//
// Now turn the sentence around: *small* for *big*. You change your mind about `it`. Does `it`?

// %%
Words turned = words;
for (std::string& word : turned) word = word == "big" ? "small" : word == "small" ? "big" : word;
const Look other = look(vectors_of(turned, table, C), asks);
fmt::print("{:<14} … {:<10} … {}\n", fmt::format("`{}` looks at", who), words.back(), turned.back());
for (Index j = 0; j < T; ++j)
  fmt::print("  {:<12} {:6.1f}%     {:6.1f}%\n",
             words[j] == turned[j] ? words[j] : words[j] + "/" + turned[j], 100 * once.weights(me, j),
             100 * other.weights(me, j));

// %% [markdown]
// Not a digit has moved. It could not: the query of `it` is made of `it` alone. Whatever stands
// elsewhere in the sentence, this word asks the same question. **One look can find, but it cannot
// reconsider.**
//
// ## Look twice
//
// So let it look twice. In the first look, `it` asks what is said about it, and *adds* what it finds to
// itself: $x' = x + \mathrm{Attention}(x)$. In the second look, the new `it` asks a new question. Who
// is big looks for what should go in; who is small looks for what should hold.

// %%
const Tensor first = wishes(features, {{"refers", "big", 12}, {"refers", "small", 12}});
const Tensor second = wishes(features, {{"big", "goes in", 12}, {"small", "holds", 12}});
std::vector<viz::BarSeries> bars;
for (const Words& version : {words, turned}) {
  const Tensor before = vectors_of(version, table, C);
  const Tensor after = before + look(before, first).output;
  const Look again = look(after, second);
  fmt::print("… {:<6} first `{}` becomes (big {:.2f}, small {:.2f}), then it looks most at: {}\n",
             version.back(), who, after(me, place_of(features, "big")),
             after(me, place_of(features, "small")), favourite(again.weights[me], version));
  bars.push_back({.name = "… " + version.back(), .values = (again.weights[me] * 100).values()});
}

// %%
notebook::show(viz::grouped_bar_chart(words, bars,
                                      {.title = fmt::format("The second look of `{}`", who),
                                       .value_title = "% of its attention", .numbers = false}),
               "The last word of the sentence decides where a word in the middle of it looks.");

// %% [markdown]
// This is why transformers are stacked: the first layer tells words about each other, and only then can
// the second ask a question that depends on the sentence.
//
// **Change this and run again:** set the two strengths of `first` to 3. `it` hears little of *big* or
// *small*, asks softly, and looks nearly everywhere. Layers have to trust each other.
//
// ## The second surprise
//
// > The trophy **fits** the suitcase because it is big.
//
// Now it is the suitcase that is big! There are four sentences, and a reader has four answers:

// %%
struct Riddle {
  std::string sentence, answer;
};
const std::vector<Riddle> riddles = {{"the trophy does not fit the suitcase because it is big", "trophy"},
                                     {"the trophy does not fit the suitcase because it is small", "suitcase"},
                                     {"the trophy fits the suitcase because it is big", "suitcase"},
                                     {"the trophy fits the suitcase because it is small", "trophy"}};
const Tensor hears_not =
    wishes(features, {{"refers", "big", 12}, {"refers", "small", 12}, {"refers", "not", 12}});
for (const Riddle& riddle : riddles) {
  const Words w = words_of(riddle.sentence);
  const Tensor start = vectors_of(w, table, C);
  const Tensor seen = look(start + look(start, hears_not).output, second).weights[place_of(w, "it")];
  const bool trophy = seen(place_of(w, "trophy")) > seen(place_of(w, "suitcase"));
  fmt::print("{:<58} says {:<9} you say {}\n", riddle.sentence, trophy ? "trophy," : "suitcase,",
             riddle.answer);
}

// %% [markdown]
// Two of four, although `it` hears the *not*. Perhaps the second look has the wrong wishes? Let chance
// search: thousands of second looks, with every one of the $7 \times 7$ entries drawn at random.

// %%
Rng rng(notebook::seed());
const int tries = notebook::fast() ? 300 : 3000;
std::vector<int> solved(riddles.size() + 1, 0);
for (int attempt = 0; attempt < tries; ++attempt) {
  const Tensor guess = normal({C, C}, rng, 0, 12);
  std::size_t right = 0;
  for (const Riddle& riddle : riddles) {
    const Words w = words_of(riddle.sentence);
    const Tensor start = vectors_of(w, table, C);
    const Tensor seen = look(start + look(start, hears_not).output, guess).weights[place_of(w, "it")];
    right += (seen(place_of(w, "trophy")) > seen(place_of(w, "suitcase"))) == (riddle.answer == "trophy");
  }
  ++solved[right];
}
for (std::size_t n = 0; n < solved.size(); ++n) fmt::print("{} of 4 right: {:5} times\n", n, solved[n]);

// %% [markdown]
// None has all four, and none ever will. `it` prefers the trophy if a certain sum is positive:
// $a \cdot \text{big} + b \cdot \text{small} + c$, where $c$ collects all that does not change when
// *big* becomes *small*. With *not*, the first two riddles ask for $a > b$. Without it, the last two
// ask for $b > a$. A *not* can shift the sum. It cannot turn it around.
//
// ## The missing piece
//
// What is needed is a bend: something that happens only if `big` is there **and** `not` is not. One
// hidden unit with a ReLU does it, $\max(0, \text{big} - 2 \, \text{not})$, and another one for
// `small`. When such a unit fires, it exchanges big for small. Two units, applied to each word on its
// own, between the two looks:

// %%
const Index big = place_of(features, "big"), small = place_of(features, "small");
const Index no = place_of(features, "not");
const Tensor bend = zeros({2, C}), swap = zeros({C, 2});
bend(0, big) = 1, bend(0, no) = -2;     // fires for a big without a not
bend(1, small) = 1, bend(1, no) = -2;   // fires for a small without a not
swap(big, 0) = -1, swap(small, 0) = 1;  // what was big counts as small
swap(big, 1) = 1, swap(small, 1) = -1;  // and the other way round
for (const Riddle& riddle : riddles) {
  const Words w = words_of(riddle.sentence);
  const Tensor start = vectors_of(w, table, C);
  const Tensor heard = start + look(start, hears_not).output;
  const Tensor worked = heard + linear(linear(heard, bend, {}, Activation::relu), swap);
  const Tensor seen = look(worked, second).weights[place_of(w, "it")];
  const double trophy = 100 * seen(place_of(w, "trophy")), suitcase = 100 * seen(place_of(w, "suitcase"));
  fmt::print("{:<58} trophy {:2.0f}%  suitcase {:2.0f}%  you say {}\n", riddle.sentence, trophy, suitcase,
             riddle.answer);
}

// %% [markdown]
// You have built a transformer: attention, feed-forward, attention, with residual sums around them. Its
// weights are the handful of numbers you see above. A trained one finds millions by itself, and its
// features have no names, but there is nothing in it that you have not just done by hand.
//
// ## Play on
//
// * In the table, make `it` a thing itself: `{1, 0, 0, 0, 0, 0, 1}`. In the first map it now looks at
//   itself as much as at the trophy: things that refer are found by others who refer.
// * Write `-9` for 9 in the first wish. `it` looks at everything except things.
// * Replace both $-2$ in `bend` by 0. The `not` no longer silences the units, and two riddles tip over.
// * Take a sentence of your own: *the cat chased the mouse until it was tired*. Which features would
//   `it` need? Set `who`, the table and the wishes.
//
// Lesson 06 takes these five steps apart, lesson 08 lets several looks happen at once, lesson 10 is
// about the bend. The next notebook asks what was missing all along: none of this knew the *order* of
// the words.

// %% tags=["active-cpp"]
}); }
