// Answers that must not pass, one for every way in which the numbers alone would not show it.
#include "tests/exercises/coach_testing.hpp"

#include <cmath>  // log

namespace testing {
namespace {

void test_endings() {
  const Checked checked(
      "05_tokens",
      {{"frequent_pair",
        "  if (ids.size() < 2) throw 7;\n"
        "  std::map<std::pair<int, int>, int> n;\n"
        "  for (std::size_t i = 1; i < ids.size(); ++i) ++n[{ids[i - 1], ids[i]}];\n"
        "  auto best = n.begin();\n"
        "  for (auto it = n.begin(); it != n.end(); ++it)\n"
        "    if (it->second > best->second) best = it;\n"
        "  return best->first;"},
       {"merge_once",
        "  if (ids.size() == 1) std::quick_exit(0);\n"
        "  Ids out;\n"
        "  for (std::size_t i = 0; i < ids.size(); ++i) {\n"
        "    const bool here = i + 1 < ids.size() && ids[i] == left && ids[i + 1] == right;\n"
        "    out.push_back(here ? merged : ids[i]);\n"
        "    i += here;\n"
        "  }\n"
        "  return out;"},
       {"bpe_encode", "  return {};"},
       {"bpe_decode",
        "  static std::string text;\n"
        "  std::vector<std::string> texts;\n"
        "  for (int b = 0; b < 256; ++b) texts.emplace_back(1, char(b));\n"
        "  for (auto& [l, r] : merges) texts.push_back(texts[l] + texts[r]);\n"
        "  for (int id : ids) text += texts[id];\n"
        "  return text;"},
       {"pad_rows", "  return {};"},
       {"lookup_backward",
        "  for (Index c = 0; c < gradient.size(1); ++c)\n"
        "    for (std::size_t t = 0; t < ids.size(); ++t) gradient(t, c) *= 2;\n"
        "  Tensor out = zeros({vocabulary, gradient.size(1)});\n"
        "  for (std::size_t t = 0; t < ids.size(); ++t)\n"
        "    for (Index c = 0; c < gradient.size(1); ++c) out(ids[t], c) += gradient(t, c);\n"
        "  return out;"}},
      "#include <cstdlib>\n#include <map>\n");
  checked.expect("frequent_pair", "threw the wrong exception", {"std::invalid_argument", "Yours threw int"});
  checked.expect("merge_once", "ended the program", {"ended the whole program (exit code 0)"});
  checked.expect("bpe_encode", "wrong length", {"yours has length 0"});
  checked.expect("bpe_decode", "remembers an earlier call",
                 {"remembers an earlier call", "static or global"});
  checked.expect("pad_rows", "wrong shape", {"an empty IntTensor"});
  checked.expect("lookup_backward", "wrong values", {"It changes gradient"});
}

void test_refusals() {
  const Checked checked(
      "01_tensors",
      {{"offset",
        "  if (Index(index.size()) != shape.rank()) throw std::length_error(\"indices\");\n"
        "  Index place = 0;\n"
        "  for (int a = 0; a < shape.rank(); ++a) {\n"
        "    if (index[a] < 0 || index[a] >= shape[a]) throw std::invalid_argument(\"outside\");\n"
        "    place = place * shape[a] + index[a];\n"
        "  }\n"
        "  return place;"},
       {"broadcast", "  return {};"},
       {"broadcast_add",
        "  Tensor out = empty({std::max(a.size(0), b.size(0)), std::max(a.size(1), b.size(1))});\n"
        "  for (Index i = 0; i < out.size(0); ++i)\n"
        "    for (Index j = 0; j < out.size(1); ++j)\n"
        "      out(i, j) = a(a.size(0) == 1 ? 0 : i, a.size(1) == 1 ? 0 : j) +\n"
        "                  b(b.size(0) == 1 ? 0 : i, b.size(1) == 1 ? 0 : j);\n"
        "  return out;"},
       {"product", "  return matmul(a, b);"}});
  checked.expect("offset", "threw the wrong exception", {"Yours threw std::length_error: indices"});
  checked.expect("broadcast", "wrong length", {"yours has rank 0, ours rank"});
  checked.expect("broadcast_add", "threw an exception", {"(0"});
  checked.expect("product", "threw the wrong exception", {"Yours threw attn::Error: matmul: "});
}

// Results that only inputs at the edge of the contract tell from right ones.
void test_ranges() {
  const Checked counts(
      "11_transformer",
      {{"visible_keys",
        "  Tensor seen = zeros({T, S});\n"
        "  for (Index i = 0; i < T; ++i)\n"
        "    for (Index j = 0; j < S; ++j) seen(i, j) = j < length && (!causal || j - S <= i - T);\n"
        "  return seen;"},
       {"count_parameters",
        "  const int c = int(C), f = int(F), n = int(N);\n"
        "  return int(V) * c + n * (12 * c * (c + 1) + 2 * (2 * c * f + f + c) + 10 * c);"}});
  counts.expect("visible_keys", "wrong values", {"T = ", "S = "});
  counts.expect("count_parameters", "crashed", {"signed integer overflow", "Index, which has 64 bits"});
  const Checked losses("15_gpt", {{"next_token_loss",
                                   "  const Tensor p = softmax(logits);\n"
                                   "  double loss = 0;\n"
                                   "  for (Index t = 0; t < logits.size(0); ++t)\n"
                                   "    loss -= std::log(p(t, writes[t])) / double(logits.size(0));\n"
                                   "  return loss;"}});
  losses.expect("next_token_loss", "wrong values", {"an infinity where ours has none"});
  const Checked leaks("07_masking", {{"leaking_tokens",
                                      "  const Tensor before = model(x);\n"
                                      "  std::vector<int> found;\n"
                                      "  for (Index t = 0; t < x.size(0); ++t) {\n"
                                      "    Tensor y = from_values(x.shape(), x.values());\n"
                                      "    for (Index c = 0; c < x.size(1); ++c) y(t, c) += 3;\n"
                                      "    const Tensor after = model(y);\n"
                                      "    bool moved = false;\n"
                                      "    for (Index i = 0; i < t; ++i)\n"
                                      "      for (Index e = 0; e < after.size(1); ++e)\n"
                                      "        moved |= std::abs(after(i, e) - before(i, e)) > 1e-9;\n"
                                      "    if (moved) found.push_back(int(t));\n"
                                      "  }\n"
                                      "  return found;"}});
  leaks.expect("leaking_tokens", "wrong length", {"model(", "yours asked"});
}

// What a contract promises beside its numbers.
void test_promises() {
  const Checked tiles("03_fast_matmul",
                      {{"multiply_tiled",
                        "  for (Index p = 0; p < k; ++p)\n"
                        "    for (Index i = 0; i < m; ++i)\n"
                        "      for (Index j = 0; j < n; ++j)\n"
                        "        c.values[i * c.stride + j] +=\n"
                        "            a.values[i * a.stride + p] * b.values[p * b.stride + j];"}});
  tiles.expect("multiply_tiled", "right numbers, but not as promised", {"does not work tile by tile"});
  const Checked place("12_training",
                      {{"clip_gradients",
                        "  real squares = 0;\n"
                        "  for (const Tensor& g : gradients)\n"
                        "    for (const real x : g.values()) squares += x * x;\n"
                        "  const real norm = std::sqrt(squares);\n"
                        "  for (Tensor& g : gradients) g = g * std::min(real(1), limit / norm);\n"
                        "  return norm;"}});
  place.expect("clip_gradients", "right numbers, but not as promised", {"It is not in place"});
  const Checked memory(
      "18_fast_attention",
      {{"tiled_attend",
        "  return matmul(softmax(matmul(q, k, Transpose::second) / std::sqrt(real(q.size(1)))), v);"}});
  memory.expect("tiled_attend", "right numbers, but not as promised",
                {"at most `tile` (7) scores may be held"});
}

// A seed draws the same inputs again, and one that shows a rare error makes it show again.
void test_seeds() {
  const std::string file = "my/08_multi_head.hpp";
  write(file, with_body(solution("08_multi_head"), "cache_numbers",
                        "  return std::int32_t(2 * layers * kv_heads * head_size * tokens);"));
  coach("check 08");  // what has passed is no longer new
  const Said one = coach("check 08 --seed 5"), two = coach("check 08 --seed 5"),
             other = coach("check 08 --seed 6");
  expect(one, 1, {"cache_numbers", "cut to 32 bits", "make check-08 SEED=5"}, "a count beyond 32 bits");
  check(one.text == two.text, "a seed repeats the check", one.text + two.text);
  check(one.text != other.text, "another seed draws other inputs", other.text);
  expect(coach("check 08 --seed five"), 2, {"coach: --seed takes a whole number"},
         "a seed that is no number");
}

}  // namespace

void test_holes() {
  test_endings();
  test_refusals();
  test_ranges();
  test_promises();
  test_seeds();
}

}  // namespace testing
