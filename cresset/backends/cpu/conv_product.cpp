// The gradient by the weights of a bfloat16 convolution over few positions, as one product of matrices over the whole
// batch. Image by image, as the library does it, all the weights' sums would pass through the cache for each image: the
// last layers of a ResNet then spend longer on that than on the rest of their backward.
#include <algorithm>
#include <vector>

#include "cresset/backends/cpu/conv.h"
#include "cresset/backends/cpu/matmul.h"
#include "cresset/backends/cpu/scratch.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kFewPositions = 32, kFewAtStride = 64;
constexpr int64_t kManyWeights = 1 << 18;  // whose sums are beyond a core's own cache
constexpr int64_t kMostWindows = 1 << 24;  // elements that are laid out anew
constexpr int64_t kWorkOfThread = 16384;   // elements copied that pay for a thread

bool suits_one_product(const Convolution& c) {
  if (c.part != ConvPart::weight || c.x.dtype() != kBFloat16 || c.x.dim() != 4 || c.groups != 1) return false;
  if (!c.x.is_contiguous() || !c.w.is_contiguous() || !c.y.is_contiguous() || c.w.numel() < kManyWeights) return false;
  const int64_t images = c.y.size(0), positions = c.y.size(2) * c.y.size(3);
  const bool strided = c.stride[0] > 1 || c.stride[1] > 1;
  if (images < 2 || positions < 1 || positions > (strided ? kFewAtStride : kFewPositions)) return false;
  return c.w.numel() / c.w.size(0) * images * positions <= kMostWindows;
}

BFloat16* numbers_of(const Tensor& t) { return static_cast<BFloat16*>(t.impl()->data()); }

// y as a matrix: a row for each channel, all positions of all images one after the other.
void join_images(const Tensor& y, BFloat16* to) {
  const BFloat16* from = numbers_of(y);
  const int64_t images = y.size(0), channels = y.size(1), positions = y.size(2) * y.size(3);
  parallel_for(0, channels, std::max<int64_t>(1, kWorkOfThread / (images * positions)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t c = begin; c < end; c++)
                   for (int64_t n = 0; n < images; n++)
                     std::copy_n(from + (n * channels + c) * positions, positions, to + (c * images + n) * positions);
               });
}

// Along one direction: the inputs that a weight of the window meets. Results from begin to end meet from + result *
// stride; the others lie outside.
struct Reach {
  int64_t from, begin, end;
};
std::vector<Reach> reaches(const Convolution& c, size_t direction) {
  const int64_t inputs = c.x.size(static_cast<int64_t>(direction) + 2),
                results = c.y.size(static_cast<int64_t>(direction) + 2);
  const int64_t stride = c.stride[direction];
  std::vector<Reach> all;
  for (int64_t tap = 0; tap < c.w.size(static_cast<int64_t>(direction) + 2); tap++) {
    const int64_t from = tap * c.dilation[direction] - c.padding[direction];
    const int64_t begin = std::clamp<int64_t>(from < 0 ? (-from + stride - 1) / stride : 0, 0, results);
    const int64_t end =
        from >= inputs ? begin : std::clamp<int64_t>((inputs - from + stride - 1) / stride, begin, results);
    all.push_back({from, begin, end});
  }
  return all;
}

// x as a matrix: a row for each weight of a filter, with what it meets at all positions of all images.
void join_windows(const Convolution& c, BFloat16* to) {
  const std::vector<Reach> down = reaches(c, 0), across = reaches(c, 1);
  const BFloat16* const x = numbers_of(c.x);
  const int64_t images = c.x.size(0), channels = c.x.size(1), width = c.x.size(3), plane = c.x.size(2) * width;
  const int64_t rows = c.y.size(2), columns = c.y.size(3), row_step = c.stride[0] * width, step = c.stride[1];
  auto copy_plane = [=](const BFloat16* from, const Reach& i, const Reach& j, BFloat16* result) {
    std::fill_n(result, rows * columns, BFloat16());
    for (int64_t row = i.begin; row < i.end; row++) {
      const BFloat16* line = from + i.from * width + row * row_step + j.from;
      for (int64_t column = j.begin; column < j.end; column++) result[row * columns + column] = line[column * step];
    }
  };
  const int64_t taps = c.w.size(2) * c.w.size(3), work = taps * images * rows * columns;
  parallel_for(0, channels, std::max<int64_t>(1, kWorkOfThread / work), [&](int64_t begin, int64_t end) {
    BFloat16* result = to + begin * work;
    for (int64_t channel = begin; channel < end; channel++)
      for (const Reach& i : down)
        for (const Reach& j : across)
          for (int64_t n = 0; n < images; n++, result += rows * columns)
            copy_plane(x + (n * channels + channel) * plane, i, j, result);
  });
}

}  // namespace

bool run_weight_product(const Convolution& c) {
  if (!suits_one_product(c)) return false;
  const int64_t outputs = c.w.size(0), depth = c.w.numel() / outputs;
  const int64_t length = c.y.size(0) * c.y.size(2) * c.y.size(3);
  const Scratch<BFloat16> results(outputs * length), windows(depth * length);
  join_images(c.y, results.get());
  join_windows(c, windows.get());
  run_gemm({kBFloat16,
            kBFloat16,
            1,
            outputs,
            depth,
            length,
            {numbers_of(c.w), depth, 1},
            {},
            {results.get(), length, 1},
            {windows.get(), 1, length},
            1,
            1});
  return true;
}

}  // namespace cresset::cpu
