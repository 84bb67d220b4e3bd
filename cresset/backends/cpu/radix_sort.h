// Sorts entries by their keys, lowest digits first: linear in their number, stable, and on several threads if asked.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "cresset/core/parallel.h"

namespace cresset::cpu {

template <class E>
class RadixSort {
 public:
  static constexpr int kDigit = 8;
  static constexpr int kBuckets = 1 << kDigit;
  static constexpr int kPasses = static_cast<int>(sizeof(decltype(E{}.key()))) * 8 / kDigit;
  static constexpr int64_t kShortest = 64 * kPasses;  // below, comparing is faster

  // Sorts data[0..n), for which `room` has the same size; the result may lie in either, and is returned.
  E* operator()(E* data, E* room, int64_t n, int parts) {
    if (n < kShortest) {
      std::sort(data, data + n);
      return data;
    }
    counts_.assign(static_cast<size_t>(parts) * kPasses * kBuckets, 0);
    each_part(n, parts, [&](int part, int64_t begin, int64_t end) { count(data, part, begin, end); });
    bool fresh = true;
    for (int pass = 0; pass < kPasses; pass++) {
      if (is_single(pass, parts, n)) continue;
      // Parts hold other elements after a pass: their counts are taken again.
      if (!fresh && parts > 1)
        each_part(n, parts, [&](int part, int64_t begin, int64_t end) { count_pass(data, part, pass, begin, end); });
      fresh = false;
      place(pass, parts);
      each_part(n, parts, [&](int part, int64_t begin, int64_t end) { scatter(data, room, part, pass, begin, end); });
      std::swap(data, room);
    }
    return data;
  }

 private:
  template <class F>
  static void each_part(int64_t n, int parts, const F& f) {
    if (parts == 1) return f(0, 0, n);
    int64_t each = (n + parts - 1) / parts;
    parallel_for(0, parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) f(static_cast<int>(i), std::min(n, i * each), std::min(n, (i + 1) * each));
    });
  }
  int64_t* counts(int part, int pass) {
    return counts_.data() + (static_cast<size_t>(part) * kPasses + static_cast<size_t>(pass)) * kBuckets;
  }
  static size_t digit(const E& entry, int pass) {
    return static_cast<size_t>(entry.key() >> (pass * kDigit)) & (kBuckets - 1);
  }
  void count(const E* data, int part, int64_t begin, int64_t end) {
    int64_t* all = counts(part, 0);
    for (int64_t i = begin; i < end; i++)
      for (int pass = 0; pass < kPasses; pass++) all[static_cast<size_t>(pass) * kBuckets + digit(data[i], pass)]++;
  }
  void count_pass(const E* data, int part, int pass, int64_t begin, int64_t end) {
    int64_t* mine = counts(part, pass);
    std::fill_n(mine, kBuckets, 0);
    for (int64_t i = begin; i < end; i++) mine[digit(data[i], pass)]++;
  }
  // All elements have the same digit: nothing to do.
  bool is_single(int pass, int parts, int64_t n) {
    for (int bucket = 0; bucket < kBuckets; bucket++) {
      int64_t sum = 0;
      for (int part = 0; part < parts; part++) sum += counts(part, pass)[bucket];
      if (sum != 0) return sum == n;
    }
    return true;
  }
  // Counts become the places where each part's elements of each bucket begin.
  void place(int pass, int parts) {
    int64_t at = 0;
    for (int bucket = 0; bucket < kBuckets; bucket++)
      for (int part = 0; part < parts; part++) at += std::exchange(counts(part, pass)[bucket], at);
  }
  void scatter(const E* from, E* to, int part, int pass, int64_t begin, int64_t end) {
    int64_t* at = counts(part, pass);
    for (int64_t i = begin; i < end; i++) to[at[digit(from[i], pass)]++] = from[i];
  }

  std::vector<int64_t> counts_;
};

}  // namespace cresset::cpu
