// What Debian's libtorch 1.13 lacks or gets wrong, so that parity does not ask for it.
#pragma once

#include "tests/support/op_case.h"

namespace cresset::test {

// The error says that libtorch has no such dtype, index type or gradient. Having more is allowed.
bool only_missing_in_torch(const OpCase& c, const std::string& error);
// Its result for these arguments is wrong, or its error is a fault.
bool wrong_in_torch(const OpCase& op_case, const Values& values);
// Its backward fails: a formula's tensor was changed in place, or it refuses a loss that depends on phases.
bool gradient_fails_in_torch(const OpCase& op_case);

}  // namespace cresset::test
