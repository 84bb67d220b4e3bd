// Streams and memory as places for .pt files, and the two archives.
#include "cresset/io/serialize.h"

#include <istream>
#include <ostream>

#include "cresset/io/pt.h"

namespace cresset {
namespace io {
namespace {

class StreamSink : public Sink {
 public:
  explicit StreamSink(std::ostream& stream) : stream_(stream) {}

 private:
  void put(const char* data, size_t size) override {
    stream_.write(data, static_cast<std::streamsize>(size));
    CRESSET_CHECK_AS(IoError, stream_.good(), "save: the stream does not take ", size, " more bytes");
  }
  std::ostream& stream_;
};

class FunctionSink : public Sink {
 public:
  explicit FunctionSink(const std::function<size_t(const void*, size_t)>& writer) : writer_(writer) {}

 private:
  void put(const char* data, size_t size) override {
    if (size == 0) return;
    const size_t taken = writer_(data, size);
    CRESSET_CHECK_AS(IoError, taken == size, "save: the writer took ", taken, " bytes (expected ", size, ")");
  }
  const std::function<size_t(const void*, size_t)>& writer_;
};

}  // namespace

void save_value(const IValue& value, const std::string& path) { save_pt(path, value); }
void save_value(const IValue& value, std::ostream& stream) {
  StreamSink sink(stream);
  save_pt(sink, value);
  stream.flush();
}
void save_value(const IValue& value, std::vector<char>& bytes) {
  std::vector<char> written;
  MemorySink sink(written);
  save_pt(sink, value);
  bytes = std::move(written);
}
void save_value(const IValue& value, const std::function<size_t(const void*, size_t)>& writer) {
  FunctionSink sink(writer);
  save_pt(sink, value);
}

IValue load_value(const std::string& path) { return load_pt(path); }
IValue load_value(std::istream& stream) {
  CRESSET_CHECK_AS(IoError, stream.good(), "load: the stream cannot be read");
  std::vector<char> bytes;
  char piece[1 << 16];
  while (stream.read(piece, sizeof piece) || stream.gcount() > 0)
    bytes.insert(bytes.end(), piece, piece + stream.gcount());
  return load_pt(Source::own(std::move(bytes), "(stream)"));
}
IValue load_value(const std::vector<char>& bytes) { return load_value(bytes.data(), bytes.size()); }
IValue load_value(const char* data, size_t size) { return load_pt(Source::borrow(data, size, "(memory)")); }

IValue load_value(const std::function<size_t(uint64_t, void*, size_t)>& read, const std::function<size_t()>& size) {
  std::vector<char> bytes(size());
  for (size_t at = 0; at < bytes.size();) {
    const size_t wanted = bytes.size() - at, given = read(at, bytes.data() + at, wanted);
    CRESSET_CHECK_AS(IoError, given > 0 && given <= wanted, "load: the read function gave ", given, " bytes at ", at,
                     " (expected 1 to ", wanted, ", of ", bytes.size(), " in all)");
    at += given;
  }
  return load_pt(Source::own(std::move(bytes), "(read function)"));
}

IValue to_value(const OrderedDict<std::string, Tensor>& dict) {
  IValue::Dict result;
  for (const auto& [name, tensor] : dict) result.items.emplace_back(name, tensor);
  return result;
}

OrderedDict<std::string, Tensor> to_state_dict(const IValue& value) {
  CRESSET_CHECK_AS(TypeError, value.isDict(), "load: found a ", value.tagKind(), " (expected a dict of tensors)");
  OrderedDict<std::string, Tensor> result;
  for (const auto& [key, held] : value.toDict()) {
    CRESSET_CHECK_AS(TypeError, key.isString() && held.isTensor(), "load: found a ", held.tagKind(), " under ",
                     key.isString() ? "'" + key.toStringRef() + "'" : std::string("a key that is no text"),
                     " (expected names and tensors: a state_dict)");
    result.insert(key.toStringRef(), held.toTensor());
  }
  return result;
}

serialize::InputArchive archive_of(const IValue& value) {
  CRESSET_CHECK_AS(TypeError, value.isDict(), "load: found a ", value.tagKind(), " (expected a dict of tensors)");
  return serialize::InputArchive(value);
}

void assign(Tensor& tensor, const Tensor& loaded) {
  if (tensor.defined() && tensor.is_leaf() && tensor.dtype() == loaded.dtype() && tensor.device() == loaded.device()) {
    NoGradGuard no_grad;
    tensor.set_data(loaded.detach());
  } else {
    tensor = loaded;
  }
}

// libtorch's C++ files number what they hold: {"0": tensor}
void set_value(Tensor& x, const IValue& value) {
  const bool numbered = value.isDict() && value.toDict().size() == 1 && value.toDict().contains("0");
  assign(x, numbered ? value.toDict().at("0").toTensor() : value.toTensor());
}

void set_value(std::vector<Tensor>& x, const IValue& value) {
  std::vector<Tensor> tensors;
  if (value.isDict() && value.toDict().contains("0"))
    for (size_t i = 0; i < value.toDict().size(); i++)
      tensors.push_back(value.toDict().at(std::to_string(i)).toTensor());
  else
    for (const IValue& item : value.elements()) tensors.push_back(item.toTensor());
  x = std::move(tensors);
}

void add_place(Error& error, const std::string& path) {
  const std::string& said = error.msg();
  const std::string start = "load: ";
  error.set_message(start + path + ": " + (said.starts_with(start) ? said.substr(start.size()) : said));
}

static Tensor moved(const Tensor& tensor, Device device) {
  if (!tensor.defined()) return tensor;
  Tensor there = tensor.detach().to(device);
  if (tensor.requires_grad()) there.requires_grad_();
  return there;
}

void move_to(IValue& value, Device device) {
  if (value.isTensor()) {
    value = moved(value.toTensor(), device);
  } else if (value.isDict()) {
    for (auto& item : value.toDict().items) move_to(item.second, device);
  } else if (value.isList() || value.isTuple()) {
    std::vector<IValue> items = value.elements();
    for (IValue& item : items) move_to(item, device);
    if (value.isList())
      value = IValue::List{std::move(items)};
    else
      value = IValue::Tuple{std::move(items)};
  }
}

}  // namespace io

std::vector<char> pickle_save(const IValue& value) {
  std::vector<char> bytes;
  io::save_value(value, bytes);
  return bytes;
}
IValue pickle_load(const std::vector<char>& data) { return io::load_value(data); }

namespace serialize {

void OutputArchive::write(const std::string& key, const IValue& value) {
  CRESSET_CHECK_AS(ValueError, !values_.contains(key), "OutputArchive: '", key, "' is written twice");
  values_[key] = value;
}
void OutputArchive::write(const std::string& key, const Tensor& tensor, bool) { write(key, IValue(tensor)); }
void OutputArchive::write(const std::string& key, OutputArchive& nested) { write(key, IValue(nested.values_)); }

bool InputArchive::try_read(const std::string& key, IValue& value) const {
  const IValue* found = values_.find(key);
  if (found) value = *found;
  return found;
}
bool InputArchive::try_read(const std::string& key, Tensor& tensor, bool) const {
  const IValue* found = values_.find(key);
  if (found) io::assign(tensor, found->toTensor());
  return found;
}
bool InputArchive::try_read(const std::string& key, InputArchive& nested) const {
  if (const IValue* found = values_.find(key)) {
    nested.take(*found);
    return true;
  }
  // A module's save writes "key.weight" where libtorch's has an archive within the archive.
  IValue::Dict below;
  const std::string start = key + ".";
  for (const auto& [name, value] : values_)
    if (name.isString() && name.toStringRef().starts_with(start))
      below.items.emplace_back(name.toStringRef().substr(start.size()), value);
  if (below.size() == 0) return false;
  nested.values_ = std::move(below);
  return true;
}
namespace {
// libtorch's words, and the keys that there are.
const IValue& entry(const IValue::Dict& values, const char* kind, const std::string& key) {
  if (const IValue* found = values.find(key)) return *found;
  try {
    return values.at(key);
  } catch (const IndexError& error) {
    throw IndexError(message_of("No such serialized ", kind, " '", key, "': ", error.what()));
  }
}
}  // namespace

void InputArchive::read(const std::string& key, IValue& value) const { value = entry(values_, "IValue", key); }
void InputArchive::read(const std::string& key, Tensor& tensor, bool) const {
  io::assign(tensor, entry(values_, "tensor", key).toTensor());
}
void InputArchive::read(const std::string& key, InputArchive& nested) const {
  if (!try_read(key, nested)) entry(values_, "submodule:", key);
}

std::vector<std::string> InputArchive::keys() const {
  std::vector<std::string> names;
  for (const auto& item : values_)
    if (item.first.isString()) names.push_back(item.first.toStringRef());
  return names;
}

void InputArchive::take(IValue value) {
  CRESSET_CHECK_AS(IoError, value.isDict(), "InputArchive: found a ", value.tagKind(), " (expected a dict)");
  values_ = std::move(value.toDict());
}

}  // namespace serialize
}  // namespace cresset
