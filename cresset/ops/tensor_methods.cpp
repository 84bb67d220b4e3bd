// Written by cresset-oplist from the op registry: do not edit.
// clang-format off
#include "cresset/ops/all.h"

namespace cresset {

std::vector<Tensor> Tensor::chunk(int64_t chunks, int64_t dim) const { return cresset::chunk(*this, chunks, dim); }
Tensor Tensor::clone(std::optional<MemoryFormat> memory_format) const { return cresset::clone(*this, memory_format); }
Tensor& Tensor::copy_(const Tensor& source, bool non_blocking) const { return cresset::copy_(*this, source, non_blocking); }
Tensor& Tensor::fill_(const Scalar& value) const { return cresset::fill_(*this, value); }
Tensor& Tensor::zero_() const { return cresset::zero_(*this); }
Tensor Tensor::empty_like(const TensorOptions& options, std::optional<MemoryFormat> memory_format) const { return cresset::empty_like(*this, options, memory_format); }
Tensor Tensor::full_like(const Scalar& fill_value, const TensorOptions& options, std::optional<MemoryFormat> memory_format) const { return cresset::full_like(*this, fill_value, options, memory_format); }
Tensor Tensor::zeros_like(const TensorOptions& options, std::optional<MemoryFormat> memory_format) const { return cresset::zeros_like(*this, options, memory_format); }
Tensor Tensor::ones_like(const TensorOptions& options, std::optional<MemoryFormat> memory_format) const { return cresset::ones_like(*this, options, memory_format); }
Tensor Tensor::new_empty(IntArrayRef size, const TensorOptions& options) const { return cresset::new_empty(*this, size, options); }
Tensor Tensor::new_zeros(IntArrayRef size, const TensorOptions& options) const { return cresset::new_zeros(*this, size, options); }
Tensor Tensor::new_ones(IntArrayRef size, const TensorOptions& options) const { return cresset::new_ones(*this, size, options); }
Tensor Tensor::new_full(IntArrayRef size, const Scalar& fill_value, const TensorOptions& options) const { return cresset::new_full(*this, size, fill_value, options); }
Tensor Tensor::index(TensorList indices) const { return cresset::index(*this, indices); }
Tensor Tensor::index_put(TensorList indices, const Tensor& values, bool accumulate) const { return cresset::index_put(*this, indices, values, accumulate); }
Tensor& Tensor::index_put_(TensorList indices, const Tensor& values, bool accumulate) const { return cresset::index_put_(*this, indices, values, accumulate); }
Tensor Tensor::nonzero() const { return cresset::nonzero(*this); }
Tensor Tensor::mm(const Tensor& mat2) const { return cresset::mm(*this, mat2); }
Tensor Tensor::bmm(const Tensor& mat2) const { return cresset::bmm(*this, mat2); }
Tensor Tensor::addmm(const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) const { return cresset::addmm(*this, mat1, mat2, beta, alpha); }
Tensor& Tensor::addmm_(const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) const { return cresset::addmm_(*this, mat1, mat2, beta, alpha); }
Tensor Tensor::mv(const Tensor& vec) const { return cresset::mv(*this, vec); }
Tensor Tensor::dot(const Tensor& tensor) const { return cresset::dot(*this, tensor); }
Tensor Tensor::matmul(const Tensor& other) const { return cresset::matmul(*this, other); }
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
Tensor Tensor::sum(IntArrayRef dim, bool keepdim, std::optional<DType> dtype) const { return cresset::sum(*this, dim, keepdim, dtype); }
Tensor Tensor::sum(std::optional<DType> dtype) const { return cresset::sum(*this, dtype); }
Tensor Tensor::mean(IntArrayRef dim, bool keepdim, std::optional<DType> dtype) const { return cresset::mean(*this, dim, keepdim, dtype); }
Tensor Tensor::mean(std::optional<DType> dtype) const { return cresset::mean(*this, dtype); }
Tensor Tensor::amax(IntArrayRef dim, bool keepdim) const { return cresset::amax(*this, dim, keepdim); }
Tensor Tensor::max() const { return cresset::max(*this); }
std::tuple<Tensor, Tensor> Tensor::max(int64_t dim, bool keepdim) const { return cresset::max(*this, dim, keepdim); }
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
Tensor Tensor::log_softmax(int64_t dim, std::optional<DType> dtype) const { return cresset::log_softmax(*this, dim, dtype); }
std::tuple<Tensor, Tensor> Tensor::topk(int64_t k, int64_t dim, bool largest, bool sorted) const { return cresset::topk(*this, k, dim, largest, sorted); }
Tensor Tensor::negative() const { return cresset::neg(*this); }
Tensor& Tensor::negative_() const { return cresset::neg_(*this); }
Tensor Tensor::subtract(const Tensor& other, const Scalar& alpha) const { return cresset::sub(*this, other, alpha); }
Tensor& Tensor::subtract_(const Tensor& other, const Scalar& alpha) const { return cresset::sub_(*this, other, alpha); }
Tensor Tensor::subtract(const Scalar& other, const Scalar& alpha) const { return cresset::sub(*this, other, alpha); }
Tensor& Tensor::subtract_(const Scalar& other, const Scalar& alpha) const { return cresset::sub_(*this, other, alpha); }
Tensor Tensor::multiply(const Tensor& other) const { return cresset::mul(*this, other); }
Tensor& Tensor::multiply_(const Tensor& other) const { return cresset::mul_(*this, other); }
Tensor Tensor::multiply(const Scalar& other) const { return cresset::mul(*this, other); }
Tensor& Tensor::multiply_(const Scalar& other) const { return cresset::mul_(*this, other); }
Tensor Tensor::divide(const Tensor& other) const { return cresset::div(*this, other); }
Tensor& Tensor::divide_(const Tensor& other) const { return cresset::div_(*this, other); }
Tensor Tensor::divide(const Scalar& other) const { return cresset::div(*this, other); }
Tensor& Tensor::divide_(const Scalar& other) const { return cresset::div_(*this, other); }
Tensor Tensor::true_divide(const Tensor& other) const { return cresset::div(*this, other); }
Tensor& Tensor::true_divide_(const Tensor& other) const { return cresset::div_(*this, other); }
Tensor Tensor::true_divide(const Scalar& other) const { return cresset::div(*this, other); }
Tensor& Tensor::true_divide_(const Scalar& other) const { return cresset::div_(*this, other); }

}  // namespace cresset
