// The Python object of a Tensor: one per tensor for as long as either side holds it, so that `x.grad is x.grad` and an
// attribute put on x.grad stays. At any time one of the two owns the other:
//
// - Python owns: the object holds a handle; the tensor's binding slot points back without counting.
// - C++ owns: when Python drops its last reference while C++ still holds the tensor, the object comes back to life,
//   owned by the tensor's slot and without a handle of its own. Asked for again, it is handed back to Python.
//
// A plain CPython type rather than a pybind11 class: only a type with its own finalizer can come back to life.
#pragma once

#include <pybind11/pybind11.h>

#include "cresset/core/tensor.h"

namespace cresset::python {

// Makes the type; the module adds methods to it.
pybind11::object make_tensor_type();
pybind11::object tensor_type();

// A new reference to the tensor's object (None for an undefined tensor).
PyObject* object_of(const Tensor& tensor);
bool is_tensor(PyObject* object);
Tensor tensor_of(PyObject* object);

}  // namespace cresset::python

namespace pybind11::detail {

template <>
struct type_caster<cresset::Tensor> {
  PYBIND11_TYPE_CASTER(cresset::Tensor, const_name("Tensor"));
  bool load(handle source, bool) {
    if (source.is_none()) return true;
    if (!cresset::python::is_tensor(source.ptr())) return false;
    value = cresset::python::tensor_of(source.ptr());
    return true;
  }
  static handle cast(const cresset::Tensor& tensor, return_value_policy, handle) {
    return cresset::python::object_of(tensor);
  }
};

}  // namespace pybind11::detail
