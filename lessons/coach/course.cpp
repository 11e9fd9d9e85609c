#include "lessons/coach/course.hpp"

#include <algorithm>  // sort
#include <fstream>    // ifstream
#include <sstream>    // istringstream

#include "core/atomic_file.hpp"
#include "core/error.hpp"

namespace coach {

namespace fs = std::filesystem;

namespace {

const fs::path progress_file = "my/.progress";

// `## scores` begins a function, `1. ` at the start of a line a hint.
std::vector<AskedFunction> read_hints(const fs::path& path) {
  std::vector<AskedFunction> functions;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t digits = line.find_first_not_of("0123456789");
    if (line.starts_with("## ")) {
      functions.push_back({line.substr(3), {}});
    } else if (functions.empty()) {
      continue;
    } else if (digits > 0 && digits != std::string::npos && line.compare(digits, 2, ". ") == 0) {
      functions.back().hints.push_back(line.substr(digits + 2));
    } else if (!line.empty() && !functions.back().hints.empty()) {
      functions.back().hints.back().append("\n").append(line, line.find_first_not_of(' '));
    }
  }
  return functions;
}

}  // namespace

std::vector<Lesson> find_lessons() {
  std::vector<Lesson> lessons;
  if (!fs::is_directory("lessons"))
    attn::fail("no folder lessons/ here: run it in the folder that has the Makefile");
  for (const auto& entry : fs::directory_iterator("lessons")) {
    const std::string name = entry.path().filename();
    const std::size_t line = name.find('_');
    if (line == std::string::npos || !fs::exists(entry.path() / "exercise.hpp")) continue;
    std::string title = name.substr(line + 1);
    std::replace(title.begin(), title.end(), '_', ' ');
    lessons.push_back({name, name.substr(0, line), title, read_hints(entry.path() / "hints.md")});
  }
  std::sort(lessons.begin(), lessons.end(), [](const Lesson& a, const Lesson& b) { return a.name < b.name; });
  return lessons;
}

const Lesson& find_lesson(const std::vector<Lesson>& lessons, const std::string& word) {
  for (const Lesson& lesson : lessons)
    if (word == lesson.number || "0" + word == lesson.number || word == lesson.name ||
        lesson.number + "_" + word == lesson.name)
      return lesson;
  std::string numbers;
  for (const Lesson& lesson : lessons) numbers += " " + lesson.number;
  attn::fail("no exercise \"{}\"; there are{}", word, numbers);
}

std::string signature(const std::string& source, const std::string& function) {
  std::istringstream lines(source);
  std::string head;
  for (std::string line; std::getline(lines, line);) {
    const bool begins = !line.empty() && line[0] != '/' && line[0] != ' ' && line[0] != '#' &&
                        line.find(" " + function + "(") != std::string::npos;
    if (!begins && head.empty()) continue;
    head.append(head.empty() ? "" : " ").append(line, std::min(line.find_first_not_of(' '), line.size()));
    const std::size_t brace = head.find(" {");
    if (brace != std::string::npos) return head.substr(0, brace);
  }
  return function;
}

bool start(const Lesson& lesson) {
  if (fs::exists(lesson.answer())) return false;
  fs::create_directories("my");
  fs::copy_file(lesson.stub(), lesson.answer(), fs::copy_options::skip_existing);
  return true;
}

Progress::Progress() {
  std::ifstream file(progress_file);
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string lesson, function, hints, standing;
    std::getline(fields, lesson, '\t');
    std::getline(fields, function, '\t');
    std::getline(fields, hints, '\t');
    std::getline(fields, standing);
    if (!lesson.empty() && !function.empty())
      entries_[{lesson, function}] = {standing_from(standing),
                                      std::size_t(std::strtoul(hints.c_str(), nullptr, 10))};
  }
}

void Progress::save() const {
  std::string text;
  for (const auto& [key, entry] : entries_)
    text += fmt::format("{}\t{}\t{}\t{}\n", key.first, key.second, entry.hints, word_for(entry.standing));
  attn::write_file_atomically(progress_file, {text});
}

bool Progress::passed(const Lesson& lesson, const std::string& function) const {
  const auto found = entries_.find({lesson.name, function});
  return found != entries_.end() && found->second.standing == Standing::passed;
}

std::size_t Progress::passed(const Lesson& lesson) const {
  std::size_t count = 0;
  for (const AskedFunction& function : lesson.functions) count += passed(lesson, function.name);
  return count;
}

void Progress::forget(const Lesson& lesson) {
  for (const AskedFunction& function : lesson.functions) entries_.erase({lesson.name, function.name});
}

}  // namespace coach
