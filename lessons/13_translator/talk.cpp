#include "lessons/13_translator/talk.hpp"

#include <algorithm>  // find, min, sort, stable_sort
#include <iostream>   // cin
#include <iterator>   // ssize
#include <numeric>    // iota
#include <set>        // set
#include <utility>    // exchange, pair

#include "core/error.hpp"
#include "core/text.hpp"                   // colored, on_terminal, wrapped
#include "lessons/13_translator/data.hpp"  // split_sentences, tidy_sentence
#include "lessons/13_translator/show.hpp"
#include "lessons/support/output.hpp"
#include "nn/text/characters.hpp"

namespace attn {
namespace {

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

// How many letters have to be changed, added or left out to make b of a (Levenshtein, 1966).
Index edit_distance(const std::string& a, const std::string& b) {
  std::vector<Index> row(b.size() + 1);  // from the first i letters of a to the first j of b
  std::iota(row.begin(), row.end(), Index{0});
  for (Index i = 1; i <= std::ssize(a); ++i) {
    Index diagonal = std::exchange(row[0], i);
    for (Index j = 1; j <= std::ssize(b); ++j) {
      const Index changed = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

// "zebra (near: bee)", for each of the first few.
std::string named(const std::vector<std::string>& unknown, const std::vector<std::string>& known) {
  constexpr Index most_shown = 10;
  std::vector<std::string> parts;
  for (Index i = 0; i < std::min<Index>(std::ssize(unknown), most_shown); ++i) {
    const std::string near = joined(nearest_words(unknown[i], known, 3), ", ");
    parts.push_back(fmt::format("{:.40}", printable(unknown[i])) +
                    (near.empty() ? "" : " (near: " + near + ")"));
  }
  if (std::ssize(unknown) > most_shown)
    parts.push_back(fmt::format("and {} more", unknown.size() - most_shown));
  return joined(parts, ", ");
}

[[noreturn]] void complain_of_words(const std::vector<std::string>& unknown, const Translator& translator,
                                    const Settings& settings) {
  const std::vector<std::string> known = known_words(translator);
  std::vector<std::string> samples;
  constexpr Index most_samples = 6;
  for (Index i = 0; i < most_samples && std::ssize(known) > most_samples; ++i)
    samples.push_back(known[(2 * i + 1) * std::ssize(known) / (2 * most_samples)]);
  fail("{} it has never seen: {}; it knows {} words, such as {}: `13_translator words{}` lists them",
       unknown.size() == 1 ? "a word" : "words", named(unknown, known), known.size(), joined(samples, ", "),
       settings.options_text());
}

std::string translate_sentence(const Translator& translator, const Settings& settings,
                               const std::string& sentence) {
  const std::vector<int> ids = translator.encode(sentence);
  if (std::find(ids.begin(), ids.end(), Vocabulary::unk) != ids.end())
    complain_of_words(translator.source->unknown(sentence), translator, settings);
  if (std::ssize(ids) > translator.model.config.max_length)
    fail("the sentence has {} tokens, but the model was made for {}; translate sentence by sentence",
         ids.size(), translator.model.config.max_length);
  return translator.translate_tokens({ids}, {settings.beam, settings.length_penalty})[0];
}

std::vector<Pair> answers(const Translator& translator, const Settings& settings, const std::string& line) {
  std::vector<std::string> sentences{normalize_spaces(line)};
  if (settings.is_toy()) {
    sentences = split_sentences(line);
    for (std::string& sentence : sentences) sentence = tidy_sentence(sentence, *translator.source);
  }
  if (sentences.empty() || sentences[0].empty()) fail("there is nothing to translate");
  std::vector<Pair> pairs;
  for (const std::string& sentence : sentences)
    pairs.push_back({sentence, translate_sentence(translator, settings, sentence)});
  return pairs;
}

std::string joined_targets(const std::vector<Pair>& pairs) { return joined(target_lines(pairs), " "); }

// With --show: where each word of the translations looked.
void show_looks(const Translator& translator, const Settings& settings, const std::vector<Pair>& pairs) {
  if (!settings.show) return;
  for (const Pair& pair : pairs) write_out("\n" + terminal_look(look_at(translator, pair), settings.width));
}

void at_a_prompt(const Translator& translator, const Settings& settings) {
  const bool korean = settings.pair == "en-ko";
  const std::string from = settings.is_toy() ? "English" : "source";
  const std::string to = !settings.is_toy() ? "target" : korean ? "Korean" : "French";
  fmt::print("{} to {}. An empty line or Ctrl-D ends{}.\n", from, to,
             settings.vocabulary == "word" ? "; ? lists the words it knows" : "");
  std::string line;
  while (true) {
    write_out(colored("1", from + ">") + " ");
    if (!std::getline(std::cin, line)) return (void)fmt::print("\n");
    if (normalize_spaces(line).empty()) return;
    try {
      if (normalize_spaces(line) == "?" && settings.vocabulary == "word") {
        list_words(translator, settings);
        continue;
      }
      const std::vector<Pair> pairs = answers(translator, settings, line);
      fmt::print("{} {}\n", colored("36", fmt::format("{:>{}}:", to, from.size())), joined_targets(pairs));
      show_looks(translator, settings, pairs);
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
    std::vector<Pair> pairs;
    try {
      if (!normalize_spaces(line).empty()) pairs = answers(translator, settings, line);
    } catch (const Error& error) {
      fmt::print(stderr, "13_translator: line {}: {}\n", number, error.what());
      code = 2;
    }
    write_out(joined_targets(pairs) + "\n");
    show_looks(translator, settings, pairs);
  }
  return code;
}

}  // namespace

std::string answer(const Translator& translator, const Settings& settings, const std::string& line) {
  return joined_targets(answers(translator, settings, line));
}

std::vector<std::string> known_words(const Translator& translator) {
  const Vocabulary& vocabulary = *translator.source;
  std::set<std::string> words;
  for (int id = 0; id < vocabulary.size(); ++id) {
    const std::string& token = vocabulary.token(id);
    if (vocabulary.is_special(id) || kind(character_at(token, 0).code) != Kind::letter) continue;
    const std::string lower = lower_case(token);  // `The` is `the` at the start of a sentence
    words.insert(vocabulary.id(lower) == Vocabulary::unk ? token : lower);
  }
  return {words.begin(), words.end()};
}

std::vector<std::string> nearest_words(const std::string& word, const std::vector<std::string>& known,
                                       Index count) {
  std::vector<std::pair<Index, std::string>> near;
  const std::string lower = lower_case(word.substr(0, 40));
  for (const std::string& candidate : known)
    if (const Index distance = edit_distance(lower, lower_case(candidate)); 2 * distance <= std::ssize(lower))
      near.emplace_back(distance, candidate);
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> words;
  for (Index i = 0; i < std::min<Index>(count, std::ssize(near)); ++i) words.push_back(near[i].second);
  return words;
}

int talk(const Translator& translator, const Settings& settings) {
  if (!settings.text.empty()) {
    const std::vector<Pair> pairs = answers(translator, settings, settings.text);
    write_out(joined_targets(pairs) + "\n");
    show_looks(translator, settings, pairs);
    return 0;
  }
  if (!on_terminal(stdin) || !on_terminal(stdout)) return line_by_line(translator, settings);
  at_a_prompt(translator, settings);
  return 0;
}

int list_words(const Translator& translator, const Settings& settings) {
  if (translator.source->name() != "word")
    fail("this model reads pieces of words, so it can read every word: there is no list");
  write_out(wrapped(joined(known_words(translator), " "), {.width = double(settings.width)}));
  return 0;
}

}  // namespace attn
