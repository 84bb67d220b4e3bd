// The list of op cases: one function per op family, each in the file of that name.
#pragma once

#include "tests/support/op_case.h"

namespace cresset::test {

std::vector<OpCase> pointwise_cases();
std::vector<OpCase> comparison_cases();
std::vector<OpCase> binary_cases();
std::vector<OpCase> activation_cases();
std::vector<OpCase> copy_cases();
std::vector<OpCase> creation_cases();
std::vector<OpCase> shape_cases();
std::vector<OpCase> reduce_cases();
std::vector<OpCase> matmul_cases();
std::vector<OpCase> conv_cases();
std::vector<OpCase> index_cases();
std::vector<OpCase> loss_cases();
std::vector<OpCase> random_cases();

// All of them, with their families filled in.
const std::vector<OpCase>& all_cases();
const OpCase* find_case(std::string_view name, std::string_view overload);

}  // namespace cresset::test
