#include "lessons/13_translator/talk.hpp"

#include <algorithm>  // find, min
#include <iostream>   // cin
#include <iterator>   // ssize

#include "core/error.hpp"
#include "core/text.hpp"                   // colored, on_terminal
#include "lessons/13_translator/data.hpp"  // tidy_sentence
#include "lessons/support/output.hpp"
#include "nn/text/characters.hpp"

namespace attn {
namespace {

void at_a_prompt(const Translator& translator, const Settings& settings) {
  const bool korean = settings.pair == "en-ko";
  const std::string from = settings.is_toy() ? "English" : "source";
  const std::string to = !settings.is_toy() ? "target" : korean ? "Korean" : "French";
  fmt::print("{} to {}. An empty line or Ctrl-D ends.\n", from, to);
  std::string line;
  while (true) {
    write_out(colored("1", from + ">") + " ");
    if (!std::getline(std::cin, line)) return (void)fmt::print("\n");
    if (normalize_spaces(line).empty()) return;
    try {
      fmt::print("{} {}\n", colored("36", fmt::format("{:>{}}:", to, from.size())),
                 answer(translator, settings, line));
    } catch (const Error& error) {
      fmt::print("{:>{}}  {}\n", "", from.size(), error.what());
    }
  }
}

// Prints one line for each line it reads, so that files stay aligned; without a translation it is empty.
int line_by_line(const Translator& translator, const Settings& settings) {
  int code = 0;
  Index number = 0;
  for (std::string line; std::getline(std::cin, line);) {
    ++number;
    std::string translation;
    try {
      if (!normalize_spaces(line).empty()) translation = answer(translator, settings, line);
    } catch (const Error& error) {
      fmt::print(stderr, "13_translator: line {}: {}\n", number, error.what());
      code = 2;
    }
    write_out(translation + "\n");
  }
  return code;
}

}  // namespace

std::string answer(const Translator& translator, const Settings& settings, const std::string& sentence) {
  const std::string tidy = settings.is_toy() ? tidy_sentence(sentence) : normalize_spaces(sentence);
  if (tidy.empty()) fail("there is nothing to translate");
  const std::vector<int> ids = translator.encode(tidy);
  if (std::find(ids.begin(), ids.end(), Vocabulary::unk) != ids.end()) {
    const std::vector<std::string> unknown = translator.source->unknown(tidy);
    constexpr Index most_shown = 10;
    std::string words;
    for (Index i = 0; i < std::min(std::ssize(unknown), most_shown); ++i)
      words += fmt::format("{}{:.40}", i > 0 ? ", " : "", printable(unknown[i]));
    if (std::ssize(unknown) > most_shown) words += fmt::format(", and {} more", unknown.size() - most_shown);
    const std::string where = !settings.is_toy()         ? "the corpus it learned from"
                              : settings.pair == "en-fr" ? "nn/text/english_french.grammar"
                                                         : "nn/text/english_korean.grammar";
    fail("{} it has never seen: {} (it knows the words of {})", unknown.size() == 1 ? "a word" : "words",
         words, where);
  }
  if (std::ssize(ids) > translator.model.config.max_length)
    fail("the sentence has {} tokens, but the model was made for {}; translate sentence by sentence",
         ids.size(), translator.model.config.max_length);
  return translator.translate_tokens({ids}, {settings.beam, settings.length_penalty})[0];
}

int talk(const Translator& translator, const Settings& settings) {
  if (!settings.text.empty()) {
    write_out(answer(translator, settings, settings.text) + "\n");
    return 0;
  }
  if (!on_terminal(stdin) || !on_terminal(stdout)) return line_by_line(translator, settings);
  at_a_prompt(translator, settings);
  return 0;
}

}  // namespace attn
