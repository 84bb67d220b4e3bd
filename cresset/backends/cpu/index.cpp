// CPU kernels of ops/index. Offsets are worked out a chunk of indices at a time; rows are then copied or added. Writing
// gives every row of the target one owner among the threads, so that rows met twice are written in the order of
// indices.
#include "cresset/ops/index.h"

#include <cstring>

#include "cresset/backends/cpu/element_moves.h"
#include "cresset/backends/cpu/pointwise_simd.h"
#include "cresset/backends/cpu/walk.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kChunk = 256;
constexpr int64_t kGrain = 16384;  // elements worth a thread

template <class Action>
void apply_run(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t n) {
  using T = typename Action::Type;
  constexpr int64_t item = sizeof(T);
  if (to_step == item && from_step == item) {
    if constexpr (std::is_same_v<Action, Store<T>>) {
      std::memcpy(to, from, static_cast<size_t>(n * item));
    } else if constexpr (std::is_floating_point_v<T>) {
      const void* in[] = {to, from};
      inner_function(PointwiseOp::add, dtype_of<T>)(to, in, n, nullptr);
    } else {
      T* __restrict y = reinterpret_cast<T*>(to);
      const T* __restrict x = reinterpret_cast<const T*>(from);
      for (int64_t i = 0; i < n; i++) Action::apply(y[i], x[i]);
    }
    return;
  }
  for (int64_t i = 0; i < n; i++, to += to_step, from += from_step)
    Action::apply(*reinterpret_cast<T*>(to), *reinterpret_cast<const T*>(from));
}

struct IndexTensor {
  const char* data;
  bool narrow;  // int32
  int64_t size;
  int64_t stride;      // bytes of the indexed side
  int64_t row_stride;  // in rows: what one step of this index skips

  int64_t read(const char* p) const {
    int64_t value = narrow ? *reinterpret_cast<const int32_t*>(p) : *reinterpret_cast<const int64_t*>(p);
    return value < 0 ? value + size : value;
  }
};

// The two sides of a call: plain is [I…, R…], indexed is [D1…Dk, R…]. A row is what one set of indices names.
class Sides {
 public:
  Sides(const Tensor& plain, const Tensor& indexed, TensorList indices)
      : count_(indices.size()),
        places_(plain.sizes().slice(0, index_rank(plain, indexed)), static_cast<int>(count_) + 1),
        rest_(indexed.sizes().slice(count_), 2) {
    const int64_t item = indexed.element_size();
    const size_t index_dims = index_rank(plain, indexed);
    places_.set(0, plain.strides().slice(0, index_dims), item);
    rest_.set(0, plain.strides().slice(index_dims), item);
    rest_.set(1, indexed.strides().slice(count_), item);
    for (size_t k = count_; k-- > 0;) {
      const Tensor& index = indices[k];
      places_.set(static_cast<int>(k) + 1, index.strides(), index.element_size());
      indices_[k] = {static_cast<const char*>(index.impl()->data()), index.dtype() == kInt, indexed.sizes()[k],
                     indexed.strides()[k] * item, rows_};
      rows_ *= indexed.sizes()[k];
    }
    places_.join();
    rest_.join();
  }

  int64_t places() const { return places_.numel(); }
  int64_t row_size() const { return rest_.numel(); }
  int64_t rows() const { return rows_; }

  void check_bounds(const char* op, IntArrayRef dims) const {
    parallel_for(0, places(), kGrain, [&](int64_t begin, int64_t end) {
      places_.runs(begin, end, [&](const int64_t* offsets, int64_t count) {
        for (size_t k = 0; k < count_; k++) check_run(op, k, dims[k], indices_[k].data + offsets[k + 1], count);
      });
    });
  }

  // Byte offsets of both sides, and the row, for places [begin, begin + n), n up to kChunk.
  struct Chunk {
    int64_t plain[kChunk], indexed[kChunk], row[kChunk];
  };
  void fill(Chunk& chunk, int64_t begin, int64_t n) const {
    int64_t done = 0;
    places_.runs(begin, begin + n, [&](const int64_t* offsets, int64_t count) {
      for (int64_t i = 0; i < count; i++) {
        chunk.plain[done + i] = offsets[0] + i * places_.step(0);
        chunk.indexed[done + i] = chunk.row[done + i] = 0;
      }
      for (size_t k = 0; k < count_; k++) {
        const IndexTensor& index = indices_[k];
        const char* p = index.data + offsets[k + 1];
        const int64_t step = places_.step(static_cast<int>(k) + 1);
        if (index.narrow)
          add_offsets<int32_t>(chunk, done, index, p, step, count);
        else
          add_offsets<int64_t>(chunk, done, index, p, step, count);
      }
      done += count;
    });
  }

  template <class I>
  static void add_offsets(Chunk& chunk, int64_t done, const IndexTensor& index, const char* p, int64_t step,
                          int64_t count) {
    for (int64_t i = 0; i < count; i++, p += step) {
      int64_t at = *reinterpret_cast<const I*>(p);
      at += at < 0 ? index.size : 0;
      chunk.indexed[done + i] += at * index.stride;
      chunk.row[done + i] += at * index.row_stride;
    }
  }

  // Elements [first, last) of a row, from one side to the other. `to` and `from` point at the row's start.
  template <class Action, int to_side>
  void apply_row(char* to, const char* from, int64_t first, int64_t last) const {
    constexpr int from_side = 1 - to_side;
    if (rest_.rank() <= 1) {
      const int64_t to_step = rest_.step(to_side), from_step = rest_.step(from_side);
      apply_run<Action>(to + first * to_step, to_step, from + first * from_step, from_step, last - first);
      return;
    }
    rest_.runs(first, last, [&](const int64_t* offsets, int64_t count) {
      apply_run<Action>(to + offsets[to_side], rest_.step(to_side), from + offsets[from_side], rest_.step(from_side),
                        count);
    });
  }

 private:
  size_t index_rank(const Tensor& plain, const Tensor& indexed) const {
    return plain.sizes().size() + count_ - indexed.sizes().size();
  }
  template <class I>
  static bool all_inside(const char* p, int64_t step, int64_t count, int64_t size) {
    bool outside = false;
    for (int64_t i = 0; i < count; i++, p += step) {
      const int64_t at = *reinterpret_cast<const I*>(p);
      outside |= at >= size || at < -size;
    }
    return !outside;
  }
  void check_run(const char* op, size_t k, int64_t dim, const char* p, int64_t count) const {
    const int64_t step = places_.step(static_cast<int>(k) + 1), size = indices_[k].size;
    if (indices_[k].narrow ? all_inside<int32_t>(p, step, count, size) : all_inside<int64_t>(p, step, count, size))
      return;
    for (int64_t i = 0;; i++) {
      const int64_t at = indices_[k].read(p + i * step);
      CRESSET_CHECK_AS(IndexError, at >= 0 && at < size, op, ": index ", at < 0 ? at - size : at,
                       " is out of bounds for dimension ", dim, " with size ", size);
    }
  }

  size_t count_;
  Walk places_;  // operand 0: plain, then the indices
  Walk rest_;    // operand 0: plain, 1: indexed
  IndexTensor indices_[Walk::kMost];
  int64_t rows_ = 1;
};

void index(const Tensor& out, const Tensor& self, TensorList indices, IntArrayRef dims) {
  const Sides sides(out, self, indices);
  sides.check_bounds("index", dims);
  char* to = static_cast<char*>(out.impl()->data());
  const char* from = static_cast<const char*>(self.impl()->data());
  const int64_t row = sides.row_size();
  with_size_of(out.dtype(), [&]<class T>(T) {
    if (row == 1) {
      parallel_for(0, sides.places(), kGrain, [&](int64_t begin, int64_t end) {
        Sides::Chunk chunk;
        for (int64_t place = begin; place < end; place += kChunk) {
          const int64_t n = std::min(kChunk, end - place);
          sides.fill(chunk, place, n);
          for (int64_t i = 0; i < n; i++)
            *reinterpret_cast<T*>(to + chunk.plain[i]) = *reinterpret_cast<const T*>(from + chunk.indexed[i]);
        }
      });
      return;
    }
    parallel_for(0, sides.places() * row, kGrain, [&](int64_t begin, int64_t end) {
      Sides::Chunk chunk;
      for (int64_t place = begin / row; place * row < end;) {
        const int64_t n = std::min(kChunk, (end + row - 1) / row - place);
        sides.fill(chunk, place, n);
        for (int64_t i = 0; i < n; i++, place++) {
          const int64_t first = std::max<int64_t>(begin - place * row, 0), last = std::min(end - place * row, row);
          sides.apply_row<Store<T>, 0>(to + chunk.plain[i], from + chunk.indexed[i], first, last);
        }
      }
    });
  });
}

// Writes elements [first, last) of every row that falls into [row_begin, row_end), in the order of places.
template <class Action>
void put_rows(const Sides& sides, char* to, const char* from, int64_t row_begin, int64_t row_end, int64_t first,
              int64_t last) {
  using T = typename Action::Type;
  const bool single = sides.row_size() == 1;
  const uint64_t rows = static_cast<uint64_t>(row_end - row_begin);
  Sides::Chunk chunk;
  for (int64_t place = 0; place < sides.places(); place += kChunk) {
    const int64_t n = std::min(kChunk, sides.places() - place);
    sides.fill(chunk, place, n);
    for (int64_t i = 0; i < n; i++) {
      if (static_cast<uint64_t>(chunk.row[i] - row_begin) >= rows) continue;
      if (single) {
        Action::apply(*reinterpret_cast<T*>(to + chunk.indexed[i]), *reinterpret_cast<const T*>(from + chunk.plain[i]));
        continue;
      }
      sides.apply_row<Action, 1>(to + chunk.indexed[i], from + chunk.plain[i], first, last);
    }
  }
}

void index_put(const Tensor& self, const Tensor& values, TensorList indices, IntArrayRef dims, bool accumulate) {
  const Sides sides(values, self, indices);
  sides.check_bounds("index_put_", dims);
  char* to = static_cast<char*>(self.impl()->data());
  const char* from = static_cast<const char*>(values.impl()->data());
  const int64_t row = sides.row_size(), rows = sides.rows(), work = sides.places() * row;
  auto run = [&]<class Action>(Action) {
    if (row >= kGrain) {  // few long rows: each thread takes a part of every one
      parallel_for(0, row, std::max<int64_t>(kGrain / sides.places(), 1024),
                   [&](int64_t first, int64_t last) { put_rows<Action>(sides, to, from, 0, rows, first, last); });
      return;
    }
    // At least a grain of work for each owner, if the indices are spread evenly.
    const int64_t grain = work <= kGrain ? rows : std::max<int64_t>(rows / std::max<int64_t>(work / kGrain, 1), 1);
    parallel_for(0, rows, grain,
                 [&](int64_t begin, int64_t end) { put_rows<Action>(sides, to, from, begin, end, 0, row); });
  };
  if (!accumulate) return with_size_of(self.dtype(), [&]<class T>(T) { run(Store<T>{}); });
  dispatch(self.dtype(), [&](auto* p) { run(Accumulate<std::remove_pointer_t<decltype(p)>>{}); });
}

// ---- nonzero
constexpr int64_t kNonzeroBlock = 8192;

template <class T>
bool is_set(const char* p) {
  return *reinterpret_cast<const T*>(p) != T(0);
}
template <class T>
int64_t count_range(const Walk& walk, const char* data, int64_t begin, int64_t end) {
  int64_t found = 0;
  walk.runs(begin, end, [&](const int64_t* offsets, int64_t count) {
    const char* p = data + offsets[0];
    for (int64_t i = 0; i < count; i++, p += walk.step(0)) found += is_set<T>(p);
  });
  return found;
}
Walk elements_of(const Tensor& x) {
  Walk walk(x.sizes(), 1);
  walk.set(0, x.strides(), x.element_size());
  walk.join();
  return walk;
}
// How many elements of each block are set.
std::vector<int64_t> block_counts(const Tensor& x) {
  const Walk walk = elements_of(x);
  const char* data = static_cast<const char*>(x.impl()->data());
  std::vector<int64_t> counts(static_cast<size_t>((x.numel() + kNonzeroBlock - 1) / kNonzeroBlock));
  dispatch(x.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    parallel_for(0, static_cast<int64_t>(counts.size()), 2, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; b++)
        counts[static_cast<size_t>(b)] =
            count_range<T>(walk, data, b * kNonzeroBlock, std::min((b + 1) * kNonzeroBlock, x.numel()));
    });
  });
  return counts;
}

void count_nonzero(const Tensor& count, const Tensor& x) {
  int64_t total = 0;
  if (x.numel() > 0)
    for (int64_t found : block_counts(x)) total += found;
  *static_cast<int64_t*>(count.impl()->data()) = total;
}

template <class T>
void write_places(const Tensor& out, const Tensor& x, const Walk& walk, int64_t begin, int64_t end, int64_t row) {
  const char* data = static_cast<const char*>(x.impl()->data());
  int64_t* to = static_cast<int64_t*>(out.impl()->data());
  const int rank = x.impl()->sizes.rank();
  const int64_t across = out.impl()->strides[1], down = out.impl()->strides[0];
  int64_t found[kChunk + 1];  // elements that are set; collected without a branch, which would be mispredicted
  for (int64_t chunk = begin; chunk < end; chunk += kChunk) {
    int64_t count_found = 0, element = chunk;
    walk.runs(chunk, std::min(chunk + kChunk, end), [&](const int64_t* offsets, int64_t count) {
      const char* p = data + offsets[0];
      for (int64_t i = 0; i < count; i++, p += walk.step(0), element++) {
        found[count_found] = element;
        count_found += is_set<T>(p);
      }
    });
    for (int64_t i = 0; i < count_found; i++, row++) {
      int64_t rest = found[i];
      for (int d = rank - 1; d > 0; d--) {
        const int64_t n = x.impl()->sizes[d];
        to[row * down + d * across] = rest % n;
        rest /= n;
      }
      if (rank > 0) to[row * down] = rest;
    }
  }
}

void nonzero(const Tensor& out, const Tensor& x) {
  std::vector<int64_t> first = block_counts(x);
  int64_t total = 0;
  for (int64_t& count : first) total += std::exchange(count, total);
  const Walk walk = elements_of(x);
  dispatch(x.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    parallel_for(0, static_cast<int64_t>(first.size()), 2, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; b++)
        write_places<T>(out, x, walk, b * kNonzeroBlock, std::min((b + 1) * kNonzeroBlock, x.numel()),
                        first[static_cast<size_t>(b)]);
    });
  });
}

[[maybe_unused]] const bool registered = index_kernel.set(kCPU, index) && index_put_kernel.set(kCPU, index_put) &&
                                         count_nonzero_kernel.set(kCPU, count_nonzero) &&
                                         nonzero_kernel.set(kCPU, nonzero);

}  // namespace
}  // namespace cresset::cpu
