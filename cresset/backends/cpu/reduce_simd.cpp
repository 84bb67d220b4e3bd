// Inner functions of the reductions. Floats are added sixteen vectors (or eight rows) at a time, and those
// sums are accumulated in double: errors stay below a cascade's, and the widening is rare enough to cost nothing.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cresset/backends/cpu/reduce_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/highway.h>

#include "cresset/backends/cpu/pointwise_simd.h"
#include "cresset/backends/cpu/reduce_loop.h"

HWY_BEFORE_NAMESPACE();
namespace cresset::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
inline constexpr bool kHalf16 = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
inline constexpr bool kVector = std::is_floating_point_v<T> || kHalf16<T>;
// What a vector of T is computed in.
template <class T>
using Lane = std::conditional_t<kHalf16<T>, float, T>;

template <class D>
HWY_INLINE hn::Vec<D> load_half(D d, const Half* x) {
#if HWY_TARGET == HWY_SSE4
  // Without an instruction for it, Highway takes infinity and nan for large numbers. Shifted into place, a float16 is
  // 2^-112 of its value, subnormals included; the largest exponent stands for the same in both.
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::PromoteTo(du, hn::LoadU(hn::Rebind<uint16_t, D>(), reinterpret_cast<const uint16_t*>(x)));
  const auto magnitude = hn::ShiftLeft<13>(hn::And(bits, hn::Set(du, 0x7fff)));
  const auto value = hn::BitCast(du, hn::Mul(hn::BitCast(d, magnitude), hn::Set(d, 0x1p112f)));
  const auto special = hn::Ge(hn::BitCast(d, magnitude), hn::BitCast(d, hn::Set(du, 0x7c00u << 13)));
  const auto infinite = hn::Or(magnitude, hn::Set(du, 0x7f800000));
  const auto chosen = hn::IfThenElse(hn::RebindMask(du, special), infinite, value);
  return hn::BitCast(d, hn::Or(chosen, hn::ShiftLeft<16>(hn::And(bits, hn::Set(du, 0x8000)))));
#else
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<hwy::float16_t, D>(), reinterpret_cast<const hwy::float16_t*>(x)));
#endif
}

template <class D, class T>
HWY_INLINE hn::Vec<D> load(D d, const T* x) {
  if constexpr (std::is_same_v<T, Half>)
    return load_half(d, x);
  else if constexpr (std::is_same_v<T, BFloat16>)
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<hwy::bfloat16_t, D>(), reinterpret_cast<const hwy::bfloat16_t*>(x)));
  else
    return hn::LoadU(d, x);
}

// ---- sums of floating types, accumulated in double
template <class V>
HWY_INLINE V sum4(V a, V b, V c, V d) {
  return hn::Add(hn::Add(a, b), hn::Add(c, d));
}

// Two double accumulators that take in vectors of float or double.
struct DoubleSum {
  hn::ScalableTag<double> dd;
  hn::Vec<hn::ScalableTag<double>> low, high;

  HWY_INLINE DoubleSum() : low(hn::Zero(dd)), high(hn::Zero(dd)) {}

  HWY_INLINE void add(hn::Vec<hn::ScalableTag<float>> v) {
    low = hn::Add(low, hn::PromoteTo(dd, hn::LowerHalf(v)));
    high = hn::Add(high, hn::PromoteTo(dd, hn::UpperHalf(hn::Half<hn::ScalableTag<float>>(), v)));
  }
  HWY_INLINE void add(hn::Vec<hn::ScalableTag<double>> v) { low = hn::Add(low, v); }
  HWY_INLINE double total() const { return hn::GetLane(hn::SumOfLanes(dd, hn::Add(low, high))); }
};

template <class D, class T>
HWY_INLINE hn::Vec<D> four_vectors(D d, const T* x) {
  const size_t lanes = hn::Lanes(d);
  auto a = load(d, x);
  auto b = load(d, x + lanes);
  auto c = load(d, x + 2 * lanes);
  auto e = load(d, x + 3 * lanes);
  return sum4(a, b, c, e);
}
template <class T>
HWY_INLINE double row_sum(const T* x, int64_t n) {
  const hn::ScalableTag<Lane<T>> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  if (n < lanes) {
    double even = 0, odd = 0;
    int64_t i = 0;
    for (; i + 2 <= n; i += 2) even += static_cast<Lane<T>>(x[i]), odd += static_cast<Lane<T>>(x[i + 1]);
    if (i < n) even += static_cast<Lane<T>>(x[i]);
    return even + odd;
  }
  DoubleSum sum;
  int64_t i = 0;
  for (; i + 16 * lanes <= n; i += 16 * lanes) {
    auto a = load(d, x + i), b = load(d, x + i + lanes), c = load(d, x + i + 2 * lanes), e = load(d, x + i + 3 * lanes);
    // Not unrolled: compilers would then read the sixteen in an order that prefetchers do not follow.
#pragma GCC unroll 1
    for (const T* p = x + i + 4 * lanes; p < x + i + 16 * lanes; p += 4 * lanes) {
      a = hn::Add(a, load(d, p));
      b = hn::Add(b, load(d, p + lanes));
      c = hn::Add(c, load(d, p + 2 * lanes));
      e = hn::Add(e, load(d, p + 3 * lanes));
    }
    sum.add(sum4(a, b, c, e));
  }
  for (; i + 4 * lanes <= n; i += 4 * lanes) sum.add(four_vectors(d, x + i));
  for (; i + lanes <= n; i += lanes) sum.add(load(d, x + i));
  if (i < n) {  // the last vector, without what was taken before
    auto taken = hn::FirstN(d, static_cast<size_t>(lanes - (n - i)));
    sum.add(hn::IfThenZeroElse(taken, load(d, x + n - lanes)));
  }
  return sum.total();
}
template <class T>
void float_rows(void* acc, const void* x, int64_t n, int64_t rows, int64_t row_stride) {
  const char* row = static_cast<const char*>(x);
  for (int64_t i = 0; i < rows; i++, row += row_stride)
    static_cast<double*>(acc)[i] += row_sum(reinterpret_cast<const T*>(row), n);
}

template <class T>
void float_columns(void* acc, const void* const* rows, int count, int64_t n) {
  const hn::ScalableTag<Lane<T>> d;
  const hn::ScalableTag<double> dd;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), half = static_cast<int64_t>(hn::Lanes(dd));
  double* to = static_cast<double*>(acc);
  auto row = [&](int k) { return static_cast<const T*>(rows[k]); };
  auto take = [&](auto v, int64_t j) HWY_ATTR {
    if constexpr (std::is_same_v<Lane<T>, double>) {
      hn::StoreU(hn::Add(hn::LoadU(dd, to + j), v), dd, to + j);
    } else {
      const hn::Half<decltype(d)> dh;
      hn::StoreU(hn::Add(hn::LoadU(dd, to + j), hn::PromoteTo(dd, hn::LowerHalf(v))), dd, to + j);
      hn::StoreU(hn::Add(hn::LoadU(dd, to + j + half), hn::PromoteTo(dd, hn::UpperHalf(dh, v))), dd, to + j + half);
    }
  };
  int64_t j = 0;
  if (count == kRowsAtOnce)
    for (; j + lanes <= n; j += lanes)
      take(hn::Add(sum4(load(d, row(0) + j), load(d, row(1) + j), load(d, row(2) + j), load(d, row(3) + j)),
                   sum4(load(d, row(4) + j), load(d, row(5) + j), load(d, row(6) + j), load(d, row(7) + j))),
           j);
  else
    for (; j + lanes <= n; j += lanes)
      for (int k = 0; k < count; k++) take(load(d, row(k) + j), j);
  for (; j < n; j++)
    for (int k = 0; k < count; k++) to[j] += static_cast<Lane<T>>(row(k)[j]);
}

// ---- sums of integers, in int64 with wrap-around
template <class T>
uint64_t integer_row(const T* x, int64_t n) {
  uint64_t sum = 0;
  int64_t i = 0;
  if constexpr (std::is_same_v<T, uint8_t>) {
    const hn::ScalableTag<uint8_t> d;
    const hn::Repartition<uint64_t, decltype(d)> wide;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    auto sums = hn::Zero(wide);
    for (; i + lanes <= n; i += lanes) sums = hn::Add(sums, hn::SumsOf8(hn::LoadU(d, x + i)));
    HWY_ALIGN uint64_t each[8];
    hn::Store(sums, wide, each);
    for (size_t k = 0; k < hn::Lanes(wide); k++) sum += each[k];
  }
  for (; i < n; i++) sum += static_cast<uint64_t>(x[i]);
  return sum;
}
template <class T>
void integer_rows(void* acc, const void* x, int64_t n, int64_t rows, int64_t row_stride) {
  const char* row = static_cast<const char*>(x);
  for (int64_t r = 0; r < rows; r++, row += row_stride)
    static_cast<uint64_t*>(acc)[r] += integer_row(reinterpret_cast<const T*>(row), n);
}
template <class T>
void integer_columns(void* acc, const void* const* rows, int count, int64_t n) {
  uint64_t* __restrict to = static_cast<uint64_t*>(acc);
  auto row = [&](int k) { return static_cast<const T*>(rows[k]); };
  int k = 0;
  for (; k + 4 <= count; k += 4) {
    const T *a = row(k), *b = row(k + 1), *c = row(k + 2), *d = row(k + 3);
    for (int64_t j = 0; j < n; j++)
      to[j] += static_cast<uint64_t>(a[j]) + static_cast<uint64_t>(b[j]) + static_cast<uint64_t>(c[j]) +
               static_cast<uint64_t>(d[j]);
  }
  for (; k < count; k++)
    for (int64_t j = 0; j < n; j++) to[j] += static_cast<uint64_t>(row(k)[j]);
}

// ---- sums of complex numbers: real and imaginary parts take turns, as pairs of columns
template <class T>
void complex_rows(void* acc, const void* x, int64_t n, int64_t rows, int64_t row_stride) {
  const char* row = static_cast<const char*>(x);
  double* to = static_cast<double*>(acc);
  for (int64_t r = 0; r < rows; r++, row += row_stride, to += 2) {
    const T* p = reinterpret_cast<const T*>(row);
    double lanes[16] = {};
    int64_t i = 0;
    for (; i + 16 <= 2 * n; i += 16)
      for (int k = 0; k < 16; k++) lanes[k] += p[i + k];
    for (; i < 2 * n; i++) lanes[i & 1] += p[i];
    for (int step = 8; step >= 2; step /= 2)
      for (int k = 0; k < step; k++) lanes[k] += lanes[k + step];
    to[0] += lanes[0];
    to[1] += lanes[1];
  }
}
template <class T>
void complex_columns(void* acc, const void* const* rows, int count, int64_t n) {
  float_columns<T>(acc, rows, count, 2 * n);
}

template <class Acc>
void zero_start(void* acc, int64_t n) {
  std::fill_n(static_cast<Acc*>(acc), n, Acc(0));
}
template <class Acc>
void add_combine(void* acc, const void* other, int64_t n) {
  Acc* to = static_cast<Acc*>(acc);
  const Acc* from = static_cast<const Acc*>(other);
  for (int64_t i = 0; i < n; i++) to[i] += from[i];
}

template <class T>
constexpr ReduceInner sum_functions() {
  if constexpr (kVector<T>)
    return {kDouble, &zero_start<double>, &float_rows<T>, &float_columns<T>, &add_combine<double>};
  else if constexpr (std::is_same_v<T, bool>)
    return sum_functions<uint8_t>();  // 0 or 1, and vectors know bytes
  else if constexpr (std::is_integral_v<T>)
    return {kLong, &zero_start<uint64_t>, &integer_rows<T>, &integer_columns<T>, &add_combine<uint64_t>};
  else
    return {kComplexDouble, &zero_start<std::complex<double>>, &complex_rows<typename T::value_type>,
            &complex_columns<typename T::value_type>, &add_combine<std::complex<double>>};
}

// ---- maxima and minima; a nan wins and stays
template <bool Min, class T>
bool beats(T x, T best) {
  return Min ? x < best : x > best;
}
template <bool Min, class T>
T better(T best, T x) {
  if constexpr (std::is_floating_point_v<T>)
    return beats<Min>(x, best) || x != x ? x : best;
  else
    return beats<Min>(x, best) ? x : best;
}
// What everything beats or equals.
template <bool Min, class T>
constexpr T worst() {
  if constexpr (std::is_floating_point_v<T>)
    return Min ? std::numeric_limits<T>::infinity() : -std::numeric_limits<T>::infinity();
  else
    return Min ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest();
}

template <bool Min, class T>
Lane<T> best_of_row(const T* x, int64_t n) {
  using L = Lane<T>;
  L best = worst<Min, L>();
  int64_t i = 0;
  const hn::ScalableTag<std::conditional_t<kVector<T>, L, float>> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  if (kVector<T> && n >= lanes) {
    if constexpr (kVector<T>) {
      auto pick = [&](auto m, auto v) HWY_ATTR {
        return hn::IfThenElse(hn::Or(Min ? hn::Lt(v, m) : hn::Gt(v, m), hn::IsNaN(v)), v, m);
      };
      auto a = hn::Set(d, best), b = a, c = a, e = a;
      for (; i + 4 * lanes <= n; i += 4 * lanes) {
        a = pick(a, load(d, x + i));
        b = pick(b, load(d, x + i + lanes));
        c = pick(c, load(d, x + i + 2 * lanes));
        e = pick(e, load(d, x + i + 3 * lanes));
      }
      for (; i + lanes <= n; i += lanes) a = pick(a, load(d, x + i));
      a = pick(pick(a, b), pick(c, e));
      best = !hn::AllFalse(d, hn::IsNaN(a)) ? std::numeric_limits<L>::quiet_NaN()
             : Min                          ? hn::GetLane(hn::MinOfLanes(d, a))
                                            : hn::GetLane(hn::MaxOfLanes(d, a));
    }
  }
  for (; i < n; i++) best = better<Min>(best, static_cast<L>(x[i]));
  return best;
}
template <bool Min, class T>
void best_rows(void* acc, const void* x, int64_t n, int64_t rows, int64_t row_stride) {
  const char* row = static_cast<const char*>(x);
  Lane<T>* to = static_cast<Lane<T>*>(acc);
  for (int64_t i = 0; i < rows; i++, row += row_stride)
    to[i] = better<Min>(to[i], best_of_row<Min>(reinterpret_cast<const T*>(row), n));
}
template <bool Min, class T>
void best_columns(void* acc, const void* const* rows, int count, int64_t n) {
  Lane<T>* __restrict to = static_cast<Lane<T>*>(acc);
  int64_t from = 0;
  if constexpr (kVector<T>) {
    const hn::ScalableTag<Lane<T>> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    for (; from + lanes <= n; from += lanes) {
      auto m = hn::LoadU(d, to + from);
      for (int k = 0; k < count; k++) {
        auto v = load(d, static_cast<const T*>(rows[k]) + from);
        m = hn::IfThenElse(hn::Or(Min ? hn::Lt(v, m) : hn::Gt(v, m), hn::IsNaN(v)), v, m);
      }
      hn::StoreU(m, d, to + from);
    }
  }
  for (int k = 0; k < count; k++) {
    const T* row = static_cast<const T*>(rows[k]);
    for (int64_t j = from; j < n; j++) to[j] = better<Min>(to[j], static_cast<Lane<T>>(row[j]));
  }
}
template <class Acc, Acc first>
void constant_start(void* acc, int64_t n) {
  std::fill_n(static_cast<Acc*>(acc), n, first);
}
template <bool Min, class Acc>
void worst_start(void* acc, int64_t n) {
  std::fill_n(static_cast<Acc*>(acc), n, worst<Min, Acc>());
}
template <bool Min, class Acc>
void best_combine(void* acc, const void* other, int64_t n) {
  Acc* to = static_cast<Acc*>(acc);
  const Acc* from = static_cast<const Acc*>(other);
  for (int64_t i = 0; i < n; i++) to[i] = better<Min>(to[i], from[i]);
}

template <bool Min, class T>
constexpr ReduceInner best_functions() {
  if constexpr (is_complex(dtype_of<T>))
    return {};
  else if constexpr (std::is_same_v<T, bool>)  // of nothing: all are true, none is
    return {kBool,
            &constant_start < uint8_t,
            Min ? 1 : 0 >
            , &best_rows<Min, uint8_t>, &best_columns<Min, uint8_t>, &best_combine<Min, uint8_t>};
  else
    return {dtype_of<Lane<T>>, &worst_start<Min, Lane<T>>, &best_rows<Min, T>, &best_columns<Min, T>,
            &best_combine<Min, Lane<T>>};
}

// ---- maxima and minima with their places, many lines side by side; nan wins, of equals the first
template <bool Min, class T>
void best_index_columns(void* values, int32_t* indices, const void* row, int32_t i, int64_t n) {
  using L = Lane<T>;
  L* __restrict best = static_cast<L*>(values);
  int32_t* __restrict index = indices;
  const T* __restrict x = static_cast<const T*>(row);
  for (int64_t j = 0; j < n; j++) {
    L v = static_cast<L>(x[j]), b = best[j];
    bool wins = beats<Min>(v, b);
    if constexpr (std::is_floating_point_v<L>) wins = wins | ((v != v) & (b == b));
    best[j] = wins ? v : b;
    index[j] = wins ? i : index[j];
  }
}
template <bool Min>
BestIndexColumns index_function(DType read) {
  return dispatch(read, [](auto* p) -> BestIndexColumns {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (is_complex(dtype_of<T>))
      return nullptr;
    else if constexpr (std::is_same_v<T, bool>)
      return &best_index_columns<Min, uint8_t>;
    else
      return &best_index_columns<Min, T>;
  });
}
BestIndexColumns find_max_index(DType read) { return index_function<false>(read); }
BestIndexColumns find_min_index(DType read) { return index_function<true>(read); }

const ReduceInner& find_sum(DType read) {
  return dispatch(read, [](auto* p) -> const ReduceInner& {
    static constexpr ReduceInner inner = sum_functions<std::remove_pointer_t<decltype(p)>>();
    return inner;
  });
}
template <bool Min>
const ReduceInner& best_inner(DType read) {
  return dispatch(read, [](auto* p) -> const ReduceInner& {
    static constexpr ReduceInner inner = best_functions<Min, std::remove_pointer_t<decltype(p)>>();
    return inner;
  });
}
const ReduceInner& find_max(DType read) { return best_inner<false>(read); }
const ReduceInner& find_min(DType read) { return best_inner<true>(read); }

}  // namespace cresset::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cresset::cpu {
HWY_EXPORT(find_sum);
HWY_EXPORT(find_max);
HWY_EXPORT(find_min);
HWY_EXPORT(find_max_index);
HWY_EXPORT(find_min_index);

BestIndexColumns max_index_columns(DType read) {
  choose_simd_target();
  return HWY_DYNAMIC_DISPATCH(find_max_index)(read);
}
BestIndexColumns min_index_columns(DType read) {
  choose_simd_target();
  return HWY_DYNAMIC_DISPATCH(find_min_index)(read);
}

// Filled on first use.
using InnerTable = std::atomic<const ReduceInner*>[kDTypes];
static constinit InnerTable sum_table = {}, max_table = {}, min_table = {};

template <class Find>
static const ReduceInner& inner_of(InnerTable& table, DType read, const Find& find) {
  auto& slot = table[static_cast<int>(read)];
  const ReduceInner* found = slot.load(std::memory_order_relaxed);
  if (CRESSET_UNLIKELY(!found)) {
    choose_simd_target();
    found = &find();
    slot.store(found, std::memory_order_relaxed);
  }
  return *found;
}
const ReduceInner& sum_inner(DType read) {
  return inner_of(sum_table, read, [&]() -> const ReduceInner& { return HWY_DYNAMIC_DISPATCH(find_sum)(read); });
}
const ReduceInner& max_inner(DType read) {
  return inner_of(max_table, read, [&]() -> const ReduceInner& { return HWY_DYNAMIC_DISPATCH(find_max)(read); });
}
const ReduceInner& min_inner(DType read) {
  return inner_of(min_table, read, [&]() -> const ReduceInner& { return HWY_DYNAMIC_DISPATCH(find_min)(read); });
}

}  // namespace cresset::cpu
#endif
