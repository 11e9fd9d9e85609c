#include "optim/safetensors.hpp"

#include <algorithm>  // find_if, sort
#include <bit>        // endian
#include <cstring>    // memcpy
#include <iterator>   // begin, end, ssize
#include <limits>     // numeric_limits
#include <set>        // set
#include <tuple>      // tie
#include <utility>    // forward, move

#include "core/atomic_file.hpp"
#include "core/error.hpp"
#include "core/hash.hpp"
#include "core/json.hpp"
#include "core/parallel.hpp"
#include "core/text.hpp"  // first_invalid_byte

namespace attn {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are copied as they lie in memory");

using Entry = SafetensorsFile::Entry;

constexpr const char* metadata_key = "__metadata__";
constexpr const char* checksum_key = "checksum";
constexpr std::uint64_t max_header_bytes = 100'000'000;  // the format's own limit
constexpr const char* real_dtype = sizeof(real) == 4 ? "F32" : "F64";

struct Dtype {
  std::string_view name;
  int bits;
};
constexpr Dtype dtypes[] = {
    {"F32", 32},    {"F64", 64},    {"F16", 16},    {"BF16", 16},       {"I8", 8},          {"I16", 16},
    {"I32", 32},    {"I64", 64},    {"U8", 8},      {"U16", 16},        {"U32", 32},        {"U64", 64},
    {"BOOL", 8},    {"F8_E4M3", 8}, {"F8_E5M2", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"F8_E8M0", 8},
    {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F4", 4},      {"C64", 64}};

template <class... Args>
[[noreturn]] void refuse(const std::string& file, fmt::format_string<Args...> format, Args&&... args) {
  fail("safetensors: {}: {}", file, fmt::format(format, std::forward<Args>(args)...));
}

// A name as it may be shown: whatever a file calls its tensors, the message stays one short line.
std::string shown(const std::string& name) {
  constexpr std::size_t longest = 80;
  const std::string text = shown_json(name.substr(0, longest));
  return name.size() <= longest ? text : text + "...";
}

// Takes the header token by token: the first that has no place in a safetensors header ends the reading,
// however deep or long the rest of it is.
class HeaderReader : public JsonListener {
 public:
  HeaderReader(const std::string& file, std::map<std::string, Entry>& entries, Metadata& metadata)
      : file_(file), entries_(entries), metadata_(metadata) {}

  void begin_object() override {
    if (place_ != Place::outside && place_ != Place::header) misplaced("an object");
    tensor_ = {};
    place_ = place_ == Place::outside ? Place::header
             : name_ == metadata_key  ? Place::metadata
                                      : Place::tensor;
  }

  void key(const std::string& key) override {
    if (place_ == Place::header) {
      if (key == metadata_key ? metadata_seen_ : entries_.count(key) != 0)
        refuse(file_, "{} is there twice", key == metadata_key ? key : "tensor " + shown(key));
      metadata_seen_ = metadata_seen_ || key == metadata_key;
      name_ = key;
    } else if (place_ == Place::metadata) {
      if (metadata_.count(key) != 0) refuse(file_, "{} has {} twice", metadata_key, shown(key));
      field_ = key;
    } else {
      bool* seen = key == "dtype"          ? &tensor_.dtype_seen
                   : key == "shape"        ? &tensor_.shape_seen
                   : key == "data_offsets" ? &tensor_.offsets_seen
                                           : nullptr;
      if (!seen) refuse_tensor("unknown field {}", shown(key));
      if (*seen) refuse_tensor("{} is there twice", key);
      *seen = true;
      field_ = key;
    }
  }

  void string(const std::string& text) override {
    if (place_ == Place::metadata) {
      metadata_[field_] = text;
      return;
    }
    if (place_ != Place::tensor || field_ != "dtype") misplaced("a string");
    const auto known = std::find_if(std::begin(dtypes), std::end(dtypes),
                                    [&](const Dtype& dtype) { return dtype.name == text; });
    if (known == std::end(dtypes)) refuse_tensor("unknown dtype {}", shown(text));
    tensor_.dtype = *known;
  }

  void begin_array() override {
    if (place_ != Place::tensor || field_ == "dtype") misplaced("an array");
    place_ = field_ == "shape" ? Place::shape : Place::offsets;
  }

  void whole(std::uint64_t number) override {
    if (place_ == Place::shape) {
      if (tensor_.rank == Shape::max_rank)
        refuse_tensor("its shape has more than the {} axes supported", Shape::max_rank);
      if (number > std::uint64_t(std::numeric_limits<Index>::max()))
        refuse_tensor("an axis of size {} is too large", number);
      tensor_.sizes[tensor_.rank++] = Index(number);
    } else if (place_ == Place::offsets) {
      if (tensor_.offset_count == 2) refuse_tensor("data_offsets must be two numbers");
      tensor_.offsets[tensor_.offset_count++] = number;
    } else {
      misplaced("a number");
    }
  }

  void end_array() override { place_ = Place::tensor; }

  void end_object() override {
    if (place_ == Place::tensor) entries_[name_] = finished_tensor();
    place_ = place_ == Place::header ? Place::outside : Place::header;
  }

  void other(const char* what) override { misplaced(what); }
  void no_json(std::size_t position) override {
    refuse(file_, "the header is not valid JSON at its byte {}: the file is damaged or not safetensors",
           position);
  }

 private:
  enum class Place { outside, header, metadata, tensor, shape, offsets };

  struct Description {
    bool dtype_seen = false, shape_seen = false, offsets_seen = false;
    Dtype dtype = {};
    Index sizes[Shape::max_rank] = {};
    int rank = 0;
    std::uint64_t offsets[2] = {};
    int offset_count = 0;
  };

  template <class... Args>
  [[noreturn]] void refuse_tensor(fmt::format_string<Args...> format, Args&&... args) const {
    refuse(file_, "tensor {}: {}", shown(name_), fmt::format(format, std::forward<Args>(args)...));
  }

  [[noreturn]] void misplaced(const char* what) const {
    if (place_ == Place::metadata)
      refuse(file_, "{} {} is {}, and only strings are allowed there", metadata_key, shown(field_), what);
    if (place_ == Place::header && name_ == metadata_key)
      refuse(file_, "{} is {}, not an object of strings", metadata_key, what);
    if (place_ == Place::header) refuse_tensor("described by {}, not by an object", what);
    refuse_tensor("{} {} {}", field_, place_ == Place::tensor ? "is" : "holds", what);
  }

  Entry finished_tensor() const {
    if (!tensor_.dtype_seen) refuse_tensor("dtype is missing");
    if (!tensor_.shape_seen) refuse_tensor("shape is missing");
    if (tensor_.offset_count != 2) refuse_tensor("data_offsets must be two numbers");

    Entry entry{tensor_.dtype.name, {}, tensor_.offsets[0], tensor_.offsets[1]};
    try {
      entry.shape = Shape(tensor_.sizes, tensor_.rank);
    } catch (const Error& error) {  // which knows neither the file nor the tensor
      refuse_tensor("{}", error.what());
    }
    // Sizes of 0 are left out at first: of (0, huge, huge), too, the strides must not overflow.
    Index bits = tensor_.dtype.bits;
    bool empty = false;
    for (const Index size : entry.shape) {
      if (size == 0)
        empty = true;
      else if (__builtin_mul_overflow(bits, size, &bits))
        refuse_tensor("shape {} is too large", entry.shape.str());
    }
    if (empty) bits = 0;
    if (bits % 8 != 0)
      refuse_tensor("{} of shape {} does not fill whole bytes", entry.dtype, entry.shape.str());
    if (entry.end < entry.begin || entry.end - entry.begin != std::uint64_t(bits / 8))
      refuse_tensor("{} of shape {} takes {} bytes, but data_offsets are [{}, {}]", entry.dtype,
                    entry.shape.str(), bits / 8, entry.begin, entry.end);
    return entry;
  }

  const std::string& file_;
  std::map<std::string, Entry>& entries_;
  Metadata& metadata_;
  Place place_ = Place::outside;
  std::string name_, field_;  // the key last seen in the header; and in the object inside it
  bool metadata_seen_ = false;
  Description tensor_;
};

// F16: sign, 5 bits of exponent (bias 15), 10 bits of fraction. float: sign, 8 bits (bias 127), 23 bits.
real from_f16(std::uint16_t half) {
  const std::uint32_t sign = half >> 15, exponent = half >> 10 & 31, fraction = half & 1023;
  if (exponent == 0) return real(sign ? -0x1p-24f : 0x1p-24f) * real(fraction);
  const std::uint32_t wide = exponent == 31 ? 255 : exponent - 15 + 127;  // 31 and 255: infinity and NaN
  return real(__builtin_bit_cast(float, sign << 31 | wide << 23 | fraction << 13));
}

// BF16 is the upper half of a float.
real from_bf16(std::uint16_t half) { return real(__builtin_bit_cast(float, std::uint32_t{half} << 16)); }

template <class Stored, class Convert>
void convert_all(std::string_view bytes, real* out, Convert convert) {
  const Index count = std::ssize(bytes) / Index(sizeof(Stored));
  parallel_for(count, elementwise_grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      Stored stored;  // which may lie at any address
      std::memcpy(&stored, bytes.data() + i * Index(sizeof(Stored)), sizeof(Stored));
      out[i] = convert(stored);
    }
  });
}

std::uint64_t hash_of(const Metadata& metadata) {
  std::uint64_t hash = fnv1a("");
  for (const auto& [key, value] : metadata) {
    if (key == checksum_key) continue;
    hash =
        fnv1a(fmt::format("{} {} ", key.size(), value.size()), hash);  // where one ends and the next begins
    hash = fnv1a(value, fnv1a(key, hash));
  }
  return hash;
}

std::string text_of_checksum(std::uint64_t hash) { return fmt::format("fnv1a {:016x}", hash); }

}  // namespace

Metadata with_checksum(const std::vector<ArrayView>& arrays, Metadata metadata) {
  std::uint64_t hash = hash_of(metadata);
  for (const ArrayView& array : arrays)
    hash = fnv1a({reinterpret_cast<const char*>(array.data), std::size_t(array.shape.numel()) * sizeof(real)},
                 hash);
  metadata[checksum_key] = text_of_checksum(hash);
  return metadata;
}

void write_safetensors(const std::filesystem::path& path, const std::vector<ArrayView>& arrays,
                       const Metadata& metadata) {
  const auto check_utf8 = [&](const std::string& text) {
    if (first_invalid_byte(text) != text.npos)
      refuse(path.string(), "a tensor's name or the metadata is not UTF-8 text");
  };
  JsonMembers header;
  for (const auto& [key, text] : metadata) check_utf8(key), check_utf8(text);
  if (!metadata.empty()) header.emplace_back(metadata_key, metadata);
  std::set<std::string_view> names;
  std::vector<std::string_view> pieces(2);  // the header's length and the header, known last; then the arrays
  std::uint64_t offset = 0;
  for (const ArrayView& array : arrays) {
    check_utf8(array.name);
    if (array.name == metadata_key) refuse(path.string(), "a tensor cannot be called {}", metadata_key);
    if (!names.insert(array.name).second)
      refuse(path.string(), "two tensors are called {}", shown(array.name));
    const std::uint64_t bytes = std::uint64_t(array.shape.numel()) * sizeof(real);
    header.emplace_back(array.name,
                        json_object({{"dtype", real_dtype},
                                     {"shape", std::vector<Index>(array.shape.begin(), array.shape.end())},
                                     {"data_offsets", std::vector<std::uint64_t>{offset, offset + bytes}}}));
    pieces.emplace_back(reinterpret_cast<const char*>(array.data), bytes);
    offset += bytes;
  }
  std::string text = json_object(header).text, length(8, '\0');
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t text_bytes = text.size();
  if (text_bytes > max_header_bytes)
    refuse(path.string(), "the header would take {} bytes; the format allows {}", text_bytes,
           max_header_bytes);
  std::memcpy(length.data(), &text_bytes, 8);
  pieces[0] = length;
  pieces[1] = text;
  write_file_atomically(path, pieces);
}

SafetensorsFile SafetensorsFile::open(const std::filesystem::path& path) {
  std::unique_ptr<MappedFile> file;
  try {
    file = std::make_unique<MappedFile>(path);
  } catch (const Error& error) {  // which does not know what the file is for
    fail("safetensors: {}", error.what());
  }
  return SafetensorsFile(path.string(), std::move(file), {});
}

SafetensorsFile SafetensorsFile::from_bytes(std::string bytes, std::string label) {
  return SafetensorsFile(std::move(label), nullptr, std::move(bytes));
}

std::string_view SafetensorsFile::all() const { return file_ ? file_->bytes() : *bytes_; }

SafetensorsFile::SafetensorsFile(std::string label, std::unique_ptr<MappedFile> file, std::string bytes)
    : label_(std::move(label)),
      file_(std::move(file)),
      bytes_(std::make_unique<const std::string>(std::move(bytes))) {
  const std::uint64_t file_bytes = all().size();
  std::uint64_t header_bytes = 0;
  if (file_bytes < 8)
    refuse(label_, "not a safetensors file, or a truncated one: it has {} bytes", file_bytes);
  std::memcpy(&header_bytes, all().data(), 8);
  if (header_bytes > max_header_bytes)
    refuse(label_, "not a safetensors file: it announces a header of {} bytes, and the format allows {}",
           header_bytes, max_header_bytes);
  if (header_bytes > file_bytes - 8)
    refuse(label_, "truncated or not a safetensors file: it announces a header of {} bytes, and {} follow",
           header_bytes, file_bytes - 8);

  const std::string_view header = all().substr(8, header_bytes);
  if (header.empty() || header[0] != '{')
    refuse(label_, "not a safetensors file: the header does not begin with {{");
  HeaderReader reader(label_, entries_, metadata_);
  read_json(header, reader);

  data_start_ = 8 + header_bytes;
  check_layout(file_bytes - data_start_);
}

// The arrays, in the order of their offsets, must tile the data: no hole, no overlap, nothing left over.
void SafetensorsFile::check_layout(std::uint64_t data_bytes) {
  for (const auto& [name, entry] : entries_) names_.push_back(name);
  std::sort(names_.begin(), names_.end(), [&](const std::string& left, const std::string& right) {
    const Entry &a = entries_.at(left), &b = entries_.at(right);
    return std::tie(a.begin, a.end, left) < std::tie(b.begin, b.end, right);
  });
  std::uint64_t position = 0;
  for (const std::string& name : names_) {
    const Entry& entry = entries_.at(name);
    if (entry.begin != position)
      refuse(label_, "tensor {} begins at byte {} of the data, but the one before it ends at {}: {}",
             shown(name), entry.begin, position, entry.begin < position ? "they overlap" : "there is a hole");
    if (entry.end > data_bytes)
      refuse(label_, "tensor {} ends at byte {} of the data, but the file holds only {}: it is truncated",
             shown(name), entry.end, data_bytes);
    position = entry.end;
  }
  if (position != data_bytes)
    refuse(label_, "{} bytes at the end, after {}, belong to no tensor", data_bytes - position,
           names_.empty() ? "the header" : "tensor " + shown(names_.back()));
}

void SafetensorsFile::verify_checksum() {
  const auto stored = metadata_.find(checksum_key);
  if (stored == metadata_.end()) return;  // another program wrote it
  std::uint64_t hash = hash_of(metadata_);
  hash = fnv1a(all().substr(data_start_), hash);
  if (stored->second != text_of_checksum(hash))
    refuse(label_, "damaged: its checksum is not that of its contents; copy it again or train anew");
}

const SafetensorsFile::Entry& SafetensorsFile::entry(const std::string& name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end())
    refuse(label_, "there is no tensor {} among the {} in it", shown(name), entries_.size());
  return found->second;
}

std::string_view SafetensorsFile::bytes_of(const std::string& name, const Shape& expected) const {
  const Entry& tensor = entry(name);
  if (!(tensor.shape == expected))
    refuse(label_, "tensor {} has shape {}, but {} is expected", shown(name), tensor.shape.str(),
           expected.str());
  if (file_ && !file_->reaches(data_start_ + tensor.end))
    refuse(label_, "tensor {} cannot be read: the file changed since it was opened", shown(name));
  return all().substr(data_start_ + tensor.begin, tensor.end - tensor.begin);
}

const real* SafetensorsFile::in_place(const std::string& name, const Shape& expected) const {
  const std::string_view bytes = bytes_of(name, expected);
  const bool aligned = reinterpret_cast<std::uintptr_t>(bytes.data()) % sizeof(real) == 0;
  return dtype(name) == real_dtype && aligned ? reinterpret_cast<const real*>(bytes.data()) : nullptr;
}

void SafetensorsFile::read(const std::string& name, real* destination, const Shape& expected) const {
  const Entry& tensor = entry(name);
  const std::string_view bytes = bytes_of(name, expected);
  const auto cast = [](auto stored) { return real(stored); };
  if (tensor.dtype == "F32")
    convert_all<float>(bytes, destination, cast);
  else if (tensor.dtype == "F64")
    convert_all<double>(bytes, destination, cast);
  else if (tensor.dtype == "F16")
    convert_all<std::uint16_t>(bytes, destination, from_f16);
  else if (tensor.dtype == "BF16")
    convert_all<std::uint16_t>(bytes, destination, from_bf16);
  else
    refuse(label_, "tensor {} is {}; only F32, F64, F16 and BF16 can be read", shown(name), tensor.dtype);
}

}  // namespace attn
