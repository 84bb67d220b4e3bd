// One template per operation, one table of all dtypes. A bool is a truth value: SUM and MAX are "or", PRODUCT and MIN
// "and", as PyTorch has it.
#include "cresset/distributed/reduce.h"

#include <cmath>

#include "cresset/core/error.h"

// For GCC; clang finds it out with a test at run time.
#ifdef __clang__
#define CRESSET_NO_DEPENDENCE
#else
#define CRESSET_NO_DEPENDENCE _Pragma("GCC ivdep")
#endif

namespace cresset::distributed {
namespace {

template <class T>
constexpr bool is_half = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
constexpr bool is_complex_type = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

// Integers wrap around, as the ops of Cresset do; in C++ only unsigned ones may.
template <class T>
using Wrapping = typename std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, std::make_unsigned<T>,
                                             std::type_identity<T>>::type;

struct Add {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_same_v<T, bool>)
      return a || b;
    else
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};
struct Multiply {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_same_v<T, bool>) {
      return a && b;
    } else if constexpr (std::is_integral_v<T>) {
      // Small unsigned types would be multiplied as int, which may overflow.
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    } else {
      return a * b;
    }
  }
};
// A nan on either side stays: which rank had it must not matter.
struct Least {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return a != a ? a : (b < a || b != b) ? b : a;
    return b < a ? b : a;
  }
};
struct Greatest {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return a != a ? a : (b > a || b != b) ? b : a;
    return b > a ? b : a;
  }
};
struct And {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

template <class Op, class T>
void combine(void* into, const void* left, const void* right, size_t count) {
  T* out = static_cast<T*>(into);
  const T* a = static_cast<const T*>(left);
  const T* b = static_cast<const T*>(right);
  // `into` may be one of the inputs, element for element: no iteration reads what another writes.
  CRESSET_NO_DEPENDENCE
  for (size_t i = 0; i < count; i++) {
    if constexpr (is_half<T>)
      out[i] = T(Op::template apply<float>(static_cast<float>(a[i]), static_cast<float>(b[i])));
    else
      out[i] = Op::template apply<T>(a[i], b[i]);
  }
}

template <class Op>
Reduction of_any(DType dtype) {
  return dispatch(dtype, [](auto* p) -> Reduction { return combine<Op, std::remove_pointer_t<decltype(p)>>; });
}

template <class Op>
Reduction of_ordered(DType dtype) {
  return dispatch(dtype, [](auto* p) -> Reduction {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (is_complex_type<T>)
      return nullptr;
    else
      return combine<Op, T>;
  });
}

template <class Op>
Reduction of_bits(DType dtype) {
  return dispatch(dtype, [](auto* p) -> Reduction {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (std::is_integral_v<T>)
      return combine<Op, T>;
    else
      return nullptr;
  });
}

template <class T>
void divide_all(T* data, size_t count, int by) {
  if constexpr (is_half<T>) {
    const float divisor = static_cast<float>(by);
    for (size_t i = 0; i < count; i++) data[i] = T(static_cast<float>(data[i]) / divisor);
  } else if constexpr (!std::is_integral_v<T>) {
    const T divisor = static_cast<T>(by);
    for (size_t i = 0; i < count; i++) data[i] /= divisor;
  }
}

}  // namespace

const char* name_of(ReduceOp op) {
  constexpr const char* names[] = {"SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR"};
  return names[static_cast<int>(op)];
}

Reduction reduction_of(ReduceOp op, DType dtype) {
  switch (op) {
    case ReduceOp::SUM:
      return of_any<Add>(dtype);
    case ReduceOp::AVG:
      return is_integral(dtype, true) ? nullptr : of_any<Add>(dtype);
    case ReduceOp::PRODUCT:
      return of_any<Multiply>(dtype);
    case ReduceOp::MIN:
      return of_ordered<Least>(dtype);
    case ReduceOp::MAX:
      return of_ordered<Greatest>(dtype);
    case ReduceOp::BAND:
      return of_bits<And>(dtype);
    case ReduceOp::BOR:
      return of_bits<Or>(dtype);
    case ReduceOp::BXOR:
      return of_bits<Xor>(dtype);
  }
  return nullptr;
}

void divide(void* data, DType dtype, size_t count, int by) {
  dispatch(dtype, [&](auto* p) { divide_all(static_cast<decltype(p)>(data), count, by); });
}

void check_reduction(const char* operation, ReduceOp op, DType dtype) {
  if (reduction_of(op, dtype)) return;
  const char* wanted = op == ReduceOp::AVG                          ? "floating-point or complex numbers"
                       : op == ReduceOp::MIN || op == ReduceOp::MAX ? "numbers that have an order"
                                                                    : "integers or bool";
  throw TypeError(
      message_of(operation, ": ", name_of(op), " of ", cresset::name_of(dtype), " (expected ", wanted, ")"));
}

}  // namespace cresset::distributed
