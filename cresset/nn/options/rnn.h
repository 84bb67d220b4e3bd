// Options of the recurrent layers and cells.
#pragma once

#include <cstdint>

#include "cresset/core/arg.h"
#include "cresset/nn/enums.h"

namespace cresset::nn {

namespace detail {
using RNNMode = enumtype::Choice<enumtype::kLSTM, enumtype::kGRU, enumtype::kRNN_TANH, enumtype::kRNN_RELU>;

// What the three kinds of layer have in common.
struct RNNOptionsBase {
  using rnn_options_base_mode_t = RNNMode;
  RNNOptionsBase(RNNMode mode, int64_t input_size, int64_t hidden_size)
      : mode_(mode), input_size_(input_size), hidden_size_(hidden_size) {}
  CRESSET_ARG(RNNMode, mode);
  CRESSET_ARG(int64_t, input_size);
  CRESSET_ARG(int64_t, hidden_size);
  CRESSET_ARG(int64_t, num_layers) = 1;
  CRESSET_ARG(bool, bias) = true;
  CRESSET_ARG(bool, batch_first) = false;
  CRESSET_ARG(double, dropout) = 0.0;
  CRESSET_ARG(bool, bidirectional) = false;
  CRESSET_ARG(int64_t, proj_size) = 0;
};

struct RNNCellOptionsBase {
  RNNCellOptionsBase(int64_t input_size, int64_t hidden_size, bool bias, int64_t num_chunks)
      : input_size_(input_size), hidden_size_(hidden_size), bias_(bias), num_chunks_(num_chunks) {}
  CRESSET_ARG(int64_t, input_size);
  CRESSET_ARG(int64_t, hidden_size);
  CRESSET_ARG(bool, bias);
  CRESSET_ARG(int64_t, num_chunks);
};
}  // namespace detail

struct RNNOptions {
  using nonlinearity_t = enumtype::Choice<enumtype::kTanh, enumtype::kReLU>;
  RNNOptions(int64_t input_size, int64_t hidden_size) : input_size_(input_size), hidden_size_(hidden_size) {}
  CRESSET_ARG(int64_t, input_size);
  CRESSET_ARG(int64_t, hidden_size);
  CRESSET_ARG(int64_t, num_layers) = 1;
  CRESSET_ARG(nonlinearity_t, nonlinearity) = kTanh;
  CRESSET_ARG(bool, bias) = true;
  CRESSET_ARG(bool, batch_first) = false;
  CRESSET_ARG(double, dropout) = 0.0;
  CRESSET_ARG(bool, bidirectional) = false;
};

struct LSTMOptions {
  LSTMOptions(int64_t input_size, int64_t hidden_size) : input_size_(input_size), hidden_size_(hidden_size) {}
  CRESSET_ARG(int64_t, input_size);
  CRESSET_ARG(int64_t, hidden_size);
  CRESSET_ARG(int64_t, num_layers) = 1;
  CRESSET_ARG(bool, bias) = true;
  CRESSET_ARG(bool, batch_first) = false;
  CRESSET_ARG(double, dropout) = 0.0;
  CRESSET_ARG(bool, bidirectional) = false;
  CRESSET_ARG(int64_t, proj_size) = 0;  // of the hidden state, when it is not hidden_size
};

struct GRUOptions {
  GRUOptions(int64_t input_size, int64_t hidden_size) : input_size_(input_size), hidden_size_(hidden_size) {}
  CRESSET_ARG(int64_t, input_size);
  CRESSET_ARG(int64_t, hidden_size);
  CRESSET_ARG(int64_t, num_layers) = 1;
  CRESSET_ARG(bool, bias) = true;
  CRESSET_ARG(bool, batch_first) = false;
  CRESSET_ARG(double, dropout) = 0.0;
  CRESSET_ARG(bool, bidirectional) = false;
};

struct RNNCellOptions {
  using nonlinearity_t = enumtype::Choice<enumtype::kTanh, enumtype::kReLU>;
  RNNCellOptions(int64_t input_size, int64_t hidden_size) : input_size_(input_size), hidden_size_(hidden_size) {}
  CRESSET_ARG(int64_t, input_size);
  CRESSET_ARG(int64_t, hidden_size);
  CRESSET_ARG(bool, bias) = true;
  CRESSET_ARG(nonlinearity_t, nonlinearity) = kTanh;
};

struct LSTMCellOptions {
  LSTMCellOptions(int64_t input_size, int64_t hidden_size) : input_size_(input_size), hidden_size_(hidden_size) {}
  CRESSET_ARG(int64_t, input_size);
  CRESSET_ARG(int64_t, hidden_size);
  CRESSET_ARG(bool, bias) = true;
};
using GRUCellOptions = LSTMCellOptions;

}  // namespace cresset::nn
