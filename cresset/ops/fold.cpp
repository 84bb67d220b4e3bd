// im2col and col2im: each is the other's gradient.
#include "cresset/ops/fold.h"

#include "cresset/autograd/kept_dims.h"
#include "cresset/core/checked.h"
#include "cresset/ops/forms.h"

namespace cresset {
namespace {

// Kernel, dilation, padding and stride as the kernels take them.
Dims window_of(const char* op, IntArrayRef kernel, IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) {
  Dims window;
  const IntArrayRef lists[] = {kernel, dilation, padding, stride};
  const char* names[] = {"kernel_size", "dilation", "padding", "stride"};
  for (int i = 0; i < 4; i++) {
    CRESSET_CHECK_AS(ShapeError, lists[i].size() == 2, op, ": It is expected ", names[i], " equals to 2, but got size ",
                     lists[i].size());
    for (int64_t n : lists[i]) {
      CRESSET_CHECK_AS(ValueError, i == 2 ? n >= 0 : n > 0, op, ": ", names[i], " should be ",
                       i == 2 ? "non-negative" : "greater than zero", ", but got ", text_of(lists[i]));
      window.push_back(n);
    }
  }
  return window;
}
// How many places the window has along one side.
int64_t blocks_along(const char* op, int64_t size, const Dims& w, int side) {
  const Wide reach = Wide{size} + 2 * Wide{w[4 + side]} - Wide{w[2 + side]} * (w[side] - 1) - 1;
  return reach < 0 ? 0 : checked_size(op, reach / w[6 + side] + 1);
}
Tensor batched(const Tensor& x, int64_t rank) {
  if (x.dim() == rank) return x.detach();
  Dims sizes(x.sizes()), strides(x.strides());
  sizes.insert(0, 1);
  strides.insert(0, sizes[1] * strides[1]);
  return alias(x, sizes, strides, x.storage_offset());
}

}  // namespace

static Tensor im2col_into(const Into& into, const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation,
                          IntArrayRef padding, IntArrayRef stride) {
  Dims w = window_of("im2col", kernel_size, dilation, padding, stride);
  bool fits = self.dim() == 3 || self.dim() == 4;
  for (int64_t i = 1; fits && i <= 3; i++) fits = self.size(-i) > 0;
  CRESSET_CHECK_AS(ShapeError, fits,
                   "im2col: Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
                   "dimensions for input, but got: ",
                   text_of(self.sizes()));
  int64_t high = blocks_along("im2col", self.size(-2), w, 0), wide = blocks_along("im2col", self.size(-1), w, 1);
  CRESSET_CHECK_AS(ShapeError, high > 0 && wide > 0, "im2col: Given input with spatial size (", self.size(-2), ", ",
                   self.size(-1), "), kernel_size=", text_of(kernel_size), ", dilation=", text_of(dilation),
                   ", padding=", text_of(padding), ", calculated shape of the array of sliding blocks as (", high, ", ",
                   wide, "), which is too small (non-positive)");
  Dims sizes{checked_product("im2col", {self.size(-3), w[0], w[1]}), checked_product("im2col", {high, wide})};
  if (self.dim() == 4) sizes.insert(0, self.size(0));
  Tensor y = result("im2col", into, sizes, self.dtype(), self.device(), {&self});
  if (y.numel() > 0) im2col_kernel(batched(y, 3), batched(self, 4), w);
  return differentiable(
      "Im2ColBackward0", into, y, inputs(self), saved(),
      [w = KeptDims(w), h = self.size(-2), v = self.size(-1)](const Tensor& g, Wants) {
        IntArrayRef all(w);
        return grads(col2im(g, {h, v}, all.slice(0, 2), all.slice(2, 2), all.slice(4, 2), all.slice(6, 2)));
      });
}
CRESSET_FORMS_OUT(im2col, ,
                  (const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding,
                   IntArrayRef stride),
                  (self, kernel_size, dilation, padding, stride), "self, kernel_size, dilation, padding, stride",
                  "The blocks under a window that slides over images, as columns: nn's Unfold.")

static Tensor col2im_into(const Into& into, const Tensor& self, IntArrayRef output_size, IntArrayRef kernel_size,
                          IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) {
  Dims w = window_of("col2im", kernel_size, dilation, padding, stride);
  CRESSET_CHECK_AS(ShapeError, output_size.size() == 2 && output_size[0] > 0 && output_size[1] > 0,
                   "col2im: output_size should be two positive numbers, found ", text_of(output_size));
  CRESSET_CHECK_AS(ShapeError, (self.dim() == 2 || self.dim() == 3) && self.size(-1) > 0 && self.size(-2) > 0,
                   "col2im: Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero "
                   "dimensions for input, but got: ",
                   text_of(self.sizes()));
  int64_t elements = checked_product("col2im", {w[0], w[1]});
  CRESSET_CHECK_AS(ShapeError, self.size(-2) % elements == 0,
                   "col2im: Expected size of input's dimension 1 to be divisible by the product of kernel_size, but "
                   "got input.size(1)=",
                   self.size(-2), " and kernel_size=", text_of(kernel_size));
  int64_t high = blocks_along("col2im", output_size[0], w, 0), wide = blocks_along("col2im", output_size[1], w, 1);
  const int64_t blocks = checked_product("col2im", {high, wide});
  CRESSET_CHECK_AS(ShapeError, self.size(-1) == blocks, "col2im: Given output_size=", text_of(output_size),
                   ", kernel_size=", text_of(kernel_size), ", dilation=", text_of(dilation),
                   ", padding=", text_of(padding), ", stride=", text_of(stride),
                   ", expected size of input's dimension 2 to match the calculated number of sliding blocks ", high,
                   " * ", wide, " = ", blocks, ", but got input.size(2)=", self.size(-1));
  Dims sizes{self.size(-2) / elements, output_size[0], output_size[1]};
  if (self.dim() == 3) sizes.insert(0, self.size(0));
  Tensor y = result("col2im", into, sizes, self.dtype(), self.device(), {&self});
  if (y.numel() > 0) col2im_kernel(batched(y, 4), batched(self, 3), w);
  return differentiable("Col2ImBackward0", into, y, inputs(self), saved(), [w = KeptDims(w)](const Tensor& g, Wants) {
    IntArrayRef all(w);
    return grads(im2col(g, all.slice(0, 2), all.slice(2, 2), all.slice(4, 2), all.slice(6, 2)));
  });
}
CRESSET_FORMS_OUT(col2im, ,
                  (const Tensor& self, IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation,
                   IntArrayRef padding, IntArrayRef stride),
                  (self, output_size, kernel_size, dilation, padding, stride),
                  "self, output_size, kernel_size, dilation, padding, stride",
                  "Columns of blocks added back to the images they were cut from: nn's Fold.")

}  // namespace cresset
