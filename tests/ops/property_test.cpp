// Random shapes, strides, dtypes and broadcasting against the references. The seed is printed with each failure;
// CRESSET_TEST_SEED=n repeats a run, CRESSET_TEST_LONG=1 makes an hour's worth.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <numeric>

#include "tests/ops/cases/cases.h"
#include "tests/support/finite_difference.h"

namespace cresset::test {
namespace {

using Ints = std::vector<int64_t>;

int rounds(int usual) { return std::getenv("CRESSET_TEST_LONG") ? usual * 5000 : usual; }
uint64_t first_seed() {
  const char* given = std::getenv("CRESSET_TEST_SEED");
  return given ? std::strtoull(given, nullptr, 10) : 1;
}

// Runs f with one seed after the other until one fails.
template <class F>
void for_seeds(int count, const F& f) {
  std::cout << "seeds " << first_seed() << " to " << first_seed() + static_cast<uint64_t>(count) - 1 << std::endl;
  for (uint64_t seed = first_seed(); seed < first_seed() + static_cast<uint64_t>(count); seed++) {
    SCOPED_TRACE("CRESSET_TEST_SEED=" + std::to_string(seed));
    Make make(kDouble, seed);
    f(make);
    if (::testing::Test::HasFailure()) return;
  }
}

template <class T>
const T& one_of(Make& make, const std::vector<T>& choices) {
  return choices[static_cast<size_t>(make.between(0, static_cast<int64_t>(choices.size()) - 1))];
}

Ints random_sizes(Make& make, int64_t most_dims = 5) {
  Ints sizes(static_cast<size_t>(make.between(0, most_dims)));
  for (int64_t& size : sizes) size = make.between(0, 25) == 0 ? 0 : make.between(1, 6);
  return sizes;
}

// A shape that broadcasts with `sizes`: some dimensions are 1, some leading ones are missing.
Ints broadcastable(Make& make, const Ints& sizes) {
  Ints some(sizes.begin() + make.between(0, static_cast<int64_t>(sizes.size())), sizes.end());
  for (int64_t& size : some)
    if (make.between(0, 2) == 0) size = 1;
  return some;
}

// Random order of dimensions in memory, holes, an offset, now and then an expanded dimension.
Tensor random_layout(Make& make, const Tensor& values, bool expands = true) {
  size_t rank = static_cast<size_t>(values.dim());
  Ints order(rank), strides(rank);
  std::iota(order.begin(), order.end(), 0);
  if (make.between(0, 1)) std::shuffle(order.begin(), order.end(), make.random);
  int64_t step = make.between(0, 3) == 0 ? 2 : 1;
  for (size_t i = rank; i-- > 0;) {
    auto dim = static_cast<size_t>(order[i]);
    strides[dim] = expands && make.between(0, 11) == 0 ? 0 : step;
    step *= std::max<int64_t>(values.sizes()[dim], 1) + (make.between(0, 3) == 0);
  }
  int64_t offset = make.between(0, 3);
  Tensor room = tensor_of(Array::filled({step * 2 + 8}, 1), values.dtype());
  Tensor tensor = alias(room, values.sizes(), strides, offset);
  write(tensor, read(values));
  return tensor;
}

// PyTorch's promotion, written down once more: the higher category wins, then the wider; a tensor without dimensions
// counts only if its category is higher.
int category(DType t) { return is_complex(t) ? 3 : is_floating_point(t) ? 2 : t == kBool ? 0 : 1; }
DType promoted(DType a, DType b) {
  if (a == b) return a;
  if (category(a) != category(b)) {
    DType high = category(a) > category(b) ? a : b, low = category(a) > category(b) ? b : a;
    return high == kComplex64 && low == kDouble ? kComplex128 : high;
  }
  if ((a == kHalf && b == kBFloat16) || (a == kBFloat16 && b == kHalf)) return kFloat;
  if (a == kUInt8 || b == kUInt8) {  // the narrowest signed type that holds both
    DType other = a == kUInt8 ? b : a;
    return other == kInt8 ? kInt16 : other;
  }
  return element_size(a) > element_size(b) ? a : b;
}
DType promoted(const Tensor& a, const Tensor& b) {
  bool first_counts = a.dim() > 0 || b.dim() == 0, second_counts = b.dim() > 0 || a.dim() == 0;
  if (first_counts && second_counts) return promoted(a.dtype(), b.dtype());
  const Tensor &strong = first_counts ? a : b, &weak = first_counts ? b : a;
  if (category(weak.dtype()) <= category(strong.dtype())) return strong.dtype();
  if (is_complex(weak.dtype()) && is_floating_point(strong.dtype()))  // the width stays
    return strong.dtype() == kDouble ? kComplex128 : kComplex64;
  return promoted(a.dtype(), b.dtype());
}

Tensor random_tensor(Make& make, const Ints& sizes, DType dtype) {
  return random_layout(make, make.tensor(sizes, dtype));
}

}  // namespace

TEST(PointwiseProperty, two_operands_of_any_shape_layout_and_dtype) {
  for_seeds(rounds(300), [](Make& make) {
    const OpCase& c = *find_case(one_of<std::string>(make, {"add", "mul", "div"}), "");
    Ints sizes = random_sizes(make);
    Tensor a = random_tensor(make, broadcastable(make, sizes), one_of(make, all_dtypes));
    Tensor b = random_tensor(make, sizes, one_of(make, all_dtypes));
    if (make.between(0, 1)) std::swap(a, b);
    SCOPED_TRACE(message_of(c.name, ": ", name_of(a.dtype()), text_of(a.sizes()), " strides ", text_of(a.strides()),
                            " and ", name_of(b.dtype()), text_of(b.sizes()), " strides ", text_of(b.strides())));
    Values values{a, b};
    complete(c.op(), values);
    Tensor found = call(c.op(), values).at(0);
    DType wanted = promoted(a, b);
    ASSERT_EQ(found.dtype(), c.name == "div" ? floating(wanted) : wanted);
    Array divisor = read(b);
    bool by_zero = std::find(divisor.values.begin(), divisor.values.end(), 0.0) != divisor.values.end();
    if (c.name == "div" && is_complex(wanted) && by_zero) return;  // which inf or nan that gives, nobody has decided
    EXPECT_TRUE(near(found, c.reference(Arguments(values, wanted)).at(0), 4));
  });
}

TEST(PointwiseProperty, in_place_changes_what_the_view_shows_and_nothing_else) {
  for_seeds(rounds(150), [](Make& make) {
    DType dtype = one_of<DType>(make, {kFloat, kDouble, kInt32, kBFloat16, kComplex64});
    Tensor base = make.tensor({400}, dtype);
    Ints sizes = random_sizes(make, 4), strides(sizes.size());
    int64_t step = make.between(1, 2);
    for (size_t i = 0; i < sizes.size(); i++) {
      sizes[i] = std::min<int64_t>(sizes[i], 3);
      strides[i] = step;
      step = step * std::max<int64_t>(sizes[i], 1) + make.between(0, 2);
    }
    Tensor view = alias(base, sizes, strides, make.between(0, 3));
    Tensor other = random_tensor(make, broadcastable(make, sizes),
                                 is_complex(dtype) ? dtype : one_of<DType>(make, {kInt8, dtype}));
    if (!can_cast(promoted(view, other), dtype)) return;
    SCOPED_TRACE(message_of(name_of(dtype), text_of(sizes), " strides ", text_of(strides),
                            " += ", name_of(other.dtype()), text_of(other.sizes())));
    Array wanted = read(base);
    Array sum = zipped(read(view), read(other), [](Complex x, Complex y) { return x + y; });
    for_each_index(sizes, [&](const Index& at) {
      int64_t place = view.storage_offset();
      for (size_t i = 0; i < at.size(); i++) place += at[i] * strides[i];
      wanted.values[static_cast<size_t>(place)] = sum[at];
    });
    call(*find_op("add_"), {view, other});
    EXPECT_TRUE(near(base, wanted, 4));
  });
}

TEST(ReduceProperty, sums_and_maxima_over_any_dimensions_of_any_layout) {
  for_seeds(rounds(200), [](Make& make) {
    const OpCase& c = *find_case(one_of<std::string>(make, {"sum", "amax", "mean"}), "");
    const OpCase& by_dim = c.name == "amax" ? c : *find_case(c.name, "dim");
    Ints sizes = random_sizes(make), dims;
    DType dtype = one_of(make, c.dtypes);
    if (c.name != "sum")
      for (int64_t& size : sizes) size = std::max<int64_t>(size, 1);
    for (int64_t dim = 0; dim < static_cast<int64_t>(sizes.size()); dim++)
      if (make.between(0, 1)) dims.push_back(make.between(0, 1) ? dim : dim - static_cast<int64_t>(sizes.size()));
    Tensor x = random_tensor(make, sizes, dtype);
    SCOPED_TRACE(message_of(c.name, ": ", name_of(dtype), text_of(sizes), " strides ", text_of(x.strides()), " over ",
                            text_of(dims)));
    Values values{x, dims, make.between(0, 1) == 1};
    complete(by_dim.op(), values);
    Tensor found = call(by_dim.op(), values).at(0);
    EXPECT_TRUE(near(found, by_dim.reference(Arguments(values, dtype)).at(0), by_dim.tolerance));
  });
}

namespace {

// One more view of x by a random op that fits its shape; empty if none was found.
Values random_view(Make& make, const Tensor& x, const OpCase** which) {
  int64_t rank = x.dim();
  auto dim = [&] { return make.between(-rank, rank - 1); };
  auto use = [&](const char* name, Values values) {
    *which = find_case(name, "");
    return values;
  };
  switch (rank == 0 ? 5 : make.between(0, 6)) {
    case 0:
      return use("transpose", {x, dim(), dim()});
    case 1: {
      Ints order(static_cast<size_t>(rank));
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), make.random);
      return use("permute", {x, order});
    }
    case 2:
      return use("slice", {x, dim(), make.between(-3, 3), make.between(-2, 8), make.between(1, 3)});
    case 3: {
      int64_t d = dim(), n = x.size(d);
      if (n == 0) return use("transpose", {x, d, d});
      return use("select", {x, d, make.between(-n, n - 1)});
    }
    case 4:
      return use("unsqueeze", {x, make.between(-rank - 1, rank)});
    case 5: {
      Ints sizes = x.sizes().vec();
      for (int64_t& size : sizes)
        if (size == 1) size = make.between(1, 3);
      if (rank < 5) sizes.insert(sizes.begin(), make.between(1, 2));
      return use("expand", {x, sizes});
    }
    default:
      return use("reshape", {x, Ints{-1}});
  }
}

}  // namespace

TEST(ShapeProperty, chains_of_views_show_the_right_elements_and_send_gradients_back) {
  for_seeds(rounds(200), [](Make& make) {
    Tensor x = make.tensor(random_sizes(make, 4));
    if (x.numel() == 0) return;
    x.requires_grad_();
    Tensor y = x;
    Array wanted = read(x), place = wanted;  // place: which element of x stands there
    for (size_t i = 0; i < place.values.size(); i++) place.values[i] = static_cast<double>(i);
    std::string chain = text_of(x.sizes());
    for (int64_t left = make.between(1, 5); left > 0 && y.numel() > 0 && y.numel() < 2000; left--) {
      const OpCase* c = nullptr;
      Values values = random_view(make, y, &c);
      complete(c->op(), values);
      y = call(c->op(), values).at(0);
      Values on_places = values;
      on_places[0] = tensor_of(place, kDouble);
      place = c->reference(Arguments(on_places, kDouble)).at(0);
      chain += message_of(" -> ", c->name, " ", text_of(y.sizes()));
    }
    SCOPED_TRACE(chain);
    Array shown = place;
    for (Complex& value : shown.values) value = wanted.values[static_cast<size_t>(value.real())];
    EXPECT_TRUE(near(y, shown, 0));
    Tensor v = random_like({y}).at(0);
    Array gradient = Array::filled(wanted.sizes), sent = read(v);
    for (size_t i = 0; i < sent.values.size(); i++)
      gradient.values[static_cast<size_t>(place.values[i].real())] += sent.values[i];
    if (!y.requires_grad()) return;
    y.backward(v);
    EXPECT_TRUE(near(x.grad(), gradient, 10));
  });
}

// Every op that has a case: other values, random layouts, a random dtype, against its reference.
TEST(EveryOpProperty, random_values_in_random_layouts_match_the_reference) {
  for_seeds(rounds(1), [](Make& make) {
    for (const OpCase& c : all_cases()) {
      if (!c.values_known) continue;
      DType dtype = one_of(make, c.dtypes);
      Make own(dtype, 1000 + make.random() % 100000);
      for (const Sample& sample : c.samples(own)) {
        if (sample.label.find("large") != std::string::npos) continue;
        SCOPED_TRACE(message_of(c.full_name(), ", ", name_of(dtype), ", ", sample.label));
        Values values = sample.arguments;
        // Indices, masks and what they pick must fit each other: no element stands for several.
        if (c.any_layout)
          values = mapped(values, [&](const Tensor& tensor) { return random_layout(make, tensor, /*expands=*/false); });
        Values completed = values;
        complete(c.op(), completed);
        std::vector<Array> wanted = c.reference(Arguments(completed, dtype));
        std::vector<Tensor> found = call_fresh(c, values);
        ASSERT_EQ(found.size(), wanted.size());
        for (size_t k = 0; k < found.size(); k++) EXPECT_TRUE(near(found[k], wanted[k], c.tolerance)) << "result " << k;
      }
      if (::testing::Test::HasFailure()) return;
    }
  });
}

}  // namespace cresset::test
