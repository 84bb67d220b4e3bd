// Activations and their slopes, with Highway's exp, expm1 and log1p. What is left at the end of an array goes through
// the same vector code, so that a value does not depend on where it stands.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cresset/backends/cpu/activation_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "cresset/backends/cpu/activation_simd.h"
#include "cresset/backends/cpu/pointwise_simd.h"

HWY_BEFORE_NAMESPACE();
namespace cresset::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
using V = hn::Vec<D>;
template <class D>
V<D> number(D d, double x) {
  return hn::Set(d, static_cast<hn::TFromD<D>>(x));
}
template <class D>
V<D> one(D d) {
  return number(d, 1);
}
// nan where v is, whatever `otherwise` says.
template <class D>
V<D> unless_nan(V<D> v, V<D> otherwise) {
  return hn::IfThenElse(hn::IsNaN(v), v, otherwise);
}

// Highway's Exp is wrong far below zero and at nan.
template <class D>
V<D> exp_of(D d, V<D> v) {
  constexpr bool narrow = sizeof(hn::TFromD<D>) == 4;
  const V<D> top = number(d, narrow ? 88.72283905206835 : 709.782712893384), bottom = number(d, narrow ? -87.3 : -708);
  V<D> e = hn::Exp(d, hn::Max(hn::Min(v, top), bottom));
  e = hn::IfThenElse(hn::Gt(v, top), number(d, std::numeric_limits<double>::infinity()), e);
  return unless_nan<D>(v, hn::IfThenElse(hn::Lt(v, bottom), hn::Zero(d), e));
}
// exp(v) - 1 for v <= 0.
template <class D>
V<D> expm1_below(D d, V<D> v) {
  return unless_nan<D>(v, hn::Expm1(d, hn::Max(v, number(d, -80))));
}
// log(1 + v) for v >= 0.
template <class D>
V<D> log1p_of(D d, V<D> v) {
  V<D> finite = hn::Min(v, number(d, static_cast<double>(std::numeric_limits<hn::TFromD<D>>::max())));
  return unless_nan<D>(v, hn::IfThenElse(hn::Gt(v, finite), v, hn::Log1p(d, finite)));
}
template <class D>
V<D> tanh_of(D d, V<D> v) {
  V<D> small = hn::Min(hn::Abs(v), number(d, 22));
  return unless_nan<D>(v, hn::CopySign(hn::Tanh(d, small), v));
}
template <class D>
V<D> sigmoid_of(D d, V<D> v) {
  return hn::Div(one(d), hn::Add(one(d), exp_of(d, hn::Neg(v))));
}
template <class D>
V<D> hard_sigmoid_of(D d, V<D> x) {
  V<D> y = hn::Mul(hn::Add(x, number(d, 3)), number(d, 1.0 / 6));
  y = hn::IfThenElse(hn::Le(x, number(d, -3)), hn::Zero(d), y);
  return hn::IfThenElse(hn::Ge(x, number(d, 3)), one(d), y);
}

// Each has call(d, p, inputs…), where p are the three numbers.
struct LeakyRelu {
  template <class D>
  static V<D> call(D d, const V<D>* p, V<D> x) {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::Mul(x, p[0]));
  }
};
struct LeakyReluBackward {
  template <class D>
  static V<D> call(D d, const V<D>* p, V<D> g, V<D> x) {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), g, hn::Mul(g, p[0]));
  }
};
struct Elu {
  template <class D>
  static V<D> call(D d, const V<D>* p, V<D> x) {
    V<D> z = hn::Mul(x, p[2]), grown;
    if (hn::GetLane(p[2]) < 0) {  // rises again to the left
      z = hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Zero(d), z);
      grown = hn::IfThenElse(hn::Gt(z, one(d)), hn::Sub(exp_of(d, z), one(d)), hn::Expm1(d, hn::Min(z, one(d))));
    } else {
      grown = expm1_below(d, hn::Min(z, hn::Zero(d)));
    }
    V<D> low = hn::Mul(hn::Mul(p[0], p[1]), grown);
    return unless_nan<D>(x, hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Mul(x, p[1]), low));
  }
};
struct EluBackward {
  template <class D>
  static V<D> call(D d, const V<D>* p, V<D> g, V<D> x) {
    V<D> slope = hn::Mul(hn::Mul(hn::Mul(p[0], p[1]), p[2]), exp_of(d, hn::Mul(x, p[2])));
    return hn::Mul(g, hn::IfThenElse(hn::Le(x, hn::Zero(d)), slope, p[1]));
  }
};
struct EluBackwardFromResult {
  template <class D>
  static V<D> call(D d, const V<D>* p, V<D> g, V<D> y) {
    V<D> slope = hn::Mul(p[2], hn::Add(y, hn::Mul(p[0], p[1])));
    return hn::Mul(g, hn::IfThenElse(hn::Le(y, hn::Zero(d)), slope, p[1]));
  }
};
struct Softplus {
  template <class D>
  static V<D> call(D d, const V<D>* p, V<D> x) {
    V<D> z = hn::Mul(x, p[0]);
    return hn::IfThenElse(hn::Gt(z, p[1]), x, hn::Div(log1p_of(d, exp_of(d, z)), p[0]));
  }
};
struct SoftplusBackward {
  template <class D>
  static V<D> call(D d, const V<D>* p, V<D> g, V<D> x) {
    V<D> z = hn::Mul(x, p[0]);
    return hn::IfThenElse(hn::Gt(z, p[1]), g, hn::Mul(g, sigmoid_of(d, z)));
  }
};
struct LogSigmoid {
  template <class D>
  static V<D> call(D d, const V<D>*, V<D> x) {
    V<D> low = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), x, hn::Zero(d));
    return unless_nan<D>(x, hn::Sub(low, log1p_of(d, exp_of(d, hn::Neg(hn::Abs(x))))));
  }
};
struct LogSigmoidBackward {
  template <class D>
  static V<D> call(D d, const V<D>*, V<D> g, V<D> x) {
    return hn::Mul(g, sigmoid_of(d, hn::Neg(x)));
  }
};
// With e = exp(x) and n = e * (e + 2): tanh(softplus(x)) = n / (n + 2). Beyond 20 it is 1.
struct Mish {
  template <class D>
  static V<D> call(D d, const V<D>*, V<D> x) {
    V<D> e = exp_of(d, hn::Min(x, number(d, 20))), n = hn::Mul(e, hn::Add(e, number(d, 2)));
    V<D> t = hn::IfThenElse(hn::Gt(x, number(d, 20)), one(d), hn::Div(n, hn::Add(n, number(d, 2))));
    return unless_nan<D>(x, hn::Mul(x, t));
  }
};
// t + x * sigmoid(x) * (1 - t^2), where the last two are 4 * e * (1 + e) / (n + 2)^2.
struct MishBackward {
  template <class D>
  static V<D> call(D d, const V<D>*, V<D> g, V<D> x) {
    const V<D> two = number(d, 2), limit = number(d, 20);
    V<D> e = exp_of(d, hn::Min(x, limit)), n = hn::Mul(e, hn::Add(e, two)), m = hn::Add(n, two);
    V<D> bend = hn::Div(hn::Mul(hn::Mul(number(d, 4), e), hn::Add(e, one(d))), hn::Mul(m, m));
    V<D> slope = hn::MulAdd(hn::Max(x, number(d, -1e4)), bend, hn::Div(n, m));
    slope = hn::IfThenElse(hn::Gt(x, limit), one(d), slope);
    return hn::Mul(g, unless_nan<D>(x, slope));
  }
};
struct Softsign {
  template <class D>
  static V<D> call(D d, const V<D>*, V<D> x) {
    return hn::Div(x, hn::Add(one(d), hn::Abs(x)));
  }
};
struct SoftsignBackward {
  template <class D>
  static V<D> call(D d, const V<D>*, V<D> g, V<D> x) {
    V<D> r = hn::Div(one(d), hn::Add(one(d), hn::Abs(x)));
    return hn::Mul(g, hn::Mul(r, r));
  }
};
struct Tanhshrink {
  template <class D>
  static V<D> call(D d, const V<D>*, V<D> x) {
    return hn::Sub(x, tanh_of(d, x));
  }
};
struct TanhshrinkBackward {
  template <class D>
  static V<D> call(D d, const V<D>*, V<D> g, V<D> x) {
    V<D> t = tanh_of(d, x);
    return hn::Mul(g, hn::Mul(t, t));
  }
};
struct HardSigmoid {
  template <class D>
  static V<D> call(D d, const V<D>*, V<D> x) {
    return hard_sigmoid_of(d, x);
  }
};
struct HardSigmoidBackward {
  template <class D>
  static V<D> call(D d, const V<D>*, V<D> g, V<D> x) {
    auto sloped = hn::And(hn::Gt(x, number(d, -3)), hn::Lt(x, number(d, 3)));
    return hn::IfThenElseZero(sloped, hn::Mul(g, number(d, 1.0 / 6)));
  }
};
struct HardSwish {
  template <class D>
  static V<D> call(D d, const V<D>*, V<D> x) {
    return hn::Mul(x, hard_sigmoid_of(d, x));  // nan at -inf, as in PyTorch
  }
};
struct HardSwishBackward {
  template <class D>
  static V<D> call(D d, const V<D>*, V<D> g, V<D> x) {
    V<D> slope = hn::MulAdd(x, number(d, 1.0 / 3), number(d, 0.5));
    V<D> y = hn::IfThenElse(hn::Lt(x, number(d, 3)), hn::Mul(g, slope), g);
    return hn::IfThenElse(hn::Lt(x, number(d, -3)), hn::Zero(d), y);
  }
};
struct HardShrink {
  template <class D>
  static V<D> call(D d, const V<D>* p, V<D> x) {
    auto zero = hn::And(hn::Ge(x, hn::Neg(p[0])), hn::Le(x, p[0]));
    return hn::IfThenElse(zero, hn::Zero(d), x);
  }
};
struct SoftShrink {
  template <class D>
  static V<D> call(D d, const V<D>* p, V<D> x) {
    V<D> low = hn::Neg(p[0]);
    V<D> y = hn::IfThenElse(hn::Lt(x, low), hn::Add(x, p[0]), hn::Zero(d));
    return hn::IfThenElse(hn::Gt(x, p[0]), hn::Sub(x, p[0]), y);  // 0 at nan, as in PyTorch
  }
};
struct ShrinkBackward {
  template <class D>
  static V<D> call(D d, const V<D>* p, V<D> g, V<D> x) {
    auto zero = hn::And(hn::Ge(x, hn::Neg(p[0])), hn::Le(x, p[0]));
    return hn::IfThenElse(zero, hn::Zero(d), g);
  }
};
struct ThresholdBackward {
  template <class D>
  static V<D> call(D d, const V<D>* p, V<D> g, V<D> x) {
    return hn::IfThenElse(hn::Le(x, p[0]), hn::Zero(d), g);
  }
};
struct Prelu {
  template <class D>
  static V<D> call(D d, const V<D>*, V<D> x, V<D> weight) {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::Mul(weight, x));
  }
};
struct PreluBackward {
  template <class D>
  static V<D> call(D d, const V<D>*, V<D> g, V<D> x, V<D> weight) {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), g, hn::Mul(weight, g));
  }
};
struct PreluBackwardWeight {
  template <class D>
  static V<D> call(D d, const V<D>*, V<D> g, V<D> x) {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Zero(d), hn::Mul(g, x));
  }
};
struct Glu {
  template <class D>
  static V<D> call(D d, const V<D>*, V<D> a, V<D> b) {
    return hn::Mul(a, sigmoid_of(d, b));
  }
};
struct GluBackwardSecond {
  template <class D>
  static V<D> call(D d, const V<D>*, V<D> g, V<D> a, V<D> b) {
    V<D> s = sigmoid_of(d, b);
    return hn::Mul(hn::Mul(g, a), hn::Mul(s, hn::Sub(one(d), s)));
  }
};

template <class F, class T, int inputs>
void map(void* out, const void* const* in, int64_t n, const void* constant) {
  const hn::ScalableTag<T> d;
  using D = decltype(d);
  using Plain = std::remove_const_t<D>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  T numbers[3] = {};
  if (constant) std::copy_n(static_cast<const T*>(constant), 3, numbers);
  const V<Plain> p[3] = {hn::Set(d, numbers[0]), hn::Set(d, numbers[1]), hn::Set(d, numbers[2])};
  auto call = [&](const T* a, const T* b, const T* c) {
    if constexpr (inputs == 1)
      return F::template call<Plain>(d, p, hn::LoadU(d, a));
    else if constexpr (inputs == 2)
      return F::template call<Plain>(d, p, hn::LoadU(d, a), hn::LoadU(d, b));
    else
      return F::template call<Plain>(d, p, hn::LoadU(d, a), hn::LoadU(d, b), hn::LoadU(d, c));
  };
  T* y = static_cast<T*>(out);
  const T *a = static_cast<const T*>(in[0]), *b = inputs > 1 ? static_cast<const T*>(in[1]) : a,
          *c = inputs > 2 ? static_cast<const T*>(in[2]) : a;
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(call(a + i, b + i, c + i), d, y + i);
  if (i == n) return;
  T rest[3][64] = {};
  std::copy(a + i, a + n, rest[0]);
  std::copy(b + i, b + n, rest[1]);
  std::copy(c + i, c + n, rest[2]);
  hn::StoreU(call(rest[0], rest[1], rest[2]), d, rest[0]);
  std::copy(rest[0], rest[0] + (n - i), y + i);
}

template <class T>
InnerFunction find_typed(ActivationOp op) {
  switch (op) {
    case ActivationOp::leaky_relu:
      return &map<LeakyRelu, T, 1>;
    case ActivationOp::leaky_relu_backward:
      return &map<LeakyReluBackward, T, 2>;
    case ActivationOp::elu:
      return &map<Elu, T, 1>;
    case ActivationOp::elu_backward:
      return &map<EluBackward, T, 2>;
    case ActivationOp::elu_backward_from_result:
      return &map<EluBackwardFromResult, T, 2>;
    case ActivationOp::softplus:
      return &map<Softplus, T, 1>;
    case ActivationOp::softplus_backward:
      return &map<SoftplusBackward, T, 2>;
    case ActivationOp::log_sigmoid:
      return &map<LogSigmoid, T, 1>;
    case ActivationOp::log_sigmoid_backward:
      return &map<LogSigmoidBackward, T, 2>;
    case ActivationOp::mish:
      return &map<Mish, T, 1>;
    case ActivationOp::mish_backward:
      return &map<MishBackward, T, 2>;
    case ActivationOp::softsign:
      return &map<Softsign, T, 1>;
    case ActivationOp::softsign_backward:
      return &map<SoftsignBackward, T, 2>;
    case ActivationOp::tanhshrink:
      return &map<Tanhshrink, T, 1>;
    case ActivationOp::tanhshrink_backward:
      return &map<TanhshrinkBackward, T, 2>;
    case ActivationOp::hardsigmoid:
      return &map<HardSigmoid, T, 1>;
    case ActivationOp::hardsigmoid_backward:
      return &map<HardSigmoidBackward, T, 2>;
    case ActivationOp::hardswish:
      return &map<HardSwish, T, 1>;
    case ActivationOp::hardswish_backward:
      return &map<HardSwishBackward, T, 2>;
    case ActivationOp::hardshrink:
      return &map<HardShrink, T, 1>;
    case ActivationOp::softshrink:
      return &map<SoftShrink, T, 1>;
    case ActivationOp::shrink_backward:
      return &map<ShrinkBackward, T, 2>;
    case ActivationOp::threshold_backward:
      return &map<ThresholdBackward, T, 2>;
    case ActivationOp::prelu:
      return &map<Prelu, T, 2>;
    case ActivationOp::prelu_backward:
      return &map<PreluBackward, T, 3>;
    case ActivationOp::prelu_backward_weight:
      return &map<PreluBackwardWeight, T, 2>;
    case ActivationOp::glu:
    case ActivationOp::glu_backward_first:
      return &map<Glu, T, 2>;
    case ActivationOp::glu_backward_second:
      return &map<GluBackwardSecond, T, 3>;
    case ActivationOp::count:
      break;
  }
  return nullptr;
}
InnerFunction find_activation(ActivationOp op, DType compute) {
  return compute == kDouble ? find_typed<double>(op) : find_typed<float>(op);
}

}  // namespace cresset::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cresset::cpu {
HWY_EXPORT(find_activation);

static constinit std::atomic<InnerFunction> table[static_cast<int>(ActivationOp::count)][2] = {};

InnerFunction activation_simd(ActivationOp op, DType compute) {
  auto& slot = table[static_cast<int>(op)][compute == kDouble];
  InnerFunction found = slot.load(std::memory_order_relaxed);
  if (CRESSET_UNLIKELY(!found)) {
    choose_simd_target();
    found = HWY_DYNAMIC_DISPATCH(find_activation)(op, compute);
    slot.store(found, std::memory_order_relaxed);
  }
  return found;
}

}  // namespace cresset::cpu
#endif
