// One convolution, or one of its adjoints, as the CPU kernels see it. float and bfloat16 go to the library, loaded when
// first needed; everything else, and what the library does not take, is done by matrix products here.
#pragma once

#include "cresset/core/tensor.h"

namespace cresset::cpu {

enum class ConvPart : uint8_t { forward, input, weight };

// The tensor that `part` names is written (forward: y), the other two are read; a bias goes to y or to x.
struct Convolution {
  ConvPart part;
  const Tensor &x, &w, &y, &bias;
  IntArrayRef stride, padding, dilation;
  int64_t groups;
};

// These return false if they do not do this one.
bool run_direct_convolution(const Convolution& convolution);
bool run_weight_product(const Convolution& convolution);
using LibraryConvolution = bool (*)(const Convolution& convolution);
CRESSET_API void set_library_convolution(LibraryConvolution function);

}  // namespace cresset::cpu
