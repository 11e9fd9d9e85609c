/// Everything in this course, a sentence, a batch of sentences, every weight of a network, is a tensor:
/// numbers in one long row, and a shape that says how to look at them. Four ideas are enough to read all
/// later lessons: where an element lies (row-major), that a shape can change while the numbers stay
/// (reshape), how a small tensor meets a large one (broadcasting), and the one operation that does nearly
/// all the work (matmul).
#include <cmath>  // fabs

#include "core/error.hpp"
#include "core/ops.hpp"
#include "lessons/support/lesson.hpp"

using namespace attn;

namespace {

const std::vector<std::string> people = {"Anna", "Ben", "Clara"};
const std::vector<std::string> goods = {"apples", "bread", "milk", "eggs"};

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

// Row-major: the last axis lies side by side, and one step along an axis skips all that is to its right.
//
//   offset(i, j, k) = i·(J·K) + j·K + k        for a shape (I, J, K)
//
// J·K, K and 1 are the strides. No division, no table: that is all it takes to find an element.
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
void row_major(Lesson& lesson) {
  const Tensor x = baskets();
  lesson.say("Three people went shopping. A table of 3 rows and 4 columns is a tensor of shape {}:",
             x.shape().str());
  lesson.numbers(x, people, goods, 0);
  /// A number alone is a tensor of rank 0, a list has rank 1, a table rank 2. Two weeks of such tables are
  /// one tensor of rank 3, of shape (2,3,4), and nothing new is needed for it.

  /// ## Row-major
  ///
  /// Memory is one long row. So the table is stored row after row, and the shape alone tells where a row
  /// ends:
  std::string places, values;
  for (Index i = 0; i < x.numel(); ++i) {
    places += fmt::format("{:>4}", i);
    values += fmt::format("{:>4.0f}", x.data()[i]);
  }
  lesson.print("  place {}\n  value {}", places, values);
  lesson.print("        {:-<16}{:-<16}{:-<16}", " Anna ", " Ben ", " Clara ");
  /// $$ offset(i, j) = i · columns + j $$
  const Index milk = offset_of(x.shape(), {1, 2});
  lesson.claim(milk == 6 && x.data()[milk] == x(1, 2),
               "Ben's milk is element (1,2): 1 · 4 + 2 = {}, and there lies {:.0f}", milk, x.data()[milk]);

  const Shape weeks{2, 3, 4};
  lesson.say(
      "With more axes it goes on in the same way. In (2,3,4) one step to the next thing skips {} number, "
      "to the next person {}, to the next week {}: these are the strides, each the product of the sizes to "
      "its right.",
      weeks.stride(2), weeks.stride(1), weeks.stride(0));
  const Tensor counted = reshape(arange(24), weeks);  // element number n holds n
  int right = 0;
  for (Index i = 0; i < 2; ++i)
    for (Index j = 0; j < 3; ++j)
      for (Index k = 0; k < 4; ++k) right += counted(i, j, k) == real(offset_of(weeks, {i, j, k}));
  lesson.claim(right == 24, "our offsets find {} of the 24 elements of a (2,3,4) tensor", right);
  const Index column_major = 2 + 0 * 3;
  lesson.say(
      "Fortran and MATLAB store columns first: there, Clara's apples (2,0) are at place 2 + 0 · 3 = {} and "
      "not at 8. Read with the wrong rule she would have bought {:.0f} of them, which is {}'s {}. Nothing "
      "crashes; the numbers are just somebody else's.",
      column_major, x.data()[column_major], people[column_major / 4], goods[column_major % 4]);
}

/// ## Reshape shares its numbers
///
/// Since a shape is only a way of looking, another one can be laid over the same numbers, at no cost, as
/// long as the count fits. Two weeks of three baskets are six baskets:
void reshape_shares(Lesson& lesson) {
  const Tensor weeks = concat({reshape(baskets(), {1, 3, 4}), reshape(baskets(), {1, 3, 4})});  // (2, 3, 4)
  const Tensor six = reshape(weeks, {6, 4});
  lesson.claim(six.data() == weeks.data(),
               "reshape (2,3,4) -> {} copies nothing: both point to the same memory", six.shape().str());
  weeks(1, 0, 2) = 9;  // Anna's milk in the second week
  lesson.claim(six(3, 2) == 9, "write 9 through one, and the other reads {:.0f}", six(3, 2));
  /// What does not fit is refused:
  lesson.print("    {}", refusal([&] { reshape(weeks, {5, 5}); }));

  /// Reshape keeps the order of the numbers. Transposing does not: it turns rows into columns, and has to
  /// move the numbers. Both give (4,3), and mixing them up is one of the most common mistakes there are
  /// (lesson 08 meets it again). The first rows of both:
  const Tensor x = baskets(), reshaped = reshape(x, {4, 3}), transposed = transpose(x);
  lesson.numbers(concat({slice(reshaped, 0, 0, 1), slice(transposed, 0, 0, 1)}),
                 {"reshape   (4,3)", "transpose (4,3)"}, {"first", "second", "third"}, 0);
  bool same = true;
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < 3; ++j) same = same && transposed(i, j) == x(j, i);
  lesson.claim(same && !equal(reshaped, transposed) && transposed.data() != x.data(),
               "only the transpose has everybody's apples in one row");
}

// Broadcasting: both shapes are aligned at the right, a missing axis counts as 1, and an axis of size 1
// stretches. Stretching copies nothing: the only index there is, 0, is read again and again.
Tensor add_by_loops(const Tensor& a, const Tensor& b) {
  const Index R = std::max(a.size(0), b.size(0)), C = std::max(a.size(1), b.size(1));
  Tensor out = empty({R, C});
  for (Index i = 0; i < R; ++i)
    for (Index j = 0; j < C; ++j)
      out(i, j) = a(a.size(0) == 1 ? 0 : i, a.size(1) == 1 ? 0 : j) +  // (R or 1, C or 1)
                  b(b.size(0) == 1 ? 0 : i, b.size(1) == 1 ? 0 : j);   // (R or 1, C or 1)
  return out;
}

// A tensor of one row or one column as the (3, 4) table that broadcasting makes of it, with
// the copies drawn pale.
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
/// Everybody gets the same present, a list of four numbers, on top of what they bought. The list is (4),
/// the table (3,4). Aligned at the right, the list fits each row and is added to all three:
void broadcasting(Lesson& lesson) {
  const Tensor x = baskets(), present = tensor({0, 1, 0, 2});  // (4)
  lesson.numbers(x + present, people, goods, 0);
  double worst = max_difference(x + present, add_by_loops(x, reshape(present, {1, 4})));
  lesson.claim(worst == 0, "two loops that read the one row three times give the same");

  /// $$ align at the right · a missing axis is 1 · size 1 stretches · all else is refused $$
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
  /// The last line is the one to remember: three numbers, one a person, are not (3) but (3,1), because
  /// alignment starts at the right, where they would meet the four things. The library says:
  lesson.print("    {}", refusal([&] { x + tensor({1, 2, 3}); }));
  /// To take the smaller size and go on would be worse: the sum would be there, and a basket missing from it.

  const Tensor bags = reshape(tensor({3, 1, 2}), {3, 1}), gifts = tensor({{0, 1, 2, 3}});  // (3, 1), (1, 4)
  const Tensor both = bags + gifts;                                                        // (3, 4)
  worst = max_difference(both, add_by_loops(bags, gifts));
  lesson.claim(worst == 0 && both.shape() == Shape({3, 4}),
               "a column {} and a row {}, each stretched to meet the other, make {}", bags.shape().str(),
               gifts.shape().str(), both.shape().str());
  lesson.heatmap(matrix_of(both), {.title = "a column plus a row",
                                   .row_labels = people,
                                   .column_labels = goods,
                                   .numbers = true,
                                   .decimals = 0});
  lesson.picture("broadcast.png",
                 viz::row({stretched(bags, "(3,1)"), stretched(gifts, "(1,4)"), stretched(both, "(3,4)")},
                          {.title = "Broadcasting: a column plus a row", .between = {"+", "="}}),
                 "A broadcast",
                 "Bright cells are stored, pale ones are the same numbers read again: 3 + 4 numbers are "
                 "kept, 12 are added.");
}

// c(i, j) = Σ_k a(i, k) b(k, j): row i of a meets column j of b. For every element of the
// result, a third loop.
Tensor multiply_by_loops(const Tensor& a, const Tensor& b) {
  Tensor c = zeros({a.size(0), b.size(1)});  // (M, N)
  for (Index i = 0; i < a.size(0); ++i)      // rows of a
    for (Index j = 0; j < b.size(1); ++j)    // columns of b
      for (Index k = 0; k < a.size(1); ++k)  // what they have in common
        c(i, j) += a(i, k) * b(k, j);
  return c;
}

viz::Image table_image(const Tensor& x, const std::string& title, const std::vector<std::string>& rows,
                       const std::vector<std::string>& columns, int decimals) {
  return viz::heatmap(matrix_of(x), {.title = title,
                                     .row_labels = rows,
                                     .column_labels = columns,
                                     .low = 0,
                                     .color_bar = false,
                                     .numbers = true,
                                     .decimals = decimals,
                                     .cell = 46});
}

/// ## Matmul
void matrix_product(Lesson& lesson) {
  const std::vector<std::string> shops = {"market", "corner"};
  const Tensor x = baskets(),
               prices = tensor({{0.5, 0.8}, {3.0, 2.5}, {1.2, 1.0}, {0.3, 0.4}});  // (3, 4), (4, 2)
  lesson.say(
      "What would each person pay in each of two shops? The prices are a (4,2) table, a row for each thing "
      "and a column for each shop:");
  lesson.numbers(prices, goods, shops);
  lesson.say(
      "Anna at the market: 4 · {:.2f} + 1 · {:.2f} + 2 · {:.2f} + 0 · {:.2f}. A row of baskets meets a "
      "column of prices, thing by thing, and the products are summed. All bills together are the matrix "
      "product:",
      prices(0, 0), prices(1, 0), prices(2, 0), prices(3, 0));
  /// $$ (M,K) x (K,N) -> (M,N):     c(i, j) = Σ_k a(i, k) · b(k, j) $$
  const Tensor bills = matmul(x, prices);  // (3, 4) x (4, 2) -> (3, 2)
  lesson.numbers(bills, people, shops);
  lesson.claim(max_difference(bills, multiply_by_loops(x, prices)) < 1e-5,
               "three nested loops and the library's matmul agree; Anna pays {:.2f} at the market",
               bills(0, 0));
  lesson.picture(
      "matmul.png",
      viz::row({table_image(x, "baskets (3,4)", people, goods, 0),
                table_image(prices, "prices (4,2)", goods, shops, 2),
                table_image(bills, "bills (3,2)", people, shops, 2)},
               {.title = "A row of the first meets a column of the second", .between = {"×", "="}}),
      "Matmul",
      "The inner sizes (4 and 4) must be the same and vanish; the outer ones (3 and 2) are the result's.");
  /// Inner sizes that differ mean that things meet the wrong prices, and are refused:
  lesson.print("    {}", refusal([&] { matmul(x, slice(prices, 0, 0, 3)); }));

  /// ## At real size
  const Index B = lesson.fast ? 2 : 4, T = 37, C = 96, N = 50;
  Rng rng(lesson.seed);
  const Tensor sentences = normal({B, T, C}, rng), weight = normal({C, N}, rng), bias = normal({N}, rng);
  lesson.say(
      "A layer of a network is just this. {} sentences of {} words, {} numbers for each word: a tensor "
      "(B,T,C) = "
      "{}. One product with a weight {} and one broadcast of a bias {} work on every word of every "
      "sentence:",
      B, T, C, sentences.shape().str(), weight.shape().str(), bias.shape().str());
  /// $$ y = x W + b        (B,T,C) x (C,N) + (N) -> (B,T,N) $$
  const Tensor y = matmul(sentences, weight) + bias;  // (B, T, N)
  double worst = 0;
  for (Index b = 0; b < B; ++b) {
    const Tensor one = multiply_by_loops(sentences[b], weight);  // (T, N)
    worst = std::max(worst, max_difference(y[b], add_by_loops(one, reshape(bias, {1, N}))));
  }
  lesson.claim(worst < 1e-3,
               "each sentence alone, by loops, gives the same {} numbers: largest difference {:.0e}",
               y.shape().str(), worst);
  lesson.say(
      "It is not 0, because a sum of {} floats depends a little on its order. And it took {:.2f} million "
      "multiplications: lesson 03 makes them fast.",
      C, 1e-6 * double(B * T * C * N));
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(argc, argv, {.name = "01_tensors", .question = "What is a tensor?"}, [](Lesson& lesson) {
    row_major(lesson);
    reshape_shares(lesson);
    broadcasting(lesson);
    matrix_product(lesson);
    lesson.try_next({{"In offset_of, let `right` run from 0 to axis - 1 instead (the sizes to the left).",
                      "That is column-major: Ben's milk is looked for at place 7, and two claims fail."},
                     {"In broadcasting, leave out the reshape of bags: a list of shape (3).",
                      "It is refused when it meets the row (1,4): aligned at the right, 3 stands against 4."},
                     {"In multiply_by_loops, put the loop over k outermost.",
                      "The same numbers, in another order of additions: any of the six orders is right "
                      "(but not equally fast)."}});
  });
}
