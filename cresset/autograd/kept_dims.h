// KeptDims: sizes or strides that a gradient formula captures. Trivially destructible: more than six dimensions, which
// are rare, are interned and never freed.
#pragma once

#include "cresset/core/shape.h"

namespace cresset::autograd {

class CRESSET_API KeptDims {
 public:
  KeptDims(IntArrayRef dims);
  operator IntArrayRef() const { return {rank_ > Dims::kInline ? interned_ : inline_, static_cast<size_t>(rank_)}; }
  int64_t operator[](int i) const { return IntArrayRef(*this)[static_cast<size_t>(i)]; }
  int rank() const { return rank_; }

 private:
  int32_t rank_;
  union {
    int64_t inline_[Dims::kInline];
    const int64_t* interned_;
  };
};

}  // namespace cresset::autograd

namespace cresset {
using autograd::KeptDims;
}
