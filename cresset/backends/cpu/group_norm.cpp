// CPU kernels of group_norm: each group is done at once, while it is in the cache.
#include <cmath>

#include "cresset/backends/cpu/channel_norm.h"
#include "cresset/core/kernel.h"
#include "cresset/ops/norm.h"

namespace cresset::cpu {
namespace {

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
    group_norm_kernel.set(kCPU, group_norm) && group_norm_backward_kernel.set(kCPU, group_norm_backward);

}  // namespace
}  // namespace cresset::cpu
