// The exercise examined: every mistake must be rejected and get its own name, every trivial answer rejected.
//
// Trivial answers come from the right ones: zeros, ones, an argument handed back, the right numbers rounded
// to float16, the right answer for square or power-of-two sizes only, the first input's answer for all.
#pragma once

#include "lessons/coach/grading.hpp"

namespace coach {

// Prints what fails, then one line: "functions F mistakes M trivial T checks N failed N".
// 0 if nothing failed.
int self_check(const Exercise& exercise);

}  // namespace coach
