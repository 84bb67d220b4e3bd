// The zip side of .pt files.
#include "cresset/io/pt.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "cresset/core/allocator.h"
#include "cresset/io/atomic_file.h"
#include "cresset/io/pickle.h"
#include "cresset/io/zip.h"

namespace cresset::io {
namespace {

constexpr const char* kLoad = "load_pt";
constexpr uint64_t kLongestPickle = uint64_t{256} << 20;
constexpr size_t kAlignment = 64;  // of storages in the file, as PyTorch has it

void swap_bytes(char* data, size_t size, size_t element) {
  for (size_t i = 0; i + element <= size; i += element) std::reverse(data + i, data + i + element);
}

class Reader {
 public:
  Reader(const Source& source, Device device, const UnpackLimits& limits)
      : zip_(kLoad, source, limits), device_(device) {}

  IValue run() {
    find_prefix();
    if (const auto* order = zip_.find(prefix_ + "byteorder")) {
      if (order->size > 16) fault(kLoad, name(), "the byteorder entry is damaged");
      const std::vector<char> text = zip_.read(*order);
      swapped_ = std::string_view(text.data(), text.size()) == "big";
    }
    const ZipReader::Entry& pickle = zip_.at(prefix_ + "data.pkl");
    if (pickle.size > kLongestPickle)
      fault(kLoad, name(), "the pickle has ", pickle.size, " bytes (at most ", kLongestPickle, ")");
    return read_pickle(
        kLoad, Source::own(zip_.read(pickle), name()), [this](const StorageKey& key) { return storage_of(key); },
        device_);
  }

 private:
  const std::string& name() const { return zip_.source().name(); }

  // Everything lies in one folder, which carries the name that the file was first saved under.
  void find_prefix() {
    for (const auto& entry : zip_.entries())
      if (entry.name == "data.pkl" || entry.name.ends_with("/data.pkl")) {
        prefix_ = entry.name.substr(0, entry.name.size() - 8);
        return;
      }
    fault(kLoad, name(), "a zip archive without data.pkl is none of torch.save's");
  }

  Ref<StorageImpl> storage_of(const StorageKey& key) {
    const ZipReader::Entry& entry = zip_.at(prefix_ + "data/" + key.key);
    const size_t element = element_size(key.dtype);
    if (key.numel > UINT64_MAX / element || key.numel * element != entry.size)
      fault(kLoad, name(), "storage '", key.key, "' has ", entry.size, " bytes (expected ", key.numel, " elements of ",
            name_of(key.dtype), ")");
    Ref<StorageImpl>& held = storages_[key.key];
    if (held) return held;
    Ref<StorageImpl> storage = StorageImpl::make(entry.size, device_);
    if (!device_.is_meta()) {
      auto* data = static_cast<char*>(storage->data);
      zip_.read(entry, data);
      if (swapped_) swap_bytes(data, entry.size, element_size(to_real(key.dtype)));
      if (key.dtype == kBool)  // any other byte would be undefined behaviour
        for (size_t i = 0; i < entry.size; i++) data[i] = data[i] != 0;
    }
    held = storage;
    return storage;
  }

  ZipReader zip_;
  Device device_;
  std::string prefix_;
  bool swapped_ = false;
  std::unordered_map<std::string, Ref<StorageImpl>> storages_;
};

// Which part of each storage the saved tensors reach over.
class StoragePlan {
 public:
  void add(const IValue& value, int depth = 0) {
    if (depth > kDeepestNesting) return;  // the pickler refuses it with a word
    if (value.isTensor()) {
      add(value.toTensor());
    } else if (value.isTensorList()) {
      for (const Tensor& tensor : value.toTensorVector()) add(tensor);
    } else if (value.isList()) {
      for (const IValue& item : value.toList()) add(item, depth + 1);
    } else if (value.isTuple()) {
      for (const IValue& item : value.toTuple()) add(item, depth + 1);
    } else if (value.isDict()) {
      for (const auto& item : value.toDict()) add(item.second, depth + 1);
    }
  }

  StoragePlace place_of(const Tensor& tensor) {
    Part& part = parts_.at(key_of(tensor));
    const auto element = static_cast<int64_t>(tensor.itemsize());
    if (part.name.empty()) {
      part.name = std::to_string(order_.size());
      order_.push_back(&part);
      const auto whole = static_cast<int64_t>(tensor.impl()->storage->bytes) / element;
      if (part.last - part.first > whole / 2) part.first = 0, part.last = whole;
    }
    return {part.name, static_cast<uint64_t>(part.last - part.first), tensor.storage_offset() - part.first};
  }

  void write(ZipWriter& zip, const std::string& folder) const {
    for (const Part* part : order_) {
      const Tensor flat = alias(part->of, {part->last - part->first}, {1}, part->first).to(Device(kCPU));
      zip.add(folder + part->name, flat.impl()->data(), flat.nbytes(), kAlignment);
    }
  }

 private:
  struct Part {
    Tensor of;
    int64_t first, last;  // elements
    std::string name;
  };
  // Views of one storage as different dtypes are written apart: PyTorch 1.13 refuses to load them as one.
  using Key = std::pair<StorageImpl*, DType>;
  static Key key_of(const Tensor& tensor) { return {tensor.impl()->storage.get(), tensor.dtype()}; }

  void add(const Tensor& tensor) {
    if (!tensor.defined()) return;
    CRESSET_CHECK_AS(IoError, !tensor.is_meta(), "save: a tensor of shape ", text_of(tensor.sizes()),
                     " is on the meta device and has no values");
    int64_t first = tensor.storage_offset(), last = first;
    if (tensor.numel() > 0) {
      for (int64_t i = 0; i < tensor.dim(); i++) last += (tensor.size(i) - 1) * tensor.stride(i);
      last++;
    }
    auto [part, is_new] = parts_.try_emplace(key_of(tensor), Part{tensor, first, last, {}});
    if (is_new) return;
    part->second.first = std::min(part->second.first, first);
    part->second.last = std::max(part->second.last, last);
  }

  std::map<Key, Part> parts_;
  std::vector<const Part*> order_;
};

void refuse_other_formats(const Source& source) {
  const std::string_view text = source.text();
  if (text.empty()) fault(kLoad, source.name(), "the file is empty");
  if (text.starts_with("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19") || text.starts_with("\x80\x02}"))
    fault(kLoad, source.name(),
          "a file of PyTorch before 1.6 (not a zip archive); convert it in Python: torch.save(torch.load(path), path)");
  if (text.size() > 262 && text.substr(257, 5) == "ustar")
    fault(kLoad, source.name(),
          "a tar file of PyTorch before 0.2; convert it in Python: torch.save(torch.load(path), path)");
  if (text.size() > 8 && text[8] == '{' && source.at<uint64_t>(0) <= text.size() - 8)
    fault(kLoad, source.name(),
          "a safetensors file; load_safetensors reads it, and load_state_dict takes what that gives");
  if (text.starts_with("\x93NUMPY")) fault(kLoad, source.name(), "a NumPy file; load_npy reads it");
}

}  // namespace

IValue load_pt(const Source& source, Device device, const UnpackLimits& limits) {
  CRESSET_CHECK_AS(DeviceError, device.is_cpu() || device.is_meta(), "load_pt: found device ", device.str(),
                   " (expected cpu or meta; move the tensors afterwards)");
  refuse_other_formats(source);
  return Reader(source, device, limits).run();
}

IValue load_pt(const std::string& path, Device device, const UnpackLimits& limits) {
  return load_pt(Source::map(path), device, limits);
}

void write_pt_archive(Sink& sink, const IValue& value, uint16_t comment_size) {
  StoragePlan plan;
  plan.add(value);
  const std::string pickle = write_pickle(value, [&](const Tensor& tensor) { return plan.place_of(tensor); });
  ZipWriter zip(sink);
  zip.add_text("archive/data.pkl", pickle, kAlignment);
  zip.add_text("archive/byteorder", "little", kAlignment);
  plan.write(zip, "archive/data/");
  zip.add_text("archive/version", "3\n", kAlignment);
  zip.finish(comment_size);
}

void save_pt(Sink& sink, const IValue& value) { write_pt_archive(sink, value, 0); }

void save_pt(const std::string& path, const IValue& value) {
  AtomicFile file(path);
  save_pt(file, value);
  file.commit();
}

}  // namespace cresset::io
