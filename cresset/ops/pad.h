// Padding: with a constant, or with the tensor's own values reflected, repeated from the edge, or wrapped around.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

enum class PadMode : uint8_t { reflect, replicate, circular };
// `pad` has two numbers for each of the last dimensions, the last one's first; negative ones cut off. `mode` is a
// PadMode. The backward kernel adds every element of g to the one that it was read from.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, IntArrayRef pad, int64_t mode)>, pad_kernel, "pad");
CRESSET_KERNEL(Kernel<void(const Tensor& gx, const Tensor& g, IntArrayRef pad, int64_t mode)>, pad_backward_kernel,
               "pad_backward");

CRESSET_API Tensor constant_pad_nd(const Tensor& self, IntArrayRef pad, const Scalar& value = 0);
CRESSET_API Tensor reflection_pad1d(const Tensor& self, IntArrayRef padding);
CRESSET_API Tensor& reflection_pad1d_out(Tensor& out, const Tensor& self, IntArrayRef padding);
CRESSET_API Tensor reflection_pad2d(const Tensor& self, IntArrayRef padding);
CRESSET_API Tensor& reflection_pad2d_out(Tensor& out, const Tensor& self, IntArrayRef padding);
CRESSET_API Tensor reflection_pad3d(const Tensor& self, IntArrayRef padding);
CRESSET_API Tensor& reflection_pad3d_out(Tensor& out, const Tensor& self, IntArrayRef padding);
CRESSET_API Tensor replication_pad1d(const Tensor& self, IntArrayRef padding);
CRESSET_API Tensor& replication_pad1d_out(Tensor& out, const Tensor& self, IntArrayRef padding);
CRESSET_API Tensor replication_pad2d(const Tensor& self, IntArrayRef padding);
CRESSET_API Tensor& replication_pad2d_out(Tensor& out, const Tensor& self, IntArrayRef padding);
CRESSET_API Tensor replication_pad3d(const Tensor& self, IntArrayRef padding);
CRESSET_API Tensor& replication_pad3d_out(Tensor& out, const Tensor& self, IntArrayRef padding);
// mode: "constant", "reflect", "replicate" or "circular".
CRESSET_API Tensor pad(const Tensor& self, IntArrayRef pad, std::string_view mode = "constant",
                       std::optional<double> value = std::nullopt);

}  // namespace cresset
