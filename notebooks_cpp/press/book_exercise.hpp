// The exercise of a lesson: each function with its contract, hints, the mistakes that the grader knows by
// name, and our answer, the last three folded. All of it is read from the files that
// lessons/coach/grading.hpp describes.
#pragma once

#include <filesystem>   // path
#include <map>          // map
#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

#include "notebooks_cpp/press/book_page.hpp"
#include "notebooks_cpp/press/book_sources.hpp"

namespace attn::press {

struct KnownMistake {
  std::string name, why, where;
};

// By function, from a mistakes.hpp: entries of coach::Mistakes<decltype(exercise::function)>.
std::map<std::string, std::vector<KnownMistake>> known_mistakes(std::string_view source);
// By function, from a hints.md: `## function`, then numbered hints.
std::map<std::string, std::vector<std::string>> hints_of(std::string_view markdown);
// By function, from the grader: the sentence shown when it passes.
std::map<std::string, std::string> notices_of(std::string_view grader);

// Appends the exercise to the page: nothing if the lesson has none.
void add_exercise(BookPage& page, const std::filesystem::path& folder, const std::filesystem::path& grader,
                  const Sources& sources);

}  // namespace attn::press
