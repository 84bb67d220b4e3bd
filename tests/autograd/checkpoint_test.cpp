// Checkpointing: the same gradients in less memory.
#include "expect.h"

namespace cresset {
namespace {

using namespace autograd;

Tensor block(const Tensor& x) { return (x * x).exp().relu() * 0.5; }

TEST(Checkpoint, GivesTheSameGradients) {
  Tensor x = leaf_of({0.1, 0.2}), y = leaf_of({0.1, 0.2});
  block(x).sum().backward();
  checkpoint(block, y).sum().backward();
  EXPECT_EQ(values_of(x.grad()), values_of(y.grad()));
}

TEST(Checkpoint, ComputesOnceMoreAndOnlyWhenAsked) {
  int calls = 0;
  Tensor x = leaf_of({0.1});
  auto counted = [&](const Tensor& t) {
    calls++;
    return block(t);
  };
  Tensor y = checkpoint(counted, x).sum();
  EXPECT_EQ(calls, 1);
  y.backward({}, /*retain_graph=*/true);
  EXPECT_EQ(calls, 2);
  y.backward();
  EXPECT_EQ(calls, 3);
  EXPECT_ERROR(AutogradError, y.backward(), "second time");
  NoGradGuard no_grad;
  checkpoint(counted, x);
  EXPECT_EQ(calls, 4);
}

TEST(Checkpoint, SeveralInputsAndOutputs) {
  Tensor a = leaf_of({1, 2}), b = leaf_of({3, 4}), plain = tensor_of({5, 6}, {2});
  variable_list y = checkpoint(
      [](const variable_list& in) {
        return variable_list{in[0] * in[1], (in[1] * in[2]).exp() * 0, in[2]};
      },
      variable_list{a, b, plain});
  EXPECT_TRUE(y[1].requires_grad());
  EXPECT_FALSE(y[2].requires_grad());
  (y[0] + y[1]).sum().backward();
  EXPECT_EQ(values_of(a.grad()), Numbers({3, 4}));
  EXPECT_EQ(values_of(b.grad()), Numbers({1, 2}));
}

TEST(Checkpoint, WorksWithGradAndTwice) {
  auto f = [](const Tensor& t) { return checkpoint([](const Tensor& u) { return (u * u * u).exp(); }, t) * t; };
  Tensor x = leaf_of({0.3, -0.4}, kDouble);
  EXPECT_TRUE(gradcheck(f, x));
  EXPECT_TRUE(gradgradcheck(f, x));
}

TEST(Checkpoint, Nested) {
  auto f = [](const Tensor& t) {
    return checkpoint(
        [](const Tensor& u) {
          Tensor inner = checkpoint([](const Tensor& v) { return (v * v).exp() * v; }, u * u);
          return checkpoint([](const Tensor& v) { return v * v; }, inner).exp();
        },
        t);
  };
  Tensor x = leaf_of({0.3, -0.4}, kDouble);
  EXPECT_TRUE(gradcheck(f, x));
  EXPECT_TRUE(gradgradcheck(f, x));
}

TEST(Checkpoint, DrawsTheSameRandomNumbersAgain) {
  auto noisy = [](const Tensor& t) {
    PhiloxCursor cursor = default_generator().reserve(1);
    return (t * (1.0 + uniform_float(cursor.block(0)[0]))).exp();
  };
  manual_seed(7);
  Tensor x = leaf_of({0.5}, kDouble), y = leaf_of({0.5}, kDouble);
  noisy(x).sum().backward();
  manual_seed(7);
  Tensor z = checkpoint(noisy, y).sum();
  default_generator().reserve(100);
  uint64_t offset = default_generator().get_offset();
  z.backward();
  EXPECT_EQ(values_of(x.grad()), values_of(y.grad()));
  EXPECT_EQ(default_generator().get_offset(), offset);  // and nobody else's stream moved
}

TEST(Checkpoint, NoticesWhatChangedInBetween) {
  Tensor x = leaf_of({1, 2});
  Tensor h = x * 1;
  Tensor y = checkpoint(block, h).sum();
  h.add_(1);
  EXPECT_ERROR(AutogradError, y.backward(), "modified by an inplace operation");
  int calls = 0;
  Tensor other = checkpoint([&](const Tensor& t) { return calls++ ? t + 1 : t * t; }, x).sum();
  EXPECT_ERROR(AutogradError, other.backward(), "different number of tensors");
  calls = 0;
  Tensor shapes = checkpoint([&](const Tensor& t) { return (calls++ ? t.slice(0, 0, 1) : t).exp(); }, x).sum();
  EXPECT_ERROR(AutogradError, shapes.backward(), "different metadata");
}

int64_t peak_of(const std::function<Tensor(const Tensor&)>& network) {
  Tensor x = zeros({1 << 16}).requires_grad_();
  int64_t before = memory_stats().allocated_bytes;
  reset_peak_memory_stats();
  network(x).sum().backward();
  return memory_stats().peak_allocated_bytes - before;
}

TEST(Checkpoint, MemoryFalls) {
  constexpr int kLayers = 64;
  std::vector<std::function<Tensor(const Tensor&)>> layers(kLayers, [](const Tensor& t) { return t.exp() * 0.1; });
  auto plain = [&](const Tensor& x) {
    Tensor y = x;
    for (auto& layer : layers) y = layer(y);
    return y;
  };
  auto checkpointed = [&](const Tensor& x) { return checkpoint_sequential(layers, 8, x); };
  int64_t full = peak_of(plain), less = peak_of(checkpointed);
  EXPECT_GT(full, kLayers * (int64_t{1} << 18));
  EXPECT_LT(less, full / 3);
}

TEST(CheckpointSequential, GivesTheSameForEveryNumberOfSegments) {
  std::vector<std::function<Tensor(const Tensor&)>> layers(5, [](const Tensor& t) { return t.exp() * 0.2; });
  Tensor x = leaf_of({0.5, 1});
  Tensor y = x;
  for (auto& layer : layers) y = layer(y);
  y.sum().backward();
  for (int64_t segments : {1, 2, 3, 5}) {
    Tensor z = leaf_of({0.5, 1});
    checkpoint_sequential(layers, segments, z).sum().backward();
    EXPECT_EQ(values_of(z.grad()), values_of(x.grad()));
  }
  EXPECT_ERROR(ValueError, checkpoint_sequential(layers, 6, x), "found 6 segments for 5 functions");
}

}  // namespace
}  // namespace cresset
