#include "lessons/coach/run_answers.hpp"

#include "core/error.hpp"
#include "lessons/coach/crash.hpp"

namespace coach {
namespace {

constexpr int most_crashes = 6, most_printed = 1 << 16, most_blind_tries = 3;

struct Frames {
  bool complete = false;  // the last frame was there
  bool garbage = false;   // something that no frame can be
  Index answered = 0;
};

// Fills in what a process sent: outcomes of the inputs at positions `request.from` and on, in order.
Frames read_frames(const std::string& sent, const Request& request, std::vector<Outcome>& outcomes) {
  Frames frames;
  const Index count = std::ssize(outcomes);
  try {
    for (Reader reader(sent); !reader.done();) {
      const std::string body = reader.text();
      Reader frame(body);
      const Index input = Index(frame.number(std::uint64_t(count)));
      const Index position = request.from + frames.answered;
      frames.complete = input == count;
      if (frames.complete) return frames;
      if (position >= request.until || input != request.input(position, count))
        attn::fail("coach: an answer to another question");
      outcomes[input] = read_outcome(frame);
      ++frames.answered;
    }
  } catch (const attn::Error&) {
    // A frame that is cut short belongs to a process that ended; anything else is no frame.
    frames.garbage = true;
  }
  return frames;
}

}  // namespace

Answers run_answers(const std::string& program, Request request, Index count) {
  Answers answers;
  answers.outcomes.resize(std::size_t(count), {.kind = Outcome::Kind::unasked});
  int blind_tries = 0;
  for (int crashes = 0; request.from < request.until && crashes < most_crashes; ++crashes) {
    std::vector<std::string> command = request.words();
    command.insert(command.begin(), program);
    const FinishedRun ended = run_limited(command, answer_limits, 2);
    if (std::ssize(answers.printed) < most_printed) answers.printed += own_output(ended.printed);
    const Frames frames = read_frames(ended.channels[0], request, answers.outcomes);
    if (frames.complete && ended.good()) break;
    if (ended.interrupted) attn::fail("coach: interrupted");
    Outcome fault = crash(ended, ended.channels[1], answer_limits, request.file);
    if (frames.garbage && fault.kind == Outcome::Kind::ended)
      fault = {.kind = Outcome::Kind::crashed,
               .message = "it wrote to a file descriptor that is not its own, through which answers come"};
    request.from += frames.answered;
    // A stack that overflows while the sanitizer walks it leaves no trace. The next time it ends elsewhere.
    if (ended.channels[1].find("<empty stack>") != std::string::npos && blind_tries++ < most_blind_tries)
      continue;
    if (request.from < request.until) answers.outcomes[request.input(request.from, count)] = fault;
    ++request.from;
    if (fault.kind == Outcome::Kind::ran_away) break;  // each try takes its full time
  }
  return answers;
}

}  // namespace coach
