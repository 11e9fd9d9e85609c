#include "notebooks_cpp/press/book_sources.hpp"

#include <algorithm>  // count
#include <cctype>     // isalnum

#include "notebooks_cpp/press/html.hpp"

namespace attn::press {
namespace {

// The token that ends right before `place` and the one before that: `viz` and `::` of viz::heatmap.
struct Before {
  std::string_view mark, word;
};


Before before(std::string_view code, std::size_t place) {
  const std::string_view head = code.substr(0, place);
  const std::string_view mark = head.ends_with("::")   ? "::"
                                : head.ends_with("->") ? "->"
                                : head.ends_with(".")  ? "."
                                                       : "";
  std::size_t end = place - mark.size(), begin = end;
  while (!mark.empty() && begin > 0 && is_name(code[begin - 1])) --begin;
  return {mark, code.substr(begin, end - begin)};
}

bool ends_with_part(std::string_view path, std::string_view part) {
  return path == part || (path.ends_with(part) && path.substr(0, path.size() - part.size()).ends_with("::"));
}

// What a lesson declares is for that lesson, what lessons/support declares is for lessons.
bool may_use(const std::string& page, const std::string& path) {
  if (!path.starts_with("lessons/")) return true;
  const std::string folder = path.substr(0, path.rfind('/'));
  return page.starts_with(folder == "lessons/support" ? "lessons/" : folder);
}

int count_of(std::string_view text, char c) {
  return static_cast<int>(std::count(text.begin(), text.end(), c));
}

}  // namespace

std::string link_from(const std::string& page, const std::string& address) {
  if (address.empty()) return "";
  if (address.starts_with(page + "#")) return address.substr(page.size());
  std::string up;
  for (int depth = count_of(page, '/'); depth > 0; --depth) up += "../";
  return up + address;
}

void Sources::add(const std::string& path, std::string text, const std::string& page) {
  auto file = std::make_unique<SourceFile>();
  file->path = path;
  file->page = page.empty() ? path + ".html" : page;
  file->text = std::move(text);
  file->declared = declarations(file->text);
  for (const Declaration& each : file->declared) {
    if (each.defined) bodies_[qualified(each)].push_back({file.get(), &each});
    if (path.ends_with(".hpp") && !each.internal) named_[each.name].push_back({file.get(), &each});
  }
  for (const std::string& line : lines_of(file->text)) {
    if (!line.starts_with("// Note [")) continue;
    const std::string title = line.substr(9, line.find(']') - 9);
    notes_[title] = file->page + "#note-" + slug(title);
  }
  files_.push_back(std::move(file));
}

const SourceFile* Sources::find(const std::string& path) const {
  for (const auto& file : files_)
    if (file->path == path) return file.get();
  return nullptr;
}

const Sources::Target* Sources::body_of(const Declaration& declaration, const std::string& path) const {
  if (declaration.kind != Declaration::Kind::function || declaration.defined) return nullptr;
  const auto found = bodies_.find(qualified(declaration));
  if (found == bodies_.end()) return nullptr;
  const std::string stem = path.substr(0, path.rfind('.'));
  const Target* result = nullptr;
  int most = -1;
  for (const Target& target : found->second) {
    const Declaration& body = *target.declaration;
    if (body.kind != Declaration::Kind::function || (body.internal && !declaration.internal)) continue;
    const int fit = (body.parameters == declaration.parameters ? 4 : 0) +
                    (count_of(body.parameters, ',') == count_of(declaration.parameters, ',') ? 2 : 0) +
                    (target.file->path.starts_with(stem) ? 1 : 0);
    if (fit > most) most = fit, result = &target;
  }
  return result;
}

std::string Sources::definition(const SourceFile& file, const Declaration& declaration) const {
  const Target* body = body_of(declaration, file.path);
  return body ? body->file->page + "#L" + std::to_string(body->declaration->line) : "";
}

const Declaration* Sources::defined_as(const Declaration& declaration) const {
  const Target* body = body_of(declaration, "");
  return body ? body->declaration : nullptr;
}

std::string Sources::address(std::string_view name) const {
  const std::size_t colons = name.rfind("::");
  const std::string_view last = colons == std::string_view::npos ? name : name.substr(colons + 2);
  const auto found = named_.find(last);
  if (found == named_.end()) return "";
  for (const Target& target : found->second) {
    const Declaration& each = *target.declaration;
    const bool fits =
        colons == std::string_view::npos
            ? each.scope.empty() && each.kind != Declaration::Kind::variable
            : ends_with_part(each.scope.empty() ? each.within : each.scope, name.substr(0, colons));
    if (fits) return target.file->page + "#L" + std::to_string(each.line);
  }
  return "";
}

std::string Sources::note(const std::string& title) const {
  const auto found = notes_.find(title);
  return found == notes_.end() ? "" : found->second;
}

std::string Sources::lesson(const std::string& number) const {
  const auto found = lessons.find(number);
  return found == lessons.end() ? "" : found->second;
}

// Which of the declarations with this name is meant where it stands in `code`.
const Sources::Target* Sources::best(std::string_view code, std::string_view name,
                                     const std::string& page) const {
  const auto found = named_.find(name);
  if (found == named_.end()) return nullptr;
  const std::size_t place = static_cast<std::size_t>(name.data() - code.data());
  const Before ahead = before(code, place);
  std::size_t behind = place + name.size();
  while (behind < code.size() && code[behind] == ' ') ++behind;
  const bool called = behind < code.size() && code[behind] == '(';

  const Target* result = nullptr;
  for (const Target& target : found->second) {
    if (!may_use(page, target.file->path)) continue;
    const Declaration& each = *target.declaration;
    bool fits = false;
    if (ahead.mark == "::")
      fits = ends_with_part(each.scope.empty() ? each.within : each.scope, ahead.word);
    else if (!ahead.mark.empty())
      fits = !each.scope.empty() && each.kind == Declaration::Kind::function && called;
    else
      fits = each.scope.empty() &&
             (each.kind == Declaration::Kind::type || each.kind == Declaration::Kind::alias ||
              (each.kind == Declaration::Kind::function && called));
    if (!fits) continue;
    if (result && ahead.mark != "::" && !ahead.mark.empty() && result->declaration->scope != each.scope)
      return nullptr;  // a member of one class or of another
    if (!result) result = &target;
  }
  return result;
}

std::string Sources::target_at(const SourceFile* file, std::string_view code, std::string_view name,
                               const std::string& page) const {
  if (name.data() < code.data() || name.data() >= code.data() + code.size()) return "";
  const std::size_t place = static_cast<std::size_t>(name.data() - code.data());
  if (file) {  // what is declared in this very file hides what is declared elsewhere
    const int line = 1 + count_of(code.substr(0, place), '\n');
    const bool plain = before(code, place).mark.empty();
    for (const Declaration& each : file->declared) {
      if (each.name != name) continue;
      if (each.line == line) {
        const Target* body = body_of(each, file->path);
        if (body) return link_from(page, body->file->page + "#L" + std::to_string(body->declaration->line));
        if (file->path.ends_with(".cpp") && !each.internal) break;  // to where it is declared
        return "";
      }
      const bool hides =
          each.scope.empty() && each.internal && plain && each.kind != Declaration::Kind::variable;
      if (hides) return "#L" + std::to_string(each.line);
    }
  }
  const bool local =
      code.find("auto " + std::string(name) + " = ") != std::string_view::npos;  // a lambda, most likely
  const Target* target = local ? nullptr : best(code, name, page);
  return target ? link_from(page, target->file->page + "#L" + std::to_string(target->declaration->line)) : "";
}

Linker Sources::linker(const SourceFile& file) const {
  return [this, &file](std::string_view name) { return target_at(&file, file.text, name, file.page); };
}

Linker Sources::linker(std::string_view code, const std::string& page) const {
  return [this, code, page](std::string_view name) { return target_at(nullptr, code, name, page); };
}

}  // namespace attn::press
