// CPU kernels of ops/loss_pointwise. A term is a plain function of two numbers; each is read once, whatever is summed.
#include "cresset/backends/cpu/loss_terms.h"

#include <cmath>

#include "cresset/backends/cpu/reduce_loop.h"
#include "cresset/backends/cpu/walk.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

template <class T>
T sigmoid(T x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}
// log(1 + exp(-x))
template <class T>
T softplus_of_minus(T x) {
  return std::max(-x, T(0)) + std::log1p(std::exp(-std::abs(x)));
}
template <class T>
T sign(T x) {
  return x > 0 ? T(1) : x < 0 ? T(-1) : x;  // nan stays
}
template <class T>
T positive_part(T x) {
  return x < 0 ? T(0) : x;  // nan stays
}

template <LossTerm kind, int i, int j, class T>
T term(T x, T t, T a, T b) {
  using enum LossTerm;
  if constexpr (kind == squared) {
    T d = x - t;
    return i == 0 ? d * d : i == 1 ? 2 * d : T(2);
  } else if constexpr (kind == absolute) {
    return i == 0 ? std::abs(x - t) : sign(x - t);
  } else if constexpr (kind == smooth_absolute) {
    T d = x - t, z = std::abs(d);
    if constexpr (i == 0) return z < a ? T(0.5) * z * z / a : z - T(0.5) * a;
    if constexpr (i == 1) return z < a ? d / a : sign(d);
    return z < a ? 1 / a : T(0);
  } else if constexpr (kind == distance_power) {
    T d = x - t + a, z = std::abs(d);
    if constexpr (i == 0) return b == 2 ? d * d : std::pow(z, b);
    if (d == 0) return T(0);
    if constexpr (i == 1) return b == 2 ? 2 * d : b * std::pow(z, b - 1) * sign(d);
    return b * (b - 1) * std::pow(z, b - 2);
  } else if constexpr (kind == power) {
    if constexpr (i == 0) return b == T(0.5) ? std::sqrt(x) : std::pow(x, b);
    if (x == 0) return T(0);
    return i == 1 ? b * std::pow(x, b - 1) : b * (b - 1) * std::pow(x, b - 2);
  } else if constexpr (kind == huber) {
    T d = x - t, z = std::abs(d);
    if constexpr (i == 0) return z <= a ? T(0.5) * z * z : a * (z - T(0.5) * a);
    if constexpr (i == 1) return z <= a ? d : a * sign(d);
    return z < a ? T(1) : T(0);
  } else if constexpr (kind == entropy) {
    if constexpr (i + j == 0 || (i == 0 && j == 1)) {
      T yes = std::max(std::log(x), T(-100)), no = std::max(std::log1p(-x), T(-100));
      return i + j == 0 ? (t - 1) * no - t * yes : no - yes;
    }
    T spread = std::max((1 - x) * x, T(1e-12));
    if constexpr (i == 1 && j == 0) return (x - t) / spread;
    if constexpr (i == 1 && j == 1) return -1 / spread;
    return (t * (1 - 2 * x) + x * x) / (spread * spread);
  } else if constexpr (kind == logit_entropy) {
    if constexpr (i + j == 0) return (1 - t) * x + softplus_of_minus(x);
    if constexpr (i == 1 && j == 0) return sigmoid(x) - t;
    if constexpr (i == 0 && j == 1) return -x;
    if constexpr (i == 1 && j == 1) return T(-1);
    return sigmoid(x) * sigmoid(-x);
  } else if constexpr (kind == logit_positive) {
    if constexpr (i + j == 0) return t * softplus_of_minus(x);
    if constexpr (i == 1 && j == 0) return -t * sigmoid(-x);
    if constexpr (i == 0 && j == 1) return softplus_of_minus(x);
    if constexpr (i == 1 && j == 1) return -sigmoid(-x);
    return t * sigmoid(x) * sigmoid(-x);
  } else if constexpr (kind == kl) {
    if constexpr (i + j == 0) return (t == 0 ? T(0) : t * std::log(t)) - t * x;
    if constexpr (i == 1 && j == 0) return -t;
    if constexpr (i == 0 && j == 1) return std::log(t) + 1 - x;
    if constexpr (i == 1 && j == 1) return T(-1);
    return 1 / t;
  } else if constexpr (kind == kl_log) {
    T e = std::exp(t);
    return i == 0 ? e * (t - x + T(j)) : -e;
  } else if constexpr (kind == poisson) {
    if constexpr (i + j == 0) return x - t * std::log(x + a);
    if constexpr (i == 1 && j == 0) return 1 - t / (x + a);
    if constexpr (i == 0 && j == 1) return -std::log(x + a);
    if constexpr (i == 1 && j == 1) return -1 / (x + a);
    return t / ((x + a) * (x + a));
  } else if constexpr (kind == poisson_log) {
    if constexpr (i + j == 0) return std::exp(x) - t * x;
    if constexpr (i == 1 && j == 0) return std::exp(x) - t;
    if constexpr (i == 0 && j == 1) return -x;
    if constexpr (i == 1 && j == 1) return T(-1);
    return std::exp(x);
  } else if constexpr (kind == stirling) {
    if (t <= 1) return T(0);
    if constexpr (j == 0) return t * std::log(t) - t + T(0.5) * std::log(T(6.283185307179586476925) * t);
    if constexpr (j == 1) return std::log(t) + T(0.5) / t;
    return 1 / t - T(0.5) / (t * t);
  } else if constexpr (kind == gaussian) {  // the bound has no influence on the slope
    T v = std::max(t, a);
    if constexpr (i + j == 0) return T(0.5) * (std::log(v) + x * x / v);
    if constexpr (i == 1 && j == 0) return x / v;
    if constexpr (i == 2) return 1 / v;
    if constexpr (i == 1 && j == 1) return -x / (v * v);
    if constexpr (i == 0 && j == 1) return T(0.5) * (1 - x * x / v) / v;
    return (x * x / v - T(0.5)) / (v * v);
  } else if constexpr (kind == hinge) {
    if constexpr (i == 0) return (t != 1 ? positive_part(a - x) : T(0)) + (t != -1 ? x : T(0));
    return (t != 1 && a - x >= 0 ? T(-1) : T(0)) + (t != -1 ? T(1) : T(0));
  } else if constexpr (kind == ranking) {
    T z = a - t * x;
    if constexpr (i + j == 0) return positive_part(z);
    if (!(z >= 0)) return T(0);
    return i == 1 && j == 0 ? -t : i == 0 ? -x : T(-1);
  } else if constexpr (kind == over_root) {
    T r = 1 / std::sqrt(t);
    T power = j == 0 ? r : j == 1 ? T(-0.5) * r / t : T(0.75) * r / (t * t);
    return i == 0 ? x * power : power;
  } else if constexpr (kind == cosine_hinge) {
    if constexpr (i == 0) return t == 1 ? 1 - x : t == -1 ? positive_part(x - a) : T(0);
    return t == 1 ? T(-1) : t == -1 && x - a >= 0 ? T(1) : T(0);
  } else if constexpr (kind == soft_margin) {
    T u = x * t;
    if constexpr (i + j == 0) return softplus_of_minus(u);
    T slope = -sigmoid(-u);
    if constexpr (i + j == 1) return (i ? t : x) * slope;
    T bend = sigmoid(u) * sigmoid(-u);
    return i == 2 ? t * t * bend : j == 2 ? x * x * bend : slope + u * bend;
  } else {
    static_assert(kind == margin_power);
    T z = a + x - t;
    if constexpr (i + j == 0) return b == 1 ? positive_part(z) : positive_part(z) * positive_part(z);
    if (!(z > 0)) return T(0);
    T value = i + j == 1 ? (b == 1 ? T(1) : 2 * z) : (b == 1 ? T(0) : T(2));
    return j == 1 ? -value : value;
  }
}

template <LossTerm kind, int i, int j, class T>
void terms(void* out, const void* const* in, int64_t n, const void* constants) {
  const auto& c = *static_cast<const TermConstants*>(constants);
  T* y = static_cast<T*>(out);
  T a = static_cast<T>(c.a), b = static_cast<T>(c.b);
  if constexpr (i + j == 0) {
    const T *x = static_cast<const T*>(in[0]), *t = static_cast<const T*>(in[1]);
    for (int64_t k = 0; k < n; k++) y[k] = term<kind, i, j, T>(x[k], t[k], a, b);
  } else {
    T scale = static_cast<T>(c.scale);
    const T *g = static_cast<const T*>(in[0]), *x = static_cast<const T*>(in[1]), *t = static_cast<const T*>(in[2]);
    for (int64_t k = 0; k < n; k++) y[k] = scale * g[k] * term<kind, i, j, T>(x[k], t[k], a, b);
  }
}

using Orders = InnerFunction[6];  // (0,0) (1,0) (0,1) (2,0) (1,1) (0,2)
template <LossTerm kind, class T>
InnerFunction find_order(int i, int j) {
  const Orders orders = {&terms<kind, 0, 0, T>, &terms<kind, 1, 0, T>, &terms<kind, 0, 1, T>,
                         &terms<kind, 2, 0, T>, &terms<kind, 1, 1, T>, &terms<kind, 0, 2, T>};
  return orders[i + j == 0 ? 0 : i + j == 1 ? 1 + j : 3 + j];
}
template <class T>
InnerFunction find_term(LossTerm kind, int i, int j) {
  return [&]<size_t... K>(std::index_sequence<K...>) {
    InnerFunction found = nullptr;
    ((static_cast<size_t>(kind) == K ? static_cast<void>(found = find_order<static_cast<LossTerm>(K), T>(i, j))
                                     : static_cast<void>(0)),
     ...);
    return found;
  }
  (std::make_index_sequence<static_cast<size_t>(LossTerm::count)>());
}

// Terms of x - t: each derivative by t is one by x with the other sign.
struct Order {
  int i, j;
  double sign;
};
Order normalized(LossTerm kind, int64_t i, int64_t j) {
  int by_x = static_cast<int>(i), by_t = static_cast<int>(j);
  if (kind > LossTerm::huber) return {by_x, by_t, 1};
  return {by_x + by_t, 0, by_t % 2 ? -1.0 : 1.0};
}

InnerFunction inner_of(LossTerm kind, const Order& order, DType type) {
  if (order.j == 0 && order.i < 2)
    if (InnerFunction fast = loss_term_simd(kind, order.i, type)) return fast;
  return type == kDouble ? find_term<double>(kind, order.i, order.j) : find_term<float>(kind, order.i, order.j);
}

void loss_terms(const Tensor& out, const Tensor& g, const Tensor& x, const Tensor& t, int64_t kind, int64_t i,
                int64_t j, double a, double b, double scale, DType compute) {
  auto term = static_cast<LossTerm>(kind);
  DType type = compute_dtype(compute);
  Order order = normalized(term, i, j);
  TermConstants constants{a, b, scale * order.sign};
  PointwiseCall call{inner_of(term, order, type), nullptr, &constants, term > LossTerm::huber ? 16 : 2};
  if (i + j == 0)
    run_pointwise(out, {&x, &t}, type, call);
  else
    run_pointwise(out, {&g, &x, &t}, type, call);
}

// ---- sums
constexpr int64_t kChunk = 1024;  // elements that are staged at a time; the sum of a chunk is one number
constexpr int64_t kGrain = 32;    // chunks worth a thread

// The strides of x as it is broadcast to `sizes`.
Dims broadcast_strides(const Tensor& x, IntArrayRef sizes) {
  Dims strides = Dims::filled(static_cast<int>(sizes.size()), 0);
  int lead = strides.rank() - static_cast<int>(x.dim());
  for (int i = 0; i < x.dim(); i++)
    if (x.size(i) != 1) strides[lead + i] = x.stride(i);
  return strides;
}

// Reads elements [first, first + n) of one operand in the walk's order: in place where they are so already.
template <class T>
const T* read_chunk(const Walk& walk, int operand, const Tensor& x, int64_t first, int64_t n, T* buffer) {
  const char* data = static_cast<const char*>(x.impl()->data());
  const T* direct = nullptr;
  T* to = buffer;
  walk.runs(first, first + n, [&](const int64_t* offsets, int64_t count) {
    if (count == n && x.dtype() == dtype_of<T> && walk.step(operand) == static_cast<int64_t>(sizeof(T)))
      direct = reinterpret_cast<const T*>(data + offsets[operand]);
    else
      convert(to, dtype_of<T>, sizeof(T), data + offsets[operand], x.dtype(), walk.step(operand), count);
    to += count;
  });
  return direct ? direct : buffer;
}

template <class T>
void loss_sum_typed(const Tensor& out, const Tensor& x, const Tensor& t, IntArrayRef sizes, LossTerm kind, double a,
                    double b, double divisor) {
  // Memory that lies alike on both sides is read as it lies.
  bool alike = x.sizes() == t.sizes() && x.strides() == t.strides() && x.is_non_overlapping_and_dense();
  Dims all{x.numel()}, one{1};
  Walk walk(alike ? IntArrayRef(all) : sizes, 2);
  walk.set(0, alike ? one : broadcast_strides(x, sizes), x.element_size());
  walk.set(1, alike ? one : broadcast_strides(t, sizes), t.element_size());
  walk.join();
  const int64_t n = walk.numel(), chunks = (n + kChunk - 1) / kChunk;
  InnerFunction inner = inner_of(kind, {0, 0, 1}, dtype_of<T>);
  const ReduceInner& sum = sum_inner(dtype_of<T>);
  TermConstants constants{a, b, 1};
  std::vector<double> sums(static_cast<size_t>(chunks));
  parallel_for(0, chunks, kGrain, [&](int64_t begin, int64_t end) {
    alignas(64) T terms[kChunk], left[kChunk], right[kChunk];
    for (int64_t chunk = begin; chunk < end; chunk++) {
      int64_t first = chunk * kChunk, count = std::min(kChunk, n - first);
      const void* in[] = {read_chunk(walk, 0, x, first, count, left), read_chunk(walk, 1, t, first, count, right)};
      inner(terms, in, count, &constants);
      sum.rows(&sums[static_cast<size_t>(chunk)], terms, count, 1, 0);  // accumulated in double
    }
  });
  double total = 0;  // in the chunks' order, whatever the threads did
  for (double part : sums) total += part;
  total /= divisor;
  convert(out.impl()->data(), out.dtype(), 0, &total, kDouble, 0, 1);
}
void loss_sum(const Tensor& out, const Tensor& x, const Tensor& t, IntArrayRef sizes, int64_t kind, double a, double b,
              double divisor, DType compute) {
  auto typed = compute == kDouble ? &loss_sum_typed<double> : &loss_sum_typed<float>;
  typed(out, x, t, sizes, static_cast<LossTerm>(kind), a, b, divisor);
}

[[maybe_unused]] const bool registered = loss_terms_kernel.set(kCPU, loss_terms) && loss_sum_kernel.set(kCPU, loss_sum);

}  // namespace
}  // namespace cresset::cpu
