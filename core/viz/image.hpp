// Image: a page of RGB pixels, the shapes drawn on it, and the PNG it becomes.
//
//   Image image(640, 480);                                     // white
//   fill_round_rect(image, {20, 20, 100, 40}, 8, paint::panel);
//   line(image, {20, 80}, {120, 120}, {palette(0), 2});
//   write_png("out/picture.png", image);
//
// x grows to the right, y downwards, (0,0) is the outer corner of the first pixel. Shapes are antialiased and
// may lie partly or wholly outside: they are clipped to `clip`. Cost: every shape visits its bounding box.
#pragma once

#include <string>  // string
#include <vector>  // vector

#include "core/viz/color.hpp"

namespace attn::viz {

struct Point {
  double x = 0, y = 0;
};

struct Rect {
  double x = 0, y = 0, width = 0, height = 0;
  double right() const { return x + width; }
  double bottom() const { return y + height; }
  Point center() const { return {x + width / 2, y + height / 2}; }
};

// A matrix that a picture shows, so that a page can tell what is in the cell under the pointer.
struct DrawnMatrix {
  Rect cells = {};
  Matrix values = {}, scores = {};  // scores: none, or one for each value
  std::string name = {}, x_title = {}, y_title = {}, value_title = {};
  std::vector<std::string> row_labels = {}, column_labels = {};
};

class Image {
 public:
  Image(int width = 0, int height = 0, Color background = paint::white);

  int width() const { return width_; }
  int height() const { return height_; }
  const std::uint8_t* pixels() const { return pixels_.data(); }  // (height, width, 3)

  Color at(int x, int y) const;  // throws outside the image
  // Puts `color` over the pixel with the given opacity; outside `clip` nothing happens.
  void blend(int x, int y, Color color, double opacity = 1);
  // The same for all pixels of [left, right) x [top, bottom), opaque and therefore quick.
  void fill(int left, int top, int right, int bottom, Color color);

  Rect clip;   // drawing is confined to this; the whole image at first
  int middle;  // the height at which row() lines pictures up: that of the cells, the axes, ...
  std::vector<DrawnMatrix> drawn;  // blit takes both along
  std::vector<Rect> kept;          // here colours are numbers: on dark paper they stay as they are

 private:
  int width_, height_;
  std::vector<std::uint8_t> pixels_;
  Index offset(int x, int y) const { return 3 * (Index{y} * width_ + x); }
};

struct Stroke {
  Color color = paint::ink;
  double width = 1;
  bool dashed = false;
};

void fill_rect(Image& image, const Rect& rect, Color color, double opacity = 1);
void fill_round_rect(Image& image, const Rect& rect, double radius, Color color);
void draw_round_rect(Image& image, const Rect& rect, double radius, Color fill, const Stroke& outline);
void fill_circle(Image& image, Point center, double radius, Color color);
void line(Image& image, Point from, Point to, const Stroke& stroke);
void polyline(Image& image, const std::vector<Point>& points, const Stroke& stroke);
// A triangle whose tip is at `to`, pointing away from `from`.
void arrow_head(Image& image, Point from, Point to, Color color, double size);
// The points of a curve that leaves `from` and enters `to` horizontally (or vertically).
std::vector<Point> smooth_curve(Point from, Point to, bool vertical = false);
void blit(Image& onto, const Image& image, int x, int y);

// Atomic; throws Error when the file cannot be written.
void write_png(const std::string& path, const Image& image);

}  // namespace attn::viz
