// CPU kernels of ops/random_distributions. Computed in double, whatever the dtype: tails matter more than time here.
#include "cresset/ops/random_distributions.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "cresset/backends/cpu/pointwise_loop.h"
#include "cresset/backends/cpu/random_simd.h"
#include "cresset/backends/cpu/walk.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kChunk = kRandomChunk;
constexpr int64_t kGrain = 4;  // chunks

// Numbers [first, first + kChunk) of those that take half a counter each, in [0, 1). `first` is a multiple of 2.
void uniform_chunk(const PhiloxCursor& cursor, int64_t first, double* values) {
  uint32_t bits[2 * kChunk];
  const uint64_t counter = cursor.first + static_cast<uint64_t>(first) / 2;
  random_functions().bits(cursor.seed, counter, bits);
  random_functions().bits(cursor.seed, counter + kChunk / 4, bits + kChunk);
  for (int64_t i = 0; i < kChunk; i++) values[i] = uniform_double(bits[2 * i], bits[2 * i + 1]);
}

// Calls make(first, count, values) for chunks of out's elements in row-major order, and stores what it writes. `inputs`
// have out's shape; their elements are in `values` before.
template <class Make>
void in_order(const Tensor& out, std::initializer_list<const Tensor*> inputs, const Make& make) {
  const int operands = 1 + static_cast<int>(inputs.size());
  Walk walk(out.sizes(), operands);
  walk.set(0, out.strides(), out.element_size());
  int k = 1;
  for (const Tensor* x : inputs) walk.set(k++, x->strides(), x->element_size());
  walk.join();
  const int64_t n = walk.numel();
  parallel_for(0, (n + kChunk - 1) / kChunk, kGrain, [&](int64_t begin, int64_t end) {
    double values[3][kChunk] = {};
    for (int64_t first = begin * kChunk; first < std::min(end * kChunk, n); first += kChunk) {
      const int64_t count = std::min(kChunk, n - first);
      int64_t at = 0;
      walk.runs(first, first + count, [&](const int64_t* offsets, int64_t piece) {
        int which = 1;
        for (const Tensor* x : inputs) {
          convert(values[which] + at, kDouble, sizeof(double),
                  static_cast<const char*>(x->impl()->data()) + offsets[which], x->dtype(), walk.step(which), piece);
          which++;
        }
        at += piece;
      });
      make(first, count, values);
      at = 0;
      walk.runs(first, first + count, [&](const int64_t* offsets, int64_t piece) {
        convert(static_cast<char*>(out.impl()->data()) + offsets[0], out.dtype(), walk.step(0), values[0] + at, kDouble,
                sizeof(double), piece);
        at += piece;
      });
    }
  });
}

void distribution(const Tensor& out, int64_t kind, double a, double b, PhiloxCursor cursor) {
  constexpr double pi = 3.14159265358979323846;
  auto value = [=](double u) {
    switch (static_cast<Distribution>(kind)) {
      case Distribution::exponential:
        return -std::log1p(-u) / a;
      case Distribution::geometric:
        return std::max(1.0, std::ceil(std::log1p(-u) / std::log1p(-a)));
      default:
        return a + b * std::tan(pi * (u - 0.5));
    }
  };
  in_order(out, {}, [&](int64_t first, int64_t count, double(*values)[kChunk]) {
    double uniform[kChunk];
    uniform_chunk(cursor, first, uniform);
    if (static_cast<Distribution>(kind) != Distribution::log_normal) {
      for (int64_t i = 0; i < count; i++) values[0][i] = value(uniform[i]);
      return;
    }
    for (int64_t i = 0; i < kChunk; i += 2) {
      auto pair = normal_pair(uniform[i], uniform[i + 1]);
      values[0][i] = std::exp(a + b * pair[0]);
      values[0][i + 1] = std::exp(a + b * pair[1]);
    }
  });
}

// ---- normal
template <class T>
void spread_elements(void* out, const void* const* in, int64_t n, const void*) {
  T* y = static_cast<T*>(out);
  const T *z = static_cast<const T*>(in[0]), *mean = static_cast<const T*>(in[1]), *std = static_cast<const T*>(in[2]);
  for (int64_t i = 0; i < n; i++) y[i] = z[i] * std[i] + mean[i];
}
void spread(const Tensor& out, const Tensor& mean, const Tensor& std) {
  const char* from = static_cast<const char*>(std.impl()->data());
  Walk walk(std.sizes(), 1);
  walk.set(0, std.strides(), std.element_size());
  walk.runs(0, std.numel(), [&](const int64_t* offsets, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
      double value;
      convert(&value, kDouble, 8, from + offsets[0] + i * walk.step(0), std.dtype(), 0, 1);
      CRESSET_CHECK_AS(ValueError, value >= 0, "normal: expects all elements of std >= 0.0, found ", value);
    }
  });
  DType type = compute_dtype(out.dtype());
  InnerFunction inner = type == kFloat          ? &spread_elements<float>
                        : type == kDouble       ? &spread_elements<double>
                        : type == kComplexFloat ? &spread_elements<std::complex<float>>
                                                : &spread_elements<std::complex<double>>;
  run_pointwise(out, {&out, &mean, &std}, type, {inner, nullptr, nullptr, 2});
}

// ---- counts
// As many uniform numbers as one element needs, in (0, 1).
class Stream {
 public:
  Stream(const PhiloxCursor& cursor, int64_t element)
      : seed_(cursor.seed), counter_(cursor.first + static_cast<uint64_t>(element)) {}
  double next() {
    if (used_ % 2 == 0)
      block_ = philox4x32_10({static_cast<uint32_t>(counter_), static_cast<uint32_t>(counter_ >> 32), used_ / 2, 0},
                             {static_cast<uint32_t>(seed_), static_cast<uint32_t>(seed_ >> 32)});
    bool second = used_++ % 2;
    return uniform_double(block_[second ? 2 : 0], block_[second ? 3 : 1]) + 0x1p-54;
  }

 private:
  uint64_t seed_, counter_;
  uint32_t used_ = 0;
  PhiloxBlock block_{};
};

// W. Hörmann, "The transformed rejection method for generating Poisson random variables" (1993); by counting products
// of uniform numbers for small rates.
double poisson_number(double rate, Stream& stream) {
  if (rate == 0) return 0;
  if (rate < 10) {
    double limit = std::exp(-rate), product = stream.next(), count = 0;
    for (; product > limit; product *= stream.next()) count++;
    return count;
  }
  double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), accepted = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    double u = stream.next() - 0.5, v = stream.next(), s = 0.5 - std::abs(u);
    double k = std::floor((2 * a / s + b) * u + rate + 0.43);
    if (s >= 0.07 && v <= accepted) return k;
    if (k < 0 || (s < 0.013 && v > s)) continue;
    if (std::log(v) + std::log(inverse_alpha) - std::log(a / (s * s) + b) <=
        -rate + k * std::log(rate) - std::lgamma(k + 1))
      return k;
  }
}
void poisson(const Tensor& out, const Tensor& rate, PhiloxCursor cursor) {
  in_order(out, {&rate}, [&](int64_t first, int64_t count, double(*values)[kChunk]) {
    for (int64_t i = 0; i < count; i++) {
      double lambda = values[1][i];
      CRESSET_CHECK_AS(ValueError, lambda >= 0,
                       "poisson: invalid Poisson rate, expected rate to be non-negative, found ", lambda);
      Stream stream(cursor, first + i);
      values[0][i] = poisson_number(lambda, stream);
    }
  });
}

// W. Hörmann, "The generation of binomial random variates" (1993); by waiting times for few successes.
double binomial_number(double n, double p, Stream& stream) {
  if (n <= 0 || p <= 0) return 0;
  if (p >= 1) return n;
  if (p > 0.5) return n - binomial_number(n, 1 - p, stream);
  if (n * p < 10) {
    double waited = 0, successes = 0, q = std::log1p(-p);
    for (;; successes++) {
      waited += std::ceil(std::log(stream.next()) / q);
      if (waited > n) return successes;
    }
  }
  double spread = std::sqrt(n * p * (1 - p)), b = 1.15 + 2.53 * spread, a = -0.0873 + 0.0248 * b + 0.01 * p;
  double c = n * p + 0.5, accepted = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * spread, r = p / (1 - p);
  double m = std::floor((n + 1) * p);
  for (;;) {
    double u = stream.next() - 0.5, v = stream.next(), s = 0.5 - std::abs(u);
    double k = std::floor((2 * a / s + b) * u + c);
    if (s >= 0.07 && v <= accepted) return k;
    if (k < 0 || k > n) continue;
    v = std::log(v * alpha / (a / (s * s) + b));
    double bound = std::lgamma(m + 1) + std::lgamma(n - m + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                   (k - m) * std::log(r);
    if (v <= bound) return k;
  }
}
void binomial(const Tensor& out, const Tensor& trials, const Tensor& prob, PhiloxCursor cursor) {
  in_order(out, {&trials, &prob}, [&](int64_t first, int64_t count, double(*values)[kChunk]) {
    for (int64_t i = 0; i < count; i++) {
      Stream stream(cursor, first + i);
      values[0][i] = std::isnan(values[1][i]) || std::isnan(values[2][i])
                         ? std::nan("")
                         : binomial_number(std::floor(values[1][i]), values[2][i], stream);
    }
  });
}

// ---- multinomial
std::vector<double> weights_of_row(const Tensor& weights, int64_t row) {
  const int64_t item = weights.element_size(), n = weights.size(1);
  std::vector<double> values(static_cast<size_t>(n));
  convert(values.data(), kDouble, sizeof(double),
          static_cast<const char*>(weights.impl()->data()) + row * weights.stride(0) * item, weights.dtype(),
          weights.stride(1) * item, n);
  for (double value : values)
    CRESSET_CHECK_AS(ValueError, value >= 0 && std::isfinite(value),
                     "multinomial: probability tensor contains either `inf`, `nan` or element < 0, found ", value);
  return values;
}

void multinomial(const Tensor& out, const Tensor& weights, bool replacement, PhiloxCursor cursor) {
  const int64_t rows = out.size(0), samples = out.size(1), classes = weights.size(1);
  const int64_t per_row = 2 * ((std::max(classes, samples) + 1) / 2);
  int64_t* to = static_cast<int64_t*>(out.impl()->data());
  parallel_for(0, rows, std::max<int64_t>(1, 1024 / std::max<int64_t>(per_row, 1)), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row++) {
      std::vector<double> w = weights_of_row(weights, row);
      int64_t* drawn = to + row * out.stride(0);
      const int64_t first = row * per_row;
      std::vector<double> uniform(static_cast<size_t>((per_row + kChunk - 1) / kChunk * kChunk));
      for (int64_t i = 0; i < per_row; i += kChunk) uniform_chunk(cursor, first + i, uniform.data() + i);
      CRESSET_CHECK_AS(ValueError, std::accumulate(w.begin(), w.end(), 0.0) > 0,
                       "multinomial: invalid multinomial distribution (sum of probabilities <= 0)");
      if (replacement) {
        std::partial_sum(w.begin(), w.end(), w.begin());
        // The last class of any weight takes what rounding leaves at the end.
        auto last = std::lower_bound(w.begin(), w.end(), w.back());
        for (int64_t i = 0; i < samples; i++) {
          double u = uniform[static_cast<size_t>(i)] * w.back();
          drawn[i * out.stride(1)] = std::min(std::upper_bound(w.begin(), w.end(), u), last) - w.begin();
        }
        continue;
      }
      // The class that waits the least comes first, if each waits with its weight as rate.
      std::vector<int64_t> order;
      for (int64_t c = 0; c < classes; c++) {
        double& weight = w[static_cast<size_t>(c)];
        if (weight == 0) continue;
        weight = -std::log1p(-uniform[static_cast<size_t>(c)]) / weight;
        order.push_back(c);
      }
      CRESSET_CHECK_AS(ValueError, static_cast<int64_t>(order.size()) >= samples,
                       "multinomial: invalid multinomial distribution (with replacement=False, not enough non-negative "
                       "category to sample): found ",
                       order.size(), " categories of weight for ", samples, " samples");
      std::partial_sort(order.begin(), order.begin() + samples, order.end(), [&](int64_t a, int64_t b) {
        return std::pair(w[static_cast<size_t>(a)], a) < std::pair(w[static_cast<size_t>(b)], b);
      });
      for (int64_t i = 0; i < samples; i++) drawn[i * out.stride(1)] = order[static_cast<size_t>(i)];
    }
  });
}

[[maybe_unused]] const bool registered = distribution_kernel.set(kCPU, distribution) &&
                                         spread_kernel.set(kCPU, spread) && poisson_kernel.set(kCPU, poisson) &&
                                         binomial_kernel.set(kCPU, binomial) &&
                                         multinomial_kernel.set(kCPU, multinomial);

}  // namespace
}  // namespace cresset::cpu
