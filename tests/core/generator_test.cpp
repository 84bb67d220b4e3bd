// Philox against its published vectors, and generators whose numbers depend on seed and position only.
#include "cresset/core/generator.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <set>
#include <thread>
#include <vector>

#include "cresset/core/parallel.h"
#include "tests/support/child_process.h"

namespace cresset {
namespace {

std::vector<float> uniform_numbers(Generator generator, int64_t count) {
  std::vector<float> numbers(static_cast<size_t>(count));
  const PhiloxCursor cursor = generator.reserve(static_cast<uint64_t>(count + 3) / 4);
  parallel_for(0, count, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const auto index = static_cast<size_t>(i);
      numbers[index] = uniform_float(cursor.block(index / 4)[index % 4]);
    }
  });
  return numbers;
}

TEST(Philox, MatchesTheVectorsOfRandom123) {
  constexpr uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox4x32_10({0, 0, 0, 0}, {0, 0}), (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32_10({ones, ones, ones, ones}, {ones, ones}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, SeedIsTheKeyAndTheCounterIsTheLowHalf) {
  EXPECT_EQ(philox(0, 0), philox4x32_10({0, 0, 0, 0}, {0, 0}));
  EXPECT_EQ(philox(0x100000002, 0x300000004), philox4x32_10({4, 3, 0, 0}, {2, 1}));
}

TEST(Philox, UniformNumbersStayBelowOne) {
  EXPECT_EQ(uniform_float(0), 0.0F);
  EXPECT_EQ(uniform_float(0xffffffff), 1.0F - 0x1p-24F);
  EXPECT_EQ(uniform_double(0, 0), 0.0);
  EXPECT_EQ(uniform_double(0xffffffff, 0xffffffff), 1.0 - 0x1p-53);
  EXPECT_EQ(uniform_double(0x80000000, 0), 0.5);
}

TEST(Philox, MomentsAreThoseOfTheDistributions) {
  const PhiloxCursor cursor{7, 0};
  constexpr int blocks = 250000;
  double sum = 0, squares = 0, normal_sum = 0, normal_squares = 0, normal_fourth = 0;
  for (int i = 0; i < blocks; ++i) {
    const PhiloxBlock block = cursor.block(static_cast<uint64_t>(i));
    for (const uint32_t bits : block) {
      const double u = uniform_float(bits);
      sum += u;
      squares += u * u;
    }
    for (const double z : normal_pair(uniform_double(block[0], block[1]), uniform_double(block[2], block[3]))) {
      normal_sum += z;
      normal_squares += z * z;
      normal_fourth += z * z * z * z;
    }
  }
  EXPECT_NEAR(sum / (4 * blocks), 0.5, 0.002);
  EXPECT_NEAR(squares / (4 * blocks), 1.0 / 3, 0.002);
  EXPECT_NEAR(normal_sum / (2 * blocks), 0, 0.006);
  EXPECT_NEAR(normal_squares / (2 * blocks), 1, 0.01);
  EXPECT_NEAR(normal_fourth / (2 * blocks), 3, 0.08);
}

TEST(Philox, NormalNumbersAreFiniteAtTheEdges) {
  for (const float u : {0.0F, uniform_float(0xffffffff)}) {
    for (const float z : normal_pair(u, 0.25F)) EXPECT_TRUE(std::isfinite(z)) << u;
  }
  for (const double z : normal_pair(uniform_double(0xffffffff, 0xffffffff), 0.0)) EXPECT_TRUE(std::isfinite(z));
}

TEST(Generator, NumbersDoNotDependOnTheThreadCount) {
  const int original = get_num_threads();
  set_num_threads(1);
  const std::vector<float> expected = uniform_numbers(Generator(42), 10007);
  for (const int threads : {2, 3, 7}) {
    set_num_threads(threads);
    EXPECT_EQ(uniform_numbers(Generator(42), 10007), expected) << threads;
  }
  set_num_threads(original);
  EXPECT_NE(uniform_numbers(Generator(43), 10007), expected);
}

TEST(Generator, CopiesShareAStreamAndClonesDoNot) {
  Generator generator(5);
  Generator copy = generator;
  EXPECT_EQ(copy, generator);
  EXPECT_EQ(generator.reserve(3).first, 0U);
  EXPECT_EQ(copy.reserve(2).first, 3U);
  Generator clone = generator.clone();
  EXPECT_NE(clone, generator);
  EXPECT_EQ(clone.get_state(), generator.get_state());
  clone.reserve(10);
  EXPECT_EQ(generator.get_offset(), 5U);
}

TEST(Generator, AStateSavedAndRestoredRepeatsTheNumbers) {
  Generator generator(9);
  generator.reserve(17);
  const GeneratorState saved = generator.get_state();
  EXPECT_EQ(saved, (GeneratorState{9, 17}));
  const std::vector<float> expected = uniform_numbers(generator, 100);
  EXPECT_NE(uniform_numbers(generator, 100), expected);
  generator.set_state(saved);
  EXPECT_EQ(uniform_numbers(generator, 100), expected);
  Generator other;
  other.set_current_seed(9);
  other.set_offset(17);
  EXPECT_EQ(uniform_numbers(other, 100), expected);
}

TEST(Generator, SeedingStartsOver) {
  Generator generator(1);
  generator.reserve(100);
  generator.set_current_seed(1);
  EXPECT_EQ(generator.get_offset(), 0U);
  const uint64_t first = generator.seed();
  EXPECT_EQ(generator.current_seed(), first);
  EXPECT_NE(generator.seed(), first);
  EXPECT_EQ(Generator().current_seed(), default_rng_seed_val);
}

TEST(Generator, ThreadsNeverGetTheSameCounters) {
  Generator generator;
  std::vector<std::vector<uint64_t>> firsts(4);
  std::vector<std::thread> threads;
  for (auto& mine : firsts) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) mine.push_back(generator.reserve(2).first);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<uint64_t> distinct;
  for (const auto& mine : firsts) distinct.insert(mine.begin(), mine.end());
  EXPECT_EQ(distinct.size(), 4000U);
  EXPECT_EQ(generator.get_offset(), 8000U);
}

TEST(Generator, TheDefaultOneIsSeededByManualSeed) {
  EXPECT_EQ(manual_seed(77), default_generator());
  EXPECT_EQ(initial_seed(), 77U);
  EXPECT_EQ(default_generator().get_offset(), 0U);
  const std::vector<float> expected = uniform_numbers(default_generator(), 10);
  manual_seed(77);
  EXPECT_EQ(uniform_numbers(default_generator(), 10), expected);
  const uint64_t fresh = seed();
  EXPECT_EQ(initial_seed(), fresh);
  manual_seed(default_rng_seed_val);
}

TEST(Generator, AForkedChildDrawsFromTheDefaultOne) {
  default_generator();
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) default_generator().reserve(1);
  });
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(testing::outcome_in_child([] { return default_generator().reserve(4).seed == initial_seed(); }), "ok");
  }
  stop = true;
  busy.join();
}

}  // namespace
}  // namespace cresset
