// Wrong use, and what is said about it.
#include <gtest/gtest.h>

#include "ddp_support.h"

using namespace ddp_test;

namespace {

void expect_all_say(const std::vector<std::string>& errors, const std::string& words) {
  for (size_t rank = 0; rank < errors.size(); rank++)
    EXPECT_NE(errors[rank].find(words), std::string::npos) << "rank " << rank << ": " << errors[rank];
}

struct TwoImpl : nn::Module {
  nn::Linear used = nn::Linear(register_module("used", nn::Linear(2, 2)));
  nn::Linear idle = nn::Linear(register_module("idle", nn::Linear(2, 2)));
  Tensor forward(const Tensor& x) { return used(x); }
};
CRESSET_MODULE(Two);

}  // namespace

TEST(DdpErrors, AModelThatDiffersNamesTheParameterAndTheRank) {
  expect_all_say(
      errors_of(2,
                [](int rank) {
                  nn::Sequential net(nn::Linear(4 + rank, 10));
                  dist::DistributedDataParallel model(net);
                }),
      "DistributedDataParallel: parameter 0.weight is float32[10, 5] on rank 1, but float32[10, 4] on rank 0");
  expect_all_say(errors_of(2,
                           [](int rank) {
                             nn::Sequential net(nn::Linear(4, 10));
                             if (rank == 0) net->parameters()[1].requires_grad_(false);
                             dist::DistributedDataParallel model(net);
                           }),
                 "parameter 0.bias is float32[10] on rank 1, but float32[10] without gradient on rank 0");
  expect_all_say(errors_of(3,
                           [](int rank) {
                             nn::Sequential net(nn::Linear(4, 10));
                             if (rank == 2) net->push_back(nn::BatchNorm1d(10));
                             dist::DistributedDataParallel model(net);
                           }),
                 "parameter 1.weight is on rank 2, but not on rank 0");
}

TEST(DdpErrors, AParameterWithoutGradientIsNamedWithTheRankAndTheWayOut) {
  const auto errors = errors_of(2, [](int) {
    Two net;
    dist::DistributedDataParallel model(net);
    model(cresset::ones({1, 2})).sum().backward();
  });
  for (int rank = 0; rank < 2; rank++) {
    EXPECT_NE(errors[static_cast<size_t>(rank)].find("on rank " + std::to_string(rank) +
                                                     " backward gave no gradient to idle.weight, idle.bias"),
              std::string::npos)
        << errors[static_cast<size_t>(rank)];
  }
  expect_all_say(errors, "find_unused_parameters(true)");
}

TEST(DdpErrors, StaticGraphThatChanges) {
  expect_all_say(errors_of(2,
                           [](int) {
                             nn::Sequential net(nn::Linear(2, 2), nn::Linear(2, 2));
                             dist::DistributedDataParallel model(net, dist::DDPOptions().static_graph(true));
                             model(cresset::ones({1, 2})).sum().backward();
                             model.module()[0]->as<nn::Linear>()->forward(cresset::ones({1, 2})).sum().backward();
                           }),
                 "which had one in the first step (static_graph");
}

TEST(DdpErrors, OptionsAndHooks) {
  expect_all_say(errors_of(1,
                           [](int) {
                             nn::Sequential net(nn::Linear(2, 2));
                             dist::DistributedDataParallel model(net, dist::DDPOptions().bucket_cap_mb(-1));
                           }),
                 "bucket_cap_mb is -1 (expected more than 0)");
  expect_all_say(errors_of(1,
                           [](int) {
                             nn::Sequential net(nn::Linear(2, 2));
                             dist::DistributedDataParallel model(net);
                             model.register_comm_hook(dist::all_reduce_hook());
                             model.register_comm_hook(dist::all_reduce_hook());
                           }),
                 "there is a hook already");
  expect_all_say(errors_of(1,
                           [](int) {
                             nn::Sequential net{nn::ReLU()};
                             dist::DistributedDataParallel model(net);
                           }),
                 "no parameter of Sequential requires a gradient");
}

TEST(DdpErrors, DriftNamesTheFirstTensorTheRankAndTheStep) {
  expect_all_say(errors_of(3,
                           [](int rank) {
                             nn::Sequential net = mlp();
                             dist::DistributedDataParallel model(net, dist::DDPOptions().check_parameters_every(5));
                             cresset::optim::SGD optimizer(model.parameters(), 0.1);
                             for (int step = 0; step < 12; step++) {
                               optimizer.zero_grad();
                               model(cresset::ones({2, 6})).sum().backward();
                               optimizer.step();
                               if (step == 6 && rank == 1) {
                                 cresset::NoGradGuard no_grad;
                                 net->parameters()[3].add_(1e-3);
                               }
                             }
                           }),
                 "parameters drifted: 2.bias differs on rank 1 after step 9");
  expect_all_say(errors_of(2,
                           [](int rank) {
                             cresset::manual_seed(static_cast<uint64_t>(rank));
                             nn::Sequential net = mlp();
                             dist::check_parameters(*net);
                           }),
                 "parameters drifted: 0.weight differs on rank 1");
}

TEST(DdpErrors, APlanOfAnotherModelIsRefused) {
  expect_all_say(errors_of(1,
                           [](int) {
                             nn::Sequential a(nn::Linear(2, 2)), b(nn::ReLU(), nn::Linear(2, 2));
                             dist::DistributedDataParallel one(a), other(b);
                             other.load_plan_state(one.plan_state());
                           }),
                 "the bucket plan names 0.bias, which is no trainable parameter of this module");
}

TEST(DdpErrors, TwoAroundOneModel) {
  expect_all_say(errors_of(1,
                           [](int) {
                             nn::Sequential net(nn::Linear(2, 2));
                             dist::DistributedDataParallel one(net);
                             dist::DistributedDataParallel two(net);
                           }),
                 "parameter 0.weight belongs to another DistributedDataParallel");
}

TEST(DdpErrors, WithoutAGroup) {
  nn::Sequential net(nn::Linear(2, 2));
  try {
    dist::DistributedDataParallel model(net);
    FAIL() << "made one without a group";
  } catch (const cresset::Error& error) {
    EXPECT_NE(std::string(error.what()).find("init_process_group"), std::string::npos) << error.what();
  }
}
