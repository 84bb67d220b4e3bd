// CPU kernels of ops/random. Numbers are made a chunk of elements at a time, in row-major order, and then stored where
// strides and dtype want them: what element i gets depends on seed, offset and i alone.
#include "cresset/ops/random.h"

#include <cstring>

#include "cresset/backends/cpu/pointwise_loop.h"
#include "cresset/backends/cpu/random_simd.h"
#include "cresset/backends/cpu/walk.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"
#include "cresset/ops/copy.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kChunk = kRandomChunk;  // whole counters for every width
constexpr int64_t kGrainChunks = 16;

// 32 bits for each of the elements [first, first + kChunk).
void bits_of_chunk(const PhiloxCursor& cursor, int64_t first, uint32_t* bits) {
  random_functions().bits(cursor.seed, cursor.first + static_cast<uint64_t>(first) / 4, bits);
}
// 64 bits for each element, the high half first.
void wide_bits_of_chunk(const PhiloxCursor& cursor, int64_t first, uint32_t* bits) {
  bits_of_chunk(cursor, 2 * first, bits);
  bits_of_chunk(cursor, 2 * first + kChunk, bits + kChunk);
}

// out as real numbers: a complex tensor has one more dimension.
struct RealView {
  DType dtype;
  Dims sizes, strides;
  explicit RealView(const Tensor& out) : dtype(to_real(out.dtype())), sizes(out.sizes()), strides(out.strides()) {
    if (!out.is_complex()) return;
    for (int64_t& stride : strides) stride *= 2;
    sizes.push_back(2);
    strides.push_back(1);
  }
};

// Calls make(buffer, first) for every chunk, which fills all kChunk numbers of type C, and stores those that out has.
template <class C, class Make>
void fill_in_order(const Tensor& out, int64_t grain, const Make& make) {
  const RealView view(out);
  const int64_t item = static_cast<int64_t>(element_size(view.dtype));
  Walk walk(view.sizes, 1);
  walk.set(0, view.strides, item);
  walk.join();
  const int64_t n = walk.numel();
  if (n == 0) return;
  char* data = static_cast<char*>(out.impl()->data());
  const bool direct = view.dtype == dtype_of<C> && out.is_contiguous();
  parallel_for(0, (n + kChunk - 1) / kChunk, grain, [&](int64_t begin, int64_t end) {
    C buffer[kChunk];
    for (int64_t chunk = begin; chunk < end; chunk++) {
      const int64_t first = chunk * kChunk, last = std::min(first + kChunk, n);
      if (direct && last - first == kChunk) {
        make(reinterpret_cast<C*>(data) + first, first);
        continue;
      }
      make(static_cast<C*>(buffer), first);
      const char* from = reinterpret_cast<const char*>(buffer);
      walk.runs(first, last, [&](const int64_t* offsets, int64_t count) {
        convert(data + offsets[0], view.dtype, walk.step(0), from, dtype_of<C>, sizeof(C), count);
        from += count * static_cast<int64_t>(sizeof(C));
      });
    }
  });
}

// ---- uniform
// Half types get as many random bits as their mantissas hold, so that rounding never reaches 1.
void uniform(const Tensor& out, double from, double to, PhiloxCursor cursor) {
  const double range = to - from;
  if (to_real(out.dtype()) == kDouble) {
    fill_in_order<double>(out, kGrainChunks, [=](double* y, int64_t first) {
      uint32_t bits[2 * kChunk];
      wide_bits_of_chunk(cursor, first, bits);
      for (int64_t i = 0; i < kChunk; i++) {
        const double value = uniform_double(bits[2 * i], bits[2 * i + 1]) * range + from;
        y[i] = value < to ? value : from;
      }
    });
    return;
  }
  const int digits = out.dtype() == kHalf ? 11 : out.dtype() == kBFloat16 ? 8 : 24;
  const float scale = std::ldexp(1.0F, -digits), low = static_cast<float>(from), width = static_cast<float>(range);
  const float high = static_cast<float>(to);
  const bool half = out.dtype() == kHalf, brain = out.dtype() == kBFloat16;
  fill_in_order<float>(out, kGrainChunks, [=](float* y, int64_t first) {
    uint32_t bits[kChunk];
    bits_of_chunk(cursor, first, bits);
    for (int64_t i = 0; i < kChunk; i++) {
      const float value = static_cast<float>(static_cast<int32_t>(bits[i] >> (32 - digits))) * scale * width + low;
      y[i] = value < high ? value : low;
    }
    if (half)
      for (int64_t i = 0; i < kChunk; i++) y[i] = Half(y[i]) < Half(high) ? y[i] : low;
    if (brain)
      for (int64_t i = 0; i < kChunk; i++) y[i] = BFloat16(y[i]) < BFloat16(high) ? y[i] : low;
  });
}

// ---- normal
void normal(const Tensor& out, double mean, double std, PhiloxCursor cursor) {
  if (out.is_complex()) std *= 0.70710678118654752440;  // the two parts share the variance
  if (to_real(out.dtype()) == kDouble) {
    fill_in_order<double>(out, 1, [=](double* y, int64_t first) {
      uint32_t bits[2 * kChunk];
      wide_bits_of_chunk(cursor, first, bits);
      for (int64_t i = 0; i < kChunk; i += 2) {
        const uint32_t* b = bits + 2 * i;
        const auto pair = normal_pair(uniform_double(b[0], b[1]), uniform_double(b[2], b[3]));
        y[i] = pair[0] * std + mean;
        y[i + 1] = pair[1] * std + mean;
      }
    });
    return;
  }
  const float scale = static_cast<float>(std), middle = static_cast<float>(mean);
  fill_in_order<float>(out, 8, [=](float* y, int64_t first) {
    uint32_t bits[kChunk];
    bits_of_chunk(cursor, first, bits);
    random_functions().normal(bits, middle, scale, y);
  });
}

// ---- integers
// The high half of bits * range: even to 2^-64 of the range.
int64_t integer_below(const uint32_t* bits, uint64_t range) {
  const uint64_t value = (uint64_t{bits[0]} << 32) | bits[1];
  if (range == 0) return static_cast<int64_t>(value);
  return static_cast<int64_t>(static_cast<uint64_t>((static_cast<unsigned __int128>(value) * range) >> 64));
}

void random(const Tensor& out, int64_t from, int64_t range, PhiloxCursor cursor) {
  fill_in_order<int64_t>(out, kGrainChunks, [=](int64_t* y, int64_t first) {
    uint32_t bits[2 * kChunk];
    wide_bits_of_chunk(cursor, first, bits);
    for (int64_t i = 0; i < kChunk; i++)
      y[i] = static_cast<int64_t>(static_cast<uint64_t>(from) +
                                  static_cast<uint64_t>(integer_below(bits + 2 * i, static_cast<uint64_t>(range))));
  });
}

void randperm(const Tensor& out, PhiloxCursor cursor) {
  const int64_t n = out.numel(), stride = out.impl()->strides[0];
  dispatch(out.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (!is_complex(dtype_of<T>)) {
      T* y = static_cast<T*>(out.impl()->data());
      for (int64_t i = 0; i < n; i++) y[i * stride] = static_cast<T>(i);
      uint32_t bits[2 * kChunk];
      for (int64_t i = 0; i + 1 < n; i++) {  // Fisher and Yates
        if (i % kChunk == 0) wide_bits_of_chunk(cursor, i, bits);
        const int64_t other = i + integer_below(bits + 2 * (i % kChunk), static_cast<uint64_t>(n - i));
        std::swap(y[i * stride], y[other * stride]);
      }
    }
  });
}

// ---- bernoulli and dropout
// An event of probability p < 1 happens when 32 random bits are below this.
uint32_t threshold_of(double p) { return static_cast<uint32_t>(std::min(p * 0x1p32, 0x1p32 - 1)); }

void bernoulli(const Tensor& out, double p, PhiloxCursor cursor) {
  const uint32_t threshold = threshold_of(p), certain = p >= 1;
  Walk walk(out.sizes(), 1);
  walk.set(0, out.strides(), out.element_size());
  walk.join();
  char* data = static_cast<char*>(out.impl()->data());
  const int64_t n = walk.numel();
  parallel_for(0, (n + kChunk - 1) / kChunk, kGrainChunks, [&](int64_t begin, int64_t end) {
    uint32_t bits[kChunk];
    uint8_t ones[kChunk];
    for (int64_t first = begin * kChunk; first < std::min(end * kChunk, n); first += kChunk) {
      bits_of_chunk(cursor, first, bits);
      for (int64_t i = 0; i < kChunk; i++) ones[i] = static_cast<uint8_t>((bits[i] < threshold) | certain);
      const uint8_t* from = ones;
      walk.runs(first, std::min(first + kChunk, n), [&](const int64_t* offsets, int64_t count) {
        convert(data + offsets[0], out.dtype(), walk.step(0), from, kByte, 1, count);
        from += count;
      });
    }
  });
}

void bernoulli_tensor(const Tensor& out, const Tensor& p, PhiloxCursor cursor) {
  Walk walk(out.sizes(), 2);
  walk.set(0, out.strides(), out.element_size());
  walk.set(1, p.strides(), p.element_size());
  walk.join();
  char* to = static_cast<char*>(out.impl()->data());
  const char* from = static_cast<const char*>(p.impl()->data());
  const int64_t n = walk.numel(), chunks = (n + kChunk - 1) / kChunk;
  auto load = [&](int64_t first, double* values) {
    walk.runs(first, std::min(first + kChunk, n), [&](const int64_t* offsets, int64_t count) {
      convert(values, kDouble, sizeof(double), from + offsets[1], p.dtype(), walk.step(1), count);
      values += count;
    });
  };
  parallel_for(0, chunks, kGrainChunks, [&](int64_t begin, int64_t end) {
    double values[kChunk];
    for (int64_t first = begin * kChunk; first < std::min(end * kChunk, n); first += kChunk) {
      load(first, values);
      for (int64_t i = 0; i < std::min(kChunk, n - first); i++)
        CRESSET_CHECK_AS(ValueError, values[i] >= 0 && values[i] <= 1,
                         "bernoulli: expects every p to be in [0, 1] (p_in >= 0 && p_in <= 1), but got p=", values[i],
                         " for element ", first + i);
    }
  });
  parallel_for(0, chunks, kGrainChunks, [&](int64_t begin, int64_t end) {
    double values[kChunk] = {};
    uint32_t bits[kChunk];
    uint8_t ones[kChunk];
    for (int64_t first = begin * kChunk; first < std::min(end * kChunk, n); first += kChunk) {
      load(first, values);
      bits_of_chunk(cursor, first, bits);
      for (int64_t i = 0; i < kChunk; i++) ones[i] = static_cast<double>(bits[i]) < values[i] * 0x1p32;
      const uint8_t* one = ones;
      walk.runs(first, std::min(first + kChunk, n), [&](const int64_t* offsets, int64_t count) {
        convert(to + offsets[0], out.dtype(), walk.step(0), one, kByte, 1, count);
        one += count;
      });
    }
  });
}

template <class T>
void dropout_typed(const Tensor& out, const Tensor& x, double p, const PhiloxCursor& cursor) {
  using R = std::conditional_t<std::is_same_v<T, double> || std::is_same_v<T, std::complex<double>>, double, float>;
  const uint32_t threshold = threshold_of(p);
  const R scale = static_cast<R>(1 / (1 - p));
  Walk walk(out.sizes(), 2);
  walk.set(0, out.strides(), sizeof(T));
  walk.set(1, x.strides(), sizeof(T));
  walk.join();
  char* to = static_cast<char*>(out.impl()->data());
  const char* from = static_cast<const char*>(x.impl()->data());
  const int64_t n = walk.numel(), to_step = walk.step(0), from_step = walk.step(1);
  const bool dense = to_step == sizeof(T) && from_step == sizeof(T);
  auto kept = [scale](const T& value) {
    if constexpr (is_complex(dtype_of<T>))
      return value * scale;
    else
      return static_cast<T>(static_cast<R>(value) * scale);
  };
  parallel_for(0, (n + kChunk - 1) / kChunk, kGrainChunks, [&](int64_t begin, int64_t end) {
    uint32_t bits[kChunk];
    for (int64_t first = begin * kChunk; first < std::min(end * kChunk, n); first += kChunk) {
      bits_of_chunk(cursor, first, bits);
      const uint32_t* bit = bits;
      walk.runs(first, std::min(first + kChunk, n), [&](const int64_t* offsets, int64_t count) {
        char* y = to + offsets[0];
        const char* v = from + offsets[1];
        if (std::is_same_v<T, float> && dense)
          random_functions().dropout(bit, threshold, static_cast<float>(scale), reinterpret_cast<const float*>(v),
                                     reinterpret_cast<float*>(y), count);
        else
          for (int64_t i = 0; i < count; i++, y += to_step, v += from_step) {
            const T choices[] = {kept(*reinterpret_cast<const T*>(v)), T(0)};  // a branch would be mispredicted
            *reinterpret_cast<T*>(y) = choices[bit[i] < threshold];
          }
        bit += count;
      });
    }
  });
}

void dropout(const Tensor& out, const Tensor& x, double p, PhiloxCursor cursor) {
  if (p >= 1) return fill_kernel.get(kCPU)(out, 0);
  dispatch(out.dtype(), [&](auto* ptr) {
    using T = std::remove_pointer_t<decltype(ptr)>;
    if constexpr (is_differentiable(dtype_of<T>)) dropout_typed<T>(out, x, p, cursor);
  });
}

[[maybe_unused]] const bool registered =
    uniform_kernel.set(kCPU, uniform) && normal_kernel.set(kCPU, normal) && random_kernel.set(kCPU, random) &&
    randperm_kernel.set(kCPU, randperm) && bernoulli_kernel.set(kCPU, bernoulli) &&
    bernoulli_tensor_kernel.set(kCPU, bernoulli_tensor) && dropout_kernel.set(kCPU, dropout);

}  // namespace
}  // namespace cresset::cpu
