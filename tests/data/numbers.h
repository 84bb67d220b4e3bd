// A data set of numbers, for tests that look at order and delivery.
#pragma once

#include <numeric>

#include "cresset/data/data.h"
#include "cresset/ops/all.h"

namespace cresset::data {

using datasets::Dataset;
using samplers::RandomSampler;
using samplers::SequentialSampler;
using transforms::Stack;

// Example i is the number i.
struct Numbers : Dataset<Numbers, TensorExample> {
  explicit Numbers(size_t count) : count(count) {}
  TensorExample get(size_t index) override { return scalar_tensor(static_cast<int64_t>(index), kLong); }
  std::optional<size_t> size() const override { return count; }
  size_t count;
};

inline auto stacked_numbers(size_t count) { return Numbers(count).map(Stack<TensorExample>()); }

template <class Loader>
std::vector<int64_t> values_of(Loader& loader) {
  std::vector<int64_t> values;
  for (auto& batch : loader)
    for (int64_t value : batch.data.template tolist<int64_t>()) values.push_back(value);
  return values;
}

inline std::vector<int64_t> counted(int64_t count) {
  std::vector<int64_t> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

}  // namespace cresset::data
