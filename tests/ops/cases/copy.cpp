// Cases of ops/copy.
#include "tests/ops/cases/cases.h"

namespace cresset::test {
namespace {

Reference itself() {
  return elementwise([](Complex x) { return x; });
}

std::vector<Sample> copy_samples(Make& make) {
  return {{"same shape", {make.tensor({3, 4}), make.tensor({3, 4})}},
          {"0-d", {make.tensor({}), make.tensor({})}},
          {"empty", {make.tensor({0, 3}), make.tensor({3})}},
          {"broadcast", {make.tensor({2, 3, 4}), make.tensor({3, 1})}},
          {"from double", {make.tensor({5}), make.tensor({5}, is_complex(make.dtype) ? kComplex128 : kDouble)}},
          {"from int", {make.tensor({5}), make.tensor({5}, kInt32)}},
          {"inf and nan", {make.tensor({14}), make.special()}, false},
          {"large", {make.tensor({201, 333}), make.tensor({201, 333})}, false}};
}

// Any dtype becomes any other; real to complex and back by itself is the case of mixed pairs (property tests).
std::vector<Sample> to_samples(Make& make) {
  std::vector<Sample> samples = unary_samples(make);
  DType other = is_complex(make.dtype) ? kComplex128 : kDouble;
  for (Sample& sample : samples) sample.arguments.push_back(TensorOptions(other));
  return samples;
}

std::vector<Sample> format_samples(Make& make, const Value& channels_last) {
  std::vector<Sample> samples = unary_samples(make);
  samples.push_back({"channels last", {make.tensor({2, 3, 4, 2}), channels_last}});
  return samples;
}

}  // namespace

std::vector<OpCase> copy_cases() {
  return {
      {.name = "clone",
       .torch = "clone",
       .samples = [](Make& make) { return format_samples(make, MemoryFormat::ChannelsLast); },
       .reference = itself()},
      {.name = "contiguous",
       .torch = "contiguous",
       .samples = [](Make& make) { return format_samples(make, MemoryFormat::ChannelsLast); },
       .reference = itself()},
      {.name = "copy_",
       .torch = "copy_",
       .samples = copy_samples,
       .reference = [](const Arguments& in) { return std::vector{broadcast_to(in.array(1), in.array(0).sizes)}; },
       .errors = {{"shapes",
                   [](Make& make) -> Values {
                     return {make.tensor({2, 3}), make.tensor({2})};
                   },
                   "copy_: shapes [2, 3] and [2] do not broadcast"},
                  {"too_large",
                   [](Make& make) -> Values {
                     return {make.tensor({3}), make.tensor({2, 3})};
                   },
                   "copy_: output with shape [3] doesn't match the broadcast shape [2, 3]"}},
       .writes_self = true,
       .mixes_devices = true},
      {.name = "fill_",
       .torch = "fill_.Scalar",
       .samples = [](Make& make) { return shaped_samples(make, [](const Tensor&) -> Values { return {Scalar(2)}; }); },
       .reference = [](const Arguments& in) { return std::vector{Array::filled(in.array(0).sizes, in.number(1))}; },
       .errors = {{"complex",
                   [](Make& make) -> Values {
                     return {make.tensor({3}), Scalar(Complex(0, 1))};
                   },
                   "fill_: value cannot be converted to type"}},
       .writes_self = true},
      {.name = "zero_",
       .torch = "zero_",
       .samples = unary_samples,
       .reference = [](const Arguments& in) { return std::vector{Array::filled(in.array(0).sizes)}; },
       .writes_self = true},
      {.name = "to",
       .torch = "to.dtype_layout",
       .samples = to_samples,
       .reference = itself(),
       .result_dtype = [](DType dtype) { return is_complex(dtype) ? kComplex128 : kDouble; }},
  };
}

}  // namespace cresset::test
