// Buckets travel while backward still runs: the flight recorder has the first all-reduce starting before the last node
// of backward has ended.
#include <gtest/gtest.h>

#include "cresset/distributed/flight_recorder.h"
#include "ddp_support.h"

using namespace ddp_test;

TEST(DdpOverlap, TheFirstBucketStartsBeforeTheLastNodeOfBackwardEnds) {
  run(2, [](int) {
    nn::Sequential net(nn::Linear(64, 64), nn::Linear(64, 64), nn::Linear(64, 64));
    dist::DistributedDataParallel model(net, dist::DDPOptions().bucket_cap_mb(0.01).check_parameters_every(0));
    using Clock = dist::FlightRecorder::Clock;
    for (int step = 0; step < 3; step++) {
      const size_t buckets = model.bucket_plan().buckets.size();  // the first step may change it
      const auto begin = Clock::now();
      Clock::time_point last_node_began;
      net->zero_grad();
      // The gradient of the first weight is the last thing that backward computes.
      const unsigned hook = net->parameters()[0].register_hook([&](const Tensor&) { last_node_began = Clock::now(); });
      model(cresset::ones({8, 64})).sum().backward();
      net->parameters()[0].remove_hook(hook);
      size_t reduced = 0, early = 0;
      for (const auto& entry : dist::default_group()->recorder().entries()) {
        if (entry.queued < begin || entry.op != "all_reduce") continue;
        reduced++;
        if (entry.queued < last_node_began) early++;
        if (reduced == 1) REQUIRE(entry.queued < last_node_began);
      }
      REQUIRE(reduced == buckets && reduced > 2);
      REQUIRE(early > 0 && early < reduced);
    }
  });
}
