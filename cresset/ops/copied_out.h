// The out form of an op that is composed of others, or whose library wants a layout of its own: the result is made and
// then copied into `out`. `reads` are its tensors, as a list of pointers.
#pragma once

#include "cresset/ops/copy.h"
#include "cresset/ops/forms.h"

namespace cresset {

// Writes `made` into `out` by the rules of out forms.
inline Tensor copied_into(const char* op, const Into& into, const Tensor& made,
                          std::initializer_list<const Tensor*> reads) {
  Tensor y = result(op, into, made.sizes(), made.dtype(), made.device(), reads);
  copy_kernel(y, made);
  return not_differentiable(into, y);  // result has refused tensors that want a gradient
}

}  // namespace cresset

#define CRESSET_COPIED_OUT(name, overload_name, parameters, arguments, reads, text, doc) \
  static Tensor name##_into(const Into& into, CRESSET_EXPAND parameters) {               \
    return copied_into(#name, into, name arguments, {CRESSET_EXPAND reads});             \
  }                                                                                      \
  CRESSET_OUT_FORM(name, overload_name, parameters, arguments, text, doc)
