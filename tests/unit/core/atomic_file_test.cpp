#include "core/atomic_file.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>         // open
#include <sys/file.h>      // flock
#include <sys/resource.h>  // setrlimit
#include <sys/stat.h>      // mkfifo
#include <sys/wait.h>      // waitpid
#include <unistd.h>        // close, fork, getpid, _exit

#include <algorithm>   // all_of
#include <csignal>     // signal
#include <filesystem>  // path
#include <fstream>     // ofstream
#include <string>      // string
#include <thread>      // thread

#include "core/error.hpp"
#include "core/text.hpp"  // read_file
#include "tests/unit/temporary_folder.hpp"

namespace attn {
namespace {

int files_in(const std::filesystem::path& folder) {
  return int(std::distance(std::filesystem::directory_iterator(folder), {}));
}

std::string error_of_writing(const std::filesystem::path& path) {
  try {
    write_file_atomically(path, {"text"});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("an atomic write puts the pieces one behind the other and leaves only the file") {
  const TemporaryFolder folder;
  write_file_atomically(folder / "a", {"first ", "", std::string_view("\0\n", 2), "last"});
  CHECK(read_file(folder / "a") == std::string("first \0\nlast", 12));
  write_file_atomically(folder / "a", {"shorter"});
  CHECK(read_file(folder / "a") == "shorter");
  write_file_atomically(folder / "a", {});
  CHECK(read_file(folder / "a") == "");
  CHECK(files_in(folder.path) == 1);
}

TEST_CASE("an atomic write makes the folders it needs") {
  const TemporaryFolder folder;
  write_file_atomically(folder / "some/new/a", {"text"});
  CHECK(read_file(folder / "some/new/a") == "text");
}

TEST_CASE("a lock has one owner, and ends with it") {
  const TemporaryFolder folder;
  const auto refusal = [&]() -> std::string {
    try {
      const FileLock second(folder / "a.lock", "not now");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  {
    const FileLock lock(folder / "a.lock", "");
    CHECK(refusal() == fmt::format("not now: process {} ({})", ::getpid(), (folder / "a.lock").string()));
    const FileLock other(folder / "b.lock", "");
  }
  CHECK(files_in(folder.path) == 0);
  std::ofstream(folder / "a.lock") << "1234567";  // a killed program has left it
  CHECK(refusal() == "");
  CHECK(files_in(folder.path) == 0);
}

TEST_CASE("the temporary that a killed writer left is used up") {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.tmp") << "half of something much longer";
  write_file_atomically(folder / "a", {"new"});
  CHECK(read_file(folder / "a") == "new");
  CHECK(files_in(folder.path) == 1);
}

TEST_CASE("an atomic write that fails says why, keeps the old file and removes the temporary") {
  const TemporaryFolder folder;
  write_file_atomically(folder / "a", {"old"});
  // A limit on the size of files stands in for a full disk; in a child, since it holds for the whole process.
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      const std::string large(100'000, 'x');
      write_file_atomically(folder / "a", {large});
      _exit(1);
    } catch (const Error& error) {
      const std::string expected =
          "write_file: cannot write " + (folder / "a.tmp").string() + ": File too large";
      _exit(error.what() == expected ? 0 : 2);
    }
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(read_file(folder / "a") == "old");
  CHECK(files_in(folder.path) == 1);
}

TEST_CASE("a target that cannot be written is named with the reason") {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "no folder";
  CHECK(error_of_writing(folder / "file/a") ==
        "write_file: cannot make the folder " + (folder / "file").string() + ": Not a directory");
  std::filesystem::create_directory(folder / "a.tmp");
  CHECK(error_of_writing(folder / "a") ==
        "write_file: cannot create " + (folder / "a.tmp").string() + ": Is a directory");
  CHECK(error_of_writing(folder.path) ==
        "write_file: " + folder.path.string() + " is there already and is not a regular file");
  CHECK(error_of_writing("/dev/null") == "write_file: /dev/null is there already and is not a regular file");
  CHECK(files_in(folder.path) == 2);
}

TEST_CASE("several writers of one path take turns") {
  const TemporaryFolder folder;
  const auto write_often = [&](char letter) {
    const std::string text(200'000, letter);
    for (int i = 0; i < 10; ++i) write_file_atomically(folder / "a", {text});
  };
  write_file_atomically(folder / "a", {std::string(200'000, 'c')});
  std::thread first(write_often, 'a'), second(write_often, 'b');
  bool whole = true;
  for (int i = 0; i < 20; ++i) {
    const std::string text = read_file(folder / "a");
    whole = whole && text.size() == 200'000 &&
            std::all_of(text.begin(), text.end(), [&](char c) { return c == text[0]; });
  }
  first.join();
  second.join();
  CHECK(whole);
  CHECK(read_file(folder / "a").size() == 200'000);
  CHECK(files_in(folder.path) == 1);
}

TEST_CASE("a writer waits for the one that holds the temporary") {
  const TemporaryFolder folder;
  const int other = ::open((folder / "a.tmp").c_str(), O_CREAT | O_WRONLY, 0600);
  REQUIRE(flock(other, LOCK_EX) == 0);
  std::thread writer([&] { write_file_atomically(folder / "a", {"mine"}); });
  REQUIRE(::write(other, "theirs", 6) == 6);
  std::filesystem::rename(folder / "a.tmp", folder / "b");
  ::close(other);
  writer.join();
  CHECK(read_file(folder / "a") == "mine");
  CHECK(read_file(folder / "b") == "theirs");
}

TEST_CASE("a symbolic link stays, and the file it names is replaced") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "elsewhere");
  std::filesystem::create_symlink("elsewhere/a", folder / "link");
  std::filesystem::create_symlink("link", folder / "link to link");
  write_file_atomically(folder / "link to link", {"new"});  // to a file that is not there yet, too
  write_file_atomically(folder / "link", {"newer"});
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(std::filesystem::is_symlink(folder / "link to link"));
  CHECK(read_file(folder / "elsewhere/a") == "newer");
  CHECK(files_in(folder / "elsewhere") == 1);
  std::filesystem::create_symlink("circle", folder / "circle");
  CHECK(error_of_writing(folder / "circle").find("too many symbolic links") != std::string::npos);
}

TEST_CASE("a pipe in the place of the temporary is an error, not a wait without end") {
  const TemporaryFolder folder;
  REQUIRE(mkfifo((folder / "a.tmp").c_str(), 0666) == 0);
  CHECK(error_of_writing(folder / "a") != "");
  const int reader = ::open((folder / "a.tmp").c_str(), O_RDONLY | O_NONBLOCK);
  CHECK(error_of_writing(folder / "a") == "write_file: cannot create " + (folder / "a.tmp").string() +
                                              ": something that is not a file is there");
  ::close(reader);
}

TEST_CASE("whether a file can be written is known before, and nothing is left behind") {
  const TemporaryFolder folder;
  write_file_atomically(folder / "a", {"old"});
  check_writable(folder / "a");
  check_writable(folder / "new/b");
  CHECK(read_file(folder / "a") == "old");
  CHECK(files_in(folder / "new") == 0);
  CHECK(files_in(folder.path) == 2);
  CHECK_THROWS_WITH_AS(check_writable(folder / "new"), doctest::Contains("is not a regular file"), Error);
  CHECK_THROWS_WITH_AS(check_writable(folder / "new/"), doctest::Contains("names a folder, not a file"),
                       Error);
  CHECK_THROWS_WITH_AS(check_writable(folder / "a/b"), doctest::Contains("cannot make the folder"), Error);
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path);
  CHECK_NOTHROW(check_writable("here"));
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace attn
