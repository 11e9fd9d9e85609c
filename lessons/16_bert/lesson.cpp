/// > ____ the film was boring, we loved the song.
///
/// Which word is missing? You read on to the comma, saw two opinions that differ, and knew: *although*. A GPT
/// (lesson 15) cannot do that: it has to guess each word before it has read what follows. **BERT** (Devlin et
/// al., 2018), the *Bidirectional Encoder Representations from Transformers*, is the encoder alone. Every
/// token sees both sides, so it cannot write a text from left to right, but it can read one. It is taught in
/// two steps:
///
/// 1. **pre-training** on any text, without labels: hide 15% of the words and guess them;
/// 2. **fine-tuning** on a few labelled sentences, with a small new layer, a *head*, on top.
///
/// Letters for sizes: B texts in a batch, T tokens in each, C channels, V the size of the vocabulary,
/// K classes.
#include <algorithm>  // max, minmax_element
#include <cmath>      // fabs, log
#include <iterator>   // ssize
#include <numeric>    // accumulate

#include "core/autograd.hpp"
#include "lessons/16_bert/data.hpp"
#include "lessons/16_bert/pictures.hpp"
#include "lessons/16_bert/published.hpp"
#include "lessons/16_bert/race.hpp"
#include "lessons/16_bert/sides.hpp"
#include "lessons/support/lesson.hpp"
#include "lessons/support/published.hpp"

using namespace attn;

namespace {

struct Masked {
  Tokens tokens;      // (B, T): what is read
  IntTensor targets;  // (B, T): the hidden word, or not_asked
};

// Of each sentence 15% of the words, rounded up or down at random, at positions drawn without repetition.
// Eight in ten become [MASK], one in ten another word, one in ten stays. All of them are asked for.
Masked mask_tokens(const Tokens& tokens, const Words& words, Rng& rng) {
  const Index B = tokens.ids.shape()[0], T = tokens.ids.shape()[1];
  const IntTensor ids(tokens.ids.shape(), tokens.ids.values()),
      targets(ids.shape(), std::vector<int>(ids.numel(), not_asked));
  for (Index b = 0; b < B; ++b) {
    std::vector<Index> chosen;  // at first all positions of ordinary words
    for (Index t = 0; t < T; ++t)
      if (!words.vocabulary.is_special(ids(b, t))) chosen.push_back(t);
    shuffle(chosen, rng);
    chosen.resize(Index(0.15 * double(chosen.size()) + rng.uniform()));
    for (const Index t : chosen) {
      targets(b, t) = ids(b, t);
      const Index die = rng.below(10);  // 9: it stays
      if (die < 9) ids(b, t) = die == 8 ? words.random_word(rng) : words.mask;
    }
  }
  return {{ids, tokens.lengths}, targets};
}

Tensor mlm_loss(const Bert& model, const Masked& masked) {
  const Tensor logits = model.mlm_logits(model(masked.tokens, {.training = true}));  // (B, T, V)
  return cross_entropy(logits, masked.targets, {.ignore = not_asked});
}

// The same when the gaps are cut out first: then there is nothing to leave out.
double loss_of_gaps(const Tensor& logits, const IntTensor& targets) {  // (B, T, V), (B, T)
  std::vector<int> gaps, words;
  for (Index i = 0; i < targets.numel(); ++i)
    if (targets[i] != not_asked) gaps.push_back(int(i)), words.push_back(targets[i]);
  const Tensor rows = take_rows(reshape(logits, {targets.numel(), logits.size(2)}), gaps);  // (gaps, V)
  return cross_entropy(rows, IntTensor({std::ssize(words)}, words)).item();
}

/// ## Making the gaps
///
/// The first game is the *masked language model*: a cloze test, made from text alone.
void making_gaps(Lesson& lesson, const Data& data) {
  lesson.say(
      "The text is opinions on films and plays, such as `although the film was very boring, we loved the "
      "song`; there are {} to learn from.",
      grouped(std::ssize(data.training)));
  /// Take a sentence, put [CLS] in front (*classification*: a position to gather what the sentence means) and
  /// [SEP] (*separator*) at its end, and choose 15% of its words. If all of them became [MASK], the model
  /// would never learn to look at words that are not gaps, yet later there are no gaps at all. So only 80%
  /// do; 10% become a random word, 10% stay as they are. The model has to name the true word at every chosen
  /// position, and nowhere else.
  Rng rng(lesson.seed + 3);
  const std::vector<std::string> words = {"although", "the", "film",  "was", "very", "boring",
                                          ",",        "we",  "hated", "the", "end",  "."};
  const Tokens tiny(data.words.encode(words));
  Masked masked;
  bool any = false;
  while (!any) {
    masked = mask_tokens(tiny, data.words, rng);
    for (Index i = 0; i < masked.targets.numel(); ++i) any = any || masked.tokens.ids[i] == data.words.mask;
  }
  std::vector<std::vector<std::string>> rows;
  for (Index t = 0; t < tiny.ids.numel(); ++t)
    rows.push_back({data.words.vocabulary.token(tiny.ids[t]),
                    data.words.vocabulary.token(masked.tokens.ids[t]),
                    masked.targets[t] == not_asked ? "" : data.words.vocabulary.token(masked.targets[t])});
  lesson.table({"sentence", "model reads", "asked for"}, rows);

  const Tokens large = tokens_of(pick(data.training, 1000, lesson.seed));
  const Masked many = mask_tokens(large, data.words, rng);
  double ordinary = 0, asked = 0, hidden = 0, kept = 0, special = 0;
  for (Index i = 0; i < large.ids.numel(); ++i) {
    const bool is_special = data.words.vocabulary.is_special(large.ids[i]);
    ordinary += is_special ? 0 : 1;
    if (many.targets[i] == not_asked) continue;
    asked += 1;
    special += is_special ? 1 : 0;
    hidden += many.tokens.ids[i] == data.words.mask ? 1 : 0;
    kept += many.tokens.ids[i] == large.ids[i] ? 1 : 0;
  }
  lesson.claim(special == 0 && std::fabs(asked / ordinary - 0.15) < 0.02 &&
                   std::fabs(hidden / asked - 0.8) < 0.05 && std::fabs(kept / asked - 0.1) < 0.04,
               "of {} words {:.1f}% were chosen: {:.0f}% masked, {:.0f}% kept, the others replaced; no "
               "special token among them",
               grouped(Index(ordinary)), 100 * asked / ordinary, 100 * hidden / asked, 100 * kept / asked);

  const NoGrad no_grad;
  const Bert model = new_bert(data.words, 64, 2, lesson.seed);
  const double of_gaps = loss_of_gaps(model.mlm_logits(model(many.tokens)), many.targets);
  const double of_all = mlm_loss(model, many).item();
  /// The loss is the mean surprise over the gaps:
  ///
  /// $$ loss = −1/|gaps| Σ_{t in gaps} log P(x_t | sentence with gaps) $$
  lesson.claim(
      std::fabs(of_gaps - of_all) < 1e-3,
      "before training the loss is {:.3f}, and {:.3f} if the gaps are cut out and measured alone: no other "
      "word counts; blind guessing among {} words costs {:.3f}",
      of_all, of_gaps, data.words.vocabulary.size(), std::log(double(data.words.vocabulary.size())));
}

/// ## Did it follow? Segments and [CLS]
///
/// BERT's second game is *next-sentence prediction*: two sentences in one row, and the question whether the
/// second really followed the first in the text. Half of the pairs are true. So that the model can tell the
/// two apart, what it reads for each token is the sum of three vectors: word, position, and *segment*, A for
/// the first sentence and B for the second. The answer is read off the state of [CLS]:
///
/// $$ x = E[word] + P[position] + S[segment] $$
///
/// $$ is-next = tanh(h_CLS W_pool + b) W_nsp + b′ $$
///
/// (Our E[word] has the factor √C of lesson 11, BERT's has not: here that trained better.)
void next_sentence(Lesson& lesson) {
  const std::vector<std::string> shown = {"[CLS]", "Anna", "had",  "a",  "dog", ".",
                                          "[SEP]", "she",  "lost", "it", ".",   "[SEP]"};
  lesson.picture(
      "embeddings.png", three_embeddings(shown, {0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1}),
      "BERT's three embeddings",
      "A column for each token. All three tables are learned; the segment table has two rows only.");
  const Stories pairs = load_stories(lesson.fast ? 150 : 300, lesson.seed);
  const Index cut = std::ssize(pairs.stories) * 4 / 5;
  const Bert model = new_bert(pairs.words, 64, 2, lesson.seed);
  const Index B = 16;
  const std::uint64_t base = lesson.seed * 7919;
  fit(parameters_of(model), "gaps + next sentence", 80, 1e-3, [&](Index batch) {
    Rng rng(base + std::uint64_t(batch));
    const PairInput input = draw_pairs(pairs, B, 0, cut, rng);
    const Masked masked = mask_tokens(input.tokens, pairs.words, rng);
    const Tensor states = model(masked.tokens, input.segments, {.training = true});  // (B, T, C)
    const Tensor words = cross_entropy(model.mlm_logits(states), masked.targets, {.ignore = not_asked});
    return StepLoss{words + cross_entropy(model.nsp_logits(states), input.labels), input.tokens.ids.numel()};
  });
  const NoGrad no_grad;
  Rng rng(base - 1);
  const PairInput test = draw_pairs(pairs, 200, cut, pairs.stories.size(), rng);
  const double right = share_right(model.nsp_logits(model(test.tokens, test.segments)), test.labels);
  lesson.claim(right > (lesson.fast ? 0.52 : 0.6), "on unseen stories it is right on {:.0f}% of the pairs",
               100 * right);
  /// Is that understanding? Mostly not: a sentence like `Anna was happy` cannot come second in a story,
  /// whoever it is about. The game can be won by the kind of sentence alone. RoBERTa (Liu et al., 2019) found
  /// that BERT gets no worse without it, and dropped it. So do we from here on.
}

Bert pretrain(Lesson& lesson, const Data& data, std::vector<double>& curve) {
  const Bert model = new_bert(data.words, 64, 2, lesson.seed);
  const Index B = lesson.fast ? 16 : 32;
  const std::uint64_t base = lesson.seed * 1000003;
  const History history =
      fit(parameters_of(model), "masked LM", lesson.fast ? 200 : 700, 3e-3, [&](Index batch) {
        Rng rng(base + std::uint64_t(batch));
        const Tokens tokens = tokens_of(pick(data.training, B, rng.bits64()));
        return StepLoss{mlm_loss(model, mask_tokens(tokens, data.words, rng)), tokens.ids.numel()};
      });
  for (const TrainPoint& point : history.steps) curve.push_back(point.loss);
  return model;
}

/// ## A gap filled both ways
///
/// Now BERT is pre-trained on the opinions, by gaps alone. Beside it, a causal model of the same size (a GPT
/// of words) reads the same sentences. It takes fewer steps, but each asks it for every word, not for 15%:
/// more answers in all.
Bert both_ways(Lesson& lesson, const Data& data) {
  std::vector<double> curve;
  const Bert bert = pretrain(lesson, data, curve);
  lesson.picture("pretraining.png",
                 viz::line_chart({{.name = "masked words", .y = curve, .smooth = 0.95}},
                                 {.title = "Pre-training: guessing 15% of the words",
                                  .x_title = "step",
                                  .y_title = "cross-entropy (nats per gap)",
                                  .y_low = 0}),
                 "Loss of the masked language model",
                 "It does not go to 0: which film it was, nobody can know from the rest.");
  double start = 0, end = 0;
  for (Index i = 0; i < 20; ++i) start += curve[i] / 20, end += curve[curve.size() - 1 - i] / 20;
  lesson.claim(end < 0.8 * start, "the loss fell from {:.2f} to {:.2f} nats per gap", start, end);

  const Gpt gpt = train_causal(data, lesson.fast, lesson.seed);
  const std::vector<std::string> sentence = {"although", "the",   "film", "was",  "boring", ",",
                                             "we",       "loved", "the",  "song", "."};
  const Index place = 1;  // of the gap; 0 is [CLS]
  std::vector<int> ids = data.words.encode(sentence);
  const auto both = fill(bert, data.words, ids, place), left = fill(gpt, data.words, ids, place);
  const Index truth = ids[place];
  std::vector<viz::Token> gap = viz::plain_tokens(sentence);
  gap[place - 1] = viz::Token("____", 3);
  std::vector<viz::Token> seen(gap.begin(), gap.begin() + place);
  seen.insert(seen.begin(), viz::Token("[CLS]"));
  gap.insert(gap.begin(), viz::Token("[CLS]"));
  lesson.picture("both_ways.png",
                 viz::token_rows({{.name = "BERT reads", .detail = "both sides", .tokens = gap},
                                  {.name = "and fills in", .tokens = best_words(both, data.words, 0)},
                                  {.name = "GPT reads", .detail = "the left side", .tokens = seen},
                                  {.name = "and fills in", .tokens = best_words(left, data.words, 1)}},
                                 {.title = "One gap, filled with and without the right side"}),
                 "A sentence filled in both ways",
                 "Numbers are probabilities. Only the right side tells what the missing word is, and only "
                 "BERT can read it.");
  lesson.table({"model", fmt::format("P({})", sentence[place - 1])},
               {{"BERT, both sides", fmt::format("{:.2f}", both[truth])},
                {"GPT, left side only", fmt::format("{:.2f}", left[truth])}});
  if (!lesson.fast)
    lesson.claim(both[truth] > left[truth] + 0.2, "BERT gives the true word {:.2f}, the causal model {:.2f}",
                 both[truth], left[truth]);
  ids[place + 5] = data.words.vocabulary.id(".");  // the comma
  const double bert_change = largest_change(both, fill(bert, data.words, ids, place));
  const double gpt_change = largest_change(left, fill(gpt, data.words, ids, place));
  lesson.claim(bert_change > 1e-4 && gpt_change < 1e-6,
               "a full stop in place of the comma moves BERT's probabilities by {:.3f}, GPT's by {:.0f}",
               bert_change, gpt_change);
  const Sides sides = compare_sides(data, bert, gpt, lesson.fast ? 60 : 150);
  /// One gap in each of many unseen sentences, at any position. How surprising is the true word?
  if (lesson.fast)
    lesson.say("BERT {:.2f} nats, the causal model {:.2f} (--fast trains too briefly to tell more).",
               sides.both, sides.left);
  else
    lesson.claim(sides.both < sides.left - 0.1, "BERT {:.2f} nats, the causal model {:.2f}", sides.both,
                 sides.left);
  return bert;
}

/// ## Fine-tuned, frozen, from scratch, distilled
///
/// Now a task: is the opinion positive? Only a few hundred sentences have a label. A new head with two
/// outputs reads the state of [CLS]. Four ways to use the labels:
///
/// - *bag of words*: no transformer at all, one weight for each word, summed (logistic regression):
///   the control;
/// - *from scratch*: our model without pre-training;
/// - *frozen*: pre-trained, and only the head learns;
/// - *fine-tuned*: pre-trained, and everything goes on learning.
///
/// Each is run five times, with different labelled sentences and a different initial head. Most sentences
/// have two opinions that differ: in `the film was dull but we loved the song` the last one counts, in `the
/// film was dull although we loved the song` the first. The same words, two labels: there a bag of words can
/// only guess.
Entry fine_tuning(Lesson& lesson, const Data& data, const Bert& pretrained) {
  const Index few = lesson.fast ? 100 : 400, draws = lesson.fast ? 1 : 5;
  const Index large = parameters_of(pretrained).count();
  const Bert small = new_bert(data.words, 32, 1, lesson.seed + 5);
  const Index small_count = parameters_of(small).count();
  Entry bag{"bag of words", data.words.vocabulary.size()}, scratch{"from scratch", large},
      frozen{"frozen", large}, tuned{"fine-tuned", large}, alone{"small, from the labels", small_count},
      hard{"small, hard labels", small_count}, soft{"small, soft targets", small_count};
  const Index steps = lesson.fast ? 40 : 100;
  const std::vector<Example> unlabelled(data.training.end() - (lesson.fast ? 500 : 1200),
                                        data.training.end());
  for (Index n = 0; n < draws; ++n) {
    const std::uint64_t seed = lesson.seed + 100 * std::uint64_t(n);
    const std::vector<Example> labelled(data.training.begin() + n * few,
                                        data.training.begin() + (n + 1) * few);
    bag.scores.push_back(bag_of_words(labelled, data));
    scratch.scores.push_back(score_of(fine_tune(new_bert(data.words, 64, 2, seed + 4), labelled,
                                                {.steps = steps, .rate = 1.5e-3, .seed = seed}),
                                      data));
    frozen.scores.push_back(score_of(
        fine_tune(pretrained, labelled, {.steps = steps, .rate = 5e-3, .frozen = true, .seed = seed}), data));
    const Tuned teacher = fine_tune(pretrained, labelled, {.steps = steps, .rate = 1.5e-3, .seed = seed});
    tuned.scores.push_back(score_of(teacher, data));
    const Answers answers = answers_of(teacher, unlabelled);
    const Bert student = new_bert(data.words, 32, 1, seed + 5);
    alone.scores.push_back(
        score_of(fine_tune(student, labelled, {.steps = steps, .rate = 3e-3, .seed = seed}), data));
    const Tuning imitation{.steps = 3 * steps / 2, .rate = 3e-3, .seed = seed};
    hard.scores.push_back(score_of(imitate(student, unlabelled, answers, Targets::hard, imitation), data));
    soft.scores.push_back(score_of(imitate(student, unlabelled, answers, Targets::soft, imitation), data));
  }
  lesson.say(
      "With {} labels, right on {} unseen sentences: the mean over the draws and their range, and the mean "
      "for sentences with one opinion and with two.",
      few, data.test.size());
  lesson.table(race_header, {bag.row(), scratch.row(), frozen.row(), tuned.row()});
  if (lesson.fast) {
    lesson.claim(tuned.mean(&Score::all) > 45, "fine-tuned, it has {:.0f}%", tuned.mean(&Score::all));
  } else {
    lesson.claim(tuned.mean(&Score::all) > bag.mean(&Score::all) + 2 &&
                     tuned.mean(&Score::two) > scratch.mean(&Score::two) + 2,
                 "pre-training buys word order: with two opinions the fine-tuned model is right on {:.1f}%, "
                 "the bag of words on {:.1f}% and the model from scratch on {:.1f}%",
                 tuned.mean(&Score::two), bag.mean(&Score::two), scratch.mean(&Score::two));
  }
  /// With one opinion, counting words is enough, and little is left to win: the labels say which words are
  /// good. What `but` and `although` do to a sentence takes more examples than there are labels; guessing
  /// gaps has shown thousands of them. The frozen model has only what the gaps put into [CLS], and no gap
  /// ever asked [CLS] to sum up a sentence.
  ///
  /// **Distillation** (Hinton, Vinyals and Dean, 2015) is a way to a small model: a *student* learns from
  /// what a large *teacher* says about sentences without labels. Here the teacher is the fine-tuned model.
  /// Its answers can be taken as they are, `0.7 to 0.3`, softened by a temperature τ (*soft targets*), or
  /// only the likelier one, `yes` (*hard labels*):
  ///
  /// $$ loss = τ² · KL( softmax(teacher/τ) ‖ softmax(student/τ) ) $$
  ///
  /// KL(p ‖ q), the *Kullback-Leibler divergence* Σ p log(p / q), measures how far q is from p; it is 0 if
  /// they are equal.
  lesson.table(race_header, {alone.row(), hard.row(), soft.row()});
  lesson.claim(large > 4 * small_count, "the student has {} parameters, {:.1f} times fewer than its teacher",
               grouped(small_count), double(large) / double(small_count));
  lesson.say(
      "From {} sentences that the teacher answers, the student gains, against the labels alone, {:+.1f} "
      "points by hard labels and {:+.1f} by soft targets. Soft targets are praised for what the teacher's "
      "doubts tell; with two classes that is little.",
      grouped(std::ssize(unlabelled)), hard.mean(&Score::all) - alone.mean(&Score::all),
      soft.mean(&Score::all) - alone.mean(&Score::all));
  std::vector<std::string> names;
  viz::Numbers means;
  for (const Entry& entry : {bag, scratch, frozen, tuned, alone, hard, soft}) {
    names.push_back(fmt::format("{} ({})", entry.name, entry.range()));
    means.push_back(entry.mean(&Score::all));
  }
  lesson.picture(
      "accuracy.png",
      viz::bar_chart(names, means,
                     {.title = fmt::format("Positive or not, learned from {} labels", few),
                      .value_title = fmt::format("right on unseen sentences (%), mean of {}", draws),
                      .unit = "%",
                      .colors = {-1, 0, 0, 0, 1, 1, 1},
                      .high = 100}),
      "Seven ways to a classifier",
      "In brackets the range over the draws of labels. Grey: no transformer. Orange: the small model. A coin "
      "toss gets 50%.");
  return tuned;
}

/// ## DistilBERT: to distil the pre-training
///
/// DistilBERT (Sanh et al., 2019) does not distil a classifier but BERT itself, so that the student can be
/// fine-tuned to anything. It has half of the layers, starts from the teacher's own, and reads text with
/// gaps. Its loss has three terms: the teacher's softened distribution for each gap, the true word (the
/// masked language model as before), and the angle between the last states of both, 1 − cos. The control
/// starts from the same layers and has the middle term only:
void distil_pretraining(Lesson& lesson, const Data& data, const Bert& teacher, const Entry& tuned_teacher) {
  const Index steps = lesson.fast ? 40 : 150, few = lesson.fast ? 100 : 400, draws = lesson.fast ? 1 : 5;
  const auto train_student = [&](bool distil) {
    const Bert student = copy_of(teacher, 1);
    fit(parameters_of(student), distil ? "distilled" : "gaps alone", steps, 1e-3, [&](Index batch) {
      Rng rng(lesson.seed * 4099 + std::uint64_t(batch));
      const Masked masked = mask_tokens(tokens_of(pick(data.training, 16, rng.bits64())), data.words, rng);
      const Tensor states = student(masked.tokens, {.training = true});  // (B, T, C)
      const Tensor logits = student.mlm_logits(states);                  // (B, T, V)
      const Tensor mlm = cross_entropy(logits, masked.targets, {.ignore = not_asked});
      if (!distil) return StepLoss{mlm, masked.targets.numel()};
      const auto [taught_states, taught] = [&] {
        const NoGrad no_grad;
        const Tensor h = teacher(masked.tokens);
        return std::pair(h, teacher.mlm_logits(h));
      }();
      std::vector<int> gaps;
      for (Index i = 0; i < masked.targets.numel(); ++i)
        if (masked.targets[i] != not_asked) gaps.push_back(int(i));
      const auto rows = [&](const Tensor& x) {  // of the gaps: (gaps, V)
        return take_rows(reshape(x, {masked.targets.numel(), x.size(2)}), gaps);
      };
      const Tensor products = sum(states * taught_states, -1),
                   lengths = sqrt(sum(states * states, -1) * sum(taught_states * taught_states, -1));
      const Tensor cosine = mean(products / lengths);
      return StepLoss{imitation_loss(rows(logits), rows(taught), 2) + mlm + (scalar(1) - cosine),
                      masked.targets.numel()};
    });
    return student;
  };
  const Bert distilled = train_student(true), control = train_student(false);
  const Masked unseen = [&] {
    Rng rng(4242);
    return mask_tokens(tokens_of(all_of(data.test)), data.words, rng);
  }();
  std::vector<std::vector<std::string>> rows;
  std::vector<double> accuracy, losses;
  for (const auto& [name, model] :
       {std::pair("teacher, 2 layers", &teacher), std::pair("student, three terms", &distilled),
        std::pair("student, gaps alone", &control)}) {
    Entry entry{name, parameters_of(*model).count()};
    if (model == &teacher) entry.scores = tuned_teacher.scores;
    for (Index n = std::ssize(entry.scores); n < draws; ++n) {
      const std::vector<Example> labelled(data.training.begin() + n * few,
                                          data.training.begin() + (n + 1) * few);
      entry.scores.push_back(score_of(fine_tune(*model, labelled,
                                                {.steps = lesson.fast ? 40 : 100,
                                                 .rate = 1.5e-3,
                                                 .seed = lesson.seed + 100 * std::uint64_t(n)}),
                                      data));
    }
    const NoGrad no_grad;
    losses.push_back(mlm_loss(*model, unseen).item());
    rows.push_back({name, grouped(entry.parameters), fmt::format("{:.2f}", losses.back()),
                    fmt::format("{:.1f}%", entry.mean(&Score::all)), entry.range()});
    accuracy.push_back(entry.mean(&Score::all));
  }
  lesson.table({"", "parameters", "nats per gap", "fine-tuned: right", "range"}, rows);
  if (!lesson.fast)
    lesson.claim(
        accuracy[1] > 0.85 * accuracy[0],
        "with half of the layers the distilled student keeps {:.0f}% of its teacher's accuracy (a coin "
        "toss would keep {:.0f}%)",
        100 * accuracy[1] / accuracy[0], 5000 / accuracy[0]);
  lesson.say(
      "The teacher's part in it: {:+.2f} nats per gap and {:+.1f} points of accuracy, where the draws of one "
      "model differ by several points.",
      losses[1] - losses[2], accuracy[1] - accuracy[2]);

  /// DistilBERT itself kept 97% of BERT's score on a set of nine tasks with 40% fewer parameters, and is
  /// 60% faster.
}

/// ## A second head: a tag for every word
void tag_words(Lesson& lesson, const Data& data, const Bert& pretrained) {
  lesson.say(
      "The same model, another head: {} parts of speech, from the state of every token instead of [CLS]. A "
      "word alone does not tell: in `they play the film` the word `play` is a verb, in `we liked the play` a "
      "noun.",
      data.tag_names.size());
  const Bert model = copy_of(pretrained, 2);
  Rng rng(lesson.seed + 11);
  const Classifier head(64, std::ssize(data.tag_names), rng);
  ParameterList list;
  model.parameters(list);
  head.parameters(list);
  const std::uint64_t base = lesson.seed * 161803;
  fit(list, "tags", lesson.fast ? 60 : 80, 2e-3, [&](Index batch) {
    const auto chosen = pick(data.training, 16, base + std::uint64_t(batch));
    const Tokens tokens = tokens_of(chosen);
    const Tensor logits = head.tokens(model(tokens, {.training = true}));  // (B, T, K)
    return StepLoss{cross_entropy(logits, tags_of(chosen), {.ignore = not_asked}), tokens.ids.numel()};
  });
  const NoGrad no_grad;
  const auto all = all_of(data.test);
  const double right = share_right(head.tokens(model(tokens_of(all))), tags_of(all));
  lesson.claim(right > (lesson.fast ? 0.6 : 0.9), "{:.1f}% of the tags of unseen sentences are right",
               100 * right);
  const std::vector<std::string> sentence = {"they", "play",  "the", "film", ",", "and",
                                             "we",   "liked", "the", "play", "."};
  const IntTensor best = argmax(head.tokens(model(data.words.encode(sentence))));
  std::vector<viz::Token> shown;
  std::vector<std::string> tags;
  for (Index t = 0; t < std::ssize(sentence); ++t) {
    tags.push_back(data.tag_names[best[t + 1]]);
    shown.emplace_back(sentence[t], sentence[t] == "play" ? 1 : -1, tags.back());
  }
  lesson.table(sentence, {tags});
  lesson.picture(
      "tags.png",
      viz::token_rows({{.name = "tags", .tokens = shown}}, {.title = "One word, two parts of speech"}),
      "A tag for every word", "`play` is tagged by what stands around it.");
}

/// ## New gaps every time
///
/// BERT's gaps were made before training: the text was copied 10 times, each copy with other gaps, and read
/// for 40 epochs, so that each set of gaps was seen four times. RoBERTa draws new ones each time a sentence
/// is read (*dynamic masking*), and found that as good or slightly better. With few sentences and many passes
/// the difference is plain. The extreme case, one set of gaps for ever, against new ones in each pass:
void dynamic_masking(Lesson& lesson, const Data& data) {
  const Index few = 64, steps = lesson.fast ? 100 : 120, runs = lesson.fast ? 1 : 5;
  const std::vector<Example> small(data.training.begin(), data.training.begin() + few);
  const Tokens unseen = tokens_of(all_of(data.test));
  const auto measure = [&](bool dynamic, std::uint64_t seed) {
    const Bert model = new_bert(data.words, 32, 1, seed + 12);
    fit(parameters_of(model), dynamic ? "new gaps" : "one set of gaps", steps, 3e-3, [&](Index batch) {
      const Index part = batch % (few / 16), pass = batch / (few / 16);
      std::vector<const Example*> chosen;
      for (Index i = 0; i < 16; ++i) chosen.push_back(&small[part * 16 + i]);
      const Tokens tokens = tokens_of(chosen);
      Rng rng(std::uint64_t(part + (dynamic ? 1000 * (pass + 1) : 0)) + seed * 65537);
      return StepLoss{mlm_loss(model, mask_tokens(tokens, data.words, rng)), tokens.ids.numel()};
    });
    const NoGrad no_grad;
    Rng rng(4242);
    return double(mlm_loss(model, mask_tokens(unseen, data.words, rng)).item());
  };
  std::vector<double> fixed, dynamic;
  for (Index n = 0; n < runs; ++n) {
    fixed.push_back(measure(false, lesson.seed + std::uint64_t(n)));
    dynamic.push_back(measure(true, lesson.seed + std::uint64_t(n)));
  }
  const auto row = [](const char* name, const std::vector<double>& losses) {
    const auto [low, high] = std::minmax_element(losses.begin(), losses.end());
    return std::vector<std::string>{
        name,
        fmt::format("{:.2f}", std::accumulate(losses.begin(), losses.end(), 0.0) / double(losses.size())),
        fmt::format("{:.2f} to {:.2f}", *low, *high)};
  };
  lesson.say("{} sentences, {} passes over them, loss on unseen sentences, mean and range of the runs ({}):",
             few, steps * 16 / few, runs);
  lesson.table({"gaps", "nats per gap", "range"}, {row("one set", fixed), row("new each time", dynamic)});
  lesson.claim(
      *std::max_element(dynamic.begin(), dynamic.end()) < *std::min_element(fixed.begin(), fixed.end()),
      "new gaps are better in every run: each pass asks another question of the same sentence");
}

/// ## The real ones
///
/// | model | layers | C | heads | parameters | text |
/// |---|---|---|---|---|---|
/// | BERT base, 2018 | 12 | 768 | 12 | 110 million | 16 GB |
/// | BERT large, 2018 | 24 | 1,024 | 16 | 340 million | 16 GB |
/// | RoBERTa large, 2019 | 24 | 1,024 | 16 | 355 million | 160 GB |
/// | DistilBERT, 2019 | 6 | 768 | 12 | 66 million | 16 GB |
///
/// BERT read books and Wikipedia. RoBERTa is BERT, trained better: ten times the text, batches of 8,000
/// sequences instead of 256, new gaps each time, and no next-sentence game. It beat BERT and the models that
/// had beaten BERT, without a new idea in the model.
void real_ones(Lesson& lesson) {
  // Embeddings (words, 512 positions, 2 segments) and their norm, N blocks with two norms each, the pooler.
  const auto count = [](Index C, Index N) {
    return (30522 + 512 + 2) * C + 2 * C + N * (12 * C * C + 13 * C) + C * C + C;
  };
  lesson.claim(
      count(768, 12) == 109482240,
      "counted from these sizes with a vocabulary of 30,522, BERT base has {} parameters, as published",
      grouped(count(768, 12)));
}

}  // namespace

int main(int argc, char** argv) {
  if (asks_for_weights(argc, argv)) return fill_gaps(argc, argv);
  return run_lesson(
      argc, argv,
      {.name = "16_bert",
       .question = "What can a model learn by filling in gaps?",
       .add_options =
           [](Options& options) {
             options.add_text(
                 "With --weights DIR it runs a published BERT instead: see 16_bert --weights DIR --help.");
           }},
      [](Lesson& lesson) {
        const Data data = load_opinions(lesson.fast ? 1000 : 4000, lesson.fast ? 200 : 400, lesson.seed);
        making_gaps(lesson, data);
        next_sentence(lesson);
        const Bert pretrained = both_ways(lesson, data);
        const Entry tuned = fine_tuning(lesson, data, pretrained);
        distil_pretraining(lesson, data, pretrained, tuned);
        tag_words(lesson, data, pretrained);
        dynamic_masking(lesson, data);
        real_ones(lesson);
        /// ## Check yourself
        ///
        /// - **What is BERT for?** To read: it turns each token into a vector that depends on both sides of
        ///   it. With a small head and few labels it then classifies sentences or tags words.
        /// - **What goes in, what comes out?** Tokens (B, T) and segments (B, T); states (B, T, C). From the
        ///   states of gaps, words (V scores each); from [CLS], classes of the sentence (B, K); from each
        ///   token, tags (B, T, K).
        /// - **What goes wrong without the 10% random and 10% kept words?** The model would learn that only
        ///   [MASK] needs an answer, and the states of ordinary words, all that it meets after pre-training,
        ///   would be poor.
        ///
        /// ## Read on
        ///
        /// - Devlin et al., 2018: *BERT: pre-training of deep bidirectional transformers for
        ///   language understanding*.
        /// - Liu et al., 2019: *RoBERTa: a robustly optimized BERT pretraining approach*.
        /// - Sanh et al., 2019: *DistilBERT, a distilled version of BERT: smaller, faster, cheaper
        ///   and lighter*.
        /// - Hinton, Vinyals and Dean, 2015: *Distilling the knowledge in a neural network*.
        lesson.try_next(
            {{"In mask_tokens, ask for every ordinary word, not only for the chosen ones.",
              "The loss is much lower at once (and a claim fails): most answers can be read off the input."},
             {"In plain_opinions (data.cpp), let sentences with `not` pass.",
              "The gaps are filled about as well, but every classifier is near a coin toss, and the claim "
              "on word order fails: what `not` turns around takes more labels than there are."},
             {"In fine_tuning, set few to 800.",
              "The bag of words stays where it is: more labels do not teach it order. The fine-tuned model "
              "gains three points, all on sentences with two opinions."}});
      });
}
