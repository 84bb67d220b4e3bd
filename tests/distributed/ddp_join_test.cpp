// Ranks with different numbers of inputs.
#include <gtest/gtest.h>

#include "ddp_support.h"

using namespace ddp_test;

namespace {

// One parameter, so that gradients can be written down: the gradient is the mean of x.
struct ScaleImpl : nn::Module {
  Tensor w = register_parameter("w", cresset::zeros({1}));
  Tensor forward(const Tensor& x) { return (w * x).mean(); }
};
CRESSET_MODULE(Scale);

}  // namespace

TEST(DdpJoin, RanksThatRanOutKeepTheOthersCompanyAndTakeTheirParameters) {
  for (bool by_all : {true, false})
    run(3, [by_all](int rank) {
      Scale net;
      dist::DistributedDataParallel model(net);
      cresset::optim::SGD optimizer(model.parameters(), 1.0);
      std::vector<double> gradients;
      dist::JoinOptions options;
      options.divide_by_initial_world_size = by_all;
      // Rank r has r + 1 inputs, of value r + 1.
      model.join(
          [&] {
            for (int i = 0; i <= rank; i++) {
              optimizer.zero_grad();
              model(cresset::full({2}, rank + 1.0)).backward();
              gradients.push_back(net->w.grad().item<double>());
              optimizer.step();
            }
          },
          options);
      const double all[] = {6.0 / 3, by_all ? 5.0 / 3 : 5.0 / 2, by_all ? 3.0 / 3 : 3.0};
      for (size_t i = 0; i < gradients.size(); i++) REQUIRE(std::abs(gradients[i] - all[i]) < 1e-6);
      REQUIRE(std::abs(net->w.item<double>() + all[0] + all[1] + all[2]) < 1e-5);
      require_same_everywhere(net->w, "w");
      // And it goes on as before.
      optimizer.zero_grad();
      model(cresset::full({2}, rank + 1.0)).backward();
      REQUIRE(std::abs(net->w.grad().item<double>() - 2) < 1e-6);
    });
}

TEST(DdpJoin, WorksWithBuffersUnusedParametersHooksAndAccumulation) {
  run(2, [](int rank) {
    cresset::manual_seed(4);
    nn::Sequential net(nn::Linear(3, 8), nn::BatchNorm1d(8), nn::Linear(8, 2));
    dist::DistributedDataParallel model(
        net, dist::DDPOptions().find_unused_parameters(true).bucket_cap_mb(0.0001).check_parameters_every(1));
    model.register_comm_hook(dist::fp16_compress_hook());
    cresset::optim::SGD optimizer(model.parameters(), 0.1);
    for (int epoch = 0; epoch < 2; epoch++) {
      const int inputs = rank == epoch ? 1 : 5;  // even the first of all may run out first
      dist::Join scope(model);
      for (int i = 0; i < inputs; i++) {
        optimizer.zero_grad();
        {
          auto guard = model.no_sync();
          model(cresset::randn({4, 3})).square().mean().backward();
        }
        model(cresset::randn({4, 3})).square().mean().backward();
        optimizer.step();
      }
    }
    for (auto& item : net->named_parameters()) require_same_everywhere(item.value(), item.key());
    for (auto& item : net->named_buffers()) require_same_everywhere(item.value(), item.key());
  });
}

TEST(DdpJoin, ARankWithoutAnyInput) {
  run(2, [](int rank) {
    Scale net;
    dist::DistributedDataParallel model(net);
    model.join([&] {
      if (rank == 0) model(cresset::ones({2})).backward();
    });
    model.join([&] { model(cresset::ones({2})).backward(); });
    REQUIRE(model.steps() == 2);
  });
}

TEST(DdpJoin, ThrowsEverywhereWhereEarlyTerminationIsAnError) {
  const auto errors = errors_of(2, [](int rank) {
    Scale net;
    dist::DistributedDataParallel model(net);
    dist::JoinOptions options;
    options.throw_on_early_termination = true;
    model.join(
        [&] {
          for (int i = 0; i < 1 + rank; i++) model(cresset::ones({2})).backward();
        },
        options);
  });
  for (const std::string& error : errors)
    EXPECT_NE(error.find("join: rank 0 has run out of inputs"), std::string::npos) << error;
}
