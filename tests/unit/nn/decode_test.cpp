// nn/decode.hpp: greedy and beam search, on models and on a made-up table, with and without a cache.
#include "nn/decode.hpp"

#include <algorithm>  // max_element, min_element
#include <iterator>   // ssize
#include <map>        // map

#include "tests/unit/small_models.hpp"

namespace attn {
namespace {

// Writes by a table: the probabilities of the next token after each beginning (the start token left out).
class TableWriter : public Writer {
 public:
  using Table = std::map<std::vector<int>, std::vector<double>>;
  explicit TableWriter(Table table) : table_(std::move(table)), written_(1) {}
  Index rows() const override { return std::ssize(written_); }
  Tensor next(const IntTensor& tokens) override {
    const Index V = std::ssize(table_.begin()->second);
    const Tensor logits = empty({rows(), V});
    for (Index r = 0; r < rows(); ++r) {
      std::vector<int>& text = written_[r];
      if (!first_) text.push_back(tokens[r]);
      for (Index v = 0; v < V; ++v) logits(r, v) = real(std::log(table_.at(text)[v]));
    }
    first_ = false;
    return logits;
  }
  void reorder(const std::vector<int>& rows) override {
    std::vector<std::vector<int>> before = written_;
    written_.clear();
    for (const int row : rows) written_.push_back(before[row]);
  }

 private:
  Table table_;
  std::vector<std::vector<int>> written_;
  bool first_ = true;
};

constexpr int end_token = 0;
const DecodeOptions options{.start = 1, .end = end_token, .max_length = 8};

BeamOptions beam(Index width, double length_penalty = 0, Index max_length = 8) {
  return {.start = 1,
          .end = end_token,
          .max_length = max_length,
          .width = width,
          .length_penalty = length_penalty};
}

struct Translation {
  TransformerConfig config = small_config();
  Tokens source{random_ids({3, 6}, 9, 3), IntTensor({3}, {6, 2, 4})};
  // Logits are spread out, so that the model is not of one mind about everything.
  Transformer model(std::uint64_t seed = 1) const {
    Rng rng(seed);
    Transformer transformer(config, rng);
    shaken(transformer);
    for (Index i = 0; i < transformer.target_embedding.table.numel(); ++i)
      transformer.target_embedding.table.data()[i] *= 3;
    return transformer;
  }
  std::vector<int> source_of(Index row) const {
    return {&source.ids(row, 0), &source.ids(row, 0) + source.lengths[row]};
  }
};

TEST_CASE("cached and uncached logits are equal for every position scheme, window and grouping") {
  const Threads one(1);
  for (const Positions positions : all_positions)
    for (const Index window : {0, 3})
      for (const Index kv_heads : {2, 1}) {
        CAPTURE(name_of(positions));
        CAPTURE(window);
        Translation task;
        task.config.positions = positions, task.config.window = window, task.config.kv_heads = kv_heads;
        task.config.pre_norm = kv_heads == 1;
        const Transformer model = task.model();
        Rng rng(2);
        TransformerConfig gpt_settings = task.config;
        gpt_settings.encoder_layers = 0;
        const Gpt gpt(gpt_settings, rng);
        TransformerWriter cached(model, task.source), uncached(model, task.source, {.cached = false});
        GptWriter gpt_cached(gpt, 3), gpt_uncached(gpt, 3, {.cached = false});
        // Several tokens at once to begin with, then one at a time; in the middle, rows change places.
        for (const Index n : {3, 1, 1, 1, 2, 1}) {
          const IntTensor tokens = random_ids({3, n}, 7, std::uint64_t(n));
          check_close(cached.next(tokens), uncached.next(tokens), double_build ? 1e-12 : 1e-4);
          check_close(gpt_cached.next(tokens), gpt_uncached.next(tokens), double_build ? 1e-12 : 1e-4);
          if (n == 2)
            for (Writer* writer :
                 std::initializer_list<Writer*>{&cached, &uncached, &gpt_cached, &gpt_uncached})
              writer->reorder({2, 0, 0});
        }
      }
}

TEST_CASE("a writer returns the model's logits at the last position") {
  const Translation task;
  const Transformer model = task.model();
  TransformerWriter writer(model, task.source);
  const IntTensor tokens = random_ids({3, 4}, 7, 5);
  const Tensor logits = model(task.source, tokens);
  check_close(writer.next(tokens), select(logits, 1, -1), double_build ? 1e-12 : 1e-5);
}

TEST_CASE("a writer's probe looks into every layer, at the source once and at each new token") {
  const Translation task;
  const Transformer model = task.model();
  for (const bool cached : {false, true}) {
    std::map<std::string, Index> calls;
    const AttentionProbe count = [&](AttentionSteps& steps) { ++calls[steps.name]; };
    TransformerWriter writer(model, task.source, {.cached = cached, .context = {.probe = &count}}),
        plain(model, task.source, {.cached = cached});
    for (Index t = 0; t < 2; ++t)
      check_close(writer.next(random_ids({3, 1}, 7, 5)), plain.next(random_ids({3, 1}, 7, 5)),
                  double_build ? 1e-12 : 1e-5);
    const Index layers = model.config.decoder_layers;
    CHECK(calls == std::map<std::string, Index>{{"encoder", model.config.encoder_layers},
                                                {"decoder", 2 * layers},
                                                {"cross", 2 * layers}});
  }
}

TEST_CASE("after reordering, each row goes on as the row it was taken from") {
  const Translation task;
  const Transformer model = task.model();
  const IntTensor begun = random_ids({3, 2}, 7, 1), more = random_ids({4, 1}, 7, 2);
  const std::vector<int> rows{2, 0, 1, 0};
  for (const bool cached : {false, true}) {
    TransformerWriter writer(model, task.source, {.cached = cached});
    writer.next(begun);
    writer.reorder(rows);
    CHECK(writer.rows() == 4);
    const Tensor logits = writer.next(more);
    for (Index i = 0; i < 4; ++i) {
      const Index row = rows[i];
      TransformerWriter alone(model, task.source_of(row));
      check_close(logits[i], alone.next(IntTensor({1, 3}, {begun(row, 0), begun(row, 1), more[i]}))[0],
                  double_build ? 1e-12 : 1e-4);
    }
  }
}

TEST_CASE("a GPT with a table of positions writes on beyond its end, cached or not") {
  Rng rng(1);
  Gpt gpt(gpt_config({.vocabulary = 7, .d_model = 8, .heads = 2, .layers = 1, .max_length = 6}), rng);
  shaken(gpt);
  GptWriter cached(gpt, 2), uncached(gpt, 2, {.cached = false});
  const IntTensor all = random_ids({2, 20}, 7, 1);
  for (Index t = 0; t < 20; ++t) {
    const IntTensor token({2, 1}, {all(0, t), all(1, t)});
    const Tensor logits = cached.next(token);
    check_close(logits, uncached.next(token), double_build ? 1e-12 : 1e-5);
    if (t == 6) {  // the seventh token: the newest three are read afresh
      const IntTensor newest({2, 3}, {all(0, 4), all(0, 5), all(0, 6), all(1, 4), all(1, 5), all(1, 6)});
      check_close(logits, select(gpt(newest), 1, -1), double_build ? 1e-12 : 1e-5);
    }
  }
}

TEST_CASE("greedy takes the likeliest token each time and leaves the end out") {
  const TableWriter::Table table{{{}, {0.1, 0.2, 0.7}}, {{2}, {0.3, 0.4, 0.3}}, {{2, 1}, {0.6, 0.2, 0.2}}};
  TableWriter writer(table), again(table);
  CHECK(greedy(writer, options)[0] == std::vector<int>{2, 1});
  CHECK(greedy(again, {.start = 1, .end = 0, .max_length = 1})[0] == std::vector<int>{2});
}

TEST_CASE("sentences that end at different steps are decoded in a batch as one by one") {
  const Threads one(1);
  for (const Positions positions : all_positions) {
    CAPTURE(name_of(positions));
    Translation task;
    task.config.positions = positions;
    std::vector<Index> sizes;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      const Transformer model = task.model(seed);
      TransformerWriter together(model, task.source);
      const std::vector<std::vector<int>> sentences = greedy(together, options);
      for (Index row = 0; row < 3; ++row) {
        TransformerWriter alone(model, task.source_of(row));
        CHECK(greedy(alone, options)[0] == sentences[row]);
        sizes.push_back(std::ssize(sentences[row]));
      }
    }
    // The models do end sentences, and at different steps.
    CHECK(*std::min_element(sizes.begin(), sizes.end()) < *std::max_element(sizes.begin(), sizes.end()));
  }
}

TEST_CASE("a beam of one is greedy") {
  const Threads one(1);
  const Translation task;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Transformer model = task.model(seed);
    TransformerWriter for_beam(model, task.source_of(0)), for_greedy(model, task.source_of(0));
    const BeamResult result = beam_search(for_beam, beam(1, 0.6));
    REQUIRE(result.hypotheses.size() == 1);
    CHECK(result.hypotheses[0].tokens == greedy(for_greedy, options)[0]);
  }
}

struct Sentence {
  std::vector<int> tokens;
  double log_probability, score;
};

// Every sentence of up to `left` more tokens, the best last word kept: no pruning, no cleverness.
void search_all(const Transformer& model, const std::vector<int>& source, std::vector<int> written,
                double log_probability, Index left, double alpha, Sentence& best) {
  const auto consider = [&](double total, Index length) {
    const double score = total / std::pow((5.0 + double(length)) / 6.0, alpha);
    if (score > best.score) best = {{written.begin() + 1, written.end()}, total, score};
  };
  if (left == 0) return consider(log_probability, std::ssize(written) - 1);
  const Tensor next = log_softmax(select(model(source, written), 1, -1));
  for (int token = 0; token < next.size(1); ++token) {
    const double total = log_probability + double{next(0, token)};
    if (token == end_token) {
      consider(total, std::ssize(written));
    } else {
      written.push_back(token);
      search_all(model, source, written, total, left - 1, alpha, best);
      written.pop_back();
    }
  }
}

TEST_CASE("a beam that holds every beginning finds what trying all sentences finds") {
  const Threads one(1);
  Translation task;
  task.config.vocabulary = 4;
  const Index length = 4;  // at most 3 + 9 + 27 + 81 open beginnings
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    for (const double alpha : {0.0, 0.6, 1.5}) {
      const NoGrad no_grad;
      const Transformer model = task.model(seed);
      Sentence best{{}, 0, -1e9};
      search_all(model, task.source_of(0), {1}, 0, length, alpha, best);
      TransformerWriter writer(model, task.source_of(0));
      const BeamResult result = beam_search(writer, beam(200, alpha, length));
      CHECK(result.hypotheses[0].tokens == best.tokens);
      CHECK(result.hypotheses[0].log_probability == doctest::Approx(best.log_probability));
      CHECK(result.hypotheses[0].score == doctest::Approx(best.score));
      double total = 0;  // all sentences there are, cut off or not
      for (const Hypothesis& hypothesis : result.hypotheses) total += std::exp(hypothesis.log_probability);
      CHECK(total == doctest::Approx(1));
    }
}

// Tokens: 0 ends; 1, 2 and 3 are words. After "1" the model hesitates between three words, after "2" between
// two: both continuations of "2" (0.24 each) push the greedy beginning "1 1" (0.18) out of a beam of two. But
// "1 1" would have ended at once and with certainty, while after "2 …" the next token is anybody's guess. A
// beam sees how likely a beginning is, not what it will cost to end it, so a wider one may end with a less
// likely sentence than greedy.
TEST_CASE("a beam of two may end below greedy") {
  const std::vector<double> lost{0.25, 0.25, 0.25, 0.25}, ends{1 - 3e-9, 1e-9, 1e-9, 1e-9};
  const TableWriter::Table table{{{}, {1e-9, 0.52, 0.48, 1e-9}},
                                 {{1}, {1e-9, 0.34, 0.33, 0.33}},
                                 {{2}, {1e-9, 0.5, 0.5, 1e-9}},
                                 {{3}, lost},
                                 {{1, 1}, ends},
                                 {{1, 2}, ends},
                                 {{1, 3}, ends},
                                 {{2, 1}, lost},
                                 {{2, 2}, lost},
                                 {{2, 3}, lost},
                                 {{3, 1}, lost},
                                 {{3, 2}, lost},
                                 {{3, 3}, lost}};
  TableWriter for_greedy(table), for_beam(table), for_wide(table);
  CHECK(greedy(for_greedy, options)[0] == std::vector<int>{1, 1});
  const BeamResult narrow = beam_search(for_beam, beam(2, 0, 3)),
                   wide = beam_search(for_wide, beam(16, 0, 3));
  CHECK(std::exp(narrow.hypotheses[0].log_probability) == doctest::Approx(0.48 * 0.5 * 0.25));
  CHECK(std::exp(wide.hypotheses[0].log_probability) == doctest::Approx(0.52 * 0.34));
  CHECK(wide.hypotheses[0].tokens == std::vector<int>{1, 1});
}

TEST_CASE("without a length penalty short sentences win, with one longer ones do") {
  const TableWriter::Table table{
      {{}, {0.35, 0.65, 1e-9}}, {{1}, {1e-9, 0.7, 0.3}}, {{1, 1}, {0.7, 0.15, 0.15}}};
  const auto best = [&](double alpha) {
    TableWriter writer(table);
    return beam_search(writer, beam(2, alpha, 3)).hypotheses[0].tokens;
  };
  CHECK(best(0).empty());
  CHECK(best(2) == std::vector<int>{1, 1});
}

TEST_CASE("tokens that never come take no place in the beam") {
  const TableWriter::Table table{
      {{}, {1e-9, 0.6, 0.25, 0.15}}, {{2}, {0.5, 0.5, 1e-9, 1e-9}}, {{3}, {0.9, 0.1, 1e-9, 1e-9}}};
  BeamOptions without_one = beam(2, 0, 2);
  without_one.never = {1};
  TableWriter writer(table);
  const BeamResult result = beam_search(writer, without_one);
  REQUIRE(result.hypotheses.size() == 2);
  CHECK(result.hypotheses[0].tokens == std::vector<int>{3});
  CHECK(std::exp(result.hypotheses[0].log_probability) == doctest::Approx(0.15 * 0.9));
  CHECK(result.hypotheses[1].tokens == std::vector<int>{2});
  for (const BeamNode& node : result.tree)
    if (node.parent >= 0) CHECK(node.token != 1);
  without_one.never = {4};
  TableWriter other(table), another(table);
  CHECK_THROWS_WITH_AS(beam_search(other, without_one), "beam_search: token 4 never comes, and there are 4",
                       Error);
  without_one.never = {0, 1, 2, 3};
  CHECK_THROWS_WITH_AS(beam_search(another, without_one), "beam_search: no token is left that may come next",
                       Error);
}

TEST_CASE("the beam's tree has every candidate, its parent and its probability, and who was kept") {
  const Threads one(1);
  const Translation task;
  const Transformer model = task.model(2);
  TransformerWriter writer(model, task.source_of(0));
  const BeamResult result = beam_search(writer, beam(3));
  CHECK(result.hypotheses.size() == 3);
  std::map<Index, int> kept_at, candidates_at;
  for (Index i = 1; i < std::ssize(result.tree); ++i) {
    const BeamNode& node = result.tree[i];
    REQUIRE(node.parent >= 0);
    REQUIRE(node.parent < i);
    const BeamNode& parent = result.tree[node.parent];
    CHECK(node.depth == parent.depth + 1);
    CHECK(node.log_probability <= parent.log_probability);
    CHECK(parent.kept);
    CHECK(!parent.finished);
    CHECK(node.finished == (node.token == end_token));
    ++candidates_at[node.depth], kept_at[node.depth] += node.kept;
  }
  CHECK(candidates_at[1] == 3);
  for (const auto& [depth, kept] : kept_at) CHECK(kept <= 3);
  for (Index i = 0; i < 3; ++i) {
    const Hypothesis& hypothesis = result.hypotheses[i];
    std::vector<int> path;
    for (Index at = hypothesis.node; at > 0; at = result.tree[at].parent)
      if (result.tree[at].token != end_token) path.insert(path.begin(), result.tree[at].token);
    CHECK(path == hypothesis.tokens);
    if (i > 0) CHECK(hypothesis.score <= result.hypotheses[i - 1].score);
    // The sum of the search, token by token, is the model's log-probability of the whole sentence.
    std::vector<int> read{1}, said = hypothesis.tokens;
    read.insert(read.end(), said.begin(), said.end());
    if (result.tree[hypothesis.node].finished) said.push_back(end_token);
    read.resize(said.size());
    const Index T = std::ssize(said);
    const Tensor logits = model(task.source_of(0), read);
    const double total = -double(T) * double{cross_entropy(logits, IntTensor({1, T}, said)).item()};
    CHECK(hypothesis.log_probability == doctest::Approx(total).epsilon(1e-4));
  }
}

TEST_CASE("beam search refuses what it cannot do") {
  const Translation task;
  const Transformer model = task.model();
  TransformerWriter three(model, task.source), single(model, task.source_of(0));
  CHECK_THROWS_WITH_AS(beam_search(three, beam(2)), "beam_search: decodes one sentence, not 3", Error);
  CHECK_THROWS_WITH_AS(beam_search(single, beam(0)), "beam_search: a beam of width 0; it must be at least 1",
                       Error);
}

}  // namespace
}  // namespace attn
