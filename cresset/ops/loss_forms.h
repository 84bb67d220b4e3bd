// The functional form of a loss: as CRESSET_FUNCTION_FORM writes it, but never a method of Tensor.
#pragma once

#include "cresset/ops/forms.h"

#define CRESSET_LOSS_FORM(name, parameters, arguments, text, doc)                                              \
  static const Op& name##_op =                                                                                 \
      define_op(#name, static_cast<Tensor(*) parameters>(&name), text, doc, {.where = Where::function});       \
  Tensor name parameters try {                                                                                 \
    if (CRESSET_UNLIKELY(thread_state.modes_above != 0))                                                       \
      if (auto handled = intercepted<Tensor>(name##_op, CRESSET_EXPAND arguments)) return *std::move(handled); \
    return name##_into(Into{}, CRESSET_EXPAND arguments);                                                      \
  }                                                                                                            \
  CRESSET_ERRORS_OF(name, , CRESSET_EXPAND arguments)
