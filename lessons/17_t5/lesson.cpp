// Lesson 17. Can every task be the same task?
//
// BERT (lesson 16) needs a new head for every task. T5, the Text-To-Text Transfer Transformer, needs none:
// the question is text, the answer is text, and what is asked stands in front. "opinion: I love this film."
// -> "positive". So one encoder-decoder, one loss and one way of decoding serve everything.
//
// It is first taught on text that nobody had to label: spans are taken out of it, each replaced by a
// sentinel, and the decoder writes what was there. That game is called span corruption.
#include <algorithm>  // count, find, max_element
#include <cmath>      // fabs, log
#include <iterator>   // ssize
#include <map>        // map

#include "core/autograd.hpp"
#include "lessons/support/lesson.hpp"
#include "nn/decode.hpp"
#include "nn/t5.hpp"
#include "nn/text/batching.hpp"
#include "nn/text/toy_languages.hpp"
#include "optim/trainer.hpp"

using namespace attn;

namespace {

using Words = std::vector<std::string>;

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// 1. One format

void text_to_text(Lesson& lesson) {
  lesson.section("Text in, text out");
  lesson.say("A prefix says what is wanted, the answer is written out as words, even a class or a number:");
  lesson.table({"input", "target"}, {{"translate English to French: The cat sleeps.", "Le chat dort."},
                                     {"opinion: I love this film.", "positive"},
                                     {"similarity from 0 to 5: A dog runs. A dog is running.", "4.6"},
                                     {"summarize: (a page of news)", "(two sentences)"}});
  lesson.say(
      "Nothing in the model knows of tasks: the prefix is only more words for the encoder. mT5 is the same "
      "recipe on text in 101 languages.");
}

// 2. Span corruption, by hand

struct Holes {
  Words input, target;
};
const Words sentinels = {"<X>", "<Y>", "<Z>"};

// hole[i] is the number of the hole that word i falls into, or -1. Each hole leaves one sentinel behind,
// however long it is. The target repeats the sentinels, each followed by what was under it, and closes with
// one more, so that the end of the last hole can be seen, too.
Holes take_out(const Words& text, const std::vector<int>& hole) {
  Holes out;
  int last = -1;
  for (Index i = 0; i < std::ssize(text); ++i) {
    if (hole[i] > last) {  // a new one begins
      last = hole[i];
      out.input.push_back(sentinels[last]);
      out.target.push_back(sentinels[last]);
    }
    (hole[i] < 0 ? out.input : out.target).push_back(text[i]);
  }
  out.target.push_back(sentinels[last + 1]);
  return out;
}

// Each word has the colour of its hole.
viz::Image holes_picture(const Words& text, const std::vector<int>& hole, const Holes& holes) {
  const auto colour = [](const std::string& word) {
    const auto found = std::find(sentinels.begin(), sentinels.end(), word);
    return found == sentinels.end() ? -1 : int(found - sentinels.begin());
  };
  viz::TokenRow whole{.name = "text", .detail = fmt::format("{} words", text.size())},
      input{.name = "input", .detail = "encoder reads"}, target{.name = "target", .detail = "decoder writes"};
  for (Index i = 0; i < std::ssize(text); ++i) whole.tokens.push_back({text[i], hole[i]});
  for (const std::string& word : holes.input) input.tokens.push_back({word, colour(word)});
  int current = -1;
  for (const std::string& word : holes.target) {
    current = std::max(current, colour(word));
    target.tokens.push_back({word, current});
  }
  return viz::token_rows({whole, input, target}, {.title = "One sentence, corrupted"});
}

void span_corruption(Lesson& lesson) {
  lesson.section("Taking spans out");
  const Words text = {"Thank", "you", "for", "inviting", "me", "to", "your", "party", "last", "week"};
  const std::vector<int> hole = {-1, -1, 0, 0, -1, -1, -1, -1, 1, -1};
  const Holes holes = take_out(text, hole);
  lesson.say("The example of the T5 paper, with two spans taken out by hand:");
  lesson.print("  text     {}", joined(text));
  lesson.print("  input    {}", joined(holes.input));
  lesson.print("  target   {}", joined(holes.target));
  lesson.picture(
      "corrupted.png", holes_picture(text, hole, holes), "A corrupted sentence and its target",
      "Each colour is one span: one sentinel in the input, the same sentinel before its words in the target; "
      "the last sentinel only closes");

  // The same with numbers, through the library: words 0 … 9, sentinels 100, 101, 102.
  const CorruptionOptions options{.first_sentinel = 100};
  const Corrupted by_hand{{0, 1, 100, 4, 5, 6, 7, 101, 9}, {100, 2, 3, 101, 8, 102}};
  const std::vector<int> restored = restore_spans(by_hand, options);
  bool in_order = restored.size() == text.size();
  for (Index i = 0; i < std::ssize(restored); ++i) in_order = in_order && restored[i] == int(i);
  lesson.claim(in_order,
               "input and target together hold all: restore_spans gives the {} words back, in order",
               restored.size());

  lesson.say("In training the spans fall at random: 15% of the tokens, 3 in a span on average. Measured:");
  Rng rng(lesson.seed);
  Index tokens = 0, taken = 0, spans = 0, written = 0, same = 0, texts = 200;
  for (Index n = 0; n < texts; ++n) {
    std::vector<int> line(100 + rng.below(100));
    for (int& token : line) token = int(rng.below(90));
    const Corrupted corrupted = corrupt_spans(line, options, rng);
    const Index holes_here =
        std::count_if(corrupted.input.begin(), corrupted.input.end(), [](int t) { return t >= 100; });
    tokens += std::ssize(line);
    spans += holes_here;
    taken += std::ssize(line) - std::ssize(corrupted.input) + holes_here;
    written += std::ssize(corrupted.target);
    same += restore_spans(corrupted, options) == line;
  }
  const double share = double(taken) / double(tokens), length = double(taken) / double(spans),
               cost = double(written) / double(tokens);
  lesson.claim(std::fabs(share - 0.15) < 0.01 && std::fabs(length - 3) < 0.3 && same == texts,
               "{} texts: {:.1f}% of the tokens taken out, {:.2f} in a span, all {} restored", texts,
               100 * share, length, same);
  lesson.claim(cost < 0.25,
               "the decoder writes {:.0f}% of the text's length instead of all of it: cheaper training",
               100 * cost);
}

// 3. Bytes

void bytes(Lesson& lesson) {
  lesson.section("Bytes instead of words");
  lesson.say(
      "A vocabulary of words cannot read a word it has not seen. ByT5 is T5 on bytes: 256 symbols, nothing "
      "unknown, any language, and a typo is only one other byte. The price is length (so its spans are 20 "
      "bytes long on average, its encoder deep and its decoder shallow):");
  const WordVocabulary by_word = WordVocabulary::learn({"Thank you for inviting me"});
  const ByteVocabulary by_byte;
  std::vector<std::vector<std::string>> rows;
  bool exact = true;
  Index unknown = 0;
  for (const std::string text : {"Thank you for inviting me", "Thank yuo for invitng me", "고마워요"}) {
    const std::vector<int> words = by_word.encode(text), raw = by_byte.encode(text);
    const auto unknown_here = std::count(words.begin(), words.end(), Vocabulary::unk);
    unknown += unknown_here;
    exact = exact && by_byte.decode(raw) == text && std::count(raw.begin(), raw.end(), Vocabulary::unk) == 0;
    rows.push_back({text, fmt::format("{}", words.size()), fmt::format("{}", unknown_here),
                    fmt::format("{}", raw.size()), "0"});
  }
  lesson.table({"text", "words", "unknown", "bytes", "unknown"}, rows);
  lesson.claim(exact && unknown > 0, "words: {} unknown; bytes: none, and every text comes back exactly",
               unknown);
}

// 4. Distance as a number on the scores

void relative_bias(Lesson& lesson) {
  lesson.section("Distance inside the softmax");
  lesson.say(
      "T5 adds no positions to its words. Each head has one learned number for each bucket of distance, "
      "added to the score before the softmax (lesson 09), the same in all layers of a stack:");
  lesson.equation(
      "score(i, j) = q_i · k_j + b_head[bucket(j − i)]        no ÷ √d_k: the initial weights see to that");
  viz::Numbers distance, both, behind, past;  // the decoder has only what is behind
  for (Index d = -160; d <= 160; ++d) {
    distance.push_back(double(d));
    both.push_back(t5_bucket(d, true));
    if (d > 0) continue;
    behind.push_back(double(d));
    past.push_back(t5_bucket(d, false));
  }
  lesson.picture(
      "buckets.png",
      viz::line_chart({{.name = "encoder: both sides", .y = both, .x = distance},
                       {.name = "decoder: the past", .y = past, .x = behind}},
                      {.title = "T5's buckets of distance", .x_title = "key − query", .y_title = "bucket"}),
      "The 32 buckets",
      "Steep in the middle, where each distance has a bucket of its own; flat outside, where ever more share "
      "one, and from 128 on all");
  const NoGrad no_grad;
  Rng rng(lesson.seed);
  const Tensor bias = T5Bias(4, true, rng)(40, 40);  // (H, T, S)
  double worst = 0;
  for (Index h = 0; h < 4; ++h)
    for (Index i = 1; i < 40; ++i)
      for (Index j = 1; j < 40; ++j)
        worst = std::max(worst, double(std::fabs(bias(h, i, j) - bias(h, i - 1, j - 1))));
  lesson.claim(worst == 0 && t5_bucket(-128, false) == t5_bucket(-5000, false),
               "the bias depends on the distance alone, and 128 and 5,000 steps back share bucket {}",
               t5_bucket(-128, false));
}

// 5. One small model, three tasks

const Words names = {"Anna",  "Ben",   "Clara", "Daniel", "Emma", "Felix",
                     "Grace", "Henry", "Lucy",  "Max",    "Nora", "Oscar"};
const Words colours = {"red", "blue", "green", "yellow", "white", "black", "pink"};

// A story, and the answers to two questions about it: the first of its words that is on the list.
struct Story {
  std::vector<int> text;
  int who, colour;
};

struct Stories {
  WordVocabulary vocabulary;
  CorruptionOptions corruption;
  std::vector<Story> stories;
};

Stories read_stories(Index count, std::uint64_t seed, const WordVocabulary* known = nullptr) {
  const std::vector<std::string> lines = small_stories(count, seed);
  std::vector<std::string> all = lines;
  all.push_back("fill: who: colour: " + joined(names) + " " + joined(colours));
  const WordVocabulary vocabulary =
      known ? *known : WordVocabulary::learn(all, {"<X>", "<Y>", "<Z>", "<U>", "<V>", "<W>"});
  Stories out{vocabulary, {.first_sentinel = vocabulary.special("<X>"), .sentinels = 6}, {}};
  for (const std::string& line : lines) {
    Story story{vocabulary.encode(line), -1, -1};
    for (const int token : story.text) {
      const auto on = [&](const Words& list) {
        return std::find(list.begin(), list.end(), vocabulary.token(token)) != list.end();
      };
      if (story.who < 0 && on(names)) story.who = token;
      if (story.colour < 0 && on(colours)) story.colour = token;
    }
    if (story.who >= 0 && story.colour >= 0) out.stories.push_back(story);
  }
  return out;
}

struct Example {
  std::vector<int> input, target;  // both end with <eos>
};
using Examples = std::vector<Example>;

// The task is in the prefix, and nowhere else.
Example with_prefix(const Stories& from, const char* prefix, const std::vector<int>& input,
                    const std::vector<int>& target) {
  Example example{from.vocabulary.encode(prefix), target};
  example.input.insert(example.input.end(), input.begin(), input.end());
  example.input.push_back(Vocabulary::eos);
  example.target.push_back(Vocabulary::eos);
  return example;
}
Example fill(const Stories& from, const Story& story, Rng& rng) {
  const Corrupted corrupted = corrupt_spans(story.text, from.corruption, rng);
  return with_prefix(from, "fill:", corrupted.input, corrupted.target);
}
Example who(const Stories& from, const Story& story) {
  return with_prefix(from, "who:", story.text, {story.who});
}
Example colour(const Stories& from, const Story& story) {
  return with_prefix(from, "colour:", story.text, {story.colour});
}

Tokens rectangle(const Examples& examples, std::vector<int> Example::*side) {  // (B, T)
  std::vector<std::vector<int>> sequences;
  for (const Example& example : examples) sequences.push_back(example.*side);
  return pad_batch(sequences);
}

// What the decoder says at each place, when all before that place is given: (B, T, V).
Tensor logits_of(const Transformer& model, const Examples& examples, const Context& context = {}) {
  const Tokens source = rectangle(examples, &Example::input), target = rectangle(examples, &Example::target);
  return model(source, {shift_right(target.ids, Vocabulary::bos), target.lengths}, context);
}

std::vector<std::vector<int>> answers(const Transformer& model, const Examples& examples) {
  const NoGrad no_grad;
  TransformerWriter writer(model, rectangle(examples, &Example::input));
  return greedy(writer, {.max_length = 20});  // without the <eos>
}

Index count_right(const std::vector<std::vector<int>>& written, const Examples& examples) {
  Index right = 0;
  for (Index n = 0; n < std::ssize(examples); ++n) {
    std::vector<int> target = examples[n].target;
    target.pop_back();
    right += written[n] == target;
  }
  return right;
}

History train_t5(const Lesson& lesson, const Transformer& model, const Stories& stories, Index steps,
                 Rng& rng) {
  ParameterList parameters;
  model.parameters(parameters);
  Adam optimizer(parameters);
  const Context context{.training = true, .rng = &rng};
  const auto one_step = [&](Index step) {
    Rng draw(lesson.seed * 1000003 + std::uint64_t(step));
    const auto any = [&]() -> const Story& {
      return stories.stories[draw.below(std::ssize(stories.stories))];
    };
    Examples batch;
    for (int n = 0; n < 4; ++n) {
      for (int twice = 0; twice < 2; ++twice) batch.push_back(fill(stories, any(), draw));
      batch.push_back(who(stories, any()));
      batch.push_back(colour(stories, any()));
    }
    Index tokens = 0;
    for (const Example& example : batch) tokens += std::ssize(example.input) + std::ssize(example.target);
    const Tensor logits = logits_of(model, batch, context);
    return StepLoss{
        cross_entropy(logits, rectangle(batch, &Example::target).ids, {.ignore = Vocabulary::pad}), tokens};
  };
  const Schedule schedule{.kind = ScheduleKind::cosine, .peak = 5e-3, .warmup = 30, .total = steps};
  return train(optimizer, {.steps = steps, .schedule = schedule, .label = "T5"}, {.loss = one_step});
}

// Of the missing words (sentinels and <eos> do not count), how many are the model's first choice, and how
// many would be right if the commonest of them were always said.
struct Accuracy {
  double model, commonest;
};
Accuracy accuracy_on(const Transformer& model, const Stories& stories, const Examples& fills) {
  const NoGrad no_grad;
  const IntTensor target = rectangle(fills, &Example::target).ids;
  const IntTensor said = argmax(logits_of(model, fills));
  Index words = 0, right = 0;
  std::vector<Index> counts(stories.vocabulary.size(), 0);
  for (Index i = 0; i < target.numel(); ++i) {
    if (stories.vocabulary.is_special(target[i])) continue;
    ++words;
    ++counts[target[i]];
    right += said[i] == target[i];
  }
  const double all = double(words);
  return {double(right) / all, double(*std::max_element(counts.begin(), counts.end())) / all};
}

// What is written for each hole, by its sentinel.
std::map<int, std::vector<int>> by_hole(const Stories& stories, const std::vector<int>& written) {
  std::map<int, std::vector<int>> holes;
  int last = Vocabulary::unk;
  for (const int token : written) {
    if (stories.vocabulary.is_special(token))
      holes[last = token] = {};
    else
      holes[last].push_back(token);
  }
  return holes;
}

bool filled_right(const Stories& stories, const std::vector<int>& written, const std::vector<int>& target,
                  int sentinel) {
  const auto holes = by_hole(stories, written);
  return holes.count(sentinel) && holes.at(sentinel) == by_hole(stories, target)[sentinel];
}

void small_t5(Lesson& lesson) {
  lesson.section("One small T5, three tasks");
  const Stories stories = read_stories(lesson.fast ? 1000 : 4000, 2 * lesson.seed);
  Stories unseen = read_stories(110, 2 * lesson.seed + 1, &stories.vocabulary);
  if (unseen.stories.size() > 100) unseen.stories.erase(unseen.stories.begin() + 100, unseen.stories.end());
  Rng rng(lesson.seed);
  TransformerConfig config =
      t5_config({.vocabulary = stories.vocabulary.size(), .d_model = 32, .heads = 4, .layers = 1});
  config.dropout = 0;
  const Transformer model(config, rng);
  const Index steps = lesson.fast ? 1500 : 4000;
  lesson.say(
      "Three tasks on the same small stories: write what is under the sentinels (`fill:`), name the child "
      "(`who:`), name the colour of its thing (`colour:`). One model, one loss, {} steps; only the first "
      "word tells the tasks apart.",
      steps);
  const History history = train_t5(lesson, model, stories, steps, rng);
  const double first = history.steps.front().loss;
  double last = 0;
  for (Index n = std::ssize(history.steps) - 20; n < std::ssize(history.steps); ++n)
    last += history.steps[n].loss / 20;
  lesson.claim(last < first / 2, "the loss fell from {:.2f} (even chances would be log V = {:.2f}) to {:.2f}",
               first, std::log(double(stories.vocabulary.size())), last);

  Examples fills, whos, colour_questions;
  Rng holes(lesson.seed + 7);
  for (const Story& story : unseen.stories) {
    fills.push_back(fill(unseen, story, holes));
    whos.push_back(who(unseen, story));
    colour_questions.push_back(colour(unseen, story));
  }
  const double count = double(fills.size());
  const std::vector<std::vector<int>> filled = answers(model, fills), named = answers(model, whos),
                                      coloured = answers(model, colour_questions);
  const auto words_of = [&](const std::vector<int>& ids) {
    Words out;
    for (const int id : ids)
      if (id != Vocabulary::eos) out.push_back(stories.vocabulary.token(id));
    return joined(out);
  };
  // Holes that are filled right to the last word, and the first story that has one: it is shown.
  Index holes_in_all = 0, holes_right = 0;
  Index first_right = 0;
  for (Index n = std::ssize(fills); n-- > 0;)
    for (const int sentinel : fills[n].input) {
      if (sentinel < stories.corruption.first_sentinel || !stories.vocabulary.is_special(sentinel)) continue;
      ++holes_in_all;
      if (!filled_right(stories, filled[n], fills[n].target, sentinel)) continue;
      ++holes_right;
      first_right = n;
    }
  const Story& shown = unseen.stories[first_right];
  lesson.say(
      "A new story (the first in which a hole is filled right), and the same model asked three times:");
  lesson.say("{}", stories.vocabulary.decode(shown.text));
  lesson.table({"prefix", "written", "right"},
               {{"who:", words_of(named[first_right]), stories.vocabulary.token(shown.who)},
                {"colour:", words_of(coloured[first_right]), stories.vocabulary.token(shown.colour)},
                {"fill:", words_of(filled[first_right]), words_of(fills[first_right].target)}});
  const Index who_right = count_right(named, whos), colour_right = count_right(coloured, colour_questions);
  lesson.claim(double(std::min(who_right, colour_right)) > 0.5 * count,
               "of {} new stories, {} children and {} colours are named right, by writing a word",
               fills.size(), who_right, colour_right);

  Index well_formed = 0;
  for (Index n = 0; n < std::ssize(fills); ++n) {
    const int closing = fills[n].target[fills[n].target.size() - 2];  // before the <eos>
    well_formed += !filled[n].empty() && filled[n].front() == stories.corruption.first_sentinel &&
                   filled[n].back() == closing;
  }
  lesson.claim(double(well_formed) > 0.8 * count,
               "{} of {} fillings begin with <X> and close with the right sentinel: it has learned the form",
               well_formed, fills.size());
  const Accuracy accuracy = accuracy_on(model, stories, fills);
  lesson.claim(
      accuracy.model > accuracy.commonest + 0.05,
      "with the right words before it given, {:.0f}% of the missing words are its first choice (always "
      "saying the commonest: {:.0f}%); written freely, {} of {} holes are right to the last word",
      100 * accuracy.model, 100 * accuracy.commonest, holes_right, holes_in_all);

  const Example& example = fills[first_right];
  const auto row_of = [&](const char* name, const std::vector<int>& ids, bool has_spans) {
    viz::TokenRow row{.name = name};
    int hole = -1;  // coloured if it is right
    for (const int id : ids) {
      const int color = stories.vocabulary.is_special(id) ? id - stories.corruption.first_sentinel : -1;
      if (color >= 0)
        hole = has_spans && filled_right(stories, filled[first_right], example.target, id) ? color : -1;
      if (id != Vocabulary::eos)
        row.tokens.push_back({stories.vocabulary.token(id), color >= 0 ? color : hole});
    }
    return row;
  };
  lesson.picture(
      "filled.png",
      viz::token_rows({row_of("input", example.input, false), row_of("written", filled[first_right], true),
                       row_of("target", example.target, true)},
                      {.title = "Holes in a new story, filled"}),
      "A small T5 fills holes",
      "Compare what stands behind the same sentinel in `written` and in `target`: a hole in colour is filled "
      "right. Words that occur elsewhere in the story can be found there; the rest must be guessed, and may "
      "fit without being right.");
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(
      argc, argv, {.name = "17_t5", .question = "Can every task be the same task?"}, [](Lesson& lesson) {
        text_to_text(lesson);
        span_corruption(lesson);
        bytes(lesson);
        relative_bias(lesson);
        small_t5(lesson);
        lesson.try_next(
            {{"In span_corruption, let `me` and `to` fall into hole 0 as well.",
              "The input gets shorter by two words, the target longer; still one <X> for all four."},
             {"In train_t5, leave out the line that asks for colours.",
              "The claim on names and colours breaks: what `colour:` wants was never taught."},
             {"In small_t5, set .d_model to 64 and .layers to 2, and .peak in train_t5 to 3e-3.",
              "Some four times slower, and about three times as many holes are filled right: a second layer "
              "can look for what the first one has found."}});
      });
}
