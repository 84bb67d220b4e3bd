// Printing, in PyTorch's Python form or in libtorch's C++ form, both to the character, because people compare and copy
// them. One style for the whole process says which of them `<<` writes of tensors and modules; torch.h chooses
// libtorch's.
#pragma once

#include <optional>
#include <string>

#include "cresset/core/tensor.h"

namespace cresset {

enum class PrintStyle : uint8_t {
  python,   // tensor([1., 2.]), summarised beyond 1,000 elements; Linear(in_features=3, out_features=4, bias=True)
  libtorch  // one value a line and [ CPUFloatType{2} ]; torch::nn::Linear(in_features=3, out_features=4, bias=true)
};
CRESSET_API PrintStyle print_style();
CRESSET_API PrintStyle set_print_style(PrintStyle style);  // returns the one before

// torch.set_printoptions: what is set changes, the rest stays; sci_mode goes back to automatic unless it is given.
struct PrintOptions {
  std::optional<int64_t> precision = std::nullopt;    // digits behind the point: 4
  std::optional<int64_t> threshold = std::nullopt;    // more elements than this are summarised: 1000
  std::optional<int64_t> edgeitems = std::nullopt;    // shown at each end of a summarised dimension: 3
  std::optional<int64_t> linewidth = std::nullopt;    // 80
  std::optional<std::string> profile = std::nullopt;  // "default", "short" or "full"; the others are applied after it
  std::optional<bool> sci_mode = std::nullopt;
};
CRESSET_API void set_printoptions(const PrintOptions& changes);
CRESSET_API PrintOptions get_printoptions();  // every number is set

// "tensor([1., 2.], grad_fn=<MulBackward0>)"
CRESSET_API std::string to_python_repr(const Tensor& tensor);

// The libtorch form, whatever the style, in lines of that length; libtorch's own << takes 80.
CRESSET_API std::ostream& print(std::ostream& out, const Tensor& tensor, int64_t linesize);

// "TensorOptions(dtype=float, device=cpu, …)" and "Strided", as libtorch prints them.
CRESSET_API std::ostream& operator<<(std::ostream& out, const TensorOptions& options);
CRESSET_API std::ostream& operator<<(std::ostream& out, Layout layout);
CRESSET_API std::ostream& operator<<(std::ostream& out, MemoryFormat format);
CRESSET_API std::ostream& operator<<(std::ostream& out, Half value);
CRESSET_API std::ostream& operator<<(std::ostream& out, BFloat16 value);

// The name of the tensor's node, empty for a leaf. Defined in autograd.
CRESSET_API std::string grad_fn_name(const Tensor& tensor);

namespace detail {
Tensor readable(const Tensor& tensor);        // on the CPU, outside the graph
std::string bracketed(const Tensor& tensor);  // all values as Python writes them: "[1.+2.j, 3.+0.j]"
}  // namespace detail

}  // namespace cresset
