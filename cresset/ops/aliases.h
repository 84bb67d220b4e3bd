// Written by cresset-oplist from the op registry and ops/alias_table.cpp: do not edit.
// clang-format off
#pragma once

#include "cresset/ops/all.h"

namespace cresset {

inline Tensor negative(const Tensor& self) { return cresset::neg(self); }
inline Tensor& negative_(const Tensor& self) { return cresset::neg_(self); }
inline Tensor& negative_out(Tensor& out, const Tensor& self) { return cresset::neg_out(out, self); }
inline Tensor subtract(const Tensor& self, const Tensor& other, const Scalar& alpha = 1) { return cresset::sub(self, other, alpha); }
inline Tensor& subtract_(const Tensor& self, const Tensor& other, const Scalar& alpha = 1) { return cresset::sub_(self, other, alpha); }
inline Tensor& subtract_out(Tensor& out, const Tensor& self, const Tensor& other, const Scalar& alpha = 1) { return cresset::sub_out(out, self, other, alpha); }
inline Tensor subtract(const Tensor& self, const Scalar& other, const Scalar& alpha = 1) { return cresset::sub(self, other, alpha); }
inline Tensor& subtract_(const Tensor& self, const Scalar& other, const Scalar& alpha = 1) { return cresset::sub_(self, other, alpha); }
inline Tensor& subtract_out(Tensor& out, const Tensor& self, const Scalar& other, const Scalar& alpha = 1) { return cresset::sub_out(out, self, other, alpha); }
inline Tensor multiply(const Tensor& self, const Tensor& other) { return cresset::mul(self, other); }
inline Tensor& multiply_(const Tensor& self, const Tensor& other) { return cresset::mul_(self, other); }
inline Tensor& multiply_out(Tensor& out, const Tensor& self, const Tensor& other) { return cresset::mul_out(out, self, other); }
inline Tensor multiply(const Tensor& self, const Scalar& other) { return cresset::mul(self, other); }
inline Tensor& multiply_(const Tensor& self, const Scalar& other) { return cresset::mul_(self, other); }
inline Tensor& multiply_out(Tensor& out, const Tensor& self, const Scalar& other) { return cresset::mul_out(out, self, other); }
inline Tensor divide(const Tensor& self, const Tensor& other) { return cresset::div(self, other); }
inline Tensor& divide_(const Tensor& self, const Tensor& other) { return cresset::div_(self, other); }
inline Tensor& divide_out(Tensor& out, const Tensor& self, const Tensor& other) { return cresset::div_out(out, self, other); }
inline Tensor divide(const Tensor& self, const Scalar& other) { return cresset::div(self, other); }
inline Tensor& divide_(const Tensor& self, const Scalar& other) { return cresset::div_(self, other); }
inline Tensor& divide_out(Tensor& out, const Tensor& self, const Scalar& other) { return cresset::div_out(out, self, other); }
inline Tensor true_divide(const Tensor& self, const Tensor& other) { return cresset::div(self, other); }
inline Tensor& true_divide_(const Tensor& self, const Tensor& other) { return cresset::div_(self, other); }
inline Tensor& true_divide_out(Tensor& out, const Tensor& self, const Tensor& other) { return cresset::div_out(out, self, other); }
inline Tensor true_divide(const Tensor& self, const Scalar& other) { return cresset::div(self, other); }
inline Tensor& true_divide_(const Tensor& self, const Scalar& other) { return cresset::div_(self, other); }
inline Tensor& true_divide_out(Tensor& out, const Tensor& self, const Scalar& other) { return cresset::div_out(out, self, other); }

}  // namespace cresset
