#include "core/atomic_file.hpp"

#include <fcntl.h>     // open
#include <sys/file.h>  // flock
#include <sys/stat.h>  // fstat, stat
#include <unistd.h>    // close, fsync, ftruncate, getpid, read, unlink, write

#include <algorithm>     // min
#include <cerrno>        // errno
#include <cstdio>        // rename
#include <filesystem>    // path
#include <system_error>  // error_code, generic_category

#include "core/error.hpp"

namespace attn {
namespace {

// Call it right after what failed: it reads errno.
[[noreturn]] void fail_with_errno(const char* action, const std::string& path) {
  const std::string reason = std::generic_category().message(errno);
  fail("write_file: cannot {} {}: {}", action, path, reason);
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  operator int() const { return number_; }

 private:
  int number_;
};

bool is_file_at(int descriptor, const std::string& path) {
  struct stat here, there;
  return fstat(descriptor, &here) == 0 && stat(path.c_str(), &there) == 0 && here.st_dev == there.st_dev &&
         here.st_ino == there.st_ino;
}

// A fixed name, so that kills cannot litter the folder, needs a lock against a second writer. The lock
// belongs to the open file, so it ends with its owner, however that dies. The writer we waited for has
// renamed or removed the file whose lock we then hold: it is no longer the one at `path`, and we start over.
int open_locked(const std::string& path) {
  for (;;) {
    // Without O_NONBLOCK, opening a pipe of this name would wait for its reader.
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (file < 0) fail_with_errno("create", path);
    struct stat status {};
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
      ::close(file);
      fail("write_file: cannot create {}: something that is not a file is there", path);
    }
    // A file system without locks refuses at once: then we go on, and only simultaneous writers are at risk.
    while (::flock(file, LOCK_EX) != 0 && errno == EINTR) continue;
    if (is_file_at(file, path)) return file;
    ::close(file);
  }
}

void write_all(int file, std::string_view bytes, const std::string& path) {
  constexpr std::size_t most_at_once = std::size_t{1} << 30;  // some systems refuse 2 GB and more
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), std::min(bytes.size(), most_at_once));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_with_errno("write", path);
    bytes.remove_prefix(std::size_t(written));
  }
}

// The rename itself lives in the folder: without this, a power cut can undo it.
void sync_folder(const std::filesystem::path& path) {
  const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor < 0) fail_with_errno("open, to sync it, the folder", folder);
  if (::fsync(descriptor) != 0 && errno != EINVAL) fail_with_errno("sync the folder", folder);
}

// The path that is really written, with its folder made.
std::filesystem::path prepared(std::filesystem::path path) {
  std::error_code problem;
  for (int links = 0; std::filesystem::is_symlink(path, problem); ++links) {
    if (links == 40) fail("write_file: {} leads through too many symbolic links", path.string());
    path = path.parent_path() / std::filesystem::read_symlink(path, problem);
  }
  problem.clear();  // that nothing is there yet is none
  if (!path.has_filename()) fail("write_file: {} names a folder, not a file", path.string());
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), problem);
  if (problem)
    fail("write_file: cannot make the folder {}: {}", path.parent_path().string(), problem.message());
  // Renaming would put a plain file in the place of a device such as /dev/null.
  const std::filesystem::file_status status = std::filesystem::status(path, problem);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    fail("write_file: {} is there already and is not a regular file", path.string());
  return path;
}

}  // namespace

void check_writable(const std::string& path) {
  const std::string temporary = prepared(path).string() + ".tmp";
  const Descriptor file(open_locked(temporary));
  ::unlink(temporary.c_str());
}

void write_file_atomically(const std::string& wanted, const std::vector<std::string_view>& pieces) {
  const std::filesystem::path path = prepared(wanted);
  const std::string target = path.string(), temporary = target + ".tmp";
  const Descriptor file(open_locked(temporary));
  try {
    if (::ftruncate(file, 0) != 0) fail_with_errno("empty", temporary);
    for (const std::string_view piece : pieces) write_all(file, piece, temporary);
    if (::fsync(file) != 0) fail_with_errno("sync", temporary);
    if (::rename(temporary.c_str(), target.c_str()) != 0)
      fail_with_errno("rename to its final name", temporary);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_folder(path);
}

FileLock::FileLock(const std::string& path, const std::string& refusal) : path_(prepared(path).string()) {
  for (;;) {
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (file_ < 0) fail_with_errno("create", path_);
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      char owner[32] = {};
      const bool known = ::read(file_, owner, sizeof owner - 1) > 0;
      ::close(file_);
      fail("{}{}{} ({})", refusal, known ? ": process " : "", owner, path_);
    }
    if (is_file_at(file_, path_)) break;  // otherwise its last owner has just removed it
    ::close(file_);
  }
  const std::string owner = std::to_string(::getpid());  // for the one who is refused, if it can be written
  if (::ftruncate(file_, 0) == 0) (void)!::write(file_, owner.data(), owner.size());
}

FileLock::~FileLock() {
  ::unlink(path_.c_str());
  ::close(file_);
}

}  // namespace attn
