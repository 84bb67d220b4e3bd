// CPU kernels of ops/fft, one dimension after the other. Many lines are transformed side by side, in tiles; few long
// ones one after the other, each on all threads. Which of both depends on the shape alone, so results do not depend on
// the number of threads. A build with CRESSET_FFTW has dnn/fftw.cpp in place of this file.
#include "cresset/ops/fft.h"

#include <algorithm>
#include <complex>
#include <vector>

#include "cresset/backends/cpu/fft_line.h"
#include "cresset/backends/cpu/fft_simd.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kLeastPart = 16384;  // elements that are worth a thread
enum class Kind : uint8_t { forward, inverse, r2c, c2r };

// The lines of a transform, in the order in which they lie in the output. Strides in elements.
class Lines {
 public:
  Lines(const Tensor& out, const Tensor& x, int64_t dim) {
    for (int64_t d = 0; d < x.dim(); d++)
      if (d != dim && x.size(d) > 1) loops_.push_back({x.size(d), x.stride(d), out.stride(d)});
    std::stable_sort(loops_.begin(), loops_.end(), [](const Loop& a, const Loop& b) { return a.out < b.out; });
    for (const Loop& loop : loops_) count_ *= loop.n;
  }
  int64_t count() const { return count_; }
  // Where a line starts on both sides.
  std::pair<int64_t, int64_t> start(int64_t line) const {
    std::pair<int64_t, int64_t> at{0, 0};
    for (const Loop& loop : loops_) {
      at.first += line % loop.n * loop.in;
      at.second += line % loop.n * loop.out;
      line /= loop.n;
    }
    return at;
  }

 private:
  struct Loop {
    int64_t n, in, out;
  };
  std::vector<Loop> loops_;
  int64_t count_ = 1;
};

// From and To are T or std::complex<T>.
template <class T, class From, class To>
class Transform {
 public:
  Transform(const Tensor& out, const Tensor& x, int64_t dim, Kind kind)
      : kind_(kind),
        lines_(out, x, dim),
        from_(static_cast<const From*>(x.impl()->data())),
        to_(static_cast<To*>(out.impl()->data())),
        in_length_(x.size(dim)),
        out_length_(out.size(dim)),
        in_stride_(in_length_ > 1 ? x.stride(dim) : 1),
        out_stride_(out_length_ > 1 ? out.stride(dim) : 1),
        n_(kind == Kind::c2r ? out_length_ : in_length_),
        packed_((kind == Kind::r2c || kind == Kind::c2r) && n_ % 2 == 0),
        length_(packed_ ? n_ / 2 : n_) {
    if (packed_) real_ = fft_real_plan<T>(n_);
  }

  void run() const {
    if (fft_prefers_tiles<T>(length_, lines_.count(), in_stride_ == 1 && out_stride_ == 1))
      in_tiles();
    else
      line_by_line();
  }

 private:
  static constexpr int64_t kWidth = kFftLanes<T>;
  static constexpr bool kFromReal = std::is_same_v<From, T>, kToReal = std::is_same_v<To, T>;
  bool inverse() const { return kind_ == Kind::inverse || kind_ == Kind::c2r; }

  // --- side by side ---

  // Lanes beyond the last line repeat the first, and are not stored.
  struct Group {
    const From* from[kWidth];
    To* to[kWidth];
    int64_t count;
    bool in_adjacent = true, out_adjacent = true;
  };
  Group group(int64_t first, int64_t most) const {
    Group lines;
    lines.count = std::min(most, lines_.count() - first);
    for (int64_t w = 0; w < lines.count; w++) {
      const auto [in, out] = lines_.start(first + w);
      lines.from[w] = from_ + in;
      lines.to[w] = to_ + out;
      if (w == 0) continue;
      lines.in_adjacent &= lines.from[w] == lines.from[w - 1] + 1;
      lines.out_adjacent &= lines.to[w] == lines.to[w - 1] + 1;
    }
    std::fill(lines.from + lines.count, lines.from + kWidth, lines.from[0]);
    std::fill(lines.to + lines.count, lines.to + kWidth, lines.to[0]);
    return lines;
  }

  void in_tiles() const {
    const FftInner<T>& inner = fft_inner<T>();
    const auto plan = fft_tile_plan<T>(length_);
    const int64_t tiles = (lines_.count() + kWidth - 1) / kWidth,
                  part = std::max<int64_t>(1, kLeastPart / (n_ * kWidth));
    parallel_for(0, tiles, part, [&](int64_t begin, int64_t end) {
      FftTiles<T> memory(std::max({plan->tile_rows(), in_length_, out_length_}));
      for (int64_t i = begin; i < end; i++) {
        const Group lines = group(i * kWidth, kWidth);
        const FftTile<T> first = memory[0].exchanged_if(inverse());
        load(inner, first, lines);
        if (kind_ == Kind::c2r) packed_ ? inner.pack_tile(*real_, first, length_) : complete(first);
        FftTile<T> done = fft_tile(*plan, memory[0], memory[1], memory[0]).exchanged_if(inverse());
        if (kind_ == Kind::r2c && packed_) inner.unpack_tile(*real_, done, length_);
        store(inner, done, lines);
      }
    });
  }

  void load(const FftInner<T>& inner, FftTile<T> tile, const Group& lines) const {
    if constexpr (kFromReal) {
      if (packed_ && in_stride_ == 1) return inner.load_lines(tile, lines.from, length_);
      for (int64_t k = 0; k < length_; k++)
        for (int64_t w = 0; w < kWidth; w++) {
          const From* line = lines.from[w];
          tile.re[k * kWidth + w] = packed_ ? line[2 * k * in_stride_] : line[k * in_stride_];
          tile.im[k * kWidth + w] = packed_ ? line[(2 * k + 1) * in_stride_] : T{0};
        }
    } else {
      if (in_stride_ == 1) {
        const T* at[kWidth];
        for (int64_t w = 0; w < kWidth; w++) at[w] = reinterpret_cast<const T*>(lines.from[w]);
        return inner.load_lines(tile, at, in_length_);
      }
      if (lines.in_adjacent)
        return inner.load_columns(tile, reinterpret_cast<const T*>(lines.from[0]), 2 * in_stride_, in_length_,
                                  lines.count);
      for (int64_t k = 0; k < in_length_; k++)
        for (int64_t w = 0; w < kWidth; w++) {
          tile.re[k * kWidth + w] = lines.from[w][k * in_stride_].real();
          tile.im[k * kWidth + w] = lines.from[w][k * in_stride_].imag();
        }
    }
  }
  void store(const FftInner<T>& inner, FftTile<T> tile, const Group& lines) const {
    if constexpr (kToReal) {
      if (packed_ && out_stride_ == 1) return inner.store_lines(lines.to, tile, length_, lines.count);
      for (int64_t k = 0; k < length_; k++)
        for (int64_t w = 0; w < lines.count; w++) {
          if (packed_) {
            lines.to[w][2 * k * out_stride_] = tile.re[k * kWidth + w];
            lines.to[w][(2 * k + 1) * out_stride_] = tile.im[k * kWidth + w];
          } else {
            lines.to[w][k * out_stride_] = tile.re[k * kWidth + w];
          }
        }
    } else {
      if (out_stride_ == 1) {
        T* at[kWidth];
        for (int64_t w = 0; w < kWidth; w++) at[w] = reinterpret_cast<T*>(lines.to[w]);
        return inner.store_lines(at, tile, out_length_, lines.count);
      }
      if (lines.out_adjacent)
        return inner.store_columns(reinterpret_cast<T*>(lines.to[0]), 2 * out_stride_, tile, out_length_, lines.count);
      for (int64_t k = 0; k < out_length_; k++)
        for (int64_t w = 0; w < lines.count; w++)
          lines.to[w][k * out_stride_] = {tile.re[k * kWidth + w], tile.im[k * kWidth + w]};
    }
  }
  // The other half of a Hermitian signal of odd length.
  void complete(FftTile<T> tile) const {
    std::fill(tile.im, tile.im + kWidth, T{0});
    for (int64_t k = 1; k <= n_ / 2; k++)
      for (int64_t w = 0; w < kWidth; w++) {
        tile.re[(n_ - k) * kWidth + w] = tile.re[k * kWidth + w];
        tile.im[(n_ - k) * kWidth + w] = -tile.im[k * kWidth + w];
      }
  }

  // --- one after the other ---

  // Lines that do not lie densely are copied a group at a time, since neighbours share the memory that is fetched.
  void line_by_line() const {
    const auto plan = fft_line_plan<T>(length_);
    const bool gathers = in_stride_ != 1, scatters = out_stride_ != 1;
    const int64_t width = gathers || scatters ? kWidth : 1, groups = (lines_.count() + width - 1) / width;
    auto work = [&](int64_t begin, int64_t end) {
      Scratch<From> in(gathers ? width * in_length_ : 0);
      Scratch<To> out(scatters ? width * out_length_ : 0);
      Scratch<T> room(kFromReal || kToReal ? 2 * length_ : 0);
      for (int64_t i = begin; i < end; i++) {
        const Group lines = group(i * width, width);
        const int64_t count = lines.count;
        if (gathers)
          for (int64_t k = 0; k < in_length_; k++)
            for (int64_t w = 0; w < count; w++) in.get()[w * in_length_ + k] = lines.from[w][k * in_stride_];
        for (int64_t w = 0; w < count; w++)
          dense(*plan, gathers ? in.get() + w * in_length_ : lines.from[w],
                scatters ? out.get() + w * out_length_ : lines.to[w], room.get());
        if (scatters)
          for (int64_t k = 0; k < out_length_; k++)
            for (int64_t w = 0; w < count; w++) lines.to[w][k * out_stride_] = out.get()[w * out_length_ + k];
      }
    };
    // A few long lines share the threads within each.
    if (groups < 8 && n_ >= 4 * kLeastPart)
      work(0, groups);
    else
      parallel_for(0, groups, std::max<int64_t>(1, kLeastPart / (n_ * width)), work);
  }
  // One line; `room` is for as many complex elements as are transformed.
  void dense(const FftLinePlan<T>& plan, const From* from, To* to, T* room) const {
    const T* in = reinterpret_cast<const T*>(from);
    T* out = reinterpret_cast<T*>(to);
    if constexpr (kFromReal)
      dense_from_real(plan, in, out, room);
    else if constexpr (kToReal)
      dense_to_real(plan, in, out, room);
    else
      fft_line(plan, out, in, inverse());
  }
  void dense_from_real(const FftLinePlan<T>& plan, const T* in, T* out, T* room) const {
    if (packed_) {
      fft_line(plan, out, in, false);
      return fft_inner<T>().unpack_line(*real_, out, length_);
    }
    for (int64_t k = 0; k < n_; k++) {
      room[2 * k] = in[k];
      room[2 * k + 1] = 0;
    }
    fft_line<T>(plan, room, room, false);
    std::copy(room, room + 2 * out_length_, out);
  }
  void dense_to_real(const FftLinePlan<T>& plan, const T* in, T* out, T* room) const {
    if (packed_) {
      fft_inner<T>().pack_line(*real_, room, in, length_);
      return fft_line<T>(plan, out, room, true);
    }
    std::copy(in, in + 2 * in_length_, room);
    room[1] = 0;
    for (int64_t k = 1; k <= n_ / 2; k++) {
      room[2 * (n_ - k)] = room[2 * k];
      room[2 * (n_ - k) + 1] = -room[2 * k + 1];
    }
    fft_line<T>(plan, room, room, true);
    for (int64_t k = 0; k < n_; k++) out[k] = room[2 * k];
  }

  Kind kind_;
  Lines lines_;
  const From* from_;
  To* to_;
  int64_t in_length_, out_length_, in_stride_, out_stride_;
  int64_t n_;
  bool packed_;     // n real elements are n / 2 complex ones
  int64_t length_;  // of the complex transform
  std::shared_ptr<const FftRealPlan<T>> real_;
};

template <class T>
void run_typed(const Tensor& out, const Tensor& x, int64_t dim, Kind kind) {
  using C = std::complex<T>;
  if (kind == Kind::r2c) return Transform<T, T, C>(out, x, dim, kind).run();
  if (kind == Kind::c2r) return Transform<T, C, T>(out, x, dim, kind).run();
  Transform<T, C, C>(out, x, dim, kind).run();
}
void run(const Tensor& out, const Tensor& x, int64_t dim, Kind kind) {
  if (out.numel() == 0) return;
  if (to_real(x.dtype()) == kDouble)
    run_typed<double>(out, x, dim, kind);
  else
    run_typed<float>(out, x, dim, kind);
}

// From x into out along the last dimension, then over the others in place.
void c2c(const Tensor& out, const Tensor& x, IntArrayRef dims, bool inverse) {
  for (size_t i = dims.size(); i-- > 0;)
    run(out, i + 1 == dims.size() ? x : out, dims[i], inverse ? Kind::inverse : Kind::forward);
}
void r2c(const Tensor& out, const Tensor& x, int64_t dim) { run(out, x, dim, Kind::r2c); }
void c2r(const Tensor& out, const Tensor& x, int64_t dim) { run(out, x, dim, Kind::c2r); }

[[maybe_unused]] const bool registered =
    fft_c2c_kernel.set(kCPU, c2c) && fft_r2c_kernel.set(kCPU, r2c) && fft_c2r_kernel.set(kCPU, c2r);

}  // namespace
}  // namespace cresset::cpu
