// Makes the plans of Fourier transforms and keeps them. What is best is decided by estimates of the work, never by
// measuring: a result must not depend on how busy the machine was.
#include "cresset/backends/cpu/fft_plan.h"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>

#include "cresset/backends/cpu/fft_line.h"
#include "cresset/backends/cpu/fft_roots.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

// --- estimates, in passes over a row of a tile
// --------------------------------------------------------------------------

constexpr double kNever = std::numeric_limits<double>::infinity();

// Odd ones first, since the first pass needs no twiddles. Empty if a prime factor is too large.
std::vector<int64_t> radices_of(int64_t n) {
  std::vector<int64_t> radices;
  int twos = 0;
  for (; n % 2 == 0; n /= 2) twos++;
  for (int64_t p = 3; p <= kFftLargestRadix && p * p <= n; p += 2)
    for (; n % p == 0; n /= p) radices.push_back(p);
  if (n > kFftLargestRadix) return {};
  if (n > 1) radices.push_back(n);
  std::sort(radices.rbegin(), radices.rend());
  // As few passes as sixteens give, and as even ones as can be.
  const int passes = (twos + 3) / 4;
  for (int i = 0; i < passes; i++) radices.push_back(int64_t{1} << (twos * (i + 1) / passes - twos * i / passes));
  return radices;
}

double work_of(int64_t radix) {
  switch (radix) {
    case 2:
      return 1;
    case 3:
    case 4:
      return 1.3;
    case 5:
      return 1.8;
    case 7:
      return 2.5;
    case 8:
      return 1.8;
    case 16:
      return 2.6;
    default:
      return 0.45 * static_cast<double>(radix);
  }
}

// Of a tile; kNever if the length has too large a factor. Beyond the first cache, and far more beyond the second, each
// pass waits for memory.
double direct_tile_work(int64_t n) {
  double each = n > 4096 ? 12 : n > 1024 ? 4 : n > 128 ? 2.5 : 2;
  const auto radices = radices_of(n);
  if (n > 1 && radices.empty()) return kNever;
  for (int64_t radix : radices) each += work_of(radix);
  return each * static_cast<double>(n);
}

struct Split {
  int64_t rows = 1;
  double work = kNever;
};
template <class T>
Split best_split(int64_t n) {
  const int64_t lanes = kFftLanes<T>;
  Split best{1, direct_tile_work(n)};
  if (best.work == kNever) return best;
  auto try_rows = [&](int64_t rows) {
    const int64_t columns = n / rows;
    const int64_t column_tiles = (columns + lanes - 1) / lanes, row_tiles = (rows + lanes - 1) / lanes;
    const double down = direct_tile_work(rows) + 2 * static_cast<double>(rows);
    const double work =
        8 + down * static_cast<double>(column_tiles) + direct_tile_work(columns) * static_cast<double>(row_tiles);
    if (work < best.work) best = {rows, work};
  };
  for (int64_t p = 2; p * p <= n; p++)
    if (n % p == 0) {
      try_rows(n / p);  // of the same work the first is taken: many rows and few columns are quicker
      try_rows(p);
    }
  return best;
}

// The best length without large factors from `least` on, by `work`.
template <class F>
std::pair<int64_t, double> best_padded(int64_t least, const F& work) {
  std::pair<int64_t, double> best{0, kNever};
  for (int64_t odd : {1, 3, 5, 7, 9, 15}) {
    int64_t m = odd;
    while (m < least) m *= 2;
    if (const double found = work(m); found < best.second) best = {m, found};
  }
  return best;
}

// A convolution is taken where it halves the work, because it rounds twice as often.
struct Choice {
  int64_t padded = 0;  // 0: none
  double work = kNever;
};
template <class F>
Choice choose(int64_t n, double direct, const F& work) {
  if (direct != kNever && n <= 8) return {0, direct};
  auto [padded, one] = best_padded(2 * n - 1, work);
  const double both = 2 * one + static_cast<double>(4 * n);
  return direct <= 2 * both ? Choice{0, direct} : Choice{padded, both};
}
Choice tile_choice(int64_t n) { return choose(n, direct_tile_work(n), direct_tile_work); }
template <class T>
Choice line_choice(int64_t n) {
  return choose(n, best_split<T>(n).work, [](int64_t m) { return best_split<T>(m).work; });
}

// --- making
// ----------------------------------------------------------------------------------------------------------------

template <class T>
size_t bytes_of(const FftNumbers<T>& list) {
  return list.size() * sizeof(T);
}

template <class T>
void add_root(FftNumbers<T>& list, FftRoots::Root root) {
  list.push_back(static_cast<T>(root.re));
  list.push_back(static_cast<T>(root.im));
}

template <class T>
FftTilePlan<T> direct_tile_plan(int64_t n) {
  FftTilePlan<T> plan{};
  plan.n = n;
  int64_t before = 1;
  for (int64_t radix : radices_of(n)) {
    FftPass pass{radix, before, n / (before * radix), static_cast<int64_t>(plan.numbers.size()), 0};
    const FftRoots roots(before * radix), turns(radix);
    for (int64_t p = 1; p < before; p++)
      for (int64_t t = 1; t < radix; t++) add_root(plan.numbers, roots(p * t));
    pass.rotation = static_cast<int64_t>(plan.numbers.size());
    if (radix % 2) {
      for (int64_t j = 0; j < radix; j++) plan.numbers.push_back(static_cast<T>(turns(j).re));
      for (int64_t j = 0; j < radix; j++) plan.numbers.push_back(static_cast<T>(-turns(j).im));
    }
    plan.passes.push_back(pass);
    before *= radix;
  }
  if (n == 1) plan.passes.push_back({1, 1, 1, 0, 0});
  return plan;
}

template <class T>
FftLinePlan<T> direct_line_plan(int64_t n) {
  FftLinePlan<T> plan{};
  plan.n = n;
  plan.rows = best_split<T>(n).rows;
  plan.columns = n / plan.rows;
  plan.across = std::make_shared<FftTilePlan<T>>(direct_tile_plan<T>(plan.columns));
  if (plan.rows == 1) return plan;
  plan.down = std::make_shared<FftTilePlan<T>>(direct_tile_plan<T>(plan.rows));
  const int64_t lanes = kFftLanes<T>, tiles = (plan.columns + lanes - 1) / lanes;
  plan.twiddles.resize(static_cast<size_t>(2 * tiles * lanes * plan.rows));
  const FftRoots roots(n);
  parallel_for(0, tiles, std::max<int64_t>(1, 4096 / (plan.rows * lanes)), [&](int64_t begin, int64_t end) {
    for (int64_t tile = begin; tile < end; tile++)
      for (int64_t row = 0; row < plan.rows; row++)
        for (int64_t lane = 0; lane < lanes; lane++) {
          const int64_t column = std::min(tile * lanes + lane, plan.columns - 1);
          const FftRoots::Root root = roots(row * column);
          T* to = plan.twiddles.data() + (tile * plan.rows + row) * 2 * lanes + lane;
          to[0] = static_cast<T>(root.re);
          to[lanes] = static_cast<T>(root.im);
        }
  });
  return plan;
}

// In double, whatever T is: the one rounding of each number is all that a plan adds.
template <class T>
FftChirp<T> chirp_of(int64_t n, int64_t padded) {
  FftChirp<T> made;
  const FftRoots roots(2 * n);
  std::vector<double> wrapped(static_cast<size_t>(2 * padded));
  for (int64_t j = 0; j < n; j++) {
    const FftRoots::Root root = roots(j * j % (2 * n));
    add_root(made.chirp, root);
    for (int64_t at : {j, (padded - j) % padded}) {
      wrapped[static_cast<size_t>(2 * at)] = static_cast<double>(root.re / static_cast<long double>(padded));
      wrapped[static_cast<size_t>(2 * at + 1)] = static_cast<double>(-root.im / static_cast<long double>(padded));
    }
  }
  fft_line(direct_line_plan<double>(padded), wrapped.data(), wrapped.data(), false);
  for (double x : wrapped) made.spectrum.push_back(static_cast<T>(x));
  return made;
}

template <class Plan>
struct Maker;
template <class T>
struct Maker<FftTilePlan<T>> {
  static FftTilePlan<T> make(int64_t n) {
    const int64_t padded = tile_choice(n).padded;
    if (!padded) return direct_tile_plan<T>(n);
    FftTilePlan<T> plan{};
    plan.n = n;
    plan.padded = std::make_shared<FftTilePlan<T>>(direct_tile_plan<T>(padded));
    plan.chirp = chirp_of<T>(n, padded);
    return plan;
  }
};
template <class T>
struct Maker<FftLinePlan<T>> {
  static FftLinePlan<T> make(int64_t n) {
    const int64_t padded = line_choice<T>(n).padded;
    if (!padded) return direct_line_plan<T>(n);
    FftLinePlan<T> plan{};
    plan.n = n;
    plan.padded = std::make_shared<FftLinePlan<T>>(direct_line_plan<T>(padded));
    plan.chirp = chirp_of<T>(n, padded);
    return plan;
  }
};
template <class T>
struct Maker<FftRealPlan<T>> {
  static FftRealPlan<T> make(int64_t n) {
    FftRealPlan<T> plan;
    const FftRoots roots(n);
    for (int64_t k = 0; k <= n / 4; k++) {
      plan.re.push_back(static_cast<T>(roots(k).re));
      plan.im.push_back(static_cast<T>(roots(k).im));
    }
    return plan;
  }
};
template <class T>
struct Works {
  double tile, line;
  size_t bytes() const { return sizeof(*this); }
};
template <class T>
struct Maker<Works<T>> {
  static Works<T> make(int64_t n) { return {tile_choice(n).work, line_choice<T>(n).work}; }
};

// --- keeping
// ---------------------------------------------------------------------------------------------------------------

// By length. A program with ever new ones starts over when they fill the memory set aside; who runs a plan holds it,
// and what would take half of that memory alone is made for each call anew.
template <class Plan>
std::shared_ptr<const Plan> kept(int64_t n) {
  constexpr size_t kMostBytes = size_t{32} << 20, kMostPlans = 4096;
  static auto* mutex = new std::mutex;
  static auto* plans = new std::map<int64_t, std::shared_ptr<const Plan>>;
  static size_t bytes = 0;
  {
    std::lock_guard lock(*mutex);
    if (auto found = plans->find(n); found != plans->end()) return found->second;
  }
  auto plan = std::make_shared<const Plan>(Maker<Plan>::make(n));
  if (plan->bytes() > kMostBytes / 2) return plan;
  std::lock_guard lock(*mutex);
  if (bytes + plan->bytes() > kMostBytes || plans->size() >= kMostPlans) {
    plans->clear();
    bytes = 0;
  }
  auto [at, added] = plans->emplace(n, plan);
  if (added) bytes += plan->bytes();
  return at->second;
}

}  // namespace

template <class T>
size_t FftTilePlan<T>::bytes() const {
  return sizeof(*this) + bytes_of(numbers) + bytes_of(chirp.chirp) + bytes_of(chirp.spectrum) +
         (padded ? padded->bytes() : 0);
}
template <class T>
size_t FftLinePlan<T>::bytes() const {
  return sizeof(*this) + (down ? down->bytes() : 0) + (across ? across->bytes() : 0) + bytes_of(twiddles) +
         bytes_of(chirp.chirp) + bytes_of(chirp.spectrum) + (padded ? padded->bytes() : 0);
}

template <class T>
std::shared_ptr<const FftTilePlan<T>> fft_tile_plan(int64_t n) {
  return kept<FftTilePlan<T>>(n);
}
template <class T>
std::shared_ptr<const FftLinePlan<T>> fft_line_plan(int64_t n) {
  return kept<FftLinePlan<T>>(n);
}
template <class T>
std::shared_ptr<const FftRealPlan<T>> fft_real_plan(int64_t n) {
  return kept<FftRealPlan<T>>(n);
}
template <class T>
bool fft_prefers_tiles(int64_t n, int64_t count, bool dense) {
  const auto works = kept<Works<T>>(n);
  const int64_t tiles = (count + kFftLanes<T> - 1) / kFftLanes<T>;
  // Lines so far apart compete for the same places of the first cache.
  const bool compete = dense && n * 2 * static_cast<int64_t>(sizeof(T)) % 2048 == 0;
  const double tile = works->tile + (compete ? 8 * static_cast<double>(n) : 0);
  return tile * static_cast<double>(tiles) <= works->line * static_cast<double>(count);
}

#define CRESSET_FFT_PLANS(T)                                                  \
  template struct FftTilePlan<T>;                                             \
  template struct FftLinePlan<T>;                                             \
  template std::shared_ptr<const FftTilePlan<T>> fft_tile_plan<T>(int64_t n); \
  template std::shared_ptr<const FftLinePlan<T>> fft_line_plan<T>(int64_t n); \
  template std::shared_ptr<const FftRealPlan<T>> fft_real_plan<T>(int64_t n); \
  template bool fft_prefers_tiles<T>(int64_t n, int64_t count, bool dense);
CRESSET_FFT_PLANS(float)
CRESSET_FFT_PLANS(double)
#undef CRESSET_FFT_PLANS

}  // namespace cresset::cpu
