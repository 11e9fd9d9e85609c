// mutants lessons/06_self_attention > build/graded/mistakes/06_self_attention.hpp
#include <fmt/core.h>  // print

#include "lessons/coach/mutants.hpp"

int main(int argc, char** argv) {
  try {
    if (argc != 2) return fmt::print(stderr, "mutants: give it the folder of a lesson\n"), 2;
    fmt::print("{}", coach::mutants_header(argv[1]));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
