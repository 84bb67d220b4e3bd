// Tensor: the one handle type. It shares its TensorImpl by reference count; copying it copies no data. Ops appear as
// methods through the list generated from the op registry (tensor_methods.inc).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "cresset/core/accessor.h"
#include "cresset/core/error.h"
#include "cresset/core/generator.h"
#include "cresset/core/options.h"
#include "cresset/core/scalar.h"
#include "cresset/core/tensor_impl.h"
#include "cresset/core/thread_state.h"

namespace cresset {

class Tensor;
namespace autograd {
class Node;
}
namespace indexing {
class TensorIndex;
}
using indexing::TensorIndex;
using TensorList = ArrayRef<Tensor>;

class TensorLiteral;

// What Tensor::type() gives, as programs from before dtype() use it: printed, compared, and as the type of a dispatch.
class DeprecatedTypeProperties {
 public:
  DeprecatedTypeProperties(DeviceType device, DType dtype) : device_(device), dtype_(dtype) {}
  DType scalarType() const { return dtype_; }
  TypeMeta typeMeta() const { return TypeMeta(dtype_); }
  DeviceType device_type() const { return device_; }
  bool is_cuda() const { return device_ == kCUDA; }
  TensorOptions options() const { return TensorOptions(dtype_).device(device_); }
  CRESSET_API std::string toString() const;  // "CPUFloatType"
  operator DType() const { return dtype_; }
  bool operator==(const DeprecatedTypeProperties&) const = default;

 private:
  DeviceType device_;
  DType dtype_;
};
CRESSET_API std::ostream& operator<<(std::ostream& out, const DeprecatedTypeProperties& type);

class CRESSET_API Tensor {
 public:
  Tensor() = default;
  explicit Tensor(Ref<TensorImpl> impl) : impl_(std::move(impl)) {}
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) = default;
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & = default;
  // What an expression returned is written to: x[0] = y and x.index({…}) = 5 change x.
  Tensor& operator=(const Tensor& values) &&;
  Tensor& operator=(Tensor&& values) &&;
  Tensor& operator=(const Scalar& value) &&;

  // ---- what it is
  bool defined() const { return static_cast<bool>(impl_); }
  explicit operator bool() const = delete;  // ask defined(), or item<bool>()
  TensorImpl* impl() const { return impl_.get(); }
  TensorImpl* unsafeGetTensorImpl() const { return impl_.get(); }
  const Ref<TensorImpl>& ref() const { return impl_; }
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }
  // Whether both are the same view of the same memory.
  bool is_set_to(const Tensor& other) const;
  uint32_t use_count() const { return impl_.use_count(); }
  void reset() { impl_.reset(); }

  IntArrayRef sizes() const { return known()->sizes; }
  IntArrayRef strides() const { return known()->strides; }
  int64_t dim() const { return known()->sizes.rank(); }
  int64_t ndimension() const { return dim(); }
  int64_t numel() const { return known()->numel; }
  int64_t size(int64_t dim) const { return known()->sizes[checked_dim("size", dim)]; }
  int64_t stride(int64_t dim) const { return known()->strides[checked_dim("stride", dim)]; }
  int64_t storage_offset() const { return known()->offset; }
  TypeMeta dtype() const { return TypeMeta(known()->dtype); }
  DType scalar_type() const { return known()->dtype; }
  Device device() const { return known()->device; }
  int64_t get_device() const { return known()->device.index(); }
  Layout layout() const { return kStrided; }
  bool is_sparse() const { return false; }  // programs ask before they update
  bool is_quantized() const { return false; }
  bool is_mkldnn() const { return false; }
  bool has_storage() const { return defined(); }
  Storage storage() const { return Storage(known()->storage); }
  bool is_pinned() const { return false; }
  Tensor pin_memory() const { return *this; }  // accepted, as by the loader: no memory is page-locked yet
  TensorOptions options() const { return TensorOptions(dtype()).device(device()).layout(layout()); }
  size_t itemsize() const { return cresset::element_size(dtype()); }
  int64_t element_size() const { return static_cast<int64_t>(itemsize()); }
  size_t nbytes() const {  // as if every element had memory of its own; SIZE_MAX if that cannot be
    size_t bytes;
    return __builtin_mul_overflow(static_cast<size_t>(numel()), itemsize(), &bytes) ? SIZE_MAX : bytes;
  }
  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const {
    return format == MemoryFormat::Contiguous ? known()->contiguous
                                              : cresset::is_contiguous(sizes(), strides(), format);
  }
  bool is_non_overlapping_and_dense() const { return is_contiguous() || is_dense(sizes(), strides()); }
  MemoryFormat suggest_memory_format() const;
  bool is_cpu() const { return device().is_cpu(); }
  bool is_cuda() const { return device().is_cuda(); }
  bool is_meta() const { return device().is_meta(); }
  bool is_floating_point() const { return cresset::is_floating_point(dtype()); }
  bool is_complex() const { return cresset::is_complex(dtype()); }
  bool is_signed() const { return cresset::is_signed(dtype()); }
  bool is_inference() const { return known()->inference; }
  bool is_alias_of(const Tensor& other) const { return known()->storage == other.known()->storage; }
  bool is_same_size(const Tensor& other) const { return sizes() == other.sizes(); }
  DeprecatedTypeProperties type() const { return {device().type(), dtype()}; }
  std::string toString() const;  // type().toString(), or "UndefinedType"
  void print() const;            // what it is, on stderr: "[CPUFloatType [2, 3]]"

  // ---- its values
  void* data_ptr() const;
  template <class T>
  T* data_ptr() const {
    check_type("data_ptr", dtype_of<T>);
    return static_cast<T*>(data_ptr());
  }
  const void* const_data_ptr() const { return data_ptr(); }
  void* mutable_data_ptr() const { return data_ptr(); }
  template <class T>
  const T* const_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T, size_t N>
  TensorAccessor<T, N> accessor() const {
    check_type("accessor", dtype_of<T>);
    check_rank("accessor", static_cast<int64_t>(N));
    return TensorAccessor<T, N>(static_cast<T*>(data_ptr()), impl_->sizes.data(), impl_->strides.data());
  }
  // libtorch's accessors for kernels. Here they are the plain one: sizes and strides stay with the tensor.
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, PtrTraits> packed_accessor32() const {
    check_32_bit_indices();
    return accessor<T, N>();
  }
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, PtrTraits> packed_accessor64() const {
    return accessor<T, N>();
  }
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  [[deprecated("packed_accessor is deprecated; use packed_accessor32 or packed_accessor64")]] PackedTensorAccessor64<
      T, N, PtrTraits>
  packed_accessor() const {
    return accessor<T, N>();
  }
  // The values row by row; T is the dtype's own type.
  template <class T>
  std::vector<T> tolist() const {
    Tensor here = detach().to(Device(kCPU)).contiguous();
    const T* values = here.data_ptr<T>();
    return std::vector<T>(values, values + numel());
  }
  Scalar item() const;
  bool is_nonzero() const { return item<bool>(); }
  template <class T>
  T item() const {
    return item().to<T>();
  }
  Tensor operator[](int64_t index) const;
  Tensor operator[](const Tensor& index) const;
  Tensor index(ArrayRef<TensorIndex> indices) const;
  Tensor index(std::initializer_list<TensorIndex> indices) const;
  Tensor& index_put_(ArrayRef<TensorIndex> indices, const Tensor& values);
  Tensor& index_put_(ArrayRef<TensorIndex> indices, const Scalar& value);
  Tensor& index_put_(std::initializer_list<TensorIndex> indices, const Tensor& values);
  Tensor& index_put_(std::initializer_list<TensorIndex> indices, const Scalar& value);

  // ---- autograd
  bool requires_grad() const {
    return known()->requires_grad || (impl_->differentiable_view && impl_->base->requires_grad);
  }
  const Tensor& requires_grad_(bool on = true) const;
  const Tensor& set_requires_grad(bool on) const { return requires_grad_(on); }
  bool is_leaf() const;
  Ref<autograd::Node> grad_fn() const;
  uint32_t output_nr() const { return known()->output_nr; }
  const Tensor& grad() const;
  Tensor& mutable_grad() const;
  void backward(const Tensor& gradient = {}, std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
                std::optional<TensorList> inputs = std::nullopt) const;
  Tensor detach() const;
  Tensor& detach_();
  Tensor new_tensor(const TensorLiteral& values) const;  // tensor(values) with this dtype and device
  // Becomes a second handle on source's memory, with its shape. For tensors without history.
  Tensor& set_(const Tensor& source) const;
  Tensor data() const { return variable_data(); }
  template <class T>
  [[deprecated("data<T>() is deprecated; use data_ptr<T>()")]] T* data() const {
    return data_ptr<T>();
  }
  Tensor alias() const;          // a view of the whole; gradients flow through it
  Tensor variable_data() const;  // same values, own version, no graph
  Tensor tensor_data() const { return variable_data(); }
  void set_data(const Tensor& other) const;
  void retain_grad() const;
  bool retains_grad() const;
  uint32_t _version() const;
  bool is_view() const { return known()->differentiable_view; }
  Tensor _base() const;
  const std::string& name() const;

  template <class F>
  unsigned register_hook(F&& hook) const {
    if constexpr (std::is_void_v<std::invoke_result_t<F, Tensor>>)
      return add_hook([f = std::forward<F>(hook)](const Tensor& g) mutable {
        f(g);
        return Tensor();
      });
    else
      return add_hook(std::forward<F>(hook));
  }
  void remove_hook(unsigned position) const;
  // After a gradient was added into this leaf; takes the leaf.
  unsigned register_post_accumulate_grad_hook(std::function<void(const Tensor&)> hook) const;

  // ---- conversion and copies that are more than one op
  Tensor to(const TensorOptions& options, bool non_blocking = false, bool copy = false) const;
  Tensor to(DType dtype, bool non_blocking = false, bool copy = false) const;
  Tensor to(Device device, bool non_blocking = false, bool copy = false) const;
  Tensor to(Device device, DType dtype, bool non_blocking = false, bool copy = false) const;
  Tensor to(const Tensor& other, bool non_blocking = false, bool copy = false) const {
    return to(other.device(), other.dtype(), non_blocking, copy);
  }
  // Without these, to(x.dtype()) and to(kCPU) could mean a TensorOptions as well.
  Tensor to(TypeMeta dtype, bool non_blocking = false, bool copy = false) const {
    return to(dtype.toScalarType(), non_blocking, copy);
  }
  Tensor to(DeviceType type, bool non_blocking = false, bool copy = false) const {
    return to(Device(type), non_blocking, copy);
  }
  Tensor cpu() const { return to(Device(kCPU)); }
  Tensor cuda() const { return to(Device(kCUDA)); }
  Tensor contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
  Tensor toType(DType dtype) const { return to(dtype); }

  // ---- operators
  Tensor operator-() const;
  Tensor& operator+=(const Tensor& other);
  Tensor& operator+=(const Scalar& other);
  Tensor& operator-=(const Tensor& other);
  Tensor& operator-=(const Scalar& other);
  Tensor& operator*=(const Tensor& other);
  Tensor& operator*=(const Scalar& other);
  Tensor& operator/=(const Tensor& other);
  Tensor& operator/=(const Scalar& other);

#include "cresset/core/tensor_methods.inc"
  Tensor H() const { return matrix_H(); }
  Tensor& fill_(const Tensor& value) const;  // a 0-d one; gradients flow to it
  std::tuple<Tensor, Tensor> histogram(int64_t bins = 100, std::optional<ArrayRef<double>> range = std::nullopt,
                                       const Tensor& weight = {}, bool density = false) const;

  // A number is a dimension here: without these overloads, std(0) would be std(/*unbiased=*/false).
  Tensor var(int dim) const { return var(IntArrayRef{int64_t{dim}}); }
  Tensor var(int64_t dim) const { return var(IntArrayRef{dim}); }
  Tensor std(int dim) const { return std(IntArrayRef{int64_t{dim}}); }
  Tensor std(int64_t dim) const { return std(IntArrayRef{dim}); }

 private:
  TensorImpl* known() const {
    if (CRESSET_UNLIKELY(!impl_)) undefined_tensor();
    return impl_.get();
  }
  [[noreturn]] static void undefined_tensor();
  int checked_dim(const char* what, int64_t dim) const;
  void check_type(const char* what, DType wanted) const {
    if (CRESSET_UNLIKELY(dtype() != wanted)) wrong_type(what, wanted);
  }
  [[noreturn]] void wrong_type(const char* what, DType wanted) const;
  void check_rank(const char* what, int64_t wanted) const;
  void check_32_bit_indices() const;
  unsigned add_hook(std::function<Tensor(const Tensor&)> hook) const;

  Ref<TensorImpl> impl_;
};

// Refuses options that ask for a sparse tensor: there are none.
inline void check_strided(const char* op, const TensorOptions& options) {
  CRESSET_CHECK_AS(NotImplementedError, options.layout() == kStrided, op,
                   ": found layout Sparse (expected Strided: there are no sparse tensors)");
}
// Makes a tensor of its own memory; the values are not set. Ops and factories build on it.
CRESSET_API Tensor empty_contiguous(IntArrayRef sizes, DType dtype, Device device);
CRESSET_API Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, DType dtype, Device device);
CRESSET_API Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options = {});
// The bytes of memory that such a tensor reaches over; refuses what cannot be.
CRESSET_API size_t storage_bytes(const char* op, IntArrayRef sizes, DType dtype);
CRESSET_API size_t storage_bytes(const char* op, IntArrayRef sizes, IntArrayRef strides, DType dtype, int64_t offset);
// Another tensor over x's storage, with no place in the graph and no base.
CRESSET_API Tensor alias(const Tensor& x, IntArrayRef sizes, IntArrayRef strides, int64_t offset);
CRESSET_API Tensor alias(const Tensor& x);
// A 0-d CPU tensor that counts as a number in type promotion.
CRESSET_API Tensor wrapped_number(const Scalar& value);

CRESSET_API std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace cresset
