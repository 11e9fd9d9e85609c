#include "lessons/support/html.hpp"

#include <fmt/format.h>  // format

#include <array>    // array
#include <cctype>   // isalnum
#include <fstream>  // ifstream

namespace attn {

namespace {

constexpr const char* base_style =
    R"(:root { color-scheme: light dark; --page: #f6f7f9; --card: #fff; --ink: #242933; --soft: #5a6370; --line: #e1e4ea; --accent: #235dc0; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14171c; --card: #1e2229; --ink: #e6e9ee; --soft: #9aa4b2; --line: #323842; --accent: #7fb0ff; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
)";

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
         head + "<link rel=\"icon\" href=\"data:,\">\n<style>\n" + base_style + page.style +
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
