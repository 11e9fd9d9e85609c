#include "nn/decode.hpp"

#include <algorithm>  // copy_n, find, max_element, stable_sort
#include <cmath>      // exp, isfinite, isnan, pow
#include <iterator>   // ssize
#include <limits>     // numeric_limits
#include <numeric>    // iota

#include "core/autograd.hpp"
#include "core/error.hpp"

namespace attn {
namespace {

IntTensor append(const IntTensor& before, const IntTensor& more) {
  if (!before) return more;
  const Index rows = more.shape()[0], a = before.shape()[1], b = more.shape()[1];
  if (rows != before.shape()[0])
    fail("writer: tokens {} for the {} rows it has written", more.shape().str(), before.shape()[0]);
  IntTensor out({rows, a + b});
  for (Index r = 0; r < rows; ++r) {
    std::copy_n(before.data() + r * a, a, out.data() + r * (a + b));
    std::copy_n(more.data() + r * b, b, out.data() + r * (a + b) + a);
  }
  return out;
}

IntTensor pick_rows(const IntTensor& x, const std::vector<int>& rows) {
  if (!x) return x;
  const Index row = x.shape().stride(0);
  IntTensor out(x.shape().with(0, std::ssize(rows)));
  for (Index i = 0; i < std::ssize(rows); ++i) {
    if (rows[i] < 0 || rows[i] >= x.shape()[0])
      fail("writer: row {} of {} that it has written", rows[i], x.shape()[0]);
    std::copy_n(x.data() + rows[i] * row, row, out.data() + i * row);
  }
  return out;
}

IntTensor last_columns(const IntTensor& x, Index count) {
  const Index rows = x.shape()[0], columns = x.shape()[1];
  IntTensor out({rows, count});
  for (Index r = 0; r < rows; ++r)
    std::copy_n(x.data() + (r + 1) * columns - count, count, out.data() + r * count);
  return out;
}

Tensor last_step(const Tensor& logits) { return select(logits, 1, -1); }  // (rows, T, V) -> (rows, V)

// NaN has no place in an order, and where all are -inf or one is inf, there are no probabilities.
void check_logits(const char* what, const real* logits, Index n) {
  real largest = -std::numeric_limits<real>::infinity();
  for (Index i = 0; i < n; ++i) {
    if (std::isnan(logits[i])) fail("{}: logit {} is NaN: the model is broken", what, i);
    largest = std::max(largest, logits[i]);
  }
  if (!std::isfinite(largest)) fail("{}: the largest of the {} logits is {}", what, n, largest);
}

// The logits after the newest tokens, checked.
Tensor checked_next(const char* what, Writer& writer, const IntTensor& tokens) {
  const Tensor logits = writer.next(tokens);  // (rows, V)
  const Index V = logits.size(1);
  for (Index r = 0; r < logits.size(0); ++r) check_logits(what, logits.data() + r * V, V);
  return logits;
}

IntTensor column(const std::vector<int>& tokens) { return {{std::ssize(tokens), 1}, tokens}; }

constexpr real impossible = -std::numeric_limits<real>::infinity();

double penalty(Index length, double alpha) { return std::pow((5.0 + double(length)) / 6.0, alpha); }

// Sentences that grow together, each until its end token.
struct Sentences {
  std::vector<std::vector<int>> tokens;
  std::vector<bool> finished;
  int end;

  Sentences(Index rows, int end) : tokens(rows), finished(rows, false), end(end) {}
  bool any_open() const { return std::find(finished.begin(), finished.end(), false) != finished.end(); }
  void add(const std::vector<int>& newest) {
    for (Index r = 0; r < std::ssize(tokens); ++r) {
      if (newest[r] == end) finished[r] = true;
      if (!finished[r]) tokens[r].push_back(newest[r]);  // a finished row stays in the batch but is ignored
    }
  }
};

}  // namespace

TransformerWriter::TransformerWriter(const Transformer& model, const Tokens& source,
                                     const WriterOptions& options)
    : model_(model), options_(options) {
  const NoGrad no_grad;
  memory_ = model.encode(source, options.context);
}

Tensor TransformerWriter::next(const IntTensor& tokens) {
  const NoGrad no_grad;
  const Context& context = options_.context;
  if (options_.cached) return last_step(model_.decode(tokens, memory_, cache_, context));
  written_ = append(written_, tokens);
  return last_step(model_.decode(written_, memory_, context));
}

void TransformerWriter::reorder(const std::vector<int>& rows) {
  const NoGrad no_grad;
  memory_ = {take_rows(memory_.states, rows), pick_rows(memory_.lengths, rows)};
  written_ = pick_rows(written_, rows);
  cache_.reorder(rows);
}

Tensor GptWriter::next(const IntTensor& tokens) {
  const NoGrad no_grad;
  written_ = append(written_, tokens);
  IntTensor fresh = options_.cached ? tokens : written_;
  const Index limit = model_.config.max_length;
  if (model_.config.positions == Positions::learned && written_.shape()[1] > limit) {
    fresh = written_ = last_columns(written_, std::max<Index>(1, limit / 2));
    cache_ = {};
  }
  return last_step(options_.cached ? model_(fresh, cache_) : model_(fresh));
}

void GptWriter::reorder(const std::vector<int>& rows) {
  rows_ = std::ssize(rows);
  written_ = pick_rows(written_, rows);
  cache_.reorder(rows);
}

std::vector<std::vector<int>> greedy(Writer& writer, const DecodeOptions& options) {
  Sentences sentences(writer.rows(), options.end);
  std::vector<int> newest(writer.rows(), options.start);
  for (Index step = 0; step < options.max_length && sentences.any_open(); ++step) {
    newest = argmax(checked_next("greedy", writer, column(newest))).values();  // (rows)
    sentences.add(newest);
  }
  return sentences.tokens;
}

BeamResult beam_search(Writer& writer, const BeamOptions& options) {
  if (writer.rows() != 1) fail("beam_search: decodes one sentence, not {}", writer.rows());
  if (options.width < 1) fail("beam_search: a beam of width {}; it must be at least 1", options.width);
  BeamResult result;
  std::vector<BeamNode>& tree = result.tree;
  tree.push_back({.token = options.start, .kept = true});
  std::vector<Index> open{0};  // the unfinished hypotheses of the beam, by their last node: the writer's rows
  const auto add_hypothesis = [&](Index last) {
    Hypothesis hypothesis{{}, tree[last].log_probability, 0, last};
    for (Index node = last; tree[node].parent >= 0; node = tree[node].parent)
      if (!tree[node].finished) hypothesis.tokens.insert(hypothesis.tokens.begin(), tree[node].token);
    hypothesis.score = hypothesis.log_probability / penalty(tree[last].depth, options.length_penalty);
    result.hypotheses.push_back(hypothesis);
  };

  for (Index step = 1; step <= options.max_length && !open.empty(); ++step) {
    std::vector<int> newest;
    for (const Index node : open) newest.push_back(tree[node].token);
    const Tensor log_probabilities =
        log_softmax(checked_next("beam search", writer, column(newest)));  // (rows, V)
    for (const int token : options.never) {
      if (token < 0 || token >= log_probabilities.size(1))
        fail("beam_search: token {} never comes, and there are {}", token, log_probabilities.size(1));
      for (Index row = 0; row < std::ssize(open); ++row) log_probabilities(row, token) = impossible;
    }
    const Index room = options.width - std::ssize(result.hypotheses);
    // Each hypothesis may contribute all of the next beam, so its `room` best continuations are enough.
    const TopK top = top_k(log_probabilities, std::min(room, log_probabilities.size(1)));
    struct Candidate {
      Index row, node;
    };
    std::vector<Candidate> candidates;
    for (Index row = 0; row < std::ssize(open); ++row)
      for (Index i = 0; i < top.values.size(1); ++i) {
        const int token = top.indices(row, i);
        if (top.values(row, i) == impossible) continue;
        candidates.push_back({row, std::ssize(tree)});
        tree.push_back({.parent = open[row],
                        .token = token,
                        .log_probability = tree[open[row]].log_probability + top.values(row, i),
                        .depth = step,
                        .finished = token == options.end});
      }
    if (candidates.empty()) fail("beam_search: no token is left that may come next");
    std::stable_sort(candidates.begin(), candidates.end(), [&](const Candidate& a, const Candidate& b) {
      return tree[a.node].log_probability > tree[b.node].log_probability;
    });
    candidates.resize(std::min<Index>(std::ssize(candidates), room));
    std::vector<int> rows;
    open.clear();
    for (const Candidate& candidate : candidates) {
      tree[candidate.node].kept = true;
      if (tree[candidate.node].finished) {
        add_hypothesis(candidate.node);
      } else {
        open.push_back(candidate.node);
        rows.push_back(int(candidate.row));
      }
    }
    if (!rows.empty()) writer.reorder(rows);
  }
  for (const Index node : open) add_hypothesis(node);  // cut off at the greatest length
  std::stable_sort(result.hypotheses.begin(), result.hypotheses.end(),
                   [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  return result;
}

std::vector<double> sampling_distribution(const real* logits, Index vocabulary,
                                          const SampleOptions& options) {
  if (!(options.temperature >= 0))
    fail("sampling: a temperature of {} is not 0 or more", options.temperature);
  if (options.top_k < 0) fail("sampling: top-k of {} is below 0", options.top_k);
  if (!(options.top_p > 0 && options.top_p <= 1))
    fail("sampling: top-p of {} is not in (0, 1]", options.top_p);
  check_logits("sampling", logits, vocabulary);
  std::vector<double> p(vocabulary, 0);
  const Index best = std::max_element(logits, logits + vocabulary) - logits;
  if (options.temperature == 0) {
    p[best] = 1;
    return p;
  }
  for (Index i = 0; i < vocabulary; ++i) p[i] = std::exp((logits[i] - logits[best]) / options.temperature);

  std::vector<Index> order(vocabulary);
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&p](Index a, Index b) { return p[a] > p[b]; });
  const Index k = options.top_k > 0 ? std::min(options.top_k, vocabulary) : vocabulary;
  double top = 0;
  for (Index i = 0; i < k; ++i) top += p[order[i]];
  double kept = 0;
  for (Index i = 0; i < vocabulary; ++i) {
    const bool enough = i >= k || (i > 0 && kept >= options.top_p * top);
    if (enough)
      p[order[i]] = 0;
    else
      kept += p[order[i]];
  }
  for (double& probability : p) probability /= kept;
  return p;
}

int draw(const std::vector<double>& distribution, Rng& rng) {
  double rest = rng.uniform();
  Index last = 0;
  for (Index i = 0; i < std::ssize(distribution); ++i) {
    if (distribution[i] == 0) continue;
    last = i;
    if ((rest -= distribution[i]) < 0) break;
  }
  return int(last);
}

std::vector<std::vector<int>> sample(Writer& writer, const IntTensor& prompts, const SampleOptions& options,
                                     Rng& rng) {
  const Index rows = writer.rows();
  if (prompts.shape().rank() != 2 || prompts.shape()[0] != rows || prompts.numel() == 0)
    fail("sample: prompts of shape {} for {} rows; each needs at least one token", prompts.shape().str(),
         rows);
  Sentences texts(rows, options.end);
  IntTensor tokens = prompts;
  for (Index step = 0; step < options.max_length && texts.any_open(); ++step) {
    const Tensor logits = writer.next(tokens);  // (rows, V)
    const Index V = logits.size(1);
    std::vector<int> newest;
    for (Index r = 0; r < rows; ++r)
      newest.push_back(draw(sampling_distribution(logits.data() + r * V, V, options), rng));
    texts.add(newest);
    tokens = column(newest);
  }
  return texts.tokens;
}

}  // namespace attn
