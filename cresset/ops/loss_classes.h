// Losses of whole rows: class indices against scores (nll_loss, margins) and triplets.
#pragma once

#include <functional>

#include "cresset/core/kernel_table.h"
#include "cresset/ops/loss.h"

namespace cresset {

// x has a dimension of classes, which target lacks. loss has target's shape or is 0-d; total is the sum of the weights
// that counted.
CRESSET_KERNEL(Kernel<void(const Tensor& loss, const Tensor& total, const Tensor& x, const Tensor& target,
                           const Tensor& weight, int64_t class_dim, int64_t reduction, int64_t ignore_index)>,
               nll_loss_kernel, "nll_loss", 2);
CRESSET_KERNEL(Kernel<void(const Tensor& dx, const Tensor& g, const Tensor& target, const Tensor& weight,
                           const Tensor& total, int64_t class_dim, int64_t reduction, int64_t ignore_index)>,
               nll_loss_backward_kernel, "nll_loss_backward");
// Rows [N, C] of scores and of class indices, which end at the first -1. loss is [N] or 0-d.
CRESSET_KERNEL(Kernel<void(const Tensor& loss, const Tensor& x, const Tensor& target, int64_t reduction)>,
               multilabel_margin_kernel, "multilabel_margin_loss");
CRESSET_KERNEL(
    Kernel<void(const Tensor& dx, const Tensor& g, const Tensor& x, const Tensor& target, int64_t reduction)>,
    multilabel_margin_backward_kernel, "multilabel_margin_loss_backward");

// -self at each target's class: [N, C] (or [C]) for nll_loss, [N, C, H, W] for nll_loss2d, any for nll_loss_nd.
CRESSET_API Tensor nll_loss(const Tensor& self, const Tensor& target, const Tensor& weight = {},
                            int64_t reduction = Reduction::Mean, int64_t ignore_index = -100);
CRESSET_API Tensor& nll_loss_out(Tensor& out, const Tensor& self, const Tensor& target, const Tensor& weight = {},
                                 int64_t reduction = Reduction::Mean, int64_t ignore_index = -100);
CRESSET_API Tensor nll_loss2d(const Tensor& self, const Tensor& target, const Tensor& weight = {},
                              int64_t reduction = Reduction::Mean, int64_t ignore_index = -100);
CRESSET_API Tensor& nll_loss2d_out(Tensor& out, const Tensor& self, const Tensor& target, const Tensor& weight = {},
                                   int64_t reduction = Reduction::Mean, int64_t ignore_index = -100);
CRESSET_API Tensor nll_loss_nd(const Tensor& self, const Tensor& target, const Tensor& weight = {},
                               int64_t reduction = Reduction::Mean, int64_t ignore_index = -100);
CRESSET_API Tensor multi_margin_loss(const Tensor& self, const Tensor& target, const Scalar& p = 1,
                                     const Scalar& margin = 1, const Tensor& weight = {},
                                     int64_t reduction = Reduction::Mean);
CRESSET_API Tensor& multi_margin_loss_out(Tensor& out, const Tensor& self, const Tensor& target, const Scalar& p = 1,
                                          const Scalar& margin = 1, const Tensor& weight = {},
                                          int64_t reduction = Reduction::Mean);
CRESSET_API Tensor multilabel_margin_loss(const Tensor& self, const Tensor& target,
                                          int64_t reduction = Reduction::Mean);
CRESSET_API Tensor& multilabel_margin_loss_out(Tensor& out, const Tensor& self, const Tensor& target,
                                               int64_t reduction = Reduction::Mean);
CRESSET_API Tensor multilabel_soft_margin_loss(const Tensor& self, const Tensor& target, const Tensor& weight = {},
                                               int64_t reduction = Reduction::Mean);
CRESSET_API Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                       double margin = 1.0, double p = 2.0, double eps = 1e-6, bool swap = false,
                                       int64_t reduction = Reduction::Mean);
// The same with a distance of one's own: not an op, since a function is no argument that modes could see.
CRESSET_API Tensor
triplet_margin_with_distance_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                  const std::function<Tensor(const Tensor&, const Tensor&)>& distance = nullptr,
                                  double margin = 1.0, bool swap = false, int64_t reduction = Reduction::Mean);

}  // namespace cresset
