// A lesson as a page: its text beside its code, and under each section what it printed and drew.
//
// A row of lesson.cpp (book_rows.hpp) ends where a section does, so that what the section printed can follow:
// in output.txt a section is found by its title, underlined, and a picture by its line `[picture] file`.
#pragma once

#include <filesystem>   // path
#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

#include "notebooks_cpp/press/book_page.hpp"
#include "notebooks_cpp/press/book_rows.hpp"
#include "notebooks_cpp/press/book_sources.hpp"

namespace attn::press {

struct LessonSource {
  std::string number, question, introduction;
  Row preamble;  // the includes
  std::vector<Row> rows;
};
LessonSource read_lesson(std::string_view source);

struct OutputSection {
  std::string title;  // empty for what came before the first
  std::vector<std::string> lines;
};
std::vector<OutputSection> output_sections(std::string_view output);

// The files of a lesson that have pages of their own: all but the lesson and its exercise.
bool is_extra_file(const std::string& file);

// lesson.cpp and the extra files must have been added to `sources`. `output` is the lesson's folder in out/.
BookPage lesson_page(const std::filesystem::path& folder, const std::filesystem::path& output,
                     const std::filesystem::path& grader, const Sources& sources);

}  // namespace attn::press
