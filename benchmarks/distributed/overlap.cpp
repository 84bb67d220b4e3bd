// Training steps of an MLP whose gradients travel while backward runs, and of the same one whose gradients wait for its
// end, in turn in one run. Rank 0 prints the median milliseconds of both, and of backward and the exchange alone.
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

static double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Side {
  nn::Sequential net;
  std::unique_ptr<dist::DistributedDataParallel<nn::SequentialImpl>> model;
  std::unique_ptr<cresset::optim::SGD> optimizer;

  Side(int layers, int64_t width) {
    for (int i = 0; i < layers; i++) {
      net->push_back(nn::Linear(width, width));
      net->push_back(nn::Tanh());
    }
    model = std::make_unique<dist::DistributedDataParallel<nn::SequentialImpl>>(net.ptr(),
                                                                                dist::DDPOptions().bucket_cap_mb(2));
    optimizer = std::make_unique<cresset::optim::SGD>(model->parameters(), 1e-4);
  }
  double step_ms(const Tensor& x) {
    dist::barrier();
    const double start = now();
    optimizer->zero_grad();
    (*model)(x).square().mean().backward();
    optimizer->step();
    return 1e3 * (now() - start);
  }
};

int main(int count, char** texts) {
  const int rounds = count > 1 ? std::atoi(texts[1]) : 10;
  // Backward of 768 samples takes about as long as the exchange at 1 Gbit/s.
  const int64_t batch = count > 2 ? std::atoi(texts[2]) : 768, width = 512;
  const int layers = 24;
  cresset::set_num_threads(1);
  dist::init_process_group();
  cresset::manual_seed(1);
  const Tensor x = cresset::randn({batch, width});
  Side overlapped(layers, width), after(layers, width);
  // Nothing is sent before backward has ended.
  after.model->register_comm_hook([](dist::GradBucket&) -> dist::BucketWork {
    return {dist::Work(), [](dist::GradBucket& bucket) -> dist::BucketWork {
              return dist::default_group()->all_reduce({bucket.buffer()}, dist::ReduceOp::AVG);
            }};
  });
  const Tensor bytes = cresset::ones({layers * width * (width + 1)});
  std::vector<double> with, without, local, exchange;
  for (int i = -2; i < rounds; i++) {
    const double a = overlapped.step_ms(x), b = after.step_ms(x);
    double c = 0, d = 0;
    {
      const auto alone = overlapped.model->no_sync();
      c = overlapped.step_ms(x);
    }
    dist::barrier();
    const double start = now();
    dist::all_reduce(bytes);
    d = 1e3 * (now() - start);
    if (i < 0) continue;
    with.push_back(a);
    without.push_back(b);
    local.push_back(c);
    exchange.push_back(d);
  }
  if (dist::get_rank() == 0)
    std::printf("overlap_ms %.1f after_ms %.1f local_ms %.1f exchange_ms %.1f\n", median(with), median(without),
                median(local), median(exchange));
  dist::destroy_process_group();
}
