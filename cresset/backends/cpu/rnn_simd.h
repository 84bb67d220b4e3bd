// Inner functions of recurrent cells: one sample's gates at a time. T is float or double.
#pragma once

#include <cstdint>

namespace cresset::cpu {

template <class T>
struct RnnInner {
  // gates: 4 * n; what is null among g_h and g_c counts as 0.
  void (*lstm)(T* h, T* c, const T* gates, const T* before, int64_t n);
  void (*lstm_backward)(T* d_gates, T* d_before, const T* g_h, const T* g_c, const T* gates, const T* before,
                        const T* c, int64_t n);
  // input, hidden: 3 * n
  void (*gru)(T* h, const T* input, const T* hidden, const T* before, int64_t n);
  void (*gru_backward)(T* d_input, T* d_hidden, T* d_before, const T* g, const T* input, const T* hidden,
                       const T* before, int64_t n);
  void (*sigmoid)(T* y, const T* x, int64_t n);
  void (*tanh)(T* y, const T* x, int64_t n);
};

template <class T>
const RnnInner<T>& rnn_inner();

}  // namespace cresset::cpu
