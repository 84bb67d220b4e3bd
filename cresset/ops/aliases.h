// Written by cresset-oplist from the op registry and ops/alias_table.cpp: do not edit.
// clang-format off
#pragma once

#include "cresset/ops/all.h"

namespace cresset {

inline Tensor affine_grid(const Tensor& theta, IntArrayRef size, bool align_corners) { return cresset::affine_grid_generator(theta, size, align_corners); }
inline Tensor negative(const Tensor& self) { return cresset::neg(self); }
inline Tensor& negative_(const Tensor& self) { return cresset::neg_(self); }
inline Tensor& negative_out(Tensor& out, const Tensor& self) { return cresset::neg_out(out, self); }
inline Tensor fold(const Tensor& self, IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) { return cresset::col2im(self, output_size, kernel_size, dilation, padding, stride); }
inline Tensor& fold_out(Tensor& out, const Tensor& self, IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) { return cresset::col2im_out(out, self, output_size, kernel_size, dilation, padding, stride); }
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
inline Tensor divide(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode) { return cresset::div(self, other, rounding_mode); }
inline Tensor& divide_(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode) { return cresset::div_(self, other, rounding_mode); }
inline Tensor& divide_out(Tensor& out, const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode) { return cresset::div_out(out, self, other, rounding_mode); }
inline Tensor divide(const Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode) { return cresset::div(self, other, rounding_mode); }
inline Tensor& divide_(const Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode) { return cresset::div_(self, other, rounding_mode); }
inline Tensor& divide_out(Tensor& out, const Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode) { return cresset::div_out(out, self, other, rounding_mode); }
inline Tensor divide(const Tensor& self, const Tensor& other) { return cresset::div(self, other); }
inline Tensor& divide_(const Tensor& self, const Tensor& other) { return cresset::div_(self, other); }
inline Tensor& divide_out(Tensor& out, const Tensor& self, const Tensor& other) { return cresset::div_out(out, self, other); }
inline Tensor divide(const Tensor& self, const Scalar& other) { return cresset::div(self, other); }
inline Tensor& divide_(const Tensor& self, const Scalar& other) { return cresset::div_(self, other); }
inline Tensor& divide_out(Tensor& out, const Tensor& self, const Scalar& other) { return cresset::div_out(out, self, other); }
inline Tensor true_divide(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode) { return cresset::div(self, other, rounding_mode); }
inline Tensor& true_divide_(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode) { return cresset::div_(self, other, rounding_mode); }
inline Tensor& true_divide_out(Tensor& out, const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode) { return cresset::div_out(out, self, other, rounding_mode); }
inline Tensor true_divide(const Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode) { return cresset::div(self, other, rounding_mode); }
inline Tensor& true_divide_(const Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode) { return cresset::div_(self, other, rounding_mode); }
inline Tensor& true_divide_out(Tensor& out, const Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode) { return cresset::div_out(out, self, other, rounding_mode); }
inline Tensor true_divide(const Tensor& self, const Tensor& other) { return cresset::div(self, other); }
inline Tensor& true_divide_(const Tensor& self, const Tensor& other) { return cresset::div_(self, other); }
inline Tensor& true_divide_out(Tensor& out, const Tensor& self, const Tensor& other) { return cresset::div_out(out, self, other); }
inline Tensor true_divide(const Tensor& self, const Scalar& other) { return cresset::div(self, other); }
inline Tensor& true_divide_(const Tensor& self, const Scalar& other) { return cresset::div_(self, other); }
inline Tensor& true_divide_out(Tensor& out, const Tensor& self, const Scalar& other) { return cresset::div_out(out, self, other); }
inline Tensor absolute(const Tensor& self) { return cresset::abs(self); }
inline Tensor& absolute_(const Tensor& self) { return cresset::abs_(self); }
inline Tensor& absolute_out(Tensor& out, const Tensor& self) { return cresset::abs_out(out, self); }
inline Tensor arcsin(const Tensor& self) { return cresset::asin(self); }
inline Tensor& arcsin_(const Tensor& self) { return cresset::asin_(self); }
inline Tensor& arcsin_out(Tensor& out, const Tensor& self) { return cresset::asin_out(out, self); }
inline Tensor arccos(const Tensor& self) { return cresset::acos(self); }
inline Tensor& arccos_(const Tensor& self) { return cresset::acos_(self); }
inline Tensor& arccos_out(Tensor& out, const Tensor& self) { return cresset::acos_out(out, self); }
inline Tensor arctan(const Tensor& self) { return cresset::atan(self); }
inline Tensor& arctan_(const Tensor& self) { return cresset::atan_(self); }
inline Tensor& arctan_out(Tensor& out, const Tensor& self) { return cresset::atan_out(out, self); }
inline Tensor arcsinh(const Tensor& self) { return cresset::asinh(self); }
inline Tensor& arcsinh_(const Tensor& self) { return cresset::asinh_(self); }
inline Tensor& arcsinh_out(Tensor& out, const Tensor& self) { return cresset::asinh_out(out, self); }
inline Tensor arccosh(const Tensor& self) { return cresset::acosh(self); }
inline Tensor& arccosh_(const Tensor& self) { return cresset::acosh_(self); }
inline Tensor& arccosh_out(Tensor& out, const Tensor& self) { return cresset::acosh_out(out, self); }
inline Tensor arctanh(const Tensor& self) { return cresset::atanh(self); }
inline Tensor& arctanh_(const Tensor& self) { return cresset::atanh_(self); }
inline Tensor& arctanh_out(Tensor& out, const Tensor& self) { return cresset::atanh_out(out, self); }
inline Tensor fix(const Tensor& self) { return cresset::trunc(self); }
inline Tensor& fix_(const Tensor& self) { return cresset::trunc_(self); }
inline Tensor& fix_out(Tensor& out, const Tensor& self) { return cresset::trunc_out(out, self); }
inline Tensor linalg_matrix_power(const Tensor& self, int64_t n) { return cresset::matrix_power(self, n); }
inline Tensor& linalg_matrix_power_out(Tensor& out, const Tensor& self, int64_t n) { return cresset::matrix_power_out(out, self, n); }
inline Tensor linalg_matrix_exp(const Tensor& self) { return cresset::matrix_exp(self); }
inline Tensor linalg_matmul(const Tensor& self, const Tensor& other) { return cresset::matmul(self, other); }
inline Tensor& linalg_matmul_out(Tensor& out, const Tensor& self, const Tensor& other) { return cresset::matmul_out(out, self, other); }
inline Tensor ger(const Tensor& self, const Tensor& vec2) { return cresset::outer(self, vec2); }
inline Tensor& ger_out(Tensor& out, const Tensor& self, const Tensor& vec2) { return cresset::outer_out(out, self, vec2); }
inline Tensor argwhere(const Tensor& self) { return cresset::nonzero(self); }
inline Tensor& argwhere_out(Tensor& out, const Tensor& self) { return cresset::nonzero_out(out, self); }
inline Tensor ravel(const Tensor& self, int64_t start_dim = 0, int64_t end_dim = -1) { return cresset::flatten(self, start_dim, end_dim); }
inline Tensor moveaxis(const Tensor& self, IntArrayRef source, IntArrayRef destination) { return cresset::movedim(self, source, destination); }
inline Tensor moveaxis(const Tensor& self, int64_t source, int64_t destination) { return cresset::movedim(self, source, destination); }
inline Tensor trapz(const Tensor& y, const Tensor& x, int64_t dim = -1) { return cresset::trapezoid(y, x, dim); }
inline Tensor trapz(const Tensor& y, const Scalar& dx = 1, int64_t dim = -1) { return cresset::trapezoid(y, dx, dim); }
inline Tensor swapaxes(const Tensor& self, int64_t dim0, int64_t dim1) { return cresset::transpose(self, dim0, dim1); }
inline Tensor swapdims(const Tensor& self, int64_t dim0, int64_t dim1) { return cresset::transpose(self, dim0, dim1); }
inline Tensor& swapaxes_(const Tensor& self, int64_t dim0, int64_t dim1) { return cresset::transpose_(self, dim0, dim1); }
inline Tensor& swapdims_(const Tensor& self, int64_t dim0, int64_t dim1) { return cresset::transpose_(self, dim0, dim1); }
inline Tensor row_stack(TensorList tensors) { return cresset::vstack(tensors); }
inline Tensor& row_stack_out(Tensor& out, TensorList tensors) { return cresset::vstack_out(out, tensors); }
inline Tensor concat(TensorList tensors, int64_t dim = 0) { return cresset::cat(tensors, dim); }
inline Tensor& concat_out(Tensor& out, TensorList tensors, int64_t dim = 0) { return cresset::cat_out(out, tensors, dim); }
inline Tensor concatenate(TensorList tensors, int64_t dim = 0) { return cresset::cat(tensors, dim); }
inline Tensor& concatenate_out(Tensor& out, TensorList tensors, int64_t dim = 0) { return cresset::cat_out(out, tensors, dim); }
inline Tensor clip(const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max = std::nullopt) { return cresset::clamp(self, min, max); }
inline Tensor& clip_(const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max = std::nullopt) { return cresset::clamp_(self, min, max); }
inline Tensor& clip_out(Tensor& out, const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max = std::nullopt) { return cresset::clamp_out(out, self, min, max); }
inline Tensor clip(const Tensor& self, const Tensor& min = {}, const Tensor& max = {}) { return cresset::clamp(self, min, max); }
inline Tensor& clip_(const Tensor& self, const Tensor& min = {}, const Tensor& max = {}) { return cresset::clamp_(self, min, max); }
inline Tensor& clip_out(Tensor& out, const Tensor& self, const Tensor& min = {}, const Tensor& max = {}) { return cresset::clamp_out(out, self, min, max); }
inline Tensor greater(const Tensor& self, const Tensor& other) { return cresset::gt(self, other); }
inline Tensor& greater_(const Tensor& self, const Tensor& other) { return cresset::gt_(self, other); }
inline Tensor& greater_out(Tensor& out, const Tensor& self, const Tensor& other) { return cresset::gt_out(out, self, other); }
inline Tensor greater(const Tensor& self, const Scalar& other) { return cresset::gt(self, other); }
inline Tensor& greater_(const Tensor& self, const Scalar& other) { return cresset::gt_(self, other); }
inline Tensor& greater_out(Tensor& out, const Tensor& self, const Scalar& other) { return cresset::gt_out(out, self, other); }
inline Tensor greater_equal(const Tensor& self, const Tensor& other) { return cresset::ge(self, other); }
inline Tensor& greater_equal_(const Tensor& self, const Tensor& other) { return cresset::ge_(self, other); }
inline Tensor& greater_equal_out(Tensor& out, const Tensor& self, const Tensor& other) { return cresset::ge_out(out, self, other); }
inline Tensor greater_equal(const Tensor& self, const Scalar& other) { return cresset::ge(self, other); }
inline Tensor& greater_equal_(const Tensor& self, const Scalar& other) { return cresset::ge_(self, other); }
inline Tensor& greater_equal_out(Tensor& out, const Tensor& self, const Scalar& other) { return cresset::ge_out(out, self, other); }
inline Tensor less(const Tensor& self, const Tensor& other) { return cresset::lt(self, other); }
inline Tensor& less_(const Tensor& self, const Tensor& other) { return cresset::lt_(self, other); }
inline Tensor& less_out(Tensor& out, const Tensor& self, const Tensor& other) { return cresset::lt_out(out, self, other); }
inline Tensor less(const Tensor& self, const Scalar& other) { return cresset::lt(self, other); }
inline Tensor& less_(const Tensor& self, const Scalar& other) { return cresset::lt_(self, other); }
inline Tensor& less_out(Tensor& out, const Tensor& self, const Scalar& other) { return cresset::lt_out(out, self, other); }
inline Tensor less_equal(const Tensor& self, const Tensor& other) { return cresset::le(self, other); }
inline Tensor& less_equal_(const Tensor& self, const Tensor& other) { return cresset::le_(self, other); }
inline Tensor& less_equal_out(Tensor& out, const Tensor& self, const Tensor& other) { return cresset::le_out(out, self, other); }
inline Tensor less_equal(const Tensor& self, const Scalar& other) { return cresset::le(self, other); }
inline Tensor& less_equal_(const Tensor& self, const Scalar& other) { return cresset::le_(self, other); }
inline Tensor& less_equal_out(Tensor& out, const Tensor& self, const Scalar& other) { return cresset::le_out(out, self, other); }
inline Tensor not_equal(const Tensor& self, const Tensor& other) { return cresset::ne(self, other); }
inline Tensor& not_equal_(const Tensor& self, const Tensor& other) { return cresset::ne_(self, other); }
inline Tensor& not_equal_out(Tensor& out, const Tensor& self, const Tensor& other) { return cresset::ne_out(out, self, other); }
inline Tensor not_equal(const Tensor& self, const Scalar& other) { return cresset::ne(self, other); }
inline Tensor& not_equal_(const Tensor& self, const Scalar& other) { return cresset::ne_(self, other); }
inline Tensor& not_equal_out(Tensor& out, const Tensor& self, const Scalar& other) { return cresset::ne_out(out, self, other); }
inline Tensor arctan2(const Tensor& self, const Tensor& other) { return cresset::atan2(self, other); }
inline Tensor& arctan2_(const Tensor& self, const Tensor& other) { return cresset::atan2_(self, other); }
inline Tensor& arctan2_out(Tensor& out, const Tensor& self, const Tensor& other) { return cresset::atan2_out(out, self, other); }
inline Tensor logsigmoid(const Tensor& self) { return cresset::log_sigmoid(self); }
inline Tensor& logsigmoid_out(Tensor& out, const Tensor& self) { return cresset::log_sigmoid_out(out, self); }
inline Tensor cross_entropy_loss(const Tensor& self, const Tensor& target, const Tensor& weight = {}, int64_t reduction = Reduction::Mean, int64_t ignore_index = -100, double label_smoothing = 0.0) { return cresset::cross_entropy(self, target, weight, reduction, ignore_index, label_smoothing); }
namespace fft { inline Tensor fft(const Tensor& self, std::optional<int64_t> n = std::nullopt, int64_t dim = -1, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_fft(self, n, dim, norm); } }
namespace fft { inline Tensor& fft_out(Tensor& out, const Tensor& self, std::optional<int64_t> n = std::nullopt, int64_t dim = -1, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_fft_out(out, self, n, dim, norm); } }
namespace fft { inline Tensor fft2(const Tensor& self, OptionalIntArrayRef s = std::nullopt, IntArrayRef dim = {-2, -1}, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_fft2(self, s, dim, norm); } }
namespace fft { inline Tensor& fft2_out(Tensor& out, const Tensor& self, OptionalIntArrayRef s = std::nullopt, IntArrayRef dim = {-2, -1}, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_fft2_out(out, self, s, dim, norm); } }
namespace fft { inline Tensor fftfreq(int64_t n, double d = 1.0, const TensorOptions& options = {}) { return cresset::fft_fftfreq(n, d, options); } }
namespace fft { inline Tensor& fftfreq_out(Tensor& out, int64_t n, double d = 1.0) { return cresset::fft_fftfreq_out(out, n, d); } }
namespace fft { inline Tensor fftn(const Tensor& self, OptionalIntArrayRef s = std::nullopt, OptionalIntArrayRef dim = std::nullopt, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_fftn(self, s, dim, norm); } }
namespace fft { inline Tensor& fftn_out(Tensor& out, const Tensor& self, OptionalIntArrayRef s = std::nullopt, OptionalIntArrayRef dim = std::nullopt, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_fftn_out(out, self, s, dim, norm); } }
namespace fft { inline Tensor fftshift(const Tensor& self, OptionalIntArrayRef dim = std::nullopt) { return cresset::fft_fftshift(self, dim); } }
namespace fft { inline Tensor hfft(const Tensor& self, std::optional<int64_t> n = std::nullopt, int64_t dim = -1, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_hfft(self, n, dim, norm); } }
namespace fft { inline Tensor& hfft_out(Tensor& out, const Tensor& self, std::optional<int64_t> n = std::nullopt, int64_t dim = -1, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_hfft_out(out, self, n, dim, norm); } }
namespace fft { inline Tensor hfft2(const Tensor& self, OptionalIntArrayRef s = std::nullopt, IntArrayRef dim = {-2, -1}, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_hfft2(self, s, dim, norm); } }
namespace fft { inline Tensor& hfft2_out(Tensor& out, const Tensor& self, OptionalIntArrayRef s = std::nullopt, IntArrayRef dim = {-2, -1}, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_hfft2_out(out, self, s, dim, norm); } }
namespace fft { inline Tensor hfftn(const Tensor& self, OptionalIntArrayRef s = std::nullopt, OptionalIntArrayRef dim = std::nullopt, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_hfftn(self, s, dim, norm); } }
namespace fft { inline Tensor& hfftn_out(Tensor& out, const Tensor& self, OptionalIntArrayRef s = std::nullopt, OptionalIntArrayRef dim = std::nullopt, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_hfftn_out(out, self, s, dim, norm); } }
namespace fft { inline Tensor ifft(const Tensor& self, std::optional<int64_t> n = std::nullopt, int64_t dim = -1, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_ifft(self, n, dim, norm); } }
namespace fft { inline Tensor& ifft_out(Tensor& out, const Tensor& self, std::optional<int64_t> n = std::nullopt, int64_t dim = -1, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_ifft_out(out, self, n, dim, norm); } }
namespace fft { inline Tensor ifft2(const Tensor& self, OptionalIntArrayRef s = std::nullopt, IntArrayRef dim = {-2, -1}, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_ifft2(self, s, dim, norm); } }
namespace fft { inline Tensor& ifft2_out(Tensor& out, const Tensor& self, OptionalIntArrayRef s = std::nullopt, IntArrayRef dim = {-2, -1}, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_ifft2_out(out, self, s, dim, norm); } }
namespace fft { inline Tensor ifftn(const Tensor& self, OptionalIntArrayRef s = std::nullopt, OptionalIntArrayRef dim = std::nullopt, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_ifftn(self, s, dim, norm); } }
namespace fft { inline Tensor& ifftn_out(Tensor& out, const Tensor& self, OptionalIntArrayRef s = std::nullopt, OptionalIntArrayRef dim = std::nullopt, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_ifftn_out(out, self, s, dim, norm); } }
namespace fft { inline Tensor ifftshift(const Tensor& self, OptionalIntArrayRef dim = std::nullopt) { return cresset::fft_ifftshift(self, dim); } }
namespace fft { inline Tensor ihfft(const Tensor& self, std::optional<int64_t> n = std::nullopt, int64_t dim = -1, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_ihfft(self, n, dim, norm); } }
namespace fft { inline Tensor& ihfft_out(Tensor& out, const Tensor& self, std::optional<int64_t> n = std::nullopt, int64_t dim = -1, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_ihfft_out(out, self, n, dim, norm); } }
namespace fft { inline Tensor ihfft2(const Tensor& self, OptionalIntArrayRef s = std::nullopt, IntArrayRef dim = {-2, -1}, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_ihfft2(self, s, dim, norm); } }
namespace fft { inline Tensor& ihfft2_out(Tensor& out, const Tensor& self, OptionalIntArrayRef s = std::nullopt, IntArrayRef dim = {-2, -1}, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_ihfft2_out(out, self, s, dim, norm); } }
namespace fft { inline Tensor ihfftn(const Tensor& self, OptionalIntArrayRef s = std::nullopt, OptionalIntArrayRef dim = std::nullopt, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_ihfftn(self, s, dim, norm); } }
namespace fft { inline Tensor& ihfftn_out(Tensor& out, const Tensor& self, OptionalIntArrayRef s = std::nullopt, OptionalIntArrayRef dim = std::nullopt, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_ihfftn_out(out, self, s, dim, norm); } }
namespace fft { inline Tensor irfft(const Tensor& self, std::optional<int64_t> n = std::nullopt, int64_t dim = -1, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_irfft(self, n, dim, norm); } }
namespace fft { inline Tensor& irfft_out(Tensor& out, const Tensor& self, std::optional<int64_t> n = std::nullopt, int64_t dim = -1, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_irfft_out(out, self, n, dim, norm); } }
namespace fft { inline Tensor irfft2(const Tensor& self, OptionalIntArrayRef s = std::nullopt, IntArrayRef dim = {-2, -1}, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_irfft2(self, s, dim, norm); } }
namespace fft { inline Tensor& irfft2_out(Tensor& out, const Tensor& self, OptionalIntArrayRef s = std::nullopt, IntArrayRef dim = {-2, -1}, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_irfft2_out(out, self, s, dim, norm); } }
namespace fft { inline Tensor irfftn(const Tensor& self, OptionalIntArrayRef s = std::nullopt, OptionalIntArrayRef dim = std::nullopt, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_irfftn(self, s, dim, norm); } }
namespace fft { inline Tensor& irfftn_out(Tensor& out, const Tensor& self, OptionalIntArrayRef s = std::nullopt, OptionalIntArrayRef dim = std::nullopt, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_irfftn_out(out, self, s, dim, norm); } }
namespace fft { inline Tensor rfft(const Tensor& self, std::optional<int64_t> n = std::nullopt, int64_t dim = -1, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_rfft(self, n, dim, norm); } }
namespace fft { inline Tensor& rfft_out(Tensor& out, const Tensor& self, std::optional<int64_t> n = std::nullopt, int64_t dim = -1, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_rfft_out(out, self, n, dim, norm); } }
namespace fft { inline Tensor rfft2(const Tensor& self, OptionalIntArrayRef s = std::nullopt, IntArrayRef dim = {-2, -1}, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_rfft2(self, s, dim, norm); } }
namespace fft { inline Tensor& rfft2_out(Tensor& out, const Tensor& self, OptionalIntArrayRef s = std::nullopt, IntArrayRef dim = {-2, -1}, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_rfft2_out(out, self, s, dim, norm); } }
namespace fft { inline Tensor rfftfreq(int64_t n, double d = 1.0, const TensorOptions& options = {}) { return cresset::fft_rfftfreq(n, d, options); } }
namespace fft { inline Tensor& rfftfreq_out(Tensor& out, int64_t n, double d = 1.0) { return cresset::fft_rfftfreq_out(out, n, d); } }
namespace fft { inline Tensor rfftn(const Tensor& self, OptionalIntArrayRef s = std::nullopt, OptionalIntArrayRef dim = std::nullopt, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_rfftn(self, s, dim, norm); } }
namespace fft { inline Tensor& rfftn_out(Tensor& out, const Tensor& self, OptionalIntArrayRef s = std::nullopt, OptionalIntArrayRef dim = std::nullopt, std::optional<std::string_view> norm = std::nullopt) { return cresset::fft_rfftn_out(out, self, s, dim, norm); } }
namespace linalg { inline Tensor cholesky(const Tensor& self, bool upper = false) { return cresset::linalg_cholesky(self, upper); } }
namespace linalg { inline Tensor& cholesky_out(Tensor& out, const Tensor& self, bool upper = false) { return cresset::linalg_cholesky_out(out, self, upper); } }
namespace linalg { inline std::tuple<Tensor, Tensor> cholesky_ex(const Tensor& self, bool upper = false, bool check_errors = false) { return cresset::linalg_cholesky_ex(self, upper, check_errors); } }
namespace linalg { inline std::tuple<Tensor&, Tensor&> cholesky_ex_out(Tensor& L, Tensor& info, const Tensor& self, bool upper = false, bool check_errors = false) { return cresset::linalg_cholesky_ex_out(L, info, self, upper, check_errors); } }
namespace linalg { inline Tensor cond(const Tensor& self, const std::optional<Scalar>& p = std::nullopt) { return cresset::linalg_cond(self, p); } }
namespace linalg { inline Tensor& cond_out(Tensor& out, const Tensor& self, const std::optional<Scalar>& p = std::nullopt) { return cresset::linalg_cond_out(out, self, p); } }
namespace linalg { inline Tensor cond(const Tensor& self, std::string_view p) { return cresset::linalg_cond(self, p); } }
namespace linalg { inline Tensor& cond_out(Tensor& out, const Tensor& self, std::string_view p) { return cresset::linalg_cond_out(out, self, p); } }
namespace linalg { inline Tensor cross(const Tensor& self, const Tensor& other, int64_t dim = -1) { return cresset::linalg_cross(self, other, dim); } }
namespace linalg { inline Tensor& cross_out(Tensor& out, const Tensor& self, const Tensor& other, int64_t dim = -1) { return cresset::linalg_cross_out(out, self, other, dim); } }
namespace linalg { inline Tensor det(const Tensor& A) { return cresset::linalg_det(A); } }
namespace linalg { inline Tensor& det_out(Tensor& out, const Tensor& A) { return cresset::linalg_det_out(out, A); } }
namespace linalg { inline Tensor diagonal(const Tensor& A, int64_t offset = 0, int64_t dim1 = -2, int64_t dim2 = -1) { return cresset::linalg_diagonal(A, offset, dim1, dim2); } }
namespace linalg { inline std::tuple<Tensor, Tensor> eig(const Tensor& self) { return cresset::linalg_eig(self); } }
namespace linalg { inline std::tuple<Tensor&, Tensor&> eig_out(Tensor& eigenvalues, Tensor& eigenvectors, const Tensor& self) { return cresset::linalg_eig_out(eigenvalues, eigenvectors, self); } }
namespace linalg { inline std::tuple<Tensor, Tensor> eigh(const Tensor& self, std::string_view UPLO = "L") { return cresset::linalg_eigh(self, UPLO); } }
namespace linalg { inline std::tuple<Tensor&, Tensor&> eigh_out(Tensor& eigvals, Tensor& eigvecs, const Tensor& self, std::string_view UPLO = "L") { return cresset::linalg_eigh_out(eigvals, eigvecs, self, UPLO); } }
namespace linalg { inline Tensor eigvals(const Tensor& self) { return cresset::linalg_eigvals(self); } }
namespace linalg { inline Tensor& eigvals_out(Tensor& out, const Tensor& self) { return cresset::linalg_eigvals_out(out, self); } }
namespace linalg { inline Tensor eigvalsh(const Tensor& self, std::string_view UPLO = "L") { return cresset::linalg_eigvalsh(self, UPLO); } }
namespace linalg { inline Tensor& eigvalsh_out(Tensor& out, const Tensor& self, std::string_view UPLO = "L") { return cresset::linalg_eigvalsh_out(out, self, UPLO); } }
namespace linalg { inline Tensor householder_product(const Tensor& input, const Tensor& tau) { return cresset::linalg_householder_product(input, tau); } }
namespace linalg { inline Tensor& householder_product_out(Tensor& out, const Tensor& input, const Tensor& tau) { return cresset::linalg_householder_product_out(out, input, tau); } }
namespace linalg { inline Tensor inv(const Tensor& A) { return cresset::linalg_inv(A); } }
namespace linalg { inline Tensor& inv_out(Tensor& out, const Tensor& A) { return cresset::linalg_inv_out(out, A); } }
namespace linalg { inline std::tuple<Tensor, Tensor> inv_ex(const Tensor& A, bool check_errors = false) { return cresset::linalg_inv_ex(A, check_errors); } }
namespace linalg { inline std::tuple<Tensor&, Tensor&> inv_ex_out(Tensor& inverse, Tensor& info, const Tensor& A, bool check_errors = false) { return cresset::linalg_inv_ex_out(inverse, info, A, check_errors); } }
namespace linalg { inline std::tuple<Tensor, Tensor, Tensor, Tensor> lstsq(const Tensor& self, const Tensor& b, std::optional<double> rcond = std::nullopt, std::string_view driver = "gelsy") { return cresset::linalg_lstsq(self, b, rcond, driver); } }
namespace linalg { inline std::tuple<Tensor&, Tensor&, Tensor&, Tensor&> lstsq_out(Tensor& solution, Tensor& residuals, Tensor& rank, Tensor& singular_values, const Tensor& self, const Tensor& b, std::optional<double> rcond = std::nullopt, std::string_view driver = "gelsy") { return cresset::linalg_lstsq_out(solution, residuals, rank, singular_values, self, b, rcond, driver); } }
namespace linalg { inline std::tuple<Tensor, Tensor, Tensor> lu(const Tensor& A, bool pivot = true) { return cresset::linalg_lu(A, pivot); } }
namespace linalg { inline std::tuple<Tensor&, Tensor&, Tensor&> lu_out(Tensor& P, Tensor& L, Tensor& U, const Tensor& A, bool pivot = true) { return cresset::linalg_lu_out(P, L, U, A, pivot); } }
namespace linalg { inline std::tuple<Tensor, Tensor> lu_factor(const Tensor& A, bool pivot = true) { return cresset::linalg_lu_factor(A, pivot); } }
namespace linalg { inline std::tuple<Tensor&, Tensor&> lu_factor_out(Tensor& LU, Tensor& pivots, const Tensor& A, bool pivot = true) { return cresset::linalg_lu_factor_out(LU, pivots, A, pivot); } }
namespace linalg { inline std::tuple<Tensor, Tensor, Tensor> lu_factor_ex(const Tensor& A, bool pivot = true, bool check_errors = false) { return cresset::linalg_lu_factor_ex(A, pivot, check_errors); } }
namespace linalg { inline std::tuple<Tensor&, Tensor&, Tensor&> lu_factor_ex_out(Tensor& LU, Tensor& pivots, Tensor& info, const Tensor& A, bool pivot = true, bool check_errors = false) { return cresset::linalg_lu_factor_ex_out(LU, pivots, info, A, pivot, check_errors); } }
namespace linalg { inline Tensor lu_solve(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left = true, bool adjoint = false) { return cresset::linalg_lu_solve(LU, pivots, B, left, adjoint); } }
namespace linalg { inline Tensor& lu_solve_out(Tensor& out, const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left = true, bool adjoint = false) { return cresset::linalg_lu_solve_out(out, LU, pivots, B, left, adjoint); } }
namespace linalg { inline Tensor matmul(const Tensor& self, const Tensor& other) { return cresset::matmul(self, other); } }
namespace linalg { inline Tensor& matmul_out(Tensor& out, const Tensor& self, const Tensor& other) { return cresset::matmul_out(out, self, other); } }
namespace linalg { inline Tensor matrix_exp(const Tensor& self) { return cresset::matrix_exp(self); } }
namespace linalg { inline Tensor matrix_norm(const Tensor& self, const Scalar& ord, IntArrayRef dim = {-2, -1}, bool keepdim = false, std::optional<DType> dtype = std::nullopt) { return cresset::linalg_matrix_norm(self, ord, dim, keepdim, dtype); } }
namespace linalg { inline Tensor& matrix_norm_out(Tensor& out, const Tensor& self, const Scalar& ord, IntArrayRef dim = {-2, -1}, bool keepdim = false, std::optional<DType> dtype = std::nullopt) { return cresset::linalg_matrix_norm_out(out, self, ord, dim, keepdim, dtype); } }
namespace linalg { inline Tensor matrix_norm(const Tensor& self, std::string_view ord = "fro", IntArrayRef dim = {-2, -1}, bool keepdim = false, std::optional<DType> dtype = std::nullopt) { return cresset::linalg_matrix_norm(self, ord, dim, keepdim, dtype); } }
namespace linalg { inline Tensor& matrix_norm_out(Tensor& out, const Tensor& self, std::string_view ord = "fro", IntArrayRef dim = {-2, -1}, bool keepdim = false, std::optional<DType> dtype = std::nullopt) { return cresset::linalg_matrix_norm_out(out, self, ord, dim, keepdim, dtype); } }
namespace linalg { inline Tensor matrix_power(const Tensor& self, int64_t n) { return cresset::matrix_power(self, n); } }
namespace linalg { inline Tensor& matrix_power_out(Tensor& out, const Tensor& self, int64_t n) { return cresset::matrix_power_out(out, self, n); } }
namespace linalg { inline Tensor matrix_rank(const Tensor& self, std::optional<double> atol = std::nullopt, std::optional<double> rtol = std::nullopt, bool hermitian = false) { return cresset::linalg_matrix_rank(self, atol, rtol, hermitian); } }
namespace linalg { inline Tensor& matrix_rank_out(Tensor& out, const Tensor& self, std::optional<double> atol = std::nullopt, std::optional<double> rtol = std::nullopt, bool hermitian = false) { return cresset::linalg_matrix_rank_out(out, self, atol, rtol, hermitian); } }
namespace linalg { inline Tensor matrix_rank(const Tensor& self, const Tensor& atol, const Tensor& rtol, bool hermitian = false) { return cresset::linalg_matrix_rank(self, atol, rtol, hermitian); } }
namespace linalg { inline Tensor& matrix_rank_out(Tensor& out, const Tensor& self, const Tensor& atol, const Tensor& rtol, bool hermitian = false) { return cresset::linalg_matrix_rank_out(out, self, atol, rtol, hermitian); } }
namespace linalg { inline Tensor matrix_rank(const Tensor& self, double tol, bool hermitian = false) { return cresset::linalg_matrix_rank(self, tol, hermitian); } }
namespace linalg { inline Tensor& matrix_rank_out(Tensor& out, const Tensor& self, double tol, bool hermitian = false) { return cresset::linalg_matrix_rank_out(out, self, tol, hermitian); } }
namespace linalg { inline Tensor multi_dot(TensorList tensors) { return cresset::linalg_multi_dot(tensors); } }
namespace linalg { inline Tensor& multi_dot_out(Tensor& out, TensorList tensors) { return cresset::linalg_multi_dot_out(out, tensors); } }
namespace linalg { inline Tensor norm(const Tensor& self, const std::optional<Scalar>& ord = std::nullopt, OptionalIntArrayRef dim = std::nullopt, bool keepdim = false, std::optional<DType> dtype = std::nullopt) { return cresset::linalg_norm(self, ord, dim, keepdim, dtype); } }
namespace linalg { inline Tensor& norm_out(Tensor& out, const Tensor& self, const std::optional<Scalar>& ord = std::nullopt, OptionalIntArrayRef dim = std::nullopt, bool keepdim = false, std::optional<DType> dtype = std::nullopt) { return cresset::linalg_norm_out(out, self, ord, dim, keepdim, dtype); } }
namespace linalg { inline Tensor norm(const Tensor& self, std::string_view ord, OptionalIntArrayRef dim = std::nullopt, bool keepdim = false, std::optional<DType> dtype = std::nullopt) { return cresset::linalg_norm(self, ord, dim, keepdim, dtype); } }
namespace linalg { inline Tensor& norm_out(Tensor& out, const Tensor& self, std::string_view ord, OptionalIntArrayRef dim = std::nullopt, bool keepdim = false, std::optional<DType> dtype = std::nullopt) { return cresset::linalg_norm_out(out, self, ord, dim, keepdim, dtype); } }
namespace linalg { inline Tensor pinv(const Tensor& self, std::optional<double> atol = std::nullopt, std::optional<double> rtol = std::nullopt, bool hermitian = false) { return cresset::linalg_pinv(self, atol, rtol, hermitian); } }
namespace linalg { inline Tensor& pinv_out(Tensor& out, const Tensor& self, std::optional<double> atol = std::nullopt, std::optional<double> rtol = std::nullopt, bool hermitian = false) { return cresset::linalg_pinv_out(out, self, atol, rtol, hermitian); } }
namespace linalg { inline Tensor pinv(const Tensor& self, const Tensor& atol, const Tensor& rtol, bool hermitian = false) { return cresset::linalg_pinv(self, atol, rtol, hermitian); } }
namespace linalg { inline Tensor& pinv_out(Tensor& out, const Tensor& self, const Tensor& atol, const Tensor& rtol, bool hermitian = false) { return cresset::linalg_pinv_out(out, self, atol, rtol, hermitian); } }
namespace linalg { inline Tensor pinv(const Tensor& self, double rcond, bool hermitian = false) { return cresset::linalg_pinv(self, rcond, hermitian); } }
namespace linalg { inline Tensor& pinv_out(Tensor& out, const Tensor& self, double rcond, bool hermitian = false) { return cresset::linalg_pinv_out(out, self, rcond, hermitian); } }
namespace linalg { inline std::tuple<Tensor, Tensor> qr(const Tensor& A, std::string_view mode = "reduced") { return cresset::linalg_qr(A, mode); } }
namespace linalg { inline std::tuple<Tensor&, Tensor&> qr_out(Tensor& Q, Tensor& R, const Tensor& A, std::string_view mode = "reduced") { return cresset::linalg_qr_out(Q, R, A, mode); } }
namespace linalg { inline std::tuple<Tensor, Tensor> slogdet(const Tensor& A) { return cresset::linalg_slogdet(A); } }
namespace linalg { inline std::tuple<Tensor&, Tensor&> slogdet_out(Tensor& sign, Tensor& logabsdet, const Tensor& A) { return cresset::linalg_slogdet_out(sign, logabsdet, A); } }
namespace linalg { inline Tensor solve(const Tensor& A, const Tensor& B, bool left = true) { return cresset::linalg_solve(A, B, left); } }
namespace linalg { inline Tensor& solve_out(Tensor& out, const Tensor& A, const Tensor& B, bool left = true) { return cresset::linalg_solve_out(out, A, B, left); } }
namespace linalg { inline std::tuple<Tensor, Tensor> solve_ex(const Tensor& A, const Tensor& B, bool left = true, bool check_errors = false) { return cresset::linalg_solve_ex(A, B, left, check_errors); } }
namespace linalg { inline std::tuple<Tensor&, Tensor&> solve_ex_out(Tensor& result, Tensor& info, const Tensor& A, const Tensor& B, bool left = true, bool check_errors = false) { return cresset::linalg_solve_ex_out(result, info, A, B, left, check_errors); } }
namespace linalg { inline Tensor solve_triangular(const Tensor& self, const Tensor& B, bool upper, bool left = true, bool unitriangular = false) { return cresset::linalg_solve_triangular(self, B, upper, left, unitriangular); } }
namespace linalg { inline Tensor& solve_triangular_out(Tensor& out, const Tensor& self, const Tensor& B, bool upper, bool left = true, bool unitriangular = false) { return cresset::linalg_solve_triangular_out(out, self, B, upper, left, unitriangular); } }
namespace linalg { inline std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& A, bool full_matrices = true) { return cresset::linalg_svd(A, full_matrices); } }
namespace linalg { inline std::tuple<Tensor&, Tensor&, Tensor&> svd_out(Tensor& U, Tensor& S, Tensor& Vh, const Tensor& A, bool full_matrices = true) { return cresset::linalg_svd_out(U, S, Vh, A, full_matrices); } }
namespace linalg { inline Tensor svdvals(const Tensor& A) { return cresset::linalg_svdvals(A); } }
namespace linalg { inline Tensor& svdvals_out(Tensor& out, const Tensor& A) { return cresset::linalg_svdvals_out(out, A); } }
namespace linalg { inline Tensor tensorinv(const Tensor& self, int64_t ind = 2) { return cresset::linalg_tensorinv(self, ind); } }
namespace linalg { inline Tensor& tensorinv_out(Tensor& out, const Tensor& self, int64_t ind = 2) { return cresset::linalg_tensorinv_out(out, self, ind); } }
namespace linalg { inline Tensor tensorsolve(const Tensor& self, const Tensor& other, OptionalIntArrayRef dims = std::nullopt) { return cresset::linalg_tensorsolve(self, other, dims); } }
namespace linalg { inline Tensor& tensorsolve_out(Tensor& out, const Tensor& self, const Tensor& other, OptionalIntArrayRef dims = std::nullopt) { return cresset::linalg_tensorsolve_out(out, self, other, dims); } }
namespace linalg { inline Tensor vander(const Tensor& x, std::optional<int64_t> N = std::nullopt) { return cresset::linalg_vander(x, N); } }
namespace linalg { inline Tensor vecdot(const Tensor& x, const Tensor& y, int64_t dim = -1) { return cresset::linalg_vecdot(x, y, dim); } }
namespace linalg { inline Tensor& vecdot_out(Tensor& out, const Tensor& x, const Tensor& y, int64_t dim = -1) { return cresset::linalg_vecdot_out(out, x, y, dim); } }
namespace linalg { inline Tensor vector_norm(const Tensor& self, const Scalar& ord = 2, OptionalIntArrayRef dim = std::nullopt, bool keepdim = false, std::optional<DType> dtype = std::nullopt) { return cresset::linalg_vector_norm(self, ord, dim, keepdim, dtype); } }
namespace linalg { inline Tensor& vector_norm_out(Tensor& out, const Tensor& self, const Scalar& ord = 2, OptionalIntArrayRef dim = std::nullopt, bool keepdim = false, std::optional<DType> dtype = std::nullopt) { return cresset::linalg_vector_norm_out(out, self, ord, dim, keepdim, dtype); } }
namespace special { inline Tensor bessel_j0(const Tensor& self) { return cresset::special_bessel_j0(self); } }
namespace special { inline Tensor& bessel_j0_out(Tensor& out, const Tensor& self) { return cresset::special_bessel_j0_out(out, self); } }
namespace special { inline Tensor bessel_j1(const Tensor& self) { return cresset::special_bessel_j1(self); } }
namespace special { inline Tensor& bessel_j1_out(Tensor& out, const Tensor& self) { return cresset::special_bessel_j1_out(out, self); } }
namespace special { inline Tensor bessel_y0(const Tensor& self) { return cresset::special_bessel_y0(self); } }
namespace special { inline Tensor& bessel_y0_out(Tensor& out, const Tensor& self) { return cresset::special_bessel_y0_out(out, self); } }
namespace special { inline Tensor bessel_y1(const Tensor& self) { return cresset::special_bessel_y1(self); } }
namespace special { inline Tensor& bessel_y1_out(Tensor& out, const Tensor& self) { return cresset::special_bessel_y1_out(out, self); } }
namespace special { inline Tensor digamma(const Tensor& self) { return cresset::digamma(self); } }
namespace special { inline Tensor& digamma_(const Tensor& self) { return cresset::digamma_(self); } }
namespace special { inline Tensor& digamma_out(Tensor& out, const Tensor& self) { return cresset::digamma_out(out, self); } }
namespace special { inline Tensor entr(const Tensor& self) { return cresset::special_entr(self); } }
namespace special { inline Tensor& entr_out(Tensor& out, const Tensor& self) { return cresset::special_entr_out(out, self); } }
namespace special { inline Tensor erf(const Tensor& self) { return cresset::erf(self); } }
namespace special { inline Tensor& erf_(const Tensor& self) { return cresset::erf_(self); } }
namespace special { inline Tensor& erf_out(Tensor& out, const Tensor& self) { return cresset::erf_out(out, self); } }
namespace special { inline Tensor erfc(const Tensor& self) { return cresset::erfc(self); } }
namespace special { inline Tensor& erfc_(const Tensor& self) { return cresset::erfc_(self); } }
namespace special { inline Tensor& erfc_out(Tensor& out, const Tensor& self) { return cresset::erfc_out(out, self); } }
namespace special { inline Tensor erfcx(const Tensor& self) { return cresset::special_erfcx(self); } }
namespace special { inline Tensor& erfcx_out(Tensor& out, const Tensor& self) { return cresset::special_erfcx_out(out, self); } }
namespace special { inline Tensor erfinv(const Tensor& self) { return cresset::erfinv(self); } }
namespace special { inline Tensor& erfinv_(const Tensor& self) { return cresset::erfinv_(self); } }
namespace special { inline Tensor& erfinv_out(Tensor& out, const Tensor& self) { return cresset::erfinv_out(out, self); } }
namespace special { inline Tensor exp2(const Tensor& self) { return cresset::exp2(self); } }
namespace special { inline Tensor& exp2_(const Tensor& self) { return cresset::exp2_(self); } }
namespace special { inline Tensor& exp2_out(Tensor& out, const Tensor& self) { return cresset::exp2_out(out, self); } }
namespace special { inline Tensor expit(const Tensor& self) { return cresset::sigmoid(self); } }
namespace special { inline Tensor& expit_(const Tensor& self) { return cresset::sigmoid_(self); } }
namespace special { inline Tensor& expit_out(Tensor& out, const Tensor& self) { return cresset::sigmoid_out(out, self); } }
namespace special { inline Tensor expm1(const Tensor& self) { return cresset::expm1(self); } }
namespace special { inline Tensor& expm1_(const Tensor& self) { return cresset::expm1_(self); } }
namespace special { inline Tensor& expm1_out(Tensor& out, const Tensor& self) { return cresset::expm1_out(out, self); } }
namespace special { inline Tensor gammaln(const Tensor& self) { return cresset::lgamma(self); } }
namespace special { inline Tensor& gammaln_(const Tensor& self) { return cresset::lgamma_(self); } }
namespace special { inline Tensor& gammaln_out(Tensor& out, const Tensor& self) { return cresset::lgamma_out(out, self); } }
namespace special { inline Tensor i0(const Tensor& self) { return cresset::i0(self); } }
namespace special { inline Tensor& i0_(const Tensor& self) { return cresset::i0_(self); } }
namespace special { inline Tensor& i0_out(Tensor& out, const Tensor& self) { return cresset::i0_out(out, self); } }
namespace special { inline Tensor i0e(const Tensor& self) { return cresset::special_i0e(self); } }
namespace special { inline Tensor& i0e_out(Tensor& out, const Tensor& self) { return cresset::special_i0e_out(out, self); } }
namespace special { inline Tensor i1(const Tensor& self) { return cresset::special_i1(self); } }
namespace special { inline Tensor& i1_out(Tensor& out, const Tensor& self) { return cresset::special_i1_out(out, self); } }
namespace special { inline Tensor i1e(const Tensor& self) { return cresset::special_i1e(self); } }
namespace special { inline Tensor& i1e_out(Tensor& out, const Tensor& self) { return cresset::special_i1e_out(out, self); } }
namespace special { inline Tensor log1p(const Tensor& self) { return cresset::log1p(self); } }
namespace special { inline Tensor& log1p_(const Tensor& self) { return cresset::log1p_(self); } }
namespace special { inline Tensor& log1p_out(Tensor& out, const Tensor& self) { return cresset::log1p_out(out, self); } }
namespace special { inline Tensor log_ndtr(const Tensor& self) { return cresset::special_log_ndtr(self); } }
namespace special { inline Tensor& log_ndtr_out(Tensor& out, const Tensor& self) { return cresset::special_log_ndtr_out(out, self); } }
namespace special { inline Tensor logit(const Tensor& self, std::optional<double> eps = std::nullopt) { return cresset::logit(self, eps); } }
namespace special { inline Tensor& logit_(const Tensor& self, std::optional<double> eps = std::nullopt) { return cresset::logit_(self, eps); } }
namespace special { inline Tensor& logit_out(Tensor& out, const Tensor& self, std::optional<double> eps = std::nullopt) { return cresset::logit_out(out, self, eps); } }
namespace special { inline Tensor multigammaln(const Tensor& self, int64_t p) { return cresset::mvlgamma(self, p); } }
namespace special { inline Tensor& multigammaln_(const Tensor& self, int64_t p) { return cresset::mvlgamma_(self, p); } }
namespace special { inline Tensor& multigammaln_out(Tensor& out, const Tensor& self, int64_t p) { return cresset::mvlgamma_out(out, self, p); } }
namespace special { inline Tensor ndtr(const Tensor& self) { return cresset::special_ndtr(self); } }
namespace special { inline Tensor& ndtr_out(Tensor& out, const Tensor& self) { return cresset::special_ndtr_out(out, self); } }
namespace special { inline Tensor ndtri(const Tensor& self) { return cresset::special_ndtri(self); } }
namespace special { inline Tensor& ndtri_out(Tensor& out, const Tensor& self) { return cresset::special_ndtri_out(out, self); } }
namespace special { inline Tensor polygamma(int64_t n, const Tensor& self) { return cresset::polygamma(n, self); } }
namespace special { inline Tensor& polygamma_out(Tensor& out, int64_t n, const Tensor& self) { return cresset::polygamma_out(out, n, self); } }
namespace special { inline Tensor psi(const Tensor& self) { return cresset::digamma(self); } }
namespace special { inline Tensor& psi_(const Tensor& self) { return cresset::digamma_(self); } }
namespace special { inline Tensor& psi_out(Tensor& out, const Tensor& self) { return cresset::digamma_out(out, self); } }
namespace special { inline Tensor round(const Tensor& self) { return cresset::round(self); } }
namespace special { inline Tensor& round_(const Tensor& self) { return cresset::round_(self); } }
namespace special { inline Tensor& round_out(Tensor& out, const Tensor& self) { return cresset::round_out(out, self); } }
namespace special { inline Tensor round(const Tensor& self, int64_t decimals) { return cresset::round(self, decimals); } }
namespace special { inline Tensor& round_(const Tensor& self, int64_t decimals) { return cresset::round_(self, decimals); } }
namespace special { inline Tensor& round_out(Tensor& out, const Tensor& self, int64_t decimals) { return cresset::round_out(out, self, decimals); } }
namespace special { inline Tensor sinc(const Tensor& self) { return cresset::sinc(self); } }
namespace special { inline Tensor& sinc_(const Tensor& self) { return cresset::sinc_(self); } }
namespace special { inline Tensor& sinc_out(Tensor& out, const Tensor& self) { return cresset::sinc_out(out, self); } }
namespace special { inline Tensor xlog1py(const Tensor& self, const Tensor& other) { return cresset::special_xlog1py(self, other); } }
namespace special { inline Tensor& xlog1py_out(Tensor& out, const Tensor& self, const Tensor& other) { return cresset::special_xlog1py_out(out, self, other); } }
namespace special { inline Tensor xlog1py(const Tensor& self, const Scalar& other) { return cresset::special_xlog1py(self, other); } }
namespace special { inline Tensor& xlog1py_out(Tensor& out, const Tensor& self, const Scalar& other) { return cresset::special_xlog1py_out(out, self, other); } }
namespace special { inline Tensor xlog1py(const Scalar& self, const Tensor& other) { return cresset::special_xlog1py(self, other); } }
namespace special { inline Tensor& xlog1py_out(Tensor& out, const Scalar& self, const Tensor& other) { return cresset::special_xlog1py_out(out, self, other); } }
namespace special { inline Tensor gammainc(const Tensor& self, const Tensor& other) { return cresset::igamma(self, other); } }
namespace special { inline Tensor& gammainc_(const Tensor& self, const Tensor& other) { return cresset::igamma_(self, other); } }
namespace special { inline Tensor& gammainc_out(Tensor& out, const Tensor& self, const Tensor& other) { return cresset::igamma_out(out, self, other); } }
namespace special { inline Tensor gammaincc(const Tensor& self, const Tensor& other) { return cresset::igammac(self, other); } }
namespace special { inline Tensor& gammaincc_(const Tensor& self, const Tensor& other) { return cresset::igammac_(self, other); } }
namespace special { inline Tensor& gammaincc_out(Tensor& out, const Tensor& self, const Tensor& other) { return cresset::igammac_out(out, self, other); } }
namespace special { inline Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype = std::nullopt) { return cresset::log_softmax(self, dim, dtype); } }
namespace special { inline Tensor& log_softmax_out(Tensor& out, const Tensor& self, int64_t dim, std::optional<DType> dtype = std::nullopt) { return cresset::log_softmax_out(out, self, dim, dtype); } }
namespace special { inline Tensor logsumexp(const Tensor& self, IntArrayRef dim, bool keepdim = false) { return cresset::logsumexp(self, dim, keepdim); } }
namespace special { inline Tensor& logsumexp_out(Tensor& out, const Tensor& self, IntArrayRef dim, bool keepdim = false) { return cresset::logsumexp_out(out, self, dim, keepdim); } }
namespace special { inline Tensor softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype = std::nullopt) { return cresset::softmax(self, dim, dtype); } }
namespace special { inline Tensor& softmax_out(Tensor& out, const Tensor& self, int64_t dim, std::optional<DType> dtype = std::nullopt) { return cresset::softmax_out(out, self, dim, dtype); } }
namespace special { inline Tensor zeta(const Tensor& self, const Tensor& other) { return cresset::special_zeta(self, other); } }
namespace special { inline Tensor& zeta_out(Tensor& out, const Tensor& self, const Tensor& other) { return cresset::special_zeta_out(out, self, other); } }
namespace special { inline Tensor xlogy(const Tensor& self, const Tensor& other) { return cresset::xlogy(self, other); } }
namespace special { inline Tensor& xlogy_(const Tensor& self, const Tensor& other) { return cresset::xlogy_(self, other); } }
namespace special { inline Tensor& xlogy_out(Tensor& out, const Tensor& self, const Tensor& other) { return cresset::xlogy_out(out, self, other); } }
namespace special { inline Tensor xlogy(const Tensor& self, const Scalar& other) { return cresset::xlogy(self, other); } }
namespace special { inline Tensor& xlogy_(const Tensor& self, const Scalar& other) { return cresset::xlogy_(self, other); } }
namespace special { inline Tensor& xlogy_out(Tensor& out, const Tensor& self, const Scalar& other) { return cresset::xlogy_out(out, self, other); } }
namespace special { inline Tensor xlogy(const Scalar& self, const Tensor& other) { return cresset::xlogy(self, other); } }
namespace special { inline Tensor& xlogy_out(Tensor& out, const Scalar& self, const Tensor& other) { return cresset::xlogy_out(out, self, other); } }

}  // namespace cresset
