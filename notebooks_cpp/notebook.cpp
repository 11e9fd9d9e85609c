#include "notebooks_cpp/notebook.hpp"

#include <cstdio>   // fflush, fputs, setvbuf
#include <cstdlib>  // getenv

#include "core/text.hpp"  // single_line
#include "lessons/support/picture.hpp"
#include "lessons/support/standard_options.hpp"

namespace attn::notebook {
namespace {

// A live kernel never calls run(): these are its settings.
struct State : StandardOptions {
  std::string name = "live";
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

}  // namespace

int run(int argc, char** argv, const std::string& name, const std::function<void()>& body) {
  return run_program(name, [&] {
    Options options(name + " [options]", "A notebook: `make notebooks` makes a page of it.");
    state().parse(options, {argv + 1, argv + argc});
    state().name = name;
    if (has_reader()) std::setvbuf(stdout, nullptr, _IOLBF, 0);  // so that a crash loses no line
    body();
    return 0;
  });
}

void show(const viz::Image& image, const std::string& caption) {
  const std::filesystem::path path = folder() / fmt::format("{:02}.png", ++state().pictures);
  write_picture(path, image);
  if (has_reader())
    fmt::print("\x1epicture {}\t{}\n", std::filesystem::absolute(path).lexically_normal().string(),
               single_line(caption));  // line ends and tabs have a meaning to the reader
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
  const std::string line = fmt::format("\036cell {}\n", index);
  for (std::FILE* stream : {stdout, stderr}) {
    std::fputs(line.c_str(), stream);
    std::fflush(stream);
  }
}

}  // namespace attn::notebook
