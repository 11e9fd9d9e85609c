#include "core/viz/arrange.hpp"

#include <algorithm>  // max
#include <cmath>      // ceil
#include <iterator>   // ssize

#include "core/error.hpp"
#include "core/viz/decorations.hpp"

namespace attn::viz {

namespace {

constexpr double sign_size = 22;

Image page(const std::string& title, int width, int height) {
  // A title may need more room than the pictures; below a title their own margins are enough.
  const Heading heading{.title = title, .size = 20};
  const int title_width = int(text_width(title, heading.size, true)) + 2 * margin + 1;
  width = std::max({width, std::min(title_width, 420), 1});
  const int above = title.empty() ? 0 : margin + heading.height(width) - 6;
  Image image(width, std::max(above + height, 1));
  heading.draw(image);
  image.middle = above + height / 2;
  return image;
}

}  // namespace

Image row(const std::vector<Image>& images, const ArrangeOptions& options) {
  if (!options.between.empty() && options.between.size() + 1 != images.size())
    fail("row: {} signs between {} pictures", options.between.size(), images.size());
  const auto gap = [&](Index i) {
    if (options.between.empty() || i == 0) return 0;
    return int(std::ceil(text_width(options.between[i - 1], sign_size))) + 8;
  };
  int width = 0, above = 0, below = 0;
  for (Index i = 0; i < std::ssize(images); ++i) {
    width += gap(i) + images[i].width();
    above = std::max(above, images[i].middle);
    below = std::max(below, images[i].height() - images[i].middle);
  }
  Image result = page(options.title, width, above + below);
  const int middle = result.height() - below;
  result.middle = middle;
  int x = 0;
  for (Index i = 0; i < std::ssize(images); ++i) {
    if (gap(i) > 0)
      draw_text(result, {x + gap(i) / 2.0, double(middle)}, options.between[i - 1],
                {.size = sign_size, .color = paint::muted, .align = Align::center});
    x += gap(i);
    blit(result, images[i], x, middle - images[i].middle);
    x += images[i].width();
  }
  return result;
}

Image column(const std::vector<Image>& images, const ArrangeOptions& options) {
  int width = 0, height = 0;
  for (const Image& image : images) width = std::max(width, image.width()), height += image.height();
  Image result = page(options.title, width, height);
  int y = result.height() - height;
  for (const Image& image : images) blit(result, image, 0, y), y += image.height();
  return result;
}

}  // namespace attn::viz
