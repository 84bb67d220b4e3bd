// Recurrent and attention layers, weight norms and pruning beside PyTorch's, with the same weights: results, gradients,
// names in the state dict and printed text. sequence_reference.py runs PyTorch.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "cresset/cresset.h"
#include "sequence_table.h"
#include "tests/support/paths.h"

namespace cresset {
namespace {

using namespace nn;
using Tensors = std::vector<Tensor>;

struct Record {
  std::string name, text;
  std::map<std::string, std::vector<std::pair<std::string, Tensor>>> tensors;  // by kind
};

std::vector<Record> read_records(const std::string& path) {
  std::ifstream file(path);
  std::vector<Record> records;
  for (std::string line; std::getline(file, line);) {
    std::istringstream in(line);
    std::string word;
    in >> word;
    if (word == "case") {
      records.emplace_back().name = line.substr(5);
    } else if (word == "text") {
      std::string text = line.substr(5);
      for (size_t at; (at = text.find("\\n")) != std::string::npos;) text.replace(at, 2, "\n");
      for (size_t at; (at = text.find("NonDynamicallyQuantizable")) != std::string::npos;) text.erase(at, 25);
      records.back().text = text;
    } else if (word == "tensor") {
      std::string kind, name, type, value;
      size_t rank;
      in >> kind >> name >> type >> rank;
      std::vector<int64_t> shape(rank);
      for (int64_t& size : shape) in >> size;
      std::vector<double> values;
      while (in >> value) values.push_back(std::strtod(value.c_str(), nullptr));
      records.back().tensors[kind].emplace_back(name, tensor(values, TensorOptions(kDouble)).reshape(shape));
    }
  }
  return records;
}

const std::vector<Record>& records() {
  static const std::vector<Record> all = [] {
    if (std::system("/usr/bin/python3 -c 'import torch' 2>/dev/null") != 0) return std::vector<Record>();
    auto path = std::filesystem::temp_directory_path() / ("cresset_sequence_" + std::to_string(getpid()) + ".txt");
    std::string command = "/usr/bin/python3 " + test::source_path("tests/nn/sequence_reference.py ") + path.string();
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    std::vector<Record> read = read_records(path.string());
    std::filesystem::remove(path);
    return read;
  }();
  return all;
}

void expect_near(const Tensor& found, const Tensor& wanted, const std::string& what) {
  ASSERT_TRUE(found.defined()) << what;
  ASSERT_EQ(found.sizes(), wanted.sizes()) << what;
  EXPECT_TRUE(allclose(found.to(kDouble), wanted, 1e-7, 1e-8))
      << what << ": differs by " << (found.to(kDouble) - wanted).abs().max().item<double>();
}

// Before pruning, name_orig is the parameter itself and there is no mask.
StateDict before_pruning(const std::vector<std::pair<std::string, Tensor>>& state) {
  StateDict plain;
  for (auto [name, value] : state) {
    if (name.ends_with("_mask")) continue;
    if (name.ends_with("_orig")) name.resize(name.size() - 5);
    plain.insert(name, value);
  }
  return plain;
}

void check(const Record& record) {
  testing::BuiltSequence built = testing::sequence_cases().at(record.name)();
  const auto& kinds = record.tensors;
  built.module->to(kDouble);
  EXPECT_EQ(message_of(*built.module), record.text);
  StateDict state;
  if (record.name.starts_with("prune"))
    state = before_pruning(kinds.at("state"));
  else
    for (const auto& [name, value] : kinds.at("state")) state.insert(name, value);
  built.module->load_state_dict(state);

  Tensors in;
  for (const auto& [name, value] : kinds.at("input")) in.push_back(value.clone().requires_grad_());
  Tensors out = built.call(in);
  ASSERT_EQ(out.size(), kinds.at("output").size());
  Tensor loss;
  for (size_t i = 0; i < out.size(); i++) {
    expect_near(out[i], kinds.at("output")[i].second, "output " + std::to_string(i));
    Tensor term = (out[i] * out[i] / 2 + out[i]).sum();
    loss = loss.defined() ? loss + term : term;
  }
  loss.backward();
  auto parameters = built.module->named_parameters();
  EXPECT_EQ(parameters.size(), kinds.at("grad").size());
  for (const auto& [name, value] : kinds.at("grad")) {
    ASSERT_TRUE(parameters.contains(name)) << name;
    Tensor gradient = parameters[name].grad();
    expect_near(gradient.defined() ? gradient : zeros_like(parameters[name]), value, "gradient of " + name);
  }
  for (size_t i = 0; i < in.size(); i++)
    expect_near(in[i].grad(), kinds.at("input_grad")[i].second, "gradient of input " + std::to_string(i));
  StateDict after = built.module->state_dict();
  std::vector<std::string> names;
  for (const auto& [name, value] : kinds.at("after")) {
    names.push_back(name);
    ASSERT_TRUE(after.contains(name)) << name;
    expect_near(after[name], value, "state " + name);
  }
  if (!record.name.starts_with("prune")) {
    EXPECT_EQ(after.keys(), names) << "names or their order";
  }
}

TEST(Sequence, EveryCaseEqualsPyTorch) {
  if (records().empty()) GTEST_SKIP() << "skipped: no PyTorch";
  EXPECT_EQ(records().size(), testing::sequence_cases().size());
  for (const Record& record : records()) {
    SCOPED_TRACE(record.name);
    ASSERT_TRUE(testing::sequence_cases().contains(record.name));
    check(record);
  }
}

TEST(Sequence, RecurrentLayersNameTheShapeTheyWant) {
  auto message = [](auto&& f) -> std::string {
    try {
      f();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  LSTM lstm(3, 5);
  EXPECT_EQ(message([&] {
              lstm(zeros({2, 2, 2, 3}));
            }),
            "LSTM: Expected input to be 2-D or 3-D but received 4-D tensor");
  EXPECT_EQ(message([&] {
              lstm(zeros({4, 2, 7}));
            }),
            "LSTM: input.size(-1) must be equal to input_size. Expected 3, got 7");
  EXPECT_EQ(message([&] {
              lstm(zeros({4, 2, 3}), std::make_tuple(zeros({1, 3, 5}), zeros({1, 2, 5})));
            }),
            "LSTM: Expected hidden[0] size (1, 2, 5), got [1, 3, 5]");
  GRU gru(3, 5);
  EXPECT_EQ(message([&] {
              gru(zeros({4, 3}), zeros({1, 2, 5}));
            }),
            "GRU: For unbatched 2-D input, hidden should also be 2-D but got 3-D tensor");
  EXPECT_EQ(message([&] { LSTM(LSTMOptions(3, 5).proj_size(5)); }),
            "LSTM: proj_size has to be zero or a positive integer smaller than hidden_size, found 5 and hidden_size 5");
  EXPECT_EQ(message([&] {
              GRUCell(3, 5)(zeros({2, 4}));
            }),
            "GRUCell: input has inconsistent input_size: got 4, expected 3");
  EXPECT_EQ(message([&] { MultiheadAttention(6, 4); }),
            "MultiheadAttention: embed_dim must be divisible by num_heads, found 6 and 4");
  MultiheadAttention heads(8, 2);
  EXPECT_EQ(message([&] {
              heads(zeros({3, 2, 8}), zeros({4, 2, 8}), zeros({4, 2, 8}), Tensor(), true, zeros({3, 3}));
            }),
            "multi_head_attention_forward: The shape of the 2D attn_mask is [3, 3], but should be (3, 4).");
}

TEST(Sequence, DropoutBetweenLayersOnlyInTraining) {
  LSTM lstm(LSTMOptions(3, 8).num_layers(2).dropout(0.9));
  Tensor x = randn({4, 2, 3});
  lstm->eval();
  EXPECT_TRUE(equal(std::get<0>(lstm(x)), std::get<0>(lstm(x))));
  lstm->train();
  EXPECT_FALSE(equal(std::get<0>(lstm(x)), std::get<0>(lstm(x))));
}

TEST(Sequence, ParametersStartWithinPyTorchsBounds) {
  LSTM lstm(3, 25);
  EXPECT_EQ(lstm->all_weights().size(), 4u);
  for (const Tensor& weight : lstm->parameters()) {
    EXPECT_LE(weight.abs().max().item<double>(), 0.2);
    EXPECT_GT(weight.abs().max().item<double>(), 0.15);
  }
  MultiheadAttention heads(16, 2);
  EXPECT_LE(heads->in_proj_weight.abs().max().item<double>(), std::sqrt(6.0 / 64));
  EXPECT_EQ(heads->in_proj_bias.abs().sum().item<double>(), 0);
  EXPECT_EQ(heads->out_proj->bias.abs().sum().item<double>(), 0);
}

TEST(Sequence, LayersOfAnEncoderAreApartAndCloneIsDeep) {
  TransformerEncoder encoder(TransformerEncoderLayer(TransformerEncoderLayerOptions(8, 2).dim_feedforward(16)), 2);
  EXPECT_FALSE(encoder->named_parameters()["layers.0.linear1.weight"].is_same(
      encoder->named_parameters()["layers.1.linear1.weight"]));
  encoder->eval();
  TransformerEncoder copy(std::dynamic_pointer_cast<TransformerEncoderImpl>(encoder->clone()));
  Tensor x = randn({3, 2, 8});
  EXPECT_TRUE(equal(encoder(x), copy(x)));
  {
    NoGradGuard no_grad;
    for (Tensor& parameter : copy->parameters()) parameter.add_(1);
  }
  EXPECT_FALSE(allclose(encoder(x), copy(x)));
}

TEST(Sequence, SquareSubsequentMaskHidesTheFuture) {
  Tensor mask = TransformerImpl::generate_square_subsequent_mask(3);
  EXPECT_EQ(mask[0][0].item<float>(), 0);
  EXPECT_EQ(mask[2][0].item<float>(), 0);
  EXPECT_EQ(mask[0][1].item<float>(), -std::numeric_limits<float>::infinity());
}

}  // namespace
}  // namespace cresset
