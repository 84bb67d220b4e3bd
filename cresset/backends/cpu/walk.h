// Walk: row-major steps over operands of one shape, each with strides of its own, in runs along the innermost
// dimension. For kernels in which the order of elements means something (random numbers, indices); where it does not,
// the pointwise loop is faster.
#pragma once

#include <algorithm>
#include <vector>

#include "cresset/core/error.h"
#include "cresset/core/shape.h"

namespace cresset::cpu {

class Walk {
 public:
  static constexpr int kMost = 64;  // dimensions, and operands

  Walk(IntArrayRef sizes, int operands)
      : rank_(static_cast<int>(sizes.size())),
        operands_(operands),
        sizes_(sizes),
        strides_(static_cast<size_t>(rank_ * operands)) {
    CRESSET_CHECK_AS(ShapeError, rank_ <= kMost && operands <= kMost, "kernel: found ", rank_, " dimensions of ",
                     operands, " tensors (expected at most ", kMost, ")");
    numel_ = sizes_.product();
  }
  // Strides are given in elements of `item` bytes.
  void set(int operand, IntArrayRef strides, int64_t item) {
    for (int i = 0; i < rank_; i++) stride(operand, i) = strides[static_cast<size_t>(i)] * item;
  }
  // Makes one dimension of neighbours that every operand steps through evenly.
  void join() {
    int to = -1;
    for (int i = 0; i < rank_; i++) {
      if (sizes_[i] == 1) continue;
      bool joins = to >= 0;
      for (int k = 0; joins && k < operands_; k++) joins = stride(k, to) == stride(k, i) * sizes_[i];
      if (!joins) to++;
      sizes_[to] = joins ? sizes_[to] * sizes_[i] : sizes_[i];
      for (int k = 0; k < operands_; k++) stride(k, to) = stride(k, i);
    }
    rank_ = to + 1;
  }

  int64_t numel() const { return numel_; }
  int rank() const { return rank_; }
  // Byte step along the innermost dimension.
  int64_t step(int operand) const { return rank_ == 0 ? 0 : strides_[place(operand, rank_ - 1)]; }

  // Calls f(offsets, count) for each run among elements [begin, end): offsets[k] is operand k's, in bytes.
  template <class F>
  void runs(int64_t begin, int64_t end, const F& f) const {
    int64_t index[kMost], offsets[kMost] = {};
    if (begin >= end) return;
    if (rank_ == 0) return f(static_cast<const int64_t*>(offsets), int64_t{1});
    int64_t rest = begin;
    for (int i = rank_ - 1; i >= 0; i--) {
      index[i] = rest % sizes_[i];
      rest /= sizes_[i];
      for (int k = 0; k < operands_; k++) offsets[k] += index[i] * strides_[place(k, i)];
    }
    const int last = rank_ - 1;
    while (begin < end) {
      int64_t count = std::min(end - begin, sizes_[last] - index[last]);
      f(static_cast<const int64_t*>(offsets), count);
      begin += count;
      index[last] += count;
      for (int k = 0; k < operands_; k++) offsets[k] += count * strides_[place(k, last)];
      for (int i = last; i > 0 && index[i] == sizes_[i]; i--) {
        index[i] = 0;
        index[i - 1]++;
        for (int k = 0; k < operands_; k++) offsets[k] += strides_[place(k, i - 1)] - sizes_[i] * strides_[place(k, i)];
      }
    }
  }

 private:
  size_t place(int operand, int dim) const { return static_cast<size_t>(int64_t{operand} * full_rank() + dim); }
  int full_rank() const { return operands_ == 0 ? 0 : static_cast<int>(strides_.size()) / operands_; }
  int64_t& stride(int operand, int dim) { return strides_[place(operand, dim)]; }

  int rank_, operands_;
  int64_t numel_;
  Dims sizes_;
  std::vector<int64_t> strides_;
};

}  // namespace cresset::cpu
