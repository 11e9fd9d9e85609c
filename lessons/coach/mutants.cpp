#include "lessons/coach/mutants.hpp"

#include <fmt/core.h>  // format

#include <algorithm>  // any_of, find, search
#include <cctype>     // isalnum
#include <fstream>    // ifstream
#include <iterator>   // ssize

#include "core/error.hpp"
#include "lessons/coach/mistakes.hpp"

namespace coach {
namespace {

struct Line {
  std::string text, file;
  int number;
};
using Lines = std::vector<Line>;

// What mistakes may use beside the includes of the solution.
constexpr const char* more_includes =
    "#include <functional>\n#include <map>\n#include <numeric>\n#include <set>\n"
    "#include \"lessons/coach/checked.hpp\"\n";

// A function of the solution, or, without a name, a struct or a constant.
struct Part {
  std::string name;
  Lines lines;
};

struct Solution {
  std::vector<std::string> includes;
  std::vector<Part> parts;
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// What counts of a line when it is looked for: neither indentation nor a comment.
std::string code_of(const std::string& line) {
  const std::string code = line.substr(0, line.find("//"));
  const std::size_t first = code.find_first_not_of(' '), last = code.find_last_not_of(' ');
  return first == std::string::npos ? "" : code.substr(first, last - first + 1);
}

// In a solution, whatever is not indented begins a part or, as a brace, ends it.
Solution read_solution(const std::string& path) {
  std::ifstream file(path);
  if (!file) attn::fail("{}: cannot be read", path);
  Solution solution;
  bool inside = false, open = false;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.starts_with("#include")) solution.includes.push_back(line);
    if (line == "namespace exercise {") {
      inside = true;
    } else if (line.starts_with("}  // namespace")) {
      inside = false;
    } else if (inside && !code_of(line).empty()) {
      if (!open) solution.parts.emplace_back();
      Part& part = solution.parts.back();
      part.lines.push_back({line, path, number});
      const std::size_t end = line.find('(');
      if (part.name.empty() && line[0] != ' ' && end < line.find('=')) {
        std::size_t begin = end;
        while (begin > 0 && is_word(line[begin - 1])) --begin;
        part.name = line.substr(begin, end - begin);
      }
      open = line[0] != '}' && (line[0] == ' ' || !(line.ends_with("}") || line.ends_with(";")));
    }
  }
  return solution;
}

Part* find_function(Solution& solution, const std::string& name) {
  for (Part& part : solution.parts)
    if (part.name == name) return &part;
  return nullptr;
}

bool mentions(const Part& part, const std::string& name) {
  for (const Line& line : part.lines)
    for (std::size_t at = 0; (at = line.text.find(name, at)) != std::string::npos; at += name.size())
      if ((at == 0 || !is_word(line.text[at - 1])) && !is_word(line.text[at + name.size()])) return true;
  return false;
}

std::string signature(const Part& function) {
  std::string head;
  for (const Line& line : function.lines) {
    head += (head.empty() ? "" : " ") + code_of(line.text);
    if (head.find(" {") != std::string::npos) break;
  }
  return head.substr(0, head.find(" {"));
}

// Where the operand of a subscript begins: in `2 * graph[n].inputs[i]`, whose last bracket is at `open`, at
// `graph`. At `open` itself if that bracket begins a lambda or a binding.
std::size_t operand(const std::string& code, std::size_t open) {
  std::size_t begin = open;
  while (begin > 0) {
    if (code[begin - 1] == ')' || code[begin - 1] == ']') {
      int depth = 0;
      do {
        --begin;
        depth += (code[begin] == ')' || code[begin] == ']') - (code[begin] == '(' || code[begin] == '[');
      } while (depth > 0 && begin > 0);
    } else if (is_word(code[begin - 1])) {
      while (begin > 0 && is_word(code[begin - 1])) --begin;
      if (code.substr(0, begin).ends_with("."))
        --begin;
      else if (code.substr(0, begin).ends_with("->") || code.substr(0, begin).ends_with("::"))
        begin -= 2;
      else
        break;
    } else {
      break;
    }
  }
  return begin;
}

// `v[i]` as `coach::checked(v, i)`, from the last one to the first.
std::string with_checked_subscripts(std::string code) {
  const std::string call = "coach::checked(";
  for (std::size_t open = code.rfind('['); open != std::string::npos && open > 0;) {
    const std::size_t begin = operand(code, open);
    std::size_t close = open;
    for (int depth = 0; close < code.size(); ++close) {
      depth += (code[close] == '[') - (code[close] == ']');
      if (depth == 0) break;
    }
    std::size_t next = open - 1;
    if (begin < open && close < code.size()) {
      code[close] = ')';
      code.replace(open, 1, ", ").insert(begin, call);
      next += call.size();
    }
    open = code.rfind('[', next);
  }
  return code;
}

// One mistake, made to the solution.
struct Mutant {
  Solution solution;
  const WrittenMistake& mistake;
  std::string file;                       // of the mistake
  std::vector<std::string> changed = {};  // functions

  [[noreturn]] void complain(int number, const std::string& what) const {
    attn::fail("{}:{}: {}, \"{}\": {}", file, number, mistake.function, mistake.name, what);
  }

  // Where the solution has `old`, - and space lines: in one place.
  std::pair<Part*, Lines::iterator> find(const std::vector<DiffLine>& old) {
    std::pair<Part*, Lines::iterator> place;
    int found = 0;
    const auto same = [&](const Line& line, const DiffLine& wanted) {
      return line.file != file && code_of(line.text) == code_of(wanted.text);
    };
    const auto look_in = [&](Part& part) {
      for (auto at = part.lines.begin();; ++at) {
        at = std::search(at, part.lines.end(), old.begin(), old.end(), same);
        if (at == part.lines.end()) return;
        place = {&part, at};
        ++found;
      }
    };
    look_in(*find_function(solution, mistake.function));
    if (found == 0)
      for (Part& part : solution.parts) look_in(part);
    if (found != 1)
      complain(old[0].number,
               fmt::format("the solution has {}: {}",
                           found == 0 ? "no such line" : "more than one such place", code_of(old[0].text)));
    return place;
  }

  // Puts the + lines `fresh` where `old` stands, or, without any, in place of the whole body.
  void change(const std::vector<DiffLine>& old, const std::vector<DiffLine>& fresh) {
    auto [part, place] =
        old.empty() ? std::pair{find_function(solution, mistake.function), Lines::iterator()} : find(old);
    Lines lines;
    if (old.empty()) {
      lines.push_back({signature(*part) + " {", part->lines[0].file, part->lines[0].number});
    } else {
      lines.assign(part->lines.begin(), place);
      for (const DiffLine& line : old) {
        if (line.sign == ' ') lines.push_back(*place);
        ++place;
      }
    }
    for (const DiffLine& line : fresh) lines.push_back({" " + line.text, file, line.number});
    if (old.empty())
      lines.push_back({"}", part->lines.back().file, part->lines.back().number});
    else
      lines.insert(lines.end(), place, part->lines.end());
    part->lines = lines;
    changed.push_back(part->name);
  }

  void make() {
    std::vector<DiffLine> old, fresh;
    for (const DiffLine& line : mistake.change) {
      if (line.sign != '+' && !fresh.empty()) {
        change(old, fresh);
        old.clear();
        fresh.clear();
      }
      (line.sign == '+' ? fresh : old).push_back(line);
    }
    change(old, fresh);
  }

  // What was changed and what uses it, up to the function asked for.
  std::vector<Part> functions() const {
    std::vector<Part> taken;
    for (const Part& part : solution.parts) {
      const auto used = [&](const Part& other) { return mentions(part, other.name); };
      if (std::find(changed.begin(), changed.end(), part.name) != changed.end() ||
          std::any_of(taken.begin(), taken.end(), used))
        taken.push_back(part);
      if (part.name == mistake.function) break;
    }
    if (taken.empty() || taken.back().name != mistake.function)
      complain(mistake.number, "changes what the function does not use");
    return taken;
  }
};

void write(std::string& out, const Lines& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i == 0 || lines[i].file != lines[i - 1].file || lines[i].number != lines[i - 1].number + 1)
      out += fmt::format("#line {} \"{}\"\n", lines[i].number, lines[i].file);
    out += with_checked_subscripts(lines[i].text) + "\n";
  }
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace

std::string mutants_header(const std::string& folder) {
  const std::string file = folder + "/mistakes.diff";
  Solution solution = read_solution(folder + "/solution.hpp");

  std::string functions, mutants, declared, tables, current;
  for (const Part& part : solution.parts) write(functions, part.lines);
  int count = 0;
  for (const WrittenMistake& mistake : read_mistakes(file)) {
    const Part* const asked = find_function(solution, mistake.function);
    if (!asked)
      attn::fail("{}:{}: {} is no function of the solution", file, mistake.number, mistake.function);
    if (current != mistake.function) {
      tables += current.empty() ? "" : "};\n";
      current = mistake.function;
      tables += fmt::format("inline const coach::Mistakes<decltype(exercise::{0})> {0} = {{\n", current);
      declared += signature(*asked) + ";\n";
    }
    Mutant mutant{solution, mistake, file};
    mutant.make();
    mutants += fmt::format("namespace mutant_{} {{\n", ++count);
    for (const Part& part : mutant.functions()) write(mutants, part.lines);
    mutants += "}\n";
    tables += fmt::format("#line {} \"{}\"\n{{{}, {}, {}, exercise::solution::mutant_{}::{}, {}}},\n",
                          mistake.number, file, quoted(mistake.name), quoted(mistake.why),
                          quoted(mistake.where), count, current, mistake.runs_away);
  }
  tables += current.empty() ? "" : "};\n";

  // The learner's functions are declared after the mutants, which else could find them by their arguments'
  // types. As a system header it is spared warnings: wrong code may well deserve them.
  std::string out = fmt::format("// Made from {} and the solution beside it.\n#pragma once\n", file);
  for (const std::string& include : solution.includes) out += include + "\n";
  return out + more_includes +
         "#include \"lessons/coach/grading.hpp\"\n"
         "#pragma GCC system_header\n"
         "namespace exercise::solution {\n" +
         functions + mutants + "}\nnamespace exercise {\n" + declared + "}\nnamespace mistakes {\n" + tables +
         "}\n";
}

std::string mistaken_solution(const std::string& folder, const std::string& function,
                              const std::string& mistake) {
  const std::string file = folder + "/mistakes.diff";
  for (const WrittenMistake& written : read_mistakes(file)) {
    if (written.function != function || written.name != mistake) continue;
    Mutant mutant{read_solution(folder + "/solution.hpp"), written, file};
    mutant.make();
    std::string out = "#pragma once\n";
    for (const std::string& include : mutant.solution.includes) out += include + "\n";
    out += more_includes;
    out += "namespace exercise {\n";
    for (const Part& part : mutant.solution.parts) write(out, part.lines);
    return out + "}\n";
  }
  attn::fail("{}: {} has no mistake \"{}\"", file, function, mistake);
}

}  // namespace coach
