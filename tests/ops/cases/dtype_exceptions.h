// Dtypes that libtorch 1.13 takes and Cresset refuses, on purpose. docs/coverage.md prints the list, and parity holds
// it complete.
#pragma once

#include "tests/support/op_case.h"

namespace cresset::test {

struct DTypeException {
  std::vector<std::string> ops;  // names without overloads
  std::vector<DType> dtypes;
  std::string why;
};
const std::vector<DTypeException>& dtype_exceptions();
bool is_excepted(const OpCase& op_case, DType dtype);

}  // namespace cresset::test
