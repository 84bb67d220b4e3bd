// Written by cresset-oplist from the op registry: do not edit.
// clang-format off
#include "cresset/ops/all.h"

namespace cresset {

Tensor Tensor::hardshrink(const Scalar& lambd) const { return cresset::hardshrink(*this, lambd); }
Tensor Tensor::prelu(const Tensor& weight) const { return cresset::prelu(*this, weight); }
Tensor Tensor::bitwise_and(const Tensor& other) const { return cresset::bitwise_and(*this, other); }
Tensor& Tensor::bitwise_and_(const Tensor& other) const { return cresset::bitwise_and_(*this, other); }
Tensor Tensor::bitwise_and(const Scalar& other) const { return cresset::bitwise_and(*this, other); }
Tensor& Tensor::bitwise_and_(const Scalar& other) const { return cresset::bitwise_and_(*this, other); }
Tensor Tensor::bitwise_or(const Tensor& other) const { return cresset::bitwise_or(*this, other); }
Tensor& Tensor::bitwise_or_(const Tensor& other) const { return cresset::bitwise_or_(*this, other); }
Tensor Tensor::bitwise_or(const Scalar& other) const { return cresset::bitwise_or(*this, other); }
Tensor& Tensor::bitwise_or_(const Scalar& other) const { return cresset::bitwise_or_(*this, other); }
Tensor Tensor::bitwise_xor(const Tensor& other) const { return cresset::bitwise_xor(*this, other); }
Tensor& Tensor::bitwise_xor_(const Tensor& other) const { return cresset::bitwise_xor_(*this, other); }
Tensor Tensor::bitwise_xor(const Scalar& other) const { return cresset::bitwise_xor(*this, other); }
Tensor& Tensor::bitwise_xor_(const Scalar& other) const { return cresset::bitwise_xor_(*this, other); }
Tensor Tensor::bitwise_left_shift(const Tensor& other) const { return cresset::bitwise_left_shift(*this, other); }
Tensor& Tensor::bitwise_left_shift_(const Tensor& other) const { return cresset::bitwise_left_shift_(*this, other); }
Tensor Tensor::bitwise_left_shift(const Scalar& other) const { return cresset::bitwise_left_shift(*this, other); }
Tensor& Tensor::bitwise_left_shift_(const Scalar& other) const { return cresset::bitwise_left_shift_(*this, other); }
Tensor Tensor::bitwise_right_shift(const Tensor& other) const { return cresset::bitwise_right_shift(*this, other); }
Tensor& Tensor::bitwise_right_shift_(const Tensor& other) const { return cresset::bitwise_right_shift_(*this, other); }
Tensor Tensor::bitwise_right_shift(const Scalar& other) const { return cresset::bitwise_right_shift(*this, other); }
Tensor& Tensor::bitwise_right_shift_(const Scalar& other) const { return cresset::bitwise_right_shift_(*this, other); }
Tensor Tensor::bitwise_not() const { return cresset::bitwise_not(*this); }
Tensor& Tensor::bitwise_not_() const { return cresset::bitwise_not_(*this); }
Tensor Tensor::gcd(const Tensor& other) const { return cresset::gcd(*this, other); }
Tensor& Tensor::gcd_(const Tensor& other) const { return cresset::gcd_(*this, other); }
Tensor Tensor::lcm(const Tensor& other) const { return cresset::lcm(*this, other); }
Tensor& Tensor::lcm_(const Tensor& other) const { return cresset::lcm_(*this, other); }
std::vector<Tensor> Tensor::chunk(int64_t chunks, int64_t dim) const { return cresset::chunk(*this, chunks, dim); }
Tensor Tensor::eq(const Tensor& other) const { return cresset::eq(*this, other); }
Tensor& Tensor::eq_(const Tensor& other) const { return cresset::eq_(*this, other); }
Tensor Tensor::eq(const Scalar& other) const { return cresset::eq(*this, other); }
Tensor& Tensor::eq_(const Scalar& other) const { return cresset::eq_(*this, other); }
Tensor Tensor::ne(const Tensor& other) const { return cresset::ne(*this, other); }
Tensor& Tensor::ne_(const Tensor& other) const { return cresset::ne_(*this, other); }
Tensor Tensor::ne(const Scalar& other) const { return cresset::ne(*this, other); }
Tensor& Tensor::ne_(const Scalar& other) const { return cresset::ne_(*this, other); }
Tensor Tensor::lt(const Tensor& other) const { return cresset::lt(*this, other); }
Tensor& Tensor::lt_(const Tensor& other) const { return cresset::lt_(*this, other); }
Tensor Tensor::lt(const Scalar& other) const { return cresset::lt(*this, other); }
Tensor& Tensor::lt_(const Scalar& other) const { return cresset::lt_(*this, other); }
Tensor Tensor::le(const Tensor& other) const { return cresset::le(*this, other); }
Tensor& Tensor::le_(const Tensor& other) const { return cresset::le_(*this, other); }
Tensor Tensor::le(const Scalar& other) const { return cresset::le(*this, other); }
Tensor& Tensor::le_(const Scalar& other) const { return cresset::le_(*this, other); }
Tensor Tensor::gt(const Tensor& other) const { return cresset::gt(*this, other); }
Tensor& Tensor::gt_(const Tensor& other) const { return cresset::gt_(*this, other); }
Tensor Tensor::gt(const Scalar& other) const { return cresset::gt(*this, other); }
Tensor& Tensor::gt_(const Scalar& other) const { return cresset::gt_(*this, other); }
Tensor Tensor::ge(const Tensor& other) const { return cresset::ge(*this, other); }
Tensor& Tensor::ge_(const Tensor& other) const { return cresset::ge_(*this, other); }
Tensor Tensor::ge(const Scalar& other) const { return cresset::ge(*this, other); }
Tensor& Tensor::ge_(const Scalar& other) const { return cresset::ge_(*this, other); }
Tensor Tensor::logical_and(const Tensor& other) const { return cresset::logical_and(*this, other); }
Tensor& Tensor::logical_and_(const Tensor& other) const { return cresset::logical_and_(*this, other); }
Tensor Tensor::logical_or(const Tensor& other) const { return cresset::logical_or(*this, other); }
Tensor& Tensor::logical_or_(const Tensor& other) const { return cresset::logical_or_(*this, other); }
Tensor Tensor::logical_xor(const Tensor& other) const { return cresset::logical_xor(*this, other); }
Tensor& Tensor::logical_xor_(const Tensor& other) const { return cresset::logical_xor_(*this, other); }
Tensor Tensor::logical_not() const { return cresset::logical_not(*this); }
Tensor& Tensor::logical_not_() const { return cresset::logical_not_(*this); }
Tensor Tensor::isnan() const { return cresset::isnan(*this); }
Tensor Tensor::isinf() const { return cresset::isinf(*this); }
Tensor Tensor::isfinite() const { return cresset::isfinite(*this); }
Tensor Tensor::isposinf() const { return cresset::isposinf(*this); }
Tensor Tensor::isneginf() const { return cresset::isneginf(*this); }
Tensor Tensor::isreal() const { return cresset::isreal(*this); }
Tensor Tensor::signbit() const { return cresset::signbit(*this); }
Tensor Tensor::isclose(const Tensor& other, double rtol, double atol, bool equal_nan) const { return cresset::isclose(*this, other, rtol, atol, equal_nan); }
bool Tensor::allclose(const Tensor& other, double rtol, double atol, bool equal_nan) const { return cresset::allclose(*this, other, rtol, atol, equal_nan); }
bool Tensor::equal(const Tensor& other) const { return cresset::equal(*this, other); }
Tensor Tensor::view_as_real() const { return cresset::view_as_real(*this); }
Tensor Tensor::view_as_complex() const { return cresset::view_as_complex(*this); }
Tensor Tensor::real() const { return cresset::real(*this); }
Tensor Tensor::imag() const { return cresset::imag(*this); }
Tensor Tensor::resolve_conj() const { return cresset::resolve_conj(*this); }
Tensor Tensor::resolve_neg() const { return cresset::resolve_neg(*this); }
Tensor Tensor::conv_tbc(const Tensor& weight, const Tensor& bias, int64_t pad) const { return cresset::conv_tbc(*this, weight, bias, pad); }
Tensor Tensor::clone(std::optional<MemoryFormat> memory_format) const { return cresset::clone(*this, memory_format); }
Tensor& Tensor::copy_(const Tensor& source, bool non_blocking) const { return cresset::copy_(*this, source, non_blocking); }
Tensor& Tensor::fill_(const Scalar& value) const { return cresset::fill_(*this, value); }
Tensor& Tensor::zero_() const { return cresset::zero_(*this); }
Tensor Tensor::empty_like(const TensorOptions& options, std::optional<MemoryFormat> memory_format) const { return cresset::empty_like(*this, options, memory_format); }
Tensor Tensor::full_like(const Scalar& fill_value, const TensorOptions& options, std::optional<MemoryFormat> memory_format) const { return cresset::full_like(*this, fill_value, options, memory_format); }
Tensor Tensor::zeros_like(const TensorOptions& options, std::optional<MemoryFormat> memory_format) const { return cresset::zeros_like(*this, options, memory_format); }
Tensor Tensor::ones_like(const TensorOptions& options, std::optional<MemoryFormat> memory_format) const { return cresset::ones_like(*this, options, memory_format); }
Tensor Tensor::new_empty(IntArrayRef size, const TensorOptions& options) const { return cresset::new_empty(*this, size, options); }
Tensor Tensor::new_empty_strided(IntArrayRef size, IntArrayRef stride, const TensorOptions& options) const { return cresset::new_empty_strided(*this, size, stride, options); }
Tensor Tensor::new_zeros(IntArrayRef size, const TensorOptions& options) const { return cresset::new_zeros(*this, size, options); }
Tensor Tensor::new_ones(IntArrayRef size, const TensorOptions& options) const { return cresset::new_ones(*this, size, options); }
Tensor Tensor::new_full(IntArrayRef size, const Scalar& fill_value, const TensorOptions& options) const { return cresset::new_full(*this, size, fill_value, options); }
Tensor Tensor::tril(int64_t diagonal) const { return cresset::tril(*this, diagonal); }
Tensor& Tensor::tril_(int64_t diagonal) const { return cresset::tril_(*this, diagonal); }
Tensor Tensor::triu(int64_t diagonal) const { return cresset::triu(*this, diagonal); }
Tensor& Tensor::triu_(int64_t diagonal) const { return cresset::triu_(*this, diagonal); }
Tensor Tensor::diagonal(int64_t offset, int64_t dim1, int64_t dim2) const { return cresset::diagonal(*this, offset, dim1, dim2); }
Tensor Tensor::diag_embed(int64_t offset, int64_t dim1, int64_t dim2) const { return cresset::diag_embed(*this, offset, dim1, dim2); }
Tensor Tensor::diag(int64_t diagonal) const { return cresset::diag(*this, diagonal); }
Tensor Tensor::diagflat(int64_t offset) const { return cresset::diagflat(*this, offset); }
Tensor& Tensor::fill_diagonal_(const Scalar& fill_value, bool wrap) const { return cresset::fill_diagonal_(*this, fill_value, wrap); }
Tensor Tensor::trace() const { return cresset::trace(*this); }
Tensor Tensor::diff(int64_t n, int64_t dim, const Tensor& prepend, const Tensor& append) const { return cresset::diff(*this, n, dim, prepend, append); }
Tensor Tensor::div(const Tensor& other, std::optional<std::string_view> rounding_mode) const { return cresset::div(*this, other, rounding_mode); }
Tensor& Tensor::div_(const Tensor& other, std::optional<std::string_view> rounding_mode) const { return cresset::div_(*this, other, rounding_mode); }
Tensor Tensor::div(const Scalar& other, std::optional<std::string_view> rounding_mode) const { return cresset::div(*this, other, rounding_mode); }
Tensor& Tensor::div_(const Scalar& other, std::optional<std::string_view> rounding_mode) const { return cresset::div_(*this, other, rounding_mode); }
Tensor Tensor::floor_divide(const Tensor& other) const { return cresset::floor_divide(*this, other); }
Tensor& Tensor::floor_divide_(const Tensor& other) const { return cresset::floor_divide_(*this, other); }
Tensor Tensor::floor_divide(const Scalar& other) const { return cresset::floor_divide(*this, other); }
Tensor& Tensor::floor_divide_(const Scalar& other) const { return cresset::floor_divide_(*this, other); }
Tensor Tensor::fmod(const Tensor& other) const { return cresset::fmod(*this, other); }
Tensor& Tensor::fmod_(const Tensor& other) const { return cresset::fmod_(*this, other); }
Tensor Tensor::fmod(const Scalar& other) const { return cresset::fmod(*this, other); }
Tensor& Tensor::fmod_(const Scalar& other) const { return cresset::fmod_(*this, other); }
Tensor Tensor::remainder(const Tensor& other) const { return cresset::remainder(*this, other); }
Tensor& Tensor::remainder_(const Tensor& other) const { return cresset::remainder_(*this, other); }
Tensor Tensor::remainder(const Scalar& other) const { return cresset::remainder(*this, other); }
Tensor& Tensor::remainder_(const Scalar& other) const { return cresset::remainder_(*this, other); }
Tensor Tensor::rsub(const Tensor& other, const Scalar& alpha) const { return cresset::rsub(*this, other, alpha); }
Tensor Tensor::rsub(const Scalar& other, const Scalar& alpha) const { return cresset::rsub(*this, other, alpha); }
Tensor& Tensor::embedding_renorm_(const Tensor& indices, double max_norm, double norm_type) const { return cresset::embedding_renorm_(*this, indices, max_norm, norm_type); }
Tensor Tensor::one_hot(int64_t num_classes) const { return cresset::one_hot(*this, num_classes); }
Tensor Tensor::maximum(const Tensor& other) const { return cresset::maximum(*this, other); }
Tensor Tensor::minimum(const Tensor& other) const { return cresset::minimum(*this, other); }
Tensor Tensor::max(const Tensor& other) const { return cresset::max(*this, other); }
Tensor Tensor::min(const Tensor& other) const { return cresset::min(*this, other); }
Tensor Tensor::fmax(const Tensor& other) const { return cresset::fmax(*this, other); }
Tensor Tensor::fmin(const Tensor& other) const { return cresset::fmin(*this, other); }
Tensor Tensor::clamp(const std::optional<Scalar>& min, const std::optional<Scalar>& max) const { return cresset::clamp(*this, min, max); }
Tensor& Tensor::clamp_(const std::optional<Scalar>& min, const std::optional<Scalar>& max) const { return cresset::clamp_(*this, min, max); }
Tensor Tensor::clamp_min(const Scalar& min) const { return cresset::clamp_min(*this, min); }
Tensor& Tensor::clamp_min_(const Scalar& min) const { return cresset::clamp_min_(*this, min); }
Tensor Tensor::clamp_max(const Scalar& max) const { return cresset::clamp_max(*this, max); }
Tensor& Tensor::clamp_max_(const Scalar& max) const { return cresset::clamp_max_(*this, max); }
Tensor Tensor::clamp(const Tensor& min, const Tensor& max) const { return cresset::clamp(*this, min, max); }
Tensor& Tensor::clamp_(const Tensor& min, const Tensor& max) const { return cresset::clamp_(*this, min, max); }
Tensor Tensor::clamp_min(const Tensor& min) const { return cresset::clamp_min(*this, min); }
Tensor& Tensor::clamp_min_(const Tensor& min) const { return cresset::clamp_min_(*this, min); }
Tensor Tensor::clamp_max(const Tensor& max) const { return cresset::clamp_max(*this, max); }
Tensor& Tensor::clamp_max_(const Tensor& max) const { return cresset::clamp_max_(*this, max); }
Tensor Tensor::amax(IntArrayRef dim, bool keepdim) const { return cresset::amax(*this, dim, keepdim); }
Tensor Tensor::amin(IntArrayRef dim, bool keepdim) const { return cresset::amin(*this, dim, keepdim); }
Tensor Tensor::max() const { return cresset::max(*this); }
Tensor Tensor::min() const { return cresset::min(*this); }
std::tuple<Tensor, Tensor> Tensor::max(int64_t dim, bool keepdim) const { return cresset::max(*this, dim, keepdim); }
std::tuple<Tensor, Tensor> Tensor::min(int64_t dim, bool keepdim) const { return cresset::min(*this, dim, keepdim); }
std::tuple<Tensor, Tensor> Tensor::aminmax(std::optional<int64_t> dim, bool keepdim) const { return cresset::aminmax(*this, dim, keepdim); }
Tensor Tensor::argmax(std::optional<int64_t> dim, bool keepdim) const { return cresset::argmax(*this, dim, keepdim); }
Tensor Tensor::argmin(std::optional<int64_t> dim, bool keepdim) const { return cresset::argmin(*this, dim, keepdim); }
Tensor Tensor::im2col(IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) const { return cresset::im2col(*this, kernel_size, dilation, padding, stride); }
Tensor Tensor::col2im(IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) const { return cresset::col2im(*this, output_size, kernel_size, dilation, padding, stride); }
Tensor Tensor::gather(int64_t dim, const Tensor& index, bool sparse_grad) const { return cresset::gather(*this, dim, index, sparse_grad); }
Tensor Tensor::take_along_dim(const Tensor& indices, std::optional<int64_t> dim) const { return cresset::take_along_dim(*this, indices, dim); }
Tensor Tensor::scatter(int64_t dim, const Tensor& index, const Tensor& src) const { return cresset::scatter(*this, dim, index, src); }
Tensor& Tensor::scatter_(int64_t dim, const Tensor& index, const Tensor& src) const { return cresset::scatter_(*this, dim, index, src); }
Tensor Tensor::scatter(int64_t dim, const Tensor& index, const Scalar& value) const { return cresset::scatter(*this, dim, index, value); }
Tensor& Tensor::scatter_(int64_t dim, const Tensor& index, const Scalar& value) const { return cresset::scatter_(*this, dim, index, value); }
Tensor Tensor::scatter_add(int64_t dim, const Tensor& index, const Tensor& src) const { return cresset::scatter_add(*this, dim, index, src); }
Tensor& Tensor::scatter_add_(int64_t dim, const Tensor& index, const Tensor& src) const { return cresset::scatter_add_(*this, dim, index, src); }
Tensor Tensor::scatter_reduce(int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce, bool include_self) const { return cresset::scatter_reduce(*this, dim, index, src, reduce, include_self); }
Tensor& Tensor::scatter_reduce_(int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce, bool include_self) const { return cresset::scatter_reduce_(*this, dim, index, src, reduce, include_self); }
Tensor Tensor::scatter(int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce) const { return cresset::scatter(*this, dim, index, src, reduce); }
Tensor& Tensor::scatter_(int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce) const { return cresset::scatter_(*this, dim, index, src, reduce); }
Tensor Tensor::scatter(int64_t dim, const Tensor& index, const Scalar& value, std::string_view reduce) const { return cresset::scatter(*this, dim, index, value, reduce); }
Tensor& Tensor::scatter_(int64_t dim, const Tensor& index, const Scalar& value, std::string_view reduce) const { return cresset::scatter_(*this, dim, index, value, reduce); }
Tensor Tensor::index(TensorList indices) const { return cresset::index(*this, indices); }
Tensor Tensor::index_put(TensorList indices, const Tensor& values, bool accumulate) const { return cresset::index_put(*this, indices, values, accumulate); }
Tensor& Tensor::index_put_(TensorList indices, const Tensor& values, bool accumulate) const { return cresset::index_put_(*this, indices, values, accumulate); }
Tensor Tensor::nonzero() const { return cresset::nonzero(*this); }
Tensor Tensor::index_select(int64_t dim, const Tensor& index) const { return cresset::index_select(*this, dim, index); }
Tensor Tensor::index_add(int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) const { return cresset::index_add(*this, dim, index, source, alpha); }
Tensor& Tensor::index_add_(int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) const { return cresset::index_add_(*this, dim, index, source, alpha); }
Tensor Tensor::index_copy(int64_t dim, const Tensor& index, const Tensor& source) const { return cresset::index_copy(*this, dim, index, source); }
Tensor& Tensor::index_copy_(int64_t dim, const Tensor& index, const Tensor& source) const { return cresset::index_copy_(*this, dim, index, source); }
Tensor Tensor::index_fill(int64_t dim, const Tensor& index, const Scalar& value) const { return cresset::index_fill(*this, dim, index, value); }
Tensor& Tensor::index_fill_(int64_t dim, const Tensor& index, const Scalar& value) const { return cresset::index_fill_(*this, dim, index, value); }
Tensor Tensor::index_fill(int64_t dim, const Tensor& index, const Tensor& value) const { return cresset::index_fill(*this, dim, index, value); }
Tensor& Tensor::index_fill_(int64_t dim, const Tensor& index, const Tensor& value) const { return cresset::index_fill_(*this, dim, index, value); }
Tensor Tensor::index_reduce(int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce, bool include_self) const { return cresset::index_reduce(*this, dim, index, source, reduce, include_self); }
Tensor& Tensor::index_reduce_(int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce, bool include_self) const { return cresset::index_reduce_(*this, dim, index, source, reduce, include_self); }
Tensor Tensor::take(const Tensor& index) const { return cresset::take(*this, index); }
Tensor Tensor::put(const Tensor& index, const Tensor& source, bool accumulate) const { return cresset::put(*this, index, source, accumulate); }
Tensor& Tensor::put_(const Tensor& index, const Tensor& source, bool accumulate) const { return cresset::put_(*this, index, source, accumulate); }
Tensor Tensor::det() const { return cresset::det(*this); }
std::tuple<Tensor, Tensor> Tensor::slogdet() const { return cresset::slogdet(*this); }
Tensor Tensor::logdet() const { return cresset::logdet(*this); }
Tensor Tensor::matrix_exp() const { return cresset::matrix_exp(*this); }
Tensor Tensor::cholesky(bool upper) const { return cresset::cholesky(*this, upper); }
std::tuple<Tensor, Tensor> Tensor::qr(bool some) const { return cresset::qr(*this, some); }
std::tuple<Tensor, Tensor> Tensor::geqrf() const { return cresset::geqrf(*this); }
Tensor Tensor::orgqr(const Tensor& input2) const { return cresset::orgqr(*this, input2); }
Tensor Tensor::ormqr(const Tensor& input2, const Tensor& input3, bool left, bool transpose) const { return cresset::ormqr(*this, input2, input3, left, transpose); }
Tensor Tensor::lu_solve(const Tensor& LU_data, const Tensor& LU_pivots) const { return cresset::lu_solve(*this, LU_data, LU_pivots); }
Tensor Tensor::pinverse(double rcond) const { return cresset::pinverse(*this, rcond); }
Tensor Tensor::inverse() const { return cresset::inverse(*this); }
std::tuple<Tensor, Tensor> Tensor::triangular_solve(const Tensor& A, bool upper, bool transpose, bool unitriangular) const { return cresset::triangular_solve(*this, A, upper, transpose, unitriangular); }
Tensor Tensor::cholesky_solve(const Tensor& input2, bool upper) const { return cresset::cholesky_solve(*this, input2, upper); }
Tensor Tensor::cholesky_inverse(bool upper) const { return cresset::cholesky_inverse(*this, upper); }
std::tuple<Tensor, Tensor, Tensor> Tensor::svd(bool some, bool compute_uv) const { return cresset::svd(*this, some, compute_uv); }
Tensor Tensor::masked_fill(const Tensor& mask, const Scalar& value) const { return cresset::masked_fill(*this, mask, value); }
Tensor& Tensor::masked_fill_(const Tensor& mask, const Scalar& value) const { return cresset::masked_fill_(*this, mask, value); }
Tensor Tensor::masked_fill(const Tensor& mask, const Tensor& value) const { return cresset::masked_fill(*this, mask, value); }
Tensor& Tensor::masked_fill_(const Tensor& mask, const Tensor& value) const { return cresset::masked_fill_(*this, mask, value); }
Tensor Tensor::masked_select(const Tensor& mask) const { return cresset::masked_select(*this, mask); }
Tensor Tensor::masked_scatter(const Tensor& mask, const Tensor& source) const { return cresset::masked_scatter(*this, mask, source); }
Tensor& Tensor::masked_scatter_(const Tensor& mask, const Tensor& source) const { return cresset::masked_scatter_(*this, mask, source); }
Tensor Tensor::square() const { return cresset::square(*this); }
Tensor& Tensor::square_() const { return cresset::square_(*this); }
Tensor Tensor::reciprocal() const { return cresset::reciprocal(*this); }
Tensor& Tensor::reciprocal_() const { return cresset::reciprocal_(*this); }
Tensor Tensor::sqrt() const { return cresset::sqrt(*this); }
Tensor& Tensor::sqrt_() const { return cresset::sqrt_(*this); }
Tensor Tensor::rsqrt() const { return cresset::rsqrt(*this); }
Tensor& Tensor::rsqrt_() const { return cresset::rsqrt_(*this); }
Tensor Tensor::exp2() const { return cresset::exp2(*this); }
Tensor& Tensor::exp2_() const { return cresset::exp2_(*this); }
Tensor Tensor::expm1() const { return cresset::expm1(*this); }
Tensor& Tensor::expm1_() const { return cresset::expm1_(*this); }
Tensor Tensor::log() const { return cresset::log(*this); }
Tensor& Tensor::log_() const { return cresset::log_(*this); }
Tensor Tensor::log2() const { return cresset::log2(*this); }
Tensor& Tensor::log2_() const { return cresset::log2_(*this); }
Tensor Tensor::log10() const { return cresset::log10(*this); }
Tensor& Tensor::log10_() const { return cresset::log10_(*this); }
Tensor Tensor::log1p() const { return cresset::log1p(*this); }
Tensor& Tensor::log1p_() const { return cresset::log1p_(*this); }
Tensor Tensor::sin() const { return cresset::sin(*this); }
Tensor& Tensor::sin_() const { return cresset::sin_(*this); }
Tensor Tensor::cos() const { return cresset::cos(*this); }
Tensor& Tensor::cos_() const { return cresset::cos_(*this); }
Tensor Tensor::tan() const { return cresset::tan(*this); }
Tensor& Tensor::tan_() const { return cresset::tan_(*this); }
Tensor Tensor::asin() const { return cresset::asin(*this); }
Tensor& Tensor::asin_() const { return cresset::asin_(*this); }
Tensor Tensor::acos() const { return cresset::acos(*this); }
Tensor& Tensor::acos_() const { return cresset::acos_(*this); }
Tensor Tensor::atan() const { return cresset::atan(*this); }
Tensor& Tensor::atan_() const { return cresset::atan_(*this); }
Tensor Tensor::sinh() const { return cresset::sinh(*this); }
Tensor& Tensor::sinh_() const { return cresset::sinh_(*this); }
Tensor Tensor::cosh() const { return cresset::cosh(*this); }
Tensor& Tensor::cosh_() const { return cresset::cosh_(*this); }
Tensor Tensor::tanh() const { return cresset::tanh(*this); }
Tensor& Tensor::tanh_() const { return cresset::tanh_(*this); }
Tensor Tensor::asinh() const { return cresset::asinh(*this); }
Tensor& Tensor::asinh_() const { return cresset::asinh_(*this); }
Tensor Tensor::acosh() const { return cresset::acosh(*this); }
Tensor& Tensor::acosh_() const { return cresset::acosh_(*this); }
Tensor Tensor::atanh() const { return cresset::atanh(*this); }
Tensor& Tensor::atanh_() const { return cresset::atanh_(*this); }
Tensor Tensor::rad2deg() const { return cresset::rad2deg(*this); }
Tensor& Tensor::rad2deg_() const { return cresset::rad2deg_(*this); }
Tensor Tensor::deg2rad() const { return cresset::deg2rad(*this); }
Tensor& Tensor::deg2rad_() const { return cresset::deg2rad_(*this); }
Tensor Tensor::sinc() const { return cresset::sinc(*this); }
Tensor& Tensor::sinc_() const { return cresset::sinc_(*this); }
Tensor Tensor::floor() const { return cresset::floor(*this); }
Tensor& Tensor::floor_() const { return cresset::floor_(*this); }
Tensor Tensor::ceil() const { return cresset::ceil(*this); }
Tensor& Tensor::ceil_() const { return cresset::ceil_(*this); }
Tensor Tensor::round() const { return cresset::round(*this); }
Tensor& Tensor::round_() const { return cresset::round_(*this); }
Tensor Tensor::trunc() const { return cresset::trunc(*this); }
Tensor& Tensor::trunc_() const { return cresset::trunc_(*this); }
Tensor Tensor::frac() const { return cresset::frac(*this); }
Tensor& Tensor::frac_() const { return cresset::frac_(*this); }
Tensor Tensor::round(int64_t decimals) const { return cresset::round(*this, decimals); }
Tensor& Tensor::round_(int64_t decimals) const { return cresset::round_(*this, decimals); }
Tensor Tensor::sign() const { return cresset::sign(*this); }
Tensor& Tensor::sign_() const { return cresset::sign_(*this); }
Tensor Tensor::sgn() const { return cresset::sgn(*this); }
Tensor& Tensor::sgn_() const { return cresset::sgn_(*this); }
Tensor Tensor::abs() const { return cresset::abs(*this); }
Tensor& Tensor::abs_() const { return cresset::abs_(*this); }
Tensor Tensor::angle() const { return cresset::angle(*this); }
Tensor Tensor::positive() const { return cresset::positive(*this); }
Tensor Tensor::conj_physical() const { return cresset::conj_physical(*this); }
Tensor& Tensor::conj_physical_() const { return cresset::conj_physical_(*this); }
Tensor Tensor::sigmoid() const { return cresset::sigmoid(*this); }
Tensor& Tensor::sigmoid_() const { return cresset::sigmoid_(*this); }
Tensor Tensor::silu() const { return cresset::silu(*this); }
Tensor& Tensor::silu_() const { return cresset::silu_(*this); }
Tensor Tensor::gelu(std::string_view approximate) const { return cresset::gelu(*this, approximate); }
Tensor& Tensor::gelu_(std::string_view approximate) const { return cresset::gelu_(*this, approximate); }
Tensor Tensor::logit(std::optional<double> eps) const { return cresset::logit(*this, eps); }
Tensor& Tensor::logit_(std::optional<double> eps) const { return cresset::logit_(*this, eps); }
Tensor Tensor::mm(const Tensor& mat2) const { return cresset::mm(*this, mat2); }
Tensor Tensor::bmm(const Tensor& mat2) const { return cresset::bmm(*this, mat2); }
Tensor Tensor::addmm(const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) const { return cresset::addmm(*this, mat1, mat2, beta, alpha); }
Tensor& Tensor::addmm_(const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) const { return cresset::addmm_(*this, mat1, mat2, beta, alpha); }
Tensor Tensor::mv(const Tensor& vec) const { return cresset::mv(*this, vec); }
Tensor Tensor::dot(const Tensor& tensor) const { return cresset::dot(*this, tensor); }
Tensor Tensor::matmul(const Tensor& other) const { return cresset::matmul(*this, other); }
Tensor Tensor::baddbmm(const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) const { return cresset::baddbmm(*this, batch1, batch2, beta, alpha); }
Tensor& Tensor::baddbmm_(const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) const { return cresset::baddbmm_(*this, batch1, batch2, beta, alpha); }
Tensor Tensor::addbmm(const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) const { return cresset::addbmm(*this, batch1, batch2, beta, alpha); }
Tensor& Tensor::addbmm_(const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) const { return cresset::addbmm_(*this, batch1, batch2, beta, alpha); }
Tensor Tensor::addmv(const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha) const { return cresset::addmv(*this, mat, vec, beta, alpha); }
Tensor& Tensor::addmv_(const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha) const { return cresset::addmv_(*this, mat, vec, beta, alpha); }
Tensor Tensor::addr(const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) const { return cresset::addr(*this, vec1, vec2, beta, alpha); }
Tensor& Tensor::addr_(const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) const { return cresset::addr_(*this, vec1, vec2, beta, alpha); }
Tensor Tensor::outer(const Tensor& vec2) const { return cresset::outer(*this, vec2); }
Tensor Tensor::inner(const Tensor& other) const { return cresset::inner(*this, other); }
Tensor Tensor::vdot(const Tensor& other) const { return cresset::vdot(*this, other); }
Tensor Tensor::kron(const Tensor& other) const { return cresset::kron(*this, other); }
Tensor Tensor::cross(const Tensor& other, std::optional<int64_t> dim) const { return cresset::cross(*this, other, dim); }
Tensor Tensor::matrix_power(int64_t n) const { return cresset::matrix_power(*this, n); }
Tensor Tensor::constant_pad_nd(IntArrayRef pad, const Scalar& value) const { return cresset::constant_pad_nd(*this, pad, value); }
Tensor Tensor::reflection_pad1d(IntArrayRef padding) const { return cresset::reflection_pad1d(*this, padding); }
Tensor Tensor::reflection_pad2d(IntArrayRef padding) const { return cresset::reflection_pad2d(*this, padding); }
Tensor Tensor::reflection_pad3d(IntArrayRef padding) const { return cresset::reflection_pad3d(*this, padding); }
Tensor Tensor::replication_pad1d(IntArrayRef padding) const { return cresset::replication_pad1d(*this, padding); }
Tensor Tensor::replication_pad2d(IntArrayRef padding) const { return cresset::replication_pad2d(*this, padding); }
Tensor Tensor::replication_pad3d(IntArrayRef padding) const { return cresset::replication_pad3d(*this, padding); }
Tensor Tensor::pad(IntArrayRef pad, std::string_view mode, std::optional<double> value) const { return cresset::pad(*this, pad, mode, value); }
std::tuple<Tensor, Tensor> Tensor::kthvalue(int64_t k, int64_t dim, bool keepdim) const { return cresset::kthvalue(*this, k, dim, keepdim); }
std::tuple<Tensor, Tensor> Tensor::median(int64_t dim, bool keepdim) const { return cresset::median(*this, dim, keepdim); }
std::tuple<Tensor, Tensor> Tensor::nanmedian(int64_t dim, bool keepdim) const { return cresset::nanmedian(*this, dim, keepdim); }
std::tuple<Tensor, Tensor> Tensor::mode(int64_t dim, bool keepdim) const { return cresset::mode(*this, dim, keepdim); }
Tensor Tensor::median() const { return cresset::median(*this); }
Tensor Tensor::nanmedian() const { return cresset::nanmedian(*this); }
Tensor Tensor::quantile(const Tensor& q, std::optional<int64_t> dim, bool keepdim, std::string_view interpolation) const { return cresset::quantile(*this, q, dim, keepdim, interpolation); }
Tensor Tensor::quantile(double q, std::optional<int64_t> dim, bool keepdim, std::string_view interpolation) const { return cresset::quantile(*this, q, dim, keepdim, interpolation); }
Tensor Tensor::nanquantile(const Tensor& q, std::optional<int64_t> dim, bool keepdim, std::string_view interpolation) const { return cresset::nanquantile(*this, q, dim, keepdim, interpolation); }
Tensor Tensor::nanquantile(double q, std::optional<int64_t> dim, bool keepdim, std::string_view interpolation) const { return cresset::nanquantile(*this, q, dim, keepdim, interpolation); }
Tensor Tensor::add(const Tensor& other, const Scalar& alpha) const { return cresset::add(*this, other, alpha); }
Tensor& Tensor::add_(const Tensor& other, const Scalar& alpha) const { return cresset::add_(*this, other, alpha); }
Tensor Tensor::add(const Scalar& other, const Scalar& alpha) const { return cresset::add(*this, other, alpha); }
Tensor& Tensor::add_(const Scalar& other, const Scalar& alpha) const { return cresset::add_(*this, other, alpha); }
Tensor Tensor::sub(const Tensor& other, const Scalar& alpha) const { return cresset::sub(*this, other, alpha); }
Tensor& Tensor::sub_(const Tensor& other, const Scalar& alpha) const { return cresset::sub_(*this, other, alpha); }
Tensor Tensor::sub(const Scalar& other, const Scalar& alpha) const { return cresset::sub(*this, other, alpha); }
Tensor& Tensor::sub_(const Scalar& other, const Scalar& alpha) const { return cresset::sub_(*this, other, alpha); }
Tensor Tensor::mul(const Tensor& other) const { return cresset::mul(*this, other); }
Tensor& Tensor::mul_(const Tensor& other) const { return cresset::mul_(*this, other); }
Tensor Tensor::mul(const Scalar& other) const { return cresset::mul(*this, other); }
Tensor& Tensor::mul_(const Scalar& other) const { return cresset::mul_(*this, other); }
Tensor Tensor::div(const Tensor& other) const { return cresset::div(*this, other); }
Tensor& Tensor::div_(const Tensor& other) const { return cresset::div_(*this, other); }
Tensor Tensor::div(const Scalar& other) const { return cresset::div(*this, other); }
Tensor& Tensor::div_(const Scalar& other) const { return cresset::div_(*this, other); }
Tensor Tensor::exp() const { return cresset::exp(*this); }
Tensor& Tensor::exp_() const { return cresset::exp_(*this); }
Tensor Tensor::relu() const { return cresset::relu(*this); }
Tensor& Tensor::relu_() const { return cresset::relu_(*this); }
Tensor Tensor::neg() const { return cresset::neg(*this); }
Tensor& Tensor::neg_() const { return cresset::neg_(*this); }
Tensor Tensor::conj() const { return cresset::conj(*this); }
Tensor Tensor::where(const Tensor& condition, const Tensor& other) const { return cresset::where(condition, *this, other); }
Tensor Tensor::pow(const Tensor& exponent) const { return cresset::pow(*this, exponent); }
Tensor& Tensor::pow_(const Tensor& exponent) const { return cresset::pow_(*this, exponent); }
Tensor Tensor::pow(const Scalar& exponent) const { return cresset::pow(*this, exponent); }
Tensor& Tensor::pow_(const Scalar& exponent) const { return cresset::pow_(*this, exponent); }
Tensor Tensor::float_power(const Tensor& exponent) const { return cresset::float_power(*this, exponent); }
Tensor& Tensor::float_power_(const Tensor& exponent) const { return cresset::float_power_(*this, exponent); }
Tensor Tensor::float_power(const Scalar& exponent) const { return cresset::float_power(*this, exponent); }
Tensor& Tensor::float_power_(const Scalar& exponent) const { return cresset::float_power_(*this, exponent); }
Tensor Tensor::hypot(const Tensor& other) const { return cresset::hypot(*this, other); }
Tensor& Tensor::hypot_(const Tensor& other) const { return cresset::hypot_(*this, other); }
Tensor Tensor::atan2(const Tensor& other) const { return cresset::atan2(*this, other); }
Tensor& Tensor::atan2_(const Tensor& other) const { return cresset::atan2_(*this, other); }
Tensor Tensor::logaddexp(const Tensor& other) const { return cresset::logaddexp(*this, other); }
Tensor Tensor::logaddexp2(const Tensor& other) const { return cresset::logaddexp2(*this, other); }
Tensor Tensor::xlogy(const Tensor& other) const { return cresset::xlogy(*this, other); }
Tensor& Tensor::xlogy_(const Tensor& other) const { return cresset::xlogy_(*this, other); }
Tensor Tensor::xlogy(const Scalar& other) const { return cresset::xlogy(*this, other); }
Tensor& Tensor::xlogy_(const Scalar& other) const { return cresset::xlogy_(*this, other); }
Tensor Tensor::copysign(const Tensor& other) const { return cresset::copysign(*this, other); }
Tensor& Tensor::copysign_(const Tensor& other) const { return cresset::copysign_(*this, other); }
Tensor Tensor::copysign(const Scalar& other) const { return cresset::copysign(*this, other); }
Tensor& Tensor::copysign_(const Scalar& other) const { return cresset::copysign_(*this, other); }
Tensor Tensor::nextafter(const Tensor& other) const { return cresset::nextafter(*this, other); }
Tensor& Tensor::nextafter_(const Tensor& other) const { return cresset::nextafter_(*this, other); }
Tensor Tensor::heaviside(const Tensor& other) const { return cresset::heaviside(*this, other); }
Tensor& Tensor::heaviside_(const Tensor& other) const { return cresset::heaviside_(*this, other); }
Tensor Tensor::ldexp(const Tensor& other) const { return cresset::ldexp(*this, other); }
Tensor& Tensor::ldexp_(const Tensor& other) const { return cresset::ldexp_(*this, other); }
std::tuple<Tensor, Tensor> Tensor::frexp() const { return cresset::frexp(*this); }
Tensor Tensor::nan_to_num(std::optional<double> nan, std::optional<double> posinf, std::optional<double> neginf) const { return cresset::nan_to_num(*this, nan, posinf, neginf); }
Tensor& Tensor::nan_to_num_(std::optional<double> nan, std::optional<double> posinf, std::optional<double> neginf) const { return cresset::nan_to_num_(*this, nan, posinf, neginf); }
Tensor& Tensor::uniform_(double from, double to, std::optional<Generator> generator) const { return cresset::uniform_(*this, from, to, generator); }
Tensor& Tensor::normal_(double mean, double std, std::optional<Generator> generator) const { return cresset::normal_(*this, mean, std, generator); }
Tensor& Tensor::random_(std::optional<Generator> generator) const { return cresset::random_(*this, generator); }
Tensor& Tensor::random_(int64_t to, std::optional<Generator> generator) const { return cresset::random_(*this, to, generator); }
Tensor& Tensor::random_(int64_t from, std::optional<int64_t> to, std::optional<Generator> generator) const { return cresset::random_(*this, from, to, generator); }
Tensor& Tensor::bernoulli_(double p, std::optional<Generator> generator) const { return cresset::bernoulli_(*this, p, generator); }
Tensor& Tensor::bernoulli_(const Tensor& p, std::optional<Generator> generator) const { return cresset::bernoulli_(*this, p, generator); }
Tensor Tensor::bernoulli(std::optional<Generator> generator) const { return cresset::bernoulli(*this, generator); }
Tensor Tensor::bernoulli(double p, std::optional<Generator> generator) const { return cresset::bernoulli(*this, p, generator); }
Tensor Tensor::rand_like(const TensorOptions& options, std::optional<MemoryFormat> memory_format) const { return cresset::rand_like(*this, options, memory_format); }
Tensor Tensor::randn_like(const TensorOptions& options, std::optional<MemoryFormat> memory_format) const { return cresset::randn_like(*this, options, memory_format); }
Tensor Tensor::randint_like(int64_t high, const TensorOptions& options, std::optional<MemoryFormat> memory_format) const { return cresset::randint_like(*this, high, options, memory_format); }
Tensor Tensor::randint_like(int64_t low, int64_t high, const TensorOptions& options, std::optional<MemoryFormat> memory_format) const { return cresset::randint_like(*this, low, high, options, memory_format); }
Tensor& Tensor::exponential_(double lambd, std::optional<Generator> generator) const { return cresset::exponential_(*this, lambd, generator); }
Tensor& Tensor::geometric_(double p, std::optional<Generator> generator) const { return cresset::geometric_(*this, p, generator); }
Tensor& Tensor::cauchy_(double median, double sigma, std::optional<Generator> generator) const { return cresset::cauchy_(*this, median, sigma, generator); }
Tensor& Tensor::log_normal_(double mean, double std, std::optional<Generator> generator) const { return cresset::log_normal_(*this, mean, std, generator); }
Tensor Tensor::poisson(std::optional<Generator> generator) const { return cresset::poisson(*this, generator); }
Tensor Tensor::multinomial(int64_t num_samples, bool replacement, std::optional<Generator> generator) const { return cresset::multinomial(*this, num_samples, replacement, generator); }
Tensor Tensor::unflatten(int64_t dim, IntArrayRef sizes) const { return cresset::unflatten(*this, dim, sizes); }
Tensor Tensor::movedim(IntArrayRef source, IntArrayRef destination) const { return cresset::movedim(*this, source, destination); }
Tensor Tensor::movedim(int64_t source, int64_t destination) const { return cresset::movedim(*this, source, destination); }
Tensor Tensor::expand_as(const Tensor& other) const { return cresset::expand_as(*this, other); }
Tensor Tensor::view_as(const Tensor& other) const { return cresset::view_as(*this, other); }
Tensor Tensor::reshape_as(const Tensor& other) const { return cresset::reshape_as(*this, other); }
Tensor Tensor::type_as(const Tensor& other) const { return cresset::type_as(*this, other); }
Tensor Tensor::broadcast_to(IntArrayRef size) const { return cresset::broadcast_to(*this, size); }
Tensor Tensor::adjoint() const { return cresset::adjoint(*this); }
Tensor Tensor::mT() const { return cresset::mT(*this); }
Tensor Tensor::mH() const { return cresset::mH(*this); }
Tensor Tensor::matrix_H() const { return cresset::matrix_H(*this); }
Tensor Tensor::view(DType dtype) const { return cresset::view(*this, dtype); }
Tensor Tensor::unfold(int64_t dimension, int64_t size, int64_t step) const { return cresset::unfold(*this, dimension, size, step); }
Tensor Tensor::narrow_copy(int64_t dim, int64_t start, int64_t length) const { return cresset::narrow_copy(*this, dim, start, length); }
Tensor& Tensor::transpose_(int64_t dim0, int64_t dim1) const { return cresset::transpose_(*this, dim0, dim1); }
Tensor& Tensor::t_() const { return cresset::t_(*this); }
Tensor& Tensor::squeeze_() const { return cresset::squeeze_(*this); }
Tensor& Tensor::squeeze_(int64_t dim) const { return cresset::squeeze_(*this, dim); }
Tensor& Tensor::unsqueeze_(int64_t dim) const { return cresset::unsqueeze_(*this, dim); }
Tensor& Tensor::as_strided_(IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) const { return cresset::as_strided_(*this, size, stride, storage_offset); }
Tensor& Tensor::resize_(IntArrayRef size, std::optional<MemoryFormat> memory_format) const { return cresset::resize_(*this, size, memory_format); }
Tensor& Tensor::resize_as_(const Tensor& the_template, std::optional<MemoryFormat> memory_format) const { return cresset::resize_as_(*this, the_template, memory_format); }
Tensor Tensor::sum(IntArrayRef dim, bool keepdim, std::optional<DType> dtype) const { return cresset::sum(*this, dim, keepdim, dtype); }
Tensor Tensor::sum(std::optional<DType> dtype) const { return cresset::sum(*this, dtype); }
Tensor Tensor::sum_to_size(IntArrayRef size) const { return cresset::sum_to_size(*this, size); }
Tensor Tensor::mean(IntArrayRef dim, bool keepdim, std::optional<DType> dtype) const { return cresset::mean(*this, dim, keepdim, dtype); }
Tensor Tensor::mean(std::optional<DType> dtype) const { return cresset::mean(*this, dtype); }
Tensor Tensor::flip(IntArrayRef dims) const { return cresset::flip(*this, dims); }
Tensor Tensor::fliplr() const { return cresset::fliplr(*this); }
Tensor Tensor::flipud() const { return cresset::flipud(*this); }
Tensor Tensor::roll(IntArrayRef shifts, IntArrayRef dims) const { return cresset::roll(*this, shifts, dims); }
Tensor Tensor::rot90(int64_t k, IntArrayRef dims) const { return cresset::rot90(*this, k, dims); }
Tensor Tensor::repeat(IntArrayRef repeats) const { return cresset::repeat(*this, repeats); }
Tensor Tensor::tile(IntArrayRef dims) const { return cresset::tile(*this, dims); }
Tensor Tensor::repeat_interleave(const Tensor& repeats, std::optional<int64_t> dim, std::optional<int64_t> output_size) const { return cresset::repeat_interleave(*this, repeats, dim, output_size); }
Tensor Tensor::repeat_interleave(int64_t repeats, std::optional<int64_t> dim, std::optional<int64_t> output_size) const { return cresset::repeat_interleave(*this, repeats, dim, output_size); }
Tensor Tensor::cumsum(int64_t dim, std::optional<DType> dtype) const { return cresset::cumsum(*this, dim, dtype); }
Tensor& Tensor::cumsum_(int64_t dim, std::optional<DType> dtype) const { return cresset::cumsum_(*this, dim, dtype); }
Tensor Tensor::cumprod(int64_t dim, std::optional<DType> dtype) const { return cresset::cumprod(*this, dim, dtype); }
Tensor& Tensor::cumprod_(int64_t dim, std::optional<DType> dtype) const { return cresset::cumprod_(*this, dim, dtype); }
Tensor Tensor::logcumsumexp(int64_t dim) const { return cresset::logcumsumexp(*this, dim); }
std::tuple<Tensor, Tensor> Tensor::cummax(int64_t dim) const { return cresset::cummax(*this, dim); }
std::tuple<Tensor, Tensor> Tensor::cummin(int64_t dim) const { return cresset::cummin(*this, dim); }
Tensor Tensor::searchsorted(const Tensor& sorted_sequence, bool out_int32, bool right, std::string_view side, const Tensor& sorter) const { return cresset::searchsorted(sorted_sequence, *this, out_int32, right, side, sorter); }
Tensor Tensor::bucketize(const Tensor& boundaries, bool out_int32, bool right) const { return cresset::bucketize(*this, boundaries, out_int32, right); }
Tensor Tensor::histc(int64_t bins, const Scalar& min, const Scalar& max) const { return cresset::histc(*this, bins, min, max); }
std::tuple<Tensor, Tensor> Tensor::histogram(const Tensor& bins, const Tensor& weight, bool density) const { return cresset::histogram(*this, bins, weight, density); }
Tensor Tensor::bincount(const Tensor& weights, int64_t minlength) const { return cresset::bincount(*this, weights, minlength); }
Tensor Tensor::view(IntArrayRef size) const { return cresset::view(*this, size); }
Tensor Tensor::reshape(IntArrayRef shape) const { return cresset::reshape(*this, shape); }
Tensor Tensor::flatten(int64_t start_dim, int64_t end_dim) const { return cresset::flatten(*this, start_dim, end_dim); }
Tensor Tensor::transpose(int64_t dim0, int64_t dim1) const { return cresset::transpose(*this, dim0, dim1); }
Tensor Tensor::t() const { return cresset::t(*this); }
Tensor Tensor::permute(IntArrayRef dims) const { return cresset::permute(*this, dims); }
Tensor Tensor::expand(IntArrayRef size, bool implicit) const { return cresset::expand(*this, size, implicit); }
Tensor Tensor::select(int64_t dim, int64_t index) const { return cresset::select(*this, dim, index); }
Tensor Tensor::slice(int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) const { return cresset::slice(*this, dim, start, end, step); }
Tensor Tensor::narrow(int64_t dim, int64_t start, int64_t length) const { return cresset::narrow(*this, dim, start, length); }
Tensor Tensor::unsqueeze(int64_t dim) const { return cresset::unsqueeze(*this, dim); }
Tensor Tensor::squeeze() const { return cresset::squeeze(*this); }
Tensor Tensor::squeeze(int64_t dim) const { return cresset::squeeze(*this, dim); }
std::vector<Tensor> Tensor::split(int64_t split_size, int64_t dim) const { return cresset::split(*this, split_size, dim); }
std::vector<Tensor> Tensor::split(IntArrayRef split_sizes, int64_t dim) const { return cresset::split(*this, split_sizes, dim); }
std::vector<Tensor> Tensor::unbind(int64_t dim) const { return cresset::unbind(*this, dim); }
Tensor Tensor::as_strided(IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) const { return cresset::as_strided(*this, size, stride, storage_offset); }
Tensor Tensor::softmax(int64_t dim, std::optional<DType> dtype) const { return cresset::softmax(*this, dim, dtype); }
Tensor Tensor::softmin(int64_t dim, std::optional<DType> dtype) const { return cresset::softmin(*this, dim, dtype); }
Tensor Tensor::log_softmax(int64_t dim, std::optional<DType> dtype) const { return cresset::log_softmax(*this, dim, dtype); }
std::tuple<Tensor, Tensor> Tensor::topk(int64_t k, int64_t dim, bool largest, bool sorted) const { return cresset::topk(*this, k, dim, largest, sorted); }
std::tuple<Tensor, Tensor> Tensor::sort(int64_t dim, bool descending) const { return cresset::sort(*this, dim, descending); }
std::tuple<Tensor, Tensor> Tensor::sort(std::optional<bool> stable, int64_t dim, bool descending) const { return cresset::sort(*this, stable, dim, descending); }
Tensor Tensor::argsort(int64_t dim, bool descending) const { return cresset::argsort(*this, dim, descending); }
Tensor Tensor::argsort(bool stable, int64_t dim, bool descending) const { return cresset::argsort(*this, stable, dim, descending); }
Tensor Tensor::msort() const { return cresset::msort(*this); }
Tensor Tensor::erf() const { return cresset::erf(*this); }
Tensor& Tensor::erf_() const { return cresset::erf_(*this); }
Tensor Tensor::erfc() const { return cresset::erfc(*this); }
Tensor& Tensor::erfc_() const { return cresset::erfc_(*this); }
Tensor Tensor::erfinv() const { return cresset::erfinv(*this); }
Tensor& Tensor::erfinv_() const { return cresset::erfinv_(*this); }
Tensor Tensor::special_erfcx() const { return cresset::special_erfcx(*this); }
Tensor Tensor::special_ndtr() const { return cresset::special_ndtr(*this); }
Tensor Tensor::special_ndtri() const { return cresset::special_ndtri(*this); }
Tensor Tensor::special_log_ndtr() const { return cresset::special_log_ndtr(*this); }
Tensor Tensor::special_entr() const { return cresset::special_entr(*this); }
Tensor Tensor::lgamma() const { return cresset::lgamma(*this); }
Tensor& Tensor::lgamma_() const { return cresset::lgamma_(*this); }
Tensor Tensor::digamma() const { return cresset::digamma(*this); }
Tensor& Tensor::digamma_() const { return cresset::digamma_(*this); }
Tensor Tensor::polygamma(int64_t n) const { return cresset::polygamma(n, *this); }
Tensor& Tensor::polygamma_(int64_t n) const { return cresset::polygamma_(*this, n); }
Tensor Tensor::mvlgamma(int64_t p) const { return cresset::mvlgamma(*this, p); }
Tensor& Tensor::mvlgamma_(int64_t p) const { return cresset::mvlgamma_(*this, p); }
Tensor Tensor::i0() const { return cresset::i0(*this); }
Tensor& Tensor::i0_() const { return cresset::i0_(*this); }
Tensor Tensor::special_i0e() const { return cresset::special_i0e(*this); }
Tensor Tensor::special_i1() const { return cresset::special_i1(*this); }
Tensor Tensor::special_i1e() const { return cresset::special_i1e(*this); }
Tensor Tensor::special_bessel_j0() const { return cresset::special_bessel_j0(*this); }
Tensor Tensor::special_bessel_j1() const { return cresset::special_bessel_j1(*this); }
Tensor Tensor::special_bessel_y0() const { return cresset::special_bessel_y0(*this); }
Tensor Tensor::special_bessel_y1() const { return cresset::special_bessel_y1(*this); }
Tensor Tensor::igamma(const Tensor& other) const { return cresset::igamma(*this, other); }
Tensor& Tensor::igamma_(const Tensor& other) const { return cresset::igamma_(*this, other); }
Tensor Tensor::igammac(const Tensor& other) const { return cresset::igammac(*this, other); }
Tensor& Tensor::igammac_(const Tensor& other) const { return cresset::igammac_(*this, other); }
std::vector<Tensor> Tensor::tensor_split(int64_t sections, int64_t dim) const { return cresset::tensor_split(*this, sections, dim); }
std::vector<Tensor> Tensor::tensor_split(IntArrayRef indices, int64_t dim) const { return cresset::tensor_split(*this, indices, dim); }
std::vector<Tensor> Tensor::tensor_split(const Tensor& tensor_indices_or_sections, int64_t dim) const { return cresset::tensor_split(*this, tensor_indices_or_sections, dim); }
std::vector<Tensor> Tensor::hsplit(int64_t sections) const { return cresset::hsplit(*this, sections); }
std::vector<Tensor> Tensor::hsplit(IntArrayRef indices) const { return cresset::hsplit(*this, indices); }
std::vector<Tensor> Tensor::vsplit(int64_t sections) const { return cresset::vsplit(*this, sections); }
std::vector<Tensor> Tensor::vsplit(IntArrayRef indices) const { return cresset::vsplit(*this, indices); }
std::vector<Tensor> Tensor::dsplit(int64_t sections) const { return cresset::dsplit(*this, sections); }
std::vector<Tensor> Tensor::dsplit(IntArrayRef indices) const { return cresset::dsplit(*this, indices); }
std::vector<Tensor> Tensor::split_with_sizes(IntArrayRef split_sizes, int64_t dim) const { return cresset::split_with_sizes(*this, split_sizes, dim); }
Tensor Tensor::atleast_1d() const { return cresset::atleast_1d(*this); }
Tensor Tensor::atleast_2d() const { return cresset::atleast_2d(*this); }
Tensor Tensor::atleast_3d() const { return cresset::atleast_3d(*this); }
Tensor Tensor::combinations(int64_t r, bool with_replacement) const { return cresset::combinations(*this, r, with_replacement); }
Tensor Tensor::prod(std::optional<DType> dtype) const { return cresset::prod(*this, dtype); }
Tensor Tensor::prod(int64_t dim, bool keepdim, std::optional<DType> dtype) const { return cresset::prod(*this, dim, keepdim, dtype); }
Tensor Tensor::any() const { return cresset::any(*this); }
Tensor Tensor::any(int64_t dim, bool keepdim) const { return cresset::any(*this, dim, keepdim); }
Tensor Tensor::all() const { return cresset::all(*this); }
Tensor Tensor::all(int64_t dim, bool keepdim) const { return cresset::all(*this, dim, keepdim); }
Tensor Tensor::count_nonzero(std::optional<int64_t> dim) const { return cresset::count_nonzero(*this, dim); }
Tensor Tensor::count_nonzero(IntArrayRef dim) const { return cresset::count_nonzero(*this, dim); }
Tensor Tensor::nansum(OptionalIntArrayRef dim, bool keepdim, std::optional<DType> dtype) const { return cresset::nansum(*this, dim, keepdim, dtype); }
Tensor Tensor::nanmean(OptionalIntArrayRef dim, bool keepdim, std::optional<DType> dtype) const { return cresset::nanmean(*this, dim, keepdim, dtype); }
Tensor Tensor::logsumexp(IntArrayRef dim, bool keepdim) const { return cresset::logsumexp(*this, dim, keepdim); }
Tensor Tensor::stft(int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length, const Tensor& window, bool center, std::string_view pad_mode, bool normalized, std::optional<bool> onesided, std::optional<bool> return_complex) const { return cresset::stft(*this, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided, return_complex); }
Tensor Tensor::istft(int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length, const Tensor& window, bool center, bool normalized, std::optional<bool> onesided, std::optional<int64_t> length, bool return_complex) const { return cresset::istft(*this, n_fft, hop_length, win_length, window, center, normalized, onesided, length, return_complex); }
Tensor Tensor::lerp(const Tensor& end, const Scalar& weight) const { return cresset::lerp(*this, end, weight); }
Tensor& Tensor::lerp_(const Tensor& end, const Scalar& weight) const { return cresset::lerp_(*this, end, weight); }
Tensor Tensor::lerp(const Tensor& end, const Tensor& weight) const { return cresset::lerp(*this, end, weight); }
Tensor& Tensor::lerp_(const Tensor& end, const Tensor& weight) const { return cresset::lerp_(*this, end, weight); }
Tensor Tensor::addcmul(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) const { return cresset::addcmul(*this, tensor1, tensor2, value); }
Tensor& Tensor::addcmul_(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) const { return cresset::addcmul_(*this, tensor1, tensor2, value); }
Tensor Tensor::addcdiv(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) const { return cresset::addcdiv(*this, tensor1, tensor2, value); }
Tensor& Tensor::addcdiv_(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) const { return cresset::addcdiv_(*this, tensor1, tensor2, value); }
Tensor Tensor::where(const Tensor& condition, const Scalar& other) const { return cresset::where(condition, *this, other); }
std::tuple<Tensor, Tensor, Tensor> Tensor::unique(bool sorted, bool return_inverse, bool return_counts) const { return cresset::unique(*this, sorted, return_inverse, return_counts); }
std::tuple<Tensor, Tensor, Tensor> Tensor::unique_dim(int64_t dim, bool sorted, bool return_inverse, bool return_counts) const { return cresset::unique_dim(*this, dim, sorted, return_inverse, return_counts); }
std::tuple<Tensor, Tensor, Tensor> Tensor::unique_consecutive(bool return_inverse, bool return_counts, std::optional<int64_t> dim) const { return cresset::unique_consecutive(*this, return_inverse, return_counts, dim); }
Tensor Tensor::var(bool unbiased) const { return cresset::var(*this, unbiased); }
Tensor Tensor::var(IntArrayRef dim, bool unbiased, bool keepdim) const { return cresset::var(*this, dim, unbiased, keepdim); }
Tensor Tensor::var(OptionalIntArrayRef dim, std::optional<int64_t> correction, bool keepdim) const { return cresset::var(*this, dim, correction, keepdim); }
Tensor Tensor::std(bool unbiased) const { return cresset::std(*this, unbiased); }
Tensor Tensor::std(IntArrayRef dim, bool unbiased, bool keepdim) const { return cresset::std(*this, dim, unbiased, keepdim); }
Tensor Tensor::std(OptionalIntArrayRef dim, std::optional<int64_t> correction, bool keepdim) const { return cresset::std(*this, dim, correction, keepdim); }
Tensor Tensor::norm(const Scalar& p) const { return cresset::norm(*this, p); }
Tensor Tensor::norm(const std::optional<Scalar>& p, DType dtype) const { return cresset::norm(*this, p, dtype); }
Tensor Tensor::norm(const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim) const { return cresset::norm(*this, p, dim, keepdim); }
Tensor Tensor::norm(const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim, DType dtype) const { return cresset::norm(*this, p, dim, keepdim, dtype); }
Tensor Tensor::dist(const Tensor& other, const Scalar& p) const { return cresset::dist(*this, other, p); }
Tensor Tensor::renorm(const Scalar& p, int64_t dim, const Scalar& maxnorm) const { return cresset::renorm(*this, p, dim, maxnorm); }
Tensor& Tensor::renorm_(const Scalar& p, int64_t dim, const Scalar& maxnorm) const { return cresset::renorm_(*this, p, dim, maxnorm); }
Tensor Tensor::cov(int64_t correction, const Tensor& fweights, const Tensor& aweights) const { return cresset::cov(*this, correction, fweights, aweights); }
Tensor Tensor::corrcoef() const { return cresset::corrcoef(*this); }
Tensor Tensor::select_scatter(const Tensor& src, int64_t dim, int64_t index) const { return cresset::select_scatter(*this, src, dim, index); }
Tensor Tensor::slice_scatter(const Tensor& src, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) const { return cresset::slice_scatter(*this, src, dim, start, end, step); }
Tensor Tensor::diagonal_scatter(const Tensor& src, int64_t offset, int64_t dim1, int64_t dim2) const { return cresset::diagonal_scatter(*this, src, offset, dim1, dim2); }
Tensor Tensor::as_strided_scatter(const Tensor& src, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) const { return cresset::as_strided_scatter(*this, src, size, stride, storage_offset); }
Tensor Tensor::negative() const { return cresset::neg(*this); }
Tensor& Tensor::negative_() const { return cresset::neg_(*this); }
Tensor Tensor::fold(IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) const { return cresset::col2im(*this, output_size, kernel_size, dilation, padding, stride); }
Tensor Tensor::subtract(const Tensor& other, const Scalar& alpha) const { return cresset::sub(*this, other, alpha); }
Tensor& Tensor::subtract_(const Tensor& other, const Scalar& alpha) const { return cresset::sub_(*this, other, alpha); }
Tensor Tensor::subtract(const Scalar& other, const Scalar& alpha) const { return cresset::sub(*this, other, alpha); }
Tensor& Tensor::subtract_(const Scalar& other, const Scalar& alpha) const { return cresset::sub_(*this, other, alpha); }
Tensor Tensor::multiply(const Tensor& other) const { return cresset::mul(*this, other); }
Tensor& Tensor::multiply_(const Tensor& other) const { return cresset::mul_(*this, other); }
Tensor Tensor::multiply(const Scalar& other) const { return cresset::mul(*this, other); }
Tensor& Tensor::multiply_(const Scalar& other) const { return cresset::mul_(*this, other); }
Tensor Tensor::divide(const Tensor& other, std::optional<std::string_view> rounding_mode) const { return cresset::div(*this, other, rounding_mode); }
Tensor& Tensor::divide_(const Tensor& other, std::optional<std::string_view> rounding_mode) const { return cresset::div_(*this, other, rounding_mode); }
Tensor Tensor::divide(const Scalar& other, std::optional<std::string_view> rounding_mode) const { return cresset::div(*this, other, rounding_mode); }
Tensor& Tensor::divide_(const Scalar& other, std::optional<std::string_view> rounding_mode) const { return cresset::div_(*this, other, rounding_mode); }
Tensor Tensor::divide(const Tensor& other) const { return cresset::div(*this, other); }
Tensor& Tensor::divide_(const Tensor& other) const { return cresset::div_(*this, other); }
Tensor Tensor::divide(const Scalar& other) const { return cresset::div(*this, other); }
Tensor& Tensor::divide_(const Scalar& other) const { return cresset::div_(*this, other); }
Tensor Tensor::true_divide(const Tensor& other, std::optional<std::string_view> rounding_mode) const { return cresset::div(*this, other, rounding_mode); }
Tensor& Tensor::true_divide_(const Tensor& other, std::optional<std::string_view> rounding_mode) const { return cresset::div_(*this, other, rounding_mode); }
Tensor Tensor::true_divide(const Scalar& other, std::optional<std::string_view> rounding_mode) const { return cresset::div(*this, other, rounding_mode); }
Tensor& Tensor::true_divide_(const Scalar& other, std::optional<std::string_view> rounding_mode) const { return cresset::div_(*this, other, rounding_mode); }
Tensor Tensor::true_divide(const Tensor& other) const { return cresset::div(*this, other); }
Tensor& Tensor::true_divide_(const Tensor& other) const { return cresset::div_(*this, other); }
Tensor Tensor::true_divide(const Scalar& other) const { return cresset::div(*this, other); }
Tensor& Tensor::true_divide_(const Scalar& other) const { return cresset::div_(*this, other); }
Tensor Tensor::absolute() const { return cresset::abs(*this); }
Tensor& Tensor::absolute_() const { return cresset::abs_(*this); }
Tensor Tensor::arcsin() const { return cresset::asin(*this); }
Tensor& Tensor::arcsin_() const { return cresset::asin_(*this); }
Tensor Tensor::arccos() const { return cresset::acos(*this); }
Tensor& Tensor::arccos_() const { return cresset::acos_(*this); }
Tensor Tensor::arctan() const { return cresset::atan(*this); }
Tensor& Tensor::arctan_() const { return cresset::atan_(*this); }
Tensor Tensor::arcsinh() const { return cresset::asinh(*this); }
Tensor& Tensor::arcsinh_() const { return cresset::asinh_(*this); }
Tensor Tensor::arccosh() const { return cresset::acosh(*this); }
Tensor& Tensor::arccosh_() const { return cresset::acosh_(*this); }
Tensor Tensor::arctanh() const { return cresset::atanh(*this); }
Tensor& Tensor::arctanh_() const { return cresset::atanh_(*this); }
Tensor Tensor::fix() const { return cresset::trunc(*this); }
Tensor& Tensor::fix_() const { return cresset::trunc_(*this); }
Tensor Tensor::linalg_matrix_power(int64_t n) const { return cresset::matrix_power(*this, n); }
Tensor Tensor::linalg_matrix_exp() const { return cresset::matrix_exp(*this); }
Tensor Tensor::linalg_matmul(const Tensor& other) const { return cresset::matmul(*this, other); }
Tensor Tensor::ger(const Tensor& vec2) const { return cresset::outer(*this, vec2); }
Tensor Tensor::argwhere() const { return cresset::nonzero(*this); }
Tensor Tensor::ravel(int64_t start_dim, int64_t end_dim) const { return cresset::flatten(*this, start_dim, end_dim); }
Tensor Tensor::moveaxis(IntArrayRef source, IntArrayRef destination) const { return cresset::movedim(*this, source, destination); }
Tensor Tensor::moveaxis(int64_t source, int64_t destination) const { return cresset::movedim(*this, source, destination); }
Tensor Tensor::swapaxes(int64_t dim0, int64_t dim1) const { return cresset::transpose(*this, dim0, dim1); }
Tensor Tensor::swapdims(int64_t dim0, int64_t dim1) const { return cresset::transpose(*this, dim0, dim1); }
Tensor& Tensor::swapaxes_(int64_t dim0, int64_t dim1) const { return cresset::transpose_(*this, dim0, dim1); }
Tensor& Tensor::swapdims_(int64_t dim0, int64_t dim1) const { return cresset::transpose_(*this, dim0, dim1); }
Tensor Tensor::clip(const std::optional<Scalar>& min, const std::optional<Scalar>& max) const { return cresset::clamp(*this, min, max); }
Tensor& Tensor::clip_(const std::optional<Scalar>& min, const std::optional<Scalar>& max) const { return cresset::clamp_(*this, min, max); }
Tensor Tensor::clip(const Tensor& min, const Tensor& max) const { return cresset::clamp(*this, min, max); }
Tensor& Tensor::clip_(const Tensor& min, const Tensor& max) const { return cresset::clamp_(*this, min, max); }
Tensor Tensor::greater(const Tensor& other) const { return cresset::gt(*this, other); }
Tensor& Tensor::greater_(const Tensor& other) const { return cresset::gt_(*this, other); }
Tensor Tensor::greater(const Scalar& other) const { return cresset::gt(*this, other); }
Tensor& Tensor::greater_(const Scalar& other) const { return cresset::gt_(*this, other); }
Tensor Tensor::greater_equal(const Tensor& other) const { return cresset::ge(*this, other); }
Tensor& Tensor::greater_equal_(const Tensor& other) const { return cresset::ge_(*this, other); }
Tensor Tensor::greater_equal(const Scalar& other) const { return cresset::ge(*this, other); }
Tensor& Tensor::greater_equal_(const Scalar& other) const { return cresset::ge_(*this, other); }
Tensor Tensor::less(const Tensor& other) const { return cresset::lt(*this, other); }
Tensor& Tensor::less_(const Tensor& other) const { return cresset::lt_(*this, other); }
Tensor Tensor::less(const Scalar& other) const { return cresset::lt(*this, other); }
Tensor& Tensor::less_(const Scalar& other) const { return cresset::lt_(*this, other); }
Tensor Tensor::less_equal(const Tensor& other) const { return cresset::le(*this, other); }
Tensor& Tensor::less_equal_(const Tensor& other) const { return cresset::le_(*this, other); }
Tensor Tensor::less_equal(const Scalar& other) const { return cresset::le(*this, other); }
Tensor& Tensor::less_equal_(const Scalar& other) const { return cresset::le_(*this, other); }
Tensor Tensor::not_equal(const Tensor& other) const { return cresset::ne(*this, other); }
Tensor& Tensor::not_equal_(const Tensor& other) const { return cresset::ne_(*this, other); }
Tensor Tensor::not_equal(const Scalar& other) const { return cresset::ne(*this, other); }
Tensor& Tensor::not_equal_(const Scalar& other) const { return cresset::ne_(*this, other); }
Tensor Tensor::arctan2(const Tensor& other) const { return cresset::atan2(*this, other); }
Tensor& Tensor::arctan2_(const Tensor& other) const { return cresset::atan2_(*this, other); }

}  // namespace cresset
