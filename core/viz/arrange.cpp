#include "core/viz/arrange.hpp"

#include <algorithm>  // max
#include <cmath>      // ceil

#include "core/error.hpp"
#include "core/viz/furniture.hpp"
#include "core/viz/text.hpp"

namespace attn::viz {

namespace {

constexpr double sign_size = 22, main_title_size = 20;

Image page(const std::string& title, int width, int height) {
  // A title may need more room than the pictures; below a title their own margins are enough.
  const int title_width = static_cast<int>(text_width(title, main_title_size, true)) + 2 * margin + 1;
  width = std::max({width, std::min(title_width, 420), 1});
  const int above = title.empty() ? 0 : margin + title_height(title, width - 2 * margin, main_title_size) - 6;
  Image image(width, std::max(above + height, 1));
  draw_title(image, title, {margin, margin}, width - 2 * margin, main_title_size);
  image.middle = above + height / 2;
  return image;
}

}  // namespace

Image row(const std::vector<Image>& images, const ArrangeOptions& options) {
  if (!options.between.empty() && options.between.size() + 1 != images.size())
    fail("row: {} signs between {} pictures", options.between.size(), images.size());
  const auto gap = [&](std::size_t i) {
    if (options.between.empty() || i == 0) return 0;
    return static_cast<int>(std::ceil(text_width(options.between[i - 1], sign_size))) + 8;
  };
  int width = 0, above = 0, below = 0;
  for (std::size_t i = 0; i < images.size(); ++i) {
    width += gap(i) + images[i].width();
    above = std::max(above, images[i].middle);
    below = std::max(below, images[i].height() - images[i].middle);
  }
  Image result = page(options.title, width, above + below);
  const int middle = result.height() - below;
  result.middle = middle;
  int x = 0;
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (gap(i) > 0)
      draw_text(result, {x + gap(i) / 2.0, static_cast<double>(middle)}, options.between[i - 1],
                {.size = sign_size, .color = paint::muted, .align = Align::center});
    x += gap(i);
    blit(result, images[i], x, middle - images[i].middle);
    x += images[i].width();
  }
  return result;
}

void row(const std::filesystem::path& path, const std::vector<Image>& images, const ArrangeOptions& options) {
  write_png(path, row(images, options));
}

Image column(const std::vector<Image>& images, const ArrangeOptions& options) {
  int width = 0, height = 0;
  for (const Image& image : images) {
    width = std::max(width, image.width());
    height += image.height();
  }
  Image result = page(options.title, width, height);
  int y = result.height() - height;
  for (const Image& image : images) {
    blit(result, image, 0, y);
    y += image.height();
  }
  return result;
}

void column(const std::filesystem::path& path, const std::vector<Image>& images,
            const ArrangeOptions& options) {
  write_png(path, column(images, options));
}

}  // namespace attn::viz
