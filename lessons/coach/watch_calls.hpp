// Functions that are handed to an answer, with a witness: what they were asked, and what they answered.
#pragma once

#include <memory>  // shared_ptr

#include "lessons/coach/value.hpp"

namespace coach {

struct Call {
  std::string name;  // "model"
  Value asked, answered;
};
using Calls = std::vector<Call>;

namespace detail {

constexpr Index most_calls = 40;

template <class Result, class... Arguments>
void watch_calls(std::function<Result(Arguments...)>& function, const std::string& name,
                 const std::shared_ptr<Calls>& calls) {
  function = [original = function, name, calls](Arguments... arguments) {
    Call call{name, {}, {}};
    (flatten(call.asked, "", arguments), ...);
    const auto note = [&] {
      if (std::ssize(*calls) < most_calls) calls->push_back(call);
    };
    try {
      Result result = original(arguments...);
      flatten(call.answered, "", result);
      note();
      return result;
    } catch (...) {
      add_opaque(call.answered, "", "an exception");
      note();
      throw;
    }
  };
}

// Every function in `value`, however deep.
template <class T>
void watch_calls(T& value, const std::string& name, const std::shared_ptr<Calls>& calls) {
  if constexpr (is_a<T, std::vector>) {
    if constexpr (!std::is_arithmetic_v<typename T::value_type>)
      for (Index i = 0; i < std::ssize(value); ++i)
        watch_calls(value[i], name + "[" + std::to_string(i) + "]", calls);
  } else if constexpr (requires(T & v) { fields(v); }) {
    std::apply([&](const auto&... f) { (watch_calls(f.value, name + "." + f.name, calls), ...); },
               fields(value));
  }
}

}  // namespace detail
}  // namespace coach
