// CPU kernels of batch_norm. Channels that are contiguous blocks are done block by block; where neighbours in memory
// belong to different channels (matrices, channels last), whole rows of channels are done side by side. Sums are cut
// into pieces by shape alone, so threads do not change bits.
#include "cresset/backends/cpu/channel_norm.h"

#include <cmath>

#include "cresset/core/kernel.h"
#include "cresset/ops/norm.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kBlockRows = 128;  // of columns: their float sums end in double

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
// dx = a * g + b + c * (x - mean), where the three follow from a channel's sums.
template <class T>
struct Combination {
  std::vector<T> w, a, b, c, to_w, to_b;
  Combination(const Tensor& weight, int64_t channels)
      : w(channel_values<T>(weight, channels, T(1))), a(w.size()), b(w.size()), c(w.size()), to_w(a), to_b(a) {}

  void follow(size_t j, const Sums& sums, T rstd, double total, bool batch_stats) {
    const double scale = static_cast<double>(rstd), weighted = scale * static_cast<double>(w[j]);
    a[j] = static_cast<T>(weighted);
    b[j] = batch_stats ? static_cast<T>(-weighted * sums.g[j] / total) : T(0);
    c[j] = batch_stats ? static_cast<T>(-weighted * scale * scale * sums.product[j] / total) : T(0);
    to_w[j] = static_cast<T>(sums.product[j] * scale);
    to_b[j] = static_cast<T>(sums.g[j]);
  }
};

template <class S>
void combine_rows(const ChannelRows& dx, const ChannelRows& g, const ChannelRows& x, const Computed<S>* mean,
                  const Combination<Computed<S>>& by) {
  const ChannelInner<S>& inner = channel_inner<S>();
  const size_t count = by.a.size();
  parallel_for(0, x.count, grain_of(x.channels), [&](int64_t begin, int64_t end) {
    std::vector<S> g_in(count), x_in(count), out(count);
    for (int64_t i = begin; i < end; i++) {
      S* to = dx.to_write(i, out.data());
      inner.column_combine(to, g.read(i, g_in.data()), x.read(i, x_in.data()), mean, by.a.data(), by.b.data(),
                           by.c.data(), x.channels);
      dx.written(i, to);
    }
  });
}

// Blocks: a few channels at a time are added up and combined while they are in the cache.
template <class S>
class BlockBackward {
 public:
  using T = Computed<S>;
  BlockBackward(const Tensor& dx, const Tensor& g, const Tensor& x, const T* mean, const T* rstd, bool batch_stats,
                Combination<T>& by)
      : dx_(dx), g_(g), x_(x), mean_(mean), rstd_(rstd), batch_stats_(batch_stats), by_(by), sums_(x.size(1)) {}

  void run() {
    const int64_t per_channel = samples_ * n_;
    const int64_t together = std::max<int64_t>(1, kTogether / std::max<int64_t>(per_channel, 1));
    if (channels_ >= 4 * get_num_threads() || in_parallel_region()) {
      parallel_for(0, channels_, grain_of(per_channel), [&](int64_t begin, int64_t end) {
        Slab<S> g(g_, 2), x(x_, 2), dx(dx_, 2);
        for (int64_t first = begin; first < end; first += together) {
          const int64_t last = std::min(end, first + together);
          for (int64_t s = 0; s < samples_; s++)
            for (int64_t c = first; c < last; c++) add_up(g, x, s * channels_ + c);
          follow(first, last);
          for (int64_t s = 0; s < samples_; s++)
            for (int64_t c = first; c < last; c++) combine(dx, g, x, s * channels_ + c);
        }
      });
      return;
    }
    const Sums parts = block_sums<S>(g_, x_, [&](int64_t i) { return mean_[i % channels_]; });
    for (size_t i = 0; i < parts.g.size(); i++) {
      sums_.g[i % by_.a.size()] += parts.g[i];
      sums_.product[i % by_.a.size()] += parts.product[i];
    }
    follow(0, channels_);
    parallel_for(0, samples_ * channels_, grain_of(n_), [&](int64_t begin, int64_t end) {
      Slab<S> g(g_, 2), x(x_, 2), dx(dx_, 2);
      for (int64_t i = begin; i < end; i++) combine(dx, g, x, i);
    });
  }

 private:
  static constexpr int64_t kTogether = 65536;  // elements of each tensor

  void add_up(Slab<S>& g, Slab<S>& x, int64_t i) {
    const size_t c = static_cast<size_t>(i % channels_);
    double sum, product;
    inner_.sums(g.read(i), x.read(i), n_, mean_[c], &sum, &product);
    sums_.g[c] += sum;
    sums_.product[c] += product;
  }
  void follow(int64_t first, int64_t last) {
    for (int64_t c = first; c < last; c++)
      by_.follow(static_cast<size_t>(c), sums_, rstd_[c], static_cast<double>(samples_ * n_), batch_stats_);
  }
  void combine(Slab<S>& dx, Slab<S>& g, Slab<S>& x, int64_t i) const {
    const size_t c = static_cast<size_t>(i % channels_);
    inner_.combine(dx.to_write(i), g.read(i), x.read(i), n_, mean_[c], by_.a[c], by_.b[c], by_.c[c]);
    dx.written(i);
  }

  const ChannelInner<S>& inner_ = channel_inner<S>();
  const Tensor &dx_, &g_, &x_;
  const T *mean_, *rstd_;
  const bool batch_stats_;
  Combination<T>& by_;
  Sums sums_;
  const int64_t samples_ = x_.size(0), channels_ = x_.size(1), n_ = x_.numel() / (samples_ * channels_);
};

template <class S>
void backward_typed(const Tensor& dx, const Tensor& dw, const Tensor& db, const Tensor& g, const Tensor& x,
                    const Tensor& mean, const Tensor& rstd, const Tensor& weight, bool batch_stats) {
  using T = Computed<S>;
  const int64_t channels = x.size(1);
  const T *means = numbers<T>(mean), *scales = numbers<T>(rstd);
  Combination<T> by(weight, channels);
  auto g_rows = ChannelRows::of(g), x_rows = ChannelRows::of(x), dx_rows = ChannelRows::of(dx);
  if (g_rows && x_rows && dx_rows) {
    const Sums sums = row_sums<S>(*g_rows, *x_rows, means);
    const auto total = static_cast<double>(x.numel() / channels);
    for (int64_t c = 0; c < channels; c++) by.follow(static_cast<size_t>(c), sums, scales[c], total, batch_stats);
    combine_rows<S>(*dx_rows, *g_rows, *x_rows, means, by);
  } else {
    BlockBackward<S>(dx, g, x, means, scales, batch_stats, by).run();
  }
  store_channels(dw, by.to_w);
  store_channels(db, by.to_b);
}
void backward(const Tensor& dx, const Tensor& dw, const Tensor& db, const Tensor& g, const Tensor& x,
              const Tensor& mean, const Tensor& rstd, const Tensor& weight, bool batch_stats) {
  if (x.numel() == 0) return zero_weights(dw, db, x.size(1));
  with_numbers({&dx, &g, &x},
               [&]<class S>(S) { backward_typed<S>(dx, dw, db, g, x, mean, rstd, weight, batch_stats); });
}

[[maybe_unused]] const bool registered =
    batch_norm_stats_kernel.set(kCPU, stats) && batch_norm_rstd_kernel.set(kCPU, rstd_of) &&
    batch_norm_kernel.set(kCPU, forward) && batch_norm_backward_kernel.set(kCPU, backward);

}  // namespace
}  // namespace cresset::cpu
