// What batch_norm's and group_norm's kernels share: values of channels, moments, and the sums that gradients follow
// from.
#pragma once

#include <algorithm>
#include <vector>

#include "cresset/backends/cpu/channel_norm_simd.h"
#include "cresset/backends/cpu/slab.h"
#include "cresset/core/parallel.h"
#include "cresset/core/tensor.h"

namespace cresset::cpu {

inline int64_t grain_of(int64_t n) { return std::max<int64_t>(1, 8192 / std::max<int64_t>(n, 1)); }

template <class T>
T* numbers(const Tensor& x) {
  return static_cast<T*>(x.impl()->data());
}

// Calls f with a number of the type that the tensors are read and written as: bfloat16 only where all are, since
// another type would be rounded to it; other half types come as float.
template <class F>
void with_numbers(std::initializer_list<const Tensor*> tensors, const F& f) {
  if ((*tensors.begin())->dtype() == kDouble) return f(double());
  for (const Tensor* t : tensors)
    if (t->dtype() != kBFloat16) return f(float());
  f(BFloat16());
}

// A vector of channel values in T; `missing` where the tensor is undefined.
template <class T>
std::vector<T> channel_values(const Tensor& x, int64_t channels, T missing) {
  std::vector<T> values(static_cast<size_t>(channels), missing);
  if (x.defined())
    convert(values.data(), dtype_of<T>, sizeof(T), x.impl()->data(), x.dtype(),
            x.impl()->strides[0] * static_cast<int64_t>(x.itemsize()), channels);
  return values;
}
template <class T>
void store_channels(const Tensor& x, const std::vector<T>& values) {
  if (x.defined())
    convert(x.impl()->data(), x.dtype(), x.impl()->strides[0] * static_cast<int64_t>(x.itemsize()), values.data(),
            dtype_of<T>, sizeof(T), static_cast<int64_t>(values.size()));
}

struct Moments {
  double count = 0, mean = 0, squares = 0;
  void add(double n, double other, double other_squares) {
    const double both = count + n, off = other - mean;
    if (n == 0) return;
    mean += off * n / both;
    squares += other_squares + off * off * count * n / both;
    count = both;
  }
};

// The sums of g and of g * (x - mean), for each channel (rows) or each [sample, channel] (blocks).
struct Sums {
  std::vector<double> g, product;
  explicit Sums(int64_t count) : g(static_cast<size_t>(count)), product(static_cast<size_t>(count)) {}
};

// mean_of gives the mean that belongs to a block.
template <class S, class F>
Sums block_sums(const Tensor& g, const Tensor& x, const F& mean_of) {
  const ChannelInner<S>& inner = channel_inner<S>();
  const int64_t blocks = x.size(0) * x.size(1), n = x.numel() / blocks;
  Sums all(blocks);
  parallel_for(0, blocks, grain_of(n), [&](int64_t begin, int64_t end) {
    Slab<S> from_g(g, 2), from_x(x, 2);
    for (int64_t i = begin; i < end; i++)
      inner.sums(from_g.read(i), from_x.read(i), n, mean_of(i), &all.g[static_cast<size_t>(i)],
                 &all.product[static_cast<size_t>(i)]);
  });
  return all;
}

inline void zero_weights(const Tensor& dw, const Tensor& db, int64_t channels) {
  store_channels(dw, std::vector<float>(static_cast<size_t>(channels)));
  store_channels(db, std::vector<float>(static_cast<size_t>(channels)));
}

}  // namespace cresset::cpu
