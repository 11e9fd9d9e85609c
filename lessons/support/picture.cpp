#include "lessons/support/picture.hpp"

#include <fmt/core.h>  // format

#include <algorithm>  // clamp, fill
#include <array>      // array
#include <cmath>      // lround
#include <cstdlib>    // strtod
#include <iterator>   // ssize
#include <vector>     // vector

#include "core/atomic_file.hpp"
#include "core/text.hpp"  // read_file
#include "lessons/support/html.hpp"

namespace attn {

namespace fs = std::filesystem;
using viz::Color;

namespace {

constexpr Index most_cells = 20'000;  // of all matrices of a picture: more would make a page slow to open

// White becomes the colour of a card on a dark page, ink nearly white. All channels move by the same amount,
// which keeps the hue.
Color turned(Color color) {
  constexpr std::array<double, 3> card = {30, 34, 41};
  const double luma = 0.2126 * color.r + 0.7152 * color.g + 0.0722 * color.b, light = luma / 255;
  const double shift = card[1] * light + 245 * (1 - light) - luma;
  const auto channel = [&](double value, double tint) {
    return static_cast<std::uint8_t>(std::lround(std::clamp(value + shift + tint * light, 0.0, 255.0)));
  };
  return {channel(color.r, card[0] - card[1]), channel(color.g, 0), channel(color.b, card[2] - card[1])};
}

Json numbers_of(const viz::DrawnMatrix& drawn) {
  const viz::Rect& box = drawn.cells;
  JsonMembers members = {{"box", std::vector{box.x, box.y, box.width, box.height}},
                         {"rows", drawn.values.rows},
                         {"columns", drawn.values.cols},
                         {"values", short_numbers(drawn.values.values)},
                         {"name", drawn.name},
                         {"value", drawn.value_title},
                         {"row", drawn.y_title},
                         {"column", drawn.x_title}};
  if (std::ssize(drawn.row_labels) == drawn.values.rows) members.emplace_back("row_labels", drawn.row_labels);
  if (std::ssize(drawn.column_labels) == drawn.values.cols)
    members.emplace_back("column_labels", drawn.column_labels);
  if (drawn.scores.values.size() == drawn.values.values.size())
    members.emplace_back("scores", short_numbers(drawn.scores.values));
  return json_object(members);
}

fs::path numbers_file(const fs::path& png) { return fs::path(png).replace_extension(".json"); }

}  // namespace

fs::path dark_twin(const fs::path& png) {
  return png.parent_path() / (png.stem().string() + "-dark" + png.extension().string());
}

viz::Image on_dark_paper(const viz::Image& image) {
  viz::Image dark = image;
  std::vector<bool> kept(Index{image.width()} * image.height());
  for (const viz::Rect& rect : image.kept)
    for (Index y = std::max(Index(rect.y), Index{0});
         y < std::min<Index>(Index(rect.bottom()), image.height()); ++y)
      std::fill(kept.begin() + y * image.width() + std::clamp<Index>(Index(rect.x), 0, image.width()),
                kept.begin() + y * image.width() + std::clamp<Index>(Index(rect.right()), 0, image.width()),
                true);
  dark.clip = {0, 0, double(image.width()), double(image.height())};
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x)
      if (!kept[Index{y} * image.width() + x]) dark.blend(x, y, turned(image.at(x, y)));
  return dark;
}

void write_picture(const fs::path& png, const viz::Image& image) {
  viz::write_png(png, image);
  viz::write_png(dark_twin(png), on_dark_paper(image));
  std::vector<Json> numbers;
  Index cells = 0;
  for (const viz::DrawnMatrix& drawn : image.drawn) {
    cells += std::ssize(drawn.values.values);
    if (cells <= most_cells) numbers.push_back(numbers_of(drawn));
  }
  if (!numbers.empty()) write_file_atomically(numbers_file(png), {Json(numbers).text});
  if (numbers.empty()) fs::remove(numbers_file(png));
}

Json short_numbers(const viz::Numbers& numbers) {
  std::vector<double> rounded;
  for (const double number : numbers)
    rounded.push_back(std::strtod(fmt::format("{:.4g}", number).c_str(), nullptr));
  return rounded;
}

std::string json_script(const std::string& kind, std::string text) {
  // Inside of a script only the end of a script has a meaning to HTML.
  for (std::size_t at = 0; (at = text.find("</", at)) != text.npos; at += 3) text.insert(at + 1, "\\");
  return fmt::format("<script type=\"application/json\" class=\"{}\">{}</script>", kind, text);
}

std::string picture_html(const fs::path& png, const std::string& alt,
                         const std::function<std::string(const fs::path&)>& address) {
  const PixelSize size = png_size(png);
  const auto image = [&](const fs::path& file, const char* kind) {
    const std::string source = escape_html(address(file));
    const std::string html =
        fmt::format("<img{} src=\"{}\" width=\"{}\" height=\"{}\" loading=\"lazy\" alt=\"{}\">", kind, source,
                    size.width, size.height, escape_html(alt));
    // A picture inside of the page is no place to go to.
    return source.starts_with("data:") ? html : fmt::format("<a{} href=\"{}\">{}</a>", kind, source, html);
  };
  const fs::path twin = dark_twin(png), numbers = numbers_file(png);
  std::error_code missing;
  const bool twice = fs::exists(twin, missing);
  return "<div class=\"picture\">" + image(png, twice ? " class=\"light\"" : "") +
         (twice ? image(twin, " class=\"dark\"") : "") +
         (fs::exists(numbers, missing) ? json_script("cells", read_file(numbers)) : "") + "</div>";
}

}  // namespace attn
