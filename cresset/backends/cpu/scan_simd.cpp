// Running sums for each instruction set. A single chain of additions waits for each of them, so eight parts of a piece
// run at once, from sums that vectors take first.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cresset/backends/cpu/scan_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/highway.h>

#include "cresset/backends/cpu/pointwise_simd.h"
#include "cresset/backends/cpu/scan_simd.h"

HWY_BEFORE_NAMESPACE();
namespace cresset::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
double sum(const T* x, int64_t n) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<T, decltype(d)> from;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto wide = [&](int64_t i) HWY_ATTR {
    if constexpr (std::is_same_v<T, float>)
      return hn::PromoteTo(d, hn::LoadU(from, x + i));
    else
      return hn::LoadU(d, x + i);
  };
  auto a = hn::Zero(d), b = a, c = a, e = a;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a = hn::Add(a, wide(i));
    b = hn::Add(b, wide(i + lanes));
    c = hn::Add(c, wide(i + 2 * lanes));
    e = hn::Add(e, wide(i + 3 * lanes));
  }
  double rest = 0;
  for (; i < n; i++) rest += x[i];
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e)))) + rest;
}

template <class T>
void scan(T* y, const T* x, int64_t n, double before) {
  constexpr int64_t kParts = 8;
  const int64_t part = n / kParts;
  double state[kParts];
  for (int64_t k = 0; k < kParts; k++) {
    state[k] = before;
    if (k + 1 < kParts) before += sum(x + k * part, part);
  }
  double s0 = state[0], s1 = state[1], s2 = state[2], s3 = state[3];
  double s4 = state[4], s5 = state[5], s6 = state[6], s7 = state[7];
  auto step = [](double& s, const T& from, T& to) { to = static_cast<T>(s += from); };
  for (int64_t i = 0; i < part; i++) {
    step(s0, x[i], y[i]);
    step(s1, x[part + i], y[part + i]);
    step(s2, x[2 * part + i], y[2 * part + i]);
    step(s3, x[3 * part + i], y[3 * part + i]);
    step(s4, x[4 * part + i], y[4 * part + i]);
    step(s5, x[5 * part + i], y[5 * part + i]);
    step(s6, x[6 * part + i], y[6 * part + i]);
    step(s7, x[7 * part + i], y[7 * part + i]);
  }
  for (int64_t i = kParts * part; i < n; i++) step(s7, x[i], y[i]);
}

template <class T>
const ScanInner<T>& functions() {
  static constexpr ScanInner<T> list{&sum<T>, &scan<T>};
  return list;
}
const ScanInner<float>& float_functions() { return functions<float>(); }
const ScanInner<double>& double_functions() { return functions<double>(); }

}  // namespace cresset::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cresset::cpu {
HWY_EXPORT(float_functions);
HWY_EXPORT(double_functions);

template <>
const ScanInner<float>& scan_inner<float>() {
  choose_simd_target();
  return HWY_DYNAMIC_DISPATCH(float_functions)();
}
template <>
const ScanInner<double>& scan_inner<double>() {
  choose_simd_target();
  return HWY_DYNAMIC_DISPATCH(double_functions)();
}

}  // namespace cresset::cpu
#endif
