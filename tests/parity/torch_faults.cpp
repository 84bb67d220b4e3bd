// One case after the other, each with the reason.
#include "tests/parity/torch_faults.h"

namespace cresset::test {
namespace {

const Tensor& tensor_at(const Values& values, size_t i) { return std::get<Tensor>(values.at(i)); }

bool all_contiguous(const Values& values) {
  bool contiguous = true;
  mapped(values, [&](const Tensor& x) {
    contiguous = contiguous && x.is_contiguous();
    return x;
  });
  return contiguous;
}

// Convolutions cannot take strided batches of nothing; the transposed ones take bfloat16 for the plain ones.
bool wrong_convolution(const OpCase& c, const Values& values) {
  const Tensor& x = tensor_at(values, 0);
  bool transposed =
      c.name.find("transpose") != std::string::npos || (c.name == "convolution" && std::get<bool>(values[6]));
  return x.numel() == 0 || (transposed && x.dtype() == kBFloat16);
}

// float64 with float's digits: trigamma, y0 and y1, the slopes of hardsigmoid and of xlogy with a number.
bool float_digits(const OpCase& c) {
  return c.name == "digamma" || c.name.starts_with("polygamma") || c.name.find("bessel_y") != std::string::npos ||
         c.name == "hardsigmoid" || (c.overload == "Scalar" && c.name.find("xlog") != std::string::npos);
}

// Errors that libtorch gives in these ops alone.
bool missing_in_one_op(const OpCase& c, const std::string& error) {
  auto says = [&](const char* words) { return error.find(words) != std::string::npos; };
  // It computes in place in what may be a smaller tensor: 1 - target.
  if (c.name == "binary_cross_entropy_with_logits") return says("doesn't match the broadcast shape");
  // Its gradient masks in place a tensor of self's size, which bounds may be larger than.
  if (c.name == "clamp" && c.overload == "Tensor") return says("doesn't match the broadcast shape");
  // Of a src that is larger than the index.
  if (c.name.starts_with("scatter")) return says("returned an invalid gradient at index");
  return false;
}

}  // namespace

bool only_missing_in_torch(const OpCase& c, const std::string& error) {
  if (missing_in_one_op(c, error)) return true;
  for (const char* words :
       {"not implemented for", "is not supported for", "not supported on", "indices must be long, byte or bool tensors",
        "ComplexHalf",  // complex64 here
        "does not support automatic differentiation for outputs with complex dtype",
        "derivative for aten::", "derivative for channel_shuffle is not implemented",
        "derivative for 'ormqr' is not implemented", "Unsupported input type encountered for isin"})
    if (error.find(words) != std::string::npos) return true;
  return false;
}

bool wrong_in_torch(const OpCase& c, const Values& values) {
  if (c.family == "Conv") return wrong_convolution(c, values);
  if (float_digits(c)) return tensor_at(values, c.name == "polygamma").dtype() == kDouble;
  // Reads a strided weight as if it were contiguous.
  if (c.name == "multi_margin_loss" && values.size() > 4) {
    auto* weight = std::get_if<Tensor>(&values[4]);
    return weight && weight->defined() && !weight->is_contiguous();
  }
  if (c.overload == "decimals") return tensor_at(values, 0).dtype() == kBFloat16;  // rounds twice
  if (c.name.starts_with("adaptive_max_pool"))                                     // rounds indices to bfloat16
    return tensor_at(values, 0).dtype() == kBFloat16 && tensor_at(values, 0).numel() > 256;
  if (c.name == "histogram" || c.name == "histc")  // counts in bfloat16, which ends at 256
    return tensor_at(values, 0).dtype() == kBFloat16 && tensor_at(values, 0).numel() > 256;
  // A byte cannot be -1, but 255 is taken for it.
  if (c.name == "cosine_embedding_loss") return tensor_at(values, 2).dtype() == kByte;
  // Gives a length a complex dtype; later versions do not.
  if (c.name == "norm" && c.overload.ends_with("dtype")) return is_complex(std::get<DType>(values.back()));
  // Steps over the wrapped rows of strided matrices as if they were contiguous, and leaves the memory.
  if (c.name == "fill_diagonal_") return values.size() > 2 && !tensor_at(values, 0).is_contiguous();
  if (c.name == "isin" || c.name == "kron") return !all_contiguous(values);  // views what cannot be viewed
  if (c.name == "take_along_dim") return values.size() < 3 && !tensor_at(values, 0).is_contiguous();
  if (c.name == "embedding_dense_backward") return std::get<bool>(values[4]);  // forgets the frequencies
  // With beta = 0 it multiplies what happens to be in the result's memory, which may be nan.
  if ((c.name == "baddbmm" || c.name == "addbmm") && values.size() > 3) return std::get<Scalar>(values[3]).equal(0);
  if (c.name == "matrix_exp") return tensor_at(values, 0).dtype() == kBFloat16;
  // Dot products of complex vectors are 0: Debian's BLAS returns complex numbers otherwise.
  if (c.name != "dot" && c.name != "matmul" && c.name != "vdot" && c.name != "linalg_vecdot") return false;
  return tensor_at(values, 0).is_complex() && tensor_at(values, 0).dim() == 1 && tensor_at(values, 1).dim() == 1;
}

bool gradient_fails_in_torch(const OpCase& c) {
  return c.name == "vander" || c.name == "linalg_cond" || c.name == "linalg_eig";
}

}  // namespace cresset::test
