// Walking a graph with a list of nodes still to visit: a graph may be a million nodes deep.
#include "cresset/autograd/graph.h"

#include <unordered_map>

#include "cresset/autograd/variable.h"

namespace cresset::autograd {
namespace {

GraphNode described(const Ref<Node>& node) {
  GraphNode entry{node, node->name(), node->sequence_nr(), {}, false, {}, {}, {}};
  if (auto* leaf = dynamic_cast<AccumulateGrad*>(node.get())) {
    entry.is_leaf = true;
    entry.leaf_sizes = leaf->leaf().sizes().vec();
    entry.leaf_dtype = name_of(leaf->leaf().dtype());
    entry.leaf_name = leaf->leaf().name();
  }
  return entry;
}

// For both DOT and JSON strings.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      out += ' ';
    else
      out += c;
  }
  return out + "\"";
}

}  // namespace

std::vector<GraphNode> graph_nodes(const variable_list& roots) {
  std::vector<GraphNode> nodes;
  std::unordered_map<Node*, size_t> places;
  auto place_of = [&](const Ref<Node>& node) {
    auto [it, added] = places.emplace(node.get(), nodes.size());
    if (added) nodes.push_back(described(node));
    return it->second;
  };
  for (const Tensor& root : roots)
    if (root.defined())
      if (Edge edge = gradient_edge(root); edge.is_valid()) place_of(edge.function);
  for (size_t at = 0; at < nodes.size(); at++) {
    Ref<Node> node = nodes[at].node;
    for (uint32_t i = 0; i < node->num_outputs(); i++) {
      const Edge& edge = node->next_edge(i);
      if (!edge.is_valid()) continue;
      size_t to = place_of(edge.function);
      nodes[at].edges.push_back({to, i, edge.input_nr});
    }
  }
  return nodes;
}

std::string graph_to_dot(const variable_list& roots) {
  std::string out = "digraph autograd {\n  rankdir=BT;\n  node [shape=box, fontname=monospace];\n";
  std::vector<GraphNode> nodes = graph_nodes(roots);
  for (size_t i = 0; i < nodes.size(); i++) {
    const GraphNode& n = nodes[i];
    std::string label = n.name;
    if (n.is_leaf) label += (n.leaf_name.empty() ? " " : " " + n.leaf_name + " ") + text_of(n.leaf_sizes);
    out += "  n" + std::to_string(i) + " [label=" + quoted(label) +
           (n.is_leaf ? ", style=filled, fillcolor=lightblue];\n" : "];\n");
  }
  for (size_t i = 0; i < nodes.size(); i++)
    for (const auto& edge : nodes[i].edges) {
      out += "  n" + std::to_string(i) + " -> n" + std::to_string(edge.to);
      out += edge.input_nr ? " [label=" + quoted(std::to_string(edge.input_nr)) + "];\n" : ";\n";
    }
  return out + "}\n";
}

std::string graph_to_json(const variable_list& roots) {
  std::string out = "{\"nodes\": [";
  std::vector<GraphNode> nodes = graph_nodes(roots);
  for (size_t i = 0; i < nodes.size(); i++) {
    const GraphNode& n = nodes[i];
    out += std::string(i ? "," : "") + "\n  {\"id\": " + std::to_string(i) + ", \"name\": " + quoted(n.name);
    if (n.is_leaf)
      out += ", \"leaf\": {\"name\": " + quoted(n.leaf_name) + ", \"shape\": " + text_of(n.leaf_sizes) +
             ", \"dtype\": " + quoted(n.leaf_dtype) + "}";
    else
      out += ", \"sequence\": " + std::to_string(n.sequence_nr);
    out += ", \"edges\": [";
    for (size_t e = 0; e < n.edges.size(); e++)
      out += std::string(e ? ", " : "") + "{\"to\": " + std::to_string(n.edges[e].to) +
             ", \"input\": " + std::to_string(n.edges[e].from_input) +
             ", \"output\": " + std::to_string(n.edges[e].input_nr) + "}";
    out += "]}";
  }
  return out + "\n]}\n";
}

}  // namespace cresset::autograd
