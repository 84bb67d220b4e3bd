// CPU kernels of ops/conv. What oneDNN does not do runs here: the window's inputs are laid out as columns, some rows of
// the image at a time, and multiplied.
#include "cresset/ops/conv.h"

#include <algorithm>
#include <atomic>

#include "cresset/backends/cpu/conv.h"
#include "cresset/backends/cpu/matmul.h"
#include "cresset/core/allocator.h"
#include "cresset/core/backend_loader.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

constinit std::atomic<LibraryConvolution> library{nullptr};

constexpr int64_t kColumnBytes = 1 << 20;  // of columns at a time: they stay in the cache

constexpr int64_t kThreadWork = 65536;  // multiplications that pay for a thread

template <class T>
class Buffer {
 public:
  explicit Buffer(int64_t count) : bytes_(static_cast<size_t>(std::max<int64_t>(count, 1)) * sizeof(T)) {
    data_ = static_cast<T*>(allocate(bytes_));
  }
  ~Buffer() { deallocate(data_, bytes_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  T* get() { return data_; }

 private:
  size_t bytes_;
  T* data_;
};

// Sums of half types are kept in float; integers wrap round.
template <class T>
using SumOf = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;
template <class T>
void add_to(T& sum, T x) {
  if constexpr (std::is_integral_v<T>)
    sum = static_cast<T>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(x));
  else
    sum += x;
}

template <class T>
struct Image {  // a 4-d tensor
  T* data;
  int64_t stride[4];
  explicit Image(const Tensor& t) : data(static_cast<T*>(t.impl()->data())) {
    for (int d = 0; d < 4; d++) stride[d] = t.impl()->strides[d];
  }
  T* at(int64_t i, int64_t j, int64_t k, int64_t l) const {
    return data + i * stride[0] + j * stride[1] + k * stride[2] + l * stride[3];
  }
};

template <class T>
class ByColumns {
 public:
  using Sum = SumOf<T>;
  explicit ByColumns(const Convolution& c)
      : c_(c),
        x_(c.x),
        w_(c.w),
        y_(c.y),
        batch_(c.x.size(0)),
        channels_(c.w.size(1)),
        outputs_(c.w.size(0) / c.groups),
        height_(c.x.size(2)),
        width_(c.x.size(3)),
        window_height_(c.w.size(2)),
        window_width_(c.w.size(3)),
        out_height_(c.y.size(2)),
        out_width_(c.y.size(3)),
        depth_(channels_ * window_height_ * window_width_) {
    // Rows of y can be taken together where one stride leads through them.
    const bool joined = y_.stride[2] == out_width_ * y_.stride[3] || out_height_ == 1;
    const int64_t row_bytes = std::max<int64_t>(1, depth_ * out_width_ * static_cast<int64_t>(sizeof(Sum)));
    rows_ = joined ? std::clamp<int64_t>(kColumnBytes / row_bytes, 1, std::max<int64_t>(out_height_, 1)) : 1;
  }

  void run() {
    if (c_.part == ConvPart::weight) return write_weights();
    const int64_t images = batch_ * c_.groups;
    const int64_t work = std::max<int64_t>(1, outputs_ * depth_ * out_height_ * out_width_);
    parallel_for(0, images, std::max<int64_t>(1, kThreadWork / work), [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; i++) {
        if (c_.part == ConvPart::forward)
          forward(i / c_.groups, i % c_.groups);
        else
          write_input(i / c_.groups, i % c_.groups);
      }
    });
  }

 private:
  void forward(int64_t image, int64_t group) {
    Buffer<T> weights(outputs_ * depth_), columns(depth_ * rows_ * out_width_);
    pack_weights(group, weights.get());
    if (c_.bias.defined()) fill_bias(image, group);
    const Scalar beta = c_.bias.defined() ? 1 : 0;
    for (int64_t row = 0; row < out_height_; row += rows_) {
      const int64_t count = std::min(rows_, out_height_ - row) * out_width_;
      read_columns(image, group, row, columns.get());
      run_gemm({dtype_of<T>,
                dtype_of<T>,
                1,
                outputs_,
                count,
                depth_,
                y_matrix(image, group, row),
                {weights.get(), depth_, 1, 0},
                {columns.get(), rows_ * out_width_, 1, 0},
                beta,
                1});
    }
  }

  void write_input(int64_t image, int64_t group) {
    Buffer<T> weights(outputs_ * depth_);
    Buffer<Sum> columns(depth_ * rows_ * out_width_), sums(channels_ * height_ * width_);
    pack_weights(group, weights.get());
    std::fill_n(sums.get(), channels_ * height_ * width_, Sum(0));
    for (int64_t row = 0; row < out_height_; row += rows_) {
      const int64_t count = std::min(rows_, out_height_ - row) * out_width_;
      run_gemm({dtype_of<T>,
                dtype_of<Sum>,
                1,
                depth_,
                count,
                outputs_,
                {columns.get(), rows_ * out_width_, 1, 0},
                {weights.get(), 1, depth_, 0},
                y_matrix(image, group, row),
                0,
                1});
      add_columns(row, columns.get(), sums.get());
    }
    const Sum* sum = sums.get();
    for (int64_t c = 0; c < channels_; c++)
      for (int64_t i = 0; i < height_; i++)
        for (int64_t j = 0; j < width_; j++) *x_.at(image, group * channels_ + c, i, j) = static_cast<T>(*sum++);
  }

  void write_weights() {
    Buffer<T> columns(depth_ * rows_ * out_width_);
    Buffer<Sum> sums(outputs_ * depth_);
    for (int64_t group = 0; group < c_.groups; group++) {
      std::fill_n(sums.get(), outputs_ * depth_, Sum(0));
      for (int64_t image = 0; image < batch_; image++) {
        for (int64_t row = 0; row < out_height_; row += rows_) {
          const int64_t count = std::min(rows_, out_height_ - row) * out_width_;
          read_columns(image, group, row, columns.get());
          run_gemm({dtype_of<T>,
                    dtype_of<Sum>,
                    1,
                    outputs_,
                    depth_,
                    count,
                    {sums.get(), depth_, 1, 0},
                    y_matrix(image, group, row),
                    {columns.get(), 1, rows_ * out_width_, 0},
                    1,
                    1});
        }
      }
      const Sum* sum = sums.get();
      for_each_weight(group, [&](T* weight) { *weight = static_cast<T>(*sum++); });
    }
  }

  template <class F>
  void for_each_weight(int64_t group, const F& f) {
    for (int64_t o = 0; o < outputs_; o++)
      for (int64_t c = 0; c < channels_; c++)
        for (int64_t i = 0; i < window_height_; i++)
          for (int64_t j = 0; j < window_width_; j++) f(w_.at(group * outputs_ + o, c, i, j));
  }
  void pack_weights(int64_t group, T* to) {
    for_each_weight(group, [&](const T* weight) { *to++ = *weight; });
  }

  void fill_bias(int64_t image, int64_t group) {
    const TensorImpl* bias = c_.bias.impl();
    for (int64_t o = group * outputs_; o < (group + 1) * outputs_; o++) {
      const T value = static_cast<const T*>(bias->data())[o * bias->strides[0]];
      for (int64_t i = 0; i < out_height_; i++)
        for (int64_t j = 0; j < out_width_; j++) *y_.at(image, o, i, j) = value;
    }
  }

  Matrix y_matrix(int64_t image, int64_t group, int64_t row) const {
    return {y_.at(image, group * outputs_, row, 0), y_.stride[1], y_.stride[3], 0};
  }

  // Calls f(input row, first and last column inside the image, input column of position 0) for one line of columns.
  template <class F>
  void for_each_line(int64_t row, const F& f) const {
    const int64_t last = std::min(rows_, out_height_ - row);
    for (int64_t line = 0; line < depth_; line++) {
      const int64_t c = line / (window_height_ * window_width_), i = line / window_width_ % window_height_,
                    j = line % window_width_, step = c_.stride[1];
      const int64_t from = j * c_.dilation[1] - c_.padding[1];
      const int64_t begin = std::clamp<int64_t>(from < 0 ? (-from + step - 1) / step : 0, 0, out_width_);
      const int64_t end = std::clamp<int64_t>((width_ - from + step - 1) / step, begin, out_width_);
      for (int64_t r = 0; r < last; r++) {
        const int64_t height = (row + r) * c_.stride[0] + i * c_.dilation[0] - c_.padding[0];
        const bool inside = height >= 0 && height < height_;
        f(line * rows_ * out_width_ + r * out_width_, c, height, from, inside ? begin : out_width_,
          inside ? end : out_width_);
      }
    }
  }

  void read_columns(int64_t image, int64_t group, int64_t row, T* columns) const {
    for_each_line(row, [&](int64_t at, int64_t c, int64_t height, int64_t from, int64_t begin, int64_t end) {
      T* to = columns + at;
      std::fill(to, to + begin, T(0));
      std::fill(to + end, to + out_width_, T(0));
      if (begin == end) return;
      const T* line = x_.at(image, group * channels_ + c, height, 0);
      for (int64_t j = begin; j < end; j++) to[j] = line[(from + j * c_.stride[1]) * x_.stride[3]];
    });
  }

  void add_columns(int64_t row, const Sum* columns, Sum* sums) const {
    for_each_line(row, [&](int64_t at, int64_t c, int64_t height, int64_t from, int64_t begin, int64_t end) {
      Sum* line = sums + (c * height_ + height) * width_;
      for (int64_t j = begin; j < end; j++) add_to(line[from + j * c_.stride[1]], columns[at + j]);
    });
  }

  const Convolution& c_;
  Image<T> x_, w_, y_;
  int64_t batch_, channels_, outputs_, height_, width_, window_height_, window_width_, out_height_, out_width_, depth_;
  int64_t rows_;  // of the result at a time
};

bool run_library(const Convolution& c) {
  if (c.x.dtype() != kFloat || c.x.numel() == 0 || c.y.numel() == 0) return false;
  LibraryConvolution function = library.load(std::memory_order_acquire);
  if (CRESSET_UNLIKELY(!function) && load_backend(kCPU)) function = library.load(std::memory_order_acquire);
  return function && function(c);
}

void run(const Convolution& c) {
  if (run_library(c)) return;
  dispatch(c.x.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (!std::is_same_v<T, bool>) ByColumns<T>(c).run();
  });
}

void forward(const Tensor& y, const Tensor& x, const Tensor& w, const Tensor& bias, IntArrayRef stride,
             IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  run({ConvPart::forward, x, w, y, bias, stride, padding, dilation, groups});
}
void backward_input(const Tensor& dx, const Tensor& g, const Tensor& w, IntArrayRef stride, IntArrayRef padding,
                    IntArrayRef dilation, int64_t groups) {
  run({ConvPart::input, dx, w, g, Tensor(), stride, padding, dilation, groups});
}
void backward_weight(const Tensor& dw, const Tensor& g, const Tensor& x, IntArrayRef stride, IntArrayRef padding,
                     IntArrayRef dilation, int64_t groups) {
  run({ConvPart::weight, x, dw, g, Tensor(), stride, padding, dilation, groups});
}

[[maybe_unused]] const bool registered = conv2d_kernel.set(kCPU, forward) &&
                                         conv2d_backward_input_kernel.set(kCPU, backward_input) &&
                                         conv2d_backward_weight_kernel.set(kCPU, backward_weight);

}  // namespace

void set_library_convolution(LibraryConvolution function) { library.store(function, std::memory_order_release); }

}  // namespace cresset::cpu
