#include "lessons/support/diagram.hpp"

namespace attn {

using viz::Point;

void draw_box(viz::Image& image, const DiagramBox& box) {
  const viz::Color edge = box.color < 0 ? viz::paint::faint : viz::palette(box.color);
  const viz::Color inside = box.color < 0 ? viz::paint::panel : mix(edge, viz::paint::white, 0.86);
  viz::draw_round_rect(image, box.place, 8, inside, {edge, 1.5});
  const Point center = box.place.center();
  const double apart = box.detail.empty() ? 0 : 9.5;  // of each line from the centre
  viz::draw_text(image, {center.x, center.y - apart}, box.label, {.bold = true, .align = Align::center});
  if (!box.detail.empty()) draw_note(image, {center.x, center.y + apart}, box.detail, Align::center);
}

void draw_arrow(viz::Image& image, const std::vector<Point>& way, const viz::Stroke& stroke) {
  viz::polyline(image, way, stroke);
  viz::arrow_head(image, way[way.size() - 2], way.back(), stroke.color, 6 + 2 * stroke.width);
}

void draw_title(viz::Image& image, const std::string& title) {
  viz::draw_text(image, {20, 30}, title, {.size = 17, .bold = true});
}

void draw_plus(viz::Image& image, Point center) {
  viz::draw_round_rect(image, {center.x - 11, center.y - 11, 22, 22}, 11, viz::paint::white,
                       {viz::paint::ink, 1.5});
  viz::line(image, {center.x - 5, center.y}, {center.x + 5, center.y}, {viz::paint::ink, 1.8});
  viz::line(image, {center.x, center.y - 5}, {center.x, center.y + 5}, {viz::paint::ink, 1.8});
}

void draw_note(viz::Image& image, Point at, const std::string& text, Align align) {
  viz::draw_text(image, at, text, {.size = 13, .color = viz::paint::muted, .align = align});
}

}  // namespace attn
