// Looking at a graph: its nodes and edges as plain data, and as text for Graphviz (DOT) or programs (JSON).
#pragma once

#include "cresset/autograd/node.h"

namespace cresset::autograd {

struct GraphNode {
  Ref<Node> node;
  std::string name;  // "MulBackward0"
  uint64_t sequence_nr;
  struct Link {
    size_t to;          // index into the list of nodes
    size_t from_input;  // which of this node's inputs
    uint32_t input_nr;  // which output of the other node
  };
  std::vector<Link> edges;
  bool is_leaf;  // an AccumulateGrad; then its tensor's shape, dtype and name
  std::vector<int64_t> leaf_sizes;
  std::string leaf_dtype;
  std::string leaf_name;
};

// Every node reachable from the roots, the roots' own first.
CRESSET_API std::vector<GraphNode> graph_nodes(const variable_list& roots);
CRESSET_API std::string graph_to_dot(const variable_list& roots);
CRESSET_API std::string graph_to_json(const variable_list& roots);

}  // namespace cresset::autograd
