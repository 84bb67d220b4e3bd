// Cases of ops/rearrange. References say for each place of the result where it comes from.
#include <algorithm>

#include "tests/ops/cases/cases.h"

namespace cresset::test {
namespace {

using List = std::vector<Tensor>;

int64_t wrapped(int64_t dim, const Array& x) { return dim < 0 ? dim + std::max<int64_t>(x.rank(), 1) : dim; }
Array permuted(const Array& x, const Ints& order) {
  Ints sizes;
  for (int64_t dim : order) sizes.push_back(x.sizes[static_cast<size_t>(dim)]);
  return gathered(x, sizes, [&](const Index& at) {
    Index from(at.size());
    for (size_t i = 0; i < at.size(); i++) from[static_cast<size_t>(order[i])] = at[i];
    return from;
  });
}
Array swapped(const Array& x, int64_t a, int64_t b) {
  Ints order;
  for (int64_t i = 0; i < x.rank(); i++) order.push_back(i);
  if (!order.empty()) std::swap(order[static_cast<size_t>(wrapped(a, x))], order[static_cast<size_t>(wrapped(b, x))]);
  return permuted(x, order);
}
Array transposed(const Array& x, bool conjugated) {
  Array y = swapped(x, -1, -2);
  if (conjugated)
    for (Complex& value : y.values) value = std::conj(value);
  return y;
}
std::vector<Sample> matrices(Make& m) {
  return {{"matrix", {m.tensor({2, 3})}}, {"batch", {m.tensor({2, 3, 2})}}, {"0-d", {m.tensor({})}}};
}
Array moved(const Array& x, const Ints& source, const Ints& destination) {
  Ints order(x.sizes.size(), -1);
  for (size_t i = 0; i < source.size(); i++)
    order[static_cast<size_t>(wrapped(destination[i], x))] = wrapped(source[i], x);
  int64_t next = 0;
  for (int64_t& dim : order) {
    if (dim >= 0) continue;
    while (std::any_of(source.begin(), source.end(), [&](int64_t s) { return wrapped(s, x) == next; })) next++;
    dim = next++;
  }
  return permuted(x, order);
}
Array flipped(const Array& x, const Ints& dims) {
  return gathered(x, x.sizes, [&](Index at) {
    if (at.empty()) return at;
    for (int64_t dim : dims) {
      auto d = static_cast<size_t>(wrapped(dim, x));
      at[d] = x.sizes[d] - 1 - at[d];
    }
    return at;
  });
}
Array rolled(const Array& x, int64_t shift, size_t d) {
  if (x.sizes.empty()) return x;
  return gathered(x, x.sizes, [&](Index at) {
    at[d] = ((at[d] - shift) % x.sizes[d] + x.sizes[d]) % x.sizes[d];
    return at;
  });
}
Array repeated(const Array& x, Ints repeats) {
  Array wide = x;
  while (wide.sizes.size() < repeats.size()) wide.sizes.insert(wide.sizes.begin(), 1);
  Ints sizes = wide.sizes;
  for (size_t i = 0; i < sizes.size(); i++) sizes[i] *= repeats[i];
  return gathered(wide, sizes, [&](Index at) {
    for (size_t i = 0; i < at.size(); i++) at[i] %= wide.sizes[i];
    return at;
  });
}
Array interleaved(Array x, const std::function<int64_t(int64_t)>& times, std::optional<int64_t> dim) {
  if (!dim || x.sizes.empty()) x.sizes = {x.numel()};
  auto d = static_cast<size_t>(wrapped(dim.value_or(0), x));
  Ints from, sizes = x.sizes;
  for (int64_t i = 0; i < x.sizes[d]; i++) from.insert(from.end(), static_cast<size_t>(times(i)), i);
  sizes[d] = static_cast<int64_t>(from.size());
  return gathered(x, sizes, [&](Index at) {
    at[d] = from[static_cast<size_t>(at[d])];
    return at;
  });
}
std::optional<int64_t> dim_of(const Arguments& in, size_t i) {
  return in.given(i) ? std::optional(in.integer(i)) : std::nullopt;
}
// self with src at the places that `into` names.
Array overwritten(Array self, const Array& src, const std::function<Index(const Index&)>& into) {
  for_each_index(src.sizes, [&](const Index& at) { self[into(at)] = src[at]; });
  return self;
}
std::vector<Sample> like_samples(Make& m) {
  return {{"same count", {m.tensor({2, 6}), m.tensor({3, 4})}}, {"0-d", {m.tensor({1}), m.tensor({})}}};
}
Array shaped(Array x, Ints sizes) {
  x.sizes = std::move(sizes);
  return x;
}

std::vector<OpCase> view_cases() {
  return {
      {.name = "unflatten",
       .not_in_torch = "libtorch's takes names as well",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"last", {m.tensor({2, 6}), int64_t{-1}, Ints{2, 3}}},
                 {"open", {m.tensor({6, 2}), int64_t{0}, Ints{3, -1}}},
                 {"one", {m.tensor({3}), int64_t{0}, Ints{3}}}};
       },
       .reference = single([](const Arguments& in) {
         Array x = in.array(0);
         int64_t d = wrapped(in.integer(1), x), known = 1;
         Ints parts = in.integers(2), sizes = x.sizes;
         for (int64_t n : parts) known *= n == -1 ? 1 : n;
         for (int64_t& n : parts) n = n == -1 ? sizes[static_cast<size_t>(d)] / known : n;
         sizes.erase(sizes.begin() + d);
         sizes.insert(sizes.begin() + d, parts.begin(), parts.end());
         return shaped(x, sizes);
       }),
       .errors = {refused(
           "count",
           [](Make& m) -> Values {
             return {m.tensor({2, 6}), int64_t{1}, Ints{4, 2}};
           },
           "unflatten: Provided sizes [4, 2] don't multiply up to the size of dim 1 (6)")}},
      {.name = "movedim",
       .torch = "movedim.intlist",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"two", {m.tensor({2, 3, 4}), Ints{0, 1}, Ints{-1, 0}}},
                 {"none", {m.tensor({2, 3}), Ints{}, Ints{}}},
                 {"0-d", {m.tensor({}), Ints{0}, Ints{-1}}}};
       },
       .reference = single([](const Arguments& in) {
         Array x = in.array(0);
         return x.sizes.empty() ? x : moved(x, in.integers(1), in.integers(2));
       }),
       .errors = {refused(
           "repeated",
           [](Make& m) -> Values {
             return {m.tensor({2, 3}), Ints{0, 0}, Ints{0, 1}};
           },
           "movedim: repeated dim in `source`")}},
      {.name = "movedim",
       .overload = "int",
       .torch = "movedim.int",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"to the back", {m.tensor({2, 3, 4}), int64_t{0}, int64_t{-1}}},
                 {"to the front", {m.tensor({2, 3, 4}), int64_t{2}, int64_t{0}}}};
       },
       .reference = single([](const Arguments& in) { return moved(in.array(0), in.integers(1), in.integers(2)); }),
       .errors = {refused(
           "dim",
           [](Make& m) -> Values {
             return {m.tensor({2, 3}), int64_t{2}, int64_t{0}};
           },
           "movedim: dim 2 is out of range for shape [2, 3]")}},
      {.name = "expand_as",
       .torch = "expand_as",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"row", {m.tensor({3}), m.tensor({2, 3})}}, {"0-d", {m.tensor({}), m.tensor({2})}}};
       },
       .reference = single([](const Arguments& in) { return broadcast_to(in.array(0), in.array(1).sizes); }),
       .errors = {refused(
           "shapes",
           [](Make& m) -> Values {
             return {m.tensor({3}), m.tensor({2})};
           },
           "expand_as: The expanded size of the tensor (2) must match the existing size (3)")},
       .constants = {1},
       .mixes_devices = true},
      {.name = "view_as",
       .torch = "view_as",
       .samples = like_samples,
       .reference = single([](const Arguments& in) { return shaped(in.array(0), in.array(1).sizes); }),
       .errors = {refused(
           "count",
           [](Make& m) -> Values {
             return {m.tensor({3}), m.tensor({2})};
           },
           "view_as: shape '[2]' is invalid for input of size 3")},
       .any_layout = false,
       .constants = {1},
       .mixes_devices = true},
      {.name = "reshape_as",
       .torch = "reshape_as",
       .samples = like_samples,
       .reference = single([](const Arguments& in) { return shaped(in.array(0), in.array(1).sizes); }),
       .constants = {1},
       .mixes_devices = true},
      {.name = "type_as",
       .torch = "type_as",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"double", {m.integers({2, 3}, 0, 2, m.dtype), m.tensor({2}, kDouble)}}};
       },
       .reference = single([](const Arguments& in) { return in.array(0); }),
       .dtypes = without(all_dtypes, {kComplex64, kComplex128}),
       .result_dtype = [](DType) { return kDouble; },
       .constants = {1},
       .mixes_devices = true,
       .untested = {{kComplex64, "the imaginary part goes, with a warning there"},
                    {kComplex128, "the imaginary part goes, with a warning there"}}},
      {.name = "broadcast_to",
       .torch = "broadcast_to",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"row", {m.tensor({3}), Ints{2, 3}}}, {"column", {m.tensor({2, 1}), Ints{2, 3}}}};
       },
       .reference = single([](const Arguments& in) { return broadcast_to(in.array(0), in.integers(1)); })},
      {.name = "broadcast_tensors",
       .torch = "broadcast_tensors",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"three", {List{m.tensor({3}), m.tensor({2, 1}), m.tensor({})}}}};
       },
       .reference =
           [](const Arguments& in) {
             Ints sizes;
             std::vector<Array> wide;
             for (const Array& x : in.arrays(0)) sizes = broadcast(sizes, x.sizes);
             for (const Array& x : in.arrays(0)) wide.push_back(broadcast_to(x, sizes));
             return wide;
           },
       .errors = {refused(
           "shapes",
           [](Make& m) -> Values {
             return {List{m.tensor({3}), m.tensor({2})}};
           },
           "broadcast_tensors: shapes [3] and [2] do not broadcast")}},
      {.name = "adjoint",
       .torch = "adjoint",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"matrix", {m.tensor({2, 3})}}, {"batch", {m.tensor({2, 3, 2})}}};
       },
       .reference = single([](const Arguments& in) { return transposed(in.array(0), true); }),
       .errors = {refused(
           "vector", [](Make& m) -> Values { return {m.tensor({3})}; },
           "adjoint: tensor.adjoint() is only supported on matrices")}},
      {.name = "mT",
       .torch = "mT",
       .samples = matrices,
       .reference = single([](const Arguments& in) { return transposed(in.array(0), false); }),
       .errors = {refused(
           "vector", [](Make& m) -> Values { return {m.tensor({3})}; },
           "mT: found 1-D tensor (shape [3]); expected a matrix or a batch of matrices")}},
      {.name = "mH",
       .torch = "mH",
       .samples = matrices,
       .reference = single([](const Arguments& in) { return transposed(in.array(0), true); }),
       .errors = {refused(
           "vector", [](Make& m) -> Values { return {m.tensor({3})}; },
           "mH: found 1-D tensor (shape [3]); expected a matrix or a batch of matrices")}},
      {.name = "matrix_H",
       .torch = "matrix_H",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"matrix", {m.tensor({2, 3})}}, {"0-d", {m.tensor({})}}};
       },
       .reference = single([](const Arguments& in) { return transposed(in.array(0), true); }),
       .errors = {refused(
           "batch",
           [](Make& m) -> Values {
             return {m.tensor({2, 3, 4})};
           },
           "matrix_H: found 3-D tensor (shape [2, 3, 4]); expected a matrix")}},
      {.name = "view",
       .overload = "dtype",
       .torch = "view.dtype",
       .samples = [](Make&) -> std::vector<Sample> {
         Tensor bytes = tensor_of({{2, 4}, {0, 0, 128, 63, 0, 0, 0, 64}}, kUInt8);
         return {{"wider", {bytes, kFloat}}};
       },
       .reference = single([](const Arguments&) {
         return Array{{2, 1}, {1.0, 2.0}};
       }),
       .dtypes = {kUInt8},
       .result_dtype = [](DType) { return kFloat; },
       .gradient = false,
       .errors = {refused(
           "size",
           [](Make& m) -> Values {
             return {m.tensor({3}, kUInt8), kFloat};
           },
           "view: self.size(-1) must be divisible by 4 to view Byte as Float")},
       .any_layout = false,
       .untested = {{kInt8, "bits are bits"},
                    {kInt16, "bits are bits"},
                    {kInt32, "bits are bits"},
                    {kInt64, "bits are bits"},
                    {kFloat16, "bits are bits"},
                    {kFloat, "bits are bits"},
                    {kDouble, "bits are bits"},
                    {kBool, "bits are bits"},
                    {kBFloat16, "bits are bits"},
                    {kComplex64, "bits are bits"},
                    {kComplex128, "bits are bits"}}},
      {.name = "unfold",
       .torch = "unfold",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"overlapping", {m.tensor({7}), int64_t{0}, int64_t{3}, int64_t{2}}},
                 {"apart", {m.tensor({3, 7}), int64_t{-1}, int64_t{2}, int64_t{3}}},
                 {"first", {m.tensor({5, 2}), int64_t{0}, int64_t{2}, int64_t{1}}},
                 {"0-d", {m.tensor({}), int64_t{0}, int64_t{1}, int64_t{1}}}};
       },
       .reference = single([](const Arguments& in) {
         Array x = in.array(0);
         Ints sizes = x.sizes;
         auto d = static_cast<size_t>(wrapped(in.integer(1), x));
         int64_t size = in.integer(2), step = in.integer(3);
         if (!sizes.empty()) sizes[d] = (sizes[d] - size) / step + 1;
         sizes.push_back(size);
         return gathered(x, sizes, [&](Index at) {
           int64_t within = at.back();
           at.pop_back();
           if (!at.empty()) at[d] = at[d] * step + within;
           return at;
         });
       }),
       .errors = {refused(
                      "size",
                      [](Make& m) -> Values {
                        return {m.tensor({3}), int64_t{0}, int64_t{4}, int64_t{1}};
                      },
                      "unfold: maximum size for tensor at dimension 0 is 3 but size is 4"),
                  refused(
                      "step",
                      [](Make& m) -> Values {
                        return {m.tensor({3}), int64_t{0}, int64_t{1}, int64_t{0}};
                      },
                      "unfold: step is 0 but must be > 0")}},
      {.name = "narrow_copy",
       .torch = "narrow_copy",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"columns", {m.tensor({2, 5}), int64_t{1}, int64_t{1}, int64_t{3}}}};
       },
       .reference = single([](const Arguments& in) {
         Array x = in.array(0);
         return gathered(x, {2, 3}, [](Index at) {
           at[1]++;
           return at;
         });
       })},
  };
}

std::vector<OpCase> in_place_cases() {
  return {
      {.name = "transpose_",
       .torch = "transpose_",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"matrix", {m.tensor({2, 3}), int64_t{0}, int64_t{1}}}};
       },
       .reference = single([](const Arguments& in) { return swapped(in.array(0), in.integer(1), in.integer(2)); }),
       .writes_self = true},
      {.name = "resize_",
       .torch = "resize_",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"smaller", {m.tensor({4, 3}), Ints{2, 5}}},
                 {"the same", {m.tensor({4, 3}), Ints{4, 3}}},
                 {"0-d", {m.tensor({4, 3}), Ints{}}},
                 {"nothing", {m.tensor({4, 3}), Ints{0, 7}}},
                 {"channels last", {m.tensor({2, 3, 4, 1}), Ints{2, 1, 4, 3}, MemoryFormat::ChannelsLast}}};
       },
       .reference = single([](const Arguments& in) {
         Array x = in.array(0), y = Array::filled(in.integers(1));
         std::copy_n(x.values.begin(), y.values.size(), y.values.begin());
         return y;
       }),
       .gradient = false,
       .errors = {refused(
                      "negative",
                      [](Make& m) -> Values {
                        return {m.tensor({3}), Ints{-1}};
                      },
                      "found a negative size in [-1]"),
                  refused(
                      "preserve",
                      [](Make& m) -> Values {
                        return {m.tensor({3}), Ints{2}, MemoryFormat::Preserve};
                      },
                      "resize_: found memory_format preserve (expected contiguous or channels last)")},
       .writes_self = true,
       .any_layout = false},
      {.name = "resize_as_",
       .torch = "resize_as_",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"smaller", {m.tensor({4, 3}), m.tensor({2, 5})}}, {"nothing", {m.tensor({4, 3}), m.tensor({0})}}};
       },
       .reference = single([](const Arguments& in) {
         Array x = in.array(0), y = Array::filled(in.array(1).sizes);
         std::copy_n(x.values.begin(), y.values.size(), y.values.begin());
         return y;
       }),
       .gradient = false,
       .writes_self = true,
       .any_layout = false,
       .mixes_devices = true},
      {.name = "t_",
       .torch = "t_",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"matrix", {m.tensor({2, 3})}}};
       },
       .reference = single([](const Arguments& in) { return swapped(in.array(0), 0, 1); }),
       .writes_self = true},
      {.name = "squeeze_",
       .torch = "squeeze_",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"some", {m.tensor({2, 1, 3, 1})}}};
       },
       .reference = single([](const Arguments& in) {
         return shaped(in.array(0), {2, 3});
       }),
       .writes_self = true},
      {.name = "squeeze_",
       .overload = "dim",
       .torch = "squeeze_.dim",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"one", {m.tensor({2, 1, 3, 1}), int64_t{1}}}};
       },
       .reference = single([](const Arguments& in) {
         return shaped(in.array(0), {2, 3, 1});
       }),
       .writes_self = true},
      {.name = "unsqueeze_",
       .torch = "unsqueeze_",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"back", {m.tensor({2, 3}), int64_t{-1}}}};
       },
       .reference = single([](const Arguments& in) {
         return shaped(in.array(0), {2, 3, 1});
       }),
       .writes_self = true},
      {.name = "as_strided_",
       .torch = "as_strided_",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"diagonal", {m.tensor({3, 3}), Ints{3}, Ints{4}}},
                 {"offset", {m.tensor({3, 4}), Ints{2, 2}, Ints{4, 1}, int64_t{5}}}};
       },
       .reference = single(strided),
       .errors = {refused(
           "beyond",
           [](Make& m) -> Values {
             return {m.tensor({4}), Ints{3}, Ints{2}};
           },
           "as_strided_: sizes [3], strides [2], storage offset 0 reach 20 bytes")},
       .writes_self = true,
       .any_layout = false},
  };
}

std::vector<OpCase> copy_cases_of_shape() {
  return {
      {.name = "flip",
       .torch = "flip",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"rows", {m.tensor({3, 4}), Ints{0}}},
                 {"columns", {m.tensor({3, 4}), Ints{-1}}},
                 {"both", {m.tensor({2, 3, 4}), Ints{0, 2}}},
                 {"none", {m.tensor({3}), Ints{}}},
                 {"0-d", {m.tensor({}), Ints{0}}},
                 {"empty", {m.tensor({0, 3}), Ints{1}}},
                 {"large", {m.tensor({201, 133}), Ints{1}}, false}};
       },
       .reference = single([](const Arguments& in) { return flipped(in.array(0), in.integers(1)); }),
       .errors = {refused(
           "twice",
           [](Make& m) -> Values {
             return {m.tensor({3, 4}), Ints{1, -1}};
           },
           "flip: dim 1 appears multiple times in the list of dims")}},
      {.name = "fliplr",
       .torch = "fliplr",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"matrix", {m.tensor({3, 4})}}};
       },
       .reference = single([](const Arguments& in) { return flipped(in.array(0), {1}); }),
       .errors = {refused(
           "vector", [](Make& m) -> Values { return {m.tensor({3})}; }, "fliplr: Input must be >= 2-d")}},
      {.name = "flipud",
       .torch = "flipud",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"matrix", {m.tensor({3, 4})}}};
       },
       .reference = single([](const Arguments& in) { return flipped(in.array(0), {0}); }),
       .errors = {refused(
           "number", [](Make& m) -> Values { return {m.tensor({})}; }, "flipud: Input must be >= 1-d")}},
      {.name = "roll",
       .torch = "roll",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"rows", {m.tensor({3, 4}), Ints{1}, Ints{0}}},
                 {"two", {m.tensor({3, 4}), Ints{-1, 6}, Ints{0, -1}}},
                 {"flat", {m.tensor({3, 4}), Ints{2}}},
                 {"empty", {m.tensor({0, 3}), Ints{1}, Ints{0}}}};
       },
       .reference = single([](const Arguments& in) {
         Array x = in.array(0);
         Ints shifts = in.integers(1), dims = in.integers(2);
         if (dims.empty()) return shaped(rolled(shaped(x, {x.numel()}), shifts[0], 0), x.sizes);
         for (size_t i = 0; i < dims.size(); i++) x = rolled(x, shifts[i], static_cast<size_t>(wrapped(dims[i], x)));
         return x;
       }),
       .errors = {refused(
           "lists",
           [](Make& m) -> Values {
             return {m.tensor({3, 4}), Ints{1}, Ints{0, 1}};
           },
           "roll: shifts and dimensions must align. shifts: [1], dims: [0, 1]")}},
      {.name = "rot90",
       .torch = "rot90",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"once", {m.tensor({2, 3})}},
                 {"twice", {m.tensor({2, 3}), int64_t{2}}},
                 {"back", {m.tensor({2, 3, 2}), int64_t{-1}, Ints{1, 2}}},
                 {"around", {m.tensor({2, 3}), int64_t{4}}}};
       },
       .reference = single([](const Arguments& in) {
         Array x = in.array(0);
         Ints dims = in.integers(2);
         for (int64_t k = (in.integer(1) % 4 + 4) % 4; k > 0; k--) x = swapped(flipped(x, {dims[1]}), dims[0], dims[1]);
         return x;
       }),
       .errors = {refused(
           "same",
           [](Make& m) -> Values {
             return {m.tensor({3, 4}), int64_t{1}, Ints{1, -1}};
           },
           "rot90: expected rotation dims to be different")}},
      {.name = "repeat",
       .torch = "repeat",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"matrix", {m.tensor({2, 3}), Ints{2, 3}}},
                 {"new dimension", {m.tensor({3}), Ints{2, 1, 2}}},
                 {"0-d", {m.tensor({}), Ints{3}}},
                 {"to 0-d", {m.tensor({}), Ints{}}},
                 {"nothing", {m.tensor({2, 3}), Ints{0, 2}}},
                 {"large", {m.tensor({40, 33}), Ints{5, 6}}, false}};
       },
       .reference = single([](const Arguments& in) { return repeated(in.array(0), in.integers(1)); }),
       .errors = {refused(
           "rank",
           [](Make& m) -> Values {
             return {m.tensor({2, 3}), Ints{2}};
           },
           "repeat: Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")}},
      {.name = "tile",
       .torch = "tile",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"fewer", {m.tensor({2, 3}), Ints{2}}}, {"more", {m.tensor({3}), Ints{2, 2}}}};
       },
       .reference = single([](const Arguments& in) {
         Ints repeats = in.integers(1);
         while (repeats.size() < in.array(0).sizes.size()) repeats.insert(repeats.begin(), 1);
         return repeated(in.array(0), repeats);
       })},
      {.name = "repeat_interleave",
       .torch = "repeat_interleave.Tensor",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"some", {tensor_of({{3}, {1, 0, 2}}, m.dtype)}, true, true}};
       },
       .reference = single([](const Arguments& in) {
         Array times = in.array(0), places{{times.numel()}, {}};
         for (int64_t i = 0; i < times.numel(); i++) places.values.emplace_back(static_cast<double>(i));
         return interleaved(
             places, [&](int64_t i) { return static_cast<int64_t>(times.values[static_cast<size_t>(i)].real()); }, 0);
       }),
       .dtypes = {kInt32, kInt64},
       .refused = without(all_dtypes, {kInt32, kInt64}),
       .gradient = false,
       .errors = {refused(
           "negative",
           [](Make&) -> Values {
             return {tensor_of({{2}, {1, -1}}, kInt64)};
           },
           "repeat_interleave: repeats can not be negative, found -1 at place 1")}},
      {.name = "repeat_interleave",
       .overload = "self_Tensor",
       .torch = "repeat_interleave.self_Tensor",
       .samples = [](Make& m) -> std::vector<Sample> {
         Tensor times = tensor_of({{3}, {1, 0, 2}}, kInt64);
         return {{"rows", {m.tensor({3, 2}), times, int64_t{0}}, true, true},
                 {"flat", {m.tensor({3}), times}, true, true},
                 {"one number", {m.tensor({2, 2}), tensor_of({{1}, {2}}, kInt64), int64_t{1}}, true, true}};
       },
       .reference = single([](const Arguments& in) {
         Array times = in.array(1);
         return interleaved(
             in.array(0),
             [&](int64_t i) {
               return static_cast<int64_t>(times.values[times.numel() == 1 ? 0 : static_cast<size_t>(i)].real());
             },
             dim_of(in, 2));
       }),
       .errors = {refused(
           "count",
           [](Make& m) -> Values {
             return {m.tensor({3}), tensor_of({{2}, {1, 1}}, kInt64)};
           },
           "repeat_interleave: repeats must be 0-dim or 1-dim tensor of size 1 or have the same size as input")},
       .mixes_devices = true},
      {.name = "repeat_interleave",
       .overload = "self_int",
       .torch = "repeat_interleave.self_int",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"rows", {m.tensor({3, 2}), int64_t{2}, int64_t{0}}},
                 {"columns", {m.tensor({3, 2}), int64_t{3}, int64_t{-1}}},
                 {"flat", {m.tensor({2, 2}), int64_t{2}}},
                 {"none", {m.tensor({2, 2}), int64_t{0}, int64_t{0}}},
                 {"0-d", {m.tensor({}), int64_t{2}}}};
       },
       .reference = single([](const Arguments& in) {
         return interleaved(
             in.array(0), [&](int64_t) { return in.integer(1); }, dim_of(in, 2));
       }),
       .errors = {refused(
           "negative",
           [](Make& m) -> Values {
             return {m.tensor({3}), int64_t{-1}};
           },
           "repeat_interleave: repeats can not be negative, found -1")}},
      {.name = "select_scatter",
       .torch = "select_scatter",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"column", {m.tensor({3, 4}), m.tensor({3}), int64_t{1}, int64_t{-2}}}};
       },
       .reference = single([](const Arguments& in) {
         return overwritten(in.array(0), in.array(1), [](const Index& at) { return Index{at[0], 2}; });
       }),
       .errors = {refused(
           "shape",
           [](Make& m) -> Values {
             return {m.tensor({3, 4}), m.tensor({4}), int64_t{1}, int64_t{0}};
           },
           "select_scatter: expected src to have a size equal to the view of self that it replaces. src size = [4]")}},
      {.name = "slice_scatter",
       .torch = "slice_scatter",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"columns", {m.tensor({3, 5}), m.tensor({3, 2}), int64_t{1}, int64_t{1}, int64_t{5}, int64_t{2}}}};
       },
       .reference = single([](const Arguments& in) {
         return overwritten(in.array(0), in.array(1), [](const Index& at) { return Index{at[0], 1 + 2 * at[1]}; });
       }),
       .errors = {refused(
           "shape",
           [](Make& m) -> Values {
             return {m.tensor({3, 4}), m.tensor({2, 4}), int64_t{0}};
           },
           "slice_scatter: expected src to have a size equal to the view of self")}},
      {.name = "diagonal_scatter",
       .torch = "diagonal_scatter",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"above", {m.tensor({3, 4}), m.tensor({3}), int64_t{1}}},
                 {"below", {m.tensor({3, 4}), m.tensor({2}), int64_t{-1}}},
                 {"batch", {m.tensor({2, 3, 3}), m.tensor({2, 3}), int64_t{0}, int64_t{1}, int64_t{2}}}};
       },
       .reference = single([](const Arguments& in) {
         int64_t k = in.integer(2);
         bool batch = in.array(0).rank() == 3;
         return overwritten(in.array(0), in.array(1), [=](const Index& at) {
           if (batch) return Index{at[0], at[1], at[1]};
           return Index{at[0] + std::max<int64_t>(-k, 0), at[0] + std::max<int64_t>(k, 0)};
         });
       })},
      {.name = "as_strided_scatter",
       .not_in_torch = "the gradient of libtorch 1.13 reads memory that nobody wrote",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"second row", {m.tensor({3, 4}), m.tensor({2, 2}), Ints{2, 2}, Ints{4, 1}, int64_t{1}}}};
       },
       .reference = single([](const Arguments& in) {
         return overwritten(in.array(0), in.array(1), [](const Index& at) { return Index{at[0], at[1] + 1}; });
       }),
       .any_layout = false},
  };
}

}  // namespace

std::vector<OpCase> rearrange_cases() {
  std::vector<OpCase> all = view_cases();
  for (OpCase& c : in_place_cases()) all.push_back(std::move(c));
  for (OpCase& c : copy_cases_of_shape()) all.push_back(std::move(c));
  return all;
}

}  // namespace cresset::test
