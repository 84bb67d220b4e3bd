#include "cresset/nn/layers/rnn_cell.h"

#include <cmath>
#include <ostream>

#include "cresset/nn/init.h"
#include "cresset/nn/layers/describe.h"
#include "cresset/ops/all.h"

namespace cresset::nn {

namespace detail {

template <class Derived>
RNNCellImplBase<Derived>::RNNCellImplBase(const RNNCellOptionsBase& options_) : options_base(options_) {
  RNNCellImplBase::reset();
}

template <class Derived>
void RNNCellImplBase<Derived>::reset() {
  const RNNCellOptionsBase& o = options_base;
  int64_t gates = o.num_chunks() * o.hidden_size();
  weight_ih = this->register_parameter("weight_ih", empty({gates, o.input_size()}));
  weight_hh = this->register_parameter("weight_hh", empty({gates, o.hidden_size()}));
  bias_ih = this->register_parameter("bias_ih", o.bias() ? empty({gates}) : Tensor(), o.bias());
  bias_hh = this->register_parameter("bias_hh", o.bias() ? empty({gates}) : Tensor(), o.bias());
  reset_parameters();
}

template <class Derived>
void RNNCellImplBase<Derived>::reset_parameters() {
  double bound = 1 / std::sqrt(static_cast<double>(options_base.hidden_size()));
  for (const Tensor& weight : this->parameters(/*recurse=*/false)) init::uniform_(weight, -bound, bound);
}

template <class Derived>
std::string RNNCellImplBase<Derived>::get_nonlinearity_str() const {
  return "tanh";
}

template <class Derived>
void RNNCellImplBase<Derived>::pretty_print(std::ostream& stream) const {
  const std::string nonlinearity = get_nonlinearity_str();
  stream << detail::printed_name(*this) << "(" << options_base.input_size() << ", " << options_base.hidden_size();
  if (!options_base.bias()) stream << ", bias=" << detail::written(false);
  if (nonlinearity != "tanh") stream << ", nonlinearity=" << detail::either(nonlinearity, "kReLU");
  stream << ")";
}

template <class Derived>
Tensor RNNCellImplBase<Derived>::input_of(const Tensor& input) const {
  CRESSET_CHECK_AS(ShapeError, input.dim() == 1 || input.dim() == 2, short_name(*this),
                   ": Expected input to be 1-D or 2-D but received ", input.dim(), "-D tensor");
  CRESSET_CHECK_AS(ShapeError, input.size(-1) == options_base.input_size(), short_name(*this),
                   ": input has inconsistent input_size: got ", input.size(-1), ", expected ",
                   options_base.input_size());
  return input.dim() == 1 ? input.unsqueeze(0) : input;
}

template <class Derived>
Tensor RNNCellImplBase<Derived>::state_of(const Tensor& input, const Tensor& given, const char* what) const {
  int64_t batch = input.dim() == 1 ? 1 : input.size(0);
  if (!given.defined()) return zeros({batch, options_base.hidden_size()}, input.options());
  CRESSET_CHECK_AS(ShapeError, given.dim() == input.dim(), short_name(*this), ": Expected ", what, " to be ",
                   input.dim(), "-D as the input, but received ", given.dim(), "-D tensor");
  Tensor state = given.dim() == 1 ? given.unsqueeze(0) : given;
  CRESSET_CHECK_AS(ShapeError, state.size(0) == batch, short_name(*this), ": Input batch size ", batch,
                   " doesn't match ", what, " batch size ", state.size(0));
  CRESSET_CHECK_AS(ShapeError, state.size(1) == options_base.hidden_size(), short_name(*this), ": ", what,
                   " has inconsistent hidden_size: got ", state.size(1), ", expected ", options_base.hidden_size());
  return state;
}

template class RNNCellImplBase<RNNCellImpl>;
template class RNNCellImplBase<LSTMCellImpl>;
template class RNNCellImplBase<GRUCellImpl>;

}  // namespace detail

RNNCellImpl::RNNCellImpl(const RNNCellOptions& options_)
    : RNNCellImplBase({options_.input_size(), options_.hidden_size(), options_.bias(), 1}), options(options_) {}

std::string RNNCellImpl::get_nonlinearity_str() const {
  return options.nonlinearity().is<enumtype::kReLU>() ? "relu" : "tanh";
}

Tensor RNNCellImpl::forward(const Tensor& input, Tensor hx) {
  Tensor x = input_of(input), h = state_of(input, hx, "hidden");
  return result_of(input, options.nonlinearity().is<enumtype::kReLU>()
                              ? rnn_relu_cell(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
                              : rnn_tanh_cell(x, h, weight_ih, weight_hh, bias_ih, bias_hh));
}

LSTMCellImpl::LSTMCellImpl(const LSTMCellOptions& options_)
    : RNNCellImplBase({options_.input_size(), options_.hidden_size(), options_.bias(), 4}), options(options_) {}

LSTMCellImpl::State LSTMCellImpl::forward(const Tensor& input, std::optional<State> hx_opt) {
  Tensor x = input_of(input);
  std::vector<Tensor> state{state_of(input, hx_opt ? std::get<0>(*hx_opt) : Tensor(), "hx[0]"),
                            state_of(input, hx_opt ? std::get<1>(*hx_opt) : Tensor(), "hx[1]")};
  auto [h, c] = lstm_cell(x, state, weight_ih, weight_hh, bias_ih, bias_hh);
  return {result_of(input, h), result_of(input, c)};
}

GRUCellImpl::GRUCellImpl(const GRUCellOptions& options_)
    : RNNCellImplBase({options_.input_size(), options_.hidden_size(), options_.bias(), 3}), options(options_) {}

Tensor GRUCellImpl::forward(const Tensor& input, Tensor hx) {
  Tensor x = input_of(input), h = state_of(input, hx, "hidden");
  return result_of(input, gru_cell(x, h, weight_ih, weight_hh, bias_ih, bias_hh));
}

CRESSET_FORWARD_DEFAULTS(RNNCellImpl, {1, AnyValue(Tensor())})
CRESSET_FORWARD_DEFAULTS(LSTMCellImpl, {1, AnyValue(std::optional<State>())})
CRESSET_FORWARD_DEFAULTS(GRUCellImpl, {1, AnyValue(Tensor())})

}  // namespace cresset::nn
