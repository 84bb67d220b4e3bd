// Metrics and samplers over several processes.
#include <gtest/gtest.h>

#include <set>

#include "cresset/distributed/metrics.h"
#include "cresset/distributed/sampler.h"
#include "ddp_support.h"

using namespace ddp_test;

TEST(Metrics, AveragesHonourTheWeightsOfAllRanks) {
  run(3, [](int rank) {
    dist::Average loss;
    loss.add(rank + 1.0, rank + 1);  // (1 + 4 + 9) / 6
    REQUIRE(std::abs(loss.reduce() - 14.0 / 6) < 1e-12);
    REQUIRE(loss.value() == rank + 1.0);
    dist::Accuracy accuracy;
    if (rank != 1)  // right: 2 of 2 on rank 0, 0 of 1 on rank 2
      accuracy.add(cresset::tensor({{1.0, 2.0}, {3.0, 1.0}}).slice(0, 0, rank == 0 ? 2 : 1),
                   cresset::tensor({rank == 0 ? 1 : 0, 0}).slice(0, 0, rank == 0 ? 2 : 1));
    REQUIRE(std::abs(accuracy.reduce() - 2.0 / 3) < 1e-12);
    auto both = dist::reduce_metrics({{"loss", loss}, {"accuracy", accuracy.average()}});
    REQUIRE(std::abs(both["loss"] - 14.0 / 6) < 1e-12 && std::abs(both["accuracy"] - 2.0 / 3) < 1e-12);
  });
}

TEST(Metrics, OtherNamesOnAnotherRankAreAnError) {
  for (const std::string& error : errors_of(2, [](int rank) {
         dist::reduce_metrics({{rank ? "loss" : "accuracy", dist::Average()}});
       }))
    EXPECT_NE(error.find("names of the metrics are not the same"), std::string::npos) << error;
}

TEST(Metrics, OfOneProcessNeedNoGroup) {
  dist::Average loss;
  loss.add(3);
  EXPECT_EQ(loss.reduce(), 3);
}

namespace {

std::vector<size_t> indices_of(cresset::data::samplers::Sampler<>& sampler) {
  std::vector<size_t> all;
  sampler.reset(std::nullopt);
  while (auto batch = sampler.next(3)) all.insert(all.end(), batch->begin(), batch->end());
  return all;
}
std::vector<size_t> of_all_ranks(const std::vector<size_t>& mine) {
  std::string bytes(reinterpret_cast<const char*>(mine.data()), mine.size() * sizeof(size_t));
  std::vector<size_t> all;
  for (const std::string& part : dist::all_gather_object(bytes)) {
    const auto* first = reinterpret_cast<const size_t*>(part.data());
    all.insert(all.end(), first, first + part.size() / sizeof(size_t));
  }
  return all;
}

}  // namespace

TEST(GroupSampler, SharesTheDataSetOutAmongTheRanksOfTheGroup) {
  run(3, [](int rank) {
    dist::DistributedSampler sampler(10);
    REQUIRE(sampler.rank() == static_cast<size_t>(rank) && sampler.num_replicas() == 3);
    sampler.set_epoch(0);
    const auto first = of_all_ranks(indices_of(sampler));
    REQUIRE(first.size() == 12 && std::set<size_t>(first.begin(), first.end()).size() == 10);
    sampler.set_epoch(1);
    REQUIRE(of_all_ranks(indices_of(sampler)) != first);
    dist::SamplerOptions options;
    options.remainder = dist::Remainder::kKeep;
    dist::DistributedSampler uneven(10, options);
    REQUIRE(of_all_ranks(indices_of(uneven)).size() == 10);
    dist::DistributedChunkSampler pieces(9, options);
    REQUIRE(indices_of(pieces).size() == 3);
  });
}

TEST(GroupSampler, AHashGivesAnExampleToTheSameRankForEver) {
  run(3, [](int rank) {
    dist::SamplerOptions options;
    options.remainder = dist::Remainder::kKeep;
    dist::DistributedHashSampler small(50, options), large(90, options);
    const auto mine = indices_of(small), later = indices_of(large);
    const auto all = of_all_ranks(mine);
    REQUIRE(all.size() == 50 && std::set<size_t>(all.begin(), all.end()).size() == 50);
    const std::set<size_t> kept(later.begin(), later.end());
    for (size_t index : mine) REQUIRE(kept.contains(index));
    options.remainder = dist::Remainder::kPad;
    dist::DistributedHashSampler padded(50, options);
    const size_t share = *padded.size();
    REQUIRE(indices_of(padded).size() == share && of_all_ranks(indices_of(padded)).size() == 3 * share);
    (void)rank;
  });
}
