// NumPy's format: a magic, a length, and a Python dict as text, of which only the three known keys are understood.
#include "cresset/io/npy.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "cresset/io/atomic_file.h"
#include "cresset/io/zip.h"

namespace cresset::io {
namespace {

constexpr const char* kLoad = "load_npy";
constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::array<const char*, kDTypes> kCodes{"u1", "i1", "i2", "i4",  "i8", "f2",
                                                  "f4", "f8", "c8", "c16", "b1", nullptr};

struct Header {
  std::string descr;
  bool fortran = false;
  std::vector<int64_t> shape;
};

// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class HeaderParser {
 public:
  HeaderParser(const Source& source, std::string_view text) : source_(source), text_(text) {}

  Header run() {
    expect('{');
    int seen = 0;
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        header_.descr = descr();
        seen |= 1;
      } else if (key == "fortran_order") {
        header_.fortran = boolean();
        seen |= 2;
      } else if (key == "shape") {
        header_.shape = shape();
        seen |= 4;
      } else {
        broken();
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (seen != 7) fault(kLoad, source_.name(), "the header lacks descr, fortran_order or shape");
    return header_;
  }

 private:
  [[noreturn]] void broken() const { fault(kLoad, source_.name(), "the header is damaged at byte ", at_); }
  void spaces() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) at_++;
  }
  bool accept(char c) {
    spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    at_++;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) broken();
  }
  std::string quoted() {
    const char quote = accept('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) broken();
    std::string value(text_.substr(at_, end - at_));
    at_ = end + 1;
    return value;
  }
  std::string descr() {
    spaces();
    if (at_ < text_.size() && text_[at_] == '[')
      fault(kLoad, source_.name(), "an array of structures (expected plain numbers)");
    return quoted();
  }
  bool boolean() {
    spaces();
    for (bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    broken();
  }
  std::vector<int64_t> shape() {
    std::vector<int64_t> sizes;
    expect('(');
    while (!accept(')')) {
      spaces();
      int64_t size = 0;
      bool any = false;
      for (; at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])); at_++, any = true)
        if (__builtin_mul_overflow(size, 10, &size) || __builtin_add_overflow(size, text_[at_] - '0', &size))
          fault(kLoad, source_.name(), "a size that 64 bits do not hold");
      if (!any || sizes.size() >= 64) broken();
      if (at_ < text_.size() && text_[at_] == 'L') at_++;  // Python 2
      sizes.push_back(size);
      if (accept(',')) continue;
      expect(')');
      break;
    }
    return sizes;
  }

  const Source& source_;
  std::string_view text_;
  size_t at_ = 0;
  Header header_;
};

DType dtype_of_descr(const Source& source, const std::string& descr) {
  if (descr.size() >= 2) {
    const std::string_view code = std::string_view(descr).substr(1);
    for (size_t i = 0; i < kCodes.size(); i++)
      if (kCodes[i] && code == kCodes[i] && std::string_view("<>|=").find(descr[0]) != std::string_view::npos)
        return static_cast<DType>(i);
    if (descr.find('O') != std::string::npos)
      fault(kLoad, source.name(), "an array of Python objects, which would have to be executed (expected numbers)");
  }
  fault(kLoad, source.name(), "dtype '", descr, "' (expected b1, i1, i2, i4, i8, u1, f2, f4, f8, c8 or c16)");
}

Tensor filled(const Source& source, const Header& header, uint64_t start) {
  const DType dtype = dtype_of_descr(source, header.descr);
  uint64_t bytes = element_size(dtype);
  bool overflow = false;
  // Strides count as if no size were 0.
  for (int64_t size : header.shape)
    overflow = overflow || __builtin_mul_overflow(bytes, std::max<uint64_t>(1, static_cast<uint64_t>(size)), &bytes);
  overflow = overflow || bytes > INT64_MAX;
  if (std::find(header.shape.begin(), header.shape.end(), 0) != header.shape.end()) bytes = 0;
  if (overflow || !source.holds(start, bytes) || source.size() - start != bytes)
    fault(kLoad, source.name(), "has ", source.size() - start, " bytes of data, which are no ", name_of(dtype),
          " of shape ", text_of(header.shape));
  std::vector<int64_t> sizes = header.shape;
  if (header.fortran) std::reverse(sizes.begin(), sizes.end());
  Tensor tensor = empty_contiguous(sizes, dtype, kCPU);
  auto* data = static_cast<char*>(tensor.impl()->data());
  if (bytes > 0) std::memcpy(data, source.data() + start, bytes);
  if (header.descr[0] == '>') {
    const size_t element = element_size(to_real(dtype));
    for (uint64_t i = 0; i < bytes; i += element) std::reverse(data + i, data + i + element);
  }
  if (dtype == kBool)
    for (uint64_t i = 0; i < bytes; i++) data[i] = data[i] != 0;
  if (!header.fortran) return tensor;
  Dims strides = contiguous_strides(sizes);
  std::vector<int64_t> reversed(strides.begin(), strides.end());
  std::reverse(reversed.begin(), reversed.end());
  return alias(tensor, header.shape, reversed, 0);
}

std::string header_text(const Tensor& tensor) {
  const char* code = kCodes[static_cast<size_t>(tensor.scalar_type())];
  CRESSET_CHECK_AS(IoError, code, "save_npy: found dtype ", name_of(tensor.dtype()),
                   ", which NumPy does not have (expected, for example, tensor.to(kFloat))");
  std::string text = message_of("{'descr': '", element_size(tensor.dtype()) == 1 ? '|' : '<', code,
                                "', 'fortran_order': False, 'shape': (");
  for (int64_t size : tensor.sizes()) text += std::to_string(size) + ", ";
  if (tensor.dim() > 1) text.resize(text.size() - 2);
  if (tensor.dim() == 1) text.pop_back();
  text += "), }";
  text.append(63 - (text.size() + 10) % 64, ' ');  // so that the data is aligned
  return text + '\n';
}

}  // namespace

Tensor load_npy(const Source& source) {
  if (source.size() < 10 || !source.text().starts_with(kMagic))
    fault(kLoad, source.name(), source.size() < 10 ? "cut off: no whole header" : "not a NumPy file (no \\x93NUMPY)");
  const int version = source.data()[6];
  if (version < 1 || version > 3) fault(kLoad, source.name(), "format version ", version, " (expected 1, 2 or 3)");
  const uint64_t start = version == 1 ? 10 : 12;
  if (source.size() < start) fault(kLoad, source.name(), "cut off: no whole header");
  const uint64_t length = version == 1 ? source.at<uint16_t>(8) : source.at<uint32_t>(8);
  if (!source.holds(start, length)) fault(kLoad, source.name(), "cut off: a header of ", length, " bytes does not fit");
  return filled(source, HeaderParser(source, source.text().substr(start, length)).run(), start + length);
}

Tensor load_npy(const std::string& path) { return load_npy(Source::map(path, "load_npy")); }

StateDict load_npz(const Source& source, const UnpackLimits& limits) {
  ZipReader zip("load_npz", source, limits);
  StateDict tensors;
  for (const auto& entry : zip.entries()) {
    std::string name = entry.name;
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    if (tensors.contains(name)) fault("load_npz", source.name(), "array '", name, "' is there twice");
    tensors.insert(name, load_npy(Source::own(zip.read(entry), source.name() + ":" + entry.name)));
  }
  return tensors;
}

StateDict load_npz(const std::string& path, const UnpackLimits& limits) {
  return load_npz(Source::map(path, "load_npz"), limits);
}

void save_npy(Sink& sink, const Tensor& tensor) {
  CRESSET_CHECK_AS(IoError, tensor.defined() && !tensor.is_meta(), "save_npy: the tensor has no values");
  const std::string header = header_text(tensor);
  const auto length = static_cast<uint16_t>(header.size());
  const Tensor row_by_row = tensor.detach().to(Device(kCPU)).contiguous();
  sink.write(kMagic);
  sink.write(std::string_view("\x01\x00", 2));
  sink.write(&length, 2);
  sink.write(header);
  sink.write(row_by_row.impl()->data(), row_by_row.nbytes());
}

void save_npy(const std::string& path, const Tensor& tensor) {
  AtomicFile file(path);
  save_npy(file, tensor);
  file.commit();
}

void save_npz(Sink& sink, const StateDict& tensors) {
  ZipWriter zip(sink);
  for (const auto& [name, tensor] : tensors) {
    std::vector<char> bytes;
    MemorySink memory(bytes);
    save_npy(memory, tensor);
    zip.add(name + ".npy", bytes.data(), bytes.size(), 64);
  }
  zip.finish();
}

void save_npz(const std::string& path, const StateDict& tensors) {
  AtomicFile file(path);
  save_npz(file, tensors);
  file.commit();
}

}  // namespace cresset::io
