#include "cresset/distributed/sha256.h"

#include <bit>
#include <cstring>
#include <string>

namespace cresset::distributed {

namespace {

constexpr size_t kBlockBytes = 64;

using State = std::array<uint32_t, 8>;

// The standard's constants: the first 32 bits behind the point of the square roots (state) and cube roots (rounds) of
// the first primes. Integer Newton steps give them exactly, and no table can hold a slip of the pen.
constexpr uint64_t floor_root(unsigned power, unsigned __int128 number) {
  uint64_t low = 0, high = uint64_t{1} << (power == 2 ? 37 : 36);
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    unsigned __int128 product = static_cast<unsigned __int128>(middle) * middle;
    if (power == 3) product *= middle;
    (product <= number ? low : high) = middle;
  }
  return low;
}

struct Constants {
  State start{};
  std::array<uint32_t, 64> round{};

  constexpr Constants() {
    size_t count = 0;
    for (uint32_t candidate = 2; count < round.size(); ++candidate) {
      bool is_prime = true;
      for (uint32_t d = 2; d * d <= candidate; ++d) is_prime = is_prime && candidate % d != 0;
      if (!is_prime) continue;
      const auto prime = static_cast<unsigned __int128>(candidate);
      if (count < start.size()) start[count] = static_cast<uint32_t>(floor_root(2, prime << 64));
      round[count++] = static_cast<uint32_t>(floor_root(3, prime << 96));
    }
  }
};
constexpr Constants kConstants;
static_assert(kConstants.start[0] == 0x6a09e667 && kConstants.round[63] == 0xc67178f2);

void add_block(State& state, const uint8_t* block) {
  std::array<uint32_t, 64> w;
  for (size_t i = 0; i < 16; ++i) {
    w[i] = uint32_t{block[4 * i]} << 24 | uint32_t{block[4 * i + 1]} << 16 | uint32_t{block[4 * i + 2]} << 8 |
           uint32_t{block[4 * i + 3]};
  }
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kConstants.round[i] + w[i];
    const uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const State mixed = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < state.size(); ++i) state[i] += mixed[i];
}

}  // namespace

Digest sha256(std::string_view message) {
  State state = kConstants.start;
  const auto* bytes = reinterpret_cast<const uint8_t*>(message.data());
  size_t left = message.size();
  for (; left >= kBlockBytes; left -= kBlockBytes, bytes += kBlockBytes) add_block(state, bytes);

  // The rest, a one bit, zeros, and the length in bits fill one block or two.
  std::array<uint8_t, 2 * kBlockBytes> tail{};
  if (left > 0) std::memcpy(tail.data(), bytes, left);
  tail[left] = 0x80;
  const size_t tail_bytes = left + 9 <= kBlockBytes ? kBlockBytes : 2 * kBlockBytes;
  const uint64_t bits = uint64_t{message.size()} * 8;
  for (size_t i = 0; i < 8; ++i) tail[tail_bytes - 1 - i] = static_cast<uint8_t>(bits >> (8 * i));
  for (size_t at = 0; at < tail_bytes; at += kBlockBytes) add_block(state, tail.data() + at);

  Digest digest;
  for (size_t i = 0; i < digest.size(); ++i) digest[i] = static_cast<uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

Digest hmac_sha256(std::string_view key, std::string_view message) {
  std::string padded(key);
  if (key.size() > kBlockBytes) padded = view_of(sha256(key));
  padded.resize(kBlockBytes, '\0');
  std::string inner = padded, outer = padded;
  for (char& c : inner) c = static_cast<char>(c ^ 0x36);
  for (char& c : outer) c = static_cast<char>(c ^ 0x5c);
  inner += message;
  outer += view_of(sha256(inner));
  return sha256(outer);
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  volatile uint8_t difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference = static_cast<uint8_t>(difference | (a[i] ^ b[i]));
  return difference == 0;
}

}  // namespace cresset::distributed
