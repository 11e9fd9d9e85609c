#include "lessons/coach/wire.hpp"

#include <cstring>  // memcpy

#include "core/error.hpp"

namespace coach {

void Writer::number(std::uint64_t number) { bytes.append(reinterpret_cast<const char*>(&number), 8); }

void Writer::text(const std::string& text) {
  number(text.size());
  bytes += text;
}

void Writer::value(const Value& value) {
  number(value.size());
  for (const Part& part : value) {
    text(part.name);
    number(static_cast<std::uint64_t>(part.kind));
    number(part.exact);
    text(part.text);
    number(part.shape.size());
    for (const Index size : part.shape) number(std::uint64_t(size));
    number(part.numbers.size());
    for (const double each : part.numbers) bytes.append(reinterpret_cast<const char*>(&each), 8);
  }
}

const char* Reader::take(std::uint64_t bytes) {
  if (std::uint64_t(end_ - at_) < bytes) attn::fail("coach: a message was cut short");
  return std::exchange(at_, at_ + bytes);
}

std::uint64_t Reader::number() {
  std::uint64_t number;
  std::memcpy(&number, take(8), 8);
  return number;
}

std::uint64_t Reader::number(std::uint64_t most) {
  const std::uint64_t read = number();
  if (read > most) attn::fail("coach: a message makes no sense");
  return read;
}

double Reader::real() {
  double number;
  std::memcpy(&number, take(8), 8);
  return number;
}

Index Reader::count(std::uint64_t bytes_each) {
  return Index(number(std::uint64_t(end_ - at_) / bytes_each));
}

std::string Reader::text() {
  const Index size = count(1);
  return std::string(take(std::uint64_t(size)), std::size_t(size));
}

Value Reader::value() {
  Value value(std::size_t(count(6 * 8)));
  for (Part& part : value) {
    part.name = text();
    part.kind = static_cast<Part::Kind>(number(static_cast<std::uint64_t>(Part::Kind::opaque)));
    part.exact = number(1);
    part.text = text();
    part.shape.resize(std::size_t(count(8)));
    for (Index& size : part.shape) size = Index(number());
    part.numbers.resize(std::size_t(count(8)));
    for (double& each : part.numbers) each = real();
    // Whoever prints or compares a part relies on its shape.
    std::uint64_t expected = 1;
    for (const Index size : part.shape) expected = size < 0 ? ~0ull : expected * std::uint64_t(size);
    if (part.has_numbers() && expected != part.numbers.size()) attn::fail("coach: a message makes no sense");
    if (part.kind == Part::Kind::parts && part.shape.size() != 1)
      attn::fail("coach: a message makes no sense");
  }
  return value;
}

}  // namespace coach
