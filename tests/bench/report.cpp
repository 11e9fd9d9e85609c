// Reads the lines of the benchmarks from standard input, shows them, and writes DIR/results.csv and a page
// with charts, DIR/index.html.
//
//   ratio square-512 1t vs openblas: 1.08       peak square-512 1t: 91%       memory step-base ours: 812 MiB
//   growth-length 1t: 1024 8.11 ms 9.1 MiB expected 3.2 of time 8.8 of memory
//   exponent growth-length 1t: time 1.52 (expected 1.47), memory 0.98 (expected 0.97)
#include <fmt/core.h>  // format, print

#include <filesystem>  // create_directories
#include <iostream>    // cin
#include <map>         // map
#include <regex>       // regex_match
#include <string>      // string
#include <vector>      // vector

#include "core/atomic_file.hpp"
#include "core/viz/arrange.hpp"
#include "core/viz/chart.hpp"
#include "lessons/support/html.hpp"
#include "lessons/support/picture.hpp"

using namespace attn;

namespace {

const std::vector<std::pair<std::string, std::string>> peers = {{"openblas", "OpenBLAS"},
                                                                {"onednn", "oneDNN"},
                                                                {"blis", "BLIS"},
                                                                {"libtorch", "libtorch"},
                                                                {"composed", "composed ops"}};

struct Ratio {
  std::string name, threads, peer;
  double value;
};

std::string threads_text(const std::string& threads) {
  return threads == "1" ? "1 thread" : threads + " threads";
}

// The ratios against one peer, a bar for each case, one colour for each number of threads.
viz::Image bars(const std::vector<Ratio>& ratios, const std::string& peer) {
  std::vector<std::string> labels;
  std::map<std::string, std::map<std::string, double>> values;  // by threads, by case
  for (const Ratio& ratio : ratios) {
    if (std::find(labels.begin(), labels.end(), ratio.name) == labels.end()) labels.push_back(ratio.name);
    values[ratio.threads][ratio.name] = ratio.value;
  }
  std::vector<viz::BarSeries> series;
  for (auto& [threads, of_case] : values) {
    series.push_back({.name = threads_text(threads), .values = {}});
    for (const std::string& label : labels) series.back().values.push_back(of_case[label]);
  }
  return viz::grouped_bar_chart(
      labels, series, {.title = "Times as fast as " + peer, .value_title = "above 1: we are faster"});
}

// Points of one case with one number of threads.
struct Growth {
  std::string exponents;  // "time 1.52 (expected 1.47), memory 0.98 (expected 0.97)"
  std::vector<double> size, time, memory, expected_time, expected_memory;
};

// What is expected is drawn through the last point.
viz::Image curve(const std::map<std::string, Growth>& by_threads, const std::string& what,
                 const std::string& unit, std::vector<double> Growth::*measured,
                 std::vector<double> Growth::*expected, const std::string& grows) {
  std::vector<viz::Series> series;
  for (const auto& [threads, growth] : by_threads) {
    series.push_back(
        {.name = threads_text(threads), .y = growth.*measured, .x = growth.size, .points = true});
    std::vector<double> line;
    for (const double value : growth.*expected)
      line.push_back(value * (growth.*measured).back() / (growth.*expected).back());
    if (series.size() == 1 || what == "Time")
      series.push_back(
          {.name = "expected", .y = line, .x = growth.size, .dashed = true, .color = series.back().color});
  }
  return viz::line_chart(series, {.title = what,
                                  .x_title = grows,
                                  .y_title = unit,
                                  .x_scale = viz::Scale::log10,
                                  .y_scale = viz::Scale::log10,
                                  .width = 560,
                                  .height = 400});
}

constexpr const char* style =
    R"(main { max-width: 1240px; margin: 0 auto; padding: 1.6rem clamp(1rem, 4vw, 2.5rem) 3rem; }
h1 { margin: 0; font-size: clamp(1.6rem, 5vw, 2.3rem); letter-spacing: -0.02em; } h2 { margin: 2.2rem 0 0.6rem; font-size: 1.35rem; }
p { max-width: 46rem; } a { color: var(--accent); } .soft { color: var(--soft); }
figure { margin: 0 0 1.4rem; padding: 0.8rem; width: fit-content; max-width: 100%; background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
.picture:has(.light) img { background: var(--card); } figcaption { padding: 0.5rem 0.3rem 0; color: var(--soft); }
details { margin-top: 2rem; } pre { overflow-x: auto; padding: 0.8rem 1rem; background: var(--card); border: 1px solid var(--line); border-radius: 12px; font-size: 0.85rem; }
)";

class Report {
 public:
  explicit Report(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void read(const std::string& line) {
    static const std::regex ratio(R"(ratio (\S+) (\d+)t vs (\S+): ([\d.]+).*)"),
        share(R"((peak|bandwidth) (\S+) (\d+)t: (\d+)%.*)"),
        difference(R"(difference (\S+) vs (\S+): (\S+).*)"),
        growth(R"((growth-\S+) (\d+)t: (\S+) (\S+) ms (\S+) MiB expected (\S+) of time (\S+) of memory)"),
        exponent(R"(exponent (growth-\S+) (\d+)t: (.*))");
    std::smatch match;
    const auto row = [&](const std::string& kind, const std::string& name, const std::string& threads,
                         const std::string& peer, const std::string& value) {
      csv_ += fmt::format("{},{},{},{},{}\n", kind, name, threads, peer, value);
    };
    if (std::regex_match(line, match, ratio)) {
      ratios_[match[3]].push_back({match[1], match[2], match[3], std::stod(match[4])});
      row("ratio", match[1], match[2], match[3], match[4]);
      ++count_;
    } else if (std::regex_match(line, match, share)) {
      row("percent of " + match[1].str(), match[2], match[3], "", match[4]);
    } else if (std::regex_match(line, match, difference)) {
      row("largest difference", match[1], "", match[2], match[3]);
    } else if (std::regex_match(line, match, growth)) {
      Growth& points = growths_[match[1]][match[2]];
      std::vector<double>* columns[] = {&points.size, &points.time, &points.memory, &points.expected_time,
                                        &points.expected_memory};
      for (int i = 0; i < 5; ++i) columns[i]->push_back(std::stod(match[3 + i]));
      row("ms at " + match[3].str(), match[1], match[2], "", match[4]);
      row("MiB at " + match[3].str(), match[1], match[2], "", match[5]);
      ++count_;
    } else if (std::regex_match(line, match, exponent)) {
      growths_[match[1]][match[2]].exponents = match[3];
    }
    log_ += line + "\n";
  }

  void write() const {
    write_file_atomically(folder_ / "results.csv", {csv_});
    const std::string machine = log_.substr(0, log_.find('\n'));
    std::string body = fmt::format(
        "<main>\n<h1>The benchmarks</h1>\n<p>{}. What ran is in <a "
        "href=\"results.csv\">results.csv</a>{}</p>\n",
        escape_html(machine),
        std::filesystem::exists(folder_ / "../book/index.html")
            ? "; <a href=\"../book/index.html\">the book</a>."
            : ".");
    for (const auto& [peer, name] : peers)
      if (const auto found = ratios_.find(peer); found != ratios_.end())
        body +=
            fmt::format("<h2>Beside {}</h2>\n{}", name,
                        figure(peer, bars(found->second, name),
                               "Contestants took turns in one process, and the best time of each counts."));
    if (!growths_.empty())
      body +=
          "<h2>How cost grows</h2>\n<p>Both axes are logarithmic, so a power is a straight line, and its "
          "exponent the "
          "slope. The dashed lines are what the counted work predicts, drawn through the last point.</p>\n";
    for (const auto& [name, by_threads] : growths_) {
      const std::string grows = name.substr(name.find('-') + 1);
      std::string exponents;
      for (const auto& [threads, growth] : by_threads)
        exponents += fmt::format("{}{}, exponents: {}.", exponents.empty() ? "" : " ", threads_text(threads),
                                 growth.exponents);
      body += figure(
          name,
          viz::row({curve(by_threads, "Time", "ms", &Growth::time, &Growth::expected_time, grows),
                    curve(by_threads, "Memory", "MiB", &Growth::memory, &Growth::expected_memory, grows)}),
          exponents);
    }
    body += "<details><summary>Everything that was printed, with the noise of the machine</summary>\n<pre>" +
            escape_html(log_) + "</pre></details>\n</main>";
    write_file_atomically(
        folder_ / "index.html",
        {html_document({.title = "attention.cpp: the benchmarks", .body = body, .style = style})});
    fmt::print("\n{} results: {}\n", count_, (folder_ / "index.html").string());
  }

 private:
  std::string figure(const std::string& name, const viz::Image& image, const std::string& caption) const {
    const std::filesystem::path png = folder_ / (name + ".png");
    write_picture(png, image);
    const auto address = [](const std::filesystem::path& file) {
      return escape_link(file.filename().string());
    };
    return fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", picture_html(png, name, address),
                       escape_html(caption));
  }

  std::filesystem::path folder_;
  std::map<std::string, std::vector<Ratio>> ratios_;              // by peer
  std::map<std::string, std::map<std::string, Growth>> growths_;  // by case, by threads
  std::string csv_ = "kind,case,threads,peer,value\n", log_;
  int count_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path folder = argc > 1 ? argv[1] : "out/bench";
  std::filesystem::create_directories(folder);
  Report report(folder);
  for (std::string line; std::getline(std::cin, line);) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
    report.read(line);
  }
  report.write();
}
