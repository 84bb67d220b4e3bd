// Tensor's operators, by the ops they stand for.
#include "cresset/ops/pointwise.h"

namespace cresset {

Tensor Tensor::operator-() const { return cresset::neg(*this); }
Tensor& Tensor::operator+=(const Tensor& other) { return cresset::add_(*this, other); }
Tensor& Tensor::operator+=(const Scalar& other) { return cresset::add_(*this, other); }
Tensor& Tensor::operator-=(const Tensor& other) { return cresset::sub_(*this, other); }
Tensor& Tensor::operator-=(const Scalar& other) { return cresset::sub_(*this, other); }
Tensor& Tensor::operator*=(const Tensor& other) { return cresset::mul_(*this, other); }
Tensor& Tensor::operator*=(const Scalar& other) { return cresset::mul_(*this, other); }
Tensor& Tensor::operator/=(const Tensor& other) { return cresset::div_(*this, other); }
Tensor& Tensor::operator/=(const Scalar& other) { return cresset::div_(*this, other); }

}  // namespace cresset
