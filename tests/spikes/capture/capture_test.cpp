// SPIKE 2. Capture and replay: a training step of an MLP is recorded below autograd as a list of kernel calls and
// replayed on new inputs; after ten steps the parameters equal those of ten ordinary steps bit for bit.
#include "cresset/compile/capture.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cresset/autograd/autograd.h"
#include "cresset/cresset.h"

namespace cresset {
namespace {

using compile::Captured;

Tensor noise(IntArrayRef sizes, uint32_t seed, float scale = 1) {
  Tensor x = empty(sizes);
  for (int64_t i = 0; i < x.numel(); i++) {
    seed = seed * 1664525u + 1013904223u;
    x.data_ptr<float>()[i] = scale * (static_cast<float>(seed >> 8) / 8388608.f - 1);
  }
  return x;
}

std::string bits_of(const Tensor& x) {
  Tensor dense = x.detach().contiguous();
  return {static_cast<char*>(dense.data_ptr()), dense.nbytes()};
}

struct Mlp {
  std::vector<Tensor> parameters{noise({16, 6}, 1, 0.4f), noise({16}, 2, 0.1f), noise({3, 16}, 3, 0.4f),
                                 noise({3}, 4, 0.1f)};
  Mlp() {
    for (Tensor& p : parameters) p.requires_grad_();
  }
  Tensor forward(const Tensor& x) const {
    return linear(relu(linear(x, parameters[0], parameters[1])), parameters[2], parameters[3]);
  }
  // One step of SGD on the cross entropy; gradients are dropped at its end.
  Tensor step(const Tensor& x, const Tensor& classes) const {
    Tensor loss = cross_entropy(forward(x), classes);
    loss.backward();
    NoGradGuard no_grad;
    for (const Tensor& p : parameters) {
      p.add_(p.grad(), -0.1);
      p.mutable_grad().reset();
    }
    return loss;
  }
};

struct Batch {
  Tensor x, y;
  explicit Batch(uint32_t seed) : x(noise({8, 6}, seed)), y(empty({8}, kLong)) {
    for (uint32_t i = 0; i < 8; i++) y.data_ptr<int64_t>()[i] = (seed + i * i) % 3;
  }
};

void expect_same_parameters(const Mlp& a, const Mlp& b) {
  for (size_t i = 0; i < a.parameters.size(); i++)
    EXPECT_EQ(bits_of(a.parameters[i]), bits_of(b.parameters[i])) << "parameter " << i;
}

TEST(SpikeCapture, TenReplayedTrainingStepsEqualTenOrdinaryOnesBitForBit) {
  Mlp ordinary, replayed;
  Batch first(10);
  Tensor x = first.x.clone(), y = first.y.clone();
  Captured step({x, y}, [&] { return std::vector<Tensor>{replayed.step(x, y)}; });
  ordinary.step(first.x, first.y);
  expect_same_parameters(ordinary, replayed);

  for (uint32_t i = 1; i <= 10; i++) {
    Batch batch(10 + i);
    Tensor wanted = ordinary.step(batch.x, batch.y);
    Tensor found = step({batch.x, batch.y})[0];
    ASSERT_EQ(bits_of(found), bits_of(wanted)) << "loss of step " << i;
  }

  expect_same_parameters(ordinary, replayed);
}

TEST(SpikeCapture, RecordsKernelsOnlyAndNoGraph) {
  Mlp mlp;
  Batch batch(10);
  Captured step({batch.x, batch.y}, [&] { return std::vector<Tensor>{mlp.step(batch.x, batch.y)}; });

  std::vector<std::string> names = step.kernel_names();

  EXPECT_EQ(std::count(names.begin(), names.end(), "relu"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "relu_backward"), 1);
  EXPECT_FALSE(step({batch.x, batch.y})[0].requires_grad());
}

TEST(SpikeCapture, HoldsTheMemoryOfWhatTheStepDropped) {
  Tensor x = noise({1000}, 1);
  Captured step({x}, [&] { return std::vector<Tensor>{exp(x + 1) * 2}; });
  std::vector<Tensor> others;  // would take the freed memory of the intermediate results
  for (int i = 0; i < 10; i++) others.push_back(ones({1000}));

  Tensor fresh = noise({1000}, 2);
  EXPECT_EQ(bits_of(step({fresh})[0]), bits_of(exp(fresh + 1) * 2));

  for (const Tensor& other : others) EXPECT_EQ(bits_of(other), bits_of(ones({1000})));
}

TEST(SpikeCapture, AddsIntoAGradientThatWasThereBefore) {
  Tensor w = ones({3}).requires_grad_(), x = noise({3}, 1);
  w.mutable_grad() = zeros({3});
  Captured step({x}, [&] {
    w.grad().zero_();
    (w * x).backward(ones({3}));
    return std::vector<Tensor>{w.grad()};
  });

  Tensor fresh = noise({3}, 2);
  step({fresh});

  EXPECT_EQ(bits_of(w.grad()), bits_of(fresh)) << "zeroed inside the step, then added to once";
}

TEST(SpikeCapture, DrawsTheRandomNumbersThatTheStepItselfWouldHaveDrawn) {
  Tensor x = ones({100});
  auto noisy = [&] { return std::vector<Tensor>{dropout(x, 0.5, true) + uniform_(empty({100}))}; };
  std::vector<std::string> wanted, found;
  manual_seed(7);
  for (int i = 0; i < 4; i++) wanted.push_back(bits_of(noisy()[0]));

  manual_seed(7);
  Captured step({x}, noisy);
  found.push_back(bits_of(step.outputs()[0]));
  for (int i = 1; i < 4; i++) found.push_back(bits_of(step({x})[0]));

  EXPECT_EQ(found, wanted);
  EXPECT_NE(found[1], found[2]);
}

TEST(SpikeCapture, RefusesRandomNumbersThatItCouldNotRenew) {
  Tensor x = ones({4});
  Generator own(3);
  EXPECT_THROW(Captured({x}, [&] { return std::vector<Tensor>{uniform_(empty({4}), 0, 1, own)}; }), Error);
}

TEST(SpikeCapture, AReplayInsideACaptureIsRecordedToo) {
  Tensor x = noise({4}, 1), z = noise({4}, 2);
  Captured inner({x}, [&] { return std::vector<Tensor>{x * 3}; });
  Captured outer({z}, [&] { return std::vector<Tensor>{inner({z})[0] + 1}; });

  Tensor fresh = noise({4}, 3);
  EXPECT_EQ(bits_of(outer({fresh})[0]), bits_of(fresh * 3 + 1));
}

TEST(SpikeCapture, AReplayIsSeenAsAnInPlaceChangeByTheGraph) {
  Tensor x = noise({4}, 1), w = ones({4}).requires_grad_();
  Captured step({x}, [&] { return std::vector<Tensor>{x * 3}; });
  Tensor y = w * step({x})[0];  // saves the output for backward

  step({noise({4}, 2)});

  EXPECT_THROW(y.backward(ones({4})), AutogradError);
}

TEST(SpikeCapture, RefusesToBakeInAValueThatTheProgramReads) {
  Tensor x = ones({1});
  try {
    Captured step({x}, [&] { return std::vector<Tensor>{x * x.item<float>()}; });
    FAIL() << "item was allowed";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("item: a tensor of shape [1] was read while a step is captured"),
              std::string::npos)
        << error.what();
  }
}

TEST(SpikeCapture, RefusesInputsThatDoNotFitTheRecording) {
  Tensor x = ones({2, 3});
  Captured step({x}, [&] { return std::vector<Tensor>{x + 1}; });
  EXPECT_THROW(step({ones({3, 2})}), ShapeError);
  EXPECT_THROW(step({ones({2, 3}, kDouble)}), TypeError);
  EXPECT_THROW(step({x, x}), Error);
}

}  // namespace
}  // namespace cresset
