#include "notebooks_cpp/notebook.hpp"

#include <cstdio>   // fflush, fputs, setvbuf
#include <cstdlib>  // getenv

#include "core/parallel.hpp"
#include "lessons/support/options.hpp"

namespace attn::notebook {
namespace {

// A live kernel never calls run(): these are its settings.
struct State {
  std::string name = "live";
  std::filesystem::path out = "out";
  std::uint64_t seed = 1;
  bool fast = false;
  int pictures = 0;
};

State& state() {
  static State only;
  return only;
}

bool has_reader() {
  const char* value = std::getenv("ATTN_NOTEBOOK");
  return value && std::string_view(value) == "1";
}

// Lines and tabs have a meaning in what is said to the reader.
std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\t' || c == '\r') c = ' ';
  return text;
}

}  // namespace

int run(int argc, char** argv, const std::string& name, const std::function<void()>& body) {
  try {
    Index seed = static_cast<Index>(state().seed), threads = thread_count();
    std::string out = state().out.string();
    bool version = false;
    Options options(name + " [options]", "A notebook: `make notebooks` makes a page of it.");
    options.add("--seed", "N", "start of the random numbers", seed);
    options.add("--threads", "N", "threads to compute with", threads, 1, 256);
    options.add("--out", "DIR", "where pictures and results go", out);
    options.add_flag("--fast", "small sizes: a few seconds instead of a minute", state().fast);
    options.add_flag("--version", "the kernels and the number of threads in use", version);
    const std::vector<std::string> rest = options.parse(argc, argv);
    if (!rest.empty())
      throw UsageError(fmt::format("there is nothing to do with '{}'; --help tells what there is", rest[0]));
    set_thread_count(static_cast<int>(threads));
    if (version) {
      fmt::print("{}\n", version_text());
      return 0;
    }
    state().name = name;
    state().out = out;
    state().seed = static_cast<std::uint64_t>(seed);
    if (has_reader()) std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what a crash leaves is then complete
    body();
    return 0;
  } catch (const std::exception& error) {
    std::fflush(stdout);
    fmt::print(stderr, "{}: {}\n", name, error.what());
    return 2;
  }
}

void show(const viz::Image& image, const std::string& caption) {
  const std::filesystem::path path = folder() / fmt::format("{:02}.png", ++state().pictures);
  viz::write_png(path, image);
  if (has_reader())
    fmt::print("\x1epicture {}\t{}\n", std::filesystem::absolute(path).lexically_normal().string(),
               one_line(caption));
  else
    fmt::print("[picture] {}\n{}\n", path.string(), caption);
  std::fflush(stdout);
}

bool fast() { return state().fast; }
std::uint64_t seed() { return state().seed; }
std::filesystem::path out() { return state().out; }

std::filesystem::path folder() {
  const std::filesystem::path path = state().out / "notebooks" / state().name;
  std::filesystem::create_directories(path);
  return path;
}

void cell(int index) {
  if (!has_reader()) return;
  const std::string line = fmt::format(
      "\x1e"
      "cell {}\n",
      index);
  for (std::FILE* stream : {stdout, stderr}) {
    std::fputs(line.c_str(), stream);
    std::fflush(stream);
  }
}

}  // namespace attn::notebook
