// One step of a recurrent network: RNNCell, LSTMCell and GRUCell. Input is [batch, input_size], or one vector.
#pragma once

#include "cresset/nn/cloneable.h"
#include "cresset/nn/options/rnn.h"

namespace cresset::nn {

namespace detail {

template <class Derived>
class CRESSET_API RNNCellImplBase : public Cloneable<Derived> {
 public:
  explicit RNNCellImplBase(const RNNCellOptionsBase& options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;

  RNNCellOptionsBase options_base;
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;

 protected:
  Tensor input_of(const Tensor& input) const;  // checked, [batch, input_size]
  Tensor state_of(const Tensor& input, const Tensor& given, const char* what) const;
  static Tensor result_of(const Tensor& input, const Tensor& next) { return input.dim() == 1 ? next.squeeze(0) : next; }
  virtual std::string get_nonlinearity_str() const;
};

}  // namespace detail

class CRESSET_API RNNCellImpl : public detail::RNNCellImplBase<RNNCellImpl> {
 public:
  CRESSET_IF_CALLED RNNCellImpl(int64_t input_size, int64_t hidden_size)
      : RNNCellImpl(RNNCellOptions(input_size, hidden_size)) {}
  explicit RNNCellImpl(const RNNCellOptions& options_);
  Tensor forward(const Tensor& input, Tensor hx = {});
  RNNCellOptions options;

 protected:
  CRESSET_FORWARD_DEFAULTS_IN_SOURCE
  std::string get_nonlinearity_str() const override;
};
CRESSET_MODULE(RNNCell);

class CRESSET_API LSTMCellImpl : public detail::RNNCellImplBase<LSTMCellImpl> {
 public:
  using State = std::tuple<Tensor, Tensor>;
  CRESSET_IF_CALLED LSTMCellImpl(int64_t input_size, int64_t hidden_size)
      : LSTMCellImpl(LSTMCellOptions(input_size, hidden_size)) {}
  explicit LSTMCellImpl(const LSTMCellOptions& options_);
  State forward(const Tensor& input, std::optional<State> hx_opt = {});
  LSTMCellOptions options;

 protected:
  CRESSET_FORWARD_DEFAULTS_IN_SOURCE
};
CRESSET_MODULE(LSTMCell);

class CRESSET_API GRUCellImpl : public detail::RNNCellImplBase<GRUCellImpl> {
 public:
  CRESSET_IF_CALLED GRUCellImpl(int64_t input_size, int64_t hidden_size)
      : GRUCellImpl(GRUCellOptions(input_size, hidden_size)) {}
  explicit GRUCellImpl(const GRUCellOptions& options_);
  Tensor forward(const Tensor& input, Tensor hx = {});
  GRUCellOptions options;

 protected:
  CRESSET_FORWARD_DEFAULTS_IN_SOURCE
};
CRESSET_MODULE(GRUCell);

}  // namespace cresset::nn
