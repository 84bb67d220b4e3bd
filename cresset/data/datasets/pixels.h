// Bytes of images as numbers between 0 and 1.
#pragma once

#include "cresset/ops/pointwise.h"

namespace cresset::data::datasets {

inline Tensor floats(const Tensor& bytes) { return bytes.to(kFloat).div_(255); }

}  // namespace cresset::data::datasets
