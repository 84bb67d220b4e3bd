// What layers print: values and the line of a layer, in PyTorch's (Python's) notation or in libtorch's, as
// print_style() says.
#pragma once

#include <string>
#include <typeinfo>

#include "cresset/nn/module.h"

namespace cresset::nn::detail {

CRESSET_API bool as_libtorch();
// The first in Python's notation, the second in libtorch's.
inline std::string either(std::string python, std::string libtorch) {
  return as_libtorch() ? std::move(libtorch) : std::move(python);
}
CRESSET_API std::string written(bool value);       // True; libtorch: true
CRESSET_API std::string written(double value);     // 1e-05, 0.5, 2.0, or with libtorch's six digits: 1e-05, 0.5, 2
CRESSET_API std::string tuple(IntArrayRef list);   // (3,) or (3, 3); libtorch: 3 or [3, 3]
CRESSET_API std::string listed(IntArrayRef list);  // (3,) or (3, 3); libtorch: [3] or [3, 3]
// One number where all are the same, as most users wrote it: 3 or (3, 5); libtorch: 3 or [3, 5].
CRESSET_API std::string one_or_tuple(IntArrayRef list);
// "Dropout" for DropoutImpl: for constructors of base classes, where the module does not know yet what it is.
CRESSET_API std::string layer_name(const std::type_info& type);
// Linear; libtorch: torch::nn::Linear.
CRESSET_API std::string printed_name(const Module& layer);
// The type's name and, in parentheses, its options.
CRESSET_API void print_line(std::ostream& stream, const Module& layer, const std::string& options = "");

}  // namespace cresset::nn::detail
