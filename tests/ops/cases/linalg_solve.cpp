// Cases of ops/linalg that solve: inverses, systems, determinants, the exponential.
#include "tests/ops/cases/linalg_reference.h"

namespace cresset::test {
namespace {

using namespace linalg;

// A matrix that can be inverted, whatever the seed, with its rows in two dimensions.
Tensor square_tensor(Make& m) {
  Array array = read(regular(m, {4, 4}));
  array.sizes = {2, 2, 4};
  return tensor_of(array, m.dtype);
}

std::vector<Sample> squares(Make& m) {
  return {{"3x3", {regular(m, {3, 3})}},           {"batch", {regular(m, {2, 2, 2})}},
          {"1x1", {regular(m, {1, 1})}},           {"0x0", {m.tensor({0, 0})}},
          {"no matrices", {m.tensor({0, 2, 2})}},  {"many, large", {regular(m, {40, 5, 5})}, false},
          {"large", {regular(m, {30, 30})}, false}};
}
Reference of_matrix(const std::function<Mat(const Mat&)>& f) {
  return [f](const Arguments& in) {
    const Array x = in.array(0);
    return std::vector{each_matrix(x, {x.sizes.back(), x.sizes.end()[-2]}, [&](const Mat& a) { return f(a).v; })};
  };
}
Array numbers(const Array& x, const std::function<Complex(const Mat&)>& f) {
  return each_matrix(x, {}, [&](const Mat& a) { return std::vector<Complex>{f(a)}; });
}
Complex determinant(const Mat& a) { return solve(a, Mat::zeros(a.rows, 0)).det; }

// A X = B, broadcast.
Array solved(const Array& a, Array b, bool left, bool vector) {
  if (vector) b.sizes.push_back(1);
  const Ints batch = broadcast(batch_of(a), batch_of(b));
  Array y = each(batch, {b.sizes.end()[-2], b.sizes.back()}, [&](const Index& at) {
    const Mat x = matrix_at(a, at), z = matrix_at(b, at);
    return left ? solve(x, z).x.v : mul(z, inverse(x)).v;
  });
  if (vector) y.sizes.pop_back();
  return y;
}
Samples systems(bool vectors) {
  return [vectors](Make& m) -> std::vector<Sample> {
    std::vector<Sample> samples = {{"matrix", {regular(m, {3, 3}), m.tensor({3, 2})}},
                                   {"batch", {regular(m, {2, 2, 2}), m.tensor({2, 2, 3})}},
                                   {"broadcast", {regular(m, {2, 1, 2, 2}), m.tensor({3, 2, 1})}},
                                   {"from the right", {regular(m, {3, 3}), m.tensor({2, 3}), false}},
                                   {"empty", {m.tensor({0, 0}), m.tensor({0, 2})}},
                                   {"no columns", {regular(m, {2, 2}), m.tensor({2, 0})}},
                                   {"large", {regular(m, {30, 30}), m.tensor({30, 3})}, false}};
    if (vectors) samples.push_back({"vector", {regular(m, {3, 3}), m.tensor({3})}});
    return samples;
  };
}

Tensor singular(Make& m) {
  return map_matrices(regular(m, {2, 3, 3}), [n = 0](Mat a) mutable {
    if (n++ == 1)
      for (int64_t j = 0; j < 3; j++) a(1, j) = 0, a(j, 1) = 0;
    return a;
  });
}
ErrorCase singular_case(const std::string& text) {
  return {"singular", [](Make& m) -> Values { return {singular(m)}; }, text};
}
const std::string inverse_text =
    "(Batch element 1): The diagonal element 3 is zero, the inversion could not be completed because the input matrix "
    "is singular";

Samples triangular_systems(bool old_names) {
  return [old_names](Make& m) -> std::vector<Sample> {
    std::vector<Sample> samples;
    auto put = [&](const char* label, Tensor a, Tensor b, std::initializer_list<bool> flags) {
      Values values = old_names ? Values{b, a} : Values{a, b};
      for (bool flag : flags) values.push_back(flag);
      samples.push_back({label, values});
    };
    put("upper", triangular(m, {3, 3}, true), m.tensor({3, 2}), {true});
    put("lower batch", triangular(m, {2, 2, 2}, false), m.tensor({2, 2, 1}), {false});
    put("broadcast", triangular(m, {2, 2}, true), m.tensor({2, 2, 3}), {true});
    put("empty", m.tensor({0, 0}), m.tensor({0, 2}), {true});
    if (old_names) {
      put("transposed", triangular(m, {3, 3}, true), m.tensor({3, 2}), {true, true});
      put("unit", triangular(m, {3, 3}, false), m.tensor({3, 2}), {false, false, true});
    } else {
      put("from the right", triangular(m, {3, 3}, true), m.tensor({2, 3}), {true, false});
      put("unit", triangular(m, {3, 3}, false), m.tensor({3, 2}), {false, true, true});
    }
    return samples;
  };
}
Array with_unit_diagonal(Array a) {
  for_each_index(a.sizes, [&](const Index& at) {
    if (at[at.size() - 1] == at[at.size() - 2]) a[at] = 1;
  });
  return a;
}

Array expanded(const Array& x, const Ints& batch) {
  Ints sizes = batch;
  sizes.insert(sizes.end(), x.sizes.end() - 2, x.sizes.end());
  return broadcast_to(x, sizes);
}

Mat exponential(const Mat& a) {
  Mat scaled = a, y = Mat::identity(a.rows), term = y;
  constexpr int halvings = 6;
  for (Complex& x : scaled.v) x /= 1 << halvings;
  for (int i = 1; i < 24; i++) {
    term = mul(term, scaled);
    for (size_t k = 0; k < y.v.size(); k++) y.v[k] += (term.v[k] /= static_cast<double>(i));
  }
  for (int i = 0; i < halvings; i++) y = mul(y, y);
  return y;
}

Reference slogdets() {
  return [](const Arguments& in) {
    const Array x = in.array(0);
    Array sign = numbers(x, [](const Mat& a) { return determinant(a) / std::abs(determinant(a)); });
    Array logs = numbers(x, [](const Mat& a) { return Complex(std::log(std::abs(determinant(a)))); });
    logs.dtype = to_real(in.dtype);
    return std::vector{sign, logs};
  };
}

std::vector<Sample> factors_and_systems(Make& m) {
  return {{"lower", {m.tensor({3, 2}), triangular(m, {3, 3}, false)}},
          {"upper", {m.tensor({2, 2, 1}), triangular(m, {2, 2, 2}, true), true}},
          {"broadcast", {m.tensor({2, 3, 2}), triangular(m, {3, 3}, false)}},
          {"empty", {m.tensor({0, 2}), m.tensor({0, 0})}}};
}

std::vector<OpCase> inverse_cases() {
  std::vector<OpCase> cases;
  for (const char* name : {"linalg_inv", "inverse"})
    cases.push_back(
        {.name = name,
         .torch = name,
         .samples = squares,
         .reference = of_matrix(inverse),
         .errors = {not_square(name), vector_given(name), singular_case(std::string(name) + ": " + inverse_text)}});
  cases.push_back({.name = "linalg_inv_ex",
                   .torch = "linalg_inv_ex",
                   .samples = squares,
                   .reference =
                       [](const Arguments& in) {
                         const Array x = in.array(0);
                         return std::vector{of_matrix(inverse)(in)[0], infos(x)};
                       },
                   .errors = {not_square("linalg_inv_ex"),
                              {"singular",
                               [](Make& m) -> Values {
                                 return {singular(m), true};
                               },
                               "linalg_inv_ex: " + inverse_text}}});
  cases.push_back({.name = "linalg_tensorinv",
                   .torch = "linalg_tensorinv",
                   .samples = [](Make& m) -> std::vector<Sample> {
                     return {{"ind 1", {regular(m, {4, 4}), int64_t{1}}}, {"ind 2", {square_tensor(m)}}};
                   },
                   .reference =
                       [](const Arguments& in) {
                         Array x = in.array(0);
                         const bool one = in.integer(1) == 1;
                         x.sizes = {4, 4};
                         Array y = each_matrix(x, {4, 4}, [](const Mat& a) { return inverse(a).v; });
                         if (!one) y.sizes = {4, 2, 2};
                         return std::vector{y};
                       },
                   .errors = {{"sizes",
                               [](Make& m) -> Values {
                                 return {m.tensor({2, 3}), int64_t{1}};
                               },
                               "prod(self.shape[ind:]) == prod(self.shape[:ind]), but got 3 != 2"}}});
  return cases;
}

std::vector<OpCase> system_cases() {
  const ErrorCase wrong = {"shapes",
                           [](Make& m) -> Values {
                             return {m.tensor({2, 2}), m.tensor({3, 2})};
                           },
                           "Incompatible shapes of A and B for the equation AX = B"};
  return {
      {.name = "linalg_solve",
       .torch = "linalg_solve",
       .samples = systems(true),
       .reference =
           [](const Arguments& in) {
             const Array b = in.array(1);
             return std::vector{solved(in.array(0), b, in.flag(2), b.rank() == 1)};
           },
       .errors = {wrong,
                  {"singular",
                   [](Make& m) -> Values {
                     return {singular(m), m.tensor({3, 1})};
                   },
                   "linalg_solve: (Batch element 1): The solver failed because the input matrix is singular."}}},
      {.name = "linalg_solve_ex",
       .torch = "linalg_solve_ex",
       .samples = systems(false),
       .reference =
           [](const Arguments& in) {
             Array y = solved(in.array(0), in.array(1), in.flag(2), false);
             return std::vector{y, infos(in.array(0))};
           },
       .errors = {wrong}},
      {.name = "linalg_solve_triangular",
       .torch = "linalg_solve_triangular",
       .samples = triangular_systems(false),
       .reference =
           [](const Arguments& in) {
             const Array a = in.flag(4) ? with_unit_diagonal(in.array(0)) : in.array(0);
             return std::vector{solved(a, in.array(1), in.flag(3), false)};
           },
       .finite_differences = true,
       .errors = {{"shapes",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 2}), m.tensor({3, 2}), true};
                   },
                   "Incompatible shapes of A and B"}}},
      {.name = "triangular_solve",
       .torch = "triangular_solve",
       .samples = triangular_systems(true),
       .reference =
           [](const Arguments& in) {
             const Array given = in.array(1);
             Array a = in.flag(4) ? with_unit_diagonal(given) : given;
             if (in.flag(3))
               a = gathered(a, a.sizes, [](Index at) {
                 std::swap(at[at.size() - 1], at[at.size() - 2]);
                 return at;
               });
             Array x = solved(a, in.array(0), true, false);
             return std::vector{x, expanded(given, batch_of(x))};
           }},
      {.name = "cholesky_solve",
       .torch = "cholesky_solve",
       .samples = factors_and_systems,
       .reference =
           [](const Arguments& in) {
             const Array l = in.array(1);
             const bool upper = in.flag(2);
             Array a = each_matrix(l, {l.sizes.back(), l.sizes.back()},
                                   [&](const Mat& f) { return (upper ? mul(adjoint(f), f) : mul(f, adjoint(f))).v; });
             return std::vector{solved(a, in.array(0), true, false)};
           },
       .finite_differences = false},
      {.name = "cholesky_inverse",
       .torch = "cholesky_inverse",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"lower", {triangular(m, {3, 3}, false)}},
                 {"upper", {triangular(m, {2, 2, 2}, true), true}},
                 {"empty", {m.tensor({0, 0})}}};
       },
       .reference =
           [](const Arguments& in) {
             const Array l = in.array(0);
             return std::vector{each_matrix(l, {l.sizes.back(), l.sizes.back()}, [&](const Mat& f) {
               return inverse(in.flag(1) ? mul(adjoint(f), f) : mul(f, adjoint(f))).v;
             })};
           },
       .finite_differences = false},
      {.name = "linalg_tensorsolve",
       .torch = "linalg_tensorsolve",
       .samples = [](Make& m) -> std::vector<Sample> {
         Array moved = gathered(read(square_tensor(m)), {2, 4, 2}, [](const Index& at) {
           return Index{at[0], at[2], at[1]};
         });
         return {{"plain", {square_tensor(m), m.tensor({2, 2})}},
                 {"moved", {tensor_of(moved, m.dtype), m.tensor({2, 2}), Ints{1}}}};
       },
       .reference =
           [](const Arguments& in) {
             Array a = in.array(0), b = in.array(1);
             if (in.given(2)) a = gathered(a, {2, 2, 4}, [](const Index& at) { return Index{at[0], at[2], at[1]}; });
             a.sizes = {4, 4};
             b.sizes = {4};
             Array y = solved(a, b, true, true);
             return std::vector{y};
           }},
  };
}

std::vector<OpCase> determinant_cases() {
  std::vector<OpCase> cases;
  for (const char* name : {"linalg_det", "det"})
    cases.push_back({.name = name,
                     .torch = name,
                     .samples = squares,
                     .reference = [](const Arguments& in) { return std::vector{numbers(in.array(0), determinant)}; },
                     .errors = {not_square(name), vector_given(name)}});
  for (const char* name : {"linalg_slogdet", "slogdet"})
    cases.push_back(
        {.name = name, .torch = name, .samples = squares, .reference = slogdets(), .errors = {not_square(name)}});
  cases.push_back(
      {.name = "logdet",
       .torch = "logdet",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"3x3", {positive(m, {3, 3})}}, {"batch", {positive(m, {2, 2, 2})}}, {"empty", {m.tensor({0, 0})}}};
       },
       .reference =
           [](const Arguments& in) {
             return std::vector{numbers(in.array(0), [&](const Mat& a) {
               const Complex log = std::log(determinant(a));
               return is_complex(in.dtype) ? log : Complex(log.real());
             })};
           },
       .errors = {not_square("logdet")}});
  cases.push_back({.name = "matrix_exp",
                   .torch = "matrix_exp",
                   .samples = [](Make& m) -> std::vector<Sample> {
                     return {{"3x3", {m.tensor({3, 3})}},
                             {"batch", {m.tensor({2, 2, 2})}},
                             {"1x1", {m.tensor({1, 1})}},
                             {"0x0", {m.tensor({0, 0})}}};
                   },
                   .reference = of_matrix(exponential),
                   .errors = {not_square("matrix_exp")}});
  return cases;
}

}  // namespace

std::vector<OpCase> linalg_solve_cases() {
  std::vector<OpCase> cases = inverse_cases();
  for (OpCase& one : system_cases()) cases.push_back(one);
  for (OpCase& one : determinant_cases()) cases.push_back(one);
  cases = with_lapack_dtypes(cases);
  for (OpCase& one : cases)
    if (one.name == "matrix_exp") {
      one.dtypes = floats;
      one.refused = {kUInt8, kInt8, kInt16, kInt32, kInt64, kBool};
    }
  return cases;
}

}  // namespace cresset::test
