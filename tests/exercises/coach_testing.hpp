// What the tests of build/coach share: they call it as a learner does, in a folder of its own.
#pragma once

#include <filesystem>  // path
#include <string>      // string
#include <vector>      // vector

namespace testing {

namespace fs = std::filesystem;

void check(bool holds, const std::string& fact, const std::string& evidence = "");

std::string read(const fs::path& path);
void write(const fs::path& path, const std::string& text);

struct Said {
  int code;
  std::string text;
};
Said coach(const std::string& words, const std::string& typed = "");

// Exit code, phrases that must be there, and no colours.
void expect(const Said& said, int code, const std::vector<std::string>& phrases, const std::string& fact);

std::string solution(const std::string& lesson);  // of "06_self_attention"
// `text` with the body of `function`, up to the brace at the start of a line, replaced.
std::string with_body(std::string text, const std::string& function, const std::string& body);

// Puts bodies into the solution, asks for a verdict on all functions, and cuts it into one text for each.
struct Body {
  std::string function, text;
};
class Checked {
 public:
  Checked(const std::string& lesson, const std::vector<Body>& bodies, const std::string& top = "");
  // The verdict on this function begins with the headline, has all phrases, and nothing of a sanitizer.
  void expect(const std::string& function, const std::string& headline,
              const std::vector<std::string>& phrases = {}) const;
  // What is said about this function, on one line; "" if nothing is.
  std::string verdict(const std::string& function) const;
  const Said& said() const { return said_; }

 private:
  std::string lesson_;
  Said said_;
};

// Each file of tests has one of these.
void test_commands();
void test_holes();
void test_facts();
void test_limits();

}  // namespace testing
