// The fused steps: the same as one op after another, for every layout and dtype, on any number of threads, and without
// asking for memory.
#include <cmath>
#include <cstring>

#include "tests/core/expect_error.h"
#include "tests/optim/reference.h"

namespace cresset::testing::fused_test {
namespace {

using namespace optim;
using Params = std::vector<Tensor>;
using Make = std::unique_ptr<Optimizer> (*)(const Params&, bool fused);

struct Case {
  const char* name;
  Make make;
};
template <class O, class Options>
std::unique_ptr<Optimizer> made(const Params& params, const Options& options) {
  return std::make_unique<O>(params, options);
}
const Case kCases[] = {
    {"SGD", [](const Params& p, bool f) { return made<SGD>(p, SGDOptions(0.1).weight_decay(0.01).fused(f)); }},
    {"Momentum",
     [](const Params& p, bool f) { return made<SGD>(p, SGDOptions(0.1).momentum(0.9).dampening(0.2).fused(f)); }},
    {"Nesterov",
     [](const Params& p, bool f) { return made<SGD>(p, SGDOptions(0.1).momentum(0.9).nesterov(true).fused(f)); }},
    {"Adam", [](const Params& p, bool f) { return made<Adam>(p, AdamOptions(0.01).weight_decay(0.1).fused(f)); }},
    {"AMSGrad",
     [](const Params& p, bool f) { return made<Adam>(p, AdamOptions(0.01).amsgrad(true).maximize(true).fused(f)); }},
    {"AdamW", [](const Params& p, bool f) { return made<AdamW>(p, AdamWOptions(0.01).fused(f)); }},
};

class Fused : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(All, Fused, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

void set_gradients(const Params& params, int64_t step) {
  for (size_t i = 0; i < params.size(); i++)
    params[i].mutable_grad() =
        noise_tensor(params[i].sizes(), 100 + 7 * step + static_cast<int64_t>(i), params[i].dtype());
}

// Sizes around the lengths of vectors and blocks, and none at all.
Params many_sizes(DType dtype) {
  Params params;
  for (int64_t n : {0, 1, 3, 4, 7, 8, 15, 16, 17, 31, 33, 1023, 1024, 1025, 5000})
    params.push_back(noise_tensor({n}, n + 1, dtype).requires_grad_());
  params.push_back(noise_tensor({}, 5, dtype).requires_grad_());
  params.push_back(noise_tensor({13, 7, 3}, 6, dtype).requires_grad_());
  return params;
}

void expect_near(const Params& found, const Params& wanted, double tolerance) {
  std::vector<double> a = flat_values(found), b = flat_values(wanted);
  ASSERT_EQ(a.size(), b.size());
  double worst = 0;
  for (size_t i = 0; i < a.size(); i++) worst = std::max(worst, std::abs(a[i] - b[i]) / std::max(1.0, std::abs(b[i])));
  EXPECT_LE(worst, tolerance);
}

TEST_P(Fused, EqualsOneOpAfterAnother) {
  for (auto [dtype, tolerance] : {std::pair{kFloat, 1e-6}, {kDouble, 1e-14}}) {
    Params a = many_sizes(dtype), b = many_sizes(dtype);
    auto fused = GetParam().make(a, true), plain = GetParam().make(b, false);
    for (int64_t step = 0; step < 5; step++) {
      set_gradients(a, step);
      set_gradients(b, step);
      fused->step();
      plain->step();
    }
    expect_near(a, b, tolerance);
  }
}

// Half types: one rounding a step, so that it differs from ops by a few units in the last place, and stays near float.
TEST_P(Fused, HalfTypesStayNearFloat) {
  for (auto [dtype, tolerance] : {std::pair{kHalf, 4e-3}, {kBFloat16, 4e-2}}) {
    Params a = many_sizes(dtype), b;
    for (const Tensor& p : a) b.push_back(p.detach().to(kFloat).requires_grad_());
    auto low = GetParam().make(a, true), exact = GetParam().make(b, true);
    for (int64_t step = 0; step < 5; step++) {
      set_gradients(a, step);
      for (size_t i = 0; i < a.size(); i++) b[i].mutable_grad() = a[i].grad().to(kFloat);
      low->step();
      exact->step();
    }
    expect_near(a, b, tolerance);
  }
}

TEST_P(Fused, AnyLayout) {
  auto layouts = [](DType dtype) {
    Tensor transposed = noise_tensor({6, 5}, 1, dtype).t().detach();
    Tensor last = noise_tensor({2, 3, 4, 5}, 2, dtype).contiguous(MemoryFormat::ChannelsLast).detach();
    Tensor gaps = noise_tensor({4, 9}, 3, dtype).slice(1, 0, 9, 2).detach();
    return Params{transposed.requires_grad_(), last.requires_grad_(), gaps.requires_grad_()};
  };
  Params strided = layouts(kDouble), plain;
  for (const Tensor& p : strided) plain.push_back(p.detach().contiguous().clone().requires_grad_());
  EXPECT_FALSE(strided[0].is_contiguous());
  auto a = GetParam().make(strided, true), b = GetParam().make(plain, true);
  for (int64_t step = 0; step < 5; step++) {
    set_gradients(strided, step);
    set_gradients(plain, step);
    // One gradient in the parameter's own order, one in another.
    strided[0].mutable_grad() = empty_like(strided[0].detach()).copy_(strided[0].grad());
    a->step();
    b->step();
  }
  expect_near(strided, plain, 1e-14);
}

TEST_P(Fused, SameBitsOnAnyNumberOfThreads) {
  const int before = get_num_threads();
  auto run = [&](int threads) {
    set_num_threads(threads);
    Params params = {noise_tensor({300, 401}, 1, kFloat).requires_grad_(),
                     noise_tensor({77}, 2, kFloat).requires_grad_(), noise_tensor({50001}, 3, kFloat).requires_grad_()};
    auto optimizer = GetParam().make(params, true);
    for (int64_t step = 0; step < 3; step++) {
      set_gradients(params, step);
      optimizer->step();
    }
    return params;
  };
  Params one = run(1), two = run(2), three = run(3);
  set_num_threads(before);
  for (size_t i = 0; i < one.size(); i++) {
    EXPECT_EQ(std::memcmp(one[i].data_ptr(), two[i].data_ptr(), one[i].nbytes()), 0);
    EXPECT_EQ(std::memcmp(one[i].data_ptr(), three[i].data_ptr(), one[i].nbytes()), 0);
  }
}

TEST_P(Fused, DtypesMayBeMixedInAGroup) {
  auto mixed = [] {
    return Params{noise_tensor({9}, 1, kFloat).requires_grad_(), noise_tensor({9}, 2, kDouble).requires_grad_(),
                  noise_tensor({9}, 3, kFloat).requires_grad_()};
  };
  Params a = mixed(), b = mixed();
  auto fused = GetParam().make(a, true), plain = GetParam().make(b, false);
  for (int64_t step = 0; step < 3; step++) {
    set_gradients(a, step);
    set_gradients(b, step);
    fused->step();
    plain->step();
  }
  expect_near(a, b, 1e-6);
}

TEST_P(Fused, AsksForNoMemoryAfterTheFirstStep) {
  Params params = many_sizes(kFloat);
  auto optimizer = GetParam().make(params, true);
  set_gradients(params, 0);
  optimizer->step();
  const MemoryStats before = memory_stats();
  for (int i = 0; i < 1000; i++) optimizer->step();
  const MemoryStats after = memory_stats();
  EXPECT_EQ(after.allocations, before.allocations);
  EXPECT_EQ(after.allocated_bytes, before.allocated_bytes);
}

// The lists of the kernel hold no gradient between steps: zero_grad frees its memory.
TEST(FusedLists, LetGradientsGo) {
  Tensor w = zeros({1000}).requires_grad_();
  SGD optimizer(Params{w}, 0.1);
  w.mutable_grad() = ones({1000});
  Tensor held = w.grad();
  optimizer.step();
  EXPECT_EQ(held.use_count(), 2u);
  optimizer.zero_grad();
  EXPECT_EQ(held.use_count(), 1u);
}

TEST(FusedAdam, KeepsNan) {
  Tensor w = ones({20}).requires_grad_();
  Adam optimizer(Params{w}, AdamOptions(0.1).amsgrad(true));
  Tensor g = ones({20});
  g[3].fill_(std::nan(""));
  g[19].fill_(std::nan(""));
  w.mutable_grad() = g;
  optimizer.step();
  w.mutable_grad() = ones({20});
  optimizer.step();
  std::vector<double> values = flat_values({w});
  for (size_t i = 0; i < values.size(); i++) EXPECT_EQ(std::isnan(values[i]), i == 3 || i == 19) << i;
}

// Where the denominator is 0, infinite, or the step is 0, a step still does what its ops do one after another.
TEST(FusedAdam, OddDenominatorsAsByOps) {
  struct Odd {
    const char* name;
    double lr, eps;
  };
  for (const Odd& odd :
       {Odd{"no eps", 0.01, 0}, {"no step", 0, 1e-8}, {"tiny eps", 0.01, 1e-40}, {"usual", 0.01, 1e-8}})
    for (DType dtype : {kFloat, kDouble}) {
      SCOPED_TRACE(odd.name);
      Params a = {ones({40}, dtype).requires_grad_()}, b = {ones({40}, dtype).requires_grad_()};
      AdamW fused(a, AdamWOptions(odd.lr).eps(odd.eps)), plain(b, AdamWOptions(odd.lr).eps(odd.eps).fused(false));
      for (int64_t step = 0; step < 3; step++) {
        Tensor g = noise_tensor({40}, 3 + step, dtype);
        g.slice(0, 0, 4).fill_(0);                       // v = 0
        g.slice(0, 4, 8).fill_(step == 0 ? 1e30 : 1.0);  // its square overflows in float, and v stays infinite
        a[0].mutable_grad() = g.clone();
        b[0].mutable_grad() = g.clone();
        fused.step();
        plain.step();
      }
      std::vector<double> found = flat_values(a), wanted = flat_values(b);
      for (size_t i = 0; i < found.size(); i++) {
        if (std::isnan(wanted[i]))
          EXPECT_TRUE(std::isnan(found[i])) << i << ": found " << found[i];
        else
          EXPECT_NEAR(found[i], wanted[i], 1e-6) << i;
      }
    }
}

// All of them, with their own memory: after a warm-up nothing grows.
TEST(Optimizers, DoNotGrow) {
  std::vector<Make> makes = {
      [](const Params& p, bool) { return made<SGD>(p, SGDOptions(0.01).momentum(0.9)); },
      [](const Params& p, bool) { return made<AdamW>(p, AdamWOptions()); },
      [](const Params& p, bool) { return made<Adadelta>(p, AdadeltaOptions()); },
      [](const Params& p, bool) { return made<Adagrad>(p, AdagradOptions()); },
      [](const Params& p, bool) { return made<Adamax>(p, AdamaxOptions()); },
      [](const Params& p, bool) { return made<NAdam>(p, NAdamOptions()); },
      [](const Params& p, bool) { return made<RAdam>(p, RAdamOptions()); },
      [](const Params& p, bool) { return made<RMSprop>(p, RMSpropOptions().momentum(0.9).centered(true)); },
      [](const Params& p, bool) { return made<Rprop>(p, RpropOptions()); },
      [](const Params& p, bool) { return made<ASGD>(p, ASGDOptions()); },
      [](const Params& p, bool) { return made<SparseAdam>(p, SparseAdamOptions()); },
      [](const Params& p, bool) { return made<Adafactor>(p, AdafactorOptions()); },
      [](const Params& p, bool) { return made<Muon>(p, MuonOptions().bfloat16(false)); },
  };
  for (size_t m = 0; m < makes.size(); m++) {
    SCOPED_TRACE(m);
    Params params = {noise_tensor({8, 6}, 1, kFloat).requires_grad_(),
                     noise_tensor({6, 3}, 2, kFloat).requires_grad_()};
    Tensor x = noise_tensor({4, 8}, 3, kFloat);
    auto optimizer = makes[m](params, true);
    auto step = [&] {
      optimizer->zero_grad();
      x.matmul(params[0]).tanh().matmul(params[1]).square().mean().backward();
      optimizer->step();
    };
    for (int i = 0; i < 20; i++) step();
    const MemoryStats before = memory_stats();
    for (int i = 0; i < 1000; i++) step();
    const MemoryStats after = memory_stats();
    EXPECT_EQ(after.allocated_bytes, before.allocated_bytes);
    EXPECT_EQ(after.system_allocations, before.system_allocations);
  }
}

}  // namespace
}  // namespace cresset::testing::fused_test
