// Cases of ops/linalg that factor: Cholesky, QR, LU. Gradients whose inputs must stay symmetric are checked in
// tests/ops/linalg_test.cpp.
#include "tests/ops/cases/linalg_reference.h"

namespace cresset::test {
namespace {

using namespace linalg;

std::vector<Sample> positives(Make& m) {
  return {{"3x3", {positive(m, {3, 3})}},
          {"batch, upper", {positive(m, {2, 2, 2}), true}},
          {"0x0", {m.tensor({0, 0})}},
          {"large", {positive(m, {30, 30})}, false}};
}
Array cholesky_factors(const Arguments& in) {
  const Array x = in.array(0);
  const int64_t n = x.sizes.back();
  return each_matrix(x, {n, n}, [&](const Mat& a) {
    const Mat l = cholesky(a);
    return (in.flag(1) ? adjoint(l) : l).v;
  });
}
Tensor indefinite(Make& m) {
  return map_matrices(positive(m, {2, 3, 3}), [n = 0](Mat a) mutable {
    if (n++ == 1) a = Mat::zeros(3, 3);
    return a;
  });
}
const std::string cholesky_text =
    "(Batch element 1): The factorization could not be completed because the input is not positive-definite (the "
    "leading minor of order 1 is not positive-definite).";

std::vector<OpCase> cholesky_cases() {
  std::vector<OpCase> cases;
  for (const char* name : {"linalg_cholesky", "cholesky"})
    cases.push_back({.name = name,
                     .torch = name,
                     .samples = positives,
                     .reference = [](const Arguments& in) { return std::vector{cholesky_factors(in)}; },
                     .finite_differences = false,
                     .errors = {not_square(name),
                                {"indefinite", [](Make& m) -> Values { return {indefinite(m)}; },
                                 std::string(name) + ": " + cholesky_text}}});
  cases.push_back({.name = "linalg_cholesky_ex",
                   .torch = "linalg_cholesky_ex",
                   .samples = positives,
                   .reference =
                       [](const Arguments& in) {
                         return std::vector{cholesky_factors(in), infos(in.array(0))};
                       },
                   .finite_differences = false,
                   .errors = {not_square("linalg_cholesky_ex")}});
  return cases;
}

// By Householder's reflections with LAPACK's signs: the diagonal of R is real, against the sign of what it replaces.
struct Qr {
  Mat q, r;
};
Qr factor(const Mat& a) {
  const int64_t m = a.rows, n = a.cols;
  Qr y{Mat::identity(m), a};
  for (int64_t c = 0; c < std::min(m, n); c++) {
    double below = 0;
    for (int64_t i = c + 1; i < m; i++) below += std::norm(y.r(i, c));
    const Complex alpha = y.r(c, c);
    if (below == 0 && alpha.imag() == 0) continue;
    const double beta = (alpha.real() > 0 ? -1 : 1) * std::sqrt(std::norm(alpha) + below);
    const Complex tau((beta - alpha.real()) / beta, -alpha.imag() / beta);
    std::vector<Complex> v(static_cast<size_t>(m));
    v[static_cast<size_t>(c)] = 1;
    for (int64_t i = c + 1; i < m; i++) v[static_cast<size_t>(i)] = y.r(i, c) / (alpha - beta);
    Mat h = Mat::identity(m);  // H^H, which R is multiplied by
    for (int64_t i = c; i < m; i++)
      for (int64_t j = c; j < m; j++)
        h(i, j) -= std::conj(tau) * v[static_cast<size_t>(i)] * std::conj(v[static_cast<size_t>(j)]);
    y.r = mul(h, y.r);
    y.q = mul(y.q, adjoint(h));
  }
  y.r = upper(y.r).rows == m ? upper(y.r) : [&] {
    Mat full = Mat::zeros(m, n);
    const Mat top = upper(y.r);
    for (int64_t i = 0; i < top.rows; i++)
      for (int64_t j = 0; j < n; j++) full(i, j) = top(i, j);
    return full;
  }();
  return y;
}
std::vector<Array> qr_reference(const Array& x, const std::string& mode) {
  const int64_t m = x.sizes.end()[-2], n = x.sizes.back(), k = mode == "complete" ? m : std::min(m, n);
  Array q = each_matrix(x, {m, k}, [&](const Mat& a) { return part(factor(a).q, m, k).v; });
  Array r = each_matrix(x, {k, n}, [&](const Mat& a) { return part(factor(a).r, k, n).v; });
  if (mode == "r") q = Array::filled({0});
  return {q, r};
}
Samples qr_samples(std::vector<std::pair<std::string, Value>> modes) {
  return [modes](Make& m) {
    std::vector<Sample> samples;
    for (const auto& [name, mode] : modes) {
      // LAPACK's R is not smooth in complex phases, and mode r has no gradient.
      const bool smooth = name != "r";
      samples.push_back({name + ", square", {regular(m, {3, 3}), mode}, smooth});
      samples.push_back({name + ", wide", {regular(m, {2, 3}), mode}, smooth});
      samples.push_back({name + ", tall batch", {regular(m, {2, 3, 2}), mode}, name == "reduced"});
      samples.push_back({name + ", empty", {m.tensor({0, 3}), mode}, false});
      samples.push_back({name + ", no columns", {m.tensor({2, 0}), mode}, false});
    }
    return samples;
  };
}

std::vector<OpCase> qr_cases() {
  return {
      {.name = "linalg_qr",
       .torch = "linalg_qr",
       .samples = qr_samples(
           {{"reduced", std::string("reduced")}, {"complete", std::string("complete")}, {"r", std::string("r")}}),
       .reference = [](const Arguments& in) { return qr_reference(in.array(0), std::get<std::string>(in[1])); },
       .complex_gradient = false,
       .errors = {{"mode",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 2}), std::string("full")};
                   },
                   "linalg_qr: received unrecognized mode 'full'"}}},
      {.name = "qr",
       .torch = "qr",
       .samples = qr_samples({{"reduced", true}, {"complete", false}}),
       .reference = [](const Arguments& in) { return qr_reference(in.array(0), in.flag(1) ? "reduced" : "complete"); },
       .complex_gradient = false},
      {.name = "geqrf",
       .torch = "geqrf",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"square", {regular(m, {3, 3})}}, {"tall", {regular(m, {2, 3, 2})}}, {"empty", {m.tensor({0, 2})}}};
       },
       .reference =
           [](const Arguments& in) {
             const Array x = in.array(0);
             return std::vector{x, Array::filled([&] {
                                  Ints sizes = batch_of(x);
                                  sizes.push_back(std::min(x.sizes.end()[-2], x.sizes.back()));
                                  return sizes;
                                }())};
           },
       .gradient = false,
       .values_known = false},
  };
}

// ---- products of reflections 1 - tau v v^H
// Vectors and factors: none of the reflections is nearly singular, which is where PyTorch's gradient divides.
Values reflectors(Make& m, const Ints& sizes, int64_t k) {
  const Tensor input = regular(m, sizes);
  const Array tau = each_matrix(read(input), {k}, [&](const Mat& a) {
    std::vector<Complex> factors;
    for (int64_t c = 0; c < k; c++) {
      double square = 1;
      for (int64_t i = c + 1; i < a.rows; i++) square += std::norm(a(i, c));
      factors.push_back(1.5 / square);
    }
    return factors;
  });
  return {input, tensor_of(tau, m.dtype)};
}
Mat product_of_reflections(const Mat& a, const Mat& tau) {
  Mat q = Mat::identity(a.rows);
  for (int64_t c = 0; c < tau.cols; c++) {
    Mat v = Mat::zeros(a.rows, 1), h = Mat::identity(a.rows);
    v(c, 0) = 1;
    for (int64_t i = c + 1; i < a.rows; i++) v(i, 0) = a(i, c);
    const Mat square = mul(v, adjoint(v));
    for (size_t i = 0; i < h.v.size(); i++) h.v[i] -= tau(0, c) * square.v[i];
    q = mul(q, h);
  }
  return q;
}
Array as_rows(Array x) {
  x.sizes.insert(x.sizes.end() - 1, 1);
  return x;
}

std::vector<OpCase> reflection_cases() {
  std::vector<OpCase> cases;
  for (const std::string name : {"linalg_householder_product", "orgqr"})
    cases.push_back({.name = name,
                     .torch = name,
                     .samples = [](Make& m) -> std::vector<Sample> {
                       return {{"square", reflectors(m, {3, 3}, 3)},
                               {"tall batch", reflectors(m, {2, 4, 2}, 2)},
                               {"fewer reflections", reflectors(m, {4, 3}, 2)},
                               {"one", reflectors(m, {3, 1}, 1)},
                               {"none", {m.tensor({3, 2}), m.tensor({0})}, false},
                               {"no columns", {m.tensor({3, 0}), m.tensor({0})}, false},
                               {"empty batch", {m.tensor({0, 3, 2}), m.tensor({0, 2})}, false}};
                     },
                     .reference =
                         [](const Arguments& in) {
                           const Array x = in.array(0), tau = as_rows(in.array(1));
                           const int64_t rows = x.sizes.end()[-2], cols = x.sizes.back();
                           return std::vector{each(batch_of(x), {rows, cols}, [&](const Index& at) {
                             return part(product_of_reflections(matrix_at(x, at), matrix_at(tau, at)), rows, cols).v;
                           })};
                         },
                     .errors = {{"vector",
                                 [](Make& m) -> Values {
                                   return {m.tensor({3}), m.tensor({})};
                                 },
                                 name + ": The input tensor input must have at least 2 dimensions, found shape [3]"},
                                {"wide",
                                 [](Make& m) {
                                   return reflectors(m, {2, 3}, 2);
                                 },
                                 name + ": found input of shape [2, 3] (expected at least as many rows as columns)"},
                                {"tau too long",
                                 [](Make& m) -> Values {
                                   return {m.tensor({3, 2}), m.tensor({3})};
                                 },
                                 name + ": found 3 elements in tau (expected at most 2"},
                                {"tau of one matrix",
                                 [](Make& m) -> Values {
                                   return {m.tensor({2, 3, 2}), m.tensor({2})};
                                 },
                                 name + ": found tau of shape [2] (expected [2, 2]"}}});
  cases.push_back({.name = "ormqr",
                   .torch = "ormqr",
                   .samples = [](Make& m) -> std::vector<Sample> {
                     std::vector<Sample> samples;
                     for (bool left : {true, false})
                       for (bool adjoint : {false, true}) {
                         Values one = reflectors(m, {3, 2}, 2), batch = reflectors(m, {2, 3, 3}, 3);
                         one.push_back(m.tensor(left ? Ints{3, 2} : Ints{2, 3}));
                         batch.push_back(m.tensor(left ? Ints{2, 3, 1} : Ints{2, 1, 3}));
                         for (Values* values : {&one, &batch}) {
                           values->push_back(left);
                           values->push_back(adjoint);
                         }
                         const std::string side = left ? "left" : "right", of = adjoint ? ", adjoint" : "";
                         samples.push_back({side + of, one});
                         samples.push_back({side + of + ", batch", batch});
                       }
                     Values wide = reflectors(m, {2, 3}, 2);
                     wide.push_back(m.tensor({2, 4}));
                     samples.push_back({"more columns than reflections", wide});
                     samples.push_back({"nothing", {m.tensor({3, 2}), m.tensor({2}), m.tensor({3, 0})}, false});
                     return samples;
                   },
                   .reference =
                       [](const Arguments& in) {
                         const Array x = in.array(0), tau = as_rows(in.array(1)), c = in.array(2);
                         const bool left = !in.given(3) || in.flag(3), conjugated = in.given(4) && in.flag(4);
                         return std::vector{
                             each(batch_of(c), {c.sizes.end()[-2], c.sizes.back()}, [&](const Index& at) {
                               Mat q = product_of_reflections(matrix_at(x, at), matrix_at(tau, at));
                               if (conjugated) q = adjoint(q);
                               return (left ? mul(q, matrix_at(c, at)) : mul(matrix_at(c, at), q)).v;
                             })};
                       },
                   .errors = {{"rows",
                               [](Make& m) -> Values {
                                 return {m.tensor({3, 2}), m.tensor({2}), m.tensor({2, 3})};
                               },
                               "ormqr: found input of shape [3, 2], tau of [2] and other of [2, 3]"}}});
  return cases;
}

// ---- LU
// Every step exchanges rows, and no seed leaves open which: one element of each column is much larger.
Tensor to_be_turned(Make& make, const Ints& sizes) {
  return map_matrices(make.tensor(sizes), [](Mat m) {
    for (int64_t i = 0; i < std::min(m.rows, m.cols); i++) m(m.rows - 1 - i, i) += 10.0 + static_cast<double>(i);
    return m;
  });
}
Samples rectangles() {
  return [](Make& m) -> std::vector<Sample> {
    return {{"square", {to_be_turned(m, {3, 3})}}, {"batch", {regular(m, {2, 2, 2})}},
            {"wide", {to_be_turned(m, {2, 4})}},   {"tall", {to_be_turned(m, {4, 2})}},
            {"empty", {m.tensor({0, 3})}, false},  {"large", {m.tensor({30, 30})}, false}};
  };
}
Array packed(const Array& x) {
  return each_matrix(x, {x.sizes.end()[-2], x.sizes.back()}, [](const Mat& a) { return lu(a).packed.v; });
}
Array pivots(const Array& x) {
  Array y = each_matrix(x, {std::min(x.sizes.end()[-2], x.sizes.back())}, [](const Mat& a) {
    std::vector<Complex> list;
    for (int64_t p : lu(a).pivots) list.push_back(static_cast<double>(p));
    return list;
  });
  y.dtype = kInt;
  return y;
}
std::vector<Array> plu(const Array& x) {
  const int64_t m = x.sizes.end()[-2], n = x.sizes.back(), k = std::min(m, n);
  return {each_matrix(x, {m, m}, [&](const Mat& a) { return permutation(lu(a).pivots, m).v; }),
          each_matrix(x, {m, k}, [](const Mat& a) { return lower(lu(a).packed).v; }),
          each_matrix(x, {k, n}, [](const Mat& a) { return upper(lu(a).packed).v; })};
}

Values factors_of(Make& m, const Ints& sizes) {
  const Array x = read(regular(m, sizes));
  return {tensor_of(packed(x), m.dtype), tensor_of(pivots(x), kInt)};
}
// From packed factors: the matrix.
Mat whole(const Mat& factors, const std::vector<int64_t>& swaps) {
  return mul(permutation(swaps, factors.rows), mul(lower(factors), upper(factors)));
}
Array lu_solved(const Array& factors, const Array& swaps, const Array& b, bool left, bool conjugated) {
  const int64_t n = factors.sizes.back();
  const Ints batch = broadcast(batch_of(factors), batch_of(b));
  return each(batch, {b.sizes.end()[-2], b.sizes.back()}, [&](const Index& at) {
    const Mat row = matrix_at(as_rows(swaps), at);
    std::vector<int64_t> list;
    for (int64_t i = 0; i < n; i++) list.push_back(static_cast<int64_t>(row(0, i).real()));
    Mat a = whole(matrix_at(factors, at), list);
    if (conjugated) a = adjoint(a);
    const Mat rhs = matrix_at(b, at);
    return left ? solve(a, rhs).x.v : mul(rhs, inverse(a)).v;
  });
}

std::vector<OpCase> lu_cases() {
  const ErrorCase pivot = {"no pivoting",
                           [](Make& m) -> Values {
                             return {m.tensor({2, 2}), false};
                           },
                           "LU without pivoting is not implemented on the CPU"};
  return {
      {.name = "linalg_lu_factor",
       .torch = "linalg_lu_factor",
       .samples = rectangles(),
       .reference =
           [](const Arguments& in) {
             return std::vector{packed(in.array(0)), pivots(in.array(0))};
           },
       .errors = {pivot,
                  {"singular",
                   [](Make& m) -> Values {
                     return {tensor_of(Array::filled({3, 3}), m.dtype)};
                   },
                   "linalg_lu_factor: U[1,1] is zero and using it on lu_solve would result in a division by zero"}}},
      {.name = "linalg_lu_factor_ex",
       .torch = "linalg_lu_factor_ex",
       .samples = rectangles(),
       .reference =
           [](const Arguments& in) {
             return std::vector{packed(in.array(0)), pivots(in.array(0)), infos(in.array(0))};
           },
       .errors = {pivot}},
      {.name = "linalg_lu",
       .torch = "linalg_lu",
       .samples = rectangles(),
       .reference = [](const Arguments& in) { return plu(in.array(0)); },
       .errors = {pivot}},
      {.name = "lu_unpack",
       .torch = "lu_unpack",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"square", factors_of(m, {3, 3})},
                 {"tall batch", factors_of(m, {2, 3, 2})},
                 {"wide", factors_of(m, {2, 3})}};
       },
       .reference =
           [](const Arguments& in) {
             const Array x = in.array(0);
             const int64_t m = x.sizes.end()[-2], n = x.sizes.back(), k = std::min(m, n);
             return std::vector{each_matrix(as_rows(in.array(1)), {m, m},
                                            [&](const Mat& row) {
                                              std::vector<int64_t> list;
                                              for (Complex p : row.v) list.push_back(static_cast<int64_t>(p.real()));
                                              return permutation(list, m).v;
                                            }),
                                each_matrix(x, {m, k}, [](const Mat& a) { return lower(a).v; }),
                                each_matrix(x, {k, n}, [](const Mat& a) { return upper(a).v; })};
           },
       .refused = {kBool},
       .constants = {1}},
      {.name = "linalg_lu_solve",
       .torch = "linalg_lu_solve",
       .samples = [](Make& m) -> std::vector<Sample> {
         std::vector<Sample> samples;
         auto put = [&](const char* label, const Ints& a, const Ints& b, bool left, bool conjugated) {
           Values values = factors_of(m, a);
           values.push_back(m.tensor(b));
           values.push_back(left);
           values.push_back(conjugated);
           samples.push_back({label, values});
         };
         put("plain", {3, 3}, {3, 2}, true, false);
         put("batch", {2, 2, 2}, {2, 2, 1}, true, false);
         put("adjoint", {3, 3}, {3, 2}, true, true);
         put("from the right", {3, 3}, {2, 3}, false, false);
         put("from the right, adjoint", {2, 2}, {1, 2}, false, true);
         put("broadcast", {2, 2}, {3, 2, 1}, true, false);
         return samples;
       },
       .reference =
           [](const Arguments& in) {
             return std::vector{lu_solved(in.array(0), in.array(1), in.array(2), in.flag(3), in.flag(4))};
           },
       .errors = {{"shapes",
                   [](Make& m) -> Values {
                     Values values = factors_of(m, {2, 2});
                     values.push_back(m.tensor({3, 1}));
                     return values;
                   },
                   "linalg_lu_solve: Incompatible shapes of LU and B"}},
       .constants = {1}},
      {.name = "lu_solve",
       .torch = "lu_solve",
       .samples = [](Make& m) -> std::vector<Sample> {
         std::vector<Sample> samples;
         for (auto [a, b] : std::vector<std::pair<Ints, Ints>>{{{3, 3}, {3, 2}}, {{2, 2, 2}, {2, 2, 1}}}) {
           Values values = factors_of(m, a);
           values.insert(values.begin(), m.tensor(b));
           samples.push_back({text_of(a), values});
         }
         return samples;
       },
       .reference =
           [](const Arguments& in) {
             return std::vector{lu_solved(in.array(1), in.array(2), in.array(0), true, false)};
           },
       .constants = {2}},
  };
}

}  // namespace

std::vector<OpCase> linalg_factor_cases() {
  std::vector<OpCase> cases = cholesky_cases();
  for (OpCase& one : qr_cases()) cases.push_back(one);
  for (OpCase& one : reflection_cases()) cases.push_back(one);
  for (OpCase& one : lu_cases()) cases.push_back(one);
  cases = with_lapack_dtypes(cases);
  for (OpCase& one : cases)
    if (one.name == "lu_unpack") {
      one.refused.clear();
      for (DType dtype : without(all_dtypes, {kFloat, kDouble, kComplex64, kComplex128}))
        one.untested.push_back({dtype, "there are no factors of it"});
    }
  return cases;
}

}  // namespace cresset::test
