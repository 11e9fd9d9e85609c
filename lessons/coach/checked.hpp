// checked(v, i) is v[i], but throws where a vector or a string ends. Mistakes are compiled with it instead of
// [i] (mutants.cpp writes it): they run inside of the grader, and must not end it.
#pragma once

#include <type_traits>  // remove_cvref_t

namespace coach {

template <class Container, class Key = typename std::remove_cvref_t<Container>::key_type>
decltype(auto) checked(Container&& container, const Key& key) {
  constexpr bool is_map = requires { typename std::remove_cvref_t<Container>::key_type; };
  if constexpr (!is_map && requires { container.at(key); })
    return container.at(key);
  else
    return container[key];  // a map adds what it lacks; tensors and shapes check for themselves
}

}  // namespace coach
