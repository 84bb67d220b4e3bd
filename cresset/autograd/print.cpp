// What core/print.h asks of the graph.
#include "cresset/core/print.h"

#include "cresset/autograd/node.h"

namespace cresset {

std::string grad_fn_name(const Tensor& tensor) {
  Ref<autograd::Node> node = tensor.grad_fn();
  return node ? node->name() : std::string();
}

}  // namespace cresset
