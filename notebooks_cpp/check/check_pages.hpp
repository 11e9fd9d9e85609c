// Looks at every page that was made: the book, the notebooks, the gallery of pictures and the live page.
//
// Each page is opened in a browser and must pass these checks:
//
//   opens    it loads and comes to rest
//   links    what it links to is there, and has the anchor; links to the web are listed, not followed
//   loads    its pictures, scripts and styles are there, and none comes from elsewhere
//   console  no error, no warning, no uncaught exception
//   answers  its search finds, its switches switch, its figures answer to pointer, touch and keys; the live
//            page computes what the native program does: see check_live.hpp
//   wide     it fits into a window of 1400 x 900
//   narrow   it fits into a window of 390 x 844, a phone's; no prose scrolls sideways
//   colours  on lessons, notebooks and a few others: text stands out from its background, in light and dark
//
// Links are read after the page's scripts have run; on an index.html with a search we type letters there and
// check what it finds, too. Screenshots go to DIR/pages/: all pages of a small folder, some of a large one,
// and every page that does not fit. Cost: a fifth of a second per page, and as much again per screenshot.
#pragma once

#include <filesystem>  // path
#include <functional>  // function
#include <map>         // map
#include <optional>    // optional
#include <set>         // set
#include <string>      // string
#include <vector>      // vector

#include "core/shape.hpp"  // Index

namespace attn::press {

struct Link {
  std::string written;  // as it is in the page
  std::string url;      // as the browser understands it: absolute
  bool loads = false;   // a picture, script or style that the page needs, rather than a way to leave it
};

struct VisitedPage {
  std::filesystem::path file;
  std::set<std::string> anchors{};
  std::vector<Link> links{};
  std::map<std::string, std::set<std::string>> faults{};  // by check; empty if a check found nothing
};

struct FileTarget {
  std::filesystem::path file;
  std::string anchor;
};

std::string file_url(const std::filesystem::path& file);        // of an absolute path
std::optional<FileTarget> file_target(const std::string& url);  // nothing unless it is a file: URL
bool is_elsewhere(const std::string& url);                      // has to be fetched from another machine

// The pages below `root`: of the gallery (index.html), the notebooks, the book and the live page, sorted.
std::vector<std::filesystem::path> find_pages(const std::filesystem::path& root);

// Those that get a screenshot: all of a small folder; of a large one its index, its lessons, and some.
std::set<std::filesystem::path> choose_pictures(const std::vector<std::filesystem::path>& pages);

// The checks "links" and "loads", as far as files tell. Returns the links to the web, each with a page.
std::map<std::string, std::filesystem::path> check_links(std::vector<VisitedPage>& pages,
                                                         const std::filesystem::path& root);

// All checks, in a browser. Calls `progress` with the number of pages that are done.
std::vector<VisitedPage> visit_pages(const std::vector<std::filesystem::path>& files,
                                     const std::filesystem::path& root,
                                     const std::function<void(Index done)>& progress);

}  // namespace attn::press
