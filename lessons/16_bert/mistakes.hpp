// The wrong answers to exercise 16 that the grader knows by name. More of them: mistakes_gaps.hpp
#pragma once

#include "lessons/16_bert/mistakes_gaps.hpp"

namespace exercise {
Tensor classify(const Tensor& states, const Tensor& pool_w, const Tensor& pool_b, const Tensor& head_w,
                const Tensor& head_b);
double distillation_loss(const Tensor& student, const Tensor& teacher, double temperature);
}  // namespace exercise

namespace mistakes {

inline Tensor headed(const Tensor& h, const Tensor& pool_w, const Tensor& pool_b, const Tensor& head_w,
                     const Tensor& head_b) {
  return linear(tanh(linear(h, pool_w, pool_b)), head_w, head_b);
}

inline const coach::Mistakes<decltype(exercise::classify)> classify = {
    {.name = "the mean of all tokens",
     .why = "The states of all tokens were averaged. BERT has a token of its own for the sentence, cls, at "
            "place 0 (and an average would count padding).",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer = [](const Tensor& states, const Tensor& pool_w, const Tensor& pool_b, const Tensor& head_w,
                  const Tensor& head_b) { return headed(mean(states, 1), pool_w, pool_b, head_w, head_b); }},
    {.name = "the last token",
     .why = "The last token is a sep or padding. That is where GPT's knowledge would be; BERT's is at cls, "
            "place 0.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& states, const Tensor& pool_w, const Tensor& pool_b, const Tensor& head_w,
            const Tensor& head_b) {
           return headed(select(states, 1, states.size(1) - 1), pool_w, pool_b, head_w, head_b);
         }},
    {.name = "no tanh",
     .why = "Without it pooler and head are two matrices in a row, which are no more than one.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& states, const Tensor& pool_w, const Tensor& pool_b, const Tensor& head_w,
            const Tensor& head_b) {
           return linear(linear(select(states, 1, 0), pool_w, pool_b), head_w, head_b);
         }},
    {.name = "no pooler",
     .why = "The head read the state of cls itself; the pooler, tanh(pool_w h + pool_b), stands in between.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer = [](const Tensor& states, const Tensor&, const Tensor&, const Tensor& head_w,
                  const Tensor& head_b) { return linear(select(states, 1, 0), head_w, head_b); }},
    {.name = "the pooler's matrix transposed",
     .why =
         "pool_w h: row i of the matrix gives component i. That the transpose runs at all is an accident of "
         "its square shape.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& states, const Tensor& pool_w, const Tensor& pool_b, const Tensor& head_w,
            const Tensor& head_b) {
           return headed(select(states, 1, 0), transpose(pool_w), pool_b, head_w, head_b);
         }},
    {.name = "no bias",
     .why = "pool_b and head_b were left out.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer = [](const Tensor& states, const Tensor& pool_w, const Tensor&, const Tensor& head_w,
                  const Tensor&) { return headed(select(states, 1, 0), pool_w, {}, head_w, {}); }},
    {.name = "softmax applied",
     .why = "Logits are asked for; the loss does the softmax itself.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& states, const Tensor& pool_w, const Tensor& pool_b, const Tensor& head_w,
            const Tensor& head_b) {
           return softmax(headed(select(states, 1, 0), pool_w, pool_b, head_w, head_b));
         }},
    {.name = "tanh at the end",
     .why = "The tanh belongs behind the pooler. Around the logits it keeps them within ±1: the model could "
            "never be sure.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& states, const Tensor& pool_w, const Tensor& pool_b, const Tensor& head_w,
            const Tensor& head_b) {
           return tanh(linear(linear(select(states, 1, 0), pool_w, pool_b), head_w, head_b));
         }},
    {.name = "no bias in the pooler",
     .why = "pool_b was left out: the pooler is tanh(pool_w h + pool_b).",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer = [](const Tensor& states, const Tensor& pool_w, const Tensor&, const Tensor& head_w,
                  const Tensor& head_b) { return headed(select(states, 1, 0), pool_w, {}, head_w, head_b); }},
    {.name = "no bias in the head",
     .why = "head_b was left out: the head is head_w pooled + head_b.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer = [](const Tensor& states, const Tensor& pool_w, const Tensor& pool_b, const Tensor& head_w,
                  const Tensor&) { return headed(select(states, 1, 0), pool_w, pool_b, head_w, {}); }},
    {.name = "relu instead of tanh",
     .why = "The pooler has a tanh: what it hands on lies between −1 and 1, and may be negative.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& states, const Tensor& pool_w, const Tensor& pool_b, const Tensor& head_w,
            const Tensor& head_b) {
           return linear(relu(linear(select(states, 1, 0), pool_w, pool_b)), head_w, head_b);
         }},
    {.name = "tanh before the pooler",
     .why = "The tanh is around pool_w h + pool_b, not around h: pooler and head are then two matrices in a "
            "row.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& states, const Tensor& pool_w, const Tensor& pool_b, const Tensor& head_w,
            const Tensor& head_b) {
           return linear(linear(tanh(select(states, 1, 0)), pool_w, pool_b), head_w, head_b);
         }},
    {.name = "the second token",
     .why = "cls is token 0: counting begins there.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& states, const Tensor& pool_w, const Tensor& pool_b, const Tensor& head_w,
            const Tensor& head_b) { return headed(select(states, 1, 1), pool_w, pool_b, head_w, head_b); }},
};

// Mean over the rows of Σ p log(p / q), each at its own temperature.
inline double divergence(const Tensor& p_logits, double p_temperature, const Tensor& q_logits,
                         double q_temperature) {
  const Tensor log_p = log_softmax(p_logits / real(p_temperature));
  const Tensor log_q = log_softmax(q_logits / real(q_temperature));
  return double(mean(sum(exp(log_p) * (log_p - log_q), -1)).item());
}

inline const coach::Mistakes<decltype(exercise::distillation_loss)> distillation_loss = {
    {.name = "temperature forgotten",
     .why = "Without it a sure teacher says nearly 0 and 1, no more than a label. The temperature brings out "
            "what it thinks of the other classes.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer = [](const Tensor& student, const Tensor& teacher,
                  double) { return divergence(teacher, 1, student, 1); }},
    {.name = "τ² forgotten",
     .why = "Softened by τ, the gradients are about τ² times smaller. Without the factor the student hardly "
            "learns at a high temperature.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer = [](const Tensor& student, const Tensor& teacher,
                  double temperature) { return divergence(teacher, temperature, student, temperature); }},
    {.name = "τ instead of τ²",
     .why = "The gradient shrinks once through the division of the logits and once because the softened "
            "answers lie closer together: twice τ.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& student, const Tensor& teacher, double temperature) {
           return temperature * divergence(teacher, temperature, student, temperature);
         }},
    {.name = "τ² without the softening",
     .why = "The factor is there to make up for the softening, but the logits were not divided.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& student, const Tensor& teacher, double temperature) {
           return temperature * temperature * divergence(teacher, 1, student, 1);
         }},
    {.name = "teacher and student swapped",
     .why = "This weighs with the student's probabilities. Where the student says 0 it would never be told "
            "that the teacher does not.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& student, const Tensor& teacher, double temperature) {
           return temperature * temperature * divergence(student, temperature, teacher, temperature);
         }},
    {.name = "only the teacher softened",
     .why = "Both have to be softened: a student that equals its teacher has to have loss 0.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& student, const Tensor& teacher, double temperature) {
           return temperature * temperature * divergence(teacher, temperature, student, 1);
         }},
    {.name = "multiplied by the temperature",
     .why =
         "The logits are divided by τ. Multiplied, a temperature of 2 makes the answers harder, not softer.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& student, const Tensor& teacher, double temperature) {
           return temperature * temperature * divergence(teacher, 1 / temperature, student, 1 / temperature);
         }},
    {.name = "hard labels",
     .why =
         "Only the teacher's first choice was used. That is what a label gives; what it thinks of the other "
         "classes is lost.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& student, const Tensor& teacher, double temperature) {
           return temperature * temperature *
                  double(cross_entropy(student / real(temperature), argmax(teacher)).item());
         }},
    {.name = "cross-entropy instead of the divergence",
     .why = "Σ p log p is missing: it changes no gradient, but the loss is then not 0 for a perfect student.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& student, const Tensor& teacher, double temperature) {
           const Tensor p = softmax(teacher / real(temperature));
           return -temperature * temperature *
                  double(mean(sum(p * log_softmax(student / real(temperature)), -1)).item());
         }},
    {.name = "sum over the batch",
     .why = "The mean over the rows is asked for: otherwise a larger batch makes larger steps.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& student, const Tensor& teacher, double temperature) {
           return double(student.size(0)) * temperature * temperature *
                  divergence(teacher, temperature, student, temperature);
         }},
    {.name = "mean over the classes as well",
     .why = "A divergence is a sum over the classes. Only the rows are averaged.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& student, const Tensor& teacher, double temperature) {
           return temperature * temperature * divergence(teacher, temperature, student, temperature) /
                  double(student.size(1));
         }},
    {.name = "only the student softened",
     .why = "Both have to be softened: a student that equals its teacher has to have loss 0.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& student, const Tensor& teacher, double temperature) {
           return temperature * temperature * divergence(teacher, 1, student, temperature);
         }},
    {.name = "not weighed by p",
     .why = "log(p / q) was summed as it is. Each class counts as much as the teacher believes in it: Σ p "
            "log(p / q).",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& student, const Tensor& teacher, double temperature) {
           const Tensor difference =
               log_softmax(teacher / real(temperature)) - log_softmax(student / real(temperature));
           return temperature * temperature * double(mean(sum(difference, -1)).item());
         }},
    {.name = "squares of the differences",
     .why = "This is the squared distance of the probabilities. The divergence compares their logarithms, "
            "and notices where a probability of nearly 0 is wrong.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& student, const Tensor& teacher, double temperature) {
           const Tensor difference =
               softmax(teacher / real(temperature)) - softmax(student / real(temperature));
           return temperature * temperature * double(mean(sum(difference * difference, -1)).item());
         }},
    {.name = "the probabilities divided by the temperature",
     .why = "Divided by τ, the probabilities no longer sum to 1, and nothing is softened. The logits are "
            "divided, before the softmax.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer = [](const Tensor& student, const Tensor& teacher,
                  double temperature) { return temperature * divergence(teacher, 1, student, 1); }},
};

}  // namespace mistakes
