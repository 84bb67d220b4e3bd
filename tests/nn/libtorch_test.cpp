// nn written the way libtorch's users write it, through torch.h.
#include "cresset/torch.h"

#include <gtest/gtest.h>

#include <sstream>

namespace {

struct NetImpl : torch::nn::Module {
  explicit NetImpl(int64_t hidden)
      : first(register_module("first", torch::nn::Linear(2, hidden))),
        rest(register_module("rest", torch::nn::Sequential(torch::nn::ReLU(), torch::nn::Linear(hidden, 2)))) {
    torch::nn::init::kaiming_uniform_(first->weight, 0, torch::kFanIn, torch::kReLU);
  }
  torch::Tensor forward(torch::Tensor x, double scale = 2) { return rest->forward(first(x)) * scale; }
  torch::nn::Linear first;
  torch::nn::Sequential rest;

 protected:
  FORWARD_HAS_DEFAULT_ARGS(FORWARD_ARG(1, 2.0))
};
TORCH_MODULE(Net);

struct RenamedImpl : torch::nn::Cloneable<RenamedImpl> {
  void reset() override {}
  torch::Tensor forward(torch::Tensor x) { return x; }
};
TORCH_MODULE_IMPL(Same, RenamedImpl);

TEST(Libtorch, ModulesCompileAndRun) {
  torch::manual_seed(0);
  Net net(4);
  auto x = torch::rand({3, 2});
  EXPECT_TRUE(torch::allclose(net(x), net->forward(x, 2)));
  EXPECT_EQ(net->named_parameters().size(), 4u);
  EXPECT_TRUE(net->named_parameters().contains("rest.1.weight"));
  torch::nn::AnyModule any(net);
  EXPECT_TRUE(torch::equal(any.forward(x), net(x)));
  EXPECT_TRUE(torch::equal(any.forward(x, 4.0), net(x, 4)));
  net->to(torch::kDouble);
  net->zero_grad();
  for (auto& p : net->named_parameters()) EXPECT_EQ(p.value().dtype(), torch::kDouble) << p.key();
  Same same;
  EXPECT_TRUE(same(x).is_same(x));
  std::stringstream text;
  text << net;
  EXPECT_EQ(text.str().substr(0, 4), "Net(");
  std::shared_ptr<NetImpl> pointer = net.ptr();
  EXPECT_EQ(pointer.get(), net.get());
}

TEST(Libtorch, SequenceModelsAsInItsExamples) {
  auto lengths = torch::tensor({3, 2}, torch::kLong);
  auto packed = torch::nn::utils::rnn::pack_padded_sequence(torch::randn({2, 3, 4}), lengths, /*batch_first=*/true);
  auto gru = torch::nn::GRU(torch::nn::GRUOptions(4, 5).bidirectional(true));
  auto result = torch::nn::utils::rnn::pad_packed_sequence(std::get<0>(gru->forward_with_packed_input(packed)), true);
  EXPECT_EQ(std::get<0>(result).sizes(), torch::IntArrayRef({2, 3, 10}));
  EXPECT_EQ(std::get<0>(result)[1][2].abs().sum().item<float>(), 0);
  auto encoder = torch::nn::TransformerEncoder(torch::nn::TransformerEncoderOptions(
      torch::nn::TransformerEncoderLayer(
          torch::nn::TransformerEncoderLayerOptions(16, 2).dim_feedforward(32).dropout(0.0)),
      1));
  EXPECT_EQ(encoder->forward(torch::randn({8, 2, 16})).sizes(), torch::IntArrayRef({8, 2, 16}));
}

TEST(Libtorch, ModulesSaveIntoArchives) {
  Net net(4), other(4);
  torch::serialize::OutputArchive out;
  net->save(out);
  std::stringstream stream;
  out.save_to(stream);
  torch::serialize::InputArchive in;
  in.load_from(stream);
  other->load(in);
  auto x = torch::rand({3, 2});
  EXPECT_TRUE(torch::equal(net(x), other(x)));
  torch::nn::Linear wrong(3, 3);
  EXPECT_THROW(wrong->load(in), c10::Error);
}

TEST(Libtorch, SequencesInBraces) {
  auto a = torch::ones({2}), b = torch::ones({3});
  EXPECT_EQ(torch::nn::utils::rnn::pad_sequence({a, b}, true).sizes(), torch::IntArrayRef({2, 3}));
  EXPECT_EQ(torch::nn::utils::rnn::pad_sequence({a, b}).sizes(), torch::IntArrayRef({3, 2}));
  EXPECT_EQ(torch::nn::utils::rnn::pack_sequence({b, a}).data().numel(), 5);
}

template <class F>
std::string message(F&& f) {
  try {
    f();
  } catch (const c10::Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Libtorch, ErrorsNameWhatWasCalledAndFound) {
  namespace F = torch::nn::functional;
  auto starts = [](const std::string& text, const std::string& start) {
    EXPECT_EQ(text.substr(0, start.size()), start);
  };
  auto x = torch::rand({2, 3});
  starts(message([&] { F::interpolate(x); }), "interpolate: ");
  starts(message([&] { F::nll_loss(torch::tensor(1.0), torch::tensor(1)); }), "nll_loss: ");
  starts(message([&] { F::pad(x, F::PadFuncOptions({1})); }), "pad: ");
  starts(message([&] { F::grid_sample(x, x); }), "grid_sample: ");
  EXPECT_EQ(message([&] {
              F::one_hot(torch::tensor({-3, -2}));
            }),
            "one_hot: Class values must be non-negative, found -2");
  EXPECT_EQ(
      message([&] {
        F::conv2d(torch::rand({1, 1, 2, 2}), torch::rand({1, 1, 3, 3}));
      }),
      "conv2d: Calculated padded input size per channel: (2 x 2). Kernel size: (3 x 3). Kernel size can't be greater "
      "than actual input size (found input [1, 1, 2, 2] and weight [1, 1, 3, 3])");
  EXPECT_EQ(message([&] { torch::nn::Dropout2d(1.5); }),
            "Dropout2d: dropout probability has to be between 0 and 1, but got 1.5");
  EXPECT_EQ(message([&] { torch::nn::BatchNorm2d(-1); }),
            "BatchNorm2d: found num_features -1 (expected no negative number)");
}

TEST(Libtorch, ABatchNormKeepsTheWishForSynchronisedStatisticsInCopies) {
  torch::nn::BatchNorm1d norm(3);
  EXPECT_FALSE(norm->is_synchronised());
  norm->synchronise();
  EXPECT_TRUE(std::dynamic_pointer_cast<torch::nn::BatchNorm1dImpl>(norm->clone())->is_synchronised());
  auto x = torch::rand({4, 3});  // without a process group nothing changes
  EXPECT_TRUE(torch::equal(norm(x), torch::nn::BatchNorm1d(3)(x)));
}

TEST(Libtorch, ASequentialIsMadeOfADictOfModules) {
  torch::OrderedDict<std::string, torch::nn::AnyModule> modules;
  modules.insert("in", torch::nn::AnyModule(torch::nn::Linear(2, 3)));
  modules.insert("out", torch::nn::AnyModule(torch::nn::Linear(3, 1)));
  torch::nn::Sequential kept(modules), moved(std::move(modules));
  EXPECT_EQ(kept->named_parameters().keys()[2], "out.weight");
  EXPECT_EQ(moved->forward(torch::ones({4, 2})).sizes(), (std::vector<int64_t>{4, 1}));
}

TEST(Libtorch, WeightsOfAPickledDictGoIntoAModule) {
  c10::Dict<std::string, torch::Tensor> saved;
  saved.insert("weight", torch::full({1, 2}, 3.0));
  saved.insert("bias", torch::zeros({1}));
  const std::vector<char> bytes = torch::pickle_save(saved);

  torch::nn::Linear linear(2, 1);
  torch::NoGradGuard no_grad;
  auto parameters = linear->named_parameters();
  c10::Dict<c10::IValue, c10::IValue> weights = torch::pickle_load(bytes).toGenericDict();
  for (const auto& entry : weights) parameters[entry.key().toStringRef()].copy_(entry.value().toTensor());
  EXPECT_EQ(linear(torch::ones({1, 2})).item<float>(), 6);
  EXPECT_TRUE(weights.contains("bias"));
  EXPECT_EQ(saved.at("bias").numel(), 1);
  EXPECT_EQ(saved.erase("bias"), 1u);
  EXPECT_THROW(saved.at("bias"), c10::IndexError);
}

struct OwnLossOptions {
  using reduction_t = c10::variant<torch::enumtype::kNone, torch::enumtype::kMean, torch::enumtype::kSum>;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

TEST(Libtorch, OwnOptionsHoldVariantsOfTheTags) {
  auto options = OwnLossOptions().reduction(torch::kSum);
  EXPECT_EQ(torch::enumtype::get_enum_name(options.reduction()), "kSum");
  EXPECT_EQ(torch::enumtype::reduction_get_enum(options.reduction()), at::Reduction::Sum);
  auto x = torch::ones({4}), y = torch::zeros({4});
  auto theirs = torch::nn::functional::MSELossFuncOptions().reduction(options.reduction());
  EXPECT_EQ(torch::nn::functional::mse_loss(x, y, theirs).item<float>(), 4);
  EXPECT_TRUE(c10::get_if<torch::enumtype::kSum>(&theirs.reduction()));
  EXPECT_FALSE(c10::get_if<torch::enumtype::kMean>(&theirs.reduction()));
  EXPECT_TRUE(c10::holds_alternative<torch::enumtype::kSum>(theirs.reduction()));
}

TEST(Libtorch, OpenElementsOfASizePrint) {
  std::ostringstream out;
  out << torch::ExpandingArrayWithOptionalElem<2>({c10::nullopt, 7}) << torch::ExpandingArrayWithOptionalElem<1>(3);
  EXPECT_EQ(out.str(), "[None, 7]3");
}

TEST(Libtorch, AListThatMayBeAbsentTakesNumbersAndBraces) {
  const auto x = torch::arange(6, torch::kDouble).reshape({2, 3});
  const auto columns = torch::linalg_norm(x, 2, std::vector<int64_t>{0});
  const int64_t first = 0;
  EXPECT_TRUE(torch::equal(torch::linalg_norm(x, c10::nullopt, {0}), columns));
  EXPECT_TRUE(torch::equal(torch::linalg_norm(x, 2, 0), columns));
  EXPECT_TRUE(torch::equal(torch::linalg_norm(x, 2, first), columns));
  EXPECT_TRUE(torch::equal(torch::linalg_norm(x, 2, torch::IntArrayRef{0}), columns));
  EXPECT_TRUE(torch::equal(torch::nansum(x, {0, 1}), x.sum()));
  EXPECT_TRUE(torch::equal(torch::nansum(x, c10::nullopt), x.sum()));
  EXPECT_EQ(torch::fft::fftn(x, {4, 5}).sizes(), torch::IntArrayRef({4, 5}));
  EXPECT_TRUE(torch::equal(torch::var(x, {0}, 1), torch::var(x, torch::IntArrayRef{0}, true)));
}

TEST(Libtorch, ANumberInBracesIsADimension) {
  auto x = torch::tensor({{1., 2., 4.}, {3., 7., 5.}});
  const std::vector<int64_t> three{3};
  EXPECT_EQ(torch::std(x, {0}).sizes(), three);
  EXPECT_EQ(torch::var(x, {0}).sizes(), three);
  EXPECT_EQ(std::get<0>(torch::std_mean(x, {0})).sizes(), three);
  EXPECT_EQ(std::get<0>(torch::var_mean(x, {0})).sizes(), three);
  EXPECT_EQ(torch::std(x, true).dim(), 0);
}

TEST(Libtorch, OverloadsOfOlderPrograms) {
  auto x = torch::arange(8, torch::kDouble).sin(), window = torch::ones({4}, torch::kDouble);
  EXPECT_TRUE(torch::equal(torch::stft(x, 4, 2, 4, window, /*normalized=*/true, c10::nullopt, /*return_complex=*/true),
                           torch::stft(x, 4, 2, 4, window, /*center=*/false, "reflect", true, c10::nullopt, true)));
  EXPECT_TRUE(torch::equal(torch::special::zeta(x + 2, 1), torch::special::zeta(x + 2, torch::ones_like(x))));
  auto a = torch::eye(2, torch::kDouble) * 2;
  EXPECT_TRUE(torch::equal(torch::linalg::svdvals(a, c10::nullopt), torch::linalg::svdvals(a)));
  EXPECT_TRUE(torch::equal(std::get<0>(torch::linalg::lstsq(a, a, c10::nullopt, c10::nullopt)),
                           std::get<0>(torch::linalg::lstsq(a, a))));
  EXPECT_TRUE(torch::equal(std::get<0>(torch::_unique2(torch::tensor({3, 1, 3}))), torch::tensor({1, 3})));
}

TEST(Libtorch, SmallNamesThatProgramsUse) {
  const torch::Tensor x = torch::ones({2, 2});
  EXPECT_FALSE(x.is_sparse() || x.is_quantized());
  EXPECT_EQ(torch::typeMetaToScalarType(x.dtype()), torch::kFloat);
  EXPECT_EQ(std::get<1>(torch::linalg::svd(x, false, c10::nullopt)).numel(), 2);
  EXPECT_EQ(at::detail::createCPUGenerator(7).current_seed(), 7u);
  torch::manual_seed(9);
  EXPECT_EQ(at::detail::getDefaultCPUGenerator().current_seed(), 9u);
  EXPECT_TRUE(torch::autograd::GradMode::is_enabled());
  EXPECT_EQ(c10::visit([](auto number) { return int(number); }, c10::variant<int, double>(2.5)), 2);
  EXPECT_THROW(TORCH_CHECK_ARG(false, 1, "must be true"), c10::Error);
}

}  // namespace
