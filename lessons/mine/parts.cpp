#include "lessons/mine/parts.hpp"

#include <dlfcn.h>     // dlopen, dlsym
#include <fmt/core.h>  // format

#include <algorithm>   // any_of, find
#include <cctype>      // isalnum
#include <cstdio>      // popen
#include <filesystem>  // exists
#include <map>         // map
#include <set>         // set
#include <sstream>     // istringstream

#include "core/atomic_file.hpp"
#include "core/text.hpp"  // read_file
#include "lessons/coach/course.hpp"
#include "lessons/coach/mistakes.hpp"
#include "lessons/coach/mutants.hpp"
#include "lessons/support/options.hpp"  // UsageError

namespace attn::mine {

namespace fs = std::filesystem;

namespace {

const std::string folder = "build/mine/";

// What a part is asked to be: "softmax=ours" names a part or one of its functions.
struct Choice {
  std::string key, value;
};

std::vector<Choice> read_choices(const std::string& text) {
  std::string spaced = text;
  std::replace(spaced.begin(), spaced.end(), ',', ' ');
  std::istringstream words(spaced);
  std::vector<Choice> choices;
  for (std::string word; words >> word;) {
    const std::size_t at = word.find('=');
    if (at == std::string::npos)
      throw UsageError(fmt::format("PARTS: '{}' is not of the form softmax=ours", word));
    choices.push_back({word.substr(0, at), word.substr(at + 1)});
  }
  return choices;
}

bool is_faster_product(const std::string& name) {
  return std::any_of(std::begin(faster_products), std::end(faster_products),
                     [&](const char* each) { return name == each; });
}

void check_choice(const Choice& choice, const std::vector<AnyPart*>& parts, int milestone) {
  std::set<std::string> names;
  bool known = false;
  for (const AnyPart* part : parts) {
    names.insert(part->asked.part);
    known = known || choice.key == part->asked.part || choice.key == part->asked.name;
  }
  if (!known) {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    throw UsageError(
        fmt::format("PARTS: milestone {} has no part '{}'; there are {}", milestone, choice.key, list));
  }
  const bool faster = choice.key == "product" && is_faster_product(choice.value);
  if (choice.value != "ours" && choice.value != "mine" && !faster)
    throw UsageError(fmt::format("PARTS: '{}' is neither ours nor mine{}", choice.value,
                                 choice.key == "product" ? " nor multiply_ikj nor multiply_tiled" : ""));
}

struct ChosenMistake {
  std::string lesson, function, name;
  std::string stem() const {  // of its files
    std::string text = lesson + "." + function + ".";
    for (const char c : name) text += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    return text;
  }
};

// By "scores: no scaling", or by "no scaling" alone where only one function of the milestone has it.
ChosenMistake find_mistake(const std::string& wanted, const std::vector<AnyPart*>& parts, int milestone) {
  std::vector<ChosenMistake> found;
  std::set<std::string> lessons;
  for (const AnyPart* part : parts) lessons.insert(part->asked.lesson);
  for (const std::string& lesson : lessons)
    for (const coach::WrittenMistake& mistake :
         coach::read_mistakes("lessons/" + lesson + "/mistakes.diff")) {
      const bool used = std::any_of(parts.begin(), parts.end(), [&](const AnyPart* part) {
        return part->asked.name == mistake.function;
      });
      if (used && (wanted == mistake.name || wanted == mistake.function + ": " + mistake.name))
        found.push_back({lesson, mistake.function, mistake.name});
    }
  if (found.size() == 1) return found[0];
  if (found.empty())
    throw UsageError(
        fmt::format("MISTAKE: no function of milestone {} has a known mistake '{}'; lessons/*/mistakes.diff "
                    "names them",
                    milestone, wanted));
  std::string list;
  for (const ChosenMistake& each : found)
    list += fmt::format("{}\"{}: {}\"", list.empty() ? "" : " or ", each.function, each.name);
  throw UsageError(fmt::format("MISTAKE: several functions have it; say {}", list));
}

// Builds what is missing or older than its source, and says what the compiler said.
std::string build(const std::set<std::string>& objects) {
  std::string command = "env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s -k";
  for (const std::string& object : objects) command += " " + object;
  std::fflush(stdout);
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) fail("no process could be started");
  std::string said;
  char block[4096];
  for (std::size_t count; (count = std::fread(block, 1, sizeof block, pipe)) > 0;) said.append(block, count);
  pclose(pipe);
  return said;
}

// " (my/04_learning.hpp:12: error: …)": what the compiler said first about a file; "" if nothing.
std::string first_error(const std::string& said, const std::string& file) {
  std::istringstream lines(said);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(file) && line.find("error: ") != line.npos) return " (" + line + ")";
  return "";
}

Exports load(const std::string& object) {
  void* library = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) fail("{}", dlerror());
  const auto offer = reinterpret_cast<decltype(&export_functions)>(dlsym(library, "export_functions"));
  if (!offer) fail("{}: offers no functions", object);
  Exports exports;
  offer(exports);
  return exports;
}

}  // namespace

Parts::Parts(const PartsSettings& settings) {
  use_library(*this);
  for (AnyPart* part : every_)
    if (part->asked.used_by(settings.milestone)) used_.push_back(part);

  // Who makes each part?
  const std::vector<Choice> choices = read_choices(settings.parts);
  for (const Choice& choice : choices) check_choice(choice, used_, settings.milestone);
  std::optional<ChosenMistake> mistake;
  if (!settings.mistake.empty()) mistake = find_mistake(settings.mistake, used_, settings.milestone);
  const coach::Progress progress;
  struct Source {
    std::string object, file, function;
  };
  const std::string flavour = folder + (settings.checked ? "checked/" : "");
  const auto answer = [&](const std::string& lesson, const std::string& function) -> Source {
    if (settings.solutions)
      return {flavour + "solution/" + lesson + ".so", "lessons/" + lesson + "/solution.hpp", function};
    return {flavour + "my/" + lesson + ".so", "my/" + lesson + ".hpp", function};
  };
  std::map<AnyPart*, Source> sources;
  std::set<std::string> objects;
  for (AnyPart* part : used_) {
    const std::string &name = part->asked.name, &lesson = part->asked.lesson;
    coach::Lesson course;
    course.name = lesson;
    bool mine = settings.solutions || progress.passed(course, name);
    Source source = answer(lesson, name);
    for (const Choice& choice : choices)
      if (choice.key == name || choice.key == part->asked.part) {
        mine = choice.value != "ours";
        if (is_faster_product(choice.value) && name == "product")
          source = answer(faster_products_lesson, choice.value), part->asked.lesson = faster_products_lesson;
      }
    if (mine && !settings.solutions && !fs::exists(source.file))
      throw UsageError(fmt::format("{} is to be yours, but there is no {}: make start", name, source.file));
    part->whose = mine ? Whose::mine : Whose::ours;
    if (mistake && mistake->function == name) {
      const std::string stem = folder + "mistake/" + mistake->stem();
      const std::string text = coach::mistaken_solution("lessons/" + lesson, name, mistake->name);
      if (!fs::exists(stem + ".hpp") || read_file(stem + ".hpp") != text)
        write_file_atomically(stem + ".hpp", {text});
      source = {stem + ".so", "lessons/" + lesson + "/mistakes.diff", name};
      part->whose = Whose::mistake;
      part->mistake = mistake->name;
    }
    if (part->whose != Whose::ours) {
      part->file = source.file;
      sources[part] = source;
      objects.insert(source.object);
    }
    if (!part->has_library()) objects.insert(folder + "solution/" + lesson + ".so");
  }

  const std::string said = objects.empty() ? "" : build(objects);
  std::map<std::string, Exports> loaded;
  for (const std::string& object : objects)
    if (fs::exists(object)) loaded[object] = load(object);
  std::set<std::string> broken;
  for (AnyPart* part : used_) {
    if (!part->has_library()) {
      const std::string ours = folder + "solution/" + part->asked.lesson + ".so";
      if (!loaded.contains(ours)) fail("{} could not be built:\n{}", ours, said);
      part->take(loaded[ours], part->asked.name, true);
    }
    if (part->whose == Whose::ours) continue;
    const Source& source = sources[part];
    if (loaded.contains(source.object)) {
      part->take(loaded[source.object], source.function, false);
    } else if (part->whose == Whose::mistake || settings.solutions) {
      fail("{} could not be built:\n{}", source.object, said);
    } else {
      part->whose = Whose::ours;
      if (broken.insert(source.file).second)
        remarks_.push_back(fmt::format("{} does not compile, so its parts are ours: make check-{}{}",
                                       source.file, part->asked.number(), first_error(said, source.file)));
    }
  }
}

}  // namespace attn::mine
