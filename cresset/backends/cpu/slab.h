// Slab: a tensor whose leading dimensions number blocks and whose other dimensions make up one block each, handed out
// as contiguous T: in place if a block is that already, else through a buffer. What norms, attention and the vision
// kernels go over. Each thread has its own.
#pragma once

#include <memory>
#include <optional>

#include "cresset/backends/cpu/pointwise_loop.h"
#include "cresset/backends/cpu/walk.h"
#include "cresset/core/tensor.h"

namespace cresset::cpu {

template <class T>
class Slab {
 public:
  Slab(const Tensor& x, int64_t leading)
      : impl_(x.impl()), leading_(static_cast<int>(leading)), item_(static_cast<int64_t>(x.itemsize())) {
    const Dims &sizes = impl_->sizes, &strides = impl_->strides;
    bool dense = true;
    for (int i = sizes.rank() - 1; i >= leading_; i--) {
      dense = dense && (sizes[i] == 1 || strides[i] == n_);
      n_ *= sizes[i];
    }
    even_ = true;
    step_ = 0;
    int64_t count = 1;
    for (int i = leading_ - 1; i >= 0; i--) {
      if (sizes[i] == 1) continue;
      if (count == 1)
        step_ = strides[i] * item_;
      else
        even_ = even_ && strides[i] * item_ == step_ * count;
      count *= sizes[i];
    }
    direct_ = dense && impl_->dtype == dtype_of<T>;
    if (direct_) return;
    buffer_.reset(new T[static_cast<size_t>(n_)]);
    walk_.emplace(IntArrayRef(sizes).slice(static_cast<size_t>(leading_)), 1);
    walk_->set(0, IntArrayRef(strides).slice(static_cast<size_t>(leading_)), item_);
    walk_->join();
  }

  int64_t n() const { return n_; }  // elements of a block
  bool direct() const { return direct_; }

  const T* read(int64_t block) {
    char* from = at(block);
    if (direct_) return reinterpret_cast<const T*>(from);
    T* to = buffer_.get();
    walk_->runs(0, n_, [&](const int64_t* offsets, int64_t count) {
      convert(to, dtype_of<T>, sizeof(T), from + offsets[0], impl_->dtype, walk_->step(0), count);
      to += count;
    });
    return buffer_.get();
  }
  // Where to write a block, and the end of writing it.
  T* to_write(int64_t block) { return direct_ ? reinterpret_cast<T*>(at(block)) : buffer_.get(); }
  void written(int64_t block) {
    if (direct_) return;
    char* to = at(block);
    const T* from = buffer_.get();
    walk_->runs(0, n_, [&](const int64_t* offsets, int64_t count) {
      convert(to + offsets[0], impl_->dtype, walk_->step(0), from, dtype_of<T>, sizeof(T), count);
      from += count;
    });
  }

 private:
  char* at(int64_t block) const {
    char* data = static_cast<char*>(impl_->data());
    if (CRESSET_LIKELY(even_)) return data + block * step_;
    for (int i = leading_ - 1; i >= 0; i--) {
      data += block % impl_->sizes[i] * impl_->strides[i] * item_;
      block /= impl_->sizes[i];
    }
    return data;
  }

  const TensorImpl* impl_;
  int leading_;
  int64_t item_, n_ = 1, step_;
  bool direct_, even_;
  std::unique_ptr<T[]> buffer_;
  std::optional<Walk> walk_;
};

}  // namespace cresset::cpu
