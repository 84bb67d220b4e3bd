// The gradients of several processes, each on its part of the batch, are those of one process on the whole batch.
#include <gtest/gtest.h>

#include "ddp_support.h"

using namespace ddp_test;

namespace {

struct Case {
  int ranks;
  uint64_t seed;
  double bucket_mb;
  bool as_view;
};

std::vector<Tensor> gradients(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> list;
  for (const Tensor& p : parameters) list.push_back(p.grad().detach().clone());
  return list;
}

void expect_whole_batch(const Case& c, int rank, const std::function<dist::CommHook()>& hook, double tolerance) {
  cresset::manual_seed(c.seed);
  nn::Sequential net = mlp(), alone = mlp();
  alone->load_state_dict(net->state_dict());
  const Tensor x = cresset::randn({12, 6}), y = cresset::randn({12, 4});
  dist::DistributedDataParallel model(
      net,
      dist::DDPOptions().bucket_cap_mb(c.bucket_mb).first_bucket_mb(c.bucket_mb).gradient_as_bucket_view(c.as_view));
  if (hook) model.register_comm_hook(hook());
  cresset::optim::SGD optimizer(model.parameters(), 0.05), optimizer_alone(alone->parameters(), 0.05);
  for (int step = 0; step < 4; step++) {
    optimizer.zero_grad(step % 2 == 0);  // none and zero in turn
    optimizer_alone.zero_grad();
    mean_square(model(rows_of(x, rank, c.ranks)), rows_of(y, rank, c.ranks)).backward();
    mean_square(alone->forward(x), y).backward();
    const auto ours = gradients(net->parameters()), whole = gradients(alone->parameters());
    for (size_t i = 0; i < whole.size(); i++) REQUIRE(relative_difference(ours[i], whole[i]) < tolerance);
    optimizer.step();
    optimizer_alone.step();
  }
}

}  // namespace

TEST(DdpGradients, EqualThoseOfTheWholeBatchAcrossSeedsAndBuckets) {
  for (int ranks : {2, 3})
    run(ranks, [ranks](int rank) {
      for (uint64_t seed : {1, 2, 3})
        for (double mb : {25.0, 0.0005, 0.00001})
          for (bool as_view : {true, false}) expect_whole_batch({ranks, seed, mb, as_view}, rank, {}, 1e-6);
    });
}

TEST(DdpGradients, HooksThatAverageGiveTheSame) {
  run(2, [](int rank) {
    expect_whole_batch(
        {2, 5, 0.0005, true}, rank, [] { return dist::all_reduce_hook(); }, 1e-6);
    expect_whole_batch(
        {2, 5, 0.0005, true}, rank, [] { return dist::fp16_compress_hook(); }, 4e-3);
    expect_whole_batch(
        {2, 5, 0.0005, false}, rank, [] { return dist::bf16_compress_hook(); }, 3e-2);
    expect_whole_batch(
        {2, 5, 0.0005, true}, rank, [] { return dist::fp16_compress_wrapper(dist::all_reduce_hook()); }, 4e-3);
  });
}

// Two collectives, one after the other, with state between steps: what a compressing hook with error feedback needs.
TEST(DdpGradients, AHookMayHaveSeveralStagesAndKeepState) {
  run(3, [](int rank) {
    std::map<size_t, int> calls;
    bool saw_last = false;
    auto make = [&]() -> dist::CommHook {
      return [&](dist::GradBucket& bucket) -> dist::BucketWork {
        calls[bucket.index()]++;
        saw_last = saw_last || bucket.is_last();
        REQUIRE(bucket.gradients().size() == bucket.parameters().size());
        for (size_t i = 0; i < bucket.parameters().size(); i++)
          REQUIRE(bucket.gradients()[i].sizes() == bucket.parameters()[i].sizes());
        Tensor half = bucket.buffer() / 2;
        dist::Group group = dist::default_group();
        return {group->all_reduce({half}, dist::ReduceOp::AVG), [half, group](dist::GradBucket& b) -> dist::BucketWork {
                  Tensor other = b.buffer() / 2;
                  return {group->all_reduce({other}, dist::ReduceOp::AVG),
                          [half, other](dist::GradBucket& last) -> dist::BucketWork {
                            last.buffer().copy_(half + other);
                            return {};
                          }};
                }};
      };
    };
    expect_whole_batch({3, 7, 0.0005, true}, rank, make, 1e-6);
    REQUIRE(saw_last && calls.size() > 1);
    for (auto& [index, count] : calls) REQUIRE(count >= 3);
  });
}

TEST(DdpGradients, ParametersAreTheSameBitForBitOnAllRanksAfterFiftySteps) {
  run(3, [](int rank) {
    cresset::manual_seed(static_cast<uint64_t>(rank));  // the start is rank 0's
    nn::Sequential net = mlp();
    dist::DistributedDataParallel model(net, dist::DDPOptions().bucket_cap_mb(0.0005).check_parameters_every(7));
    cresset::optim::Adam optimizer(model.parameters(), 1e-2);
    for (int step = 0; step < 50; step++) {
      optimizer.zero_grad();
      mean_square(model(cresset::randn({5, 6})), cresset::randn({5, 4})).backward();
      nn::utils::clip_grad_norm_(net->parameters(), 0.5);
      optimizer.step();
    }
    for (auto& item : net->named_parameters()) require_same_everywhere(item.value(), item.key());
    REQUIRE(model.steps() == 50);
  });
}

TEST(DdpGradients, AreViewsOfTheBucketsAndClippingSeesThem) {
  run(2, [](int rank) {
    cresset::manual_seed(1);
    nn::Sequential net = mlp();
    dist::DistributedDataParallel model(net);
    const Tensor x = cresset::randn({4, 6}) * (rank + 1);
    for (int step = 0; step < 2; step++) {
      net->zero_grad();
      model(x).sum().backward();
    }
    const auto parameters = net->parameters();
    for (size_t i = 1; i < parameters.size(); i++) REQUIRE(parameters[i].grad().is_alias_of(parameters[0].grad()));
    nn::utils::clip_grad_norm_(parameters, 1e-3);
    double squares = 0;
    for (const Tensor& p : parameters) squares += p.grad().square().sum().item<double>();
    REQUIRE(std::abs(std::sqrt(squares) - 1e-3) < 1e-5);
    for (const Tensor& p : parameters) require_same_everywhere(p.grad(), "a clipped gradient");
  });
}

TEST(DdpGradients, OfDtypesAreInBucketsOfTheirOwn) {
  run(2, [](int rank) {
    struct Net : nn::Module {
      Tensor a = register_parameter("a", cresset::ones({3}));
      Tensor b = register_parameter("b", cresset::ones({3}, cresset::kDouble));
      Tensor forward(const Tensor& x) { return (a.to(cresset::kDouble) * b * x).sum(); }
    };
    auto net = std::make_shared<Net>();
    dist::DistributedDataParallel model(net);
    REQUIRE(model.bucket_plan().buckets.size() == 2);
    model(cresset::full({3}, rank + 1.0, cresset::kDouble)).backward();
    REQUIRE(relative_difference(net->a.grad(), cresset::full({3}, 1.5)) < 1e-6);
    REQUIRE(relative_difference(net->b.grad(), cresset::full({3}, 1.5, cresset::kDouble)) < 1e-12);
  });
}
