// Recurrent networks: one step of each kind of cell, and whole sequences through layers of them.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

// What follows a cell's products of matrices, in one pass. gates is [batch, 4 * hidden]: input, forget, cell, output.
CRESSET_KERNEL(Kernel<void(const Tensor& h, const Tensor& c, const Tensor& gates, const Tensor& before)>,
               lstm_pointwise_kernel, "lstm_pointwise", 2);
// g_h or g_c may be undefined.
CRESSET_KERNEL(Kernel<void(const Tensor& d_gates, const Tensor& d_before, const Tensor& g_h, const Tensor& g_c,
                           const Tensor& gates, const Tensor& before, const Tensor& c)>,
               lstm_pointwise_backward_kernel, "lstm_pointwise_backward", 2);
// from_input and from_hidden are [batch, 3 * hidden]: reset, update, new.
CRESSET_KERNEL(Kernel<void(const Tensor& h, const Tensor& from_input, const Tensor& from_hidden, const Tensor& before)>,
               gru_pointwise_kernel, "gru_pointwise");
CRESSET_KERNEL(Kernel<void(const Tensor& d_input, const Tensor& d_hidden, const Tensor& d_before, const Tensor& g,
                           const Tensor& from_input, const Tensor& from_hidden, const Tensor& before)>,
               gru_pointwise_backward_kernel, "gru_pointwise_backward", 3);
// 1 / (1 + exp(-x)), or tanh(x)
CRESSET_KERNEL(Kernel<void(const Tensor& y, const Tensor& x, bool tanh)>, gate_kernel, "gate");

CRESSET_API Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                                 const Tensor& b_ih = {}, const Tensor& b_hh = {});
CRESSET_API Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                                 const Tensor& b_ih = {}, const Tensor& b_hh = {});
// hx is {h, c}; the next h and c.
CRESSET_API std::tuple<Tensor, Tensor> lstm_cell(const Tensor& input, TensorList hx, const Tensor& w_ih,
                                                 const Tensor& w_hh, const Tensor& b_ih = {}, const Tensor& b_hh = {});
CRESSET_API Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                            const Tensor& b_ih = {}, const Tensor& b_hh = {});

// Sequences [time, batch, features] (or batch first). params are w_ih, w_hh (b_ih, b_hh) (w_hr: a projection of h) of
// each layer and direction. hx is [layers * directions, batch, hidden]. Results: every step's h, then the last ones.
CRESSET_API std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& input, TensorList hx, TensorList params,
                                                    bool has_biases, int64_t num_layers, double dropout, bool train,
                                                    bool bidirectional, bool batch_first);
CRESSET_API std::tuple<Tensor, Tensor> gru(const Tensor& input, const Tensor& hx, TensorList params, bool has_biases,
                                           int64_t num_layers, double dropout, bool train, bool bidirectional,
                                           bool batch_first);
CRESSET_API std::tuple<Tensor, Tensor> rnn_tanh(const Tensor& input, const Tensor& hx, TensorList params,
                                                bool has_biases, int64_t num_layers, double dropout, bool train,
                                                bool bidirectional, bool batch_first);
CRESSET_API std::tuple<Tensor, Tensor> rnn_relu(const Tensor& input, const Tensor& hx, TensorList params,
                                                bool has_biases, int64_t num_layers, double dropout, bool train,
                                                bool bidirectional, bool batch_first);
// Packed sequences: data [sum of batch_sizes, features], of which step t has batch_sizes[t] rows, never more than the
// step before.
CRESSET_API std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& data, const Tensor& batch_sizes, TensorList hx,
                                                    TensorList params, bool has_biases, int64_t num_layers,
                                                    double dropout, bool train, bool bidirectional);
CRESSET_API std::tuple<Tensor, Tensor> gru(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx,
                                           TensorList params, bool has_biases, int64_t num_layers, double dropout,
                                           bool train, bool bidirectional);
CRESSET_API std::tuple<Tensor, Tensor> rnn_tanh(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx,
                                                TensorList params, bool has_biases, int64_t num_layers, double dropout,
                                                bool train, bool bidirectional);
CRESSET_API std::tuple<Tensor, Tensor> rnn_relu(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx,
                                                TensorList params, bool has_biases, int64_t num_layers, double dropout,
                                                bool train, bool bidirectional);

// For formulas. Differentiable.
CRESSET_API Tensor gate(const Tensor& x, bool tanh);

}  // namespace cresset
