// Values through a pipe and back. What comes out of a pipe may be anything: a learner's function can write
// to any descriptor it finds. So every count is checked against what is left, and what does not fit throws.
#pragma once

#include <cstdint>  // uint64_t
#include <string>   // string

#include "lessons/coach/value.hpp"

namespace coach {

class Writer {
 public:
  void number(std::uint64_t number);
  void text(const std::string& text);
  void value(const Value& value);
  std::string bytes;
};

class Reader {
 public:
  explicit Reader(const std::string& bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}
  bool done() const { return at_ == end_; }
  std::uint64_t number();
  std::uint64_t number(std::uint64_t most);  // throws above `most`
  std::string text();
  Value value();

 private:
  const char* take(std::uint64_t bytes);
  double real();
  Index count(std::uint64_t bytes_each);  // of things of which each needs so many bytes at least

  const char *at_, *end_;
};

}  // namespace coach
