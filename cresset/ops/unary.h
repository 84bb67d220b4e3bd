// How the many ops of one tensor are written: a line that says what it is called, what its gradient reads, the formula,
// and which numbers it takes. All of them share two kinds of graph node.
#pragma once

#include "cresset/ops/forms.h"
#include "cresset/ops/pointwise.h"

namespace cresset {

enum class Keeps : uint8_t { nothing, x, y };  // what the formula reads: the argument, the result
enum class Integers : uint8_t { become_float, stay, refused };

struct UnaryRule {
  const char* name;
  const char* node;
  Integers integers;
  bool complex, boolean;
  Keeps keeps;
  Tensor (*gradient)(const Tensor& g, const Tensor& kept);
};

// Which numbers an op takes.
inline constexpr struct Numbers {
  Integers integers = Integers::become_float;
  bool complex = false, boolean = true;
} real_numbers, complex_numbers{Integers::become_float, true}, floats_only{Integers::refused, false, false},
    complex_floats_only{Integers::refused, true, false}, integers_stay{Integers::stay, false, false},
    sign_numbers{Integers::stay, false, true}, sgn_numbers{Integers::stay, true, true};

// The type that an op computes in, or an error in PyTorch's words.
DType unary_dtype(const char* op, const Numbers& numbers, DType dtype);
Tensor unary(const UnaryRule& rule, const UnaryKernel& kernel, const Into& into, const Tensor& self);

// Formulas know g, and x or y as said in `keeps`.
#define CRESSET_UNARY_INTO(name, node, keeps, formula, numbers)                                   \
  static Tensor name##_into(const Into& into, const Tensor& self) {                               \
    static constexpr UnaryRule rule{                                                              \
        #name,                                                                                    \
        node "Backward0",                                                                         \
        numbers.integers,                                                                         \
        numbers.complex,                                                                          \
        numbers.boolean,                                                                          \
        Keeps::keeps,                                                                             \
        [](const Tensor& g, [[maybe_unused]] const Tensor& keeps) -> Tensor { return formula; }}; \
    return unary(rule, name##_kernel, into, self);                                                \
  }
#define CRESSET_UNARY(name, node, keeps, formula, numbers, doc)          \
  CRESSET_UNARY_INTO(name, node, keeps, CRESSET_EXPAND formula, numbers) \
  CRESSET_FORMS(name, , (const Tensor& self), (self), "self", doc)
// The special functions have no in-place form.
#define CRESSET_UNARY_OUT(name, node, keeps, formula, numbers, doc)      \
  CRESSET_UNARY_INTO(name, node, keeps, CRESSET_EXPAND formula, numbers) \
  CRESSET_FORMS_OUT(name, , (const Tensor& self), (self), "self", doc)

}  // namespace cresset
