// CPU kernel of ops/cat. Dense inputs of one dtype are blocks of memory to be laid side by side, whatever the order of
// their dimensions; anything else goes through the pointwise loop, which converts and strides as it copies.
#include "cresset/ops/cat.h"

#include <algorithm>
#include <cstring>

#include "cresset/backends/cpu/pointwise_loop.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"
#include "cresset/ops/copy.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kGrainBytes = 64 << 10;

// True if x's dimensions lie in memory densely and in out's order.
bool same_layout(const Tensor& out, const Tensor& x, const Dims& order) {
  int64_t step = 1;
  if (out.dtype() != x.dtype()) return false;
  for (int64_t dim : order) {
    int d = static_cast<int>(dim);
    if (x.impl()->sizes[d] != 1 && x.impl()->strides[d] != step) return false;
    step *= x.impl()->sizes[d];
  }
  return true;
}

// out's dimensions, fastest first; empty if out is not dense.
Dims memory_order(const Tensor& out) {
  Dims order;
  if (!out.is_non_overlapping_and_dense()) return order;
  for (int i = out.impl()->sizes.rank() - 1; i >= 0; i--) order.push_back(i);
  if (out.is_contiguous()) return order;
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return out.impl()->strides[static_cast<int>(a)] < out.impl()->strides[static_cast<int>(b)];
  });
  return order;
}

struct Block {
  const char* data;
  int64_t bytes;  // of one row
  int64_t start;  // in a row of the result
};

// The result is rows of row_bytes, each made of one piece per block. Bytes [begin, end) of it.
void copy_bytes(char* to, const std::vector<Block>& blocks, int64_t row_bytes, int64_t begin, int64_t end) {
  int64_t row = begin / row_bytes, within = begin % row_bytes;
  auto it = std::upper_bound(blocks.begin(), blocks.end(), within,
                             [](int64_t at, const Block& block) { return at < block.start; }) -
            1;
  for (int64_t at = begin; at < end;) {
    int64_t from = within - it->start, n = std::min(it->bytes - from, end - at);
    std::memcpy(to + at, it->data + row * it->bytes + from, static_cast<size_t>(n));
    at += n;
    within += n;
    if (++it == blocks.end()) {
      it = blocks.begin();
      within = 0;
      row++;
    }
  }
}

void copy_blocks(const Tensor& out, TensorList tensors, int64_t dim, const Dims& order) {
  int64_t inner = static_cast<int64_t>(out.itemsize());
  for (int64_t d : order) {
    if (d == dim) break;
    inner *= out.size(d);
  }
  std::vector<Block> blocks;
  int64_t row_bytes = 0;
  for (const Tensor& t : tensors) {
    blocks.push_back({static_cast<const char*>(t.impl()->data()), t.size(dim) * inner, row_bytes});
    row_bytes += blocks.back().bytes;
  }
  char* to = static_cast<char*>(out.impl()->data());
  parallel_for(0, static_cast<int64_t>(out.nbytes()), kGrainBytes,
               [&](int64_t begin, int64_t end) { copy_bytes(to, blocks, row_bytes, begin, end); });
}

void cat(const Tensor& out, TensorList tensors, int64_t dim) {
  const Dims order = memory_order(out);
  bool blocks = !order.empty();
  for (const Tensor& t : tensors) blocks = blocks && same_layout(out, t, order);
  if (blocks) return copy_blocks(out, tensors, dim, order);
  int64_t start = 0;
  Dims sizes(out.sizes());
  for (const Tensor& t : tensors) {
    sizes[static_cast<int>(dim)] = t.size(dim);
    copy_kernel.get(kCPU)(alias(out, sizes, out.strides(), out.storage_offset() + start * out.stride(dim)), t);
    start += t.size(dim);
  }
}

[[maybe_unused]] const bool registered = cat_kernel.set(kCPU, cat);

}  // namespace
}  // namespace cresset::cpu
