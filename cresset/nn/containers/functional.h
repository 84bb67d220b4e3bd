// Functional: a function as a module, so that it can stand in a Sequential: Functional(relu), Functional(elu, 1.0).
#pragma once

#include <functional>

#include "cresset/nn/cloneable.h"

namespace cresset::nn {

class CRESSET_API FunctionalImpl : public Cloneable<FunctionalImpl> {
 public:
  using Function = std::function<Tensor(Tensor)>;

  explicit FunctionalImpl(Function function);
  // The function's further arguments, after the input.
  template <class F, class... Args>
  requires(sizeof...(Args) > 0) explicit FunctionalImpl(F function, Args... args)
      : FunctionalImpl(
            Function([function, args...](Tensor input) mutable { return function(std::move(input), args...); })) {}

  void reset() override {}
  Tensor forward(Tensor input) { return function_(std::move(input)); }
  Tensor operator()(Tensor input) { return function_(std::move(input)); }
  bool is_serializable() const override { return false; }
  void pretty_print(std::ostream& stream) const override;

 private:
  Function function_;
};
CRESSET_MODULE(Functional);

}  // namespace cresset::nn
