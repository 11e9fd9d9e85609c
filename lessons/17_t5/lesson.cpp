/// BERT (lesson 16) needs a new head for every task: one to classify, one to tag, one to compare two
/// sentences. Is that necessary? **T5**, the *Text-To-Text Transfer Transformer* (Raffel et al., 2020), needs
/// none: the question is text, the answer is text, and the first words say what is asked. `opinion: I love
/// this film.` is answered by `positive`. So one encoder-decoder (lesson 11), one loss and one way of
/// decoding serve every task.
///
/// Letters for sizes: B texts in a batch, S tokens that the encoder reads, T that the decoder writes, C
/// channels, V the size of the vocabulary.
#include <algorithm>  // count, find
#include <cmath>      // fabs, log
#include <iterator>   // ssize

#include "core/autograd.hpp"
#include "core/viz/tokens.hpp"
#include "lessons/17_t5/data.hpp"
#include "lessons/17_t5/published.hpp"
#include "lessons/17_t5/tasks.hpp"
#include "lessons/support/lesson.hpp"
#include "lessons/support/published.hpp"
#include "optim/trainer.hpp"

using namespace attn;

namespace {

using Words = std::vector<std::string>;

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// ## Text in, text out
///
/// A *prefix* says what is wanted, and the answer is written out as words, even a class or a number:
void text_to_text(Lesson& lesson) {
  lesson.table({"input", "target"}, {{"translate English to French: The cat sleeps.", "Le chat dort."},
                                     {"opinion: I love this film.", "positive"},
                                     {"similarity: A dog runs. A dog is running.", "4.6"},
                                     {"summarize: (a page of news)", "(two sentences)"}});
  /// Nothing in the model knows of tasks: the prefix is only more words for the encoder.
}

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

/// ## Taking spans out
///
/// Most text has no labels, so the model first learns from the text alone. A few *spans*, runs of
/// neighbouring tokens, are taken out, and each leaves a **sentinel** behind, a special token that says
/// "something is missing here". The decoder writes what was there, each span after its sentinel, and one
/// more sentinel to close. That is *span corruption*. The example of the T5 paper, with two spans taken out
/// by hand:
void span_corruption(Lesson& lesson) {
  const Words text = {"Thank", "you", "for", "inviting", "me", "to", "your", "party", "last", "week"};
  const std::vector<int> hole = {-1, -1, 0, 0, -1, -1, -1, -1, 1, -1};
  const Holes holes = take_out(text, hole);
  lesson.print("  text     {}", joined(text));
  lesson.print("  input    {}", joined(holes.input));
  lesson.print("  target   {}", joined(holes.target));
  lesson.picture(
      "corrupted.png", holes_picture(text, hole, holes), "A corrupted sentence and its target",
      "Each colour is one span: one sentinel in the input, the same sentinel before its words in the target; "
      "the last sentinel only closes.");

  // The same with numbers, through the library: words 0 … 9, sentinels 100, 101, 102.
  const CorruptionOptions options{.first_sentinel = 100};
  const Corrupted by_hand{{0, 1, 100, 4, 5, 6, 7, 101, 9}, {100, 2, 3, 101, 8, 102}};
  const std::vector<int> restored = restore_spans(by_hand, options);
  bool in_order = restored.size() == text.size();
  for (Index i = 0; i < std::ssize(restored); ++i) in_order = in_order && restored[i] == int(i);
  lesson.claim(in_order,
               "input and target together hold all: restore_spans gives the {} words back, in order",
               restored.size());

  /// In training the spans fall at random: 15% of the tokens, 3 in a span on average. Measured:
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

/// ## Bytes instead of words
///
/// A vocabulary of words cannot read a word it has not seen. ByT5 (Xue et al., 2022) is T5 on bytes: 256
/// symbols, nothing unknown, any language, and a typo is only one other byte. The price is length, so its
/// spans are 20 bytes long on average, and its encoder is deep and its decoder shallow:
void bytes(Lesson& lesson) {
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

/// ## Distance inside the softmax
///
/// T5 adds no positions to its words. Each head has one learned number for each *bucket* of distances, added
/// to the score before the softmax (lesson 09), the same in all layers of a stack:
///
/// $$ score(i, j) = q_i · k_j + b_head[bucket(j − i)] $$
///
/// There is no ÷ √d_k: instead the queries start smaller by that factor. Near neighbours have a bucket each;
/// further away, ever more distances share one, and beyond some distance all do:
void relative_bias(Lesson& lesson) {
  viz::Series both{.name = "encoder: both sides"}, past{.name = "decoder: the past"};
  const auto step = [](viz::Series& series, Index distance, int bucket) {  // as wide as a distance
    for (const double side : {-0.5, 0.5}) {
      series.x.push_back(double(distance) + side);
      series.y.push_back(bucket);
    }
  };
  for (Index d = -140; d <= 140; ++d) {
    step(both, d, t5_bucket(d, true));
    if (d <= 0) step(past, d, t5_bucket(d, false));
  }
  lesson.picture(
      "buckets.png",
      viz::line_chart({both, past},
                      {.title = "T5's buckets of distance", .x_title = "key − query", .y_title = "bucket"}),
      "The 32 buckets",
      "Each step is a bucket. Steps are narrow in the middle, where each distance has its own, and wide "
      "outside. The encoder has 16 buckets for each side, the decoder 32 for the past.");
  const auto last_begins = [](bool bidirectional, int bucket) {
    Index distance = 0;
    while (t5_bucket(-distance, bidirectional) < bucket) ++distance;
    return distance;
  };
  const NoGrad no_grad;
  Rng rng(lesson.seed);
  const Tensor bias = T5Bias(4, true, rng)(40, 40);  // (H, T, S)
  const double moved =
      max_difference(slice(slice(bias, 1, 1, 40), 2, 1, 40), slice(slice(bias, 1, 0, 39), 2, 0, 39));
  lesson.claim(
      moved == 0 && t5_bucket(-128, false) == t5_bucket(-5000, false),
      "the bias depends on the distance alone; the last bucket begins {} steps back in the encoder and {} "
      "in the decoder, so 128 and 5,000 steps back are the same",
      last_begins(true, 15), last_begins(false, 31));
}

History train_t5(const Lesson& lesson, const Transformer& model, const Tasks& tasks, Index steps, Rng& rng) {
  Adam optimizer(parameters_of(model));
  const Context context{.training = true, .rng = &rng};
  const auto one_step = [&](Index step) {
    Rng draw(lesson.seed * 1000003 + std::uint64_t(step));
    Examples batch;
    for (int n = 0; n < 12; ++n) batch.push_back(fill(tasks, random_text(Part::training, draw), draw));
    for (int n = 0; n < 2; ++n) batch.push_back(who(tasks, random_text(Part::training, draw)));
    for (int n = 0; n < 2; ++n) batch.push_back(sound(tasks, animals()[draw.below(asked_animals)]));
    Index tokens = 0;
    for (const Example& example : batch) tokens += std::ssize(example.input) + std::ssize(example.target);
    const Tensor logits = logits_of(model, batch, context);
    return StepLoss{
        cross_entropy(logits, rectangle(batch, &Example::target).ids, {.ignore = Vocabulary::pad}), tokens};
  };
  const Schedule schedule{.kind = ScheduleKind::cosine, .peak = 1.8e-3, .warmup = 30, .total = steps};
  return train(optimizer, {.steps = steps, .schedule = schedule, .label = "T5"}, {.loss = one_step});
}

/// ## One small T5, three tasks
///
/// Our texts are about children and their animals: `Anna has a cow. It eats grass, it says moo and it lives
/// in a barn…` What a cow eats, says and lives in is the same in every text, so it can be learned by heart;
/// who has which animal changes, and has to be looked up. Three tasks, told apart by the prefix alone:
///
/// - `fill:` write what is under the sentinels (15% of the words, spans of 3 on average);
/// - `who:` name the child;
/// - `sound:` name the sound of an animal, without any text. Only the weights can know.
///
/// One model, one loss. The new texts that test it are about children with animals that they never had
/// in training.
void small_t5(Lesson& lesson) {
  const Tasks tasks = make_tasks();
  const WordVocabulary& words = tasks.vocabulary;
  Rng rng(lesson.seed);
  TransformerConfig config = t5_config({.vocabulary = words.size(), .d_model = 64, .heads = 4, .layers = 2});
  config.dropout = 0;
  const Transformer model(config, rng);
  const Index steps = lesson.fast ? 250 : 1300;
  const History history = train_t5(lesson, model, tasks, steps, rng);
  double last = 0;
  for (Index n = steps - 20; n < steps; ++n) last += history.steps[n].loss / 20;
  lesson.claim(last < history.steps.front().loss / 2,
               "in {} steps the loss of {} parameters fell from {:.2f} (log V is {:.2f}) to {:.2f}",
               grouped(steps), grouped(parameters_of(model).count()), history.steps.front().loss,
               std::log(double(words.size())), last);

  Examples fills, whos, sounds;
  std::vector<PetText> texts;
  Rng draw(lesson.seed + 7);
  for (int n = 0; n < 100; ++n) {
    texts.push_back(random_text(Part::unseen, draw));
    fills.push_back(fill(tasks, texts.back(), draw));
    whos.push_back(who(tasks, texts.back()));
  }
  for (const Animal& animal : animals()) sounds.push_back(sound(tasks, animal));
  const auto filled = answers(model, fills), named = answers(model, whos), sounded = answers(model, sounds);
  Index holes_in_all = 0, holes_right = 0, well_formed = 0, shown = 0;
  for (Index n = std::ssize(fills); n-- > 0;) {
    Index right_here = 0, here = 0;
    for (const int sentinel : fills[n].input) {
      if (sentinel < tasks.corruption.first_sentinel || !words.is_special(sentinel)) continue;
      ++here;
      right_here += filled_right(words, filled[n], fills[n].target, sentinel);
    }
    holes_in_all += here, holes_right += right_here;
    if (right_here == here) shown = n;  // the first text that is filled without a mistake
    const int closing = fills[n].target[fills[n].target.size() - 2];  // before the <eos>
    well_formed += !filled[n].empty() && filled[n].front() == tasks.corruption.first_sentinel &&
                   filled[n].back() == closing;
  }
  const auto text_of = [&](const std::vector<int>& ids) {
    Words out;
    for (const int id : ids)
      if (id != Vocabulary::eos) out.push_back(words.token(id));
    return joined(out);
  };
  /// A new text, and the same model asked three times:
  lesson.say("{}", texts[shown].text);
  const Index animal = texts[shown].animal;
  lesson.table({"prefix", "written", "right"},
               {{"who:", text_of(named[shown]), children()[texts[shown].child].name},
                {"sound: " + animals()[animal].name, text_of(sounded[animal]), animals()[animal].sound},
                {"fill:", text_of(filled[shown]), text_of(fills[shown].target)}});
  const Accuracy accuracy = accuracy_on(model, words, fills);
  lesson.claim(
      holes_right > (lesson.fast ? 10 : holes_in_all / 2),
      "of {} holes in 100 new texts {} are filled right to the last word; with the right words before it "
      "given, {:.0f}% of the missing words are its first choice (always saying the commonest: {:.0f}%)",
      holes_in_all, holes_right, 100 * accuracy.model, 100 * accuracy.commonest);
  lesson.claim(well_formed > 80,
               "{} of 100 answers begin with <X> and close with the right sentinel: it has learned the form",
               well_formed);
  const Index who_right = count_right(named, whos);
  Index asked = 0, never_asked = 0;
  for (Index n = 0; n < std::ssize(sounds); ++n)
    (n < asked_animals ? asked : never_asked) += text_of(sounded[n]) == animals()[n].sound;
  if (!lesson.fast)
    lesson.claim(who_right > 90 && asked == asked_animals,
                 "{} of 100 children are named right, and {} of the {} sounds that training asked for",
                 who_right, asked, asked_animals);
  lesson.say(
      "Training never asks for the sounds of the other four animals, though they occur in the texts. Of "
      "these it knows {}: a fact that holes can draw on is not yet one that a question can.",
      never_asked);

  const Example& example = fills[shown];
  const auto row_of = [&](const char* name, const std::vector<int>& ids, bool has_spans) {
    viz::TokenRow row{.name = name};
    int hole = -1;  // coloured if it is right
    for (const int id : ids) {
      const int color = words.is_special(id) ? id - tasks.corruption.first_sentinel : -1;
      if (color >= 0) hole = has_spans && filled_right(words, filled[shown], example.target, id) ? color : -1;
      if (id != Vocabulary::eos) row.tokens.push_back({words.token(id), color >= 0 ? color : hole});
    }
    return row;
  };
  lesson.picture(
      "filled.png",
      viz::token_rows({row_of("input", example.input, false), row_of("written", filled[shown], true),
                       row_of("target", example.target, true)},
                      {.title = "Holes in a new text, filled"}),
      "A small T5 fills holes",
      "The same sentinel has the same colour in all three rows. What follows it in `written` and in "
      "`target` agrees: some of it occurs elsewhere in the input, some is known by heart.");
}

/// ## What else was tried
///
/// The T5 paper is also a survey: it changed one thing at a time and measured each on the same tasks. First,
/// who may see whom. A decoder alone (GPT) can do text-to-text, too, with the input as its beginning. If it
/// may look both ways within the input, it is a **prefix language model**:
void ablations(Lesson& lesson) {
  const Words input = {"who:", "Anna", "has", "a", "cow"}, output = {"Anna", "<eos>"};
  Words all = input;
  all.insert(all.end(), output.begin(), output.end());
  const Index S = std::ssize(input), T = std::ssize(all);
  const auto map = [&](const char* title, const auto& sees) {
    viz::Matrix seen(T, T);
    for (Index i = 0; i < T; ++i)
      for (Index j = 0; j < T; ++j) seen(i, j) = sees(i, j);
    return viz::heatmap(seen, {.title = title,
                               .x_title = "keys",
                               .y_title = "queries",
                               .row_labels = all,
                               .column_labels = all,
                               .low = 0,
                               .high = 1,
                               .color_bar = false});
  };
  lesson.picture(
      "who_sees_whom.png",
      viz::row({map("language model", [](Index i, Index j) { return float(j <= i); }),
                map("prefix language model", [&](Index i, Index j) { return float(j <= i || j < S); }),
                map("encoder-decoder",
                    [&](Index i, Index j) { return i >= S && j < S ? 0.6F : float(j <= i || j < S); })}),
      "Who may see whom",
      "Yellow: visible. The last two differ in how the output sees the input. In a prefix language model one "
      "stack does it all; in an encoder-decoder the upper rows are the encoder, and green is "
      "cross-attention, with weights of its own.");

  /// Its findings, in short:
  ///
  /// - the encoder-decoder did best, the prefix language model came next, and the language model last;
  /// - filling in was a better first lesson than predicting the next word; *how* words were taken out
  ///   mattered little: spans of 3 are a bit better than single words, and shorter to write;
  /// - 15% is not critical: 10% and 25% did about as well, 50% worse;
  /// - clean text helps: **C4**, the *Colossal Clean Crawled Corpus*, 750 GB of web pages without menus, code
  ///   and duplicates, was made for this paper. Repeating a smaller text many times hurts;
  /// - larger models trained for longer on more text did better at everything.
  ///
  /// The published sizes, counted by the library from the settings alone:
  std::vector<std::vector<std::string>> rows;
  Index smallest = 0;
  for (const auto& [name, layers, C, heads] :
       {std::tuple("Small", 6, 512, 8), std::tuple("Base", 12, 768, 12), std::tuple("Large", 24, 1024, 16)}) {
    const Index count =
        parameter_count(t5_config({.vocabulary = 32128, .d_model = C, .heads = heads, .layers = layers}));
    if (!smallest) smallest = count;
    rows.push_back(
        {name, fmt::format("{0} + {0}", layers), grouped(C), fmt::format("{}", heads), grouped(count)});
  }
  lesson.table({"T5", "layers", "C", "heads", "parameters"}, rows);
  lesson.claim(smallest == 60506624, "T5 Small has {} parameters, as many as the published one",
               grouped(smallest));

  /// The largest two, with 3 and 11 billion, have more and larger heads and feed-forward networks instead of
  /// more layers. **mT5** (Xue et al., 2021) is the same recipe on text in 101 languages, with a vocabulary
  /// of 250,000.
}

}  // namespace

int main(int argc, char** argv) {
  if (asks_for_weights(argc, argv)) return do_task(argc, argv);
  return run_lesson(
      argc, argv,
      {.name = "17_t5",
       .question = "Can every task be the same task?",
       .add_options =
           [](Options& options) {
             options.add_text(
                 "With --weights DIR it runs a published T5 instead: see 17_t5 --weights DIR --help.");
           }},
      [](Lesson& lesson) {
        text_to_text(lesson);
        span_corruption(lesson);
        bytes(lesson);
        relative_bias(lesson);
        small_t5(lesson);
        ablations(lesson);
        /// ## Check yourself
        ///
        /// - **What is text-to-text for?** One model, one loss and one way of decoding serve all tasks; a new
        ///   task is a new prefix and examples, not a new head.
        /// - **What goes in, what comes out?** The encoder reads tokens (B, S) with sentinels where spans
        ///   are missing; the decoder writes (B, T): each sentinel, what was under it, and a sentinel
        ///   that closes.
        /// - **What goes wrong without sentinels?** The decoder could not tell which hole it is filling, nor
        ///   where one ends and the next begins, so input and target could not be put together again.
        ///
        /// ## Read on
        ///
        /// - Raffel et al., 2020: *Exploring the limits of transfer learning with a unified text-to-text
        ///   transformer*. T5, C4 and the survey.
        /// - Xue et al., 2021: *mT5: a massively multilingual pre-trained text-to-text transformer*.
        /// - Xue et al., 2022: *ByT5: towards a token-free future with pre-trained byte-to-byte models*.
        /// - Roberts, Raffel and Shazeer, 2020: *How much knowledge can you pack into the parameters of a
        ///   language model?* T5 answers questions without a text.
        lesson.try_next(
            {{"In span_corruption, let `me` and `to` fall into hole 0 as well.",
              "The input gets shorter by two words, the target longer; still one <X> for all four."},
             {"In train_t5, leave out the line that asks for names.",
              "The claim on names breaks: what `who:` wants was never taught."},
             {"In small_t5, set .layers to 1.",
              "Far fewer holes are filled right, and the claim breaks: a second layer "
              "can look for what the first one has found."}});
      });
}
