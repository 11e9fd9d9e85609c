// Talk: the trained translator translates one line, a file line by line, or what is typed at a prompt.
#pragma once

#include "lessons/13_translator/settings.hpp"
#include "lessons/13_translator/translator.hpp"

namespace attn {

// The translation of a line. The toy pairs are forgiving: each sentence of the line is translated on its own,
// capitals are put where the grammar has them, and a missing full stop is added. Throws an Error to show to
// the user if a sentence is too long, or names the words that the model has never seen and the known ones
// nearest to them (with bpe there are none: any text is made of known pieces).
std::string answer(const Translator& translator, const Settings& settings, const std::string& line);

// The words that a translator with a vocabulary of words can read, sorted, each in one spelling.
std::vector<std::string> known_words(const Translator& translator);
// Up to `count` of these words, nearest first, of those for which at most half of the letters have to change.
std::vector<std::string> nearest_words(const std::string& word, const std::vector<std::string>& known,
                                       Index count);

// Translates settings.text or, if it is empty, standard input; returns the exit code.
int talk(const Translator& translator, const Settings& settings);
// Prints known_words.
int list_words(const Translator& translator, const Settings& settings);

}  // namespace attn
