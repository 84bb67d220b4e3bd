// Who owns whom between a Tensor and its Python object.
#include "tensor_object.h"

#include <structmember.h>

namespace cresset::python {
namespace {

struct TensorObject {
  PyObject_HEAD PyObject* attributes;
  PyObject* weak_references;
  TensorImpl* impl;  // always set while the object lives
  bool owns_handle;  // Python owns: this object counts as one handle of impl
};

PyTypeObject* type = nullptr;

TensorObject* as_tensor_object(PyObject* object) { return reinterpret_cast<TensorObject*>(object); }

// The last C++ handle goes while C++ owns the object. True if somebody in Python got hold of it meanwhile (through a
// weak reference): then the object takes the handle over.
bool last_handle_gone(void* object, TensorImpl* impl) {
  if (!Py_IsInitialized()) return false;
  PyGILState_STATE gil = PyGILState_Ensure();
  auto* self = as_tensor_object(static_cast<PyObject*>(object));
  bool keeps = Py_REFCNT(self) > 1;
  if (keeps) {
    self->owns_handle = true;
  } else {
    impl->binding->object = nullptr;
    impl->binding->last_handle_gone = nullptr;
    self->impl = nullptr;
  }
  Py_DECREF(self);
  PyGILState_Release(gil);
  return keeps;
}

// C++ owns -> Python owns. The caller gets the reference that the slot held.
void hand_to_python(TensorObject* self) {
  Ref<TensorImpl>::share(self->impl).release();
  self->owns_handle = true;
}

void drop_handle(TensorObject* self) {
  self->owns_handle = false;
  Ref<TensorImpl>::adopt(self->impl).reset();
}

// Python holds the object no more. If C++ still holds the tensor, it takes the object over.
void finalize(PyObject* object) {
  TensorObject* self = as_tensor_object(object);
  if (!self->impl || !self->owns_handle) return;
  if (self->impl->references.load() == 1) return;
  Py_INCREF(object);  // the slot's
  drop_handle(self);
}

void deallocate(PyObject* object) {
  if (PyObject_CallFinalizerFromDealloc(object) < 0) return;
  TensorObject* self = as_tensor_object(object);
  if (self->weak_references) PyObject_ClearWeakRefs(object);
  Py_CLEAR(self->attributes);
  if (TensorImpl* impl = self->impl) {
    impl->binding->object = nullptr;
    impl->binding->last_handle_gone = nullptr;
    drop_handle(self);
  }
  PyTypeObject* its_type = Py_TYPE(object);
  its_type->tp_free(object);
  Py_DECREF(its_type);
}

}  // namespace

pybind11::object make_tensor_type() {
  static PyMemberDef members[] = {
      {"__dictoffset__", T_PYSSIZET, offsetof(TensorObject, attributes), READONLY, nullptr},
      {"__weaklistoffset__", T_PYSSIZET, offsetof(TensorObject, weak_references), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr}};
  static PyGetSetDef getters[] = {{"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
                                  {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(&deallocate)},
                                {Py_tp_finalize, reinterpret_cast<void*>(&finalize)},
                                {Py_tp_members, members},
                                {Py_tp_getset, getters},
                                {0, nullptr}};
  // Not a base type: the objects of a Python subclass are finalized once only, so they could not come back twice.
  static PyType_Spec spec = {"cresset.Tensor", sizeof(TensorObject), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  PyObject* made = PyType_FromSpec(&spec);
  if (!made) throw pybind11::error_already_set();
  type = reinterpret_cast<PyTypeObject*>(made);
  return tensor_type();
}

pybind11::object tensor_type() {
  return pybind11::reinterpret_borrow<pybind11::object>(reinterpret_cast<PyObject*>(type));
}

PyObject* object_of(const Tensor& tensor) {
  if (!tensor.defined()) Py_RETURN_NONE;
  TensorImpl* impl = tensor.impl();
  if (!impl->binding) impl->binding = new BindingSlot;
  if (auto* object = static_cast<PyObject*>(impl->binding->object)) {
    TensorObject* self = as_tensor_object(object);
    if (self->owns_handle)
      Py_INCREF(object);
    else
      hand_to_python(self);
    return object;
  }
  PyObject* object = type->tp_alloc(type, 0);
  if (!object) throw pybind11::error_already_set();
  TensorObject* self = as_tensor_object(object);
  self->impl = Ref<TensorImpl>::share(impl).release();
  self->owns_handle = true;
  impl->binding->object = object;
  impl->binding->last_handle_gone = &last_handle_gone;
  return object;
}

bool is_tensor(PyObject* object) { return type && PyObject_TypeCheck(object, type); }

Tensor tensor_of(PyObject* object) { return Tensor(Ref<TensorImpl>::share(as_tensor_object(object)->impl)); }

}  // namespace cresset::python
