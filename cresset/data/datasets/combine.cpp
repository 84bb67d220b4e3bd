// Checks and arithmetic of the data sets that are made of others.
#include "cresset/data/datasets/combine.h"

#include <algorithm>
#include <cmath>

namespace cresset::data::datasets::detail {

void unsized(const char* who) {
  throw ValueError(message_of(who, ": found a data set without a size (expected one that knows its size)"));
}

size_t part_of(const std::vector<size_t>& ends, size_t index) {
  return static_cast<size_t>(std::upper_bound(ends.begin(), ends.end(), index) - ends.begin());
}

std::vector<size_t> split_lengths(size_t size, const std::vector<double>& fractions) {
  double sum = 0;
  for (double fraction : fractions) {
    CRESSET_CHECK_AS(ValueError, fraction >= 0 && fraction <= 1, "random_split: found fraction ", fraction,
                     " (expected 0 to 1)");
    sum += fraction;
  }
  CRESSET_CHECK_AS(ValueError, std::abs(sum - 1) < 1e-6, "random_split: found fractions that add up to ", sum,
                   " (expected 1)");
  std::vector<size_t> lengths;
  lengths.reserve(fractions.size());
  size_t left = size;
  for (double fraction : fractions) {
    // The sum may be a little more than 1.
    lengths.push_back(std::min(left, static_cast<size_t>(std::floor(static_cast<double>(size) * fraction))));
    left -= lengths.back();
  }
  for (size_t i = 0; left > 0; i = (i + 1) % lengths.size(), left--) lengths[i]++;
  return lengths;
}

std::vector<std::vector<size_t>> split_indices(size_t size, const std::vector<size_t>& lengths,
                                               const std::optional<Generator>& generator) {
  size_t sum = 0;
  for (size_t length : lengths) {
    CRESSET_CHECK_AS(ValueError, length <= size, "random_split: found length ", static_cast<int64_t>(length),
                     " (expected 0 to the size, ", size, ")");
    sum += length;
  }
  CRESSET_CHECK_AS(ValueError, sum == size, "random_split: found lengths that add up to ", sum, " (expected the size, ",
                   size, ")");
  const PhiloxBlock bits = generator.value_or(default_generator()).reserve(1).block(0);
  const std::vector<size_t> order = data::detail::permutation((uint64_t{bits[0]} << 32) | bits[1], 0, size);
  std::vector<std::vector<size_t>> parts;
  auto at = order.begin();
  for (size_t length : lengths) {
    parts.emplace_back(at, at + static_cast<int64_t>(length));
    at += static_cast<int64_t>(length);
  }
  return parts;
}

}  // namespace cresset::data::datasets::detail
