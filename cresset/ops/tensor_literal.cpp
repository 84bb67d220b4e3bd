// Literals are checked while their braces are gathered, then written in one pass.
#include "cresset/ops/tensor_literal.h"

#include <cstring>

namespace cresset {
namespace {

// C++ knows int and double where Python knows integers and floats.
DType natural_dtype(DType literal) {
  if (literal == kInt) return kLong;
  if (literal == kFloat || literal == kDouble) return default_dtype();
  return literal;
}

void write_array(void* to, DType to_type, const void* from, DType from_type, int64_t count) {
  if (count == 0) return;
  if (to_type == from_type) {
    std::memcpy(to, from, static_cast<size_t>(count) * element_size(to_type));
    return;
  }
  dispatch(to_type, [&](auto* out) {
    dispatch(from_type, [&](auto* in) {
      using To = std::remove_pointer_t<decltype(out)>;
      using From = std::remove_pointer_t<decltype(in)>;
      for (int64_t i = 0; i < count; i++) static_cast<To*>(to)[i] = Scalar(static_cast<const From*>(from)[i]).to<To>();
    });
  });
}

}  // namespace

TensorLiteral::TensorLiteral() : sizes_{0}, dtype_(default_dtype()) {}

TensorLiteral::TensorLiteral(std::initializer_list<TensorLiteral> list)
    : sizes_{static_cast<int64_t>(list.size())}, dtype_(default_dtype()), list_(list.begin(), list.size()) {
  if (list_.empty()) return;
  const TensorLiteral& first = list_.front();
  dtype_ = first.dtype();
  for (const TensorLiteral& element : list_) {
    CRESSET_CHECK_AS(ShapeError, element.sizes() == first.sizes(),
                     "tensor: Expected all sub-lists to have sizes: ", text_of(first.sizes()), " (e.g. ", first.text(),
                     "), but got sub-list ", element.text(), " with sizes: ", text_of(element.sizes()));
    CRESSET_CHECK_AS(TypeError, element.dtype() == first.dtype(),
                     "tensor: Expected all elements of the tensor to have the same scalar type: ", first.dtype(),
                     ", but got element of scalar type: ", element.dtype());
  }
  for (int64_t n : first.sizes()) sizes_.push_back(n);
}

TensorLiteral::TensorLiteral(const std::vector<bool>& values)
    : sizes_{static_cast<int64_t>(values.size())}, dtype_(kBool), bools_(values.begin(), values.end()) {}

void TensorLiteral::write(void*& to, DType dtype) const {
  const auto count = sizes_.product();
  if (is_number()) {
    dispatch(dtype, [&](auto* p) { *static_cast<decltype(p)>(to) = number_.to<std::remove_pointer_t<decltype(p)>>(); });
  } else if (!list_.empty()) {
    for (const TensorLiteral& element : list_) element.write(to, dtype);
    return;
  } else {
    write_array(to, dtype, array_ ? array_ : bools_.data(), dtype_, count);
  }
  to = static_cast<char*>(to) + static_cast<size_t>(count) * element_size(dtype);
}

std::string TensorLiteral::text() const {
  if (is_number()) return message_of(number_);
  if (list_.empty()) return message_of("an array of ", sizes_[0], " elements");
  std::string text = "{";
  for (size_t i = 0; i < list_.size() && i < 8; i++) text.append(i ? ", " : "").append(list_[i].text());
  return text.append(list_.size() > 8 ? ", ...}" : "}");
}

Tensor tensor(const TensorLiteral& values, const TensorOptions& options) {
  check_strided("tensor", options);
  const DType dtype = options.dtype_opt().value_or(natural_dtype(values.dtype()));
  Tensor y = empty_contiguous(values.sizes(), dtype, kCPU);
  void* to = y.data_ptr();
  values.write(to, dtype);
  if (!options.device().is_cpu()) y = y.to(options.device());
  if (options.requires_grad()) y.requires_grad_();
  return y;
}

Tensor Tensor::new_tensor(const TensorLiteral& values) const {
  return cresset::tensor(values, TensorOptions(dtype()).device(device()));
}

}  // namespace cresset
