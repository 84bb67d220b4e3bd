// Loops without DistributedDataParallel: the one that reduces only the loss is caught, those that are right are left
// alone.
#include <gtest/gtest.h>

#include "cresset/distributed/drift_watch.h"
#include "ddp_support.h"
#include "processes.h"

using namespace ddp_test;

namespace {

enum class Reduced { loss_only, gradients, nothing };

void train(int rank, Reduced what, nn::Sequential net, int steps = 12) {
  cresset::optim::SGD optimizer(net->parameters(), 0.1);
  for (int step = 0; step < steps; step++) {
    optimizer.zero_grad();
    Tensor loss = net->forward(cresset::full({2, 6}, rank + step + 1.0)).square().mean();
    loss.backward();
    if (what == Reduced::loss_only) dist::all_reduce(loss.detach(), dist::ReduceOp::AVG);
    if (what == Reduced::gradients)
      for (const Tensor& p : net->parameters()) dist::all_reduce(p.grad(), dist::ReduceOp::AVG);
    optimizer.step();
  }
  dist::barrier();
}

}  // namespace

TEST(DriftWatch, TheLoopThatReducesOnlyTheLossIsCaught) {
  const auto outcome = cresset::testing::run_ranks(2, [](int rank) {
    dist::init_process_group();
    cresset::manual_seed(1);
    nn::Sequential net = mlp();
    dist::watch(*net);
    train(rank, Reduced::loss_only, net);
  });
  // The one who finds it first ends; the other has found it, too, or hears that somebody is gone.
  std::string all;
  for (const auto& rank : outcome.ranks) {
    EXPECT_NE(rank.status, 0);
    all += rank.text;
  }
  EXPECT_NE(all.find("parameters drifted: 0.weight differs between rank"), std::string::npos) << all;
  EXPECT_NE(all.find("the gradients were not reduced"), std::string::npos) << all;
}

TEST(DriftWatch, RightLoopsAreLeftAlone) {
  run(2, [](int rank) {
    cresset::manual_seed(1);
    train(rank, Reduced::gradients, mlp());
    train(rank, Reduced::nothing, mlp());  // trainings that have nothing to do with each other
    cresset::manual_seed(static_cast<uint64_t>(rank));
    train(rank, Reduced::loss_only, mlp());                  // from different starts
    train(rank, Reduced::loss_only, mlp({6, 3 + rank, 4}));  // the parts of one model
  });
}

TEST(DriftWatch, LocalStepsBetweenAveragesAreLeftAlone) {
  run(2, [](int rank) {
    cresset::manual_seed(1);
    nn::Sequential net = mlp();
    cresset::optim::SGD optimizer(net->parameters(), 0.1);
    for (int step = 0; step < 10; step++) {
      optimizer.zero_grad();
      net->forward(cresset::full({2, 6}, rank + 1.0)).square().mean().backward();
      optimizer.step();
      cresset::NoGradGuard no_grad;
      if (step % 3 == 2)
        for (const Tensor& p : net->parameters()) dist::all_reduce(p.detach(), dist::ReduceOp::AVG);
    }
  });
}

// Gradients are reduced where they arrive, whoever called what is inside the wrapper.
TEST(DriftWatch, CallingTheModuleInsideTheWrapperReducesAsWell) {
  run(2, [](int rank) {
    cresset::manual_seed(1);
    nn::Sequential net = mlp();
    const dist::DistributedDataParallel model(net);
    cresset::optim::SGD optimizer(net->parameters(), 0.1);
    for (int step = 0; step < 5; step++) {
      optimizer.zero_grad();
      net->forward(cresset::full({2, 6}, rank + 1.0)).square().mean().backward();
      optimizer.step();
    }
    for (auto& item : net->named_parameters()) require_same_everywhere(item.value(), item.key());
  });
}

// Ranks that began apart may mean it; whoever only reduces a loss is told, by rank 0 and once.
TEST(DriftWatch, DifferentStartsAreWarnedOf) {
  for (const bool exchanges : {true, false}) {
    run(2, [=](int rank) {
      ::testing::internal::CaptureStderr();
      cresset::manual_seed(static_cast<uint64_t>(rank));
      nn::Sequential net = mlp();
      cresset::optim::SGD optimizer(net->parameters(), 0.1);
      for (int step = 0; step < 40; step++) {
        optimizer.zero_grad();
        const Tensor loss = net->forward(cresset::full({2, 6}, rank + 1.0)).square().mean();
        loss.backward();
        optimizer.step();
        if (exchanges)
          dist::all_reduce(loss.detach());
        else
          dist::barrier();
      }
      const std::string said = ::testing::internal::GetCapturedStderr();
      EXPECT_EQ(said.find("were different from the start") != std::string::npos, exchanges && rank == 0) << said;
    });
  }
}

// A rank that takes more steps than another waits for nobody.
TEST(DriftWatch, NobodyWaitsForARankThatStepsLess) {
  run(2, [](int rank) {
    cresset::manual_seed(1);
    nn::Sequential net = mlp();
    cresset::optim::SGD optimizer(net->parameters(), 0.1);
    for (int step = 0; step < (rank ? 300 : 2); step++) {
      optimizer.zero_grad();
      optimizer.step();
    }
    dist::barrier();
  });
}
