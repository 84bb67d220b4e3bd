// Keys: unsigned integers in the order of the numbers they stand for, so that one sort serves all dtypes. nan is above
// all and equals itself, -0 equals 0. With its place behind it, a key makes any sort stable.
#pragma once

#include <algorithm>
#include <bit>
#include <limits>
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

// The first k of n entries, in no order. Their leading bits are counted first: most are decided by those alone.
template <class E, class Get>
void first_entries(std::vector<E>& first, int64_t n, int64_t k, const Get& entry) {
  constexpr int kBits = 12, kShift = static_cast<int>(sizeof(entry(0).key())) * 8 - kBits;
  std::vector<E> edge;
  if (n < 8192) {
    for (int64_t i = 0; i < n; i++) edge.push_back(entry(i));
  } else {
    std::vector<int64_t> counts(size_t{1} << kBits);
    for (int64_t i = 0; i < n; i++) counts[static_cast<size_t>(entry(i).key() >> kShift)]++;
    size_t last = 0;
    for (int64_t seen = counts[0]; seen < k; seen += counts[last]) last++;
    first.reserve(static_cast<size_t>(k));
    edge.reserve(static_cast<size_t>(counts[last]));
    for (int64_t i = 0; i < n; i++) {
      E e = entry(i);
      auto bits = static_cast<size_t>(e.key() >> kShift);
      if (bits < last) first.push_back(e);
      if (bits == last) edge.push_back(e);
    }
  }
  auto rest = static_cast<int64_t>(static_cast<size_t>(k) - first.size());
  if (rest == 0) return;
  std::nth_element(edge.begin(), edge.begin() + (rest - 1), edge.end());
  first.insert(first.end(), edge.begin(), edge.begin() + rest);
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
