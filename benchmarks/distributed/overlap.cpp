// What it brings to send gradients while backward still runs: two models of one kind, of which one starts its
// all-reduces as buckets fill, the other when backward has ended, in turn in one run. Rank 0 prints the median
// milliseconds of a step of both.
#include <cresset/cresset.h>
#include <cresset/distributed/distributed.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

using cresset::Tensor;
namespace nn = cresset::nn;
namespace dist = cresset::distributed;

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static nn::Sequential mlp() {
  nn::Sequential net;
  for (int i = 0; i < 8; i++) {
    net->push_back(nn::Linear(512, 512));
    net->push_back(nn::ReLU());
  }
  return net;
}

static dist::BucketWork after_backward(dist::GradBucket&) {
  return {dist::Work(), [](dist::GradBucket& bucket) -> dist::BucketWork {
            return dist::default_group()->all_reduce({bucket.buffer()}, dist::ReduceOp::AVG);
          }};
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 20;
  const int64_t batch = argc > 2 ? std::atoi(argv[2]) : 512;
  cresset::set_num_threads(1);
  dist::init_process_group();
  cresset::manual_seed(1);
  const Tensor x = cresset::randn({batch, 512});
  nn::Sequential early_net = mlp(), late_net = mlp();
  const auto options = dist::DDPOptions().bucket_cap_mb(1).check_parameters_every(0);
  dist::DistributedDataParallel early(early_net, options), late(late_net, options);
  late.register_comm_hook(after_backward);
  std::vector<double> times[2];
  for (int round = -3; round < rounds; round++)
    for (int which : {0, 1}) {
      auto& model = which == 0 ? early : late;
      dist::barrier();
      const double start = now();
      model->zero_grad();
      model(x).square().mean().backward();
      if (round >= 0) times[which].push_back(1e3 * (now() - start));
    }
  for (auto& list : times) std::sort(list.begin(), list.end());
  if (dist::get_rank() == 0)
    std::printf("overlap_ms %.2f afterwards_ms %.2f\n", times[0][times[0].size() / 2], times[1][times[1].size() / 2]);
  dist::destroy_process_group();
}
