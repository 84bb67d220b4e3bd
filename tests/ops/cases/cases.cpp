// Puts the families together. Pointwise tests carry that word in their names: they are run again on each SIMD target.
#include "tests/ops/cases/cases.h"

namespace cresset::test {

const std::vector<OpCase>& all_cases() {
  static const std::vector<OpCase> list = [] {
    std::vector<OpCase> all;
    auto add = [&](const char* family, std::vector<OpCase> cases) {
      for (OpCase& one : cases) {
        one.family = family;
        all.push_back(std::move(one));
      }
    };
    add("Pointwise", pointwise_cases());
    add("PointwiseComparison", comparison_cases());
    add("PointwiseBinary", division_cases());
    add("PointwiseBinary", extrema_cases());
    add("PointwiseBinary", binary_cases());
    add("PointwiseBinary", ternary_cases());
    add("PointwiseActivation", activation_cases());
    add("Copy", copy_cases());
    add("Creation", creation_cases());
    add("Shape", shape_cases());
    add("Reduce", reduce_cases());
    add("Matmul", matmul_cases());
    add("Matrix", matrix_cases());
    add("Diagonal", diagonal_cases());
    add("Linalg", linalg_solve_cases());
    add("Linalg", linalg_factor_cases());
    add("Linalg", linalg_spectral_cases());
    add("Linalg", linalg_norm_cases());
    add("Conv", conv_cases());
    add("Pool", pool_cases());
    add("Index", index_cases());
    add("Index", gather_cases());
    add("Shape", rearrange_cases());
    add("Shape", stacking_cases());
    add("Embedding", embedding_cases());
    add("Loss", loss_cases());
    add("Loss", loss_pointwise_cases());
    add("Loss", loss_classes_cases());
    add("Complex", complex_cases());
    add("Fft", fft_cases());
    add("Random", random_cases());
    add("Norm", norm_cases());
    add("Distance", distance_cases());
    add("Vision", vision_cases());
    add("Rnn", rnn_cases());
    add("Interpolate", interpolate_cases());
    add("Attention", attention_cases());
    add("Extremum", extremum_cases());
    add("Statistics", statistics_cases());
    add("Scan", scan_cases());
    add("Sort", sort_cases());
    add("Search", search_cases());
    add("Search", counting_cases());
    add("Random", random_distributions_cases());
    add("PointwiseMath", math_cases());
    add("PointwiseSpecial", special_cases());
    add("PointwiseSpecialBinary", special_binary_cases());
    add("VectorNorm", vector_norm_cases());
    add("Difference", difference_cases());
    return all;
  }();
  return list;
}

const OpCase* find_case(std::string_view name, std::string_view overload) {
  for (const OpCase& one : all_cases())
    if (one.name == name && one.overload == overload) return &one;
  return nullptr;
}

}  // namespace cresset::test
