// What the transforms add to ops/forms.h: optional text as an argument, and forms that are functions only and whose out
// form copies.
#pragma once

#include "cresset/ops/copy.h"
#include "cresset/ops/forms.h"

// Writes `name` and `name_out` from `name_made`, which makes a fresh result.
#define CRESSET_FFT_FORMS(name, parameters, arguments, text, doc)                                              \
  static const Op& name##_op =                                                                                 \
      define_op(#name, static_cast<Tensor(*) parameters>(&name), text, doc, {.where = Where::function});       \
  Tensor name parameters try {                                                                                 \
    if (CRESSET_UNLIKELY(thread_state.modes_above != 0))                                                       \
      if (auto handled = intercepted<Tensor>(name##_op, CRESSET_EXPAND arguments)) return *std::move(handled); \
    return name##_made(CRESSET_EXPAND arguments);                                                              \
  }                                                                                                            \
  CRESSET_ERRORS_OF(name, , CRESSET_EXPAND arguments)                                                          \
  static Tensor name##_into(const Into& into, CRESSET_EXPAND parameters) {                                     \
    Tensor made = name##_made(CRESSET_EXPAND arguments);                                                       \
    Tensor y = result(#name, into, made.sizes(), made.dtype(), made.device(), {&self});                        \
    copy_kernel(y, made);                                                                                      \
    return not_differentiable(into, y);                                                                        \
  }                                                                                                            \
  CRESSET_OUT_FORM(name, , parameters, arguments, text, doc)
