// Value: what a function was given or returned, whatever its type, as parts that can be compared and printed.
//
//   Tensor, IntTensor, Shape, numbers, bool, std::string     one part
//   std::vector of numbers                                   one part, a list of length n
//   std::pair of numbers, and a vector of such pairs         one part
//   vector, pair, tuple, optional, map of anything above     the parts of each element; where their number
//                                                            may differ, first a part that gives it
//   a struct of yours                                        a part for each field, which fields() names:
//       inline auto fields(Adam& s) { return std::tuple{coach::field("m", s.m), coach::field("v", s.v)}; }
//   std::function, Rng                                       an opaque part, never compared
//
// (fields() stands in the struct's own namespace: see lessons/11_transformer/types.hpp.)
//
// `clone` copies deeply, because a Tensor is a handle that an answer could write through.
#pragma once

#include <functional>   // function
#include <iterator>     // ssize
#include <map>          // map
#include <optional>     // optional
#include <string>       // string
#include <tuple>        // tuple, apply
#include <type_traits>  // is_arithmetic_v
#include <utility>      // pair
#include <vector>       // vector

#include "core/tensor.hpp"

namespace coach {

using attn::Index;

struct Part {
  enum class Kind {
    number,
    truth,   // a bool
    tensor,  // any shape
    list,    // of numbers, shape (n)
    pair,    // of numbers, shape (2)
    pairs,   // a list of them, shape (n,2)
    shape,   // the sizes are its numbers
    text,
    parts,  // shape (n): so many elements follow
    opaque  // a function, a generator, an empty Tensor: `text` says what
  };
  std::string name = {};  // the argument, field or element: "mask", "[2]"; empty for a plain result
  Kind kind = Kind::number;
  bool exact = false;  // integers: no tolerance
  std::vector<Index> shape = {};
  std::vector<double> numbers = {};  // row-major
  std::string text = {};

  bool has_numbers() const { return kind <= Kind::shape; }
};
using Value = std::vector<Part>;

template <class T>
struct Field {
  const char* name;
  T& value;
};
template <class T>
Field<T> field(const char* name, T& value) {
  return {name, value};
}

namespace detail {
template <class T, template <class...> class Template>
inline constexpr bool is_a = false;
template <template <class...> class Template, class... A>
inline constexpr bool is_a<Template<A...>, Template> = true;

template <class T>
inline constexpr bool is_number_pair = false;
template <class A, class B>
inline constexpr bool is_number_pair<std::pair<A, B>> = std::is_arithmetic_v<A>&& std::is_arithmetic_v<B>;

// A list of numbers that is more than a vector: it counts or notes how it is used.
template <class T>
inline constexpr bool is_watched_list =
    !is_a<T, std::vector> && std::is_convertible_v<const T&, const std::vector<attn::real>&>;

void add_tensor(Value& out, const std::string& name, const attn::Tensor& tensor);
void add_ints(Value& out, const std::string& name, const attn::IntTensor& tensor);
void add_shape(Value& out, const std::string& name, const attn::Shape& shape);
void add_text(Value& out, const std::string& name, const std::string& text);
void add_parts(Value& out, const std::string& name, Index count);
void add_opaque(Value& out, const std::string& name, const char* what);
void add_numbers(Value& out, const std::string& name, Part::Kind kind, bool exact, std::vector<Index> shape,
                 std::vector<double> numbers);
attn::Tensor clone_tensor(const attn::Tensor& tensor);
attn::IntTensor clone_ints(const attn::IntTensor& tensor);
}  // namespace detail

template <class T>
void flatten(Value& out, const std::string& name, const T& value) {
  using namespace detail;
  using Kind = Part::Kind;
  if constexpr (std::is_same_v<T, attn::Tensor>) {
    add_tensor(out, name, value);
  } else if constexpr (std::is_same_v<T, attn::IntTensor>) {
    add_ints(out, name, value);
  } else if constexpr (std::is_same_v<T, attn::Shape>) {
    add_shape(out, name, value);
  } else if constexpr (std::is_same_v<T, attn::Rng>) {
    add_opaque(out, name, "a random number generator");
  } else if constexpr (is_a<T, std::function>) {
    add_opaque(out, name, "a function");
  } else if constexpr (std::is_convertible_v<const T&, std::string>) {
    add_text(out, name, value);
  } else if constexpr (std::is_same_v<T, bool>) {
    add_numbers(out, name, Kind::truth, true, {}, {double(value)});
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    add_numbers(out, name, Kind::number, !std::is_floating_point_v<T>, {}, {double(value)});
  } else if constexpr (is_watched_list<T>) {
    flatten<std::vector<attn::real>>(out, name, value);
  } else if constexpr (is_number_pair<T>) {
    add_numbers(out, name, Kind::pair, !std::is_floating_point_v<typename T::first_type>, {2},
                {double(value.first), double(value.second)});
  } else if constexpr (is_a<T, std::vector>) {
    using Element = typename T::value_type;
    if constexpr (std::is_arithmetic_v<Element>) {
      add_numbers(out, name, Kind::list, !std::is_floating_point_v<Element>, {std::ssize(value)},
                  {value.begin(), value.end()});
    } else if constexpr (is_number_pair<Element>) {
      std::vector<double> numbers;
      for (const auto& [first, second] : value)
        numbers.insert(numbers.end(), {double(first), double(second)});
      add_numbers(out, name, Kind::pairs, !std::is_floating_point_v<typename Element::first_type>,
                  {std::ssize(value), 2}, std::move(numbers));
    } else {
      add_parts(out, name, std::ssize(value));
      for (Index i = 0; i < std::ssize(value); ++i)
        flatten(out, name + "[" + std::to_string(i) + "]", value[i]);
    }
  } else if constexpr (is_a<T, std::map>) {
    add_parts(out, name, std::ssize(value));
    for (const auto& entry : value) {
      flatten(out, name + ".key", entry.first);
      flatten(out, name + ".value", entry.second);
    }
  } else if constexpr (is_a<T, std::optional>) {
    add_parts(out, name, value ? 1 : 0);
    if (value) flatten(out, name, *value);
  } else if constexpr (is_a<T, std::pair>) {
    const std::string prefix = name.empty() ? "" : name + ".";
    flatten(out, prefix + "first", value.first);
    flatten(out, prefix + "second", value.second);
  } else if constexpr (is_a<T, std::tuple>) {
    int i = 0;
    std::apply(
        [&](const auto&... element) { (flatten(out, name + "." + std::to_string(i++), element), ...); },
        value);
  } else {
    const std::string prefix = name.empty() ? "" : name + ".";
    std::apply([&](const auto&... f) { (flatten(out, prefix + f.name, f.value), ...); },
               fields(const_cast<T&>(value)));
  }
}

template <class T>
T clone(const T& value) {
  using namespace detail;
  if constexpr (std::is_same_v<T, attn::Tensor>) {
    return clone_tensor(value);
  } else if constexpr (std::is_same_v<T, attn::IntTensor>) {
    return clone_ints(value);
  } else if constexpr (is_a<T, std::vector>) {
    T copy;
    for (const auto& element : value) copy.push_back(clone<typename T::value_type>(element));
    return copy;
  } else if constexpr (is_a<T, std::pair> || is_a<T, std::tuple>) {
    return std::apply([](const auto&... element) { return T(clone(element)...); }, value);
  } else if constexpr (requires(T & v) { fields(v); }) {
    T copy = value;
    std::apply([](const auto&... f) { ((f.value = clone(f.value)), ...); }, fields(copy));
    return copy;
  } else {
    return value;
  }
}

// The same with each pair of numbers as two parts, so that one of them can be right and the other wrong.
Value pairs_apart(const Value& value);

// Where two values differ: in structure or shape first, else at the worst element.
struct Difference {
  enum class Kind { structure, shape, text, number };
  Kind kind;
  Index part = 0;     // in both
  Index element = 0;  // of the part's numbers
  Index wrong = 0;    // how many elements differ
};
// Numbers differ when further apart than tolerance times the largest number of that part (of `ours`);
// integers and text when not the same. NaN equals NaN, an infinity one of the same sign.
std::optional<Difference> compare(const Value& theirs, const Value& ours, double tolerance);
bool numbers_differ(const Part& theirs, const Part& ours, Index element, double tolerance);

}  // namespace coach
