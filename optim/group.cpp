#include "optim/group.hpp"

#include <dlfcn.h>  // dlerror, dlopen, dlsym

#include <algorithm>           // copy, max_element, min
#include <condition_variable>  // condition_variable
#include <cstdio>              // freopen
#include <deque>               // deque
#include <exception>           // current_exception, exception_ptr
#include <filesystem>          // read_symlink
#include <map>                 // map
#include <memory>              // unique_ptr
#include <mutex>               // mutex
#include <thread>              // thread
#include <tuple>               // tuple

#include "core/error.hpp"

namespace attn {

// In each round all who have the message pass it on: 1, 2, 4, 8 … ranks have it.
void Group::broadcast_bytes(std::span<std::byte> bytes, Index from) {
  const Index me = (rank() - from + size()) % size();
  for (Index have = 1; have < size(); have *= 2) {
    if (me < have && me + have < size()) send((me + have + from) % size(), bytes);
    if (me >= have && me < 2 * have) receive((me - have + from) % size(), bytes);
    wait();
  }
}

void Group::broadcast(std::string& text, Index from) {
  std::size_t length = text.size();
  broadcast(length, from);
  text.resize(length);
  broadcast_bytes(bytes_of(text.data(), {0, Index(length)}), from);
}

double Group::largest(double value) {
  std::vector<double> values(std::size_t(size()), value);
  std::vector<Range> parts;
  for (Index r = 0; r < size(); ++r) parts.push_back({r, r + 1});
  all_gather(values.data(), parts);
  return *std::max_element(values.begin(), values.end());
}

namespace {

class Alone : public Group {
 public:
  Index rank() const override { return 0; }
  Index size() const override { return 1; }
  void send(Index to, std::span<const std::byte>, int) override { fail("group: there is no rank {}", to); }
  void receive(Index from, std::span<std::byte>, int) override { fail("group: there is no rank {}", from); }
  void wait() override {}
};

// Where simulated ranks leave their messages for each other.
struct Office {
  using Address = std::tuple<Index, Index, int>;  // from, to, tag
  std::mutex mutex;
  std::condition_variable news;
  std::map<Address, std::deque<std::vector<std::byte>>> boxes;
  bool closed = false;  // a rank has failed
  std::exception_ptr problem;

  void close(std::exception_ptr why) {
    const std::lock_guard lock(mutex);
    if (!closed) problem = why;
    closed = true;
    news.notify_all();
  }
};

class Simulated : public Group {
 public:
  Simulated(Index rank, Index size, Office& office) : rank_(rank), size_(size), office_(office) {}
  Index rank() const override { return rank_; }
  Index size() const override { return size_; }

  void send(Index to, std::span<const std::byte> bytes, int tag) override {
    const std::lock_guard lock(office_.mutex);
    office_.boxes[{rank_, to, tag}].emplace_back(bytes.begin(), bytes.end());
    office_.news.notify_all();
  }
  void receive(Index from, std::span<std::byte> bytes, int tag) override {
    expected_.push_back({{from, rank_, tag}, bytes});
  }
  void wait() override {
    std::unique_lock lock(office_.mutex);
    for (const auto& [address, bytes] : expected_) {
      std::deque<std::vector<std::byte>>& box = office_.boxes[address];
      office_.news.wait(lock, [&] { return !box.empty() || office_.closed; });
      if (box.empty()) fail("group: another rank has failed");
      if (box.front().size() != bytes.size())
        fail("group: rank {} expects {} bytes and gets {}", rank_, bytes.size(), box.front().size());
      std::copy(box.front().begin(), box.front().end(), bytes.begin());
      box.pop_front();
    }
    expected_.clear();
  }

 private:
  struct Expected {
    Office::Address address;
    std::span<std::byte> bytes;
  };
  Index rank_, size_;
  Office& office_;
  std::vector<Expected> expected_;
};

}  // namespace

void simulate(Index ranks, const std::function<void(Group&)>& body) {
  Office office;
  std::vector<std::thread> threads;
  for (Index rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&office, &body, rank, ranks] {
      try {
        Simulated group(rank, ranks, office);
        body(group);
      } catch (...) {
        office.close(std::current_exception());
      }
    });
  for (std::thread& thread : threads) thread.join();
  if (office.problem) std::rethrow_exception(office.problem);
}

Group& alone() {
  static Alone group;
  return group;
}

namespace {

Index launched_size() { return launched({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}, 1); }

Group* joined = nullptr;

std::unique_ptr<Group> join_mpi() {
  const std::string name = "libattn_mpi.so";
  std::error_code none;
  // It stands in build/, the programs in folders of it.
  std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", none).parent_path();
  for (int up = 0; up < 2 && !std::filesystem::exists(folder / name, none); ++up)
    folder = folder.parent_path();
  const std::string path = std::filesystem::exists(folder / name, none) ? (folder / name).string() : name;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);  // MPI's own parts look for it there
  if (!library) library = dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library)
    fail("mpirun started {} processes, but the library that joins them cannot be loaded: make mpi ({})",
         launched_size(), dlerror());
  const auto join = reinterpret_cast<Group* (*)()>(dlsym(library, "attn_join_mpi"));
  if (!join) fail("{} is not the library that `make mpi` builds", name);
  std::unique_ptr<Group> group(joined = join());
  // Other kernels round differently.
  std::string of_root = kernels().name;
  group->broadcast(of_root);
  if (of_root != kernels().name)
    fail("rank {} computes with kernels {}, rank 0 with {}: give all ATTN_KERNELS={}", group->rank(),
         kernels().name, of_root, std::min<std::string>(kernels().name, of_root));
  if (!group->is_root() && !std::freopen("/dev/null", "w", stdout)) fail("/dev/null cannot be opened");
  return group;
}

}  // namespace

Group& world() {
  static const std::unique_ptr<Group> group = launched_size() > 1 ? join_mpi() : nullptr;
  return group ? *group : alone();
}

void abandon_world(int exit_code) {
  if (joined) joined->abandon(exit_code);
}

}  // namespace attn
