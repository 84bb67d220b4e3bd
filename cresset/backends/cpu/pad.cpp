// CPU kernels of ops/pad. For each padded dimension a table says which element every place comes from; rows along the
// last dimension are copied as wholes between their two edges. The gradient adds back within slabs that no two threads
// share, in the order of places.
#include "cresset/ops/pad.h"

#include <cstring>

#include "cresset/backends/cpu/element_moves.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kGrain = 16384;

int64_t source_place(int64_t at, int64_t n, PadMode mode) {
  if (mode == PadMode::replicate) return std::clamp<int64_t>(at, 0, n - 1);
  if (mode == PadMode::circular) return at < 0 ? at + n : at >= n ? at - n : at;
  if (at < 0) at = -at;
  return at >= n ? 2 * (n - 1) - at : at;
}

// Byte offsets, in both tensors, of every place along every dimension of the padded one.
struct PadPlan {
  std::vector<std::vector<int64_t>> narrow, wide;
  int rank;
  int64_t slabs = 1;  // over the leading dimensions that are not padded
  int64_t rows = 1;   // of each slab, without the last dimension
  int slab_rank;
  int64_t left, inner;  // of the last dimension: places before the middle, and of it

  PadPlan(const Tensor& padded, const Tensor& x, IntArrayRef pad, PadMode mode)
      : rank(static_cast<int>(x.dim())), slab_rank(rank - static_cast<int>(pad.size() / 2)) {
    const int64_t item = x.element_size();
    for (int d = 0; d < rank; d++) {
      const size_t k = 2 * static_cast<size_t>(rank - 1 - d);
      const int64_t before = k < pad.size() ? pad[k] : 0, n = x.size(d);
      std::vector<int64_t> from, to;
      for (int64_t i = 0; i < padded.size(d); i++) {
        from.push_back(source_place(i - before, n, mode) * x.stride(d) * item);
        to.push_back(i * padded.stride(d) * item);
      }
      narrow.push_back(std::move(from));
      wide.push_back(std::move(to));
      if (d < slab_rank)
        slabs *= n;
      else if (d < rank - 1)
        rows *= padded.size(d);
    }
    const int64_t before = pad.empty() ? 0 : pad[0], n = padded.size(-1);
    left = std::clamp<int64_t>(before, 0, n);
    inner = std::max<int64_t>(0, std::min(n, before + x.size(-1)) - left);
  }

  // Offsets of row `row` of slab `slab`: {narrow, wide}.
  std::pair<int64_t, int64_t> row_at(int64_t slab, int64_t row) const {
    int64_t a = 0, b = 0;
    auto step = [&](int d, int64_t& rest) {
      const auto i = static_cast<size_t>(d);
      const auto n = static_cast<int64_t>(wide[i].size());
      a += narrow[i][static_cast<size_t>(rest % n)];
      b += wide[i][static_cast<size_t>(rest % n)];
      rest /= n;
    };
    for (int d = std::min(slab_rank, rank - 1) - 1; d >= 0; d--) step(d, slab);
    for (int d = rank - 2; d >= slab_rank; d--) step(d, row);
    return {a, b};
  }
};

template <class T>
void pad_row(char* to, const char* from, const PadPlan& plan) {
  const std::vector<int64_t>&out = plan.wide.back(), &in = plan.narrow.back();
  auto copy_one = [&](int64_t i) {
    const auto k = static_cast<size_t>(i);
    *reinterpret_cast<T*>(to + out[k]) = *reinterpret_cast<const T*>(from + in[k]);
  };
  const auto n = static_cast<int64_t>(out.size());
  const auto left = static_cast<size_t>(plan.left);
  int64_t end = plan.left;
  for (int64_t i = 0; i < plan.left; i++) copy_one(i);
  if (plan.inner > 1 && out[left + 1] - out[left] == sizeof(T) && in[left + 1] - in[left] == sizeof(T)) {
    std::memcpy(to + out[left], from + in[left], static_cast<size_t>(plan.inner) * sizeof(T));
    end = plan.left + plan.inner;
  }
  for (int64_t i = end; i < n; i++) copy_one(i);
}

template <class T>
void pad_all(const Tensor& out, const Tensor& x, const PadPlan& plan) {
  char* to = static_cast<char*>(out.impl()->data());
  const char* from = static_cast<const char*>(x.impl()->data());
  const int64_t rows = plan.slabs * plan.rows;
  parallel_for(0, rows, std::max<int64_t>(1, kGrain / out.size(-1)), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row++) {
      auto [a, b] = plan.row_at(row / plan.rows, row % plan.rows);
      pad_row<T>(to + b, from + a, plan);
    }
  });
}

void pad(const Tensor& out, const Tensor& x, IntArrayRef padding, int64_t mode) {
  const PadPlan plan(out, x, padding, static_cast<PadMode>(mode));
  with_size_of(out.dtype(), [&]<class T>(T) { pad_all<T>(out, x, plan); });
}

template <class T>
void add_row(char* to, const char* from, const PadPlan& plan) {
  const std::vector<int64_t>&in = plan.wide.back(), &out = plan.narrow.back();
  for (size_t i = 0; i < in.size(); i++) {
    T& sum = *reinterpret_cast<T*>(to + out[i]);
    sum = static_cast<T>(sum + *reinterpret_cast<const T*>(from + in[i]));
  }
}

// gx is contiguous, so that a slab is a piece of memory.
void pad_backward(const Tensor& gx, const Tensor& g, IntArrayRef padding, int64_t mode) {
  char* to = static_cast<char*>(gx.impl()->data());
  std::memset(to, 0, gx.nbytes());
  if (g.numel() == 0) return;
  const PadPlan plan(g, gx, padding, static_cast<PadMode>(mode));
  const char* from = static_cast<const char*>(g.impl()->data());
  dispatch(gx.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (is_differentiable(dtype_of<T>))
      parallel_for(0, plan.slabs, std::max<int64_t>(1, kGrain * plan.slabs / g.numel()),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t slab = begin; slab < end; slab++)
                       for (int64_t row = 0; row < plan.rows; row++) {
                         auto [a, b] = plan.row_at(slab, row);
                         add_row<T>(to + a, from + b, plan);
                       }
                   });
  });
}

[[maybe_unused]] const bool registered = pad_kernel.set(kCPU, pad) && pad_backward_kernel.set(kCPU, pad_backward);

}  // namespace
}  // namespace cresset::cpu
