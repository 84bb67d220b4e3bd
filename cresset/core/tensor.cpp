// Tensor's own methods: making, questions, reading single values. Ops are elsewhere.
#include "cresset/core/tensor.h"

#include <cstring>
#include <limits>
#include <ostream>

#include "cresset/core/allocator.h"
#include "cresset/core/modes.h"

namespace cresset {
namespace {

// The number of bytes, refusing negative sizes and products that do not fit. An empty tensor's other sizes count too,
// since its strides are their products.
size_t contiguous_bytes(const char* op, IntArrayRef sizes, DType dtype) {
  int64_t bytes = static_cast<int64_t>(element_size(dtype));
  bool fits = true, zero = false;
  for (int64_t n : sizes) {
    CRESSET_CHECK_AS(ShapeError, n >= 0, op, ": found a negative size in ", text_of(sizes),
                     " (expected sizes of 0 or more; negative dimension)");
    zero = zero || n == 0;
    fits = fits && !__builtin_mul_overflow(bytes, n ? n : 1, &bytes);
  }
  CRESSET_CHECK_AS(ShapeError, fits, op, ": a tensor of shape ", text_of(sizes), " and dtype ", name_of(dtype),
                   " is larger than memory can be");
  return zero ? 0 : static_cast<size_t>(bytes);
}

}  // namespace

Tensor empty_contiguous(IntArrayRef sizes, DType dtype, Device device) {
  size_t bytes = contiguous_bytes("empty", sizes, dtype);
  auto storage = StorageImpl::make(bytes, device);
  auto owned = Ref<TensorImpl>::adopt(TensorImpl::make());  // first: what follows may throw
  TensorImpl* impl = owned.get();
  impl->dtype = dtype;
  impl->device = device;
  impl->inference = thread_state.inference;
  impl->storage = std::move(storage);
  impl->set_sizes_contiguous(sizes);
  return Tensor(std::move(owned));
}

size_t storage_bytes(const char* op, IntArrayRef sizes, DType dtype) { return contiguous_bytes(op, sizes, dtype); }

size_t storage_bytes(const char* op, IntArrayRef sizes, IntArrayRef strides, DType dtype, int64_t offset) {
  CRESSET_CHECK_AS(ShapeError, sizes.size() == strides.size(), op, ": found ", sizes.size(), " sizes and ",
                   strides.size(), " strides (mismatch in length of strides and shape)");
  CRESSET_CHECK_AS(ShapeError, offset >= 0, op, ": found storage offset ", offset, " (expected 0 or more)");
  contiguous_bytes(op, sizes, dtype);
  int64_t elements = 1;
  bool fits = !__builtin_add_overflow(elements, offset, &elements), empty = false;
  for (size_t i = 0; i < sizes.size(); i++) {
    CRESSET_CHECK_AS(ShapeError, strides[i] >= 0, op, ": found a negative stride in ", text_of(strides),
                     " (expected strides of 0 or more; negative strides are not supported)");
    int64_t reach = 0;
    empty = empty || sizes[i] == 0;
    fits = fits && !__builtin_mul_overflow(sizes[i] ? sizes[i] - 1 : 0, strides[i], &reach) &&
           !__builtin_add_overflow(elements, reach, &elements);
  }
  fits = fits && !__builtin_mul_overflow(elements, static_cast<int64_t>(element_size(dtype)), &elements);
  CRESSET_CHECK_AS(ShapeError, fits, op, ": a tensor of shape ", text_of(sizes), ", strides ", text_of(strides),
                   " and dtype ", name_of(dtype), " is larger than memory can be");
  return empty ? 0 : static_cast<size_t>(elements);
}

Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, DType dtype, Device device) {
  auto storage = StorageImpl::make(storage_bytes("empty_strided", sizes, strides, dtype, 0), device);
  auto owned = Ref<TensorImpl>::adopt(TensorImpl::make());  // first: what follows may throw
  TensorImpl* impl = owned.get();
  impl->dtype = dtype;
  impl->device = device;
  impl->inference = thread_state.inference;
  impl->storage = std::move(storage);
  impl->set_geometry(sizes, strides);
  return Tensor(std::move(owned));
}
Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options) {
  check_strided("empty_strided", options);
  Tensor y = empty_strided(sizes, strides, options.dtype(), options.device());
  if (options.requires_grad()) y.requires_grad_();
  return y;
}

bool Tensor::is_set_to(const Tensor& other) const {
  return known()->storage == other.known()->storage && storage_offset() == other.storage_offset() &&
         sizes() == other.sizes() && strides() == other.strides();
}

// All but the geometry of a second tensor on the same memory.
static Ref<TensorImpl> sharing_memory(const TensorImpl* from) {
  auto owned = Ref<TensorImpl>::adopt(TensorImpl::make());  // first: what follows may throw
  TensorImpl* impl = owned.get();
  impl->dtype = from->dtype;
  impl->device = from->device;
  impl->inference = from->inference;
  impl->storage = from->storage;
  impl->own_version = from->own_version;
  return owned;
}

Tensor alias(const Tensor& x, IntArrayRef sizes, IntArrayRef strides, int64_t offset) {
  auto owned = sharing_memory(x.impl());
  owned->offset = offset;
  owned->set_geometry(sizes, strides);
  return Tensor(std::move(owned));
}

Tensor alias(const Tensor& x) {
  const TensorImpl* from = x.impl();
  auto owned = sharing_memory(from);
  TensorImpl* impl = owned.get();
  impl->offset = from->offset;
  impl->sizes = from->sizes;
  impl->strides = from->strides;
  impl->numel = from->numel;
  impl->contiguous = from->contiguous;
  impl->wrapped_number = from->wrapped_number;
  return Tensor(std::move(owned));
}

Tensor wrapped_number(const Scalar& value) {
  Tensor y = empty_contiguous({}, value.isFloatingPoint() ? kDouble : value.type(), kCPU);
  void* to = y.impl()->data();
  if (value.isBoolean())
    *static_cast<bool*>(to) = value.toBool();
  else if (value.isIntegral(false))
    *static_cast<int64_t*>(to) = value.toLong();
  else if (value.isFloatingPoint())
    *static_cast<double*>(to) = value.toDouble();
  else
    *static_cast<std::complex<double>*>(to) = value.toComplexDouble();
  y.impl()->wrapped_number = true;
  return y;
}

void* Tensor::data_ptr() const {
  TensorImpl* impl = known();
  CRESSET_CHECK_AS(DeviceError, !impl->device.is_meta(), "data_ptr: a meta tensor of shape ", text_of(impl->sizes),
                   " has no memory");
  return impl->data();
}

Scalar Tensor::item() const {
  CRESSET_CHECK(defined(), "item: found an undefined tensor for self (expected a defined one)");
  CRESSET_CHECK_AS(ShapeError, numel() == 1, "item: a Tensor with ", numel(),
                   " elements cannot be converted to Scalar (shape ", text_of(sizes()), ", expected one element)");
  CRESSET_CHECK_AS(DeviceError, !is_meta(), "item: cannot be called on meta tensors, which have no values");
  if (CRESSET_UNLIKELY(thread_state.modes_below != 0)) modes::value_read(*this);
  if (!is_cpu()) return to(Device(kCPU)).item();
  return dispatch(dtype(), [&](auto* p) { return Scalar(*static_cast<decltype(p)>(impl_->data())); });
}

void Scalar::does_not_fit(DType wanted) const {
  constexpr const char* types[] = {"uint8_t", "int8_t",   "int16_t", "int32_t",        "int64_t",
                                   "Half",    "float",    "double",  "complex<float>", "complex<double>",
                                   "bool",    "BFloat16", "unsigned"};
  throw ValueError(message_of("Scalar: value cannot be converted to type ", types[static_cast<int>(wanted)],
                              " without overflow: found ", *this));
}
Scalar::Scalar(const Tensor& zero_dim) : Scalar(zero_dim.item()) {}

std::ostream& operator<<(std::ostream& out, const Scalar& scalar) {
  if (scalar.isBoolean()) return out << (scalar.toBool() ? "true" : "false");
  if (scalar.isIntegral(false)) return out << scalar.toLong();
  if (scalar.isFloatingPoint()) return out << scalar.toDouble();
  return out << scalar.toComplexDouble();
}

MemoryFormat Tensor::suggest_memory_format() const {
  if (is_contiguous()) return MemoryFormat::Contiguous;
  if (dim() == 4 && is_contiguous(MemoryFormat::ChannelsLast)) return MemoryFormat::ChannelsLast;
  if (dim() == 5 && is_contiguous(MemoryFormat::ChannelsLast3d)) return MemoryFormat::ChannelsLast3d;
  return MemoryFormat::Contiguous;
}

std::string DeprecatedTypeProperties::toString() const {
  return std::string(name_of(device_)) + cresset::toString(dtype_) + "Type";
}
std::string Tensor::toString() const { return defined() ? type().toString() : "UndefinedType"; }

void Tensor::undefined_tensor() { throw Error(kUndefinedTensor); }

int Tensor::checked_dim(const char* what, int64_t dim) const {
  int64_t rank = known()->sizes.rank();
  CRESSET_CHECK_AS(IndexError, dim >= -rank && dim < rank, what, ": dim ", dim, " is out of range for shape ",
                   text_of(sizes()), " (expected ", -rank, " to ", rank - 1, ")");
  return static_cast<int>(dim < 0 ? dim + rank : dim);
}
void Tensor::wrong_type(const char* what, DType wanted) const {
  throw TypeError(message_of(what, ": expected scalar type ", cresset::toString(wanted), " but found ",
                             cresset::toString(dtype())));
}
void Tensor::check_32_bit_indices() const {
  CRESSET_CHECK_AS(ShapeError, numel() <= std::numeric_limits<int32_t>::max(), "packed_accessor32: found ", numel(),
                   " elements (expected at most ", std::numeric_limits<int32_t>::max(),
                   ": numel needs to be smaller than int32_t max; otherwise, please use packed_accessor64)");
}
void Tensor::check_rank(const char* what, int64_t wanted) const {
  CRESSET_CHECK_AS(ShapeError, dim() == wanted, what, ": expected ", wanted, " dims but tensor has ", dim(), " (shape ",
                   text_of(sizes()), ")");
}

}  // namespace cresset
