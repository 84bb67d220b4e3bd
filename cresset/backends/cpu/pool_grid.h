// What the pools' kernels share: a tensor as planes of positions, and the windows along one direction.
#pragma once

#include <vector>

#include "cresset/backends/cpu/pointwise_loop.h"
#include "cresset/core/tensor.h"

namespace cresset::cpu {

// A tensor as [batch, channels, depth, height, width]; what it lacks has size 1.
struct Grid {
  char* data = nullptr;
  DType dtype;
  int64_t size[5] = {1, 1, 1, 1, 1}, stride[5] = {0, 0, 0, 0, 0};  // strides in elements

  Grid(const Tensor& t, int64_t rank);
  int64_t positions() const { return size[2] * size[3] * size[4]; }
  int64_t rows() const { return size[0] * size[1] * size[2] * size[3]; }  // of all planes
  char* at(int64_t n, int64_t c, int64_t d, int64_t h, int64_t w) const {
    return data + (n * stride[0] + c * stride[1] + d * stride[2] + h * stride[3] + w * stride[4]) *
                      static_cast<int64_t>(element_size(dtype));
  }
  int64_t bytes(int dim) const { return stride[dim] * static_cast<int64_t>(element_size(dtype)); }
  // Channels lie side by side, and are enough to run along.
  bool channels_inside() const { return stride[1] == 1 && size[1] >= 4 && (stride[4] != 1 || size[4] == 1); }
};

// count elements of type T from `from`: where they stand, or converted into `buffer`.
template <class T>
const T* read_run(const char* from, DType dtype, int64_t step_bytes, int64_t count, T* buffer) {
  if (dtype == dtype_of<T> && step_bytes == static_cast<int64_t>(sizeof(T))) return reinterpret_cast<const T*>(from);
  convert(buffer, dtype_of<T>, static_cast<int64_t>(sizeof(T)), from, dtype, step_bytes, count);
  return buffer;
}
template <class T>
void write_run(char* to, DType dtype, int64_t step_bytes, int64_t count, const T* values) {
  convert(to, dtype, step_bytes, values, dtype_of<T>, static_cast<int64_t>(sizeof(T)), count);
}

// The inputs of one output along one direction: from begin, before end, in steps.
struct Span {
  int64_t begin, end, divisor;
};
struct Spans {
  std::vector<Span> of;
  int64_t step = 1;
  // For windows at a stride: output o's inputs are first + o * stride + k * step, where they are inside.
  bool regular = false;
  int64_t first = 0, stride = 1, taps = 0;
};
Spans regular_spans(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation,
                    bool count_include_pad);
Spans adaptive_spans(int64_t in, int64_t out);
Spans fractional_spans(int64_t in, int64_t out, int64_t kernel, double sample);
// For every input, the outputs [begin, end) whose windows hold it (step 1 only).
std::vector<Span> holders(const Spans& spans, int64_t in);

}  // namespace cresset::cpu
