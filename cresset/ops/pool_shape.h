// What the pools' shape rules share.
#pragma once

#include "cresset/autograd/kept_dims.h"
#include "cresset/ops/forms.h"

namespace cresset::pool {

inline constexpr int kMost = 3;  // dimensions of positions

// How the windows stand; plain numbers, which a formula may capture.
struct Window {
  int rank;
  int64_t kernel_[kMost], stride_[kMost], padding_[kMost], dilation_[kMost];
  IntArrayRef kernel() const { return {kernel_, static_cast<size_t>(rank)}; }
  IntArrayRef stride() const { return {stride_, static_cast<size_t>(rank)}; }
  IntArrayRef padding() const { return {padding_, static_cast<size_t>(rank)}; }
  IntArrayRef dilation() const { return {dilation_, static_cast<size_t>(rank)}; }
};

Window window_of(const char* op, int rank, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                 IntArrayRef dilation);
// The shape of the result; refuses what does not fit.
Dims window_sizes(const char* op, const Tensor& self, const Window& window, bool ceil_mode);

// [batch, channels, positions...] or without batch; the positions must not be empty.
void check_rank(const char* op, const Tensor& self, int rank, int first_not_empty);
// One value for all directions, or one for each.
void expand(const char* op, const char* name, IntArrayRef list, int rank, int64_t* to);
Dims sizes_with(const Tensor& self, int rank, IntArrayRef positions);

void check_poolable(const char* op, const Tensor& self);

// Fresh results have the layout of `like`: channels-last only if that is.
Tensor result_like(const char* op, const Into& into, const Tensor& like, IntArrayRef sizes, DType dtype);
Tensor empty_in(MemoryFormat format, IntArrayRef sizes, DType dtype, Device device);

// values and indices that a pool has written, with their gradient: it goes to where the indices say.
std::tuple<Tensor, Tensor> picked(const char* node, const Into& into, const Tensor& self, const Tensor& values,
                                  const Tensor& indices, int rank);

}  // namespace cresset::pool

// Functional and out form of an op with values and indices, which writes `name_into(into, into, arguments...)`; out's
// names are PyTorch's.
#define CRESSET_POOL_FUNCTION(name, parameters, arguments, text, doc)                                                \
  static const Op& name##_op =                                                                                       \
      define_op(#name, static_cast<detail::TwoTensors(*) parameters>(&name), text, doc, {.where = Where::function}); \
  std::tuple<Tensor, Tensor> name parameters try {                                                                   \
    CRESSET_INTERCEPT(name, , detail::TwoTensors, CRESSET_EXPAND arguments);                                         \
    return name##_into(Into{}, Into{}, CRESSET_EXPAND arguments);                                                    \
  }                                                                                                                  \
  CRESSET_ERRORS_OF(name, , CRESSET_EXPAND arguments)
#define CRESSET_POOL_OUT(name, out, parameters, arguments, text, doc)                                                 \
  static const Op& name##_out_op = define_op(                                                                         \
      #name "_out",                                                                                                   \
      static_cast<detail::TwoTensorRefs (*)(Tensor & out, Tensor & indices, CRESSET_EXPAND parameters)>(&name##_out), \
      #out ", indices, " text, doc, {.where = Where::function, .functional = &name##_op});                            \
  std::tuple<Tensor&, Tensor&> name##_out(Tensor& out, Tensor& indices, CRESSET_EXPAND parameters) try {              \
    if (CRESSET_LIKELY(thread_state.modes_above == 0) ||                                                              \
        !intercepted<void>(name##_out_op, out, indices, CRESSET_EXPAND arguments))                                    \
      name##_into(into_out(out), into_out(indices), CRESSET_EXPAND arguments);                                        \
    return {out, indices};                                                                                            \
  }                                                                                                                   \
  CRESSET_ERRORS_OF(name, _out, out, indices, CRESSET_EXPAND arguments)
// The functional form of an op with one result, not a method.
#define CRESSET_POOL_PLAIN(name, parameters, arguments, text, doc)                                       \
  static const Op& name##_op =                                                                           \
      define_op(#name, static_cast<Tensor(*) parameters>(&name), text, doc, {.where = Where::function}); \
  Tensor name parameters try {                                                                           \
    CRESSET_INTERCEPT(name, , Tensor, CRESSET_EXPAND arguments);                                         \
    return name##_into(Into{}, CRESSET_EXPAND arguments);                                                \
  }                                                                                                      \
  CRESSET_ERRORS_OF(name, , CRESSET_EXPAND arguments)
