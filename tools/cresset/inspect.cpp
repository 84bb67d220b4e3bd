// Every format becomes one list of rows (tensors and plain values under dotted names), which is then printed.
#include "inspect.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <set>

#include "cresset/io/checkpoint.h"
#include "cresset/io/npy.h"
#include "cresset/io/pt.h"
#include "cresset/io/safetensors.h"
#include "cresset/io/zip.h"

namespace cresset::tools {
namespace {

struct Row {
  std::string name, dtype, shape;
  uint64_t bytes;
};
struct Report {
  std::string format;
  uint64_t file_bytes = 0;
  std::vector<Row> tensors;
  std::vector<std::pair<std::string, IValue>> values;  // plain ones, and lists of them
  std::vector<std::pair<std::string, std::string>> metadata;
  uint64_t storage_bytes = 0;
};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    char hex[8];
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      std::snprintf(hex, sizeof hex, "\\u%04x", static_cast<unsigned char>(c));
      out += hex;
    } else {
      out += c;
    }
  }
  return out + '"';
}

// A value on one line, for people.
std::string plain(const IValue& value) {
  if (value.isNone()) return "none";
  if (value.isBool()) return value.toBool() ? "true" : "false";
  if (value.isInt()) return std::to_string(value.toInt());
  if (value.isDouble()) return message_of(value.toDouble());
  if (value.isString()) return quoted(value.toStringRef());
  if (value.isDict()) return "{}";
  std::string text;
  for (const IValue& item : value.elements()) text += (text.empty() ? "" : ", ") + plain(item);
  return "[" + text + "]";
}
// The same in JSON, which has no nan and no infinity: those are strings.
std::string json(const IValue& value) {
  if (value.isNone()) return "null";
  if (value.isDouble()) {
    if (!std::isfinite(value.toDouble())) return quoted(plain(value));
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, value.toDouble()).ptr};
  }
  if (!value.isList() && !value.isTuple() && !value.isDoubleList()) return plain(value);
  std::string text;
  for (const IValue& item : value.elements()) text += (text.empty() ? "" : ", ") + json(item);
  return "[" + text + "]";
}

void add_tensor(Report& report, const std::string& name, const Tensor& tensor) {
  report.tensors.push_back({name, name_of(tensor.dtype()), text_of(tensor.sizes()), tensor.nbytes()});
}

class Walk {
 public:
  explicit Walk(Report& report) : report_(report) {}

  void add(const std::string& name, const IValue& value) {
    if (value.isTensor()) {
      const Tensor& tensor = value.toTensor();
      add_tensor(report_, name, tensor);
      if (storages_.insert(tensor.impl()->storage.get()).second) report_.storage_bytes += tensor.impl()->storage->bytes;
    } else if (value.isDict()) {
      if (value.toDict().size() == 0) report_.values.emplace_back(name, value);
      for (const auto& [key, held] : value.toDict()) add(join(name, key_text(key)), held);
    } else if (value.isList() || value.isTuple()) {
      add_sequence(name, value);
    } else {
      report_.values.emplace_back(name, value);
    }
  }

 private:
  static std::string join(const std::string& name, const std::string& key) {
    return name.empty() ? key : name + "." + key;
  }
  static std::string key_text(const IValue& key) { return key.isString() ? key.toStringRef() : plain(key); }
  static bool is_plain(const IValue& value) {
    return !value.isTensor() && !value.isDict() && !value.isList() && !value.isTuple();
  }

  // Numbers stand on one line, anything else is taken apart.
  void add_sequence(const std::string& name, const IValue& value) {
    const std::vector<IValue> items = value.elements();
    if (items.size() <= 64 && std::all_of(items.begin(), items.end(), is_plain)) {
      report_.values.emplace_back(name, value);
      return;
    }
    for (size_t i = 0; i < items.size(); i++) add(join(name, std::to_string(i)), items[i]);
  }

  Report& report_;
  std::set<StorageImpl*> storages_;
};

Report read(const std::string& path) {
  const io::Source source = io::Source::map(path, "inspect");
  Report report;
  report.file_bytes = source.size();
  const std::string_view text = source.text();
  if (text.empty()) io::fault("inspect", path, "the file is empty");
  if (text.starts_with("\x93NUMPY")) {
    report.format = "NumPy array";
    add_tensor(report, "array", io::load_npy(source));
  } else if (text.starts_with("PK")) {
    const bool checkpoint = io::is_checkpoint(source);
    io::ZipReader zip("inspect", source);
    const bool npz = !zip.entries().empty() && zip.entries()[0].name.ends_with(".npy");
    if (npz) {
      report.format = "NumPy archive";
      for (const auto& [name, tensor] : io::load_npz(source)) add_tensor(report, name, tensor);
    } else {
      report.format = checkpoint ? "Cresset checkpoint (digest is right)" : "PyTorch .pt";
      Walk(report).add("", checkpoint ? io::read_checkpoint(path, kMeta) : io::load_pt(source, kMeta));
    }
  } else if (text.starts_with("\x80\x02") || path.ends_with(".pt") || path.ends_with(".pth") ||
             path.ends_with(".ckpt")) {
    io::load_pt(source, kMeta);  // says what is wrong with it
  } else if (path.ends_with(".safetensors") || (text.size() >= 9 && text[8] == '{')) {
    report.format = "safetensors";
    const io::Safetensors held = io::read_safetensors(source);
    for (const auto& [name, tensor] : held.tensors) add_tensor(report, name, tensor);
    for (const auto& [key, value] : held.metadata) report.metadata.emplace_back(key, value);
  } else {
    io::fault("inspect", path, "is no checkpoint, .pt, safetensors, .npy or .npz file, or is cut off");
  }
  return report;
}

uint64_t bytes_of(const Report& report) {
  uint64_t sum = 0;
  for (const Row& row : report.tensors) sum += row.bytes;
  return sum;
}

std::string size_text(uint64_t bytes) {
  char text[32];
  if (bytes >= uint64_t{1} << 30)
    std::snprintf(text, sizeof text, "%.2f GiB", static_cast<double>(bytes) / (1 << 30));
  else if (bytes >= 1 << 20)
    std::snprintf(text, sizeof text, "%.2f MiB", static_cast<double>(bytes) / (1 << 20));
  else if (bytes >= 1 << 10)
    std::snprintf(text, sizeof text, "%.2f KiB", static_cast<double>(bytes) / (1 << 10));
  else
    std::snprintf(text, sizeof text, "%d B", static_cast<int>(bytes));
  return text;
}

std::string padded(const std::string& text, size_t width) {
  return text + std::string(width > text.size() ? width - text.size() : 0, ' ');
}

std::string table_of(const Report& report, const std::string& path) {
  std::string out = path + ": " + report.format + ", " + size_text(report.file_bytes) + "\n";
  size_t name = 4, dtype = 5, shape = 5;
  for (const Row& row : report.tensors) {
    name = std::max(name, row.name.size());
    dtype = std::max(dtype, row.dtype.size());
    shape = std::max(shape, row.shape.size());
  }
  if (!report.tensors.empty())
    out += "\n" + padded("name", name) + "  " + padded("dtype", dtype) + "  " + padded("shape", shape) + "  bytes\n";
  for (const Row& row : report.tensors)
    out += padded(row.name, name) + "  " + padded(row.dtype, dtype) + "  " + padded(row.shape, shape) + "  " +
           std::to_string(row.bytes) + "\n";
  size_t width = 0;
  for (const auto& value : report.values) width = std::max(width, value.first.size());
  if (!report.values.empty()) out += "\nvalues\n";
  for (const auto& [key, value] : report.values) out += padded(key, width) + "  " + plain(value) + "\n";
  if (!report.metadata.empty()) out += "\nmetadata\n";
  for (const auto& [key, value] : report.metadata) out += key + "  " + quoted(value) + "\n";
  out += "\n" + std::to_string(report.tensors.size()) + (report.tensors.size() == 1 ? " tensor, " : " tensors, ") +
         size_text(bytes_of(report));
  if (report.storage_bytes && report.storage_bytes != bytes_of(report))
    out += " (in storages of " + size_text(report.storage_bytes) + ")";
  return out + "\n";
}

std::string json_of(const Report& report, const std::string& path) {
  std::string out = "{\"file\": " + quoted(path) + ", \"format\": " + quoted(report.format) +
                    ", \"file_bytes\": " + std::to_string(report.file_bytes) +
                    ", \"tensor_bytes\": " + std::to_string(bytes_of(report)) + ",\n \"tensors\": [";
  for (size_t i = 0; i < report.tensors.size(); i++) {
    const Row& row = report.tensors[i];
    out += std::string(i ? "," : "") + "\n  {\"name\": " + quoted(row.name) + ", \"dtype\": " + quoted(row.dtype) +
           ", \"shape\": " + row.shape + ", \"bytes\": " + std::to_string(row.bytes) + "}";
  }
  out += "],\n \"values\": {";
  for (size_t i = 0; i < report.values.size(); i++)
    out += std::string(i ? ", " : "") + quoted(report.values[i].first) + ": " + json(report.values[i].second);
  out += "}, \"metadata\": {";
  for (size_t i = 0; i < report.metadata.size(); i++)
    out += std::string(i ? ", " : "") + quoted(report.metadata[i].first) + ": " + quoted(report.metadata[i].second);
  return out + "}}\n";
}

}  // namespace

std::string inspect(const std::string& path, bool as_json) {
  const Report report = read(path);
  return as_json ? json_of(report, path) : table_of(report, path);
}

}  // namespace cresset::tools
