#include "core/viz/text.hpp"

#include <fmt/core.h>  // print

#include <algorithm>     // max, min
#include <array>         // array
#include <cmath>         // ceil, cos, floor, lround, round, sin
#include <cstdlib>       // getenv
#include <filesystem>    // recursive_directory_iterator
#include <map>           // map
#include <memory>        // unique_ptr
#include <mutex>         // lock_guard, mutex
#include <numbers>       // pi
#include <sstream>       // istringstream
#include <system_error>  // error_code
#include <tuple>         // tuple
#include <utility>       // exchange, move

#include "core/error.hpp"

#define STB_TRUETYPE_IMPLEMENTATION
#include <stb/stb_truetype.h>

namespace attn::viz {

namespace {

constexpr double capital_height = 0.729;  // of DejaVu Sans, in em

struct Face {
  std::string bytes;
  stbtt_fontinfo info;
};

// How much of each pixel a glyph covers, and where its bitmap lies relative to the pen.
struct Glyph {
  int left = 0, top = 0, width = 0, height = 0;
  std::vector<unsigned char> coverage;
};

struct PlacedGlyph {
  const Face* face;  // null: no font has this letter
  int index;
  double x;  // along the baseline, in em
};

struct Line {
  std::vector<PlacedGlyph> glyphs;
  double width = 0;  // in em
};

std::vector<std::string> usual_folders() {
  std::vector<std::string> folders = {"/usr/share/fonts", "/usr/local/share/fonts",
                                      "/opt/homebrew/share/fonts", "/Library/Fonts", "/System/Library/Fonts"};
  if (const char* home = std::getenv("HOME"))
    for (const char* own : {"/.local/share/fonts", "/.fonts", "/Library/Fonts"})
      folders.push_back(home + std::string(own));
  return folders;
}

class Fonts {
 public:
  explicit Fonts(std::vector<std::string> folders)
      : folders_(folders.empty() ? usual_folders() : std::move(folders)) {}

  // Where each letter goes, from left to right.
  Line place(std::string_view text, bool bold) {
    Line line;
    const PlacedGlyph* previous = nullptr;
    for (const Character& c : characters(text)) {
      PlacedGlyph glyph = find(c.code < 32 ? U' ' : c.code, bold);
      if (previous && previous->face && previous->face == glyph.face)
        line.width +=
            em(*glyph.face) * stbtt_GetGlyphKernAdvance(&glyph.face->info, previous->index, glyph.index);
      glyph.x = line.width;
      int advance = 0, bearing = 0;
      if (glyph.face) stbtt_GetGlyphHMetrics(&glyph.face->info, glyph.index, &advance, &bearing);
      line.width += glyph.face ? em(*glyph.face) * advance : 0.7;
      line.glyphs.push_back(glyph);
      previous = &line.glyphs.back();
    }
    return line;
  }

  // The pen lies on quarters of a pixel (shift_x, shift_y: 0 to 3), which keeps spacing even at small sizes.
  const Glyph& rasterize(const PlacedGlyph& placed, double size, double angle, int shift_x, int shift_y) {
    const Key key{placed.face, placed.index, int(size * 16), int(angle * 16), shift_x, shift_y};
    const auto found = glyphs_.find(key);
    if (found != glyphs_.end()) return found->second;

    stbtt_vertex* outline = nullptr;
    const int count = stbtt_GetGlyphShape(&placed.face->info, placed.index, &outline);
    // The outline itself is turned, so slanted labels are as sharp as level ones.
    const double c = std::cos(angle), s = std::sin(angle), scale = em(*placed.face) * size;
    double left = 1e9, right = -1e9, bottom = 1e9, top = -1e9;
    const auto turn = [&](stbtt_vertex_type& x, stbtt_vertex_type& y) {
      const double turned_x = c * x - s * y, turned_y = s * x + c * y;
      x = stbtt_vertex_type(std::lround(turned_x));
      y = stbtt_vertex_type(std::lround(turned_y));
      left = std::min(left, turned_x), right = std::max(right, turned_x);
      bottom = std::min(bottom, turned_y), top = std::max(top, turned_y);
    };
    for (int i = 0; i < count; ++i) {
      turn(outline[i].x, outline[i].y);
      if (outline[i].type == STBTT_vcurve || outline[i].type == STBTT_vcubic)
        turn(outline[i].cx, outline[i].cy);
      if (outline[i].type == STBTT_vcubic) turn(outline[i].cx1, outline[i].cy1);
    }
    Glyph glyph;
    if (count > 0) {
      glyph.left = int(std::floor(left * scale));
      glyph.top = int(std::floor(-top * scale));
      glyph.width = int(std::ceil(right * scale)) + 2 - glyph.left;
      glyph.height = int(std::ceil(-bottom * scale)) + 2 - glyph.top;
      glyph.coverage.resize(Index{glyph.width} * glyph.height);
      stbtt__bitmap bitmap{glyph.width, glyph.height, glyph.width, glyph.coverage.data()};
      const float pixels = float(scale);
      stbtt_Rasterize(&bitmap, 0.2f, outline, count, pixels, pixels, float(shift_x) / 4, float(shift_y) / 4,
                      glyph.left, glyph.top, 1, nullptr);
    }
    stbtt_FreeShape(&placed.face->info, outline);
    return glyphs_.emplace(key, std::move(glyph)).first->second;
  }

 private:
  using Key = std::tuple<const Face*, int, int, int, int, int>;
  static constexpr std::array<std::array<const char*, 3>, 4> names{{
      {"DejaVuSans.ttf", "LiberationSans-Regular.ttf", "Arial.ttf"},
      {"DejaVuSans-Bold.ttf", "LiberationSans-Bold.ttf", "Arial Bold.ttf"},
      {"NanumGothic.ttf", "NanumBarunGothic.ttf", "AppleSDGothicNeo.ttc"},
      {"NanumGothicBold.ttf", "NanumBarunGothicBold.ttf", "AppleSDGothicNeo.ttc"},
  }};

  std::vector<std::string> folders_;
  std::array<std::unique_ptr<Face>, 4> faces_;  // Latin, Latin bold, Korean, Korean bold
  std::array<bool, 4> looked_for_{};
  bool warned_ = false;
  std::map<Key, Glyph> glyphs_;

  static double em(const Face& face) { return stbtt_ScaleForMappingEmToPixels(&face.info, 1); }

  PlacedGlyph find(char32_t letter, bool bold) {
    const std::array<int, 4> order = bold ? std::array{1, 0, 3, 2} : std::array{0, 1, 2, 3};
    for (const int which : order)
      if (const Face* face = open(which))
        if (const int index = stbtt_FindGlyphIndex(&face->info, int(letter))) return {face, index, 0};
    warn(letter);
    return {nullptr, 0, 0};
  }

  // Fonts are read when first needed: most pictures never open the Korean one.
  const Face* open(int which) {
    if (looked_for_[which]) return faces_[which].get();
    looked_for_[which] = true;
    for (const char* name : names[which])
      for (const std::string& folder : folders_)
        if (auto face = read_face(find_file(folder, name))) {
          faces_[which] = std::move(face);
          return faces_[which].get();
        }
    return nullptr;
  }

  static std::string find_file(const std::string& folder, const char* name) {
    std::error_code problem;  // a folder that cannot be read has no fonts
    const auto skip = std::filesystem::directory_options::skip_permission_denied;
    for (std::filesystem::recursive_directory_iterator at(folder, skip, problem), end; !problem && at != end;
         at.increment(problem))
      if (at->path().filename() == name) return at->path();
    return {};
  }

  static std::unique_ptr<Face> read_face(const std::string& path) try {
    auto face = std::make_unique<Face>(Face{read_file(path), {}});
    if (face->bytes.size() < 1024) return nullptr;
    const auto* bytes = reinterpret_cast<const unsigned char*>(face->bytes.data());
    const int offset = stbtt_GetFontOffsetForIndex(bytes, 0);
    return offset >= 0 && stbtt_InitFont(&face->info, bytes, offset) ? std::move(face) : nullptr;
  } catch (const Error&) {
    return nullptr;  // it is not there, or not for us to read
  }

  void warn(char32_t letter) {
    if (warned_) return;
    warned_ = true;
    const bool hangul = (letter >= 0xAC00 && letter <= 0xD7A3) || (letter >= 0x1100 && letter <= 0x318F);
    const std::string problem = !faces_[0] && !faces_[1]
                                    ? "no DejaVu font found (sudo apt-get install fonts-dejavu-core)"
                                : hangul ? "no Korean font found (sudo apt-get install fonts-nanum)"
                                         : "no font with the letter " + to_utf8(letter);
    fmt::print(stderr, "pictures: {}: boxes are drawn instead\n", problem);
  }
};

std::mutex fonts_mutex;

Fonts& fonts(std::unique_ptr<Fonts> replacement = nullptr) {
  static std::unique_ptr<Fonts> instance = std::make_unique<Fonts>(std::vector<std::string>{});
  if (replacement) instance = std::move(replacement);
  return *instance;
}

}  // namespace

void set_font_folders(std::vector<std::string> folders) {
  const std::lock_guard lock(fonts_mutex);
  fonts(std::make_unique<Fonts>(std::move(folders)));
}

double text_width(std::string_view text, double size, bool bold) {
  const std::lock_guard lock(fonts_mutex);
  return fonts().place(text, bold).width * size;
}

void draw_text(Image& image, Point at, std::string_view text, const TextStyle& style) {
  const std::lock_guard lock(fonts_mutex);
  const Line line = fonts().place(text, style.bold);
  const double angle = style.angle * std::numbers::pi / 180;
  const Point along{std::cos(angle), -std::sin(angle)}, down{std::sin(angle), std::cos(angle)};
  const double before = style.align == Align::left ? 0 : style.align == Align::center ? 0.5 : 1;
  const double back = before * line.width * style.size;
  const double drop = capital_height * style.size / 2;
  Point start{at.x - back * along.x + drop * down.x, at.y - back * along.y + drop * down.y};
  // A baseline on a pixel edge gives sharp feet.
  if (style.angle == 0) start.y = std::round(start.y);
  if (style.angle == 90) start.x = std::round(start.x);

  for (const PlacedGlyph& placed : line.glyphs) {
    const double offset = placed.x * style.size;
    const Point pen{start.x + offset * along.x, start.y + offset * along.y};
    if (!placed.face) {
      const double w = 0.55 * style.size, h = capital_height * style.size;
      const auto corner = [&](double x, double y) {
        return Point{pen.x + x * along.x - y * down.x, pen.y + x * along.y - y * down.y};
      };
      polyline(image, {corner(1, 0), corner(w, 0), corner(w, h), corner(1, h), corner(1, 0)}, {style.color});
      continue;
    }
    const double x = std::floor(pen.x * 4 + 0.5) / 4, y = std::floor(pen.y * 4 + 0.5) / 4;
    const int left = int(std::floor(x)), top = int(std::floor(y));
    const Glyph& glyph =
        fonts().rasterize(placed, style.size, angle, int(4 * (x - left)), int(4 * (y - top)));
    for (int row = 0; row < glyph.height; ++row)
      for (int column = 0; column < glyph.width; ++column)
        if (const int coverage = glyph.coverage[row * glyph.width + column])
          image.blend(left + glyph.left + column, top + glyph.top + row, style.color, coverage / 255.0);
  }
}

std::string shorten(std::string_view text, double width, double size, bool bold) {
  if (text_width(text, size, bold) <= width) return std::string(text);
  std::string kept;
  for (const Character& c : characters(text)) {
    const std::string longer = kept + std::string(c.bytes);
    if (text_width(longer + "…", size, bold) > width) break;
    kept = longer;
  }
  kept.erase(kept.find_last_not_of(' ') + 1);
  return kept + "…";
}

std::vector<std::string> wrap(std::string_view text, double width, double size, bool bold) {
  const auto measure = [&](std::string_view part) { return text_width(part, size, bold); };
  std::vector<std::string> lines;
  std::istringstream paragraphs{std::string(text)};
  for (std::string paragraph; std::getline(paragraphs, paragraph);)
    for (const std::string& line : attn::wrap(paragraph, {.width = width, .measure = measure})) {
      const bool fits = measure(line) <= width;  // if not, it is one word, which has to be cut
      std::string part;
      for (const Character& c : characters(line)) {
        if (!fits && !part.empty() && measure(part + std::string(c.bytes)) > width)
          lines.push_back(std::exchange(part, ""));
        part += c.bytes;
      }
      lines.push_back(part);
    }
  return lines;
}

std::string visible(std::string_view token) {
  const std::size_t first = token.find_first_not_of(' '), last = token.find_last_not_of(' ');
  std::string text;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const char c = token[i];
    const bool outer = i < first || i > last;
    text += c == '\n' ? "⏎" : c == '\t' ? "⇥" : c == ' ' && outer ? "␣" : std::string(1, c);
  }
  return text;
}

}  // namespace attn::viz
