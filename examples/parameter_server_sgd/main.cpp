// A parameter server: process 0 keeps the parameters of a line, the others are workers that fit it to their own noisy
// points of y = 3x + 2. First in step (the server waits for all workers and averages), then each at its own pace
// (whoever comes is served; gradients may be a little old).
//
//   cresset-run --nproc-per-node 3 build/release/bin/examples/parameter_server_sgd
#include <cresset/cresset.h>
#include <cresset/distributed/distributed.h>

#include <cmath>
#include <cstdio>

#include "arguments.h"

using cresset::Tensor;
namespace dist = cresset::distributed;

enum Tag { kGradient = 1, kParameters = 2 };

// The gradient of the mean square error of a worker's next batch at these parameters, [slope, offset].
Tensor gradient_at(const Tensor& parameters) {
  Tensor at = parameters.detach().clone().requires_grad_();
  Tensor x = cresset::rand({16}) * 2 - 1;
  Tensor y = x * 3 + 2 + cresset::randn({16}) * 0.1;
  (at[0] * x + at[1] - y).square().mean().backward();
  return at.grad();
}

// All workers in step: gradients are gathered, the sum is applied, the parameters go out to everybody.
Tensor in_step(int rank, int workers, int steps) {
  Tensor parameters = cresset::zeros({2});
  for (int step = 0; step < steps; step++) {
    Tensor gradient = rank == 0 ? cresset::zeros({2}) : gradient_at(parameters);
    dist::reduce(gradient, 0);
    if (rank == 0) parameters.sub_(gradient, 0.2 / workers);
    dist::broadcast(parameters, 0);
  }
  return parameters;
}

// Each at its own pace: the server takes the next gradient from anybody and answers that worker alone.
Tensor at_own_pace(int rank, int workers, int steps) {
  Tensor parameters = cresset::zeros({2});
  if (rank == 0) {
    Tensor gradient = cresset::empty({2});
    for (int i = 0; i < steps * workers; i++) {
      const int worker = dist::recv(gradient, std::nullopt, kGradient);
      parameters.sub_(gradient, 0.2 / workers);
      dist::send(parameters, worker, kParameters);
    }
  } else {
    for (int step = 0; step < steps; step++) {
      dist::send(gradient_at(parameters), 0, kGradient);
      dist::recv(parameters, 0, kParameters);
    }
  }
  dist::broadcast(parameters, 0);
  return parameters;
}

int example(const Arguments& arguments) {
  const int steps = arguments.number("--steps", arguments.has("--quick") ? 150 : 500);
  dist::init_process_group();
  const int rank = dist::get_rank(), workers = dist::get_world_size() - 1;
  if (workers < 1) {
    std::fprintf(stderr,
                 "parameter_server_sgd: wants a server and at least one worker: cresset-run --nproc-per-node 3\n");
    return 2;
  }
  cresset::manual_seed(static_cast<uint64_t>(rank));
  bool right = true;
  for (auto [name, run] : {std::pair{"in step", &in_step}, std::pair{"at their own pace", &at_own_pace}}) {
    const Tensor line = run(rank, workers, steps);
    const double slope = line[0].item<double>(), offset = line[1].item<double>();
    right = right && std::abs(slope - 3) < 0.1 && std::abs(offset - 2) < 0.1;
    if (rank == 0) std::printf("%d workers %-18s y = %.3f x + %.3f (true: 3 x + 2)\n", workers, name, slope, offset);
  }
  dist::destroy_process_group();
  return right ? 0 : 1;
}

int main(int argc, char** argv) { return run_example(argc, argv, "--steps N --quick", example); }
