// Losses that are sums of terms l(x, t) of one element each: mse_loss, binary_cross_entropy and their kin. One kernel
// knows every term and its derivatives; a loss names its term, and gets its gradients of all orders from there.
#pragma once

#include "cresset/core/into.h"
#include "cresset/core/kernel_table.h"
#include "cresset/ops/loss.h"

namespace cresset {

// What l(x, t) is, with constants a and b. The first five depend on d = x - t alone.
enum class LossTerm : int64_t {
  squared,          // d^2
  absolute,         // |d|
  smooth_absolute,  // d^2 / 2a within a of zero, |d| - a/2 beyond
  distance_power,   // |d + a|^b
  huber,            // a times smooth_absolute
  entropy,          // -t log x - (1 - t) log(1 - x), logarithms from -100 on
  logit_entropy,    // the same at x = sigmoid(x)
  logit_positive,   // -t log sigmoid(x), its first part
  kl,               // t (log t - x)
  kl_log,           // exp(t) (t - x)
  poisson,          // x - t log(x + a)
  poisson_log,      // exp(x) - t x
  stirling,         // log t!, nearly; 0 up to t = 1
  gaussian,         // (log t + x^2 / t) / 2, t from a on
  hinge,            // x where t = 1, max(0, a - x) where t = -1
  ranking,          // max(0, a - t x)
  over_root,        // x / sqrt(t)
  cosine_hinge,     // 1 - x where t = 1, max(0, x - a) where t = -1
  soft_margin,      // log(1 + exp(-t x))
  margin_power,     // max(0, a + x - t)^b, b 1 or 2
  power,            // x^b, x from 0 on
  count
};

// out = scale * g * the i-th derivative by x and j-th by t of the term, element by element over broadcast inputs. The
// term itself (i = j = 0) has no g.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& g, const Tensor& x, const Tensor& t, int64_t term,
                           int64_t i, int64_t j, double a, double b, double scale, DType compute)>,
               loss_terms_kernel, "loss_terms");
// The sum of all terms over broadcast inputs of shape `sizes`, divided by `divisor`.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, const Tensor& t, IntArrayRef sizes, int64_t term,
                           double a, double b, double divisor, DType compute)>,
               loss_sum_kernel, "loss_sum");

CRESSET_API Tensor mse_loss(const Tensor& self, const Tensor& target, int64_t reduction = Reduction::Mean);
CRESSET_API Tensor& mse_loss_out(Tensor& out, const Tensor& self, const Tensor& target,
                                 int64_t reduction = Reduction::Mean);
CRESSET_API Tensor l1_loss(const Tensor& self, const Tensor& target, int64_t reduction = Reduction::Mean);
CRESSET_API Tensor smooth_l1_loss(const Tensor& self, const Tensor& target, int64_t reduction = Reduction::Mean,
                                  double beta = 1.0);
CRESSET_API Tensor& smooth_l1_loss_out(Tensor& out, const Tensor& self, const Tensor& target,
                                       int64_t reduction = Reduction::Mean, double beta = 1.0);
CRESSET_API Tensor huber_loss(const Tensor& self, const Tensor& target, int64_t reduction = Reduction::Mean,
                              double delta = 1.0);
CRESSET_API Tensor& huber_loss_out(Tensor& out, const Tensor& self, const Tensor& target,
                                   int64_t reduction = Reduction::Mean, double delta = 1.0);
// self holds probabilities, or their logits.
CRESSET_API Tensor binary_cross_entropy(const Tensor& self, const Tensor& target, const Tensor& weight = {},
                                        int64_t reduction = Reduction::Mean);
CRESSET_API Tensor& binary_cross_entropy_out(Tensor& out, const Tensor& self, const Tensor& target,
                                             const Tensor& weight = {}, int64_t reduction = Reduction::Mean);
CRESSET_API Tensor binary_cross_entropy_with_logits(const Tensor& self, const Tensor& target, const Tensor& weight = {},
                                                    const Tensor& pos_weight = {}, int64_t reduction = Reduction::Mean);
CRESSET_API Tensor kl_div(const Tensor& self, const Tensor& target, int64_t reduction = Reduction::Mean,
                          bool log_target = false);
CRESSET_API Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input = true, bool full = false,
                                    double eps = 1e-8, int64_t reduction = Reduction::Mean);
CRESSET_API Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var, bool full = false,
                                     double eps = 1e-6, int64_t reduction = Reduction::Mean);
CRESSET_API Tensor soft_margin_loss(const Tensor& self, const Tensor& target, int64_t reduction = Reduction::Mean);
CRESSET_API Tensor& soft_margin_loss_out(Tensor& out, const Tensor& self, const Tensor& target,
                                         int64_t reduction = Reduction::Mean);
CRESSET_API Tensor hinge_embedding_loss(const Tensor& self, const Tensor& target, double margin = 1.0,
                                        int64_t reduction = Reduction::Mean);
CRESSET_API Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                                       double margin = 0.0, int64_t reduction = Reduction::Mean);
CRESSET_API Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                                         double margin = 0.0, int64_t reduction = Reduction::Mean);
// The terms l(x, t), or their mean or sum; for other losses' formulas. Differentiable.
CRESSET_API Tensor loss_of_terms(const char* op, const Into& into, const Tensor& x, const Tensor& t, LossTerm term,
                                 int64_t reduction, double a = 0, double b = 0);

namespace detail {
CRESSET_API void check_reduction(const char* op, int64_t reduction);
// The loss of every element as `reduction` wants it.
CRESSET_API Tensor reduced_loss(const Tensor& each, int64_t reduction);
}  // namespace detail

}  // namespace cresset
