// build/make_prose SOURCE PROGRAM: writes the program that says the prose of a lesson's source.
#include <fmt/core.h>  // print

#include <cstdio>     // stderr
#include <exception>  // exception
#include <fstream>    // ifstream, ofstream
#include <iterator>   // istreambuf_iterator
#include <stdexcept>  // runtime_error

#include "lessons/support/prose.hpp"

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: make_prose SOURCE PROGRAM\n");
    return 2;
  }
  try {
    std::ifstream source(argv[1], std::ios::binary);
    if (!source) throw std::runtime_error(fmt::format("cannot read {}", argv[1]));
    const std::string text(std::istreambuf_iterator<char>(source), {});
    std::ofstream program(argv[2], std::ios::binary);
    program << attn::program_of(text, argv[1]) << std::flush;
    if (!program) throw std::runtime_error(fmt::format("cannot write {}", argv[2]));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
