#include "notebooks_cpp/check/check_pages.hpp"

#include <algorithm>  // min, replace, sort
#include <charconv>   // from_chars
#include <iterator>   // ssize
#include <memory>     // make_unique

#include "core/atomic_file.hpp"  // write_file_atomically
#include "core/base64.hpp"
#include "lessons/support/html.hpp"  // escape_link
#include "notebooks_cpp/check/check_live.hpp"
#include "notebooks_cpp/check/chromium.hpp"
#include "notebooks_cpp/check/page_scripts.hpp"
#include "notebooks_cpp/press/lines.hpp"  // is_digit

namespace attn::press {

namespace fs = std::filesystem;

namespace {

struct Window {
  const char* name;
  int width, height;
};
constexpr Window wide{"wide", 1400, 900}, narrow{"narrow", 390, 844};
constexpr int tallest_picture = 4000;
constexpr Index small_folder = 24, taken_of_large_folder = 8;

bool is_outward(std::string_view url) {
  return url.starts_with("http:") || url.starts_with("https:") || url.starts_with("mailto:");
}

std::string decode_percent(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view digits = text.substr(std::min(i + 1, text.size()), 2);
    unsigned value = 0;
    const bool encoded =
        text[i] == '%' && digits.size() == 2 &&
        std::from_chars(digits.data(), digits.data() + 2, value, 16).ptr == digits.data() + 2;
    decoded += encoded ? static_cast<char>(value) : text[i];
    if (encoded) i += 2;
  }
  return decoded;
}

// What a page asks for, as a person who reads that page would write it.
std::string shown(const std::string& url, const fs::path& page) {
  const std::optional<FileTarget> target = file_target(url);
  if (!target) return url;
  const std::string file = target->file == page ? "" : target->file.lexically_relative(page.parent_path());
  return target->anchor.empty() ? file : file + "#" + target->anchor;
}

// What is wrong with loading `url`, or nothing.
std::optional<std::string> load_fault(const std::string& url, const fs::path& page) {
  if (is_elsewhere(url)) return fmt::format("loads {} from elsewhere", url);
  const std::optional<FileTarget> target = file_target(url);
  if (target && !fs::is_regular_file(target->file))
    return fmt::format("loads {}, which is not there", shown(url, page));
  return std::nullopt;
}

void set_window(Chromium& browser, const Window& window) {
  browser.call(
      "Emulation.setDeviceMetricsOverride",
      {{"width", window.width}, {"height", window.height}, {"deviceScaleFactor", 1}, {"mobile", false}});
}

void set_dark(Chromium& browser, bool dark) {
  browser.call("Emulation.setEmulatedMedia",
               {{"features", {{{"name", "prefers-color-scheme"}, {"value", dark ? "dark" : "light"}}}}});
}

void take_picture(Chromium& browser, const fs::path& path, int width) {
  const int height = browser.evaluate("document.documentElement.scrollHeight");
  const Message clip = {
      {"x", 0}, {"y", 0}, {"width", width}, {"height", std::min(height, tallest_picture)}, {"scale", 1}};
  const Message answer = browser.call("Page.captureScreenshot",
                                      {{"format", "png"}, {"captureBeyondViewport", true}, {"clip", clip}});
  write_file_atomically(path, {decode_base64(answer["data"].get_ref<const std::string&>())});
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// What a script gave to console.error and the like: a string as it is, a number, or what an object is called.
std::string text_of(const Message& argument) {
  const Message value = argument.value("value", Message());
  return value.is_string() ? value.get<std::string>() : argument.value("description", value.dump());
}

// What the browser reported while the page was open.
void note_events(VisitedPage& page, const std::vector<Message>& events) {
  std::set<std::string>&console = page.faults["console"], &loads = page.faults["loads"];
  std::map<std::string, std::string> requests;
  for (const Message& event : events) {
    const std::string method = event.value("method", "");
    const Message& about = event["params"];
    if (method == "Network.requestWillBeSent") {
      const std::string url = about["request"]["url"];
      requests[about["requestId"]] = url;
      if (is_elsewhere(url)) loads.insert(*load_fault(url, page.file));
    } else if (method == "Network.webSocketCreated") {
      loads.insert(*load_fault(about["url"], page.file));
    } else if (method == "Network.loadingFailed" && !about.value("canceled", false)) {
      const auto request = requests.find(about["requestId"]);
      if (request == requests.end()) continue;  // of the page before
      const std::string reason = about["errorText"];
      loads.insert(load_fault(request->second, page.file)
                       .value_or(fmt::format("loads {}: {}", shown(request->second, page.file), reason)));
    } else if (method == "Runtime.exceptionThrown") {
      const Message& details = about["exceptionDetails"];
      const std::string text =
          details.value("exception", Message::object()).value("description", details.value("text", ""));
      console.insert("uncaught exception: " + first_line(text));
    } else if (method == "Runtime.consoleAPICalled") {
      const std::string type = about["type"];
      if (type != "error" && type != "warning" && type != "assert") continue;
      std::string text;
      for (const Message& argument : about["args"]) text += fmt::format(" {}", text_of(argument));
      console.insert(fmt::format("console {}:{}", type, first_line(text)));
    } else if (method == "Log.entryAdded") {
      const Message& entry = about["entry"];
      const std::string level = entry["level"];
      if ((level == "error" || level == "warning") && entry["source"] != "network")  // those are in `loads`
        console.insert(fmt::format("console {}: {}", level, first_line(entry["text"])));
    }
  }
}

void check_width(Chromium& browser, VisitedPage& page, const Window& window) {
  set_window(browser, window);
  std::set<std::string>& faults = page.faults[window.name];
  const Message found = browser.evaluate(fmt::format("{}({})", read_width, window.width));
  if (!found.is_null())
    faults.insert(fmt::format("is {} pixels wide in a window of {}: {} sticks out", found["width"].get<int>(),
                              window.width, found["element"].get<std::string>()));
  for (const std::string fault : browser.evaluate(fmt::format("{}()", read_prose))) faults.insert(fault);
  if (browser.evaluate(fmt::format("{}()", read_search)))
    faults.insert("the results of a search are cut off, or not there");
}

void check_colours(Chromium& browser, VisitedPage& page, const fs::path& picture) {
  for (const bool dark : {false, true}) {
    set_dark(browser, dark);
    for (const std::string fault : browser.evaluate(fmt::format("{}()", read_contrast)))
      page.faults["colours"].insert(fmt::format("in {} mode {}", dark ? "dark" : "light", fault));
  }
  take_picture(browser, picture, wide.width);
  set_dark(browser, false);
}

struct Wanted {
  bool pictures, colours;
  fs::path root;
  std::string picture_name;  // the path without -wide.png
};

void visit(Chromium& browser, VisitedPage& page, const Wanted& wanted) {
  page.faults["opens"];
  set_window(browser, wide);
  browser.open(file_url(page.file));
  const Message facts =
      browser.evaluate(fmt::format("{}({})", read_page, page.file.filename() == "index.html"));
  for (const Message& link : facts["links"])
    page.links.push_back({link["written"], link["url"], link["loads"]});
  facts["anchors"].get_to(page.anchors);
  for (const std::string url : facts["broken"])
    page.faults["loads"].insert(
        load_fault(url, page.file)
            .value_or(fmt::format("loads {:.80}, which is not a picture", shown(url, page.file))));

  page.faults["answers"];
  for (const std::string fault : browser.evaluate(fmt::format("{}()", use_page)))
    page.faults["answers"].insert(fault);
  if (browser.evaluate("typeof window.live?.ask === 'function'")) {  // an element may be called live, too
    for (const std::string& fault : check_live_page(browser, wanted.root))
      page.faults["answers"].insert(fault);
    note_events(page, browser.take_events());
    browser.open(file_url(page.file));  // as a reader finds it
    browser.evaluate("live.ready");
  }
  for (const Window& window : {wide, narrow}) {
    check_width(browser, page, window);
    if (wanted.pictures || !page.faults[window.name].empty())
      take_picture(browser, fmt::format("{}-{}.png", wanted.picture_name, window.name), window.width);
  }
  if (!facts["has_viewport"])
    page.faults["narrow"].insert("has no <meta name=\"viewport\">: a phone shows it as a wide page, small");
  if (wanted.colours) {
    page.faults["colours"];
    set_window(browser, wide);
    check_colours(browser, page, wanted.picture_name + "-dark.png");
  }
  note_events(page, browser.take_events());
}

}  // namespace

std::string file_url(const fs::path& file) { return "file://" + escape_link(file.string()); }

std::optional<FileTarget> file_target(const std::string& url) {
  constexpr std::string_view scheme = "file://";
  if (!url.starts_with(scheme)) return std::nullopt;
  const std::size_t hash = std::min(url.find('#'), url.size());
  const std::size_t end = std::min(url.find('?'), hash);  // a query means nothing to a file
  return FileTarget{decode_percent(url.substr(scheme.size(), end - scheme.size())),
                    decode_percent(url.substr(std::min(hash + 1, url.size())))};
}

bool is_elsewhere(const std::string& url) {
  return !url.starts_with("file:") && !url.starts_with("data:") && !url.starts_with("blob:") &&
         !url.starts_with("about:");
}

std::vector<fs::path> find_pages(const fs::path& root) {
  std::vector<fs::path> pages;
  const auto add = [&](const fs::directory_entry& entry) {
    if (entry.is_regular_file() && entry.path().extension() == ".html") pages.push_back(entry.path());
  };
  if (fs::exists(root / "index.html")) add(fs::directory_entry(root / "index.html"));
  for (const char* part : {"notebooks", "book", "live"})
    if (fs::is_directory(root / part))
      for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / part)) add(entry);
  std::sort(pages.begin(), pages.end());
  return pages;
}

std::set<fs::path> choose_pictures(const std::vector<fs::path>& pages) {
  std::map<fs::path, std::vector<fs::path>> folders;
  for (const fs::path& page : pages) folders[page.parent_path()].push_back(page);
  std::set<fs::path> chosen;
  for (const auto& [folder, files] : folders) {
    const Index count = std::ssize(files), step = count <= small_folder ? 1 : count / taken_of_large_folder;
    for (Index i = 0; i < count; ++i) {
      const std::string name = files[i].filename();
      if (i % step == 0 || name == "index.html" || (is_digit(name[0]) && is_digit(name[1])))
        chosen.insert(files[i]);
    }
  }
  return chosen;
}

std::map<std::string, fs::path> check_links(std::vector<VisitedPage>& pages, const fs::path& root) {
  std::map<fs::path, const std::set<std::string>*> anchors;
  for (const VisitedPage& page : pages) anchors[page.file] = &page.anchors;

  const auto link_fault = [&](const Link& link, const fs::path& page) -> std::optional<std::string> {
    const std::optional<FileTarget> target = file_target(link.url);
    if (!target) return "cannot be followed";
    if (link.written.starts_with("/") || link.written.starts_with("file:"))
      return "is a path of this machine; write it relative to the page";
    const fs::path inside = target->file.lexically_relative(root);
    if (inside.empty() || *inside.begin() == "..")
      return fmt::format("leads out of {}", root.filename().string());
    if (fs::is_directory(target->file)) return "is a folder; name a page in it";
    if (!fs::is_regular_file(target->file)) return "is not there";
    if (target->anchor.empty() || (target->file == page && target->anchor == "top")) return std::nullopt;
    const auto found = anchors.find(target->file);
    if (found == anchors.end()) return "has an anchor, but is not one of our pages";
    if (found->second->count(target->anchor) == 0) return "names an anchor that its page does not have";
    return std::nullopt;
  };

  std::map<std::string, fs::path> outward;
  for (VisitedPage& page : pages) {
    std::set<std::string>&links = page.faults["links"], &loads = page.faults["loads"];
    for (const Link& link : page.links) {
      if (link.url.starts_with("data:") || link.url.starts_with("blob:")) continue;
      if (!link.loads && is_outward(link.url)) {
        outward.emplace(link.url, page.file);
      } else if (const auto not_loaded = link.loads ? load_fault(link.url, page.file) : std::nullopt) {
        loads.insert(*not_loaded);
      } else if (const auto fault = link_fault(link, page.file)) {
        (link.loads ? loads : links).insert(fmt::format("the link {} {}", link.written, *fault));
      }
    }
  }
  return outward;
}

std::vector<VisitedPage> visit_pages(const std::vector<fs::path>& files, const fs::path& root,
                                     const std::function<void(Index)>& progress) {
  const std::set<fs::path> with_pictures = choose_pictures(files);
  std::set<fs::path> seen_folders;
  std::vector<VisitedPage> pages;
  auto browser = std::make_unique<Chromium>();
  for (const fs::path& file : files) {
    progress(std::ssize(pages));
    std::string name = fs::path(file).replace_extension().lexically_relative(root);
    std::replace(name.begin(), name.end(), '/', '-');
    const bool first_of_folder = seen_folders.insert(file.parent_path()).second;
    VisitedPage page{.file = file};
    try {
      visit(*browser, page,
            {.pictures = with_pictures.count(file) > 0,
             .colours =
                 first_of_folder || file.filename() == "index.html" || is_digit(file.filename().string()[0]),
             .root = root,
             .picture_name = root / "pages" / name});
    } catch (const Timeout& error) {
      page.faults["opens"].insert(fmt::format("does not come to rest ({})", error.what()));
      browser = std::make_unique<Chromium>();  // the old one may be busy forever
    }
    pages.push_back(std::move(page));
  }
  progress(std::ssize(pages));
  return pages;
}

}  // namespace attn::press
