// Chromium: a headless browser with one tab, driven over the DevTools protocol.
//
//   Chromium browser;                                    // its own profile, no network, gone with the object
//   browser.open("file:///…/index.html");                // returns when the page has loaded
//   browser.evaluate("document.title");                  // what a script returns, awaited if it is a promise
//   for (const Message& event : browser.take_events()) …    // requests, console messages, exceptions so far
//
// The two talk through a pair of pipes (--remote-debugging-pipe): messages are JSON, each ended by a NUL
// byte. The browser reads commands from its file 3 and writes answers to its file 4; an answer has the number
// of our message, an event has none. Every wait has a limit. The browser is a process group of its own: the
// destructor kills all of it and removes the profile. With stop_on_signals() Ctrl-C ends a wait by an
// exception, so that destructors run, too. One tab, no pages from the network, POSIX only.
#pragma once

#include <sys/types.h>  // pid_t

#include <chrono>             // duration, steady_clock
#include <filesystem>         // path
#include <nlohmann/json.hpp>  // json
#include <string>             // string
#include <vector>             // vector

#include "core/error.hpp"

namespace attn::press {

using Message = nlohmann::json;

struct Timeout : Error {
  using Error::Error;
};
struct Interrupted : Error {
  using Error::Error;
};

// From now on SIGINT, SIGTERM and SIGHUP do not end the program: a waiting Chromium throws Interrupted.
void stop_on_signals();

class Chromium {
 public:
  using Seconds = std::chrono::duration<double>;

  Chromium();  // runs $CHROMIUM, or else the first of chromium, chromium-browser, google-chrome that is there
  ~Chromium();
  Chromium(const Chromium&) = delete;

  Message call(const std::string& method, Message parameters = Message::object(),
               Seconds limit = Seconds(30));
  void open(const std::string& url, Seconds limit = Seconds(30));  // forgets the events of the page before
  Message evaluate(const std::string& script, Seconds limit = Seconds(30));
  std::vector<Message> take_events();

 private:
  using Clock = std::chrono::steady_clock;
  struct Empty {};
  explicit Chromium(Empty) {}  // complete, and so destroyed, even if the constructor above fails half way

  void start();
  void send(const Message& message);
  Message receive(Clock::time_point deadline, const std::string& awaited);
  [[noreturn]] void fail_as_ended();

  std::filesystem::path profile_;
  pid_t process_ = -1;
  int to_browser_ = -1, from_browser_ = -1;
  int last_id_ = 0;
  std::string session_;   // of the tab; empty while we talk to the browser as a whole
  std::string received_;  // bytes of a message that is not complete
  std::vector<Message> events_;
};

}  // namespace attn::press
