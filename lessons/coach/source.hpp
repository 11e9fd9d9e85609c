// The learner's file as text: which function calls which.
#pragma once

#include <map>     // map
#include <string>  // string
#include <vector>  // vector

namespace coach {

class Source {
 public:
  explicit Source(const std::string& text);

  // The first of `names` that the function calls, itself or through helpers in the file; "" if none. A name
  // that is no identifier, as "a + b", is looked for as it is, whatever the blanks.
  std::string calls(const std::string& function, const std::vector<std::string>& names) const;

 private:
  std::map<std::string, std::string> bodies_;  // of the functions, without comments and strings
};

}  // namespace coach
