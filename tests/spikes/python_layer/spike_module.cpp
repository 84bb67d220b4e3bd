// SPIKE 5. A small module: a Layer that Python may derive from, and a C++ container of layers.
#include <pybind11/stl.h>

#include <thread>

#include "bindings/held_by_cpp.h"
#include "bindings/tensor_object.h"
#include "cresset/cresset.h"

namespace py = pybind11;
using cresset::Tensor;

namespace {

class Layer {
 public:
  virtual ~Layer() = default;
  virtual Tensor forward(const Tensor& x) = 0;
};

class PythonLayer : public Layer {
 public:
  Tensor forward(const Tensor& x) override { PYBIND11_OVERRIDE_PURE(Tensor, Layer, forward, x); }
};

class Twice : public Layer {
 public:
  Tensor forward(const Tensor& x) override { return x + x; }
};

class Layers {
 public:
  void append(std::shared_ptr<Layer> layer) { layers_.push_back(std::move(layer)); }
  Tensor forward(Tensor x) const {
    for (const auto& layer : layers_) x = layer->forward(x);
    return x;
  }
  const std::shared_ptr<Layer>& at(size_t i) const { return layers_.at(i); }

 private:
  std::vector<std::shared_ptr<Layer>> layers_;
};

Tensor tensor(const std::vector<float>& values) {
  Tensor x = cresset::empty({static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), x.data_ptr<float>());
  return x;
}
std::vector<float> to_list(const Tensor& x) {
  Tensor dense = x.contiguous();
  return {dense.data_ptr<float>(), dense.data_ptr<float>() + dense.numel()};
}

Tensor forward_in_a_thread(const Layers& layers, const Tensor& x) {
  Tensor y;
  std::thread([&] { y = layers.forward(x); }).join();
  return y;
}

void add_tensor_methods(const py::object& type) {
  auto method = [&](const char* name, auto&& f) { type.attr(name) = py::cpp_function(f, py::is_method(type)); };
  method("requires_grad_", [](const Tensor& x) { return x.requires_grad_(); });
  method("backward", [](const Tensor& x, const Tensor& g) { x.backward(g); });
  method("__mul__", [](const Tensor& x, double k) { return x * k; });
  method("tolist", &to_list);
  py::object property = py::module_::import("builtins").attr("property");
  type.attr("grad") =
      property(py::cpp_function([](const Tensor& x) { return x.grad(); }, py::is_method(type)),
               py::cpp_function([](const Tensor& x, const Tensor& g) { x.mutable_grad() = g; }, py::is_method(type)));
}

}  // namespace

PYBIND11_MODULE(cresset_spike, module) {
  py::object tensor_type = cresset::python::make_tensor_type();
  add_tensor_methods(tensor_type);
  module.attr("Tensor") = tensor_type;
  module.def("tensor", &tensor);

  py::class_<Layer, PythonLayer, std::shared_ptr<Layer>>(module, "Layer")
      .def(py::init<>())
      .def("forward", &Layer::forward);
  py::class_<Twice, Layer, std::shared_ptr<Twice>>(module, "Twice").def(py::init<>());
  py::class_<Layers>(module, "Layers")
      .def(py::init<>())
      .def("append", [](Layers& layers,
                        py::object layer) { layers.append(cresset::python::held_by_cpp<Layer>(std::move(layer))); })
      .def("forward", &Layers::forward)
      .def("__getitem__", &Layers::at);
  module.def("forward_in_a_thread", &forward_in_a_thread, py::call_guard<py::gil_scoped_release>());
}
