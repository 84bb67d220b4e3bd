// How a loss is reduced, as the ops' integers.
#pragma once

#include <cstdint>

namespace cresset::test {

inline constexpr int64_t none = 0, mean = 1, sum = 2;

}  // namespace cresset::test
