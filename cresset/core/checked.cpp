#include "cresset/core/checked.h"

#include <limits>

#include "cresset/core/error.h"
#include "cresset/core/shape.h"

namespace cresset {
namespace {

[[noreturn]] void beyond(const char* op, const char* what, std::initializer_list<int64_t> numbers) {
  throw ShapeError(message_of(op, ": the ", what, " of ", text_of(IntArrayRef(numbers)),
                              " is a size that overflows (expected sizes up to ", std::numeric_limits<int64_t>::max(),
                              ")"));
}

bool fits(Wide value) {
  return value >= std::numeric_limits<int64_t>::min() && value <= std::numeric_limits<int64_t>::max();
}

}  // namespace

int64_t checked_product(const char* op, std::initializer_list<int64_t> factors) {
  int64_t product = 1;
  bool wraps = false;
  for (int64_t factor : factors) {
    if (factor == 0) return 0;
    wraps = wraps || __builtin_mul_overflow(product, factor, &product);
  }
  if (CRESSET_UNLIKELY(wraps)) beyond(op, "product", factors);
  return product;
}

int64_t checked_sum(const char* op, std::initializer_list<int64_t> terms) {
  Wide sum = 0;
  for (int64_t term : terms) sum += term;
  if (CRESSET_UNLIKELY(!fits(sum))) beyond(op, "sum", terms);
  return static_cast<int64_t>(sum);
}

int64_t checked_size(const char* op, Wide value) {
  CRESSET_CHECK_AS(ShapeError, fits(value), op, ": found a size of ", value < 0 ? "-" : "", "2^63 or more",
                   " (expected sizes up to ", std::numeric_limits<int64_t>::max(), ")");
  return static_cast<int64_t>(value);
}

}  // namespace cresset
