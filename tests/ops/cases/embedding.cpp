// Cases of ops/embedding.
#include <cmath>

#include "tests/ops/cases/cases.h"

namespace cresset::test {
namespace {

int64_t whole(Complex value) { return static_cast<int64_t>(value.real()); }

std::vector<Array> bags_of(const Arguments& in) {
  Array weight = in.array(0), indices = in.array(1), offsets = in.array(2);
  int64_t mode = in.integer(4), width = weight.sizes[1], bags = offsets.numel() - (in.flag(7) ? 1 : 0);
  Array y = Array::filled({bags, width}), bag = Array::filled({indices.numel()}), size = Array::filled({bags});
  Array from = Array::filled(mode == 2 ? Ints{bags, width} : Ints{0});
  for (int64_t b = 0; b < bags; b++) {
    int64_t end = b + 1 < offsets.numel() ? whole(offsets.values[static_cast<size_t>(b) + 1]) : indices.numel(),
            count = 0;
    for (int64_t i = whole(offsets.values[static_cast<size_t>(b)]); i < end; i++) {
      int64_t row = whole(indices.values[static_cast<size_t>(i)]);
      bag.values[static_cast<size_t>(i)] = static_cast<double>(b);
      if (row == in.integer(8)) continue;
      const Tensor* scales = std::get_if<Tensor>(&in[6]);
      Complex scale = scales && scales->defined() ? in.array(6).values[static_cast<size_t>(i)] : 1.0;
      for (int64_t k = 0; k < width; k++) {
        Complex value = weight[{row, k}] * scale, &sum = y[{b, k}];
        if (mode < 2) sum += value;
        if (mode == 2 && (count == 0 || value.real() > sum.real()))
          sum = value, from[{b, k}] = static_cast<double>(row);
      }
      count++;
    }
    size.values[static_cast<size_t>(b)] = static_cast<double>(count);
    if (mode == 1 && count)
      for (int64_t k = 0; k < width; k++) y[{b, k}] /= static_cast<double>(count);
  }
  bag.dtype = size.dtype = from.dtype = kInt64;
  return {y, bag, size, from};
}

}  // namespace

std::vector<OpCase> embedding_cases() {
  return {
      {.name = "embedding",
       .torch = "embedding",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"vector", {m.tensor({4, 3}), places({5}, {2, 0, 2, 3, 2})}},
                 {"matrix", {m.tensor({4, 3}), m.integers({2, 3}, 0, 4)}},
                 {"0-d", {m.tensor({4, 3}), places({}, {1})}},
                 {"none", {m.tensor({4, 3}), places({0}, {})}},
                 // Their gradients are no derivatives: see embedding_dense_backward.
                 {"padding", {m.tensor({4, 3}), places({5}, {2, 0, 2, 3, 2}), int64_t{2}}, false},
                 {"by frequency", {m.tensor({4, 3}), places({5}, {2, 0, 2, 3, 2}), int64_t{-1}, true}, false},
                 {"int32", {m.tensor({4, 3}), m.integers({3}, 0, 4, kInt32)}},
                 {"large", {m.tensor({100, 64}), m.integers({700}, 0, 100)}, false}};
       },
       .reference = single([](const Arguments& in) {
         Array weight = in.array(0), indices = in.array(1);
         Ints sizes = indices.sizes;
         sizes.push_back(weight.sizes[1]);
         return gathered(weight, sizes, [&](Index at) {
           int64_t k = at.back();
           at.pop_back();
           return Index{whole(indices[at]), k};
         });
       }),
       .errors = {{"bounds",
                   [](Make& m) -> Values {
                     return {m.tensor({4, 3}), places({2}, {1, 4})};
                   },
                   "embedding: index 4 is out of bounds for dimension 0 with size 4"},
                  {"sparse",
                   [](Make& m) -> Values {
                     return {m.tensor({4, 3}), places({2}, {1, 2}), int64_t{-1}, false, true};
                   },
                   "embedding: sparse gradients (sparse=true) are not supported", false},
                  {"dtype",
                   [](Make& m) -> Values {
                     return {m.tensor({4, 3}), m.tensor({2}, kFloat)};
                   },
                   "embedding: Expected tensor for argument 'indices' to have one of the following scalar types: Long, "
                   "Int"}}},
      {.name = "embedding_dense_backward",
       .torch = "embedding_dense_backward",
       .samples = [](Make& m) -> std::vector<Sample> {
         Tensor rows = places({5}, {2, 0, 2, 3, 2});
         return {{"sums", {m.tensor({5, 3}), rows, int64_t{5}, int64_t{-1}, false}},
                 {"padding", {m.tensor({5, 3}), rows, int64_t{5}, int64_t{2}, false}},
                 {"by frequency", {m.tensor({5, 3}), rows, int64_t{5}, int64_t{-1}, true}},
                 {"matrix", {m.tensor({2, 2, 3}), m.integers({2, 2}, 0, 4), int64_t{4}, int64_t{-1}, false}},
                 {"large", {m.tensor({700, 64}), m.integers({700}, 0, 100), int64_t{100}, int64_t{-1}, false}, false}};
       },
       .reference = single([](const Arguments& in) {
         Array g = in.array(0), indices = in.array(1);
         int64_t width = g.sizes.back();
         Array y = Array::filled({in.integer(2), width});
         for (int64_t i = 0; i < indices.numel(); i++) {
           int64_t row = whole(indices.values[static_cast<size_t>(i)]), times = 0;
           for (Complex other : indices.values) times += whole(other) == row;
           if (row == in.integer(3)) continue;
           for (int64_t k = 0; k < width; k++)
             y[{row, k}] +=
                 g.values[static_cast<size_t>(i * width + k)] / (in.flag(4) ? static_cast<double>(times) : 1);
         }
         return y;
       }),
       .dtypes = floats,
       .tolerance = 8,
       .untested = {{kUInt8, "gradients only"},
                    {kInt8, "gradients only"},
                    {kInt16, "gradients only"},
                    {kInt32, "gradients only"},
                    {kInt64, "gradients only"},
                    {kBool, "gradients only"}}},
      {.name = "embedding_renorm_",
       .torch = "embedding_renorm_",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"euclidean", {m.tensor({4, 3}), places({3}, {2, 0, 2}), 1.0, 2.0}},
                 {"absolute", {m.tensor({4, 3}), places({1}, {1}), 0.5, 1.0}},
                 {"large enough", {m.tensor({4, 3}), places({1}, {1}), 100.0, 2.0}}};
       },
       .reference = single([](const Arguments& in) {
         Array y = in.array(0);
         std::vector<bool> done(y.values.size());
         for (Complex index : in.array(1).values) {
           int64_t row = whole(index);
           if (done[static_cast<size_t>(row)]) continue;
           done[static_cast<size_t>(row)] = true;
           double p = in.number(3).real(), sum = 0, most = in.number(2).real();
           for (int64_t k = 0; k < y.sizes[1]; k++) sum += std::pow(std::abs(y[{row, k}]), p);
           double norm = std::pow(sum, 1 / p);
           for (int64_t k = 0; norm > most && k < y.sizes[1]; k++) y[{row, k}] *= most / (norm + 1e-7);
         }
         return y;
       }),
       .dtypes = floats,
       .refused = {kUInt8, kInt8, kInt16, kInt32, kInt64, kBool},
       .tolerance = 4,
       .gradient = false,
       .writes_self = true},
      {.name = "embedding_bag",
       .not_in_torch = "libtorch leaves the second and fourth result empty or unset on some paths; "
                       "tests/parity/embedding_test.cpp compares the first and the gradients",
       .samples = [](Make& m) -> std::vector<Sample> {
         Tensor rows = places({6}, {2, 0, 2, 3, 1, 0}), starts = places({4}, {0, 3, 3, 5}),
                all = places({4}, {0, 3, 3, 6});
         auto weight = [&] { return m.tensor({5, 3}); };
         return {{"sum", {weight(), rows, starts}},
                 {"mean", {weight(), rows, starts, false, int64_t{1}}},
                 {"max", {weight(), rows, starts, false, int64_t{2}}},
                 {"weighted", {weight(), rows, starts, false, int64_t{0}, false, m.tensor({6})}},
                 {"last offset", {weight(), rows, all, false, int64_t{1}, false, Tensor(), true}},
                 {"padding", {weight(), rows, starts, false, int64_t{1}, false, Tensor(), false, int64_t{2}}},
                 {"padding, weighted",
                  {weight(), rows, starts, false, int64_t{0}, false, m.tensor({6}), false, int64_t{0}}},
                 {"padding, max", {weight(), rows, starts, false, int64_t{2}, false, Tensor(), false, int64_t{0}}},
                 {"none", {weight(), places({0}, {}), places({0}, {})}},
                 {"large", {m.tensor({100, 64}), m.integers({400}, 0, 100), places({3}, {0, 100, 300})}, false}};
       },
       .reference = bags_of,
       .dtypes = real_floats,
       .refused = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble}),
       .tolerance = 20,
       .errors = {{"offsets",
                   [](Make& m) -> Values {
                     return {m.tensor({5, 3}), places({2}, {1, 2}), places({1}, {1})};
                   },
                   "embedding_bag: offsets[0] has to be 0"},
                  {"bounds",
                   [](Make& m) -> Values {
                     return {m.tensor({5, 3}), places({2}, {1, 5}), places({1}, {0})};
                   },
                   "embedding_bag: index 5 is out of bounds for dimension 0 with size 5"},
                  {"sparse",
                   [](Make& m) -> Values {
                     return {m.tensor({5, 3}), places({2}, {1, 2}), places({1}, {0}), false, int64_t{0}, true};
                   },
                   "embedding_bag: sparse gradients (sparse=true) are not supported"}},
       .may_be_undefined = {6}},
      {.name = "one_hot",
       .torch = "one_hot",
       .samples = [](Make&) -> std::vector<Sample> {
         return {{"given", {places({2, 3}, {0, 1, 2, 3, 0, 1}), int64_t{5}}},
                 {"found", {places({3}, {0, 2, 1})}, true, true},
                 {"0-d", {places({}, {1}), int64_t{3}}},
                 {"empty", {places({0}, {}), int64_t{3}}}};
       },
       .reference = single([](const Arguments& in) {
         Array x = in.array(0);
         int64_t classes = in.integer(1);
         if (classes < 0)
           for (Complex value : x.values) classes = std::max(classes, whole(value) + 1);
         Ints sizes = x.sizes;
         sizes.push_back(classes);
         Array y = Array::filled(sizes);
         for_each_index(x.sizes, [&](Index at) {
           int64_t place = whole(x[at]);
           at.push_back(place);
           y[at] = 1;
         });
         return y;
       }),
       .dtypes = {kInt64},
       .gradient = false,
       .errors = {{"large",
                   [](Make&) -> Values {
                     return {places({1}, {3}), int64_t{3}};
                   },
                   "one_hot: index 3 is out of bounds for dimension"},
                  {"negative",
                   [](Make&) -> Values {
                     return {places({1}, {-1}), int64_t{3}};
                   },
                   "one_hot: index -1 is out of bounds for dimension"}},
       .untested = {{kUInt8, "indices are int64"},
                    {kInt8, "indices are int64"},
                    {kInt16, "indices are int64"},
                    {kInt32, "indices are int64"},
                    {kFloat16, "indices are int64"},
                    {kFloat, "indices are int64"},
                    {kDouble, "indices are int64"},
                    {kBool, "indices are int64"},
                    {kBFloat16, "indices are int64"},
                    {kComplex64, "indices are int64"},
                    {kComplex128, "indices are int64"}}},
  };
}

}  // namespace cresset::test
