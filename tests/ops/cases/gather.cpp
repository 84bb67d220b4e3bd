// Cases of ops/gather. The references go over every place of the index, one by one, in order.
#include "tests/ops/cases/cases.h"

namespace cresset::test {
namespace {

size_t wrapped(int64_t dim, const Array& x) {
  return static_cast<size_t>(dim < 0 ? dim + std::max<int64_t>(x.rank(), 1) : dim);
}
int64_t whole(Complex value) { return static_cast<int64_t>(value.real()); }

// A 0-d array as one of one element.
Array vector_of(Array x) {
  if (x.sizes.empty()) x.sizes = {1};
  return x;
}
// One index for every slice of dim as an index for every element of `sizes`.
Array for_slices(const Array& index, Ints sizes, size_t dim) {
  Array wide = Array::filled(sizes);
  for_each_index(sizes, [&](const Index& at) { wide[at] = index.values.at(static_cast<size_t>(at[dim])); });
  return wide;
}
Index moved(Index at, size_t dim, int64_t to, int64_t size) {
  at[dim] = to < 0 ? to + size : to;
  return at;
}

Array gathered_along(const Array& x, size_t dim, const Array& index) {
  const Array from = vector_of(x), where = vector_of(index);
  return gathered(from, where.sizes,
                  [&](const Index& at) { return moved(at, dim, whole(where[at]), from.sizes[dim]); });
}

// What each place of self gets from src, in order; then f makes its new value of the old one and those.
using Combine = std::function<Complex(Complex self, const std::vector<Complex>& values)>;
Array scattered_along(const Array& self, size_t dim, const Array& index, const Array& src, const Combine& f) {
  Array y = vector_of(self), at_index = vector_of(index), from = vector_of(src);
  std::vector<std::vector<Complex>> found(y.values.size());
  for_each_index(at_index.sizes, [&](const Index& at) {
    Complex& place = y[moved(at, dim, whole(at_index[at]), y.sizes[dim])];
    found[static_cast<size_t>(&place - y.values.data())].push_back(from.values.size() == 1 ? from.values[0] : from[at]);
  });
  for (size_t i = 0; i < found.size(); i++)
    if (!found[i].empty()) y.values[i] = f(y.values[i], found[i]);
  y.sizes = self.sizes;
  return y;
}
Complex last_of(Complex, const std::vector<Complex>& values) { return values.back(); }
Complex floored(Complex sum, double count, DType dtype) {
  return is_integral(dtype, false) ? Complex(std::floor(sum.real() / count)) : sum / count;
}
Combine reducer(const std::string& name, bool include_self, DType dtype) {
  return [=](Complex self, const std::vector<Complex>& given) {
    std::vector<Complex> values = given;
    if (include_self) values.insert(values.begin(), self);
    Complex y = values[0];
    for (size_t i = 1; i < values.size(); i++) {
      if (name == "sum" || name == "mean") y += values[i];
      if (name == "prod") y *= values[i];
      if (name == "amax") y = std::isnan(y.real()) || y.real() > values[i].real() ? y : values[i];
      if (name == "amin") y = std::isnan(y.real()) || y.real() < values[i].real() ? y : values[i];
    }
    if (name != "mean") return stored_as(y, dtype);
    return floored(stored_as(y, dtype), static_cast<double>(values.size()), dtype);
  };
}

std::vector<Sample> gather_samples(Make& m) {
  return {{"columns", {m.tensor({3, 4}), int64_t{1}, m.integers({3, 2}, 0, 4)}},
          {"rows", {m.tensor({3, 4}), int64_t{0}, m.integers({5, 4}, 0, 3)}},
          {"fewer columns", {m.tensor({3, 4}), int64_t{0}, m.integers({2, 2}, 0, 3)}},
          {"middle", {m.tensor({2, 3, 2}), int64_t{-2}, m.integers({2, 4, 2}, 0, 3)}},
          {"vector", {m.tensor({5}), int64_t{0}, m.integers({7}, 0, 5)}},
          {"0-d", {m.tensor({}), int64_t{0}, places({}, {0})}},
          {"nothing", {m.tensor({3, 4}), int64_t{0}, places({0, 4}, {})}},
          {"large", {m.tensor({100, 300}), int64_t{0}, m.integers({200, 300}, 0, 100)}, false}};
}
std::vector<Sample> scatter_samples(Make& m, bool with_source, Values more = {}) {
  auto one = [&](const char* label, Ints self, int64_t dim, Tensor index, Ints src, bool differentiate = true) {
    Values values{m.tensor(std::move(self)), dim, index};
    values.push_back(with_source ? Value(m.tensor(std::move(src))) : Value(Scalar(3)));
    for (const Value& value : more) values.push_back(value);
    return Sample{label, values, differentiate};
  };
  // Without two indices that meet: what is written last depends on the order, which PyTorch leaves open.
  return {one("rows", {4, 2}, 0, places({3, 2}, {1, 3, 0, 2, 3, 1}), {3, 2}),
          one("columns", {2, 4}, -1, places({2, 3}, {3, 0, 2, 1, 3, 2}), {2, 3}),
          one("vector", {5}, 0, places({3}, {4, 0, 2}), {3}), one("0-d", {}, 0, places({}, {0}), {}),
          one("nothing", {3, 4}, 0, places({0, 4}, {}), {0, 4})};
}
// As above, with indices that meet.
std::vector<Sample> meeting_samples(Make& m, Values more = {}) {
  std::vector<Sample> samples = scatter_samples(m, true, more);
  Values meet{m.tensor({4, 2}), int64_t{0}, places({5, 2}, {1, 3, 1, 2, 3, 1, 1, 3, 0, 3}), m.tensor({5, 2})};
  Values line{m.tensor({3}), int64_t{0}, places({6}, {2, 0, 2, 2, 0, 2}), m.tensor({6})};
  for (const Value& value : more) {
    meet.push_back(value);
    line.push_back(value);
  }
  samples.push_back({"meeting", meet});
  samples.push_back({"meeting in a line", line});
  return samples;
}
std::vector<Sample> adding_samples(Make& m) {
  std::vector<Sample> samples = meeting_samples(m);
  samples.push_back({"larger source", {m.tensor({3, 2}), int64_t{0}, places({2, 1}, {2, 2}), m.tensor({3, 2})}});
  samples.push_back(
      {"large", {m.tensor({40, 300}), int64_t{0}, m.integers({100, 300}, 0, 40), m.tensor({100, 300})}, false});
  if (m.dtype != kFloat16 && m.dtype != kBFloat16)  // a thousand terms for each sum
    samples.push_back(
        {"large line", {m.tensor({40}), int64_t{0}, m.integers({40000}, 0, 40), m.tensor({40000})}, false});
  return samples;
}
Array scatter_reference(const Arguments& in, const Combine& f) {
  Array self = in.array(0);
  return scattered_along(self, wrapped(in.integer(1), self), in.array(2), in.array(3), f);
}
std::vector<Sample> reduce_samples(Make& m, std::initializer_list<const char*> names, bool slices) {
  std::vector<Sample> samples;
  for (const char* name : names)
    for (bool include_self : {true, false}) {
      Values more{std::string(name), include_self};
      auto add = [&](const char* label, Values values, bool differentiate = true) {
        values.insert(values.end(), more.begin(), more.end());
        samples.push_back(
            {std::string(name) + (include_self ? "" : " without self") + ", " + label, values, differentiate});
      };
      auto index = [&](Ints sizes, const std::vector<Complex>& values) {
        return slices ? places({sizes[0]}, {values.begin(), values.begin() + sizes[0]}) : places(sizes, values);
      };
      add("meeting", {m.tensor({4, 2}), int64_t{0}, index({5, 2}, {1, 3, 1, 2, 3, 1, 1, 3, 0, 3}), m.tensor({5, 2})});
      add("line", {m.tensor({3}), int64_t{0}, places({4}, {2, 0, 2, 2}), m.tensor({4})});
      if (!slices) add("nothing", {m.tensor({3, 4}), int64_t{0}, places({0, 4}, {}), m.tensor({0, 4})});
      if (is_floating_point(m.dtype)) {
        Tensor special = m.special();
        add("inf and nan",
            {m.like_special(), int64_t{0}, places({14}, {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 13, 13, 12, 12}), special},
            false);
      }
    }
  return samples;
}

ErrorCase index_bounds() {
  return {"bounds",
          [](Make& m) -> Values {
            return {m.tensor({5, 2}), int64_t{0}, places({1, 2}, {1, 7}), m.tensor({1, 2})};
          },
          "index 7 is out of bounds for dimension 0 with size 5"};
}
ErrorCase slice_bounds() {
  return {"bounds",
          [](Make& m) -> Values {
            return {m.tensor({5, 2}), int64_t{0}, places({2}, {1, 7}), m.tensor({2, 2})};
          },
          "index 7 is out of bounds for dimension 0 with size 5"};
}
ErrorCase negative_slice() {
  return {"negative",
          [](Make& m) -> Values {
            return {m.tensor({5, 2}), int64_t{0}, places({1}, {-1}), m.tensor({1, 2})};
          },
          "index -1 is out of bounds for dimension 0 with size 5"};
}
ErrorCase with(ErrorCase error, std::function<void(Values&)> change) {
  auto arguments = error.arguments;
  error.arguments = [arguments, change](Make& m) {
    Values values = arguments(m);
    change(values);
    return values;
  };
  return error;
}
ErrorCase without_last(ErrorCase error) {
  return with(std::move(error), [](Values& values) { values.pop_back(); });
}
ErrorCase followed_by(ErrorCase error, Value value) {
  return with(std::move(error), [value](Values& values) { values.push_back(value); });
}

}  // namespace

std::vector<OpCase> gather_cases() {
  return {
      {.name = "gather",
       .torch = "gather",
       .samples = gather_samples,
       .reference =
           [](const Arguments& in) {
             Array y = gathered_along(in.array(0), wrapped(in.integer(1), in.array(0)), in.array(2));
             y.sizes = in.array(2).sizes;
             return std::vector{y};
           },
       .errors = {without_last(index_bounds()),
                  {"negative",
                   [](Make& m) -> Values {
                     return {m.tensor({5}), int64_t{0}, places({1}, {-1})};
                   },
                   "gather: index -1 is out of bounds for dimension 0 with size 5"},
                  {"rank",
                   [](Make& m) -> Values {
                     return {m.tensor({5, 2}), int64_t{0}, places({1}, {1})};
                   },
                   "gather: Index tensor must have the same number of dimensions as input tensor"},
                  {"larger",
                   [](Make& m) -> Values {
                     return {m.tensor({5, 2}), int64_t{0}, places({1, 3}, {1, 1, 1})};
                   },
                   "gather: Size does not match at dimension 1"},
                  {"dtype",
                   [](Make& m) -> Values {
                     return {m.tensor({5}), int64_t{0}, m.integers({2}, 0, 2, kInt32)};
                   },
                   "gather: Expected dtype int64 for index, found int32"},
                  {"sparse",
                   [](Make& m) -> Values {
                     return {m.tensor({5}), int64_t{0}, places({1}, {1}), true};
                   },
                   "gather: sparse gradients", false}}},
      {.name = "take_along_dim",
       .torch = "take_along_dim",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"rows", {m.tensor({3, 4}), m.integers({2, 4}, 0, 3), int64_t{0}}},
                 {"broadcast", {m.tensor({3, 1}), m.integers({1, 4}, 0, 3), int64_t{0}}},
                 {"flat", {m.tensor({2, 3}), m.integers({4}, 0, 6)}}};
       },
       .reference =
           [](const Arguments& in) {
             Array x = in.array(0), index = in.array(1);
             if (!in.given(2))
               return std::vector{gathered_along({{x.numel()}, x.values}, 0, {{index.numel()}, index.values})};
             size_t d = wrapped(in.integer(2), x);
             Ints a = x.sizes, b = index.sizes;
             a[d] = b[d] = 1;
             Ints wide = broadcast(a, b);
             wide[d] = x.sizes[d];
             x = broadcast_to(x, wide);
             wide[d] = index.sizes[d];
             return std::vector{gathered_along(x, d, broadcast_to(index, wide))};
           },
       .errors = {{"rank",
                   [](Make& m) -> Values {
                     return {m.tensor({5, 2}), places({1}, {1}), int64_t{0}};
                   },
                   "take_along_dim: input and indices should have the same number of dimensions"}}},
      {.name = "scatter",
       .torch = "scatter.src",
       .samples =
           [](Make& m) {
             auto samples = scatter_samples(m, true);
             samples.push_back(
                 {"larger source", {m.tensor({3, 2}), int64_t{0}, places({2, 1}, {2, 0}), m.tensor({3, 2})}, false});
             return samples;
           },
       .reference = [](const Arguments& in) { return std::vector{scatter_reference(in, last_of)}; },
       .errors = {index_bounds(),
                  {"dtype",
                   [](Make& m) -> Values {
                     return {m.tensor({5}, kFloat), int64_t{0}, places({1}, {1}), m.tensor({1}, kDouble)};
                   },
                   "scatter: Expected self.dtype to be equal to src.dtype"},
                  {"source",
                   [](Make& m) -> Values {
                     return {m.tensor({5}), int64_t{0}, places({2}, {1, 2}), m.tensor({1})};
                   },
                   "scatter: Expected index [2] to be smaller than src [1]"}}},
      {.name = "scatter",
       .overload = "value",
       .torch = "scatter.value",
       .samples = [](Make& m) { return scatter_samples(m, false); },
       .reference =
           [](const Arguments& in) {
             return std::vector{scatter_reference(
                 in, [&](Complex, const std::vector<Complex>& v) { return stored_as(v[0], in.dtype); })};
           },
       .errors = {followed_by(without_last(index_bounds()), Scalar(1))}},
      {.name = "scatter",
       .overload = "reduce",
       .torch = "scatter.reduce",
       .samples =
           [](Make& m) {
             auto samples = meeting_samples(m, {std::string("add")});
             for (Sample& sample : meeting_samples(m, {std::string("multiply")})) samples.push_back(sample);
             return samples;
           },
       .reference =
           [](const Arguments& in) {
             bool adds = std::get<std::string>(in[4]) == "add";
             return std::vector{scatter_reference(in, reducer(adds ? "sum" : "prod", true, in.dtype))};
           },
       .tolerance = 8,
       .errors = {followed_by(index_bounds(), std::string("add")),
                  {"name",
                   [](Make& m) -> Values {
                     return {m.tensor({5}), int64_t{0}, places({1}, {1}), m.tensor({1}), std::string("sum")};
                   },
                   "scatter: reduce argument must be either add or multiply, got sum"}}},
      {.name = "scatter",
       .overload = "value_reduce",
       .torch = "scatter.value_reduce",
       .samples =
           [](Make& m) {
             auto samples = scatter_samples(m, false, {std::string("add")});
             for (Sample& sample : scatter_samples(m, false, {std::string("multiply")})) samples.push_back(sample);
             return samples;
           },
       .reference =
           [](const Arguments& in) {
             bool adds = std::get<std::string>(in[4]) == "add";
             return std::vector{scatter_reference(in, [&](Complex self, const std::vector<Complex>& v) {
               return reducer(adds ? "sum" : "prod", true, in.dtype)(self, {stored_as(v[0], in.dtype)});
             })};
           },
       .errors = {with(without_last(index_bounds()),
                       [](Values& values) {
                         values.push_back(Scalar(1));
                         values.push_back(std::string("add"));
                       })}},
      {.name = "scatter_add",
       .torch = "scatter_add",
       .samples = adding_samples,
       .reference =
           [](const Arguments& in) { return std::vector{scatter_reference(in, reducer("sum", true, in.dtype))}; },
       .tolerance = 40,
       .errors = {index_bounds()}},
      {.name = "scatter_reduce",
       .torch = "scatter_reduce.two",
       .samples =
           [](Make& m) {
             return reduce_samples(m, {"sum", "prod", "mean", "amax", "amin"}, false);
           },
       .reference =
           [](const Arguments& in) {
             return std::vector{scatter_reference(in, reducer(std::get<std::string>(in[4]), in.flag(5), in.dtype))};
           },
       .dtypes = without(all_dtypes, {kComplex64, kComplex128, kBool}),
       .tolerance = 8,
       .errors = {followed_by(index_bounds(), std::string("sum")),
                  {"name",
                   [](Make& m) -> Values {
                     return {m.tensor({5}), int64_t{0}, places({1}, {1}), m.tensor({1}), std::string("add")};
                   },
                   "scatter_reduce: reduce argument must be either sum, prod, mean, amax or amin, got add"}},
       .untested = {{kComplex64, "sum and prod only"}, {kComplex128, "sum and prod only"}, {kBool, "no mean"}}},
      {.name = "index_select",
       .torch = "index_select",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"rows", {m.tensor({4, 3}), int64_t{0}, places({5}, {2, 0, 2, 3, 1})}},
                 {"columns", {m.tensor({4, 3}), int64_t{-1}, places({2}, {2, 2})}},
                 {"middle", {m.tensor({2, 3, 2}), int64_t{1}, places({2}, {2, 0})}},
                 {"vector", {m.tensor({4}), int64_t{0}, places({2}, {3, 0})}},
                 {"0-d index", {m.tensor({4, 3}), int64_t{0}, places({}, {2})}},
                 {"0-d", {m.tensor({}), int64_t{0}, places({1}, {0})}},
                 {"nothing", {m.tensor({4, 3}), int64_t{0}, places({0}, {})}},
                 {"int32", {m.tensor({4, 3}), int64_t{0}, m.integers({3}, 0, 4, kInt32)}},
                 {"large", {m.tensor({100, 300}), int64_t{0}, m.integers({250}, 0, 100)}, false},
                 {"large columns", {m.tensor({100, 300}), int64_t{1}, m.integers({450}, 0, 300)}, false}};
       },
       .reference =
           [](const Arguments& in) {
             Array x = in.array(0), index = in.array(2);
             size_t d = wrapped(in.integer(1), x);
             Ints sizes = vector_of(x).sizes;
             sizes[d] = index.numel();
             Array y = gathered_along(x, d, for_slices(index, sizes, d));
             if (x.sizes.empty()) y.sizes = {};
             return std::vector{y};
           },
       .errors = {without_last(slice_bounds()),
                  without_last(negative_slice()),
                  {"rank",
                   [](Make& m) -> Values {
                     return {m.tensor({5, 2}), int64_t{0}, places({1, 1}, {1})};
                   },
                   "index_select: Index is supposed to be a vector, found shape [1, 1]"},
                  {"dtype",
                   [](Make& m) -> Values {
                     return {m.tensor({5, 2}), int64_t{0}, m.tensor({2}, kFloat)};
                   },
                   "index_select: Expected dtype int64 or int32 for index, found float32"}}},
      {.name = "index_add",
       .torch = "index_add",
       .samples =
           [](Make& m) {
             std::vector<Sample> samples = {
                 {"rows", {m.tensor({4, 3}), int64_t{0}, places({3}, {2, 0, 2}), m.tensor({3, 3})}},
                 {"columns", {m.tensor({2, 4}), int64_t{-1}, places({2}, {3, 3}), m.tensor({2, 2})}},
                 {"vector", {m.tensor({4}), int64_t{0}, places({5}, {3, 3, 0, 1, 3}), m.tensor({5})}},
                 {"0-d", {m.tensor({}), int64_t{0}, places({1}, {0}), m.tensor({})}},
                 {"nothing", {m.tensor({4, 3}), int64_t{0}, places({0}, {}), m.tensor({0, 3})}},
                 {"int32", {m.tensor({4, 3}), int64_t{0}, m.integers({3}, 0, 4, kInt32), m.tensor({3, 3})}},
                 {"large", {m.tensor({50, 300}), int64_t{0}, m.integers({250}, 0, 50), m.tensor({250, 300})}, false}};
             if (m.dtype != kBool)
               samples.push_back(
                   {"scaled", {m.tensor({4, 3}), int64_t{0}, places({3}, {2, 0, 2}), m.tensor({3, 3}), Scalar(3)}});
             return samples;
           },
       .reference =
           [](const Arguments& in) {
             Array self = in.array(0), source = in.array(3);
             size_t d = wrapped(in.integer(1), self);
             Array index = for_slices(in.array(2), vector_of(source).sizes, d);
             for (Complex& value : source.values) value *= in.number(4);
             return std::vector{scattered_along(self, d, index, source, reducer("sum", true, in.dtype))};
           },
       .tolerance = 12,
       .errors = {slice_bounds(),
                  negative_slice(),
                  {"count",
                   [](Make& m) -> Values {
                     return {m.tensor({5, 2}), int64_t{0}, places({1}, {1}), m.tensor({2, 2})};
                   },
                   "index_add: Number of indices (1) should be equal to source.size(dim) (2)"},
                  {"slices",
                   [](Make& m) -> Values {
                     return {m.tensor({5, 2}), int64_t{0}, places({1}, {1}), m.tensor({1, 3})};
                   },
                   "index_add: Source/destination tensor must have same slice shapes"}}},
      {.name = "index_copy",
       .torch = "index_copy",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"rows", {m.tensor({4, 3}), int64_t{0}, places({2}, {2, 0}), m.tensor({2, 3})}},
                 {"columns", {m.tensor({2, 4}), int64_t{-1}, places({2}, {3, 1}), m.tensor({2, 2})}},
                 {"0-d", {m.tensor({}), int64_t{0}, places({1}, {0}), m.tensor({})}},
                 {"nothing", {m.tensor({4, 3}), int64_t{0}, places({0}, {}), m.tensor({0, 3})}}};
       },
       .reference =
           [](const Arguments& in) {
             Array self = in.array(0), source = in.array(3);
             size_t d = wrapped(in.integer(1), self);
             Array index = for_slices(in.array(2), vector_of(source).sizes, d);
             return std::vector{scattered_along(self, d, index, source, last_of)};
           },
       .errors = {slice_bounds(), negative_slice()}},
      {.name = "index_fill",
       .torch = "index_fill.int_Scalar",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"rows", {m.tensor({4, 3}), int64_t{0}, places({3}, {2, -1, 2}), Scalar(3)}},
                 {"columns", {m.tensor({2, 4}), int64_t{-1}, places({2}, {3, 1}), Scalar(1)}},
                 {"0-d", {m.tensor({}), int64_t{0}, places({1}, {0}), Scalar(2)}},
                 {"nothing", {m.tensor({4, 3}), int64_t{0}, places({0}, {}), Scalar(3)}}};
       },
       .reference =
           [](const Arguments& in) {
             Array self = in.array(0), index = in.array(2);
             size_t d = wrapped(in.integer(1), self);
             Ints sizes = vector_of(self).sizes;
             sizes[d] = index.numel();
             Array value = Array::number(stored_as(in.number(3), in.dtype));
             return std::vector{scattered_along(self, d, for_slices(index, sizes, d), value, last_of)};
           },
       .errors = {followed_by(without_last(slice_bounds()), Scalar(1))}},
      {.name = "index_fill",
       .overload = "Tensor",
       .torch = "index_fill.int_Tensor",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"rows", {m.tensor({4, 3}), int64_t{0}, places({2}, {2, 0}), m.tensor({})}},
                 {"columns", {m.tensor({2, 4}), int64_t{-1}, places({2}, {3, 1}), m.tensor({})}}};
       },
       .reference =
           [](const Arguments& in) {
             Array self = in.array(0), index = in.array(2);
             size_t d = wrapped(in.integer(1), self);
             Ints sizes = self.sizes;
             sizes[d] = index.numel();
             return std::vector{scattered_along(self, d, for_slices(index, sizes, d), in.array(3), last_of)};
           },
       .errors = {{"rank",
                   [](Make& m) -> Values {
                     return {m.tensor({4, 3}), int64_t{0}, places({2}, {2, 0}), m.tensor({1})};
                   },
                   "index_fill: only supports a 0-dimensional value tensor, but got tensor with 1 dimension(s)."}}},
      {.name = "index_reduce",
       .torch = "index_reduce",
       .samples =
           [](Make& m) {
             return reduce_samples(m, {"prod", "mean", "amax", "amin"}, true);
           },
       .reference =
           [](const Arguments& in) {
             Array self = in.array(0), source = in.array(3);
             size_t d = wrapped(in.integer(1), self);
             Array index = for_slices(in.array(2), source.sizes, d);
             return std::vector{
                 scattered_along(self, d, index, source, reducer(std::get<std::string>(in[4]), in.flag(5), in.dtype))};
           },
       .dtypes = without(all_dtypes, {kComplex64, kComplex128, kBool}),
       .tolerance = 8,
       .errors = {followed_by(slice_bounds(), std::string("mean")),
                  {"name",
                   [](Make& m) -> Values {
                     return {m.tensor({5}), int64_t{0}, places({1}, {1}), m.tensor({1}), std::string("sum")};
                   },
                   "index_reduce: Expected reduce to be one of prod, mean, amax or amin but got sum."}},
       .untested = {{kComplex64, "prod only"}, {kComplex128, "prod only"}, {kBool, "no mean"}}},
      {.name = "take",
       .torch = "take",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"matrix", {m.tensor({3, 4}), m.integers({2, 3}, -12, 12)}},
                 {"0-d", {m.tensor({}), places({2}, {0, -1})}},
                 {"0-d index", {m.tensor({4}), places({}, {2})}},
                 {"nothing", {m.tensor({4}), places({0}, {})}},
                 {"large", {m.tensor({100, 30}), m.integers({201, 300}, 0, 3000)}, false}};
       },
       .reference =
           [](const Arguments& in) {
             Array x = in.array(0), y = in.array(1);
             for (Complex& value : y.values) {
               int64_t at = whole(value);
               value = x.values.at(static_cast<size_t>(at < 0 ? at + x.numel() : at));
             }
             return std::vector{y};
           },
       .errors = {{"bounds",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 2}), places({1}, {4})};
                   },
                   "take: index 4 is out of bounds for dimension 0 with size 4"}}},
      {.name = "put",
       .torch = "put",
       .samples =
           [](Make& m) {
             std::vector<Sample> samples = {
                 {"matrix", {m.tensor({3, 4}), places({2, 2}, {2, -1, 0, 5}), m.tensor({4})}},
                 {"0-d", {m.tensor({}), places({1}, {0}), m.tensor({1})}},
                 {"nothing", {m.tensor({4}), places({0}, {}), m.tensor({0})}}};
             if (m.dtype != kBool)
               samples.push_back({"added", {m.tensor({3, 4}), places({4}, {2, -1, 2, 5}), m.tensor({4}), true}});
             return samples;
           },
       .reference =
           [](const Arguments& in) {
             Array self = in.array(0), flat{{self.numel()}, self.values}, index = in.array(1), src = in.array(2);
             Array y = scattered_along(flat, 0, {{index.numel()}, index.values}, {{src.numel()}, src.values},
                                       in.flag(3) ? Combine(reducer("sum", true, in.dtype)) : Combine(last_of));
             y.sizes = self.sizes;
             return std::vector{y};
           },
       .errors = {{"bounds",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 2}), places({1}, {4}), m.tensor({1})};
                   },
                   "put: index 4 is out of bounds for dimension 0 with size 4"},
                  {"count",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 2}), places({1}, {3}), m.tensor({2})};
                   },
                   "put: Expected source and index to have the same number of elements"}}},
  };
}

}  // namespace cresset::test
