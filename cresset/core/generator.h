// Random numbers from Philox4x32-10, a counter-based generator: number i is a function of (seed, counter) alone, so
// that results do not depend on the thread count or on the order in which threads run.
//
// An op reserves counters once and numbers its elements from there: 32-bit element i uses lane i % 4 of counter
// first + i / 4; 64-bit element i uses lanes 2 (i % 2) and 2 (i % 2) + 1 of counter first + i / 2.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>

#include "cresset/core/device.h"

namespace cresset {

using PhiloxBlock = std::array<uint32_t, 4>;

// J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011).
constexpr PhiloxBlock philox4x32_10(PhiloxBlock counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xD2511F53} * counter[0];
    const uint64_t product1 = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(product0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

constexpr PhiloxBlock philox(uint64_t seed, uint64_t counter) {
  return philox4x32_10({static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0},
                       {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
}

// Uniform in [0, 1), all 24 bits of a float's mantissa.
constexpr float uniform_float(uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24F; }

// Uniform in [0, 1), all 53 bits of a double's mantissa.
constexpr double uniform_double(uint32_t high, uint32_t low) {
  return static_cast<double>(((uint64_t{high} << 32) | low) >> 11) * 0x1p-53;
}

// Two independent normal numbers from two uniform ones in [0, 1), by Box and Muller. 1 - u keeps the logarithm finite.
template <class Real>
std::array<Real, 2> normal_pair(Real u, Real v) {
  const Real radius = std::sqrt(Real{-2} * std::log(Real{1} - u));
  const Real angle = static_cast<Real>(6.283185307179586476925) * v;
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

// The counters that an op has reserved. Kernels take it as one argument, so that a captured step can be given fresh
// counters each time it is replayed.
struct PhiloxCursor {
  uint64_t seed = 0;
  uint64_t first = 0;

  constexpr PhiloxBlock block(uint64_t index) const { return philox(seed, first + index); }
};

struct GeneratorState {
  uint64_t seed = 0;
  uint64_t offset = 0;
  bool operator==(const GeneratorState&) const = default;
};

inline constexpr uint64_t default_rng_seed_val = 67280421310721;

// A handle: copies share one stream; clone() starts a stream of its own from the same place. All members are safe to
// call from several threads.
class CRESSET_API Generator {
 public:
  explicit Generator(uint64_t seed = default_rng_seed_val);

  void set_current_seed(uint64_t seed);  // and starts over at offset 0
  uint64_t current_seed() const;
  uint64_t seed();  // takes a seed from the system's entropy and returns it

  void set_offset(uint64_t offset);
  uint64_t get_offset() const;

  // Takes `blocks` counters that nobody else gets.
  PhiloxCursor reserve(uint64_t blocks);

  GeneratorState get_state() const;
  void set_state(const GeneratorState& state);
  Generator clone() const;

  Device device() const { return kCPU; }
  // For a program that wants several calls to be one; the members lock another.
  std::mutex& mutex();

  bool operator==(const Generator& other) const { return stream_ == other.stream_; }

 private:
  friend CRESSET_API Generator& default_generator();
  struct Stream;
  std::shared_ptr<Stream> stream_;
};

// The CPU's generator, used by every op that is given none.
CRESSET_API Generator& default_generator();

CRESSET_API Generator manual_seed(uint64_t seed);
CRESSET_API uint64_t seed();
CRESSET_API uint64_t initial_seed();

}  // namespace cresset
