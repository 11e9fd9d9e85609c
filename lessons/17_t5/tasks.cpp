#include "lessons/17_t5/tasks.hpp"

#include <algorithm>  // max_element
#include <iterator>   // ssize
#include <map>        // map

#include "core/autograd.hpp"
#include "core/ops.hpp"
#include "nn/decode.hpp"

namespace attn {

Tasks make_tasks() {
  Rng rng(1);
  std::string all = "fill: who: sound:";
  for (int n = 0; n < 1000; ++n) all += " " + random_text(Part::training, rng).text;
  Tasks tasks{WordVocabulary::learn({all}, {"<X>", "<Y>", "<Z>", "<U>", "<V>", "<W>"}), {}};
  tasks.corruption = {.first_sentinel = tasks.vocabulary.special("<X>"), .sentinels = 6};
  return tasks;
}

namespace {

Example with_prefix(const Tasks& tasks, const char* prefix, const std::vector<int>& input,
                    const std::vector<int>& target) {
  Example example{tasks.vocabulary.encode(prefix), target};
  example.input.insert(example.input.end(), input.begin(), input.end());
  example.input.push_back(Vocabulary::eos);
  example.target.push_back(Vocabulary::eos);
  return example;
}

}  // namespace

Example fill(const Tasks& tasks, const PetText& pet, Rng& rng) {
  const Corrupted corrupted = corrupt_spans(tasks.vocabulary.encode(pet.text), tasks.corruption, rng);
  return with_prefix(tasks, "fill:", corrupted.input, corrupted.target);
}

Example who(const Tasks& tasks, const PetText& pet) {
  const WordVocabulary& words = tasks.vocabulary;
  return with_prefix(tasks, "who:", words.encode(pet.text), words.encode(children()[pet.child].name));
}

Example sound(const Tasks& tasks, const Animal& animal) {
  const WordVocabulary& words = tasks.vocabulary;
  return with_prefix(tasks, "sound:", words.encode(animal.name), words.encode(animal.sound));
}

Tokens rectangle(const Examples& examples, std::vector<int> Example::*side) {
  std::vector<std::vector<int>> sequences;
  for (const Example& example : examples) sequences.push_back(example.*side);
  return pad_batch(sequences);
}

Tensor logits_of(const Transformer& model, const Examples& examples, const Context& context) {
  const Tokens source = rectangle(examples, &Example::input), target = rectangle(examples, &Example::target);
  return model(source, {shift_right(target.ids, Vocabulary::bos), target.lengths}, context);
}

std::vector<std::vector<int>> answers(const Transformer& model, const Examples& examples) {
  const NoGrad no_grad;
  TransformerWriter writer(model, rectangle(examples, &Example::input));
  return greedy(writer, {.max_length = 20});
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

Accuracy accuracy_on(const Transformer& model, const WordVocabulary& vocabulary, const Examples& fills) {
  const NoGrad no_grad;
  const IntTensor target = rectangle(fills, &Example::target).ids;
  const IntTensor said = argmax(logits_of(model, fills));
  Index words = 0, right = 0;
  std::vector<Index> counts(vocabulary.size(), 0);
  for (Index i = 0; i < target.numel(); ++i) {
    if (vocabulary.is_special(target[i])) continue;
    ++words;
    ++counts[target[i]];
    right += said[i] == target[i];
  }
  const double all = double(words);
  return {double(right) / all, double(*std::max_element(counts.begin(), counts.end())) / all};
}

namespace {

// What is written for each hole, by its sentinel.
std::map<int, std::vector<int>> by_hole(const WordVocabulary& vocabulary, const std::vector<int>& written) {
  std::map<int, std::vector<int>> holes;
  int last = Vocabulary::unk;
  for (const int token : written) {
    if (vocabulary.is_special(token))
      holes[last = token] = {};
    else
      holes[last].push_back(token);
  }
  return holes;
}

}  // namespace

bool filled_right(const WordVocabulary& vocabulary, const std::vector<int>& written,
                  const std::vector<int>& target, int sentinel) {
  const auto holes = by_hole(vocabulary, written);
  return holes.count(sentinel) && holes.at(sentinel) == by_hole(vocabulary, target)[sentinel];
}

}  // namespace attn
