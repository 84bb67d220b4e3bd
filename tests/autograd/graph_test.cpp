// Walking a graph and writing it down.
#include "expect.h"

namespace cresset {
namespace {

using namespace autograd;

TEST(Graph, HasTheNodesAndEdges) {
  Tensor x = leaf_of({1, 2}), w = leaf_of({3, 4});
  Tensor h = x * w;
  Tensor y = (h + h).sum();
  std::vector<GraphNode> nodes = graph_nodes({y});
  ASSERT_EQ(nodes.size(), 5u);  // sum, add, mul, two leaves
  EXPECT_EQ(nodes[0].node, y.grad_fn());
  EXPECT_EQ(nodes[1].name, "AddBackward0");
  ASSERT_EQ(nodes[1].edges.size(), 2u);
  EXPECT_EQ(nodes[1].edges[0].to, nodes[1].edges[1].to);
  EXPECT_EQ(nodes[1].edges[1].from_input, 1u);
  EXPECT_EQ(nodes[2].name, "MulBackward0");
  EXPECT_GT(nodes[1].sequence_nr, nodes[2].sequence_nr);
  EXPECT_TRUE(nodes[3].is_leaf);
  EXPECT_EQ(nodes[3].leaf_sizes, std::vector<int64_t>({2}));
  EXPECT_TRUE(graph_nodes({x.detach()}).empty());
}

TEST(Graph, AsDot) {
  Tensor x = leaf_of({1, 2});
  EXPECT_EQ(graph_to_dot({x * 2}),
            "digraph autograd {\n  rankdir=BT;\n  node [shape=box, fontname=monospace];\n"
            "  n0 [label=\"MulBackward0\"];\n"
            "  n1 [label=\"AccumulateGrad [2]\", style=filled, fillcolor=lightblue];\n"
            "  n0 -> n1;\n}\n");
}

TEST(Graph, AsJson) {
  Tensor x = leaf_of({1, 2});
  Tensor y = x * 2;
  EXPECT_EQ(graph_to_json({y}),
            "{\"nodes\": [\n  {\"id\": 0, \"name\": \"MulBackward0\", \"sequence\": " +
                std::to_string(y.grad_fn()->sequence_nr()) +
                ", \"edges\": [{\"to\": 1, \"input\": 0, \"output\": 0}]},\n"
                "  {\"id\": 1, \"name\": \"AccumulateGrad\", \"leaf\": {\"name\": \"\", \"shape\": [2], \"dtype\": "
                "\"float32\"}, \"edges\": []}\n]}\n");
}

TEST(Graph, IsWalkedWithoutRecursion) {
  Tensor h = leaf_of({1});
  for (int i = 0; i < 300000; i++) h = h + 1;
  EXPECT_EQ(graph_nodes({h}).size(), 300001u);
}

}  // namespace
}  // namespace cresset
