// Optimizers that PyTorch 1.13 does not have, beside plain double-precision implementations written here from the
// published rules.
#include <cmath>

#include "tests/optim/reference.h"

namespace cresset::testing::recent_test {
namespace {

using namespace optim;
using Params = std::vector<Tensor>;
using Matrix = std::vector<std::vector<double>>;

Matrix matrix_of(const Tensor& t) {
  Matrix m(static_cast<size_t>(t.size(0)));
  for (size_t i = 0; i < m.size(); i++) m[i] = flat_values({t[static_cast<int64_t>(i)]});
  return m;
}
Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c(a.size(), std::vector<double>(b[0].size(), 0));
  for (size_t i = 0; i < a.size(); i++)
    for (size_t k = 0; k < b.size(); k++)
      for (size_t j = 0; j < b[0].size(); j++) c[i][j] += a[i][k] * b[k][j];
  return c;
}
Matrix transposed(const Matrix& a) {
  Matrix t(a[0].size(), std::vector<double>(a.size()));
  for (size_t i = 0; i < a.size(); i++)
    for (size_t j = 0; j < a[0].size(); j++) t[j][i] = a[i][j];
  return t;
}

void expect_near(const Tensor& found, const Matrix& wanted, double tolerance) {
  Matrix m = matrix_of(found);
  for (size_t i = 0; i < m.size(); i++)
    for (size_t j = 0; j < m[0].size(); j++)
      EXPECT_NEAR(m[i][j], wanted[i][j], tolerance * std::max(1.0, std::abs(wanted[i][j]))) << i << ", " << j;
}

// ---- Adafactor
struct PlainAdafactor {
  double lr, decay, eps1, eps2, d, weight_decay, sign;
  std::vector<double> rows, columns, variance;
  int steps = 0;

  static double rms(const Matrix& m) {
    double sum = 0, count = 0;
    for (const auto& row : m)
      for (double v : row) sum += v * v, count++;
    return std::sqrt(sum / count);
  }
  // A vector is a matrix of one row that is not factored.
  void step(Matrix& p, Matrix g, bool factored) {
    const size_t n = p.size(), m = p[0].size();
    for (auto& row : g)
      for (double& v : row) v *= sign;
    const double t = ++steps, take = std::pow(t, decay);
    const double size = std::max(eps2, rms(p)) * std::min(lr, 1 / std::sqrt(t));
    rows.resize(n), columns.resize(m), variance.resize(m);
    Matrix estimate = g;
    if (factored) {
      double mean = 0;
      for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t j = 0; j < m; j++) sum += g[i][j] * g[i][j];
        rows[i] += take * (sum / static_cast<double>(m) - rows[i]);
        mean += rows[i] / static_cast<double>(n);
      }
      for (size_t j = 0; j < m; j++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) sum += g[i][j] * g[i][j];
        columns[j] += take * (sum / static_cast<double>(n) - columns[j]);
      }
      for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) estimate[i][j] = rows[i] * columns[j] / std::max(mean, eps1);
    } else {
      for (size_t j = 0; j < m; j++) {
        variance[j] += take * (g[0][j] * g[0][j] - variance[j]);
        estimate[0][j] = variance[j];
      }
    }
    Matrix update = g;
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j < m; j++) update[i][j] = g[i][j] / std::sqrt(std::max(estimate[i][j], eps1 * eps1));
    const double scale = size / std::max(1.0, rms(update) / d);
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j < m; j++) p[i][j] = p[i][j] * (1 - lr * weight_decay) - scale * update[i][j];
  }
};

void run_adafactor(const AdafactorOptions& options) {
  for (auto [dtype, tolerance] : {std::pair{kDouble, 1e-12}, {kFloat, 1e-5}}) {
    Tensor matrix = noise_tensor({4, 6}, 1, dtype).requires_grad_(),
           vector = noise_tensor({5}, 2, dtype).requires_grad_();
    Adafactor optimizer(Params{matrix, vector}, options);
    const double eps1 = std::get<0>(options.eps()).value_or(dtype == kDouble ? 0x1p-52 : 0x1p-23);
    PlainAdafactor plain{options.lr(),
                         options.beta2_decay(),
                         eps1,
                         std::get<1>(options.eps()),
                         options.d(),
                         options.weight_decay(),
                         options.maximize() ? -1.0 : 1.0,
                         {},
                         {},
                         {}};
    PlainAdafactor for_vector = plain;
    Matrix m = matrix_of(matrix), v = {flat_values({vector})};
    for (int64_t step = 0; step < kReferenceSteps; step++) {
      matrix.mutable_grad() = noise_tensor({4, 6}, 100 + step, dtype);
      vector.mutable_grad() = noise_tensor({5}, 200 + step, dtype);
      plain.step(m, matrix_of(matrix.grad()), true);
      for_vector.step(v, {flat_values({vector.grad()})}, false);
      optimizer.step();
    }
    expect_near(matrix, m, tolerance);
    expect_near(vector.unsqueeze(0), v, tolerance);
  }
}
TEST(Adafactor, AsPublished) { run_adafactor(AdafactorOptions()); }
TEST(Adafactor, WithOptions) {
  run_adafactor(AdafactorOptions(0.3).beta2_decay(-0.5).eps({1e-4, 1e-2}).d(1.5).weight_decay(0.1).maximize(true));
}
TEST(Adafactor, FactorsEachMatrixOfAStack) {
  Tensor stack = noise_tensor({2, 3, 4}, 4, kDouble).requires_grad_();
  Adafactor optimizer(Params{stack});
  stack.mutable_grad() = noise_tensor({2, 3, 4}, 5, kDouble);
  optimizer.step();
  const auto& state = static_cast<AdafactorParamState&>(*optimizer.state().at(stack));
  EXPECT_EQ(state.row_var().sizes(), (IntArrayRef{2, 3, 1}));
  EXPECT_EQ(state.col_var().sizes(), (IntArrayRef{2, 1, 4}));
  EXPECT_FALSE(state.variance().defined());
}

// ---- Muon
Matrix newton_schulz(Matrix x, double a, double b, double c, int steps, double eps) {
  const bool tall = x.size() > x[0].size();
  if (tall) x = transposed(x);
  double norm = 0;
  for (const auto& row : x)
    for (double v : row) norm += v * v;
  norm = std::max(std::sqrt(norm), eps);
  for (auto& row : x)
    for (double& v : row) v /= norm;
  for (int s = 0; s < steps; s++) {
    Matrix gram = product(x, transposed(x)), square = product(gram, gram);
    for (size_t i = 0; i < gram.size(); i++)
      for (size_t j = 0; j < gram.size(); j++) gram[i][j] = b * gram[i][j] + c * square[i][j];
    Matrix moved = product(gram, x);
    for (size_t i = 0; i < x.size(); i++)
      for (size_t j = 0; j < x[0].size(); j++) x[i][j] = a * x[i][j] + moved[i][j];
  }
  return tall ? transposed(x) : x;
}

void run_muon(const MuonOptions& options, IntArrayRef sizes) {
  for (auto [dtype, tolerance] : {std::pair{kDouble, 1e-12}, {kFloat, 1e-5}}) {
    Tensor p = noise_tensor(sizes, 1, dtype).requires_grad_();
    Muon optimizer(Params{p}, MuonOptions(options).bfloat16(false));
    Matrix w = matrix_of(p), buffer(w.size(), std::vector<double>(w[0].size(), 0));
    const double rows = static_cast<double>(sizes[0]), columns = static_cast<double>(sizes[1]);
    const double factor = options.adjust_lr_fn() == "match_rms_adamw" ? 0.2 * std::sqrt(std::max(rows, columns))
                                                                      : std::sqrt(std::max(1.0, rows / columns));
    const auto [a, b, c] = options.ns_coefficients();
    for (int step = 0; step < kReferenceSteps; step++) {
      p.mutable_grad() = noise_tensor(sizes, 100 + step, dtype);
      Matrix g = matrix_of(p.grad()), update = g;
      const double mu = options.momentum();
      for (size_t i = 0; i < g.size(); i++)
        for (size_t j = 0; j < g[0].size(); j++) {
          buffer[i][j] += (1 - mu) * (g[i][j] - buffer[i][j]);
          update[i][j] = options.nesterov() ? g[i][j] + mu * (buffer[i][j] - g[i][j]) : buffer[i][j];
        }
      update = newton_schulz(update, a, b, c, static_cast<int>(options.ns_steps()), options.eps());
      for (size_t i = 0; i < g.size(); i++)
        for (size_t j = 0; j < g[0].size(); j++)
          w[i][j] = w[i][j] * (1 - options.lr() * options.weight_decay()) - options.lr() * factor * update[i][j];
      optimizer.step();
    }
    expect_near(p, w, tolerance);
  }
}
TEST(Muon, Wide) { run_muon(MuonOptions(0.02), {3, 5}); }
TEST(Muon, Tall) { run_muon(MuonOptions(0.02).momentum(0.8).weight_decay(0.01), {6, 4}); }
TEST(Muon, WithOptions) {
  run_muon(
      MuonOptions(0.02).nesterov(false).ns_steps(3).adjust_lr_fn("match_rms_adamw").ns_coefficients({2, -1.5, 0.5}),
      {4, 4});
}
// By default it iterates in bfloat16, as PyTorch: the step's singular values lie near 1.
TEST(Muon, MakesTheStepOrthogonal) {
  Tensor p = zeros({6, 10}).requires_grad_();
  Muon optimizer(Params{p}, MuonOptions(1).weight_decay(0));
  p.mutable_grad() = noise_tensor({6, 10}, 3, kFloat);
  optimizer.step();
  Tensor values = linalg_svdvals(p.detach());
  EXPECT_GT(values.min().item<double>(), 0.5);
  EXPECT_LT(values.max().item<double>(), 1.4);
}

// PyTorch 2's additions to older optimizers.
TEST(DecoupledDecay, ShrinksBesideTheStep) {
  auto run = [](auto options, auto* type) {
    using O = std::remove_pointer_t<decltype(type)>;
    Tensor a = noise_tensor({4}, 1, kDouble).requires_grad_(), b = a.detach().clone().requires_grad_();
    O decoupled(Params{a}, decltype(options)(options).weight_decay(0.1).decoupled_weight_decay(true));
    O none(Params{b}, options);
    a.mutable_grad() = b.mutable_grad() = noise_tensor({4}, 2, kDouble);
    Tensor before = a.detach().clone();
    decoupled.step();
    none.step();
    std::vector<double> found = flat_values({a}), wanted = flat_values({b.detach() - options.lr() * 0.1 * before});
    for (size_t i = 0; i < found.size(); i++) EXPECT_NEAR(found[i], wanted[i], 1e-15);
  };
  run(NAdamOptions(0.1), static_cast<NAdam*>(nullptr));
  run(RAdamOptions(0.1), static_cast<RAdam*>(nullptr));
}
TEST(Maximize, IsTheStepOfTheOppositeGradient) {
  auto run = [](auto options, auto* type) {
    using O = std::remove_pointer_t<decltype(type)>;
    Tensor a = noise_tensor({4, 3}, 1, kDouble).requires_grad_(), b = a.detach().clone().requires_grad_();
    O up(Params{a}, decltype(options)(options).maximize(true)), down(Params{b}, options);
    for (int64_t step = 0; step < 4; step++) {
      a.mutable_grad() = noise_tensor({4, 3}, 2 + step, kDouble);
      b.mutable_grad() = -a.grad();
      up.step();
      down.step();
    }
    EXPECT_EQ(flat_values({a}), flat_values({b}));
  };
  run(NAdamOptions(), static_cast<NAdam*>(nullptr));
  run(RAdamOptions(0.1).betas({0.5, 0.5}), static_cast<RAdam*>(nullptr));
  run(ASGDOptions(), static_cast<ASGD*>(nullptr));
  run(AdagradOptions(), static_cast<Adagrad*>(nullptr));
}

}  // namespace
}  // namespace cresset::testing::recent_test
