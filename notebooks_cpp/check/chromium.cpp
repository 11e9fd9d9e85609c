#include "notebooks_cpp/check/chromium.hpp"

#include <fcntl.h>     // fcntl, open
#include <poll.h>      // poll
#include <signal.h>    // kill, sigaction
#include <sys/wait.h>  // waitpid
#include <unistd.h>    // dup2, execvp, fork, pipe, read, write
#ifdef __linux__
#include <sys/prctl.h>  // prctl
#endif

#include <algorithm>    // min, none_of
#include <array>        // array
#include <cerrno>       // errno
#include <cstdlib>      // getenv, mkdtemp, setenv
#include <cstring>      // strerror
#include <string_view>  // string_view
#include <utility>      // exchange, move

#include "core/shape.hpp"                 // Index
#include "core/text.hpp"                  // read_file
#include "notebooks_cpp/press/lines.hpp"  // lines_of

namespace attn::press {

namespace fs = std::filesystem;

namespace {

constexpr int browser_reads = 3, browser_writes = 4;  // the protocol's own numbers
constexpr Chromium::Seconds start_limit(60);          // a cold start from a slow disk

volatile sig_atomic_t interrupted = 0;

// To read from and to write to. Neither is open in other programs that we start.
std::array<int, 2> make_pipe() {
  std::array<int, 2> ends;
  if (pipe(ends.data()) != 0) fail("chromium: cannot make a pipe: {}", std::strerror(errno));
  for (const int end : ends) fcntl(end, F_SETFD, FD_CLOEXEC);
  return ends;
}

std::vector<std::string> arguments_with(const fs::path& profile) {
  std::vector<std::string> arguments = {
      "chromium", "--headless", "--remote-debugging-pipe", "--user-data-dir=" + profile.string(),
      // A page must need nothing from elsewhere: a request for it fails at once.
      "--host-resolver-rules=MAP * ~NOTFOUND", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", "--no-first-run", "--no-default-browser-check",
      "--disable-extensions", "--disable-breakpad", "--disable-crash-reporter", "--password-store=basic",
      "--use-mock-keychain", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--mute-audio"};
  if (geteuid() == 0) arguments.push_back("--no-sandbox");  // as root it does not start with one
  return arguments;
}

}  // namespace

void stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };  // and no SA_RESTART: poll has to return
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

Chromium::Chromium() : Chromium(Empty{}) {
  start();
  const Message target = call("Target.createTarget", {{"url", "about:blank"}}, start_limit);
  session_ =
      call("Target.attachToTarget", {{"targetId", target["targetId"]}, {"flatten", true}})["sessionId"];
  for (const char* domain : {"Page", "Runtime", "Network", "Log"}) call(std::string(domain) + ".enable");
}

void Chromium::start() {
  std::string name = (fs::temp_directory_path() / "attn-chromium-XXXXXX").string();
  if (!mkdtemp(name.data())) fail("chromium: cannot create {}: {}", name, std::strerror(errno));
  profile_ = name;
  std::vector<std::string> arguments = arguments_with(profile_);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const char* chosen = std::getenv("CHROMIUM");
  const std::string log = profile_ / "stderr.txt";

  const auto [commands_out, commands_in] = make_pipe();
  const auto [answers_out, answers_in] = make_pipe();
  process_ = fork();
  if (process_ < 0) fail("chromium: cannot start a process: {}", std::strerror(errno));
  if (process_ == 0) {
    setpgid(0, 0);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // it ends with us, even if we are killed
#endif
    // The ends may themselves be 3 or 4, so both go out of the way first.
    const int reads = fcntl(commands_out, F_DUPFD_CLOEXEC, 10);
    const int writes = fcntl(answers_in, F_DUPFD_CLOEXEC, 10);
    dup2(reads, browser_reads);
    dup2(writes, browser_writes);
    dup2(::open("/dev/null", O_RDWR | O_CLOEXEC), 0);
    dup2(::open(log.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600), 1);
    dup2(1, 2);
    for (const char* variable : {"XDG_CONFIG_HOME", "XDG_CACHE_HOME"}) setenv(variable, profile_.c_str(), 1);
    if (chosen) execvp(chosen, pointers.data());
    for (const char* name : {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"})
      if (!chosen) execvp(name, pointers.data());
    fmt::print(stderr,
               "cannot run {}: {}; `sh .ci/packages chromium` installs one, or name yours in $CHROMIUM\n",
               chosen ? chosen : "chromium", std::strerror(errno));
    _exit(127);
  }
  setpgid(process_, process_);  // here as well, as either may come first
  close(commands_out);
  close(answers_in);
  to_browser_ = commands_in;
  from_browser_ = answers_out;
  signal(SIGPIPE, SIG_IGN);  // if the browser has died, write says so
}

Chromium::~Chromium() {
  for (const int end : {to_browser_, from_browser_})
    if (end >= 0) close(end);
  if (process_ > 0) {
    kill(-process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
    // Its helpers are not our children: the group is gone when there is nobody left to signal.
    for (int tries = 0; tries < 200 && kill(-process_, SIGKILL) == 0; ++tries) usleep(10'000);
  }
  std::error_code ignored;
  if (!profile_.empty()) fs::remove_all(profile_, ignored);
}

void Chromium::fail_as_ended() {
  std::string last = "nothing";
  for (const std::string& line : lines_of(read_file(profile_ / "stderr.txt")))
    if (!line.empty()) last = line;
  fail("chromium: the browser has ended; the last that it said: {}", last);
}

void Chromium::send(const Message& message) {
  const std::string text = message.dump();
  std::string_view left(text.c_str(), text.size() + 1);  // with its NUL
  while (!left.empty()) {
    const ssize_t count = ::write(to_browser_, left.data(), left.size());
    if (count < 0 && errno != EINTR) fail_as_ended();
    if (count > 0) left.remove_prefix(count);
  }
}

Message Chromium::receive(Clock::time_point deadline, const std::string& awaited) {
  for (std::size_t searched = 0;;) {
    const std::size_t end = received_.find('\0', searched);
    if (end != std::string::npos) {
      Message message = Message::parse(received_.begin(), received_.begin() + end);
      received_.erase(0, end + 1);
      return message;
    }
    searched = received_.size();

    if (interrupted) throw Interrupted("interrupted");
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) throw Timeout("chromium: no answer in time to " + awaited);
    pollfd answers{from_browser_, POLLIN, 0};
    // In slices: a signal may come just before poll.
    if (poll(&answers, 1, int(std::min<Index>(left, 200))) <= 0) continue;
    char block[1 << 16];
    const ssize_t count = read(from_browser_, block, sizeof block);
    if (count == 0 || (count < 0 && errno != EINTR)) fail_as_ended();
    if (count > 0) received_.append(block, count);
  }
}

Message Chromium::call(const std::string& method, Message parameters, Seconds limit) {
  const int id = ++last_id_;
  Message message = {{"id", id}, {"method", method}, {"params", std::move(parameters)}};
  if (!session_.empty()) message["sessionId"] = session_;
  send(message);
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
  for (;;) {
    Message reply = receive(deadline, method);
    if (!reply.contains("id"))
      events_.push_back(std::move(reply));
    else if (reply["id"] == id) {
      if (reply.contains("error"))
        fail("chromium: {}: {}", method, reply["error"]["message"].get<std::string>());
      return std::move(reply["result"]);
    }
  }
}

void Chromium::open(const std::string& url, Seconds limit) {
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
  events_.clear();
  const Message answer = call("Page.navigate", {{"url", url}}, limit);
  if (answer.contains("errorText"))
    fail("chromium: cannot open {}: {}", url, answer["errorText"].get<std::string>());
  const auto has_loaded = [](const Message& event) {
    return event.value("method", "") == "Page.loadEventFired";
  };
  while (std::none_of(events_.begin(), events_.end(), has_loaded))
    events_.push_back(receive(deadline, "the loading of " + url));
}

Message Chromium::evaluate(const std::string& script, Seconds limit) {
  const Message answer = call(
      "Runtime.evaluate", {{"expression", script}, {"awaitPromise", true}, {"returnByValue", true}}, limit);
  if (answer.contains("exceptionDetails"))
    fail("chromium: a script failed: {}", answer["exceptionDetails"].dump());
  return answer["result"].value("value", Message());
}

std::vector<Message> Chromium::take_events() { return std::exchange(events_, {}); }

}  // namespace attn::press
