#include "notebooks_cpp/press/book.hpp"

#include <fmt/format.h>  // format
#include <unistd.h>      // getpid

#include <algorithm>          // sort
#include <fstream>            // ofstream
#include <iterator>           // ssize
#include <nlohmann/json.hpp>  // json
#include <utility>            // pair

#include "core/error.hpp"
#include "notebooks_cpp/press/book_pages.hpp"
#include "notebooks_cpp/press/lines.hpp"  // is_digit

namespace attn::press {

namespace fs = std::filesystem;

namespace {

// Sorted; none if the folder is missing.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code missing;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, missing))
    entries.push_back(entry.path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

bool is_source(const fs::path& path) { return path.extension() == ".hpp" || path.extension() == ".cpp"; }

// A header comes before the source of the same name.
void add_folder(Sources& sources, const fs::path& root, const std::string& folder) {
  std::vector<fs::path> files = entries_of(root / folder);
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    return std::pair(a.stem(), b.extension()) < std::pair(b.stem(), a.extension());
  });
  for (const fs::path& file : files)
    if (is_source(file)) sources.add(folder + "/" + file.filename().string(), read_file(file));
}

std::vector<std::string> lesson_names(const fs::path& root) {
  std::vector<std::string> names;
  for (const fs::path& folder : entries_of(root / "lessons"))
    if (is_digit(folder.filename().string()[0]) && fs::exists(folder / "lesson.cpp"))
      names.push_back(folder.filename().string());
  return names;
}

void add_lesson(Sources& sources, const fs::path& root, const std::string& name) {
  const std::string page = "lessons/" + name + ".html", folder = "lessons/" + name;
  sources.lessons[name.substr(0, 2)] = page;
  sources.add(folder + "/lesson.cpp", read_file(root / folder / "lesson.cpp"), page);
  for (const fs::path& file : entries_of(root / folder))
    if (is_extra_file(file.filename().string()))
      sources.add(folder + "/" + file.filename().string(), read_file(file));
}

// The title of a whole page, as plain text.
std::string title_of(const std::string& html, const std::string& otherwise) {
  const std::size_t begin = html.find("<title>"), end = html.find("</title>");
  if (begin == html.npos || end == html.npos) return otherwise;
  std::string title = html.substr(begin + 7, end - begin - 7);
  for (const std::string character : {"<", ">", "\"", "&"}) {
    const std::string entity = escape_html(character);
    for (std::size_t at = title.find(entity); at != title.npos; at = title.find(entity, at + 1))
      title.replace(at, entity.size(), character);
  }
  return title;
}

// The notebooks are whole pages already.
std::vector<BookPage> notebooks_in(const fs::path& folder) {
  std::vector<BookPage> pages;
  for (const fs::path& file : entries_of(folder)) {
    if (file.extension() != ".html") continue;
    BookPage page{.address = "notebooks/" + file.filename().string(), .title = {}, .chapter = "Notebooks"};
    page.whole = read_file(file);
    page.title = title_of(page.whole, file.stem().string());
    page.entries.push_back({page.title, "notebook", "", ""});
    pages.push_back(std::move(page));
  }
  return pages;
}

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  if (!stream.flush()) fail("book: cannot write {}", path.string());
}

std::string search_index(const std::vector<BookPage>& pages) {
  nlohmann::json index = nlohmann::json::array();
  for (const BookPage& page : pages)
    for (const Entry& entry : page.entries)
      index.push_back(
          {entry.name, entry.kind, entry.text, page.address + (entry.id.empty() ? "" : "#" + entry.id)});
  return "const book_index = " + index.dump() + ";\n" + search_script;
}

}  // namespace

void write_book(const BookOptions& options) {
  const bool something = fs::exists(options.book) && !fs::is_empty(options.book);
  if (something && !fs::exists(options.book / "search.js"))
    fail("book: {} holds something else; remove it or choose another folder", options.book.string());
  const std::vector<std::string> lessons = lesson_names(options.root);
  if (lessons.empty()) fail("book: there is no lessons/*/lesson.cpp in {}", options.root.string());
  for (const std::string& name : lessons)
    if (!fs::exists(options.out / name / "output.txt"))
      fail("book: {} is missing; run `make {}` first", (options.out / name / "output.txt").string(),
           name.substr(0, 2));

  Sources sources;
  for (const Folder& folder : library_folders) add_folder(sources, options.root, folder.path);
  for (const std::string& name : lessons) add_lesson(sources, options.root, name);

  std::vector<BookPage> pages(1);
  for (const std::string& name : lessons)
    pages.push_back(lesson_page(options.root / "lessons" / name, options.out / name,
                                options.root / "tests/exercises" / (name + "_test.cpp"), sources));
  for (BookPage& page : notebooks_in(options.out / "notebooks")) pages.push_back(std::move(page));
  for (const Folder& folder : library_folders) pages.push_back(reference_page(folder, sources));
  for (const auto& file : sources.files())
    if (file->page == file->path + ".html") pages.push_back(source_page(*file, sources));
  pages[0] = front_page(pages, sources);

  const fs::path made = fmt::format("{}.{}", options.book.string(), getpid());
  fs::remove_all(made);
  try {
    for (Index i = 0; i < std::ssize(pages); ++i) {
      write(made / pages[i].address, framed(pages, i));
      for (const auto& [from, address] : pages[i].copies) {
        fs::create_directories((made / address).parent_path());
        fs::copy_file(from, made / address, fs::copy_options::overwrite_existing);
      }
    }
    write(made / "search.js", search_index(pages));
    const fs::path old = made.string() + ".old";
    if (fs::exists(options.book)) fs::rename(options.book, old);
    fs::rename(made, options.book);
    fs::remove_all(old);
  } catch (...) {
    fs::remove_all(made);
    throw;
  }
}

}  // namespace attn::press
