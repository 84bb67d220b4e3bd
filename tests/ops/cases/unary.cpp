// Shared cases of functions of one number.
#include "tests/ops/cases/unary.h"

namespace cresset::test {

Samples samples_between(double low, double high) {
  return [low, high](Make& make) {
    std::vector<Sample> samples;
    for (Sample& sample : unary_samples(make)) {
      bool special = sample.label == "inf and nan";
      if (special && is_complex(make.dtype)) continue;
      if (!special && is_differentiable(make.dtype)) {
        Tensor& x = std::get<Tensor>(sample.arguments[0]);
        if (sample.label == "expanded") continue;
        Array values = read(x);
        for (Complex& value : values.values) value = {low + (value.real() + 2.5) / 5 * (high - low), value.imag()};
        write(x, values);
      }
      samples.push_back(sample);
    }
    return samples;
  };
}

OpCase real_case(const char* name, Reference reference, double low, double high) {
  return {.name = name,
          .torch = name,
          .samples = samples_between(low, high),
          .reference = std::move(reference),
          .dtypes = without(all_dtypes, {kComplex64, kComplex128}),
          .refused = {kComplex64, kComplex128},
          .result_dtype = floating};
}
OpCase complex_case(const char* name, Reference reference, double low, double high) {
  return {.name = name,
          .torch = name,
          .samples = samples_between(low, high),
          .reference = std::move(reference),
          .result_dtype = floating};
}

}  // namespace cresset::test
