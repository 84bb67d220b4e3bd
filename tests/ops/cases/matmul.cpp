// Cases of ops/matmul. Libraries do the work, so bits may depend on layouts and threads.
#include "tests/ops/cases/cases.h"

namespace cresset::test {
namespace {

// [m, k] x [k, n]
Array product(const Array& a, const Array& b) {
  int64_t m = a.sizes[0], k = a.sizes[1], n = b.sizes[1];
  Array y = Array::filled({m, n});
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) {
      Complex sum = 0;
      for (int64_t l = 0; l < k; l++)
        sum += a.values[static_cast<size_t>(i * k + l)] * b.values[static_cast<size_t>(l * n + j)];
      y.values[static_cast<size_t>(i * n + j)] = sum;
    }
  return y;
}

// One matrix of a batch, which index names; sizes of 1 repeat.
Array matrix_at(const Array& x, const Index& batch) {
  size_t lead = x.sizes.size() - 2;
  Array y = Array::filled({x.sizes[lead], x.sizes[lead + 1]});
  for_each_index(y.sizes, [&](const Index& at) {
    Index from(batch.end() - static_cast<int64_t>(lead), batch.end());
    for (size_t i = 0; i < lead; i++)
      if (x.sizes[i] == 1) from[i] = 0;
    from.insert(from.end(), at.begin(), at.end());
    y[at] = x[from];
  });
  return y;
}

// numpy's matmul
Array full_product(Array a, Array b) {
  bool row = a.rank() == 1, column = b.rank() == 1;
  if (row) a.sizes.insert(a.sizes.begin(), 1);
  if (column) b.sizes.push_back(1);
  Ints batch = broadcast(Ints(a.sizes.begin(), a.sizes.end() - 2), Ints(b.sizes.begin(), b.sizes.end() - 2));
  int64_t m = a.sizes.end()[-2], n = b.sizes.back();
  Array y;
  for_each_index(batch, [&](const Index& at) {
    for (Complex value : product(matrix_at(a, at), matrix_at(b, at)).values) y.values.push_back(value);
  });
  y.sizes = batch;
  if (!row) y.sizes.push_back(m);
  if (!column) y.sizes.push_back(n);
  return y;
}

Array turned(const Array& x) {
  return gathered(x, {x.sizes[1], x.sizes[0]}, [](const Index& at) { return Index{at[1], at[0]}; });
}

Reference multiplied() {
  return [](const Arguments& in) { return std::vector{full_product(in.array(0), in.array(1))}; };
}

Samples pairs(std::vector<std::pair<Ints, Ints>> shapes) {
  return [shapes](Make& make) {
    std::vector<Sample> samples;
    for (const auto& [a, b] : shapes) {
      Tensor left = make.tensor(a), right = make.tensor(b);
      samples.push_back({text_of(a) + " x " + text_of(b), {left, right}, left.numel() + right.numel() < 60});
    }
    return samples;
  };
}

ErrorCase bad_shapes(const std::string& text, Ints a, Ints b) {
  return {"shapes", [a, b](Make& make) -> Values { return {make.tensor(a), make.tensor(b)}; }, text};
}
ErrorCase bad_dtypes(const std::string& op, Ints a, Ints b) {
  return {"dtypes",
          [a, b](Make& make) -> Values {
            return {make.tensor(a, kFloat), make.tensor(b, kDouble)};
          },
          op + ": expected "};
}

std::vector<OpCase> all_matmul_cases() {
  return {
      {.name = "mm",
       .torch = "mm",
       .samples = pairs({{{3, 4}, {4, 2}},
                         {{1, 1}, {1, 1}},
                         {{0, 3}, {3, 2}},
                         {{2, 0}, {0, 3}},
                         {{1, 5}, {5, 1}},
                         {{67, 70}, {70, 65}}}),
       .reference = multiplied(),
       .errors = {bad_shapes("mm: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)", {2, 3}, {2, 3}),
                  bad_dtypes("mm", {2, 2}, {2, 2}),
                  {"rank",
                   [](Make& m) -> Values {
                     return {m.tensor({2}), m.tensor({2, 2})};
                   },
                   "mm: self must be a matrix, found shape [2]"}}},
      {.name = "bmm",
       .torch = "bmm",
       .samples = pairs({{{2, 3, 4}, {2, 4, 2}},
                         {{1, 2, 2}, {1, 2, 2}},
                         {{0, 2, 3}, {0, 3, 2}},
                         {{2, 2, 0}, {2, 0, 2}},
                         {{3, 33, 20}, {3, 20, 35}}}),
       .reference = multiplied(),
       .errors = {bad_shapes("bmm: Expected size for first two dimensions of batch2 tensor to be: [2, 4]", {2, 3, 4},
                             {2, 3, 4})}},
      {.name = "addmm",
       .torch = "addmm",
       .samples = [](Make& m) -> std::vector<Sample> {
         std::vector<Sample> samples = {
             {"same shape", {m.tensor({3, 2}), m.tensor({3, 4}), m.tensor({4, 2})}},
             {"row", {m.tensor({2}), m.tensor({3, 4}), m.tensor({4, 2})}},
             {"column", {m.tensor({3, 1}), m.tensor({3, 4}), m.tensor({4, 2})}},
             {"0-d", {m.tensor({}), m.tensor({3, 4}), m.tensor({4, 2})}},
             {"nothing to add up", {m.tensor({3, 2}), m.tensor({3, 0}), m.tensor({0, 2})}},
             {"factors", {m.tensor({3, 2}), m.tensor({3, 4}), m.tensor({4, 2}), Scalar(2), Scalar(3)}},
             {"beta 0", {m.tensor({3, 2}), m.tensor({3, 4}), m.tensor({4, 2}), Scalar(0)}},
             {"large", {m.tensor({65}), m.tensor({67, 70}), m.tensor({70, 65})}, false}};
         if (is_complex(m.dtype))
           samples.push_back({"complex factors",
                              {m.tensor({2, 2}), m.tensor({2, 2}), m.tensor({2, 2}), Scalar(Complex(0.5, 1)),
                               Scalar(Complex(1, -2))}});
         return samples;
       },
       .reference =
           [](const Arguments& in) {
             Complex beta = in.number(3), alpha = in.number(4);
             Array y = product(in.array(1), in.array(2));
             return std::vector{zipped(y, in.array(0), [&](Complex a, Complex b) {
               return alpha * a + (beta == 0.0 ? Complex(0) : beta * b);
             })};
           },
       .errors = {{"shapes",
                   [](Make& m) -> Values {
                     return {m.tensor({2}), m.tensor({2, 3}), m.tensor({2, 3})};
                   },
                   "addmm: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"},
                  {"self",
                   [](Make& m) -> Values {
                     return {m.tensor({5}), m.tensor({2, 3}), m.tensor({3, 2})};
                   },
                   "addmm: self: The expanded size of the tensor (2) must match the existing size (5)"}}},
      {.name = "mv",
       .torch = "mv",
       .samples = pairs({{{3, 4}, {4}}, {{0, 3}, {3}}, {{2, 0}, {0}}, {{67, 70}, {70}}}),
       .reference = multiplied(),
       .errors = {bad_shapes("mv: size mismatch, got input (2x3), vec (2)", {2, 3}, {2})}},
      {.name = "dot",
       .torch = "dot",
       .samples = pairs({{{5}, {5}}, {{0}, {0}}, {{1}, {1}}, {{300}, {300}}}),
       .reference = multiplied(),
       .errors = {bad_shapes("dot: inconsistent tensor size", {3}, {4}),
                  {"rank",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 2}), m.tensor({2})};
                   },
                   "dot: 1D tensors expected, but got 2D and 1D tensors"}}},
      {.name = "matmul",
       .torch = "matmul",
       .samples = pairs({{{3, 4}, {4, 2}},
                         {{4}, {4}},
                         {{3, 4}, {4}},
                         {{4}, {4, 3}},
                         {{2, 3, 4}, {4, 2}},
                         {{2, 3, 4}, {4}},
                         {{4}, {2, 4, 3}},
                         {{2, 1, 3, 2}, {3, 2, 2}},
                         {{2, 2, 3}, {1, 3, 2}},
                         {{0, 2, 3}, {3, 2}},
                         {{3, 33, 20}, {20, 35}}}),
       .reference = multiplied(),
       .errors = {bad_shapes("cannot be multiplied", {2, 3}, {2, 3}),
                  {"rank",
                   [](Make& m) -> Values {
                     return {m.tensor({}), m.tensor({2})};
                   },
                   "matmul: both arguments to matmul need to be at least 1D, but they are 0D and 1D"},
                  {"batches",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 2, 2}), m.tensor({3, 2, 2})};
                   },
                   "matmul: shapes [2] and [3] do not broadcast"}}},
      {.name = "linear",
       .torch = "linear",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"matrix", {m.tensor({3, 4}), m.tensor({2, 4}), m.tensor({2})}},
                 {"without bias", {m.tensor({3, 4}), m.tensor({2, 4})}},
                 {"vector", {m.tensor({4}), m.tensor({2, 4}), m.tensor({2})}},
                 {"batch", {m.tensor({2, 3, 4}), m.tensor({2, 4}), m.tensor({2})}},
                 {"empty", {m.tensor({0, 4}), m.tensor({2, 4}), m.tensor({2})}},
                 {"large", {m.tensor({67, 70}), m.tensor({65, 70}), m.tensor({65})}, false}};
       },
       .reference =
           [](const Arguments& in) {
             Array y = full_product(in.array(0), turned(in.array(1)));
             if (in.given(2)) y = zipped(y, in.array(2), [](Complex a, Complex b) { return a + b; });
             return std::vector{y};
           },
       .errors = {{"shapes",
                   [](Make& m) -> Values {
                     return {m.tensor({3, 4}), m.tensor({2, 5})};
                   },
                   "linear: mat1 and mat2 shapes cannot be multiplied (3x4 and 5x2)"},
                  {"bias",
                   [](Make& m) -> Values {
                     return {m.tensor({3, 4}), m.tensor({2, 4}), m.tensor({3})};
                   },
                   "linear: bias: The expanded size of the tensor (2) must match the existing size (3)"}}},
  };
}

}  // namespace

std::vector<OpCase> matmul_cases() {
  std::vector<OpCase> cases = all_matmul_cases();
  for (OpCase& one : cases) {
    one.dtypes = without(all_dtypes, {kBool});
    one.refused = {kBool};
    one.tolerance = 10;
    one.same_bits_strided = one.same_bits_threads = false;
  }
  return cases;
}

}  // namespace cresset::test
