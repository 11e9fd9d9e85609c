// Talk: the trained translator answers; one sentence, a file line by line, or whatever is typed at a prompt.
#pragma once

#include "lessons/13_translator/settings.hpp"
#include "lessons/13_translator/translator.hpp"

namespace attn {

// The translation of a sentence. Throws an Error that can be shown when there can be none: it lists the words
// that the model has never seen (with bpe there are none: any text is made of known pieces), or says that the
// sentence is too long.
std::string answer(const Translator& translator, const Settings& settings, const std::string& sentence);

// Answers settings.text or, if there is none, standard input; returns the exit code.
int talk(const Translator& translator, const Settings& settings);

}  // namespace attn
