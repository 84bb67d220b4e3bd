// Cases of ops/index and ops/cat.
#include "tests/ops/cases/cases.h"

namespace cresset::test {
namespace {

using List = std::vector<Tensor>;

// Index tensors, one per dimension of x (none: the whole dimension); masks become the places where they are true.
struct Places {
  std::vector<std::optional<Array>> by_dim;
  Ints sizes;     // of the indices together
  size_t at = 0;  // where those dimensions stand in the result
  Ints result_sizes;
};

Places resolved(const Array& x, const List& indices) {
  Places p;
  for (const Tensor& index : indices) {
    if (!index.defined()) {
      p.by_dim.emplace_back();
      continue;
    }
    Array array = read(index);
    if (index.dtype() != kBool) {
      p.by_dim.emplace_back(array);
      continue;
    }
    std::vector<Array> columns(array.sizes.size());
    for_each_index(array.sizes, [&](const Index& at) {
      if (array[at] == 0.0) return;
      for (size_t i = 0; i < at.size(); i++) columns[i].values.push_back(static_cast<double>(at[i]));
    });
    for (Array& column : columns) {
      column.sizes = {column.numel()};
      p.by_dim.emplace_back(column);
    }
  }
  p.by_dim.resize(x.sizes.size());
  Ints used, rest;
  for (size_t i = 0; i < x.sizes.size(); i++) {
    if (!p.by_dim[i]) {
      rest.push_back(x.sizes[i]);
      continue;
    }
    p.sizes = broadcast(p.sizes, p.by_dim[i]->sizes);
    used.push_back(static_cast<int64_t>(i));
  }
  bool adjacent = !used.empty() && used.back() - used.front() + 1 == static_cast<int64_t>(used.size());
  p.at = adjacent ? static_cast<size_t>(used.front()) : 0;
  p.result_sizes = rest;
  p.result_sizes.insert(p.result_sizes.begin() + static_cast<int64_t>(p.at), p.sizes.begin(), p.sizes.end());
  for (auto& index : p.by_dim)
    if (index) index = broadcast_to(*index, p.sizes);
  return p;
}

// The place in x that a place in the result stands for.
Index source(const Array& x, const Places& p, const Index& at) {
  auto first = at.begin() + static_cast<int64_t>(p.at), last = first + static_cast<int64_t>(p.sizes.size());
  Index in_indices(first, last), others(at.begin(), first), from;
  others.insert(others.end(), last, at.end());
  size_t next = 0;
  for (size_t i = 0; i < x.sizes.size(); i++) {
    if (!p.by_dim[i]) {
      from.push_back(others[next++]);
      continue;
    }
    auto place = static_cast<int64_t>((*p.by_dim[i])[in_indices].real());
    from.push_back(place < 0 ? place + x.sizes[i] : place);
  }
  return from;
}

std::vector<Sample> index_samples(Make& m) {
  Tensor mask = tensor_of({{3}, {1, 0, 1}}, kBool), wide_mask = tensor_of({{3, 2}, {1, 0, 0, 1, 1, 1}}, kBool);
  return {{"rows", {m.tensor({4, 3}), List{places({2, 0, 2, -1})}}},
          {"columns", {m.tensor({4, 3}), List{Tensor(), places({1, 0})}}},
          {"pairs", {m.tensor({4, 3}), List{places({0, 3}), places({2, 1})}}},
          {"broadcast", {m.tensor({4, 3}), List{places({2, 1}, {0, 3}), places({1, 2})}}},
          {"apart", {m.tensor({3, 2, 4}), List{places({0, 2}), Tensor(), places({3, 1})}}},
          {"side by side", {m.tensor({2, 3, 4}), List{Tensor(), places({0, 2}), places({3, 1})}}},
          {"0-d index", {m.tensor({4, 3}), List{places({}, {2})}}},
          {"nothing", {m.tensor({4, 3}), List{places({0}, {})}}},
          {"int32", {m.tensor({4}), List{m.integers({6}, -4, 4, kInt32)}}},
          {"mask", {m.tensor({3, 2}), List{mask}}, true, true},
          {"mask of two dimensions", {m.tensor({3, 2, 2}), List{wide_mask}}, true, true},
          {"large", {m.tensor({300, 40}), List{m.integers({2000}, -300, 300)}}, false}};
}

std::vector<Sample> index_put_samples(Make& m) {
  Tensor mask = tensor_of({{3}, {1, 0, 1}}, kBool);
  std::vector<Sample> samples = {{"rows", {m.tensor({4, 3}), List{places({2, 0})}, m.tensor({2, 3})}},
                                 {"broadcast values", {m.tensor({4, 3}), List{places({2, -1})}, m.tensor({3})}},
                                 {"one value", {m.tensor({4, 3}), List{Tensor(), places({1})}, m.tensor({})}},
                                 {"pairs", {m.tensor({4, 3}), List{places({0, 3}), places({2, 1})}, m.tensor({2})}},
                                 {"mask", {m.tensor({3, 2}), List{mask}, m.tensor({2, 2})}, true, true}};
  if (m.dtype != kBool) {
    samples.push_back({"added", {m.tensor({4, 3}), List{places({2, 0})}, m.tensor({2, 3}), true}});
    // Whole numbers: half types round after each addition, and sums near zero would show it.
    samples.push_back(
        {"added twice",
         {m.integers({4, 3}, 1, 9, m.dtype), List{places({2, 2, -2})}, m.integers({3, 3}, 1, 9, m.dtype), true}});
  }
  return samples;
}

Array joined(const std::vector<Array>& parts, size_t dim) {
  Array y;
  for (const Array& part : parts) {
    if (part.sizes == Ints{0}) continue;
    if (y.sizes.empty()) y.sizes = part.sizes, y.sizes[dim] = 0;
    y.sizes[dim] += part.sizes[dim];
  }
  if (y.sizes.empty()) return Array::filled({0});
  y = Array::filled(y.sizes);
  int64_t start = 0;
  for (const Array& part : parts) {
    if (part.sizes == Ints{0}) continue;
    for_each_index(part.sizes, [&](const Index& at) {
      Index to = at;
      to[dim] += start;
      y[to] = part[at];
    });
    start += part.sizes[dim];
  }
  return y;
}

size_t dim_of(const Arguments& in, int64_t rank) {
  return static_cast<size_t>(in.integer(1) < 0 ? in.integer(1) + rank : in.integer(1));
}

}  // namespace

std::vector<OpCase> index_cases() {
  return {
      {.name = "index",
       .torch = "index.Tensor",
       .samples = index_samples,
       .reference =
           [](const Arguments& in) {
             Array x = in.array(0);
             Places p = resolved(x, std::get<List>(in[1]));
             return std::vector{gathered(x, p.result_sizes, [&](const Index& at) { return source(x, p, at); })};
           },
       .errors = {{"bounds",
                   [](Make& m) -> Values {
                     return {m.tensor({4}), List{places({1, 4})}};
                   },
                   "index 4 is out of bounds for dimension 0 with size 4"},
                  {"count",
                   [](Make& m) -> Values {
                     return {m.tensor({4}), List{places({1}), places({1})}};
                   },
                   "index: too many indices for tensor of dimension 1"},
                  {"shapes",
                   [](Make& m) -> Values {
                     return {m.tensor({4, 4}), List{places({1, 2}), places({1, 2, 3})}};
                   },
                   "index: shape mismatch: indexing tensors could not be broadcast together with shapes [2], [3]"},
                  {"dtype",
                   [](Make& m) -> Values {
                     return {m.tensor({4}), List{m.tensor({2}, kFloat)}};
                   },
                   "tensors used as indices must be long, int, byte or bool tensors"},
                  {"mask",
                   [](Make& m) -> Values {
                     return {m.tensor({4}), List{m.condition({3})}};
                   },
                   "index: The shape of the mask [3] at index 0 does not match"}},
       .mixes_devices = true},
      {.name = "index_put",
       .torch = "index_put",
       .samples = index_put_samples,
       .reference =
           [](const Arguments& in) {
             Array y = in.array(0);
             Places p = resolved(y, std::get<List>(in[1]));
             Array values = broadcast_to(in.array(2), p.result_sizes);
             for_each_index(p.result_sizes, [&](const Index& at) {
               Complex& element = y[source(y, p, at)];
               element = in.flag(3) ? element + values[at] : values[at];
             });
             return std::vector{y};
           },
       .errors = {{"values",
                   [](Make& m) -> Values {
                     return {m.tensor({4, 3}), List{places({1})}, m.tensor({4})};
                   },
                   "index_put: shape mismatch: value tensor of shape [4] cannot be broadcast"},
                  {"dtype",
                   [](Make& m) -> Values {
                     return {m.tensor({4}, kFloat), List{places({1})}, m.tensor({1}, kDouble)};
                   },
                   "index_put: Index put requires the source and destination dtypes match"}},
       .mixes_devices = true},
      {.name = "nonzero",
       .torch = "nonzero",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"some", {tensor_of({{2, 3}, {0, 1, 2, 0, 3, 0}}, m.dtype)}},
                 {"none", {tensor_of(Array::filled({4}), m.dtype)}},
                 {"0-d", {tensor_of(Array::number(1), m.dtype)}},
                 {"empty", {m.tensor({0, 3})}},
                 {"inf and nan", {m.special()}},
                 {"large", {m.integers({201, 333}, 0, 2, m.dtype)}}};
       },
       .reference =
           [](const Arguments& in) {
             Array x = in.array(0), y;
             for_each_index(x.sizes, [&](const Index& at) {
               if (x[at] == 0.0) return;
               for (int64_t place : at) y.values.push_back(static_cast<double>(place));
             });
             int64_t found = 0;
             for (Complex value : x.values) found += value != 0.0;
             y.sizes = {found, x.rank()};
             return std::vector{y};
           },
       .result_dtype = [](DType) { return kInt64; },
       .gradient = false,
       .no_meta = "the number of rows depends on values"},
      {.name = "cat",
       .torch = "cat",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"rows", {List{m.tensor({2, 3}), m.tensor({1, 3}), m.tensor({2, 3})}}},
                 {"columns", {List{m.tensor({2, 3}), m.tensor({2, 1})}, int64_t{-1}}},
                 {"one", {List{m.tensor({2, 3})}}},
                 {"with nothing", {List{m.tensor({2, 3}), m.tensor({0, 3})}}},
                 {"with an old empty", {List{m.tensor({0}), m.tensor({2, 3})}, int64_t{1}}},
                 {"large", {List{m.tensor({201, 133}), m.tensor({201, 200})}, int64_t{1}}, false}};
       },
       .reference =
           [](const Arguments& in) {
             std::vector<Array> parts = in.arrays(0);
             return std::vector{joined(parts, dim_of(in, parts.back().rank()))};
           },
       .errors = {{"none", [](Make&) -> Values { return {List{}}; }, "cat: expected a non-empty list of Tensors"},
                  {"shapes",
                   [](Make& m) -> Values {
                     return {List{m.tensor({2, 3}), m.tensor({2, 4})}};
                   },
                   "cat: Sizes of tensors must match except in dimension 0. Expected size 3 but got size 4"},
                  {"0-d",
                   [](Make& m) -> Values {
                     return {List{m.tensor({}), m.tensor({})}};
                   },
                   "cat: zero-dimensional tensor (at position 0) cannot be concatenated"}}},
      {.name = "stack",
       .torch = "stack",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"front", {List{m.tensor({2, 3}), m.tensor({2, 3})}}},
                 {"back", {List{m.tensor({2, 3}), m.tensor({2, 3})}, int64_t{-1}}},
                 {"0-d", {List{m.tensor({}), m.tensor({}), m.tensor({})}}},
                 {"empty", {List{m.tensor({0, 3}), m.tensor({0, 3})}}}};
       },
       .reference =
           [](const Arguments& in) {
             std::vector<Array> parts = in.arrays(0);
             size_t dim = dim_of(in, parts[0].rank() + 1);
             for (Array& part : parts) part.sizes.insert(part.sizes.begin() + static_cast<int64_t>(dim), 1);
             return std::vector{joined(parts, dim)};
           },
       .errors = {{"none", [](Make&) -> Values { return {List{}}; }, "stack: stack expects a non-empty TensorList"},
                  {"shapes",
                   [](Make& m) -> Values {
                     return {List{m.tensor({2}), m.tensor({3})}};
                   },
                   "stack: stack expects each tensor to be equal size, but got [2] at entry 0 and [3] at entry 1"}}},
      {.name = "chunk",
       .torch = "chunk",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"even", {m.tensor({4, 2}), int64_t{2}}},
                 {"uneven", {m.tensor({2, 5}), int64_t{3}, int64_t{1}}},
                 {"more than there are", {m.tensor({2}), int64_t{5}}},
                 {"empty", {m.tensor({0, 2}), int64_t{3}}}};
       },
       .reference =
           [](const Arguments& in) {
             Array x = in.array(0);
             auto dim = static_cast<size_t>(in.integer(2));
             int64_t n = x.sizes[dim], chunks = in.integer(1), size = (n + chunks - 1) / chunks;
             std::vector<Array> parts;
             for (int64_t start = 0; n == 0 ? static_cast<int64_t>(parts.size()) < chunks : start < n; start += size) {
               Ints sizes = x.sizes;
               sizes[dim] = std::min(size, n - start);
               parts.push_back(gathered(x, sizes, [&](Index at) {
                 at[dim] += start;
                 return at;
               }));
             }
             return parts;
           },
       .errors = {{"count",
                   [](Make& m) -> Values {
                     return {m.tensor({4}), int64_t{0}};
                   },
                   "chunk: chunk expects `chunks` to be greater than 0, got: 0"}}},
  };
}

}  // namespace cresset::test
