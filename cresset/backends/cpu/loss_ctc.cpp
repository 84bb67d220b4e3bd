// CPU kernels of ctc_loss: the forward and backward variables of one sample at a time, in logarithms and in double.
// Samples run on several threads.
#include "cresset/ops/loss_ctc.h"

#include <cmath>
#include <limits>
#include <vector>

#include "cresset/backends/cpu/pointwise_loop.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

double log_sum(double a, double b) {
  if (b == kNever || b != b) return b != b ? b : a;
  double top = std::max(a, b), low = std::min(a, b);
  return top + std::log1p(std::exp(low - top));
}
double log_sum(double a, double b, double c) {
  if (c == kNever) return log_sum(a, b);
  double top = std::max({a, b, c});
  return top + std::log(std::exp(a - top) + std::exp(b - top) + std::exp(c - top));
}

// One sample's scores and labels with blanks between them: state s stands for labels[s].
struct Sequence {
  int64_t times, length, states, classes;
  std::vector<int64_t> labels;
  std::vector<double> scores;  // [times, classes]
  double score(int64_t t, int64_t s) const {
    return scores[static_cast<size_t>(t * classes + labels[static_cast<size_t>(s)])];
  }
  // Whether state s can follow s - 2: not over a blank, nor between equal labels.
  bool skips(int64_t s) const { return s >= 2 && labels[static_cast<size_t>(s)] != labels[static_cast<size_t>(s - 2)]; }
};

struct Batch {
  const Tensor &x, &targets;
  std::vector<int64_t> times, lengths, starts;
  int64_t blank;

  Batch(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths,
        int64_t blank)
      : x(log_probs), targets(targets), times(read(input_lengths)), lengths(read(target_lengths)), blank(blank) {
    int64_t room = targets.dim() == 2 ? targets.size(1) : targets.numel(), start = 0;
    for (size_t n = 0; n < times.size(); n++) {
      CRESSET_CHECK_AS(ValueError, times[n] >= 0 && times[n] <= x.size(0),
                       "ctc_loss: Expected input_lengths to have value at most ", x.size(0), ", but got value ",
                       times[n]);
      CRESSET_CHECK_AS(ValueError, lengths[n] >= 0, "ctc_loss: found a negative target length, ", lengths[n]);
      starts.push_back(targets.dim() == 2 ? static_cast<int64_t>(n) * targets.stride(0) : start * stride());
      start += lengths[n];
      CRESSET_CHECK_AS(ValueError, (targets.dim() == 2 ? lengths[n] : start) <= room,
                       "ctc_loss: Expected targets to have size at least ", targets.dim() == 2 ? lengths[n] : start,
                       ", but got ", room);
    }
    for (size_t n = 0; n < times.size(); n++)
      for (int64_t i = 0; i < lengths[n]; i++) {
        int64_t label = label_at(n, i);
        CRESSET_CHECK_AS(ValueError, label >= 0 && label < x.size(2), "ctc_loss: found target ", label,
                         " (expected 0 to ", x.size(2) - 1, ")");
      }
  }
  int64_t stride() const { return targets.stride(-1); }
  int64_t label_at(size_t n, int64_t i) const {
    int64_t at = starts[n] + i * stride();
    const void* data = targets.impl()->data();
    return targets.dtype() == kLong ? static_cast<const int64_t*>(data)[at] : static_cast<const int32_t*>(data)[at];
  }
  static std::vector<int64_t> read(const Tensor& lengths) {
    std::vector<int64_t> values(static_cast<size_t>(lengths.numel()));
    convert(values.data(), kLong, 8, lengths.impl()->data(), kLong, lengths.stride(0) * 8, lengths.numel());
    return values;
  }

  Sequence sequence(int64_t n) const {
    Sequence s;
    auto at = static_cast<size_t>(n);
    s.times = times[at];
    s.length = lengths[at];
    s.states = 2 * s.length + 1;
    s.classes = x.size(2);
    s.labels.assign(static_cast<size_t>(s.states), blank);
    for (int64_t i = 0; i < s.length; i++) s.labels[static_cast<size_t>(2 * i + 1)] = label_at(at, i);
    s.scores.resize(static_cast<size_t>(s.times * s.classes));
    int64_t item = x.element_size();
    for (int64_t t = 0; t < s.times; t++)
      convert(s.scores.data() + t * s.classes, kDouble, sizeof(double),
              static_cast<const char*>(x.impl()->data()) + (t * x.stride(0) + n * x.stride(1)) * item, x.dtype(),
              x.stride(2) * item, s.classes);
    return s;
  }
};

// alpha[t, s]: the log probability of all beginnings of length t + 1 that end in state s.
std::vector<double> forward_variables(const Sequence& q) {
  std::vector<double> alpha(static_cast<size_t>(q.times * q.states), kNever);
  for (int64_t t = 0; t < q.times; t++)
    for (int64_t s = 0; s < q.states; s++) {
      const double* before = alpha.data() + (t - 1) * q.states;
      double from = s < 2 ? 0 : kNever;
      if (t > 0) from = log_sum(before[s], s > 0 ? before[s - 1] : kNever, q.skips(s) ? before[s - 2] : kNever);
      alpha[static_cast<size_t>(t * q.states + s)] = from + q.score(t, s);
    }
  return alpha;
}
double loss_of(const Sequence& q, const std::vector<double>& alpha) {
  if (q.times == 0) return q.length == 0 ? 0 : -kNever;
  const double* last = alpha.data() + q.times * q.states - 1;
  return -(q.length > 0 ? log_sum(last[0], last[-1]) : last[0]);
}

double share(const Batch& batch, int64_t n, int64_t reduction) {
  if (reduction != Reduction::Mean) return 1;
  return 1 / static_cast<double>(std::max<int64_t>(batch.lengths[static_cast<size_t>(n)], 1)) /
         static_cast<double>(batch.x.size(1));
}

void ctc(const Tensor& loss, const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
         const Tensor& target_lengths, int64_t blank, int64_t reduction, bool zero_infinity) {
  Batch batch(log_probs, targets, input_lengths, target_lengths, blank);
  const int64_t n = log_probs.size(1);
  std::vector<double> losses(static_cast<size_t>(n));
  parallel_for(0, n, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      Sequence q = batch.sequence(i);
      double each = loss_of(q, forward_variables(q));
      losses[static_cast<size_t>(i)] = zero_infinity && std::isinf(each) ? 0 : each * share(batch, i, reduction);
    }
  });
  if (reduction == Reduction::None)
    return convert(loss.impl()->data(), loss.dtype(), loss.stride(0) * loss.element_size(), losses.data(), kDouble,
                   sizeof(double), n);
  double total = n == 0 && reduction == Reduction::Mean ? std::numeric_limits<double>::quiet_NaN() : 0;
  for (double each : losses) total += each;
  convert(loss.impl()->data(), loss.dtype(), 0, &total, kDouble, 0, 1);
}

// beta is carried backwards in time, two rows at once; with alpha it says how likely each state is at each time.
void add_gradient(const Sequence& q, double scale, std::vector<double>& dx) {
  std::vector<double> alpha = forward_variables(q), beta(static_cast<size_t>(q.states), kNever), next(beta);
  std::vector<double> per_class(static_cast<size_t>(q.classes));
  double loss = loss_of(q, alpha);
  for (int64_t t = q.times - 1; t >= 0; t--) {
    std::fill(per_class.begin(), per_class.end(), kNever);
    for (int64_t s = 0; s < q.states; s++) {
      auto at = static_cast<size_t>(s);
      double to = s >= q.states - 2 ? 0 : kNever;
      if (t < q.times - 1)
        to = log_sum(next[at], s + 1 < q.states ? next[at + 1] : kNever,
                     s + 2 < q.states && q.skips(s + 2) ? next[at + 2] : kNever);
      beta[at] = to + q.score(t, s);
      double& sum = per_class[static_cast<size_t>(q.labels[at])];
      sum = log_sum(sum, alpha[static_cast<size_t>(t * q.states + s)] + to);
    }
    for (int64_t c = 0; c < q.classes; c++) {
      double likely = per_class[static_cast<size_t>(c)];
      dx[static_cast<size_t>(t * q.classes + c)] =
          likely == kNever && !std::isinf(loss) ? 0 : -scale * std::exp(likely + loss);
    }
    std::swap(beta, next);
  }
}

void ctc_backward(const Tensor& dx, const Tensor& g, const Tensor& log_probs, const Tensor& targets,
                  const Tensor& input_lengths, const Tensor& target_lengths, int64_t blank, int64_t reduction,
                  bool zero_infinity) {
  Batch batch(log_probs, targets, input_lengths, target_lengths, blank);
  const int64_t times = log_probs.size(0), classes = log_probs.size(2), item = dx.element_size();
  parallel_for(0, log_probs.size(1), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      Sequence q = batch.sequence(i);
      double scale;
      convert(&scale, kDouble, 0,
              static_cast<const char*>(g.impl()->data()) +
                  (reduction == Reduction::None ? i * g.stride(0) * g.element_size() : 0),
              g.dtype(), 0, 1);
      scale *= share(batch, i, reduction);
      std::vector<double> slopes(static_cast<size_t>(times * classes));
      bool impossible = zero_infinity && std::isinf(loss_of(q, forward_variables(q)));
      if (!impossible) add_gradient(q, scale, slopes);
      for (int64_t t = 0; t < times; t++)
        convert(static_cast<char*>(dx.impl()->data()) + (t * dx.stride(0) + i * dx.stride(1)) * item, dx.dtype(),
                dx.stride(2) * item, slopes.data() + t * classes, kDouble, sizeof(double), classes);
    }
  });
}

[[maybe_unused]] const bool registered =
    ctc_loss_kernel.set(kCPU, ctc) && ctc_loss_backward_kernel.set(kCPU, ctc_backward);

}  // namespace
}  // namespace cresset::cpu
