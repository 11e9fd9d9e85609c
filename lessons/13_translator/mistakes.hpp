// The wrong answers to exercise 13 that the grader knows by name. More of them: mistakes_batch.hpp,
// mistakes_bleu.hpp
#pragma once

#include "lessons/13_translator/mistakes_batch.hpp"
#include "lessons/13_translator/mistakes_bleu.hpp"

namespace exercise {
Sentence write_greedily(const Model& model, int max_length);
}  // namespace exercise

namespace mistakes {

inline int best_of(const std::vector<double>& scores) {
  return int(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

inline const coach::Mistakes<decltype(exercise::write_greedily)> write_greedily = {
    {.name = "decoding that never stops",
     .why = "Only eos ends the loop. A model that never finds eos likeliest would write for ever: count the "
            "words, and stop after max_length.",
     .where = "Word by word",
     .answer =
         [](const Model& model, int) {
           std::vector<int> written{bos};
           for (int best = best_of(model(written)); best != eos; best = best_of(model(written)))
             written.push_back(best);
           return Sentence(written.begin() + 1, written.end());
         },
     .runs_away = true},
    {.name = "deaf to the end",
     .why = "It goes on after eos until max_length. What a model writes behind the end of a sentence means "
            "nothing.",
     .where = "Word by word",
     .answer =
         [](const Model& model, int max_length) {
           std::vector<int> written{bos};
           while (int(written.size()) <= max_length) written.push_back(best_of(model(written)));
           return Sentence(written.begin() + 1, written.end());
         }},
    {.name = "the end is part of the sentence",
     .why =
         "eos was appended before the loop was left. It says that the sentence is over; it is no word of it.",
     .where = "Word by word",
     .answer =
         [](const Model& model, int max_length) {
           std::vector<int> written{bos};
           while (int(written.size()) <= max_length && written.back() != eos)
             written.push_back(best_of(model(written)));
           return Sentence(written.begin() + 1, written.end());
         }},
    {.name = "the start is part of the sentence",
     .why = "bos is there to give the decoder something to read at first. Leave it out of the result.",
     .where = "Word by word",
     .answer =
         [](const Model& model, int max_length) {
           Sentence written{bos};
           while (int(written.size()) <= max_length) {
             const int best = best_of(model(written));
             if (best == eos) break;
             written.push_back(best);
           }
           return written;
         }},
    {.name = "only the newest word is read",
     .why =
         "The model is asked with the last word alone. It has to see everything written so far, or it cannot "
         "know what is still to be said. (With a cache, lesson 14, it remembers; without one it is to be "
         "told.)",
     .where = "Word by word",
     .answer =
         [](const Model& model, int max_length) {
           Sentence written;
           int newest = bos;
           while (int(written.size()) < max_length) {
             newest = best_of(model({newest}));
             if (newest == eos) break;
             written.push_back(newest);
           }
           return written;
         }},
    {.name = "the model is asked once",
     .why = "The scores are those behind bos, again and again: what was written is never handed back to the "
            "model, so the same word comes each time.",
     .where = "Word by word",
     .answer =
         [](const Model& model, int max_length) {
           Sentence written;
           const int best = best_of(model({bos}));
           while (best != eos && int(written.size()) < max_length) written.push_back(best);
           return written;
         }},
    {.name = "begun without bos",
     .why = "The model is asked with nothing written at all, and never sees the token that every sentence of "
            "its training began with.",
     .where = "Word by word",
     .answer =
         [](const Model& model, int max_length) {
           Sentence written;
           while (int(written.size()) < max_length) {
             const int best = best_of(model(written));
             if (best == eos) break;
             written.push_back(best);
           }
           return written;
         }},
    {.name = "bos counted as a word",
     .why = "The limit is of words written. With bos counted, the longest sentences lose their last word.",
     .where = "Word by word",
     .answer =
         [](const Model& model, int max_length) {
           std::vector<int> written{bos};
           while (int(written.size()) < max_length) {
             const int best = best_of(model(written));
             if (best == eos) break;
             written.push_back(best);
           }
           return Sentence(written.begin() + 1, written.end());
         }},
    {.name = "the least likely word",
     .why = "It takes the lowest score. Scores are logits: the higher, the likelier.",
     .where = "Word by word",
     .answer =
         [](const Model& model, int max_length) {
           std::vector<int> written{bos};
           while (int(written.size()) <= max_length) {
             const std::vector<double> scores = model(written);
             const int worst = int(std::min_element(scores.begin(), scores.end()) - scores.begin());
             if (worst == eos) break;
             written.push_back(worst);
           }
           return Sentence(written.begin() + 1, written.end());
         }},
    {.name = "the best score begins at 0",
     .why = "The search for the highest score starts from 0, but scores may all be negative: then none is "
            "ever higher, and token 0 is taken. Start from the first score.",
     .where = "Word by word",
     .answer =
         [](const Model& model, int max_length) {
           std::vector<int> written{bos};
           while (int(written.size()) <= max_length) {
             const std::vector<double> scores = model(written);
             double highest = 0;
             int best = 0;
             for (std::size_t i = 0; i < scores.size(); ++i)
               if (scores[i] > highest) highest = scores[i], best = int(i);
             if (best == eos) break;
             written.push_back(best);
           }
           return Sentence(written.begin() + 1, written.end());
         }},
    {.name = "one word too many",
     .why = "The loop ends one word after max_length. With n words the vector has n + 1 elements, for bos is "
            "one of them.",
     .where = "Word by word",
     .answer =
         [](const Model& model, int max_length) {
           std::vector<int> written{bos};
           while (int(written.size()) <= max_length + 1) {
             const int best = best_of(model(written));
             if (best == eos) break;
             written.push_back(best);
           }
           return Sentence(written.begin() + 1, written.end());
         }},
    {.name = "the limit looked at too late",
     .why = "The first word is written before max_length is looked at: with a limit of 0 there is one word "
            "too many.",
     .where = "Word by word",
     .answer =
         [](const Model& model, int max_length) {
           std::vector<int> written{bos};
           do {
             const int best = best_of(model(written));
             if (best == eos) break;
             written.push_back(best);
           } while (int(written.size()) <= max_length);
           return Sentence(written.begin() + 1, written.end());
         }},
};

}  // namespace mistakes
