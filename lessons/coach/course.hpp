// The course as files: the exercises, their hints, and how far the learner is.
//
// Nothing is listed by hand: an exercise is a folder lessons/NN_name with an exercise.hpp, its
// functions are the headings of its hints.md. What the learner has done is kept in my/.progress, one
// line for each function.
#pragma once

#include <filesystem>  // path
#include <map>         // map
#include <string>      // string
#include <vector>      // vector

#include "lessons/coach/standing.hpp"

namespace coach {

struct AskedFunction {
  std::string name;
  std::vector<std::string> hints;
};

struct Lesson {
  std::string name;    // "06_self_attention"
  std::string number;  // "06"
  std::string title;   // "self attention"
  std::vector<AskedFunction> functions;

  std::filesystem::path folder() const { return "lessons/" + name; }
  std::filesystem::path stub() const { return folder() / "exercise.hpp"; }
  std::filesystem::path solution() const { return folder() / "solution.hpp"; }
  std::filesystem::path answer() const { return "my/" + name + ".hpp"; }
};

std::vector<Lesson> find_lessons();  // by number
// By "06", "6", "06_self_attention" or "self_attention"; throws, naming what there is.
const Lesson& find_lesson(const std::vector<Lesson>& lessons, const std::string& word);

// The head of a function as its stub writes it, without the body: "Tensor scores(const Tensor&
// q, const Tensor& k)".
std::string signature(const std::string& source, const std::string& function);

// Copies the stub to my/ unless the learner has that file already; true if it did.
bool start(const Lesson& lesson);

class Progress {
 public:
  Progress();  // from my/.progress, if there is one
  void save() const;

  struct Entry {
    Standing standing = Standing::not_started;
    std::size_t hints = 0;
  };
  Entry& of(const Lesson& lesson, const std::string& function) { return entries_[{lesson.name, function}]; }
  bool passed(const Lesson& lesson, const std::string& function) const;
  std::size_t passed(const Lesson& lesson) const;  // how many of its functions
  bool done(const Lesson& lesson) const { return passed(lesson) == lesson.functions.size(); }
  void forget(const Lesson& lesson);

 private:
  std::map<std::pair<std::string, std::string>, Entry> entries_;
};

}  // namespace coach
