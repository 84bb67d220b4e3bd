// Lines: the lines along one dimension of several tensors whose other dimensions agree. What softmax, max, topk, gather
// and scatter go over: each line has a start and a stride in every tensor. Row: one of them as contiguous elements.
#pragma once

#include <algorithm>
#include <memory>

#include "cresset/backends/cpu/pointwise_loop.h"
#include "cresset/core/tensor.h"

namespace cresset::cpu {

class Lines {
 public:
  static constexpr int kMaxTensors = 4;

  // A 0-d tensor is one line of one element.
  Lines(std::initializer_list<const Tensor*> tensors, int64_t dim) {
    for (const Tensor* tensor : tensors) add_tensor(*tensor->impl(), dim);
    const TensorImpl& first = *(*tensors.begin())->impl();
    CRESSET_CHECK_AS(ShapeError, first.sizes.rank() <= 64, "more than 64 dimensions are not supported, found ",
                     first.sizes.rank());
    for (int i = 0; i < first.sizes.rank(); i++)
      if (i != dim && first.sizes[i] != 1) add_dim(tensors, i);
    join();
    for (int i = 0; i < rank_; i++) count *= sizes_[i];
  }

  int64_t count = 1;
  int64_t length(int k) const { return length_[k]; }
  int64_t stride(int k) const { return stride_[k]; }  // in bytes, along the line
  // Lines side by side: how many run in parallel, and how far apart they are.
  int64_t width() const { return rank_ ? sizes_[0] : 1; }
  int64_t across(int k) const { return rank_ ? strides_[k][0] : item_[k]; }

  struct At {
    char* data[kMaxTensors];
  };
  // The start of line `linear` in every tensor; lines side by side have numbers that follow each other.
  At at(int64_t linear) const {
    At place;
    std::copy(data_, data_ + tensors_, place.data);
    for (int i = 0; i < rank_ && linear; i++) {
      int64_t index = linear % sizes_[i];
      linear /= sizes_[i];
      for (int k = 0; k < tensors_; k++) place.data[k] += index * strides_[k][i];
    }
    return place;
  }

 private:
  void add_tensor(const TensorImpl& x, int64_t dim) {
    int k = tensors_++;
    data_[k] = static_cast<char*>(x.data());
    item_[k] = static_cast<int64_t>(element_size(x.dtype));
    length_[k] = x.sizes.rank() ? x.sizes[static_cast<int>(dim)] : 1;
    stride_[k] = x.sizes.rank() ? x.strides[static_cast<int>(dim)] * item_[k] : item_[k];
  }
  // By the first tensor's strides, fastest first.
  void add_dim(std::initializer_list<const Tensor*> tensors, int dim) {
    const TensorImpl& first = *(*tensors.begin())->impl();
    auto order = [](int64_t stride) { return stride == 0 ? INT64_MAX : std::abs(stride); };
    int at = rank_++;
    for (; at > 0 && order(strides_[0][at - 1]) >= order(first.strides[dim] * item_[0]); at--) move(at, at - 1);
    sizes_[at] = first.sizes[dim];
    int k = 0;
    for (const Tensor* tensor : tensors) {
      strides_[k][at] = tensor->impl()->strides[dim] * item_[k];
      k++;
    }
  }
  void move(int to, int from) {
    sizes_[to] = sizes_[from];
    for (int k = 0; k < tensors_; k++) strides_[k][to] = strides_[k][from];
  }
  void join() {
    int to = 0;
    for (int i = 1; i < rank_; i++) {
      bool joins = true;
      for (int k = 0; k < tensors_; k++) joins = joins && strides_[k][i] == strides_[k][to] * sizes_[to];
      if (joins)
        sizes_[to] *= sizes_[i];
      else
        move(++to, i);
    }
    rank_ = std::min(rank_, to + 1);
  }

  int rank_ = 0, tensors_ = 0;
  char* data_[kMaxTensors];
  int64_t item_[kMaxTensors], length_[kMaxTensors], stride_[kMaxTensors];
  int64_t sizes_[64], strides_[kMaxTensors][64];
};

template <class T>
inline constexpr int64_t kItem = static_cast<int64_t>(sizeof(T));

// A line as contiguous T: in place if it is that already, else through a buffer.
template <class T>
class Row {
 public:
  Row(const Tensor& x, const Lines& lines, int k) : dtype_(x.dtype()), n_(lines.length(k)), stride_(lines.stride(k)) {
    direct_ = dtype_ == dtype_of<T> && (stride_ == kItem<T> || n_ == 1);
    if (!direct_) buffer_.reset(new T[static_cast<size_t>(n_)]);
  }
  bool direct() const { return direct_; }
  T* read(char* at) {
    if (direct_) return reinterpret_cast<T*>(at);
    convert(buffer_.get(), dtype_of<T>, kItem<T>, at, dtype_, stride_, n_);
    return buffer_.get();
  }
  // Where to write a line, and the end of writing it.
  T* to_write(char* at) { return direct_ ? reinterpret_cast<T*>(at) : buffer_.get(); }
  void written(char* at) {
    if (!direct_) convert(at, dtype_, stride_, buffer_.get(), dtype_of<T>, kItem<T>, n_);
  }

 private:
  DType dtype_;
  int64_t n_, stride_;
  bool direct_;
  std::unique_ptr<T[]> buffer_;
};

}  // namespace cresset::cpu
