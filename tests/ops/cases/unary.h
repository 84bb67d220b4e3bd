// What the cases of functions of one number share: references for real and complex numbers from one generic function,
// and samples inside the range where the function can be differentiated.
#pragma once

#include <concepts>

#include "tests/ops/cases/cases.h"

namespace cresset::test {

// f of each element: as a complex number if the samples are complex, as a real one otherwise.
template <class F>
Reference of_one(F f) {
  return [f](const Arguments& in) {
    Array y = in.array(0);
    for (Complex& value : y.values) {
      if constexpr (requires { f(Complex()); })
        value = is_complex(in.dtype) ? Complex(f(value)) : Complex(f(value.real()));
      else
        value = f(value.real());
    }
    return std::vector{y};
  };
}

// unary_samples with their (real parts') values brought from ±2.5 into [low, high]; integers stay. Of inf and nan
// only real ones: what functions of complex infinities give differs from library to library.
Samples samples_between(double low, double high);

// Integers become floating-point numbers; complex ones are refused.
OpCase real_case(const char* name, Reference reference, double low = -2.5, double high = 2.5);
OpCase complex_case(const char* name, Reference reference, double low = -2.5, double high = 2.5);

}  // namespace cresset::test
