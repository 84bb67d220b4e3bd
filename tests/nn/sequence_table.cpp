#include "sequence_table.h"

#include <limits>

#include "cresset/nn/layers/conv.h"

namespace cresset::testing {

using Built = BuiltSequence;

namespace {

using namespace nn;
namespace rnn_utils = nn::utils::rnn;
namespace prune = nn::utils::prune;
using Tensors = std::vector<Tensor>;

Tensors flat(const Tensor& t) { return t.defined() ? Tensors{t} : Tensors{}; }
template <class... Ts>
Tensors flat(const std::tuple<Ts...>& t) {
  Tensors all;
  std::apply(
      [&](const auto&... part) {
        (
            [&] {
              for (const Tensor& tensor : flat(part)) all.push_back(tensor);
            }(),
            ...);
      },
      t);
  return all;
}

// Recurrent layers: the input, and maybe a state of one tensor or two.
template <class Holder>
Built recurrent(Holder module) {
  return {
      module.ptr(), [module](const Tensors& in) mutable {
        if constexpr (requires { module(in[0], Tensor()); })
          return flat(in.size() > 1 ? module(in[0], in[1]) : module(in[0]));
        else
          return flat(in.size() > 1 ? module(in[0], std::make_optional(std::make_tuple(in[1], in[2]))) : module(in[0]));
      }};
}
template <class Holder>
Built packed(Holder module, std::vector<int64_t> lengths, bool enforce_sorted) {
  return {module.ptr(), [=](const Tensors& in) mutable {
            auto sequence =
                rnn_utils::pack_padded_sequence(in[0], tensor(lengths, TensorOptions(kLong)), false, enforce_sorted);
            auto run = [&] {
              if constexpr (requires { module->forward_with_packed_input(sequence, Tensor()); })
                return module->forward_with_packed_input(sequence, in.size() > 1 ? in[1] : Tensor());
              else
                return module->forward_with_packed_input(
                    sequence, in.size() > 1 ? std::make_optional(std::make_tuple(in[1], in[2])) : std::nullopt);
            };
            auto [out, last] = run();
            Tensors all = flat(std::get<0>(rnn_utils::pad_packed_sequence(out)));
            for (const Tensor& t : flat(last)) all.push_back(t);
            return all;
          }};
}
template <class Holder>
Built simple(Holder module) {
  return {module.ptr(), [module](const Tensors& in) mutable { return flat(module(in[0])); }};
}

Tensor hidden() { return tensor({0, 0, 1, 1, 0, 1, 0, 1, 0, 0, 0, 0}, TensorOptions(kBool)).reshape({3, 4}); }
Tensor padding() { return tensor({0, 0, 0, 1, 0, 0, 0, 0}, TensorOptions(kBool)).reshape({2, 4}); }
Tensor float_mask() {
  return zeros({3, 4}, kDouble).masked_fill(hidden(), -std::numeric_limits<double>::infinity()) + 0.25;
}
Tensor causal() { return TransformerImpl::generate_square_subsequent_mask(3).to(kDouble); }

using Attend = std::function<std::tuple<Tensor, Tensor>(MultiheadAttention&, const Tensors&)>;
Built attention(
    const MultiheadAttentionOptions& options,
    Attend call = [](MultiheadAttention& m, const Tensors& in) { return m(in[0], in[1], in[2]); }) {
  MultiheadAttention module(options);
  return {module.ptr(), [=](const Tensors& in) mutable { return flat(call(module, in)); }};
}

Built pruned(const std::function<void(Linear&)>& steps) {
  Linear module(6, 5);
  return {module.ptr(), [=](const Tensors& in) mutable {
            steps(module);
            return flat(module(in[0]));
          }};
}

using EncoderOptions = TransformerEncoderLayerOptions;
using DecoderOptions = TransformerDecoderLayerOptions;
using AttentionOptions = MultiheadAttentionOptions;

}  // namespace

const std::map<std::string, std::function<Built()>>& sequence_cases() {
  static const std::map<std::string, std::function<Built()>> cases{
      {"rnn", [] { return recurrent(RNN(3, 5)); }},
      {"rnn relu",
       [] { return recurrent(RNN(RNNOptions(3, 5).num_layers(2).nonlinearity(kReLU).bidirectional(true))); }},
      {"rnn state", [] { return recurrent(RNN(RNNOptions(3, 5).bias(false).batch_first(true))); }},
      {"rnn unbatched", [] { return recurrent(RNN(3, 5)); }},
      {"rnn packed",
       [] {
         return packed(RNN(RNNOptions(3, 5).bidirectional(true)), {5, 3, 2}, true);
       }},
      {"rnn relu packed",
       [] {
         return packed(RNN(RNNOptions(3, 5).nonlinearity(kReLU)), {2, 5, 3}, false);
       }},
      {"lstm", [] { return recurrent(LSTM(3, 5)); }},
      {"lstm deep",
       [] { return recurrent(LSTM(LSTMOptions(3, 5).num_layers(2).bidirectional(true).batch_first(true))); }},
      {"lstm projected",
       [] { return recurrent(LSTM(LSTMOptions(3, 6).num_layers(2).proj_size(4).bidirectional(true))); }},
      {"lstm state", [] { return recurrent(LSTM(LSTMOptions(3, 6).proj_size(4).bias(false))); }},
      {"lstm unbatched", [] { return recurrent(LSTM(LSTMOptions(3, 5).bidirectional(true))); }},
      {"lstm packed",
       [] {
         return packed(LSTM(LSTMOptions(3, 5).num_layers(2)), {2, 5, 3}, false);
       }},
      {"lstm packed state",
       [] {
         return packed(LSTM(LSTMOptions(3, 5).bidirectional(true)), {2, 5, 3}, false);
       }},
      {"gru", [] { return recurrent(GRU(3, 5)); }},
      {"gru deep", [] { return recurrent(GRU(GRUOptions(3, 5).num_layers(2).bidirectional(true))); }},
      {"gru no bias", [] { return recurrent(GRU(GRUOptions(3, 5).bias(false).batch_first(true))); }},
      {"gru unbatched", [] { return recurrent(GRU(GRUOptions(3, 5).batch_first(true))); }},
      {"gru packed",
       [] {
         return packed(GRU(GRUOptions(3, 5).bidirectional(true)), {2, 5, 3}, false);
       }},
      {"rnn cell", [] { return recurrent(RNNCell(3, 5)); }},
      {"rnn cell relu", [] { return recurrent(RNNCell(RNNCellOptions(3, 5).bias(false).nonlinearity(kReLU))); }},
      {"lstm cell", [] { return recurrent(LSTMCell(3, 5)); }},
      {"lstm cell unbatched", [] { return recurrent(LSTMCell(3, 5)); }},
      {"gru cell", [] { return recurrent(GRUCell(3, 5)); }},
      {"gru cell unbatched", [] { return recurrent(GRUCell(3, 5)); }},
      {"attention", [] { return attention(AttentionOptions(8, 2)); }},
      {"attention self",
       [] {
         return attention(AttentionOptions(8, 4), [](auto& m, const Tensors& in) { return m(in[0], in[0], in[0]); });
       }},
      {"attention memory",
       [] {
         return attention(AttentionOptions(8, 4), [](auto& m, const Tensors& in) { return m(in[0], in[1], in[1]); });
       }},
      {"attention no bias", [] { return attention(AttentionOptions(8, 2).bias(false)); }},
      {"attention widths", [] { return attention(AttentionOptions(8, 2).kdim(5).vdim(6)); }},
      {"attention extra keys",
       [] {
         return attention(AttentionOptions(8, 2).add_bias_kv(true).add_zero_attn(true),
                          [](auto& m, const Tensors& in) { return m(in[0], in[1], in[2], padding(), true, hidden()); });
       }},
      {"attention bool mask",
       [] {
         return attention(AttentionOptions(8, 2),
                          [](auto& m, const Tensors& in) { return m(in[0], in[1], in[2], Tensor(), true, hidden()); });
       }},
      {"attention float mask",
       [] {
         return attention(AttentionOptions(8, 2), [](auto& m, const Tensors& in) {
           return m(in[0], in[1], in[2], padding(), true, float_mask());
         });
       }},
      {"attention heads mask",
       [] {
         return attention(AttentionOptions(8, 2), [](auto& m, const Tensors& in) {
           return m(in[0], in[1], in[2], Tensor(), true, float_mask().repeat({4, 1, 1}), false);
         });
       }},
      {"attention fast",
       [] {
         return attention(AttentionOptions(8, 2),
                          [](auto& m, const Tensors& in) { return m(in[0], in[1], in[2], Tensor(), false); });
       }},
      {"attention fast masks",
       [] {
         return attention(AttentionOptions(8, 2), [](auto& m, const Tensors& in) {
           return m(in[0], in[1], in[2], padding(), false, hidden());
         });
       }},
      {"attention batch first",
       [] {
         return attention(AttentionOptions(8, 2).batch_first(true),
                          [](auto& m, const Tensors& in) { return m(in[0], in[1], in[2], padding()); });
       }},
      {"attention unbatched",
       [] {
         return attention(AttentionOptions(8, 2),
                          [](auto& m, const Tensors& in) { return m(in[0], in[1], in[2], Tensor(), true, hidden()); });
       }},
      {"encoder layer",
       [] { return simple(TransformerEncoderLayer(EncoderOptions(8, 2).dim_feedforward(16).dropout(0))); }},
      {"encoder layer gelu",
       [] {
         TransformerEncoderLayer m(
             EncoderOptions(8, 2).dim_feedforward(16).dropout(0).activation(kGELU).norm_first(true).batch_first(true));
         return Built{m.ptr(),
                      [m](const Tensors& in) mutable { return flat(m(in[0], causal(), padding().slice(1, 1, 4))); }};
       }},
      {"encoder layer tanh",
       [] {
         return simple(TransformerEncoderLayer(EncoderOptions(8, 2).dim_feedforward(16).dropout(0).activation(
             std::function<Tensor(const Tensor&)>([](const Tensor& x) { return x.tanh(); }))));
       }},
      {"decoder layer",
       [] {
         TransformerDecoderLayer m(DecoderOptions(8, 2).dim_feedforward(16).dropout(0));
         return Built{m.ptr(), [m](const Tensors& in) mutable { return flat(m(in[0], in[1])); }};
       }},
      {"decoder layer masks",
       [] {
         TransformerDecoderLayer m(
             DecoderOptions(8, 2).dim_feedforward(16).dropout(0).norm_first(true).batch_first(true));
         return Built{m.ptr(), [m](const Tensors& in) mutable {
                        return flat(m(in[0], in[1], causal(), hidden(), Tensor(), padding()));
                      }};
       }},
      {"encoder",
       [] {
         return simple(
             TransformerEncoder(TransformerEncoderOptions(EncoderOptions(8, 2).dim_feedforward(16).dropout(0), 2)
                                    .norm(AnyModule(LayerNorm(LayerNormOptions({8}))))));
       }},
      {"decoder",
       [] {
         TransformerDecoder m(TransformerDecoderOptions(DecoderOptions(8, 2).dim_feedforward(16).dropout(0), 2));
         return Built{m.ptr(), [m](const Tensors& in) mutable { return flat(m(in[0], in[1])); }};
       }},
      {"transformer",
       [] {
         Transformer m(TransformerOptions(8, 2, 2, 1).dim_feedforward(16).dropout(0).activation(kGELU));
         return Built{m.ptr(), [m](const Tensors& in) mutable {
                        return flat(m(in[0], in[1], Tensor(), causal(), Tensor(), padding(), Tensor(), padding()));
                      }};
       }},
      {"weight norm",
       [] {
         Linear m(4, 3);
         nn::utils::weight_norm(m);
         return simple(m);
       }},
      {"weight norm dim",
       [] {
         Linear m(4, 3);
         nn::utils::weight_norm(m, "weight", 1);
         return simple(m);
       }},
      {"weight norm whole",
       [] {
         Linear m(4, 3);
         nn::utils::weight_norm(m, "weight", std::nullopt);
         return simple(m);
       }},
      {"weight norm conv",
       [] {
         Conv2d m(Conv2dOptions(2, 3, 3));
         nn::utils::weight_norm(m);
         return simple(m);
       }},
      {"spectral norm",
       [] {
         Linear m(4, 3);
         nn::utils::spectral_norm(m, "weight", 2);
         return simple(m);
       }},
      {"spectral norm conv",
       [] {
         ConvTranspose2d m(ConvTranspose2dOptions(2, 3, 3));
         nn::utils::spectral_norm(m);
         return simple(m);
       }},
      {"prune l1", [] { return pruned([](Linear& m) { prune::l1_unstructured(m, "weight", 0.3); }); }},
      {"prune l1 twice",
       [] {
         return pruned([](Linear& m) {
           prune::l1_unstructured(m, "weight", 7);
           prune::l1_unstructured(m, "weight", 0.5);
         });
       }},
      {"prune ln", [] { return pruned([](Linear& m) { prune::ln_structured(m, "weight", 0.4, 2, 1); }); }},
      {"prune ln twice",
       [] {
         return pruned([](Linear& m) {
           prune::ln_structured(m, "weight", 2, 1, 1);
           prune::ln_structured(m, "weight", 0.5, 2, 0);
         });
       }},
      {"prune l1 after ln",
       [] {
         return pruned([](Linear& m) {
           prune::ln_structured(m, "weight", 1, std::numeric_limits<double>::infinity(), 0);
           prune::l1_unstructured(m, "weight", 4);
         });
       }},
      {"prune global",
       [] {
         return pruned([](Linear& m) {
           prune::global_unstructured({{m, "weight"}, {m, "bias"}}, prune::Method::l1_unstructured, 0.4);
         });
       }},
  };
  return cases;
}

}  // namespace cresset::testing
