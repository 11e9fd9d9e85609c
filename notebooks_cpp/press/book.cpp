#include "notebooks_cpp/press/book.hpp"

#include <fmt/core.h>  // format
#include <unistd.h>    // getpid

#include <algorithm>  // min, sort
#include <fstream>    // ofstream
#include <iterator>   // ssize
#include <map>        // map
#include <utility>    // pair

#include "core/error.hpp"
#include "lessons/support/gallery.hpp"  // write_gallery
#include "notebooks_cpp/press/book_pages.hpp"
#include "notebooks_cpp/press/lines.hpp"  // is_digit

namespace attn::press {

namespace fs = std::filesystem;

namespace {

const fs::path web = "notebooks_cpp/press/web";  // what pages of the book load, and the glossary

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

// A notebook is a whole page already. It gets links to lessons, but not inside of its pictures.
std::string linked_notebook(const std::string& html, const PageText& text) {
  std::string result;
  for (std::size_t at = 0; at < html.size();) {
    const std::size_t data = std::min(html.find("\"data:", at), html.size());
    const std::size_t end = data == html.size() ? data : std::min(html.find('"', data + 1), html.size());
    result += text.linked(html.substr(at, data - at)) + html.substr(data, end - data);
    at = end;
  }
  return result;
}

std::vector<BookPage> notebooks_in(const fs::path& folder, Sources& sources) {
  std::vector<BookPage> pages;
  for (const fs::path& file : entries_of(folder)) {
    if (file.extension() != ".html") continue;
    const std::string name = file.stem().string(), html = read_file(file);
    const std::size_t begin = html.find("<title>"), end = html.find("</title>");
    BookPage page{.address = "notebooks/" + name + ".html",
                  .title = begin < end && end != html.npos ? text_of(html.substr(begin, end - begin)) : name,
                  .chapter = "Notebooks",
                  .kind = "notebook",
                  .whole = html,
                  .has_contents = true,
                  .has_text = true};
    page.summary = first_sentence(text_of(sections_of(page)[0].html));
    page.cover = folder / name / "01.png";
    sources.notebooks[name] = page.address;
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

// The picture on each card, chosen by eye; a page that is not listed has its first.
void choose_covers(std::vector<BookPage>& pages, const fs::path& out) {
  static const std::map<std::string, const char*> chosen = {
      {"01_tensors", "01_tensors/matmul.png"},
      {"02_autograd", "02_autograd/graph.png"},
      {"03_fast_matmul", "03_fast_matmul/ladder.png"},
      {"04_learning", "04_learning/spirals.png"},
      {"05_tokens", "05_tokens/vectors.png"},
      {"06_self_attention", "06_self_attention/attention.png"},
      {"07_masking", "07_masking/leak.png"},
      {"08_multi_head", "08_multi_head/heads.png"},
      {"09_positions", "09_positions/rope.png"},
      {"10_blocks", "10_blocks/where_can_it_learn.png"},
      {"11_transformer", "11_transformer/architecture.png"},
      {"12_training", "12_training/anti_diagonal.png"},
      {"13_translator", "13_translator/en-fr-attention.png"},
      {"14_decoding", "14_decoding/beam_tree.png"},
      {"15_gpt", "15_gpt/attention_head.png"},
      {"16_bert", "16_bert/both_ways.png"},
      {"17_t5", "17_t5/corrupted.png"},
      {"18_fast_attention", "18_fast_attention/window.png"},
      {"19_today", "19_today/changes.png"},
      {"20_many_machines", "20_many_machines/ring.png"},
      {"01_attention_by_hand", "notebooks/01_attention_by_hand/02.png"},
      {"02_positions_landscape", "notebooks/02_positions_landscape/02.png"},
      {"03_training_dynamics", "notebooks/03_training_dynamics/05.png"},
      {"04_what_heads_learn", "notebooks/04_what_heads_learn/01.png"},
      {"05_temperature", "notebooks/05_temperature/02.png"},
      {"06_speed_of_light", "notebooks/06_speed_of_light/02.png"},
      {"07_how_far", "notebooks/07_how_far/02.png"},
  };
  for (BookPage& page : pages) {
    const auto found = chosen.find(fs::path(page.address).stem().string());
    if (found != chosen.end() && fs::exists(out / found->second)) page.cover = out / found->second;
  }
}

}  // namespace

void write_book(const BookOptions& options) {
  const bool something = fs::exists(options.book) && !fs::is_empty(options.book);
  if (something && !fs::exists(options.book / "search-index.js"))
    fail("book: {} holds something else; remove it or choose another folder", options.book.string());
  const std::vector<std::string> lessons = lesson_names(options.root);
  if (lessons.empty()) fail("book: there is no lessons/*/lesson.cpp in {}", options.root.string());
  for (const std::string& name : lessons)
    if (!fs::exists(options.out / name / "lesson.json"))
      fail("book: {} is missing; run `make {}` first", (options.out / name / "lesson.json").string(),
           name.substr(0, 2));

  Sources sources;
  for (const Folder& folder : library_folders) add_folder(sources, options.root, folder.path);
  for (const std::string& name : lessons) add_lesson(sources, options.root, name);

  std::vector<fs::path> milestones;
  for (const fs::path& folder : entries_of(options.out)) {
    const std::string name = folder.filename().string(), source = milestone_source(name);
    if (is_digit(name[0]) || !fs::exists(folder / "lesson.json")) continue;
    milestones.push_back(folder);
    if (fs::exists(options.root / source))
      sources.add(source, read_file(options.root / source), "milestones/" + name + ".html");
  }
  std::vector<BookPage> notebooks = notebooks_in(options.out / "notebooks", sources);
  std::vector<BookPage> pages(1);
  for (const std::string& name : lessons)
    pages.push_back(lesson_page(options.root / "lessons" / name, options.out / name,
                                options.root / "tests/exercises" / (name + "_test.cpp"), sources));
  for (const fs::path& folder : milestones) pages.push_back(lesson_page(folder, folder, "", sources));
  for (BookPage& page : notebooks) {
    page.whole = linked_notebook(page.whole, {sources, page.address});
    pages.push_back(std::move(page));
  }
  choose_covers(pages, options.out);
  if (const fs::path glossary = options.root / web / "glossary.md"; fs::exists(glossary))
    pages.insert(pages.begin() + 1, glossary_page(read_file(glossary), pages, sources));
  for (const Folder& folder : library_folders) pages.push_back(reference_page(folder, sources));
  for (const auto& file : sources.files())
    if (file->page == file->path + ".html") pages.push_back(source_page(*file, sources));
  pages[0] = front_page(pages, sources,
                        {.live = fs::exists(options.out / "live/index.html"),
                         .bench = fs::exists(options.out / "bench/index.html")});

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
    write(made / "search-index.js", search_index(pages));
    for (const char* file : {"book.css", "book.js", "figures.js"})
      fs::copy_file(options.root / web / file, made / file);
    const fs::path old = made.string() + ".old";
    if (fs::exists(options.book)) fs::rename(options.book, old);
    fs::rename(made, options.book);
    fs::remove_all(old);
    write_gallery(options.out);  // now that there are pages to link to
  } catch (...) {
    fs::remove_all(made);
    throw;
  }
}

}  // namespace attn::press
