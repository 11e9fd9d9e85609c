// The rules of a grammar: grammar_parser.cpp reads them from text, grammar.cpp writes sentences with them.
// Names (symbols, features, values) are numbers here.
#pragma once

#include <array>        // array
#include <map>          // map
#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

namespace attn {

struct GrammarRules {
  struct Argument {
    bool is_variable;
    int id;  // of the rule's variable, or of a value
  };
  struct Call {  // <noun g one>
    int symbol;
    std::vector<Argument> arguments;
  };
  struct Item {
    enum class Type { word, call, value } type;
    std::string word;
    int index;  // of the rule's call or variable
  };
  struct Rule {
    int symbol;
    std::vector<Argument> head;
    std::vector<int> variables;  // the feature of each
    std::vector<Call> calls;
    std::array<std::vector<Item>, 2> sides;
    int table = -1, row = -1;
  };
  struct Feature {
    std::string name;
    std::vector<int> values;  // with repetitions
  };
  struct Unseen {
    int first, second, every;  // tables
  };

  std::string name;
  std::vector<std::string> symbols, values, tables;
  std::vector<Feature> features;
  std::vector<Rule> rules;
  std::vector<std::vector<int>> patterns;              // by symbol: the rules whose head has a variable
  std::map<std::vector<int>, std::vector<int>> exact;  // by symbol and values: the other rules
  std::vector<Unseen> unseen;
  std::array<std::u32string, 2> vowels;
};

GrammarRules parse_grammar(std::string_view name, std::string_view text);

}  // namespace attn
