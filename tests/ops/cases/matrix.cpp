// Cases of ops/matrix and ops/einsum.
#include "tests/ops/cases/linalg_reference.h"

namespace cresset::test {
namespace {

// Sums of products over letters, straight from the definition; equations are written out ("ab,bc->ac").
Array summed_products(const std::string& equation, const std::vector<Array>& operands) {
  const size_t arrow = equation.find("->");
  std::vector<std::string> inputs(1);
  for (char c : equation.substr(0, arrow)) {
    if (c == ',')
      inputs.emplace_back();
    else
      inputs.back().push_back(c);
  }
  const std::string output = equation.substr(arrow + 2);
  std::string letters = output;
  for (const std::string& input : inputs)
    for (char c : input)
      if (letters.find(c) == std::string::npos) letters.push_back(c);
  Ints sizes(letters.size(), 1), result;
  for (size_t k = 0; k < inputs.size(); k++)
    for (size_t i = 0; i < inputs[k].size(); i++)
      if (operands[k].sizes[i] != 1) sizes[letters.find(inputs[k][i])] = operands[k].sizes[i];
  for (size_t i = 0; i < output.size(); i++) result.push_back(sizes[i]);
  Array y = Array::filled(result);
  for_each_index(sizes, [&](const Index& at) {
    Complex product = 1;
    for (size_t k = 0; k < inputs.size(); k++) {
      Index from;
      for (size_t i = 0; i < inputs[k].size(); i++)
        from.push_back(operands[k].sizes[i] == 1 ? 0 : at[letters.find(inputs[k][i])]);
      product *= operands[k][from];
    }
    y[Index(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(output.size()))] += product;
  });
  return y;
}

Reference einsum_reference(const std::string& equation) {
  return [equation](const Arguments& in) { return std::vector{summed_products(equation, {in.array(0), in.array(1)})}; };
}

// beta * self + alpha * product
Reference added(const std::string& equation) {
  return [equation](const Arguments& in) {
    const Complex beta = in.number(3), alpha = in.number(4);
    return std::vector{zipped(summed_products(equation, {in.array(1), in.array(2)}), in.array(0),
                              [&](Complex a, Complex b) { return alpha * a + (beta == 0.0 ? Complex(0) : beta * b); })};
  };
}

Samples added_samples(Ints self, Ints a, Ints b, Ints large_a, Ints large_b, Ints empty_a, Ints empty_b) {
  return [=](Make& m) -> std::vector<Sample> {
    std::vector<Sample> samples = {{"same shape", {m.tensor(self), m.tensor(a), m.tensor(b)}},
                                   {"0-d", {m.tensor({}), m.tensor(a), m.tensor(b)}},
                                   {"broadcast", {m.tensor({1}), m.tensor(a), m.tensor(b)}},
                                   {"factors", {m.tensor(self), m.tensor(a), m.tensor(b), Scalar(2), Scalar(3)}},
                                   {"beta 0", {m.tensor(self), m.tensor(a), m.tensor(b), Scalar(0)}},
                                   {"nothing to add up", {m.tensor(self), m.tensor(empty_a), m.tensor(empty_b)}},
                                   {"large", {m.tensor({1}), m.tensor(large_a), m.tensor(large_b)}, false}};
    if (is_complex(m.dtype))
      samples.push_back({"complex factors",
                         {m.tensor(self), m.tensor(a), m.tensor(b), Scalar(Complex(0.5, 1)), Scalar(Complex(1, -2))}});
    return samples;
  };
}

Samples two_of(std::vector<std::pair<Ints, Ints>> shapes) {
  return [shapes](Make& make) {
    std::vector<Sample> samples;
    for (const auto& [a, b] : shapes)
      samples.push_back({text_of(a) + " and " + text_of(b), {make.tensor(a), make.tensor(b)}});
    return samples;
  };
}

struct EinsumSample {
  std::string equation, written_out;
  std::vector<Ints> shapes;
};
const std::vector<EinsumSample> einsums = {
    {"ij,jk->ik", "ij,jk->ik", {{2, 3}, {3, 4}}},
    {"ij,jk", "ij,jk->ik", {{2, 3}, {3, 2}}},
    {"ba,ac", "ba,ac->bc", {{2, 3}, {3, 2}}},
    {"bij,bjk->bki", "bij,bjk->bki", {{2, 2, 3}, {2, 3, 2}}},
    {"...ij,...jk->...ik", "xij,xjk->xik", {{2, 2, 3}, {2, 3, 2}}},
    {"ii->i", "ii->i", {{3, 3}}},
    {"ii", "ii->", {{3, 3}}},
    {"iij->ij", "iij->ij", {{2, 2, 3}}},
    {"ij->ji", "ij->ji", {{2, 3}}},
    {"ij->", "ij->", {{2, 3}}},
    {"ij->j", "ij->j", {{2, 3}}},
    {"i,j->ij", "i,j->ij", {{3}, {2}}},
    {"i,i->", "i,i->", {{3}, {3}}},
    {"ij,ij->ij", "ij,ij->ij", {{2, 3}, {2, 3}}},
    {"ij,j->i", "ij,j->i", {{2, 3}, {3}}},
    {"bn,anm,bm->ba", "bn,anm,bm->ba", {{2, 3}, {4, 3, 2}, {2, 2}}},
    {"i,ij,jk->k", "i,ij,jk->k", {{2}, {2, 3}, {3, 2}}},
    {"...a,a->...", "xya,a->xy", {{2, 1, 3}, {3}}},
    {" i j , j k -> i k ", "ij,jk->ik", {{2, 2}, {2, 2}}},
    {"ij,jk->ik", "ij,jk->ik", {{0, 3}, {3, 2}}},
    {",i->i", ",i->i", {{}, {2}}},
    {"abcd,cdef->abef", "abcd,cdef->abef", {{2, 1, 2, 2}, {2, 2, 1, 2}}},
};

OpCase einsum_case() {
  return {.name = "einsum",
          .torch = "einsum",
          .samples =
              [](Make& m) {
                std::vector<Sample> samples;
                for (const EinsumSample& e : einsums) {
                  std::vector<Tensor> operands;
                  for (const Ints& shape : e.shapes) operands.push_back(m.tensor(shape));
                  samples.push_back({e.equation + " " + text_of(e.shapes[0]), {e.equation, operands}});
                }
                return samples;
              },
          .reference =
              [](const Arguments& in) {
                const std::string equation = std::get<std::string>(in[0]);
                const std::vector<Array> operands = in.arrays(1);
                for (const EinsumSample& e : einsums) {
                  if (e.equation != equation || e.shapes.size() != operands.size()) continue;
                  Array y = summed_products(e.written_out, operands);
                  // A sum over what one operand alone has is a sum op, which widens integers.
                  const bool one =
                      operands.size() == 1 && (equation == "ii" || equation == "ij->" || equation == "ij->j");
                  if (one) y.dtype = summed(in.dtype);
                  return std::vector{y};
                }
                return std::vector<Array>();
              },
          .errors = {{"count",
                      [](Make& m) -> Values {
                        return {std::string("ij,jk->ik"), std::vector<Tensor>{m.tensor({2, 2})}};
                      },
                      "einsum(): fewer operands were provided than specified in the equation"},
                     {"rank",
                      [](Make& m) -> Values {
                        return {std::string("ijk->i"), std::vector<Tensor>{m.tensor({2, 2})}};
                      },
                      "does not match the number of dimensions (2) for operand 0"},
                     {"letters",
                      [](Make& m) -> Values {
                        return {std::string("i1->i"), std::vector<Tensor>{m.tensor({2, 2})}};
                      },
                      "subscripts must be in [a-zA-Z]"},
                     {"sizes",
                      [](Make& m) -> Values {
                        return {std::string("ij,jk->ik"), std::vector<Tensor>{m.tensor({2, 3}), m.tensor({2, 3})}};
                      },
                      "operands do not broadcast"},
                     {"output",
                      [](Make& m) -> Values {
                        return {std::string("ij->k"), std::vector<Tensor>{m.tensor({2, 3})}};
                      },
                      "output subscript k does not appear"}}};
}

Array chain_product(const std::vector<Array>& chain) {
  Array y = chain[0];
  for (size_t i = 1; i < chain.size(); i++) {
    const std::string left = y.rank() == 1 ? "b" : "ab", right = chain[i].rank() == 1 ? "b" : "bc";
    y = summed_products(left + "," + right + "->" + (y.rank() == 1 ? "" : "a") + (chain[i].rank() == 1 ? "" : "c"),
                        {y, chain[i]});
  }
  return y;
}
Samples chain_samples(bool vectors) {
  return [vectors](Make& m) -> std::vector<Sample> {
    // Of one sign: half types round after each product, and what cancels after that is mostly rounding.
    const auto same_sign = [&m](const Ints& sizes) -> Tensor {
      const Tensor x = m.tensor(sizes);
      return is_floating_point(m.dtype) ? x.add(3) : x;
    };
    std::vector<Sample> samples = {
        {"three", {std::vector<Tensor>{m.tensor({2, 3}), m.tensor({3, 4}), m.tensor({4, 2})}}},
        {"two", {std::vector<Tensor>{m.tensor({2, 3}), m.tensor({3, 2})}}},
        {"four", {std::vector<Tensor>{same_sign({1, 3}), same_sign({3, 2}), same_sign({2, 4}), same_sign({4, 1})}}},
        {"empty", {std::vector<Tensor>{m.tensor({0, 3}), m.tensor({3, 2}), m.tensor({2, 2})}}}};
    if (vectors) samples.push_back({"vectors", {std::vector<Tensor>{m.tensor({3}), m.tensor({3, 4}), m.tensor({4})}}});
    return samples;
  };
}

Array powers_of(Array x, int64_t count, bool increasing) {
  Ints sizes = x.sizes;
  sizes.push_back(count);
  Array y = Array::filled(sizes);
  for_each_index(sizes, [&](const Index& at) {
    Complex power = 1;
    const int64_t n = increasing ? at.back() : count - 1 - at.back();
    for (int64_t i = 0; i < n; i++) power *= x[Index(at.begin(), at.end() - 1)];
    y[at] = power;
  });
  return y;
}

Array cross_product(const Array& a, const Array& b, size_t dim) {
  Array y = Array::filled(broadcast(a.sizes, b.sizes));
  const Array x = broadcast_to(a, y.sizes), z = broadcast_to(b, y.sizes);
  for_each_index(y.sizes, [&](const Index& at) {
    Index i = at, j = at;
    i[dim] = (at[dim] + 1) % 3;
    j[dim] = (at[dim] + 2) % 3;
    y[at] = x[i] * z[j] - x[j] * z[i];
  });
  return y;
}

std::vector<OpCase> gemm_like_cases() {
  return {
      {.name = "baddbmm",
       .torch = "baddbmm",
       .samples = added_samples({2, 3, 2}, {2, 3, 4}, {2, 4, 2}, {3, 33, 20}, {3, 20, 35}, {2, 3, 0}, {2, 0, 2}),
       .reference = added("bij,bjk->bik"),
       .errors = {{"shapes",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 2, 2}), m.tensor({2, 2, 3}), m.tensor({2, 2, 2})};
                   },
                   "baddbmm: Expected size for first two dimensions of batch2 tensor to be: [2, 3]"}}},
      {.name = "addbmm",
       .torch = "addbmm",
       .samples = added_samples({3, 2}, {2, 3, 4}, {2, 4, 2}, {3, 33, 20}, {3, 20, 35}, {2, 3, 0}, {2, 0, 2}),
       .reference = added("bij,bjk->ik")},
      {.name = "addmv",
       .torch = "addmv",
       .samples = added_samples({3}, {3, 4}, {4}, {90, 100}, {100}, {3, 0}, {0}),
       .reference = added("ij,j->i"),
       .errors = {{"shapes",
                   [](Make& m) -> Values {
                     return {m.tensor({2}), m.tensor({3, 4}), m.tensor({4})};
                   },
                   "addmv: size mismatch, got input (2), mat (3x4), vec (4)"}}},
      {.name = "inner",
       .torch = "inner",
       .samples = two_of({{{2, 3}, {4, 3}}, {{3}, {3}}, {{2, 2, 3}, {3}}, {{0, 3}, {2, 3}}, {{}, {2}}}),
       .reference =
           [](const Arguments& in) {
             const Array a = in.array(0), b = in.array(1);
             if (a.rank() == 0 || b.rank() == 0)
               return std::vector{zipped(a, b, [](Complex x, Complex y) { return x * y; })};
             const std::string left = std::string("abc").substr(0, static_cast<size_t>(a.rank() - 1));
             const std::string right = std::string("ABC").substr(0, static_cast<size_t>(b.rank() - 1));
             return std::vector{summed_products(left + "z," + right + "z->" + left + right, {a, b})};
           },
       .errors = {{"shapes",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 2}), m.tensor({3})};
                   },
                   "the last dimension must match on both input tensors"}}},
      {.name = "vdot",
       .torch = "vdot",
       .samples = two_of({{{5}, {5}}, {{0}, {0}}, {{300}, {300}}}),
       .reference =
           [](const Arguments& in) {
             Array a = in.array(0);
             for (Complex& x : a.values) x = std::conj(x);
             return std::vector{summed_products("a,a->", {a, in.array(1)})};
           }},
      {.name = "tensordot",
       .torch = "tensordot",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"one", {m.tensor({2, 3}), m.tensor({3, 2}), Ints{1}, Ints{0}}},
                 {"two", {m.tensor({2, 3, 4}), m.tensor({4, 2, 3}), Ints{0, 2}, Ints{1, 0}}},
                 {"none", {m.tensor({2}), m.tensor({3}), Ints{}, Ints{}}},
                 {"empty", {m.tensor({2, 0}), m.tensor({0, 3}), Ints{1}, Ints{0}}}};
       },
       .reference =
           [](const Arguments& in) {
             const Ints first = in.integers(2);
             const std::string equation = first.empty() ? "a,b->ab" : first.size() == 2 ? "abc,cad->bd" : "ab,bc->ac";
             return std::vector{summed_products(equation, {in.array(0), in.array(1)})};
           },
       .errors = {{"sizes",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 3}), m.tensor({2, 2}), Ints{1}, Ints{0}};
                   },
                   "tensordot: contracted dimensions need to match"}}},
      einsum_case(),
      {.name = "chain_matmul",
       .torch = "chain_matmul",
       .samples = chain_samples(false),
       .reference = [](const Arguments& in) { return std::vector{chain_product(in.arrays(0))}; }},
      {.name = "linalg_multi_dot",
       .torch = "linalg_multi_dot",
       .samples = chain_samples(true),
       .reference = [](const Arguments& in) { return std::vector{chain_product(in.arrays(0))}; },
       .errors = {{"one",
                   [](Make& m) -> Values {
                     return {std::vector<Tensor>{m.tensor({2, 2})}};
                   },
                   "linalg_multi_dot: expected at least 2 tensors but got 1"}}},
  };
}

std::vector<OpCase> pointwise_like_cases() {
  return {
      {.name = "addr",
       .torch = "addr",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"same shape", {m.tensor({3, 2}), m.tensor({3}), m.tensor({2})}},
                 {"row", {m.tensor({2}), m.tensor({3}), m.tensor({2})}},
                 {"factors", {m.tensor({3, 2}), m.tensor({3}), m.tensor({2}), Scalar(2), Scalar(3)}},
                 {"beta 0", {m.tensor({3, 2}), m.tensor({3}), m.tensor({2}), Scalar(0)}},
                 {"empty", {m.tensor({0, 2}), m.tensor({0}), m.tensor({2})}}};
       },
       .reference =
           [](const Arguments& in) {
             Complex beta = in.number(3), alpha = in.number(4);
             if (in.dtype == kBool) beta = beta != 0.0, alpha = alpha != 0.0;
             return std::vector{
                 zipped(summed_products("a,b->ab", {in.array(1), in.array(2)}), in.array(0), [&](Complex a, Complex b) {
                   const Complex y = alpha * a + (beta == 0.0 ? Complex(0) : beta * b);
                   return in.dtype == kBool ? Complex(y != 0.0) : y;
                 })};
           },
       .errors = {{"rank",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 2}), m.tensor({2, 2}), m.tensor({2})};
                   },
                   "addr: Expected 1-D argument vec1, but got 2-D"}}},
      {.name = "outer",
       .torch = "outer",
       .samples = two_of({{{3}, {2}}, {{0}, {2}}, {{1}, {1}}}),
       .reference = einsum_reference("a,b->ab"),
       .errors = {{"rank",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 2}), m.tensor({2})};
                   },
                   "outer: Expected 1-D argument self, but got 2-D"}}},
      {.name = "kron",
       .torch = "kron",
       .samples = two_of({{{2, 2}, {1, 3}}, {{2}, {2, 2}}, {{}, {2}}, {{2, 1, 2}, {2, 2}}, {{0, 2}, {2, 2}}}),
       .reference =
           [](const Arguments& in) {
             Array a = in.array(0), b = in.array(1);
             while (a.rank() < b.rank()) a.sizes.insert(a.sizes.begin(), 1);
             while (b.rank() < a.rank()) b.sizes.insert(b.sizes.begin(), 1);
             Ints sizes;
             for (size_t i = 0; i < a.sizes.size(); i++) sizes.push_back(a.sizes[i] * b.sizes[i]);
             Array y = Array::filled(sizes);
             for_each_index(sizes, [&](const Index& at) {
               Index i, j;
               for (size_t d = 0; d < sizes.size(); d++) {
                 i.push_back(at[d] / b.sizes[d]);
                 j.push_back(at[d] % b.sizes[d]);
               }
               y[at] = a[i] * b[j];
             });
             return std::vector{y};
           }},
  };
}

std::vector<OpCase> other_cases() {
  return {
      {.name = "cross",
       .torch = "cross",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"vectors", {m.tensor({3}), m.tensor({3})}},
                 {"first of 3", {m.tensor({2, 3, 3}), m.tensor({2, 3, 3})}},
                 {"dim", {m.tensor({2, 3, 3}), m.tensor({2, 3, 3}), int64_t{2}}},
                 {"empty", {m.tensor({0, 3}), m.tensor({0, 3})}}};
       },
       .reference =
           [](const Arguments& in) {
             const Array a = in.array(0);
             const size_t dim = in.given(2) ? static_cast<size_t>(in.integer(2)) : a.rank() == 1 ? 0 : 1;
             return std::vector{cross_product(a, in.array(1), dim)};
           },
       .errors = {{"no 3",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 2}), m.tensor({2, 2})};
                   },
                   "cross: no dimension of size 3 in input"}}},
      {.name = "linalg_cross",
       .torch = "linalg_cross",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"vectors", {m.tensor({3}), m.tensor({3})}},
                 {"broadcast", {m.tensor({2, 3}), m.tensor({1, 3})}},
                 {"dim", {m.tensor({3, 2}), m.tensor({3, 2}), int64_t{0}}}};
       },
       .reference =
           [](const Arguments& in) {
             const Array a = in.array(0);
             const int64_t dim = in.integer(2);
             return std::vector{cross_product(a, in.array(1), static_cast<size_t>(dim < 0 ? dim + a.rank() : dim))};
           },
       .errors = {{"not 3",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 2}), m.tensor({2, 2})};
                   },
                   "must have length 3"}}},
      {.name = "matrix_power",
       .torch = "matrix_power",
       .samples = [](Make& m) -> std::vector<Sample> {
         std::vector<Sample> samples = {{"3", {m.tensor({2, 2, 2}), int64_t{3}}},
                                        {"0", {m.tensor({2, 2}), int64_t{0}}},
                                        {"1", {m.tensor({2, 2}), int64_t{1}}},
                                        {"2", {m.tensor({3, 3}), int64_t{2}}},
                                        {"empty", {m.tensor({0, 0}), int64_t{2}}}};
         return samples;
       },
       .reference =
           [](const Arguments& in) {
             const Array x = in.array(0);
             const int64_t n = x.sizes.back();
             return std::vector{linalg::each_matrix(x, {n, n}, [&](const linalg::Mat& a) {
               linalg::Mat y = linalg::Mat::identity(n);
               for (int64_t i = 0; i < in.integer(1); i++) y = linalg::mul(y, a);
               return y.v;
             })};
           },
       .errors = {{"not square",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 3}), int64_t{2}};
                   },
                   "matrix_power: A must be batches of square matrices"}}},
      {.name = "linalg_vander",
       .torch = "linalg_vander",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"vector", {m.tensor({3})}}, {"batch", {m.tensor({2, 3}), int64_t{2}}}};
       },
       .reference =
           [](const Arguments& in) {
             const Array x = in.array(0);
             return std::vector{powers_of(x, in.given(1) ? in.integer(1) : x.sizes.back(), true)};
           },
       .result_dtype = [](DType t) { return is_integral(t, true) ? kLong : t; },
       .errors = {{"N",
                   [](Make& m) -> Values {
                     return {m.tensor({3}), int64_t{1}};
                   },
                   "N must be greater than 1"}}},
      {.name = "vander",
       .torch = "vander",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {
             {"vector", {m.tensor({3})}}, {"rising", {m.tensor({3}), int64_t{4}, true}}, {"empty", {m.tensor({0})}}};
       },
       .reference =
           [](const Arguments& in) {
             const Array x = in.array(0);
             return std::vector{powers_of(x, in.given(1) ? in.integer(1) : x.sizes.back(), in.flag(2))};
           },
       .result_dtype = [](DType t) { return is_integral(t, true) ? kLong : t; },
       .errors = {{"rank",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 2})};
                   },
                   "vander: x must be a one-dimensional"}}},
  };
}

OpCase vecdot_case() {
  return {.name = "linalg_vecdot",
          .torch = "linalg_vecdot",
          .samples = [](Make& m) -> std::vector<Sample> {
            return {{"vectors", {m.tensor({4}), m.tensor({4})}},
                    {"batch", {m.tensor({2, 3}), m.tensor({2, 3})}},
                    {"dim", {m.tensor({2, 3}), m.tensor({2, 3}), int64_t{0}}}};
          },
          .reference =
              [](const Arguments& in) {
                Array a = in.array(0);
                for (Complex& x : a.values) x = std::conj(x);
                const bool first = in.integer(2) == 0;
                return std::vector{summed_products(a.rank() == 1 ? "a,a->"
                                                   : first       ? "ab,ab->b"
                                                                 : "ab,ab->a",
                                                   {a, in.array(1)})};
              },
          .dtypes = floats,
          .refused = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble, kComplex64, kComplex128})};
}

}  // namespace

std::vector<OpCase> matrix_cases() {
  std::vector<OpCase> cases = gemm_like_cases();
  for (OpCase& one : cases) {
    one.dtypes = without(all_dtypes, {kBool});
    one.refused = one.name == "einsum" || one.name == "inner" ? std::vector<DType>() : std::vector<DType>{kBool};
    if (one.refused.empty()) one.untested = {{kBool, "elementwise products work, matrix products do not"}};
  }
  for (OpCase& one : pointwise_like_cases()) cases.push_back(one);
  for (OpCase& one : other_cases()) {
    if (one.name == "cross" || one.name == "linalg_cross" || one.name == "matrix_power" ||
        one.name == "linalg_vander") {
      one.dtypes =
          one.name == "linalg_vander" ? without(all_dtypes, {kBool, kHalf, kBFloat16}) : without(all_dtypes, {kBool});
      if (one.name == "matrix_power")
        one.untested = {{kBool, "powers 0 and 1 work, products do not"}};
      else
        one.refused =
            one.name == "linalg_vander" ? std::vector<DType>{kBool, kHalf, kBFloat16} : std::vector<DType>{kBool};
    }
    cases.push_back(one);
  }
  cases.push_back(vecdot_case());
  for (OpCase& one : cases) {
    one.tolerance = 10;
    one.same_bits_strided = one.same_bits_threads = false;
  }
  return cases;
}

}  // namespace cresset::test
