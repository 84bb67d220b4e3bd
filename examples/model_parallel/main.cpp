// One model in pieces: each process holds some of the layers, sends what they made of the input to the next, and gets
// the gradient back. The result is that of the whole model in one process, which the last process checks.
//
//   cresset-run --nproc-per-node 2 build/release/bin/examples/model_parallel
#include <cresset/cresset.h>
#include <cresset/distributed/distributed.h>

#include <cmath>
#include <cstdio>

#include "arguments.h"

using cresset::Tensor;
namespace nn = cresset::nn;
namespace dist = cresset::distributed;

constexpr int64_t kWidth = 32, kBatch = 64;

// Every process makes all layers from the same seed and keeps its own, so that the check has something to compare with.
nn::Sequential layers_of(int stage, int stages) {
  cresset::manual_seed(7);
  nn::Sequential mine;
  const int layers = 2 * stages;
  for (int i = 0; i < layers; i++) {
    nn::Linear layer(i == 0 ? 2 : kWidth, i + 1 == layers ? 1 : kWidth);
    if (stage >= 0 && i / 2 != stage) continue;
    mine->push_back(layer);
    if (i + 1 < layers) mine->push_back(nn::Tanh());
  }
  return mine;
}

struct Batch {
  Tensor x, y;
  explicit Batch(int step) {  // the same on every process
    cresset::Generator generator(static_cast<uint64_t>(step));
    x = cresset::rand({kBatch, 2}, generator) * 2 - 1;
    y = (x.select(1, 0) * 3).sin() * x.select(1, 1);
    y = y.unsqueeze(1);
  }
};

int example(const Arguments& arguments) {
  const int steps = arguments.number("--steps", arguments.has("--quick") ? 300 : 1500);
  dist::init_process_group();
  const int rank = dist::get_rank(), stages = dist::get_world_size();
  const bool first = rank == 0, last = rank == stages - 1;

  nn::Sequential part = layers_of(rank, stages), whole = layers_of(-1, stages);
  cresset::optim::Adam optimizer(part->parameters(), 1e-2), optimizer_whole(whole->parameters(), 1e-2);
  double loss_at_start = 0, loss_now = 0, apart = 0;
  for (int step = 0; step < steps; step++) {
    const Batch batch(step);
    optimizer.zero_grad();
    // Forward: from the process before, to the next.
    Tensor in = batch.x;
    if (!first) {
      in = cresset::empty({kBatch, kWidth});
      dist::recv(in, rank - 1);
      in.requires_grad_();
    }
    Tensor out = part->forward(in);
    if (!last) dist::send(out.detach(), rank + 1);
    // Backward: the gradient of what was sent comes back.
    if (last) {
      Tensor loss = nn::functional::mse_loss(out, batch.y);
      loss.backward();
      loss_now = loss.item<double>();
      if (step == 0) loss_at_start = loss_now;
    } else {
      Tensor gradient = cresset::empty({kBatch, kWidth});
      dist::recv(gradient, rank + 1);
      out.backward(gradient);
    }
    if (!first) dist::send(in.grad(), rank - 1);
    optimizer.step();

    if (last && step < 20) {  // the whole model, for comparison
      optimizer_whole.zero_grad();
      Tensor loss = nn::functional::mse_loss(whole->forward(batch.x), batch.y);
      loss.backward();
      optimizer_whole.step();
      apart = std::max(apart, std::abs(loss.item<double>() - loss_now) / loss_now);
    }
  }
  Tensor verdict = cresset::zeros({1});
  if (last) {
    std::printf("%d stages   loss %.4f at the start, %.5f after %d steps   %.1e from the whole model's\n", stages,
                loss_at_start, loss_now, steps, apart);
    verdict.fill_(loss_now < loss_at_start / 10 && apart < 1e-4);
  }
  dist::broadcast(verdict, stages - 1);
  dist::destroy_process_group();
  return verdict.item<float>() == 1 ? 0 : 1;
}

int main(int argc, char** argv) { return run_example(argc, argv, "--steps N --quick", example); }
