// Recurrent layers over sequences: RNN, LSTM and GRU. Parameters are named as PyTorch's: weight_ih_l0, weight_hh_l0,
// bias_ih_l0, bias_hh_l0, weight_hr_l0 (projection), and the same with _reverse.
#pragma once

#include "cresset/nn/cloneable.h"
#include "cresset/nn/options/rnn.h"
#include "cresset/nn/utils/rnn.h"

namespace cresset::nn {

namespace detail {

// Parameters, checks and printing of the three. Derived is there for clone() only.
template <class Derived>
class CRESSET_API RNNImplBase : public Cloneable<Derived> {
 public:
  explicit RNNImplBase(const RNNOptionsBase& options_);
  void reset() override;
  void reset_parameters();  // evenly between ±1 / sqrt(hidden_size)
  void pretty_print(std::ostream& stream) const override;
  void flatten_parameters() {}  // kept for its name: there is nothing to flatten
  std::vector<Tensor> all_weights() const { return flat_weights_; }

  RNNOptionsBase options_base;

 protected:
  // One input of any form, brought to what the op takes.
  struct Call {
    Tensor input, batch_sizes;
    Tensor sorted_indices;
    bool batched = true;
    int64_t batch = 0;
  };
  Call call_of(const Tensor& input) const;
  Call call_of(const utils::rnn::PackedSequence& packed) const;
  // A given state in the op's form, checked; zeros where none was given.
  Tensor state_of(const Call& call, const Tensor& given, int64_t width, const char* what) const;
  Tensor output_of(const Call& call, const Tensor& output) const;
  Tensor state_result(const Call& call, const Tensor& state, const Tensor& unsorted_indices) const;
  int64_t output_width() const;  // of one direction

  std::vector<Tensor> flat_weights_;  // in the order that the ops want
};

}  // namespace detail

// Output and last hidden state: [time, batch, directions * hidden] and [layers * directions, batch, hidden]. Input with
// two dimensions is one sequence without a batch.
class CRESSET_API RNNImpl : public detail::RNNImplBase<RNNImpl> {
 public:
  CRESSET_IF_CALLED RNNImpl(int64_t input_size, int64_t hidden_size) : RNNImpl(RNNOptions(input_size, hidden_size)) {}
  explicit RNNImpl(const RNNOptions& options_);
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {});
  std::tuple<utils::rnn::PackedSequence, Tensor> forward_with_packed_input(
      const utils::rnn::PackedSequence& packed_input, Tensor hx = {});
  RNNOptions options;

 protected:
  CRESSET_FORWARD_DEFAULTS_IN_SOURCE
};
CRESSET_MODULE(RNN);

// The state is {hidden, cell}.
class CRESSET_API LSTMImpl : public detail::RNNImplBase<LSTMImpl> {
 public:
  using State = std::tuple<Tensor, Tensor>;
  CRESSET_IF_CALLED LSTMImpl(int64_t input_size, int64_t hidden_size)
      : LSTMImpl(LSTMOptions(input_size, hidden_size)) {}
  explicit LSTMImpl(const LSTMOptions& options_);
  std::tuple<Tensor, State> forward(const Tensor& input, std::optional<State> hx_opt = {});
  std::tuple<utils::rnn::PackedSequence, State> forward_with_packed_input(
      const utils::rnn::PackedSequence& packed_input, std::optional<State> hx_opt = {});
  LSTMOptions options;

 protected:
  CRESSET_FORWARD_DEFAULTS_IN_SOURCE

 private:
  std::tuple<Tensor, State> run(const Call& call, const std::optional<State>& given);
};
CRESSET_MODULE(LSTM);

class CRESSET_API GRUImpl : public detail::RNNImplBase<GRUImpl> {
 public:
  CRESSET_IF_CALLED GRUImpl(int64_t input_size, int64_t hidden_size) : GRUImpl(GRUOptions(input_size, hidden_size)) {}
  explicit GRUImpl(const GRUOptions& options_);
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {});
  std::tuple<utils::rnn::PackedSequence, Tensor> forward_with_packed_input(
      const utils::rnn::PackedSequence& packed_input, Tensor hx = {});
  GRUOptions options;

 protected:
  CRESSET_FORWARD_DEFAULTS_IN_SOURCE
};
CRESSET_MODULE(GRU);

}  // namespace cresset::nn
