// Writing a file so that it is never seen half written.
//
//   write_file_atomically("out/model.safetensors", {header, weights});
//
// The pieces go, one after another, into `<path>.tmp` beside the target; that file is synced to the disk and
// renamed over the target, and the folder is synced. At any time, and after a crash, a SIGKILL or a full
// disk, the path holds the old file or the new one, complete. A kill can leave the `.tmp` behind: the next
// write to the same path overwrites it. Two writers of one path take turns, and the later one wins. A
// symbolic link stays: the file it names is replaced. Missing parent folders are made. Cost: two syncs, a few
// milliseconds on a disk. POSIX only.
#pragma once

#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

namespace attn {

// Throws if a file could not be written there now: a folder, a place without permission. Makes the parent
// folders. For programs that would otherwise fail at the end of their work.
void check_writable(const std::string& path);

// Throws, saying what could not be done and why; the target is then as it was and the temporary is gone.
void write_file_atomically(const std::string& path, const std::vector<std::string_view>& pieces);

// A lock that two programs agree on: while one is alive, a second one on the same path throws `refusal`, and
// says who has it. It is a file, which is removed at the end; one that a killed program has left behind does
// not count. (On a file system without locks nothing is refused.)
class FileLock {
 public:
  FileLock(const std::string& path, const std::string& refusal);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  std::string path_;
  int file_;
};

}  // namespace attn
