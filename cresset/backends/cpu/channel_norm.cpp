// CPU kernels of ops/norm that have statistics per channel: batch_norm and group_norm. Channels that are contiguous
// blocks are done block by block; where neighbours in memory belong to different channels (matrices, channels last),
// whole rows of channels are done side by side. Sums are cut into pieces by shape alone, so threads do not change bits.
#include <cmath>
#include <vector>

#include "cresset/backends/cpu/channel_norm_simd.h"
#include "cresset/backends/cpu/slab.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"
#include "cresset/ops/norm.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kGrain = 8192;
constexpr int64_t kBlockRows = 128;  // of columns: their float sums end in double

int64_t grain_of(int64_t n) { return std::max<int64_t>(1, kGrain / std::max<int64_t>(n, 1)); }

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

// x as a matrix whose rows are the channels of one position, if they lie side by side in memory.
struct ChannelRows {
  int64_t count, channels, step;  // step in bytes
  DType dtype;
  char* data;

  static std::optional<ChannelRows> of(const Tensor& x) {
    const Dims &sizes = x.impl()->sizes, &strides = x.impl()->strides;
    if (sizes[1] < 8 || strides[1] != 1) return std::nullopt;
    int64_t count = 1, step = sizes[1];
    for (int i = sizes.rank() - 1; i >= 0; i--) {
      if (i == 1 || sizes[i] == 1) continue;
      if (count == 1)
        step = strides[i];
      else if (strides[i] != step * count)
        return std::nullopt;
      count *= sizes[i];
    }
    return ChannelRows{count, sizes[1], step * static_cast<int64_t>(x.itemsize()), x.dtype(),
                       static_cast<char*>(x.impl()->data())};
  }
  template <class T>
  const T* read(int64_t row, T* buffer) const {
    const char* at = data + row * step;
    if (dtype == dtype_of<T>) return reinterpret_cast<const T*>(at);
    convert(buffer, dtype_of<T>, sizeof(T), at, dtype, static_cast<int64_t>(element_size(dtype)), channels);
    return buffer;
  }
  template <class T>
  T* to_write(int64_t row, T* buffer) const {
    return dtype == dtype_of<T> ? reinterpret_cast<T*>(data + row * step) : buffer;
  }
  template <class T>
  void written(int64_t row, const T* buffer) const {
    if (dtype != dtype_of<T>)
      convert(data + row * step, dtype, static_cast<int64_t>(element_size(dtype)), buffer, dtype_of<T>, sizeof(T),
              channels);
  }
  int64_t pieces() const { return std::clamp<int64_t>(count * channels / 32768, 1, 32); }
};

// ---- statistics of a batch
template <class S>
std::vector<Moments> row_moments(const ChannelRows& x) {
  using T = Computed<S>;
  const ChannelInner<S>& inner = channel_inner<S>();
  const size_t channels = static_cast<size_t>(x.channels);
  const int64_t pieces = x.pieces();
  std::vector<Moments> parts(static_cast<size_t>(pieces) * channels);
  parallel_for(0, pieces, 1, [&](int64_t begin, int64_t end) {
    std::vector<S> buffer(channels);
    std::vector<T> sum(channels), squares(channels), zero(channels), middle(channels);
    for (int64_t piece = begin; piece < end; piece++) {
      Moments* moments = parts.data() + static_cast<size_t>(piece) * channels;
      const int64_t last = x.count * (piece + 1) / pieces;
      for (int64_t first = x.count * piece / pieces; first < last; first += kBlockRows) {
        const int64_t stop = std::min(last, first + kBlockRows);
        const double n = static_cast<double>(stop - first);
        std::fill(sum.begin(), sum.end(), T(0));
        for (int64_t i = first; i < stop; i++)
          inner.column_moments(sum.data(), squares.data(), x.read(i, buffer.data()), zero.data(), x.channels);
        for (size_t j = 0; j < channels; j++) middle[j] = static_cast<T>(static_cast<double>(sum[j]) / n);
        std::fill(sum.begin(), sum.end(), T(0));
        std::fill(squares.begin(), squares.end(), T(0));
        for (int64_t i = first; i < stop; i++)
          inner.column_moments(sum.data(), squares.data(), x.read(i, buffer.data()), middle.data(), x.channels);
        for (size_t j = 0; j < channels; j++) {
          const double off = static_cast<double>(sum[j]) / n;
          moments[j].add(n, static_cast<double>(middle[j]) + off, static_cast<double>(squares[j]) - off * off * n);
        }
      }
    }
  });
  std::vector<Moments> all(channels);
  for (size_t i = 0; i < parts.size(); i++) all[i % channels].add(parts[i].count, parts[i].mean, parts[i].squares);
  return all;
}

// The moments of every block [sample, channel].
template <class S>
std::vector<Moments> block_moments(const Tensor& x) {
  const ChannelInner<S>& inner = channel_inner<S>();
  const int64_t blocks = x.size(0) * x.size(1), n = x.numel() / blocks;
  std::vector<Moments> moments(static_cast<size_t>(blocks));
  parallel_for(0, blocks, grain_of(n), [&](int64_t begin, int64_t end) {
    Slab<S> from(x, 2);
    for (int64_t i = begin; i < end; i++) {
      Moments& m = moments[static_cast<size_t>(i)];
      m.count = static_cast<double>(n);
      inner.moments(from.read(i), n, &m.mean, &m.squares);
    }
  });
  return moments;
}

template <class S>
void stats_typed(const Tensor& mean, const Tensor& rstd, const Tensor& running_mean, const Tensor& running_var,
                 const Tensor& x, double momentum, double eps) {
  using T = Computed<S>;
  const int64_t channels = x.size(1);
  const size_t count = static_cast<size_t>(channels);
  std::vector<Moments> all(count);
  if (x.numel() > 0) {
    if (auto rows = ChannelRows::of(x)) {
      all = row_moments<S>(*rows);
    } else {
      std::vector<Moments> blocks = block_moments<S>(x);
      for (size_t i = 0; i < blocks.size(); i++) all[i % count].add(blocks[i].count, blocks[i].mean, blocks[i].squares);
    }
  }
  std::vector<double> old_mean = channel_values<double>(running_mean, channels, 0);
  std::vector<double> old_var = channel_values<double>(running_var, channels, 0);
  for (size_t c = 0; c < count; c++) {
    const double n = all[c].count, variance = all[c].squares / n;
    numbers<T>(mean)[c] = static_cast<T>(all[c].mean);
    numbers<T>(rstd)[c] = static_cast<T>(1 / std::sqrt(variance + eps));
    old_mean[c] += momentum * (all[c].mean - old_mean[c]);
    old_var[c] += momentum * (all[c].squares / (n - 1) - old_var[c]);
  }
  if (x.numel() == 0) return;
  store_channels(running_mean, old_mean);
  store_channels(running_var, old_var);
}
void stats(const Tensor& mean, const Tensor& rstd, const Tensor& running_mean, const Tensor& running_var,
           const Tensor& x, double momentum, double eps) {
  with_numbers({&x}, [&]<class S>(S) { stats_typed<S>(mean, rstd, running_mean, running_var, x, momentum, eps); });
}
void rstd_of(const Tensor& rstd, const Tensor& variance, double eps) {
  std::vector<double> values = channel_values<double>(variance, variance.numel(), 0);
  for (double& value : values) value = 1 / std::sqrt(value + eps);
  store_channels(rstd, values);
}

// ---- y = (x - mean) * rstd * w + b
template <class S>
void forward_typed(const Tensor& y, const Tensor& x, const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                   const Tensor& bias) {
  using T = Computed<S>;
  const ChannelInner<S>& inner = channel_inner<S>();
  const int64_t channels = x.size(1);
  const T* means = numbers<T>(mean);
  std::vector<T> scale = channel_values<T>(weight, channels, T(1)), shift = channel_values<T>(bias, channels, T(0));
  for (int64_t c = 0; c < channels; c++) scale[static_cast<size_t>(c)] *= numbers<T>(rstd)[c];
  auto from_rows = ChannelRows::of(x), to_rows = ChannelRows::of(y);
  if (from_rows && to_rows) {
    parallel_for(0, from_rows->count, grain_of(channels), [&](int64_t begin, int64_t end) {
      std::vector<S> in(static_cast<size_t>(channels)), out(static_cast<size_t>(channels));
      for (int64_t i = begin; i < end; i++) {
        S* to = to_rows->to_write(i, out.data());
        inner.column_affine(to, from_rows->read(i, in.data()), means, scale.data(), shift.data(), channels);
        to_rows->written(i, to);
      }
    });
    return;
  }
  const int64_t blocks = x.size(0) * channels, n = x.numel() / blocks;
  parallel_for(0, blocks, grain_of(n), [&](int64_t begin, int64_t end) {
    Slab<S> from(x, 2), to(y, 2);
    for (int64_t i = begin; i < end; i++) {
      const size_t c = static_cast<size_t>(i % channels);
      inner.affine(to.to_write(i), from.read(i), n, means[c], scale[c], shift[c]);
      to.written(i);
    }
  });
}
void forward(const Tensor& y, const Tensor& x, const Tensor& mean, const Tensor& rstd, const Tensor& weight,
             const Tensor& bias) {
  if (x.numel() == 0) return;
  with_numbers({&y, &x}, [&]<class S>(S) { forward_typed<S>(y, x, mean, rstd, weight, bias); });
}

// ---- backward
// The sums of g and of g * (x - mean), for each channel (rows) or each [sample, channel] (blocks).
struct Sums {
  std::vector<double> g, product;
  explicit Sums(int64_t count) : g(static_cast<size_t>(count)), product(static_cast<size_t>(count)) {}
};
template <class S>
Sums row_sums(const ChannelRows& g, const ChannelRows& x, const Computed<S>* mean) {
  using T = Computed<S>;
  const ChannelInner<S>& inner = channel_inner<S>();
  const size_t channels = static_cast<size_t>(x.channels);
  const int64_t pieces = x.pieces();
  Sums parts(pieces * x.channels), all(x.channels);
  parallel_for(0, pieces, 1, [&](int64_t begin, int64_t end) {
    std::vector<S> g_in(channels), x_in(channels);
    std::vector<T> sum(channels), product(channels);
    for (int64_t piece = begin; piece < end; piece++) {
      const int64_t last = x.count * (piece + 1) / pieces;
      for (int64_t first = x.count * piece / pieces; first < last; first += kBlockRows) {
        std::fill(sum.begin(), sum.end(), T(0));
        std::fill(product.begin(), product.end(), T(0));
        for (int64_t i = first; i < std::min(last, first + kBlockRows); i++)
          inner.column_sums(sum.data(), product.data(), g.read(i, g_in.data()), x.read(i, x_in.data()), mean,
                            x.channels);
        for (size_t j = 0; j < channels; j++) {
          parts.g[static_cast<size_t>(piece) * channels + j] += static_cast<double>(sum[j]);
          parts.product[static_cast<size_t>(piece) * channels + j] += static_cast<double>(product[j]);
        }
      }
    }
  });
  for (size_t i = 0; i < parts.g.size(); i++) {
    all.g[i % channels] += parts.g[i];
    all.product[i % channels] += parts.product[i];
  }
  return all;
}
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

// dx = a * g + b + c * (x - mean), where the three follow from the sums.
template <class S>
void backward_typed(const Tensor& dx, const Tensor& dw, const Tensor& db, const Tensor& g, const Tensor& x,
                    const Tensor& mean, const Tensor& rstd, const Tensor& weight, bool batch_stats) {
  using T = Computed<S>;
  const ChannelInner<S>& inner = channel_inner<S>();
  const int64_t channels = x.size(1), blocks = x.size(0) * channels, n = x.numel() / blocks;
  const size_t count = static_cast<size_t>(channels);
  const T *means = numbers<T>(mean), *scales = numbers<T>(rstd);
  auto g_rows = ChannelRows::of(g), x_rows = ChannelRows::of(x), dx_rows = ChannelRows::of(dx);
  const bool by_rows = g_rows && x_rows && dx_rows;
  Sums sums(channels);
  if (by_rows) {
    sums = row_sums<S>(*g_rows, *x_rows, means);
  } else {
    Sums parts = block_sums<S>(g, x, [&](int64_t i) { return means[i % channels]; });
    for (size_t i = 0; i < parts.g.size(); i++) {
      sums.g[i % count] += parts.g[i];
      sums.product[i % count] += parts.product[i];
    }
  }
  std::vector<T> w = channel_values<T>(weight, channels, T(1)), a(count), b(count), c(count), to_w(count), to_b(count);
  const int64_t per_channel = x.numel() / channels;
  const auto total = static_cast<double>(per_channel);
  for (size_t j = 0; j < count; j++) {
    const double scale = static_cast<double>(scales[j]), weighted = scale * static_cast<double>(w[j]);
    a[j] = static_cast<T>(weighted);
    b[j] = batch_stats ? static_cast<T>(-weighted * sums.g[j] / total) : T(0);
    c[j] = batch_stats ? static_cast<T>(-weighted * scale * scale * sums.product[j] / total) : T(0);
    to_w[j] = static_cast<T>(sums.product[j] * scale);
    to_b[j] = static_cast<T>(sums.g[j]);
  }
  store_channels(dw, to_w);
  store_channels(db, to_b);
  if (by_rows) {
    parallel_for(0, x_rows->count, grain_of(channels), [&](int64_t begin, int64_t end) {
      std::vector<S> g_in(count), x_in(count), out(count);
      for (int64_t i = begin; i < end; i++) {
        S* to = dx_rows->to_write(i, out.data());
        inner.column_combine(to, g_rows->read(i, g_in.data()), x_rows->read(i, x_in.data()), means, a.data(), b.data(),
                             c.data(), channels);
        dx_rows->written(i, to);
      }
    });
    return;
  }
  parallel_for(0, blocks, grain_of(n), [&](int64_t begin, int64_t end) {
    Slab<S> from_g(g, 2), from_x(x, 2), to(dx, 2);
    for (int64_t i = begin; i < end; i++) {
      const size_t j = static_cast<size_t>(i % channels);
      inner.combine(to.to_write(i), from_g.read(i), from_x.read(i), n, means[j], a[j], b[j], c[j]);
      to.written(i);
    }
  });
}
void zero_weights(const Tensor& dw, const Tensor& db, int64_t channels) {
  store_channels(dw, std::vector<float>(static_cast<size_t>(channels)));
  store_channels(db, std::vector<float>(static_cast<size_t>(channels)));
}
void backward(const Tensor& dx, const Tensor& dw, const Tensor& db, const Tensor& g, const Tensor& x,
              const Tensor& mean, const Tensor& rstd, const Tensor& weight, bool batch_stats) {
  if (x.numel() == 0) return zero_weights(dw, db, x.size(1));
  with_numbers({&dx, &g, &x},
               [&]<class S>(S) { backward_typed<S>(dx, dw, db, g, x, mean, rstd, weight, batch_stats); });
}

// ---- group_norm: each group is done at once, while it is in the cache
template <class S>
void group_typed(const Tensor& y, const Tensor& mean, const Tensor& rstd, const Tensor& x, const Tensor& weight,
                 const Tensor& bias, int64_t groups, double eps) {
  using T = Computed<S>;
  const ChannelInner<S>& inner = channel_inner<S>();
  const int64_t channels = x.size(1), each = channels / groups, n = x.numel() / (x.size(0) * channels);
  const std::vector<T> w = channel_values<T>(weight, channels, T(1)), b = channel_values<T>(bias, channels, T(0));
  parallel_for(0, x.size(0) * groups, grain_of(n * each), [&](int64_t begin, int64_t end) {
    Slab<S> from(x, 2), to(y, 2);
    for (int64_t group = begin; group < end; group++) {
      Moments moments;
      for (int64_t i = group * each; i < (group + 1) * each; i++) {
        double middle, squares;
        inner.moments(from.read(i), n, &middle, &squares);
        moments.add(static_cast<double>(n), middle, squares);
      }
      const double scale = 1 / std::sqrt(moments.squares / moments.count + eps);
      numbers<T>(mean)[group] = static_cast<T>(moments.mean);
      numbers<T>(rstd)[group] = static_cast<T>(scale);
      for (int64_t i = group * each; i < (group + 1) * each; i++) {
        const size_t c = static_cast<size_t>(i % channels);
        inner.affine(to.to_write(i), from.read(i), n, static_cast<T>(moments.mean), static_cast<T>(scale) * w[c], b[c]);
        to.written(i);
      }
    }
  });
}
void group_norm(const Tensor& y, const Tensor& mean, const Tensor& rstd, const Tensor& x, const Tensor& weight,
                const Tensor& bias, int64_t groups, double eps) {
  if (x.numel() == 0) return;
  with_numbers({&y, &x}, [&]<class S>(S) { group_typed<S>(y, mean, rstd, x, weight, bias, groups, eps); });
}

template <class S>
void group_backward_typed(const Tensor& dx, const Tensor& dw, const Tensor& db, const Tensor& g, const Tensor& x,
                          const Tensor& mean, const Tensor& rstd, const Tensor& weight, int64_t groups) {
  using T = Computed<S>;
  const ChannelInner<S>& inner = channel_inner<S>();
  const int64_t channels = x.size(1), each = channels / groups, blocks = x.size(0) * channels, n = x.numel() / blocks;
  const T *means = numbers<T>(mean), *scales = numbers<T>(rstd);
  const std::vector<T> w = channel_values<T>(weight, channels, T(1));
  const Sums sums = block_sums<S>(g, x, [&](int64_t i) { return means[i / each]; });
  parallel_for(0, blocks / each, grain_of(n * each), [&](int64_t begin, int64_t end) {
    Slab<S> from_g(g, 2), from_x(x, 2), to(dx, 2);
    const double total = static_cast<double>(n * each);
    for (int64_t group = begin; group < end; group++) {
      double sum = 0, product = 0;
      for (int64_t i = group * each; i < (group + 1) * each; i++) {
        const double by = static_cast<double>(w[static_cast<size_t>(i % channels)]);
        sum += by * sums.g[static_cast<size_t>(i)];
        product += by * sums.product[static_cast<size_t>(i)];
      }
      const double scale = static_cast<double>(scales[group]);
      const T b = static_cast<T>(-scale * sum / total), c = static_cast<T>(-scale * scale * scale * product / total);
      for (int64_t i = group * each; i < (group + 1) * each; i++) {
        const T a = scales[group] * w[static_cast<size_t>(i % channels)];
        inner.combine(to.to_write(i), from_g.read(i), from_x.read(i), n, means[group], a, b, c);
        to.written(i);
      }
    }
  });
  std::vector<double> to_w(static_cast<size_t>(channels)), to_b(to_w);
  for (int64_t i = 0; i < blocks; i++) {
    const size_t c = static_cast<size_t>(i % channels), at = static_cast<size_t>(i);
    to_w[c] += sums.product[at] * static_cast<double>(scales[i / each]);
    to_b[c] += sums.g[at];
  }
  store_channels(dw, to_w);
  store_channels(db, to_b);
}
void group_norm_backward(const Tensor& dx, const Tensor& dw, const Tensor& db, const Tensor& g, const Tensor& x,
                         const Tensor& mean, const Tensor& rstd, const Tensor& weight, int64_t groups) {
  if (x.numel() == 0) return zero_weights(dw, db, x.size(1));
  with_numbers({&dx, &g, &x},
               [&]<class S>(S) { group_backward_typed<S>(dx, dw, db, g, x, mean, rstd, weight, groups); });
}

[[maybe_unused]] const bool registered =
    batch_norm_stats_kernel.set(kCPU, stats) && batch_norm_rstd_kernel.set(kCPU, rstd_of) &&
    batch_norm_kernel.set(kCPU, forward) && batch_norm_backward_kernel.set(kCPU, backward) &&
    group_norm_kernel.set(kCPU, group_norm) && group_norm_backward_kernel.set(kCPU, group_norm_backward);

}  // namespace
}  // namespace cresset::cpu
