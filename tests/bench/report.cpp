// Reads the lines of the benchmarks from standard input, shows them, and writes
// DIR/results.csv and bar charts.
//
//   ratio square-512 1t vs openblas: 1.08        peak square-512 1t: 91%        memory step-base ours: 812.0
//   MiB
#include <fmt/format.h>  // format, print

#include <filesystem>  // create_directories
#include <iostream>    // cin
#include <regex>       // regex_match
#include <string>      // string
#include <vector>      // vector

#include "core/atomic_file.hpp"
#include "core/viz/viz.hpp"

using namespace attn;

namespace {

struct Ratio {
  std::string name, threads, peer;
  double value;
};

// The ratios against one peer, a bar for each case, one colour for each number of threads.
void draw(const std::filesystem::path& path, const std::vector<Ratio>& ratios, const std::string& peer) {
  std::vector<std::string> labels;
  std::vector<viz::BarSeries> series;
  for (const Ratio& ratio : ratios) {
    if (ratio.peer != peer) continue;
    if (std::find(labels.begin(), labels.end(), ratio.name) == labels.end()) labels.push_back(ratio.name);
    const std::string name = ratio.threads == "1" ? "1 thread" : ratio.threads + " threads";
    const auto known =
        std::find_if(series.begin(), series.end(), [&](const auto& s) { return s.name == name; });
    if (known == series.end()) series.push_back({.name = name, .values = {}});
  }
  for (viz::BarSeries& one : series) {
    const std::string threads = one.name.substr(0, one.name.find(' '));
    for (const std::string& label : labels) {
      double value = 0;
      for (const Ratio& ratio : ratios)
        if (ratio.peer == peer && ratio.name == label && ratio.threads == threads) value = ratio.value;
      one.values.push_back(value);
    }
  }
  if (!labels.empty())
    viz::write_png(path, viz::grouped_bar_chart(
                             labels, series,
                             {.title = "Times as fast as " + peer, .value_title = "above 1: we are faster"}));
}

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path folder = argc > 1 ? argv[1] : "out/bench";
  std::filesystem::create_directories(folder);
  const std::regex ratio_line(R"(ratio (\S+) (\d+)t vs (\S+): ([\d.]+).*)"),
      peak_line(R"(peak (\S+) (\d+)t: (\d+)%.*)");
  std::vector<Ratio> ratios;
  std::string csv = "kind,case,threads,peer,value\n", line;
  std::smatch match;
  while (std::getline(std::cin, line)) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
    if (std::regex_match(line, match, ratio_line)) {
      ratios.push_back({match[1], match[2], match[3], std::stod(match[4])});
      csv +=
          fmt::format("ratio,{},{},{},{}\n", match[1].str(), match[2].str(), match[3].str(), match[4].str());
    } else if (std::regex_match(line, match, peak_line)) {
      csv += fmt::format("percent of peak,{},{},,{}\n", match[1].str(), match[2].str(), match[3].str());
    }
  }
  write_file_atomically(folder / "results.csv", {csv});
  for (const std::string peer : {"openblas", "onednn", "libtorch"})
    draw(folder / (peer + ".png"), ratios, peer);
  fmt::print("\n{} ratios: {}, and charts beside it\n", ratios.size(), (folder / "results.csv").string());
}
