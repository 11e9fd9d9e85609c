#include "lessons/support/output.hpp"

#include <fcntl.h>   // fcntl, open
#include <unistd.h>  // STDERR_FILENO

#include <cerrno>        // errno
#include <cstdio>        // ferror, fflush, fwrite
#include <system_error>  // generic_category

#include "core/error.hpp"

namespace attn {
namespace {

[[noreturn]] void lost() {
  fail("standard output cannot be written: {}", std::generic_category().message(errno ? errno : EIO));
}

}  // namespace

void write_out(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) lost();
  flush_out();
}

void flush_out() {
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) lost();
}

void guard_standard_streams() {
  for (int number = 0; number <= STDERR_FILENO; ++number)
    if (::fcntl(number, F_GETFD) < 0) ::open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY);
}

}  // namespace attn
