// The book, made of a small course of its own: one lesson, one library file, one exercise.
#include <doctest/doctest.h>

#include <filesystem>  // exists, remove
#include <fstream>     // ofstream
#include <string>      // string

#include "core/error.hpp"
#include "lessons/support/picture.hpp"
#include "notebooks_cpp/press/book.hpp"
#include "notebooks_cpp/press/book_pages.hpp"
#include "notebooks_cpp/press/plain_math.hpp"
#include "tests/unit/temporary_folder.hpp"

using namespace attn;
using namespace attn::press;

namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const char* const lesson_source = R"lesson(/// By a mask, as `causal_mask` makes one. See lesson 07.
#include "nn/mask.hpp"

using namespace attn;

namespace {

// The numbers of one query.
int numbers() {
  return 3;
}

/// ## Hide, then share out
///
/// The *future* is hidden:
///
/// $$ y = √d_k x $$
void hide(Lesson& lesson) {
  causal_mask(numbers());

  /// ## A < B & C
  numbers();
}

}  // namespace

int main() {}
)lesson";

const char* const lesson_records = R"([
{"kind":"title","name":"07_masking","question":"How is the future hidden?"},
{"kind":"prose","line":1,"text":"By a mask, as `causal_mask` makes one. See lesson 07."},
{"kind":"prose","line":13,"text":"## Hide, then share out\n\nThe *future* is hidden:\n\n$$ y = √d_k x $$"},
{"kind":"table","header":["","a < b"],"rows":[["x","1"]]},
{"kind":"claim","holds":true,"text":"it holds"},
{"kind":"drawing","text":"drawn twice"},
{"kind":"figure","file":"map.png","title":"Who sees whom","caption":"Rows are queries."},
{"kind":"data","figure":"maps","values":["</script>"]},
{"kind":"prose","line":21,"text":"## A < B & C"},
{"kind":"claim","holds":false,"text":"it does not"},
{"kind":"paragraph","text":"1 < 2"},
{"kind":"drawing","text":"drawn once"},
{"kind":"lines","text":"as it is"},
{"kind":"lines","text":"and < more"},
{"kind":"prose","line":99,"text":"## Check yourself\n\n- **What for?** To hide.\n- **And how?** By *−∞*.\n\n## Read on\n\n- **A book**"},
{"kind":"try","suggestions":[{"change":"Change it.","effect":"It changes."}]}
])";

// A course in a folder of its own, with everything that the book reads.
struct SmallCourse {
  TemporaryFolder folder;
  BookOptions options{folder.path, folder / "out", folder / "out/book"};

  SmallCourse() {
    const fs::path lesson = folder / "lessons/07_masking", out = folder / "out/07_masking";
    write(lesson / "lesson.cpp", lesson_source);
    write(lesson / "exercise.hpp",
          "// Exercise 07: masks.\n//\n// Rows are tokens.\n#pragma once\nnamespace exercise {\n"
          "// Hides.\n//   hide(1) = 0\nTensor hide(int n) {\n  todo();\n}\n}\n");
    write(lesson / "solution.hpp",
          "#pragma once\nnamespace exercise {\nint helper() { return 1; }\n\n// By -inf.\nTensor hide(int n) "
          "{ return "
          "helper(); }\n}\n");
    write(lesson / "mistakes.diff",
          "Mistakes.\n\n## hide\nSee: Hide, then share out\n\n@@ no <mask> @@\nNothing\nis hidden.\n"
          "   int x;\n-  return a < b;\n+  return n;\n");
    write(lesson / "hints.md", "Hints.\n\n## hide\n1. Think\n   twice.\n2. Then write.\n");
    write(lesson / "data.hpp", "// Data: where it comes from.\n#pragma once\nint data();\n");
    write(folder / "tests/exercises/07_masking_test.cpp",
          "Question<decltype(exercise::hide)>{.name = \"hide\", .notice = \"It is gone.\"};\n");
    write(folder / "nn/mask.hpp",
          "// Masks: who sees whom.\n//\n// Note [Masks]: 0 is visible.\n#pragma once\n\nnamespace attn {\n\n"
          "// Hides the future.\nint causal_mask(int T);  // (T, T)\n\n}  // namespace attn\n");
    write(folder / "nn/mask.cpp",
          "#include \"nn/mask.hpp\"\n\nnamespace attn {\n\nint causal_mask(int T) { return T; }\n\n}  // "
          "namespace attn\n");
    for (const char* file : {"book.css", "book.js", "figures.js"})
      write(folder / "notebooks_cpp/press/web" / file, "");
    write(folder / "notebooks_cpp/press/web/glossary.md",
          "Words.\n\n**future** (what follows, later), lesson 07\nWhat is\nhidden.\n\n**score**, lesson "
          "07\nA number.\n");
    write(out / "lesson.json", lesson_records);
    viz::Image map(5, 4);
    map.drawn.push_back({.cells = {1, 1, 2, 2}, .values = {{0.25f, 1}}, .row_labels = {"it"}});
    write_picture(out / "map.png", map);
  }
  std::string page(const std::string& address) const { return read_file(options.book / address); }
};

}  // namespace

TEST_CASE("a source becomes rows of comment and code") {
  const std::vector<Row> rows = rows_of("// M.\n\n// 2. Padding\n\n// A sentence.\n\n// Beside\nint x;\n");
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].heading == "2. Padding");
  CHECK(rows[0].comment.empty());
  CHECK((rows[1].heading.empty() && rows[1].comment == "A sentence.\n"));
  CHECK((rows[2].heading.empty() && rows[2].comment == "Beside\n"));
}

TEST_CASE("equations in plain characters are typeset") {
  CHECK(latex_of("softmax(Q Kᵀ / √d_k) V") == "\\operatorname{softmax}(Q K^{\\top} / \\sqrt{d_{k}}) V");
  CHECK(latex_of("x⁻¹ = √(a + b²) · w₁ₜ") == "x^{-1} = \\sqrt{a + b^{2}} \\cdot  w_{1t}");
  CHECK(latex_of("d_model = 2^(n-1) {%}") == "d_{\\operatorname{model}} = 2^{n-1} \\{\\%\\}");
  CHECK(contains(plain_equation("y = √x"), "<msqrt>"));
  // Deeper than an equation may be: shown as it is written.
  std::string deep = "<";
  for (int i = 0; i < 300; ++i) deep = "√(" + deep + ")";
  CHECK(plain_equation(deep).starts_with("<div class=\"equation\"><code>√(√("));
  CHECK(contains(plain_equation(deep), "&lt;"));
}

TEST_CASE("a comment becomes paragraphs, lists and blocks, and what looks like HTML stays text") {
  Sources sources;
  sources.lessons["06"] = "lessons/06_x.html";
  sources.add("nn/a.hpp", "struct Mask {};\n");
  CHECK(PageText{sources, "nn/b.html"}.prose("a < b &\nc.\n\n  x  <y>\n\n  z\n\n- one\n  more\n- `Mask`\n") ==
        "<p>a &lt; b &amp; c.</p>\n<pre class=\"aside\">x  &lt;y&gt;\n\nz\n</pre>\n<ul>\n<li>one "
        "more</li>\n<li><a "
        "href=\"../nn/a.hpp.html#L1\"><code>Mask</code></a></li>\n</ul>\n");
  CHECK(PageText{sources, "index.html"}.sentence("2 * 3 < 4, lesson 06, lesson 60, <b>") ==
        "2 * 3 &lt; 4, <a href=\"lessons/06_x.html\">lesson 06</a>, lesson 60, &lt;b&gt;");
}

TEST_CASE("a link is relative to the page that it stands on") {
  CHECK(link_from("index.html", "nn/a.html#L1") == "nn/a.html#L1");
  CHECK(link_from("core/viz/b.html", "nn/a.html") == "../../nn/a.html");
  CHECK(link_from("nn/a.html", "nn/a.html#L1") == "#L1");
  CHECK(link_from("nn/a.html", "") == "");
}

TEST_CASE("a lesson's page has what it said, its code under the prose, and its pictures in place") {
  const SmallCourse course;
  write_book(course.options);
  const std::string page = course.page("lessons/07_masking.html");
  CHECK(contains(page, "<h1>How is the future hidden?</h1>"));
  CHECK(contains(page, "<em>future</em>"));
  CHECK(contains(page, "<h2 id=\"hide-then-share-out\">Hide, then share out</h2>"));
  CHECK(contains(page, "<li><a href=\"#hide-then-share-out\">Hide, then share out</a></li>"));
  CHECK(contains(page, "<msqrt>"));
  CHECK(contains(page, "<th>a &lt; b</th>"));
  CHECK(contains(page, "<p class=\"claim holds\">it holds</p>"));
  CHECK(contains(page, "<p class=\"claim broken\">it does not</p>"));
  CHECK(contains(page, ">A &lt; B &amp; C</h2>"));
  CHECK(contains(page, "<p>1 &lt; 2</p>"));
  for (const char* file : {"map.png", "map-dark.png"}) {
    CHECK(contains(page, fmt::format("src=\"../pictures/07_masking/{}\" width=\"5\" height=\"4\"", file)));
    CHECK(fs::exists(course.options.book / "pictures/07_masking" / file));
  }
  // The numbers of the picture and of a figure, for the scripts of the page.
  CHECK(contains(page, "\"row_labels\":[\"it\"]"));
  CHECK(contains(page, "\"rows\":1,"));
  CHECK(contains(page, "\"values\":[0.25,1]"));
  CHECK(contains(page,
                 "<div class=\"panel\" data-figure=\"maps\"><script type=\"application/json\" "
                 "class=\"data\">[\"<\\/script>\"]</script></div>"));
  // Answers are folded under their questions, other lists stay lists.
  CHECK(contains(page, "<details class=\"answer\"><summary>What for?</summary><p> To hide.</p></details>"));
  CHECK(contains(page, "<li><strong>A book</strong></li>"));
  // What a picture shows is not drawn in characters once more.
  CHECK_FALSE(contains(page, "drawn twice"));
  CHECK(contains(page, "<pre class=\"output\">drawn once</pre>"));
  CHECK(contains(page, "<pre class=\"output\">as it is\nand &lt; more</pre>"));
  CHECK(contains(page, "<li>Change it.<br><span class=\"soft\">→ It changes.</span></li>"));
  // Each block is followed by its code, and that by what the code said.
  const auto order = {"makes one",  "id=\"L8\"",  "The <em>future",
                      "id=\"L19\"", "it holds",   "A &lt; B &amp; C</h2>",
                      "id=\"L22\"", "it does not"};
  std::size_t at = page.find("<article");
  for (const char* part : order) {
    CHECK_MESSAGE(page.find(part, at) != std::string::npos, part);
    at = std::min(page.find(part, at), page.size());
  }
  CHECK_FALSE(contains(page, "id=\"L13\""));  // prose is not code
  CHECK(contains(page, "<a href=\"../lessons/07_masking/data.hpp.html\"><code>data.hpp</code></a>"));
}

TEST_CASE("records that no lesson wrote are refused, strange ones are passed over") {
  const SmallCourse course;
  const fs::path file = course.options.out / "07_masking/lesson.json";
  for (const char* text : {"", "{}", "[1]", "[{\"kind\":1}]", "[{}]"}) {
    write(file, text);
    CHECK_THROWS_WITH_AS(write_book(course.options), doctest::Contains("run the lesson again"), Error);
  }
  write(
      file,
      R"([{"kind":"title"},{"kind":"figure","file":"../../x.png"},{"kind":"table","rows":[[1]]},{"kind":"x"}])");
  CHECK_NOTHROW(write_book(course.options));
}

TEST_CASE("names in code and text lead to their declaration, and from there to the definition") {
  const SmallCourse course;
  write_book(course.options);
  const std::string lesson = course.page("lessons/07_masking.html");
  CHECK(
      contains(lesson, "<a href=\"../nn/mask.hpp.html#L9\">causal_mask</a>(<a href=\"#L9\">numbers</a>())"));
  CHECK(contains(lesson, "<a href=\"../nn/mask.hpp.html#L9\"><code>causal_mask</code></a>"));
  CHECK(contains(course.page("nn/mask.hpp.html"), "<a href=\"../nn/mask.cpp.html#L5\">causal_mask</a>"));
  CHECK(contains(course.page("nn/mask.hpp.html"), "id=\"note-masks\""));
  CHECK(contains(course.page("nn/mask.cpp.html"), "<a href=\"../nn/mask.hpp.html#L9\">causal_mask</a>"));
}

TEST_CASE("what a lambda or a member is called is not taken for a function of the library") {
  Sources sources;
  sources.add(
      "nn/a.hpp",
      "int sum(int x);\nstruct T {\n  int size();\n};\nstruct S {\n  int size();\n  int rank();\n};\n");
  const std::vector<Token> code =
      tokens("std::sum(1); x.sum(2); sum(3); sum; y.size(); y->rank(); T t; viz::sum(4);");
  // Where the `count`-th of these names leads.
  const auto link = [&](const std::string& name, int count = 1) {
    for (Index i = 0; i < std::ssize(code); ++i)
      if (code[i].text == name && --count == 0) return sources.linker("index.html")(code, i);
    return std::string("not there");
  };
  CHECK(link("sum", 1) == "");
  CHECK(link("sum", 2) == "");
  CHECK(link("sum", 3) == "nn/a.hpp.html#L1");
  CHECK(link("sum", 4) == "");
  CHECK(link("size") == "");  // of a T or of an S?
  CHECK(link("rank") == "nn/a.hpp.html#L7");
  CHECK(link("T") == "nn/a.hpp.html#L2");
  CHECK(link("sum", 5) == "");
  const std::vector<Token> local = tokens("const auto sum = [](int) {}; sum(1);");
  REQUIRE(local[local.size() - 5].text == "sum");
  CHECK(sources.linker("index.html")(local, std::ssize(local) - 5) == "");
}

TEST_CASE("the exercise has its contract, and hints, mistakes and answer folded") {
  const SmallCourse course;
  write_book(course.options);
  const std::string page = course.page("lessons/07_masking.html");
  CHECK(contains(page, "<h2 id=\"exercise\">Exercise 07</h2>"));
  CHECK(contains(page, "<p>Hides.</p>"));
  CHECK(contains(page, "<pre class=\"aside\">hide(1) = 0\n</pre>"));
  CHECK(contains(page, "<details><summary>Hint 1</summary>\n<p>Think twice.</p>"));
  CHECK(contains(page, "<dt id=\"exercise-hide-no-mask\">no &lt;mask&gt;</dt><dd>Nothing is hidden."));
  CHECK(contains(page, "See <a href=\"#hide-then-share-out\">Hide, then share out</a>."));
  CHECK(contains(page,
                 "<code><span>   int x;</span>\n<del>-  return a &lt; b;</del>\n<ins>+  return n;</ins>\n"));
  CHECK(contains(page, "helper() {"));
  CHECK(contains(page, "<p>It is gone.</p>"));
}

TEST_CASE("an answer is a function with its helpers, and not the function before it") {
  const SmallCourse course;
  const fs::path lesson = course.folder / "lessons/07_masking";
  write(lesson / "exercise.hpp",
        "// E.\nnamespace exercise {\nint one() { todo(); }\nint two() { todo(); }\n}\n");
  write(lesson / "solution.hpp",
        "namespace exercise {\nint one() { return 111; }\n\nint half() { return 55; }\nint two() { return "
        "222; }\n}\n");
  write_book(course.options);
  const std::string page = course.page("lessons/07_masking.html");
  const std::string second = page.substr(page.find("id=\"exercise-two\""));
  CHECK(contains(second, "222"));
  CHECK(contains(second, "55"));
  CHECK_FALSE(contains(second, "111"));
}

TEST_CASE("the reference lists what headers declare, with comment, declaration and definition") {
  const SmallCourse course;
  write_book(course.options);
  const std::string page = course.page("reference/nn.html");
  CHECK(contains(page, "<p>Hides the future.</p>"));
  CHECK(contains(page, "<p>(T, T)</p>"));
  CHECK(contains(page,
                 "<a href=\"../nn/mask.hpp.html#L9\">mask.hpp:9</a> · <a "
                 "href=\"../nn/mask.cpp.html#L5\">mask.cpp:5</a>"));
}

TEST_CASE("search, contents, course, previous and next know every page") {
  const SmallCourse course;
  write(
      course.options.out / "notebooks/01_story.html",
      "<head><title>A &amp; B</title></head><body><main><h1>A &amp; B</h1>\n<p>Once, as in lesson 07</p><h2 "
      "id=\"then\">Then</h2><p>a tale<img src=\"data:lesson 07\"></p></main></body>");
  write(course.options.out / "mine_2_words/lesson.json", R"([{"kind":"title","question":"Does it run?"}])");
  write_book(course.options);
  const std::string search = course.page("search-index.js"), front = course.page("index.html");
  CHECK(search.starts_with("const book_index = ["));
  CHECK(contains(search, R"js(["causal_mask","function","(T, T)","reference/nn.html#causal-mask",""])js"));
  CHECK(contains(
      search,
      R"(["no <mask>","mistake","hide, 07 Masking","lessons/07_masking.html#exercise-hide-no-mask",""])"));
  CHECK(contains(
      search,
      R"(["Hide, then share out","section","07 Masking","lessons/07_masking.html#hide-then-share-out","The future is hidden:)"));
  CHECK(contains(search, R"(["Then","section","A & B","notebooks/01_story.html#then","a tale"])"));
  CHECK(contains(front, "href=\"lessons/07_masking.html\""));
  CHECK(contains(front,
                 "<a class=\"text\" href=\"milestones/mine_2_words.html\">Does it run?<span>Milestone 2: "
                 "Words</span></a>"));
  CHECK(contains(front, "href=\"nn/mask.hpp.html\""));
  CHECK_FALSE(contains(front, "live/index.html"));
  CHECK_FALSE(contains(front, "bench/index.html"));
  const std::string lesson = course.page("lessons/07_masking.html");
  CHECK(contains(lesson, "<a rel=\"prev\" href=\"../glossary.html\">← Glossary</a>"));
  CHECK(
      contains(lesson, "<a rel=\"next\" href=\"../milestones/mine_2_words.html\">Milestone 2: Words →</a>"));
  CHECK(contains(
      lesson,
      "<a href=\"../lessons/07_masking.html\" aria-current=\"page\"><b>07</b><span>Masking</span></a>"));
  CHECK(contains(lesson, "<script src=\"../book.js\" data-root=\"../\"></script>"));
  const std::string notebook = course.page("notebooks/01_story.html");
  CHECK(contains(notebook, "<p>Once, as in <a href=\"../lessons/07_masking.html\">lesson 07</a></p>"));
  CHECK(contains(notebook, "\"data:lesson 07\""));
  CHECK(contains(notebook, "<li><a href=\"#then\">Then</a></li>"));
  CHECK(contains(notebook, "<body class=\"with-contents\">\n<div class=\"bar\">"));

  for (const char* page : {"live", "bench"}) {
    fs::create_directories(course.options.out / page);
    write(course.options.out / page / "index.html", "");
  }
  write_book(course.options);
  CHECK(contains(course.page("index.html"), "href=\"../live/index.html\""));
  CHECK(contains(course.page("index.html"), "href=\"../bench/index.html\""));
}

TEST_CASE("the glossary leads to the section that defines or uses a term, or to the lesson") {
  const SmallCourse course;
  write_book(course.options);
  const std::string page = course.page("glossary.html");
  CHECK(contains(page, "<dt id=\"future\">future <span class=\"soft\">(what follows, later)</span></dt>"));
  CHECK(contains(
      page,
      "What is hidden. <span class=\"soft\">→ <a href=\"lessons/07_masking.html#hide-then-share-out\">"));
  CHECK(
      contains(page, "A number. <span class=\"soft\">→ <a href=\"lessons/07_masking.html\">07 Masking</a>"));
  CHECK(contains(
      course.page("search-index.js"),
      R"(["later","glossary","07 Masking","lessons/07_masking.html#hide-then-share-out","What is hidden."])"));
  write(course.folder / "notebooks_cpp/press/web/glossary.md", "**future** lesson 7\nX.\n");
  CHECK_THROWS_WITH_AS(write_book(course.options), doctest::Contains("is not `**term**, lesson NN`"), Error);
}

TEST_CASE("a page as a reader sees it has no tags, code or equations") {
  CHECK(text_of("<p>a &lt;b&gt; <em>c</em>d</p><p>e</p><script>x</script><math>y</math><details "
                "class=\"code\">q</details><pre "
                "class=\"listing\">z</pre> f") == "a <b> cd e f");
  CHECK(text_of("<script") == "");
  CHECK(text_of("a<") == "a");
}

TEST_CASE("what a lesson does for its output alone is not shown as its code") {
  const SmallCourse course;
  write(course.folder / "lessons/07_masking/lesson.cpp",
        "/// Text.\n#include <a>\n\n/// ## One\nvoid one(Lesson& lesson) {\n  const int x = 1;\n  for (;;)\n "
        "   "
        "lesson.say(\n        \"a\");\n  rows.push_back({1});\n  use(x);\n}\n\n/// ## Two\nvoid two(Lesson& "
        "lesson) {\n  "
        "/// More.\n  lesson.say(\"b\");\n}\n");
  write(course.options.out / "07_masking/lesson.json",
        R"([{"kind":"prose","line":4,"text":"## One"},{"kind":"prose","line":16,"text":"More."}])");
  write_book(course.options);
  const std::string page = course.page("lessons/07_masking.html");
  for (const char* shown : {"id=\"L5\"", "id=\"L6\"", "id=\"L11\" style=\"counter-set:line 10\""})
    CHECK(contains(page, shown));
  for (const char* hidden : {"id=\"L7\"", "id=\"L8\"", "id=\"L9\"", "id=\"L10\"", "id=\"L17\"", "id=\"L18\""})
    CHECK_FALSE(contains(page, hidden));
}

TEST_CASE("pages of files that are gone go, and nothing else is left beside the book") {
  const SmallCourse course;
  write_book(course.options);
  REQUIRE(fs::exists(course.options.book / "nn/mask.cpp.html"));
  fs::remove(course.folder / "nn/mask.cpp");
  write_book(course.options);
  CHECK_FALSE(fs::exists(course.options.book / "nn/mask.cpp.html"));
  CHECK(fs::exists(course.options.book / "nn/mask.hpp.html"));
  int count = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(course.options.out)) ++count;
  CHECK(count == 3);  // 07_masking, book and the gallery
}

TEST_CASE("what cannot be done is said, and leaves the book as it was") {
  const SmallCourse course;
  write_book(course.options);
  fs::remove(course.options.out / "07_masking/lesson.json");
  CHECK_THROWS_WITH_AS(write_book(course.options), doctest::Contains("run `make 07` first"), Error);
  CHECK(fs::exists(course.options.book / "index.html"));

  const fs::path other = course.folder / "other";
  write(other / "letter.txt", "dear all");
  CHECK_THROWS_WITH_AS(write_book({course.folder.path, course.options.out, other}),
                       doctest::Contains("holds something else"), Error);
  CHECK(fs::exists(other / "letter.txt"));
}
