// The list of op cases: one function per op family, each in the file of that name.
#pragma once

#include "tests/support/op_case.h"

namespace cresset::test {

// Whether an optional tensor was given.
inline bool has(const Arguments& in, size_t i) { return in.given(i) && std::get<Tensor>(in[i]).defined(); }

std::vector<OpCase> pointwise_cases();
std::vector<OpCase> comparison_cases();
std::vector<OpCase> binary_cases();
std::vector<OpCase> division_cases();
std::vector<OpCase> extrema_cases();
std::vector<OpCase> ternary_cases();
std::vector<OpCase> activation_cases();
std::vector<OpCase> copy_cases();
std::vector<OpCase> creation_cases();
std::vector<OpCase> shape_cases();
std::vector<OpCase> reduce_cases();
std::vector<OpCase> matmul_cases();
std::vector<OpCase> matrix_cases();
std::vector<OpCase> diagonal_cases();
std::vector<OpCase> linalg_solve_cases();
std::vector<OpCase> linalg_factor_cases();
std::vector<OpCase> linalg_spectral_cases();
std::vector<OpCase> linalg_norm_cases();
std::vector<OpCase> conv_cases();
std::vector<OpCase> pool_cases();
std::vector<OpCase> index_cases();
std::vector<OpCase> gather_cases();
std::vector<OpCase> rearrange_cases();
std::vector<OpCase> stacking_cases();
std::vector<OpCase> embedding_cases();
std::vector<OpCase> loss_cases();
std::vector<OpCase> loss_pointwise_cases();
std::vector<OpCase> loss_classes_cases();
std::vector<OpCase> complex_cases();
std::vector<OpCase> fft_cases();
std::vector<OpCase> random_distributions_cases();
std::vector<OpCase> random_cases();
std::vector<OpCase> norm_cases();
std::vector<OpCase> distance_cases();
std::vector<OpCase> vision_cases();
std::vector<OpCase> rnn_cases();
std::vector<OpCase> interpolate_cases();
std::vector<OpCase> attention_cases();
std::vector<OpCase> extremum_cases();
std::vector<OpCase> statistics_cases();
std::vector<OpCase> scan_cases();
std::vector<OpCase> search_cases();
std::vector<OpCase> counting_cases();
std::vector<OpCase> vector_norm_cases();
std::vector<OpCase> difference_cases();
std::vector<OpCase> sort_cases();
std::vector<OpCase> math_cases();
std::vector<OpCase> special_cases();
std::vector<OpCase> special_binary_cases();

// What the files share.
using Ints = std::vector<int64_t>;

inline Reference single(std::function<Array(const Arguments&)> f) {
  return [f](const Arguments& in) { return std::vector{f(in)}; };
}
inline ErrorCase refused(std::string label, std::function<Values(Make&)> arguments, std::string text) {
  return {std::move(label), std::move(arguments), std::move(text)};
}
inline Tensor places(Ints sizes, const std::vector<Complex>& values) {
  return tensor_of({std::move(sizes), values}, kInt64);
}
inline Tensor places(const std::vector<Complex>& values) {
  return places({static_cast<int64_t>(values.size())}, values);
}
inline Samples self_and(const Values& more = {}) {
  return [more](Make& make) { return shaped_samples(make, [&](const Tensor&) { return more; }); };
}
Array strided(const Arguments& in);  // of as_strided, for a contiguous self

// All of them, with their families filled in.
const std::vector<OpCase>& all_cases();
const OpCase* find_case(std::string_view name, std::string_view overload);

}  // namespace cresset::test
