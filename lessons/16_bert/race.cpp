#include "lessons/16_bert/race.hpp"

#include <fmt/core.h>  // format

#include <algorithm>  // copy, max, minmax_element
#include <cmath>      // exp
#include <iterator>   // ssize

#include "core/autograd.hpp"
#include "lessons/support/lesson.hpp"  // grouped

namespace attn {
namespace {

Tuned with_head(const Bert& start, std::uint64_t seed) {
  Rng rng(seed + 9);
  return {copy_of(start, start.config.encoder_layers), Classifier(start.config.d_model, 2, rng)};
}

// From what is said of each test sentence: 1 for positive.
Score score(const std::vector<int>& said, const Data& data) {
  const int but = data.words.vocabulary.id("but"), although = data.words.vocabulary.id("although");
  double right[2] = {}, count[2] = {};
  for (Index i = 0; i < std::ssize(data.test); ++i) {
    const Example& example = data.test[i];
    const auto has = [&](int word) {
      return std::find(example.ids.begin(), example.ids.end(), word) != example.ids.end();
    };
    const int two = has(but) || has(although);
    count[two] += 1;
    right[two] += said[i] == example.label;
  }
  return {100 * (right[0] + right[1]) / (count[0] + count[1]), 100 * right[0] / count[0],
          100 * right[1] / count[1]};
}

}  // namespace

History fit(const ParameterList& parameters, const std::string& label, Index steps, double rate,
            const std::function<StepLoss(Index)>& loss) {
  Adam optimizer(parameters);
  return train(optimizer,
               {.steps = steps,
                .schedule = {.kind = ScheduleKind::linear,
                             .peak = rate,
                             .warmup = std::max<Index>(1, steps / 20),
                             .total = steps,
                             .floor = rate / 20},
                .label = label},
               {.loss = loss});
}

Bert new_bert(const Words& words, Index d_model, Index layers, std::uint64_t seed) {
  TransformerConfig config = bert_config(
      {.vocabulary = words.vocabulary.size(), .d_model = d_model, .layers = layers, .max_length = 48});
  config.dropout = 0;  // the model is small and the text is plenty
  Rng rng(seed);
  return Bert(config, rng);
}

Bert copy_of(const Bert& model, Index layers) {
  TransformerConfig config = model.config;
  config.encoder_layers = layers;
  Rng rng(0);
  Bert copy(config, rng);
  for (const Parameter& to : parameters_of(copy))
    for (const Parameter& from : parameters_of(model))
      if (from.name == to.name)
        std::copy(from.tensor.data(), from.tensor.data() + from.tensor.numel(), to.tensor.data());
  return copy;
}

Tuned fine_tune(const Bert& start, const std::vector<Example>& labelled, const Tuning& tuning) {
  const Tuned tuned = with_head(start, tuning.seed);
  ParameterList list;
  if (!tuning.frozen) tuned.model.parameters(list);
  tuned.head.parameters(list);
  const std::uint64_t base = tuning.seed * 31337;
  fit(list, "fine-tuning", tuning.steps, tuning.rate, [&](Index batch) {
    const auto chosen = pick(labelled, 16, base + std::uint64_t(batch));
    const Tokens tokens = tokens_of(chosen);
    Tensor states = tuned.model(tokens, {.training = true});  // (B, T, C)
    if (tuning.frozen) states = states.detach();              // no gradient goes below here
    return StepLoss{cross_entropy(tuned.head.sentence(tuned.model, states), labels_of(chosen)),
                    tokens.ids.numel()};
  });
  return tuned;
}

Tensor imitation_loss(const Tensor& student, const Tensor& teacher, real temperature) {
  const Tensor p = softmax(teacher / temperature);
  const Tensor surprise = -sum(p * log_softmax(student / temperature), -1);
  return mean(surprise) * (temperature * temperature);
}

Answers answers_of(const Tuned& teacher, const std::vector<Example>& sentences) {
  const NoGrad no_grad;
  Answers answers;
  for (Index first = 0; first < std::ssize(sentences); first += 100) {
    const std::vector<Example> part(sentences.begin() + first,
                                    sentences.begin() + std::min(first + 100, std::ssize(sentences)));
    const Tensor logits = teacher.head.sentence(teacher.model, teacher.model(tokens_of(all_of(part))));
    for (Index i = 0; i < logits.size(0); ++i) answers.push_back({logits(i, 0), logits(i, 1)});
  }
  return answers;
}

Tuned imitate(const Bert& start, const std::vector<Example>& sentences, const Answers& answers,
              Targets targets, const Tuning& tuning) {
  const Tuned tuned = with_head(start, tuning.seed);
  ParameterList list;
  tuned.model.parameters(list);
  tuned.head.parameters(list);
  fit(list, "imitating", tuning.steps, tuning.rate, [&](Index batch) {
    Rng rng(tuning.seed * 271828 + std::uint64_t(batch));
    std::vector<const Example*> chosen;
    std::vector<int> likelier;
    std::vector<real> said;
    for (Index n = 0; n < 16; ++n) {
      const Index i = rng.below(std::ssize(sentences));
      chosen.push_back(&sentences[i]);
      said.insert(said.end(), answers[i].begin(), answers[i].end());
      likelier.push_back(answers[i][1] > answers[i][0]);
    }
    const Tokens tokens = tokens_of(chosen);
    const Tensor logits =
        tuned.head.sentence(tuned.model, tuned.model(tokens, {.training = true}));  // (B, 2)
    return StepLoss{targets == Targets::soft ? imitation_loss(logits, from_values({16, 2}, said), 2)
                                             : cross_entropy(logits, IntTensor({16}, likelier)),
                    tokens.ids.numel()};
  });
  return tuned;
}

Score score_of(const Tuned& tuned, const Data& data) {
  const NoGrad no_grad;
  const IntTensor best = argmax(tuned.head.sentence(tuned.model, tuned.model(tokens_of(all_of(data.test)))));
  return score(best.values(), data);
}

Score bag_of_words(const std::vector<Example>& labelled, const Data& data) {
  std::vector<double> weight(data.words.vocabulary.size(), 0.0);  // [CLS] serves as the bias
  const auto sum_of = [&](const Example& example) {
    double sum = 0;
    for (const int id : example.ids) sum += weight[id];
    return sum;
  };
  for (int step = 0; step < 300; ++step) {
    std::vector<double> gradient(weight.size(), 0.0);
    for (const Example& example : labelled) {
      const double error = 1 / (1 + std::exp(-sum_of(example))) - example.label;
      for (const int id : example.ids) gradient[id] += error / double(labelled.size());
    }
    for (Index v = 0; v < std::ssize(weight); ++v) weight[v] -= 0.5 * gradient[v];
  }
  std::vector<int> said;
  for (const Example& example : data.test) said.push_back(sum_of(example) > 0);
  return score(said, data);
}

double share_right(const Tensor& logits, const IntTensor& labels) {
  const IntTensor best = argmax(logits);
  double right = 0, asked = 0;
  for (Index i = 0; i < labels.numel(); ++i) {
    if (labels[i] == not_asked) continue;
    asked += 1;
    right += best[i] == labels[i] ? 1 : 0;
  }
  return right / asked;
}

double Entry::mean(double Score::*part) const {
  double sum = 0;
  for (const Score& score : scores) sum += score.*part / double(scores.size());
  return sum;
}

std::string Entry::range() const {
  const auto [low, high] = std::minmax_element(scores.begin(), scores.end(),
                                               [](const Score& a, const Score& b) { return a.all < b.all; });
  return fmt::format("{:.0f} to {:.0f}", low->all, high->all);
}

std::vector<std::string> Entry::row() const {
  const auto percent = [&](double Score::*part) { return fmt::format("{:.1f}%", mean(part)); };
  return {name,    grouped(parameters),  percent(&Score::all),
          range(), percent(&Score::one), percent(&Score::two)};
}

}  // namespace attn
