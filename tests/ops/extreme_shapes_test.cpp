// Shapes of extreme arguments beside formulas in 128 bits: what fits into an int64 must come out exactly, what does not
// must be refused. On meta tensors, so that no size costs memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "cresset/core/registry.h"
#include "cresset/ops/all.h"
#include "cresset/ops/linalg.h"

namespace cresset::test {
namespace {

using Exact = __int128;
using ExactSizes = std::vector<Exact>;  // empty with a negative: refused
constexpr Exact kBytes = 8;             // of an element: what memory could not hold may be refused as well
constexpr int64_t kTop = std::numeric_limits<int64_t>::max();
const std::vector<int64_t> numbers = {
    0,         1,          2,          3,         7,         1LL << 31,       (1LL << 31) + 1,
    1LL << 32, 3037000499, 3037000500, 1LL << 61, 1LL << 62, (1LL << 62) + 1, kTop / 3,
    kTop / 2,  kTop - 2,   kTop - 1,   kTop};

Tensor shaped(IntArrayRef sizes) { return empty(sizes, TensorOptions(kFloat).device(kMeta)); }

// Whether sizes and the product of those that are not 0, times `bytes`, can be counted.
bool countable(const ExactSizes& sizes, Exact bytes) {
  Exact count = bytes;
  for (Exact n : sizes) {
    if (n < 0 || n > kTop) return false;
    if (n > 0) count *= n;
    if (count > kTop) return false;
  }
  return true;
}
bool has_zero(const ExactSizes& sizes) { return std::find(sizes.begin(), sizes.end(), 0) != sizes.end(); }
bool in_range(const ExactSizes& sizes) {
  return std::all_of(sizes.begin(), sizes.end(), [](Exact n) { return n >= 0 && n <= kTop; });
}

void expect_shape(const std::string& what, const ExactSizes& wanted, const std::function<Tensor()>& call) {
  Tensor found;
  try {
    found = call();
  } catch (const Error& error) {
    EXPECT_FALSE(countable(wanted, kBytes)) << what << " was refused: " << error.what();
    return;
  }
  ASSERT_TRUE(countable(wanted, 1) || (has_zero(wanted) && in_range(wanted)))
      << what << " gave " << text_of(found.sizes());
  ASSERT_EQ(static_cast<size_t>(found.dim()), wanted.size()) << what;
  for (size_t i = 0; i < wanted.size(); i++)
    EXPECT_EQ(found.size(static_cast<int64_t>(i)), static_cast<int64_t>(wanted[i])) << what << ", dimension " << i;
}

// What a window of `kernel` finds along `in`, or -1 where there is no room.
Exact places(Exact in, Exact pad, Exact kernel, Exact stride, Exact dilation) {
  const Exact room = in + 2 * pad - dilation * (kernel - 1) - 1;
  return room < 0 ? -1 : room / stride + 1;
}

TEST(ExtremeShapes, repetition) {
  const Tensor x = shaped({4, 3});
  for (int64_t a : numbers) {
    for (int64_t b : numbers) {
      const std::string what = message_of("[4, 3] by ", a, ", ", b);
      const ExactSizes wanted{Exact{a} * 4, Exact{b} * 3};
      expect_shape("repeat " + what, wanted, [&] { return repeat(x, {a, b}); });
      expect_shape("tile " + what, wanted, [&] { return tile(x, {a, b}); });
    }
    expect_shape(message_of("repeat in front ", a), {Exact{a}, 4, 3}, [&] { return repeat(x, {a, 1, 1}); });
    expect_shape(message_of("expand ", a), {Exact{a}, 4, 3}, [&] { return expand(x, {a, 4, 3}); });
  }
}

TEST(ExtremeShapes, padding) {
  const Tensor x = shaped({2, 5});
  for (int64_t a : numbers)
    for (int64_t b : numbers)
      for (int sign : {1, -1}) {
        const int64_t behind = sign * b;
        expect_shape(message_of("constant_pad_nd ", a, ", ", behind), {2, Exact{5} + a + behind}, [&] {
          return constant_pad_nd(x, {a, behind});
        });
        expect_shape(message_of("constant_pad_nd ", behind, ", ", a), {2, Exact{5} + a + behind}, [&] {
          return constant_pad_nd(x, {behind, a});
        });
      }
}

TEST(ExtremeShapes, shuffling) {
  for (int64_t r : numbers) {
    if (r < 1) continue;
    const Exact square = Exact{r} * r;
    const Exact whole = square <= kTop && 4 % square == 0 ? 4 / square : -1;
    expect_shape(message_of("pixel_shuffle ", r), {1, whole, Exact{6} * r, Exact{6} * r}, [&] {
      return pixel_shuffle(shaped({1, 4, 6, 6}), r);
    });
    const bool fits = 6 % r == 0;
    expect_shape(message_of("pixel_unshuffle ", r), {1, fits ? 4 * square : -1, 6 / r, 6 / r}, [&] {
      return pixel_unshuffle(shaped({1, 4, 6, 6}), r);
    });
  }
}

// Convolutions also want the padded input and the spread kernel to be countable.
Exact convolved(Exact in, Exact pad, Exact kernel, Exact stride, Exact dilation) {
  const bool fits = in + 2 * pad <= kTop && dilation * (kernel - 1) + 1 <= kTop;
  return fits ? places(in, pad, kernel, stride, dilation) : -1;
}

TEST(ExtremeShapes, windows) {
  const Tensor x = shaped({1, 2, 9}), weight = shaped({2, 2, 3});
  for (int64_t a : numbers) {
    for (int64_t b : numbers) {
      if (a < 1) continue;
      expect_shape(message_of("conv1d stride ", a, " padding ", b), {1, 2, convolved(9, b, 3, a, 1)},
                   [&] { return conv1d(x, weight, {}, {a}, {b}); });
      expect_shape(message_of("conv1d dilation ", a, " padding ", b), {1, 2, convolved(9, b, 3, 1, a)},
                   [&] { return conv1d(x, weight, {}, {1}, {b}, {a}); });
      if (b < 1) continue;
      expect_shape(message_of("max_pool1d kernel ", a, " stride ", b), {1, 2, places(9, 0, a, b, 1)},
                   [&] { return max_pool1d(x, {a}, {b}); });
      expect_shape(message_of("avg_pool1d kernel ", a, " stride ", b), {1, 2, places(9, 0, a, b, 1)},
                   [&] { return avg_pool1d(x, {a}, {b}); });
      const Exact rows = places(9, 0, a, 1, b);
      expect_shape(message_of("im2col kernel ", a, " dilation ", b), {1, Exact{2} * a, rows > 0 ? rows * 4 : -1}, [&] {
        return im2col(shaped({1, 2, 9, 4}), {a, 1}, {b, 1}, {0, 0}, {1, 1});
      });
      const bool inside = a <= 9;
      expect_shape(message_of("unfold size ", a, " step ", b), {inside ? (Exact{9} - a) / b + 1 : -1, Exact{a}},
                   [&] { return unfold(shaped({9}), 0, a, b); });
    }
  }
}

TEST(ExtremeShapes, creation) {
  const TensorOptions meta = TensorOptions(kByte).device(kMeta);
  for (int64_t a : numbers) {
    for (int64_t b : numbers) {
      const std::string what = message_of(a, " x ", b);
      expect_shape("zeros " + what, {a, b}, [&] { return zeros({a, b}, meta); });
      expect_shape("eye " + what, {a, b}, [&] { return eye(a, b, meta); });
      expect_shape("full " + what, {3, a, b}, [&] { return full({3, a, b}, 1, meta); });
    }
    expect_shape(message_of("arange ", a), {a}, [&] { return arange(0, a, TensorOptions(kLong).device(kMeta)); });
  }
}

TEST(ExtremeShapes, parts) {
  const Tensor x = shaped({6, 8});
  for (int64_t a : numbers) {
    for (int sign : {1, -1}) {
      const int64_t offset = sign * a;
      const Exact length = offset >= 0 ? std::min<Exact>(6, Exact{8} - offset) : std::min<Exact>(8, Exact{6} + offset);
      expect_shape(message_of("diagonal ", offset), {std::max<Exact>(0, length)}, [&] { return diagonal(x, offset); });
      const Exact from = offset < 0 ? std::max<Exact>(0, Exact{6} + offset) : std::min<Exact>(6, offset);
      expect_shape(message_of("slice from ", offset), {6 - from, 8}, [&] { return slice(x, 0, offset); });
      expect_shape(message_of("diag_embed ", offset), {6, 8 + Exact{a}, 8 + Exact{a}},
                   [&] { return diag_embed(x, offset); });
    }
    if (a > 0)
      expect_shape(message_of("slice step ", a), {(Exact{6} - 1) / a + 1, 8},
                   [&] { return slice(x, 0, std::nullopt, std::nullopt, a); });
    expect_shape(message_of("unflatten ", a), {a != 0 && 6 % a == 0 ? Exact{a} : -1, a != 0 ? Exact{6} / a : -1, 8},
                 [&] {
                   return unflatten(x, 0, {a, -1});
                 });
  }
}

// Sizes that stand in values, and work that an argument asks for.
TEST(ExtremeShapes, counts) {
  EXPECT_THROW(bincount(full({2}, kTop, kLong)), ShapeError);
  EXPECT_THROW(vander(ones({4}), kTop), ValueError);
  EXPECT_THROW(linalg_vander(ones({4}), int64_t{1} << 40), ValueError);
}

}  // namespace
}  // namespace cresset::test
