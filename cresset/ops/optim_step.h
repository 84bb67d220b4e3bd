// Kernels of the fused optimizer steps: one call updates all tensors of a parameter group. They stand here because a
// backend fills them and optim/ calls them. They are no ops: nothing is recorded, and optim/ has checked the tensors.
//
// All lists have the same length. Tensor i of each list has the same dtype, shape and strides, and is dense. `first` is
// params[0]: it says which device is meant.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

// g = sign * grad + weight_decay * p
// momentum: buffer = momentum * buffer + (1 - dampening) * g; g = nesterov ? g + momentum * buffer : buffer
// p -= lr * g
// Without momentum the list of buffers is empty.
CRESSET_KERNEL(Kernel<void(const Tensor& first, TensorList params, TensorList buffers, TensorList grads, double lr,
                           double momentum, double dampening, double weight_decay, bool nesterov, bool maximize)>,
               sgd_step_kernel, "sgd_step", 3);

// p *= keep (AdamW's decay); g = sign * grad + weight_decay * p (Adam's)
// avg = beta1 * avg + (1 - beta1) * g; square = beta2 * square + (1 - beta2) * g²
// p -= step_size * avg / (sqrt(max(largest, square)) / root_correction + eps)
// Without amsgrad the list of largest squares is empty.
CRESSET_KERNEL(Kernel<void(const Tensor& first, TensorList params, TensorList avgs, TensorList squares,
                           TensorList largest, TensorList grads, double step_size, double root_correction, double beta1,
                           double beta2, double eps, double weight_decay, double keep, bool maximize)>,
               adam_step_kernel, "adam_step", 5);

}  // namespace cresset
