// What is told about answers that are wrong in a way nobody has named, and about functions as arguments.
#include <cmath>  // sqrt

#include <fmt/core.h>

#include "tests/exercises/coach_testing.hpp"

namespace testing {
namespace {

void test_layout() {
  const Checked checked(
      "08_multi_head",
      {{"split_heads",
        "  const Index B = x.size(0), T = x.size(1), D = x.size(2) / heads;\n"
        "  Tensor out = empty({B, heads, T, D});\n"
        "  for (Index b = 0; b < B; ++b)\n"
        "    for (Index t = 0; t < T; ++t)\n"
        "      for (Index c = 0; c < x.size(2); ++c) out(b, c / D, t, c % D) = x(B - 1, t, c);\n"
        "  return out;"},
       {"merge_heads",
        "  const Index B = x.size(0), H = x.size(1), T = x.size(2), D = x.size(3);\n"
        "  Tensor out = zeros({B, T, H * D});\n"
        "  for (Index b = 0; b < B; ++b)\n"
        "    for (Index t = 0; t < T; ++t)\n"
        "      for (Index c = 1; c < H * D; ++c) out(b, t, c) = x(b, c / D, t, c % D);\n"
        "  return out;"}});
  checked.expect("split_heads", "wrong values",
                 {"It is right only where x.size(0) == 1", "[0] [[", "[1] [["});
  checked.expect("merge_heads", "wrong values", {"Only the first column is wrong"});
}

void test_numbers() {
  const Checked checked(
      "06_self_attention",
      {{"scores", "  return matmul(q, k, Transpose::second) / std::sqrt(real(q.size(1))) * real(k.size(0));"},
       {"row_softmax",
        "  Tensor out = softmax(s);\n"
        "  for (Index i = 0; i < s.size(0); ++i)\n"
        "    for (Index j = 1; j < s.size(1); ++j) out(i, j) += out(i, j - 1);\n"
        "  return out;"},
       {"attend",
        "  const Tensor w = softmax(matmul(q, k, Transpose::second) / std::sqrt(real(q.size(1))));\n"
        "  Tensor out = matmul(w, v);\n"
        "  for (Index e = 0; e < v.size(1); ++e) out(0, e) = 0;\n"
        "  return out;"},
       {"self_attention",
        "  const Tensor q = matmul(x, w_q), k = matmul(x, w_k), v = matmul(x, w_v);\n"
        "  return transpose(matmul(softmax(matmul(q, k, Transpose::second) / std::sqrt(real(q.size(1)))), "
        "v));"}});
  checked.expect("scores", "wrong values", {"Every number of yours is ours times k.size(0)"});
  checked.expect("row_softmax", "wrong values", {"Each row of yours is the running sum of ours"});
  checked.expect("attend", "wrong values", {"Only the first row is wrong"});
  checked.expect("self_attention", "wrong shape", {"Yours is the transpose of ours"});
}

void test_variations() {
  const Checked checked("18_fast_attention",
                        {{"window_mask",
                          "  Tensor out = zeros({T, T});\n"
                          "  for (Index i = 0; i < T; ++i)\n"
                          "    for (Index j = 0; j < T; ++j)\n"
                          "      out(i, j) = std::abs(i - j) < 2 * window && (!causal || j <= i);\n"
                          "  return out;"}});
  checked.expect("window_mask", "wrong values", {"It behaves as if window were twice as large"});
  const Checked spans(
      "17_t5",
      {{"span_counts",
        "  const Index taken = std::clamp<Index>(std::lround(double(length) * fraction), 1, length - 1);\n"
        "  const Index spans = std::clamp<Index>(std::lround(double(taken) / mean_length), 1, length);\n"
        "  return {taken, spans};"}});
  spans.expect("span_counts", "wrong values", {"yours = (", "ours = ("});
}

void test_calls() {
  const Checked beams("14_decoding",
                      {{"search_beam",
                        "  std::vector<int> words{bos};\n"
                        "  for (int step = 0; step < max_length && words.back() != eos; ++step) {\n"
                        "    const std::vector<double> p = model(words);\n"
                        "    words.push_back(int(std::min_element(p.begin(), p.end()) - p.begin()));\n"
                        "  }\n"
                        "  return {words.begin() + 1, words.end() - (words.back() == eos)};"}});
  beams.expect("search_beam", "wrong", {"model([1]) = [", "3: 0.6, 4: 0.4", "yours asked", "ours asked"});
  const Checked blocks("10_blocks", {{"pre_norm_block", "  return x + attend(first_norm(x));"}});
  blocks.expect("pre_norm_block", "wrong values", {"first_norm([[", "attend([["});
}

// A function that returns nothing makes the same errors as some mistakes, but by no thought of its own.
void test_nothing() {
  const Checked checked("13_translator", {{"dictate", "  return {};"},
                                          {"write_greedily", "  return {};"},
                                          {"clipped_matches", "  return {};"},
                                          {"corpus_bleu", "  return {};"}});
  checked.expect("dictate", "wrong shape", {"ours writes (1,3) = [[5 6 2]] Yours is an empty IntTensor"});
  checked.expect("write_greedily", "wrong length", {"yours asked nothing", "Yours is empty."});
  checked.expect("clipped_matches", "wrong values", {"output = [\"the\" \"the\" \"cat\"]", "yours = (0, 0)"});
  checked.expect("corpus_bleu", "wrong values", {"Yours is always 0."});
  for (const char* function : {"write_greedily", "corpus_bleu"})
    check(checked.verdict(function).find("known mistake") == std::string::npos, "no name for nothing",
          checked.verdict(function));
}

// A mistake that gives the same answers to the chosen inputs, but not to others, is close at most.
void test_likeness() {
  const Checked checked(
      "01_tensors",
      {{"offset",
        "  if (std::ssize(index) != shape.rank()) throw std::invalid_argument(\"indices\");\n"
        "  Index position = 0;\n"
        "  for (int axis = 0; axis < shape.rank(); ++axis) {\n"
        "    const bool last = axis == shape.rank() - 1;\n"
        "    if (!last && (index[axis] < 0 || index[axis] >= shape[axis]))\n"
        "      throw std::invalid_argument(\"range\");\n"
        "    position = position * shape[axis] + index[axis];\n"
        "  }\n"
        "  return position;"}},
      "#include <iterator>\n");
  checked.expect("offset", "took an input that it must refuse",
                 {"Close to a known mistake: no check of the range"});
  const Checked tokens("14_decoding",
                       {{"keep_top_p",
                         "  std::vector<double> sorted = probabilities;\n"
                         "  std::sort(sorted.rbegin(), sorted.rend());\n"
                         "  int count = 1;\n"
                         "  for (double reached = 0; count < int(sorted.size()) && reached < p; ++count)\n"
                         "    reached += sorted[std::size_t(count)];\n"
                         "  return keep_top_k(probabilities, count);"}});
  tokens.expect("keep_top_p", "wrong values");
  check(tokens.verdict("keep_top_p").find("known mistake") == std::string::npos,
        "what does not explain the errors on drawn inputs is not named", tokens.verdict("keep_top_p"));
  const Checked columns(
      "02_autograd",
      {{"broadcast_backward",
        "  const Index rows = shape.rank() == 2 ? shape[0] : 1, columns = shape[-1];\n"
        "  Tensor out = zeros({rows, columns});\n"
        "  for (Index i = 0; i < gradient.size(0); ++i)\n"
        "    for (Index j = 0; j < gradient.size(1); ++j) out(rows == 1 ? 0 : i, rows == 1 ? 0 : "
        "columns == 1 ? 0 : j) += gradient(i, j);\n"
        "  return reshape(out, shape);"}});
  columns.expect("broadcast_backward", "wrong values");
  check(columns.verdict("broadcast_backward").find("a number of its own") == std::string::npos,
        "one row is no evidence for columns", columns.verdict("broadcast_backward"));
}

// Lists that have too much or too little, numbers that an int cannot hold, a flag that decides.
void test_more_facts() {
  const Checked lists("02_autograd",
                      {{"backward_order",
                        "  std::vector<int> order;\n"
                        "  for (int node = root; node >= 0; --node) order.push_back(node);\n"
                        "  for (int node = int(graph.size()); --node > root;) order.push_back(node);\n"
                        "  return order;"}});
  lists.expect("backward_order", "wrong", {"Yours has all elements of ours, and more."});
  const Checked keys(
      "11_transformer",
      {{"visible_keys",
        "  Tensor seen = zeros({T, S});\n"
        "  for (Index i = 0; i < T; ++i)\n"
        "    for (Index j = 0; j < S; ++j) seen(i, j) = j < length && (!causal || j <= i + S - T);\n"
        "  return seen;"},
       {"count_parameters",
        "  const unsigned c = unsigned(C), f = unsigned(F), n = unsigned(N);\n"
        "  return unsigned(V) * c + n * (12 * c * (c + 1) + 2 * (2 * c * f + f + c) + 10 * c);"}});
  keys.expect("visible_keys", "wrong values", {"It is wrong", "where causal && "});
  keys.expect("count_parameters", "wrong values", {"ours cut to 32 bits: an unsigned int is too small"});
}

// Each passed function has one line, its note only when it is new; the first that fails has the screen.
void test_screen() {
  const std::string file = "my/04_learning.hpp";
  write(file, with_body(with_body(solution("04_learning"), "sgd_step", "  p = p - gradient;"), "adam_step",
                        "  ++state.step;"));
  const Said first = coach("check 04"), second = coach("check 04");
  expect(first, 1, {"✔ batch_loss            passed\n    Guessing blindly", "✘ sgd_step"},
         "a note when it is new");
  expect(second, 1, {"✔ batch_loss            passed\n  ✔ batch_loss_backward   passed\n  ✘ sgd_step"},
         "no note the second time");
  const std::size_t adam = second.text.find("✘ adam_step");
  check(adam != std::string::npos && second.text.find("smallest input", adam) == std::string::npos,
        "the second failing function has one line", second.text);
  expect(coach("check 04 adam_step"), 1, {"✘ adam_step", "smallest input"},
         "a function by name has the screen");
  const Checked library("01_tensors", {{"broadcast_add", "  return a + b;"}});
  library.expect("broadcast_add", "passed, by the library's a + b: now with loops");
}

}  // namespace

void test_facts() {
  test_layout();
  test_numbers();
  test_variations();
  test_calls();
  test_nothing();
  test_likeness();
  test_more_facts();
  test_screen();
}

}  // namespace testing
