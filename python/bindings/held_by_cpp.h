// held_by_cpp: a shared_ptr to a bound C++ object that keeps its Python object alive as well. pybind11's own shared_ptr
// keeps only the C++ half: once Python drops a subclass's object, its overrides are gone and a virtual call finds the
// pure base. Every container of bound objects (Sequential, Module's children) takes its parts through this.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

namespace cresset::python {

template <class T>
std::shared_ptr<T> held_by_cpp(pybind11::object object) {
  T* raw = object.cast<T*>();
  return std::shared_ptr<T>(raw, [held = object.release().ptr()](T*) {
    if (!Py_IsInitialized()) return;
    pybind11::gil_scoped_acquire gil;
    Py_DECREF(held);
  });
}

}  // namespace cresset::python
