// Convolutions of images with few channels in a group: depthwise ones, and those that meet the pixels first. They read
// and write plain images, where a library would spend more time on changing layouts than on the sums. The order of the
// additions does not depend on the number of threads.
#include <algorithm>
#include <vector>

#include "cresset/backends/cpu/conv.h"
#include "cresset/backends/cpu/conv_direct_simd.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kFewChannels = 4;
constexpr int64_t kLargestCopy = 1 << 20;  // bytes: what stays in a core's cache
constexpr int64_t kThreadWork = 65536;
constexpr int64_t kParts = 16;    // of a batch, each with sums of weights of its own
constexpr int64_t kVector = 128;  // bytes that may be read behind the end

// One direction of the positions.
struct Axis {
  int64_t in, out, window, stride, padding, dilation;
};
Axis axis_of(const Convolution& c, int from_end) {
  const int rank = static_cast<int>(c.stride.size());
  if (from_end > rank) return {1, 1, 1, 1, 0, 1};
  const auto d = static_cast<size_t>(rank - from_end);
  return {c.x.size(-from_end), c.y.size(-from_end), c.w.size(-from_end), c.stride[d], c.padding[d], c.dilation[d]};
}

template <class T>
struct Planes {  // a tensor [batch, channels, rows, columns], or without rows
  T* data;
  int64_t batch, channel, row;
  explicit Planes(const Tensor& t)
      : data(static_cast<T*>(t.impl()->data())),
        batch(t.stride(0)),
        channel(t.stride(1)),
        row(t.dim() == 4 ? t.stride(2) : 0) {}
  T* at(int64_t n, int64_t c) const { return data + n * batch + c * channel; }
};

template <class T>
class Direct {
 public:
  explicit Direct(const Convolution& c)
      : c_(c),
        rows_(axis_of(c, 2)),
        columns_(axis_of(c, 1)),
        batch_(c.x.size(0)),
        channels_(c.w.size(1)),
        outputs_(c.w.size(0) / c.groups),
        window_(rows_.window * columns_.window),
        x_(c.x),
        y_(c.y) {
    c.part == ConvPart::input ? spread_gradient() : split_input();
  }

  int64_t copy_bytes() const { return copy_size() * static_cast<int64_t>(sizeof(T)); }

  void run() {
    read_weights();
    if (c_.part == ConvPart::weight) return c_.groups > 1 ? weigh_groups() : weigh_parts();
    const int64_t work = std::max<int64_t>(1, outputs_ * channels_ * window_ * rows_.out * columns_.out);
    parallel_for(0, batch_ * c_.groups, std::max<int64_t>(1, kThreadWork / work), [&](int64_t first, int64_t last) {
      std::vector<T> copy(static_cast<size_t>(copy_size()));
      for (int64_t i = first; i < last; i++)
        c_.part == ConvPart::forward ? forward(i / c_.groups, i % c_.groups, copy.data())
                                     : backward(i / c_.groups, i % c_.groups, copy.data());
    });
  }

 private:
  // The padded copy of the input: its columns are dealt out by their rest modulo the stride, so that neighbouring
  // results find their inputs side by side.
  void split_input() {
    const int64_t height = (rows_.out - 1) * rows_.stride + (rows_.window - 1) * rows_.dilation + 1;
    const int64_t width = (columns_.out - 1) * columns_.stride + (columns_.window - 1) * columns_.dilation + 1;
    part_ = (width + columns_.stride - 1) / columns_.stride;
    row_ = part_ * columns_.stride;
    plane_ = height * row_;
    planes_ = channels_;
    for (int64_t c = 0; c < channels_; c++)
      for (int64_t k = 0; k < rows_.window; k++)
        for (int64_t l = 0; l < columns_.window; l++) {
          const int64_t at = l * columns_.dilation;
          offsets_.push_back(c * plane_ + k * rows_.dilation * row_ + at % columns_.stride * part_ +
                             at / columns_.stride);
        }
  }
  void copy_input(int64_t n, int64_t group, T* copy) const {
    const int64_t step = columns_.stride, pad = columns_.padding, height = plane_ / row_;
    const int64_t width = std::min(columns_.in, row_ - pad);
    for (int64_t c = 0; c < channels_; c++)
      for (int64_t i = 0; i < std::min(rows_.in, height - rows_.padding); i++) {
        const T* from = x_.at(n, group * channels_ + c) + i * x_.row;
        T* to = copy + c * plane_ + (i + rows_.padding) * row_;
        for (int64_t first = 0; first < std::min(step, width); first++) {
          T* column = to + (first + pad) % step * part_ + (first + pad) / step;
          for (int64_t j = first; j < width; j += step) *column++ = from[j];
        }
      }
  }

  // The copy of the gradient has it at its stride with zeros between: then the window moves by ones, backwards.
  void spread_gradient() {
    row_ = columns_.in + (columns_.window - 1) * columns_.dilation;
    plane_ = (rows_.in + (rows_.window - 1) * rows_.dilation) * row_;
    planes_ = outputs_;
    for (int64_t o = 0; o < outputs_; o++)
      for (int64_t k = rows_.window; k-- > 0;)
        for (int64_t l = columns_.window; l-- > 0;)
          offsets_.push_back(o * plane_ + k * rows_.dilation * row_ + l * columns_.dilation);
  }
  void copy_gradient(int64_t n, int64_t group, T* copy) const {
    const int64_t up = (rows_.window - 1) * rows_.dilation - rows_.padding, height = plane_ / row_;
    const int64_t left = (columns_.window - 1) * columns_.dilation - columns_.padding, step = columns_.stride;
    const int64_t first = left < 0 ? (-left + step - 1) / step : 0;
    const int64_t last = std::min(columns_.out, (row_ - left + step - 1) / step);
    for (int64_t o = 0; o < outputs_; o++)
      for (int64_t i = 0; i < rows_.out; i++) {
        const int64_t row = i * rows_.stride + up;
        if (row < 0 || row >= height) continue;
        const T* from = y_.at(n, group * outputs_ + o) + i * y_.row;
        T* to = copy + o * plane_ + row * row_ + left;
        if (step == 1)
          std::copy(from + first, from + std::max(first, last), to + first);
        else
          for (int64_t j = first; j < last; j++) to[j * step] = from[j];
      }
  }

  int64_t copy_size() const { return planes_ * plane_ + kVector / static_cast<int64_t>(sizeof(T)); }

  // [group][written][read][window]
  void read_weights() {
    if (c_.part == ConvPart::weight) return;
    const bool turned = c_.part == ConvPart::input;
    weights_.resize(static_cast<size_t>(c_.groups * outputs_ * channels_ * window_));
    bias_.assign(static_cast<size_t>(c_.groups * std::max(outputs_, channels_)), T(0));
    if (c_.bias.defined())
      for (int64_t i = 0; i < c_.bias.numel(); i++)
        bias_[static_cast<size_t>(i)] = static_cast<const T*>(c_.bias.impl()->data())[i * c_.bias.stride(0)];
    for_each_weight([&](int64_t group, int64_t o, int64_t c, int64_t at, T* weight) {
      const int64_t pair = turned ? c * outputs_ + o : o * channels_ + c;
      weights_[static_cast<size_t>((group * outputs_ * channels_ + pair) * window_ + at)] = *weight;
    });
  }
  template <class F>
  void for_each_weight(const F& f) const {
    const Tensor& w = c_.w;
    const int64_t row = w.dim() == 4 ? w.stride(2) : 0;
    for (int64_t o = 0; o < w.size(0); o++)
      for (int64_t c = 0; c < channels_; c++)
        for (int64_t at = 0; at < window_; at++)
          f(o / outputs_, o % outputs_, c, at,
            static_cast<T*>(w.impl()->data()) + o * w.stride(0) + c * w.stride(1) + at / columns_.window * row +
                at % columns_.window * w.stride(-1));
  }

  DirectRows<T> results(int64_t n, int64_t group, const T* copy) const {
    return {y_.at(n, group * outputs_),
            y_.channel,
            y_.row,
            outputs_,
            rows_.out,
            columns_.out,
            copy,
            rows_.stride * row_,
            offsets_.data(),
            static_cast<int64_t>(offsets_.size())};
  }
  void forward(int64_t n, int64_t group, T* copy) const {
    copy_input(n, group, copy);
    direct_inner<T>().correlate(results(n, group, copy), weights_of(group), bias_.data() + group * outputs_);
  }
  void backward(int64_t n, int64_t group, T* copy) const {
    copy_gradient(n, group, copy);
    const DirectRows<T> at{x_.at(n, group * channels_),
                           x_.channel,
                           x_.row,
                           channels_,
                           rows_.in,
                           columns_.in,
                           copy,
                           row_,
                           offsets_.data(),
                           static_cast<int64_t>(offsets_.size())};
    direct_inner<T>().correlate(at, weights_of(group), bias_.data() + group * channels_);
  }
  const T* weights_of(int64_t group) const { return weights_.data() + group * outputs_ * channels_ * window_; }

  void weigh(int64_t n, int64_t group, T* copy, T* sums) const {
    copy_input(n, group, copy);
    direct_inner<T>().weigh(results(n, group, copy), sums);
  }
  // Many groups: each has its sums to itself.
  void weigh_groups() {
    const int64_t size = outputs_ * channels_ * window_;
    std::vector<T> sums(static_cast<size_t>(c_.groups * size));
    parallel_for(0, c_.groups, 1, [&](int64_t first, int64_t last) {
      std::vector<T> copy(static_cast<size_t>(copy_size()));
      for (int64_t group = first; group < last; group++)
        for (int64_t n = 0; n < batch_; n++) weigh(n, group, copy.data(), sums.data() + group * size);
    });
    write_weights(sums, 1);
  }
  // One group: parts of the batch have sums of their own, as many whatever the threads.
  void weigh_parts() {
    const int64_t size = outputs_ * channels_ * window_, parts = std::min(kParts, batch_);
    std::vector<T> sums(static_cast<size_t>(parts * size));
    parallel_for(0, parts, 1, [&](int64_t first, int64_t last) {
      std::vector<T> copy(static_cast<size_t>(copy_size()));
      for (int64_t part = first; part < last; part++)
        for (int64_t n = batch_ * part / parts; n < batch_ * (part + 1) / parts; n++)
          weigh(n, 0, copy.data(), sums.data() + part * size);
    });
    write_weights(sums, parts);
  }
  void write_weights(const std::vector<T>& sums, int64_t parts) const {
    const int64_t size = static_cast<int64_t>(sums.size()) / parts;
    for_each_weight([&](int64_t group, int64_t o, int64_t c, int64_t at, T* weight) {
      T sum = 0;
      for (int64_t part = 0; part < parts; part++)
        sum += sums[static_cast<size_t>(part * size + ((group * outputs_ + o) * channels_ + c) * window_ + at)];
      *weight = sum;
    });
  }

  const Convolution& c_;
  Axis rows_, columns_;
  int64_t batch_, channels_, outputs_, window_;
  Planes<T> x_, y_;
  int64_t part_ = 0, row_ = 0, plane_ = 0, planes_ = 0;  // of the copy
  std::vector<int64_t> offsets_;
  std::vector<T> weights_, bias_;
};

template <class T>
bool run_typed(const Convolution& c) {
  Direct<T> direct(c);
  if (direct.copy_bytes() > kLargestCopy) return false;
  direct.run();
  return true;
}

}  // namespace

bool run_direct_convolution(const Convolution& c) {
  if ((c.x.dtype() != kFloat && c.x.dtype() != kDouble) || c.x.dim() > 4) return false;
  if (c.x.numel() == 0 || c.w.numel() == 0 || c.y.numel() == 0) return false;
  const bool depthwise = c.groups > 1 && c.w.size(1) == 1, few = c.groups == 1 && c.w.size(1) <= kFewChannels;
  if (!depthwise && !few) return false;
  for (const Tensor* t : {&c.x, &c.y})
    if (t->stride(-1) != 1 || t->suggest_memory_format() != MemoryFormat::Contiguous) return false;
  return c.x.dtype() == kFloat ? run_typed<float>(c) : run_typed<double>(c);
}

}  // namespace cresset::cpu
