// NumPy's files: .npy holds one array, .npz a zip archive of them by name.
#pragma once

#include "cresset/io/safetensors.h"
#include "cresset/io/unpack_limits.h"

namespace cresset::io {

// Row by row, format 1.0 (2.0 where the header needs it). NumPy has no bfloat16: that is refused.
CRESSET_API void save_npy(const std::string& path, const Tensor& tensor);
CRESSET_API void save_npy(Sink& sink, const Tensor& tensor);
CRESSET_API void save_npz(const std::string& path, const StateDict& tensors);
CRESSET_API void save_npz(Sink& sink, const StateDict& tensors);

// Formats 1.0 to 3.0, C and Fortran order (which becomes strides), either byte order. Objects, structures, text, and
// dtypes that tensors do not have are refused.
CRESSET_API Tensor load_npy(const std::string& path);
CRESSET_API Tensor load_npy(const Source& source);
CRESSET_API StateDict load_npz(const std::string& path, const UnpackLimits& limits = {});
CRESSET_API StateDict load_npz(const Source& source, const UnpackLimits& limits = {});

}  // namespace cresset::io
