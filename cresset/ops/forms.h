// An op is defined once, as `name_into(const Into& into, arguments…)`. These macros write its functional, in-place and
// out forms and register them, so that every form passes the modes and stands in the registry. The first argument is
// called self; the in-place form takes it as const Tensor&, since a handle may be const while its values change.
//
//   CRESSET_FORMS(exp, , (const Tensor& self), (self), "self", "e to the power of each element.")
//
// The second argument names an overload ("" for the plain one, Scalar, dim, …).
#pragma once

#include "cresset/core/kernel.h"
#include "cresset/core/modes.h"
#include "cresset/core/registry.h"
#include "cresset/ops/shape_rule.h"

#define CRESSET_EXPAND(...) __VA_ARGS__

namespace cresset {
inline OpOptions form_options(OpOptions options, const Op& functional) {
  options.functional = &functional;
  return options;
}
inline OpOptions out_form_options(OpOptions options, const Op& functional) {
  options.where = Where::function;
  return form_options(options, functional);
}
}  // namespace cresset

// What follows the doc goes into the op's options: CRESSET_FORMS(eq, , …, "doc", .gradient = Gradient::none).
#define CRESSET_FORMS(name, overload_name, parameters, arguments, text, doc, ...)                         \
  CRESSET_FUNCTION_FORM(name, overload_name, parameters, arguments, text, doc __VA_OPT__(, ) __VA_ARGS__) \
  CRESSET_INPLACE_FORM(name, overload_name, parameters, arguments, text, doc __VA_OPT__(, ) __VA_ARGS__)  \
  CRESSET_OUT_FORM(name, overload_name, parameters, arguments, text, doc __VA_OPT__(, ) __VA_ARGS__)

// Most ops that are not pointwise have no in-place form.
#define CRESSET_FORMS_OUT(name, overload_name, parameters, arguments, text, doc, ...)                     \
  CRESSET_FUNCTION_FORM(name, overload_name, parameters, arguments, text, doc __VA_OPT__(, ) __VA_ARGS__) \
  CRESSET_OUT_FORM(name, overload_name, parameters, arguments, text, doc __VA_OPT__(, ) __VA_ARGS__)

#define CRESSET_FUNCTION_FORM_OF(gradient_kind, name, overload_name, parameters, arguments, text, doc) \
  CRESSET_FUNCTION_FORM(name, overload_name, parameters, arguments, text, doc, .gradient = gradient_kind)

#define CRESSET_FUNCTION_FORM(name, overload_name, parameters, arguments, text, doc, ...)                           \
  static const Op& name##overload_name##_op = define_op(#name, static_cast<Tensor(*) parameters>(&name), text, doc, \
                                                        {.overload = #overload_name __VA_OPT__(, ) __VA_ARGS__});   \
  Tensor name parameters try {                                                                                      \
    if (CRESSET_UNLIKELY(thread_state.modes_above != 0))                                                            \
      if (auto handled = intercepted<Tensor>(name##overload_name##_op, CRESSET_EXPAND arguments))                   \
        return *std::move(handled);                                                                                 \
    return name##_into(Into{}, CRESSET_EXPAND arguments);                                                           \
  }                                                                                                                 \
  CRESSET_ERRORS_OF(name, overload_name, CRESSET_EXPAND arguments)

#define CRESSET_INPLACE_FORM(name, overload_name, parameters, arguments, text, doc, ...)                          \
  static const Op& name##overload_name##_inplace_op =                                                             \
      define_op(#name "_", static_cast<Tensor&(*)parameters>(&name##_), text, doc,                                \
                form_options({.overload = #overload_name __VA_OPT__(, ) __VA_ARGS__}, name##overload_name##_op)); \
  Tensor& name##_ parameters try {                                                                                \
    if (CRESSET_LIKELY(thread_state.modes_above == 0) ||                                                          \
        !intercepted<void>(name##overload_name##_inplace_op, CRESSET_EXPAND arguments))                           \
      name##_into(in_place(self), CRESSET_EXPAND arguments);                                                      \
    return const_cast<Tensor&>(self);                                                                             \
  }                                                                                                               \
  CRESSET_ERRORS_OF(name, overload_name##_inplace, CRESSET_EXPAND arguments)

#define CRESSET_OUT_FORM(name, overload_name, parameters, arguments, text, doc, ...)                                   \
  static const Op& name##overload_name##_out_op = define_op(                                                           \
      #name "_out", static_cast<Tensor& (*)(Tensor & out, CRESSET_EXPAND parameters)>(&name##_out), "out, " text, doc, \
      out_form_options({.overload = #overload_name __VA_OPT__(, ) __VA_ARGS__}, name##overload_name##_op));            \
  Tensor& name##_out(Tensor& out, CRESSET_EXPAND parameters) try {                                                     \
    if (CRESSET_LIKELY(thread_state.modes_above == 0) ||                                                               \
        !intercepted<void>(name##overload_name##_out_op, out, CRESSET_EXPAND arguments))                               \
      name##_into(into_out(out), CRESSET_EXPAND arguments);                                                            \
    return out;                                                                                                        \
  }                                                                                                                    \
  CRESSET_ERRORS_OF(name, overload_name##_out, out, CRESSET_EXPAND arguments)

// The out form of an op that makes a tensor: out's dtype and device decide. What follows the doc goes to name_into.
#define CRESSET_CREATION_OUT(name, overload_name, parameters, arguments, text, doc, ...)                               \
  static const Op& name##overload_name##_out_op = define_op(                                                           \
      #name "_out", static_cast<Tensor& (*)(Tensor & out, CRESSET_EXPAND parameters)>(&name##_out), "out, " text, doc, \
      {.overload = #overload_name,                                                                                     \
       .gradient = Gradient::none,                                                                                     \
       .where = Where::function,                                                                                       \
       .functional = &name##overload_name##_op});                                                                      \
  Tensor& name##_out(Tensor& out, CRESSET_EXPAND parameters) try {                                                     \
    if (CRESSET_LIKELY(thread_state.modes_above == 0) ||                                                               \
        !intercepted<void>(name##overload_name##_out_op, out, CRESSET_EXPAND arguments))                               \
      name##_into(into_out(out), __VA_ARGS__, out.dtype(), out.device());                                              \
    return out;                                                                                                        \
  }                                                                                                                    \
  CRESSET_ERRORS_OF(name, overload_name##_out, out, CRESSET_EXPAND arguments)

// The same for what has no gradient (comparisons, places), and for composed ops.
#define CRESSET_FORMS_OUT_OF(gradient_kind, name, overload_name, parameters, arguments, text, doc) \
  CRESSET_FUNCTION_FORM_OF(gradient_kind, name, overload_name, parameters, arguments, text, doc)   \
  CRESSET_OUT_FORM(name, overload_name, parameters, arguments, text, doc)

// Two results: `name_pair(const Into& first, const Into& second, arguments…)` serves the functional and the out form.
#define CRESSET_PAIR_FORMS(name, overload_name, first, second, parameters, arguments, text, doc)                       \
  CRESSET_OP(name, overload_name, detail::TwoTensors, parameters, text, Gradient::formula, doc)                        \
  std::tuple<Tensor, Tensor> name parameters try {                                                                     \
    CRESSET_INTERCEPT(name, overload_name, detail::TwoTensors, CRESSET_EXPAND arguments);                              \
    return name##_pair(Into{}, Into{}, CRESSET_EXPAND arguments);                                                      \
  }                                                                                                                    \
  CRESSET_ERRORS_OF(name, overload_name, CRESSET_EXPAND arguments)                                                     \
  static const Op& name##overload_name##_out_op = define_op(                                                           \
      #name "_out",                                                                                                    \
      static_cast<detail::TwoTensorRefs (*)(Tensor & first, Tensor & second, CRESSET_EXPAND parameters)>(&name##_out), \
      #first ", " #second ", " text, doc,                                                                              \
      {.overload = #overload_name, .where = Where::function, .functional = &name##overload_name##_op});                \
  std::tuple<Tensor&, Tensor&> name##_out(Tensor& first, Tensor& second, CRESSET_EXPAND parameters) try {              \
    if (CRESSET_LIKELY(thread_state.modes_above == 0) ||                                                               \
        !intercepted<void>(name##overload_name##_out_op, first, second, CRESSET_EXPAND arguments))                     \
      name##_pair(into_out(first), into_out(second), CRESSET_EXPAND arguments);                                        \
    return {first, second};                                                                                            \
  }                                                                                                                    \
  CRESSET_ERRORS_OF(name, overload_name##_out, first, second, CRESSET_EXPAND arguments)

// Ends a function-try-block: an error that leaves the op names that op and, if an argument was undefined, the argument.
#define CRESSET_ERRORS_OF(name, overload_name, ...)    \
  catch (...) {                                        \
    name_error(name##overload_name##_op, __VA_ARGS__); \
    throw;                                             \
  }

// For ops that have the functional form only and write their own body: registers `name`, hands calls to the modes and
// names the op in errors.
//   CRESSET_OP(where, , Tensor, (const Tensor& condition, const Tensor& self, const Tensor& other),
//              "condition, self, other", Gradient::formula, "doc")
//   Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other) try {
//     CRESSET_INTERCEPT(where, , Tensor, condition, self, other);
//     …
//   }
//   CRESSET_ERRORS_OF(where, , condition, self, other)
#define CRESSET_OP(name, overload_name, Result, parameters, text, gradient_kind, doc, ...) \
  static const Op& name##overload_name##_op =                                              \
      define_op(#name, static_cast<Result(*) parameters>(&name), text, doc,                \
                {.overload = #overload_name, .gradient = gradient_kind __VA_OPT__(, ) __VA_ARGS__});
#define CRESSET_INTERCEPT(name, overload_name, Result, ...) \
  if (CRESSET_UNLIKELY(thread_state.modes_above != 0))      \
    if (auto handled = intercepted<Result>(name##overload_name##_op, __VA_ARGS__)) return *std::move(handled)
