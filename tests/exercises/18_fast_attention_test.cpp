// Grades exercise 18. The right answers work on whole rows: no tiles, no running sums.
#include "mistakes/18_fast_attention.hpp"  // made from mistakes.diff
#include "nn/attention.hpp"                // mask_bias
#include "tests/exercises/oracle.hpp"      // attend, share_heads

using namespace attn;
using coach::Cases;
using coach::Question;

namespace oracle {

constexpr real infinity = std::numeric_limits<real>::infinity();

// `sum` stands for terms that were measured against the old maximum.
void absorb_tile(real& largest, real& sum, const std::vector<real>& tile) {
  const real now = tile.empty() ? largest : std::max(largest, *std::max_element(tile.begin(), tile.end()));
  sum = sum == 0 ? 0 : sum * std::exp(largest - now);
  for (const real score : tile) sum += std::exp(score - now);
  largest = now;
}

Tensor tiled_attend(const Tensor& q, const Tensor& k, const Tensor& v, Index) { return attend(q, k, v); }

Tensor window_mask(Index T, Index window, bool causal) {
  return reshape(exp(mask_bias({.causal = causal, .window = window}, 1, T, T)), {T, T});  // 0 -> 1, -inf -> 0
}

Index cache_bytes(Index layers, Index tokens, Index d_model, Index heads, Index kv_heads,
                  Index bytes_a_number) {
  const Index key = kv_heads * (d_model / heads), value = key;
  return layers * tokens * (key + value) * bytes_a_number;
}

}  // namespace oracle

namespace {

std::vector<real> tidy_list(Index n, Rng& rng, real factor = 1) {
  return (coach::tidy({n}, rng) * factor).values();
}

}  // namespace

namespace {

// For a long row, scores of one tile are far less than the row; the output and some
// small buffers are allowed.
std::string holds_one_tile(const coach::Witness<coach::Case<decltype(exercise::tiled_attend)>>& seen) {
  const auto& [q, k, v, tile] = seen.after;
  const Index row = k.size(0) * Index(sizeof(real));
  const Index allowed = (q.size(0) * v.size(1) + 8 * tile) * Index(sizeof(real)) + 8192;
  if (row < 2 * allowed || seen.most_bytes < row) return "";
  return fmt::format(
      "It holds {} bytes at a time, as much as whole rows of {} scores: at most `tile` ({}) scores "
      "may be held.",
      seen.most_bytes, k.size(0), tile);
}

}  // namespace

coach::Exercise coach::exercise() {
  return {
      "18_fast_attention",
      {Question<decltype(exercise::absorb_tile)>{
           .name = "absorb_tile",
           .answer = exercise::absorb_tile,
           .oracle = oracle::absorb_tile,
           .arguments = {"largest", "sum", "tile"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::absorb_tile)> {
             return {{real(0.5), real(1), {real(0.2)}},                // nothing larger
                     {real(0.5), real(1.5), {real(1.2), real(0.3)}},   // a new maximum
                     {-oracle::infinity, real(0), tidy_list(3, rng)},  // the first tile
                     {real(-2), real(1.3), tidy_list(5, rng)},         // surely a new maximum
                     {real(4), real(2.5), tidy_list(7, rng)},          // surely none
                     {real(990), real(1.2), {real(1000), real(985)}},  // exp alone overflows
                     {real(-1000), real(1.1), {real(-1003), real(-1001), real(-1002)}},
                     {real(0.1), real(2), tidy_list(17, rng, 3)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::absorb_tile)> {
             const bool first = draw.rng.below(3) == 0;
             const real largest = first ? -oracle::infinity : draw.up_to_1000({1})(0);
             return {largest, first ? real(0) : real(draw.between(10, 50)) / 10,
                     draw.up_to_1000({draw.size()}).values()};
           },
           .mistakes = mistakes::absorb_tile,
           .notice =
               "Two numbers a row stand for a row of any length: that is why the matrix need not exist."},
       Question<decltype(exercise::tiled_attend)>{
           .name = "tiled_attend",
           .answer = exercise::tiled_attend,
           .oracle = oracle::tiled_attend,
           .arguments = {"q", "k", "v", "tile"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::tiled_attend)> {
             return {{tidy({1, 2}, rng), tidy({2, 2}, rng), tidy({2, 1}, rng), 1},
                     {tidy({1, 2}, rng), tidy({3, 2}, rng), tidy({3, 1}, rng), 2},
                     {from_values({2, 1}, {1, -1}), from_values({4, 1}, {1, 3, 2, 4}),
                      from_values({4, 1}, {1, 2, 5, 9}), 2},
                     {normal({3, 3}, rng), normal({3, 3}, rng), normal({3, 3}, rng), 3},
                     {normal({5, 7}, rng), normal({11, 7}, rng), normal({11, 3}, rng), 4},
                     {normal({4, 5}, rng) * real(30), normal({9, 5}, rng) * real(30), normal({9, 2}, rng), 2},
                     {normal({2, 3}, rng), normal({5, 3}, rng), normal({5, 4}, rng), 17},
                     {normal({2, 2}, rng), normal({3000, 2}, rng), normal({3000, 1}, rng), 7}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::tiled_attend)> {
             const Index T = draw.size(), S = draw.size(), D = draw.size(), E = draw.size();
             const real factor = draw.one_of<real>({1, 1, 20});
             return {draw.tidy({T, D}) * factor, draw.tidy({S, D}) * factor, draw.tidy({S, E}), draw.size()};
           },
           .promise = holds_one_tile,
           .mistakes = mistakes::tiled_attend,
           .notice = "Any tile gives the same numbers, so its size is free to fit the cache: 96 × 128 in "
                     "core/ops_attention.cpp."},
       Question<decltype(exercise::window_mask)>{
           .name = "window_mask",
           .answer = exercise::window_mask,
           .oracle = oracle::window_mask,
           .arguments = {"T", "window", "causal"},
           .cases = [](Rng&) -> Cases<decltype(exercise::window_mask)> {
             return {{3, 2, true},  {3, 2, false}, {3, 1, true},  {5, 1, false}, {5, 3, true},
                     {7, 3, false}, {5, 5, true},  {5, 4, false}, {5, 9, true},  {7, 17, false}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::window_mask)> {
             return {draw.size() + draw.size(0), draw.size(), draw.coin()};
           },
           .mistakes = mistakes::window_mask,
           .notice =
               "A band of T·w ones: stack L such layers and a token still hears from L·(w − 1) places away.",
           .library = {"mask_bias"}},
       Question<decltype(exercise::share_heads)>{
           .name = "share_heads",
           .answer = exercise::share_heads,
           .oracle = oracle::share_heads,
           .arguments = {"k", "heads"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::share_heads)> {
             return {{places({2, 1, 1}) + 1, 4},  {places({2, 2, 1}) + 1, 6},  {places({3, 2, 3}), 6},
                     {normal({1, 3, 2}, rng), 5}, {normal({3, 5, 2}, rng), 3}, {normal({2, 3, 2}, rng), 5},
                     {normal({4, 2, 2}, rng), 2}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::share_heads)> {
             const Index kv = draw.size(), heads = draw.rng.below(3) ? kv * draw.between(1, 3) : draw.size();
             return {places({kv, draw.size(), draw.size()}), heads};
           },
           .mistakes = mistakes::share_heads,
           .notice = "With as many kv heads as heads nothing changes; with one it is multi-query attention. "
                     "GQA is all that lies between."},
       Question<decltype(exercise::cache_bytes)>{
           .name = "cache_bytes",
           .answer = exercise::cache_bytes,
           .oracle = oracle::cache_bytes,
           .arguments = {"layers", "tokens", "d_model", "heads", "kv_heads", "bytes_a_number"},
           .cases = [](Rng&) -> Cases<decltype(exercise::cache_bytes)> {
             return {{1, 10, 64, 8, 2, 4},
                     {3, 7, 30, 5, 1, 2},
                     {2, 100, 96, 12, 4, 4},
                     {32, 8192, 4096, 32, 8, 2},
                     {32, 8192, 4096, 32, 32, 2}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::cache_bytes)> {
             const Index kv = draw.between(1, 8), heads = kv * draw.between(1, 8);
             return {draw.count(100),
                     draw.count(1000000),
                     heads * draw.count(256),
                     heads,
                     kv,
                     draw.one_of<Index>({1, 2, 4, 8})};
           },
           .mistakes = mistakes::cache_bytes,
           .notice = "The last cases are a model of some eight billion parameters: 1.07 GB for one text of "
                     "8,192 tokens, and 4.3 GB without sharing."}}};
}
