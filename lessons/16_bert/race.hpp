// The race of lesson 16: ways to a classifier from the same few labels, measured on the same sentences.
#pragma once

#include <functional>  // function

#include "lessons/16_bert/data.hpp"
#include "nn/bert.hpp"
#include "optim/trainer.hpp"

namespace attn {

// Adam with a linear warm-up and decay.
History fit(const ParameterList& parameters, const std::string& label, Index steps, double rate,
            const std::function<StepLoss(Index)>& loss);

Bert new_bert(const Words& words, Index d_model, Index layers, std::uint64_t seed);
// A model of so many layers that starts with the numbers of another, of its first layers if these are fewer.
Bert copy_of(const Bert& model, Index layers);

// How many percent of the test are right: of all, and of the sentences with one opinion and with two, where
// the order of the words decides which one counts.
struct Score {
  double all, one, two;
};

struct Tuned {
  Bert model;
  Classifier head;
};
struct Tuning {
  Index steps;
  double rate;
  bool frozen = false;  // only the head learns
  std::uint64_t seed = 0;
};
// Goes on training `start`, and a new head on [CLS], to give each sentence its label.
Tuned fine_tune(const Bert& start, const std::vector<Example>& labelled, const Tuning& tuning);

// The teacher's logits for each sentence.
using Answers = std::vector<std::vector<real>>;  // (sentences, 2)
Answers answers_of(const Tuned& teacher, const std::vector<Example>& sentences);
// Trains `start` on what the teacher says about sentences without labels: on its softened answers, or on the
// likelier of the two alone.
enum class Targets { soft, hard };
Tuned imitate(const Bert& start, const std::vector<Example>& sentences, const Answers& answers,
              Targets targets, const Tuning& tuning);

// The cross-entropy of the teacher's softened answers, times τ²: softened logits have gradients that are τ²
// smaller. KL(teacher ‖ student) is this minus the teacher's own entropy, which does not depend on the
// student: the gradient is the same.
Tensor imitation_loss(const Tensor& student, const Tensor& teacher, real temperature);  // (…, K), (…, K)

Score score_of(const Tuned& tuned, const Data& data);
// Logistic regression on how often each word occurs, wherever it stands.
Score bag_of_words(const std::vector<Example>& labelled, const Data& data);

// The scores of one way to a classifier, one for each draw of labels, as a row of a table.
struct Entry {
  std::string name;
  Index parameters;
  std::vector<Score> scores = {};

  double mean(double Score::*part) const;
  std::string range() const;
  std::vector<std::string> row() const;
};
inline const std::vector<std::string> race_header = {"",      "parameters",  "right",
                                                     "range", "one opinion", "two"};

double share_right(const Tensor& logits, const IntTensor& labels);

}  // namespace attn
