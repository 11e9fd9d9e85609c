// The three tasks of lesson 17 as examples, what a model answers, and how much of it is right.
#pragma once

#include "lessons/17_t5/data.hpp"
#include "nn/t5.hpp"
#include "nn/text/batching.hpp"
#include "nn/text/vocabulary.hpp"

namespace attn {

struct Example {
  std::vector<int> input, target;  // both end with <eos>
};
using Examples = std::vector<Example>;

// The words of all texts, the prefixes and the sentinels.
struct Tasks {
  WordVocabulary vocabulary;
  CorruptionOptions corruption;
};
Tasks make_tasks();

// The task is in the prefix, and nowhere else.
Example fill(const Tasks& tasks, const PetText& pet, Rng& rng);
Example who(const Tasks& tasks, const PetText& pet);
Example sound(const Tasks& tasks, const Animal& animal);
constexpr Index asked_animals = 8;  // of the others, training never asks the sound

Tokens rectangle(const Examples& examples, std::vector<int> Example::*side);  // (B, T)

// What the decoder says at each position, when all before it is given: (B, T, V).
Tensor logits_of(const Transformer& model, const Examples& examples, const Context& context = {});

std::vector<std::vector<int>> answers(const Transformer& model, const Examples& examples);  // without <eos>
Index count_right(const std::vector<std::vector<int>>& written, const Examples& examples);

// Of the missing words (sentinels and <eos> do not count), how many are the model's first choice, and how
// many would be right if the commonest of them were always said.
struct Accuracy {
  double model, commonest;
};
Accuracy accuracy_on(const Transformer& model, const WordVocabulary& vocabulary, const Examples& fills);

// Is what was written for the hole with this sentinel what the target has there?
bool filled_right(const WordVocabulary& vocabulary, const std::vector<int>& written,
                  const std::vector<int>& target, int sentinel);

}  // namespace attn
