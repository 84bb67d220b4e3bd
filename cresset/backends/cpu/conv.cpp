// CPU kernels of ops/conv. What oneDNN does not do runs here: the window's inputs are laid out as columns, some rows of
// the image at a time, and multiplied.
#include "cresset/ops/conv.h"

#include <algorithm>
#include <atomic>

#include "cresset/backends/cpu/conv.h"
#include "cresset/backends/cpu/matmul.h"
#include "cresset/backends/cpu/scratch.h"
#include "cresset/core/backend_loader.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

constinit std::atomic<LibraryConvolution> library{nullptr};

constexpr int64_t kColumnBytes = 1 << 20;  // of columns at a time: they stay in the cache

constexpr int64_t kThreadWork = 65536;  // multiplications that pay for a thread

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

// A tensor [batch, channels, depth, height, width]; dimensions that it lacks have size 1.
template <class T>
struct Image {
  T* data;
  int64_t size[5], stride[5];
  explicit Image(const Tensor& t) : data(static_cast<T*>(t.impl()->data())), size{1, 1, 1, 1, 1}, stride{} {
    const int rank = t.impl()->sizes.rank();
    for (int d = 0; d < rank; d++) {
      const int to = d < 2 ? d : d + 5 - rank;
      size[to] = t.impl()->sizes[d];
      stride[to] = t.impl()->strides[d];
    }
  }
  T* at(int64_t i, int64_t j, int64_t k, int64_t l, int64_t m) const {
    return data + i * stride[0] + j * stride[1] + k * stride[2] + l * stride[3] + m * stride[4];
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
        batch_(x_.size[0]),
        channels_(w_.size[1]),
        outputs_(w_.size[0] / c.groups),
        out_rows_(y_.size[2] * y_.size[3]),
        out_width_(y_.size[4]),
        depth_(channels_ * w_.size[2] * w_.size[3] * w_.size[4]) {
    for (size_t d = 0; d < 3; d++) {
      const size_t rank = c.stride.size();
      const bool there = d + rank >= 3;
      stride_[d] = there ? c.stride[d + rank - 3] : 1;
      dilation_[d] = there ? c.dilation[d + rank - 3] : 1;
      padding_[d] = there ? c.padding[d + rank - 3] : 0;
    }
    // Rows of y can be taken together where one stride leads through them.
    const bool joined = (y_.stride[3] == out_width_ * y_.stride[4] || y_.size[3] == 1) &&
                        (y_.stride[2] == y_.size[3] * out_width_ * y_.stride[4] || y_.size[2] == 1);
    const int64_t row_bytes = std::max<int64_t>(1, depth_ * out_width_ * static_cast<int64_t>(sizeof(Sum)));
    rows_ = joined ? std::clamp<int64_t>(kColumnBytes / row_bytes, 1, std::max<int64_t>(out_rows_, 1)) : 1;
  }

  void run() {
    if (c_.part == ConvPart::weight) return write_weights();
    const int64_t images = batch_ * c_.groups;
    const int64_t work = std::max<int64_t>(1, outputs_ * depth_ * out_rows_ * out_width_);
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
    Scratch<T> weights(outputs_ * depth_), columns(depth_ * rows_ * out_width_);
    pack_weights(group, weights.get());
    Matrix bias;
    if (c_.bias.defined()) {
      const int64_t step = c_.bias.impl()->strides[0];
      bias = {static_cast<T*>(c_.bias.impl()->data()) + group * outputs_ * step, step};
    }
    for (int64_t row = 0; row < out_rows_; row += rows_) {
      const int64_t count = std::min(rows_, out_rows_ - row) * out_width_;
      read_columns(image, group, row, columns.get());
      multiply<T>(outputs_, count, depth_, y_matrix(image, group, row), bias, {weights.get(), depth_, 1},
                  {columns.get(), rows_ * out_width_, 1});
    }
  }

  void write_input(int64_t image, int64_t group) {
    const int64_t positions = x_.size[2] * x_.size[3] * x_.size[4];
    Scratch<T> weights(outputs_ * depth_);
    Scratch<Sum> columns(depth_ * rows_ * out_width_), sums(channels_ * positions);
    pack_weights(group, weights.get());
    for (int64_t c = 0; c < channels_; c++)
      std::fill_n(sums.get() + c * positions, positions, bias_of(group * channels_ + c));
    for (int64_t row = 0; row < out_rows_; row += rows_) {
      const int64_t count = std::min(rows_, out_rows_ - row) * out_width_;
      multiply<Sum>(depth_, count, outputs_, {columns.get(), rows_ * out_width_, 1}, {}, {weights.get(), 1, depth_},
                    y_matrix(image, group, row));
      add_columns(row, columns.get(), sums.get());
    }
    const Sum* sum = sums.get();
    for (int64_t c = 0; c < channels_; c++)
      for (int64_t d = 0; d < x_.size[2]; d++)
        for (int64_t i = 0; i < x_.size[3]; i++)
          for (int64_t j = 0; j < x_.size[4]; j++)
            *x_.at(image, group * channels_ + c, d, i, j) = static_cast<T>(*sum++);
  }

  void write_weights() {
    Scratch<T> columns(depth_ * rows_ * out_width_);
    Scratch<Sum> sums(outputs_ * depth_);
    for (int64_t group = 0; group < c_.groups; group++) {
      std::fill_n(sums.get(), outputs_ * depth_, Sum(0));
      for (int64_t image = 0; image < batch_; image++) {
        for (int64_t row = 0; row < out_rows_; row += rows_) {
          const int64_t count = std::min(rows_, out_rows_ - row) * out_width_;
          read_columns(image, group, row, columns.get());
          const Matrix dw{sums.get(), depth_, 1};
          multiply<Sum>(outputs_, depth_, count, dw, dw, y_matrix(image, group, row),
                        {columns.get(), 1, rows_ * out_width_});
        }
      }
      const Sum* sum = sums.get();
      for_each_weight(group, [&](T* weight) { *weight = static_cast<T>(*sum++); });
    }
  }

  template <class Out>
  static void multiply(int64_t m, int64_t n, int64_t k, Matrix out, Matrix added, Matrix a, Matrix b) {
    run_gemm({dtype_of<T>, dtype_of<Out>, 1, m, n, k, out, added, a, b, 1, 1});
  }

  Sum bias_of(int64_t channel) const {
    if (!c_.bias.defined()) return Sum(0);
    return static_cast<Sum>(static_cast<const T*>(c_.bias.impl()->data())[channel * c_.bias.impl()->strides[0]]);
  }

  template <class F>
  void for_each_weight(int64_t group, const F& f) {
    for (int64_t o = 0; o < outputs_; o++)
      for (int64_t c = 0; c < channels_; c++)
        for (int64_t d = 0; d < w_.size[2]; d++)
          for (int64_t i = 0; i < w_.size[3]; i++)
            for (int64_t j = 0; j < w_.size[4]; j++) f(w_.at(group * outputs_ + o, c, d, i, j));
  }
  void pack_weights(int64_t group, T* to) {
    for_each_weight(group, [&](const T* weight) { *to++ = *weight; });
  }

  Matrix y_matrix(int64_t image, int64_t group, int64_t row) const {
    return {y_.at(image, group * outputs_, row / y_.size[3], row % y_.size[3], 0), y_.stride[1], y_.stride[4], 0};
  }

  // One line of columns: a weight of the window at one row of the result. The columns from begin to end lie inside the
  // image, at (depth, height, from + stride * column).
  struct Line {
    int64_t at, channel, depth, height, from, begin, end;
  };
  template <class F>
  void for_each_line(int64_t row, const F& f) const {
    const int64_t last = std::min(rows_, out_rows_ - row), width = x_.size[4], step = stride_[2];
    for (int64_t line = 0; line < depth_; line++) {
      const int64_t j = line % w_.size[4], i = line / w_.size[4] % w_.size[3],
                    d = line / (w_.size[4] * w_.size[3]) % w_.size[2],
                    c = line / (w_.size[4] * w_.size[3] * w_.size[2]);
      const int64_t from = j * dilation_[2] - padding_[2];
      const int64_t begin = std::clamp<int64_t>(from < 0 ? (-from + step - 1) / step : 0, 0, out_width_);
      const int64_t end =
          from >= width ? begin : std::clamp<int64_t>((width - from + step - 1) / step, begin, out_width_);
      for (int64_t r = 0; r < last; r++) {
        const int64_t depth = (row + r) / y_.size[3] * stride_[0] + d * dilation_[0] - padding_[0];
        const int64_t height = (row + r) % y_.size[3] * stride_[1] + i * dilation_[1] - padding_[1];
        const bool inside = depth >= 0 && depth < x_.size[2] && height >= 0 && height < x_.size[3];
        f(Line{(line * rows_ + r) * out_width_, c, depth, height, from, inside ? begin : out_width_,
               inside ? end : out_width_});
      }
    }
  }

  void read_columns(int64_t image, int64_t group, int64_t row, T* columns) const {
    for_each_line(row, [&](const Line& line) {
      T* to = columns + line.at;
      std::fill(to, to + line.begin, T(0));
      std::fill(to + line.end, to + out_width_, T(0));
      if (line.begin == line.end) return;
      const T* from = x_.at(image, group * channels_ + line.channel, line.depth, line.height, 0);
      for (int64_t j = line.begin; j < line.end; j++) to[j] = from[(line.from + j * stride_[2]) * x_.stride[4]];
    });
  }

  void add_columns(int64_t row, const Sum* columns, Sum* sums) const {
    for_each_line(row, [&](const Line& line) {
      Sum* to = sums + ((line.channel * x_.size[2] + line.depth) * x_.size[3] + line.height) * x_.size[4];
      for (int64_t j = line.begin; j < line.end; j++) add_to(to[line.from + j * stride_[2]], columns[line.at + j]);
    });
  }

  const Convolution& c_;
  Image<T> x_, w_, y_;
  int64_t stride_[3], dilation_[3], padding_[3];
  int64_t batch_, channels_, outputs_, out_rows_, out_width_, depth_;
  int64_t rows_;  // of the result at a time
};

void add_bias(const Tensor& y, const Tensor& bias) {
  const Image<float> image(y);
  const auto* b = static_cast<const float*>(bias.impl()->data());
  const int64_t step = bias.impl()->strides[0], rows = image.size[2] * image.size[3];
  auto add = [&](float* to, int64_t channel) {
    const float value = b[channel * step];
    for (int64_t j = 0; j < image.size[4]; j++) to[j * image.stride[4]] += value;
  };
  parallel_for(0, image.size[0] * rows, std::max<int64_t>(1, kThreadWork / (image.size[1] * image.size[4] + 1)),
               [&](int64_t first, int64_t last) {
                 for (int64_t i = first; i < last; i++)
                   for (int64_t c = 0; c < image.size[1]; c++)
                     add(image.at(i / rows, c, i % rows / image.size[3], i % image.size[3], 0), c);
               });
}

bool run_library(const Convolution& c) {
  if ((c.x.dtype() != kFloat && c.x.dtype() != kBFloat16) || c.x.numel() == 0 || c.y.numel() == 0) return false;
  LibraryConvolution function = library.load(std::memory_order_acquire);
  if (CRESSET_UNLIKELY(!function) && load_backend(kCPU)) function = library.load(std::memory_order_acquire);
  if (!function) return false;
  if (c.part == ConvPart::forward || !c.bias.defined()) return function(c);
  // The library's adjoint has no bias, and bfloat16 would be rounded twice.
  if (c.x.dtype() != kFloat) return false;
  const Tensor none;
  if (!function({c.part, c.x, c.w, c.y, none, c.stride, c.padding, c.dilation, c.groups})) return false;
  add_bias(c.x, c.bias);
  return true;
}

void run(const Convolution& c) {
  if (run_direct_convolution(c) || run_weight_product(c) || run_library(c)) return;
  dispatch(c.x.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (!std::is_same_v<T, bool>) ByColumns<T>(c).run();
  });
}

void forward(const Tensor& y, const Tensor& x, const Tensor& w, const Tensor& bias, IntArrayRef stride,
             IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  run({ConvPart::forward, x, w, y, bias, stride, padding, dilation, groups});
}
void backward_input(const Tensor& dx, const Tensor& g, const Tensor& w, const Tensor& bias, IntArrayRef stride,
                    IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  run({ConvPart::input, dx, w, g, bias, stride, padding, dilation, groups});
}
void backward_weight(const Tensor& dw, const Tensor& g, const Tensor& x, IntArrayRef stride, IntArrayRef padding,
                     IntArrayRef dilation, int64_t groups) {
  run({ConvPart::weight, x, dw, g, Tensor(), stride, padding, dilation, groups});
}

[[maybe_unused]] const bool registered = convolution_kernel.set(kCPU, forward) &&
                                         convolution_backward_input_kernel.set(kCPU, backward_input) &&
                                         convolution_backward_weight_kernel.set(kCPU, backward_weight);

}  // namespace

void set_library_convolution(LibraryConvolution function) { library.store(function, std::memory_order_release); }

}  // namespace cresset::cpu
