#include "nn/text/grammar_rules.hpp"

#include <algorithm>  // all_of, any_of, find, find_if, min
#include <charconv>   // from_chars
#include <iterator>   // ssize

#include "core/error.hpp"
#include "core/index.hpp"
#include "nn/text/characters.hpp"

namespace attn {
namespace {

using Strings = std::vector<std::string>;

int position(const Strings& names, std::string_view name) {  // -1 if it is not there
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : int(found - names.begin());
}

int intern(Strings& names, std::string_view name) {
  const int known = position(names, name);
  if (known >= 0) return known;
  names.emplace_back(name);
  return int(names.size()) - 1;
}

Strings split(std::string_view text, char separator) {
  Strings parts(1);
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

Strings words_of(std::string_view text) {
  const auto words = split_at_spaces(text);
  return {words.begin(), words.end()};
}

class Parser {
 public:
  Parser(std::string_view name, std::string_view text) {
    grammar_.name = name;
    if (text.size() > 100'000) fail("{}: a grammar has at most 100000 bytes", name);
    for (const std::string& line : split(text, '\n')) {
      ++line_;
      parse_line(std::string_view(line).substr(0, line.find('#')));
    }
    check_calls();
    for (const GrammarRules::Rule& rule : grammar_.rules) check_cycles(rule.symbol, {});
    index();
  }

  GrammarRules take() { return std::move(grammar_); }

 private:
  template <class... Args>
  [[noreturn]] void wrong(fmt::format_string<Args...> format, Args&&... args) const {
    fail("{}:{}: {:.300}", grammar_.name, line_, fmt::format(format, std::forward<Args>(args)...));
  }

  // The parser looks things up one by one, so there must not be too many of them.
  void check_counts() const {
    if (grammar_.features.size() > 100 || grammar_.values.size() > 1000) wrong("too many features or values");
    if (grammar_.symbols.size() > 2000 || grammar_.rules.size() > 20'000) wrong("too many symbols or rules");
    if (columns_.size() > 100 || table_rule_.head.size() > 10)
      wrong("too many columns or features in a table");
  }

  void parse_line(std::string_view line) {
    check_counts();
    const Strings words = words_of(line);
    if (words.empty()) return;
    const bool indented = line[0] == ' ';
    if (indented && words[0] == "=") {
      add_rule(head_, line.substr(line.find('=') + 1));
    } else if (indented) {
      add_row(line);
    } else if (words[0][0] == '<') {
      const std::size_t equals = line.find('=');
      head_ = line.substr(0, equals);
      columns_.clear();
      if (equals != std::string_view::npos) add_rule(head_, line.substr(equals + 1));
    } else if (words[0] == "feature") {
      add_feature(words);
    } else if (words[0] == "table") {
      open_table(line.substr(line.find("table") + 5));
    } else if (words[0] == "vowels") {
      const Strings sides = split(line.substr(6), '|');
      for (Index side = 0; side < std::min<Index>(2, std::ssize(sides)); ++side)
        for (const Character& c : characters(sides[side]))
          if (c.code != ' ') grammar_.vowels[side] += c.code;
    } else if (words[0] == "unseen") {
      add_unseen(words);
    } else {
      wrong("a line starts with <symbol>, =, feature, table, vowels or unseen, not with '{}'", words[0]);
    }
  }

  void add_feature(const Strings& words) {
    if (words.size() < 4 || words[2] != "=") wrong("write: feature name = value value …");
    grammar_.features.push_back({words[1], {}});
    for (Index i = 3; i < std::ssize(words); ++i)
      grammar_.features.back().values.push_back(intern(grammar_.values, words[i]));
    for (const GrammarRules::Feature& known : grammar_.features)
      if (position(grammar_.values, known.name) >= 0) wrong("'{}' is both a feature and a value", known.name);
  }

  int feature(std::string_view name) const {
    const auto& features = grammar_.features;
    const auto found =
        std::find_if(features.begin(), features.end(), [&](const auto& f) { return f.name == name; });
    return found == features.end() ? -1 : int(found - features.begin());
  }

  GrammarRules::Argument argument(GrammarRules::Rule& rule, const std::string& name) {
    const int its_feature = feature(name);
    if (its_feature < 0) {
      const int value = position(grammar_.values, name);
      if (value < 0) wrong("'{}' is neither a feature nor a value of one", name);
      return {false, value};
    }
    auto& variables = rule.variables;
    const auto found = std::find(variables.begin(), variables.end(), its_feature);
    const int id = int(found - variables.begin());
    if (found == variables.end()) variables.push_back(its_feature);
    return {true, id};
  }

  // "<noun g one>" -> its name, and its arguments as the rule sees them.
  GrammarRules::Call call(GrammarRules::Rule& rule, std::string_view text) {
    const std::size_t open = text.find('<'), close = text.find('>');
    if (open == std::string_view::npos || close == std::string_view::npos)
      wrong("'{}' is not a <symbol>", text);
    const Strings words = words_of(text.substr(open + 1, close - open - 1));
    if (words.empty()) wrong("<> has no name");
    GrammarRules::Call result{intern(grammar_.symbols, words[0]), {}};
    for (Index i = 1; i < std::ssize(words); ++i) result.arguments.push_back(argument(rule, words[i]));
    return result;
  }

  void add_rule(std::string_view head, std::string_view body) {
    if (head.empty()) wrong("= without a <symbol> above it");
    GrammarRules::Rule rule;
    const GrammarRules::Call left = call(rule, head);
    rule.symbol = left.symbol;
    rule.head = left.arguments;
    const std::size_t bar = body.find('|');
    rule.sides[0] = items(rule, body.substr(0, bar), true);
    rule.sides[1] = bar == std::string_view::npos ? rule.sides[0] : items(rule, body.substr(bar + 1), false);
    grammar_.rules.push_back(rule);
  }

  // The source side defines the calls, the target side repeats them by name.
  std::vector<GrammarRules::Item> items(GrammarRules::Rule& rule, std::string_view text, bool is_source) {
    using Type = GrammarRules::Item::Type;
    std::vector<GrammarRules::Item> result;
    std::size_t at = 0;
    while ((at = text.find_first_not_of(' ', at)) != std::string_view::npos) {
      const bool is_call = text[at] == '<';
      const std::size_t end = is_call ? text.find('>', at) + 1 : std::min(text.find(' ', at), text.size());
      if (end == 0) wrong("< without >");
      const std::string_view item = text.substr(at, end - at);
      at = end;
      if (is_call) {
        const GrammarRules::Call made = call(rule, item);
        const auto same = [&](const GrammarRules::Call& other) { return other.symbol == made.symbol; };
        const auto found = std::find_if(rule.calls.begin(), rule.calls.end(), same);
        if (is_source && found != rule.calls.end()) wrong("{} occurs twice on the left", item);
        if (!is_source && found == rule.calls.end()) wrong("{} occurs on the right only", item);
        result.push_back({Type::call, "", int(found - rule.calls.begin())});
        if (is_source) rule.calls.push_back(made);
      } else if (item.front() == '{' && item.back() == '}') {
        const GrammarRules::Argument value = argument(rule, std::string(item.substr(1, item.size() - 2)));
        if (!value.is_variable) wrong("{} is not a feature", item);
        result.push_back({Type::value, "", value.id});
      } else {
        result.push_back({Type::word, std::string(item), 0});
      }
    }
    return result;
  }

  void open_table(std::string_view header) {
    const std::size_t colon = header.find(':');
    if (colon == std::string_view::npos) wrong("write: table <symbol features>: columns | columns");
    table_rule_ = {};
    const GrammarRules::Call head = call(table_rule_, header.substr(0, colon));
    table_rule_.symbol = head.symbol;
    table_rule_.head = head.arguments;
    table_rule_.table = intern(grammar_.tables, grammar_.symbols[head.symbol]);
    table_rule_.row = -1;
    columns_.clear();
    const Strings sides = split(header.substr(colon + 1), '|');
    for (Index side = 0; side < std::ssize(sides); ++side)
      for (const std::string& title : words_of(sides[side])) columns_.push_back({title, side});
    one_sided_ = sides.size() == 1;
    head_.clear();
  }

  // Adds a rule for every combination of feature values for which the row has a word.
  void add_row(std::string_view line) {
    if (columns_.empty()) wrong("an indented line belongs to a table or starts with =");
    Strings cells;
    for (const std::string& cell : words_of(line))
      if (cell != "|") cells.push_back(cell);
    if (cells.size() != columns_.size()) wrong("{} cells for {} columns", cells.size(), columns_.size());
    ++table_rule_.row;
    fill(cells, {});
  }

  void fill(const Strings& cells, const Strings& chosen) {
    if (++combinations_ > 20'000) wrong("too many combinations of features in tables");
    if (chosen.size() < table_rule_.head.size()) {
      for (const std::string& value : choices(cells, std::ssize(chosen))) {
        Strings longer = chosen;
        longer.push_back(value);
        fill(cells, longer);
      }
      return;
    }
    GrammarRules::Rule rule = table_rule_;
    rule.variables.clear();
    for (Index i = 0; i < std::ssize(chosen); ++i) rule.head[i] = {false, intern(grammar_.values, chosen[i])};
    for (Index side = 0; side < 2; ++side) {
      const std::string word = pick(cells, chosen, one_sided_ ? 0 : side);
      if (word == "-") return;
      rule.sides[side] = {{GrammarRules::Item::Type::word, word, 0}};
    }
    grammar_.rules.push_back(rule);
  }

  // The values of feature `i` of the head: those that the row lists in the feature's column, or all.
  Strings choices(const Strings& cells, Index i) const {
    const GrammarRules::Argument argument = table_rule_.head[i];
    if (!argument.is_variable) return {grammar_.values[argument.id]};
    const int its_feature = table_rule_.variables[argument.id];
    const auto& [name, values] = grammar_.features[its_feature];
    for (Index c = 0; c < std::ssize(columns_); ++c)
      if (columns_[c].title == name) return split(cells[c], ',');
    Strings all;
    for (const int value : values) intern(all, grammar_.values[value]);
    return all;
  }

  std::string pick(const Strings& cells, const Strings& chosen, Index side) const {
    for (Index c = 0; c < std::ssize(columns_); ++c) {
      if (columns_[c].side != side || feature(columns_[c].title) >= 0) continue;
      const Strings wanted = split(columns_[c].title, '.');
      const auto fits = [&](const std::string& value) {
        return value == "*" || position(chosen, value) >= 0;
      };
      if (std::all_of(wanted.begin(), wanted.end(), fits)) return cells[c];
    }
    return "-";
  }

  void add_unseen(const Strings& words) {
    int every = 0;
    const bool right_form = words.size() == 6 && words[3] == "1" && words[4] == "in";
    if (right_form) std::from_chars(words[5].data(), words[5].data() + words[5].size(), every);
    if (every < 2) wrong("write: unseen table table 1 in 7");
    const int first = position(grammar_.tables, words[1]), second = position(grammar_.tables, words[2]);
    if (first < 0 || second < 0) wrong("no table {} above", first < 0 ? words[1] : words[2]);
    grammar_.unseen.push_back({first, second, every});
  }

  void check_calls() const {
    const auto defined = [&](const GrammarRules::Call& call) {
      return std::any_of(grammar_.rules.begin(), grammar_.rules.end(), [&](const GrammarRules::Rule& rule) {
        return rule.symbol == call.symbol && rule.head.size() == call.arguments.size();
      });
    };
    for (const GrammarRules::Rule& rule : grammar_.rules)
      for (const GrammarRules::Call& call : rule.calls)
        if (!defined(call))
          fail("{}: <{:.60}> with {} values is used, but no rule defines it", grammar_.name,
               grammar_.symbols[call.symbol], call.arguments.size());
  }

  void check_cycles(int symbol, std::vector<int> above) {
    const std::string& name = grammar_.symbols[symbol];
    if (std::find(above.begin(), above.end(), symbol) != above.end())
      fail("{}: <{:.60}> leads back to itself; a grammar must be finite", grammar_.name, name);
    if (std::find(finite_.begin(), finite_.end(), symbol) != finite_.end()) return;
    above.push_back(symbol);
    if (above.size() > 100) fail("{}: <{:.60}> is nested more than 100 deep", grammar_.name, name);
    for (const GrammarRules::Rule& rule : grammar_.rules)
      if (rule.symbol == symbol)
        for (const GrammarRules::Call& call : rule.calls) check_cycles(call.symbol, above);
    finite_.push_back(symbol);
  }

  void index() {
    grammar_.patterns.resize(grammar_.symbols.size());
    for (Index r = 0; r < std::ssize(grammar_.rules); ++r) {
      const GrammarRules::Rule& rule = grammar_.rules[r];
      std::vector<int> key = {rule.symbol};
      bool is_pattern = false;
      for (const GrammarRules::Argument& argument : rule.head) {
        is_pattern = is_pattern || argument.is_variable;
        key.push_back(argument.id);
      }
      auto& place = is_pattern ? grammar_.patterns[rule.symbol] : grammar_.exact[key];
      place.push_back(int(r));
    }
  }

  struct Column {
    std::string title;
    Index side;
  };

  GrammarRules grammar_;
  int line_ = 0;
  Index combinations_ = 0;
  std::string head_;                 // of the rules that follow
  GrammarRules::Rule table_rule_{};  // of the rows that follow
  std::vector<Column> columns_;
  bool one_sided_ = false;
  std::vector<int> finite_;  // symbols that do not lead back to themselves
};

}  // namespace

GrammarRules parse_grammar(std::string_view name, std::string_view text) { return Parser(name, text).take(); }

}  // namespace attn
