#include "notebooks_cpp/press/html.hpp"

#include <fmt/core.h>  // format

#include <cctype>  // isalnum, tolower

#include "core/base64.hpp"
#include "core/error.hpp"

namespace attn::press {
namespace {

// Code in cool, quiet colours; 4.5 : 1 or more against its background in both modes.
constexpr const char* style =
    R"(:root { --code: light-dark(#f9fafb, #191d23); --error: light-dark(#fdf3f2, #2a1d1e); --error-line: light-dark(#d9534f, #e0736f); --keyword: light-dark(#8b2fb3, #d095f2); --type: light-dark(#1668a6, #74b8ec); --string: light-dark(#2d7a33, #8fce8b); --number: light-dark(#b3541e, #f0a878); --comment: light-dark(#697281, #8b95a3); --preprocessor: light-dark(#8a5a00, #d9b26a); }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; }
main.sheet { max-width: 64rem; margin: 0 auto; padding: 2.2rem clamp(1rem, 4vw, 2.5rem) 1rem; }
main.sheet > :is(p, ul, ol, blockquote, .equation) { max-width: 46rem; }
h1, h2, h3, h4 { line-height: 1.25; letter-spacing: -0.01em; overflow-wrap: anywhere; }
h1 { margin: 0 0 1rem; font-size: clamp(1.7rem, 5vw, 2.4rem); letter-spacing: -0.02em; }
h2 { margin: 2.4rem 0 0.8rem; font-size: 1.45rem; }
h3 { margin: 1.8rem 0 0.6rem; font-size: 1.15rem; }
h4 { margin: 1.4rem 0 0.4rem; font-size: 1rem; }
p, ul, ol { margin: 0.8rem 0; } ul, ol { padding-left: 1.5rem; } p, li { overflow-wrap: break-word; }
li > ul, li > ol { margin: 0.2rem 0; }
a { color: var(--accent); text-underline-offset: 0.15em; text-decoration-thickness: 1px; }
hr { margin: 2rem 0; border: 0; border-top: 1px solid var(--line); }
blockquote { margin: 1rem 0; padding: 0.1rem 0 0.1rem 1.1rem; border-left: 3px solid var(--accent); color: var(--soft); }
img { max-width: 100%; height: auto; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
code { font-size: 0.88em; padding: 0.1em 0.3em; border-radius: 4px; background: var(--line); overflow-wrap: anywhere; }
pre { margin: 0.9rem 0; padding: 0.8rem 1rem; overflow-x: auto; background: var(--code); border: 1px solid var(--line); border-radius: 8px; font-size: 0.85rem; line-height: 1.5; tab-size: 2; -webkit-overflow-scrolling: touch; }
pre code { padding: 0; background: none; font-size: inherit; overflow-wrap: normal; white-space: pre; }
pre a { color: inherit; text-decoration-color: var(--comment); text-decoration-style: dotted; }
pre a:hover, pre a:focus-visible { color: var(--accent); text-decoration-style: solid; }
.k { color: var(--keyword); } .t { color: var(--type); } .s { color: var(--string); } .n { color: var(--number); }
.c { color: var(--comment); font-style: italic; } .p { color: var(--preprocessor); }
.cell { margin: 1.1rem 0; }
.cell pre { margin: 0; background: var(--card); border-left: 3px solid var(--accent); }
.cell summary { cursor: pointer; color: var(--soft); font-size: 0.92rem; } .cell summary:hover { color: var(--accent); }
.cell details[open] summary { margin-bottom: 0.5rem; }
.cell > pre.output { margin: 0 0 0 3px; padding-top: 0.7rem; border: 0; background: none; font-size: 0.82rem; }
.cell > pre.error { margin: 0.6rem 0 0; padding-top: 0.6rem; border-left: 3px solid var(--error-line); border-radius: 0 8px 8px 0; background: var(--error); }
figure { width: fit-content; max-width: 100%; margin: 1rem 0; background: var(--card); border: 1px solid var(--line); border-radius: 12px; overflow: hidden; }
figcaption { padding: 0.6rem 1rem 0.75rem; border-top: 1px solid var(--line); color: var(--soft); font-size: 0.92rem; overflow-wrap: anywhere; }
.table, .equation { overflow-x: auto; }
.equation { display: block; margin: 1rem 0; padding: 0.2rem 0; }
math { font-size: 1.08em; font-family: "STIX Two Math", "Cambria Math", "Latin Modern Math", "DejaVu Math TeX Gyre", "Noto Sans Math", math, serif; }
table { border-collapse: collapse; margin: 0.9rem 0; font-size: 0.95rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.35rem 0.9rem 0.35rem 0; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top; }
th { border-bottom-width: 2px; white-space: nowrap; }
.soft { color: var(--soft); }
nav.steps { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0.5rem 2rem; margin: 2.5rem 0 0; padding-top: 1rem; border-top: 1px solid var(--line); }
footer { padding: 2rem 1rem 3rem; text-align: center; color: var(--soft); font-size: 0.85rem; overflow-wrap: anywhere; }
@media (max-width: 700px) { pre, .cell > pre.output { padding-left: 0.7rem; padding-right: 0.7rem; font-size: 0.76rem; } }
@media print { pre { white-space: pre-wrap; } figure, .cell { break-inside: avoid; } }
)";

}  // namespace

std::string html_page(Page page) {
  page.style = style + page.style;
  return html_document(page);
}

std::string slug(std::string_view title) {
  std::string result;
  bool gap = false;
  for (const char c : title) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (byte < 128 && !std::isalnum(byte)) {
      gap = !result.empty();
      continue;
    }
    if (gap) result += '-';
    gap = false;
    result += byte < 128 ? static_cast<char>(std::tolower(byte)) : c;
  }
  return result.empty() ? "section" : result;
}

std::string Ids::unique(std::string_view title) {
  const std::string id = slug(title);
  // "loss-2" may be the slug of a title of its own, so it is looked up as well.
  for (int count = ++used[id]; count > 1; count = ++used[id])
    if (const std::string numbered = fmt::format("{}-{}", id, count); used[numbered]++ == 0) return numbered;
  return id;
}

std::string data_uri(const std::filesystem::path& path) {
  static const std::map<std::string, std::string> types = {
      {".png", "png"}, {".jpg", "jpeg"}, {".jpeg", "jpeg"}, {".gif", "gif"}, {".svg", "svg+xml"}};
  const auto type = types.find(path.extension().string());
  if (type == types.end()) fail("{}: not a picture that a page can hold (png, jpg, gif, svg)", path.string());
  return "data:image/" + type->second + ";base64," + base64(read_file(path));
}

}  // namespace attn::press
