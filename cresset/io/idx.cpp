// The header's sizes are multiplied with overflow in mind and held against the file before memory is asked for.
#include "cresset/io/idx.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "cresset/io/gzip.h"

namespace cresset::io {
namespace {

struct IdxType {
  uint8_t code;
  DType dtype;
};
constexpr IdxType kTypes[] = {{0x08, kByte}, {0x09, kChar},  {0x0B, kShort},
                              {0x0C, kInt},  {0x0D, kFloat}, {0x0E, kDouble}};

constexpr size_t kMostHeader = 4 + 255 * 4;

struct Header {
  DType dtype = kByte;
  std::vector<int64_t> sizes;
  size_t length = 0;   // of the header
  size_t payload = 0;  // what must follow
};

std::string hex(uint8_t byte) {
  constexpr const char* kDigits = "0123456789abcdef";
  return {'0', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
}

Header parse(Bytes bytes, const std::string& name, const IdxWanted& wanted) {
  CRESSET_CHECK_AS(IoError, bytes.size() >= 4, "read_idx: ", name, ": found ", bytes.size(),
                   " bytes (expected at least the 4 of the magic number)");
  CRESSET_CHECK_AS(IoError, bytes[0] == 0 && bytes[1] == 0, "read_idx: ", name, ": not an IDX file: it begins with ",
                   hex(bytes[0]), " ", hex(bytes[1]), " (expected 0x00 0x00)");
  const auto* type = std::find_if(std::begin(kTypes), std::end(kTypes), [&](IdxType t) { return t.code == bytes[2]; });
  CRESSET_CHECK_AS(IoError, type != std::end(kTypes), "read_idx: ", name, ": unknown element type ", hex(bytes[2]),
                   " (expected 0x08, 0x09, 0x0b, 0x0c, 0x0d or 0x0e)");
  Header header;
  header.dtype = type->dtype;
  CRESSET_CHECK_AS(IoError, !wanted.dtype || *wanted.dtype == header.dtype, "read_idx: ", name, ": found elements of ",
                   toString(header.dtype), " (expected ", toString(wanted.dtype.value_or(kByte)), ")");
  const int dims = bytes[3];
  CRESSET_CHECK_AS(IoError, wanted.dims < 0 || wanted.dims == dims, "read_idx: ", name, ": found ", dims,
                   " dimensions (expected ", wanted.dims, ")");
  CRESSET_CHECK_AS(IoError, dims <= static_cast<int>(kMaxDims), "read_idx: ", name, ": found ", dims,
                   " dimensions (expected at most ", kMaxDims, ")");
  header.length = 4 + static_cast<size_t>(dims) * 4;
  CRESSET_CHECK_AS(IoError, bytes.size() >= header.length, "read_idx: ", name, ": found ", bytes.size(),
                   " bytes (expected a header of ", header.length, " for ", dims, " dimensions; it is truncated)");
  header.payload = element_size(header.dtype);
  // Strides count as if no size were 0.
  size_t reach = header.payload;
  bool overflow = false;
  for (int d = 0; d < dims; d++) {
    const uint8_t* at = bytes.data() + 4 + d * 4;
    const uint32_t size = (uint32_t{at[0]} << 24) | (uint32_t{at[1]} << 16) | (uint32_t{at[2]} << 8) | at[3];
    header.sizes.push_back(size);
    overflow |= __builtin_mul_overflow(reach, std::max<size_t>(size, 1), &reach);
    header.payload *= size;
  }
  CRESSET_CHECK_AS(IoError, !overflow && reach <= SIZE_MAX / 4, "read_idx: ", name, ": the header says ",
                   text_of(header.sizes), ", which no file can hold");
  return header;
}

void to_native(uint8_t* values, size_t bytes, size_t width) {
  if constexpr (std::endian::native == std::endian::little)
    for (size_t i = 0; width > 1 && i + width <= bytes; i += width) std::reverse(values + i, values + i + width);
}

Tensor payload_of(Bytes bytes, const Header& header, const std::string& name, bool packed) {
  const size_t found = bytes.size() - header.length;
  CRESSET_CHECK_AS(IoError, found == header.payload, "read_idx: ", name, ": ",
                   found > header.payload && packed ? "more than " : "", "found ", found, " bytes of values (expected ",
                   header.payload, " for ", text_of(header.sizes), " of ", toString(header.dtype),
                   found < header.payload ? "; it is truncated)" : ")");
  Tensor tensor = empty_contiguous(header.sizes, header.dtype, kCPU);
  if (header.payload == 0) return tensor;
  auto* values = static_cast<uint8_t*>(tensor.data_ptr());
  std::memcpy(values, bytes.data() + header.length, header.payload);
  to_native(values, header.payload, element_size(header.dtype));
  return tensor;
}

}  // namespace

Tensor decode_idx(Bytes bytes, const std::string& name, const IdxWanted& wanted) {
  if (!is_gzip(bytes)) return payload_of(bytes, parse(bytes, name, wanted), name, false);
  // The header first, so that no more is unpacked than it asks for.
  const Header header = parse(gunzip_start(bytes, kMostHeader, name), name, wanted);
  CRESSET_CHECK_AS(IoError, header.payload <= wanted.limits.of(bytes.size()), "read_idx: ", name, ": found ",
                   text_of(header.sizes), " of ", toString(header.dtype), ", ", header.payload, " bytes ",
                   wanted.limits.text(bytes.size()));
  return payload_of(gunzip_start(bytes, header.length + header.payload + 1, name), header, name, true);
}

Tensor read_idx(const std::string& path, const IdxWanted& wanted) {
  return decode_idx(read_file(path, "read_idx"), path, wanted);
}

std::vector<uint8_t> encode_idx(const Tensor& tensor) {
  const auto* type =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](IdxType t) { return t.dtype == tensor.dtype(); });
  CRESSET_CHECK_AS(TypeError, type != std::end(kTypes), "encode_idx: found ", toString(tensor.dtype()),
                   " (expected uint8, int8, int16, int32, float32 or float64)");
  CRESSET_CHECK_AS(ShapeError, tensor.dim() <= 255, "encode_idx: found ", tensor.dim(),
                   " dimensions (expected at most 255)");
  std::vector<uint8_t> out = {0, 0, type->code, static_cast<uint8_t>(tensor.dim())};
  for (int64_t size : tensor.sizes()) {
    CRESSET_CHECK_AS(ShapeError, size <= int64_t{UINT32_MAX}, "encode_idx: found size ", size, " (expected 32 bits)");
    for (int shift : {24, 16, 8, 0}) out.push_back(static_cast<uint8_t>(size >> shift));
  }
  const Tensor values = tensor.detach().to(Device(kCPU)).contiguous();
  if (values.numel() == 0) return out;
  const size_t header = out.size();
  out.resize(header + values.nbytes());
  std::memcpy(out.data() + header, values.data_ptr(), values.nbytes());
  to_native(out.data() + header, values.nbytes(), values.itemsize());
  return out;
}

void write_idx(const std::string& path, const Tensor& tensor) {
  std::vector<uint8_t> bytes = encode_idx(tensor);
  write_file(path, path.ends_with(".gz") ? gzip(bytes) : bytes);
}

}  // namespace cresset::io
