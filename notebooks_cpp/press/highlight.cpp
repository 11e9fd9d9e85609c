#include "notebooks_cpp/press/highlight.hpp"

#include <fmt/format.h>  // format

#include <algorithm>      // any_of
#include <cctype>         // islower, isupper
#include <unordered_set>  // unordered_set

#include "notebooks_cpp/press/html.hpp"   // escape_html
#include "notebooks_cpp/press/lines.hpp"  // words_of
#include "notebooks_cpp/press/tokens.hpp"

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

std::string shown(const Token& token, const Linker& link) {
  constexpr const char* colours[] = {"", "n", "s", "s", "", "c", "p"};  // by kind
  const bool word = token.kind == Token::Kind::word;
  const std::string_view colour = !word                           ? colours[static_cast<int>(token.kind)]
                                  : is_keyword(token.text)        ? "k"
                                  : looks_like_a_type(token.text) ? "t"
                                                                  : "";
  std::string html = escape_html(token.text);
  if (!colour.empty()) html = fmt::format("<span class=\"{}\">{}</span>", colour, html);
  const std::string address = word && colour != "k" && link ? link(token.text) : "";
  return address.empty() ? html : fmt::format("<a href=\"{}\">{}</a>", escape_html(address), html);
}

}  // namespace

std::string highlight_cpp(std::string_view code, const Linker& link) {
  std::string html;
  std::size_t at = 0;
  for (const Token& token : tokens(code)) {
    const std::size_t begin = token.text.data() - code.data();
    html += escape_html(code.substr(at, begin - at)) + shown(token, link);
    at = begin + token.text.size();
  }
  return html + escape_html(code.substr(at));
}

}  // namespace attn::press
