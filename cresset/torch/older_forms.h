// Overloads and functions that libtorch still has for programs written before better ones.
#pragma once

#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "cresset/core/from_blob.h"
#include "cresset/ops/all.h"
#include "cresset/ops/shape_rule.h"

namespace cresset {

// for_blob(data, sizes).strides(…).deleter(…).make_tensor(): from_blob with named arguments.
class TensorMaker {
 public:
  TensorMaker(void* data, IntArrayRef sizes) : data_(data), sizes_(sizes.vec()) {}
  TensorMaker& strides(IntArrayRef value) { return strides_ = value.vec(), *this; }
  TensorMaker& storage_offset(std::optional<int64_t> value) { return offset_ = value.value_or(0), *this; }
  TensorMaker& deleter(BlobDeleter value) { return deleter_ = std::move(value), *this; }
  TensorMaker& target_device(std::optional<Device> value) { return device_ = value, *this; }
  TensorMaker& options(TensorOptions value) { return options_ = value, *this; }
  Tensor make_tensor() const {
    const TensorOptions options = device_ ? options_.device(device_) : options_;
    const Dims strides = strides_ ? Dims(*strides_) : contiguous_strides(sizes_);
    return from_blob(data_, sizes_, strides, offset_, deleter_, options);
  }

 private:
  void* data_;
  std::vector<int64_t> sizes_;
  std::optional<std::vector<int64_t>> strides_;
  int64_t offset_ = 0;
  BlobDeleter deleter_;
  std::optional<Device> device_;
  TensorOptions options_;
};
inline TensorMaker for_blob(void* data, IntArrayRef sizes) { return TensorMaker(data, sizes); }

inline std::tuple<Tensor, Tensor, Tensor> _unique2(const Tensor& self, bool sorted = true,  // NOLINT
                                                   bool return_inverse = false, bool return_counts = false) {
  return unique(self, sorted, return_inverse, return_counts);
}

namespace linalg {
// The driver chooses among cuSOLVER's; there is one here.
inline std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& A, bool full_matrices, std::optional<std::string_view>) {
  return linalg_svd(A, full_matrices);
}
inline Tensor svdvals(const Tensor& A, std::optional<std::string_view>) { return linalg_svdvals(A); }
inline std::tuple<Tensor, Tensor, Tensor, Tensor> lstsq(const Tensor& A, const Tensor& B, std::optional<double> rcond,
                                                        std::nullopt_t) {
  return linalg_lstsq(A, B, rcond);
}
}  // namespace linalg

namespace special {
inline Tensor zeta(const Tensor& self, const Scalar& other) { return special_zeta(self, wrapped_number(other)); }
inline Tensor zeta(const Scalar& self, const Tensor& other) { return special_zeta(wrapped_number(self), other); }
}  // namespace special

// libtorch's overload that does not centre, known by what stands where the other has pad_mode.
template <class OneSided>
requires std::is_same_v<OneSided, bool> || std::is_same_v<OneSided, std::nullopt_t> ||
    std::is_same_v<OneSided, std::optional<bool>>
        Tensor stft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length,
                    std::optional<int64_t> win_length, const Tensor& window, bool normalized, OneSided onesided,
                    std::optional<bool> return_complex = std::nullopt) {
  return stft(self, n_fft, hop_length, win_length, window, /*center=*/false, "reflect", normalized, onesided,
              return_complex);
}

}  // namespace cresset
