// What the scanner finds in sources: ordinary declarations, and the odd ones of this code base.
#include <doctest/doctest.h>

#include <algorithm>  // count_if
#include <string>     // string

#include "core/error.hpp"
#include "notebooks_cpp/press/html.hpp"  // read_file
#include "notebooks_cpp/press/lines.hpp"
#include "notebooks_cpp/press/source.hpp"
#include "notebooks_cpp/press/tokens.hpp"

using namespace attn;
using namespace attn::press;

namespace {

const Declaration& only(const std::vector<Declaration>& found) {
  REQUIRE(found.size() == 1);
  return found[0];
}

const Declaration& named(const std::vector<Declaration>& found, const std::string& name) {
  for (const Declaration& each : found)
    if (qualified(each) == name) return each;
  FAIL("nothing is called ", name);
  return found[0];
}

std::string names(const std::vector<Declaration>& found) {
  std::string list;
  for (const Declaration& each : found) list += (list.empty() ? "" : " ") + qualified(each);
  return list;
}

}  // namespace

TEST_CASE("a token knows its kind, its line and its column") {
  const std::vector<Token> all =
      tokens("int a = 1'000;  // one\n  x->y(\"a\\\"b\", 'c', R\"m(x)\"\n)m\");\n#if a \\\n b\nz");
  std::string kinds;
  for (const Token& token : all) kinds += "WNSCyc#"[int(token.kind)];
  CHECK(kinds == "WWyNycWyWySyCySyy#WWW");  // y: symbol, c: comment, C: character
  CHECK(all[3].text == "1'000");
  CHECK(all[7].text == "->");
  CHECK(all[6].column == 2);
  CHECK(all[14].text == "R\"m(x)\"\n)m\"");
  CHECK((all[14].line == 2 && all[14].last_line == 3));
  CHECK(all[17].text == "#if");
  CHECK(
      (all[17].in_directive && all[19].in_directive && all[19].line == 5));  // the backslash joins the lines
  CHECK((!all[16].in_directive && !all[20].in_directive && all[20].line == 6));
}

TEST_CASE("a function has its signature on one line, the comment above and the remark behind") {
  const std::vector<Declaration> found = declarations(
      "#pragma once\n\n// Pairs of sizes,\n//   as they come.\nstd::vector<std::pair<int, int>> sizes(const "
      "Shape& a,  // first\n"
      "                                        int n = 2);  // of two\n");
  const Declaration& sizes = only(found);
  CHECK(sizes.kind == Declaration::Kind::function);
  CHECK(sizes.name == "sizes");
  CHECK(sizes.signature == "std::vector<std::pair<int, int>> sizes(const Shape& a, int n = 2)");
  CHECK(sizes.parameters == "const Shape&a,int n");
  CHECK(sizes.comment == "Pairs of sizes,\n  as they come.");
  CHECK(sizes.remark == "of two");
  CHECK(sizes.line == 5);
  CHECK(sizes.first_line == 3);
  CHECK(sizes.last_line == 6);
  CHECK_FALSE(sizes.defined);
}

TEST_CASE("a comment belongs to what it stands at, and to nothing else") {
  const std::vector<Declaration> found = declarations(
      "// A group.\nint a();\nint b();  // of b,\n          // going on\nint c();\n\n// Nobody's.\n\nint "
      "d();\n");
  CHECK(names(found) == "a b c d");
  CHECK(found[0].comment == "A group.");
  CHECK(found[1].comment.empty());
  CHECK(found[1].remark == "of b,\ngoing on");
  CHECK(found[2].comment.empty());
  CHECK(found[2].remark.empty());
  CHECK(found[3].comment.empty());
  CHECK((found[0].after_blank && !found[1].after_blank && !found[2].after_blank && found[3].after_blank));
}

TEST_CASE("of several statements on a line, the comment above is the first's, a remark the last's") {
  const std::vector<Declaration> found =
      declarations("// above\nint a; int b, c; int f() { return 1; }  // behind\nint d;  // d's\nint e;\n");
  REQUIRE(found.size() == 6);
  CHECK(found[0].comment == "above");
  CHECK(found[1].comment == "");
  for (const Index i : {0, 1, 2}) CHECK(found[i].remark == "");
  CHECK(found[3].remark == "behind");
  CHECK(found[4].remark == "d's");
  CHECK(found[5].remark == "");
  CHECK(declarations("int a, b;  // both\n")[0].remark == "both");
}

TEST_CASE("members have their class as scope, and private ones are internal") {
  const std::vector<Declaration> found = declarations(
      "namespace attn::viz {\nclass A : public B<int> {\n  int hidden();\n public:\n  explicit A(int n) : "
      "x_{n}, y_(f({1})) {}\n"
      "  ~A();\n  A(const A&) = delete;\n  struct Inner {\n    real a = 1, b[2];  // two\n  };\n  void g() "
      "const {  // of g\n"
      "    if (1 < 2) {}\n  }\n\n private:\n  std::function<void(int)> x_;\n};\n}\n");
  CHECK(names(found) == "A A::hidden A::A A::~A A::A A::Inner A::Inner::a A::Inner::b A::g A::x_");
  CHECK(found[0].within == "attn::viz");
  CHECK(found[0].signature == "class A");
  CHECK(found[0].last_line == 17);
  CHECK(named(found, "A::hidden").internal);
  CHECK(named(found, "A::x_").internal);
  CHECK(named(found, "A::x_").kind == Declaration::Kind::variable);
  CHECK_FALSE(named(found, "A::g").internal);
  CHECK(named(found, "A::g").remark == "of g");
  CHECK(named(found, "A::g").defined);
  CHECK(found[2].signature == "explicit A(int n)");
  CHECK(found[4].signature == "A(const A&) = delete");
  CHECK(found[4].defined);
  CHECK(named(found, "A::Inner::b").remark == "two");
}

TEST_CASE("operators, templates, attributes, pointers to functions and vector types are found by name") {
  const std::vector<Declaration> found = declarations(
      "std::ostream& operator<<(std::ostream& out, const Shape& s);\nstruct K {\n  real& operator()(int i) "
      "const;\n"
      "  explicit operator bool() const { return true; }\n  void (*run)(int n, real* x);  // runs\n};\n"
      "[[noreturn]] inline void fail() {}\ntemplate <class T, int n = (3 > 2)>\nrequires std::is_same_v<T, "
      "int> T make(T x);\n"
      "typedef real vec __attribute__((vector_size(32)));\nusing Words = std::vector<std::string>;\nusing "
      "namespace std;\n"
      "struct alignas(64) Block {};\nenum class Side { left, right };\nstruct "
      "Later;\nstatic_assert(sizeof(int) == 4);\n"
      "INLINE vec splat(real x) { return x - vec{}; }\n");
  CHECK(names(found) ==
        "operator<< K K::operator() K::operator bool K::run fail make vec Words Block Side splat");
  CHECK(named(found, "K::run").kind == Declaration::Kind::variable);
  CHECK(named(found, "K::run").remark == "runs");
  CHECK(named(found, "Side").signature == "enum class Side { left, right }");
  CHECK(named(found, "vec").kind == Declaration::Kind::alias);
}

TEST_CASE("a name that only begins with operator is the name of a function") {
  const std::vector<Declaration> found = declarations(
      "int operators_of(int x);\nstruct A {\n  bool operator_is(char c) const { return c; }\n  A "
      "operator_();\n"
      "  A operator~() const;\n};\nint A::operator_count() { return 1; }\n");
  CHECK(names(found) == "operators_of A A::operator_is A::operator_ A::operator~ A::operator_count");
  CHECK(found[0].line == 1);
  CHECK(found[0].signature == "int operators_of(int x)");
  CHECK(found[2].line == 3);
}

TEST_CASE("a definition outside its class has the class as scope") {
  const std::vector<Declaration> found = declarations(
      "namespace {\nint count = f({1, 2}, \"}\");\nint helper() { return '}'; }\n}\n"
      "A::Inner& A::Inner::at(int i) const { return x < 3 ? a : b; }\nA::~A() {}\n");
  CHECK(names(found) == "count helper A::Inner::at A::~A");
  CHECK((found[0].internal && found[1].internal && !found[2].internal));
  CHECK(found[2].signature == "A::Inner& A::Inner::at(int i) const");
}

TEST_CASE("neither a comment, a string nor a body is taken for a declaration") {
  CHECK(declarations("// int a();\n/* int b(); */\n").empty());
  CHECK(names(declarations("const char* text = R\"(int c();)\";\nvoid d() { int e(); struct F {}; }\n")) ==
        "text d");
}

TEST_CASE("a macro that stands alone is skipped, and what follows it is found") {
  const std::vector<Declaration> found =
      declarations("DECLARE(v3)\nDECLARE(v4)\n\nnamespace attn {\nint f();\n}\n");
  CHECK(names(found) == "f");
  CHECK(found[0].within == "attn");
}

TEST_CASE("unfinished sources end the scan and do not break it") {
  for (const char* source :
       {"struct A {", "void f(", "namespace a { int b", "}", "}} int c();", "template <", "using", "operator",
        "\"", "/*", "R\"x(", "A::A() : a_(1", "friend", "typedef", "enum", "a<", "extern"})
    CHECK_NOTHROW(declarations(source));
  CHECK(names(declarations("}} int c();")) == "c");
  std::string deep;
  for (int i = 0; i < 20'000; ++i) deep += "namespace a { struct B {";
  std::string wide;
  for (int i = 0; i < 20'001; ++i) wide += "int y;";
  CHECK_THROWS_WITH_AS(declarations(wide), "source: more than 20000 declarations", Error);
  CHECK_THROWS_WITH_AS(declarations(deep), "source: namespaces and classes are nested more than 100 deep",
                       Error);
}

TEST_CASE("literals side by side are one text") {
  const std::vector<Token> all = tokens("f(\"a\\n\\\"b\\\"\"\n  \" c\", R\"(\\d)\")");
  Index at = 2;
  CHECK(string_literal(all, at) == "a\n\"b\" c");
  CHECK(all[at].text == ",");
  ++at;
  CHECK(string_literal(all, at) == "\\d");
  CHECK_THROWS_AS(string_literal(all, at), Error);
}

TEST_CASE("what the ops header declares is all found, and has no name twice in one place") {
  const std::vector<Declaration> found = declarations(read_file("core/ops.hpp"));
  for (const char* name :
       {"add", "softmax", "matmul", "embedding", "TopK", "TopK::values", "Transpose", "operator/"})
    CHECK_NOTHROW(named(found, name));
  for (const Declaration& each : found) CHECK(each.within == "attn");
  CHECK(std::count_if(found.begin(), found.end(),
                      [](const Declaration& each) { return each.name == "sum"; }) == 2);
}
