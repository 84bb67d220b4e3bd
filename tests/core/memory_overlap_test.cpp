// Which layouts share memory, held against the addresses of all their elements.
#include "cresset/core/memory_overlap.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "cresset/cresset.h"
#include "tests/core/expect_error.h"

namespace cresset {
namespace {

// Offsets of all elements, in order.
std::vector<int64_t> offsets_of(IntArrayRef sizes, IntArrayRef strides) {
  std::vector<int64_t> offsets{0};
  for (size_t d = 0; d < sizes.size(); d++) {
    std::vector<int64_t> more;
    for (const int64_t offset : offsets)
      for (int64_t i = 0; i < sizes[d]; i++) more.push_back(offset + i * strides[d]);
    offsets = std::move(more);
  }
  return offsets;
}

struct Layout {
  std::vector<int64_t> sizes, strides;
  int64_t reach() const {  // in elements
    const auto offsets = offsets_of(sizes, strides);
    return offsets.empty() ? 0 : *std::max_element(offsets.begin(), offsets.end()) + 1;
  }
};

Layout random_layout(std::mt19937& random, int64_t largest_stride) {
  Layout layout;
  const auto rank = random() % 5;
  for (size_t d = 0; d < rank; d++) {
    layout.sizes.push_back(static_cast<int64_t>(random() % (random() % 8 == 0 ? 2 : 5)) + (random() % 16 != 0));
    layout.strides.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(largest_stride + 1)));
  }
  return layout;
}

TEST(MemoryOverlap, RepeatsAreFoundExactly) {
  std::mt19937 random(3);
  int repeating = 0;
  for (int trial = 0; trial < 20000; trial++) {
    const Layout layout = random_layout(random, trial % 3 ? 12 : 60);
    const auto offsets = offsets_of(layout.sizes, layout.strides);
    const bool repeats = std::set<int64_t>(offsets.begin(), offsets.end()).size() < offsets.size();
    repeating += repeats;
    ASSERT_EQ(repeats_addresses(layout.sizes, layout.strides), repeats)
        << text_of(layout.sizes) << " " << text_of(layout.strides);
  }
  EXPECT_GT(repeating, 2000);
  EXPECT_LT(repeating, 18000);
}

// Bytes of all elements of a tensor, as offsets from `from`.
std::set<int64_t> bytes_of(const Tensor& x, const void* from) {
  const int64_t begin = static_cast<const char*>(x.data_ptr()) - static_cast<const char*>(from);
  const auto width = static_cast<int64_t>(x.itemsize());
  std::set<int64_t> bytes;
  for (const int64_t offset : offsets_of(x.sizes(), x.strides()))
    for (int64_t i = 0; i < width; i++) bytes.insert(begin + offset * width + i);
  return bytes;
}

Tensor random_view(std::mt19937& random, const Tensor& base) {
  while (true) {
    const Layout layout = random_layout(random, 20);
    const int64_t room = base.numel() - layout.reach();
    if (room < 0) continue;
    return base.as_strided(layout.sizes, layout.strides,
                           static_cast<int64_t>(random() % static_cast<uint64_t>(room + 1)));
  }
}

TEST(MemoryOverlap, OfTwoTensorsIsFoundExactly) {
  std::mt19937 random(4);
  const Tensor base = zeros({64}), halves = base.view(kHalf);
  std::map<MemoryOverlap, int> found;
  for (int trial = 0; trial < 20000; trial++) {
    const Tensor a = random_view(random, base), b = random_view(random, trial % 4 == 0 ? halves : base);
    const auto of_a = bytes_of(a, base.data_ptr()), of_b = bytes_of(b, base.data_ptr());
    const bool shared = std::any_of(of_a.begin(), of_a.end(), [&](int64_t byte) { return of_b.count(byte) > 0; });
    const MemoryOverlap overlap = memory_overlap(a, b);
    found[overlap]++;
    ASSERT_EQ(overlap != MemoryOverlap::none, shared)
        << text_of(a.sizes()) << text_of(a.strides()) << a.storage_offset() << " and " << text_of(b.sizes())
        << text_of(b.strides()) << b.storage_offset();
    ASSERT_EQ(memory_overlap(b, a), overlap);
    if (overlap == MemoryOverlap::full) {
      ASSERT_EQ(a.data_ptr(), b.data_ptr());
      ASSERT_EQ(offsets_of(a.sizes(), a.strides()), offsets_of(b.sizes(), b.strides()));
    }
  }
  EXPECT_GT(found[MemoryOverlap::none], 1000);
  EXPECT_GT(found[MemoryOverlap::partial], 1000);
  EXPECT_EQ(memory_overlap(base, base.view({8, 8}).view({64})), MemoryOverlap::full);
  EXPECT_EQ(memory_overlap(base.view({8, 8}), base.view({8, 1, 8})), MemoryOverlap::full);
  EXPECT_EQ(memory_overlap(base.view({8, 8}), base.view({8, 8}).t()), MemoryOverlap::partial);
}

TEST(MemoryOverlap, StoragesOfTheirOwnOverOneBuffer) {
  float buffer[8] = {};
  const Tensor a = from_blob(buffer, {6}), b = from_blob(buffer + 2, {6}), c = from_blob(buffer + 6, {2});
  EXPECT_EQ(memory_overlap(a, b), MemoryOverlap::partial);
  EXPECT_EQ(memory_overlap(a, c), MemoryOverlap::none);
  EXPECT_EQ(memory_overlap(a, from_blob(buffer, {6})), MemoryOverlap::full);
}

TEST(MemoryOverlap, WritingWhereElementsShareMemoryIsRefused) {
  const Tensor x = arange(16, kFloat);
  const char* words = "more than one element of the written-to tensor refers to a single memory location";
  EXPECT_ERROR(Error, x.as_strided({3, 3}, {1, 1}).add_(1), words);
  EXPECT_ERROR(Error, x.as_strided({3, 4}, {3, 2}).mul_(2), words);  // 3 + 3 = 2 + 2 + 2
  EXPECT_ERROR(Error, x.unfold(0, 3, 1).mul_(2), words);
  x.unfold(0, 3, 1).zero_();  // the same value wherever it is written
  Tensor out = x.as_strided({3, 4}, {2, 1});
  EXPECT_ERROR(Error, add_out(out, ones({3, 4}), ones({3, 4})), words);
  Tensor y = arange(12, kFloat);
  y.as_strided({2, 3}, {3, 2}).add_(100);  // 0, 2, 4, 3, 5, 7: each once
  EXPECT_TRUE(y.equal(arange(12, kFloat) + tensor({1, 0, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0}).to(kFloat) * 100));
}

TEST(MemoryOverlap, WritingIntoWhatIsStillToBeReadIsRefused) {
  Tensor x = arange(16, kFloat).view({4, 4});
  const char* words = "some elements of the input tensor and the written-to tensor refer to a single memory location";
  EXPECT_ERROR(Error, x.slice(1, 1).add_(x.slice(1, 0, 3)), words);
  EXPECT_ERROR(Error, x.slice(0, 0, 4, 2).mul_(x.slice(0, 0, 2)), words);
  x.slice(1, 0, 4, 2).add_(x.slice(1, 1, 4, 2));  // columns between each other share nothing
  EXPECT_TRUE(x.select(1, 0).equal(tensor({1.f, 9.f, 17.f, 25.f})));
  x.slice(1, 0, 2).add_(x.slice(1, 0, 2));  // the same elements
  EXPECT_TRUE(x.select(1, 0).equal(tensor({2.f, 18.f, 34.f, 50.f})));
}

}  // namespace
}  // namespace cresset
