// Keys: unsigned integers in the order of the numbers they stand for, so that one sort serves all dtypes. nan is above
// all and equals itself, -0 equals 0. With its place behind it, a key makes any sort stable.
#pragma once

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>
#include <vector>

#include "cresset/core/dtype.h"

namespace cresset::cpu {

template <class T>
using Compared = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;
template <class T>
using Key = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <class T>
Key<T> key_of(T number) {
  using K = Key<T>;
  constexpr K sign = K(1) << (8 * sizeof(K) - 1);
  if constexpr (is_floating_point(dtype_of<T>)) {
    Compared<T> x = static_cast<Compared<T>>(number);
    K bits = std::bit_cast<K>(x + Compared<T>(0));  // -0 + 0 is 0
    bits = bits & sign ? ~bits : bits | sign;
    return x != x ? std::numeric_limits<K>::max() : bits;
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<K>(number) ^ sign;
  } else {
    return static_cast<K>(number);
  }
}

// The number that has a key; not for 0 and nan, of which there are several.
template <class T>
T number_of(Key<T> key) {
  using K = Key<T>;
  constexpr K sign = K(1) << (8 * sizeof(K) - 1);
  if constexpr (is_floating_point(dtype_of<T>))
    return static_cast<T>(std::bit_cast<Compared<T>>(key & sign ? key ^ sign : ~key));
  else if constexpr (std::is_signed_v<T>)
    return static_cast<T>(key ^ sign);
  else
    return static_cast<T>(key);
}
template <class T>
bool is_ambiguous(Key<T> key) {
  if constexpr (!is_floating_point(dtype_of<T>)) return false;
  return key == key_of(T(0)) || key == std::numeric_limits<Key<T>>::max();
}

// A key with its place. Of 32 bits each they are one number, which sorts fastest.
struct PackedEntry {
  uint64_t both;
  static PackedEntry make(uint32_t key, int64_t place) { return {uint64_t{key} << 32 | static_cast<uint32_t>(place)}; }
  uint32_t key() const { return static_cast<uint32_t>(both >> 32); }
  int64_t place() const { return static_cast<int64_t>(both & 0xffffffff); }
  friend bool operator<(PackedEntry a, PackedEntry b) { return a.both < b.both; }
};
template <class K>
struct WideEntry {
  K key_;
  int64_t place_;
  static WideEntry make(K key, int64_t place) { return {key, place}; }
  K key() const { return key_; }
  int64_t place() const { return place_; }
  friend bool operator<(const WideEntry& a, const WideEntry& b) {
    return a.key_ != b.key_ ? a.key_ < b.key_ : a.place_ < b.place_;
  }
};

// The bits of a key that are counted to find out where a rank lies.
template <class E>
size_t leading_bits(const E& entry) {
  constexpr int kBits = 12;
  return static_cast<size_t>(entry.key() >> (static_cast<int>(sizeof(entry.key())) * 8 - kBits));
}
constexpr int64_t kCounted = 8192;  // from as many on, counting pays

// The number of leading bits under which the k-th of n entries (from 1) is found, and how many come before.
template <class Get>
std::pair<size_t, int64_t> place_of_rank(int64_t n, int64_t k, const Get& entry) {
  std::vector<int64_t> counts(4096);
  for (int64_t i = 0; i < n; i++) counts[leading_bits(entry(i))]++;
  size_t bits = 0;
  int64_t before = 0;
  while (before + counts[bits] < k) before += counts[bits++];
  return {bits, before};
}

// The k-th of n entries.
template <class E, class Get>
E ranked_entry(int64_t n, int64_t k, const Get& entry) {
  auto [bits, before] = n < kCounted ? std::pair<size_t, int64_t>{0, 0} : place_of_rank(n, k, entry);
  std::vector<E> near;
  for (int64_t i = 0; i < n; i++) {
    E e = entry(i);
    if (n < kCounted || leading_bits(e) == bits) near.push_back(e);
  }
  auto at = near.begin() + (k - 1 - before);
  std::nth_element(near.begin(), at, near.end());
  return *at;
}
// The first k of n entries, in no order.
template <class E, class Get>
void first_entries(std::vector<E>& first, int64_t n, int64_t k, const Get& entry) {
  E last = ranked_entry<E>(n, k, entry);
  first.reserve(static_cast<size_t>(k));
  for (int64_t i = 0; i < n; i++) {
    E e = entry(i);
    if (!(last < e)) first.push_back(e);
  }
}

// Calls f with the kind of entry that suits a line of n numbers.
template <class T, class F>
void with_entry(int64_t n, const F& f) {
  if constexpr (sizeof(Key<T>) == 4) {
    if (n <= std::numeric_limits<uint32_t>::max()) return f(PackedEntry{});
  }
  f(WideEntry<Key<T>>{});
}

}  // namespace cresset::cpu
