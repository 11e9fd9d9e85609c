// Feeds hostile bytes to the safetensors reader. Whatever they are, it must either read them or throw an
// attn::Error of one line, without touching memory outside the file or asking for much more than its size.
//
// Built with -DATTN_LIBFUZZER and clang's -fsanitize=fuzzer, libFuzzer searches for such bytes. Built
// without, the program mutates valid files with a seeded generator, as often as its first argument says
// (20000 times), and ends with the line `N passed, N failed`; with -fsanitize=address,undefined it sees more.
#include <cstddef>      // size_t
#include <cstdint>      // uint8_t
#include <cstdio>       // fprintf, printf
#include <cstdlib>      // abort, free, malloc, strtol
#include <iterator>     // size
#include <new>          // bad_alloc
#include <random>       // mt19937_64
#include <string>       // string
#include <string_view>  // string_view
#include <utility>      // move
#include <vector>       // vector

#include "core/error.hpp"
#include "optim/safetensors.hpp"

using namespace attn;

namespace {

void check(bool fact, const char* what) {
  if (fact) return;
  std::fprintf(stderr, "safetensors fuzz: broken: %s\n", what);
  std::abort();
}

bool is_one_line(const std::string& message) {
  for (const char c : message)
    if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) return false;
  return message.size() < 2000;
}

// Whether the reader took the bytes for a safetensors file.
bool read_everything(std::string bytes) {
  const std::size_t size = bytes.size();
  try {
    SafetensorsFile file = SafetensorsFile::from_bytes(std::move(bytes), "fuzz");
    for (const std::string& name : file.names()) {
      const std::size_t count = std::size_t(file.shape(name).numel());
      check(count <= 2 * size, "no tensor has more numbers than the file has half bytes");
      std::vector<real> numbers(count);
      try {
        file.read(name, numbers.data(), file.shape(name));
      } catch (const Error& error) {
        check(is_one_line(error.what()), "an error is one line of plain text");
        const std::string_view dtype = file.dtype(name);
        check(dtype != "F32" && dtype != "F64" && dtype != "F16" && dtype != "BF16",
              "every floating-point tensor of a good file can be read");
      }
    }
    return true;
  } catch (const Error& error) {
    check(is_one_line(error.what()), "an error is one line of plain text");
    return false;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_everything(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}

#ifndef ATTN_LIBFUZZER

namespace {
std::size_t allocated = 0;
}

// Counts what is asked for, in order to hold the reader to the size of its file.
void* operator new(std::size_t size) {
  allocated += size;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using Random = std::mt19937_64;

std::string file_bytes(const std::string& header, std::size_t data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> 8 * i & 255);
  bytes += header;
  for (std::size_t i = 0; i < data; ++i) bytes += static_cast<char>(i * 37);
  return bytes;
}

std::vector<std::string> valid_files() {
  return {file_bytes("{}", 0), file_bytes(R"({"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})", 24),
          file_bytes(R"({"__metadata__":{"step":"12","config":"{\"d\":8}"},)"
                     R"("a":{"dtype":"F64","shape":[1,2],"data_offsets":[0,16]},)"
                     R"("b":{"dtype":"F16","shape":[],"data_offsets":[16,18]},)"
                     R"("c":{"dtype":"BF16","shape":[3,1,1,1,1,1],"data_offsets":[18,24]}}   )",
                     24),
          file_bytes(R"({"empty":{"dtype":"F32","shape":[0,9],"data_offsets":[0,0]},)"
                     R"("ids":{"dtype":"I64","shape":[2],"data_offsets":[0,16]},)"
                     R"("\u00e9":{"dtype":"F4","shape":[2],"data_offsets":[16,17]}})",
                     17)};
}

const char* const tokens[] = {"{",
                              "}",
                              "[",
                              "]",
                              ",",
                              ":",
                              "\"",
                              "\\",
                              "[[[[[[[[",
                              "-1",
                              "0",
                              "1",
                              "2",
                              "8",
                              "1e3",
                              "4294967296",
                              "9223372036854775807",
                              "18446744073709551615",
                              "null",
                              "true",
                              "\"w\"",
                              "\"F64\"",
                              "\"F16\"",
                              "\"dtype\"",
                              "\"shape\"",
                              "\"data_offsets\"",
                              "\"__metadata__\"",
                              "{}",
                              "[]",
                              "\\u0000",
                              "\x1b",
                              "\xff",
                              " "};

void mutate(std::string& text, Random& random) {
  const std::size_t at = random() % (text.size() + 1), from = random() % (text.size() + 1),
                    length = random() % 60;
  switch (random() % 7) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ 1 << random() % 8);
      break;
    case 1:
      if (at < text.size()) text[at] = static_cast<char>(random());
      break;
    case 2:
      text.erase(at, length % 12);
      break;
    case 3:
      text.insert(at, text.substr(from, length));
      break;
    case 4:
      text.insert(at, tokens[random() % std::size(tokens)]);
      break;
    case 5:
      text.replace(at, length % 12, tokens[random() % std::size(tokens)]);
      break;
    default:  // a digit for a digit: headers that stay JSON and only claim something else
      for (std::size_t i = at; i < text.size(); ++i)
        if (text[i] >= '0' && text[i] <= '9') {
          text[i] = static_cast<char>('0' + random() % 10);
          break;
        }
  }
}

// Half of the mutants get their header's length corrected, so that more than the first check sees work.
std::string mutant(const std::string& valid, Random& random) {
  const std::size_t header_size =
      static_cast<unsigned char>(valid[0]) + 256 * static_cast<unsigned char>(valid[1]);
  std::string header = valid.substr(8, header_size), whole = valid;
  const std::size_t data_size = valid.size() - 8 - header_size, mutations = 1 + random() % 4;
  const bool keep_length_right = random() % 2 == 0;
  for (std::size_t i = 0; i < mutations; ++i) mutate(keep_length_right ? header : whole, random);
  return keep_length_right ? file_bytes(header, data_size) : whole;
}

}  // namespace

int main(int count, char** arguments) {
  const long runs = count > 1 ? std::strtol(arguments[1], nullptr, 10) : 20000;
  const std::vector<std::string> seeds = valid_files();
  for (const std::string& seed : seeds) check(read_everything(seed), "the files to begin with are valid");
  Random random(2017);
  long read = 0, failed = 0;
  for (long run = 0; run < runs; ++run) {
    const std::string bytes = mutant(seeds[random() % seeds.size()], random);
    try {
      allocated = 0;
      read += read_everything(bytes);
      check(allocated < 10'000 + 100 * bytes.size(), "memory is in proportion to the file");
    } catch (const std::exception& error) {
      std::printf("run %ld: not an attn::Error: %s\n", run, error.what());
      ++failed;
    }
  }
  check(runs < 1000 || (read > 0 && read < runs), "some mutants are good files and some are not");
  std::printf("safetensors fuzz: %ld files read, %ld refused, %ld errors of another kind\n", read,
              runs - read, failed);
  std::printf("%d passed, %d failed\n", failed == 0, failed != 0);  // the whole run is one test
  return failed == 0 ? 0 : 1;
}

#endif
