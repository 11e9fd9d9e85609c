#include "lessons/coach/sandbox.hpp"

#include <fcntl.h>          // open, fcntl
#include <linux/audit.h>    // AUDIT_ARCH_X86_64
#include <linux/filter.h>   // sock_filter
#include <linux/seccomp.h>  // seccomp_data
#include <poll.h>           // poll
#include <sched.h>          // CLONE_THREAD
#include <signal.h>         // kill
#include <stddef.h>         // offsetof
#include <sys/prctl.h>      // prctl
#include <sys/resource.h>   // setrlimit
#include <sys/syscall.h>    // SYS_clone
#include <sys/wait.h>       // waitpid
#include <unistd.h>         // fork, execvp, pipe

#include <cerrno>    // EPERM
#include <chrono>    // steady_clock
#include <cmath>     // INFINITY
#include <iterator>  // ssize
#include <utility>   // exchange

#include "core/error.hpp"

namespace coach {
namespace {

constexpr std::size_t most_kept = 1 << 20, most_on_channel = 64 << 20;

void limit(int resource, rlim_t soft, rlim_t hard) {
  rlimit now{};
  getrlimit(resource, &now);
  hard = std::min(hard, now.rlim_max);
  const rlimit wanted{std::min(soft, hard), hard};
  setrlimit(resource, &wanted);
}

// Note [No children]: a process that an answer starts would not share its limits on time and memory, and
// could outlive it. So the kernel is told to refuse: fork and vfork, clone unless it makes a thread, and
// clone3, whose flags a filter cannot see (the C library then takes clone). A signal may go to nobody but the
// process itself. On a kernel without seccomp the session still ends with the answer.
void refuse_children() {
#if defined(__x86_64__)
  constexpr unsigned machine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
  constexpr unsigned machine = AUDIT_ARCH_AARCH64;
#else
  return;
#endif
#if defined(__x86_64__) || defined(__aarch64__)
  const auto load = [](std::size_t offset) -> sock_filter {
    return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<__u32>(offset));
  };
  const auto result = [](unsigned value) -> sock_filter { return BPF_STMT(BPF_RET | BPF_K, value); };
  const sock_filter allow = result(SECCOMP_RET_ALLOW), deny = result(SECCOMP_RET_ERRNO | EPERM);
  // If A == value, the next `count` instructions; otherwise past them.
  const auto if_is = [](unsigned value, unsigned char count) -> sock_filter {
    return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, count);
  };
  const auto first_argument = offsetof(seccomp_data, args);
  const auto self = static_cast<unsigned>(getpid());
  sock_filter program[] = {
      load(offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, machine, 1, 0),
      deny,
      load(offsetof(seccomp_data, nr)),
#ifdef SYS_fork
      if_is(SYS_fork, 1),
      deny,
      if_is(SYS_vfork, 1),
      deny,
#endif
      if_is(SYS_clone3, 1),
      result(SECCOMP_RET_ERRNO | ENOSYS),
      if_is(SYS_clone, 4),
      load(first_argument),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
      allow,
      deny,
      if_is(SYS_kill, 4),
      load(first_argument),
      if_is(self, 1),
      allow,
      deny,
      if_is(SYS_tgkill, 4),
      load(first_argument),
      if_is(self, 1),
      allow,
      deny,
      allow,
  };
  const sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
#endif
}

// What the new process does before it becomes the program; never returns.
[[noreturn]] void become(const std::vector<std::string>& command, const Limits& limits, const int* outputs,
                         int channels) {
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  limit(RLIMIT_CPU, rlim_t(limits.processor_seconds), rlim_t(limits.processor_seconds + 1));
  limit(RLIMIT_FSIZE, rlim_t(limits.file_mb) << 20, rlim_t(limits.file_mb) << 20);
  limit(RLIMIT_CORE, 0, 0);
  limit(RLIMIT_STACK, 8 << 20, RLIM_INFINITY);
  if (limits.memory_mb) limit(RLIMIT_AS, rlim_t(limits.memory_mb) << 20, rlim_t(limits.memory_mb) << 20);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGINT, SIG_DFL);

  dup2(open("/dev/null", O_RDONLY), 0);
  dup2(outputs[0], 1);
  dup2(outputs[0], 2);
  for (int c = 0; c < channels; ++c) dup2(outputs[c + 1], first_channel + c);
  for (int descriptor = 3; descriptor < 1024; ++descriptor)
    if (descriptor < first_channel || descriptor >= first_channel + channels) close(descriptor);

  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  if (!limits.may_start_processes) refuse_children();
  execvp(words[0], words.data());
  _exit(127);
}

}  // namespace

FinishedRun run_limited(const std::vector<std::string>& command, const Limits& limits, int channels) {
  std::vector<pollfd> ends;
  std::vector<int> outputs;
  for (int i = 0; i <= channels; ++i) {
    int pipe_ends[2];
    if (pipe2(pipe_ends, O_CLOEXEC) != 0) attn::fail("coach: no pipe could be made");
    // Out of the way of the channels' own numbers.
    const int out = fcntl(pipe_ends[1], F_DUPFD_CLOEXEC, first_channel + channels);
    close(pipe_ends[1]);
    ends.push_back({pipe_ends[0], POLLIN, 0});
    outputs.push_back(out);
  }
  const pid_t child = fork();
  if (child < 0) attn::fail("coach: no process could be started");
  if (child == 0) become(command, limits, outputs.data(), channels);
  for (const int output : outputs) close(output);

  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::seconds(limits.wall_seconds);
  FinishedRun ended;
  ended.channels.resize(std::size_t(channels));
  // A descendant that holds a pipe open does not hold us up: once the program is gone, only what is there
  // already is read.
  for (bool gone = false, quiet = false; !(gone && quiet);) {
    siginfo_t info{};
    gone = gone || (waitid(P_PID, id_t(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0);
    ended.late = ended.late || (!gone && Clock::now() > deadline);
    if (gone || ended.late || ended.interrupted) kill(-child, SIGKILL);
    bool open = false;
    for (const pollfd& end : ends) open = open || end.fd >= 0;
    const int ready = poll(ends.data(), ends.size(), gone ? 0 : open && !ended.late ? 50 : 1);
    if (ready < 0 && errno == EINTR) ended.interrupted = true;
    quiet = ready <= 0;
    for (std::size_t i = 0; ready > 0 && i < ends.size(); ++i) {
      if (ends[i].fd < 0 || !ends[i].revents) continue;
      char block[1 << 16];
      const ssize_t count = read(ends[i].fd, block, sizeof block);
      std::string& text = i == 0 ? ended.printed : ended.channels[i - 1];
      if (count > 0 && text.size() < (i == 0 ? most_kept : most_on_channel))
        text.append(block, std::size_t(count));
      if (count <= 0) close(std::exchange(ends[i].fd, -1));
    }
  }
  kill(-child, SIGKILL);  // whoever is left of its session
  waitpid(child, &ended.status, 0);
  for (const pollfd& end : ends)
    if (end.fd >= 0) close(end.fd);
  return ended;
}

}  // namespace coach
