#include "optim/mapped_file.hpp"

#include <fcntl.h>     // open
#include <sys/mman.h>  // madvise, mmap, munmap
#include <sys/stat.h>  // fstat
#include <unistd.h>    // close

#include <cerrno>        // errno
#include <system_error>  // generic_category

#include "core/error.hpp"

namespace attn {

MappedFile::MappedFile(const std::filesystem::path& path) {
  const auto refuse = [&](const std::string& why) {
    if (descriptor_ >= 0) ::close(descriptor_);
    fail("{}: {}", path.string(), why);
  };
  std::error_code problem;
  const std::filesystem::file_status status = std::filesystem::status(path, problem);
  if (!std::filesystem::exists(status)) refuse("there is no such file");
  if (!std::filesystem::is_regular_file(status)) refuse("not a regular file");
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat found {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &found) != 0)
    refuse("cannot be opened: " + std::generic_category().message(errno));
  if (found.st_size == 0) return;  // an empty file cannot be mapped, and need not be
  const auto size = std::size_t(found.st_size);
  void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor_, 0);
  if (memory == MAP_FAILED) refuse("cannot be mapped: " + std::generic_category().message(errno));
  ::madvise(memory, size, MADV_SEQUENTIAL);
  bytes_ = {static_cast<const char*>(memory), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  ::close(descriptor_);
}

bool MappedFile::reaches(std::size_t end) const {
  struct stat now {};
  return ::fstat(descriptor_, &now) == 0 && std::size_t(now.st_size) >= end;
}

}  // namespace attn
