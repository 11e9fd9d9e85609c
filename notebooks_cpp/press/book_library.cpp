#include <fmt/core.h>  // format

#include <algorithm>  // replace
#include <set>        // set

#include "notebooks_cpp/press/book_pages.hpp"

namespace attn::press {
namespace {

using Kind = Declaration::Kind;

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }
std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }
std::string code(const std::string& text) { return "<code>" + text + "</code>"; }

// One declaration in the reference: its signature, where it stands, what its line says.
std::string item(const SourceFile& file, const Declaration& declaration, const PageText& text) {
  const auto place = [&](const Sources::Target& target) {
    return text.link(target.address(),
                     fmt::format("{}:{}", file_name(target.file->path), target.declaration->line));
  };
  const Sources::Target* body = text.sources.body_of(declaration, file.path);
  const bool silent = declaration.remark.empty() && declaration.comment.empty();
  return fmt::format(
      "<div class=\"item\"><pre class=\"signature\"><code>{}</code></pre><span "
      "class=\"places\">{}{}</span>{}</div>\n",
      text.code(declaration.signature), place({&file, &declaration}), body ? " · " + place(*body) : "",
      text.prose(silent && body ? body->declaration->comment : declaration.remark));
}

}  // namespace

std::string reference_address(const std::string& folder) {
  std::string name = folder;
  std::replace(name.begin(), name.end(), '/', '-');
  return "reference/" + name + ".html";
}

BookPage source_page(const SourceFile& file, const Sources& sources) {
  const std::string manual = manual_of(file.text);
  BookPage page{.address = file.page,
                .title = file.path,
                .chapter = folder_of(file.path),
                .summary = first_sentence(manual)};
  page.entries.push_back({file.path, "file", page.summary, ""});
  const PageText text{sources, page.address};

  std::string names, users;
  std::set<std::string> named;
  for (const Declaration& each : file.declared)
    if (each.scope.empty() && !each.internal && !each.name.starts_with("operator") &&
        each.kind != Kind::variable && named.insert(each.name).second)
      names += fmt::format("<a href=\"#L{}\">{}</a>\n", each.line, escape_html(each.name));
  for (const auto& each : sources.files())
    if (each->text.find("#include \"" + file.path + "\"") != std::string::npos)
      users += (users.empty() ? "" : ", ") + text.link(each->page, code(each->path));
  const SourceFile* twin = sources.find(file.path.substr(0, file.path.size() - 4) +
                                        (file.path.ends_with(".hpp") ? ".cpp" : ".hpp"));

  page.body = fmt::format(
      "<header class=\"opening\"><p class=\"kicker\">{}</p>\n<h1 class=\"path\">{}</h1>\n"
      "<div class=\"intro\">{}</div>\n",
      escape_html(page.chapter), escape_html(file_name(file.path)), text.prose(manual));
  if (!names.empty())
    page.body += "<nav class=\"names\" aria-label=\"Declared here\">\n" + names + "</nav>\n";
  if (twin) page.body += "<p class=\"soft\">With " + text.link(twin->page, code(twin->path)) + "</p>\n";
  if (!users.empty())
    page.body +=
        "<details class=\"users\"><summary>Who includes it</summary><p>" + users + "</p></details>\n";
  page.body += "</header>\n";
  const Listing lines = listing(file, sources);
  page.body += preamble_html(file.text, lines);
  Ids ids;
  for (const Row& row : rows_of(file.text)) page.body += row_html(row, lines, text, ids);
  return page;
}

BookPage reference_page(const Folder& folder, const Sources& sources) {
  const std::string path = folder.path;
  BookPage page{.address = reference_address(path),
                .title = path,
                .chapter = "Reference",
                .summary = folder.about,
                .has_contents = true};
  page.entries.push_back({path, "reference", page.summary, ""});
  const PageText text{sources, page.address};
  std::string contents, body;
  Ids ids;
  for (const auto& file : sources.files()) {
    if (folder_of(file->path) != path || !file->path.ends_with(".hpp")) continue;
    const std::string header = ids.unique(file_name(file->path));
    contents += fmt::format("<a href=\"#{}\">{}</a>\n", header, file_name(file->path));
    body += fmt::format("<h2 id=\"{}\">{}</h2>\n<div class=\"intro\">{}</div>\n", header,
                        text.link(file->page, code(file->path)),
                        text.prose(first_sentence(manual_of(file->text))));
    bool in_type = false;  // members come now
    Index line = 0;        // one statement may declare several
    for (const Declaration& each : file->declared) {
      if (each.internal || each.first_line == line) continue;
      const bool member = !each.scope.empty(), variable = each.kind == Kind::variable;
      if (variable) line = each.first_line;
      // Mask::bias must not take the address of mask_bias.
      const std::string id = ids.unique((member ? "member " : "") + qualified(each));
      if (!member && in_type) body += "</div>\n";
      if (!member) in_type = each.kind == Kind::type && !each.signature.starts_with("enum");
      body += fmt::format("<article class=\"declared{}\" id=\"{}\">{}{}</article>\n",
                          each.after_blank ? " apart" : "", escape_html(id), text.prose(each.comment),
                          item(*file, each, text));
      if (!member && in_type) body += "<div class=\"members\">\n";
      const std::string comment = each.remark.empty() ? first_sentence(each.comment) : each.remark;
      const char* kind = each.kind == Kind::function ? "function" : variable ? "constant" : "type";
      if (!variable || !member)
        page.entries.push_back({qualified(each), kind, comment.empty() ? each.signature : comment, id});
    }
    if (in_type) body += "</div>\n";
  }
  page.body = fmt::format(
      "<header class=\"opening\"><p class=\"kicker\">Reference</p>\n<h1>{}</h1>\n<p class=\"intro\">{}</p>\n"
      "<nav class=\"names\" aria-label=\"Headers\">\n{}</nav></header>\n<div class=\"reference\">{}</div>\n",
      escape_html(path), text.sentence(folder.about), contents, body);
  return page;
}

}  // namespace attn::press
