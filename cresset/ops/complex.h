// Complex tensors and their parts. The parts are views: writing to real(x) changes x.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

CRESSET_API Tensor view_as_real(const Tensor& self);     // one more dimension, of size 2
CRESSET_API Tensor view_as_complex(const Tensor& self);  // the last dimension, of size 2, becomes the two parts
CRESSET_API Tensor real(const Tensor& self);             // self itself unless complex
CRESSET_API Tensor imag(const Tensor& self);
CRESSET_API Tensor complex(const Tensor& real, const Tensor& imag);
CRESSET_API Tensor& complex_out(Tensor& out, const Tensor& real, const Tensor& imag);
CRESSET_API Tensor polar(const Tensor& abs, const Tensor& angle);
CRESSET_API Tensor& polar_out(Tensor& out, const Tensor& abs, const Tensor& angle);
// Tensors here are never lazily conjugated or negated: self itself.
CRESSET_API Tensor resolve_conj(const Tensor& self);
CRESSET_API Tensor resolve_neg(const Tensor& self);

}  // namespace cresset
