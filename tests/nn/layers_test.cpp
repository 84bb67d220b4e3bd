// Every layer and loss against PyTorch: the same parameters, inputs and upstream gradients give the same results,
// gradients, buffers and printed text, in training and in evaluation.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "layers_table.h"
#include "tests/support/paths.h"

namespace cresset::testing {
namespace {

struct NamedTensor {
  std::string kind, name;
  Tensor value;
};

struct Record {
  std::string name, mode, print;
  int steps = 1;  // how often forward ran, for running statistics
  std::vector<NamedTensor> tensors;

  std::vector<NamedTensor> of(const std::string& kind) const {
    std::vector<NamedTensor> found;
    for (const NamedTensor& t : tensors)
      if (t.kind == kind) found.push_back(t);
    return found;
  }
};

NamedTensor read_tensor(std::istringstream& line) {
  NamedTensor t;
  std::string dtype, word;
  size_t rank = 0;
  line >> t.kind >> t.name >> dtype >> rank;
  std::vector<int64_t> sizes(rank);
  for (int64_t& size : sizes) line >> size;
  t.value = empty(sizes, dtype == "long" ? kLong : kDouble);
  for (int64_t i = 0; i < t.value.numel(); i++) {
    line >> word;
    if (dtype == "long")
      t.value.data_ptr<int64_t>()[i] = std::strtoll(word.c_str(), nullptr, 10);
    else
      t.value.data_ptr<double>()[i] = std::strtod(word.c_str(), nullptr);  // inf and nan too
  }
  EXPECT_TRUE(line) << "the file ends within a tensor";
  return t;
}

std::vector<Record> read_records(const std::filesystem::path& path) {
  std::vector<Record> records;
  std::ifstream file(path);
  std::string text;
  while (std::getline(file, text)) {
    std::istringstream line(text);
    std::string word;
    line >> word;
    if (word == "case") {
      Record& r = records.emplace_back();
      line >> r.name >> r.mode;
      std::replace(r.name.begin(), r.name.end(), '_', ' ');
    } else if (word == "text") {
      std::string& print = records.back().print = text.substr(std::string("text print ").size());
      for (size_t at; (at = print.find("\\n")) != std::string::npos;) print.replace(at, 2, "\n");
    } else if (word == "steps") {
      line >> records.back().steps;
    } else if (word == "tensor") {
      records.back().tensors.push_back(read_tensor(line));
    }
  }
  return records;
}

// Empty without PyTorch.
const std::vector<Record>& records() {
  static const std::vector<Record> list = [] {
    const auto path = std::filesystem::temp_directory_path() / ("cresset_layers_" + std::to_string(getpid()) + ".txt");
    if (std::system("/usr/bin/python3 -c 'import torch' 2>/dev/null") != 0) return std::vector<Record>();
    const std::string command =
        "/usr/bin/python3 " + test::source_path("tests/nn/layers_reference.py ") + path.string();
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    std::vector<Record> all = read_records(path);
    std::filesystem::remove(path);
    EXPECT_FALSE(all.empty());
    return all;
  }();
  return list;
}

// Underscores in names were blanks.
std::string plain(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

const LayerCase* find_case(const std::string& name) {
  for (const LayerCase& c : layer_cases())
    if (plain(c.name) == name) return &c;
  return nullptr;
}

void expect_near(const Tensor& found, const Tensor& wanted, bool exact, const std::string& what) {
  ASSERT_TRUE(found.defined()) << what;
  ASSERT_EQ(found.sizes(), wanted.sizes()) << what;
  if (wanted.dtype() == kLong) {
    EXPECT_TRUE(equal(found, wanted)) << what << ": found " << found << " (expected " << wanted << ")";
    return;
  }
  const double tolerance = exact ? 2e-8 : 0.03;  // PyTorch's Hardsigmoid has a slope of float(1/6) in double, too
  const Tensor values = found.to(kDouble);
  // Half types are added up in other orders: their errors are those of the largest values.
  const double most = exact || wanted.numel() == 0 ? 0 : wanted.abs().max().item<double>();
  EXPECT_TRUE(allclose(values, wanted, tolerance, tolerance * (1 + most), /*equal_nan=*/true))
      << what << ": differs by " << (values - wanted).abs().max().item<double>();
}

void check(const LayerCase& layer_case, const Record& record) {
  const bool half = record.name.starts_with("bfloat16");
  BuiltLayer layer = layer_case.build();
  layer.module->to(kDouble);
  layer.module->train(record.mode == "train");
  if (!record.print.empty()) {
    EXPECT_EQ(message_of(*layer.module), record.print);
  }

  StateDict state;
  for (const NamedTensor& t : record.of("state")) state.insert(t.name, t.value);
  layer.module->load_state_dict(state);  // strict: names and shapes are PyTorch's
  if (half) layer.module->to(kBFloat16);

  std::vector<Tensor> leaves, passed;
  for (const NamedTensor& t : record.tensors) {
    if (t.kind != "input" && t.kind != "target") continue;
    Tensor leaf = half ? t.value.to(kBFloat16) : t.value.clone();
    if (t.kind == "target") {
      passed.push_back(leaf);
    } else {
      leaves.push_back(leaf.requires_grad_());
      passed.push_back(leaf.clone());  // so that layers may work in place
    }
  }
  const auto after = record.of("after");
  std::vector<Tensor> results;
  for (int i = 0; i < record.steps; i++) results = layer.run(*layer.module, passed);

  const auto outputs = record.of("output");
  ASSERT_EQ(results.size(), outputs.size());
  for (size_t i = 0; i < results.size(); i++) expect_near(results[i], outputs[i].value, !half, "output");
  const auto cotangents = record.of("cotangent");
  if (!cotangents.empty()) {
    Tensor total = (results[0] * cotangents[0].value.to(results[0].dtype())).sum();
    for (size_t i = 1; i < cotangents.size(); i++) total = total + (results[i] * cotangents[i].value).sum();
    total.backward();
  }
  const auto grads = record.of("grad_input");
  ASSERT_TRUE(cotangents.empty() || grads.size() == leaves.size());
  for (size_t i = 0; i < grads.size(); i++) {
    const Tensor grad = leaves[i].grad().defined() ? leaves[i].grad() : zeros_like(leaves[i]);
    expect_near(grad, grads[i].value, !half, "gradient of input " + std::to_string(i));
  }
  auto parameters = layer.module->named_parameters();
  for (const NamedTensor& t : record.of("grad_parameter"))
    expect_near(parameters[t.name].grad(), t.value, !half, "gradient of " + t.name);
  auto buffers = layer.module->named_buffers();
  for (const NamedTensor& t : after) expect_near(buffers[t.name], t.value, !half, "buffer " + t.name);
}

TEST(Layers, AgreeWithPyTorch) {
  if (records().empty()) GTEST_SKIP() << "skipped: no PyTorch";
  for (const Record& record : records()) {
    SCOPED_TRACE(record.name + ", " + record.mode);
    const LayerCase* layer_case = find_case(record.name);
    ASSERT_NE(layer_case, nullptr);
    try {
      check(*layer_case, record);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

TEST(Layers, NoneIsLeftOut) {
  if (records().empty()) GTEST_SKIP() << "skipped: no PyTorch";
  for (const LayerCase& c : layer_cases())
    EXPECT_TRUE(std::any_of(records().begin(), records().end(), [&](const Record& r) {
      return r.name == plain(c.name);
    })) << c.name;
}

TEST(Layers, CopiesAreEqualAndApart) {
  for (const LayerCase& c : layer_cases()) {
    SCOPED_TRACE(c.name);
    BuiltLayer layer = c.build();
    layer.module->eval();
    std::shared_ptr<nn::Module> copy = layer.module->clone();
    EXPECT_EQ(message_of(*copy), message_of(*layer.module));
    EXPECT_FALSE(copy->is_training());
    const StateDict ours = layer.module->state_dict(), theirs = copy->state_dict();
    ASSERT_EQ(ours.keys(), theirs.keys());
    for (const auto& [name, value] : ours) {
      EXPECT_TRUE(equal(theirs[name], value)) << name;
      EXPECT_FALSE(theirs[name].is_same(value)) << name;
      EXPECT_FALSE(value.numel() > 0 && theirs[name].is_alias_of(value)) << name;
    }
  }
}

}  // namespace
}  // namespace cresset::testing
