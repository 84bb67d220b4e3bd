// Into: where an op writes its result. One definition of an op serves its functional, in-place and out forms.
#pragma once

#include "cresset/core/tensor.h"

namespace cresset {

struct Into {
  enum class Kind : uint8_t { fresh, in_place, out };
  Kind kind = Kind::fresh;
  const Tensor* tensor = nullptr;

  bool fresh() const { return kind == Kind::fresh; }
  bool in_place() const { return kind == Kind::in_place; }
  bool out() const { return kind == Kind::out; }
};
inline Into in_place(const Tensor& self) { return {Into::Kind::in_place, &self}; }
inline Into into_out(const Tensor& out) { return {Into::Kind::out, &out}; }

}  // namespace cresset
