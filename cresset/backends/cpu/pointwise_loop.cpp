// Iteration over broadcast, strided and mixed-type operands.
#include "cresset/backends/cpu/pointwise_loop.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "cresset/backends/cpu/bfloat16_simd.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kChunk = 512;        // elements staged at a time
constexpr int64_t kShortRow = 64;      // rows shorter than this are staged several at a time
constexpr int64_t kSmallMatrix = 256;  // elements
constexpr int64_t kGrain = 32768;      // additions worth a thread

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
inline constexpr bool kOnVectors = (std::is_same_v<To, float> && std::is_same_v<From, BFloat16>) ||
                                   (std::is_same_v<To, BFloat16> && std::is_same_v<From, float>);

template <class To, class From>
void convert_typed(void* to, int64_t to_stride, const void* from, int64_t from_stride, int64_t n) {
  if (to_stride == static_cast<int64_t>(sizeof(To)) && from_stride == static_cast<int64_t>(sizeof(From))) {
    if constexpr (std::is_same_v<To, From>) {
      if (n > 0) std::memcpy(to, from, static_cast<size_t>(n) * sizeof(To));  // nothing may lie nowhere
    } else if constexpr (kOnVectors<To, From>) {
      convert_numbers(static_cast<To*>(to), static_cast<const From*>(from), n);
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
  bool direct;              // whole rows can be used in place
  bool linear;              // the whole iteration space can
  bool constant;            // one element stands for all
  ConvertFunction convert;  // between memory and buffer
  int64_t strides[64];      // in bytes, per iteration dimension, fastest first
};

// Loops over two or three dimensions: vectorising them costs far more than it saves.
#if defined(__clang__)
#define CRESSET_SHORT_LOOPS
#else
#define CRESSET_SHORT_LOOPS __attribute__((optimize("no-tree-vectorize", "no-tree-loop-distribute-patterns")))
#endif

// The iteration space: dimensions ordered by the output's strides and joined where all operands allow it.
class Loop {
 public:
  Loop(const Tensor& out, const Tensor* const* inputs, int count, const DType* types, DType produced);
  void run(const PointwiseCall& call) const;

 private:
  void set_operand(int k, const TensorImpl* t, const TensorImpl* out, const int* order);
  void join();
  void classify();
  void run_range(int64_t begin, int64_t end, const PointwiseCall& call) const;
  void seek(int64_t linear, int64_t* index) const;
  CRESSET_SHORT_LOOPS char* at(const Operand& op, const int64_t* index) const {
    char* pointer = op.data;
    for (int i = 0; i < rank_; i++) pointer += index[i] * op.strides[i];
    return pointer;
  }
  template <class F>
  void rows(const Operand& op, const int64_t* index, int64_t n, F&& f) const;
  void gather(const Operand& op, char* buffer, const int64_t* index, int64_t n) const;
  void scatter(const Operand& op, const char* buffer, const int64_t* index, int64_t n) const;

  int rank_ = 0;
  int count_;  // operands, the output first
  bool all_direct_ = true;
  bool short_rows_ = false;
  int64_t numel_;
  int64_t sizes_[64];
  Operand ops_[kMaxInputs + 1];
};

CRESSET_SHORT_LOOPS Loop::Loop(const Tensor& out, const Tensor* const* inputs, int count, const DType* types,
                               DType produced)
    : count_(count + 1), numel_(out.numel()) {
  const TensorImpl* y = out.impl();
  rank_ = y->sizes.rank();
  CRESSET_CHECK_AS(ShapeError, rank_ <= 64, "pointwise: found ", rank_, " dimensions (expected 64 at most)");
  int order[64];
  for (int i = 0; i < rank_; i++) order[i] = rank_ - 1 - i;
  if (!y->contiguous)
    for (int i = 1; i < rank_; i++)  // by the output's strides, fastest first; equal ones stay as they are
      for (int j = i; j > 0 && y->strides[order[j]] < y->strides[order[j - 1]]; j--) std::swap(order[j], order[j - 1]);
  for (int i = 0; i < rank_; i++) sizes_[i] = y->sizes[order[i]];
  for (int k = 0; k < count_; k++) {
    ops_[k].wanted = k == 0 ? produced : types[k - 1];
    set_operand(k, k == 0 ? y : inputs[k - 1]->impl(), y, order);
  }
  join();
  classify();
}

CRESSET_SHORT_LOOPS void Loop::set_operand(int k, const TensorImpl* t, const TensorImpl* out, const int* order) {
  Operand& op = ops_[k];
  op.data = static_cast<char*>(t->data());
  op.dtype = t->dtype;
  op.convert = k == 0 ? converter(op.dtype, op.wanted) : converter(op.wanted, op.dtype);
  int lead = rank_ - t->sizes.rank();
  int64_t item = static_cast<int64_t>(element_size(t->dtype));
  for (int i = 0; i < rank_; i++) {
    int dim = order[i] - lead;
    bool broadcast = dim < 0 || (t->sizes[dim] == 1 && out->sizes[order[i]] != 1);
    op.strides[i] = broadcast ? 0 : t->strides[dim] * item;
  }
}

CRESSET_SHORT_LOOPS void Loop::join() {
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

CRESSET_SHORT_LOOPS void Loop::classify() {
  short_rows_ = rank_ > 1 && sizes_[0] < kShortRow;
  for (int k = 0; k < count_; k++) {
    Operand& op = ops_[k];
    bool same_type = op.dtype == op.wanted;
    int64_t step = static_cast<int64_t>(element_size(op.dtype));
    op.direct = same_type && op.strides[0] == step;
    op.linear = same_type;
    op.constant = true;
    for (int i = 0; i < rank_; i++) {
      op.linear = op.linear && op.strides[i] == step;
      op.constant = op.constant && op.strides[i] == 0;
      step *= sizes_[i];
    }
    all_direct_ = all_direct_ && (short_rows_ ? op.linear : op.direct);
  }
}

CRESSET_SHORT_LOOPS void Loop::seek(int64_t linear, int64_t* index) const {
  for (int i = 0; i < rank_; i++) {
    index[i] = linear ? linear % sizes_[i] : 0;
    if (linear) linear /= sizes_[i];
  }
}

// Calls f(pointer, first, count) for each piece of a row among the next n elements.
template <class F>
void Loop::rows(const Operand& op, const int64_t* from, int64_t n, F&& f) const {
  int64_t index[64];
  for (int i = 0; i < rank_; i++) index[i] = from[i];
  char* row = at(op, index);
  for (int64_t done = 0; done < n;) {
    int64_t piece = std::min(n - done, sizes_[0] - index[0]);
    f(row, done, piece);
    done += piece;
    index[0] += piece;
    row += piece * op.strides[0];
    for (int i = 0; i + 1 < rank_ && index[i] == sizes_[i]; i++) {
      row += op.strides[i + 1] - sizes_[i] * op.strides[i];
      index[i] = 0;
      index[i + 1]++;
    }
  }
}

// A transposed plane of 32-bit elements, four by four in registers: n0 and n1 are multiples of 4.
void gather_transposed(char* to, const char* from, int64_t stride0, int64_t n0, int64_t n1) {
  using Four = uint32_t __attribute__((vector_size(16), aligned(4), may_alias));
  for (int64_t i = 0; i < n0; i += 4, from += 4 * stride0) {
    for (int64_t j = 0; j < n1; j += 4) {
      const char* x = from + 4 * j;
      auto row = [&](int64_t k) { return *reinterpret_cast<const Four*>(x + k * stride0); };
      Four a = row(0), b = row(1), c = row(2), d = row(3);
      Four ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
      Four cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
      auto column = [&](int64_t k) -> Four& { return *reinterpret_cast<Four*>(to + 4 * ((j + k) * n0 + i)); };
      column(0) = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
      column(1) = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
      column(2) = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
      column(3) = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
    }
  }
}

// Strided elements of one type: two dimensions at a time, without a call for each short row.
template <class T>
void gather_plane(char* to, const char* from, int64_t stride0, int64_t n0, int64_t stride1, int64_t n1) {
  if (sizeof(T) == 4 && stride1 == 4 && n0 % 4 == 0 && n1 % 4 == 0) return gather_transposed(to, from, stride0, n0, n1);
  T* y = reinterpret_cast<T*>(to);
  for (int64_t j = 0; j < n1; j++, from += stride1) {
    const char* x = from;
#pragma GCC unroll 8
    for (int64_t i = 0; i < n0; i++, x += stride0) *y++ = *reinterpret_cast<const T*>(x);
  }
}
void Loop::gather(const Operand& op, char* buffer, const int64_t* index, int64_t n) const {
  int64_t item = static_cast<int64_t>(element_size(op.wanted)), stride = op.strides[0];
  bool same = op.dtype == op.wanted;
  if (same && rank_ == 2 && index[0] == 0 && n % sizes_[0] == 0 && (item == 4 || item == 8)) {
    auto* plane = item == 4 ? &gather_plane<uint32_t> : &gather_plane<uint64_t>;
    plane(buffer, at(op, index), stride, sizes_[0], op.strides[1], n / sizes_[0]);
    return;
  }
  rows(op, index, n,
       [&](char* p, int64_t first, int64_t count) { op.convert(buffer + first * item, item, p, stride, count); });
}

// One element, converted once, then repeated.
void fill_constant(ConvertFunction convert, int64_t item, char* buffer, const char* element, int64_t n) {
  convert(buffer, item, element, 0, 1);
  if (item == 4)
    std::fill_n(reinterpret_cast<uint32_t*>(buffer), n, *reinterpret_cast<uint32_t*>(buffer));
  else if (item == 8)
    std::fill_n(reinterpret_cast<uint64_t*>(buffer), n, *reinterpret_cast<uint64_t*>(buffer));
  else
    convert(buffer, item, element, 0, n);
}

void Loop::scatter(const Operand& op, const char* buffer, const int64_t* index, int64_t n) const {
  int64_t item = static_cast<int64_t>(element_size(op.wanted));
  rows(op, index, n, [&](char* p, int64_t first, int64_t count) {
    op.convert(p, op.strides[0], buffer + first * item, item, count);
  });
}

void Loop::run_range(int64_t begin, int64_t end, const PointwiseCall& call) const {
  alignas(64) char buffers[kMaxInputs + 1][kChunk * 16];
  const char* filled[kMaxInputs + 1] = {};  // what a constant operand's buffer holds
  int64_t index[64];
  for (int64_t position = begin; position < end;) {
    seek(position, index);
    int64_t n = end - position;
    if (!all_direct_) n = std::min(n, kChunk);
    if (!short_rows_) n = std::min(n, sizes_[0] - index[0]);
    const void* in[kMaxInputs];
    for (int k = 1; k < count_; k++) {
      const Operand& op = ops_[k];
      if (op.linear || (op.direct && !short_rows_)) {
        in[k - 1] = op.linear ? op.data + position * static_cast<int64_t>(element_size(op.dtype)) : at(op, index);
        continue;
      }
      in[k - 1] = buffers[k];
      if (op.constant || (!short_rows_ && op.strides[0] == 0)) {
        const char* element = at(op, index);
        if (filled[k] == element) continue;
        fill_constant(op.convert, static_cast<int64_t>(element_size(op.wanted)), buffers[k], element,
                      std::min({kChunk, numel_, end - begin}));
        filled[k] = element;
      } else {
        gather(op, buffers[k], index, n);
      }
    }
    const Operand& out = ops_[0];
    if (out.linear || (out.direct && !short_rows_)) {
      call.inner(at(out, index), in, n, call.constant);
    } else {
      call.inner(buffers[0], in, n, call.constant);
      scatter(out, buffers[0], index, n);
    }
    position += n;
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

namespace {

// Splits contiguous operands of the compute type among the threads.
void run_contiguous(char* out, const void* const* in, int count, int64_t n, int64_t item_in, int64_t item_out,
                    const PointwiseCall& call) {
  int64_t grain = kGrain / call.cost;
  if (n <= grain) {
    if (n) call.inner(out, in, n, call.constant);
    return;
  }
  InnerFunction inner = call.streaming ? call.streaming : call.inner;
  // Pieces start at multiples of 64 elements, so that each is aligned as the whole is.
  parallel_for(0, (n + 63) / 64, std::max<int64_t>(grain / 64, 1), [&](int64_t begin, int64_t end) {
    begin *= 64;
    end = std::min(end * 64, n);
    const void* part[kMaxInputs];
    for (int i = 0; i < count; i++) part[i] = static_cast<const char*>(in[i]) + begin * item_in;
    inner(out + begin * item_out, part, end - begin, call.constant);
  });
}

}  // namespace

namespace {

// Small matrices in different orders (a + b.t()): each that is not laid out as the result is brought into its order.
// False if the operands are anything else.
[[gnu::noinline]] bool run_small_matrices(const TensorImpl* y, std::initializer_list<const Tensor*> inputs,
                                          DType compute, const PointwiseCall& call) {
  if (y->sizes.rank() != 2 || y->numel > kSmallMatrix || element_size(compute) > 8 || element_size(compute) < 4)
    return false;
  int fast = y->strides[1] <= y->strides[0] ? 1 : 0, slow = 1 - fast;
  if (y->strides[fast] != 1 || y->strides[slow] != y->sizes[fast] || y->dtype != compute) return false;
  alignas(64) char buffers[kMaxInputs][kSmallMatrix * 8];
  const void* in[kMaxInputs];
  int64_t item = static_cast<int64_t>(element_size(compute));
  int k = 0;
  for (const Tensor* t : inputs) {
    const TensorImpl* x = t->impl();
    if (!(x->sizes == y->sizes) || x->dtype != compute) return false;
    in[k] = x->data();
    if (!(x->strides == y->strides)) {
      auto* plane = item == 4 ? &gather_plane<uint32_t> : &gather_plane<uint64_t>;
      plane(buffers[k], static_cast<const char*>(in[k]), x->strides[fast] * item, y->sizes[fast],
            x->strides[slow] * item, y->sizes[slow]);
      in[k] = buffers[k];
    }
    k++;
  }
  call.inner(y->data(), in, y->numel, call.constant);
  return true;
}

}  // namespace

void run_pointwise(const Tensor& out, std::initializer_list<const Tensor*> inputs, DType compute, DType produced,
                   const PointwiseCall& call) {
  const TensorImpl* y = out.impl();
  compute = compute_dtype(compute);
  produced = compute_dtype(produced);
  int64_t n = y->numel;
  if (n == 0) return;
  bool plain = y->contiguous && y->dtype == produced;
  const void* in[kMaxInputs];
  const TensorImpl* number = nullptr;  // an operand of one element: x + 1
  int count = 0, number_at = 0;
  for (const Tensor* t : inputs) {
    const TensorImpl* x = t->impl();
    if (x->numel == n && x->contiguous && x->dtype == compute) {
      in[count] = x->data();
    } else if (x->numel == 1 && !number && n <= kChunk) {
      number = x;
      number_at = count;
    } else {
      plain = false;
    }
    count++;
  }
  int64_t item_in = static_cast<int64_t>(element_size(compute)),
          item_out = static_cast<int64_t>(element_size(produced));
  if (CRESSET_LIKELY(plain && !number)) {
    run_contiguous(static_cast<char*>(y->data()), in, count, n, item_in, item_out, call);
  } else if (plain) {
    alignas(64) char buffer[kChunk * 16];
    fill_constant(converter(compute, number->dtype), item_in, buffer, static_cast<const char*>(number->data()), n);
    in[number_at] = buffer;
    call.inner(y->data(), in, n, call.constant);
  } else if (compute != produced || !run_small_matrices(y, inputs, compute, call)) {
    DType types[kMaxInputs] = {compute, compute, compute, compute};
    Loop(out, inputs.begin(), count, types, produced).run(call);
  }
}

}  // namespace cresset::cpu
