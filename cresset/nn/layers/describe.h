// What layers print: values in PyTorch's (Python's) notation, and the line of a layer.
#pragma once

#include <string>
#include <typeinfo>

#include "cresset/nn/module.h"

namespace cresset::nn::detail {

CRESSET_API std::string written(bool value);      // True
CRESSET_API std::string written(double value);    // 1e-05, 0.5, 2.0: the shortest that reads back as the same
CRESSET_API std::string tuple(IntArrayRef list);  // (3,) or (3, 3)
// One number where all are the same, as most users wrote it: 3 or (3, 5).
CRESSET_API std::string one_or_tuple(IntArrayRef list);
// "Dropout" for DropoutImpl: for constructors of base classes, where the module does not know yet what it is.
CRESSET_API std::string layer_name(const std::type_info& type);
// The type's name and, in parentheses, its options.
CRESSET_API void print_line(std::ostream& stream, const Module& layer, const std::string& options = "");

}  // namespace cresset::nn::detail
