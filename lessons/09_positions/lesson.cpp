/// > The dog bites the man. The man bites the dog.
///
/// The same words, another story. But attention compares every word with every other, wherever they stand
/// (lesson 06): the two sentences are the same bag of words to it. Order has to be brought in from outside.
/// What would a good mark of position do?
///
/// 1. It tells positions apart, and it does not drown the word.
/// 2. It makes "three words to the left" mean the same at the start and at the end of a text.
/// 3. It still works when a text is longer than those of training.
///
/// Five schemes are in wide use. We build each of them, measure it on these three points, and let them race.
#include <algorithm>  // max, max_element, min_element
#include <cmath>      // fabs, pow, sin, sqrt
#include <complex>    // abs, conj, polar
#include <iterator>   // ssize
#include <numeric>    // accumulate

#include "core/autograd.hpp"
#include "core/error.hpp"
#include "core/ops.hpp"
#include "core/parallel.hpp"  // set_thread_count
#include "lessons/09_positions/pictures.hpp"
#include "lessons/09_positions/race.hpp"
#include "lessons/support/figures.hpp"
#include "lessons/support/lesson.hpp"
#include "optim/progress.hpp"

using namespace attn;

namespace {

// Self-attention of some words (T, C), and the mean of what comes out: what a classifier would see.
Tensor summary(const Tensor& x) {
  const Tensor h = reshape(x, {1, 1, x.size(0), x.size(1)});
  return mean(scaled_dot_product_attention(h, h, h).output[0][0], 0);  // (C)
}

/// ## One bag of words
///
/// `the dog bites the man` and `the man bites the dog`, each through self-attention, and the outputs
/// averaged:
void bag_of_words(Lesson& lesson) {
  const Tensor the = tensor({0.1, 0.0, 0.1, 0.0}), dog = tensor({1.0, 0.2, 0.0, 0.5}),
               bites = tensor({0.0, 1.0, 0.3, 0.1}), man = tensor({0.9, 0.1, 0.8, 0.0});
  const Tensor one = stack({the, dog, bites, the, man}), other = stack({the, man, bites, the, dog});
  const double without = max_difference(summary(one), summary(other));
  const Tensor positions = sinusoidal_table(5, 4);
  const double with = max_difference(summary(one + positions), summary(other + positions));
  lesson.claim(without < 1e-6, "without positions the two sentences differ by {:.0e}: who bites is lost",
               without);
  lesson.claim(with > 1e-3, "with a vector for each position added to the words, they differ by {:.3f}",
               with);
}

double cosine(const Tensor& a, const Tensor& b) {
  return sum(a * b).item() / std::sqrt(double(sum(a * a).item()) * sum(b * b).item());
}

/// ## Why not the number itself?
///
/// The simplest mark of position 37 is the number 37, added to every channel of the word there. Take two
/// random words of 64 channels, and measure the *cosine* of the angle between them: 1 if they point the same
/// way, 0 if they have nothing in common.
void plain_integers(Lesson& lesson) {
  Rng rng(lesson.seed);
  const Tensor cat = normal({64}, rng), milk = normal({64}, rng);
  const Tensor table = sinusoidal_table(1001, 64);
  std::vector<std::vector<std::string>> rows;
  double last_integer = 0, last_sine = 0;
  for (const Index position : {0, 10, 100, 1000}) {
    last_integer = cosine(cat + real(position), milk + real(position));
    last_sine = cosine(cat + table[position], milk + table[position]);
    rows.push_back({viz::format_fixed(double(position), 0), fmt::format("{:.4f}", last_integer),
                    fmt::format("{:.4f}", last_sine)});
  }
  lesson.table({"position", "cosine, number added", "sines added (see below)"}, rows);
  lesson.claim(
      last_integer > 0.999 && last_sine < 0.9,
      "at position 1,000 the number has drowned both words: their cosine is {:.4f}. With sines, which stay "
      "within ±1, it is {:.2f}",
      last_integer, last_sine);
}

// A scheme's name as its paper writes it.
std::string written(Positions scheme) {
  if (scheme == Positions::t5) return "T5";
  if (scheme == Positions::alibi) return "ALiBi";
  return scheme == Positions::rope ? "RoPE" : name_of(scheme);
}

// The mean and the range of some numbers, as text.
struct Range {
  double mean, low, high;
  explicit Range(const std::vector<double>& values)
      : mean(std::accumulate(values.begin(), values.end(), 0.0) / double(values.size())),
        low(*std::min_element(values.begin(), values.end())),
        high(*std::max_element(values.begin(), values.end())) {}
};

/// ## Learned positions: a table
///
/// Let the model learn its marks. A table P has a row for each position, as the embedding has a row for each
/// word, and both are added (Gehring et al. 2017; BERT and GPT-2 do it):
///
/// $$ x_t = E[word_t] + P[t] $$
///
/// It is simple, and it has three limits. First, the table ends: 512 rows in BERT, 1,024 in GPT-2.
void learned_table(Lesson& lesson) {
  const LastMarked ends(Positions::learned, short_length, lesson.seed);
  std::string message;
  try {
    ends(make_batch(1, short_length + 1, 1, short_length).tokens);
  } catch (const Error& error) {
    message = error.what();
  }
  lesson.claim(!message.empty(), "a table of {} rows refuses a row of {} tokens: \"{}\"", short_length,
               short_length + 1, message);

  /// Second, a row that training never reached stays random. Third, each row learns alone, from what stood
  /// at its position: nothing tells it that position 12 is much like position 4. Measure both on a small
  /// task. In a row of 16 symbols some are marked; at each position, say which symbol was the last to be
  /// marked. In training, marks stand in the first half only; the test has them in both halves. Right
  /// answers in the second half, mean and range of several trainings:
  const std::uint64_t seeds = lesson.fast ? 1 : 5;
  const Index half = short_length / 2, rows = 2 * short_length;
  std::vector<std::vector<std::string>> table;
  std::vector<Range> results;
  double moved = 0, never = 0;
  for (const Positions scheme : {Positions::learned, Positions::rope}) {
    std::vector<double> as_trained, anywhere;
    for (std::uint64_t seed = lesson.seed; seed < lesson.seed + seeds; ++seed) {
      const LastMarked model = train_model({scheme, 1e-2, 150, rows, half}, seed);
      as_trained.push_back(accuracy(model, short_length, half, seed, half));
      anywhere.push_back(accuracy(model, short_length, half, seed, short_length));
      if (scheme != Positions::learned) continue;
      const Tensor before = LastMarked(scheme, rows, seed).stack.positions.table,
                   after = model.stack.positions.table;
      moved = max_difference(slice(after, 0, 0, short_length), slice(before, 0, 0, short_length));
      never = max_difference(slice(after, 0, short_length, rows), slice(before, 0, short_length, rows));
    }
    table.push_back({written(scheme)});
    for (const auto& values : {as_trained, anywhere}) {
      const Range range(values);
      table.back().push_back(fmt::format("{:.0f}% ({:.0f} to {:.0f}%)", range.mean, range.low, range.high));
    }
    results.emplace_back(anywhere);
  }
  lesson.table({"scheme", "marks as in training", "marks in both halves"}, table);
  lesson.claim(never == 0 && moved > 0.1,
               "training moved the rows 0 to {} by up to {:.1f}, the rows {} to {} by {:.0f}",
               short_length - 1, moved, short_length, rows - 1, never);
  lesson.claim(
      results[0].high < results[1].low - 5,
      "the learned table has never seen a mark at positions {} to {} and gets {:.0f}% right; a scheme that "
      "knows distances only (RoPE, below) gets {:.0f}%",
      half, short_length - 1, results[0].mean, results[1].mean);
}

/// ## From a binary counter to sines
///
/// Can a position be written so that nothing has to be learned and nothing grows? Computers write numbers in
/// bits. The last bit flips at every step, the next at every second step, then every fourth:
void binary_counter(Lesson& lesson) {
  std::vector<std::string> positions;
  for (Index p = 0; p < 8; ++p) positions.push_back(fmt::format("{}", p));
  Tensor bits = zeros({8, 3});
  for (Index p = 0; p < 8; ++p)
    for (Index bit = 0; bit < 3; ++bit) bits(p, bit) = real(p >> bit & 1);
  lesson.numbers(bits, positions, {"bit 0", "bit 1", "bit 2"}, 0);
  bool same = true;
  for (Index p = 0; p < 64; ++p)
    for (Index bit = 0; bit < 6; ++bit)
      same = same && (std::sin(2 * M_PI * (double(p) + 0.5) / double(2 << bit)) < 0) == (p >> bit & 1);
  lesson.claim(
      same,
      "bit i is a wave of period 2^(i+1): it is 1 where sin(2π (p + ½) / 2^(i+1)) is negative, for all "
      "of 64 positions and 6 bits");

  /// Bits are hard sines. They jump: from 7 to 8 four bits change at once, from 8 to 9 one. Soft sines of
  /// growing period say the same, and neighbours stay neighbours.
}

// The table without a single sine. Each pair of channels is the hand of a clock, a complex number of length
// 1; from one position to the next the hand of clock i turns by ω_i, a multiplication by e^(iω).
Tensor turn_clocks(Index length, Index C) {
  Tensor table = empty({length, C});
  for (Index clock = 0; clock < C / 2; ++clock) {
    const std::complex<double> step = std::polar(1.0, std::pow(10000.0, -2.0 * double(clock) / double(C)));
    std::complex<double> hand = 1;  // at position 0
    for (Index p = 0; p < length; ++p, hand *= step) {
      table(p, 2 * clock) = real(hand.imag());
      table(p, 2 * clock + 1) = real(hand.real());
    }
  }
  return table;
}

/// ## Sinusoidal positions: clocks
///
/// Vaswani et al. (2017) take sines and cosines whose periods grow from 2π to about 10,000 · 2π:
///
/// $$ PE(p, 2i) = sin(p ω_i),   PE(p, 2i+1) = cos(p ω_i),   ω_i = 10000^(−2i/C) $$
void sinusoids(Lesson& lesson) {
  lesson.say(
      "A sine and its cosine are the hand of a clock. With C = 64 channels there are 32 clocks: the first "
      "goes round once in {:.1f} positions, the last once in {}. Fast clocks tell neighbours apart, slow "
      "ones tell the beginning from the end, as bits do.",
      2 * M_PI, viz::format_fixed(2 * M_PI * std::pow(10000.0, 62.0 / 64), 0));
  const Index C = 64, length = 200;
  const Tensor table = sinusoidal_table(length, C);
  const double difference = max_difference(table, turn_clocks(length, C));
  lesson.claim(difference < 1e-5,
               "clocks that turn a little further with each row give the library's table: difference {:.1g}",
               difference);
  lesson.picture("sinusoids.png", bits_and_sines(slice(table, 0, 0, 50)), "Sinusoidal positions",
                 "Each row is one of 50 positions. Left, as bits: the first flips at every position, the "
                 "last every 32. Right, as sines and cosines: fast clocks first; those at the right have "
                 "hardly moved, sine still 0, cosine still 1.");

  /// How alike are two positions? Since sin a sin b + cos a cos b = cos(a − b), the product of two rows is
  ///
  /// $$ PE_m · PE_n = Σ_i cos(ω_i (m − n)) $$
  const Tensor products = matmul(table, table, Transpose::second);  // (length, length)
  double worst = 0, largest_elsewhere = 0;
  for (Index m = 0; m < length; ++m)
    for (Index n = 0; n < length; ++n) {
      worst = std::max(worst, std::fabs(double(products(m, n) - products(std::abs(m - n), 0))));
      if (m != n) largest_elsewhere = std::max(largest_elsewhere, double(products(m, n)));
    }
  lesson.claim(worst < 1e-4, "over all pairs of {} positions it depends on the distance alone, to {:.1e}",
               length, worst);
  lesson.claim(largest_elsewhere < products(0, 0) - 0.5,
               "and peaks where m = n: {:.1f} = C/2, elsewhere at most {:.1f}", products(0, 0),
               largest_elsewhere);
  lesson.picture("products.png", products_by_distance(products, {20, 100, 180}),
                 "Dot products of sinusoidal positions",
                 "Left: three curves, each with its peak at n = m. Right: drawn against the distance they "
                 "are one curve. Near positions are the most alike.");
}

// The one matrix (C, C) that moves every row of the table on by k: a turn by kω_i in each pair of channels.
Tensor shift_matrix(Index C, double k) {
  Tensor matrix = zeros({C, C});
  for (Index i = 0; i < C / 2; ++i) {
    const std::complex<double> turn = std::polar(1.0, k * std::pow(10000.0, -2.0 * double(i) / double(C)));
    matrix(2 * i, 2 * i) = matrix(2 * i + 1, 2 * i + 1) = real(turn.real());
    matrix(2 * i + 1, 2 * i) = real(turn.imag());
    matrix(2 * i, 2 * i + 1) = -real(turn.imag());
  }
  return matrix;
}

/// ## A shift is a rotation
///
/// Why *pairs* of sine and cosine? The paper's own reason: for a fixed k, PE(p + k) is a linear function of
/// PE(p), the same for all p. To go k positions on, each clock turns by kω_i, wherever its hand is now. In
/// one pair of channels, with the row on the left:
///
/// $$ (sin (p+k)ω, cos (p+k)ω) = (sin pω, cos pω) R(kω) $$
///
/// where R(α) is the 2 × 2 matrix that turns by α: cos α on its diagonal, −sin α and sin α beside it. For k
/// = 3 and the first clock (ω = 1):
void shift_is_rotation(Lesson& lesson) {
  const Index C = 64, length = 200;
  const Tensor table = sinusoidal_table(length, C), shift = shift_matrix(C, 3);
  lesson.numbers(slice(slice(shift, 0, 0, 2), 1, 0, 2), {"sin", "cos"}, {"sin", "cos"});
  const double difference =
      max_difference(matmul(slice(table, 0, 0, length - 3), shift), slice(table, 0, 3, length));
  lesson.claim(
      difference < 1e-4,
      "one matrix of 32 such rotations moves each of {} rows of the table on by 3: largest difference {:.0e}",
      length - 3, difference);

  /// So a query *can* look a fixed distance back: let W_Q be the rotation R(−3), and let W_K change nothing.
  /// Then the query at p is PE(p − 3), which fits the key at p − 3 best:
  const IntTensor best = argmax(matmul(matmul(table, shift_matrix(C, -3)), table, Transpose::second));
  bool three_back = true;
  for (Index p = 3; p < length; ++p) three_back = three_back && best[p] == p - 3;
  lesson.claim(three_back,
               "with W_Q = R(−3) every query from position 3 on scores highest three positions back");
}

/// ## What is left of it in a score
///
/// But a model adds the table to the words, and multiplies by W_Q and W_K, which it learns for other reasons,
/// too. Write M for W_Q W_Kᵀ. If p is the position vector that was added to a word x, and q the one added to
/// a word y, their score has four terms:
///
/// $$ (x + p) M (y + q)ᵀ = x M yᵀ + x M qᵀ + p M yᵀ + p M qᵀ $$
///
/// Take `cat` and `drank` at positions 3 and 5, and then, at the same distance, at 40 and 42, with a random
/// M:
void adding_is_not_enough(Lesson& lesson) {
  Rng rng(lesson.seed + 3);
  const Index C = 64;
  const Tensor x = normal({1, C}, rng), y = normal({1, C}, rng), table = sinusoidal_table(64, C);
  const real scale = 1 / std::sqrt(real(C));
  const Tensor learned =
      matmul(normal({C, C}, rng, 0, scale), normal({C, C}, rng, 0, scale), Transpose::second);
  Tensor identity = zeros({C, C});
  for (Index c = 0; c < C; ++c) identity(c, c) = 1;
  const auto row = [&](Index position) { return slice(table, 0, position, position + 1); };  // (1, C)
  std::vector<std::vector<std::string>> rows;
  const auto term = [&](const std::string& name, const Tensor& a, const Tensor& b, const Tensor& c,
                        const Tensor& d, const Tensor& m) {
    const double first = sum(matmul(a, m) * b).item(), second = sum(matmul(c, m) * d).item();
    rows.push_back({name, fmt::format("{:.2f}", first), fmt::format("{:.2f}", second)});
    return std::fabs(second - first);
  };
  term("x M y    word and word", x, y, x, y, learned);
  const double cross = term("x M q    word and position", x, row(5), x, row(42), learned) +
                       term("p M y    position and word", row(3), y, row(40), y, learned);
  const double positions = term("p M q    two positions", row(3), row(5), row(40), row(42), learned);
  const double bare = term("p · q    the same without M", row(3), row(5), row(40), row(42), identity);
  lesson.table({"term", "at 3 and 5", "at 40 and 42"}, rows);
  lesson.claim(
      bare < 1e-4 && positions > 0.05 && cross > 0.05,
      "p · q alone is the same (to {:.0e}), but a score has M in between: p M q moves by {:.2f}, and the "
      "cross terms by {:.2f}. The score knows where the words are, not only how far apart",
      bare, positions, cross);

  /// So with positions that are *added*, distance is something that a model has to learn, in every head anew.
  /// The other three schemes put it into the score itself.
}

/// ## ALiBi: a penalty for distance
///
/// If only distance should count, say so directly, where two words meet: subtract something from their
/// score, inside the softmax. *Attention with linear biases* (ALiBi; Press, Smith and Lewis 2022) takes off
/// m·|i − j|, where i and j are the positions of query and key, and each head has its own slope m =
/// 2^(−8h/H), h = 1 … H. With H = 8:
void alibi_section(Lesson& lesson) {
  const Index H = 8;
  std::vector<std::vector<std::string>> slopes = {{"slope"}};
  double worst = 0;
  for (Index h = 1; h <= H; ++h) {
    const double slope = std::pow(2.0, -8.0 * double(h) / H);
    slopes[0].push_back(fmt::format("{:.4f}", slope));
    worst = std::max(worst, std::fabs(slope - alibi_slopes(H)[h - 1]));
  }
  lesson.table({"head", "1", "2", "3", "4", "5", "6", "7", "8"}, slopes);
  lesson.claim(worst < 1e-7,
               "the first head loses a point of score every {:.0f} steps and hardly sees beyond its "
               "neighbours; the last loses one every {:.0f} steps (the library has the same slopes)",
               1 / alibi_slopes(H).front(), 1 / alibi_slopes(H).back());
}

/// ## T5: a learned number for each distance
///
/// T5 (Raffel et al. 2020, after Shaw et al. 2018) also adds a number to the score, but learns it: one for
/// each head and each *bucket* of distances. Near distances have a bucket each; far ones share, in ever
/// wider buckets, up to 128; all beyond share the last. If both directions are visible, 32 buckets are 16
/// for each direction, of which 8 hold one distance each and 8 grow logarithmically. If only the past is
/// visible, it gets all 32:
void t5_section(Lesson& lesson) {
  std::vector<std::vector<std::string>> rows(2);
  rows[0] = {"both directions"}, rows[1] = {"past only"};
  std::vector<std::string> header = {"key − query"};
  for (const Index distance : {0, -1, -7, -8, -16, -32, -64, -128, 1, 8}) {
    header.push_back(fmt::format("{}", distance));
    rows[0].push_back(fmt::format("{}", t5_bucket(distance, true)));
    rows[1].push_back(fmt::format("{}", t5_bucket(distance, false)));
  }
  lesson.table(header, rows);
  lesson.claim(t5_bucket(-128, true) == 15 && t5_bucket(-100000, true) == 15 && t5_bucket(1, true) == 17,
               "a key 128 back and one 100,000 back share bucket {}; for keys to the right 16 is added", 15);

  /// T5 has one such table for all layers and leaves out ÷√d_k. Neither bias belongs in cross-attention: how
  /// far an English word is from a French one means nothing.
  lesson.picture(
      "biases.png", bias_maps(40), "Bias maps of ALiBi and T5",
      "Along each diagonal the colour is the same: only distance counts. T5's stripes get wider with "
      "distance, and the two sides have buckets of their own.");
}

// Two channels (a, b) as the complex number a + ib: a turn by θ is a multiplication by e^(iθ).
using Pair = std::complex<double>;
Pair turn(Pair x, double angle) { return x * std::polar(1.0, angle); }
double dot(Pair x, Pair y) { return (std::conj(x) * y).real(); }

// RoPE on one head, as in GPT-NeoX and Llama: channel i and channel i + D/2 are a pair.
Tensor turn_halves(const Tensor& x, Index position) {  // (D) -> (D)
  const Index half = x.numel() / 2;
  Tensor turned = empty(x.shape());
  for (Index i = 0; i < half; ++i) {
    const double angle = double(position) * std::pow(10000.0, -double(i) / double(half));
    const Pair pair = turn({x(i), x(i + half)}, angle);
    turned(i) = real(pair.real()), turned(i + half) = real(pair.imag());
  }
  return turned;
}

/// ## RoPE: turn, do not add
///
/// A shift is a rotation. So why not rotate the *query* and the *key*, after W_Q and W_K have done their
/// work, instead of adding something before? *Rotary position embedding* (RoPE; Su et al. 2021) takes the
/// channels of q and k in pairs, each pair an arrow in the plane, and turns q at position m by mθ and k at
/// position n by nθ. Two arrows that turn together keep the angle between them. In a formula, with rows q and
/// k and the matrix R(α) of above, which turns by α (R(α)ᵀ = R(−α), and two turns add up):
///
/// $$ (q R(mθ)) · (k R(nθ)) = q R(mθ) R(nθ)ᵀ kᵀ = q R((m − n)θ) kᵀ $$
///
/// Only m − n is left, and W_Q and W_K are already inside q and k. One pair, with θ = ½:
void rotary(Lesson& lesson) {
  const Pair q{1, 0.2}, k{0.4, 0.9};
  std::vector<std::vector<std::string>> rows;
  std::vector<Turned> panels;
  double worst = 0;
  const double reference = dot(q, turn(k, 0.5 * 3));
  for (const int m : {0, 1, 10, 500}) {
    const Pair turned_q = turn(q, 0.5 * m), turned_k = turn(k, 0.5 * (m + 3));
    worst = std::max(worst, std::fabs(dot(turned_q, turned_k) - reference));
    rows.push_back({fmt::format("{}", m), fmt::format("{}", m + 3),
                    fmt::format("{:.3f}, {:.3f}", turned_q.real(), turned_q.imag()),
                    fmt::format("{:.3f}, {:.3f}", turned_k.real(), turned_k.imag()),
                    fmt::format("{:.3f}", dot(turned_q, turned_k)),
                    fmt::format("{:.3f}", std::abs(turned_q))});
    if (m < 500) panels.push_back({m, m + 3, turned_q, turned_k});
  }
  lesson.table({"query at", "key at", "q turned", "k turned", "q · k", "length of q"}, rows);
  lesson.claim(worst < 1e-9, "three positions apart, the product is {:.3f} wherever the two stand",
               reference);
  std::vector<std::vector<double>> hands;
  std::vector<std::string> names;
  for (Index i = 0; i < 4; ++i)
    names.push_back(fmt::format("pair {}: {:.3g}°", i, 180 / M_PI * std::pow(10000.0, -2.0 * double(i) / 8)));
  for (const int position : {0, 1, 10, 100}) {
    hands.emplace_back();
    for (Index i = 0; i < 4; ++i) hands.back().push_back(position * std::pow(10000.0, -2.0 * double(i) / 8));
  }
  lesson.picture("rope.png", viz::column({turning_arrows(panels), clocks({0, 1, 10, 100}, hands, names)}),
                 "RoPE turns queries and keys",
                 "Above: q and k at positions (0, 3), (1, 4) and (10, 13). Both turn, and the angle between "
                 "them, the green arc, stays the same. Below: a head of 8 channels has 4 pairs, and each "
                 "turns at its own pace per "
                 "position, fast ones first.");
  lesson.data("clocks",
              clocks_figure({1, 0.2, 1, 0.2, 1, 0.2, 1, 0.2}, {0.4, 0.9, 0.4, 0.9, 0.4, 0.9, 0.4, 0.9},
                            hands[1]));  // at position 1: the angles per position

  const NoGrad no_grad;
  Rng rng(lesson.seed + 5);
  const Index D = 64;
  const Tensor query = normal({1, 1, D}, rng), key = normal({1, 1, D}, rng);
  const auto score = [&](Index m, Index n) {  // pairs (2i, 2i+1) turned by m ω_i
    return double(sum(rope(query, 1, m) * rope(key, 1, n)).item());
  };
  double moved = 0;
  for (Index m = 1; m <= 300; ++m) moved = std::max(moved, std::fabs(score(m, m + 7) - score(0, 7)));
  const double farther = std::fabs(score(0, 7) - score(0, 30));
  lesson.claim(moved < 1e-3 && farther > 1e-2,
               "a whole head has a pair for each of the clocks ω_i, here 32: moved on together by up to 300 "
               "positions, the score changes by at most {:.0e}; at another distance, by {:.1f}",
               moved, farther);

  /// Only queries and keys are turned, never values: what a word hands over should not depend on where it
  /// stood. And nothing is added to the word, so no table ends and nothing is learned.
  ///
  /// Beware of **two conventions**. RoFormer and GPT-J pair neighbours, channels (0, 1), (2, 3), …
  /// (*interleaved*), and so does this library. GPT-NeoX and most Llama programs pair the first half with
  /// the second, (0, D/2), (1, D/2 + 1), … (*half-split*). It is the same with the channels in another
  /// order, so a model works with either; but its weights fit only the one it was trained with. The same q
  /// and k at positions 5 and 2, D = 8:
  const Tensor short_q = normal({8}, rng), short_k = normal({8}, rng);
  const std::vector<int> evens_first = {0, 2, 4, 6, 1, 3, 5, 7};
  const auto interleaved = [&](const Tensor& x, Index position) {
    return reshape(rope(reshape(x, {1, 1, 8}), 1, position), {8});
  };
  const auto reorder = [&](const Tensor& x) {
    return reshape(take_rows(reshape(x, {8, 1}), evens_first), {8});
  };
  const auto product = [](const Tensor& a, const Tensor& b) { return double(sum(a * b).item()); };
  const double neighbours = product(interleaved(short_q, 5), interleaved(short_k, 2)),
               reordered = product(turn_halves(reorder(short_q), 5), turn_halves(reorder(short_k), 2)),
               wrong = product(turn_halves(short_q, 5), turn_halves(short_k, 2));
  lesson.table({"pairs", "q · k"},
               {{"interleaved", fmt::format("{:.3f}", neighbours)},
                {"half-split, channels reordered to match", fmt::format("{:.3f}", reordered)},
                {"half-split, same weights", fmt::format("{:.3f}", wrong)}});
  lesson.claim(
      std::fabs(neighbours - reordered) < 1e-4 && std::fabs(neighbours - wrong) > 1e-3,
      "reordered, the two conventions agree; with weights of the other one the score is off by {:.2f}",
      std::fabs(neighbours - wrong));

  /// RoPE also mildly favours near keys: there is a bound on the score that falls with distance. Turn the
  /// hand of each clock by distance · ω_i, and add the hands up, tip to tail. The mean length of these sums,
  /// of one hand, two hands, …, all of them, bounds the score, up to a factor that depends on the words
  /// alone. At distance 0 all hands point the same way; the further away, the more they disagree, and the
  /// sums stay short. With 64 clocks, as in a head of 128 channels:
  viz::Numbers bound;
  for (int distance = 0; distance <= 250; ++distance) {
    std::complex<double> partial = 0;
    double total = 0;
    for (Index i = 0; i < D; ++i) {  // 64 pairs, as in a head of 128
      partial += std::polar(1.0, distance * std::pow(10000.0, -double(i) / D));
      total += std::abs(partial);
    }
    bound.push_back(total / D);
  }
  lesson.claim(bound[250] < 0.5 * bound[0], "the bound falls from {:.1f} at distance 0 to {:.1f} at 250",
               bound[0], bound[250]);
  lesson.picture(
      "rope_decay.png",
      viz::line_chart({{.name = "bound", .y = bound}},
                      {.title = "RoPE: the bound on a score falls with distance",
                       .x_title = "distance",
                       .y_title = "mean length of the sums of hands",
                       .y_low = 0}),
      "RoPE's decay",
      "Not in a straight line, but down: steeply over the first 20 positions, then slowly. It bounds "
      "the score; a single score may go up and down below it.");
}

struct Entry {
  Positions scheme;
  double rate;                             // the best of 0.005, 0.01 and 0.02
  std::vector<std::vector<double>> right;  // for each length, for each seed: % of right answers
};

/// ## Train short, test long
void short_and_long(Lesson& lesson) {
  const std::vector<Index> lengths =
      lesson.fast ? std::vector<Index>{16, 64} : std::vector<Index>{16, 24, 32, 64, 128};
  const std::uint64_t seeds = lesson.fast ? 1 : 5;
  lesson.say(
      "Now all of them on the task from above: at each position, which symbol was the last to be marked? "
      "(About every fifth is. Marks are content, \"the last\" is order.) Two blocks (lesson 10) of C = 32 "
      "channels and 4 heads, the same for all; T5's bias with ÷√d_k, so that nothing but the positions "
      "differs. Trained on rows of {} tokens, tested on up to {}: right answers in the last quarter of "
      "each row, where guessing gives {:.0f}%. The learned table has rows for all positions, but only the "
      "first {} are trained. Each scheme has its best learning rate of three, and the numbers are the mean "
      "of several trainings, with the worst and the best:",
      short_length, lengths.back(), 100.0 / symbols, short_length);
  std::vector<Entry> entries = {{Positions::none, 1e-2, {}},       {Positions::learned, 5e-3, {}},
                                {Positions::sinusoidal, 1e-2, {}}, {Positions::t5, 2e-2, {}},
                                {Positions::alibi, 2e-2, {}},      {Positions::rope, 5e-3, {}}};
  std::vector<viz::Series> lines;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> header = {"tokens"};
  for (const Index T : lengths) header.push_back(fmt::format("{}", T));
  Tensor t5_learned;  // (T, T): mean of the heads
  Progress progress("six schemes", std::ssize(entries) * Index(seeds));
  for (Entry& entry : entries) {
    entry.right.resize(lengths.size());
    for (std::uint64_t seed = lesson.seed; seed < lesson.seed + seeds; ++seed) {
      const LastMarked model =
          train_model({entry.scheme, entry.rate, lesson.fast ? 60 : 250, lengths.back()}, seed);
      for (Index i = 0; i < std::ssize(lengths); ++i)
        entry.right[i].push_back(accuracy(model, lengths[i], lengths[i] - lengths[i] / 4, seed, lengths[i]));
      if (entry.scheme == Positions::t5) t5_learned = mean(model.stack.positions.bias(24, 24).detach(), 0);
      progress.update(std::ssize(rows) * Index(seeds) + std::ssize(entry.right[0]), written(entry.scheme));
    }
    rows.push_back({written(entry.scheme)});
    viz::Series line{.name = written(entry.scheme), .points = true, .color = int(std::ssize(rows)) - 1};
    viz::Series each{.line = false, .points = true, .color = line.color};  // no name: not in the legend
    for (Index i = 0; i < std::ssize(lengths); ++i) {
      const Range range(entry.right[i]);
      rows.back().push_back(fmt::format("{:.0f} ({:.0f}–{:.0f})", range.mean, range.low, range.high));
      line.x.push_back(double(lengths[i])), line.y.push_back(range.mean);
      for (const double right : entry.right[i]) each.x.push_back(double(lengths[i])), each.y.push_back(right);
    }
    lines.push_back(line), lines.push_back(each);
  }
  progress.clear();
  lesson.table(header, rows);
  const auto result = [&](Index scheme, Index length) { return Range(entries[scheme].right[length]); };
  const Index last = std::ssize(lengths) - 1;
  const Range alibi = result(4, last);
  double best_other = 0;
  for (const Index scheme : {0, 1, 2, 3, 5}) best_other = std::max(best_other, result(scheme, last).high);
  if (!lesson.fast) {
    double worst_short = 100;
    for (const Index scheme : {1, 2, 3, 4, 5}) worst_short = std::min(worst_short, result(scheme, 0).low);
    lesson.claim(worst_short > 90, "at the length of training all five solve it: at least {:.0f}% right",
                 worst_short);
    lesson.claim(
        result(1, 1).high < 90 && result(2, 1).high < 90 && result(5, 1).low > 90 && result(5, 2).low > 85,
        "half as long again, learned and sinusoidal positions fall to {:.0f} and {:.0f}%; RoPE holds up to "
        "twice the length with {:.0f}%, then falls to {:.0f}%",
        result(1, 1).mean, result(2, 1).mean, result(5, 2).mean, result(5, last).mean);
    lesson.claim(
        alibi.low > best_other + 10,
        "ALiBi goes on: {:.0f}% at {} tokens; the best training of any other scheme has {:.0f}% there",
        alibi.mean, lengths.back(), best_other);
  }
  lesson.picture(
      "extrapolation.png",
      viz::line_chart(lines, {.title = fmt::format("Trained on {} tokens, tested on more", short_length),
                              .x_title = "tokens in a row",
                              .y_title = "% right in the last quarter",
                              .x_scale = viz::Scale::log2,
                              .y_low = 0,
                              .y_high = 100}),
      "Extrapolation of the position schemes",
      "Lines are means, points single trainings. Learned and sinusoidal fall at once, for every position "
      "beyond those of training is new. RoPE and T5 meet distances that are new. ALiBi does not fall: a far "
      "key only counts less and less.");

  /// Two things to notice. `none` is not lost: with a causal mask the first token sees one key and the tenth
  /// sees ten, so a second layer can tell where it is (Haviv et al. 2022). And ALiBi holds up because of a
  /// fixed assumption: near is better. On this task that is true. Large models with RoPE are taught longer
  /// texts afterwards, with slower clocks (Chen et al. 2023).
  if (!lesson.fast) {
    const auto mean_at = [&](Index from, Index to) {  // the bias of keys that many positions back
      double sum = 0;
      for (Index distance = from; distance <= to; ++distance) sum += t5_learned(23, 23 - distance);
      return sum / double(to - from + 1);
    };
    lesson.claim(mean_at(1, 4) > mean_at(8, 15),
                 "T5 has learned that near is better, too: its bias is {:.2f} for keys 1 to 4 back and "
                 "{:.2f} for keys 8 to 15 back",
                 mean_at(1, 4), mean_at(8, 15));
  }
  lesson.picture("t5_learned.png", learned_against_fixed(t5_learned), "What T5 learned",
                 "Faded: the future, which is hidden. T5 found by itself what ALiBi was given: near is "
                 "better. But look at the lower left corner: such distances never came up in training, and "
                 "their numbers are still the random ones of the start.");
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(
      argc, argv, {.name = "09_positions", .question = "How does attention know order?"}, [](Lesson& lesson) {
        set_thread_count(1);  // so little work is not worth sharing
        bag_of_words(lesson);
        plain_integers(lesson);
        learned_table(lesson);
        binary_counter(lesson);
        sinusoids(lesson);
        shift_is_rotation(lesson);
        adding_is_not_enough(lesson);
        alibi_section(lesson);
        t5_section(lesson);
        rotary(lesson);
        short_and_long(lesson);
        /// ## Who uses what
        ///
        /// | scheme | acts on | learned | used by |
        /// |---|---|---|---|
        /// | learned table | the words | yes | BERT, GPT-2, GPT-3 |
        /// | sinusoidal | the words | no | the Transformer |
        /// | T5's buckets | the scores | yes | T5, mT5 |
        /// | ALiBi | the scores | no | BLOOM, MPT |
        /// | RoPE | queries, keys | no | GPT-J, PaLM, Llama, Mistral |
        ///
        /// The first two say where a word *is*; the others, how far two words are *apart*. Those act in
        /// self-attention only.
        ///
        /// ## Check yourself
        ///
        /// - **What are positions for?** Attention sees a bag of words. A mark of position, in the words, in
        ///   the scores or in queries and keys, tells it who stands where.
        /// - **What goes in, what comes out?** Learned and sinusoidal: a table (T, C), added to the words
        ///   (B, T, C) once, before the first layer. T5 and ALiBi: a bias (H, T, S), added to the scores
        ///   before softmax, in every layer. RoPE: queries and keys (B, H, T, D) are turned and keep their
        ///   shape; values are left alone.
        /// - **What goes wrong without, or with the wrong one?** `dog bites man` and `man bites dog` look
        ///   the same to an encoder. With a table that was never trained at a position, a model fails as
        ///   soon as a text is longer than those of training.
        ///
        /// ## Read on
        ///
        /// - Vaswani et al., 2017: *Attention is all you need*, section 3.5. Sinusoidal positions, and why.
        /// - Su et al., 2021: *RoFormer: enhanced transformer with rotary position embedding*. RoPE.
        /// - Press, Smith and Lewis, 2022: *Train short, test long: attention with linear biases enables
        ///   input length extrapolation*. ALiBi, and the race of this lesson at full size.
        /// - Raffel et al., 2020: *Exploring the limits of transfer learning with a unified text-to-text
        ///   transformer*, section 2.1. T5's bias.
        /// - The notebook `02_positions_landscape`: the same five as pictures, with numbers to change.
        lesson.try_next(
            {{"In turn_clocks, write −1.0 for −2.0 in the exponent.",
              "All clocks but the first turn faster, and the claim about the library's table fails."},
             {"In rotary, turn the key the other way: turn(k, −0.5 * (m + 3)).",
              "The product now depends on m + n: each row of the table differs, and the claim fails."},
             {"In learned_table, train with marks everywhere: {scheme, 1e-2, 150, rows}.",
              "Each row of the learned table has met marks now: it is right nearly everywhere, and the claim "
              "that sets it against RoPE fails."}});
      });
}
