// Recurrent cells: products of matrices, then one pass over the gates. Backward computes the gates' functions again
// rather than keep their results; when a graph of it is asked for, it runs as differentiable ops.
#include "cresset/ops/rnn.h"

#include "cresset/autograd/kept_dims.h"
#include "cresset/ops/cat.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/matmul.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/random.h"
#include "cresset/ops/shape.h"

namespace cresset {

// Both are known by their results: y (1 - y), and 1 - y^2.
Tensor gate(const Tensor& x, bool tanh) {
  Tensor y = pointwise_result("gate", Into{}, {&x}, x.dtype(), x.dtype());
  gate_kernel(y, x, tanh);
  return differentiable(tanh ? "TanhBackward0" : "SigmoidBackward0", y, inputs(x), saved(output(y)),
                        [tanh](const Tensor& g, Wants, const Tensor& y) {
                          return grads(mul(g, tanh ? Scalar(1) - mul(y, y) : sub(y, mul(y, y))));
                        });
}

namespace {

Tensor like(const Tensor& x) { return empty_contiguous(x.sizes(), x.dtype(), x.device()); }

// ---- the passes over the gates
Grads lstm_gradients(OutputGrads g, const Tensor& gates, const Tensor& before, const Tensor& c) {
  if (!g[0].defined() && !g[1].defined()) return grads(Tensor(), Tensor());
  const Tensor nothing;
  const Tensor &g_h = g[0].defined() ? g[0] : nothing, &g_c = g[1].defined() ? g[1] : nothing;
  if (!any_requires_grad(inputs(g_h, g_c, gates, before))) {
    Tensor d_gates = like(gates), d_before = like(before);
    lstm_pointwise_backward_kernel(d_gates, d_before, g_h, g_c, gates, before, c);
    return grads(d_gates, d_before);
  }
  std::vector<Tensor> parts = chunk(gates, 4, 1);
  Tensor in = gate(parts[0], false), forget = gate(parts[1], false), cell = gate(parts[2], true),
         out = gate(parts[3], false);
  Tensor bent = gate(add(mul(forget, before), mul(in, cell)), true);
  auto bend = [](const Tensor& y) { return sub(y, mul(y, y)); };
  auto slope = [](const Tensor& y) { return Scalar(1) - mul(y, y); };
  Tensor to_c = g_c, to_out = mul(bent, 0);
  if (g_h.defined()) {
    Tensor through = mul(mul(g_h, out), slope(bent));
    to_c = to_c.defined() ? add(to_c, through) : through;
    to_out = mul(mul(g_h, bent), bend(out));
  }
  Tensor d_gates = cat(
      {mul(mul(to_c, cell), bend(in)), mul(mul(to_c, before), bend(forget)), mul(mul(to_c, in), slope(cell)), to_out},
      1);
  return grads(d_gates, mul(to_c, forget));
}
std::tuple<Tensor, Tensor> lstm_pointwise(const Tensor& gates, const Tensor& before) {
  Tensor h = like(before), c = like(before);
  lstm_pointwise_kernel(h, c, gates, before);
  differentiable_outputs("ThnnFusedLstmCellBackward0", Into{}, {&h, &c}, inputs(gates, before),
                         saved(gates, before, output(c)),
                         [](OutputGrads g, Wants, const Tensor& gates, const Tensor& before, const Tensor& c) {
                           return lstm_gradients(g, gates, before, c);
                         });
  return {h, c};
}

Tensor gru_pointwise(const Tensor& from_input, const Tensor& from_hidden, const Tensor& before) {
  Tensor h = pointwise_result("gru_cell", Into{}, {&before}, before.dtype(), before.dtype());
  gru_pointwise_kernel(h, from_input, from_hidden, before);
  return differentiable(
      "ThnnFusedGruCellBackward0", h, inputs(from_input, from_hidden, before), saved(from_input, from_hidden, before),
      [](const Tensor& g, Wants, const Tensor& from_input, const Tensor& from_hidden, const Tensor& before) {
        if (!any_requires_grad(inputs(g, from_input, from_hidden, before))) {
          Tensor d_input = like(from_input), d_hidden = like(from_hidden), d_before = like(before);
          gru_pointwise_backward_kernel(d_input, d_hidden, d_before, g, from_input, from_hidden, before);
          return grads(d_input, d_hidden, d_before);
        }
        std::vector<Tensor> in = chunk(from_input, 3, 1), hidden = chunk(from_hidden, 3, 1);
        Tensor reset = gate(add(in[0], hidden[0]), false), update = gate(add(in[1], hidden[1]), false);
        Tensor fresh = gate(add(in[2], mul(reset, hidden[2])), true);
        auto bend = [](const Tensor& y) { return sub(y, mul(y, y)); };
        Tensor to_fresh = mul(mul(g, Scalar(1) - update), Scalar(1) - mul(fresh, fresh));
        Tensor to_update = mul(mul(g, sub(before, fresh)), bend(update));
        Tensor to_reset = mul(mul(to_fresh, hidden[2]), bend(reset));
        return grads(cat({to_reset, to_update, to_fresh}, 1), cat({to_reset, to_update, mul(to_fresh, reset)}, 1),
                     mul(g, update));
      });
}

// ---- cells
enum class Kind : uint8_t { lstm, gru, tanh, relu };
int64_t gates_of(Kind kind) { return kind == Kind::lstm ? 4 : kind == Kind::gru ? 3 : 1; }

struct Weights {
  Tensor w_ih, w_hh, b_ih, b_hh, w_hr;
};
struct State {
  Tensor h, c;
};

// What the input gives to all gates, with the biases that may be added at once.
Tensor from_input(Kind kind, const Tensor& input, const Weights& w) {
  if (kind == Kind::gru || !w.b_ih.defined()) return linear(input, w.w_ih, w.b_ih);
  return linear(input, w.w_ih, w.b_hh.defined() ? add(w.b_ih, w.b_hh) : w.b_ih);
}
// One step from what the input gives, [batch, gates * hidden].
State step(Kind kind, const Tensor& gates_in, const State& before, const Weights& w) {
  if (kind == Kind::gru) return {gru_pointwise(gates_in, linear(before.h, w.w_hh, w.b_hh), before.h), {}};
  Tensor gates = addmm(gates_in, before.h, t(w.w_hh));
  if (kind == Kind::tanh) return {gate(gates, true), {}};
  if (kind == Kind::relu) return {relu(gates), {}};
  auto [h, c] = lstm_pointwise(gates, before.c);
  return {w.w_hr.defined() ? linear(h, w.w_hr) : h, c};
}

void check_cell(const char* op, Kind kind, const Tensor& input, const Tensor& hx, const Weights& w) {
  CRESSET_CHECK_AS(TypeError, input.is_floating_point(), op, ": not implemented for '", toString(input.dtype()),
                   "' (expected a floating point input)");
  CRESSET_CHECK_AS(ShapeError, input.dim() == 2 && hx.dim() == 2 && w.w_ih.dim() == 2 && w.w_hh.dim() == 2, op,
                   ": Expected 2D input, hidden and weights, found shapes ", text_of(input.sizes()), ", ",
                   text_of(hx.sizes()), ", ", text_of(w.w_ih.sizes()), " and ", text_of(w.w_hh.sizes()));
  CRESSET_CHECK_AS(ShapeError, input.size(1) == w.w_ih.size(1), op, ": input has inconsistent input_size: got ",
                   input.size(1), " expected ", w.w_ih.size(1));
  CRESSET_CHECK_AS(ShapeError, input.size(0) == hx.size(0), op, ": Input batch size ", input.size(0),
                   " doesn't match hidden batch size ", hx.size(0));
  CRESSET_CHECK_AS(ShapeError, hx.size(1) == w.w_hh.size(1), op, ": hidden has inconsistent hidden_size: got ",
                   hx.size(1), ", expected ", w.w_hh.size(1));
  CRESSET_CHECK_AS(ShapeError, w.w_ih.size(0) == gates_of(kind) * hx.size(1) && w.w_hh.size(0) == w.w_ih.size(0), op,
                   ": weights must have ", gates_of(kind), " * hidden_size rows, found shapes ",
                   text_of(w.w_ih.sizes()), " and ", text_of(w.w_hh.sizes()));
  check_dtype(op, "hx", hx, input.dtype());
  check_dtype(op, "w_ih", w.w_ih, input.dtype());
  check_dtype(op, "w_hh", w.w_hh, input.dtype());
}
State cell(const char* op, Kind kind, const Tensor& input, const State& before, const Weights& given) {
  check_defined(op, "w_ih", given.w_ih);
  check_defined(op, "w_hh", given.w_hh);
  check_defined(op, "hx", before.h);
  check_cell(op, kind, input, before.h, given);
  Weights w = given;
  if (kind != Kind::gru && !w.b_ih.defined()) std::swap(w.b_ih, w.b_hh);
  return step(kind, from_input(kind, input, w), before, w);
}

}  // namespace

#define CRESSET_CELL(name, kind, doc)                                                                            \
  CRESSET_OP(name, , Tensor,                                                                                     \
             (const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih, \
              const Tensor& b_hh),                                                                               \
             "input, hx, w_ih, w_hh, b_ih={}, b_hh={}", Gradient::composed, doc)                                 \
  Tensor name(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih, \
              const Tensor& b_hh) try {                                                                          \
    CRESSET_INTERCEPT(name, , Tensor, input, hx, w_ih, w_hh, b_ih, b_hh);                                        \
    return cell(#name, kind, input, {hx, {}}, {w_ih, w_hh, b_ih, b_hh, {}}).h;                                   \
  }                                                                                                              \
  CRESSET_ERRORS_OF(name, , input, hx, w_ih, w_hh, b_ih, b_hh)

CRESSET_CELL(rnn_tanh_cell, Kind::tanh, "tanh(w_ih @ input + b_ih + w_hh @ hx + b_hh).")
CRESSET_CELL(rnn_relu_cell, Kind::relu, "relu(w_ih @ input + b_ih + w_hh @ hx + b_hh).")
CRESSET_CELL(gru_cell, Kind::gru, "One step of a gated recurrent unit.")

CRESSET_OP(lstm_cell, , detail::TwoTensors,
           (const Tensor& input, TensorList hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih,
            const Tensor& b_hh),
           "input, hx, w_ih, w_hh, b_ih={}, b_hh={}", Gradient::composed,
           "One step of a long short-term memory: the next h and c.")
std::tuple<Tensor, Tensor> lstm_cell(const Tensor& input, TensorList hx, const Tensor& w_ih, const Tensor& w_hh,
                                     const Tensor& b_ih, const Tensor& b_hh) try {
  CRESSET_INTERCEPT(lstm_cell, , detail::TwoTensors, input, hx, w_ih, w_hh, b_ih, b_hh);
  CRESSET_CHECK_AS(ValueError, hx.size() == 2, "lstm_cell: lstm_cell expects two hidden states, found ", hx.size());
  check_defined("lstm_cell", "hx", hx[1]);
  CRESSET_CHECK_AS(ShapeError, hx[0].sizes() == hx[1].sizes(), "lstm_cell: h and c must have the same shape, found ",
                   text_of(hx[0].sizes()), " and ", text_of(hx[1].sizes()));
  check_dtype("lstm_cell", "hx", hx[1], input.dtype());
  check_same_device("lstm_cell", input, hx[1]);
  State next = cell("lstm_cell", Kind::lstm, input, {hx[0], hx[1]}, {w_ih, w_hh, b_ih, b_hh, {}});
  return {next.h, next.c};
}
CRESSET_ERRORS_OF(lstm_cell, , input, hx, w_ih, w_hh, b_ih, b_hh)

// ---- sequences
namespace {

struct Network {
  const char* op;
  Kind kind;
  bool has_biases;
  int64_t layers;
  double dropout;
  bool train, bidirectional;
  int64_t directions() const { return bidirectional ? 2 : 1; }
};

// The steps of a sequence: each has its rows; packed ones get fewer.
struct Steps {
  std::vector<int64_t> batch;  // empty: all steps have the same
};

std::vector<Weights> weights_of(const Network& net, TensorList params, bool projected) {
  const size_t each = (net.has_biases ? 4U : 2U) + (projected ? 1U : 0U);
  const size_t wanted = static_cast<size_t>(net.layers * net.directions()) * each;
  CRESSET_CHECK_AS(ValueError, params.size() == wanted, net.op, ": Expected ", wanted, " parameters (", each,
                   " for each of ", net.layers, " layers and ", net.directions(), " directions), found ",
                   params.size());
  std::vector<Weights> all;
  for (size_t i = 0; i < wanted; i += each) {
    Weights w{params[i], params[i + 1], {}, {}, {}};
    if (net.has_biases) {
      w.b_ih = params[i + 2];
      w.b_hh = params[i + 3];
    }
    if (projected) w.w_hr = params[i + each - 1];
    all.push_back(w);
  }
  return all;
}

// The steps of x [time, ..], whose gradients are put together at once: views would each send one of x's full size.
std::vector<Tensor> steps_of(const Tensor& x) {
  const int64_t time = x.size(0);
  std::vector<Tensor> steps;
  for (int64_t i = 0; i < time; i++)
    steps.push_back(alias(x, x.sizes().slice(1), x.strides().slice(1), x.storage_offset() + i * x.stride(0)));
  if (!any_requires_grad(inputs(x))) return steps;
  auto together = [sizes = KeptDims(x.sizes().slice(1)), dtype = x.dtype(), device = x.device()](OutputGrads g, Wants) {
    std::vector<Tensor> parts;
    for (size_t i = 0; i < g.size(); i++)
      parts.push_back(g[i].defined() ? g[i] : zeros(sizes, TensorOptions(dtype).device(device)));
    return grads(stack(parts, 0));
  };
  using Node = autograd::FormulaNode<decltype(together), autograd::InputRefs<1>, 0>;
  auto node =
      autograd::make_node<Node>("UnbindBackward0", Into{}, static_cast<uint32_t>(time), inputs(x), saved(), together);
  for (int64_t i = 0; i < time; i++)
    autograd::set_history(Into{}, steps[static_cast<size_t>(i)], node, static_cast<uint32_t>(i));
  return steps;
}

// One direction of one layer over steps [time, batch, features].
Tensor run_direction(const Network& net, const Tensor& input, State& state, const Weights& w, bool backwards) {
  std::vector<Tensor> gates = steps_of(from_input(net.kind, input, w)), outputs(gates.size());
  for (size_t i = 0; i < gates.size(); i++) {
    const size_t at = backwards ? gates.size() - 1 - i : i;
    state = step(net.kind, gates[at], state, w);
    outputs[at] = state.h;
  }
  return stack(outputs, 0);
}

State rows(const State& state, int64_t from, int64_t to) {
  return {narrow(state.h, 0, from, to - from), state.c.defined() ? narrow(state.c, 0, from, to - from) : Tensor()};
}
State joined(const State& a, const State& b) {
  return {cat({a.h, b.h}, 0), a.c.defined() ? cat({a.c, b.c}, 0) : Tensor()};
}
// The same for packed steps: sequences that end drop out from below; backwards, they come in.
Tensor run_packed(const Network& net, const Tensor& input, const Steps& steps, State& state, const Weights& w,
                  bool backwards) {
  std::vector<Tensor> gates = split(from_input(net.kind, input, w), IntArrayRef(steps.batch), 0), outputs(gates.size());
  const int64_t most = steps.batch.front();
  if (backwards) {
    const State initial = state;
    State now = rows(initial, 0, steps.batch.back());
    for (size_t at = gates.size(); at-- > 0;) {
      if (now.h.size(0) < steps.batch[at]) now = joined(now, rows(initial, now.h.size(0), steps.batch[at]));
      now = step(net.kind, gates[at], now, w);
      outputs[at] = now.h;
    }
    state = now;
    return cat(outputs, 0);
  }
  std::vector<State> ended;  // the shortest first
  State now = rows(state, 0, most);
  for (size_t at = 0; at < gates.size(); at++) {
    const int64_t live = steps.batch[at];
    if (live < now.h.size(0)) {
      ended.push_back(rows(now, live, now.h.size(0)));
      now = rows(now, 0, live);
    }
    now = step(net.kind, gates[at], now, w);
    outputs[at] = now.h;
  }
  for (size_t i = ended.size(); i-- > 0;) now = joined(now, ended[i]);
  state = now;
  return cat(outputs, 0);
}

// The kernels that pass over the gates trust their sizes and types.
void check_weights(const Network& net, const Tensor& x, const State& state, const Weights& w, size_t at) {
  const int64_t out = state.h.size(-1), hidden = state.c.defined() ? state.c.size(-1) : out;
  const int64_t rows = gates_of(net.kind) * hidden;
  auto check = [&](const char* name, const Tensor& weight, IntArrayRef wanted) {
    check_defined(net.op, name, weight);
    CRESSET_CHECK_AS(ShapeError, weight.sizes() == wanted, net.op, ": found ", name, " of shape ",
                     text_of(weight.sizes()), " for layer and direction ", at, " (expected ", text_of(wanted), ")");
    check_dtype(net.op, name, weight, x.dtype());
    check_same_device(net.op, x, weight);
  };
  check("weight_ih", w.w_ih, {rows, x.size(-1)});
  check("weight_hh", w.w_hh, {rows, out});
  if (net.has_biases) {
    check("bias_ih", w.b_ih, {rows});
    check("bias_hh", w.b_hh, {rows});
  }
  if (w.w_hr.defined()) check("weight_hr", w.w_hr, {out, hidden});
}

struct Result {
  Tensor output, h, c;
};
Result run(const Network& net, Tensor x, const Steps& steps, const Tensor& h0, const Tensor& c0, TensorList params) {
  CRESSET_CHECK_AS(TypeError, x.is_floating_point(), net.op, ": not implemented for '", toString(x.dtype()),
                   "' (expected a floating point input)");
  const bool packed = !steps.batch.empty();
  const int64_t batch = packed ? steps.batch.front() : x.size(1), states = net.layers * net.directions();
  for (const Tensor* state : {&h0, &c0}) {
    if (!state->defined()) continue;
    CRESSET_CHECK_AS(ShapeError, state->dim() == 3 && state->size(0) == states && state->size(1) == batch, net.op,
                     ": Expected hidden size (", states, ", ", batch, ", hidden_size), got ", text_of(state->sizes()));
    check_dtype(net.op, "hx", *state, x.dtype());
    check_same_device(net.op, x, *state);
  }
  const bool projected = c0.defined() && c0.size(2) != h0.size(2);
  std::vector<Weights> weights = weights_of(net, params, projected);
  std::vector<Tensor> h = unbind(h0, 0), c = c0.defined() ? unbind(c0, 0) : std::vector<Tensor>();
  for (int64_t layer = 0; layer < net.layers; layer++) {
    std::vector<Tensor> outputs;
    for (int64_t direction = 0; direction < net.directions(); direction++) {
      const size_t at = static_cast<size_t>(layer * net.directions() + direction);
      State state{h[at], c.empty() ? Tensor() : c[at]};
      check_weights(net, x, state, weights[at], at);
      outputs.push_back(packed ? run_packed(net, x, steps, state, weights[at], direction == 1)
                               : run_direction(net, x, state, weights[at], direction == 1));
      h[at] = state.h;
      if (!c.empty()) c[at] = state.c;
    }
    x = outputs.size() == 1 ? outputs[0] : cat(outputs, -1);
    if (net.train && net.dropout > 0 && layer + 1 < net.layers) x = dropout(x, net.dropout, true);
  }
  return {x, stack(h, 0), c.empty() ? Tensor() : stack(c, 0)};
}
Result run_sequence(const Network& net, const Tensor& input, const Tensor& h0, const Tensor& c0, TensorList params,
                    bool batch_first) {
  CRESSET_CHECK_AS(ShapeError, input.dim() == 3, net.op, ": Expected a 3D input [time, batch, features], found shape ",
                   text_of(input.sizes()));
  const Tensor x = batch_first ? transpose(input, 0, 1) : input;
  CRESSET_CHECK_AS(ShapeError, x.size(0) > 0, net.op, ": Expected sequence length to be larger than 0 in RNN");
  Result result = run(net, x, {}, h0, c0, params);
  if (batch_first) result.output = transpose(result.output, 0, 1);
  return result;
}
Result run_packed_sequence(const Network& net, const Tensor& data, const Tensor& batch_sizes, const Tensor& h0,
                           const Tensor& c0, TensorList params) {
  CRESSET_CHECK_AS(ShapeError, data.dim() == 2, net.op, ": Expected 2D data [rows, features], found shape ",
                   text_of(data.sizes()));
  CRESSET_CHECK_AS(TypeError, batch_sizes.dim() == 1 && batch_sizes.numel() > 0 && batch_sizes.dtype() == kLong, net.op,
                   ": batch_sizes must be a vector of int64, found ", name_of(batch_sizes.dtype()), " of shape ",
                   text_of(batch_sizes.sizes()));
  Steps steps;
  int64_t total = 0;
  for (int64_t i = 0; i < batch_sizes.numel(); i++) {
    const int64_t now = select(batch_sizes, 0, i).item<int64_t>();
    CRESSET_CHECK_AS(ValueError, now > 0 && (i == 0 || now <= steps.batch.back()), net.op,
                     ": batch_sizes must be positive and never grow, found ", now, " at ", i);
    steps.batch.push_back(now);
    total += steps.batch.back();
  }
  CRESSET_CHECK_AS(ShapeError, total == data.size(0), net.op, ": batch_sizes add up to ", total, ", but data has ",
                   data.size(0), " rows");
  return run(net, data, steps, h0, c0, params);
}
void check_states(TensorList hx) {
  CRESSET_CHECK_AS(ValueError, hx.size() == 2, "lstm: lstm expects two hidden states, found ", hx.size());
  check_defined("lstm", "hx", hx[0]);
  check_defined("lstm", "hx", hx[1]);
}

}  // namespace

#define CRESSET_SEQUENCE_ARGUMENTS input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first
#define CRESSET_PACKED_ARGUMENTS data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional
#define CRESSET_SEQUENCE_TEXT "input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first"
#define CRESSET_PACKED_TEXT "data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional"

CRESSET_OP(lstm, input, detail::ThreeTensors,
           (const Tensor& input, TensorList hx, TensorList params, bool has_biases, int64_t num_layers, double dropout,
            bool train, bool bidirectional, bool batch_first),
           CRESSET_SEQUENCE_TEXT, Gradient::composed, "Sequences through layers of long short-term memories.")
std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& input, TensorList hx, TensorList params, bool has_biases,
                                        int64_t num_layers, double dropout, bool train, bool bidirectional,
                                        bool batch_first) try {
  CRESSET_INTERCEPT(lstm, input, detail::ThreeTensors, CRESSET_SEQUENCE_ARGUMENTS);
  check_states(hx);
  Result r = run_sequence({"lstm", Kind::lstm, has_biases, num_layers, dropout, train, bidirectional}, input, hx[0],
                          hx[1], params, batch_first);
  return {r.output, r.h, r.c};
}
CRESSET_ERRORS_OF(lstm, input, CRESSET_SEQUENCE_ARGUMENTS)

CRESSET_OP(lstm, data, detail::ThreeTensors,
           (const Tensor& data, const Tensor& batch_sizes, TensorList hx, TensorList params, bool has_biases,
            int64_t num_layers, double dropout, bool train, bool bidirectional),
           CRESSET_PACKED_TEXT, Gradient::composed, "Packed sequences through layers of long short-term memories.")
std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& data, const Tensor& batch_sizes, TensorList hx, TensorList params,
                                        bool has_biases, int64_t num_layers, double dropout, bool train,
                                        bool bidirectional) try {
  CRESSET_INTERCEPT(lstm, data, detail::ThreeTensors, CRESSET_PACKED_ARGUMENTS);
  check_states(hx);
  Result r = run_packed_sequence({"lstm", Kind::lstm, has_biases, num_layers, dropout, train, bidirectional}, data,
                                 batch_sizes, hx[0], hx[1], params);
  return {r.output, r.h, r.c};
}
CRESSET_ERRORS_OF(lstm, data, CRESSET_PACKED_ARGUMENTS)

#define CRESSET_SEQUENCE(name, kind, what)                                                                            \
  CRESSET_OP(name, input, detail::TwoTensors,                                                                         \
             (const Tensor& input, const Tensor& hx, TensorList params, bool has_biases, int64_t num_layers,          \
              double dropout, bool train, bool bidirectional, bool batch_first),                                      \
             CRESSET_SEQUENCE_TEXT, Gradient::composed, "Sequences through layers of " what ".")                      \
  std::tuple<Tensor, Tensor> name(const Tensor& input, const Tensor& hx, TensorList params, bool has_biases,          \
                                  int64_t num_layers, double dropout, bool train, bool bidirectional,                 \
                                  bool batch_first) try {                                                             \
    CRESSET_INTERCEPT(name, input, detail::TwoTensors, CRESSET_SEQUENCE_ARGUMENTS);                                   \
    Result r = run_sequence({#name, kind, has_biases, num_layers, dropout, train, bidirectional}, input, hx, {},      \
                            params, batch_first);                                                                     \
    return {r.output, r.h};                                                                                           \
  }                                                                                                                   \
  CRESSET_ERRORS_OF(name, input, CRESSET_SEQUENCE_ARGUMENTS)                                                          \
  CRESSET_OP(name, data, detail::TwoTensors,                                                                          \
             (const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, TensorList params, bool has_biases,    \
              int64_t num_layers, double dropout, bool train, bool bidirectional),                                    \
             CRESSET_PACKED_TEXT, Gradient::composed, "Packed sequences through layers of " what ".")                 \
  std::tuple<Tensor, Tensor> name(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, TensorList params, \
                                  bool has_biases, int64_t num_layers, double dropout, bool train,                    \
                                  bool bidirectional) try {                                                           \
    CRESSET_INTERCEPT(name, data, detail::TwoTensors, CRESSET_PACKED_ARGUMENTS);                                      \
    Result r = run_packed_sequence({#name, kind, has_biases, num_layers, dropout, train, bidirectional}, data,        \
                                   batch_sizes, hx, {}, params);                                                      \
    return {r.output, r.h};                                                                                           \
  }                                                                                                                   \
  CRESSET_ERRORS_OF(name, data, CRESSET_PACKED_ARGUMENTS)

CRESSET_SEQUENCE(gru, Kind::gru, "gated recurrent units")
CRESSET_SEQUENCE(rnn_tanh, Kind::tanh, "cells with tanh")
CRESSET_SEQUENCE(rnn_relu, Kind::relu, "cells with relu")

}  // namespace cresset
