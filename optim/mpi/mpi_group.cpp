// MpiGroup: the processes that mpirun started. `make mpi` builds this file into build/libattn_mpi.so, which
// world() (optim/group.cpp) loads under mpirun; nothing else knows MPI.
//
// Six calls of MPI are enough: what a group does is made of messages. MPI_Wait would spin at full speed until
// a message comes; on a machine with more ranks than cores that takes the core from the rank that is to send
// it. So we ask MPI_Testall ourselves, and between two questions let others run.
//
// A rank that is killed cannot say so. Each rank therefore has a watcher: a thread that looks a few times a
// second whether the other processes of this machine are still there. mpirun ends the rest when one dies, but
// knows nothing of checkpoints.
#define OMPI_SKIP_MPICXX 1  // the C functions are enough
#include <mpi.h>            // MPI_Init_thread
#include <sched.h>          // sched_yield
#include <signal.h>         // kill
#include <unistd.h>         // getpid, gethostname, usleep

#include <algorithm>           // min
#include <cerrno>              // errno, program_invocation_short_name
#include <chrono>              // steady_clock
#include <condition_variable>  // condition_variable
#include <cstdio>              // fputs
#include <cstring>             // strcmp
#include <mutex>               // mutex
#include <thread>              // thread

#include "core/error.hpp"
#include "optim/group.hpp"

namespace attn {
namespace {

constexpr auto look_every = std::chrono::milliseconds(100);

struct Process {
  char host[64] = {};
  int pid = 0;
  bool seen = false;  // by this rank: on the same machine, and not in another container
};

class MpiGroup : public Group {
 public:
  MpiGroup() {
    int given = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }

  // The ranks that are done wait here for those that are not, politely: MPI_Finalize would spin.
  ~MpiGroup() override {
    stop_watching();
    barrier();
    MPI_Finalize();
  }

  Index rank() const override { return rank_; }
  Index size() const override { return size_; }

  void send(Index to, std::span<const std::byte> bytes, int tag) override {
    in_pieces(bytes, [&](const std::byte* data, int count, MPI_Request* request) {
      MPI_Isend(data, count, MPI_BYTE, int(to), tag, MPI_COMM_WORLD, request);
    });
  }

  void receive(Index from, std::span<std::byte> bytes, int tag) override {
    in_pieces(bytes, [&](std::byte* data, int count, MPI_Request* request) {
      MPI_Irecv(data, count, MPI_BYTE, int(from), tag, MPI_COMM_WORLD, request);
    });
  }

  void progress() override { test(); }

  void wait() override {
    const auto start = std::chrono::steady_clock::now();
    while (!test()) {
      if (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(20))
        sched_yield();
      else
        usleep(200);  // a long wait: the other one trains, saves or tests
    }
    requests_.clear();
  }

  void when_lost(std::function<std::string()> advice) override {
    stop_watching();
    if (!advice) return;
    processes_.resize(std::size_t(size_));
    Process& own = processes_[std::size_t(rank_)];
    gethostname(own.host, sizeof own.host - 1);
    own.pid = getpid();
    std::vector<Range> parts;
    for (Index r = 0; r < size_; ++r) parts.push_back({r, r + 1});
    all_gather(processes_.data(), parts);
    for (Process& process : processes_) process.seen = is_here(process) && !is_gone(process);
    advice_ = std::move(advice);
    watching_ = true;
    watcher_ = std::thread([this] { watch(); });
  }

  void abandon(int exit_code) override {
    stop_watching();
    MPI_Abort(MPI_COMM_WORLD, exit_code);
  }

 private:
  // MPI counts bytes in an int.
  template <class Bytes, class Start>
  void in_pieces(const Bytes& bytes, const Start& start) {
    constexpr std::size_t most = std::size_t{1} << 30;
    for (std::size_t begin = 0; begin == 0 || begin < bytes.size(); begin += most) {
      requests_.emplace_back();
      start(bytes.data() + begin, int(std::min(most, bytes.size() - begin)), &requests_.back());
    }
  }

  bool test() {
    int done = 0;
    MPI_Testall(int(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
    return done != 0;
  }

  bool is_here(const Process& process) const {
    return std::strcmp(process.host, processes_[std::size_t(rank_)].host) == 0;
  }

  static bool is_gone(const Process& process) { return kill(process.pid, 0) != 0 && errno == ESRCH; }

  void watch() {
    std::unique_lock lock(mutex_);
    while (!stopped_.wait_for(lock, look_every, [this] { return !watching_; })) {
      Index lost = -1, speaker = -1;  // the first of this machine that is gone, and the first that is not
      for (Index r = 0; r < size_; ++r) {
        const Process& process = processes_[std::size_t(r)];
        if (!process.seen) continue;
        Index& first = is_gone(process) ? lost : speaker;
        if (first < 0) first = r;
      }
      if (lost < 0) continue;
      if (speaker == rank_)
        std::fputs(
            fmt::format("{}: rank {} is gone; {}\n", program_invocation_short_name, lost, advice_()).c_str(),
            stderr);
      // The one who speaks must see who died first: the others leave later, unless mpirun has ended them
      // by then.
      if (speaker != rank_) std::this_thread::sleep_for(std::chrono::seconds(3));
      _exit(1);
    }
  }

  void stop_watching() {
    if (!watcher_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      watching_ = false;
    }
    stopped_.notify_all();
    watcher_.join();
  }

  int rank_ = 0, size_ = 1;
  std::vector<MPI_Request> requests_;
  std::vector<Process> processes_;
  std::function<std::string()> advice_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool watching_ = false;
  std::thread watcher_;
};

}  // namespace
}  // namespace attn

extern "C" attn::Group* attn_join_mpi() { return new attn::MpiGroup(); }
