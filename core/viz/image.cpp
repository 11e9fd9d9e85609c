#include "core/viz/image.hpp"

#include <algorithm>  // clamp, max, min
#include <array>      // array
#include <climits>    // INT_MAX
#include <cmath>      // floor, hypot
#include <iterator>   // ssize
#include <string>     // string
#include <utility>    // move

#include "core/atomic_file.hpp"
#include "core/error.hpp"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

namespace attn::viz {

namespace {

// Every antialiased shape is a signed distance: negative inside, zero on the outline. A pixel whose centre
// lies d outside is covered by about 1/2 - d.
template <class Distance>
void fill_shape(Image& image, const Rect& bounds, Color color, const Distance& distance) {
  const auto from = [](double edge, double clip) { return int(std::floor(std::max(edge - 1, clip))); };
  const auto to = [](double edge, double clip) { return int(std::ceil(std::min(edge + 1, clip))); };
  const int bottom = to(bounds.bottom(), image.clip.bottom()), right = to(bounds.right(), image.clip.right());
  for (int y = from(bounds.y, image.clip.y); y < bottom; ++y)
    for (int x = from(bounds.x, image.clip.x); x < right; ++x) {
      const double coverage = std::clamp(0.5 - distance(x + 0.5, y + 0.5), 0.0, 1.0);
      if (coverage > 0) image.blend(x, y, color, coverage);
    }
}

struct Segment {
  Point from, to;
};

// All segments as one shape: where two meet or overlap, a pixel is painted once, so joints do not show.
void draw_segments(Image& image, const std::vector<Segment>& segments, const Stroke& stroke) {
  const double reach = stroke.width / 2 + 1;
  const auto pixel = [](double edge, double low, double high) { return int(std::clamp(edge, low, high)); };
  const auto box_of = [&](const Segment& s) {
    const Rect& clip = image.clip;
    const int left = pixel(std::floor(std::min(s.from.x, s.to.x) - reach), clip.x, clip.right());
    const int top = pixel(std::floor(std::min(s.from.y, s.to.y) - reach), clip.y, clip.bottom());
    return std::array{left, top, pixel(std::ceil(std::max(s.from.x, s.to.x) + reach), clip.x, clip.right()),
                      pixel(std::ceil(std::max(s.from.y, s.to.y) + reach), clip.y, clip.bottom())};
  };
  std::array<int, 4> all{INT_MAX, INT_MAX, 0, 0};
  for (const Segment& segment : segments) {
    const auto [left, top, right, bottom] = box_of(segment);
    all = {std::min(all[0], left), std::min(all[1], top), std::max(all[2], right), std::max(all[3], bottom)};
  }
  if (all[0] >= all[2] || all[1] >= all[3]) return;
  const Index stride = all[2] - all[0];
  std::vector<float> coverage(stride * (all[3] - all[1]), 0.0f);
  const auto at = [&](int x, int y) -> float& { return coverage[(y - all[1]) * stride + x - all[0]]; };
  for (const Segment& s : segments) {
    const double dx = s.to.x - s.from.x, dy = s.to.y - s.from.y, length2 = dx * dx + dy * dy;
    const auto [left, top, right, bottom] = box_of(s);
    for (int y = top; y < bottom; ++y)
      for (int x = left; x < right; ++x) {
        const double px = x + 0.5 - s.from.x, py = y + 0.5 - s.from.y;
        const double t = length2 > 0 ? std::clamp((px * dx + py * dy) / length2, 0.0, 1.0) : 0;
        const double distance = std::hypot(px - t * dx, py - t * dy) - stroke.width / 2;
        at(x, y) = std::max(at(x, y), float(std::clamp(0.5 - distance, 0.0, 1.0)));
      }
  }
  for (int y = all[1]; y < all[3]; ++y)
    for (int x = all[0]; x < all[2]; ++x)
      if (at(x, y) > 0) image.blend(x, y, stroke.color, at(x, y));
}

double round_rect_distance(const Rect& rect, double radius, double x, double y) {
  const double dx = std::abs(x - rect.center().x) - rect.width / 2 + radius;
  const double dy = std::abs(y - rect.center().y) - rect.height / 2 + radius;
  return std::hypot(std::max(dx, 0.0), std::max(dy, 0.0)) + std::min(std::max(dx, dy), 0.0) - radius;
}

}  // namespace

Image::Image(int width, int height, Color background) : width_(width), height_(height) {
  constexpr int limit = 30000;
  if (width < 0 || height < 0 || width > limit || height > limit)
    fail("image: {} x {} pixels: a side has at most {}", width, height, limit);
  pixels_.resize(3 * Index{width} * height);
  clip = {0, 0, double(width), double(height)};
  middle = height / 2;
  fill(0, 0, width, height, background);
}

Color Image::at(int x, int y) const {
  if (x < 0 || y < 0 || x >= width_ || y >= height_)
    fail("image: pixel ({},{}) is outside {} x {}", x, y, width_, height_);
  const std::uint8_t* p = pixels() + offset(x, y);
  return {p[0], p[1], p[2]};
}

void Image::blend(int x, int y, Color color, double opacity) {
  if (x < clip.x || y < clip.y || x >= clip.right() || y >= clip.bottom()) return;
  if (x < 0 || y < 0 || x >= width_ || y >= height_) return;  // a clip may reach outside
  std::uint8_t* p = pixels_.data() + offset(x, y);
  const int weight = int(opacity * 256 + 0.5);
  p[0] = static_cast<std::uint8_t>(p[0] + (color.r - p[0]) * weight / 256);
  p[1] = static_cast<std::uint8_t>(p[1] + (color.g - p[1]) * weight / 256);
  p[2] = static_cast<std::uint8_t>(p[2] + (color.b - p[2]) * weight / 256);
}

void Image::fill(int left, int top, int right, int bottom, Color color) {
  left = std::max({left, 0, int(std::ceil(clip.x))});
  top = std::max({top, 0, int(std::ceil(clip.y))});
  right = std::min({right, width_, int(std::ceil(clip.right()))});
  bottom = std::min({bottom, height_, int(std::ceil(clip.bottom()))});
  for (int y = top; y < bottom; ++y) {
    std::uint8_t* p = pixels_.data() + offset(left, y);
    for (int x = left; x < right; ++x, p += 3) p[0] = color.r, p[1] = color.g, p[2] = color.b;
  }
}

void fill_rect(Image& image, const Rect& rect, Color color, double opacity) {
  const auto whole = [](double edge) { return int(std::lround(std::clamp(edge, -1e6, 1e6))); };
  const int left = whole(rect.x), top = whole(rect.y), right = whole(rect.right()),
            bottom = whole(rect.bottom());
  if (opacity >= 1) return image.fill(left, top, right, bottom, color);
  for (int y = std::max(top, 0); y < std::min(bottom, image.height()); ++y)
    for (int x = std::max(left, 0); x < std::min(right, image.width()); ++x)
      image.blend(x, y, color, opacity);
}

void fill_round_rect(Image& image, const Rect& rect, double radius, Color color) {
  radius = std::min({radius, rect.width / 2, rect.height / 2});
  fill_shape(image, rect, color, [&](double x, double y) { return round_rect_distance(rect, radius, x, y); });
}

void draw_round_rect(Image& image, const Rect& rect, double radius, Color fill, const Stroke& outline) {
  fill_round_rect(image, rect, radius, fill);
  radius = std::min({radius, rect.width / 2, rect.height / 2});
  fill_shape(image, rect, outline.color, [&](double x, double y) {
    return std::abs(round_rect_distance(rect, radius, x, y) + outline.width / 2) - outline.width / 2;
  });
}

void fill_circle(Image& image, Point center, double radius, Color color) {
  fill_shape(image, {center.x - radius, center.y - radius, 2 * radius, 2 * radius}, color,
             [&](double x, double y) { return std::hypot(x - center.x, y - center.y) - radius; });
}

void line(Image& image, Point from, Point to, const Stroke& stroke) { polyline(image, {from, to}, stroke); }

void polyline(Image& image, const std::vector<Point>& points, const Stroke& stroke) {
  std::vector<Segment> segments;
  if (points.size() == 1) segments.push_back({points[0], points[0]});
  const double on = 3 * stroke.width + 1, period = on + 2.5 * stroke.width + 2;
  double walked = 0;
  for (Index i = 1; i < std::ssize(points); ++i) {
    const Point a = points[i - 1], b = points[i];
    if (!stroke.dashed) {
      segments.push_back({a, b});
      continue;
    }
    const double length = std::hypot(b.x - a.x, b.y - a.y);
    // The dashes of this piece, on a ruler that runs through all pieces.
    for (double start = std::floor(walked / period) * period; start < walked + length; start += period) {
      const double first = std::max(start - walked, 0.0) / length;
      const double last = std::min(start + on - walked, length) / length;
      if (first < last)
        segments.push_back({{a.x + first * (b.x - a.x), a.y + first * (b.y - a.y)},
                            {a.x + last * (b.x - a.x), a.y + last * (b.y - a.y)}});
    }
    walked += length;
  }
  draw_segments(image, segments, stroke);
}

void arrow_head(Image& image, Point from, Point to, Color color, double size) {
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  if (length == 0) return;
  const double ux = (to.x - from.x) / length, uy = (to.y - from.y) / length;
  const Rect bounds{to.x - size, to.y - size, 2 * size, 2 * size};
  // The triangle is where three half-planes meet: behind its base, and left and right of the tip.
  fill_shape(image, bounds, color, [&](double x, double y) {
    const double back = (to.x - x) * ux + (to.y - y) * uy, side = std::abs((x - to.x) * uy - (y - to.y) * ux);
    return std::max(back - size, (side - 0.45 * back) / std::hypot(1, 0.45));
  });
}

std::vector<Point> smooth_curve(Point from, Point to, bool vertical) {
  // A cubic Bezier whose two inner control points lie halfway.
  const Point half{(from.x + to.x) / 2, (from.y + to.y) / 2};
  const Point first = vertical ? Point{from.x, half.y} : Point{half.x, from.y};
  const Point second = vertical ? Point{to.x, half.y} : Point{half.x, to.y};
  constexpr int pieces = 24;
  std::vector<Point> points;
  for (int i = 0; i <= pieces; ++i) {
    const double t = double(i) / pieces, s = 1 - t;
    const double w0 = s * s * s, w1 = 3 * s * s * t, w2 = 3 * s * t * t, w3 = t * t * t;
    points.push_back({w0 * from.x + w1 * first.x + w2 * second.x + w3 * to.x,
                      w0 * from.y + w1 * first.y + w2 * second.y + w3 * to.y});
  }
  return points;
}

void blit(Image& onto, const Image& image, int x, int y) {
  for (int row = 0; row < image.height(); ++row)
    for (int column = 0; column < image.width(); ++column)
      onto.blend(x + column, y + row, image.at(column, row));
  const auto moved = [&](Rect rect) { return Rect{rect.x + x, rect.y + y, rect.width, rect.height}; };
  for (const Rect& rect : image.kept) onto.kept.push_back(moved(rect));
  for (DrawnMatrix matrix : image.drawn) {
    matrix.cells = moved(matrix.cells);
    onto.drawn.push_back(std::move(matrix));
  }
}

void write_png(const std::string& path, const Image& image) {
  if (image.width() == 0 || image.height() == 0) fail("cannot write {}: the picture is empty", path);
  // One filter for all lines instead of stb's trial of all five: see tests/bench/viz_bench.cpp.
  stbi_write_force_png_filter = 0;
  std::string bytes;
  const auto append = [](void* context, void* data, int size) {
    static_cast<std::string*>(context)->append(static_cast<const char*>(data), size);
  };
  if (!stbi_write_png_to_func(append, &bytes, image.width(), image.height(), 3, image.pixels(),
                              3 * image.width()))
    fail("cannot write {}: the picture cannot be encoded", path);
  write_file_atomically(path, {bytes});
}

}  // namespace attn::viz
