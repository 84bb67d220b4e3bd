// CPU kernels of ops/rnn: one sample's gates at a time.
#include "cresset/ops/rnn.h"

#include "cresset/backends/cpu/rnn_simd.h"
#include "cresset/backends/cpu/slab.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

// Rows of a tensor that may be undefined.
template <class T>
class OptionalRows {
 public:
  explicit OptionalRows(const Tensor& x) {
    if (x.defined()) rows_.emplace(x, 1);
  }
  const T* read(int64_t i) { return rows_ ? rows_->read(i) : nullptr; }

 private:
  std::optional<Slab<T>> rows_;
};

template <class F>
void samples(const Tensor& before, const F& f) {
  if (before.numel() == 0) return;
  parallel_for(0, before.size(0), std::max<int64_t>(1, 2048 / before.size(1)), f);
}

template <class T>
void lstm_typed(const Tensor& h, const Tensor& c, const Tensor& gates, const Tensor& before) {
  samples(before, [&](int64_t begin, int64_t end) {
    Slab<T> to_h(h, 1), to_c(c, 1), from_gates(gates, 1), from(before, 1);
    for (int64_t i = begin; i < end; i++) {
      rnn_inner<T>().lstm(to_h.to_write(i), to_c.to_write(i), from_gates.read(i), from.read(i), from.n());
      to_h.written(i);
      to_c.written(i);
    }
  });
}
void lstm(const Tensor& h, const Tensor& c, const Tensor& gates, const Tensor& before) {
  (h.dtype() == kDouble ? &lstm_typed<double> : &lstm_typed<float>)(h, c, gates, before);
}

template <class T>
void lstm_backward_typed(const Tensor& d_gates, const Tensor& d_before, const Tensor& g_h, const Tensor& g_c,
                         const Tensor& gates, const Tensor& before, const Tensor& c) {
  samples(before, [&](int64_t begin, int64_t end) {
    Slab<T> to_gates(d_gates, 1), to_before(d_before, 1), from_gates(gates, 1), from(before, 1), from_c(c, 1);
    OptionalRows<T> from_gh(g_h), from_gc(g_c);
    for (int64_t i = begin; i < end; i++) {
      rnn_inner<T>().lstm_backward(to_gates.to_write(i), to_before.to_write(i), from_gh.read(i), from_gc.read(i),
                                   from_gates.read(i), from.read(i), from_c.read(i), from.n());
      to_gates.written(i);
      to_before.written(i);
    }
  });
}
void lstm_backward(const Tensor& d_gates, const Tensor& d_before, const Tensor& g_h, const Tensor& g_c,
                   const Tensor& gates, const Tensor& before, const Tensor& c) {
  (gates.dtype() == kDouble ? &lstm_backward_typed<double> : &lstm_backward_typed<float>)(d_gates, d_before, g_h, g_c,
                                                                                          gates, before, c);
}

template <class T>
void gru_typed(const Tensor& h, const Tensor& input, const Tensor& hidden, const Tensor& before) {
  samples(before, [&](int64_t begin, int64_t end) {
    Slab<T> to(h, 1), from_input(input, 1), from_hidden(hidden, 1), from(before, 1);
    for (int64_t i = begin; i < end; i++) {
      rnn_inner<T>().gru(to.to_write(i), from_input.read(i), from_hidden.read(i), from.read(i), from.n());
      to.written(i);
    }
  });
}
void gru(const Tensor& h, const Tensor& input, const Tensor& hidden, const Tensor& before) {
  (h.dtype() == kDouble ? &gru_typed<double> : &gru_typed<float>)(h, input, hidden, before);
}

template <class T>
void gru_backward_typed(const Tensor& d_input, const Tensor& d_hidden, const Tensor& d_before, const Tensor& g,
                        const Tensor& input, const Tensor& hidden, const Tensor& before) {
  samples(before, [&](int64_t begin, int64_t end) {
    Slab<T> to_input(d_input, 1), to_hidden(d_hidden, 1), to_before(d_before, 1), from_g(g, 1), from_input(input, 1),
        from_hidden(hidden, 1), from(before, 1);
    for (int64_t i = begin; i < end; i++) {
      rnn_inner<T>().gru_backward(to_input.to_write(i), to_hidden.to_write(i), to_before.to_write(i), from_g.read(i),
                                  from_input.read(i), from_hidden.read(i), from.read(i), from.n());
      to_input.written(i);
      to_hidden.written(i);
      to_before.written(i);
    }
  });
}
void gru_backward(const Tensor& d_input, const Tensor& d_hidden, const Tensor& d_before, const Tensor& g,
                  const Tensor& input, const Tensor& hidden, const Tensor& before) {
  (input.dtype() == kDouble ? &gru_backward_typed<double> : &gru_backward_typed<float>)(d_input, d_hidden, d_before, g,
                                                                                        input, hidden, before);
}

template <class T, bool Tanh>
void gate_elements(void* out, const void* const* in, int64_t n, const void*) {
  const RnnInner<T>& inner = rnn_inner<T>();
  (Tanh ? inner.tanh : inner.sigmoid)(static_cast<T*>(out), static_cast<const T*>(in[0]), n);
}
void gate(const Tensor& y, const Tensor& x, bool tanh) {
  const DType type = compute_dtype(y.dtype());
  InnerFunction in_float = tanh ? &gate_elements<float, true> : &gate_elements<float, false>;
  InnerFunction in_double = tanh ? &gate_elements<double, true> : &gate_elements<double, false>;
  run_pointwise(y, {&x}, type, {.inner = type == kDouble ? in_double : in_float, .cost = 8});
}

[[maybe_unused]] const bool registered =
    lstm_pointwise_kernel.set(kCPU, lstm) && lstm_pointwise_backward_kernel.set(kCPU, lstm_backward) &&
    gru_pointwise_kernel.set(kCPU, gru) && gru_pointwise_backward_kernel.set(kCPU, gru_backward) &&
    gate_kernel.set(kCPU, gate);

}  // namespace
}  // namespace cresset::cpu
