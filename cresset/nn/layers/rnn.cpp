#include "cresset/nn/layers/rnn.h"

#include <cmath>
#include <ostream>

#include "cresset/nn/init.h"
#include "cresset/nn/layers/describe.h"
#include "cresset/ops/all.h"

namespace cresset::nn {

using utils::rnn::PackedSequence;

namespace detail {

namespace {

int64_t gates_of(const RNNMode& mode) {
  if (mode.is<enumtype::kLSTM>()) return 4;
  return mode.is<enumtype::kGRU>() ? 3 : 1;
}

void check_options(const RNNOptionsBase& o, const std::string& name) {
  CRESSET_CHECK_AS(ValueError, o.hidden_size() > 0, name, ": hidden_size must be greater than zero, found ",
                   o.hidden_size());
  CRESSET_CHECK_AS(ValueError, o.num_layers() > 0, name, ": num_layers must be greater than zero, found ",
                   o.num_layers());
  CRESSET_CHECK_AS(ValueError, o.dropout() >= 0 && o.dropout() <= 1, name, ": dropout should be a number in range ",
                   "[0, 1] representing the probability of an element being zeroed, found ", o.dropout());
  CRESSET_CHECK_AS(ValueError, o.proj_size() >= 0 && o.proj_size() < o.hidden_size(), name, ": proj_size has to be ",
                   "zero or a positive integer smaller than hidden_size, found ", o.proj_size(), " and hidden_size ",
                   o.hidden_size());
}

}  // namespace

template <class Derived>
RNNImplBase<Derived>::RNNImplBase(const RNNOptionsBase& options_) : options_base(options_) {
  std::string mode = enumtype::get_enum_name(options_.mode()).substr(1);
  check_options(options_base, mode.substr(0, mode.find('_')));
  RNNImplBase::reset();
}

template <class Derived>
void RNNImplBase<Derived>::reset() {
  const RNNOptionsBase& o = options_base;
  int64_t gates = gates_of(o.mode()) * o.hidden_size(), directions = o.bidirectional() ? 2 : 1;
  flat_weights_.clear();
  auto add = [&](const std::string& name, const std::vector<int64_t>& shape) {
    flat_weights_.push_back(this->register_parameter(name, cresset::empty(shape)));
  };
  for (int64_t layer = 0; layer < o.num_layers(); layer++)
    for (int64_t direction = 0; direction < directions; direction++) {
      int64_t inputs = layer == 0 ? o.input_size() : output_width() * directions;
      std::string suffix = "_l" + std::to_string(layer) + (direction ? "_reverse" : "");
      add("weight_ih" + suffix, {gates, inputs});
      add("weight_hh" + suffix, {gates, output_width()});
      if (o.bias()) add("bias_ih" + suffix, {gates});
      if (o.bias()) add("bias_hh" + suffix, {gates});
      if (o.proj_size() > 0) add("weight_hr" + suffix, {o.proj_size(), o.hidden_size()});
    }
  reset_parameters();
}

template <class Derived>
void RNNImplBase<Derived>::reset_parameters() {
  double bound = 1 / std::sqrt(static_cast<double>(options_base.hidden_size()));
  for (const Tensor& weight : flat_weights_) init::uniform_(weight, -bound, bound);
}

template <class Derived>
void RNNImplBase<Derived>::pretty_print(std::ostream& stream) const {
  const RNNOptionsBase& o = options_base;
  if (detail::as_libtorch()) {
    std::string text =
        message_of("input_size=", o.input_size(), ", hidden_size=", o.hidden_size(), ", num_layers=", o.num_layers(),
                   ", bias=", detail::written(o.bias()), ", batch_first=", detail::written(o.batch_first()),
                   ", dropout=", o.dropout(), ", bidirectional=", detail::written(o.bidirectional()));
    if (o.proj_size() > 0) text += message_of(", proj_size=", o.proj_size());
    detail::print_line(stream, *this, text);
    return;
  }
  stream << short_name(*this) << "(" << o.input_size() << ", " << o.hidden_size();
  if (o.proj_size() != 0) stream << ", proj_size=" << o.proj_size();
  if (o.num_layers() != 1) stream << ", num_layers=" << o.num_layers();
  if (!o.bias()) stream << ", bias=False";
  if (o.batch_first()) stream << ", batch_first=True";
  if (o.dropout() != 0) stream << ", dropout=" << o.dropout();
  if (o.bidirectional()) stream << ", bidirectional=True";
  stream << ")";
}

template <class Derived>
int64_t RNNImplBase<Derived>::output_width() const {
  return options_base.proj_size() > 0 ? options_base.proj_size() : options_base.hidden_size();
}

template <class Derived>
auto RNNImplBase<Derived>::call_of(const Tensor& input) const -> Call {
  CRESSET_CHECK_AS(ShapeError, input.dim() == 2 || input.dim() == 3, short_name(*this),
                   ": Expected input to be 2-D or 3-D but received ", input.dim(), "-D tensor");
  CRESSET_CHECK_AS(ShapeError, input.size(-1) == options_base.input_size(), short_name(*this),
                   ": input.size(-1) must be equal to input_size. Expected ", options_base.input_size(), ", got ",
                   input.size(-1));
  int64_t batch_dim = options_base.batch_first() ? 0 : 1;
  Call call;
  call.batched = input.dim() == 3;
  call.input = call.batched ? input : input.unsqueeze(batch_dim);
  call.batch = call.input.size(batch_dim);
  return call;
}

template <class Derived>
auto RNNImplBase<Derived>::call_of(const PackedSequence& packed) const -> Call {
  CRESSET_CHECK_AS(ShapeError, packed.data().dim() == 2 && packed.data().size(1) == options_base.input_size(),
                   short_name(*this), ": found packed data of shape ", text_of(packed.data().sizes()),
                   " (expected [rows, input_size], input_size ", options_base.input_size(), ")");
  Call call;
  call.input = packed.data();
  call.batch_sizes = packed.batch_sizes();
  call.sorted_indices = packed.sorted_indices();
  call.batch = packed.batch_sizes()[0].template item<int64_t>();
  return call;
}

template <class Derived>
Tensor RNNImplBase<Derived>::state_of(const Call& call, const Tensor& given, int64_t width, const char* what) const {
  int64_t layers = options_base.num_layers() * (options_base.bidirectional() ? 2 : 1);
  if (!given.defined()) return zeros({layers, call.batch, width}, call.input.options());
  CRESSET_CHECK_AS(ShapeError, given.dim() == (call.batched ? 3 : 2), short_name(*this), ": For ",
                   call.batched ? "batched 3-D input, " : "unbatched 2-D input, ", what, " should also be ",
                   call.batched ? 3 : 2, "-D but got ", given.dim(), "-D tensor");
  Tensor state = call.batched ? given : given.unsqueeze(1);
  CRESSET_CHECK_AS(ShapeError, state.size(0) == layers && state.size(1) == call.batch && state.size(2) == width,
                   short_name(*this), ": Expected ", what, " size (", layers, ", ", call.batch, ", ", width, "), got ",
                   text_of(state.sizes()));
  return call.sorted_indices.defined() ? state.index_select(1, call.sorted_indices) : state;
}

template <class Derived>
Tensor RNNImplBase<Derived>::output_of(const Call& call, const Tensor& output) const {
  return call.batched ? output : output.squeeze(options_base.batch_first() ? 0 : 1);
}

template <class Derived>
Tensor RNNImplBase<Derived>::state_result(const Call& call, const Tensor& state, const Tensor& unsorted) const {
  if (!call.batched) return state.squeeze(1);
  return unsorted.defined() ? state.index_select(1, unsorted) : state;
}

template class RNNImplBase<RNNImpl>;
template class RNNImplBase<LSTMImpl>;
template class RNNImplBase<GRUImpl>;

}  // namespace detail

namespace {

template <class Options>
detail::RNNOptionsBase base_options(detail::RNNMode mode, const Options& o) {
  return detail::RNNOptionsBase(mode, o.input_size(), o.hidden_size())
      .num_layers(o.num_layers())
      .bias(o.bias())
      .batch_first(o.batch_first())
      .dropout(o.dropout())
      .bidirectional(o.bidirectional());
}

PackedSequence like(const PackedSequence& packed, const Tensor& data) {
  return PackedSequence(data, packed.batch_sizes(), packed.sorted_indices(), packed.unsorted_indices());
}

bool is_relu(const RNNOptions& o) { return o.nonlinearity().is<enumtype::kReLU>(); }

}  // namespace

// ---- RNN
RNNImpl::RNNImpl(const RNNOptions& options_)
    : RNNImplBase(base_options(is_relu(options_) ? detail::RNNMode(kRNN_RELU) : detail::RNNMode(kRNN_TANH), options_)),
      options(options_) {}

std::tuple<Tensor, Tensor> RNNImpl::forward(const Tensor& input, Tensor hx) {
  const auto& o = options_base;
  Call call = call_of(input);
  Tensor state = state_of(call, hx, o.hidden_size(), "hidden");
  auto [output, last] = is_relu(options) ? rnn_relu(call.input, state, flat_weights_, o.bias(), o.num_layers(),
                                                    o.dropout(), is_training(), o.bidirectional(), o.batch_first())
                                         : rnn_tanh(call.input, state, flat_weights_, o.bias(), o.num_layers(),
                                                    o.dropout(), is_training(), o.bidirectional(), o.batch_first());
  return {output_of(call, output), state_result(call, last, {})};
}

std::tuple<PackedSequence, Tensor> RNNImpl::forward_with_packed_input(const PackedSequence& packed_input, Tensor hx) {
  const auto& o = options_base;
  Call call = call_of(packed_input);
  Tensor state = state_of(call, hx, o.hidden_size(), "hidden");
  auto [output, last] = is_relu(options) ? rnn_relu(call.input, call.batch_sizes, state, flat_weights_, o.bias(),
                                                    o.num_layers(), o.dropout(), is_training(), o.bidirectional())
                                         : rnn_tanh(call.input, call.batch_sizes, state, flat_weights_, o.bias(),
                                                    o.num_layers(), o.dropout(), is_training(), o.bidirectional());
  return {like(packed_input, output), state_result(call, last, packed_input.unsorted_indices())};
}

// ---- LSTM
LSTMImpl::LSTMImpl(const LSTMOptions& options_)
    : RNNImplBase(base_options(kLSTM, options_).proj_size(options_.proj_size())), options(options_) {}

std::tuple<Tensor, LSTMImpl::State> LSTMImpl::run(const Call& call, const std::optional<State>& given) {
  const auto& o = options_base;
  Tensor hidden = state_of(call, given ? std::get<0>(*given) : Tensor(), output_width(), "hidden[0]");
  Tensor cell = state_of(call, given ? std::get<1>(*given) : Tensor(), o.hidden_size(), "hidden[1]");
  std::vector<Tensor> state{hidden, cell};
  auto [output, h, c] = call.batch_sizes.defined()
                            ? lstm(call.input, call.batch_sizes, state, flat_weights_, o.bias(), o.num_layers(),
                                   o.dropout(), is_training(), o.bidirectional())
                            : lstm(call.input, state, flat_weights_, o.bias(), o.num_layers(), o.dropout(),
                                   is_training(), o.bidirectional(), o.batch_first());
  return {output, {h, c}};
}

std::tuple<Tensor, LSTMImpl::State> LSTMImpl::forward(const Tensor& input, std::optional<State> hx_opt) {
  Call call = call_of(input);
  auto [output, state] = run(call, hx_opt);
  return {output_of(call, output),
          {state_result(call, std::get<0>(state), {}), state_result(call, std::get<1>(state), {})}};
}

std::tuple<PackedSequence, LSTMImpl::State> LSTMImpl::forward_with_packed_input(const PackedSequence& packed_input,
                                                                                std::optional<State> hx_opt) {
  Call call = call_of(packed_input);
  auto [output, state] = run(call, hx_opt);
  const Tensor& unsorted = packed_input.unsorted_indices();
  return {like(packed_input, output),
          {state_result(call, std::get<0>(state), unsorted), state_result(call, std::get<1>(state), unsorted)}};
}

// ---- GRU
GRUImpl::GRUImpl(const GRUOptions& options_) : RNNImplBase(base_options(kGRU, options_)), options(options_) {}

std::tuple<Tensor, Tensor> GRUImpl::forward(const Tensor& input, Tensor hx) {
  const auto& o = options_base;
  Call call = call_of(input);
  Tensor state = state_of(call, hx, o.hidden_size(), "hidden");
  auto [output, last] = gru(call.input, state, flat_weights_, o.bias(), o.num_layers(), o.dropout(), is_training(),
                            o.bidirectional(), o.batch_first());
  return {output_of(call, output), state_result(call, last, {})};
}

std::tuple<PackedSequence, Tensor> GRUImpl::forward_with_packed_input(const PackedSequence& packed_input, Tensor hx) {
  const auto& o = options_base;
  Call call = call_of(packed_input);
  Tensor state = state_of(call, hx, o.hidden_size(), "hidden");
  auto [output, last] = gru(call.input, call.batch_sizes, state, flat_weights_, o.bias(), o.num_layers(), o.dropout(),
                            is_training(), o.bidirectional());
  return {like(packed_input, output), state_result(call, last, packed_input.unsorted_indices())};
}

CRESSET_FORWARD_DEFAULTS(RNNImpl, {1, AnyValue(Tensor())})
CRESSET_FORWARD_DEFAULTS(LSTMImpl, {1, AnyValue(std::optional<State>())})
CRESSET_FORWARD_DEFAULTS(GRUImpl, {1, AnyValue(Tensor())})

}  // namespace cresset::nn
