// Factories of random tensors: an empty tensor, filled in place.
#include <limits>

#include "cresset/ops/creation.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/random.h"

namespace cresset {
namespace {

using OptionalGenerator = std::optional<Generator>;

Tensor unfilled(IntArrayRef size, const TensorOptions& options, DType dtype) {
  check_strided("random creation", options);
  return empty_contiguous(size, options.dtype_opt().value_or(dtype), options.device());
}
Tensor finished(Tensor y, const TensorOptions& options) {
  if (options.requires_grad()) y.requires_grad_();
  return y;
}
Tensor unfilled_like(const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> format) {
  return empty_like(self.detach(), options.requires_grad(false), format);
}

}  // namespace

#define CRESSET_FACTORY(name, overload, parameters, arguments, text, doc, ...) \
  CRESSET_OP(name, overload, Tensor, parameters, text, Gradient::none, doc)    \
  Tensor name parameters try {                                                 \
    CRESSET_INTERCEPT(name, overload, Tensor, CRESSET_EXPAND arguments);       \
    return finished(__VA_ARGS__, options);                                     \
  }                                                                            \
  CRESSET_ERRORS_OF(name, overload, CRESSET_EXPAND arguments)

CRESSET_FACTORY(rand, , (IntArrayRef size, const TensorOptions& options), (size, options), "size, options={}",
                "Numbers drawn evenly from [0, 1).", uniform_(unfilled(size, options, default_dtype())))
CRESSET_FACTORY(rand, generator, (IntArrayRef size, OptionalGenerator generator, const TensorOptions& options),
                (size, generator, options), "size, generator, options={}", "Numbers drawn evenly from [0, 1).",
                uniform_(unfilled(size, options, default_dtype()), 0, 1, generator))
CRESSET_FACTORY(randn, , (IntArrayRef size, const TensorOptions& options), (size, options), "size, options={}",
                "Normally distributed numbers, mean 0 and variance 1.",
                normal_(unfilled(size, options, default_dtype())))
CRESSET_FACTORY(randn, generator, (IntArrayRef size, OptionalGenerator generator, const TensorOptions& options),
                (size, generator, options), "size, generator, options={}",
                "Normally distributed numbers, mean 0 and variance 1.",
                normal_(unfilled(size, options, default_dtype()), 0, 1, generator))
CRESSET_FACTORY(randint, , (int64_t high, IntArrayRef size, const TensorOptions& options), (high, size, options),
                "high, size, options={}", "Integers from [0, high); int64 if no dtype is given.",
                random_(unfilled(size, options, kLong), 0, high))
CRESSET_FACTORY(randint, generator,
                (int64_t high, IntArrayRef size, OptionalGenerator generator, const TensorOptions& options),
                (high, size, generator, options), "high, size, generator, options={}",
                "Integers from [0, high); int64 if no dtype is given.",
                random_(unfilled(size, options, kLong), 0, high, generator))
CRESSET_FACTORY(randint, low, (int64_t low, int64_t high, IntArrayRef size, const TensorOptions& options),
                (low, high, size, options), "low, high, size, options={}",
                "Integers from [low, high); int64 if no dtype is given.",
                random_(unfilled(size, options, kLong), low, high))
CRESSET_FACTORY(randint, low_generator,
                (int64_t low, int64_t high, IntArrayRef size, OptionalGenerator generator,
                 const TensorOptions& options),
                (low, high, size, generator, options), "low, high, size, generator, options={}",
                "Integers from [low, high); int64 if no dtype is given.",
                random_(unfilled(size, options, kLong), low, high, generator))

CRESSET_FACTORY(rand_like, ,
                (const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> memory_format),
                (self, options, memory_format), "self, options={}, memory_format=std::nullopt",
                "rand with self's shape, dtype, device and layout.",
                uniform_(unfilled_like(self, options, memory_format)))
CRESSET_FACTORY(randn_like, ,
                (const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> memory_format),
                (self, options, memory_format), "self, options={}, memory_format=std::nullopt",
                "randn with self's shape, dtype, device and layout.",
                normal_(unfilled_like(self, options, memory_format)))
CRESSET_FACTORY(randint_like, ,
                (const Tensor& self, int64_t high, const TensorOptions& options,
                 std::optional<MemoryFormat> memory_format),
                (self, high, options, memory_format), "self, high, options={}, memory_format=std::nullopt",
                "randint with self's shape, dtype, device and layout.",
                random_(unfilled_like(self, options, memory_format), 0, high))
CRESSET_FACTORY(randint_like, low,
                (const Tensor& self, int64_t low, int64_t high, const TensorOptions& options,
                 std::optional<MemoryFormat> memory_format),
                (self, low, high, options, memory_format), "self, low, high, options={}, memory_format=std::nullopt",
                "randint with self's shape, dtype, device and layout.",
                random_(unfilled_like(self, options, memory_format), low, high))

// ---- randperm
static Tensor randperm_into(const Into& into, int64_t n, const OptionalGenerator& given, DType dtype, Device device) {
  CRESSET_CHECK_AS(ValueError, n >= 0, "randperm: n must be non-negative, found ", n);
  Tensor y = result("randperm", into, {n}, dtype, device);
  int64_t most = dispatch(y.dtype(), [](auto* p) -> int64_t {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (is_complex(dtype_of<T>))
      return -1;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<int64_t>(std::numeric_limits<T>::max());
    else
      return int64_t{1} << std::numeric_limits<T>::digits;
  });
  CRESSET_CHECK_AS(ValueError, n - 1 <= most, "randperm: n is too large for result tensor type: '", y.toString(),
                   "' holds 0 to ", most, ", found n=", n);
  if (n < 2) {
    if (n == 1) y.zero_();
    return not_differentiable(into, y);
  }
  Generator generator = given.value_or(default_generator());
  PhiloxCursor at = y.is_meta() ? PhiloxCursor{} : generator.reserve(static_cast<uint64_t>(n + 1) / 2);
  randperm_kernel(y, at);
  return not_differentiable(into, y);
}
static Tensor permutation(int64_t n, const OptionalGenerator& given, const TensorOptions& options) {
  return randperm_into(Into{}, n, given, options.dtype_opt().value_or(kLong), options.device());
}
CRESSET_FACTORY(randperm, , (int64_t n, const TensorOptions& options), (n, options), "n, options={}",
                "The integers from 0 to n - 1 in random order.", permutation(n, std::nullopt, options))
CRESSET_FACTORY(randperm, generator, (int64_t n, OptionalGenerator generator, const TensorOptions& options),
                (n, generator, options), "n, generator, options={}", "The integers from 0 to n - 1 in random order.",
                permutation(n, generator, options))

// ---- out forms
static Tensor rand_into(const Into& into, IntArrayRef size, const OptionalGenerator& generator, DType dtype,
                        Device device) {
  return uniform_(result("rand", into, size, dtype, device), 0, 1, generator);
}
static Tensor randn_into(const Into& into, IntArrayRef size, const OptionalGenerator& generator, DType dtype,
                         Device device) {
  return normal_(result("randn", into, size, dtype, device), 0, 1, generator);
}
static Tensor randint_into(const Into& into, int64_t low, int64_t high, IntArrayRef size,
                           const OptionalGenerator& generator, DType dtype, Device device) {
  return random_(result("randint", into, size, dtype, device), low, high, generator);
}
CRESSET_CREATION_OUT(rand, , (IntArrayRef size), (size), "size", "Numbers drawn evenly from [0, 1).", size, {})
CRESSET_CREATION_OUT(rand, generator, (IntArrayRef size, OptionalGenerator generator), (size, generator),
                     "size, generator", "Numbers drawn evenly from [0, 1).", size, generator)
CRESSET_CREATION_OUT(randn, , (IntArrayRef size), (size), "size",
                     "Normally distributed numbers, mean 0 and variance 1.", size, {})
CRESSET_CREATION_OUT(randn, generator, (IntArrayRef size, OptionalGenerator generator), (size, generator),
                     "size, generator", "Normally distributed numbers, mean 0 and variance 1.", size, generator)
CRESSET_CREATION_OUT(randint, , (int64_t high, IntArrayRef size), (high, size), "high, size",
                     "Integers from [0, high).", 0, high, size, {})
CRESSET_CREATION_OUT(randint, generator, (int64_t high, IntArrayRef size, OptionalGenerator generator),
                     (high, size, generator), "high, size, generator", "Integers from [0, high).", 0, high, size,
                     generator)
CRESSET_CREATION_OUT(randint, low, (int64_t low, int64_t high, IntArrayRef size), (low, high, size), "low, high, size",
                     "Integers from [low, high).", low, high, size, {})
CRESSET_CREATION_OUT(randint, low_generator, (int64_t low, int64_t high, IntArrayRef size, OptionalGenerator generator),
                     (low, high, size, generator), "low, high, size, generator", "Integers from [low, high).", low,
                     high, size, generator)
CRESSET_CREATION_OUT(randperm, , (int64_t n), (n), "n", "The integers from 0 to n - 1 in random order.", n, {})
CRESSET_CREATION_OUT(randperm, generator, (int64_t n, OptionalGenerator generator), (n, generator), "n, generator",
                     "The integers from 0 to n - 1 in random order.", n, generator)

}  // namespace cresset
