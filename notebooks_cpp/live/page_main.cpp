// build/live_page: puts the live page together, one file that needs nothing else.
//
//   build/live_page OUT.html ENGINE.js ENGINE.wasm.gz [NAME=WEIGHTS.gz]...
#include <fmt/core.h>  // print

#include <filesystem>  // exists

#include "core/atomic_file.hpp"
#include "core/base64.hpp"
#include "core/error.hpp"
#include "core/text.hpp"                 // read_file
#include "lessons/support/options.hpp"   // run_program
#include "notebooks_cpp/press/html.hpp"  // html_page

using namespace attn;

namespace {

constexpr std::size_t most_bytes = 3 << 20;

std::string source(const std::string& name) { return read_file("notebooks_cpp/live/" + name); }

// What the browser keeps as text and does not run. Nothing in it may look like the end of the element.
std::string stored(const std::string& attributes, const std::string& text) {
  if (text.find("</script") != std::string::npos) fail("{}: it would end the element it is in", attributes);
  return fmt::format("<script type=\"text/plain\" {}>{}</script>\n", attributes, text);
}

int run(const std::vector<std::string>& words) {
  if (words.size() < 3)
    fail("give the page to write, engine.js, engine.wasm.gz and NAME=WEIGHTS.gz for each model");
  Page page{.title = "attention.cpp, live",
            .body = source("page.html"),
            .description = "A transformer in the browser: translate, look inside, train it, take parts away.",
            .style = source("live.css")};
  page.body += stored("id=\"engine_js\"", read_file(words[1])) +
               stored("id=\"worker_js\"", source("worker.js")) +
               stored("id=\"engine_wasm\"", base64(read_file(words[2])));
  const std::string scripts = "<script>" + source("draw.js") + source("walk.js") + source("way.js") +
                              source("page.js") + "</script>\n";
  std::string models;
  for (std::size_t i = 3; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    const std::string name = words[i].substr(0, equals),
                      weights = base64(read_file(words[i].substr(equals + 1)));
    if (page.body.size() + scripts.size() + weights.size() > most_bytes) {
      fmt::print("The model {} is too large for the page: drop its file on the page instead.\n", name);
      continue;
    }
    page.body += stored("data-weights=\"" + name + "\"", weights);
    models += (models.empty() ? "" : " and ") + name;
  }
  page.body += scripts;
  const std::string text = press::html_page(page);
  write_file_atomically(words[0], {text});
  fmt::print("The live page: {} ({:.1f} MB), {}\n", words[0], double(text.size()) / (1 << 20),
             models.empty() ? "without a trained model: it trains one, or `make 13` and `make live` again"
                            : "with your models " + models);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("live_page", [&] { return run({argv + 1, argv + argc}); });
}
