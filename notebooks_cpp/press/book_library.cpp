#include "notebooks_cpp/press/book_library.hpp"

#include <fmt/format.h>  // format

#include <algorithm>  // replace
#include <set>        // set

#include "notebooks_cpp/press/book_rows.hpp"
#include "notebooks_cpp/press/highlight.hpp"
#include "notebooks_cpp/press/html.hpp"

namespace attn::press {
namespace {

std::string kind_of(const Declaration& declaration) {
  switch (declaration.kind) {
    case Declaration::Kind::function:
      return "function";
    case Declaration::Kind::type:
      return "type";
    case Declaration::Kind::alias:
      return "type";
    default:
      return "constant";
  }
}

std::string place(const SourceFile& file, const Declaration& declaration) {
  return file.page + "#L" + std::to_string(declaration.line);
}

std::string link(const std::string& page, const std::string& address, const std::string& html) {
  return fmt::format("<a href=\"{}\">{}</a>", escape_html(link_from(page, address)), html);
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Which sources include this one.
std::string included_by(const SourceFile& file, const Sources& sources, const std::string& page) {
  std::string list;
  for (const auto& each : sources.files())
    if (each->text.find("#include \"" + file.path + "\"") != std::string::npos)
      list += (list.empty() ? "" : ", ") + link(page, each->page, "<code>" + each->path + "</code>");
  return list;
}

// One declaration in the reference: its signature, where it stands, what its line says.
std::string item(const SourceFile& file, const Declaration& declaration, const Sources& sources,
                 const std::string& page) {
  const std::string code = declaration.signature;
  std::string places =
      link(page, place(file, declaration), fmt::format("{}:{}", file_name(file.path), declaration.line));
  if (const std::string body = sources.definition(file, declaration); !body.empty())
    places +=
        " · " + link(page, body,
                     file_name(body.substr(0, body.find(".html"))) + ":" + body.substr(body.find("#L") + 2));
  std::string remark = declaration.remark;
  const Declaration* body = sources.defined_as(declaration);
  if (remark.empty() && declaration.comment.empty() && body) remark = body->comment;
  return fmt::format(
      "<div class=\"item\"><pre class=\"signature\"><code>{}</code></pre><span class=\"places\">{}</span>"
      "{}</div>\n",
      highlight_cpp(code, sources.linker(code, page)), places,
      remark.empty() ? "" : prose(remark, sources, page));
}

}  // namespace

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

BookPage source_page(const SourceFile& file, const Sources& sources) {
  const std::string manual = manual_of(file.text);
  BookPage page{.address = file.page,
                .title = file.path,
                .chapter = folder_of(file.path),
                .summary = first_sentence(manual),
                .body = {},
                .whole = {},
                .entries = {},
                .copies = {}};
  page.entries.push_back({file.path, "file", page.summary, page.address});
  const Listing code = listing(file, sources);
  const Row preamble = preamble_of(file.text);

  std::string names;
  std::set<std::string> named;
  for (const Declaration& each : file.declared) {
    const bool shown = each.scope.empty() && !each.internal && !named.count(each.name) &&
                       !each.name.starts_with("operator") && each.kind != Declaration::Kind::variable;
    if (!shown) continue;
    names += fmt::format("<a href=\"#L{}\">{}</a>\n", each.line, escape_html(each.name));
    named.insert(each.name);
  }
  const std::string twin_path =
      file.path.substr(0, file.path.size() - 4) + (file.path.ends_with(".hpp") ? ".cpp" : ".hpp");
  std::string about;
  if (const SourceFile* twin = sources.find(twin_path))
    about += "<p class=\"soft\">With " + link(page.address, twin->page, "<code>" + twin->path + "</code>") +
             "</p>\n";
  if (const std::string users = included_by(file, sources, page.address); !users.empty())
    about += "<details class=\"users\"><summary>Who includes it</summary><p>" + users + "</p></details>\n";

  page.body = fmt::format(
      "<header class=\"opening\"><p class=\"kicker\">{}</p>\n<h1 class=\"path\">{}</h1>\n<div "
      "class=\"intro\">{}</div>\n"
      "{}{}</header>\n",
      escape_html(page.chapter), escape_html(file_name(file.path)), prose(manual, sources, page.address),
      names.empty() ? "" : "<nav class=\"names\" aria-label=\"Declared here\">\n" + names + "</nav>\n",
      about);
  if (preamble.first <= preamble.last)
    page.body += "<details class=\"preamble\"><summary>What it includes</summary>" +
                 code.block(preamble.first, preamble.last) + "</details>\n";
  Ids ids;
  for (const Row& row : rows_of(file.text)) page.body += row_html(row, code, sources, page.address, ids);
  return page;
}

BookPage reference_page(const std::string& folder, const std::string& about, const Sources& sources) {
  std::string name = folder;
  std::replace(name.begin(), name.end(), '/', '-');
  BookPage page{.address = "reference/" + name + ".html",
                .title = folder + ": reference",
                .chapter = "Reference",
                .summary = about,
                .body = {},
                .whole = {},
                .entries = {},
                .copies = {}};
  page.entries.push_back({folder, "reference", about, page.address});
  std::string contents, body;
  Ids ids;
  for (const auto& file : sources.files()) {
    if (folder_of(file->path) != folder || !file->path.ends_with(".hpp")) continue;
    const std::string header = ids.unique(file_name(file->path));
    contents += fmt::format("<a href=\"#{}\">{}</a>\n", header, file_name(file->path));
    body += fmt::format("<h2 id=\"{}\">{}</h2>\n<div class=\"intro\">{}</div>\n", header,
                        link(page.address, file->page, "<code>" + file->path + "</code>"),
                        prose(first_sentence(manual_of(file->text)), sources, page.address));
    std::string type;  // whose members come now
    int line = 0;      // one statement may declare several
    for (const Declaration& each : file->declared) {
      if (each.internal || each.first_line == line) continue;
      if (each.kind == Declaration::Kind::variable) line = each.first_line;
      // Mask::bias must not take the address of mask_bias.
      const std::string id = ids.unique((each.scope.empty() ? "" : "member ") + qualified(each));
      if (each.scope.empty()) {
        if (!type.empty()) body += "</div>\n";
        type = each.kind == Declaration::Kind::type && !each.signature.starts_with("enum") ? each.name : "";
      }
      body +=
          fmt::format("<article class=\"declared{}\" id=\"{}\">{}{}</article>\n",
                      each.after_blank ? " apart" : "", escape_html(id),
                      prose(each.comment, sources, page.address), item(*file, each, sources, page.address));
      if (each.scope.empty() && !type.empty()) body += "<div class=\"members\">\n";
      const std::string comment = each.remark.empty() ? first_sentence(each.comment) : each.remark;
      if (each.kind != Declaration::Kind::variable || each.scope.empty())
        page.entries.push_back({qualified(each), kind_of(each), comment.empty() ? each.signature : comment,
                                page.address + "#" + id});
    }
    if (!type.empty()) body += "</div>\n";
  }
  page.body = fmt::format(
      "<header class=\"opening\"><p class=\"kicker\">Reference</p>\n<h1>{}</h1>\n<p class=\"intro\">{}</p>\n"
      "<nav class=\"names\" aria-label=\"Headers\">\n{}</nav></header>\n<div class=\"reference\">{}</div>\n",
      escape_html(folder), inline_prose(about, sources, page.address), contents, body);
  return page;
}

}  // namespace attn::press
