#include <cctype>  // isalnum, isdigit, isspace
#include <regex>   // regex

#include "notebooks_cpp/press/book_sources.hpp"
#include "notebooks_cpp/press/html.hpp"

namespace attn::press {
namespace {

std::string anchor(const std::string& href, const std::string& html) {
  return "<a href=\"" + escape_html(href) + "\">" + html + "</a>";
}

// HTML with every tag that is open at the end of a line closed there and opened again on the next.
std::vector<std::string> html_lines(std::string_view html) {
  std::vector<std::string> lines(1);
  std::vector<std::string_view> open;
  const auto closing = [](std::string_view tag) { return tag.starts_with("<a") ? "</a>" : "</span>"; };
  for (std::size_t at = 0; at < html.size();) {
    if (html[at] == '\n') {
      for (std::size_t i = open.size(); i-- > 0;) lines.back() += closing(open[i]);
      lines.emplace_back();
      for (const std::string_view tag : open) lines.back() += tag;
      ++at;
    } else if (html[at] == '<') {
      const std::string_view tag = html.substr(at, html.find('>', at) + 1 - at);
      if (tag.starts_with("</"))
        open.pop_back();
      else
        open.push_back(tag);
      lines.back() += tag;
      at += tag.size();
    } else {
      lines.back() += html[at++];
    }
  }
  return lines;
}

// Note [Title] in HTML becomes a link to the note.
std::string with_notes(const std::string& html, const Sources& sources, const std::string& page) {
  static const std::regex pattern("Note \\[([^\\]]+)\\]");
  std::string result;
  auto at = html.cbegin();
  for (std::sregex_iterator it(html.begin(), html.end(), pattern), end; it != end; ++it) {
    const std::string target = sources.note((*it)[1]);
    result.append(at, (*it)[0].first);
    result += target.empty() ? it->str() : anchor(link_from(page, target), it->str());
    at = (*it)[0].second;
  }
  return result.append(at, html.cend());
}


// "- one" and "1. one" begin an item of a list.
std::size_t item_mark(std::string_view line) {
  if (line.starts_with("- ") || line.starts_with("* ")) return 2;
  std::size_t digits = 0;
  while (digits < line.size() && std::isdigit(static_cast<unsigned char>(line[digits]))) ++digits;
  return digits > 0 && line.substr(digits).starts_with(". ") ? digits + 2 : 0;
}

}  // namespace

Listing listing(const SourceFile& file, const Sources& sources) {
  Listing result{html_lines(highlight_cpp(file.text, sources.linker(file)))};
  const std::vector<std::string> source = lines_of(file.text);
  result.lines.resize(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    std::string& html = result.lines[i];
    if (source[i].find("Note [") != std::string::npos) html = with_notes(html, sources, file.page);
    if (!source[i].starts_with("#include \"")) continue;
    const std::string path = source[i].substr(10, source[i].find('"', 10) - 10);
    const std::size_t place = html.find(path);
    if (const SourceFile* included = sources.find(path); included && place != std::string::npos)
      html.replace(place, path.size(), anchor(link_from(file.page, included->page), path));
  }
  return result;
}

std::string Listing::block(int first, int last) const {
  std::string html =
      "<pre class=\"listing\" style=\"counter-reset:line " + std::to_string(first - 1) + "\"><code>";
  for (int line = first; line <= last; ++line)
    html += "<span class=\"line\" id=\"L" + std::to_string(line) + "\">" +
            lines[static_cast<std::size_t>(line - 1)] + "\n</span>";
  return html + "</code></pre>\n";
}

std::string inline_prose(std::string_view text, const Sources& sources, const std::string& page) {
  // `code`, *emphasis*, Note [Title], a file of the library, "lesson 07".
  static const std::regex pattern(
      "`([^`]+)`|\\*([A-Za-z][^*\n]*[A-Za-z])\\*|Note "
      "\\[([^\\]]+)\\]|\\b([a-z0-9_]+(?:/[a-z0-9_]+)+\\.[ch]pp)\\b|"
      "\\b([Ll]esson ([0-9][0-9]))\\b");
  const std::string string(text);
  std::string result;
  auto at = string.cbegin();
  for (std::sregex_iterator it(string.begin(), string.end(), pattern), end; it != end; ++it) {
    const std::smatch& match = *it;
    result += escape_html(std::string(at, match[0].first));
    at = match[0].second;
    const std::string whole = escape_html(match.str());
    if (match[1].matched) {
      std::string name = match[1];
      if (name.ends_with("()")) name.resize(name.size() - 2);
      const std::string code = "<code>" + escape_html(match[1].str()) + "</code>",
                        target = sources.address(name);
      result += target.empty() ? code : anchor(link_from(page, target), code);
    } else if (match[2].matched) {
      result += "<em>" + escape_html(match[2].str()) + "</em>";
    } else {
      std::string target;
      if (match[3].matched) target = sources.note(match[3]);
      if (match[4].matched && sources.find(match[4])) target = sources.find(match[4])->page;
      if (match[5].matched) target = sources.lesson(match[6]);
      result += target.empty() || target == page ? whole : anchor(link_from(page, target), whole);
    }
  }
  return result + escape_html(std::string(at, string.cend()));
}

std::string prose(std::string_view comment, const Sources& sources, const std::string& page) {
  const std::vector<std::string> lines = lines_of(comment);
  std::string html;
  for (std::size_t i = 0; i < lines.size();) {
    if (is_blank(lines[i])) {
      ++i;
    } else if (lines[i].starts_with("  ")) {
      std::string block;
      std::size_t end = i;  // behind the last indented line; blank ones in between belong to the block
      for (std::size_t k = i; k < lines.size() && (is_blank(lines[k]) || lines[k].starts_with("  ")); ++k)
        if (!is_blank(lines[k])) end = k + 1;
      for (; i < end; ++i) block += lines[i].substr(std::min<std::size_t>(2, lines[i].size())) + "\n";
      html += "<pre class=\"aside\">" + escape_html(block) + "</pre>\n";
    } else if (item_mark(lines[i])) {
      const bool numbered = std::isdigit(static_cast<unsigned char>(lines[i][0]));
      html += numbered ? "<ol>\n" : "<ul>\n";
      while (i < lines.size() && item_mark(lines[i])) {
        std::string item = lines[i].substr(item_mark(lines[i]));
        for (++i; i < lines.size() && lines[i].starts_with("  ") && !is_blank(lines[i]); ++i)
          item += " " + lines[i].substr(lines[i].find_first_not_of(' '));
        html += "<li>" + inline_prose(item, sources, page) + "</li>\n";
      }
      html += numbered ? "</ol>\n" : "</ul>\n";
    } else {
      std::string paragraph;
      for (; i < lines.size() && !is_blank(lines[i]) && !lines[i].starts_with("  ") && !item_mark(lines[i]);
           ++i)
        paragraph += (paragraph.empty() ? "" : " ") + lines[i];
      if (paragraph.starts_with("Note [")) {  // the note itself: what others refer to
        const std::size_t end = std::min(paragraph.find(']'), paragraph.size() - 1) + 1;
        html += "<p id=\"note-" + escape_html(slug(paragraph.substr(6, end - 7))) + "\"><strong>" +
                escape_html(paragraph.substr(0, end)) + "</strong>" +
                inline_prose(paragraph.substr(end), sources, page) + "</p>\n";
      } else {
        html += "<p>" + inline_prose(paragraph, sources, page) + "</p>\n";
      }
    }
  }
  return html;
}

std::string manual_of(std::string_view source) {
  std::string text;
  for (const std::string& line : lines_of(source)) {
    if (!line.starts_with("//")) break;
    text += comment_text(line) + "\n";
  }
  return text;
}

std::string first_sentence(std::string_view text) {
  std::string sentence;
  for (const std::string& line : lines_of(text)) {
    if (is_blank(line)) break;
    sentence += (sentence.empty() ? "" : " ") + line;
  }
  const std::size_t end = sentence.find(". ");
  return end == std::string::npos ? sentence : sentence.substr(0, end + 1);
}

}  // namespace attn::press
