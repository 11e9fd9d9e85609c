// The course checks itself: part of `make test`.
//
// For every exercise: the stub compiles and each function grades as "not started yet"; the solution passes;
// every mistake gets exactly its own name and every trivial answer is rejected, on every seed
// (self_check.hpp); hints.md has the same functions, each with at least three hints, none of which contains a
// line of the solution; each stub has its worked example.
#pragma once

#include <vector>  // vector

#include "lessons/coach/course.hpp"

namespace coach {

// Prints what fails, then "course: E exercises, F functions, M mistakes recognised, T trivial
// answers rejected" and "N passed, N failed". Needs build/graded/{exercise,solution}/NN_name,
// which `make check-course` builds.
int check_course(const std::vector<Lesson>& lessons);

}  // namespace coach
