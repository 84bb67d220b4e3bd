// The step from 1 to the next number of a dtype; of a float's where the dtype has none of its own.
#pragma once

#include <limits>

#include "cresset/core/dtype.h"

namespace cresset {

inline double epsilon_of(DType dtype) {
  switch (dtype) {
    case kDouble:
    case kComplex128:
      return std::numeric_limits<double>::epsilon();
    case kHalf:
      return 0x1p-10;
    case kBFloat16:
      return 0x1p-7;
    default:
      return static_cast<double>(std::numeric_limits<float>::epsilon());
  }
}

}  // namespace cresset
