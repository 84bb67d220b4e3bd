// Cases of ops/linalg around eigenvalues and singular values. Vectors are defined up to a factor: their values and
// gradients are checked in tests/ops/linalg_test.cpp.
#include "tests/ops/cases/linalg_reference.h"

namespace cresset::test {
namespace {

using namespace linalg;

Array values_of(const Array& x, int64_t count, DType dtype, const std::function<std::vector<double>(const Mat&)>& f) {
  Array y = each_matrix(x, {count}, [&](const Mat& a) {
    std::vector<Complex> list;
    for (double value : f(a)) list.emplace_back(value);
    return list;
  });
  y.dtype = to_real(dtype);
  return y;
}
Array of_shape(const Array& x, const Ints& sizes, DType dtype) {
  Ints all = batch_of(x);
  all.insert(all.end(), sizes.begin(), sizes.end());
  Array y = Array::filled(all);
  y.dtype = dtype;
  return y;
}

std::vector<Sample> hermitian_samples(Make& m) {
  return {{"3x3", {positive(m, {3, 3})}},
          {"batch, upper", {positive(m, {2, 2, 2}), std::string("U")}},
          {"0x0", {m.tensor({0, 0})}, false},
          {"many", {positive(m, {20, 3, 3})}, false}};
}
std::vector<Sample> rectangle_samples(Make& m) {
  return {{"square", {regular(m, {3, 3})}},
          {"tall", {regular(m, {4, 2})}},
          {"wide batch", {regular(m, {2, 2, 3})}},
          {"empty", {m.tensor({0, 3})}, false},
          {"large", {m.tensor({20, 30})}, false}};
}
ErrorCase bad_uplo(const std::string& op) {
  return {"UPLO",
          [](Make& m) -> Values {
            return {m.tensor({2, 2}), std::string("X")};
          },
          op + ": Expected UPLO argument to be 'L' or 'U', but got X"};
}
Tensor not_finite(Make& m) {
  Array a = Array::filled({2, 2}, std::numeric_limits<double>::quiet_NaN());
  return tensor_of(a, m.dtype);
}

// The pseudo-inverse of a matrix of full rank.
Mat pseudo_inverse(const Mat& a) {
  return a.rows >= a.cols ? mul(inverse(mul(adjoint(a), a)), adjoint(a)) : mul(adjoint(a), inverse(mul(a, adjoint(a))));
}
Reference pinv_reference() {
  return [](const Arguments& in) {
    const Array x = in.array(0);
    return std::vector{
        each_matrix(x, {x.sizes.back(), x.sizes.end()[-2]}, [](const Mat& a) { return pseudo_inverse(a).v; })};
  };
}
std::vector<Sample> full_rank(Make& m, const Values& rest) {
  std::vector<Sample> samples = {{"square", {regular(m, {3, 3})}},
                                 {"tall", {regular(m, {4, 2})}},
                                 {"wide batch", {regular(m, {2, 2, 3})}},
                                 {"empty", {m.tensor({0, 3})}, false}};
  for (Sample& sample : samples) sample.arguments.insert(sample.arguments.end(), rest.begin(), rest.end());
  return samples;
}

Tensor of_rank_two(Make& m, const Ints& sizes) {
  return map_matrices(m.tensor(sizes), [](Mat a) {
    for (int64_t i = 2; i < a.rows; i++)
      for (int64_t j = 0; j < a.cols; j++) a(i, j) = a(0, j) + a(1, j) * static_cast<double>(i);
    return a;
  });
}
Reference ranks() {
  return [](const Arguments& in) {
    const Array x = in.array(0);
    Array y = each_matrix(x, {}, [](const Mat& a) {
      return std::vector<Complex>{static_cast<double>(std::min<int64_t>(2, std::min(a.rows, a.cols)))};
    });
    y.dtype = kLong;
    return std::vector{y};
  };
}

Samples least_squares() {
  return [](Make& m) -> std::vector<Sample> {
    std::vector<Sample> samples;
    for (const char* driver : {"gelsy", "gelsd", "gelss", "gels"}) {
      auto put = [&](const std::string& label, const Ints& a, const Ints& b) {
        samples.push_back({std::string(driver) + ", " + label, {regular(m, a), m.tensor(b), {}, std::string(driver)}});
      };
      put("tall", {4, 2}, {4, 3});
      put("wide", {2, 3}, {2, 1});
      put("square batch", {2, 2, 2}, {2, 2, 1});
    }
    return samples;
  };
}
std::vector<Array> solutions(const Arguments& in) {
  const Array a = in.array(0), b = in.array(1);
  const std::string driver = std::get<std::string>(in[3]);
  const int64_t m = a.sizes.end()[-2], n = a.sizes.back(), k = b.sizes.back(), least = std::min(m, n);
  Array x = each(batch_of(a), {n, k},
                 [&](const Index& at) { return mul(pseudo_inverse(matrix_at(a, at)), matrix_at(b, at)).v; });
  Array none = Array::filled({0}), rank = of_shape(a, {}, kLong), values = none;
  none.dtype = values.dtype = to_real(in.dtype);
  for (Complex& r : rank.values) r = static_cast<double>(least);
  if (driver == "gels") rank = Array::filled({0}), rank.dtype = kLong;
  if (driver == "gelsd" || driver == "gelss") values = values_of(a, least, in.dtype, singular_values);
  Array residuals = none;
  if (m > n && driver != "gelsy") {
    residuals = each(batch_of(a), {k}, [&](const Index& at) {
      const Mat made = mul(matrix_at(a, at), matrix_at(x, at)), wanted = matrix_at(b, at);
      std::vector<Complex> sums(static_cast<size_t>(k));
      for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < k; j++) sums[static_cast<size_t>(j)] += std::norm(made(i, j) - wanted(i, j));
      return sums;
    });
    residuals.dtype = to_real(in.dtype);
  }
  return {x, residuals, rank, values};
}

std::vector<OpCase> eigen_cases() {
  return {
      {.name = "linalg_eigh",
       .torch = "linalg_eigh",
       .samples = hermitian_samples,
       .reference =
           [](const Arguments& in) {
             const Array x = in.array(0);
             const int64_t n = x.sizes.back();
             return std::vector{of_shape(x, {n}, to_real(in.dtype)), of_shape(x, {n, n}, in.dtype)};
           },
       .complex_gradient = false,
       .finite_differences = false,
       .errors = {not_square("linalg_eigh"), bad_uplo("linalg_eigh")},
       .values_known = false},
      {.name = "linalg_eigvalsh",
       .torch = "linalg_eigvalsh",
       .samples = hermitian_samples,
       .reference =
           [](const Arguments& in) {
             return std::vector{values_of(in.array(0), in.array(0).sizes.back(), in.dtype, hermitian_values)};
           },
       .finite_differences = false,
       .errors = {not_square("linalg_eigvalsh"), bad_uplo("linalg_eigvalsh")}},
      {.name = "linalg_eig",
       .torch = "linalg_eig",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"3x3", {regular(m, {3, 3})}}, {"batch", {m.tensor({2, 2, 2})}}, {"0x0", {m.tensor({0, 0})}, false}};
       },
       .reference =
           [](const Arguments& in) {
             const Array x = in.array(0);
             const int64_t n = x.sizes.back();
             return std::vector{of_shape(x, {n}, to_complex(in.dtype)), of_shape(x, {n, n}, to_complex(in.dtype))};
           },
       .complex_gradient = false,
       .finite_differences = false,
       .errors = {not_square("linalg_eig"),
                  {"nan", [](Make& m) -> Values { return {not_finite(m)}; },
                   "linalg_eig: input tensor should not contain infs or NaNs."}},
       .values_known = false},
      {.name = "linalg_eigvals",
       .torch = "linalg_eigvals",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"3x3", {regular(m, {3, 3})}}, {"batch", {m.tensor({2, 2, 2})}}, {"0x0", {m.tensor({0, 0})}, false}};
       },
       .reference =
           [](const Arguments& in) {
             const Array x = in.array(0);
             return std::vector{of_shape(x, {x.sizes.back()}, to_complex(in.dtype))};
           },
       .errors = {not_square("linalg_eigvals")},
       .values_known = false},
  };
}

std::vector<OpCase> singular_cases() {
  return {
      {.name = "linalg_svd",
       .torch = "linalg_svd",
       .samples =
           [](Make& m) {
             std::vector<Sample> samples = rectangle_samples(m);
             for (size_t i = 0, n = samples.size(); i < n; i++) {
               samples.push_back(
                   {samples[i].label + ", reduced", {samples[i].arguments[0], false}, samples[i].differentiate});
               if (samples[i].label != "square")
                 samples[i].differentiate = false;  // the rest of the columns is anyone's
             }
             return samples;
           },
       .reference =
           [](const Arguments& in) {
             const Array x = in.array(0);
             const int64_t m = x.sizes.end()[-2], n = x.sizes.back(), k = std::min(m, n);
             return std::vector{of_shape(x, {m, in.flag(1) ? m : k}, in.dtype), of_shape(x, {k}, to_real(in.dtype)),
                                of_shape(x, {in.flag(1) ? n : k, n}, in.dtype)};
           },
       .complex_gradient = false,
       .errors =
           {vector_given("linalg_svd"),
            {"nan", [](Make& m) -> Values { return {not_finite(m)}; },
             "linalg_svd: The algorithm failed to converge because the input matrix contained non-finite values."}},
       .values_known = false},
      {.name = "svd",
       .torch = "svd",
       .samples =
           [](Make& m) {
             std::vector<Sample> samples = rectangle_samples(m);
             samples.push_back({"full", {m.tensor({3, 2}), false}, false});
             samples.push_back({"values only", {m.tensor({3, 2}), true, false}, false});
             return samples;
           },
       .reference =
           [](const Arguments& in) {
             const Array x = in.array(0);
             const bool some = in.flag(1) && in.flag(2);
             const int64_t m = x.sizes.end()[-2], n = x.sizes.back(), k = std::min(m, n);
             return std::vector{of_shape(x, {m, some ? k : m}, in.dtype), of_shape(x, {k}, to_real(in.dtype)),
                                of_shape(x, {n, some ? k : n}, in.dtype)};
           },
       .complex_gradient = false,
       .values_known = false},
      {.name = "linalg_svdvals",
       .torch = "linalg_svdvals",
       .samples = rectangle_samples,
       .reference =
           [](const Arguments& in) {
             const Array x = in.array(0);
             return std::vector{values_of(x, std::min(x.sizes.end()[-2], x.sizes.back()), in.dtype, singular_values)};
           },
       .errors = {vector_given("linalg_svdvals")}},
      {.name = "linalg_pinv",
       .overload = "atol_rtol_float",
       .torch = "linalg_pinv.atol_rtol_float",
       .samples =
           [](Make& m) {
             std::vector<Sample> samples = full_rank(m, {});
             samples.push_back({"limits", {regular(m, {3, 2}), 1e-3, 1e-4}});
             samples.push_back({"hermitian", {positive(m, {3, 3}), {}, {}, true}, false});
             return samples;
           },
       .reference = pinv_reference(),
       .errors = {vector_given("linalg_pinv")}},
      {.name = "linalg_pinv",
       .overload = "atol_rtol_tensor",
       .torch = "linalg_pinv.atol_rtol_tensor",
       .samples =
           [](Make& m) {
             Array limit = Array::number(1e-4);
             const Tensor small = tensor_of(limit, to_real(is_differentiable(m.dtype) ? m.dtype : kFloat));
             return full_rank(m, {small, small});
           },
       .reference = pinv_reference(),
       .may_be_undefined = {1, 2},
       .constants = {1, 2}},
      {.name = "linalg_pinv",
       .torch = "linalg_pinv",
       .samples = [](Make& m) { return full_rank(m, {1e-5}); },
       .reference = pinv_reference()},
      {.name = "pinverse",
       .torch = "pinverse",
       .samples = [](Make& m) { return full_rank(m, {}); },
       .reference = pinv_reference()},
      {.name = "linalg_matrix_rank",
       .overload = "atol_rtol_float",
       .torch = "linalg_matrix_rank.atol_rtol_float",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"4x3", {of_rank_two(m, {4, 3})}},
                 {"batch", {of_rank_two(m, {2, 3, 3})}},
                 {"limits", {of_rank_two(m, {3, 3}), 1e-3, 1e-4}},
                 {"empty", {m.tensor({0, 3})}}};
       },
       .reference = ranks(),
       .gradient = false,
       .errors = {vector_given("linalg_matrix_rank")}},
      {.name = "linalg_matrix_rank",
       .overload = "atol_rtol_tensor",
       .torch = "linalg_matrix_rank.atol_rtol_tensor",
       .samples = [](Make& m) -> std::vector<Sample> {
         const Tensor small = tensor_of(Array::number(1e-4), to_real(is_differentiable(m.dtype) ? m.dtype : kFloat));
         return {{"batch", {of_rank_two(m, {2, 3, 3}), small, small}}};
       },
       .reference = ranks(),
       .gradient = false,
       .may_be_undefined = {1, 2}},
      {.name = "linalg_matrix_rank",
       .torch = "linalg_matrix_rank",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"tol", {of_rank_two(m, {3, 3}), 1e-3}}};
       },
       .reference = ranks(),
       .gradient = false},
      {.name = "linalg_lstsq",
       .torch = "linalg_lstsq",
       .samples = least_squares(),
       .reference = solutions,
       .finite_differences = false,
       .errors = {{"driver",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 2}), m.tensor({2, 1}), {}, std::string("qr")};
                   },
                   "parameter `driver` should be one of (gels, gelsy, gelsd, gelss)"}}},
  };
}

}  // namespace

std::vector<OpCase> linalg_spectral_cases() {
  std::vector<OpCase> cases = eigen_cases();
  for (OpCase& one : singular_cases()) cases.push_back(one);
  return with_lapack_dtypes(cases);
}

}  // namespace cresset::test
