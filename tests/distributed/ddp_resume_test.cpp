// A run that was interrupted and goes on from its checkpoint is bit for bit the run that was not: the bucket plan
// decides in which order numbers are added.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "cresset/distributed/checkpoint.h"
#include "cresset/distributed/sampler.h"
#include "ddp_support.h"

using namespace ddp_test;

namespace {

// Layers are used in another order than they are registered in, so that the plan is rebuilt.
struct CrossedImpl : nn::Module {
  nn::Linear c = nn::Linear(register_module("c", nn::Linear(32, 4)));
  nn::Linear a = nn::Linear(register_module("a", nn::Linear(6, 32)));
  nn::Linear b = nn::Linear(register_module("b", nn::Linear(32, 32)));
  Tensor forward(const Tensor& x) { return c(b(a(x).tanh()).tanh()); }
};
CRESSET_MODULE(Crossed);

dist::DDPOptions small_buckets() { return dist::DDPOptions().bucket_cap_mb(0.002).first_bucket_mb(0.0005); }

void train(dist::DistributedDataParallel<CrossedImpl>& model, cresset::optim::Optimizer& optimizer, int rank, int from,
           int to) {
  for (int step = from; step < to; step++) {
    cresset::manual_seed(static_cast<uint64_t>(100 * step + rank));
    optimizer.zero_grad();
    mean_square(model(cresset::randn({5, 6})), cresset::randn({5, 4})).backward();
    optimizer.step();
  }
}

}  // namespace

TEST(DdpResume, GoesOnBitForBit) {
  char folder[] = "/tmp/cresset-ddp-resume-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string where = folder;
  run(3, [where](int rank) {
    const std::string mine = where + "/" + std::to_string(rank);
    cresset::manual_seed(1);
    Crossed net, resumed;
    std::vector<std::vector<size_t>> plan;
    {
      dist::DistributedDataParallel model(net, small_buckets());
      const auto first_plan = model.bucket_plan().buckets;
      cresset::optim::Adam optimizer(model.parameters(), 1e-2);
      cresset::io::Checkpoint checkpoint(mine);
      checkpoint.add("model", model).add("optimizer", optimizer);
      train(model, optimizer, rank, 0, 4);
      REQUIRE(model.bucket_plan().buckets != first_plan);
      plan = model.bucket_plan().buckets;
      checkpoint.save(4);
      train(model, optimizer, rank, 4, 12);
    }
    dist::DistributedDataParallel model(resumed, small_buckets());
    cresset::optim::Adam optimizer(model.parameters(), 1e-2);
    cresset::io::Checkpoint checkpoint(mine);
    checkpoint.add("model", model).add("optimizer", optimizer);
    REQUIRE(checkpoint.load_newest().value() == 4);
    REQUIRE(model.bucket_plan().buckets == plan && model.bucket_plan().rebuilt);
    train(model, optimizer, rank, 4, 12);
    for (auto& item : net->named_parameters())
      REQUIRE(same_bits(item.value(), resumed->named_parameters()[item.key()]));
  });
  std::filesystem::remove_all(where);
}

namespace {

// The loop of docs/training.md with a checkpoint after each step, `stop` steps far. Returns how far it came.
int64_t train_epochs(const std::string& folder, Crossed& net, size_t workers, int64_t epochs, int64_t stop) {
  cresset::manual_seed(3);
  const Tensor inputs = cresset::randn({30, 6}), targets = cresset::randn({30, 4});
  auto loader = cresset::data::make_data_loader(
      cresset::data::datasets::PairDataset(inputs, targets).map(cresset::data::transforms::Stack<>()),
      dist::DistributedSampler(30), cresset::data::DataLoaderOptions(4).workers(workers));
  dist::DistributedDataParallel model(net, small_buckets());
  cresset::optim::Adam optimizer(model.parameters(), 1e-2);
  cresset::io::Checkpoint checkpoint(folder);
  checkpoint.add("model", model).add("optimizer", optimizer).add("loader", *loader);
  int64_t step = dist::load_newest(checkpoint).value_or(0);
  const auto steps = static_cast<int64_t>(*loader->size());
  for (int64_t epoch = step / steps; epoch < epochs; epoch++)
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      mean_square(model(batch.data), batch.target).backward();
      optimizer.step();
      checkpoint.save(++step);
      if (step == stop) return step;
    }
  return step;
}

}  // namespace

TEST(DdpResume, AnEpochsLastBatchIsFollowedByTheNextEpoch) {
  char folder[] = "/tmp/cresset-ddp-epochs-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string where = folder;
  run(2, [where](int rank) {
    const std::string mine = where + "/" + std::to_string(rank);
    for (const size_t workers : {0, 2}) {
      const std::string peace = mine + "-peace-" + std::to_string(workers), torn = mine + std::to_string(workers);
      cresset::manual_seed(1);
      Crossed net, resumed;
      REQUIRE(train_epochs(peace, net, workers, 3, 100) == 12);  // 15 samples a rank: 4 batches
      for (const int64_t stop : {4, 6, 8}) {
        cresset::manual_seed(1);
        resumed = Crossed();
        REQUIRE(train_epochs(torn, resumed, workers, 3, stop) == stop);
      }
      resumed = Crossed();
      REQUIRE(train_epochs(torn, resumed, workers, 3, 100) == 12);
      for (auto& item : net->named_parameters())
        REQUIRE(same_bits(item.value(), resumed->named_parameters()[item.key()]));
    }
  });
  std::filesystem::remove_all(where);
}

TEST(DdpResume, TheOrderOfArrivalOfOneRankBecomesEverybodys) {
  run(2, [](int rank) {
    Crossed net;
    dist::DistributedDataParallel model(net, small_buckets());
    model(cresset::randn({2, 6})).sum().backward();
    dist::check_parameters(std::vector<Tensor>{
        cresset::full({1}, static_cast<double>(model.bucket_plan().digest() & 0xffffff), cresset::kDouble)});
    REQUIRE(model.bucket_plan().rebuilt);
    // c is nearest to the loss.
    const auto names = model.plan_state().toDict().at("buckets").elements()[0].elements();
    REQUIRE(names[0].toStringRef().starts_with("c."));
    (void)rank;
  });
}
