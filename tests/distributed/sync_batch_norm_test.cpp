// Batch norm over several processes is batch norm over the whole batch.
#include <gtest/gtest.h>

#include <sstream>

#include "cresset/distributed/sync_batch_norm.h"
#include "ddp_support.h"
#include "tests/distributed/processes.h"

using namespace ddp_test;

namespace {

Tensor part_of(const Tensor& batch, int rank) {  // 5, 2 and 1 rows
  const int64_t from[] = {0, 5, 7, 8};
  return batch.slice(0, from[rank], from[rank + 1]);
}

template <class Norm, class Local>
void expect_whole_batch(int rank, std::vector<int64_t> shape, Norm norm, Local local, double tolerance,
                        cresset::DType dtype) {
  cresset::manual_seed(3);
  norm->to(dtype);
  local->to(dtype);
  {
    cresset::NoGradGuard no_grad;
    for (auto& p : local->parameters()) p.uniform_(0.5, 1.5);
    norm->load_state_dict(local->state_dict());
  }
  shape.insert(shape.begin(), 8);
  for (int step = 0; step < 2; step++) {
    Tensor whole = (cresset::randn(shape) * 3 + 5).to(dtype), weights = cresset::randn(shape).to(dtype);
    Tensor mine = part_of(whole, rank).clone();
    whole.requires_grad_();
    mine.requires_grad_();
    norm->zero_grad();
    local->zero_grad();
    Tensor y = local->forward(whole), ours = norm->forward(mine);
    (y * weights).sum().backward();
    (ours * part_of(weights, rank)).sum().backward();
    REQUIRE(relative_difference(ours, part_of(y, rank)) < tolerance);
    REQUIRE(relative_difference(mine.grad(), part_of(whole.grad(), rank)) < tolerance);
    for (size_t i = 0; i < norm->parameters().size(); i++) {
      Tensor sum = norm->parameters()[i].grad().clone();
      dist::all_reduce(sum);
      REQUIRE(relative_difference(sum, local->parameters()[i].grad()) < tolerance);
    }
  }
  REQUIRE(relative_difference(norm->running_mean, local->running_mean) < tolerance);
  REQUIRE(relative_difference(norm->running_var, local->running_var) < tolerance);
  norm->eval();
  local->eval();
  Tensor x = cresset::randn(shape).to(dtype);
  REQUIRE(relative_difference(norm->forward(x), local->forward(x)) < tolerance);
}

}  // namespace

TEST(SyncBatchNorm, EqualsBatchNormOnTheWholeBatchForUnevenParts) {
  run(3, [](int rank) {
    using nn::BatchNormOptions;
    for (auto [dtype, tolerance] : {std::pair{cresset::kDouble, 1e-9}, std::pair{cresset::kFloat, 2e-5}}) {
      expect_whole_batch(rank, {4}, nn::SyncBatchNorm(4), nn::BatchNorm1d(4), tolerance, dtype);
      expect_whole_batch(rank, {4, 3, 5}, nn::SyncBatchNorm(4), nn::BatchNorm2d(4), tolerance, dtype);
      expect_whole_batch(rank, {4, 3}, nn::SyncBatchNorm(BatchNormOptions(4).affine(false)),
                         nn::BatchNorm1d(BatchNormOptions(4).affine(false)), tolerance, dtype);
      expect_whole_batch(rank, {4}, nn::SyncBatchNorm(BatchNormOptions(4).momentum(std::nullopt)),
                         nn::BatchNorm1d(BatchNormOptions(4).momentum(std::nullopt)), tolerance, dtype);
    }
  });
}

TEST(SyncBatchNorm, ConvertingAModelKeepsItsTensorsAndSynchronisesItsMembers) {
  run(3, [](int rank) {
    struct NetImpl : nn::Module {
      nn::BatchNorm1d norm = nn::BatchNorm1d(register_module("norm", nn::BatchNorm1d(4)));
      nn::Sequential rest =
          nn::Sequential(register_module("rest", nn::Sequential(nn::Linear(4, 4), nn::BatchNorm1d(4))));
      Tensor forward(const Tensor& x) { return rest->forward(norm->forward(x)); }
    };
    cresset::manual_seed(1);
    auto net = std::make_shared<NetImpl>();
    const Tensor whole = cresset::randn({8, 4});
    Tensor expected = net->forward(whole);
    const auto before = net->parameters();
    REQUIRE(dist::convert_sync_batchnorm(*net) == 2);
    std::ostringstream printed;
    printed << *net;
    REQUIRE(printed.str().find(": BatchNorm1d(") == std::string::npos);
    REQUIRE(printed.str().find("SyncBatchNorm(4, eps=1e-05") != std::string::npos);
    for (size_t i = 0; i < before.size(); i++) REQUIRE(net->parameters()[i].is_same(before[i]));
    REQUIRE(relative_difference(net->forward(part_of(whole, rank)), part_of(expected, rank)) < 2e-5);
  });
}

TEST(SyncBatchNorm, TrainsUnderDdp) {
  run(2, [](int rank) {
    cresset::manual_seed(1);
    nn::Sequential net(nn::Linear(3, 8), nn::SyncBatchNorm(8), nn::Linear(8, 2)),
        alone(nn::Linear(3, 8), nn::BatchNorm1d(8), nn::Linear(8, 2));
    alone->load_state_dict(net->state_dict());
    net->to(cresset::kDouble);
    alone->to(cresset::kDouble);
    const Tensor x = cresset::randn({6, 3}).to(cresset::kDouble);
    dist::DistributedDataParallel model(net, dist::DDPOptions().bucket_cap_mb(0.0001));
    for (int step = 0; step < 2; step++) {
      net->zero_grad();
      alone->zero_grad();
      model(rows_of(x, rank, 2)).pow(3).mean().backward();
      alone->forward(x).pow(3).mean().backward();
      for (size_t i = 0; i < net->parameters().size(); i++)
        REQUIRE((net->parameters()[i].grad() - alone->parameters()[i].grad()).abs().max().item<double>() < 1e-9);
    }
  });
}

TEST(SyncBatchNorm, OneValueInAllIsTooFew) {
  const auto errors = errors_of(2, [](int rank) {
    nn::SyncBatchNorm norm(3);
    norm(cresset::ones({rank == 0 ? 1 : 0, 3}));
  });
  for (const std::string& error : errors)
    EXPECT_NE(error.find("Expected more than 1 value per channel when training, got 1 over all ranks"),
              std::string::npos)
        << error;
}

TEST(SyncBatchNorm, OfASubGroupKnowsItsMembersOnly) {
  run(4, [](int rank) {
    const dist::Group halves[] = {dist::new_group({0, 1}), dist::new_group({2, 3})};
    const dist::Group mine = halves[rank / 2];
    cresset::manual_seed(static_cast<uint64_t>(rank / 2));
    const Tensor whole = cresset::randn({6, 3}, cresset::kDouble), weights = cresset::randn({6, 3}, cresset::kDouble);
    const int64_t from = rank % 2 ? 4 : 0, to = rank % 2 ? 6 : 4;  // uneven parts
    Tensor all = whole.clone().requires_grad_(), part = whole.slice(0, from, to).clone().requires_grad_();
    nn::BatchNorm1d local(3);
    local->to(cresset::kDouble);
    Tensor wanted = local->forward(all);
    (wanted * weights).sum().backward();
    nn::SyncBatchNorm norm(nn::SyncBatchNormOptions(3).process_group(mine));
    norm->to(cresset::kDouble);
    Tensor found = norm->forward(part);
    // Backward comes later, and still means the group of its forward.
    norm->options.process_group(nullptr);
    (found * weights.slice(0, from, to)).sum().backward();
    REQUIRE(relative_difference(found, wanted.slice(0, from, to)) < 1e-9);
    REQUIRE(relative_difference(part.grad(), all.grad().slice(0, from, to)) < 1e-9);
    REQUIRE(relative_difference(norm->running_mean, local->running_mean) < 1e-9);

    // In a model that is data parallel over that group, and was made without knowing of it.
    nn::Sequential net(nn::BatchNorm1d(3));
    net->to(cresset::kDouble);
    REQUIRE(dist::convert_sync_batchnorm(net, mine) == 1);
    dist::DistributedDataParallel model(net, dist::DDPOptions().group(mine));
    REQUIRE(relative_difference(model(whole.slice(0, from, to)), wanted.slice(0, from, to)) < 1e-9);
  });
}

TEST(SyncBatchNorm, OfAGroupThatThisRankIsNotInIsRefused) {
  run(2, [](int rank) {
    const dist::Group first = dist::new_group({0});
    nn::SyncBatchNorm norm(nn::SyncBatchNormOptions(3).eps(1e-3).process_group(first));
    if (rank == 0) return void(norm(cresset::randn({4, 3})));  // a group of one: a plain batch norm
    EXPECT_EQ(cresset::test::message_when([&] {
                norm(cresset::randn({4, 3}));
              }),
              "SyncBatchNorm: this process (rank 1) is no member of group 1 (rank 0)");
  });
}
