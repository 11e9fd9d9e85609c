/// The last milestone: a GPT that is yours from the bytes to the text it writes. Your byte pair encoding cuts
/// small stories into tokens, your windows make a batch of them, your blocks with your causal mask read it,
/// your gradients and your Adam train it; your `gpt_logits`, `generate` and `cached_step` write.
#include <algorithm>  // max_element
#include <chrono>     // steady_clock
#include <cmath>      // exp
#include <set>        // set

#include "core/autograd.hpp"
#include "core/ops.hpp"
#include "lessons/mine/milestone.hpp"
#include "lessons/mine/model.hpp"
#include "lessons/mine/training.hpp"
#include "nn/decode.hpp"
#include "nn/gpt.hpp"
#include "nn/text/characters.hpp"
#include "nn/text/toy_languages.hpp"
#include "optim/trainer.hpp"

using namespace attn;

namespace {

constexpr Index C = 32, L = 32;  // channels; the longest context
constexpr double rate = 0.5;
constexpr Index warmup = 60;

struct Task {
  std::uint64_t seed;
  Index steps, rows, merge_count;
  std::string text = {};
  mine::Merges merges = {};
  std::vector<int> training = {}, unseen = {};
  Index vocabulary() const { return 256 + merge_count; }
};

// Merges are learned from the beginning of the text, one after the other: the most frequent pair becomes
// a token.
Task make_task(const mine::Parts& parts, std::uint64_t seed, bool fast) {
  Task task{seed, fast ? 40 : 700, fast ? 4 : 12, fast ? 20 : 60};
  for (const std::string& story : small_stories(fast ? 60 : 600, seed)) task.text += story + "\n";
  std::vector<int> sample = parts.bpe_encode(task.text.substr(0, 4000), {});
  for (int n = 0; n < task.merge_count; ++n) {
    task.merges.push_back(parts.frequent_pair(sample));
    sample = parts.merge_once(sample, task.merges.back().first, task.merges.back().second, 256 + n);
  }
  const std::vector<int> ids = parts.bpe_encode(task.text, task.merges);
  const auto cut = ids.begin() + std::ptrdiff_t(ids.size() * 9 / 10);
  task.training.assign(ids.begin(), cut);
  task.unseen.assign(cut, ids.end());
  return task;
}

// One head, so that your cached_step fits it, and no biases.
Gpt make_model(const Task& task) {
  TransformerConfig config =
      gpt_config({.vocabulary = task.vocabulary(), .d_model = C, .heads = 1, .layers = 2, .max_length = L});
  config.feed_forward = {.activation = Activation::relu};
  config.bias = false;
  Rng rng(task.seed);
  return Gpt(config, rng);
}

Tensor positions_of(const Gpt& gpt) { return gpt.stack.positions.table; }  // (L, C)

// A batch at once, for training: (B, T) -> (B, T, V).
Tensor logits_of(const mine::Parts& parts, const Gpt& gpt, const IntTensor& reads,
                 Tensor* weights = nullptr) {
  const Index T = reads.shape()[1];
  const Tensor visible = parts.causal_mask(T);
  mine::check_result(parts.causal_mask, visible, {T, T});
  Tensor x = mine::look_up(parts, gpt.token_embedding.table, reads) + slice(positions_of(gpt), 0, 0, T);
  for (const Block& block : gpt.stack.blocks) x = mine::gpt_block(parts, block, x, visible, weights);
  const Norm& last = gpt.stack.final_norm;
  return mine::linear(parts, mine::norm(parts, x, last.gain, last.bias), gpt.token_embedding.table);
}

mine::TwoTables windows_of(const mine::Parts& parts, const std::vector<int>& text, Index rows, Rng& rng) {
  std::vector<int> starts;
  for (Index b = 0; b < rows; ++b) starts.push_back(int(rng.below(std::ssize(text) - L)));
  return parts.next_token_windows(text, starts, int(L));
}

// The perplexity of text that was kept back, by your own function.
double unseen_perplexity(const mine::Parts& parts, const Task& task, const Gpt& gpt) {
  const NoGrad no_grad;
  Rng rng(task.seed + 7);
  std::vector<real> losses;
  std::vector<Index> words;
  for (int i = 0; i < 4; ++i) {
    const mine::TwoTables windows = windows_of(parts, task.unseen, task.rows, rng);
    losses.push_back(mine::batch_loss(parts, logits_of(parts, gpt, windows.first), windows.second).item());
    words.push_back(windows.second.numel());
  }
  return parts.perplexity(losses, words);
}

void learn(const mine::Parts& parts, const Task& task, const Gpt& gpt, mine::Trained& result) {
  mine::Trainer trainer(parts, parameters_of(gpt), {.rate = rate, .warmup = warmup, .d_model = C, .clip = 1});
  trainer.show_progress("your GPT learns", task.steps);
  Rng data(task.seed + 1);
  for (Index step = 0; step < task.steps; ++step) {
    const mine::TwoTables windows = windows_of(parts, task.training, task.rows, data);
    result.losses.push_back(
        trainer.step(mine::batch_loss(parts, logits_of(parts, gpt, windows.first), windows.second)));
  }
  // How often the next token is the likeliest, on text that was kept back; and what it looks at there.
  const NoGrad no_grad;
  Rng rng(task.seed + 8);
  const mine::TwoTables windows = windows_of(parts, task.unseen, 16, rng);
  Tensor weights;
  const IntTensor guessed = argmax(logits_of(parts, gpt, windows.first, &weights));
  for (Index i = 0; i < guessed.numel(); ++i)
    result.score += double(guessed[i] == windows.second[i]) / double(guessed.numel());
  result.map = matrix_of(weights, {0, 0});
}

std::vector<double> library_losses(const mine::Parts& parts, const Task& task, Index steps) {
  const Gpt gpt = make_model(task);
  Adam adam(parameters_of(gpt), paper_adam());
  Rng data(task.seed + 1);
  const History history =
      train(adam,
            {.steps = steps,
             .schedule = {.kind = ScheduleKind::noam, .peak = rate, .warmup = warmup, .d_model = C},
             .progress = false},
            {.loss = [&](Index) {
              const mine::TwoTables windows = windows_of(parts, task.training, task.rows, data);
              return StepLoss{cross_entropy(gpt(windows.first), windows.second), 0};
            }});
  std::vector<double> losses;
  for (const TrainPoint& point : history.steps) losses.push_back(point.loss);
  return losses;
}

// One text, as exercise 15 has it: T tokens -> logits (T, V).
mine::Reader reader_of(const mine::Parts& parts, const Gpt& gpt) {
  mine::GptWeights weights{
      gpt.token_embedding.table, positions_of(gpt), {}, gpt.stack.final_norm.gain, gpt.stack.final_norm.bias};
  for (const Block& block : gpt.stack.blocks)
    weights.blocks.push_back([&parts, &block](const Tensor& x) {
      const Tensor batch = reshape(x, {1, x.size(0), x.size(1)});
      return reshape(mine::gpt_block(parts, block, batch, parts.causal_mask(x.size(0))), x.shape());
    });
  return [&parts, weights, &gpt](const std::vector<int>& tokens) {
    const NoGrad no_grad;
    const Tensor logits = parts.gpt_logits(weights, tokens);
    mine::check_result(parts.gpt_logits, logits, {std::ssize(tokens), gpt.config.vocabulary});
    return logits;
  };
}

// The same, token by token: your cached_step remembers the keys and values of every layer.
class CachedReader {
 public:
  CachedReader(const mine::Parts& parts, const Gpt& gpt) : parts_(parts), gpt_(gpt) {
    const NoGrad no_grad;
    for (const Block& block : gpt.stack.blocks)
      heads_.push_back({transpose(block.self.query.weight),
                        transpose(block.self.key.weight),
                        transpose(block.self.value.weight),
                        {},
                        {}});
  }

  Tensor next(int token) {  // -> logits (V) after it
    const NoGrad no_grad;
    Tensor x = reshape(gpt_.token_embedding.table[token] + positions_of(gpt_)[place_++], {1, C});
    const Tensor nowhere = zeros({L, C});  // the positions are in x already
    for (std::size_t i = 0; i < heads_.size(); ++i) {
      const Block& block = gpt_.stack.blocks[i];
      const auto normed = [&](const Norm& norm) -> mine::Sublayer {
        return [&](const Tensor& y) { return mine::norm(parts_, y, norm.gain, norm.bias); };
      };
      x = parts_.pre_norm_block(
          x,
          [&](const Tensor& y) {
            const Tensor seen = parts_.cached_step(reshape(y, {C}), nowhere, heads_[i]);
            mine::check_result(parts_.cached_step, seen, {C});
            return mine::linear(parts_, reshape(seen, {1, C}), block.self.output);
          },
          [&](const Tensor& y) { return mine::feed(parts_, block.feed_forward, y); }, normed(block.self_norm),
          normed(block.feed_forward_norm));
    }
    const Norm& last = gpt_.stack.final_norm;
    return reshape(
        mine::linear(parts_, mine::norm(parts_, x, last.gain, last.bias), gpt_.token_embedding.table),
        {gpt_.config.vocabulary});
  }

 private:
  const mine::Parts& parts_;
  const Gpt& gpt_;
  std::vector<mine::CachedHead> heads_;
  Index place_ = 0;
};

// Drawn from the likeliest tokens: softmax at a temperature, top-k, top-p.
std::vector<int> sampled(const mine::Parts& parts, const mine::Reader& reader, std::vector<int> text,
                         int count, Rng& rng) {
  for (int i = 0; i < count; ++i) {
    const auto kept = std::min<std::ptrdiff_t>(L, std::ssize(text));
    const Tensor logits = reader({text.end() - kept, text.end()});
    const Tensor row = slice(logits, 0, -1, logits.size(0)) / real(0.8);  // (1, V)
    const Tensor p = parts.row_softmax(row);
    mine::check_result(parts.row_softmax, p, row.shape());
    const std::vector<double> all(p.data(), p.data() + p.numel());
    text.push_back(draw(parts.keep_top_p(parts.keep_top_k(all, 40), 0.9), rng));
  }
  return text;
}

double share_of_known_words(const std::string& text, const std::string& known_text) {
  std::set<std::string_view> known;
  for (const std::string_view word : split_at_spaces(known_text)) known.insert(word);
  double found = 0, all = 0;
  for (const std::string_view word : split_at_spaces(text)) found += known.contains(word), ++all;
  return found / all;
}

std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text;
}

/// ## It learns
void gpt_by_parts(Lesson& lesson, const mine::Parts& parts, const mine::Mistaken& mistakes) {
  const Task task = make_task(parts, lesson.seed, lesson.fast);
  const std::string sentence = task.text.substr(0, task.text.find('.') + 1);
  std::string pieces;
  for (const int token : parts.bpe_encode(sentence, task.merges))
    pieces += (pieces.empty() ? "" : "|") + parts.bpe_decode({token}, task.merges);
  lesson.say("{} letters of small stories are {} tokens, with {} merges that your functions found:",
             grouped(std::ssize(task.text)), grouped(std::ssize(task.training) + std::ssize(task.unseen)),
             grouped(std::ssize(task.merges)));
  lesson.print("  {}", pieces);
  lesson.claim(parts.bpe_decode(parts.bpe_encode(task.text, task.merges), task.merges) == task.text,
               "decoded, the tokens are the text again, to the byte");

  const Gpt gpt = make_model(task);
  const double before = unseen_perplexity(parts, task, gpt);
  const std::vector<double> ours = library_losses(parts, task, 10);
  mine::Trained yours;
  learn(parts, task, gpt, yours);
  const double after = unseen_perplexity(parts, task, gpt);
  lesson.picture(
      "losses.png",
      viz::line_chart({{.name = "by your parts", .y = yours.losses, .smooth = 0.9}},
                      {.title = "Your GPT learns", .x_title = "step", .y_title = "loss per token (nats)"}),
      "Your loss", "The pale line is the loss of each batch, the strong one its running mean.");
  lesson.claim(mine::worst_relative(ours, yours.losses) < 1e-4,
               "the first ten losses are the library's: largest relative difference {:.0e}",
               mine::worst_relative(ours, yours.losses));
  lesson.claim(after < before / (lesson.fast ? 2 : 20),
               "on text that it never saw, your perplexity falls from {:.0f} to {:.1f} of {} tokens", before,
               after, task.vocabulary());

  /// ## It writes
  ///
  /// First the likeliest token each time, by your `generate`; then drawn from your top-k and top-p:
  const mine::Reader reader = reader_of(parts, gpt);
  const std::vector<int> prompt = parts.bpe_encode("Anna had a ", task.merges);
  const std::vector<int> greedy = parts.generate(reader, prompt, lesson.fast ? 10 : 60, int(L));
  Rng rng(lesson.seed + 9);
  const std::vector<int> drawn = sampled(parts, reader, prompt, lesson.fast ? 10 : 120, rng);
  lesson.say("  {}", one_line(parts.bpe_decode(greedy, task.merges)));
  lesson.say("  {}", one_line(parts.bpe_decode(drawn, task.merges)));
  if (!lesson.fast) {
    const double known = share_of_known_words(parts.bpe_decode(drawn, task.merges), task.text);
    lesson.claim(known > 0.8, "{:.0f}% of the words that it drew, token by token, occur in the stories",
                 100 * known);
  }

  /// ## The cache
  ///
  /// Your `cached_step` reads the past instead of computing it again. The same text, token by token:
  CachedReader cached(parts, gpt);
  const std::vector<int> start(drawn.begin(), drawn.begin() + std::min<std::ptrdiff_t>(L, std::ssize(drawn)));
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  Tensor last;
  for (const int token : start) last = cached.next(token);
  const auto middle = Clock::now();
  Tensor full;
  for (std::size_t n = 1; n <= start.size(); ++n)
    full = reader({start.begin(), start.begin() + std::ptrdiff_t(n)});
  const auto end = Clock::now();
  const auto milliseconds = [](auto time) { return std::chrono::duration<double, std::milli>(time).count(); };
  const double difference = max_difference(last, full[full.size(0) - 1]);
  lesson.say("{} tokens take {:.1f} ms with your cache and {:.1f} ms without.", start.size(),
             milliseconds(middle - begin), milliseconds(end - middle));
  const Tensor library = gpt(Tokens(start));
  lesson.claim(
      difference < 1e-3 && max_difference(full, library[0]) < 1e-3,
      "the logits are the same with and without it, and the library's: largest differences {:.0e} and {:.0e}",
      difference, max_difference(full, library[0]));

  const viz::HeatmapOptions map{.title = "Your last layer: what each token looks at",
                                .x_title = "keys",
                                .y_title = "queries",
                                .low = 0,
                                .value_title = "weight"};
  lesson.picture("attention.png", viz::heatmap(yours.map, map), "What your GPT looks at",
                 "Nothing to the right of the diagonal: your causal mask hides the future.");

  for (const auto& mistaken : mistakes) {
    const mine::Trained broken =
        mine::run_mistaken([&](mine::Trained& result) { learn(*mistaken, task, make_model(task), result); });
    mine::show_mistake(lesson, *mistaken, yours, broken,
                       {.score = "of unseen tokens guessed",
                        .map_title = "last layer",
                        .x_title = "keys",
                        .y_title = "queries"});
  }
  /// ## What your parts cost
  mine::show_times(lesson, parts);
}

}  // namespace

int main(int argc, char** argv) {
  return mine::run_milestone(argc, argv, 5, "Does your GPT write?", gpt_by_parts);
}
