// More changes of shape: those named after other tensors or dimensions, flips and rolls, repetition, windows, and views
// written into copies. The basic views are in ops/shape.h.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

// out[.., i, ..] = x[.., n - 1 - i, ..] along each of dims.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, IntArrayRef dims)>, flip_kernel, "flip");
// gx = what windows of g, as Tensor::unfold makes them along dim, add up to.
CRESSET_KERNEL(Kernel<void(const Tensor& gx, const Tensor& g, int64_t dim, int64_t size, int64_t step)>,
               unfold_backward_kernel, "unfold_backward");
// i repeated repeats[i] times, for every i.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& repeats)>, repeat_interleave_kernel, "repeat_interleave");
// The sum of repeats; throws if one is negative.
CRESSET_KERNEL(Kernel<void(const Tensor& total, const Tensor& repeats)>, count_repeats_kernel, "count_repeats");

CRESSET_API Tensor unflatten(const Tensor& self, int64_t dim, IntArrayRef sizes);
CRESSET_API Tensor movedim(const Tensor& self, IntArrayRef source, IntArrayRef destination);
CRESSET_API Tensor movedim(const Tensor& self, int64_t source, int64_t destination);
CRESSET_API Tensor expand_as(const Tensor& self, const Tensor& other);
CRESSET_API Tensor view_as(const Tensor& self, const Tensor& other);
CRESSET_API Tensor reshape_as(const Tensor& self, const Tensor& other);
CRESSET_API Tensor type_as(const Tensor& self, const Tensor& other);
CRESSET_API Tensor broadcast_to(const Tensor& self, IntArrayRef size);
CRESSET_API std::vector<Tensor> broadcast_tensors(TensorList tensors);
CRESSET_API Tensor adjoint(const Tensor& self);
// The methods mT, mH and H. Views, but for the conjugates of complex numbers.
CRESSET_API Tensor mT(const Tensor& self);
CRESSET_API Tensor mH(const Tensor& self);
CRESSET_API Tensor matrix_H(const Tensor& self);
CRESSET_API Tensor view(const Tensor& self, DType dtype);
CRESSET_API Tensor unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step);
CRESSET_API Tensor narrow_copy(const Tensor& self, int64_t dim, int64_t start, int64_t length);
CRESSET_API Tensor& narrow_copy_out(Tensor& out, const Tensor& self, int64_t dim, int64_t start, int64_t length);

// In place: self's own shape changes.
CRESSET_API Tensor& transpose_(const Tensor& self, int64_t dim0, int64_t dim1);
CRESSET_API Tensor& t_(const Tensor& self);
CRESSET_API Tensor& squeeze_(const Tensor& self);
CRESSET_API Tensor& squeeze_(const Tensor& self, int64_t dim);
CRESSET_API Tensor& unsqueeze_(const Tensor& self, int64_t dim);
CRESSET_API Tensor& as_strided_(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                                std::optional<int64_t> storage_offset = std::nullopt);
// Another shape over the same memory, in row-major order; more memory if that does not do, whose end is not set. Other
// tensors over the old memory keep it.
CRESSET_API Tensor& resize_(const Tensor& self, IntArrayRef size,
                            std::optional<MemoryFormat> memory_format = std::nullopt);
CRESSET_API Tensor& resize_as_(const Tensor& self, const Tensor& the_template,
                               std::optional<MemoryFormat> memory_format = std::nullopt);

CRESSET_API Tensor flip(const Tensor& self, IntArrayRef dims);
CRESSET_API Tensor fliplr(const Tensor& self);
CRESSET_API Tensor flipud(const Tensor& self);
CRESSET_API Tensor roll(const Tensor& self, IntArrayRef shifts, IntArrayRef dims = {});
CRESSET_API Tensor rot90(const Tensor& self, int64_t k = 1, IntArrayRef dims = {0, 1});
CRESSET_API Tensor repeat(const Tensor& self, IntArrayRef repeats);
CRESSET_API Tensor tile(const Tensor& self, IntArrayRef dims);
CRESSET_API Tensor repeat_interleave(const Tensor& repeats, std::optional<int64_t> output_size = std::nullopt);
CRESSET_API Tensor repeat_interleave(const Tensor& self, const Tensor& repeats,
                                     std::optional<int64_t> dim = std::nullopt,
                                     std::optional<int64_t> output_size = std::nullopt);
CRESSET_API Tensor repeat_interleave(const Tensor& self, int64_t repeats, std::optional<int64_t> dim = std::nullopt,
                                     std::optional<int64_t> output_size = std::nullopt);

// A copy of self with src in place of the view that the other arguments name.
CRESSET_API Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index);
CRESSET_API Tensor slice_scatter(const Tensor& self, const Tensor& src, int64_t dim = 0,
                                 std::optional<int64_t> start = std::nullopt, std::optional<int64_t> end = std::nullopt,
                                 int64_t step = 1);
CRESSET_API Tensor diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset = 0, int64_t dim1 = 0,
                                    int64_t dim2 = 1);
CRESSET_API Tensor as_strided_scatter(const Tensor& self, const Tensor& src, IntArrayRef size, IntArrayRef stride,
                                      std::optional<int64_t> storage_offset = std::nullopt);

}  // namespace cresset
