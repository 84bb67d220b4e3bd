// Iteration over broadcast, strided and mixed-type operands.
#include "cresset/backends/cpu/pointwise_loop.h"

#include <array>
#include <cstring>

#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kChunk = 512;    // elements staged at a time
constexpr int64_t kShortRow = 64;  // rows shorter than this are staged several at a time
constexpr int64_t kGrain = 32768;  // additions worth a thread

template <class To, class From>
To converted(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else {
    constexpr bool from_complex = is_complex(dtype_of<From>), to_complex = is_complex(dtype_of<To>);
    if constexpr (from_complex && to_complex)
      return To(value);
    else if constexpr (from_complex)
      return converted<To>(value.real());
    else if constexpr (to_complex)
      return To(static_cast<typename To::value_type>(
          static_cast<std::conditional_t<std::is_arithmetic_v<From>, From, float>>(value)));
    else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && sizeof(To) < 8)
      return static_cast<To>(static_cast<int64_t>(value));
    else if constexpr (std::is_arithmetic_v<From>)
      return static_cast<To>(value);
    else
      return converted<To>(static_cast<float>(value));
  }
}

template <class To, class From>
void convert_typed(void* to, int64_t to_stride, const void* from, int64_t from_stride, int64_t n) {
  if (to_stride == static_cast<int64_t>(sizeof(To)) && from_stride == static_cast<int64_t>(sizeof(From))) {
    if constexpr (std::is_same_v<To, From>) {
      std::memcpy(to, from, static_cast<size_t>(n) * sizeof(To));
    } else {
      To* __restrict y = static_cast<To*>(to);
      const From* __restrict x = static_cast<const From*>(from);
      for (int64_t i = 0; i < n; i++) y[i] = converted<To>(x[i]);
    }
    return;
  }
  char* y = static_cast<char*>(to);
  const char* x = static_cast<const char*>(from);
  for (int64_t i = 0; i < n; i++, y += to_stride, x += from_stride)
    *reinterpret_cast<To*>(y) = converted<To>(*reinterpret_cast<const From*>(x));
}

using ConvertFunction = void (*)(void*, int64_t, const void*, int64_t, int64_t);
template <class To>
constexpr std::array<ConvertFunction, kDTypes> converters_to() {
#define CRESSET_CONVERTER(From, Name) &convert_typed<To, From>,
  return {CRESSET_FOR_EACH_DTYPE(CRESSET_CONVERTER)};
#undef CRESSET_CONVERTER
}
#define CRESSET_CONVERTERS(To, Name) converters_to<To>(),
constexpr std::array<std::array<ConvertFunction, kDTypes>, kDTypes> kConverters{
    CRESSET_FOR_EACH_DTYPE(CRESSET_CONVERTERS)};
#undef CRESSET_CONVERTERS

ConvertFunction converter(DType to, DType from) {
  return kConverters[static_cast<size_t>(to)][static_cast<size_t>(from)];
}

struct Operand {
  char* data;
  DType dtype, wanted;      // as it is in memory; as the inner function wants it
  int64_t strides[64];      // in bytes, per iteration dimension, fastest first
  bool direct;              // whole rows can be used in place
  ConvertFunction convert;  // between memory and buffer
};

// The iteration space: dimensions ordered by the output's strides and joined where all operands allow it.
class Loop {
 public:
  Loop(const Tensor& out, const Tensor* const* inputs, int count, const DType* types, DType produced);
  void run(const PointwiseCall& call) const;

 private:
  void run_range(int64_t begin, int64_t end, const PointwiseCall& call) const;
  void seek(int64_t linear, int64_t* index) const;
  void gather(const Operand& op, char* buffer, const int64_t* index, int64_t n) const;
  void scatter(const Operand& op, const char* buffer, const int64_t* index, int64_t n) const;
  template <class F>
  void rows(const Operand& op, const int64_t* index, int64_t n, F&& f) const;
  void join();

  int rank_ = 0;
  int count_;  // operands, the output first
  int64_t sizes_[64];
  Operand ops_[kMaxInputs + 1];
  int64_t numel_;
};

Loop::Loop(const Tensor& out, const Tensor* const* inputs, int count, const DType* types, DType produced)
    : count_(count + 1), numel_(out.numel()) {
  const TensorImpl* y = out.impl();
  int rank = y->sizes.rank();
  CRESSET_CHECK_AS(ShapeError, rank <= 64, "pointwise: more than 64 dimensions are not supported, found ", rank);
  int order[64];
  for (int i = 0; i < rank; i++) order[i] = rank - 1 - i;
  for (int i = 1; i < rank; i++)  // by the output's strides, fastest first; equal ones stay as they are
    for (int j = i; j > 0 && y->strides[order[j]] < y->strides[order[j - 1]]; j--) std::swap(order[j], order[j - 1]);
  for (int k = 0; k < count_; k++) {
    const TensorImpl* t = k == 0 ? y : inputs[k - 1]->impl();
    Operand& op = ops_[k];
    op.data = static_cast<char*>(t->data());
    op.dtype = t->dtype;
    op.wanted = k == 0 ? produced : types[k - 1];
    op.convert = k == 0 ? converter(op.dtype, op.wanted) : converter(op.wanted, op.dtype);
    int lead = rank - t->sizes.rank();
    int64_t item = static_cast<int64_t>(element_size(t->dtype));
    for (int i = 0; i < rank; i++) {
      int dim = order[i] - lead;
      op.strides[i] = dim < 0 || (t->sizes[dim] == 1 && y->sizes[order[i]] != 1) ? 0 : t->strides[dim] * item;
    }
  }
  for (int i = 0; i < rank; i++) sizes_[i] = y->sizes[order[i]];
  rank_ = rank;
  join();
  for (int k = 0; k < count_; k++)
    ops_[k].direct =
        ops_[k].dtype == ops_[k].wanted && ops_[k].strides[0] == static_cast<int64_t>(element_size(ops_[k].dtype));
}

void Loop::join() {
  int to = 0;
  for (int i = 0; i < rank_; i++) {
    if (sizes_[i] == 1) continue;
    bool joins = to > 0;
    for (int k = 0; joins && k < count_; k++) joins = ops_[k].strides[i] == ops_[k].strides[to - 1] * sizes_[to - 1];
    if (joins) {
      sizes_[to - 1] *= sizes_[i];
      continue;
    }
    sizes_[to] = sizes_[i];
    for (int k = 0; k < count_; k++) ops_[k].strides[to] = ops_[k].strides[i];
    to++;
  }
  if (to == 0) {
    sizes_[0] = 1;
    for (int k = 0; k < count_; k++) ops_[k].strides[0] = static_cast<int64_t>(element_size(ops_[k].dtype));
    to = 1;
  }
  rank_ = to;
}

void Loop::seek(int64_t linear, int64_t* index) const {
  for (int i = 0; i < rank_; i++) {
    index[i] = linear % sizes_[i];
    linear /= sizes_[i];
  }
}

// Calls f(pointer, first, count) for each piece of a row among the next n elements.
template <class F>
void Loop::rows(const Operand& op, const int64_t* from, int64_t n, F&& f) const {
  int64_t index[64];
  std::memcpy(index, from, sizeof(int64_t) * static_cast<size_t>(rank_));
  for (int64_t done = 0; done < n;) {
    char* at = op.data;
    for (int i = 0; i < rank_; i++) at += index[i] * op.strides[i];
    int64_t piece = std::min(n - done, sizes_[0] - index[0]);
    f(at, done, piece);
    done += piece;
    index[0] += piece;
    for (int i = 0; i + 1 < rank_ && index[i] == sizes_[i]; i++) {
      index[i] = 0;
      index[i + 1]++;
    }
  }
}
void Loop::gather(const Operand& op, char* buffer, const int64_t* index, int64_t n) const {
  int64_t item = static_cast<int64_t>(element_size(op.wanted));
  rows(op, index, n, [&](char* at, int64_t first, int64_t count) {
    op.convert(buffer + first * item, item, at, op.strides[0], count);
  });
}
void Loop::scatter(const Operand& op, const char* buffer, const int64_t* index, int64_t n) const {
  int64_t item = static_cast<int64_t>(element_size(op.wanted));
  rows(op, index, n, [&](char* at, int64_t first, int64_t count) {
    op.convert(at, op.strides[0], buffer + first * item, item, count);
  });
}

void Loop::run_range(int64_t begin, int64_t end, const PointwiseCall& call) const {
  alignas(64) char buffers[kMaxInputs + 1][kChunk * 16];
  const char* filled[kMaxInputs + 1] = {};  // what a constant operand's buffer holds
  int64_t index[64];
  bool short_rows = rank_ > 1 && sizes_[0] < kShortRow;
  for (int64_t at = begin; at < end;) {
    seek(at, index);
    int64_t n = end - at;
    bool all_direct = true;
    for (int k = 0; k < count_; k++) all_direct = all_direct && ops_[k].direct;
    if (!all_direct || short_rows) n = std::min(n, kChunk);
    if (!short_rows) n = std::min(n, sizes_[0] - index[0]);
    const void* in[kMaxInputs];
    for (int k = 1; k < count_; k++) {
      const Operand& op = ops_[k];
      const char* row = op.data;
      for (int i = 0; i < rank_; i++) row += index[i] * op.strides[i];
      if (op.direct && !short_rows) {
        in[k - 1] = row;
        continue;
      }
      in[k - 1] = buffers[k];
      bool constant = !short_rows && op.strides[0] == 0;
      if (constant) {
        if (filled[k] == row) continue;
        int64_t item = static_cast<int64_t>(element_size(op.wanted));
        op.convert(buffers[k], item, row, 0, std::min(kChunk, sizes_[0]));
        filled[k] = row;
      } else {
        gather(op, buffers[k], index, n);
      }
    }
    const Operand& out = ops_[0];
    char* row = out.data;
    for (int i = 0; i < rank_; i++) row += index[i] * out.strides[i];
    if (out.direct && !short_rows) {
      call.inner(row, in, n, call.constant);
    } else {
      call.inner(buffers[0], in, n, call.constant);
      scatter(out, buffers[0], index, n);
    }
    at += n;
  }
}

void Loop::run(const PointwiseCall& call) const {
  parallel_for(0, numel_, std::max<int64_t>(kGrain / call.cost, 1024),
               [&](int64_t begin, int64_t end) { run_range(begin, end, call); });
}

}  // namespace

void convert(void* to, DType to_type, int64_t to_stride, const void* from, DType from_type, int64_t from_stride,
             int64_t n) {
  converter(to_type, from_type)(to, to_stride, from, from_stride, n);
}

void run_pointwise_typed(const Tensor& out, std::initializer_list<const Tensor*> inputs, const DType* types,
                         DType produced, const PointwiseCall& call) {
  if (out.numel() == 0) return;
  Loop(out, inputs.begin(), static_cast<int>(inputs.size()), types, produced).run(call);
}

void run_pointwise(const Tensor& out, std::initializer_list<const Tensor*> inputs, DType compute, DType produced,
                   const PointwiseCall& call) {
  const TensorImpl* y = out.impl();
  compute = compute_dtype(compute);
  produced = compute_dtype(produced);
  int64_t n = y->numel;
  bool plain = y->contiguous && y->dtype == produced;
  for (const Tensor* t : inputs) {
    const TensorImpl* x = t->impl();
    plain = plain && x->contiguous && x->dtype == compute && x->numel == n;
  }
  if (CRESSET_LIKELY(plain)) {
    const void* in[kMaxInputs];
    int k = 0;
    for (const Tensor* t : inputs) in[k++] = t->impl()->data();
    char* to = static_cast<char*>(y->data());
    int64_t grain = kGrain / call.cost;
    if (n <= grain) {
      if (n) call.inner(to, in, n, call.constant);
      return;
    }
    int64_t item_in = static_cast<int64_t>(element_size(compute)),
            item_out = static_cast<int64_t>(element_size(produced));
    InnerFunction inner = call.streaming ? call.streaming : call.inner;
    // Pieces start at multiples of 64 elements, so that each is aligned as the whole is.
    parallel_for(0, (n + 63) / 64, std::max<int64_t>(grain / 64, 1), [&](int64_t begin, int64_t end) {
      begin *= 64;
      end = std::min(end * 64, n);
      const void* part[kMaxInputs];
      for (int i = 0; i < k; i++) part[i] = static_cast<const char*>(in[i]) + begin * item_in;
      inner(to + begin * item_out, part, end - begin, call.constant);
    });
    return;
  }
  if (n == 0) return;
  DType types[kMaxInputs] = {compute, compute, compute, compute};
  Loop(out, inputs.begin(), static_cast<int>(inputs.size()), types, produced).run(call);
}

}  // namespace cresset::cpu
