// Waiting for the learner: until a file in my/ is saved, a key is pressed, or Ctrl-C.
#pragma once

#include <termios.h>  // termios

#include <filesystem>  // file_time_type
#include <map>         // map
#include <vector>      // vector

#include "lessons/coach/course.hpp"

namespace coach {

struct Event {
  const Lesson* saved = nullptr;
  char key = 0;
  bool interrupted = false;
};

class Watcher {
 public:
  explicit Watcher(bool poll_only);  // looks twice a second instead of asking the system
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  bool asks_the_system() const { return queue_ >= 0; }
  const Lesson* look(const std::vector<Lesson>& lessons);  // whose file has changed since the last look
  Event wait(const std::vector<Lesson>& lessons, const volatile int& interrupted);

 private:
  int queue_ = -1;
  bool keys_ = true;  // until stdin ends
  bool raw_ = false;
  termios before_ = {};
  std::map<std::string, std::filesystem::file_time_type> times_;
};

}  // namespace coach
