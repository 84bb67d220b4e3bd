// Index expressions against libtorch: for each of a table, reading, writing numbers and tensors, gradients of both, and
// whether it is an error at all.
#include <ATen/ATen.h>
#include <ATen/TensorIndexing.h>
#include <gtest/gtest.h>

#include <functional>

#include "cresset/cresset.h"

namespace {

namespace ours = cresset::indexing;
namespace theirs = at::indexing;
using Ints = std::vector<int64_t>;
using Maybe = std::optional<int64_t>;

// One index, as both libraries spell it.
struct Piece {
  ours::TensorIndex ours;
  theirs::TensorIndex theirs;
};
using Pieces = std::vector<Piece>;

c10::optional<int64_t> as_c10(Maybe value) { return value ? c10::optional<int64_t>(*value) : c10::nullopt; }

const auto kNone = std::nullopt;
Piece at_(int64_t i) { return {i, i}; }
Piece all() { return {ours::Slice(), theirs::Slice()}; }
Piece slice(Maybe from, Maybe to = kNone, Maybe step = kNone) {
  return {ours::Slice(from, to, step), theirs::Slice(as_c10(from), as_c10(to), as_c10(step))};
}
Piece none() { return {ours::None, theirs::None}; }
Piece dots() { return {ours::Ellipsis, "..."}; }
Piece truth(bool value) { return {value, value}; }

template <class T>
Piece tensor(Ints sizes, Ints values, cresset::DType dtype, at::ScalarType their_dtype) {
  cresset::Tensor a = cresset::empty(sizes, dtype);
  at::Tensor b = at::empty(sizes, their_dtype);
  for (size_t i = 0; i < values.size(); i++) a.data_ptr<T>()[i] = b.data_ptr<T>()[i] = static_cast<T>(values[i]);
  return {a, b};
}
Piece longs(Ints sizes, Ints values) { return tensor<int64_t>(sizes, values, cresset::kLong, at::kLong); }
Piece longs(Ints values) { return longs({static_cast<int64_t>(values.size())}, values); }
Piece mask(Ints sizes, Ints values) { return tensor<bool>(sizes, values, cresset::kBool, at::kBool); }
Piece bytes(Ints sizes, Ints values) { return tensor<uint8_t>(sizes, values, cresset::kByte, at::kByte); }
Piece floats(Ints sizes, Ints values) { return tensor<float>(sizes, values, cresset::kFloat, at::kFloat); }
// Every second element of a longer tensor.
Piece strided_longs(Ints values) {
  Ints doubled;
  for (int64_t v : values) {
    doubled.push_back(v);
    doubled.push_back(99);
  }
  Piece long_one = longs(doubled);
  return {long_one.ours.tensor().slice(0, 0, kNone, 2), long_one.theirs.tensor().slice(0, 0, c10::nullopt, 2)};
}

struct IndexCase {
  const char* name;
  Ints sizes;
  Pieces pieces;
  bool transposed = false;
};

void PrintTo(const IndexCase& one, std::ostream* out) { *out << one.name; }

std::vector<IndexCase> index_cases() {
  const Ints cube{2, 3, 4}, four{2, 3, 4, 5};
  return {
      {"integer", cube, {at_(1)}},
      {"negative integer", cube, {at_(-2)}},
      {"integer too large", cube, {at_(2)}},
      {"integer too small", cube, {at_(-3)}},
      {"three integers", cube, {at_(1), at_(2), at_(-1)}},
      {"four integers", cube, {at_(0), at_(0), at_(0), at_(0)}},
      {"integer of a 0-d tensor", {}, {at_(0)}},
      {"whole", cube, {all()}},
      {"slice with bounds", cube, {all(), slice(1, 3)}},
      {"slice with step", cube, {all(), all(), slice(kNone, kNone, 2)}},
      {"slice beyond the end", cube, {slice(1, 100)}},
      {"slice from the end", cube, {all(), all(), slice(-3, -1)}},
      {"slice that is empty", cube, {slice(2, 1)}},
      {"slice of a 0-d tensor", {}, {all()}},
      {"none", cube, {none()}},
      {"none inside", cube, {at_(0), none(), slice(1)}},
      {"none of a 0-d tensor", {}, {none()}},
      {"ellipsis", cube, {dots()}},
      {"ellipsis of a 0-d tensor", {}, {dots()}},
      {"ellipsis first", cube, {dots(), at_(1)}},
      {"ellipsis between", four, {at_(1), dots(), slice(0, 2)}},
      {"ellipsis of nothing", cube, {at_(0), at_(0), dots(), at_(0)}},
      {"two ellipses", cube, {dots(), at_(0), dots()}},
      {"true", cube, {truth(true)}},
      {"false", cube, {truth(false)}},
      {"true between integers", cube, {at_(0), truth(true), at_(1)}},
      {"true of a 0-d tensor", {}, {truth(true)}},
      {"long", cube, {longs({1, 0, 1})}},
      {"long, negative", cube, {longs({-1, 0})}},
      {"long, two-dimensional", cube, {longs({2, 2}, {1, 0, 0, 1})}},
      {"long, 0-d", cube, {longs({}, {1})}},
      {"long, empty", cube, {longs({})}},
      {"long, out of bounds", cube, {longs({0, 2})}},
      {"long, out of bounds below", cube, {longs({-3})}},
      {"long of an empty dimension", {0, 3}, {longs({0})}},
      {"empty long of an empty dimension", {0, 3}, {longs({})}},
      {"long on dimension 1", cube, {all(), longs({2, 0})}},
      {"long on the last dimension", cube, {dots(), longs({3, 3, 0})}},
      {"two longs side by side", cube, {longs({0, 1}), longs({2, 0})}},
      {"two longs side by side, later", four, {all(), longs({0, 1}), longs({2, 0})}},
      {"two longs apart", cube, {longs({0, 1}), all(), longs({2, 0})}},
      {"two longs apart, later", four, {all(), longs({0, 1}), all(), longs({2, 0})}},
      {"two longs with an integer between", four, {longs({0, 1}), at_(1), longs({2, 0})}},
      {"two longs with none between", cube, {longs({0, 1}), none(), longs({2, 0})}},
      {"long after an integer", four, {at_(1), longs({2, 0, 1})}},
      {"long before an integer", four, {longs({1, 0}), at_(2)}},
      {"integer, slice, long", four, {at_(1), slice(0, 2), longs({3, 1})}},
      {"longs that broadcast", cube, {longs({2, 1}, {0, 1}), longs({2, 0, 1})}},
      {"longs that do not broadcast", cube, {longs({0, 1}), longs({0, 1, 2})}},
      {"three longs", cube, {longs({0, 1}), longs({2, 0}), longs({3, 1})}},
      {"too many longs", {2}, {longs({0}), longs({0})}},
      {"float tensor", cube, {floats({1}, {0})}},
      {"strided long", cube, {strided_longs({1, 0, 1})}},
      {"mask on dimension 0", cube, {mask({2}, {0, 1})}},
      {"mask on dimension 1", cube, {all(), mask({3}, {1, 0, 1})}},
      {"mask on the last dimension", cube, {dots(), mask({4}, {1, 0, 0, 1})}},
      {"mask of two dimensions", cube, {mask({2, 3}, {0, 1, 1, 0, 0, 1})}},
      {"mask of all dimensions", {2, 3}, {mask({2, 3}, {0, 1, 1, 0, 0, 1})}},
      {"mask of later dimensions", four, {all(), mask({3, 4}, {1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 1})}},
      {"mask after an integer", cube, {at_(1), mask({3}, {1, 0, 1})}},
      {"mask without a true element", cube, {mask({2}, {0, 0})}},
      {"mask of the wrong size", cube, {mask({3}, {1, 0, 1})}},
      {"mask of too many dimensions", {2}, {mask({2, 1}, {1, 0})}},
      {"mask that is 0-d", cube, {mask({}, {1})}},
      {"mask and long", cube, {mask({2}, {1, 1}), longs({2, 0})}},
      {"mask and long that do not fit", cube, {mask({2}, {1, 1}), longs({2, 0, 1})}},
      {"mask and long apart", cube, {mask({2}, {1, 1}), all(), longs({2, 0})}},
      {"byte mask", cube, {bytes({2}, {0, 1})}},
      {"long of a transposed tensor", cube, {longs({3, 0})}, true},
      {"two longs of a transposed tensor", cube, {longs({3, 0}), all(), longs({1, 1})}, true},
      {"mask of a transposed tensor", cube, {all(), mask({3}, {1, 0, 1}), slice(1)}, true},
  };
}

std::vector<ours::TensorIndex> our_indices(const Pieces& pieces) {
  std::vector<ours::TensorIndex> list;
  for (const Piece& piece : pieces) list.push_back(piece.ours);
  return list;
}
std::vector<theirs::TensorIndex> their_indices(const Pieces& pieces) {
  std::vector<theirs::TensorIndex> list;
  for (const Piece& piece : pieces) list.push_back(piece.theirs);
  return list;
}

cresset::Tensor our_counting(Ints sizes, float from = 0) {
  cresset::Tensor x = cresset::empty(sizes);
  for (int64_t i = 0; i < x.numel(); i++) x.data_ptr<float>()[i] = from + static_cast<float>(i);
  return x;
}
at::Tensor their_counting(Ints sizes, float from = 0) {
  int64_t n = 1;
  for (int64_t size : sizes) n *= size;
  return at::arange(n, at::kFloat).add(from).view(sizes);
}

void expect_equal(const cresset::Tensor& a, const at::Tensor& b, const std::string& what) {
  ASSERT_EQ(a.sizes().vec(), b.sizes().vec()) << what;
  cresset::Tensor x = a.detach().contiguous();
  at::Tensor y = b.detach().contiguous();
  for (int64_t i = 0; i < x.numel(); i++) ASSERT_EQ(x.data_ptr<float>()[i], y.data_ptr<float>()[i]) << what;
}

// Runs both; true if neither threw. One that throws alone fails the test.
bool both_work(const std::string& what, const std::function<void()>& our_call,
               const std::function<void()>& their_call) {
  std::string our_error, their_error;
  try {
    our_call();
  } catch (const cresset::Error& error) {
    our_error = error.what();
  }
  try {
    their_call();
  } catch (const std::exception& error) {
    their_error = std::string(error.what()).substr(0, 200);
  }
  EXPECT_EQ(our_error.empty(), their_error.empty()) << what << "\nours: " << our_error << "\ntheirs: " << their_error;
  return our_error.empty() && their_error.empty();
}

class IndexParity : public testing::TestWithParam<IndexCase> {
 protected:
  // Leaves of the case's shape, and what is indexed: a copy of the leaf, transposed where the case says so.
  void SetUp() override {
    our_leaf_ = our_counting(GetParam().sizes).requires_grad_();
    their_leaf_ = their_counting(GetParam().sizes).requires_grad_();
  }
  cresset::Tensor our_x() const {
    cresset::Tensor x = our_leaf_.mul(1);
    return GetParam().transposed ? x.transpose(0, 2) : x;
  }
  at::Tensor their_x() const {
    at::Tensor x = their_leaf_.mul(1);
    return GetParam().transposed ? x.transpose(0, 2) : x;
  }
  void expect_equal_gradients(const cresset::Tensor& y, const at::Tensor& z, const std::string& what) {
    Ints sizes = y.sizes().vec();
    y.backward(our_counting(sizes, 1));
    z.backward(their_counting(sizes, 1));
    if (their_leaf_.grad().defined()) expect_equal(our_leaf_.grad(), their_leaf_.grad(), what);
  }

  cresset::Tensor our_leaf_;
  at::Tensor their_leaf_;
};

TEST_P(IndexParity, Reading) {
  cresset::Tensor y;
  at::Tensor z;
  const Pieces& pieces = GetParam().pieces;
  if (!both_work(
          "reading", [&] { y = our_x().index(our_indices(pieces)); },
          [&] { z = their_x().index(their_indices(pieces)); }))
    return;
  expect_equal(y, z, "result");
  expect_equal_gradients(y, z, "gradient");
}

TEST_P(IndexParity, WritingANumber) {
  const Pieces& pieces = GetParam().pieces;
  cresset::Tensor y = our_x();
  at::Tensor z = their_x();
  if (!both_work(
          "writing a number", [&] { y.index_put_(our_indices(pieces), -7); },
          [&] { z.index_put_(their_indices(pieces), -7); }))
    return;
  expect_equal(y, z, "result");
  expect_equal_gradients(y, z, "gradient");
}

// Values of the shape that reading gives, with two ones in front, and one value for all places.
TEST_P(IndexParity, WritingATensor) {
  const Pieces& pieces = GetParam().pieces;
  Ints whole{1, 1}, one{1};
  try {
    at::Tensor read = their_x().index(their_indices(pieces));
    whole.insert(whole.end(), read.sizes().begin(), read.sizes().end());
  } catch (const std::exception&) {
    whole = {1};
  }
  for (const Ints& sizes : {whole, one}) {
    SetUp();
    cresset::Tensor our_values = our_counting(sizes, 100).requires_grad_(), y = our_x();
    at::Tensor their_values = their_counting(sizes, 100).requires_grad_(), z = their_x();
    if (!both_work(
            "writing a tensor", [&] { y.index_put_(our_indices(pieces), our_values); },
            [&] { z.index_put_(their_indices(pieces), their_values); }))
      return;
    expect_equal(y, z, "result");
    expect_equal_gradients(y, z, "gradient of what is overwritten");
    if (their_values.grad().defined()) expect_equal(our_values.grad(), their_values.grad(), "gradient of the values");
  }
}

INSTANTIATE_TEST_SUITE_P(Expressions, IndexParity, testing::ValuesIn(index_cases()), [](const auto& info) {
  std::string name;
  for (char c : std::string(info.param.name)) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

}  // namespace
