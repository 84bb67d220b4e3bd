// PyTorch's saved_tensors_hooks: plain functions pack what is saved for backward and unpack it again. pack may return
// anything that unpack takes, mostly another tensor.
//
//   autograd::graph::saved_tensors_hooks half([](const Tensor& x) { return x.to(kHalf); },
//                                             [](const Tensor& packed) { return packed.to(kFloat); });
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "cresset/autograd/saved.h"

namespace cresset::autograd::graph {

class saved_tensors_hooks : SavedTensorHooksScope {
 public:
  template <class Pack, class Unpack>
  saved_tensors_hooks(Pack pack, Unpack unpack)
      : SavedTensorHooksScope(
            hooks_of<std::decay_t<std::invoke_result_t<Pack&, const Tensor&>>>(std::move(pack), std::move(unpack))) {}

 private:
  template <class Packed, class Pack, class Unpack>
  static SavedTensorHooks hooks_of(Pack pack, Unpack unpack) {
    static_assert(std::is_invocable_r_v<Tensor, Unpack&, const Packed&>,
                  "saved_tensors_hooks: unpack must take what pack returns, and return a Tensor");
    return {[pack = std::move(pack)](const Tensor& saved) mutable -> std::shared_ptr<void> {
              return std::make_shared<Packed>(pack(saved));
            },
            [unpack = std::move(unpack)](const std::shared_ptr<void>& packed) mutable -> Tensor {
              return unpack(*static_cast<const Packed*>(packed.get()));
            }};
  }
};

}  // namespace cresset::autograd::graph
