// Transforms of whole tiles and of single lines by their plans.
#pragma once

#include "cresset/backends/cpu/fft_plan.h"
#include "cresset/backends/cpu/scratch.h"

namespace cresset::cpu {

// Memory for one call: on the stack where it is little, which saves short transforms a tenth of their time.
template <class T>
class FftMemory {
 public:
  explicit FftMemory(int64_t count)
      : more_(count > kInside ? count : 0), data_(count > kInside ? more_.get() : inside_) {}
  FftMemory(const FftMemory&) = delete;
  FftMemory& operator=(const FftMemory&) = delete;
  T* get() const { return data_; }

 private:
  static constexpr int64_t kInside = 16384 / sizeof(T);
  alignas(64) T inside_[kInside];
  Scratch<T> more_;
  T* data_;
};

// Two tiles of so many rows, for one thread.
template <class T>
class FftTiles {
 public:
  explicit FftTiles(int64_t rows) : size_(rows * kFftLanes<T>), memory_(4 * size_) {}
  FftTile<T> operator[](int64_t i) const {
    return {memory_.get() + 2 * i * size_, memory_.get() + (2 * i + 1) * size_};
  }

 private:
  int64_t size_;
  FftMemory<T> memory_;
};

// Transforms tile `from`, which may be read only unless it is one of the two tiles, and returns where the result
// stands: in one of the two.
template <class T>
FftTile<T> fft_tile(const FftTilePlan<T>& plan, FftTile<T> from, FftTile<T> one, FftTile<T> other);

// n complex elements one behind the other, re and im in turn; `to` may be `from`. On several threads where that is
// worth it.
template <class T>
void fft_line(const FftLinePlan<T>& plan, T* to, const T* from, bool inverse);

}  // namespace cresset::cpu
