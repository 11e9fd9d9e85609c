#include "lessons/coach/answering.hpp"

#include <cxxabi.h>                           // __cxa_current_exception_type
#include <dlfcn.h>                            // dlsym
#include <execinfo.h>                         // backtrace
#include <sanitizer/common_interface_defs.h>  // __sanitizer_symbolize_pc
#include <signal.h>                           // signal, raise
#include <unistd.h>                           // write, dup

#include <cstdio>   // setvbuf
#include <cstdlib>  // abort

#include "core/error.hpp"
#include "lessons/coach/sandbox.hpp"

// g++ has these, but not the header that declares them.
extern "C" std::size_t __sanitizer_get_allocated_size(const volatile void* block);
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*, std::size_t),
                                                         void (*on_free)(const volatile void*));

namespace {

// Where the last exception was thrown from. See Note [Catching the throw].
void* thrown_from[48];
int thrown_depth = 0;

}  // namespace

// Note [Catching the throw]: an exception tells what went wrong but not where in the learner's file, and
// when it is caught the stack is gone. So we stand in for the runtime's throw, write the stack down and
// pass the call on.
using Throw = void(void* exception, void* type, void (*destroy)(void*));
extern "C" Throw note_throw __asm__("__cxa_throw");
extern "C" void note_throw(void* exception, void* type, void (*destroy)(void*)) {
  static const auto original = reinterpret_cast<Throw*>(dlsym(RTLD_NEXT, "__cxa_throw"));
  thrown_depth = backtrace(thrown_from, 48);
  original(exception, type, destroy);
  std::abort();
}

namespace coach {

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

namespace {

constexpr int answer_channel = first_channel, report_channel = first_channel + 1;
constexpr int channel_closed = 97;  // our exit code when nobody can hear us any more

// "my/06_self_attention.hpp:23" for the innermost frame of `stack` that lies in `file`.
std::string place_in(const std::string& file, void* const* stack, int depth) {
  for (int i = 0; i < depth; ++i) {
    char text[1024] = "";
    __sanitizer_symbolize_pc(static_cast<char*>(stack[i]) - 1, "%s:%l", text, sizeof text);
    const std::string frame = text;
    const std::size_t colon = frame.rfind(':');
    if (colon != std::string::npos && base_name(frame.substr(0, colon)) == base_name(file))
      return file + frame.substr(colon);
  }
  return "";
}

void on_time_out(int) {
  alarm(1);  // in case the trace waits for a lock that the interrupted code holds
  __sanitizer_print_stack_trace();
  raise(SIGKILL);
}

std::string type_name(const std::type_info* type) {
  if (!type) return "an exception";
  int status = 0;
  char* name = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
  const std::string text = status == 0 ? name : type->name();
  std::free(name);
  return text;
}

// AddressSanitizer and UndefinedBehaviorSanitizer may have a descriptor each; whoever gets a second one
// closes the first, so that every call needs its own.
void send_reports_to(int channel) {
  using SetDescriptor = void(void*);
  for (void* library : {RTLD_DEFAULT, dlopen("libubsan.so.1", RTLD_NOLOAD | RTLD_NOW)})
    if (const auto set = library || library == RTLD_DEFAULT
                             ? reinterpret_cast<SetDescriptor*>(dlsym(library, "__sanitizer_set_report_fd"))
                             : nullptr)
      set(reinterpret_cast<void*>(static_cast<std::intptr_t>(dup(channel))));
}

// A result that no right answer can be as large as is only described: nobody needs a million wrong numbers.
void shorten(Value& value) {
  constexpr std::size_t most = 1 << 20;
  std::size_t numbers = 0;
  for (Part& part : value) {
    numbers += part.numbers.size() + part.text.size();
    if (numbers > most)
      part = {.name = part.name, .kind = Part::Kind::opaque, .exact = true, .text = "far too large"};
  }
}

void send(const Writer& body) {
  Writer frame;
  frame.text(body.bytes);
  for (std::size_t sent = 0; sent < frame.bytes.size();) {
    const ssize_t count = ::write(answer_channel, frame.bytes.data() + sent, frame.bytes.size() - sent);
    if (count <= 0) _exit(channel_closed);
    sent += std::size_t(count);
  }
}

bool counting = false;
Index held = 0, most_held = 0;

void on_malloc(const volatile void*, std::size_t bytes) {
  if (!counting) return;
  held += Index(bytes);
  most_held = std::max(most_held, held);
}
void on_free(const volatile void* block) {
  if (counting && block) held -= Index(__sanitizer_get_allocated_size(block));
}

}  // namespace

namespace detail {

void start_counting_bytes() {
  static const int installed = __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
  (void)installed;
  held = most_held = 0;
  counting = true;
}
Index stop_counting_bytes() {
  counting = false;
  return most_held;
}

Outcome outcome_of(const std::function<void(Outcome&)>& call) {
  Outcome outcome;
  thrown_depth = 0;
  try {
    call(outcome);
    return outcome;
  } catch (const exercise::NotStarted&) {
    outcome = {.kind = Outcome::Kind::not_started};
  } catch (const std::exception& error) {
    outcome = {.kind = Outcome::Kind::threw,
               .message = error.what(),
               .thrown = type_name(abi::__cxa_current_exception_type()),
               .refused = dynamic_cast<const std::invalid_argument*>(&error) != nullptr};
  } catch (...) {
    outcome = {.kind = Outcome::Kind::threw, .thrown = type_name(abi::__cxa_current_exception_type())};
  }
  counting = false;
  return outcome;
}

bool same_bits(const Value& a, const Value& b) {
  Writer left, right;
  left.value(a);
  right.value(b);
  return left.bytes == right.bytes;
}

}  // namespace detail

void write(Writer& writer, const Outcome& outcome) {
  writer.number(static_cast<std::uint64_t>(outcome.kind));
  for (const std::string* text : {&outcome.message, &outcome.thrown, &outcome.place, &outcome.broken})
    writer.text(*text);
  writer.number(outcome.refused);
  writer.number(std::uint64_t(outcome.changed + 1));
  writer.value(outcome.value);
  writer.number(outcome.calls.size());
  for (const Call& call : outcome.calls) {
    writer.text(call.name);
    writer.value(call.asked);
    writer.value(call.answered);
  }
}

Outcome read_outcome(Reader& reader) {
  Outcome outcome;
  outcome.kind = static_cast<Outcome::Kind>(reader.number(static_cast<std::uint64_t>(Outcome::Kind::ended)));
  for (std::string* text : {&outcome.message, &outcome.thrown, &outcome.place, &outcome.broken})
    *text = reader.text();
  outcome.refused = reader.number(1);
  outcome.changed = Index(reader.number(100)) - 1;
  outcome.value = reader.value();
  for (std::uint64_t calls = reader.number(detail::most_calls); calls > 0; --calls) {
    Call call{reader.text(), {}, {}};
    call.asked = reader.value();
    call.answered = reader.value();
    outcome.calls.push_back(std::move(call));
  }
  return outcome;
}

std::vector<std::string> Request::words() const {
  const auto text = [](auto number) { return std::to_string(number); };
  return {"--answer",
          function,
          text(candidate),
          text(selection.chosen_seed),
          text(selection.draw_seed),
          text(selection.draws),
          text(selection.largest_scale),
          text(int(backward)),
          text(from),
          text(until),
          file};
}

Request Request::parse(const std::vector<std::string>& words) {
  if (words.size() != 11) attn::fail("grader: --answer needs ten words");
  Request request;
  request.function = words[1];
  request.candidate = std::stoi(words[2]);
  request.selection = {.chosen_seed = std::stoull(words[3]),
                       .draw_seed = std::stoull(words[4]),
                       .draws = std::stoll(words[5]),
                       .largest_scale = std::stoll(words[6])};
  request.backward = words[7] == "1";
  request.from = std::stoll(words[8]);
  request.until = std::stoll(words[9]);
  request.file = words[10];
  return request;
}

void answer(const Exercise& exercise, const Request& request) {
  signal(SIGXCPU, on_time_out);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what was printed before a crash is not lost
  send_reports_to(report_channel);
  for (const Task& task : exercise.tasks) {
    if (task.name != request.function) continue;
    const std::vector<Input> inputs = task.inputs(request.selection);
    const Index count = std::ssize(inputs);
    for (Index position = request.from; position < std::min(request.until, count); ++position) {
      const Index i = request.input(position, count);
      Outcome outcome = inputs[i].ask(request.candidate);
      if (outcome.kind == Outcome::Kind::threw)
        outcome.place = place_in(request.file, thrown_from, thrown_depth);
      shorten(outcome.value);
      Writer body;
      body.number(std::uint64_t(i));
      write(body, outcome);
      send(body);
    }
    Writer last;
    last.number(std::uint64_t(count));
    send(last);
  }
  std::fflush(stdout);
  std::_Exit(0);
}

}  // namespace coach
