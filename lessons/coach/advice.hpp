// What the compiler says, in a few words, with advice for what learners meet most.
#pragma once

#include <string>  // string

#include "lessons/coach/course.hpp"

namespace coach {

// The first message of this kind ("error", "warning") in the learner's file, with the line of code below it;
// "" if there is none.
std::string first_message(const std::string& output, const std::string& answer, const std::string& kind);

// A function that the grader asks for and the linker does not find; "" if that is not what went wrong.
std::string missing_function(const Lesson& lesson, const std::string& answer, const std::string& output);

}  // namespace coach
