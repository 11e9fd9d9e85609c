// What the press makes of text: C++ in colours, equations, markdown, addresses.
#include <doctest/doctest.h>

#include <chrono>  // steady_clock
#include <string>  // string

#include "core/error.hpp"
#include "notebooks_cpp/press/highlight.hpp"
#include "notebooks_cpp/press/html.hpp"
#include "notebooks_cpp/press/markdown.hpp"
#include "notebooks_cpp/press/math.hpp"

using namespace attn;
using namespace attn::press;

namespace {

std::string span(const std::string& kind, const std::string& text) {
  return "<span class=\"" + kind + "\">" + text + "</span>";
}

// What a reader sees.
std::string without_tags(const std::string& html) {
  std::string text;
  bool in_tag = false;
  for (const char c : html) {
    if (c == '<') in_tag = true;
    if (!in_tag) text += c;
    if (c == '>') in_tag = false;
  }
  for (const auto& [entity, sign] : {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&amp;", "&"}})
    for (std::size_t at; (at = text.find(entity)) != std::string::npos;)
      text.replace(at, std::string_view(entity).size(), sign);
  return text;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a slug has letters, digits and single hyphens, and repeats never") {
  CHECK(slug("Who looks at whom?") == "who-looks-at-whom");
  CHECK(slug("1. Größe — \"x\"") == "1-größe-—-x");
  CHECK(slug("?!") == "section");
  Ids ids;
  CHECK(ids.unique("Loss") == "loss");
  CHECK(ids.unique("loss") == "loss-2");
  CHECK(ids.unique("Loss!") == "loss-3");
  CHECK(ids.unique("loss 3") == "loss-3-2");
}

TEST_CASE("a page loads nothing from elsewhere and escapes its title") {
  const std::string page = html_page({.title = "a < b", .body = "<p>x</p>", .description = "", .style = ""});
  CHECK(contains(page, "<title>a &lt; b</title>"));
  CHECK(contains(page, "<p>x</p>"));
  CHECK(contains(page, "prefers-color-scheme: dark"));
  CHECK_FALSE(contains(page, "http"));
  CHECK_FALSE(contains(page, "<script src"));
}

TEST_CASE("each kind of C++ word gets its class") {
  CHECK(highlight_cpp("const Tensor x;") == span("k", "const") + " " + span("t", "Tensor") + " x;");
  CHECK(highlight_cpp("T + ATTN_X + size_t") == "T + ATTN_X + " + span("t", "size_t"));
  CHECK(highlight_cpp("a<b // <c>\nd") == "a&lt;b " + span("c", "// &lt;c&gt;") + "\nd");
  CHECK(highlight_cpp("1 /* x\ny */ 2") ==
        span("n", "1") + " " + span("c", "/* x") + "\n" + span("c", "y */") + " " + span("n", "2"));
  CHECK(highlight_cpp("#include <cmath>  // exp") ==
        span("p", "#include") + " " + span("s", "&lt;cmath&gt;") + "  " + span("c", "// exp"));
  CHECK(highlight_cpp("  #  define N 3") == "  " + span("p", "#  define") + " N " + span("n", "3"));
}

TEST_CASE("numbers are whole: separators, hexadecimal, exponents, suffixes") {
  for (const std::string number :
       {"1'000'000", "0x1F'FFu", "1.5e-3f", "0x1p+4", ".5", "1e10", "0b1010", "42ull"})
    CHECK(highlight_cpp(number) == span("n", number));
  CHECK(highlight_cpp("1-2") == span("n", "1") + "-" + span("n", "2"));
  CHECK(highlight_cpp("0xE+1") == span("n", "0xE") + "+" + span("n", "1"));
}

TEST_CASE("strings end where they end: escapes, characters, raw strings, line continuations") {
  CHECK(highlight_cpp(R"(f("a\"//", 'x', '\'') + "b")") ==
        "f(" + span("s", R"(&quot;a\&quot;//&quot;)") + ", " + span("s", "'x'") + ", " +
            span("s", R"('\'')") + ") + " + span("s", "&quot;b&quot;"));
  CHECK(highlight_cpp("R\"--(a)\" // \")--\" + 1") ==
        span("s", "R&quot;--(a)&quot; // &quot;)--&quot;") + " + " + span("n", "1"));
  CHECK(highlight_cpp("u8\"x\" u8R\"(y\nz)\"") ==
        span("s", "u8&quot;x&quot;") + " " + span("s", "u8R&quot;(y") + "\n" + span("s", "z)&quot;"));
  CHECK(highlight_cpp("// one \\\ntwo\nint") ==
        span("c", "// one \\") + "\n" + span("c", "two") + "\n" + span("t", "int"));
  CHECK(highlight_cpp("\"open\nint") == span("s", "&quot;open") + "\n" + span("t", "int"));
}

TEST_CASE("names that the linker knows become links, keywords and comments never") {
  const NameLinker link = [](const std::vector<Token>& code, Index at) {
    return code[at].text == "softmax" || code[at].text == "for" ? "ops.html?a&b" : "";
  };
  CHECK(highlight_cpp("for softmax // softmax", link) ==
        span("k", "for") + " <a href=\"ops.html?a&amp;b\">softmax</a> " + span("c", "// softmax"));
}

TEST_CASE("highlighted code reads as the code, whatever it is") {
  for (const std::string code :
       {"int main() { return a<b && c>d ? '\"' : \"'\"[0]; }\n", "R\"(", "'", "\"", "/*", "#", "#include",
        "#include <", "\\", "1'", "a\tb\r\n\xff", "u8", "R\"x", "x = 'a"})
    CHECK(without_tags(highlight_cpp(code)) == code);
}

TEST_CASE("fractions, roots, scripts and signs become MathML") {
  CHECK(mathml("x", false) == "<math><mrow><mi>x</mi></mrow></math>");
  CHECK(contains(mathml("x", true), "<math display=\"block\">"));
  CHECK(contains(mathml(R"(\frac{a}{b})", false),
                 "<mfrac><mrow><mi>a</mi></mrow><mrow><mi>b</mi></mrow></mfrac>"));
  CHECK(contains(mathml(R"(\frac12)", false), "<mfrac><mn>1</mn><mn>2</mn></mfrac>"));
  CHECK(contains(mathml(R"(\sqrt{d_k})", false),
                 "<msqrt><mrow><msub><mi>d</mi><mi>k</mi></msub></mrow></msqrt>"));
  CHECK(contains(mathml(R"(\sqrt[3]{x})", false),
                 "<mroot><mrow><mi>x</mi></mrow><mrow><mn>3</mn></mrow></mroot>"));
  CHECK(contains(mathml("K^\\top", false), "<msup><mi>K</mi><mi>⊤</mi></msup>"));
  CHECK(contains(mathml("x_i^2", false), "<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>"));
  CHECK(contains(mathml("x^2_i", false), "<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>"));
  CHECK(contains(mathml("f'", false), "<msup><mi>f</mi><mrow><mo>′</mo></mrow></msup>"));
  CHECK(contains(mathml("3.14", false), "<mn>3.14</mn>"));
}

TEST_CASE("sums carry their limits above and below only in an equation of its own") {
  const std::string sum = R"(\sum_{i=1}^n x_i)";
  CHECK(contains(mathml(sum, true), "<munderover><mo largeop=\"false\" style=\"font-size:1.5em\">∑</mo>"));
  CHECK(contains(mathml(sum, false), "<msubsup><mo>∑</mo>"));
  CHECK(contains(mathml(R"(\max_j s_j)", true), "<munder><mi>max</mi><mi>j</mi></munder>"));
}

TEST_CASE("a minus without a left side is a sign, not an operation") {
  const std::string sign = "<mo form=\"prefix\">−</mo>", operation = "<mo>−</mo>";
  CHECK(contains(mathml("-x", false), sign));
  CHECK(contains(mathml("a = -x", false), sign));
  CHECK(contains(mathml("(-x)", false), sign));
  CHECK(contains(mathml("a - x", false), operation));
  CHECK(contains(mathml("(a) - x", false), operation));
}

TEST_CASE("names of functions are upright words with room beside them") {
  const std::string room = "<mspace width=\"0.167em\"></mspace>";
  CHECK(contains(mathml(R"(x \log y)", false), "<mi>x</mi>" + room + "<mi>log</mi>" + room + "<mi>y</mi>"));
  CHECK(contains(mathml(R"(\operatorname{softmax}(x))", false),
                 "<mi mathvariant=\"normal\">softmax</mi><mo stretchy"));
  CHECK(contains(mathml(R"(\text{if } x)", false), "<mtext>if\u00A0</mtext>"));
}

TEST_CASE("brackets grow with what is inside, by \\left and \\right only") {
  const std::string plain = "<mo stretchy=\"false\" form=\"prefix\">(</mo>";
  const std::string tall = "<mo stretchy=\"false\" form=\"prefix\" style=\"transform:scaleY(2.20)\">(</mo>";
  CHECK(contains(mathml(R"(\left( x \right])", true), plain));
  CHECK(contains(mathml(R"(\left( x \right])", true), "form=\"postfix\">]</mo>"));
  CHECK(contains(mathml(R"(\left( \frac{a}{b} \right.)", true), tall));
  CHECK(contains(mathml(R"((\frac{a}{b}))", true), plain));
  CHECK(contains(mathml(R"(\sqrt{\frac{a}{b}})", true), "scaleY(2.30)\">√</mo>"));
}

TEST_CASE("matrices and cases become tables, row by row") {
  const std::string matrix = mathml(R"(\begin{pmatrix} a & b \\ c & d \end{pmatrix})", true);
  CHECK(contains(matrix, "style=\"transform:scaleY(2.80)\">(</mo><mtable><mtr><mtd"));
  std::size_t rows = 0;
  for (std::size_t at = 0; (at = matrix.find("<mtr>", at)) != std::string::npos; ++at) ++rows;
  CHECK(rows == 2);
  CHECK(
      contains(mathml(R"(\begin{cases} 1 & x > 0 \\ 0 & \text{else} \end{cases})", true), ">{</mo><mtable>"));
}

TEST_CASE("letters of other alphabets are those of Unicode") {
  CHECK(contains(mathml(R"(\mathbb{R} \mathbb{E} \mathbf{x} \mathcal{L} \mathcal{N})", false), "ℝ"));
  CHECK(contains(mathml(R"(\mathbb{E})", false), "𝔼"));
  CHECK(contains(mathml(R"(\mathbf{x})", false), "𝐱"));
  CHECK(contains(mathml(R"(\mathcal{L})", false), "ℒ"));
  CHECK(contains(mathml(R"(\mathcal N)", false), "𝒩"));
}

TEST_CASE("what is wrong in an equation is said, with the equation") {
  CHECK_THROWS_WITH_AS(mathml(R"(\softmax(x))", false),
                       "math: unknown command \\softmax (for the name of a function: "
                       "\\operatorname{softmax}) in `\\softmax(x)`",
                       Error);
  for (const char* broken : {R"(x^2')", "{x", "x}", "\\frac{a}", "\\left( x", "x_", "a_b_c",
                             "\\begin{pmatrix} a", "\\begin{foo}\\end{foo}", "\\text x", "\\left x \\right)",
                             "x \\right)", "\\sqrt[3 x", "\\", "a & b", "\\mathbb{\\"}) {
    CAPTURE(broken);
    CHECK_THROWS_AS(mathml(broken, false), Error);
  }
}

TEST_CASE("an equation that is nested without end is refused, and a nested one is not") {
  const auto nested = [](const std::string& open, int depth, const std::string& close) {
    std::string latex;
    for (int i = 0; i < depth; ++i) latex += open;
    latex += "x";
    for (int i = 0; i < depth; ++i) latex += close;
    return latex;
  };
  CHECK(contains(mathml(nested("{", 100, "}"), false), "<mi>x</mi>"));
  CHECK(contains(mathml(nested("\\sqrt{", 60, "}"), false), "<mi>x</mi>"));
  for (const std::string& deep :
       {nested("{", 8'000, "}"), nested("_{", 8'000, "}"), nested("\\frac", 2'000, "x"),
        nested("\\hat", 2'000, ""), nested("\\mathbf", 2'000, ""), nested("\\left(", 2'000, "\\right)"),
        nested("\\sqrt[", 2'000, "]x"), nested("\\begin{matrix}", 2'000, "\\end{matrix}")})
    CHECK_THROWS_WITH_AS(mathml(deep, false), doctest::Contains("math: nested more than 200 deep in `"),
                         Error);
}

TEST_CASE("headings get ids, paragraphs join lines, two blanks break them") {
  CHECK(markdown_to_html("# The `mask`, again\n") ==
        "<h1 id=\"the-mask-again\">The <code>mask</code>, again</h1>\n");
  CHECK(markdown_to_html("## Why C#") == "<h2 id=\"why-c\">Why C#</h2>\n");
  CHECK(markdown_to_html("## Why ##") == "<h2 id=\"why\">Why</h2>\n");
  CHECK(markdown_to_html("## A\n## A") == "<h2 id=\"a\">A</h2>\n<h2 id=\"a-2\">A</h2>\n");
  CHECK(markdown_to_html("one\ntwo  \nthree\n\nfour") == "<p>one\ntwo<br>\nthree</p>\n<p>four</p>\n");
  CHECK(markdown_to_html("#hashtag") == "<p>#hashtag</p>\n");
}

TEST_CASE("emphasis nests and leaves snake_case, products and code alone") {
  CHECK(markdown_to_html("*a* **b** ***c*** ~~d~~") ==
        "<p><em>a</em> <strong>b</strong> <em><strong>c</strong></em> <s>d</s></p>\n");
  CHECK(markdown_to_html("**a *b* c**") == "<p><strong>a <em>b</em> c</strong></p>\n");
  CHECK(markdown_to_html("_a_ and snake_case_name") == "<p><em>a</em> and snake_case_name</p>\n");
  CHECK(markdown_to_html("a snake_case_ name") == "<p>a snake_case_ name</p>\n");
  CHECK(markdown_to_html("2 * 3 * 4") == "<p>2 * 3 * 4</p>\n");
  CHECK(markdown_to_html("*a `*` b*") == "<p><em>a <code>*</code> b</em></p>\n");
  CHECK(markdown_to_html(R"(\*a\* <b> & "c")") == "<p>*a* &lt;b&gt; &amp; &quot;c&quot;</p>\n");
}

TEST_CASE("code spans keep what is in them") {
  CHECK(markdown_to_html("`a<b` `` ` `` `x*y*z`") ==
        "<p><code>a&lt;b</code> <code>`</code> <code>x*y*z</code></p>\n");
  CHECK(markdown_to_html("a ` b") == "<p>a ` b</p>\n");
}

TEST_CASE("fenced code is coloured if it is C++, and never parsed as text") {
  CHECK(markdown_to_html("```cpp\nint x;  // *y*\n\n# z\n```\nend") ==
        "<pre><code><span class=\"t\">int</span> x;  <span class=\"c\">// *y*</span>\n\n<span class=\"p\"># "
        "z</span>\n</code></pre>\n<p>end</p>\n");
  CHECK(markdown_to_html("```\na < *b*\n```") == "<pre><code>a &lt; *b*\n</code></pre>\n");
  CHECK(markdown_to_html("    one\n\n      two\n\nend") ==
        "<pre><code>one\n\n  two\n</code></pre>\n<p>end</p>\n");
  CHECK(markdown_to_html("```sh\nmake") == "<pre><code>make\n</code></pre>\n");
}

TEST_CASE("lists nest by indentation") {
  CHECK(markdown_to_html("- a\n- b\n  - c\n  - d\n- e") ==
        "<ul>\n<li>a</li>\n<li>b\n<ul>\n<li>c</li>\n<li>d</li>\n</ul></li>\n<li>e</li>\n</ul>\n");
  CHECK(markdown_to_html("3. a\n   more\n4. b") == "<ol start=\"3\">\n<li>a\nmore</li>\n<li>b</li>\n</ol>\n");
  CHECK(markdown_to_html("text\n* a\nlazy\n* b") ==
        "<p>text</p>\n<ul>\n<li>a\nlazy</li>\n<li>b</li>\n</ul>\n");
  CHECK(markdown_to_html("- a\n\n  second\n- b") ==
        "<ul>\n<li><p>a</p>\n<p>second</p></li>\n<li><p>b</p></li>\n</ul>\n");
  CHECK(markdown_to_html("- a\n\nafter") == "<ul>\n<li>a</li>\n</ul>\n<p>after</p>\n");
  CHECK(markdown_to_html("It was\n1984. Then") == "<p>It was\n1984. Then</p>\n");
}

TEST_CASE("tables have a header, alignments and cells with text in them") {
  CHECK(markdown_to_html("| a | b |\n|---|--:|\n| `x|y` | **2** |\n| 3 |\n\nend") ==
        "<div class=\"table\"><table>\n<thead><tr><th>a</th><th "
        "style=\"text-align:right\">b</th></tr>\n</thead>\n<tbody>\n"
        "<tr><td><code>x|y</code></td><td style=\"text-align:right\"><strong>2</strong></td></tr>\n"
        "<tr><td>3</td><td style=\"text-align:right\"></td></tr>\n</tbody>\n</table></div>\n<p>end</p>\n");
}

TEST_CASE("links, pictures and addresses; the options may lead them elsewhere") {
  CHECK(markdown_to_html("[a *b*](c.html \"t\") ![d](e.png) <https://f.g>") ==
        "<p><a href=\"c.html\">a <em>b</em></a> <img src=\"e.png\" alt=\"d\"> <a "
        "href=\"https://f.g\">https://f.g</a></p>\n");
  CHECK(markdown_to_html("[x] (y) [z]") == "<p>[x] (y) [z]</p>\n");
  MarkdownOptions options;
  options.link = [](std::string_view address) { return address == "a" ? "A" : ""; };
  options.image = [](std::string_view) { return "data:x"; };
  CHECK(markdown_to_html("[1](a) [2](b) ![3](c)", options) ==
        "<p><a href=\"A\">1</a> <a href=\"b\">2</a> <img src=\"data:x\" alt=\"3\"></p>\n");
}

TEST_CASE("quotes hold blocks, rules divide") {
  CHECK(markdown_to_html("> a\n> - b\n\n---\nc") ==
        "<blockquote>\n<p>a</p>\n<ul>\n<li>b</li>\n</ul>\n</blockquote>\n<hr>\n<p>c</p>\n");
}

TEST_CASE("dollars are math if they hug it, and money otherwise") {
  CHECK(markdown_to_html("so $a_b*c*$ is") == "<p>so " + mathml("a_b*c*", false) + " is</p>\n");
  CHECK(markdown_to_html("it costs $5 or $6") == "<p>it costs $5 or $6</p>\n");
  CHECK(markdown_to_html("from $5/$6 on") == "<p>from $5/$6 on</p>\n");
  CHECK(markdown_to_html("`$x$`") == "<p><code>$x$</code></p>\n");
  const std::string equation = "<span class=\"equation\">" + mathml("x\n= y", true) + "</span>";
  CHECK(markdown_to_html("a\n\n$$x\n= y$$\n\nb") == "<p>a</p>\n" + equation + "\n<p>b</p>\n");
  CHECK(markdown_to_html("a\n$$x\n= y$$\nb") == "<p>a\n" + equation + "\nb</p>\n");
  CHECK_THROWS_WITH_AS(markdown_to_html("$$x\n\ny$$"), doctest::Contains("$$ that is never closed"), Error);
  CHECK_THROWS_WITH_AS(markdown_to_html("a $\\nope$"), doctest::Contains("unknown command \\nope"), Error);
}

TEST_CASE("Markdown sees nothing of an equation, and an equation nothing of Markdown") {
  CHECK(markdown_to_html("$$x\n+ y\n# z$$") ==
        "<span class=\"equation\">" + mathml("x\n+ y\n# z", true) + "</span>\n");
  CHECK(markdown_to_html("> $$x\n> = y$$") ==
        "<blockquote>\n<span class=\"equation\">" + mathml("x\n= y", true) + "</span>\n</blockquote>\n");
  CHECK(contains(markdown_to_html("| a |\n|---|\n| $|x|$ |"), "<td>" + mathml("|x|", false) + "</td>"));
  CHECK(markdown_to_html("- $5\n- 6$") == "<ul>\n<li>$5</li>\n<li>6$</li>\n</ul>\n");
  // In code and addresses, dollars stay what they are; so does what looks like our own marks.
  CHECK(markdown_to_html("`a$b$` [c]($d$) \\$e$\n\n~~~\n$f$\n~~~\n\n    $g$") ==
        "<p><code>a$b$</code> <a href=\"$d$\">c</a> $e$</p>\n<pre><code>$f$\n</code></pre>\n"
        "<pre><code>$g$\n</code></pre>\n");
  CHECK(markdown_to_html("a ` b $x$") == "<p>a ` b " + mathml("x", false) + "</p>\n");
  CHECK(markdown_to_html("\xfe"
                         "7\xff $x$") == "<p>7  " + mathml("x", false) + "</p>\n");
  CHECK(plain_text("# So *much* `for` [$x^2$](y)") == "So much for x^2");
}

TEST_CASE("nothing that stands in Markdown becomes HTML or a script") {
  CHECK(markdown_to_html("<script>x</script>\n\na <b onclick=\"y\">") ==
        "<p>&lt;script&gt;x&lt;/script&gt;</p>\n<p>a &lt;b onclick=&quot;y&quot;&gt;</p>\n");
  for (const char* link : {"[a](javascript:x)", "[a](JavaScript:x)", "[a](<java\tscript:x>)", "[a](data:x)",
                           "[a](&#106;avascript:x)"}) {
    CAPTURE(link);
    CHECK(markdown_to_html(link).find("href=\"j") == std::string::npos);
    CHECK_FALSE(contains(without_tags(markdown_to_html(link)), "script"));
  }
  CHECK(markdown_to_html("[a](javascript:x) <javascript:y>") == "<p>a javascript:y</p>\n");
  CHECK(markdown_to_html("[a](mailto:b@c.d) [e](f:g)") == "<p><a href=\"mailto:b@c.d\">a</a> e</p>\n");
  CHECK(markdown_to_html("![a\"b](c\"d)") == "<p><img src=\"c&quot;d\" alt=\"a&quot;b\"></p>\n");
}

TEST_CASE("Markdown that is nested or repeated without end is refused or read, in time") {
  const auto repeated = [](const std::string& part, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += part;
    return text;
  };
  CHECK(contains(markdown_to_html(repeated("- ", 100) + "a"), "<li>a</li>"));
  for (const std::string& deep : {repeated("- ", 10'000), repeated(">", 13'000), repeated("1. ", 50'000)})
    CHECK_THROWS_WITH_AS(markdown_to_html(deep + "a"), doctest::Contains("nested more than 100 deep"), Error);
  CHECK_THROWS_WITH_AS(markdown_to_html(repeated("|a", 101) + "\n" + repeated("|---", 101)),
                       "markdown: a table has 101 columns; 100 are the most", Error);
  CHECK_THROWS_WITH_AS(markdown_to_html(repeated("|-[a]: b\n", 100'000)),
                       "markdown: a paragraph has more than 2000 lines", Error);
  const auto start = std::chrono::steady_clock::now();
  for (const char* part :
       {"[",  "![", "[a](", "*a **b ", "_a* ", "`", "` `` ", "$",     "$a ", "$$ ",   "$a\n",  "$a$ ",
        "\\", "<",  "<a:",  "&a",      "~~a ", "|", "> a\n", "- a\n", "#\n", "```\n", "a\n\n", "\xfe"}) {
    CAPTURE(part);
    try {
      markdown_to_html(repeated(part, 100'000));
    } catch (const Error&) {  // `$$` without an end
    }
  }
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
}
