// Iteration over kept and reduced dimensions. Two forms: the fastest dimension is reduced (rows), or it is kept and
// whole rows are added up (columns).
#include "cresset/backends/cpu/reduce_loop.h"

#include <algorithm>
#include <memory>

#include "cresset/backends/cpu/pointwise_loop.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kGrain = 32768;   // elements worth a thread
constexpr int64_t kColumns = 1024;  // accumulated side by side
constexpr int64_t kStaged = 512;    // elements converted at a time
constexpr int64_t kBatch = 64;      // outputs of short rows at a time
constexpr int64_t kMinRows = 256;   // of one piece of columns
constexpr int64_t kMostBytes = 32;  // of one accumulator

// Dimensions of one kind, fastest first, with strides in bytes.
struct Space {
  int rank = 0;
  int64_t sizes[64], in[64], out[64];

  void add(int64_t size, int64_t in_stride, int64_t out_stride) {
    if (size == 1) return;
    auto order = [](int64_t stride) { return stride == 0 ? INT64_MAX : std::abs(stride); };  // expanded: outermost
    int at = rank++;
    for (; at > 0 && order(in[at - 1]) > order(in_stride); at--) move(at, at - 1);
    sizes[at] = size, in[at] = in_stride, out[at] = out_stride;
  }
  void join() {
    int to = 0;
    for (int i = 1; i < rank; i++) {
      if (in[i] == in[to] * sizes[to] && out[i] == out[to] * sizes[to])
        sizes[to] *= sizes[i];
      else
        move(++to, i);
    }
    rank = std::min(rank, to + 1);
  }
  void set_single(int64_t in_stride, int64_t out_stride) {
    rank = 1;
    sizes[0] = 1, in[0] = in_stride, out[0] = out_stride;
  }
  void move(int to, int from) { sizes[to] = sizes[from], in[to] = in[from], out[to] = out[from]; }
  int64_t count(int from = 0) const {
    int64_t n = 1;
    for (int i = from; i < rank; i++) n *= sizes[i];
    return n;
  }
};

// Walks the dimensions of a space from `first` on.
class Walk {
 public:
  Walk(const Space& space, int first, int64_t linear) : space_(space), first_(first) {
    for (int i = first; i < space.rank; i++) {
      index_[i] = linear ? linear % space.sizes[i] : 0;  // an empty space starts at 0, too
      linear = linear ? linear / space.sizes[i] : 0;
      in += index_[i] * space.in[i];
      out += index_[i] * space.out[i];
    }
  }
  void next() {
    for (int i = first_; i < space_.rank; i++) {
      in += space_.in[i];
      out += space_.out[i];
      if (++index_[i] < space_.sizes[i]) return;
      in -= space_.in[i] * space_.sizes[i];
      out -= space_.out[i] * space_.sizes[i];
      index_[i] = 0;
    }
  }
  int64_t in = 0, out = 0;

 private:
  const Space& space_;
  int first_;
  int64_t index_[64];
};

class Reduction {
 public:
  Reduction(const Tensor& out, const Tensor& x, IntArrayRef dims, DType read, const ReduceInner& inner, double divisor,
            const ReduceMap& map);
  void run() { by_rows_ ? run_rows() : run_columns(); }

 private:
  void run_rows();
  void run_columns();
  void short_rows(int64_t begin, int64_t end) const;
  void row_piece(char* acc, const char* x, int64_t piece) const;
  void take_row(char* acc, const char* x, int64_t n) const;
  void column_piece(char* acc, const char* x, int64_t first_row, int64_t last_row, int64_t n) const;
  void combine_tree(char* partials, int64_t pieces, int64_t n) const;
  void finish(char* out, int64_t out_stride, char* acc, int64_t n) const;

  char* out_;
  const char* x_;
  DType out_type_, x_type_, read_;
  const ReduceInner& inner_;
  double divisor_;
  ReduceMap map_;
  int64_t acc_size_, item_;
  bool by_rows_, direct_, plain_;  // direct_: x is contiguous and of the type to read; plain_: and not mapped
  Space kept_, reduced_;
  int64_t pieces_per_row_ = 1, rows_per_piece_ = 1, pieces_ = 1;
};

Reduction::Reduction(const Tensor& out, const Tensor& x, IntArrayRef dims, DType read, const ReduceInner& inner,
                     double divisor, const ReduceMap& map)
    : out_(static_cast<char*>(out.impl()->data())),
      x_(static_cast<const char*>(x.impl()->data())),
      out_type_(out.dtype()),
      x_type_(x.dtype()),
      read_(read),
      inner_(inner),
      divisor_(divisor),
      map_(map),
      acc_size_(inner.acc_size ? inner.acc_size : static_cast<int64_t>(element_size(inner.accumulator))) {
  const TensorImpl *from = x.impl(), *to = out.impl();
  int rank = from->sizes.rank(), at = 0;
  CRESSET_CHECK_AS(ShapeError, rank <= 64, "reduction: more than 64 dimensions are not supported, found ", rank);
  uint64_t mask = dims.empty() ? ~uint64_t{0} : 0;
  for (int64_t dim : dims) mask |= uint64_t{1} << dim;
  bool has_kept_dims = to->sizes.rank() == rank;
  item_ = static_cast<int64_t>(element_size(x_type_));
  int64_t out_item = static_cast<int64_t>(element_size(out_type_));
  for (int i = 0; i < rank; i++) {
    if (mask >> i & 1) {
      reduced_.add(from->sizes[i], from->strides[i] * item_, 0);
      at += has_kept_dims;
    } else {
      kept_.add(from->sizes[i], from->strides[i] * item_, to->strides[at++] * out_item);
    }
  }
  reduced_.join();
  kept_.join();
  if (reduced_.rank == 0) reduced_.set_single(item_, 0);
  if (kept_.rank == 0) kept_.set_single(item_, out_item);
  by_rows_ = kept_.sizes[0] == 1 ||
             (reduced_.in[0] != 0 && (kept_.in[0] == 0 || std::abs(reduced_.in[0]) < std::abs(kept_.in[0])));
  direct_ = read_ == x_type_ && (by_rows_ ? reduced_.in[0] : kept_.in[0]) == item_;
  plain_ = direct_ && !map_.map;
}

void Reduction::finish(char* out, int64_t out_stride, char* acc, int64_t n) const {
  if (inner_.finish) {
    alignas(64) char values[kColumns * 16];
    int64_t item = static_cast<int64_t>(element_size(inner_.accumulator));
    inner_.finish(values, acc, n, map_.constant);
    return convert(out, out_type_, out_stride, values, inner_.accumulator, item, n);
  }
  if (divisor_ != 1) {
    int64_t parts = n * (inner_.accumulator == kComplexDouble ? 2 : 1);  // means are never of integers
    for (int64_t i = 0; i < parts; i++) reinterpret_cast<double*>(acc)[i] /= divisor_;
  }
  convert(out, out_type_, out_stride, acc, inner_.accumulator, acc_size_, n);
}

// Sums neighbours, then neighbours of those: an order that the shape alone decides, with small rounding errors.
void Reduction::combine_tree(char* partials, int64_t pieces, int64_t n) const {
  for (int64_t step = 1; step < pieces; step *= 2)
    for (int64_t i = 0; i + step < pieces; i += 2 * step)
      inner_.combine(partials + i * n * acc_size_, partials + (i + step) * n * acc_size_, n);
}

// ---- the fastest dimension is reduced
void Reduction::take_row(char* acc, const char* x, int64_t n) const {
  if (plain_) return inner_.rows(acc, x, n, 1, 0);
  alignas(64) char buffer[kStaged * 16], mapped[kStaged * 16];
  int64_t read_item = static_cast<int64_t>(element_size(read_));
  for (int64_t at = 0; at < n; at += kStaged) {
    int64_t part = std::min(kStaged, n - at);
    const void* from = x + at * reduced_.in[0];
    if (!direct_) convert(buffer, read_, read_item, from, x_type_, reduced_.in[0], part), from = buffer;
    if (map_.map) map_.map(mapped, from, part, map_.constant), from = mapped;
    inner_.rows(acc, from, part, 1, 0);
  }
}

void Reduction::row_piece(char* acc, const char* x, int64_t piece) const {
  inner_.start(acc, 1);
  int64_t n = reduced_.sizes[0];
  if (pieces_per_row_ > 1) {
    int64_t first = piece % pieces_per_row_ * kPiece;
    Walk at(reduced_, 1, piece / pieces_per_row_);
    return take_row(acc, x + at.in + first * reduced_.in[0], std::min(kPiece, n - first));
  }
  int64_t row = piece * rows_per_piece_, last = std::min(row + rows_per_piece_, reduced_.count(1));
  for (Walk at(reduced_, 1, row); row < last; row++, at.next()) take_row(acc, x + at.in, n);
}

// One piece per output: several outputs at a time.
void Reduction::short_rows(int64_t begin, int64_t end) const {
  alignas(64) char acc[kBatch * kMostBytes];
  int64_t n = reduced_.sizes[0], outer = reduced_.count(1);
  for (int64_t at = begin; at < end;) {
    Walk output(kept_, 0, at);
    int64_t batch = std::min({kBatch, end - at, kept_.sizes[0] - at % kept_.sizes[0]});
    inner_.start(acc, batch);
    Walk row(reduced_, 1, 0);
    for (int64_t j = 0; j < outer; j++, row.next()) {
      const char* x = x_ + output.in + row.in;
      if (plain_)
        inner_.rows(acc, x, n, batch, kept_.in[0]);
      else
        for (int64_t i = 0; i < batch; i++) take_row(acc + i * acc_size_, x + i * kept_.in[0], n);
    }
    finish(out_ + output.out, kept_.out[0], acc, batch);
    at += batch;
  }
}

void Reduction::run_rows() {
  int64_t n = reduced_.sizes[0], outer = reduced_.count(1), outputs = kept_.count();
  pieces_per_row_ = std::max<int64_t>(1, (n + kPiece - 1) / kPiece);
  rows_per_piece_ = std::max<int64_t>(1, kPiece / std::max<int64_t>(n, 1));
  pieces_ = pieces_per_row_ > 1 ? outer * pieces_per_row_ : (outer + rows_per_piece_ - 1) / rows_per_piece_;
  int64_t each = std::max<int64_t>(1, n * outer / std::max<int64_t>(pieces_, 1));
  int64_t grain = std::max<int64_t>(1, kGrain / each);
  if (pieces_ <= 1) return parallel_for(0, outputs, grain, [&](int64_t begin, int64_t end) { short_rows(begin, end); });
  std::unique_ptr<char[]> partials(new char[static_cast<size_t>(outputs * pieces_ * acc_size_)]);
  parallel_for(0, outputs * pieces_, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++)
      row_piece(partials.get() + i * acc_size_, x_ + Walk(kept_, 0, i / pieces_).in, i % pieces_);
  });
  for (int64_t i = 0; i < outputs; i++) {
    char* mine = partials.get() + i * pieces_ * acc_size_;
    combine_tree(mine, pieces_, 1);
    finish(out_ + Walk(kept_, 0, i).out, 0, mine, 1);
  }
}

// ---- the fastest dimension is kept
void Reduction::column_piece(char* acc, const char* x, int64_t row, int64_t last, int64_t n) const {
  inner_.start(acc, n);
  Walk at(reduced_, 0, row);
  if (plain_) {
    while (row < last) {
      const void* rows[kRowsAtOnce];
      int count = static_cast<int>(std::min<int64_t>(kRowsAtOnce, last - row));
      for (int i = 0; i < count; i++, at.next()) rows[i] = x + at.in;
      inner_.columns(acc, rows, count, n);
      row += count;
    }
    return;
  }
  alignas(64) char buffer[kColumns * 16], mapped[kColumns * 16];
  int64_t read_item = static_cast<int64_t>(element_size(read_));
  for (; row < last; row++, at.next()) {
    const void* from = x + at.in;
    if (!direct_) convert(buffer, read_, read_item, from, x_type_, kept_.in[0], n), from = buffer;
    if (map_.map) map_.map(mapped, from, n, map_.constant), from = mapped;
    inner_.columns(acc, &from, 1, n);
  }
}

void Reduction::run_columns() {
  int64_t width = kept_.sizes[0], outer = kept_.count(1), rows = reduced_.count();
  int64_t blocks = (width + kColumns - 1) / kColumns;
  int64_t block = (width + blocks - 1) / blocks;
  block = std::min(width, (block + 63) / 64 * 64);  // starts on whole vectors
  blocks = (width + block - 1) / block;
  rows_per_piece_ = std::max(kMinRows, kPiece / block);
  pieces_ = std::max<int64_t>(1, (rows + rows_per_piece_ - 1) / rows_per_piece_);
  int64_t grain = std::max<int64_t>(1, kGrain / (block * std::min(std::max<int64_t>(rows, 1), rows_per_piece_)));
  // Partial results of one (outer, block) lie together, piece after piece.
  std::unique_ptr<char[]> partials;
  if (pieces_ > 1) partials.reset(new char[static_cast<size_t>(outer * blocks * pieces_ * block * acc_size_)]);
  parallel_for(0, outer * blocks * pieces_, grain, [&](int64_t begin, int64_t end) {
    alignas(64) char local[kColumns * kMostBytes];
    for (int64_t i = begin; i < end; i++) {
      int64_t piece = i % pieces_, first = i / pieces_ % blocks * block, n = std::min(block, width - first);
      Walk at(kept_, 1, i / pieces_ / blocks);
      char* acc = pieces_ > 1 ? partials.get() + (i - piece) * block * acc_size_ + piece * n * acc_size_ : local;
      int64_t row = piece * rows_per_piece_;
      column_piece(acc, x_ + at.in + first * kept_.in[0], row, std::min(rows, row + rows_per_piece_), n);
      if (pieces_ == 1) finish(out_ + at.out + first * kept_.out[0], kept_.out[0], acc, n);
    }
  });
  if (pieces_ == 1) return;
  parallel_for(0, outer * blocks, std::max<int64_t>(1, kGrain / (block * pieces_)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      int64_t first = i % blocks * block, n = std::min(block, width - first);
      char* mine = partials.get() + i * pieces_ * block * acc_size_;
      combine_tree(mine, pieces_, n);
      finish(out_ + Walk(kept_, 1, i / blocks).out + first * kept_.out[0], kept_.out[0], mine, n);
    }
  });
}

}  // namespace

void run_reduction(const Tensor& out, const Tensor& x, IntArrayRef dims, DType read, const ReduceInner& inner,
                   double divisor, const ReduceMap& map) {
  if (out.numel() == 0) return;
  Reduction(out, x, dims, read, inner, divisor, map).run();
}

}  // namespace cresset::cpu
