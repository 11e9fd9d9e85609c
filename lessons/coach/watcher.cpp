#include "lessons/coach/watcher.hpp"

#include <poll.h>         // poll
#include <sys/inotify.h>  // inotify_add_watch
#include <unistd.h>       // read, isatty

namespace coach {

Watcher::Watcher(bool poll_only) {
  // Keys count one by one and are not shown; Ctrl-C stays what it is.
  if (isatty(0) && tcgetattr(0, &before_) == 0) {
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    raw_ = tcsetattr(0, TCSANOW, &raw) == 0;
  }
  if (poll_only) return;
  queue_ = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (queue_ >= 0 && inotify_add_watch(queue_, "my", IN_CLOSE_WRITE | IN_MOVED_TO) >= 0) return;
  if (queue_ >= 0) close(queue_);
  queue_ = -1;
}

Watcher::~Watcher() {
  if (queue_ >= 0) close(queue_);
  if (raw_) tcsetattr(0, TCSANOW, &before_);
}

// A change that inotify misses (a folder shared by network) is found by the times all the same. Editors write
// in place or rename a new file over the old.
Event Watcher::wait(const std::vector<Lesson>& lessons, const volatile int& interrupted) {
  while (!interrupted) {
    pollfd ready[] = {{queue_, POLLIN, 0}, {keys_ ? 0 : -1, POLLIN, 0}};
    if (poll(ready, 2, queue_ >= 0 ? 2000 : 500) > 0) {
      char events[4096];
      while (ready[0].revents && read(queue_, events, sizeof events) > 0) continue;
      char key = 0;
      if (ready[1].revents) {
        keys_ = read(0, &key, 1) == 1;
        if (keys_ && key > ' ') return {.key = key};
      }
    }
    if (const Lesson* changed = look(lessons)) return {.saved = changed};
  }
  return {.interrupted = true};
}

const Lesson* Watcher::look(const std::vector<Lesson>& lessons) {
  const Lesson* changed = nullptr;
  for (const Lesson& lesson : lessons) {
    std::error_code error;
    const auto time = std::filesystem::last_write_time(lesson.answer(), error);
    if (error || times_[lesson.name] == time) continue;
    times_[lesson.name] = time;
    changed = &lesson;
  }
  return changed;
}

}  // namespace coach
