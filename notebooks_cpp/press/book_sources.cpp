#include "notebooks_cpp/press/book_sources.hpp"

#include <fmt/core.h>  // format

#include <algorithm>  // count
#include <iterator>   // ssize

#include "notebooks_cpp/press/html.hpp"   // slug
#include "notebooks_cpp/press/lines.hpp"  // lines_of

namespace attn::press {
namespace {

using Kind = Declaration::Kind;

bool ends_with_part(std::string_view path, std::string_view part) {
  return path == part || (path.ends_with(part) && path.substr(0, path.size() - part.size()).ends_with("::"));
}

// The class or the namespace that a name belongs to.
const std::string& owner_of(const Declaration& declaration) {
  return declaration.scope.empty() ? declaration.within : declaration.scope;
}

// What a lesson declares is for that lesson, what lessons/support declares is for lessons.
bool may_use(const std::string& page, const std::string& path) {
  if (!path.starts_with("lessons/")) return true;
  const std::string folder = path.substr(0, path.rfind('/'));
  return page.starts_with(folder == "lessons/support" ? "lessons/" : folder);
}

Index commas_in(std::string_view text) { return std::count(text.begin(), text.end(), ','); }

std::string_view text_at(const std::vector<Token>& code, Index i) {
  return i >= 0 && i < std::ssize(code) ? code[i].text : "";
}

bool is_member_access(std::string_view symbol) { return symbol == "." || symbol == "->"; }

// `const auto sum = [](…) …`: what is called so here is no function of the library.
bool is_local(const std::vector<Token>& code, std::string_view name) {
  for (Index i = 2; i < std::ssize(code); ++i)
    if (code[i - 1].text == name && code[i - 2].text == "auto" && code[i].text == "=") return true;
  return false;
}

}  // namespace

std::string link_from(const std::string& page, const std::string& address) {
  if (address.empty()) return "";
  if (address.starts_with(page + "#")) return address.substr(page.size());
  std::string link = address;
  for (const char c : page)
    if (c == '/') link = "../" + link;
  return link;
}

std::string Sources::Target::address() const { return fmt::format("{}#L{}", file->page, declaration->line); }

void Sources::add(const std::string& path, std::string text, const std::string& page) {
  files_.push_back(std::make_unique<SourceFile>(
      SourceFile{path, page.empty() ? path + ".html" : page, std::move(text), {}}));
  SourceFile& file = *files_.back();
  file.declared = declarations(file.text);
  for (const Declaration& each : file.declared) {
    if (each.defined) bodies_[qualified(each)].push_back({&file, &each});
    if (path.ends_with(".hpp") && !each.internal) named_[each.name].push_back({&file, &each});
  }
  for (const std::string& line : lines_of(file.text)) {
    if (!line.starts_with("// Note [")) continue;
    const std::string title = line.substr(9, line.find(']') - 9);
    notes_[title] = file.page + "#note-" + slug(title);
  }
}

const SourceFile* Sources::find(const std::string& path) const {
  for (const auto& file : files_)
    if (file->path == path) return file.get();
  return nullptr;
}

const Sources::Target* Sources::body_of(const Declaration& declaration, const std::string& path) const {
  if (declaration.kind != Kind::function || declaration.defined) return nullptr;
  const auto found = bodies_.find(qualified(declaration));
  if (found == bodies_.end()) return nullptr;
  const std::string stem = path.substr(0, path.rfind('.'));
  const Target* result = nullptr;
  int most = -1;
  for (const Target& target : found->second) {
    const Declaration& body = *target.declaration;
    if (body.kind != Kind::function || (body.internal && !declaration.internal)) continue;
    const int fit = (body.parameters == declaration.parameters ? 4 : 0) +
                    (commas_in(body.parameters) == commas_in(declaration.parameters) ? 2 : 0) +
                    (target.file->path.starts_with(stem) ? 1 : 0);
    if (fit > most) most = fit, result = &target;
  }
  return result;
}

std::string Sources::address(std::string_view name) const {
  const std::size_t colons = name.rfind("::");
  const bool has_owner = colons != name.npos;
  const auto found = named_.find(has_owner ? name.substr(colons + 2) : name);
  if (found == named_.end()) return "";
  for (const Target& target : found->second) {
    const Declaration& each = *target.declaration;
    const bool fits = has_owner ? ends_with_part(owner_of(each), name.substr(0, colons))
                                : each.scope.empty() && each.kind != Kind::variable;
    if (fits) return target.address();
  }
  return "";
}

std::string Sources::note(const std::string& title) const {
  const auto found = notes_.find(title);
  return found == notes_.end() ? "" : found->second;
}

// Which of the declarations of this name is meant by code[at].
const Sources::Target* Sources::best(const std::vector<Token>& code, Index at,
                                     const std::string& page) const {
  const auto found = named_.find(code[at].text);
  if (found == named_.end()) return nullptr;
  const std::string_view before = text_at(code, at - 1);
  const bool called = text_at(code, at + 1) == "(", member = is_member_access(before);

  const Target* result = nullptr;
  for (const Target& target : found->second) {
    if (!may_use(page, target.file->path)) continue;
    const Declaration& each = *target.declaration;
    const bool function = each.kind == Kind::function && called;
    const bool type = each.kind == Kind::type || each.kind == Kind::alias;
    const bool fits = before == "::" ? ends_with_part(owner_of(each), text_at(code, at - 2))
                      : member       ? function && !each.scope.empty()
                                     : (function || type) && each.scope.empty();
    if (!fits) continue;
    if (result && member && result->declaration->scope != each.scope)
      return nullptr;  // a member of one class or of another
    if (!result) result = &target;
  }
  return result;
}

NameLinker Sources::linker(const std::string& page) const {
  return [this, page](const std::vector<Token>& code, Index at) {
    const Target* target = is_local(code, code[at].text) ? nullptr : best(code, at, page);
    return target ? link_from(page, target->address()) : "";
  };
}

NameLinker Sources::linker(const SourceFile& file) const {
  // What this very file declares hides what is declared elsewhere.
  return [this, &file, elsewhere = linker(file.page)](const std::vector<Token>& code, Index at) {
    const std::string_view before = text_at(code, at - 1);
    for (const Declaration& each : file.declared) {
      if (each.name != code[at].text) continue;
      if (each.line == code[at].line) {
        const Target* body = body_of(each, file.path);
        if (body) return link_from(file.page, body->address());
        if (file.path.ends_with(".cpp") && !each.internal) break;  // to where it is declared
        return std::string();
      }
      const bool plain = before != "::" && !is_member_access(before);
      if (plain && each.internal && each.scope.empty() && each.kind != Kind::variable)
        return fmt::format("#L{}", each.line);
    }
    return elsewhere(code, at);
  };
}

}  // namespace attn::press
