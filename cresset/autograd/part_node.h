// PartNode: the node of a view that shows a part of its input (select, slice). The gradient of the whole is zero
// elsewhere, so where one is under way already the engine adds the part's to it in place, and neither fills nor adds
// the rest.
#pragma once

#include "cresset/autograd/node.h"

namespace cresset::autograd {

class PartNode : public Node {
 public:
  // Of all part nodes and of no other: the engine knows them by the place of their names, at the cost of a compare.
  static constexpr char kSelect[] = "SelectBackward0", kSlice[] = "SliceBackward0";
  static bool is(const Node& node) { return node.raw_name() == kSelect || node.raw_name() == kSlice; }

  using Node::Node;
  // The same part of another tensor of the input's sizes.
  virtual Tensor part(const Tensor& whole) const = 0;
};

}  // namespace cresset::autograd
