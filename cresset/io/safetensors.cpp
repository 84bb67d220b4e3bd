// Reading and writing safetensors. Every number of the header is checked before it is believed.
#include "cresset/io/safetensors.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "cresset/core/from_blob.h"
#include "cresset/io/atomic_file.h"

namespace cresset::io {
namespace {

using Json = nlohmann::json;

constexpr const char* kLoad = "load_safetensors";
constexpr uint64_t kLongestHeader = 100'000'000;  // the format's own limit
constexpr size_t kDeepestJson = 8;

// In the order of DType; null where the format has no name.
constexpr std::array<const char*, kDTypes> kNames{"U8",  "I8",  "I16", "I32",   "I64",  "F16",
                                                  "F32", "F64", "C64", nullptr, "BOOL", "BF16"};

struct Place {
  std::string name;
  DType dtype = kFloat;
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;
};

struct ParsedHeader {
  Json json;
  std::vector<std::string> names, metadata;  // of the tensors and in "__metadata__", in their order
};

constexpr const char* kMetadata = "__metadata__";

// Builds the JSON value by itself, for two reasons. A plain parse hides a name that is there twice and nesting without
// end; and one that is watched by a callback, or keeps the names' order, goes through all earlier names at each.
class HeaderBuilder : public nlohmann::json_sax<Json> {
 public:
  HeaderBuilder(const std::string& file, ParsedHeader& header) : file_(file), header_(header) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // JSON has none
  bool start_object(size_t) override {
    names_.emplace_back();
    return open(Json::object());
  }
  bool end_object() override {
    names_.pop_back();
    open_.pop_back();
    return true;
  }
  bool start_array(size_t) override { return open(Json::array()); }
  bool end_array() override {
    open_.pop_back();
    return true;
  }
  bool key(string_t& name) override {
    if (!names_.back().insert(name).second) fault(kLoad, file_, "'", name, "' is there twice");
    if (open_.size() == 1) {
      in_metadata_ = name == kMetadata;
      if (!in_metadata_) header_.names.push_back(name);
    } else if (open_.size() == 2 && in_metadata_) {
      header_.metadata.push_back(name);
    }
    key_ = std::move(name);
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& error) override {
    fault(kLoad, file_, "the header is no JSON: ", error.what());
  }

 private:
  Json& place(Json value) {
    if (open_.empty()) return header_.json = std::move(value);
    Json& into = *open_.back();
    if (!into.is_array()) return into[key_] = std::move(value);
    into.push_back(std::move(value));
    return into.back();
  }
  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json value) {
    if (open_.size() == kDeepestJson) fault(kLoad, file_, "the header is nested deeper than ", kDeepestJson);
    open_.push_back(&place(std::move(value)));
    return true;
  }

  const std::string& file_;
  ParsedHeader& header_;
  std::vector<Json*> open_;  // the objects and arrays around what is read
  std::vector<std::unordered_set<std::string>> names_;
  std::string key_;
  bool in_metadata_ = false;
};

ParsedHeader parsed_header(const std::string& file, std::string_view text) {
  ParsedHeader header;
  HeaderBuilder builder(file, header);
  Json::sax_parse(text.begin(), text.end(), &builder);
  if (!header.json.is_object()) fault(kLoad, file, "the header is no object");
  return header;
}

DType dtype_named(const std::string& file, const std::string& tensor, const std::string& name) {
  for (size_t i = 0; i < kNames.size(); i++)
    if (kNames[i] && name == kNames[i]) return static_cast<DType>(i);
  fault(kLoad, file, "tensor '", tensor, "' has dtype ", name,
        " (expected F64, F32, F16, BF16, C64, I64, I32, I16, I8, U8 or BOOL)");
}

uint64_t unsigned_in(const std::string& file, const std::string& tensor, const Json& value, const char* what) {
  if (!value.is_number_unsigned()) fault(kLoad, file, "tensor '", tensor, "': ", what, " is no whole number");
  return value.get<uint64_t>();
}

Place place_of(const std::string& file, const std::string& name, const Json& entry, uint64_t data_size) {
  auto wrong = [&](const auto&... what) { fault(kLoad, file, "tensor '", name, "': ", what...); };
  if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string() || !entry.contains("shape") ||
      !entry["shape"].is_array() || !entry.contains("data_offsets") || !entry["data_offsets"].is_array() ||
      entry["data_offsets"].size() != 2)
    wrong("the header lacks its dtype, shape or data_offsets");
  Place place;
  place.name = name;
  place.dtype = dtype_named(file, name, entry["dtype"].get<std::string>());
  uint64_t bytes = element_size(place.dtype);
  bool overflow = false;
  if (entry["shape"].size() > 64) wrong("has ", entry["shape"].size(), " dimensions (at most 64)");
  for (const Json& size : entry["shape"]) {
    const uint64_t n = unsigned_in(file, name, size, "its shape");
    overflow = overflow || n > INT64_MAX;
    place.shape.push_back(static_cast<int64_t>(n));
  }
  // Strides count as if no size were 0.
  for (int64_t size : place.shape)
    overflow = overflow || __builtin_mul_overflow(bytes, std::max<uint64_t>(1, static_cast<uint64_t>(size)), &bytes);
  overflow = overflow || bytes > INT64_MAX;
  if (std::find(place.shape.begin(), place.shape.end(), 0) != place.shape.end()) bytes = 0;
  if (overflow) wrong("its shape has more elements than memory has bytes");
  place.begin = unsigned_in(file, name, entry["data_offsets"][0], "its offset");
  place.end = unsigned_in(file, name, entry["data_offsets"][1], "its offset");
  if (place.begin > place.end || place.end > data_size)
    wrong("its data (", place.begin, " to ", place.end, ") does not lie inside the file's ", data_size,
          " bytes of data");
  if (place.end - place.begin != bytes)
    wrong("its data has ", place.end - place.begin, " bytes (expected ", bytes, " for ", name_of(place.dtype),
          " of shape ", text_of(place.shape), ")");
  return place;
}

struct CoveredHeader {
  std::vector<Place> places;  // in the order of their data, without holes
  Metadata metadata;
};

// The length that a file's first 8 bytes say.
uint64_t header_length(const std::string& file, uint64_t file_size, uint64_t length) {
  if (length > kLongestHeader)
    fault(kLoad, file, "the header would have ", length, " bytes (at most ", kLongestHeader, ")");
  if (length > file_size - 8) fault(kLoad, file, "cut off: a header of ", length, " bytes in a file of ", file_size);
  return length;
}

void check_cover(const std::string& file, const std::vector<Place>& places, uint64_t data_size) {
  uint64_t end = 0;
  for (const Place& place : places) {
    if (place.begin != end)
      fault(kLoad, file, "tensor '", place.name, "' begins at ", place.begin, " (expected ", end, ": tensors may ",
            place.begin < end ? "not overlap)" : "leave no holes)");
    end = place.end;
  }
  if (end != data_size) fault(kLoad, file, "has ", data_size, " bytes of data (expected ", end, ")");
}

CoveredHeader header_in(const std::string& file, std::string_view text, uint64_t data_size) {
  if (!text.starts_with('{')) fault(kLoad, file, "the header does not begin with {");
  const ParsedHeader parsed = parsed_header(file, text);
  CoveredHeader header;
  if (const auto metadata = parsed.json.find(kMetadata); metadata != parsed.json.end()) {
    if (!metadata->is_object()) fault(kLoad, file, "the metadata is no object");
    for (const std::string& key : parsed.metadata) {
      const Json& value = metadata->at(key);
      if (!value.is_string()) fault(kLoad, file, "the metadata '", key, "' is no text");
      header.metadata.insert(key, value.get<std::string>());
    }
  }
  header.places.reserve(parsed.names.size());
  for (const std::string& name : parsed.names)
    header.places.push_back(place_of(file, name, parsed.json.at(name), data_size));
  std::stable_sort(header.places.begin(), header.places.end(), [](const Place& a, const Place& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  check_cover(file, header.places, data_size);
  return header;
}

// A tensor of its own; `fill` writes its bytes.
template <class Fill>
Tensor filled_tensor(const Place& place, const Fill& fill) {
  Tensor tensor = empty_contiguous(place.shape, place.dtype, kCPU);
  const size_t bytes = place.end - place.begin;
  auto* to = static_cast<char*>(tensor.impl()->data());
  if (bytes > 0) fill(to, bytes);
  if (place.dtype == kBool)  // any byte but 0 and 1 would be undefined behaviour
    for (size_t i = 0; i < bytes; i++) to[i] = to[i] != 0;
  return tensor;
}

Tensor tensor_at(const Source& source, const Place& place, uint64_t data_start) {
  char* shared = source.shared_data() ? source.shared_data() + data_start + place.begin : nullptr;
  const bool aligned = reinterpret_cast<uintptr_t>(shared) % element_size(place.dtype) == 0;
  if (shared && aligned && place.end > place.begin && place.dtype != kBool)
    return from_blob(
        shared, place.shape, [owner = source.owner()](void*) {}, TensorOptions(place.dtype));
  return filled_tensor(
      place, [&](char* to, size_t bytes) { std::memcpy(to, source.data() + data_start + place.begin, bytes); });
}

// Written by hand: a JSON object that keeps the order of its names looks through all of them for each.
std::string header_of(const std::vector<Place>& places, const Metadata& metadata) {
  std::string text = "{";
  const auto name = [&](const std::string& what) {
    if (text.back() != '{') text += ',';
    text += Json(what).dump() + ":";
  };
  try {
    if (!metadata.empty()) {
      name(kMetadata);
      text += '{';
      for (const auto& [key, value] : metadata) {
        name(key);
        text += Json(value).dump();
      }
      text += '}';
    }
    for (const Place& place : places) {
      name(place.name);
      text += message_of("{\"dtype\":\"", kNames[static_cast<size_t>(place.dtype)],
                         "\",\"shape\":", Json(place.shape).dump(), ",\"data_offsets\":[", place.begin, ",", place.end,
                         "]}");
    }
  } catch (const nlohmann::json::exception&) {
    throw IoError("save_safetensors: a name or a text of the metadata is not UTF-8");
  }
  text += '}';
  text.append((8 - text.size() % 8) % 8, ' ');  // so that the data begins at a multiple of 8
  return text;
}

}  // namespace

Safetensors read_safetensors(const Source& source) {
  if (source.size() < 8) fault(kLoad, source.name(), "cut off: ", source.size(), " bytes (expected at least 8)");
  const uint64_t length = header_length(source.name(), source.size(), source.at<uint64_t>(0)), data_start = 8 + length;
  CoveredHeader header = header_in(source.name(), source.text().substr(8, length), source.size() - data_start);
  Safetensors result;
  result.metadata = std::move(header.metadata);
  for (const Place& place : header.places) result.tensors.insert(place.name, tensor_at(source, place, data_start));
  return result;
}

Safetensors read_safetensors(const std::string& path, const SafetensorsOptions& options) {
  if (options.map) return read_safetensors(Source::map(path, "read_safetensors"));
  const ReadFile file(path, "read_safetensors");
  uint64_t length = 0;
  if (file.size() < 8) fault(kLoad, path, "cut off: ", file.size(), " bytes (expected at least 8)");
  file.read(0, &length, 8);
  std::string text(header_length(path, file.size(), length), '\0');
  file.read(8, text.data(), text.size());
  const uint64_t data_start = 8 + length;
  CoveredHeader header = header_in(path, text, file.size() - data_start);
  Safetensors result;
  result.metadata = std::move(header.metadata);
  for (const Place& place : header.places)
    result.tensors.insert(place.name, filled_tensor(place, [&](char* to, size_t bytes) {
                            file.read(data_start + place.begin, to, bytes);
                          }));
  return result;
}

StateDict load_safetensors(const std::string& path, const SafetensorsOptions& options) {
  return read_safetensors(path, options).tensors;
}

void save_safetensors(Sink& sink, const StateDict& tensors, const Metadata& metadata) {
  std::vector<Place> places;
  std::vector<const Tensor*> order;
  for (const auto& [name, tensor] : tensors) {
    CRESSET_CHECK_AS(IoError, tensor.defined(), "save_safetensors: tensor '", name, "' is undefined");
    CRESSET_CHECK_AS(IoError, kNames[static_cast<size_t>(tensor.scalar_type())], "save_safetensors: tensor '", name,
                     "' has dtype ", name_of(tensor.dtype()), ", which the format does not have");
    CRESSET_CHECK_AS(IoError, name != kMetadata, "save_safetensors: no tensor may be named '__metadata__'");
    CRESSET_CHECK_AS(IoError, !tensor.is_meta(), "save_safetensors: tensor '", name,
                     "' is on the meta device and has no values");
    order.push_back(&tensor);
    places.push_back({name, tensor.dtype(), tensor.sizes().vec(), 0, 0});
  }
  // Wide elements first, so that every tensor is aligned.
  std::vector<size_t> rank(places.size());
  for (size_t i = 0; i < rank.size(); i++) rank[i] = i;
  std::stable_sort(rank.begin(), rank.end(),
                   [&](size_t a, size_t b) { return element_size(places[a].dtype) > element_size(places[b].dtype); });
  std::vector<Place> sorted;
  uint64_t end = 0;
  for (size_t i : rank) {
    places[i].begin = end;
    places[i].end = end += order[i]->nbytes();
    sorted.push_back(places[i]);
  }
  const std::string header = header_of(sorted, metadata);
  const uint64_t length = header.size();
  sink.write(&length, 8);
  sink.write(header);
  for (size_t i : rank) {
    const Tensor row_by_row = order[i]->detach().to(Device(kCPU)).contiguous();
    sink.write(row_by_row.impl()->data(), row_by_row.nbytes());
  }
}

void save_safetensors(const std::string& path, const StateDict& tensors, const Metadata& metadata) {
  AtomicFile file(path);
  save_safetensors(file, tensors, metadata);
  file.commit();
}

}  // namespace cresset::io
