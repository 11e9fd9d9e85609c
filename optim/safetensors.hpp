// Safetensors: named arrays in one file, the format in which most tools exchange weights.
//
//   write_safetensors("model.safetensors", {{"weight", Shape{2, 3}, weight}}, {{"step", "100"}});
//   SafetensorsFile file = SafetensorsFile::open("model.safetensors");
//   file.read("weight", weight, Shape{2, 3});  // F32, F64, F16 or BF16 in the file, real in memory
//
// The layout, everything little-endian:
//   8 bytes   N, the length of the header
//   N bytes   the header, JSON padded with spaces to a multiple of 8, for example
//             {"__metadata__":{"step":"100"},"weight":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}
//   the rest  the arrays, row-major, one after another without holes; the offsets count from here
//
// A file is not trusted: what its header claims is checked against the file's size before anything is read or
// allocated by it, and a bad file gets a one-line Error that names the file and the tensor. The format holds
// no checksum: with_checksum and verify_checksum keep one in the metadata. Tensors of other types (I64, BOOL,
// ...) may be in the file but cannot be read; more than Shape::max_rank axes are refused.
#pragma once

#include <cstdint>      // uint64_t
#include <filesystem>   // path
#include <map>          // map
#include <memory>       // unique_ptr
#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

#include "core/real.hpp"
#include "core/shape.hpp"
#include "optim/mapped_file.hpp"

namespace attn {

using Metadata = std::map<std::string, std::string>;

struct ArrayView {
  std::string name;
  Shape shape;
  const real* data;
};

// Writes the arrays in the given order as F32 (F64 in the double build), through write_file_atomically.
void write_safetensors(const std::filesystem::path& path, const std::vector<ArrayView>& arrays,
                       const Metadata& metadata = {});

// The metadata with one entry more: a checksum of the metadata and of all numbers.
Metadata with_checksum(const std::vector<ArrayView>& arrays, Metadata metadata);

class SafetensorsFile {
 public:
  struct Entry {
    std::string_view dtype;  // the format's own name: "F32"
    Shape shape;
    std::uint64_t begin = 0, end = 0;  // bytes, counted from the end of the header
  };

  // Both check the whole header. A file is mapped, not read: its arrays stay in the system's cache until they
  // are asked for.
  static SafetensorsFile open(const std::filesystem::path& path);
  static SafetensorsFile from_bytes(std::string bytes, std::string label = "bytes");  // label: for errors

  const std::vector<std::string>& names() const { return names_; }  // in the order of the data
  const Metadata& metadata() const { return metadata_; }
  const Shape& shape(const std::string& name) const { return entry(name).shape; }
  std::string_view dtype(const std::string& name) const { return entry(name).dtype; }

  // Fills destination[0 .. expected.numel()). F64 is rounded to the nearest real; NaN and infinities pass.
  void read(const std::string& name, real* destination, const Shape& expected) const;
  // The numbers where they lie in the file, without a copy; null if they are not stored as reals.
  const real* in_place(const std::string& name, const Shape& expected) const;

  // Throws if the file has a checksum and it is not that of its contents. Cost: a pass over the file, about
  // 1 GB/s.
  void verify_checksum();

 private:
  SafetensorsFile(std::string label, std::unique_ptr<MappedFile> file, std::string bytes);
  std::string_view all() const;  // the whole file
  std::string_view bytes_of(const std::string& name, const Shape& expected) const;
  const Entry& entry(const std::string& name) const;
  void check_layout(std::uint64_t data_bytes);

  std::string label_;
  std::unique_ptr<MappedFile> file_;  // where the bytes are, or else they are here:
  std::unique_ptr<const std::string> bytes_;
  std::uint64_t data_start_ = 0;
  std::map<std::string, Entry> entries_;
  std::vector<std::string> names_;
  Metadata metadata_;
};

}  // namespace attn
