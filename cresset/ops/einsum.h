// Einstein's summation convention.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

// "bij,bjk->bik": a letter per dimension; what the output lacks is summed; "..." stands for any dimensions, which
// broadcast; a letter twice in one operand takes the diagonal. Without "->" the output has the letters that occur once,
// in alphabetical order. `path` says which pair is multiplied next (0, 1, 0, 1 for three operands).
CRESSET_API Tensor einsum(std::string_view equation, TensorList tensors, OptionalIntArrayRef path = std::nullopt);

}  // namespace cresset
