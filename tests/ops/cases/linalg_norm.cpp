// Cases of ops/linalg_norm.
#include "tests/ops/cases/linalg_reference.h"

namespace cresset::test {
namespace {

using namespace linalg;

constexpr double inf = std::numeric_limits<double>::infinity();

double norm_of(const std::vector<Complex>& x, double ord) {
  double sum = 0, top = 0, bottom = inf;
  for (Complex value : x) {
    const double size = std::abs(value);
    top = std::max(top, size);
    bottom = std::min(bottom, size);
    sum += ord == 0 ? size != 0 : std::pow(size, ord);
  }
  if (std::isinf(ord)) return ord > 0 ? top : bottom;
  return ord == 0 ? sum : std::pow(sum, 1 / ord);
}
Array vector_norm(const Array& x, double ord, const Ints& dims, bool keepdim, DType dtype) {
  Array y = reduced(x, dims, keepdim, [&](const std::vector<Complex>& v) { return Complex(norm_of(v, ord)); });
  y.dtype = to_real(dtype);
  return y;
}

double matrix_norm(const Mat& a, double ord) {
  const double size = std::abs(ord);
  std::vector<Complex> values;
  if (size == 2)
    for (double s : singular_values(a)) values.emplace_back(s);
  else
    for (int64_t i = 0; i < (size == 1 ? a.cols : a.rows); i++) {
      double sum = 0;
      for (int64_t j = 0; j < (size == 1 ? a.rows : a.cols); j++) sum += std::abs(size == 1 ? a(j, i) : a(i, j));
      values.emplace_back(sum);
    }
  return norm_of(values, ord > 0 ? inf : -inf);
}
double matrix_norm(const Mat& a, const std::string& ord) {
  if (ord == "fro") return norm_of(a.v, 2);
  double sum = 0;
  for (double s : singular_values(a)) sum += s;
  return sum;
}
template <class Order>
Array matrix_norms(const Array& x, const Order& ord, bool keepdim, DType dtype) {
  Array y = each_matrix(x, keepdim ? Ints{1, 1} : Ints{},
                        [&](const Mat& a) { return std::vector<Complex>{matrix_norm(a, ord)}; });
  y.dtype = to_real(dtype);
  return y;
}

std::vector<Sample> vector_samples(Make& m) {
  std::vector<Sample> samples;
  for (double ord : {2.0, 1.0, 3.0, 0.5, 0.0, inf, -inf, -1.0})
    samples.push_back({message_of("ord ", ord), {m.tensor({2, 3}), Scalar(ord)}});
  samples.push_back({"along", {m.tensor({2, 3}), Scalar(2), Ints{1}}});
  samples.push_back({"kept", {m.tensor({2, 3, 2}), Scalar(3), Ints{0, -1}, true}});
  samples.push_back({"0-d", {m.tensor({})}});
  samples.push_back({"empty", {m.tensor({0, 2}), Scalar(2)}});
  samples.push_back({"default", {m.tensor({4})}});
  samples.push_back({"large", {m.tensor({300, 200}), Scalar(2), Ints{1}}, false});
  return samples;
}
Reference condition_numbers() {
  return [](const Arguments& in) {
    Array y = each_matrix(in.array(0), {}, [&](const Mat& a) {
      if (std::holds_alternative<std::string>(in[1])) {
        const std::string p = std::get<std::string>(in[1]);
        return std::vector<Complex>{matrix_norm(a, p) * matrix_norm(inverse(a), p)};
      }
      const double p = in.given(1) ? in.number(1).real() : 2;
      if (p == -2) return std::vector<Complex>{singular_values(a).back() / singular_values(a).front()};
      return std::vector<Complex>{matrix_norm(a, p) * matrix_norm(inverse(a), p)};
    });
    y.dtype = to_real(in.dtype);
    return std::vector{y};
  };
}

std::vector<OpCase> any_float_cases() {
  return {{.name = "linalg_vector_norm",
           .torch = "linalg_vector_norm",
           .samples = vector_samples,
           .reference =
               [](const Arguments& in) {
                 return std::vector{vector_norm(in.array(0), in.number(1).real(), in.given(2) ? in.integers(2) : Ints{},
                                                in.flag(3), in.dtype)};
               },
           .errors = {{"nothing",
                       [](Make& m) -> Values {
                         return {m.tensor({0}), Scalar(inf)};
                       },
                       "norm on an empty tensor because the operation does not have an identity"}}}};
}

std::vector<OpCase> lapack_cases() {
  return {
      {.name = "linalg_matrix_norm",
       .torch = "linalg_matrix_norm",
       .samples = [](Make& m) -> std::vector<Sample> {
         std::vector<Sample> samples;
         for (double ord : {1.0, -1.0, 2.0, -2.0, inf, -inf})
           samples.push_back({message_of("ord ", ord), {m.tensor({2, 3, 2}), Scalar(ord)}});
         samples.push_back({"kept", {m.tensor({3, 2}), Scalar(1), Ints{-2, -1}, true}});
         return samples;
       },
       .reference =
           [](const Arguments& in) {
             return std::vector{matrix_norms(in.array(0), in.number(1).real(), in.flag(3), in.dtype)};
           },
       .errors = {{"order",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 2}), Scalar(3)};
                   },
                   "Order 3 not supported"}}},
      {.name = "linalg_matrix_norm",
       .overload = "str_ord",
       .torch = "linalg_matrix_norm.str_ord",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"fro", {m.tensor({2, 3, 2})}},
                 {"nuc", {m.tensor({2, 3, 2}), std::string("nuc")}},
                 {"kept", {m.tensor({3, 2}), std::string("nuc"), Ints{-2, -1}, true}}};
       },
       .reference =
           [](const Arguments& in) {
             return std::vector{matrix_norms(in.array(0), std::get<std::string>(in[1]), in.flag(3), in.dtype)};
           },
       .errors = {{"order",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 2}), std::string("max")};
                   },
                   "Order max not supported"}}},
      {.name = "linalg_norm",
       .torch = "linalg_norm",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"all", {m.tensor({2, 3, 2})}},
                 {"vector", {m.tensor({4}), Scalar(3)}},
                 {"matrix", {m.tensor({3, 2}), Scalar(1)}},
                 {"along", {m.tensor({3, 2}), Scalar(inf), Ints{1}, true}}};
       },
       .reference =
           [](const Arguments& in) {
             const Array x = in.array(0);
             if (!in.given(1)) return std::vector{vector_norm(x, 2, {}, false, in.dtype)};
             const double ord = in.number(1).real();
             if (x.rank() == 2 && !in.given(2)) return std::vector{matrix_norms(x, ord, false, in.dtype)};
             return std::vector{vector_norm(x, ord, in.given(2) ? in.integers(2) : Ints{}, in.flag(3), in.dtype)};
           },
       .errors = {{"dims",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 2, 2}), Scalar(1)};
                   },
                   "linalg_norm: If dim is not specified but ord is, the input must be 1D or 2D. Got 3D."}}},
      {.name = "linalg_norm",
       .overload = "ord_str",
       .torch = "linalg_norm.ord_str",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"fro", {m.tensor({3, 2}), std::string("fro")}},
                 {"nuc", {m.tensor({2, 3, 2}), std::string("nuc"), Ints{1, 2}}}};
       },
       .reference =
           [](const Arguments& in) {
             return std::vector{matrix_norms(in.array(0), std::get<std::string>(in[1]), false, in.dtype)};
           }},
      {.name = "linalg_cond",
       .torch = "linalg_cond",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"default", {regular(m, {3, 3})}},
                 {"rectangle", {regular(m, {2, 3, 2}), Scalar(-2)}},
                 {"columns", {regular(m, {2, 2, 2}), Scalar(1)}},
                 {"rows", {regular(m, {2, 2}), Scalar(-inf)}}};
       },
       .reference = condition_numbers()},
      {.name = "linalg_cond",
       .overload = "p_str",
       .torch = "linalg_cond.p_str",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"fro", {regular(m, {3, 3}), std::string("fro")}},
                 {"nuc", {regular(m, {2, 2, 2}), std::string("nuc")}}};
       },
       .reference = condition_numbers()},
  };
}

}  // namespace

std::vector<OpCase> linalg_norm_cases() {
  std::vector<OpCase> cases = any_float_cases();
  for (OpCase& one : cases) {
    one.dtypes = floats;
    one.refused = {kUInt8, kInt8, kInt16, kInt32, kInt64, kBool};
    one.tolerance = 10;
    one.same_bits_strided = false;
  }
  for (OpCase& one : with_lapack_dtypes(lapack_cases())) {
    if (one.name != "linalg_cond") {
      one.refused = {kUInt8, kInt8, kInt16, kInt32, kInt64, kBool};
      one.untested = {{kHalf, "some orders need singular values, which have no half types"},
                      {kBFloat16, "some orders need singular values, which have no half types"}};
    }
    cases.push_back(one);
  }
  return cases;
}

}  // namespace cresset::test
