#include "optim/safetensors.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>  // waitpid
#include <unistd.h>    // fork, pipe, read, usleep, write, _exit

#include <cmath>    // ldexp, isnan, signbit
#include <csignal>  // kill
#include <cstdio>   // sscanf
#include <cstring>  // memcpy
#include <fstream>  // ofstream
#include <limits>   // numeric_limits
#include <numeric>  // iota
#include <random>   // mt19937

#include "core/error.hpp"
#include "core/text.hpp"  // read_file
#include "tests/unit/temporary_folder.hpp"

namespace attn {
namespace {

const std::string real_name = sizeof(real) == 4 ? "F32" : "F64";

// The format from its description, independent of the code under test: length, header, data.
std::string file_bytes(const std::string& header, const std::string& data = "") {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> 8 * i & 255);
  return bytes + header + data;
}

template <class Number>
std::string data_bytes(const std::vector<Number>& numbers) {
  std::string bytes(numbers.size() * sizeof(Number), '\0');
  if (!numbers.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

std::vector<real> read_all(SafetensorsFile& file, const std::string& name) {
  std::vector<real> numbers(std::size_t(file.shape(name).numel()));
  file.read(name, numbers.data(), file.shape(name));
  return numbers;
}

template <class Function>
std::string error_of(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// Why a file is refused, without the "safetensors: F: " that every such message must begin with.
std::string refusal(const std::string& bytes) {
  const std::string message = error_of([&] { SafetensorsFile::from_bytes(bytes, "F"); });
  const std::string prefix = "safetensors: F: ";
  CHECK(message.substr(0, prefix.size()) == prefix);
  CHECK(message.find('\n') == message.npos);
  return message.size() < prefix.size() ? message : message.substr(prefix.size());
}
std::string header_refusal(const std::string& header, const std::string& data = "") {
  return refusal(file_bytes(header, data));
}
// One tensor called w, described by `fields`, in a file with 8 bytes of data.
std::string tensor_refusal(const std::string& fields) {
  return header_refusal("{\"w\":{" + fields + "}}", "12345678");
}

TEST_CASE("arrays, shapes and metadata come back as they were written") {
  const TemporaryFolder folder;
  std::vector<real> a(2 * 3 * 7), b(33), c(1, real(-0.1));
  std::iota(a.begin(), a.end(), real(-5.25));
  std::iota(b.begin(), b.end(), real(1e-30));
  b[7] = std::numeric_limits<real>::infinity();
  b[8] = -real(0);
  b[9] = std::numeric_limits<real>::denorm_min();
  const std::map<std::string, std::string> metadata = {
      {"step", "17"}, {"", ""}, {"text", "\"quoted\"\n\\ \t 한국어 {}"}, {"zero", std::string("\0x", 2)}};
  write_safetensors(folder / "f",
                    {{"layer.0/weight", Shape{2, 3, 7}, a.data()},
                     {"empty", Shape{4, 0}, nullptr},
                     {"\"b\"\n", Shape{33}, b.data()},
                     {"", Shape{}, c.data()},
                     {"six", Shape{1, 1, 2, 1, 3, 7}, a.data()}},
                    metadata);
  SafetensorsFile file = SafetensorsFile::open(folder / "f");
  CHECK(file.names() == std::vector<std::string>{"layer.0/weight", "empty", "\"b\"\n", "", "six"});
  CHECK(file.metadata() == metadata);
  CHECK(file.shape("six") == Shape{1, 1, 2, 1, 3, 7});
  CHECK(file.shape("") == Shape{});
  CHECK(file.shape("empty") == Shape{4, 0});
  CHECK(file.dtype("six") == real_name);
  CHECK(read_all(file, "six") == a);  // in any order, and more than once
  CHECK(data_bytes(read_all(file, "\"b\"\n")) == data_bytes(b));
  CHECK(read_all(file, "") == c);
  CHECK(read_all(file, "empty").empty());
  CHECK(read_all(file, "layer.0/weight") == a);
  CHECK(read_all(file, "layer.0/weight") == a);
}

TEST_CASE("the bytes written are those the format describes") {
  const TemporaryFolder folder;
  const std::vector<real> w = {1, -2, 3, 0.5, 1e6, -0.25}, s = {7};
  write_safetensors(folder / "f", {{"w", Shape{2, 3}, w.data()}, {"s", Shape{}, s.data()}}, {{"step", "9"}});
  std::string header =
      sizeof(real) == 4
          ? R"({"__metadata__":{"step":"9"},"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
            R"("s":{"dtype":"F32","shape":[],"data_offsets":[24,28]}})"
          : R"({"__metadata__":{"step":"9"},"w":{"dtype":"F64","shape":[2,3],"data_offsets":[0,48]},)"
            R"("s":{"dtype":"F64","shape":[],"data_offsets":[48,56]}})";
  while (header.size() % 8 != 0) header += ' ';
  CHECK(read_file(folder / "f") == file_bytes(header, data_bytes(w) + data_bytes(s)));

  write_safetensors(folder / "nothing", {});
  CHECK(read_file(folder / "nothing") == file_bytes("{}      "));
  CHECK(SafetensorsFile::open(folder / "nothing").names().empty());
}

TEST_CASE("a reader written from the format's description finds every array") {
  const TemporaryFolder folder;
  std::mt19937 random(4);
  for (int count = 1; count < 20; ++count) {
    std::vector<std::vector<real>> numbers;
    std::vector<ArrayView> arrays;
    for (int i = 0; i < count; ++i) {
      const Shape shape = {Index(random() % 5), Index(1 + random() % 7)};
      numbers.emplace_back(shape.numel());
      for (real& number : numbers.back()) number = real(random());
      arrays.push_back({fmt::format("t{}_{}", random() % 100'000, i), shape, numbers.back().data()});
    }
    write_safetensors(folder / "f", arrays);

    const std::string bytes = read_file(folder / "f");
    std::uint64_t length = 0, position = 0;
    for (int i = 7; i >= 0; --i) length = length << 8 | static_cast<unsigned char>(bytes[i]);
    CHECK(length % 8 == 0);
    const std::string header = bytes.substr(8, length), data = bytes.substr(8 + length);
    std::size_t found = 0;
    for (auto at = header.find("\"t"); at != std::string::npos; at = header.find("\"t", at + 1), ++found) {
      char name[40], type[4];
      long long rows, columns;
      unsigned long long begin, end;
      REQUIRE(std::sscanf(header.c_str() + at,
                          R"("%39[^"]":{"dtype":"%3[^"]","shape":[%lld,%lld],"data_offsets":[%llu,%llu]})",
                          name, type, &rows, &columns, &begin, &end) == 6);
      CHECK(name == arrays.at(found).name);
      CHECK(type == std::string(real_name));
      CHECK(Shape{rows, columns} == arrays[found].shape);
      CHECK(begin == position);
      CHECK(data.substr(begin, end - begin) == data_bytes(numbers[found]));
      position = end;
    }
    CHECK(found == arrays.size());
    CHECK(position == data.size());
  }
}

TEST_CASE("files of other writers load: any order of keys, spaces, escapes, no padding") {
  const std::string header =
      "{ \"b\" :{\"data_offsets\":[8,16],\n\"dtype\":\"F64\",\"shape\":[1]},\t"
      R"("caf\u00e9":{"shape":[2],"dtype":"F32","data_offsets":[0,8]},"ids":{"dtype":"I64","shape":[1],)"
      R"("data_offsets":[16,24]},"__metadata__":{"format":"pt"}} )"
      "\n";
  REQUIRE(header.size() % 8 != 0);
  SafetensorsFile file = SafetensorsFile::from_bytes(file_bytes(
      header, data_bytes<float>({1.5f, -2}) + data_bytes<double>({0.1}) + data_bytes<std::int64_t>({3})));
  CHECK(file.names() == std::vector<std::string>{"café", "b", "ids"});
  CHECK(file.metadata().at("format") == "pt");
  CHECK(read_all(file, "café") == std::vector<real>{1.5, -2});
  CHECK(read_all(file, "b") == std::vector<real>{real(0.1)});
  CHECK(file.dtype("ids") == "I64");
  CHECK(error_of([&] { read_all(file, "ids"); }) ==
        "safetensors: bytes: tensor \"ids\" is I64; only F32, F64, F16 and BF16 can be read");
}

TEST_CASE("every F16 number is read as what it stands for") {
  std::vector<std::uint16_t> halves(65536);
  std::iota(halves.begin(), halves.end(), std::uint16_t{0});
  SafetensorsFile file = SafetensorsFile::from_bytes(
      file_bytes(R"({"h":{"dtype":"F16","shape":[65536],"data_offsets":[0,131072]}})", data_bytes(halves)));
  const std::vector<real> numbers = read_all(file, "h");
  int wrong = 0;
  for (int half = 0; half < 65536; ++half) {
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    const real infinity = std::numeric_limits<real>::infinity();
    const real magnitude = exponent == 31  ? infinity
                           : exponent == 0 ? std::ldexp(real(fraction), -24)
                                           : std::ldexp(real(1024 + fraction), exponent - 25);
    const bool good = exponent == 31 && fraction != 0 ? std::isnan(numbers[half])
                                                      : std::abs(numbers[half]) == magnitude &&
                                                            std::signbit(numbers[half]) == (half >> 15);
    wrong += !good;
  }
  CHECK(wrong == 0);
  CHECK(numbers[0x3c00] == 1);
  CHECK(numbers[0xc000] == -2);
  CHECK(numbers[0x7bff] == 65504);
  CHECK(numbers[0x0001] == real(5.9604644775390625e-8));
}

TEST_CASE("BF16 is read with its subnormals, infinities and NaN") {
  const std::vector<std::uint16_t> halves = {0x3f80, 0xc000, 0x4049, 0x0001, 0x8001, 0x007f,
                                             0x7f7f, 0x7f80, 0xff80, 0x7fc0, 0x8000};
  SafetensorsFile file = SafetensorsFile::from_bytes(
      file_bytes(R"({"h":{"dtype":"BF16","shape":[11],"data_offsets":[0,22]}})", data_bytes(halves)));
  const std::vector<real> numbers = read_all(file, "h");
  CHECK(numbers[0] == 1);
  CHECK(numbers[1] == -2);
  CHECK(numbers[2] == real(3.140625));
  CHECK(numbers[3] == std::ldexp(real(1), -133));
  CHECK(numbers[4] == -std::ldexp(real(1), -133));
  CHECK(numbers[5] == std::ldexp(real(127), -133));
  CHECK(numbers[6] == std::ldexp(real(255), 120));
  CHECK(numbers[7] == std::numeric_limits<real>::infinity());
  CHECK(numbers[8] == -std::numeric_limits<real>::infinity());
  CHECK(std::isnan(numbers[9]));
  CHECK((numbers[10] == 0 && std::signbit(numbers[10])));
}

TEST_CASE("arrays longer than the reading buffer are converted whole") {
  std::vector<float> floats(100'003);
  std::vector<double> doubles(70'001);
  std::iota(floats.begin(), floats.end(), 0.5f);
  std::iota(doubles.begin(), doubles.end(), -0.25);
  SafetensorsFile file = SafetensorsFile::from_bytes(
      file_bytes(R"({"f":{"dtype":"F32","shape":[100003],"data_offsets":[0,400012]},)"
                 R"("d":{"dtype":"F64","shape":[70001],"data_offsets":[400012,960020]}})",
                 data_bytes(floats) + data_bytes(doubles)));
  CHECK(read_all(file, "f") == std::vector<real>(floats.begin(), floats.end()));
  CHECK(read_all(file, "d") == std::vector<real>(doubles.begin(), doubles.end()));
}

TEST_CASE("a wrong name or shape is an error that names the tensor and leaves the destination alone") {
  SafetensorsFile file = SafetensorsFile::from_bytes(
      file_bytes(R"({"w":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}})", "12345678"), "model");
  real numbers[2] = {42, 43};
  CHECK(error_of([&] {
          file.read("w", numbers, Shape{1, 2});
        }) == "safetensors: model: tensor \"w\" has shape (2,1), but (1,2) is expected");
  CHECK(error_of([&] { file.read("w", numbers, Shape{2}); }) ==
        "safetensors: model: tensor \"w\" has shape (2,1), but (2) is expected");
  CHECK(error_of([&] {
          file.read("v\n", numbers, Shape{2, 1});
        }) == R"(safetensors: model: there is no tensor "v\n" among the 1 in it)");
  CHECK(error_of([&] { file.dtype("v"); }) ==
        "safetensors: model: there is no tensor \"v\" among the 1 in it");
  CHECK(numbers[0] == 42);
  CHECK(numbers[1] == 43);
}

TEST_CASE("a file cut at any byte, or with a byte too many, is refused") {
  const TemporaryFolder folder;
  const std::vector<real> numbers = {1, 2, 3, 4, 5, 6};
  write_safetensors(folder / "f", {{"first", Shape{3}, numbers.data()}, {"last", Shape{6}, numbers.data()}},
                    {{"step", "1"}});
  const std::string whole = read_file(folder / "f");
  for (std::size_t size = 0; size < whole.size(); ++size) refusal(whole.substr(0, size));
  const std::string end = std::to_string(9 * sizeof(real)), one_less = std::to_string(9 * sizeof(real) - 1);
  CHECK(refusal(whole.substr(0, whole.size() - 1)) == "tensor \"last\" ends at byte " + end +
                                                          " of the data, but the file holds only " +
                                                          one_less + ": it is truncated");
  CHECK(refusal(whole + "x") == "1 bytes at the end, after tensor \"last\", belong to no tensor");
  CHECK(refusal(file_bytes("{}", "xy")) == "2 bytes at the end, after the header, belong to no tensor");
}

TEST_CASE("a foreign file is refused before its header is read") {
  CHECK(refusal("") == "not a safetensors file, or a truncated one: it has 0 bytes");
  CHECK(refusal("short") == "not a safetensors file, or a truncated one: it has 5 bytes");
  CHECK(refusal("\x89PNG\r\n\x1a\n and so on") ==
        "not a safetensors file: it announces a header of 727905341920923785 bytes, and the format allows "
        "100000000");
  CHECK(refusal(std::string(8, '\xff') + "{}") ==
        "not a safetensors file: it announces a header of 18446744073709551615 bytes, and the format allows "
        "100000000");
  // One byte over the limit, and the limit itself in a file that is shorter.
  CHECK(refusal(std::string("\x01\xe1\xf5\x05\0\0\0\0{}", 10)) ==
        "not a safetensors file: it announces a header of 100000001 bytes, and the format allows 100000000");
  CHECK(refusal(std::string("\x00\xe1\xf5\x05\0\0\0\0{}", 10)) ==
        "truncated or not a safetensors file: it announces a header of 100000000 bytes, and 2 follow");
  CHECK(refusal(file_bytes("{\"a\": 1}").substr(0, 15)) ==
        "truncated or not a safetensors file: it announces a header of 8 bytes, and 7 follow");
  CHECK(refusal(std::string(8, '\0')) == "not a safetensors file: the header does not begin with {");
  CHECK(header_refusal(" {}") == "not a safetensors file: the header does not begin with {");
  CHECK(header_refusal("[]") == "not a safetensors file: the header does not begin with {");
  CHECK(header_refusal("\xef\xbb\xbf{}") == "not a safetensors file: the header does not begin with {");
}

TEST_CASE("a header that is not JSON is refused with the place") {
  const auto not_json = [](int byte) {
    return "the header is not valid JSON at its byte " + std::to_string(byte) +
           ": the file is damaged or not safetensors";
  };
  CHECK(header_refusal("{") == not_json(2));
  CHECK(header_refusal("{}}") == not_json(3));
  CHECK(header_refusal("{} x") == not_json(4));
  CHECK(header_refusal(std::string("{}\0 ", 4)) == not_json(3));
  CHECK(header_refusal("{\"\xff\":1}") == not_json(3));
  CHECK(header_refusal("{\"__metadata__\":{\"a\":\"1\",}}") == not_json(26));
  CHECK(header_refusal("{'w':1}") == not_json(2));
  CHECK(header_refusal("{/**/}") == not_json(2));
}

TEST_CASE("nesting, however deep, is refused at its first bracket") {
  const std::string open(1'000'000, '['), close(1'000'000, ']');
  CHECK(header_refusal("{\"w\":" + open + close + "}") ==
        "tensor \"w\": described by an array, not by an object");
  CHECK(tensor_refusal("\"shape\":[" + open) == "tensor \"w\": shape holds an array");
  CHECK(tensor_refusal("\"dtype\":" + open) == "tensor \"w\": dtype is an array");
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"shape\":";
  CHECK(header_refusal("{\"w\":" + objects) == "tensor \"w\": shape is an object");
  CHECK(header_refusal("{\"__metadata__\":{\"a\":" + open) ==
        "__metadata__ \"a\" is an array, and only strings are allowed there");
}

TEST_CASE("metadata other than strings is refused") {
  const auto of_value = [](const std::string& value) {
    return header_refusal("{\"__metadata__\":{\"step\":" + value + "}}");
  };
  const std::string tail = ", and only strings are allowed there";
  CHECK(of_value("1") == "__metadata__ \"step\" is a number" + tail);
  CHECK(of_value("-1") == "__metadata__ \"step\" is a negative number" + tail);
  CHECK(of_value("null") == "__metadata__ \"step\" is null" + tail);
  CHECK(of_value("true") == "__metadata__ \"step\" is a boolean" + tail);
  CHECK(of_value("{}") == "__metadata__ \"step\" is an object" + tail);
  CHECK(header_refusal(R"({"__metadata__":"text"})") == "__metadata__ is a string, not an object of strings");
  CHECK(header_refusal(R"({"__metadata__":[]})") == "__metadata__ is an array, not an object of strings");
}

TEST_CASE("a key that is there twice is refused at every level") {
  const std::string w = R"("w":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  CHECK(header_refusal("{" + w + "," + w + "}") == "tensor \"w\" is there twice");
  CHECK(header_refusal(R"({"__metadata__":{},"__metadata__":{}})") == "__metadata__ is there twice");
  CHECK(header_refusal(R"({"__metadata__":{"a":"1","a":"1"}})") == "__metadata__ has \"a\" twice");
  CHECK(tensor_refusal(R"("dtype":"F32","dtype":"F32")") == "tensor \"w\": dtype is there twice");
  CHECK(tensor_refusal(R"("shape":[2],"shape":[2])") == "tensor \"w\": shape is there twice");
  CHECK(tensor_refusal(R"("data_offsets":[0,8],"data_offsets":[0,8])") ==
        "tensor \"w\": data_offsets is there twice");
}

TEST_CASE("a tensor described wrongly is refused by name") {
  const std::string tensor = "tensor \"w\": ", f32 = R"("dtype":"F32",)", at = R"(,"data_offsets":[0,8])";
  CHECK(header_refusal(R"({"w":7})") == tensor + "described by a number, not by an object");
  CHECK(header_refusal(R"({"w":null})") == tensor + "described by null, not by an object");
  CHECK(tensor_refusal(f32 + R"("shape":[2])") == tensor + "data_offsets must be two numbers");
  CHECK(tensor_refusal(f32 + R"("data_offsets":[0,8])") == tensor + "shape is missing");
  CHECK(tensor_refusal(R"("shape":[2])" + at) == tensor + "dtype is missing");
  CHECK(tensor_refusal(f32 + R"("shape":[2],"stride":[1])") == tensor + "unknown field \"stride\"");
  CHECK(tensor_refusal(R"("dtype":"f32")") == tensor + "unknown dtype \"f32\"");
  CHECK(tensor_refusal(R"("dtype":32)") == tensor + "dtype is a number");
  CHECK(tensor_refusal(R"("shape":2)") == tensor + "shape is a number");
  CHECK(tensor_refusal(R"("shape":"2")") == tensor + "shape is a string");
  CHECK(tensor_refusal(R"("shape":["2"])") == tensor + "shape holds a string");
  CHECK(tensor_refusal(R"("shape":[-2])") == tensor + "shape holds a negative number");
  CHECK(tensor_refusal(R"("shape":[-0])") == tensor + "shape holds a negative number");
  CHECK(tensor_refusal(R"("shape":[2.0])") == tensor + "shape holds a number that is no 64-bit integer");
  CHECK(tensor_refusal(R"("shape":[1e1])") == tensor + "shape holds a number that is no 64-bit integer");
  CHECK(tensor_refusal(R"("shape":[18446744073709551616])") ==
        tensor + "shape holds a number that is no 64-bit integer");
  CHECK(tensor_refusal(R"("shape":[9223372036854775808])") ==
        tensor + "an axis of size 9223372036854775808 is too large");
  CHECK(tensor_refusal(R"("shape":[true])") == tensor + "shape holds a boolean");
  CHECK(tensor_refusal(f32 + R"("shape":[1,1,1,1,1,1,2])" + at) ==
        tensor + "its shape has more than the 6 axes supported");
  CHECK(tensor_refusal(f32 + R"("shape":[2],"data_offsets":[0])") ==
        tensor + "data_offsets must be two numbers");
  CHECK(tensor_refusal(f32 + R"("shape":[2],"data_offsets":[])") ==
        tensor + "data_offsets must be two numbers");
  CHECK(tensor_refusal(R"("data_offsets":[0,8,8])") == tensor + "data_offsets must be two numbers");
  CHECK(tensor_refusal(R"("data_offsets":[-1,8])") == tensor + "data_offsets holds a negative number");
  CHECK(tensor_refusal(R"("data_offsets":8)") == tensor + "data_offsets is a number");
}

TEST_CASE("a shape that does not fit its bytes, or overflows, is refused by name") {
  const auto of = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return tensor_refusal("\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets);
  };
  CHECK(of("F32", "[3]", "[0,8]") ==
        "tensor \"w\": F32 of shape (3) takes 12 bytes, but data_offsets are [0, 8]");
  CHECK(of("F64", "[2]", "[0,8]") ==
        "tensor \"w\": F64 of shape (2) takes 16 bytes, but data_offsets are [0, 8]");
  CHECK(of("F16", "[]", "[0,8]") ==
        "tensor \"w\": F16 of shape () takes 2 bytes, but data_offsets are [0, 8]");
  CHECK(of("F32", "[2]", "[8,0]") ==
        "tensor \"w\": F32 of shape (2) takes 8 bytes, but data_offsets are [8, 0]");
  CHECK(of("F32", "[0]", "[0,8]") ==
        "tensor \"w\": F32 of shape (0) takes 0 bytes, but data_offsets are [0, 8]");
  CHECK(of("F32", "[2]", "[18446744073709551608,0]") ==
        "tensor \"w\": F32 of shape (2) takes 8 bytes, but data_offsets are [18446744073709551608, 0]");
  CHECK(of("F4", "[3]", "[0,1]") == "tensor \"w\": F4 of shape (3) does not fill whole bytes");
  // 2^62 numbers of 4 bytes wrap around to 0 bytes, 2^62 + 2 of them to 8.
  CHECK(of("F32", "[4611686018427387904]", "[0,0]") ==
        "tensor \"w\": shape: (4611686018427387904) has more elements than memory can hold");
  CHECK(of("F32", "[4611686018427387906]", "[0,8]") ==
        "tensor \"w\": shape: (4611686018427387906) has more elements than memory can hold");
  CHECK(of("F32", "[4294967296,4294967296]", "[0,0]") ==
        "tensor \"w\": shape: (4294967296,4294967296) has more elements than memory can hold");
  CHECK(of("F32", "[4294967296,4294967296,0]", "[0,0]") ==
        "tensor \"w\": shape: (4294967296,4294967296,0) has more elements than memory can hold");
  CHECK(of("F32", "[0,4294967296,4294967296]", "[0,0]") ==
        "tensor \"w\": shape (0,4294967296,4294967296) is too large");
}

TEST_CASE("holes, overlaps and offsets outside the file are refused") {
  const auto of = [](const std::string& a, const std::string& b) {
    return header_refusal(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":)" + a +
                              R"(},"b":{"dtype":"F32","shape":[1],"data_offsets":)" + b + "}}",
                          "12345678");
  };
  const std::string middle = " of the data, but the one before it ends at ";
  CHECK(of("[0,4]", "[5,9]") == "tensor \"b\" begins at byte 5" + middle + "4: there is a hole");
  CHECK(of("[4,8]", "[8,12]") == "tensor \"a\" begins at byte 4" + middle + "0: there is a hole");
  CHECK(of("[0,4]", "[0,4]") == "tensor \"b\" begins at byte 0" + middle + "4: they overlap");
  CHECK(of("[2,6]", "[0,4]") == "tensor \"a\" begins at byte 2" + middle + "4: they overlap");
  CHECK(of("[0,4]", "[18446744073709551611,18446744073709551615]") ==
        "tensor \"b\" begins at byte 18446744073709551611" + middle + "4: there is a hole");
  CHECK(header_refusal(R"({"w":{"dtype":"F32","shape":[1099511627776],"data_offsets":[0,4398046511104]}})",
                       "x") ==
        "tensor \"w\" ends at byte 4398046511104 of the data, but the file holds only 1: it is truncated");
}

TEST_CASE("a name from a file cannot break the message's line") {
  const std::string name = "a\\n\\u001b[2J" + std::string(1000, 'z');
  const std::string message = header_refusal("{\"" + name + "\":1}");
  CHECK(message ==
        "tensor \"a\\n\\u001b[2J" + std::string(74, 'z') + "\"...: described by a number, not by an object");
}

TEST_CASE("opening names the path that is missing, no file, or damaged") {
  const TemporaryFolder folder;
  const std::string prefix = "safetensors: " + folder.path.string();
  CHECK(error_of([&] { SafetensorsFile::open(folder / "f"); }) == prefix + "/f: there is no such file");
  CHECK(error_of([&] { SafetensorsFile::open(folder.path); }) == prefix + ": not a regular file");
  std::ofstream(folder / "text") << "some text, not weights";
  CHECK(error_of([&] {
          SafetensorsFile::open(folder / "text");
        }).find(prefix + "/text: not a safetensors file") == 0);
}

TEST_CASE("a file that shrinks while it is open is an error, not a short read") {
  const TemporaryFolder folder;
  std::vector<real> numbers(50'000, 1);
  write_safetensors(folder / "f", {{"a", Shape{7}, numbers.data()}, {"w", Shape{50'000}, numbers.data()}});
  SafetensorsFile file = SafetensorsFile::open(folder / "f");
  std::filesystem::resize_file(folder / "f", 1000);
  CHECK(error_of([&] { read_all(file, "w"); }) ==
        "safetensors: " + (folder / "f").string() +
            ": tensor \"w\" cannot be read: the file changed since it was opened");
  CHECK(read_all(file, "a") == std::vector<real>(7, 1));
}

TEST_CASE("what could not be read back is not written, and the old file stays") {
  const TemporaryFolder folder;
  const real one = 1;
  write_safetensors(folder / "f", {{"w", Shape{}, &one}});
  const std::string before = read_file(folder / "f"),
                    prefix = "safetensors: " + (folder / "f").string() + ": ";
  const auto error = [&](const std::string& a, const std::string& b, const std::string& text) {
    return error_of([&] {
      write_safetensors(folder / "f", {{a, {}, &one}, {b, {}, &one}}, {{"key", text}});
    });
  };
  CHECK(error("w", "w", "") == prefix + "two tensors are called \"w\"");
  CHECK(error("w", "__metadata__", "") == prefix + "a tensor cannot be called __metadata__");
  CHECK(error("w", "\xff", "") == prefix + "a tensor's name or the metadata is not UTF-8 text");
  CHECK(error("w", "v", "\xff") == prefix + "a tensor's name or the metadata is not UTF-8 text");
  CHECK(read_file(folder / "f") == before);
}

// The child writes checkpoint after checkpoint: two arrays and a metadata field that all say which.
[[noreturn]] void write_forever(const std::filesystem::path& path, long step, int progress) {
  std::vector<real> numbers(60'000);
  for (;; ++step) {
    std::fill(numbers.begin(), numbers.end(), real(step));
    write_safetensors(path, {{"a", Shape{1}, numbers.data()}, {"b", Shape{60'000}, numbers.data()}},
                      {{"step", std::to_string(step)}});
    if (::write(progress, "x", 1) != 1) _exit(1);
  }
}

TEST_CASE("killed at any moment, a writer leaves a whole checkpoint") {
  const TemporaryFolder folder;
  std::mt19937 random(11);
  long last = 0;
  for (int kills = 0; kills < 40; ++kills) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) write_forever(folder / "f", last + 1, ends[1]);
    char byte;
    const bool wrote = ::read(ends[0], &byte, 1) == 1;  // so that each child gets somewhere, however slow
    usleep(random() % 6000);
    kill(child, SIGKILL);
    REQUIRE(waitpid(child, nullptr, 0) == child);
    close(ends[0]);
    close(ends[1]);
    REQUIRE(wrote);

    SafetensorsFile file = SafetensorsFile::open(folder / "f");
    const long step = std::stol(file.metadata().at("step"));
    CHECK(step > last);
    CHECK(read_all(file, "a") == std::vector<real>(1, real(step)));
    CHECK(read_all(file, "b") == std::vector<real>(60'000, real(step)));
    last = step;
  }
  // At most the one temporary of the last kill is left.
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) <= 2);
}

}  // namespace
}  // namespace attn
