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

using Json = nlohmann::ordered_json;

constexpr const char* kLoad = "load_safetensors";
constexpr uint64_t kLongestHeader = 100'000'000;  // the format's own limit
constexpr int kDeepestJson = 8;

// In the order of DType; null where the format has no name.
constexpr std::array<const char*, kDTypes> kNames{"U8",  "I8",  "I16", "I32",   "I64",  "F16",
                                                  "F32", "F64", "C64", nullptr, "BOOL", "BF16"};

struct Place {
  std::string name;
  DType dtype = kFloat;
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;
};

// JSON with the two faults that a plain parse hides: a name that is there twice, and nesting without end.
Json parsed_header(const Source& source, uint64_t length) {
  std::vector<std::unordered_set<std::string>> names;
  auto watch = [&](int depth, nlohmann::json::parse_event_t event, const Json& parsed) {
    using Event = nlohmann::json::parse_event_t;
    if (depth > kDeepestJson) fault(kLoad, source.name(), "the header is nested deeper than ", kDeepestJson);
    const bool object = event == static_cast<Event>(Json::parse_event_t::object_start);
    if (object) names.emplace_back();
    if (event == static_cast<Event>(Json::parse_event_t::object_end) && !names.empty()) names.pop_back();
    if (event == static_cast<Event>(Json::parse_event_t::key)) {
      const auto& name = parsed.get_ref<const std::string&>();
      if (!names.empty() && !names.back().insert(name).second)
        fault(kLoad, source.name(), "'", name, "' is there twice");
    }
    return true;
  };
  try {
    return Json::parse(source.data() + 8, source.data() + 8 + length,
                       [&](int depth, Json::parse_event_t event, Json& parsed) {
                         return watch(depth, static_cast<nlohmann::json::parse_event_t>(event), parsed);
                       });
  } catch (const nlohmann::json::exception& error) {
    fault(kLoad, source.name(), "the header is no JSON: ", error.what());
  }
}

DType dtype_named(const Source& source, const std::string& tensor, const std::string& name) {
  for (size_t i = 0; i < kNames.size(); i++)
    if (kNames[i] && name == kNames[i]) return static_cast<DType>(i);
  fault(kLoad, source.name(), "tensor '", tensor, "' has dtype ", name,
        " (expected F64, F32, F16, BF16, C64, I64, I32, I16, I8, U8 or BOOL)");
}

uint64_t unsigned_in(const Source& source, const std::string& tensor, const Json& value, const char* what) {
  if (!value.is_number_unsigned()) fault(kLoad, source.name(), "tensor '", tensor, "': ", what, " is no whole number");
  return value.get<uint64_t>();
}

Place place_of(const Source& source, const std::string& name, const Json& entry, uint64_t data_size) {
  auto wrong = [&](const auto&... what) { fault(kLoad, source.name(), "tensor '", name, "': ", what...); };
  if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string() || !entry.contains("shape") ||
      !entry["shape"].is_array() || !entry.contains("data_offsets") || !entry["data_offsets"].is_array() ||
      entry["data_offsets"].size() != 2)
    wrong("the header lacks its dtype, shape or data_offsets");
  Place place;
  place.name = name;
  place.dtype = dtype_named(source, name, entry["dtype"].get<std::string>());
  uint64_t bytes = element_size(place.dtype);
  bool overflow = false;
  if (entry["shape"].size() > 64) wrong("has ", entry["shape"].size(), " dimensions (at most 64)");
  for (const Json& size : entry["shape"]) {
    const uint64_t n = unsigned_in(source, name, size, "its shape");
    overflow = overflow || n > INT64_MAX;
    place.shape.push_back(static_cast<int64_t>(n));
  }
  // Strides count as if no size were 0.
  for (int64_t size : place.shape)
    overflow = overflow || __builtin_mul_overflow(bytes, std::max<uint64_t>(1, static_cast<uint64_t>(size)), &bytes);
  overflow = overflow || bytes > INT64_MAX;
  if (std::find(place.shape.begin(), place.shape.end(), 0) != place.shape.end()) bytes = 0;
  if (overflow) wrong("its shape has more elements than memory has bytes");
  place.begin = unsigned_in(source, name, entry["data_offsets"][0], "its offset");
  place.end = unsigned_in(source, name, entry["data_offsets"][1], "its offset");
  if (place.begin > place.end || place.end > data_size)
    wrong("its data (", place.begin, " to ", place.end, ") does not lie inside the file's ", data_size,
          " bytes of data");
  if (place.end - place.begin != bytes)
    wrong("its data has ", place.end - place.begin, " bytes (expected ", bytes, " for ", name_of(place.dtype),
          " of shape ", text_of(place.shape), ")");
  return place;
}

Tensor tensor_at(const Source& source, const Place& place, uint64_t data_start) {
  const size_t bytes = place.end - place.begin;
  char* shared = source.shared_data() ? source.shared_data() + data_start + place.begin : nullptr;
  const bool aligned = reinterpret_cast<uintptr_t>(shared) % element_size(place.dtype) == 0;
  if (shared && aligned && bytes > 0 && place.dtype != kBool)
    return from_blob(
        shared, place.shape, [owner = source.owner()](void*) {}, TensorOptions(place.dtype));
  Tensor copy = empty_contiguous(place.shape, place.dtype, kCPU);
  auto* to = static_cast<char*>(copy.impl()->data());
  if (bytes > 0) std::memcpy(to, source.data() + data_start + place.begin, bytes);
  if (place.dtype == kBool)  // any byte but 0 and 1 would be undefined behaviour
    for (size_t i = 0; i < bytes; i++) to[i] = to[i] != 0;
  return copy;
}

std::string header_of(const std::vector<Place>& places, const Metadata& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) {
    Json& held = header["__metadata__"] = Json::object();
    for (const auto& [key, value] : metadata) held[key] = value;
  }
  for (const Place& place : places)
    header[place.name] = {{"dtype", kNames[static_cast<size_t>(place.dtype)]},
                          {"shape", place.shape},
                          {"data_offsets", {place.begin, place.end}}};
  try {
    std::string text = header.dump();
    text.append((8 - text.size() % 8) % 8, ' ');  // so that the data begins at a multiple of 8
    return text;
  } catch (const nlohmann::json::exception&) {
    throw IoError("save_safetensors: a name or a text of the metadata is not UTF-8");
  }
}

}  // namespace

Safetensors read_safetensors(const Source& source) {
  if (source.size() < 8) fault(kLoad, source.name(), "cut off: ", source.size(), " bytes (expected at least 8)");
  const auto length = source.at<uint64_t>(0);
  if (length > kLongestHeader)
    fault(kLoad, source.name(), "the header would have ", length, " bytes (at most ", kLongestHeader, ")");
  if (!source.holds(8, length))
    fault(kLoad, source.name(), "cut off: a header of ", length, " bytes in a file of ", source.size());
  if (length == 0 || source.data()[8] != '{') fault(kLoad, source.name(), "the header does not begin with {");
  const Json header = parsed_header(source, length);
  if (!header.is_object()) fault(kLoad, source.name(), "the header is no object");
  const uint64_t data_start = 8 + length, data_size = source.size() - data_start;
  Safetensors result;
  std::vector<Place> places;
  for (const auto& [name, entry] : header.items()) {
    if (name != "__metadata__") {
      places.push_back(place_of(source, name, entry, data_size));
      continue;
    }
    if (!entry.is_object()) fault(kLoad, source.name(), "the metadata is no object");
    for (const auto& [key, value] : entry.items()) {
      if (!value.is_string()) fault(kLoad, source.name(), "the metadata '", key, "' is no text");
      result.metadata.insert(key, value.get<std::string>());
    }
  }
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  uint64_t end = 0;
  for (const Place& place : places) {
    if (place.begin != end)
      fault(kLoad, source.name(), "tensor '", place.name, "' begins at ", place.begin, " (expected ", end,
            ": tensors may ", place.begin < end ? "not overlap)" : "leave no holes)");
    end = place.end;
  }
  if (end != data_size) fault(kLoad, source.name(), "has ", data_size, " bytes of data (expected ", end, ")");
  for (const Place& place : places) result.tensors.insert(place.name, tensor_at(source, place, data_start));
  return result;
}

Safetensors read_safetensors(const std::string& path) {
  return read_safetensors(Source::map(path, "read_safetensors"));
}
StateDict load_safetensors(const std::string& path) { return read_safetensors(path).tensors; }

void save_safetensors(Sink& sink, const StateDict& tensors, const Metadata& metadata) {
  std::vector<Place> places;
  std::vector<const Tensor*> order;
  for (const auto& [name, tensor] : tensors) {
    CRESSET_CHECK_AS(IoError, tensor.defined(), "save_safetensors: tensor '", name, "' is undefined");
    CRESSET_CHECK_AS(IoError, kNames[static_cast<size_t>(tensor.scalar_type())], "save_safetensors: tensor '", name,
                     "' has dtype ", name_of(tensor.dtype()), ", which the format does not have");
    CRESSET_CHECK_AS(IoError, name != "__metadata__", "save_safetensors: no tensor may be named '__metadata__'");
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
