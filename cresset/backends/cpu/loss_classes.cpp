// CPU kernels of ops/loss_classes.
#include "cresset/ops/loss_classes.h"

#include <algorithm>
#include <limits>

#include "cresset/backends/cpu/reduce_lines.h"
#include "cresset/backends/cpu/walk.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"
#include "cresset/ops/copy.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kChunk = 1024;  // targets whose losses are added up together
constexpr int64_t kGrain = 8;     // chunks

int64_t checked_class(const char* op, int64_t target, int64_t classes) {
  CRESSET_CHECK_AS(IndexError, target >= 0 && target < classes, op, ": Target ", target,
                   " is out of bounds (there are ", classes, " classes)");
  return target;
}

double read_number(const void* at, DType dtype) {
  double value;
  convert(&value, kDouble, 0, at, dtype, 0, 1);
  return value;
}

// The weight of every class, contiguous, in T; empty if there is none.
template <class T>
std::vector<T> class_weights(const Tensor& weight) {
  std::vector<T> values(weight.defined() ? static_cast<size_t>(weight.numel()) : 0);
  if (!values.empty())
    convert(values.data(), dtype_of<T>, sizeof(T), weight.impl()->data(), weight.dtype(),
            weight.stride(0) * weight.element_size(), weight.numel());
  return values;
}

// x's strides without the class dimension.
Dims strides_without(const Tensor& x, int64_t class_dim) {
  Dims strides(x.strides());
  strides.erase(static_cast<int>(class_dim));
  return strides;
}

template <class T>
void nll_typed(const Tensor& loss, const Tensor& total, const Tensor& x, const Tensor& target, const Tensor& weight,
               int64_t class_dim, int64_t reduction, int64_t ignore_index) {
  Walk walk(target.sizes(), 3);
  walk.set(0, strides_without(x, class_dim), sizeof(T));
  walk.set(1, target.strides(), sizeof(int64_t));
  walk.set(2, reduction == Reduction::None ? loss.strides() : target.strides(), sizeof(T));
  walk.join();
  const int64_t x_step = walk.step(0), target_step = walk.step(1), loss_step = walk.step(2);
  const int64_t n = walk.numel(), chunks = (n + kChunk - 1) / kChunk, classes = x.size(class_dim);
  const int64_t class_step = x.stride(class_dim) * static_cast<int64_t>(sizeof(T));
  const char *values = static_cast<const char*>(x.impl()->data()),
             *at = static_cast<const char*>(target.impl()->data());
  char* out = static_cast<char*>(loss.impl()->data());
  const std::vector<double> weights = class_weights<double>(weight);
  struct Part {
    double loss = 0, weight = 0;
  };
  std::vector<Part> parts(static_cast<size_t>(chunks));
  parallel_for(0, chunks, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t chunk = begin; chunk < end; chunk++) {
      Part part;
      walk.runs(chunk * kChunk, std::min((chunk + 1) * kChunk, n), [&](const int64_t* offsets, int64_t count) {
        for (int64_t i = 0; i < count; i++) {
          int64_t c = *reinterpret_cast<const int64_t*>(at + offsets[1] + i * target_step);
          double each = 0;
          if (c != ignore_index) {
            checked_class("nll_loss", c, classes);
            double w = weights.empty() ? 1 : weights[static_cast<size_t>(c)];
            each = -w *
                   static_cast<double>(*reinterpret_cast<const T*>(values + offsets[0] + i * x_step + c * class_step));
            part.loss += each;
            part.weight += w;
          }
          if (reduction == Reduction::None)
            *reinterpret_cast<T*>(out + offsets[2] + i * loss_step) = static_cast<T>(each);
        }
      });
      parts[static_cast<size_t>(chunk)] = part;
    }
  });
  Part all;  // in the chunks' order, whatever the threads did
  for (const Part& part : parts) {
    all.loss += part.loss;
    all.weight += part.weight;
  }
  *static_cast<double*>(total.impl()->data()) = all.weight;
  if (reduction == Reduction::None) return;
  *reinterpret_cast<T*>(out) = static_cast<T>(reduction == Reduction::Mean ? all.loss / all.weight : all.loss);
}

template <class T>
void nll_backward_typed(const Tensor& dx, const Tensor& g, const Tensor& target, const Tensor& weight,
                        const Tensor& total, int64_t class_dim, int64_t reduction, int64_t ignore_index) {
  bool each = reduction == Reduction::None;
  Walk walk(target.sizes(), 3);
  walk.set(0, strides_without(dx, class_dim), sizeof(T));
  walk.set(1, target.strides(), sizeof(int64_t));
  walk.set(2, each ? g.strides() : IntArrayRef(Dims::filled(static_cast<int>(target.dim()), 0)), sizeof(T));
  walk.join();
  const int64_t x_step = walk.step(0), target_step = walk.step(1), g_step = walk.step(2);
  const int64_t n = walk.numel(), chunks = (n + kChunk - 1) / kChunk, classes = dx.size(class_dim);
  const int64_t class_step = dx.stride(class_dim) * static_cast<int64_t>(sizeof(T));
  const double scale = reduction == Reduction::Mean ? 1 / *static_cast<double*>(total.impl()->data()) : 1;
  const char *from = static_cast<const char*>(g.impl()->data()), *at = static_cast<const char*>(target.impl()->data());
  char* out = static_cast<char*>(dx.impl()->data());
  const std::vector<double> weights = class_weights<double>(weight);
  // Rows that lie one behind the other are cleared a chunk at a time, which is then still in the cache.
  const bool rows = dx.is_contiguous() && class_dim + 1 == dx.dim();
  if (!rows) fill_kernel.get(kCPU)(dx, 0);
  auto scatter = [&](const int64_t* offsets, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
      int64_t c = *reinterpret_cast<const int64_t*>(at + offsets[1] + i * target_step);
      if (c == ignore_index) continue;
      checked_class("nll_loss", c, classes);
      double w = weights.empty() ? 1 : weights[static_cast<size_t>(c)];
      double g_at = static_cast<double>(*reinterpret_cast<const T*>(from + offsets[2] + i * g_step));
      *reinterpret_cast<T*>(out + offsets[0] + i * x_step + c * class_step) = static_cast<T>(-w * scale * g_at);
    }
  };
  parallel_for(0, chunks, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t chunk = begin; chunk < end; chunk++) {
      const int64_t first = chunk * kChunk, last = std::min(first + kChunk, n);
      if (rows) std::fill_n(reinterpret_cast<T*>(out) + first * classes, (last - first) * classes, T(0));
      walk.runs(first, last, scatter);
    }
  });
}

template <class F>
void with_float_type(DType dtype, const F& f) {
  dispatch(dtype, [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (is_floating_point(dtype_of<T>)) f(static_cast<T*>(nullptr));
  });
}
void nll(const Tensor& loss, const Tensor& total, const Tensor& x, const Tensor& target, const Tensor& weight,
         int64_t class_dim, int64_t reduction, int64_t ignore_index) {
  with_float_type(x.dtype(), [&](auto* p) {
    nll_typed<std::remove_pointer_t<decltype(p)>>(loss, total, x, target, weight, class_dim, reduction, ignore_index);
  });
}
void nll_backward(const Tensor& dx, const Tensor& g, const Tensor& target, const Tensor& weight, const Tensor& total,
                  int64_t class_dim, int64_t reduction, int64_t ignore_index) {
  with_float_type(dx.dtype(), [&](auto* p) {
    nll_backward_typed<std::remove_pointer_t<decltype(p)>>(dx, g, target, weight, total, class_dim, reduction,
                                                           ignore_index);
  });
}

// ---- multilabel margin
struct Labels {
  std::vector<int64_t> listed;
  std::vector<char> is_listed;
  void read(const char* row, int64_t step, int64_t classes) {
    listed.clear();
    is_listed.assign(static_cast<size_t>(classes), 0);
    for (int64_t i = 0; i < classes; i++) {
      int64_t c = *reinterpret_cast<const int64_t*>(row + i * step);
      if (c == -1) break;
      checked_class("multilabel_margin_loss", c, classes);
      listed.push_back(c);
      is_listed[static_cast<size_t>(c)] = 1;
    }
  }
};

// Calls f(row, labels, scores) for every row, scores as T.
template <class T, class F>
void each_labelled_row(const Tensor& x, const Tensor& target, const F& f) {
  const int64_t rows = x.size(0), classes = x.size(1);
  Lines lines({&x}, 1);
  auto row_of = [](const Tensor& t, int64_t i) {
    return static_cast<char*>(t.impl()->data()) + i * t.stride(0) * t.element_size();
  };
  parallel_for(0, rows, std::max<int64_t>(1, 4096 / classes), [&](int64_t begin, int64_t end) {
    Row<T> row(x, lines, 0);
    Labels labels;
    for (int64_t i = begin; i < end; i++) {
      labels.read(row_of(target, i), target.stride(1) * target.element_size(), classes);
      f(i, labels, static_cast<const T*>(row.read(row_of(x, i))));
    }
  });
}

template <class T>
void multilabel_typed(const Tensor& loss, const Tensor& x, const Tensor& target, int64_t reduction) {
  const int64_t rows = x.size(0), classes = x.size(1);
  std::vector<double> losses(static_cast<size_t>(rows));
  each_labelled_row<T>(x, target, [&](int64_t i, const Labels& labels, const T* score) {
    double sum = 0;
    for (int64_t c : labels.listed)
      for (int64_t j = 0; j < classes; j++)
        if (!labels.is_listed[static_cast<size_t>(j)]) {
          T z = 1 - score[c] + score[j];
          if (z > 0) sum += static_cast<double>(z);
        }
    losses[static_cast<size_t>(i)] = sum / static_cast<double>(classes);
  });
  int64_t item = loss.element_size();
  char* out = static_cast<char*>(loss.impl()->data());
  if (reduction == Reduction::None)
    return convert(out, loss.dtype(), loss.stride(0) * item, losses.data(), kDouble, sizeof(double), rows);
  double total = 0;
  for (double each : losses) total += each;
  if (reduction == Reduction::Mean) total /= static_cast<double>(rows);
  convert(out, loss.dtype(), item, &total, kDouble, sizeof(double), 1);
}
void multilabel(const Tensor& loss, const Tensor& x, const Tensor& target, int64_t reduction) {
  (x.dtype() == kDouble ? &multilabel_typed<double> : &multilabel_typed<float>)(loss, x, target, reduction);
}

template <class T>
void multilabel_backward_typed(const Tensor& dx, const Tensor& g, const Tensor& x, const Tensor& target,
                               int64_t reduction) {
  const int64_t rows = x.size(0), classes = x.size(1), item = g.element_size();
  const double scale = 1 / static_cast<double>(classes) / static_cast<double>(reduction == Reduction::Mean ? rows : 1);
  each_labelled_row<T>(x, target, [&](int64_t i, const Labels& labels, const T* score) {
    const char* from = static_cast<const char*>(g.impl()->data());
    double slope = scale * read_number(from + (reduction == Reduction::None ? i * g.stride(0) * item : 0), g.dtype());
    std::vector<double> slopes(static_cast<size_t>(classes));
    for (int64_t c : labels.listed)
      for (int64_t j = 0; j < classes; j++)
        if (!labels.is_listed[static_cast<size_t>(j)] && 1 - score[c] + score[j] > 0) {
          slopes[static_cast<size_t>(c)] -= slope;
          slopes[static_cast<size_t>(j)] += slope;
        }
    convert(static_cast<char*>(dx.impl()->data()) + i * dx.stride(0) * dx.element_size(), dx.dtype(),
            dx.stride(1) * dx.element_size(), slopes.data(), kDouble, sizeof(double), classes);
  });
}
void multilabel_backward(const Tensor& dx, const Tensor& g, const Tensor& x, const Tensor& target, int64_t reduction) {
  auto typed = x.dtype() == kDouble ? &multilabel_backward_typed<double> : &multilabel_backward_typed<float>;
  typed(dx, g, x, target, reduction);
}

[[maybe_unused]] const bool registered =
    nll_loss_kernel.set(kCPU, nll) && nll_loss_backward_kernel.set(kCPU, nll_backward) &&
    multilabel_margin_kernel.set(kCPU, multilabel) && multilabel_margin_backward_kernel.set(kCPU, multilabel_backward);

}  // namespace
}  // namespace cresset::cpu
