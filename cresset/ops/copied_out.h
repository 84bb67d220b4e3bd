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
// The same for an op that reads a list.
inline Tensor copied_from(const char* op, const Into& into, const Tensor& made, TensorList reads) {
  Tensor y = result(op, into, made.sizes(), made.dtype(), made.device(), {&made});
  for (const Tensor& t : reads) check_no_overlap(op, y, t);
  copy_kernel(y, made);
  return not_differentiable(into, y);
}

}  // namespace cresset

#define CRESSET_COPIED_OUT(name, overload_name, parameters, arguments, reads, text, doc) \
  static Tensor name##_into(const Into& into, CRESSET_EXPAND parameters) {               \
    return copied_into(#name, into, name arguments, {CRESSET_EXPAND reads});             \
  }                                                                                      \
  CRESSET_OUT_FORM(name, overload_name, parameters, arguments, text, doc)

// The out form of an op with two results.
#define CRESSET_COPIED_OUTS(name, first, second, parameters, arguments, reads, text, doc) \
  CRESSET_COPIED_OUTS_OF(name, , first, second, parameters, arguments, reads, text, doc)
#define CRESSET_COPIED_OUTS_OF(name, overload_name, first, second, parameters, arguments, reads, text, doc)           \
  static const Op& name##overload_name##_out_op = define_op(                                                          \
      #name "_out", static_cast<detail::TwoTensorRefs (*)(Tensor&, Tensor&, CRESSET_EXPAND parameters)>(&name##_out), \
      #first ", " #second ", " text, doc,                                                                             \
      {.overload = #overload_name, .where = Where::function, .functional = &name##overload_name##_op});               \
  std::tuple<Tensor&, Tensor&> name##_out(Tensor& first, Tensor& second, CRESSET_EXPAND parameters) try {             \
    if (CRESSET_LIKELY(thread_state.modes_above == 0) ||                                                              \
        !intercepted<void>(name##overload_name##_out_op, first, second, CRESSET_EXPAND arguments)) {                  \
      const std::tuple<Tensor, Tensor> made = name arguments;                                                         \
      copied_into(#name, into_out(first), std::get<0>(made), {CRESSET_EXPAND reads});                                 \
      copied_into(#name, into_out(second), std::get<1>(made), {CRESSET_EXPAND reads});                                \
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
