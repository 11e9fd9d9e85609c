/// A network that translates is handed words and hands back words. In between there is nothing but numbers: a
/// sentence is a table of them, a *batch* (several sentences that are computed together) is a stack of
/// tables, and what the network has learned is more tables. You could write a struct for each. Every library
/// for machine learning has one type for all of them instead: the **tensor**, a strip of numbers in memory
/// and a *shape* that says how to read them.
///
/// Four ideas are enough to read all later lessons: where an element lies (row-major order and strides), that
/// a shape can change while the numbers stay (reshape, transpose), how a small tensor meets a large one
/// (broadcasting), and the one operation that does nearly all the work (matmul, the matrix product).
#include <algorithm>  // max

#include "core/error.hpp"
#include "core/ops.hpp"
#include "lessons/01_tensors/pictures.hpp"
#include "lessons/support/lesson.hpp"

using namespace attn;

namespace {

const Labels people = {"Anna", "Ben", "Clara"}, goods = {"apples", "bread", "milk", "eggs"};

// What three people buy: a row for each person, a column for each thing.
Tensor baskets() {
  return tensor({{4, 1, 2, 0},     // Anna
                 {0, 2, 1, 6},     // Ben
                 {6, 1, 0, 12}});  // Clara
}

// The message of the error that `work` ends with.
template <class Work>
std::string refusal(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

Index offset_of(const Shape& shape, const std::vector<Index>& index) {
  Index offset = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    Index stride = 1;
    for (int right = axis + 1; right < shape.rank(); ++right) stride *= shape[right];
    offset += index[axis] * stride;
  }
  return offset;
}

/// ## Numbers and a shape
///
/// Three people went shopping:
void numbers_and_a_shape(Lesson& lesson) {
  const Tensor x = baskets();
  lesson.numbers(x, people, goods, 0);
  /// Three rows and four columns: a tensor of shape (3,4). Each direction in which it extends is an *axis*,
  /// and the number of axes is its *rank*:
  ///
  /// | what | rank | shape |
  /// |---|---|---|
  /// | one number | 0 | () |
  /// | Anna's basket, a list | 1 | (4) |
  /// | three baskets, a table | 2 | (3,4) |
  /// | two weeks of them | 3 | (2,3,4) |
  ///
  /// A batch of sentences will be rank 3, too: (sentence, word, number). Nothing new is needed for it.
}

/// ## Row-major
///
/// Memory is one long strip. The table is stored in it row after row, which is called *row-major* order, and
/// the shape alone tells where a row ends:
void row_major(Lesson& lesson) {
  const Tensor x = baskets();
  std::string places, values;
  for (Index i = 0; i < x.numel(); ++i) {
    places += fmt::format("{:>4}", i);
    values += fmt::format("{:>4.0f}", x.data()[i]);
  }
  lesson.print("  place {}\n  value {}", places, values);
  lesson.print("        {:-<16}{:-<16}{:-<16}", " Anna ", " Ben ", " Clara ");

  /// How far apart two neighbours along an axis lie is the **stride** of that axis. One column to the right
  /// is one place further; one row down is four, since a whole row lies in between. So no table of addresses
  /// is needed, only a multiplication:
  ///
  /// $$ offset(i, j) = i · 4 + j · 1 $$
  const Index milk = offset_of(x.shape(), {1, 2});
  lesson.claim(milk == 6 && x.data()[milk] == x(1, 2),
               "Ben's milk is element (1,2): 1 · 4 + 2 · 1 = {}, and place {} holds {:.0f}", milk, milk,
               x.data()[milk]);
  lesson.picture("strip.png", strip_picture(x, people, goods, 1, 2), "A table and its strip of memory",
                 "To reach Ben's milk, jump one row (four cells) and two columns (one cell each).");

  const Shape weeks{2, 3, 4};
  lesson.say(
      "More axes work the same way. In (2,3,4) the strides are ({},{},{}): each is the product of the "
      "sizes to its right.",
      weeks.stride(0), weeks.stride(1), weeks.stride(2));
  const Tensor counted = reshape(arange(24), weeks);  // element number n holds n
  int right = 0;
  for (Index i = 0; i < 2; ++i)
    for (Index j = 0; j < 3; ++j)
      for (Index k = 0; k < 4; ++k) right += counted(i, j, k) == real(offset_of(weeks, {i, j, k}));
  lesson.claim(right == 24, "i · 12 + j · 4 + k finds {} of the 24 elements of a (2,3,4) tensor", right);

  const Index column_major = 2 * 1 + 0 * 3;
  lesson.say(
      "Fortran and MATLAB store column after column, with strides (1,3). There, Clara's apples (2,0) are at "
      "place 2 · 1 + 0 · 3 = {} and not at 8. Read our strip with that rule, and she seems to have bought "
      "{:.0f}, which is {}'s {}. Nothing crashes; the numbers are just somebody else's.",
      column_major, x.data()[column_major], people[column_major / 4], goods[column_major % 4]);
}

/// ## Reshape and transpose
///
/// A shape is only a way of reading, so another one can be laid over the same numbers at no cost, as long as
/// the count fits. That is a *reshape*. Two weeks of three baskets are six baskets:
void reshape_and_transpose(Lesson& lesson) {
  const Tensor weeks = concat({reshape(baskets(), {1, 3, 4}), reshape(baskets(), {1, 3, 4})});  // (2, 3, 4)
  const Tensor six = reshape(weeks, {6, 4});
  lesson.claim(six.data() == weeks.data(),
               "reshape (2,3,4) -> {} copies nothing: both point to the same memory", six.shape().str());
  weeks(1, 0, 2) = 9;  // Anna's milk in the second week
  lesson.claim(six(3, 2) == 9, "write 9 through one, and the other reads {:.0f}", six(3, 2));
  lesson.say("What does not fit is refused: \"{}\".", refusal([&] { reshape(weeks, {5, 5}); }));

  /// A *transpose* turns rows into columns: everybody's apples become the first row. It can be done without
  /// moving a number, too. Swap the two strides, and the same strip is read down its columns:
  struct View {  // a tensor without numbers of its own
    const real* numbers;
    Index rows, columns, row_stride, column_stride;
    real at(Index i, Index j) const { return numbers[i * row_stride + j * column_stride]; }
  };
  const Tensor x = baskets(), transposed = transpose(x), reshaped = reshape(x, {4, 3});
  const View as_stored{x.data(), 3, 4, 4, 1}, swapped{x.data(), 4, 3, 1, 4};
  bool same = true;
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < 3; ++j)
      same = same && swapped.at(i, j) == as_stored.at(j, i) && swapped.at(i, j) == transposed(i, j);
  lesson.claim(same && swapped.numbers == x.data(),
               "strides (1,4) over the strip of the (3,4) table read its transpose; no number has moved");
  lesson.picture("strides.png", strides_picture(x, people, goods), "One strip, three ways to read it",
                 "Colours are people. A transpose keeps them together, in columns now. A reshape to the same "
                 "(4,3) cuts the strip after every third number, and mixes them up.");

  /// That is what NumPy and PyTorch do, where a tensor carries its strides. The tensors of this course do
  /// not: they are always stored row by row, which keeps every later program simple, so `transpose` copies.
  /// Where that would cost time, inside a matrix product, the product itself can be told to read one of its
  /// inputs transposed.
  ///
  /// Reshape and transpose may both turn (3,4) into (4,3). Confusing the two is among the most common
  /// mistakes in this field, because the shape is right either way (lesson 08 meets it again). The first rows
  /// of both:
  lesson.numbers(concat({slice(reshaped, 0, 0, 1), slice(transposed, 0, 0, 1)}), {"reshape", "transpose"},
                 {"first", "second", "third"}, 0);
  lesson.claim(!equal(reshaped, transposed) && transposed.data() != x.data(),
               "only the transpose has everybody's apples in its first row");
}

// How far to go in memory for one step along an axis of a (rows, columns) tensor that is stretched: nowhere.
Index stretched_stride(const Tensor& x, int axis) { return x.size(axis) == 1 ? 0 : x.shape().stride(axis); }

// x + y for tensors (R or 1, C or 1).
Tensor add_by_strides(const Tensor& x, const Tensor& y) {
  Tensor out = empty({std::max(x.size(0), y.size(0)), std::max(x.size(1), y.size(1))});
  const auto read = [](const Tensor& t, Index i, Index j) {
    return t.data()[i * stretched_stride(t, 0) + j * stretched_stride(t, 1)];
  };
  for (Index i = 0; i < out.size(0); ++i)
    for (Index j = 0; j < out.size(1); ++j) out(i, j) = read(x, i, j) + read(y, i, j);
  return out;
}

// A row or a column as the (3, 4) table that broadcasting makes of it, with the copies drawn pale.
viz::Image stretched(const Tensor& x, const std::string& title) {
  const viz::Matrix shown = matrix_of(broadcast_to(x, {3, 4}));
  viz::Matrix faded(3, 4);
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 4; ++j) faded(i, j) = i >= x.size(0) || j >= x.size(1);
  return viz::heatmap(shown, {.title = title,
                              .row_labels = people,
                              .column_labels = goods,
                              .low = 0,
                              .high = 6,
                              .color_bar = false,
                              .numbers = true,
                              .decimals = 0,
                              .faded = faded});
}

/// ## Broadcasting
///
/// Everybody gets the same present on top: a loaf of bread and two eggs, a list of shape (4). To add it to a
/// (3,4) table, you would write a loop over the people. Tensors do without: **broadcasting** uses the list
/// for each row.
void broadcasting(Lesson& lesson) {
  const Tensor x = baskets(), present = tensor({0, 1, 0, 2});  // (4)
  lesson.numbers(x + present, people, goods, 0);
  /// The rule, the same in NumPy, PyTorch and here:
  ///
  /// 1. Write one shape below the other, aligned at the right. A missing axis counts as 1.
  /// 2. Two sizes that are equal are fine. A size of 1 is stretched to the other.
  /// 3. Everything else is refused.
  std::vector<std::vector<std::string>> rows;
  for (const auto& [a, b] : std::vector<std::pair<Shape, Shape>>{{{3, 4}, {4}},
                                                                 {{3, 4}, {3, 1}},
                                                                 {{3, 1}, {1, 4}},
                                                                 {{2, 3, 4}, {3, 1}},
                                                                 {{3, 4}, {}},
                                                                 {{3, 4}, {3}}}) {
    const Tensor left = zeros(a), right = zeros(b);
    Shape result;
    const std::string error = refusal([&] { result = (left + right).shape(); });
    rows.push_back({a.str(), b.str(), error.empty() ? result.str() : "refused"});
  }
  lesson.table({"a", "b", "a + b"}, rows);
  /// The last line is the one to remember. Three numbers, one for each person, are not (3) but (3,1): aligned
  /// at the right, a (3) would meet the four goods. The library says:
  lesson.print("    {}", refusal([&] { x + tensor({1, 2, 3}); }));
  /// Quietly taking the smaller size would be worse: you would get a sum with a column missing.
  ///
  /// A stretched axis copies nothing. Its stride is 0, so a step along it stays where it is, and the same
  /// number is read again. Both sides can be stretched at once: Anna walks 3 minutes to the shop, Ben 1,
  /// Clara 2, a column of shape (3,1). The apples are at the door, bread is 1 minute further in, milk 2, eggs
  /// 3, a row of shape (1,4). After how many minutes is who where?
  const Tensor walk = reshape(tensor({3, 1, 2}), {3, 1}), shelf = tensor({{0, 1, 2, 3}});  // (3, 1), (1, 4)
  const Tensor both = walk + shelf;                                                        // (3, 4)
  lesson.heatmap(matrix_of(both), {.title = "A column (3,1) plus a row (1,4)",
                                   .row_labels = people,
                                   .column_labels = goods,
                                   .numbers = true,
                                   .decimals = 0});
  lesson.claim(equal(both, add_by_strides(walk, shelf)) &&
                   equal(x + present, add_by_strides(x, reshape(present, {1, 4}))),
               "two loops and strides of 0 give the same numbers as the library, here and for the presents");
  lesson.picture("broadcast.png",
                 viz::row({stretched(walk, "(3,1)"), stretched(shelf, "(1,4)"), stretched(both, "(3,4)")},
                          {.title = "Broadcasting: a column plus a row", .between = {"+", "="}}),
                 "A broadcast",
                 "Bright cells are stored, faded ones are the same numbers read again: 3 + 4 numbers are "
                 "kept, 12 are added.");
}

// The three loops of a product in any order; "ijk" has i outermost.
Tensor multiply_by_loops(const Tensor& a, const Tensor& b, const std::string& order = "ijk") {
  Tensor c = zeros({a.size(0), b.size(1)});                // (M, N)
  const Index size[] = {a.size(0), b.size(1), a.size(1)};  // rows of a, columns of b, what both have
  Index at[3] = {}, &i = at[0], &j = at[1], &k = at[2];
  const int outer = order[0] - 'i', middle = order[1] - 'i', inner = order[2] - 'i';
  for (at[outer] = 0; at[outer] < size[outer]; ++at[outer])
    for (at[middle] = 0; at[middle] < size[middle]; ++at[middle])
      for (at[inner] = 0; at[inner] < size[inner]; ++at[inner]) c(i, j) += a(i, k) * b(k, j);
  return c;
}

/// ## Matmul
///
/// What would each person pay in each of two shops? The prices are a (4,2) table, a row for each item and a
/// column for each shop:
void matrix_product(Lesson& lesson) {
  const Labels shops = {"market", "corner"};
  const Tensor x = baskets(),
               prices = tensor({{0.5, 0.8}, {3.0, 2.5}, {1.2, 1.0}, {0.3, 0.4}});  // (3, 4), (4, 2)
  lesson.numbers(prices, goods, shops);
  const Tensor bills = matmul(x, prices);  // (3, 4) x (4, 2) -> (3, 2)
  lesson.say("Anna at the market pays 4 · {:.2f} + 1 · {:.2f} + 2 · {:.2f} + 0 · {:.2f} = {:.2f}.",
             prices(0, 0), prices(1, 0), prices(2, 0), prices(3, 0), bills(0, 0));
  /// Her row of the baskets meets the market's column of the prices: multiply item by item and add up. That
  /// is a *dot product*. All dot products of a row with a column, in one table, are the **matrix product**:
  ///
  /// $$ c(i, j) = Σ_k a(i, k) · b(k, j)          (M,K) x (K,N) -> (M,N) $$
  lesson.numbers(bills, people, shops);
  lesson.picture(
      "matmul.png",
      product_picture({x, prices, bills, people, goods, shops, "baskets", "prices", "bills"}, 0, 0),
      "A row meets a column",
      "Follow Anna's row to the right and the market's column down: they meet at her bill. The inner "
      "sizes (4 and 4) must be the same and vanish, the outer ones (3 and 2) remain.");

  /// As a program that is three loops: over the rows i, over the columns j, and over k, which runs along the
  /// row and down the column together. They may be nested in any order. Each element of c still adds the same
  /// products in the same order, k = 0, 1, 2, …:
  bool same_bits = true;
  for (const char* order : {"ikj", "jik", "jki", "kij", "kji"})
    same_bits = same_bits && equal(multiply_by_loops(x, prices, order), multiply_by_loops(x, prices));
  lesson.claim(same_bits && max_difference(bills, multiply_by_loops(x, prices)) < 1e-5,
               "all six orders of the loops give the same bits, and the library's matmul the same bills");
  lesson.say(
      "Inner sizes that differ would leave an item without a price. Leave out the price of eggs, and the "
      "library says \"{}\".",
      refusal([&] { matmul(x, slice(prices, 0, 0, 3)); }));
}

/// ## At real size
///
/// A matrix product and a broadcast together make the most common layer of a network, the *linear layer*. It
/// has a weight W and a bias b, which it learns (lessons 02 and 04 show how), and does the same to every
/// word x:
///
/// $$ y = x W + b          (B,T,C) x (C,N) + (N) -> (B,T,N) $$
///
/// Each word is a row of C numbers and becomes a row of N. T words make a sentence, B sentences a batch, and
/// one line of code does them all.
void real_size(Lesson& lesson) {
  const Index B = lesson.fast ? 2 : 4, T = 37, C = 96, N = 50;
  Rng rng(lesson.seed);
  const Tensor x = normal({B, T, C}, rng), weight = normal({C, N}, rng), bias = normal({N}, rng);
  const Tensor y = matmul(x, weight) + bias;  // (B, T, N)
  double worst = 0;
  for (Index b = 0; b < B; ++b) {
    const Tensor one = multiply_by_loops(x[b], weight);  // (T, N)
    worst = std::max(worst, max_difference(y[b], add_by_strides(one, reshape(bias, {1, N}))));
  }
  lesson.claim(
      worst < 1e-3,
      "x {}, W {}, b {}: each sentence alone, by loops, gives the same y {}; largest difference {:.0e}",
      x.shape().str(), weight.shape().str(), bias.shape().str(), y.shape().str(), worst);
  lesson.say(
      "A float keeps about seven digits, so each step rounds. Where the library multiplies and adds in one "
      "instruction, it rounds once and our loops twice, and then the last digits differ. All this took {} "
      "multiplications. Lesson 03 makes them fast.",
      viz::format_fixed(double(B * T * C * N), 0));
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(argc, argv, {.name = "01_tensors", .question = "What is a tensor?"}, [](Lesson& lesson) {
    numbers_and_a_shape(lesson);
    row_major(lesson);
    reshape_and_transpose(lesson);
    broadcasting(lesson);
    matrix_product(lesson);
    real_size(lesson);
    /// ## Check yourself
    ///
    /// - **What is a tensor for?** It is one type for everything that a network computes with: a strip of
    ///   numbers and a shape. So the same few operations work on a word, a sentence or a batch.
    /// - **What are the shapes?** Broadcasting aligns two shapes at the right and stretches sizes of 1: (3,1)
    ///   + (1,4) is (3,4). Matmul takes (M,K) and (K,N) to (M,N). In row-major order the stride of an axis is
    ///   the product of the sizes to its right.
    /// - **What goes wrong without care?** Sizes that do not fit are refused, but a wrong reading of the
    ///   right size is not: column-major for row-major, or a reshape for a transpose, gives other people's
    ///   numbers and no error.
    ///
    /// ## Read on
    ///
    /// - van der Walt, Colbert and Varoquaux, 2011: *The NumPy array: a structure for efficient numerical
    ///   computation*. Strides and views.
    /// - Edward Yang, 2019: *PyTorch internals*. The same in PyTorch, with drawings.
    /// - Zhang, Lipton, Li and Smola, 2021: *Dive into deep learning*, chapter 2. Tensors from Python.
    lesson.try_next(
        {{"In offset_of, let `right` run from 0 to axis - 1 instead (the sizes to the left).",
          "That is column-major: Ben's milk is looked for at place 7, and two claims fail."},
         {"In broadcasting, leave out the reshape of `walk`: a list of shape (3).",
          "It is refused when it meets the row (1,4): aligned at the right, 3 stands against 4."},
         {"In matrix_product, multiply the other way round: matmul(prices, x).",
          "It is refused: (4,2) x (3,4) has the inner sizes 2 and 3. The order of a product matters."}});
  });
}
