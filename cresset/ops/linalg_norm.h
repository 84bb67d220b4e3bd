// Norms of vectors and matrices, and condition numbers.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

// |x|^exponent, real; and x |x|^(exponent - 1), of x's dtype. Both are 0 for x = 0 where the sign or the exponent would
// leave it open, which makes norms differentiable there as PyTorch's are.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, double exponent)>, abs_pow_kernel, "abs_pow");
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, double exponent)>, signed_pow_kernel, "signed_pow");

CRESSET_API Tensor linalg_vector_norm(const Tensor& self, const Scalar& ord = 2, OptionalIntArrayRef dim = std::nullopt,
                                      bool keepdim = false, std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor& linalg_vector_norm_out(Tensor& out, const Tensor& self, const Scalar& ord = 2,
                                           OptionalIntArrayRef dim = std::nullopt, bool keepdim = false,
                                           std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor linalg_matrix_norm(const Tensor& self, const Scalar& ord, IntArrayRef dim = {-2, -1},
                                      bool keepdim = false, std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor& linalg_matrix_norm_out(Tensor& out, const Tensor& self, const Scalar& ord,
                                           IntArrayRef dim = {-2, -1}, bool keepdim = false,
                                           std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor linalg_matrix_norm(const Tensor& self, std::string_view ord = "fro", IntArrayRef dim = {-2, -1},
                                      bool keepdim = false, std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor& linalg_matrix_norm_out(Tensor& out, const Tensor& self, std::string_view ord = "fro",
                                           IntArrayRef dim = {-2, -1}, bool keepdim = false,
                                           std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor linalg_norm(const Tensor& self, const std::optional<Scalar>& ord = std::nullopt,
                               OptionalIntArrayRef dim = std::nullopt, bool keepdim = false,
                               std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor& linalg_norm_out(Tensor& out, const Tensor& self, const std::optional<Scalar>& ord = std::nullopt,
                                    OptionalIntArrayRef dim = std::nullopt, bool keepdim = false,
                                    std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor linalg_norm(const Tensor& self, std::string_view ord, OptionalIntArrayRef dim = std::nullopt,
                               bool keepdim = false, std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor& linalg_norm_out(Tensor& out, const Tensor& self, std::string_view ord,
                                    OptionalIntArrayRef dim = std::nullopt, bool keepdim = false,
                                    std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor linalg_cond(const Tensor& self, const std::optional<Scalar>& p = std::nullopt);
CRESSET_API Tensor& linalg_cond_out(Tensor& out, const Tensor& self, const std::optional<Scalar>& p = std::nullopt);
CRESSET_API Tensor linalg_cond(const Tensor& self, std::string_view p);
CRESSET_API Tensor& linalg_cond_out(Tensor& out, const Tensor& self, std::string_view p);

}  // namespace cresset
