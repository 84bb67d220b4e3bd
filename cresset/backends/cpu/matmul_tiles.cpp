// Products of bfloat16 and float16 matrices on the tile unit of recent x86 CPUs (AMX): a tile instruction multiplies 16
// rows by 16 columns over 32 elements and adds in float. Both operands are packed into tiles first, each block of the
// result is summed over all of k in registers and rounded once.
//
// float16 has no instruction before Granite Rapids, but each of its values is exactly the sum of two bfloat16 values:
// the four products of the halves are summed instead, still several times faster than float.
#include "cresset/backends/cpu/matmul.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "cresset/backends/cpu/scratch.h"
#include "cresset/core/half.h"
#include "cresset/core/parallel.h"

// GCC takes the intrinsics' own "undefined" vectors for mistakes.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#define CRESSET_TILES [[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,amx-tile,amx-bf16")]]

namespace cresset::cpu {
namespace {

// A step is 32 rows, columns or elements of k; it makes two tiles of 16 x 32 bfloat16 (1 KiB each).
constexpr int64_t kStep = 32, kTile = 512, kStepTiles = 2 * kTile;
// Panels of 32 rows that are gone through for one panel of columns: at k = 1024 they fill half of a 2 MiB cache.
constexpr int64_t kPanels = 16;

bool cpu_has_tiles() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  const bool tiles = d >> 24 & 1, bfloat16 = d >> 22 & 1, wide = (b >> 16 & 1) && (b >> 17 & 1) && (b >> 30 & 1);
  if (!tiles || !bfloat16 || !wide || a < 1 || !__get_cpuid_count(7, 1, &a, &b, &c, &d) || !(a >> 5 & 1)) return false;
  // The kernel saves tile registers only for processes that have asked for them.
  constexpr int kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t bytes_per_row[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// One 16 x 16 matrix of 32-bit elements, rows `step` bytes apart, written with rows as columns.
CRESSET_TILES void transpose32(const void* from, int64_t step, uint16_t* to) {
  const __m512i rows = _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                                          _mm512_set1_epi32(static_cast<int>(step)));
  for (int i = 0; i < 16; i++)
    _mm512_storeu_si512(to + i * 32, _mm512_i32gather_epi32(rows, static_cast<const char*>(from) + i * 4, 1));
}

// 32 rows of 16 elements to 16 rows in which those of rows 2i and 2i + 1 alternate.
CRESSET_TILES void interleave(const uint16_t* from, int64_t step, uint16_t* to) {
  for (int i = 0; i < 16; i++) {
    const auto* even = reinterpret_cast<const __m256i*>(from + 2 * i * step);
    const auto* odd = reinterpret_cast<const __m256i*>(from + (2 * i + 1) * step);
    const __m512i low = _mm512_cvtepu16_epi32(_mm256_loadu_si256(even));
    const __m512i high = _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(odd)), 16);
    _mm512_storeu_si512(to + i * 32, _mm512_or_si512(low, high));
  }
}

// The tiles of 32 x 32 elements of which k runs along one dimension and the rows of a, or the columns of b, along the
// other; the one with a stride of 1 is contiguous. Tiles of a hold rows of 32 along k, tiles of b pairs along k.
CRESSET_TILES void pack_a(const uint16_t* from, int64_t other, int64_t k, uint16_t* to) {
  alignas(64) uint16_t pairs[kTile];
  for (int half = 0; half < 2; half++, to += kTile) {
    if (k == 1) {
      for (int i = 0; i < 16; i++) std::memcpy(to + i * 32, from + (half * 16 + i) * other, 64);
    } else {
      interleave(from + half * 16, k, pairs);
      transpose32(pairs, 64, to);
    }
  }
}
CRESSET_TILES void pack_b(const uint16_t* from, int64_t other, int64_t k, uint16_t* to) {
  for (int half = 0; half < 2; half++, to += kTile) {
    if (k == 1)
      transpose32(from + half * 16 * other, other * 2, to);
    else
      interleave(from + half * 16, k, to);
  }
}

using Pack = void (*)(const uint16_t* from, int64_t other, int64_t k, uint16_t* to);

// An operand: its rows (of a) or columns (of b), and k.
struct Side {
  const uint16_t* data;
  int64_t size, depth;  // elements along each
  int64_t stride, stride_k;
  bool half;  // float16
  int parts() const { return half ? 4 : 1; }
};

CRESSET_TILES __m256i upper_halves(__m512 x) {
  return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_castps_si512(x), 16));
}

// Splits 32 x 32 numbers of type float16 into bfloat16 ones that add up to them. False if one is not finite: infinity
// times the zero that is left over would be nan.
CRESSET_TILES bool split(const uint16_t* from, uint16_t* high, uint16_t* low) {
  __mmask16 odd = 0;
  for (int i = 0; i < kStep * kStep; i += 16) {
    const __m512 x = _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i)));
    const __m512 top = _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(-65536)));
    odd |= _mm512_fpclass_ps_mask(x, 0x99);  // nan of both kinds, infinity of both signs

    _mm256_storeu_si256(reinterpret_cast<__m256i*>(high + i), upper_halves(top));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(low + i), upper_halves(_mm512_sub_ps(x, top)));
  }
  return odd == 0;
}

// Packs one panel: 32 rows or columns over all of k. Returns false for float16 numbers that are not finite.
CRESSET_TILES bool pack_panel(const Side& side, int64_t panel, bool left, uint16_t* to) {
  alignas(64) uint16_t block[kStep * kStep], high[kStep * kStep], low[kStep * kStep];
  const Pack pack = left ? pack_a : pack_b;
  const int64_t first = panel * kStep, count = std::min(kStep, side.size - first);
  for (int64_t k = 0; k < side.depth; k += kStep, to += kStepTiles * side.parts()) {
    const int64_t depth = std::min(kStep, side.depth - k);
    const uint16_t* from = side.data + first * side.stride + k * side.stride_k;
    if (!side.half && count == kStep && depth == kStep) {
      pack(from, side.stride, side.stride_k, to);
      continue;
    }
    // Along the contiguous dimension, with zeros around; k runs along rows of the block or down its columns.
    const bool along = side.stride_k == 1;
    if (count < kStep || depth < kStep) std::memset(block, 0, sizeof block);
    for (int64_t i = 0; i < (along ? count : depth); i++)
      std::memcpy(block + i * kStep, from + i * (along ? side.stride : side.stride_k),
                  static_cast<size_t>(along ? depth : count) * 2);
    const int64_t other_step = along ? kStep : 1, k_step = along ? 1 : kStep;
    if (!side.half) {
      pack(block, other_step, k_step, to);
      continue;
    }
    if (!split(block, high, low)) return false;
    // Every part of one side meets every part of the other: h l h l against h h l l.
    const uint16_t* parts[] = {high, left ? low : high, left ? high : low, low};
    for (int i = 0; i < 4; i++) pack(parts[i], other_step, k_step, to + i * kStepTiles);
  }
  return true;
}

// 32 x 32 sums over `steps` steps of k.
CRESSET_TILES void multiply(const uint16_t* a, const uint16_t* b, int64_t steps, float* sums) {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (int64_t i = 0; i < steps; i++, a += kStepTiles, b += kStepTiles) {
    _tile_loadd(4, a, 64);
    _tile_loadd(6, b, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, b + kTile, 64);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, a + kTile, 64);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, sums, kStep * 4);
  _tile_stored(1, sums + 16, kStep * 4);
  _tile_stored(2, sums + 16 * kStep, kStep * 4);
  _tile_stored(3, sums + 16 * kStep + 16, kStep * 4);
}

CRESSET_TILES __m512 load(DType dtype, const void* data, int64_t at, int64_t step, __mmask16 mask) {
  if (step != 1) {  // repeated or spread out: rare
    alignas(64) float values[16] = {};
    for (int i = 0; i < 16; i++) {
      if (!(mask >> i & 1)) continue;
      const int64_t index = at + i * step;
      values[i] = dtype == kFloat  ? static_cast<const float*>(data)[index]
                  : dtype == kHalf ? static_cast<float>(static_cast<const Half*>(data)[index])
                                   : static_cast<float>(static_cast<const BFloat16*>(data)[index]);
    }
    return _mm512_load_ps(values);
  }
  if (dtype == kFloat) return _mm512_maskz_loadu_ps(mask, static_cast<const float*>(data) + at);
  const __m256i bits = _mm256_maskz_loadu_epi16(mask, static_cast<const uint16_t*>(data) + at);
  if (dtype == kHalf) return _mm512_cvtph_ps(bits);
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}

CRESSET_TILES void store(DType dtype, void* data, int64_t at, __mmask16 mask, __m512 x) {
  if (dtype == kFloat) return _mm512_mask_storeu_ps(static_cast<float*>(data) + at, mask, x);
  // Rounds subnormal numbers to zero, unlike the conversion elsewhere, so by hand: to nearest even, nan stays nan.
  __m256i bits;
  if (dtype == kHalf) {
    bits = _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  } else {
    const __m512i raw = _mm512_castps_si512(x);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(raw, 16), _mm512_set1_epi32(1));
    const __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(raw, _mm512_set1_epi32(0x7fff)), odd);
    const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    const __m512i top = _mm512_mask_mov_epi32(_mm512_srli_epi32(rounded, 16), nan, _mm512_set1_epi32(0x7fc0));
    bits = _mm512_cvtepi32_epi16(top);
  }
  _mm256_mask_storeu_epi16(static_cast<uint16_t*>(data) + at, mask, bits);
}

// Writes the part of a block that lies inside the result.
CRESSET_TILES void finish(const Gemm& g, int64_t row, int64_t col, const float* sums) {
  const int64_t rows = std::min(kStep, g.m - row), cols = std::min(kStep, g.n - col);
  const __m512 alpha = _mm512_set1_ps(g.alpha.toFloat()), beta = _mm512_set1_ps(g.beta.toFloat());
  for (int64_t j = 0; j < cols; j += 16) {
    const auto mask = static_cast<__mmask16>(cols - j >= 16 ? 0xffff : (1 << (cols - j)) - 1);
    for (int64_t i = 0; i < rows; i++) {
      __m512 x = _mm512_mul_ps(_mm512_loadu_ps(sums + i * kStep + j), alpha);
      if (g.added.data) {
        const int64_t at = (row + i) * g.added.row + (col + j) * g.added.col;
        x = _mm512_fmadd_ps(load(g.out_dtype, g.added.data, at, g.added.col, mask), beta, x);
      }
      store(g.out_dtype, g.out.data, (row + i) * g.out.row + col + j, mask, x);
    }
  }
}

// Panels of rows [row, row_end) by panels of columns [col, col_end), on one thread.
CRESSET_TILES void multiply_panels(const Gemm& g, const uint16_t* a, const uint16_t* b, int64_t steps,
                                   const GemmBlock& panels) {
  alignas(64) float sums[kStep * kStep];
  const TileConfig config;
  _tile_loadconfig(&config);
  const int64_t panel = steps * kStepTiles;
  for (int64_t top = panels.row; top < panels.row_end; top += kPanels)
    for (int64_t j = panels.col; j < panels.col_end; j++)
      for (int64_t i = top; i < std::min(top + kPanels, panels.row_end); i++) {
        multiply(a + i * panel, b + j * panel, steps, sums);
        finish(g, i * kStep, j * kStep, sums);
      }
  _tile_release();
}

bool has_contiguous_side(const Matrix& m) { return m.row == 1 || m.col == 1; }

}  // namespace

bool has_tiles() {
  static const bool has = cpu_has_tiles();
  return has;
}

bool tile_product(const Gemm& g) {
  // Strides are multiplied by up to 32 in 32 bits.
  constexpr int64_t longest = int64_t{1} << 25;
  if (g.out.col != 1 || !has_contiguous_side(g.a) || !has_contiguous_side(g.b)) return false;
  if (std::max({g.a.row, g.a.col, g.b.row, g.b.col}) > longest) return false;

  const bool half = g.dtype == kHalf;
  const int64_t steps = (g.k + kStep - 1) / kStep * (half ? 4 : 1), panel = steps * kStepTiles;
  const int64_t row_panels = (g.m + kStep - 1) / kStep, col_panels = (g.n + kStep - 1) / kStep;
  const Scratch<uint16_t> scratch((row_panels + col_panels) * panel);
  uint16_t *left = scratch.get(), *right = left + row_panels * panel;
  const Side a{static_cast<const uint16_t*>(g.a.data), g.m, g.k, g.a.row, g.a.col, half};
  const Side b{static_cast<const uint16_t*>(g.b.data), g.n, g.k, g.b.col, g.b.row, half};
  std::atomic<bool> finite{true};
  parallel_for(0, row_panels + col_panels, std::max<int64_t>(1, 65536 / panel), [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; i++) {
      const bool fine = i < row_panels ? pack_panel(a, i, true, left + i * panel)
                                       : pack_panel(b, i - row_panels, false, right + (i - row_panels) * panel);
      if (!fine) finite.store(false, std::memory_order_relaxed);
    }
  });
  if (!finite.load()) return false;
  const bool by_rows = row_panels >= col_panels;
  const int64_t panels = by_rows ? row_panels : col_panels;
  const int64_t parts = std::min<int64_t>(panels, get_num_threads());
  parallel_for(0, parts, 1, [&](int64_t first, int64_t last) {
    const int64_t from = panels * first / parts, to = panels * last / parts;
    multiply_panels(g, left, right, steps,
                    by_rows ? GemmBlock{0, from, to, 0, col_panels} : GemmBlock{0, 0, row_panels, from, to});
  });
  return true;
}

}  // namespace cresset::cpu

#else
namespace cresset::cpu {
bool has_tiles() { return false; }
bool tile_product(const Gemm&) { return false; }
}  // namespace cresset::cpu
#endif
