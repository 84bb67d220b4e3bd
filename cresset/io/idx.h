// IDX, the format of MNIST: a type, a few sizes, then the values, big-endian. Plain or gzip.
#pragma once

#include <string>

#include "cresset/core/tensor.h"
#include "cresset/io/codecs.h"
#include "cresset/io/unpack_limits.h"

namespace cresset::io {

// `dims` and `dtype`, when given, are what the file must be (-1: any number of dimensions); `limits` what a gzip file
// may become.
struct IdxWanted {
  int dims = -1;
  std::optional<DType> dtype = std::nullopt;
  UnpackLimits limits = {};
};

CRESSET_API Tensor read_idx(const std::string& path, const IdxWanted& wanted = {});
CRESSET_API Tensor decode_idx(Bytes bytes, const std::string& name = "<memory>", const IdxWanted& wanted = {});

// uint8, int8, int16, int32, float32 or float64.
CRESSET_API std::vector<uint8_t> encode_idx(const Tensor& tensor);
CRESSET_API void write_idx(const std::string& path, const Tensor& tensor);  // packed if the name ends in .gz

}  // namespace cresset::io
