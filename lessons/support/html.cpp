#include "lessons/support/html.hpp"

#include <fmt/core.h>  // format

#include <array>    // array
#include <cctype>   // isalnum
#include <fstream>  // ifstream

namespace attn {

namespace {

// A reader who has chosen light or dark (data-theme) gets that on all pages, others what their system says.
// Of a picture that was drawn twice the page shows the one that fits.
constexpr const char* base_style =
    R"(:root { color-scheme: light dark; --page: light-dark(#f6f7f9, #14171c); --card: light-dark(#fff, #1e2229); --ink: light-dark(#242933, #e6e9ee); --soft: light-dark(#5a6370, #9aa4b2); --line: light-dark(#e1e4ea, #323842); --accent: light-dark(#235dc0, #7fb0ff); }
:root[data-theme=light] { color-scheme: light; } :root[data-theme=dark] { color-scheme: dark; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
.picture { position: relative; width: fit-content; max-width: 100%; } .picture img { display: block; max-width: 100%; height: auto; background: #fff; }
.picture .dark, :root[data-theme=dark] .picture .light { display: none; } :root[data-theme=dark] .picture .dark { display: block; }
@media (prefers-color-scheme: dark) {
  :root:not([data-theme=light]) .picture .light { display: none; } :root:not([data-theme=light]) .picture .dark { display: block; }
}
)";

// Before anything is painted.
constexpr const char* theme_script =
    "<script>try { document.documentElement.dataset.theme = localStorage.getItem('theme') || ''; } catch "
    "{}</script>\n";

}  // namespace

std::string escape_html(std::string_view text) {
  std::string html;
  for (const char c : text)
    html += c == '&'   ? "&amp;"
            : c == '<' ? "&lt;"
            : c == '>' ? "&gt;"
            : c == '"' ? "&quot;"
                       : std::string(1, c);
  return html;
}

std::string escape_link(std::string_view path) {
  std::string link;
  for (const char c : path) {
    if (std::isalnum(static_cast<unsigned char>(c)) ||
        std::string_view("-_.~/").find(c) != std::string_view::npos)
      link += c;
    else
      link += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return link;
}

std::string html_document(const Page& page) {
  std::string head = fmt::format("<title>{}</title>\n", escape_html(page.title));
  if (!page.description.empty())
    head += fmt::format("<meta name=\"description\" content=\"{}\">\n", escape_html(page.description));
  // An empty icon inside the page, or the browser asks the server for one.
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" +
         head + theme_script + "<link rel=\"icon\" href=\"data:,\">\n<style>\n" + base_style + page.style +
         "</style>\n</head>\n<body>\n" + page.body + "\n</body>\n</html>\n";
}

// A PNG begins with 8 bytes of signature, 8 of chunk header, then width and height, highest byte first.
PixelSize png_size(const std::filesystem::path& path) {
  std::array<char, 24> head{};
  std::ifstream(path, std::ios::binary).read(head.data(), head.size());
  const auto number = [&](std::size_t at) {
    unsigned value = 0;
    for (std::size_t i = at; i < at + 4; ++i) value = value << 8 | static_cast<unsigned char>(head[i]);
    return value;
  };
  return {number(16), number(20)};
}

}  // namespace attn
