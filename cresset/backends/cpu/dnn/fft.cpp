// Fourier transforms by FFTW. Its guru interface takes strides as they come. Plans are made once per geometry (making
// one is not thread-safe, running it is) and each covers a block of transforms whose size depends on the shape alone:
// threads share blocks out, and results do not depend on how many there are.
#include "cresset/ops/fft.h"

#include <fftw3.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kBlock = 16384;  // elements in a block, about
enum class Kind : int64_t { forward, inverse, r2c, c2r };

// FFTW in one precision.
struct Single {
  using Plan = fftwf_plan;
  using Number = fftwf_complex;
  using Real = float;
  static Plan c2c(int n, const fftw_iodim64* dims, int many, const fftw_iodim64* loops, void* in, void* out, int sign,
                  unsigned flags) {
    return fftwf_plan_guru64_dft(n, dims, many, loops, static_cast<Number*>(in), static_cast<Number*>(out), sign,
                                 flags);
  }
  static Plan r2c(int n, const fftw_iodim64* dims, int many, const fftw_iodim64* loops, void* in, void* out,
                  unsigned flags) {
    return fftwf_plan_guru64_dft_r2c(n, dims, many, loops, static_cast<Real*>(in), static_cast<Number*>(out), flags);
  }
  static Plan c2r(int n, const fftw_iodim64* dims, int many, const fftw_iodim64* loops, void* in, void* out,
                  unsigned flags) {
    return fftwf_plan_guru64_dft_c2r(n, dims, many, loops, static_cast<Number*>(in), static_cast<Real*>(out), flags);
  }
  static void free(Plan plan) { fftwf_destroy_plan(plan); }
  static void run(Plan plan, Kind kind, void* in, void* out) {
    if (kind == Kind::r2c)
      fftwf_execute_dft_r2c(plan, static_cast<Real*>(in), static_cast<Number*>(out));
    else if (kind == Kind::c2r)
      fftwf_execute_dft_c2r(plan, static_cast<Number*>(in), static_cast<Real*>(out));
    else
      fftwf_execute_dft(plan, static_cast<Number*>(in), static_cast<Number*>(out));
  }
};
struct Double {
  using Plan = fftw_plan;
  using Number = fftw_complex;
  using Real = double;
  static Plan c2c(int n, const fftw_iodim64* dims, int many, const fftw_iodim64* loops, void* in, void* out, int sign,
                  unsigned flags) {
    return fftw_plan_guru64_dft(n, dims, many, loops, static_cast<Number*>(in), static_cast<Number*>(out), sign, flags);
  }
  static Plan r2c(int n, const fftw_iodim64* dims, int many, const fftw_iodim64* loops, void* in, void* out,
                  unsigned flags) {
    return fftw_plan_guru64_dft_r2c(n, dims, many, loops, static_cast<Real*>(in), static_cast<Number*>(out), flags);
  }
  static Plan c2r(int n, const fftw_iodim64* dims, int many, const fftw_iodim64* loops, void* in, void* out,
                  unsigned flags) {
    return fftw_plan_guru64_dft_c2r(n, dims, many, loops, static_cast<Number*>(in), static_cast<Real*>(out), flags);
  }
  static void free(Plan plan) { fftw_destroy_plan(plan); }
  static void run(Plan plan, Kind kind, void* in, void* out) {
    if (kind == Kind::r2c)
      fftw_execute_dft_r2c(plan, static_cast<Real*>(in), static_cast<Number*>(out));
    else if (kind == Kind::c2r)
      fftw_execute_dft_c2r(plan, static_cast<Number*>(in), static_cast<Real*>(out));
    else
      fftw_execute_dft(plan, static_cast<Number*>(in), static_cast<Number*>(out));
  }
};

// What one plan does: transforms along dims, repeated over loops.
struct Geometry {
  Kind kind;
  std::vector<fftw_iodim64> dims, loops;
  bool aligned;  // both sides always start at multiples of 16 bytes
  std::vector<int64_t> key() const {
    std::vector<int64_t> key{static_cast<int64_t>(kind), aligned, static_cast<int64_t>(dims.size())};
    for (const auto* list : {&dims, &loops})
      for (const fftw_iodim64& d : *list) key.insert(key.end(), {d.n, d.is, d.os});
    return key;
  }
};

// Plans are kept by geometry. A program with ever new shapes starts over now and then; who runs a plan holds it.
template <class Fftw>
std::shared_ptr<std::remove_pointer_t<typename Fftw::Plan>> plan_for(const Geometry& g, void* in, void* out) {
  using Shared = std::shared_ptr<std::remove_pointer_t<typename Fftw::Plan>>;
  constexpr size_t kMost = 1024;
  static auto* mutex = new std::recursive_mutex;  // freeing a plan, which may happen inside, locks too
  static auto* plans = new std::map<std::vector<int64_t>, Shared>;
  std::lock_guard lock(*mutex);
  if (auto found = plans->find(g.key()); found != plans->end()) return found->second;
  unsigned flags = FFTW_ESTIMATE | FFTW_PRESERVE_INPUT | (g.aligned ? 0 : FFTW_UNALIGNED);
  int n = static_cast<int>(g.dims.size()), many = static_cast<int>(g.loops.size());
  typename Fftw::Plan plan = nullptr;
  if (g.kind == Kind::r2c)
    plan = Fftw::r2c(n, g.dims.data(), many, g.loops.data(), in, out, flags);
  else if (g.kind == Kind::c2r)
    plan = Fftw::c2r(n, g.dims.data(), many, g.loops.data(), in, out, flags);
  else
    plan = Fftw::c2c(n, g.dims.data(), many, g.loops.data(), in, out,
                     g.kind == Kind::inverse ? FFTW_BACKWARD : FFTW_FORWARD, flags);
  CRESSET_CHECK(plan, "fft: FFTW found no plan for this shape");
  if (plans->size() >= kMost) plans->clear();
  return plans
      ->emplace(g.key(), Shared(plan,
                                [](typename Fftw::Plan old) {
                                  std::lock_guard held(*mutex);
                                  Fftw::free(old);
                                }))
      .first->second;
}

template <class Fftw>
void transform(const Tensor& out, const Tensor& x, IntArrayRef dims, Kind kind) {
  if (out.numel() == 0) return;
  Geometry g{kind, {}, {}, false};
  std::vector<bool> transformed(static_cast<size_t>(x.dim()));
  int64_t inner = 1;
  for (int64_t d : dims) {
    transformed[static_cast<size_t>(d)] = true;
    int64_t n = std::max(x.size(d), out.size(d));
    if (kind == Kind::r2c) n = x.size(d);
    if (kind == Kind::c2r) n = out.size(d);
    g.dims.push_back({n, x.stride(d), out.stride(d)});
    inner *= n;
  }
  for (int64_t d = 0; d < x.dim(); d++)
    if (!transformed[static_cast<size_t>(d)] && x.size(d) > 1)
      g.loops.push_back({x.size(d), x.stride(d), out.stride(d)});
  // The loop that steps farthest is shared out; the others belong to the plan.
  fftw_iodim64 outer{1, 0, 0};
  if (!g.loops.empty()) {
    auto far = std::max_element(g.loops.begin(), g.loops.end(),
                                [](const fftw_iodim64& a, const fftw_iodim64& b) { return a.os < b.os; });
    outer = *far;
    g.loops.erase(far);
  }
  for (const fftw_iodim64& loop : g.loops) inner *= loop.n;
  const int64_t block = std::clamp<int64_t>(kBlock / inner, 1, outer.n), blocks = outer.n / block;
  const int64_t in_step = outer.is * x.element_size(), out_step = outer.os * out.element_size();
  char *from = static_cast<char*>(x.impl()->data()), *to = static_cast<char*>(out.impl()->data());
  auto even = [](auto value) { return reinterpret_cast<uintptr_t>(value) % 16 == 0; };
  g.aligned = even(from) && even(to) && in_step * block % 16 == 0 && out_step * block % 16 == 0;
  Geometry rest = g;
  g.loops.push_back({block, outer.is, outer.os});
  rest.loops.push_back({outer.n - blocks * block, outer.is, outer.os});
  auto plan = plan_for<Fftw>(g, from, to);
  parallel_for(0, blocks, std::max<int64_t>(1, kBlock / (inner * block)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++)
      Fftw::run(plan.get(), kind, from + i * block * in_step, to + i * block * out_step);
  });
  if (blocks * block < outer.n)
    Fftw::run(plan_for<Fftw>(rest, from, to).get(), kind, from + blocks * block * in_step,
              to + blocks * block * out_step);
}

void run(const Tensor& out, const Tensor& x, IntArrayRef dims, Kind kind) {
  (to_real(x.dtype()) == kDouble ? &transform<Double> : &transform<Single>)(out, x, dims, kind);
}
void c2c(const Tensor& out, const Tensor& x, IntArrayRef dims, bool inverse) {
  run(out, x, dims, inverse ? Kind::inverse : Kind::forward);
}
void r2c(const Tensor& out, const Tensor& x, int64_t dim) { run(out, x, {dim}, Kind::r2c); }
void c2r(const Tensor& out, const Tensor& x, int64_t dim) { run(out, x, {dim}, Kind::c2r); }

[[maybe_unused]] const bool registered =
    fft_c2c_kernel.set(kCPU, c2c) && fft_r2c_kernel.set(kCPU, r2c) && fft_c2r_kernel.set(kCPU, c2r);

}  // namespace
}  // namespace cresset::cpu
