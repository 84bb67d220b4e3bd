// Cases of ops/shape. Their references move indices; none of them copies the arithmetic of strides.
#include <algorithm>

#include "tests/ops/cases/cases.h"

namespace cresset::test {
namespace {

int64_t wrapped(int64_t dim, int64_t rank) { return dim < 0 ? dim + std::max<int64_t>(rank, 1) : dim; }

Array reshaped(const Array& x, Ints sizes) {
  int64_t known = 1;
  for (int64_t size : sizes) known *= size == -1 ? 1 : size;
  for (int64_t& size : sizes)
    if (size == -1) size = x.numel() / known;
  return {sizes, x.values};
}

Array swapped(const Array& x, int64_t a, int64_t b) {
  Ints sizes = x.sizes;
  if (sizes.empty()) return x;
  auto i = static_cast<size_t>(wrapped(a, x.rank())), j = static_cast<size_t>(wrapped(b, x.rank()));
  std::swap(sizes[i], sizes[j]);
  return gathered(x, sizes, [&](Index index) {
    std::swap(index[i], index[j]);
    return index;
  });
}

Array sliced(const Array& x, int64_t dim, int64_t start, int64_t end, int64_t step) {
  auto d = static_cast<size_t>(wrapped(dim, x.rank()));
  auto clamped = [n = x.sizes[d]](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + n : at, 0, n); };
  start = clamped(start), end = std::max(start, clamped(end));
  Ints sizes = x.sizes;
  sizes[d] = (end - start + step - 1) / step;
  return gathered(x, sizes, [&](Index index) {
    index[d] = start + index[d] * step;
    return index;
  });
}

Array squeezed_dim(Array x, int64_t dim) {
  x.sizes.erase(x.sizes.begin() + wrapped(dim, x.rank()));
  return x;
}

Samples some(std::function<std::vector<Sample>(Make&)> samples) { return samples; }

}  // namespace

Array strided(const Arguments& in) {
  const Array memory = reshaped(in.array(0), {-1});
  const Ints strides = in.integers(2);
  const int64_t offset = in.given(3) ? in.integer(3) : 0;
  return gathered(memory, in.integers(1), [&](const Index& index) {
    int64_t at = offset;
    for (size_t i = 0; i < index.size(); i++) at += index[i] * strides[i];
    return Index{at};
  });
}

std::vector<OpCase> shape_cases() {
  return {
      {.name = "view",
       .torch = "view",
       .samples = some([](Make& m) -> std::vector<Sample> {
         return {{"join", {m.tensor({3, 4}), Ints{12}}},
                 {"split", {m.tensor({3, 4}), Ints{3, 2, -1}}},
                 {"0-d", {m.tensor({}), Ints{1, 1}}},
                 {"to 0-d", {m.tensor({1}), Ints{}}},
                 {"empty", {m.tensor({0, 3}), Ints{3, 0}}},
                 {"split of a strided dimension", {alias(m.tensor({4, 6}), {6, 4}, {1, 6}, 0), Ints{2, 3, 4}}}};
       }),
       .reference = single([](const Arguments& in) { return reshaped(in.array(0), in.integers(1)); }),
       .errors = {refused(
                      "count",
                      [](Make& m) -> Values {
                        return {m.tensor({2, 3}), Ints{4}};
                      },
                      "view: shape '[4]' is invalid for input of size 6"),
                  refused(
                      "two_open",
                      [](Make& m) -> Values {
                        return {m.tensor({2, 3}), Ints{-1, -1}};
                      },
                      "view: only one dimension can be inferred, found [-1, -1]"),
                  refused(
                      "strides",
                      [](Make& m) -> Values {
                        return {alias(m.tensor({2, 3}), {3, 2}, {1, 3}, 0), Ints{6}};
                      },
                      "view: view size is not compatible with input tensor's size and stride")},
       .any_layout = false},
      {.name = "reshape",
       .torch = "reshape",
       .samples = some([](Make& m) -> std::vector<Sample> {
         return {{"join", {m.tensor({3, 4}), Ints{12}}},
                 {"split", {m.tensor({3, 4}), Ints{3, 2, -1}}},
                 {"0-d", {m.tensor({}), Ints{1, 1}}},
                 {"empty", {m.tensor({0, 3}), Ints{3, 0}}},
                 {"large", {m.tensor({201, 333}), Ints{333, 201}}, false}};
       }),
       .reference = single([](const Arguments& in) { return reshaped(in.array(0), in.integers(1)); }),
       .errors = {refused(
                      "count",
                      [](Make& m) -> Values {
                        return {m.tensor({2, 3}), Ints{4, -1}};
                      },
                      "reshape: shape '[4, -1]' is invalid for input of size 6"),
                  refused(
                      "open_and_empty",
                      [](Make& m) -> Values {
                        return {m.tensor({0}), Ints{0, -1}};
                      },
                      "is ambiguous")}},
      {.name = "flatten",
       .torch = "flatten.using_ints",
       .samples = some([](Make& m) -> std::vector<Sample> {
         return {{"all", {m.tensor({2, 3, 2})}},
                 {"0-d", {m.tensor({})}},
                 {"some", {m.tensor({2, 3, 2, 2}), int64_t{1}, int64_t{-2}}},
                 {"one", {m.tensor({2, 3}), int64_t{1}, int64_t{1}}}};
       }),
       .reference = single([](const Arguments& in) {
         Array x = in.array(0);
         if (x.sizes.empty()) return reshaped(x, {1});
         int64_t from = in.given(1) ? wrapped(in.integer(1), x.rank()) : 0;
         int64_t to = in.given(2) ? wrapped(in.integer(2), x.rank()) : x.rank() - 1;
         Ints sizes(x.sizes.begin(), x.sizes.begin() + from);
         sizes.push_back(count(Ints(x.sizes.begin() + from, x.sizes.begin() + to + 1)));
         sizes.insert(sizes.end(), x.sizes.begin() + to + 1, x.sizes.end());
         return reshaped(x, sizes);
       }),
       .errors = {refused(
           "order",
           [](Make& m) -> Values {
             return {m.tensor({2, 3}), int64_t{1}, int64_t{0}};
           },
           "flatten: start_dim 1 cannot come after end_dim 0")}},
      {.name = "transpose",
       .torch = "transpose.int",
       .samples = some([](Make& m) -> std::vector<Sample> {
         return {{"first and last", {m.tensor({2, 3, 4}), int64_t{0}, int64_t{-1}}},
                 {"0-d", {m.tensor({}), int64_t{0}, int64_t{-1}}},
                 {"empty", {m.tensor({0, 3}), int64_t{0}, int64_t{1}}},
                 {"itself", {m.tensor({2, 3}), int64_t{1}, int64_t{1}}}};
       }),
       .reference = single([](const Arguments& in) { return swapped(in.array(0), in.integer(1), in.integer(2)); }),
       .errors = {refused(
           "dim",
           [](Make& m) -> Values {
             return {m.tensor({2, 3}), int64_t{0}, int64_t{2}};
           },
           "transpose: dim 2 is out of range for shape [2, 3] (expected -2 to 1)")}},
      {.name = "t",
       .torch = "t",
       .samples = some([](Make& m) -> std::vector<Sample> {
         return {{"matrix", {m.tensor({2, 3})}}, {"vector", {m.tensor({3})}}, {"0-d", {m.tensor({})}}};
       }),
       .reference = single([](const Arguments& in) {
         Array x = in.array(0);
         return x.rank() < 2 ? x : swapped(x, 0, 1);
       }),
       .errors = {refused(
           "rank",
           [](Make& m) -> Values {
             return {m.tensor({2, 3, 4})};
           },
           "t: expects a tensor with <= 2 dimensions, but self is 3D (shape [2, 3, 4])")}},
      {.name = "permute",
       .torch = "permute",
       .samples = some([](Make& m) -> std::vector<Sample> {
         return {{"3-d", {m.tensor({2, 3, 4}), Ints{2, 0, -2}}},
                 {"0-d", {m.tensor({}), Ints{}}},
                 {"7-d", {m.tensor({2, 1, 2, 1, 3, 1, 2}), Ints{6, 4, 2, 0, 1, 3, 5}}}};
       }),
       .reference = single([](const Arguments& in) {
         Array x = in.array(0);
         Ints dims = in.integers(1), sizes;
         for (int64_t& dim : dims) {
           dim = wrapped(dim, x.rank());
           sizes.push_back(x.sizes[static_cast<size_t>(dim)]);
         }
         return gathered(x, sizes, [&](const Index& index) {
           Index from(index.size());
           for (size_t i = 0; i < index.size(); i++) from[static_cast<size_t>(dims[i])] = index[i];
           return from;
         });
       }),
       .errors = {refused(
                      "count",
                      [](Make& m) -> Values {
                        return {m.tensor({2, 3}), Ints{0}};
                      },
                      "permute: found 1 dims [0] for shape [2, 3] (expected 2)"),
                  refused(
                      "repeated",
                      [](Make& m) -> Values {
                        return {m.tensor({2, 3}), Ints{1, -1}};
                      },
                      "permute: repeated dim -1 in [1, -1]")}},
      {.name = "expand",
       .torch = "expand",
       .samples = some([](Make& m) -> std::vector<Sample> {
         return {{"column", {m.tensor({3, 1}), Ints{2, -1, 4}}},
                 {"0-d", {m.tensor({}), Ints{2, 2}}},
                 {"to empty", {m.tensor({1, 3}), Ints{0, 3}}},
                 {"same", {m.tensor({2, 3}), Ints{2, 3}}}};
       }),
       .reference = single([](const Arguments& in) {
         Array x = in.array(0);
         Ints sizes = in.integers(1);
         for (size_t i = 0; i < sizes.size(); i++)
           if (sizes[i] == -1) sizes[i] = x.sizes[i + x.sizes.size() - sizes.size()];
         return broadcast_to(x, sizes);
       }),
       .errors = {refused(
                      "size",
                      [](Make& m) -> Values {
                        return {m.tensor({2, 3}), Ints{2, 4}};
                      },
                      "expand: The expanded size of the tensor (4) must match the existing size (3)"),
                  refused(
                      "rank",
                      [](Make& m) -> Values {
                        return {m.tensor({2, 3}), Ints{3}};
                      },
                      "expand: the number of sizes provided (1) must be greater or equal")}},
      {.name = "select",
       .torch = "select.int",
       .samples = some([](Make& m) -> std::vector<Sample> {
         return {{"row", {m.tensor({2, 3, 4}), int64_t{0}, int64_t{1}}},
                 {"from the end", {m.tensor({2, 3, 4}), int64_t{-2}, int64_t{-1}}},
                 {"to 0-d", {m.tensor({3}), int64_t{0}, int64_t{2}}}};
       }),
       .reference = single([](const Arguments& in) {
         Array x = in.array(0);
         int64_t at = in.integer(2), n = x.sizes[static_cast<size_t>(wrapped(in.integer(1), x.rank()))];
         if (at < 0) at += n;
         return squeezed_dim(sliced(x, in.integer(1), at, at + 1, 1), in.integer(1));
       }),
       .errors = {refused(
                      "index",
                      [](Make& m) -> Values {
                        return {m.tensor({2, 3}), int64_t{1}, int64_t{3}};
                      },
                      "select: index 3 is out of bounds for dimension 1 with size 3"),
                  refused(
                      "rank",
                      [](Make& m) -> Values {
                        return {m.tensor({}), int64_t{0}, int64_t{0}};
                      },
                      "select: cannot be applied to a 0-dim tensor")}},
      {.name = "slice",
       .torch = "slice.Tensor",
       .samples = some([](Make& m) -> std::vector<Sample> {
         return {{"all", {m.tensor({4, 3})}},
                 {"middle", {m.tensor({4, 3}), int64_t{0}, int64_t{1}, int64_t{3}}},
                 {"step", {m.tensor({2, 7}), int64_t{-1}, int64_t{1}, Value(), int64_t{3}}},
                 {"from the end", {m.tensor({7}), int64_t{0}, int64_t{-3}, int64_t{-1}}},
                 {"beyond", {m.tensor({4}), int64_t{0}, int64_t{2}, int64_t{100}}},
                 {"nothing", {m.tensor({4}), int64_t{0}, int64_t{3}, int64_t{1}}}};
       }),
       .reference = single([](const Arguments& in) {
         Array x = in.array(0);
         return sliced(x, in.given(1) ? in.integer(1) : 0, in.given(2) ? in.integer(2) : 0,
                       in.given(3) ? in.integer(3) : int64_t{1} << 40, in.given(4) ? in.integer(4) : 1);
       }),
       .errors = {refused(
           "step",
           [](Make& m) -> Values {
             return {m.tensor({4}), int64_t{0}, Value(), Value(), int64_t{0}};
           },
           "slice: step must be positive, found 0")}},
      {.name = "narrow",
       .torch = "narrow",
       .samples = some([](Make& m) -> std::vector<Sample> {
         return {{"middle", {m.tensor({4, 3}), int64_t{0}, int64_t{1}, int64_t{2}}},
                 {"from the end", {m.tensor({2, 5}), int64_t{-1}, int64_t{-2}, int64_t{2}}},
                 {"nothing", {m.tensor({4}), int64_t{0}, int64_t{4}, int64_t{0}}}};
       }),
       .reference = single([](const Arguments& in) {
         Array x = in.array(0);
         int64_t n = x.sizes[static_cast<size_t>(wrapped(in.integer(1), x.rank()))], from = in.integer(2);
         if (from < 0) from += n;
         return sliced(x, in.integer(1), from, from + in.integer(3), 1);
       }),
       .errors = {refused(
           "length",
           [](Make& m) -> Values {
             return {m.tensor({4}), int64_t{0}, int64_t{2}, int64_t{3}};
           },
           "narrow: start (2) + length (3) exceeds dimension size (4)")}},
      {.name = "unsqueeze",
       .torch = "unsqueeze",
       .samples = some([](Make& m) -> std::vector<Sample> {
         return {{"front", {m.tensor({2, 3}), int64_t{0}}},
                 {"back", {m.tensor({2, 3}), int64_t{-1}}},
                 {"middle", {m.tensor({2, 3}), int64_t{1}}},
                 {"0-d", {m.tensor({}), int64_t{0}}}};
       }),
       .reference = single([](const Arguments& in) {
         Array x = in.array(0);
         x.sizes.insert(x.sizes.begin() + wrapped(in.integer(1), x.rank() + 1), 1);
         return x;
       }),
       .errors = {refused(
           "dim",
           [](Make& m) -> Values {
             return {m.tensor({2, 3}), int64_t{3}};
           },
           "unsqueeze: Dimension out of range (expected to be in range of [-3, 2], but got 3)")}},
      {.name = "squeeze",
       .torch = "squeeze",
       .samples = some([](Make& m) -> std::vector<Sample> {
         return {{"ones", {m.tensor({1, 3, 1})}}, {"none", {m.tensor({2, 3})}}, {"0-d", {m.tensor({})}}};
       }),
       .reference = single([](const Arguments& in) {
         Array x = in.array(0);
         std::erase(x.sizes, 1);
         return x;
       })},
      {.name = "squeeze",
       .overload = "dim",
       .torch = "squeeze.dim",
       .samples = some([](Make& m) -> std::vector<Sample> {
         return {{"one", {m.tensor({1, 3, 1}), int64_t{-1}}},
                 {"not one", {m.tensor({2, 3}), int64_t{0}}},
                 {"0-d", {m.tensor({}), int64_t{0}}}};
       }),
       .reference = single([](const Arguments& in) {
         Array x = in.array(0);
         int64_t dim = wrapped(in.integer(1), x.rank());
         return x.rank() > 0 && x.sizes[static_cast<size_t>(dim)] == 1 ? squeezed_dim(x, dim) : x;
       }),
       .errors = {refused(
           "dim",
           [](Make& m) -> Values {
             return {m.tensor({2, 3}), int64_t{-3}};
           },
           "squeeze: dim -3 is out of range for shape [2, 3] (expected -2 to 1)")}},
      {.name = "split",
       .torch = "split.Tensor",
       .samples = some([](Make& m) -> std::vector<Sample> {
         return {{"even", {m.tensor({4, 3}), int64_t{2}}},
                 {"last smaller", {m.tensor({2, 5}), int64_t{2}, int64_t{-1}}},
                 {"larger than all", {m.tensor({3}), int64_t{9}}},
                 {"empty", {m.tensor({0, 3}), int64_t{2}}}};
       }),
       .reference =
           [](const Arguments& in) {
             Array x = in.array(0);
             int64_t dim = in.given(2) ? wrapped(in.integer(2), x.rank()) : 0, size = in.integer(1);
             int64_t n = x.sizes[static_cast<size_t>(dim)];
             std::vector<Array> parts;
             for (int64_t at = 0; at < n || parts.empty(); at += size)
               parts.push_back(sliced(x, dim, at, at + size, 1));
             return parts;
           },
       .errors = {refused(
                      "size",
                      [](Make& m) -> Values {
                        return {m.tensor({4}), int64_t{0}};
                      },
                      "split: split_size must be positive, found 0 for dimension size 4"),
                  refused(
                      "rank",
                      [](Make& m) -> Values {
                        return {m.tensor({}), int64_t{1}};
                      },
                      "split: expects at least a 1-dimensional tensor")}},
      {.name = "split",
       .overload = "sizes",
       .torch = "split_with_sizes",
       .samples = some([](Make& m) -> std::vector<Sample> {
         return {{"uneven", {m.tensor({5, 2}), Ints{1, 4}}},
                 {"with nothing", {m.tensor({2, 3}), Ints{3, 0}, int64_t{1}}}};
       }),
       .reference =
           [](const Arguments& in) {
             int64_t dim = in.given(2) ? in.integer(2) : 0, at = 0;
             std::vector<Array> parts;
             for (int64_t size : in.integers(1)) {
               parts.push_back(sliced(in.array(0), dim, at, at + size, 1));
               at += size;
             }
             return parts;
           },
       .errors = {refused(
           "sum",
           [](Make& m) -> Values {
             return {m.tensor({5}), Ints{2, 2}};
           },
           "split: split_sizes [2, 2] sum to 4 (expected 5, the size of dimension 0)")}},
      {.name = "unbind",
       .torch = "unbind.int",
       .samples = some([](Make& m) -> std::vector<Sample> {
         return {{"rows", {m.tensor({3, 2})}}, {"columns", {m.tensor({2, 3}), int64_t{-1}}}};
       }),
       .reference =
           [](const Arguments& in) {
             Array x = in.array(0);
             int64_t dim = in.given(1) ? wrapped(in.integer(1), x.rank()) : 0;
             std::vector<Array> parts;
             for (int64_t at = 0; at < x.sizes[static_cast<size_t>(dim)]; at++)
               parts.push_back(squeezed_dim(sliced(x, dim, at, at + 1, 1), dim));
             return parts;
           },
       .errors = {refused(
           "rank", [](Make& m) -> Values { return {m.tensor({})}; }, "unbind: ")}},
      {.name = "as_strided",
       .torch = "as_strided",
       .samples = some([](Make& m) -> std::vector<Sample> {
         return {{"diagonal", {m.tensor({3, 3}), Ints{3}, Ints{4}}},
                 {"offset", {m.tensor({3, 4}), Ints{2, 2}, Ints{4, 1}, int64_t{5}}},
                 {"overlapping windows", {m.tensor({6}), Ints{4, 3}, Ints{1, 1}}},
                 {"0-d", {m.tensor({4}), Ints{}, Ints{}, int64_t{3}}}};
       }),
       .reference = single(strided),
       .errors = {refused(
                      "beyond",
                      [](Make& m) -> Values {
                        return {m.tensor({4}), Ints{3}, Ints{2}};
                      },
                      "as_strided: sizes [3], strides [2], storage offset 0 reach 20 bytes"),
                  refused(
                      "lengths",
                      [](Make& m) -> Values {
                        return {m.tensor({4}), Ints{3}, Ints{1, 1}};
                      },
                      "as_strided: mismatch in length of strides and shape")},
       .any_layout = false},
  };
}

}  // namespace cresset::test
