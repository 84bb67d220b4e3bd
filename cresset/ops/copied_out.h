// The out form of an op that is composed of others, or whose library wants a layout of its own: the result is made and
// then copied into `out`. `reads` are its tensors, as a list of pointers.
#pragma once

#include "cresset/ops/copy.h"
#include "cresset/ops/forms.h"

namespace cresset {

// Writes `made` into `out`, which may be one of the tensors that were read, and gets made's strides where it is
// resized.
inline Tensor written_out(const char* op, const Into& into, const Tensor& made) {
  check_defined(op, "out", *into.tensor);
  const bool resized = !(into.tensor->sizes() == made.sizes());
  Tensor y = result(op, into, made.sizes(), made.dtype(), made.device());
  if (resized && made.is_non_overlapping_and_dense()) y.impl()->set_geometry(made.sizes(), made.strides());
  copy_kernel(y, made);
  return not_differentiable(into, y);
}
inline Tensor copied_into(const char* op, const Into& into, const Tensor& made,
                          std::initializer_list<const Tensor*> reads) {
  for (const Tensor* t : reads)
    if (thread_state.grad_enabled && t->defined() && t->requires_grad()) autograd::out_form_with_grad(op);
  return written_out(op, into, made);
}
// The same for an op that reads a list.
inline Tensor copied_from(const char* op, const Into& into, const Tensor& made, TensorList reads) {
  for (const Tensor& t : reads)
    if (thread_state.grad_enabled && t.requires_grad()) autograd::out_form_with_grad(op);
  return written_out(op, into, made);
}
// The same for an out of any dtype that can hold the result.
inline Tensor cast_into(const char* op, const Into& into, const Tensor& made,
                        std::initializer_list<const Tensor*> reads) {
  const Tensor& out = *into.tensor;
  const bool fits = out.defined() && can_cast(made.dtype(), out.dtype());
  return copied_into(op, into, (fits ? made.to(out.dtype()) : made).contiguous(), reads);
}

// The same, with made's strides where the dtypes are the same.
inline Tensor kept_or_cast_into(const char* op, const Into& into, const Tensor& made,
                                std::initializer_list<const Tensor*> reads) {
  const bool same = into.tensor->defined() && into.tensor->dtype() == made.dtype();
  return (same ? copied_into : cast_into)(op, into, made, reads);
}

}  // namespace cresset

#define CRESSET_COPIED_OUT(name, overload_name, parameters, arguments, reads, text, doc) \
  CRESSET_OUT_BY(copied_into, name, overload_name, parameters, arguments, reads, text, doc)
#define CRESSET_CAST_OUT(name, overload_name, parameters, arguments, reads, text, doc) \
  CRESSET_OUT_BY(cast_into, name, overload_name, parameters, arguments, reads, text, doc)
#define CRESSET_OUT_BY(write, name, overload_name, parameters, arguments, reads, text, doc) \
  static Tensor name##_into(const Into& into, CRESSET_EXPAND parameters) {                  \
    return write(#name, into, name arguments, {CRESSET_EXPAND reads});                      \
  }                                                                                         \
  CRESSET_OUT_FORM(name, overload_name, parameters, arguments, text, doc)

// The out form of an op with two results.
#define CRESSET_COPIED_OUTS(name, first, second, parameters, arguments, reads, text, doc) \
  CRESSET_COPIED_OUTS_OF(name, , first, second, parameters, arguments, reads, text, doc)
#define CRESSET_CAST_OUTS(name, first, second, parameters, arguments, reads, text, doc) \
  CRESSET_OUTS_BY(kept_or_cast_into, name, , first, second, parameters, arguments, reads, text, doc)
#define CRESSET_COPIED_OUTS_OF(name, overload_name, first, second, parameters, arguments, reads, text, doc) \
  CRESSET_OUTS_BY(copied_into, name, overload_name, first, second, parameters, arguments, reads, text, doc)
#define CRESSET_OUTS_BY(write, name, overload_name, first, second, parameters, arguments, reads, text, doc)           \
  static const Op& name##overload_name##_out_op = define_op(                                                          \
      #name "_out", static_cast<detail::TwoTensorRefs (*)(Tensor&, Tensor&, CRESSET_EXPAND parameters)>(&name##_out), \
      #first ", " #second ", " text, doc,                                                                             \
      {.overload = #overload_name, .where = Where::function, .functional = &name##overload_name##_op});               \
  std::tuple<Tensor&, Tensor&> name##_out(Tensor& first, Tensor& second, CRESSET_EXPAND parameters) try {             \
    if (CRESSET_LIKELY(thread_state.modes_above == 0) ||                                                              \
        !intercepted<void>(name##overload_name##_out_op, first, second, CRESSET_EXPAND arguments)) {                  \
      const std::tuple<Tensor, Tensor> made = name arguments;                                                         \
      write(#name, into_out(first), std::get<0>(made), {CRESSET_EXPAND reads});                                       \
      write(#name, into_out(second), std::get<1>(made), {CRESSET_EXPAND reads});                                      \
    }                                                                                                                 \
    return {first, second};                                                                                           \
  }                                                                                                                   \
  CRESSET_ERRORS_OF(name, overload_name##_out, first, second, CRESSET_EXPAND arguments)

// The out form of an op with three results.
#define CRESSET_COPIED_THREE(name, first, second, third, parameters, arguments, reads, text, doc)                  \
  static const Op& name##_out_op = define_op(                                                                      \
      #name "_out",                                                                                                \
      static_cast<detail::ThreeTensorRefs (*)(Tensor&, Tensor&, Tensor&, CRESSET_EXPAND parameters)>(&name##_out), \
      #first ", " #second ", " #third ", " text, doc, {.where = Where::function, .functional = &name##_op});       \
  std::tuple<Tensor&, Tensor&, Tensor&> name##_out(Tensor& first, Tensor& second, Tensor& third,                   \
                                                   CRESSET_EXPAND parameters) try {                                \
    if (CRESSET_LIKELY(thread_state.modes_above == 0) ||                                                           \
        !intercepted<void>(name##_out_op, first, second, third, CRESSET_EXPAND arguments)) {                       \
      const std::tuple<Tensor, Tensor, Tensor> made = name arguments;                                              \
      copied_into(#name, into_out(first), std::get<0>(made), {CRESSET_EXPAND reads});                              \
      copied_into(#name, into_out(second), std::get<1>(made), {CRESSET_EXPAND reads});                             \
      copied_into(#name, into_out(third), std::get<2>(made), {CRESSET_EXPAND reads});                              \
    }                                                                                                              \
    return {first, second, third};                                                                                 \
  }                                                                                                                \
  CRESSET_ERRORS_OF(name##_out, , first, second, third, CRESSET_EXPAND arguments)
