#include "notebooks_cpp/press/highlight.hpp"

#include <fmt/core.h>  // format

#include <algorithm>      // any_of
#include <cctype>         // islower, isupper
#include <iterator>       // ssize
#include <unordered_set>  // unordered_set

#include "notebooks_cpp/press/html.hpp"   // escape_html
#include "notebooks_cpp/press/lines.hpp"  // words_of

namespace attn::press {
namespace {

bool is_keyword(std::string_view word) {
  static const auto words = words_of(
      "alignas alignof asm break case catch class co_await co_return co_yield concept const const_cast "
      "consteval "
      "constexpr constinit continue decltype default delete do dynamic_cast else enum explicit export extern "
      "false final for friend goto if inline mutable namespace new noexcept nullptr operator override "
      "private "
      "protected public register reinterpret_cast requires return sizeof static static_assert static_cast "
      "struct "
      "switch template this thread_local throw true try typedef typeid typename union using virtual volatile "
      "while");
  static const std::unordered_set<std::string_view> keywords(words.begin(), words.end());
  return keywords.contains(word);
}

// Tensor, but not T (a size) nor ATTN_DOUBLE (a macro).
bool looks_like_a_type(std::string_view word) {
  static const auto words = words_of(
      "auto bool char double float int long real short signed string string_view unsigned vector void");
  static const std::unordered_set<std::string_view> types(words.begin(), words.end());
  if (types.contains(word) || (word.size() > 2 && word.ends_with("_t"))) return true;
  return std::isupper(static_cast<unsigned char>(word[0])) &&
         std::any_of(word.begin(), word.end(), [](unsigned char c) { return std::islower(c); });
}

std::string_view colour_of(const Token& token) {
  constexpr const char* colours[] = {"", "n", "s", "s", "", "c", "p"};  // by kind
  if (token.kind != Token::Kind::word) return colours[static_cast<int>(token.kind)];
  return is_keyword(token.text) ? "k" : looks_like_a_type(token.text) ? "t" : "";
}

std::string coloured(std::string_view colour, std::string_view text) {
  const std::string begin = fmt::format("<span class=\"{}\">", colour);
  std::string html = begin;
  for (const char c : escape_html(text))
    if (c == '\n')
      html += "</span>\n" + begin;
    else
      html += c;
  return html + "</span>";
}

}  // namespace

std::string highlight_cpp(std::string_view code, const NameLinker& link) {
  const std::vector<Token> all = tokens(code);
  std::string html;
  std::size_t end = 0;
  for (Index i = 0; i < std::ssize(all); ++i) {
    const std::string_view text = all[i].text, colour = colour_of(all[i]);
    const std::size_t begin = text.data() - code.data();
    html += escape_html(code.substr(end, begin - end));
    end = begin + text.size();
    const std::string shown = colour.empty() ? escape_html(text) : coloured(colour, text);
    const bool name = all[i].kind == Token::Kind::word && colour != "k";
    const std::string address = name && link ? link(all, i) : "";
    html += address.empty() ? shown : fmt::format("<a href=\"{}\">{}</a>", escape_html(address), shown);
  }
  return html + escape_html(code.substr(end));
}

}  // namespace attn::press
