// build/live_answers: what the live page answers, natively; one request a line, one answer a line.
#include <fmt/core.h>  // print

#include <iostream>  // cin, getline

#include "notebooks_cpp/live/live.hpp"

int main() {
  attn::Live live;
  for (std::string line; std::getline(std::cin, line);) fmt::print("{}\n", live.answer(line));
}
