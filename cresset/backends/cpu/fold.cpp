// CPU kernels of ops/fold. Cutting goes by rows of the columns, adding back by channels: each has one owner.
#include "cresset/ops/fold.h"

#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kGrain = 16384;

struct Window {
  Window(const Tensor& image, const Tensor& columns, IntArrayRef w)
      : channels(image.size(1)), height(image.size(2)), width(image.size(3)) {
    for (size_t side = 0; side < 2; side++) {
      kernel[side] = w[side];
      dilation[side] = w[2 + side];
      padding[side] = w[4 + side];
      stride[side] = w[6 + side];
    }
    blocks_wide = (width + 2 * padding[1] - dilation[1] * (kernel[1] - 1) - 1) / stride[1] + 1;
    blocks_high = columns.size(2) / blocks_wide;
    for (int i = 0; i < 4; i++) image_strides[i] = image.stride(i);
    for (int i = 0; i < 3; i++) column_strides[i] = columns.stride(i);
  }
  int64_t channels, height, width, blocks_high, blocks_wide;
  int64_t kernel[2], dilation[2], padding[2], stride[2], image_strides[4], column_strides[3];

  // Calls f(image element or -1, column element) for every block, at place `k` of the window of one channel.
  template <class F>
  void blocks(int64_t batch, int64_t channel, int64_t k, const F& f) const {
    const int64_t down = k / kernel[1], across = k % kernel[1];
    int64_t to = batch * column_strides[0] + (channel * kernel[0] * kernel[1] + k) * column_strides[1];
    const int64_t plane = batch * image_strides[0] + channel * image_strides[1];
    for (int64_t i = 0; i < blocks_high; i++) {
      const int64_t y = i * stride[0] - padding[0] + down * dilation[0];
      const bool inside = y >= 0 && y < height;
      int64_t x = across * dilation[1] - padding[1];
      for (int64_t j = 0; j < blocks_wide; j++, x += stride[1], to += column_strides[2])
        f(inside && x >= 0 && x < width ? plane + y * image_strides[2] + x * image_strides[3] : -1, to);
    }
  }
};

void im2col(const Tensor& columns, const Tensor& image, IntArrayRef window) {
  const Window w(image, columns, window);
  const int64_t elements = w.kernel[0] * w.kernel[1], blocks = columns.size(2);
  dispatch(columns.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    T* to = static_cast<T*>(columns.impl()->data());
    const T* from = static_cast<const T*>(image.impl()->data());
    parallel_for(0, columns.size(0) * columns.size(1), std::max<int64_t>(1, kGrain / blocks),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t row = begin; row < end; row++)
                     w.blocks(row / columns.size(1), row / elements % w.channels, row % elements,
                              [&](int64_t pixel, int64_t place) { to[place] = pixel < 0 ? T(0) : from[pixel]; });
                 });
  });
}

void col2im(const Tensor& image, const Tensor& columns, IntArrayRef window) {
  const Window w(image, columns, window);
  const int64_t elements = w.kernel[0] * w.kernel[1], blocks = columns.size(2);
  dispatch(image.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    T* to = static_cast<T*>(image.impl()->data());
    const T* from = static_cast<const T*>(columns.impl()->data());
    parallel_for(0, image.size(0) * w.channels, std::max<int64_t>(1, kGrain / (blocks * elements)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t plane = begin; plane < end; plane++) {
                     const int64_t batch = plane / w.channels, channel = plane % w.channels;
                     T* pixels = to + batch * w.image_strides[0] + channel * w.image_strides[1];
                     for (int64_t y = 0; y < w.height; y++)
                       for (int64_t x = 0; x < w.width; x++)
                         pixels[y * w.image_strides[2] + x * w.image_strides[3]] = T(0);
                     for (int64_t k = 0; k < elements; k++)
                       w.blocks(batch, channel, k, [&](int64_t pixel, int64_t place) {
                         if (pixel < 0) return;
                         if constexpr (std::is_same_v<T, bool>)
                           to[pixel] = to[pixel] || from[place];
                         else
                           to[pixel] = static_cast<T>(to[pixel] + from[place]);
                       });
                   }
                 });
  });
}

[[maybe_unused]] const bool registered = im2col_kernel.set(kCPU, im2col) && col2im_kernel.set(kCPU, col2im);

}  // namespace
}  // namespace cresset::cpu
