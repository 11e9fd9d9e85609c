#include "nn/text/grammar.hpp"

#include <algorithm>      // all_of, find, replace
#include <iterator>       // ssize
#include <map>            // map
#include <unordered_map>  // unordered_map
#include <unordered_set>  // unordered_set
#include <utility>        // move

#include "core/error.hpp"
#include "core/rng.hpp"
#include "nn/text/characters.hpp"
#include "nn/text/grammar_rules.hpp"

namespace attn {
namespace {

using Argument = GrammarRules::Argument;
using Call = GrammarRules::Call;
using Item = GrammarRules::Item;
using Rule = GrammarRules::Rule;
using Key = std::vector<int>;  // a symbol and the values of its arguments

constexpr int unbound = -1;

// Sets the values of a rule's variables if its head fits the key, and returns whether it does. Variables that
// only the rule's calls mention stay unbound.
bool bind(const GrammarRules& grammar, const Rule& rule, const Key& key, std::vector<int>& values) {
  values.assign(rule.variables.size(), unbound);
  if (rule.head.size() + 1 != key.size()) return false;
  for (Index i = 0; i < std::ssize(rule.head); ++i) {
    const int given = key[i + 1];
    if (!rule.head[i].is_variable) {
      if (rule.head[i].id != given) return false;
      continue;
    }
    int& value = values[rule.head[i].id];
    const auto& allowed = grammar.features[rule.variables[rule.head[i].id]].values;
    if (value != unbound && value != given) return false;
    if (std::find(allowed.begin(), allowed.end(), given) == allowed.end()) return false;
    value = given;
  }
  return true;
}

// The rules by which `key` can be written.
std::vector<int> fitting(const GrammarRules& grammar, const Key& key) {
  std::vector<int> rules, values;
  const auto exact = grammar.exact.find(key);
  if (exact != grammar.exact.end()) rules = exact->second;
  for (const int r : grammar.patterns[key[0]])
    if (bind(grammar, grammar.rules[r], key, values)) rules.push_back(r);
  return rules;
}

Key key_of(const Call& call, const std::vector<int>& values) {
  Key key = {call.symbol};
  for (const Argument& argument : call.arguments)
    key.push_back(argument.is_variable ? values[argument.id] : argument.id);
  return key;
}

// Sentences start from the first rule.
Key start_key(const GrammarRules& grammar) {
  if (grammar.rules.empty()) fail("{}: has no rules", grammar.name);
  return {grammar.rules.front().symbol};
}

using Words = std::vector<std::string_view>;

// The derivation of a sentence: a rule, the values of its variables, and the derivations of its calls.
struct Tree {
  const Rule* rule;
  std::vector<int> values;
  std::vector<Tree> parts;
};

void collect_words(const GrammarRules& grammar, const Tree& tree, int side, Words& words) {
  for (const Item& item : tree.rule->sides[side]) {
    if (item.type == Item::Type::word) words.push_back(item.word);
    if (item.type == Item::Type::value) words.push_back(grammar.values[tree.values[item.index]]);
    if (item.type == Item::Type::call) collect_words(grammar, tree.parts[item.index], side, words);
  }
}

void collect_rows(const Tree& tree, std::vector<const Rule*>& rows) {
  if (tree.rule->table >= 0) rows.push_back(tree.rule);
  for (const Tree& part : tree.parts) collect_rows(part, rows);
}

// Writes random sentences. It never chooses a rule or a value that leads to a symbol without a fitting rule.
class Writer {
 public:
  Writer(const GrammarRules& grammar, std::uint64_t seed) : grammar_(grammar), rng_(seed) {
    if (ways(start_key(grammar)).empty()) fail("{}: its first symbol cannot be written", grammar.name);
  }

  Tree sentence() {
    work_ = 0;
    return derive(start_key(grammar_));
  }

 private:
  // A small grammar can describe a sentence of a billion words, or one that luck alone would find.
  void count_work() {
    if (++work_ > 100'000) fail("{}: a sentence takes more than 100000 choices", grammar_.name);
  }

  int draw(const std::vector<int>& from) { return from[rng_.below(std::ssize(from))]; }

  // The rules by which `key` can be written completely.
  const std::vector<int>& ways(const Key& key) {
    const auto known = ways_.find(key);
    if (known != ways_.end()) return known->second;
    std::vector<int> found, values;
    for (const int r : fitting(grammar_, key)) {
      const Rule& rule = grammar_.rules[r];
      bind(grammar_, rule, key, values);
      if (can_finish(rule, values, 0)) found.push_back(r);
    }
    return ways_[key] = found;
  }

  bool calls_can_finish(const Rule& rule, const std::vector<int>& values) {
    return std::all_of(rule.calls.begin(), rule.calls.end(),
                       [&](const Call& call) { return !ways(key_of(call, values)).empty(); });
  }

  // Whether the variables from number `from` on can be bound so that all calls can be written.
  bool can_finish(const Rule& rule, std::vector<int> values, Index from) {
    count_work();
    while (from < std::ssize(values) && values[from] != unbound) ++from;
    if (from == std::ssize(values)) return calls_can_finish(rule, values);
    for (const int value : grammar_.features[rule.variables[from]].values) {
      values[from] = value;
      if (can_finish(rule, values, from + 1)) return true;
    }
    return false;
  }

  Tree derive(const Key& key) {
    const Rule& rule = grammar_.rules[draw(ways(key))];
    Tree tree{&rule, {}, {}};
    std::vector<int> bound;
    bind(grammar_, rule, key, bound);
    do {
      count_work();
      tree.values = bound;
      for (Index v = 0; v < std::ssize(bound); ++v)
        if (bound[v] == unbound) tree.values[v] = draw(grammar_.features[rule.variables[v]].values);
    } while (!calls_can_finish(rule, tree.values));
    tree.parts.reserve(rule.calls.size());
    for (const Call& call : rule.calls) tree.parts.push_back(derive(key_of(call, tree.values)));
    return tree;
  }

  struct Hash {
    std::size_t operator()(const Key& key) const {
      std::size_t hash = 0;
      for (const int part : key) hash = hash * 1000003 + std::size_t(part);
      return hash;
    }
  };
  const GrammarRules& grammar_;
  Rng rng_;
  Index work_ = 0;
  std::unordered_map<Key, std::vector<int>, Hash> ways_;
};

bool is_unseen(const GrammarRules::Unseen& pair, int first_row, int second_row) {
  return (first_row + second_row) % pair.every == 0;
}

bool is_held_out(const GrammarRules& grammar, const Tree& tree) {
  std::vector<const Rule*> rows;
  collect_rows(tree, rows);
  for (const GrammarRules::Unseen& pair : grammar.unseen)
    for (const Rule* first : rows)
      for (const Rule* second : rows)
        if (first->table == pair.first && second->table == pair.second &&
            is_unseen(pair, first->row, second->row))
          return true;
  return false;
}

// The word without the grammar's marks: *héros -> héros, l'+ -> l', au_marché -> "au marché".
std::string spelled(std::string_view word) {
  if (word.size() > 1 && word.front() == '+') word.remove_prefix(1);
  if (word.size() > 1 && word.back() == '+') word.remove_suffix(1);
  if (word.size() > 1 && word.front() == '*') word.remove_prefix(1);
  std::string text(word);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

bool starts_with_vowel(std::string_view word, const std::u32string& vowels) {
  return !word.empty() &&
         vowels.find(character_at(word, 0).code) != std::u32string::npos;  // * is not a vowel
}

bool ends_with_vowel(std::string_view text, const std::u32string& vowels) {
  std::size_t begin = text.size();  // of its last character
  while (begin > 0 && (static_cast<unsigned char>(text[--begin]) & 0xC0) == 0x80) continue;
  char32_t last = text.empty() ? 0 : character_at(text, begin).code;
  if (last >= 'A' && last <= 'Z') last |= 0x20;
  return is_hangul(last) ? !has_final_consonant(last) : vowels.find(last) != std::u32string::npos;
}

// x~y is decided by the next word, x/y by the text so far.
std::string write(const GrammarRules& grammar, const Tree& tree, int side) {
  const std::u32string& vowels = grammar.vowels[side];
  Words words;
  collect_words(grammar, tree, side, words);
  std::string text;
  bool joined = true, capital = true;
  for (Index i = 0; i < std::ssize(words); ++i) {
    std::string_view word = words[i];
    if (const std::size_t tilde = word.find('~'); tilde != std::string_view::npos) {
      const bool before_vowel = i + 1 < std::ssize(words) && starts_with_vowel(words[i + 1], vowels);
      word = before_vowel ? word.substr(tilde + 1) : word.substr(0, tilde);
    }
    if (const std::size_t slash = word.find('/'); slash != std::string_view::npos)
      word = ends_with_vowel(text, vowels) ? word.substr(slash + 1) : word.substr(0, slash);

    const bool joins = word.size() > 1 && word.front() == '+';
    if (!joined && !joins) text += ' ';
    joined = word.size() > 1 && word.back() == '+';
    const std::string written = spelled(word);
    const bool is_word = kind(character_at(written, 0).code) == Kind::letter;
    text += capital && is_word ? capitalize(written) : written;
    if (is_word || written == ".") capital = written == ".";
  }
  return text;
}

}  // namespace

Grammar::Grammar(std::string_view name, std::string_view text)
    : rules_(std::make_shared<GrammarRules>(parse_grammar(name, text))) {}

// After so many repetitions in a row, a grammar has no more sentences, or none worth waiting for.
constexpr Index most_tries = 100'000;

std::vector<Pair> Grammar::generate(Index count, std::uint64_t seed, Part part) const {
  Writer writer(*rules_, seed);
  std::vector<Pair> pairs;
  std::unordered_set<std::string> seen;
  Index tries = 0;  // since the last new sentence
  while (std::ssize(pairs) < count) {
    if (++tries > most_tries)
      fail("{}: found only {} distinct sentences, not {}", rules_->name, pairs.size(), count);
    const Tree tree = writer.sentence();
    if (part != Part::all && is_held_out(*rules_, tree) != (part == Part::held_out)) continue;
    Pair pair{write(*rules_, tree, 0), write(*rules_, tree, 1)};
    if (!seen.insert(pair.source).second) continue;
    pairs.push_back(std::move(pair));
    tries = 0;
  }
  return pairs;
}

std::vector<Grammar::WordPair> Grammar::held_out() const {
  std::map<std::pair<int, int>, std::vector<std::string>> forms;  // by table and row
  for (const Rule& rule : rules_->rules) {
    if (rule.table < 0) continue;
    std::vector<std::string>& known = forms[{rule.table, rule.row}];
    std::string word = spelled(rule.sides[0].front().word);
    if (std::find(known.begin(), known.end(), word) == known.end()) known.push_back(std::move(word));
  }
  std::vector<WordPair> pairs;
  for (const GrammarRules::Unseen& pair : rules_->unseen)
    for (const auto& [first, first_words] : forms)
      for (const auto& [second, second_words] : forms)
        if (first.first == pair.first && second.first == pair.second &&
            is_unseen(pair, first.second, second.second))
          pairs.push_back({first_words, second_words});
  return pairs;
}

}  // namespace attn
