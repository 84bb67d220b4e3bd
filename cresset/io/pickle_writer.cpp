// The pickler: protocol 2, with the opcodes that torch.load(weights_only=True) knows, and no memo but for the few names
// that every tensor repeats.
#include <array>
#include <bit>
#include <climits>

#include "cresset/io/pickle.h"

namespace cresset::io {
namespace {

const char* storage_name(DType dtype) {
  constexpr std::array<const char*, kDTypes> names{
      "ByteStorage",  "CharStorage",   "ShortStorage",        "IntStorage",           "LongStorage", "HalfStorage",
      "FloatStorage", "DoubleStorage", "ComplexFloatStorage", "ComplexDoubleStorage", "BoolStorage", "BFloat16Storage"};
  return names[static_cast<size_t>(dtype)];
}

class Pickler {
 public:
  explicit Pickler(const StorageNamer& place_of) : place_of_(place_of) {}

  std::string run(const IValue& value) {
    out_ = "\x80\x02";
    put(value, 0);
    out_ += '.';
    return std::move(out_);
  }

 private:
  template <class Integer>
  void raw(Integer value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void integer(int64_t value) {
    if (value >= 0 && value < 256) {
      out_ += 'K';
      raw(static_cast<unsigned char>(value));
    } else if (value >= 0 && value < 65536) {
      out_ += 'M';
      raw(static_cast<uint16_t>(value));
    } else if (value >= INT_MIN && value <= INT_MAX) {
      out_ += 'J';
      raw(static_cast<int32_t>(value));
    } else {
      out_ += "\x8A\x08";
      raw(value);
    }
  }
  void text(const std::string& value) {
    CRESSET_CHECK_AS(IoError, value.size() <= UINT32_MAX, "save: a text of ", value.size(),
                     " bytes (at most 4294967295 in a pickle)");
    out_ += 'X';
    raw(static_cast<uint32_t>(value.size()));
    out_ += value;
  }
  void boolean(bool value) { out_ += value ? '\x88' : '\x89'; }
  void global(const char* module, const char* name) {
    out_ += 'c';
    out_.append(module).append("\n").append(name).append("\n");
  }
  void integers(IntArrayRef values) {
    out_ += '(';
    for (int64_t value : values) integer(value);
    out_ += 't';
  }
  template <class Items>
  void sequence(const Items& items, int depth) {
    for (const auto& item : items) put(item, depth + 1);
  }
  template <class Items>
  void list(const Items& items, int depth) {
    out_ += ']';
    if (items.empty()) return;
    out_ += '(';
    sequence(items, depth);
    out_ += 'e';
  }

  void tensor(const Tensor& tensor) {
    if (!tensor.defined()) {
      out_ += 'N';
      return;
    }
    const StoragePlace place = place_of_(tensor);
    global("torch._utils", "_rebuild_tensor_v2");
    out_ += "((";
    text("storage");
    global("torch", storage_name(tensor.dtype()));
    text(place.key);
    text("cpu");
    integer(static_cast<int64_t>(place.numel));
    out_ += "tQ";
    integer(place.offset);
    integers(tensor.sizes());
    integers(tensor.strides());
    boolean(tensor.requires_grad());
    global("collections", "OrderedDict");
    out_ += ")RtR";
  }

  void put(const IValue& value, int depth) {
    CRESSET_CHECK_AS(IoError, depth <= kDeepestNesting, "save: containers are nested deeper than ", kDeepestNesting);
    if (value.isNone()) {
      out_ += 'N';
    } else if (value.isTensor()) {
      tensor(value.toTensor());
    } else if (value.isBool()) {
      boolean(value.toBool());
    } else if (value.isInt()) {
      integer(value.toInt());
    } else if (value.isDouble()) {
      out_ += 'G';
      raw(__builtin_bswap64(std::bit_cast<uint64_t>(value.toDouble())));
    } else if (value.isString()) {
      text(value.toStringRef());
    } else if (value.isTuple()) {
      if (value.toTuple().empty()) {
        out_ += ')';
        return;
      }
      out_ += '(';
      sequence(value.toTuple(), depth);
      out_ += 't';
    } else if (value.isDict()) {
      out_ += '}';
      if (value.toDict().size() == 0) return;
      out_ += '(';
      for (const auto& [key, held] : value.toDict()) {
        CRESSET_CHECK_AS(IoError, !key.isTensor() && !key.isList() && !key.isDict(), "save: a dict's key is a ",
                         key.tagKind(), " (expected text or a number)");
        put(key, depth + 1);
        put(held, depth + 1);
      }
      out_ += 'u';
    } else if (value.isList()) {
      list(value.toList(), depth);
    } else if (value.isIntList()) {
      list(value.toIntVector(), depth);
    } else if (value.isDoubleList()) {
      list(value.toDoubleVector(), depth);
    } else {
      list(value.toTensorVector(), depth);
    }
  }

  const StorageNamer& place_of_;
  std::string out_;
};

}  // namespace

std::string write_pickle(const IValue& value, const StorageNamer& place_of) { return Pickler(place_of).run(value); }

}  // namespace cresset::io
