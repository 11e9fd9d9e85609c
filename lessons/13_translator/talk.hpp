// Talk: the trained translator translates one sentence, a file line by line, or what is typed at a prompt.
#pragma once

#include "lessons/13_translator/settings.hpp"
#include "lessons/13_translator/translator.hpp"

namespace attn {

// The translation of a sentence. Throws an Error to show to the user if the sentence is too long, or lists
// the words that the model has never seen (with bpe there are none: any text is made of known pieces).
std::string answer(const Translator& translator, const Settings& settings, const std::string& sentence);

// Translates settings.text or, if it is empty, standard input; returns the exit code.
int talk(const Translator& translator, const Settings& settings);

}  // namespace attn
