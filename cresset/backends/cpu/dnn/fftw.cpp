// Fourier transforms by FFTW, in place of cpu/fft.cpp, for builds with CRESSET_FFTW: FFTW is under the GPL, and what is
// given away with it must be, too. One dimension after the other: lines that lie evenly in memory are handed to it in
// blocks as they are; others go through a tile of lines side by side, which is several times faster than FFTW's own way
// with strides. Plans are made once per length (making one is not thread-safe, running it is); which plan a line gets
// depends on the shape alone, so results do not depend on the number of threads.
#include "cresset/ops/fft.h"

#include <fftw3.h>

#include <algorithm>
#include <complex>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kBlock = 16384;  // elements in a block, about
constexpr int64_t kTile = 16;      // lines side by side
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

// What one plan does: `count` transforms of n elements that lie one behind the other, the lines in_step and out_step
// apart.
struct Geometry {
  Kind kind;
  int64_t n, count, in_step, out_step;
  bool aligned;                                       // both sides always start at multiples of 16 bytes
  bool in_place;                                      // the two sides are the same
  auto operator<=>(const Geometry&) const = default;  // NOLINT(modernize-use-nullptr): the check's own mistake
};

// Plans are kept by geometry. A program with ever new shapes starts over now and then; who runs a plan holds it.
template <class Fftw>
std::shared_ptr<std::remove_pointer_t<typename Fftw::Plan>> plan_for(const Geometry& g, void* in, void* out) {
  using Shared = std::shared_ptr<std::remove_pointer_t<typename Fftw::Plan>>;
  constexpr size_t kMost = 1024;
  static auto* mutex = new std::recursive_mutex;  // freeing a plan, which may happen inside, locks too
  static auto* plans = new std::map<Geometry, Shared>;
  std::lock_guard lock(*mutex);
  if (auto found = plans->find(g); found != plans->end()) return found->second;
  unsigned flags = FFTW_ESTIMATE | (g.in_place ? 0 : FFTW_PRESERVE_INPUT) | (g.aligned ? 0 : FFTW_UNALIGNED);
  fftw_iodim64 dim{g.n, 1, 1}, loop{g.count, g.in_step, g.out_step};
  typename Fftw::Plan plan = nullptr;
  if (g.kind == Kind::r2c)
    plan = Fftw::r2c(1, &dim, 1, &loop, in, out, flags);
  else if (g.kind == Kind::c2r)
    plan = Fftw::c2r(1, &dim, 1, &loop, in, out, flags);
  else
    plan = Fftw::c2c(1, &dim, 1, &loop, in, out, g.kind == Kind::inverse ? FFTW_BACKWARD : FFTW_FORWARD, flags);
  CRESSET_CHECK(plan, "fft: FFTW found no plan for this shape");
  if (plans->size() >= kMost) plans->clear();
  return plans
      ->emplace(g, Shared(plan,
                          [](typename Fftw::Plan old) {
                            std::lock_guard held(*mutex);
                            Fftw::free(old);
                          }))
      .first->second;
}

// The lines of a transform: where they start on both sides, and how they go on. Strides in elements.
struct Loop {
  int64_t n, in, out;
};
struct Lines {
  std::vector<Loop> loops;  // the one that steps least in the output first
  int64_t count = 1;

  Lines(const Tensor& out, const Tensor& x, int64_t dim) {
    for (int64_t d = 0; d < x.dim(); d++)
      if (d != dim && x.size(d) > 1) loops.push_back({x.size(d), x.stride(d), out.stride(d)});
    std::stable_sort(loops.begin(), loops.end(), [](const Loop& a, const Loop& b) { return a.out < b.out; });
    size_t to = 0;
    for (size_t i = 1; i < loops.size(); i++) {
      Loop& last = loops[to];
      if (loops[i].in == last.in * last.n && loops[i].out == last.out * last.n)
        last.n *= loops[i].n;
      else
        loops[++to] = loops[i];
    }
    if (loops.empty()) loops.push_back({1, 0, 0});
    loops.resize(to + 1);
    for (const Loop& loop : loops) count *= loop.n;
  }
  // Where the lines of row `row` of the first loop start.
  void start(int64_t row, int64_t& in, int64_t& out) const {
    in = out = 0;
    for (size_t i = 1; i < loops.size(); i++) {
      in += row % loops[i].n * loops[i].in;
      out += row % loops[i].n * loops[i].out;
      row /= loops[i].n;
    }
  }
};

// Both sides as FFTW sees them, for one element type each.
template <class Fftw, class From, class To>
class Transform {
 public:
  Transform(const Tensor& out, const Tensor& x, int64_t dim, Kind kind)
      : kind_(kind),
        lines_(out, x, dim),
        from_(static_cast<From*>(x.impl()->data())),
        to_(static_cast<To*>(out.impl()->data())),
        in_length_(x.size(dim)),
        out_length_(out.size(dim)),
        in_stride_(x.stride(dim)),
        out_stride_(out.stride(dim)),
        n_(kind == Kind::c2r ? out_length_ : in_length_) {}

  void run() const {
    const Loop& first = lines_.loops[0];
    const bool dense = (in_stride_ == 1 || in_length_ == 1) && (out_stride_ == 1 || out_length_ == 1);
    const int64_t width = dense ? std::clamp<int64_t>(kBlock / n_, 1, first.n) : std::min(kTile, first.n);
    const int64_t rows = lines_.count / first.n, blocks = (first.n + width - 1) / width;
    parallel_for(0, rows * blocks, std::max<int64_t>(1, kBlock / (n_ * width)), [&](int64_t begin, int64_t end) {
      Scratch<From> in(dense ? 0 : width * in_length_);
      Scratch<To> out(dense ? 0 : width * out_length_);
      for (int64_t i = begin; i < end; i++) {
        int64_t in_at, out_at;
        lines_.start(i / blocks, in_at, out_at);
        const int64_t line = i % blocks * width, count = std::min(width, first.n - line);
        From* from = from_ + in_at + line * first.in;
        To* to = to_ + out_at + line * first.out;
        if (dense)
          execute(from, to, count, first.in, first.out);
        else
          tile(from, to, count, first, in.data, out.data);
      }
    });
  }

 private:
  template <class T>
  struct Scratch {
    T* data;
    explicit Scratch(int64_t n)
        : data(n ? static_cast<T*>(fftw_malloc(static_cast<size_t>(n) * sizeof(T))) : nullptr) {}
    ~Scratch() { fftw_free(data); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
  };

  void execute(From* from, To* to, int64_t count, int64_t in_step, int64_t out_step) const {
    auto even = [](const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; };
    const bool in_place = static_cast<void*>(from) == static_cast<void*>(to);
    Geometry g{kind_, n_, count, count > 1 ? in_step : 0, count > 1 ? out_step : 0, even(from) && even(to), in_place};
    Fftw::run(plan_for<Fftw>(g, from, to).get(), kind_, from, to);
  }
  // A side whose lines are dense already needs no scratch.
  void tile(From* from, To* to, int64_t count, const Loop& loop, From* in, To* out) const {
    const bool gathers = in_stride_ != 1, scatters = out_stride_ != 1;
    if (gathers)
      for (int64_t k = 0; k < in_length_; k++)
        for (int64_t w = 0; w < count; w++) in[w * in_length_ + k] = from[k * in_stride_ + w * loop.in];
    execute(gathers ? in : from, scatters ? out : to, count, gathers ? in_length_ : loop.in,
            scatters ? out_length_ : loop.out);
    if (scatters)
      for (int64_t k = 0; k < out_length_; k++)
        for (int64_t w = 0; w < count; w++) to[k * out_stride_ + w * loop.out] = out[w * out_length_ + k];
  }

  Kind kind_;
  Lines lines_;
  From* from_;
  To* to_;
  int64_t in_length_, out_length_, in_stride_, out_stride_, n_;
};

void run(const Tensor& out, const Tensor& x, int64_t dim, Kind kind) {
  if (out.numel() == 0) return;
  using C = std::complex<float>;
  using Z = std::complex<double>;
  const bool wide = to_real(x.dtype()) == kDouble;
  if (kind == Kind::r2c)
    return wide ? Transform<Double, double, Z>(out, x, dim, kind).run()
                : Transform<Single, float, C>(out, x, dim, kind).run();
  if (kind == Kind::c2r)
    return wide ? Transform<Double, Z, double>(out, x, dim, kind).run()
                : Transform<Single, C, float>(out, x, dim, kind).run();
  return wide ? Transform<Double, Z, Z>(out, x, dim, kind).run() : Transform<Single, C, C>(out, x, dim, kind).run();
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
