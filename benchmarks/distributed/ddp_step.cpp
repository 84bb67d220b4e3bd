// A training step of an MLP (784-1024-1024-10, batch 64 on each process), alone and under DistributedDataParallel, in
// turn in one run. Rank 0 prints the median milliseconds of both.
// `ddp_step 8 fill` zeroes the gradients instead of dropping them. ddp_step_peer.py is the same in PyTorch.
// `ddp_step 8 checked` and `unchecked` print the mean of 8 x 100 wrapped steps, with the digest of the parameters and
// without.
#include <cresset/cresset.h>
#include <cresset/distributed/distributed.h>

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using cresset::Tensor;
namespace nn = cresset::nn;
namespace dist = cresset::distributed;

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Of all threads of this process: what a step costs however busy the machine is.
static double cpu_now() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

static nn::Sequential mlp() {
  return nn::Sequential(nn::Linear(784, 1024), nn::ReLU(), nn::Linear(1024, 1024), nn::ReLU(), nn::Linear(1024, 10));
}

static bool set_to_none = true;

template <class Model>
static double step_ms(Model& model, cresset::optim::Optimizer& optimizer, const Tensor& x, const Tensor& y, int steps,
                      double* cpu = nullptr) {
  std::vector<double> times;
  const double cpu_before = cpu_now();
  for (int i = 0; i < steps; i++) {
    const double start = now();
    optimizer.zero_grad(set_to_none);
    nn::functional::cross_entropy(model(x), y).backward();
    optimizer.step();
    times.push_back(1e3 * (now() - start));
  }
  if (cpu) *cpu += 1e3 * (cpu_now() - cpu_before) / steps;
  std::nth_element(times.begin(), times.begin() + steps / 2, times.end());
  return times[static_cast<size_t>(steps) / 2];
}

// The mean counts what happens once in a hundred steps; a median would not see it.
static void print_mean_step(int rounds, bool checked, const Tensor& x, const Tensor& y) {
  nn::Sequential wrapped = mlp();
  dist::DistributedDataParallel model(wrapped, dist::DDPOptions().check_parameters_every(checked ? 100 : 0));
  cresset::optim::SGD optimizer(model.parameters(), 1e-3);
  step_ms(model, optimizer, x, y, 100);
  dist::barrier();
  std::vector<double> means;
  double cpu = 0;
  for (int round = 0; round < rounds; round++) {
    const double start = now();
    step_ms(model, optimizer, x, y, 100, &cpu);
    means.push_back(1e3 * (now() - start) / 100);
  }
  std::sort(means.begin(), means.end());
  if (dist::get_rank() == 0)
    std::printf("least_ms %.4f mean_ms %.4f mean_cpu_ms %.4f\n", means[0], means[means.size() / 2], cpu / rounds);
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 8, steps = 25;
  set_to_none = argc <= 2 || std::strcmp(argv[2], "fill") != 0;
  cresset::set_num_threads(1);
  dist::init_process_group();
  cresset::manual_seed(1);
  const Tensor x = cresset::randn({64, 784}), y = cresset::randint(10, {64}, cresset::kLong);
  if (argc > 2 && std::strstr(argv[2], "checked")) {
    print_mean_step(rounds, std::strcmp(argv[2], "checked") == 0, x, y);
    dist::destroy_process_group();
    return 0;
  }
  nn::Sequential local = mlp(), wrapped = mlp();
  dist::DistributedDataParallel model(wrapped);
  cresset::optim::SGD local_optimizer(local->parameters(), 1e-3), optimizer(model.parameters(), 1e-3);
  step_ms(local, local_optimizer, x, y, 10);
  step_ms(model, optimizer, x, y, 10);
  std::vector<double> alone, together;
  double cpu_alone = 0, cpu_together = 0;
  for (int round = 0; round < rounds; round++) {
    dist::barrier();
    alone.push_back(step_ms(local, local_optimizer, x, y, steps, &cpu_alone));
    dist::barrier();
    together.push_back(step_ms(model, optimizer, x, y, steps, &cpu_together));
  }
  std::sort(alone.begin(), alone.end());
  std::sort(together.begin(), together.end());
  if (dist::get_rank() == 0)
    std::printf("local_ms %.4f ddp_ms %.4f local_cpu_ms %.4f ddp_cpu_ms %.4f\n", alone[alone.size() / 2],
                together[together.size() / 2], cpu_alone / rounds, cpu_together / rounds);
  dist::destroy_process_group();
}
