// Calls whose arguments the op cases' samples leave out: results, gradients and second gradients beside libtorch's.
// Each was once wrong, refused or never came back.
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <limits>

#include "cresset/cresset.h"
#include "tests/ops/cases/cases.h"
#include "tests/parity/torch_bridge.h"
#include "tests/support/finite_difference.h"
#include "tests/support/mock_device.h"

namespace cresset::test {
namespace {

using Ints = std::vector<int64_t>;
constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

struct Call {
  std::string name, overload;
  Values values;
  bool gradient = true;
};

// Two calls of the same op on the same values; leaves are their differentiable inputs.
struct Pair {
  std::vector<Tensor> leaves, results;
  std::vector<at::Tensor> torch_leaves, torch_results;

  Pair(const OpCase& c, const Values& values, bool gradient) {
    std::vector<at::Tensor> tensors = tensors_to_torch(values);
    size_t next = 0;
    Values own = mapped(values, [&](const Tensor& tensor) {
      Tensor copy = twin(tensor);
      at::Tensor& other = tensors.at(next++);
      if (gradient && is_differentiable(tensor.dtype())) {
        leaves.push_back(copy.requires_grad_());
        torch_leaves.push_back(other.requires_grad_());
      }
      return copy;
    });
    torch_results = call_torch(c.torch, values, tensors);
    results = call(c.op(), own);
  }
};

void expect_same(const Tensor& found, const at::Tensor& torch, double tolerance, const std::string& what) {
  Tensor wanted = torch.defined() ? from_torch(torch) : Tensor();
  if (!found.defined() || !wanted.defined()) {  // which counts as zeros
    const Tensor& one = found.defined() ? found : wanted;
    if (!one.defined()) return;
    EXPECT_TRUE(near(one.detach(), Array::filled(one.sizes().vec()), tolerance)) << what;
    return;
  }
  EXPECT_EQ(found.dtype(), wanted.dtype()) << what;
  EXPECT_TRUE(near(found.detach(), read(wanted), tolerance)) << what;
}

// The gradients of what has a graph on both sides, for random gradients of it.
struct Backward {
  std::vector<Tensor> sent, gradients;
  std::vector<at::Tensor> torch_sent, torch_gradients;

  Backward(const std::vector<Tensor>& roots, const std::vector<at::Tensor>& torch_roots,
           const std::vector<Tensor>& leaves, const std::vector<at::Tensor>& torch_leaves, bool again) {
    std::vector<Tensor> from;
    std::vector<at::Tensor> torch_from;
    for (size_t i = 0; i < roots.size(); i++) {
      if (!roots[i].defined() || !torch_roots[i].defined()) continue;
      EXPECT_EQ(roots[i].requires_grad(), torch_roots[i].requires_grad()) << "graph of " << i;
      if (!roots[i].requires_grad() || !torch_roots[i].requires_grad()) continue;
      from.push_back(roots[i]);
      torch_from.push_back(torch_roots[i]);
      sent.push_back(random_like({roots[i]}, 31 + i).at(0));
      torch_sent.push_back(to_torch(sent.back()).requires_grad_(again));
      sent.back().requires_grad_(again);
    }
    if (from.empty()) return;
    gradients = autograd::grad(from, leaves, sent, true, again, true);
    torch_gradients = torch::autograd::grad(torch_from, torch_leaves, torch_sent, true, again, true);
  }
};

void compare_call(const Call& one) {
  const OpCase& c = *find_case(one.name, one.overload);
  SCOPED_TRACE(c.full_name());
  Pair pair(c, one.values, one.gradient);
  ASSERT_EQ(pair.results.size(), pair.torch_results.size());
  for (size_t i = 0; i < pair.results.size(); i++) {
    ASSERT_EQ(pair.results[i].sizes(), from_torch(pair.torch_results[i]).sizes()) << "result " << i;
    expect_same(pair.results[i], pair.torch_results[i], 4 * c.tolerance, message_of("result ", i));
  }
  if (pair.leaves.empty()) return;
  Backward first(pair.results, pair.torch_results, pair.leaves, pair.torch_leaves, true);
  for (size_t i = 0; i < first.gradients.size(); i++)
    expect_same(first.gradients[i], first.torch_gradients[i], 8 * c.tolerance, message_of("gradient ", i));
  for (const Tensor& gradient : first.gradients)
    if (gradient.defined() && !gradient.requires_grad()) return;
  std::vector<Tensor> leaves = pair.leaves;
  std::vector<at::Tensor> torch_leaves = pair.torch_leaves;
  leaves.insert(leaves.end(), first.sent.begin(), first.sent.end());
  torch_leaves.insert(torch_leaves.end(), first.torch_sent.begin(), first.torch_sent.end());
  Backward second(first.gradients, first.torch_gradients, leaves, torch_leaves, false);
  for (size_t i = 0; i < second.gradients.size(); i++)
    expect_same(second.gradients[i], second.torch_gradients[i], 1e3, message_of("second gradient ", i));
}
void compare_calls(const std::vector<Call>& calls) {
  for (size_t i = 0; i < calls.size(); i++) {
    SCOPED_TRACE(message_of("call ", i));
    compare_call(calls[i]);
  }
}

Tensor numbers(Ints sizes, std::vector<Complex> values, DType dtype = kDouble) {
  Array array = Array::filled(std::move(sizes));
  for (size_t i = 0; i < array.values.size(); i++) array.values[i] = values[i % values.size()];
  return tensor_of(array, dtype);
}

}  // namespace

TEST(ParityArguments, output_padding_of_a_stride_and_more) {
  for (DType dtype : {kDouble, kFloat}) {
    Make make(dtype);
    auto x = [&](Ints sizes) { return make.tensor(std::move(sizes)); };
    const bool again = dtype == kDouble;
    compare_calls({
        {"conv_transpose1d",
         "",
         {x({1, 2, 3}), x({2, 2, 2}), Value(), Ints{1}, Ints{0}, Ints{2}, int64_t{1}, Ints{3}},
         again},
        {"conv_transpose1d",
         "",
         {x({2, 2, 5}), x({2, 1, 3}), x({1}), Ints{1}, Ints{1}, Ints{2}, int64_t{1}, Ints{3}},
         again},
        {"conv_transpose2d",
         "",
         {x({2, 2, 3, 4}), x({2, 1, 3, 2}), x({2}), Ints{1, 2}, Ints{2, 1}, Ints{1, 2}, int64_t{2}, Ints{2, 3}},
         again},
        {"conv_transpose2d",
         "",
         {x({1, 1, 1, 1}), x({1, 1, 1, 1}), x({1}), Ints{1}, Ints{1}, Ints{2}, int64_t{1}, Ints{3}},
         again},
        {"conv_transpose3d",
         "",
         {x({1, 1, 2, 2, 1}), x({1, 2, 2, 1, 2}), Value(), Ints{1, 2, 1}, Ints{0, 1, 2}, Ints{1, 0, 2}, int64_t{1},
          Ints{2, 1, 3}},
         again},
    });
  }
}

TEST(ParityArguments, outer_products_are_of_the_results_dtype) {
  Make make(kDouble);
  Tensor self = make.tensor({3, 2}), whole = make.integers({3, 2}, -3, 4);
  Tensor flags = make.condition({3}), more = numbers({2}, {1}, kBool);
  Tensor bytes = numbers({3}, {103, 104, -117}, kInt8), others = numbers({2}, {111, 105}, kInt8);
  compare_calls({{"addr", "", {self, flags, more, Scalar(2), Scalar(3.5)}},
                 {"addr", "", {self, bytes, others}},
                 {"addr", "", {whole, flags, more, Scalar(2), Scalar(3)}},
                 {"addr", "", {whole, bytes, others, Scalar(0), Scalar(3)}}});
}

TEST(ParityArguments, of_several_dtypes) {
  Make make(kFloat);
  const int64_t none = Reduction::None, mean = Reduction::Mean;
  Tensor x = numbers({4}, {0.3, -1.1, 2.2, 0.7}, kFloat), sign = numbers({4}, {1, -1, -1, 1}, kDouble);
  Tensor p = numbers({4}, {1, 0.25, 0.5, 0}, kDouble), half = p.to(kBFloat16), rows = make.tensor({4, 3});
  Tensor matrix = make.tensor({4, 4}), batch = make.tensor({2, 4, 4}), one = numbers({}, {1}, kDouble);
  compare_calls({{"huber_loss", "", {x, p, none}, false},
                 {"huber_loss", "", {p, x, mean}, false},
                 {"soft_margin_loss", "", {x, sign, none}, false},
                 {"soft_margin_loss", "", {x.to(kBFloat16), sign, mean}, false},
                 {"hinge_embedding_loss", "", {x, sign, 0.9, none}, false},
                 {"hinge_embedding_loss", "", {x, sign, 0.9, mean}, false},
                 {"cosine_embedding_loss", "", {rows, rows, sign, 0.1, none}, false},
                 {"binary_cross_entropy_with_logits", "", {p, x, Value(), Value(), none}, false},
                 {"binary_cross_entropy_with_logits", "", {x, half, Value(), Value(), mean}, false},
                 {"binary_cross_entropy_with_logits", "", {x, half, x, half, none}, false},
                 {"binary_cross_entropy_with_logits", "", {x, x, p, p, none}, false},
                 {"addmv", "", {p, matrix, x}},
                 {"addmv", "", {one, matrix, x, Scalar(2)}},
                 {"baddbmm", "", {half, batch, batch}, false},
                 {"baddbmm", "", {make.integers({4, 4}, 0, 9), batch, batch, Scalar(2)}},
                 {"block_diag", "", {std::vector<Tensor>{rows, one}}, false},
                 {"prelu", "", {rows.to(kBFloat16), numbers({3}, {0.25, 0.5, 2}, kFloat)}, false}});
}

TEST(ParityArguments, of_activations) {
  Tensor x = numbers({7}, {-3, -1.2, -0.1, 1e-9, 0.3, 2, -40});
  compare_calls({{"elu", "", {x, Scalar(2), Scalar(-2), Scalar(-1)}},
                 {"elu", "", {x.to(kFloat), Scalar(-1), Scalar(2), Scalar(-0.5)}, false},
                 {"elu", "", {numbers({2}, {-kInf, -800}), Scalar(1), Scalar(1), Scalar(-1)}, false},
                 {"celu", "", {x, Scalar(-3)}},
                 {"celu", "", {numbers({3}, {0, 1, -1})}},
                 {"selu", "", {numbers({3}, {0, 1, -1})}},
                 {"huber_loss", "", {numbers({3}, {0, 1, 2}), numbers({3}, {1, 3, 2}), int64_t{0}, 1.0}},
                 {"clamp_min", "", {x, Scalar(kNan)}, false},
                 {"clamp_max", "", {x, Scalar(kNan)}, false},
                 {"clamp", "", {x, Scalar(kNan)}, false}});
}

TEST(ParityArguments, of_statistics) {
  Tensor large = numbers({2, 6}, {1e300, 0, 0.5, 2, -1}), nothing = numbers({3, 0}, {0});
  Tensor line = numbers({2, 3}, {-kInf, 1e-40, 0, -kInf, kInf, 2}), q = numbers({2}, {0.3, 0.4});
  Tensor holes = numbers({2, 3, 2}, {-2, 1, 0, kNan, kNan, 0, 2, kNan, 0.5, 0.1, -1, 2});
  compare_calls({{"var", "", {large}, false},
                 {"std", "dim", {large, Ints{1}}, false},
                 {"var", "dim", {numbers({1, 2}, {{1e300, 1}, {0, 2}}, kComplex128), Ints{1}}, false},
                 {"var", "correction", {nothing, Ints{1}, int64_t{-2}}, false},
                 {"std_mean", "correction", {nothing, Ints{1}, int64_t{-2}}, false},
                 {"quantile", "", {line, q, int64_t{1}}, false},
                 {"nanquantile", "", {line, q, int64_t{1}, false, std::string("midpoint")}, false},
                 {"quantile", "", {numbers({4}, {2, 5, 1, 7}), q}},
                 {"nanquantile", "", {numbers({2, 3}, {2, kNan, 1, 7, 3, -1}), q, int64_t{1}}},
                 {"topk", "", {numbers({}, {-5}), int64_t{0}}, false},
                 {"norm", "", {nothing, Scalar(-1)}, false},
                 {"norm", "dim", {nothing, Scalar(-kInf), Ints{1}, true}, false},
                 {"renorm", "", {holes, Scalar(2), int64_t{1}, Scalar(1)}, false},
                 {"diff", "", {numbers({4}, {1, 3, 2}), int64_t{0}, int64_t{-1}, numbers({2}, {1}), numbers({1}, {2})}},
                 {"special_ndtri",
                  "",
                  {numbers({11}, {1e-310, 1e-308, 5e-324, 1e-289, 1e-150, 1e-29, 1e-9, 4e-3, 6e-3, 0.2, 0.99})},
                  false}});
}

TEST(ParityArguments, of_matrices) {
  Make make(kDouble);
  Tensor zero = numbers({3, 3}, {0}), apart = numbers({2, 2, 2}, {3, 1, 1, 2, 5, -1, -1, 0.5});
  Tensor hermitian = numbers({2, 2}, {3, {1, 2}, {1, -2}, 2}, kComplex128), gaps = numbers({2, 3}, {0, 1, -2, 0, 0, 3});
  compare_calls({{"linalg_cond", "", {zero, Scalar(1)}, false},
                 {"linalg_cond", "p_str", {zero, std::string("fro")}, false},
                 {"linalg_eigvalsh", "", {apart, std::string("U")}},
                 {"linalg_eigvalsh", "", {hermitian, std::string("L")}},
                 {"linalg_vector_norm", "", {gaps, Scalar(1)}},
                 {"linalg_vector_norm", "", {gaps, Scalar(3), Ints{1}}},
                 {"linalg_vector_norm", "", {numbers({2}, {0, 2}), Scalar(-2)}, false},
                 {"linalg_matrix_norm", "", {gaps, Scalar(kInf)}},
                 {"linalg_lstsq", "", {make.tensor({4, 2}), make.tensor({4, 3}), 1.5, std::string("gelss")}, false}});
}

TEST(ParityArguments, of_sizes) {
  constexpr int64_t many = int64_t{1} << 40;
  Make make(kDouble);
  Tensor image = make.tensor({2, 3, 4, 5});
  compare_calls({{"triu_indices", "", {many, int64_t{4}, int64_t{1}}},
                 {"triu_indices", "", {int64_t{5}, int64_t{4}, int64_t{-2}}},
                 {"tril_indices", "", {many, int64_t{3}, 2 - many}},
                 {"tril_indices", "", {int64_t{5}, int64_t{3}, int64_t{1}}},
                 {"multi_margin_loss",
                  "",
                  {make.tensor({0, 3}), make.integers({0}, 0, 3), Scalar(1), Scalar(1), Value(), int64_t{0}},
                  false},
                 {"group_norm", "", {make.tensor({0, 6}), int64_t{2}, make.tensor({6}), make.tensor({6})}},
                 {"special_i1", "", {numbers({3}, {0, 1, -2})}},
                 {"special_i1e", "", {numbers({3}, {0, 1, -2})}},
                 {"upsample_linear1d", "", {make.tensor({1, 2, 5}), Ints{5}, false, 1.1}},
                 {"upsample_bilinear2d", "", {image, Ints{4, 9}, false, 1.2, 1.9}},
                 {"upsample_trilinear3d", "", {make.tensor({1, 1, 3, 4, 2}), Ints{3, 2, 2}, false, 1.1, 0.5, 1.3}},
                 {"upsample_bicubic2d", "", {image, Ints{7, 4}, false}}});
}

TEST(ParityArguments, norms_by_which_rows_are_shortened) {
  for (double p : {0.0, 0.5, 3.0, kInf, -1.0, -kInf})
    for (double most : {0.5, 2.5}) {
      Tensor weight = numbers({3, 2}, {3, 4, 0.1, 0, -2, 5}), which = numbers({3}, {0, 2, 0}, kInt64);
      Pair pair(*find_case("embedding_renorm_", ""), {weight, which, most, p}, false);
      expect_same(pair.results[0], pair.torch_results[0], 1e6, message_of("p = ", p, ", at most ", most));
    }
}

TEST(ParityArguments, normal_numbers_have_the_dtype_of_their_mean) {
  Pair pair(*find_case("normal", "Tensor_Tensor"), {numbers({2, 1}, {1}, kFloat16), numbers({3}, {2})}, false);
  EXPECT_TRUE(same_geometry(pair.results[0], from_torch(pair.torch_results[0])));
}

TEST(ParityArguments, channels_last_stays_so_when_channels_are_dealt_out) {
  Make make(kDouble);
  Tensor image = make.tensor({2, 6, 2, 3}).contiguous(MemoryFormat::ChannelsLast);
  Pair pair(*find_case("channel_shuffle", ""), {image, int64_t{2}}, false);
  EXPECT_TRUE(same_geometry(pair.results[0], from_torch(pair.torch_results[0])));
  expect_same(pair.results[0], pair.torch_results[0], 1, "result");
}

TEST(ParityArguments, cubics_of_channels_last_images_are_contiguous) {
  Make make(kDouble);
  Tensor image = make.tensor({2, 3, 4, 5}).contiguous(MemoryFormat::ChannelsLast);
  for (const char* name : {"upsample_bicubic2d", "_upsample_bicubic2d_aa", "upsample_bilinear2d"}) {
    Pair pair(*find_case(name, ""), {image, Ints{3, 7}, false}, false);
    EXPECT_TRUE(same_geometry(pair.results[0], from_torch(pair.torch_results[0]))) << name;
  }
}

}  // namespace cresset::test
