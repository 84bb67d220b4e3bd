// Base of layers that own no tensors and no submodules: options, and nothing to reset.
#pragma once

#include "cresset/nn/cloneable.h"

namespace cresset::nn {

template <class Derived, class Options>
class Stateless : public Cloneable<Derived> {
 public:
  explicit Stateless(const Options& options_) : options(options_) {}
  void reset() override {}
  Options options;
};

// Without options either.
template <class Derived>
class Stateless<Derived, void> : public Cloneable<Derived> {
 public:
  void reset() override {}
};

}  // namespace cresset::nn
