// Cases of ops/rnn.
#include <cmath>

#include "tests/ops/cases/cases.h"

namespace cresset::test {
namespace {

using Row = std::vector<double>;
using Matrix = std::vector<Row>;
enum class Kind { lstm, gru, tanh, relu };

int64_t gates_of(Kind kind) { return kind == Kind::lstm ? 4 : kind == Kind::gru ? 3 : 1; }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

Matrix matrix_of(const Array& x) {
  Matrix m(static_cast<size_t>(x.sizes[0]), Row(static_cast<size_t>(x.sizes[1])));
  for (size_t i = 0; i < m.size(); i++)
    for (size_t j = 0; j < m[i].size(); j++) m[i][j] = x.values[i * m[i].size() + j].real();
  return m;
}
Array array_of(const Matrix& m) {
  Array x = Array::filled({static_cast<int64_t>(m.size()), static_cast<int64_t>(m.empty() ? 0 : m[0].size())});
  for (size_t i = 0; i < m.size(); i++)
    for (size_t j = 0; j < m[i].size(); j++) x.values[i * m[i].size() + j] = m[i][j];
  return x;
}

struct Weights {
  Matrix w_ih, w_hh;
  Row b_ih, b_hh;
  Matrix w_hr = {};
};
Row times(const Matrix& w, const Row& x, const Row& b) {
  Row y;
  for (size_t i = 0; i < w.size(); i++) {
    double sum = b.empty() ? 0 : b[i];
    for (size_t j = 0; j < x.size(); j++) sum += w[i][j] * x[j];
    y.push_back(sum);
  }
  return y;
}
// One sample's step: changes h and c.
void step(Kind kind, const Weights& w, const Row& x, Row& h, Row& c) {
  Row in = times(w.w_ih, x, w.b_ih), hidden = times(w.w_hh, h, w.b_hh), next;
  size_t n = in.size() / static_cast<size_t>(gates_of(kind));
  auto both = [&](size_t gate, size_t i) { return in[gate * n + i] + hidden[gate * n + i]; };
  for (size_t i = 0; i < n; i++) {
    if (kind == Kind::lstm) {
      c[i] = sigmoid(both(1, i)) * c[i] + sigmoid(both(0, i)) * std::tanh(both(2, i));
      next.push_back(sigmoid(both(3, i)) * std::tanh(c[i]));
    } else if (kind == Kind::gru) {
      double fresh = std::tanh(in[2 * n + i] + sigmoid(both(0, i)) * hidden[2 * n + i]), z = sigmoid(both(1, i));
      next.push_back((1 - z) * fresh + z * h[i]);
    } else {
      next.push_back(kind == Kind::tanh ? std::tanh(both(0, i)) : std::max(0.0, both(0, i)));
    }
  }
  h = w.w_hr.empty() ? next : times(w.w_hr, next, {});
}

Row row_of(const Array& x) {
  Row row;
  for (Complex value : x.values) row.push_back(value.real());
  return row;
}
std::vector<Array> cell_of(const Arguments& in, Kind kind) {
  Matrix x = matrix_of(in.array(0)), h, c;
  if (kind == Kind::lstm) {
    std::vector<Array> states = in.arrays(1);
    h = matrix_of(states[0]);
    c = matrix_of(states[1]);
  } else {
    h = c = matrix_of(in.array(1));
  }
  Weights w{matrix_of(in.array(2)), matrix_of(in.array(3)), {}, {}};
  if (has(in, 4)) w.b_ih = row_of(in.array(4));
  if (has(in, 5)) w.b_hh = row_of(in.array(5));
  for (size_t i = 0; i < x.size(); i++) step(kind, w, x[i], h[i], c[i]);
  std::vector<Array> results{array_of(h)};
  if (kind == Kind::lstm) results.push_back(array_of(c));
  return results;
}

Values cell_arguments(Make& m, Kind kind, int64_t batch, int64_t features, int64_t hidden, bool biases) {
  Values values{m.tensor({batch, features})};
  if (kind == Kind::lstm)
    values.push_back(std::vector<Tensor>{m.tensor({batch, hidden}), m.tensor({batch, hidden})});
  else
    values.push_back(m.tensor({batch, hidden}));
  int64_t rows = gates_of(kind) * hidden;
  values.push_back(m.tensor({rows, features}));
  values.push_back(m.tensor({rows, hidden}));
  if (biases) {
    values.push_back(m.tensor({rows}));
    values.push_back(m.tensor({rows}));
  }
  return values;
}
Samples cell_samples(Kind kind) {
  return [kind](Make& m) -> std::vector<Sample> {
    return {{"biases", cell_arguments(m, kind, 2, 3, 2, true)},
            {"no biases", cell_arguments(m, kind, 3, 2, 3, false)},
            {"large", cell_arguments(m, kind, 40, 5, 37, true), false}};
  };
}
OpCase cell_case(const char* name, Kind kind) {
  std::string text = name;
  return {.name = name,
          .torch = name,
          .samples = cell_samples(kind),
          .reference = [kind](const Arguments& in) { return cell_of(in, kind); },
          .errors = {{"input_size",
                      [kind](Make& m) -> Values {
                        Values values = cell_arguments(m, kind, 2, 3, 2, true);
                        values[0] = m.tensor({2, 4});
                        return values;
                      },
                      text + ": input has inconsistent input_size: got 4 expected 3"},
                     {"batch",
                      [kind](Make& m) -> Values {
                        Values values = cell_arguments(m, kind, 2, 3, 2, true);
                        values[0] = m.tensor({3, 3});
                        return values;
                      },
                      text + ": Input batch size 3 doesn't match hidden batch size 2"}}};
}

// ---- sequences
struct Layout {
  int64_t layers = 1;
  bool biases = true, bidirectional = false, batch_first = false, projected = false;
};
// hx and params
void add_states(Make& m, Kind kind, Values& values, const Layout& l, int64_t batch, int64_t features, int64_t hidden) {
  int64_t directions = l.bidirectional ? 2 : 1, states = l.layers * directions,
          shown = l.projected ? hidden - 1 : hidden;
  if (kind == Kind::lstm)
    values.push_back(std::vector<Tensor>{m.tensor({states, batch, shown}), m.tensor({states, batch, hidden})});
  else
    values.push_back(m.tensor({states, batch, hidden}));
  std::vector<Tensor> params;
  for (int64_t layer = 0; layer < l.layers; layer++)
    for (int64_t direction = 0; direction < directions; direction++) {
      int64_t rows = gates_of(kind) * hidden;
      params.push_back(m.tensor({rows, layer == 0 ? features : shown * directions}));
      params.push_back(m.tensor({rows, shown}));
      if (l.biases) params.insert(params.end(), {m.tensor({rows}), m.tensor({rows})});
      if (l.projected) params.push_back(m.tensor({shown, hidden}));
    }
  values.push_back(params);
  for (Value value : Values{l.biases, l.layers, 0.0, false, l.bidirectional}) values.push_back(value);
}
Values sequence(Make& m, Kind kind, const Layout& l, int64_t time, int64_t batch, int64_t features, int64_t hidden) {
  Values values{l.batch_first ? m.tensor({batch, time, features}) : m.tensor({time, batch, features})};
  add_states(m, kind, values, l, batch, features, hidden);
  values.push_back(l.batch_first);
  return values;
}
Values packed(Make& m, Kind kind, const Layout& l, const Ints& sizes, int64_t features, int64_t hidden) {
  int64_t total = 0;
  Array batch = Array::filled({static_cast<int64_t>(sizes.size())});
  for (size_t i = 0; i < sizes.size(); i++) total += sizes[i], batch.values[i] = static_cast<double>(sizes[i]);
  Values values{m.tensor({total, features}), tensor_of(batch, kInt64)};
  add_states(m, kind, values, l, sizes[0], features, hidden);
  return values;
}

// Every sequence by itself: x[sample][time]; `first` is where hx stands among the arguments.
std::vector<Matrix> run(const Arguments& in, Kind kind, size_t first, std::vector<Matrix> x, std::vector<Array>& last) {
  std::vector<Array> params = in.arrays(first + 1), states;
  if (kind == Kind::lstm)
    states = in.arrays(first);
  else
    states = {in.array(first), in.array(first)};
  bool biases = in.flag(first + 2), projected = states[0].sizes[2] != states[1].sizes[2];
  int64_t layers = in.integer(first + 3), directions = in.flag(first + 6) ? 2 : 1;
  last = states;
  size_t at = 0;
  for (int64_t layer = 0; layer < layers; layer++) {
    std::vector<Matrix> outputs(x.size());
    for (size_t b = 0; b < x.size(); b++) outputs[b].resize(x[b].size());
    for (int64_t direction = 0; direction < directions; direction++) {
      Weights w{matrix_of(params[at]), matrix_of(params[at + 1]), {}, {}};
      at += 2;
      if (biases) w.b_ih = row_of(params[at]), w.b_hh = row_of(params[at + 1]), at += 2;
      if (projected) w.w_hr = matrix_of(params[at++]);
      for (size_t b = 0; b < x.size(); b++) {
        int64_t state = layer * directions + direction;
        auto row = [&](Array& all) {
          return all.values.begin() + (state * all.sizes[1] + static_cast<int64_t>(b)) * all.sizes[2];
        };
        Row h, c;
        for (int64_t i = 0; i < last[0].sizes[2]; i++) h.push_back(row(last[0])[i].real());
        for (int64_t i = 0; i < last[1].sizes[2]; i++) c.push_back(row(last[1])[i].real());
        for (size_t t = 0; t < x[b].size(); t++) {
          size_t place = direction ? x[b].size() - 1 - t : t;
          step(kind, w, x[b][place], h, c);
          outputs[b][place].insert(outputs[b][place].end(), h.begin(), h.end());
        }
        for (size_t i = 0; i < h.size(); i++) row(last[0])[static_cast<int64_t>(i)] = h[i];
        if (kind == Kind::lstm)
          for (size_t i = 0; i < c.size(); i++) row(last[1])[static_cast<int64_t>(i)] = c[i];
      }
    }
    x = outputs;
  }
  if (kind != Kind::lstm) last.pop_back();
  return x;
}
std::vector<Array> sequence_of(const Arguments& in, Kind kind) {
  Array x = in.array(0);
  bool batch_first = in.flag(8);
  int64_t time = x.sizes[batch_first ? 1 : 0], batch = x.sizes[batch_first ? 0 : 1];
  std::vector<Matrix> samples(static_cast<size_t>(batch), Matrix(static_cast<size_t>(time)));
  for_each_index(x.sizes, [&](const Index& i) {
    samples[static_cast<size_t>(i[batch_first ? 0 : 1])][static_cast<size_t>(i[batch_first ? 1 : 0])].push_back(
        x[i].real());
  });
  std::vector<Array> results;
  samples = run(in, kind, 1, samples, results);
  Array y = Array::filled({x.sizes[0], x.sizes[1], static_cast<int64_t>(samples[0][0].size())});
  for_each_index(y.sizes, [&](const Index& i) {
    y[i] = samples[static_cast<size_t>(i[batch_first ? 0 : 1])][static_cast<size_t>(i[batch_first ? 1 : 0])]
                  [static_cast<size_t>(i[2])];
  });
  results.insert(results.begin(), y);
  return results;
}
std::vector<Array> packed_of(const Arguments& in, Kind kind) {
  Matrix data = matrix_of(in.array(0));
  Row sizes = row_of(in.array(1));
  std::vector<Matrix> samples(static_cast<size_t>(sizes[0]));
  size_t at = 0;
  for (double size : sizes)
    for (size_t b = 0; b < static_cast<size_t>(size); b++) samples[b].push_back(data[at++]);
  std::vector<Array> results;
  samples = run(in, kind, 2, samples, results);
  Matrix y;
  for (size_t t = 0; t < sizes.size(); t++)
    for (size_t b = 0; b < static_cast<size_t>(sizes[t]); b++) y.push_back(samples[b][t]);
  results.insert(results.begin(), array_of(y));
  return results;
}

Samples sequence_samples(Kind kind) {
  return [kind](Make& m) {
    std::vector<Sample> samples = {
        {"one layer", sequence(m, kind, {}, 3, 2, 2, 2)},
        {"two layers, both ways", sequence(m, kind, {.layers = 2, .bidirectional = true}, 2, 1, 2, 2)},
        {"batch first, no biases", sequence(m, kind, {.biases = false, .batch_first = true}, 3, 2, 2, 2)},
        {"large", sequence(m, kind, {.layers = 2}, 5, 9, 7, 17), false}};
    if (kind == Kind::lstm) samples.push_back({"projected", sequence(m, kind, {.projected = true}, 3, 2, 2, 3)});
    return samples;
  };
}
Samples packed_samples(Kind kind) {
  return [kind](Make& m) -> std::vector<Sample> {
    return {{"shrinking", packed(m, kind, {}, {3, 2, 2, 1}, 2, 2), true, true},
            {"both ways", packed(m, kind, {.bidirectional = true}, {2, 1}, 2, 2), true, true},
            {"even", packed(m, kind, {.layers = 2}, {2, 2}, 2, 2), true, true}};
  };
}

void add_sequences(std::vector<OpCase>& cases, const char* name, Kind kind) {
  std::string text = name;
  cases.push_back({.name = name,
                   .overload = "input",
                   .torch = text + ".input",
                   .samples = sequence_samples(kind),
                   .reference = [kind](const Arguments& in) { return sequence_of(in, kind); },
                   .errors = {{"parameters",
                               [kind](Make& m) -> Values {
                                 Values values = sequence(m, kind, {}, 3, 2, 2, 2);
                                 std::get<std::vector<Tensor>>(values[2]).pop_back();
                                 return values;
                               },
                               text + ": Expected 4 parameters"},
                              {"rows of a weight",  // libtorch broadcasts one row for each gate
                               [kind](Make& m) -> Values {
                                 Values values = sequence(m, kind, {}, 3, 2, 2, 2);
                                 Tensor& weight = std::get<std::vector<Tensor>>(values[2])[0];
                                 weight = m.tensor({weight.size(0) + 1, 2});
                                 return values;
                               },
                               text + ": found weight_ih of shape ["},
                              {"dtype of a weight",
                               [kind](Make& m) -> Values {
                                 Values values = sequence(m, kind, {}, 3, 2, 2, 2);
                                 Tensor& weight = std::get<std::vector<Tensor>>(values[2])[1];
                                 weight = m.tensor(weight.sizes().vec(), m.dtype == kDouble ? kFloat : kDouble);
                                 return values;
                               },
                               text + ": weight_hh has dtype "}}});
  cases.push_back({.name = name,
                   .overload = "data",
                   .torch = text + ".data",
                   .samples = packed_samples(kind),
                   .reference = [kind](const Arguments& in) { return packed_of(in, kind); },
                   .errors = {{"growing",
                               [kind](Make& m) -> Values {
                                 Values values = packed(m, kind, {}, {3, 2, 2, 1}, 2, 2);
                                 values[1] = tensor_of({{4}, {3, 1, 2, 2}}, kInt64);
                                 return values;
                               },
                               text + ": batch_sizes must be positive and never grow, found 2 at 2"}},
                   .mixes_devices = true,
                   .no_mock = "the batch sizes decide the steps, and are read"});
}

}  // namespace

std::vector<OpCase> rnn_cases() {
  std::vector<OpCase> cases = {cell_case("rnn_tanh_cell", Kind::tanh), cell_case("rnn_relu_cell", Kind::relu),
                               cell_case("lstm_cell", Kind::lstm), cell_case("gru_cell", Kind::gru)};
  add_sequences(cases, "lstm", Kind::lstm);
  add_sequences(cases, "gru", Kind::gru);
  add_sequences(cases, "rnn_tanh", Kind::tanh);
  add_sequences(cases, "rnn_relu", Kind::relu);
  for (OpCase& one : cases) {
    one.dtypes = real_floats;
    for (DType dtype : without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble}))
      one.untested.push_back({dtype, "refused, where libtorch lets integers and complex numbers through its parts"});
    if (one.overload == "data") one.any_layout = false;  // libtorch takes batch_sizes for contiguous
    one.tolerance = 60;
    one.same_bits_strided = false;
    one.same_bits_threads = false;  // products of matrices may go to a library
  }
  return cases;
}

}  // namespace cresset::test
