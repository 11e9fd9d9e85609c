#include "nn/decode.hpp"

#include <algorithm>  // copy, max_element, nth_element, sort
#include <cmath>      // exp, pow
#include <numeric>    // iota

#include "core/autograd.hpp"
#include "core/error.hpp"

namespace attn {
namespace {

IntTensor append(const IntTensor& before, const IntTensor& more) {
  if (before.numel() == 0) return more;
  const Index rows = more.shape()[0], a = before.shape()[1], b = more.shape()[1];
  IntTensor out({rows, a + b});
  for (Index r = 0; r < rows; ++r) {
    std::copy(&before[r * a], &before[r * a] + a, &out[r * (a + b)]);
    std::copy(&more[r * b], &more[r * b] + b, &out[r * (a + b) + a]);
  }
  return out;
}

IntTensor pick_rows(const IntTensor& x, const std::vector<int>& rows) {
  if (x.numel() == 0) return x;
  const Index row = x.numel() / x.shape()[0];
  IntTensor out(x.shape().with(0, static_cast<Index>(rows.size())));
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::copy(&x[rows[i] * row], &x[rows[i] * row] + row, &out[static_cast<Index>(i) * row]);
  return out;
}

IntTensor last_columns(const IntTensor& x, Index count) {
  const Index rows = x.shape()[0], columns = x.shape()[1];
  IntTensor out({rows, count});
  for (Index r = 0; r < rows; ++r)
    std::copy(&x[(r + 1) * columns - count], &x[(r + 1) * columns - count] + count, &out[r * count]);
  return out;
}

Tensor last_step(const Tensor& logits) {
  return select(logits, 1, logits.shape()[1] - 1);
}  // (rows, T, V) -> (rows, V)

IntTensor column(const std::vector<int>& tokens) { return {{static_cast<Index>(tokens.size()), 1}, tokens}; }

double penalty(std::size_t length, double alpha) {
  return std::pow((5.0 + static_cast<double>(length)) / 6.0, alpha);
}

}  // namespace

TransformerWriter::TransformerWriter(const Transformer& model, const IntTensor& source,
                                     const IntTensor& lengths, bool cached)
    : model_(model), lengths_(lengths), cached_(cached) {
  const NoGrad no_grad;
  Context context;
  memory_ = model.encode(source, lengths, context);
}

Tensor TransformerWriter::next(const IntTensor& tokens) {
  const NoGrad no_grad;
  Context context;
  if (cached_) return last_step(model_.decode(tokens, {}, memory_, lengths_, context, &cache_));
  written_ = append(written_, tokens);
  return last_step(model_.decode(written_, {}, memory_, lengths_, context));
}

void TransformerWriter::reorder(const std::vector<int>& rows) {
  const NoGrad no_grad;
  memory_ = take_rows(memory_, rows);
  lengths_ = pick_rows(lengths_, rows);
  written_ = pick_rows(written_, rows);
  cache_.reorder(rows);
}

Tensor GptWriter::next(const IntTensor& tokens) {
  const NoGrad no_grad;
  Context context;
  written_ = append(written_, tokens);
  const Index limit = model_.config.positions == Positions::learned ? model_.config.max_length
                                                                    : std::numeric_limits<Index>::max();
  IntTensor fresh = cached_ ? tokens : written_;
  if (written_.shape()[1] > limit) {  // start again from the newest part
    written_ = last_columns(written_, std::max<Index>(1, limit / 2));
    cache_ = {};
    fresh = written_;
  }
  return last_step(model_(fresh, context, {}, cached_ ? &cache_ : nullptr));
}

void GptWriter::reorder(const std::vector<int>& rows) {
  rows_ = static_cast<Index>(rows.size());
  written_ = pick_rows(written_, rows);
  cache_.reorder(rows);
}

std::vector<std::vector<int>> greedy(Writer& writer, const DecodeOptions& options) {
  const std::size_t rows = static_cast<std::size_t>(writer.rows());
  std::vector<std::vector<int>> sentences(rows);
  std::vector<int> newest(rows, options.start);
  std::vector<bool> finished(rows, false);
  std::size_t open = rows;
  for (Index step = 0; step < options.max_length && open > 0; ++step) {
    const IntTensor best = argmax(writer.next(column(newest)));  // (rows)
    for (std::size_t r = 0; r < rows; ++r) {
      newest[r] = best[static_cast<Index>(r)];
      if (finished[r]) continue;  // a finished row goes along with the others, unheard
      if (newest[r] == options.end)
        finished[r] = true, --open;
      else
        sentences[r].push_back(newest[r]);
    }
  }
  return sentences;
}

BeamResult beam_search(Writer& writer, const BeamOptions& options) {
  if (writer.rows() != 1) fail("beam_search: it decodes one sentence, not {}", writer.rows());
  if (options.width < 1) fail("beam_search: a beam of width {}", options.width);
  const std::size_t width = static_cast<std::size_t>(options.width);
  struct Candidate {
    int row, node;
    double log_probability;
  };
  const auto better = [](const Candidate& a, const Candidate& b) {
    return a.log_probability > b.log_probability;
  };

  BeamResult result;
  result.tree.push_back({-1, options.start, 0, 0, true, false});
  std::vector<int> open{0};  // the nodes of the beam that have not ended
  std::size_t finished = 0;
  const auto finish = [&](int node) {
    Hypothesis hypothesis{{}, result.tree[static_cast<std::size_t>(node)].log_probability, 0, node};
    std::size_t length = 0;
    for (int at = node; result.tree[static_cast<std::size_t>(at)].parent >= 0;
         at = result.tree[static_cast<std::size_t>(at)].parent, ++length)
      if (result.tree[static_cast<std::size_t>(at)].token != options.end)
        hypothesis.tokens.insert(hypothesis.tokens.begin(), result.tree[static_cast<std::size_t>(at)].token);
    hypothesis.score = hypothesis.log_probability / penalty(length, options.length_penalty);
    result.hypotheses.push_back(hypothesis);
  };

  for (int step = 0; step < options.max_length && !open.empty(); ++step) {
    std::vector<int> newest;
    for (const int node : open) newest.push_back(result.tree[static_cast<std::size_t>(node)].token);
    const Tensor log_probabilities = log_softmax(writer.next(column(newest)));  // (rows, V)
    const std::size_t room = width - finished;
    // Each hypothesis may contribute all of the next beam, so its `room` best continuations are enough.
    const TopK top =
        top_k(log_probabilities, std::min<Index>(static_cast<Index>(room), log_probabilities.shape()[1]));
    std::vector<Candidate> candidates;
    const Index k = top.indices.shape()[1];
    for (std::size_t row = 0; row < open.size(); ++row)
      for (Index i = 0; i < k; ++i) {
        const Index at = static_cast<Index>(row) * k + i;
        const double total =
            result.tree[static_cast<std::size_t>(open[row])].log_probability + top.values.data()[at];
        candidates.push_back({static_cast<int>(row), static_cast<int>(result.tree.size()), total});
        result.tree.push_back(
            {open[row], top.indices[at], total, step + 1, false, top.indices[at] == options.end});
      }
    std::stable_sort(candidates.begin(), candidates.end(), better);
    candidates.resize(std::min(candidates.size(), room));
    std::vector<int> rows;
    open.clear();
    for (const Candidate& candidate : candidates) {
      BeamNode& node = result.tree[static_cast<std::size_t>(candidate.node)];
      node.kept = true;
      if (node.finished) {
        finish(candidate.node);
        ++finished;
      } else {
        open.push_back(candidate.node);
        rows.push_back(candidate.row);
      }
    }
    if (!rows.empty()) writer.reorder(rows);
  }
  for (const int node : open) finish(node);  // cut off at the greatest length
  std::stable_sort(result.hypotheses.begin(), result.hypotheses.end(),
                   [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  return result;
}

std::vector<double> sampling_distribution(const real* logits, Index vocabulary,
                                          const SampleOptions& options) {
  std::vector<double> p(static_cast<std::size_t>(vocabulary), 0);
  const Index best = std::max_element(logits, logits + vocabulary) - logits;
  if (options.temperature < 0) fail("sampling: a temperature of {} is below 0", options.temperature);
  if (options.top_k < 0) fail("sampling: top-k of {} is below 0", options.top_k);
  if (!(options.top_p > 0 && options.top_p <= 1))
    fail("sampling: top-p of {} is not in (0, 1]", options.top_p);
  if (options.temperature == 0) {
    p[static_cast<std::size_t>(best)] = 1;
    return p;
  }
  for (std::size_t i = 0; i < p.size(); ++i)
    p[i] = std::exp((logits[i] - logits[best]) / options.temperature);

  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&p](std::size_t a, std::size_t b) { return p[a] > p[b]; });
  const std::size_t k =
      options.top_k > 0 ? std::min<std::size_t>(static_cast<std::size_t>(options.top_k), p.size()) : p.size();
  double top = 0;
  for (std::size_t i = 0; i < k; ++i) top += p[order[i]];
  double kept = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
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
  std::size_t last = 0;
  for (std::size_t i = 0; i < distribution.size(); ++i) {
    if (distribution[i] == 0) continue;
    last = i;
    if ((rest -= distribution[i]) < 0) break;
  }
  return static_cast<int>(last);
}

std::vector<std::vector<int>> sample(Writer& writer, const IntTensor& prompts, const SampleOptions& options,
                                     Rng& rng) {
  if (prompts.shape().rank() != 2 || prompts.shape()[0] != writer.rows() || prompts.numel() == 0)
    fail("sample: prompts of shape {} for {} rows; each needs at least one token", prompts.shape().str(),
         writer.rows());
  const std::size_t rows = static_cast<std::size_t>(writer.rows());
  std::vector<std::vector<int>> texts(rows);
  std::vector<bool> finished(rows, false);
  std::size_t open = rows;
  IntTensor tokens = prompts;
  for (Index step = 0; step < options.max_length && open > 0; ++step) {
    const Tensor logits = writer.next(tokens);  // (rows, V)
    const Index V = logits.shape()[1];
    std::vector<int> newest(rows);
    for (std::size_t r = 0; r < rows; ++r) {
      newest[r] = draw(sampling_distribution(logits.data() + static_cast<Index>(r) * V, V, options), rng);
      if (finished[r]) continue;
      if (newest[r] == options.end)
        finished[r] = true, --open;
      else
        texts[r].push_back(newest[r]);
    }
    tokens = column(newest);
  }
  return texts;
}

}  // namespace attn
