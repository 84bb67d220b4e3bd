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
    add("PointwiseBinary", binary_cases());
    add("PointwiseActivation", activation_cases());
    add("Copy", copy_cases());
    add("Creation", creation_cases());
    add("Shape", shape_cases());
    add("Reduce", reduce_cases());
    add("Matmul", matmul_cases());
    add("Conv", conv_cases());
    add("Index", index_cases());
    add("Loss", loss_cases());
    add("Random", random_cases());
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
