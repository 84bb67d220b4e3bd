// Cases of ops/diagonal.
#include "tests/ops/cases/cases.h"

namespace cresset::test {
namespace {

Reference triangle(bool upper) {
  return [upper](const Arguments& in) {
    Array x = in.array(0);
    const int64_t diagonal = in.integer(1);
    for_each_index(x.sizes, [&](const Index& at) {
      const int64_t distance = at[at.size() - 1] - at[at.size() - 2];
      if (upper ? distance < diagonal : distance > diagonal) x[at] = 0;
    });
    return std::vector{x};
  };
}

std::vector<Sample> matrices(Make& m) {
  return {{"3x4", {m.tensor({3, 4})}},
          {"batch, above", {m.tensor({2, 3, 3}), int64_t{1}}},
          {"below", {m.tensor({4, 2}), int64_t{-1}}},
          {"far out", {m.tensor({2, 3}), int64_t{7}}},
          {"far below", {m.tensor({2, 3}), int64_t{-7}}},
          {"empty", {m.tensor({0, 3})}},
          {"deep", {m.tensor({2, 1, 2, 2})}},
          {"large", {m.tensor({200, 300}), int64_t{5}}, false}};
}

int64_t wrapped(int64_t dim, int64_t rank) { return dim < 0 ? dim + rank : dim; }

Array diagonal_of(const Array& x, int64_t offset, int64_t dim1, int64_t dim2) {
  const auto a = static_cast<size_t>(wrapped(dim1, x.rank())), b = static_cast<size_t>(wrapped(dim2, x.rank()));
  Ints sizes;
  for (size_t i = 0; i < x.sizes.size(); i++)
    if (i != a && i != b) sizes.push_back(x.sizes[i]);
  const int64_t length =
      offset >= 0 ? std::min(x.sizes[a], x.sizes[b] - offset) : std::min(x.sizes[a] + offset, x.sizes[b]);
  sizes.push_back(std::max<int64_t>(length, 0));
  return gathered(x, sizes, [&](const Index& at) {
    Index from;
    size_t next = 0;
    for (size_t i = 0; i < x.sizes.size(); i++)
      from.push_back(i == a   ? at.back() + std::max<int64_t>(-offset, 0)
                     : i == b ? at.back() + std::max<int64_t>(offset, 0)
                              : at[next++]);
    return from;
  });
}

Array embedded(const Array& x, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t rank = x.rank() + 1;
  const auto a = static_cast<size_t>(wrapped(dim1, rank)), b = static_cast<size_t>(wrapped(dim2, rank));
  const int64_t side = x.sizes.back() + std::abs(offset);
  Ints sizes(x.sizes.begin(), x.sizes.end() - 1);
  sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(std::min(a, b)), side);
  sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(std::max(a, b)), side);
  Array y = Array::filled(sizes);
  for_each_index(sizes, [&](const Index& at) {
    if (at[b] - at[a] != offset) return;
    Index from;
    for (size_t i = 0; i < sizes.size(); i++)
      if (i != a && i != b) from.push_back(at[i]);
    from.push_back(std::min(at[a], at[b]));
    y[at] = x[from];
  });
  return y;
}

Reference diagonal_reference() {
  return [](const Arguments& in) {
    return std::vector{diagonal_of(in.array(0), in.integer(1), in.integer(2), in.integer(3))};
  };
}

}  // namespace

std::vector<OpCase> diagonal_cases() {
  const ErrorCase vector = {"vector", [](Make& m) -> Values { return {m.tensor({3})}; }, "dimensions"};
  return {
      {.name = "tril", .torch = "tril", .samples = matrices, .reference = triangle(false), .errors = {vector}},
      {.name = "triu", .torch = "triu", .samples = matrices, .reference = triangle(true), .errors = {vector}},
      {.name = "diagonal",
       .torch = "diagonal",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"matrix", {m.tensor({3, 4})}},
                 {"above", {m.tensor({3, 4}), int64_t{1}}},
                 {"below", {m.tensor({3, 4}), int64_t{-2}}},
                 {"batch", {m.tensor({2, 3, 4}), int64_t{0}, int64_t{-2}, int64_t{-1}}},
                 {"other dims", {m.tensor({2, 3, 2}), int64_t{1}, int64_t{2}, int64_t{0}}},
                 {"none left", {m.tensor({2, 2}), int64_t{5}}},
                 {"empty", {m.tensor({0, 2})}}};
       },
       .reference = diagonal_reference(),
       .errors = {vector,
                  {"same dims",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 2}), int64_t{0}, int64_t{1}, int64_t{-1}};
                   },
                   "diagonal: diagonal dimensions cannot be identical"}}},
      {.name = "linalg_diagonal",
       .torch = "linalg_diagonal",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"matrix", {m.tensor({3, 4})}}, {"batch", {m.tensor({2, 3, 4}), int64_t{1}}}};
       },
       .reference = diagonal_reference()},
      {.name = "diag_embed",
       .torch = "diag_embed",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"vector", {m.tensor({3})}},
                 {"batch, above", {m.tensor({2, 3}), int64_t{1}}},
                 {"below", {m.tensor({2, 2}), int64_t{-2}}},
                 {"other dims", {m.tensor({2, 3}), int64_t{1}, int64_t{2}, int64_t{0}}},
                 {"empty", {m.tensor({0})}}};
       },
       .reference =
           [](const Arguments& in) {
             return std::vector{embedded(in.array(0), in.integer(1), in.integer(2), in.integer(3))};
           },
       .errors = {{"0-d", [](Make& m) -> Values { return {m.tensor({})}; }, "diag_embed: "}}},
      {.name = "diag",
       .torch = "diag",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"vector", {m.tensor({3})}},
                 {"vector, above", {m.tensor({3}), int64_t{2}}},
                 {"matrix", {m.tensor({3, 4})}},
                 {"matrix, below", {m.tensor({3, 4}), int64_t{-1}}}};
       },
       .reference =
           [](const Arguments& in) {
             Array x = in.array(0);
             return std::vector{x.rank() == 1 ? embedded(x, in.integer(1), 0, 1) : diagonal_of(x, in.integer(1), 0, 1)};
           },
       .errors = {{"rank",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 2, 2})};
                   },
                   "diag: matrix or a vector expected"}}},
      {.name = "diagflat",
       .torch = "diagflat",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"vector", {m.tensor({3})}}, {"matrix", {m.tensor({2, 2}), int64_t{-1}}}, {"0-d", {m.tensor({})}}};
       },
       .reference =
           [](const Arguments& in) {
             Array x = in.array(0);
             x.sizes = {x.numel()};
             return std::vector{embedded(x, in.integer(1), 0, 1)};
           }},
      {.name = "fill_diagonal_",
       .torch = "fill_diagonal_",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"square", {m.tensor({3, 3}), Scalar(2)}},  {"wide", {m.tensor({2, 4}), Scalar(2)}},
                 {"tall", {m.tensor({7, 2}), Scalar(2)}},    {"tall, wrapped", {m.tensor({7, 2}), Scalar(2), true}},
                 {"cube", {m.tensor({3, 3, 3}), Scalar(2)}}, {"empty", {m.tensor({0, 2}), Scalar(2), true}}};
       },
       .reference =
           [](const Arguments& in) {
             Array x = in.array(0);
             const int64_t height = x.sizes[0], width = x.sizes[1];
             for (int64_t row = 0; row < height; row++) {
               const int64_t column = in.flag(2) ? row % (width + 1) : row;
               if (column >= width) continue;
               x.values[static_cast<size_t>(x.rank() == 3 ? (row * height + row) * width + row
                                                          : row * width + column)] = in.number(1);
             }
             return std::vector{x};
           },
       .errors = {{"rank",
                   [](Make& m) -> Values {
                     return {m.tensor({2}), Scalar(1)};
                   },
                   "fill_diagonal_: expected at least 2 dimensions"},
                  {"sizes",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 2, 3}), Scalar(1)};
                   },
                   "fill_diagonal_: all dimensions of input must be of equal length"}},
       .writes_self = true},
      {.name = "trace",
       .torch = "trace",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"square", {m.tensor({3, 3})}}, {"wide", {m.tensor({2, 4})}}, {"empty", {m.tensor({0, 2})}}};
       },
       .reference =
           [](const Arguments& in) {
             Complex sum = 0;
             for (Complex x : diagonal_of(in.array(0), 0, 0, 1).values) sum += x;
             return std::vector{Array::number(sum)};
           },
       .result_dtype = summed,
       .tolerance = 2,
       .errors = {{"rank", [](Make& m) -> Values { return {m.tensor({2})}; }, "trace: expected a matrix"}}},
  };
}

}  // namespace cresset::test
