// torch::jit: what programs that run TorchScript name, so that they compile. Loading says what to do instead, since
// there is no interpreter of TorchScript here.
#pragma once

#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "cresset/core/device.h"
#include "cresset/core/ivalue.h"
#include "cresset/core/tensor.h"

namespace cresset::jit {

namespace detail {
[[noreturn]] inline void no_script(const char* what, const std::string& name) {
  throw NotImplementedError(message_of(
      what, ": found ", name,
      ", a traced or scripted module, which holds TorchScript code (expected parameters: save them in Python with "
      "torch.save(model.state_dict(), \"model.pt\"), build the same module here and call "
      "module->load_state_dict(io::load_pt(\"model.pt\")))"));
}
}  // namespace detail

// Nothing makes one that is not empty.
class Module {
 public:
  IValue forward(const std::vector<IValue>&) const { detail::no_script("jit::Module::forward", "an empty one"); }
  IValue operator()(const std::vector<IValue>& inputs) const { return forward(inputs); }
  void eval() {}
  void train(bool = true) {}
  void to(Device) {}
  void to(DType) {}
  std::vector<Tensor> parameters() const { return {}; }
  void save(const std::string& file) const { detail::no_script("jit::Module::save", file); }
};
namespace script {
using Module = ::cresset::jit::Module;
}

inline Module load(const std::string& file, std::optional<Device> = std::nullopt) {
  detail::no_script("jit::load", "\"" + file + "\"");
}
inline Module load(std::istream&, std::optional<Device> = std::nullopt) { detail::no_script("jit::load", "a stream"); }

}  // namespace cresset::jit
