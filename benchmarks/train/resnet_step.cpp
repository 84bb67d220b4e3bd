// Training steps of a ResNet-50 on small images, in float and under autocast to bfloat16. The two alternate, so that
// what else runs on the machine meets both, and the best of each counts.
//   resnet_step THREADS [IMAGES SIDE ROUNDS]
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "../kernels/framework.h"
#ifndef CRESSET
#include <ATen/autocast_mode.h>
#endif

using framework::Tensor;

namespace {

// Autocast for a scope, on both sides.
class LowerPrecision {
 public:
#ifdef CRESSET
  explicit LowerPrecision(bool on) : guard_(framework::kBFloat16, on) {}

 private:
  framework::amp::Autocast guard_;
#else
  explicit LowerPrecision(bool on) {
    at::autocast::set_autocast_cpu_dtype(torch::kBFloat16);
    at::autocast::set_cpu_enabled(on);
  }
  ~LowerPrecision() {
    at::autocast::clear_cache();
    at::autocast::set_cpu_enabled(false);
  }
  LowerPrecision(const LowerPrecision&) = delete;
  LowerPrecision& operator=(const LowerPrecision&) = delete;
#endif
};

struct ConvNorm {
  Tensor weight, scale, shift, mean, variance;
  int64_t stride, padding;
  ConvNorm(int64_t from, int64_t to, int64_t side, int64_t step)
      : weight((framework::randn({to, from, side, side}) * (1.4 / std::sqrt(static_cast<double>(from * side * side))))
                   .requires_grad_()),
        scale(framework::ones({to}).requires_grad_()),
        shift(framework::zeros({to}).requires_grad_()),
        mean(framework::zeros({to})),
        variance(framework::ones({to})),
        stride(step),
        padding(side / 2) {}
  Tensor operator()(const Tensor& x) const {
    return framework::batch_norm(framework::conv2d(x, weight, {}, stride, padding), scale, shift, mean, variance, true,
                                 0.1, 1e-5, false);
  }
};

struct Block {
  std::vector<ConvNorm> main, side;
  Tensor operator()(const Tensor& x) const {
    Tensor y = x;
    for (size_t i = 0; i < main.size(); i++) {
      y = main[i](y);
      if (i + 1 < main.size()) y.relu_();
    }
    y += side.empty() ? x : side[0](x);
    return y.relu_();
  }
};

class Network {
 public:
  Network() {
    const int64_t counts[] = {3, 4, 6, 3};
    int64_t from = 64;
    for (int stage = 0; stage < 4; stage++)
      for (int64_t i = 0; i < counts[stage]; i++) {
        const int64_t inner = 64 << stage, to = 4 * inner, stride = stage > 0 && i == 0 ? 2 : 1;
        Block block{{{from, inner, 1, 1}, {inner, inner, 3, stride}, {inner, to, 1, 1}}, {}};
        if (i == 0) block.side.emplace_back(from, to, 1, stride);
        blocks_.push_back(std::move(block));
        from = to;
      }
    for (const ConvNorm* unit : units())
      for (const Tensor* t : {&unit->weight, &unit->scale, &unit->shift}) parameters_.push_back(*t);
    parameters_.push_back(weight_);
    parameters_.push_back(bias_);
  }

  Tensor forward(const Tensor& x) const {
    Tensor y = framework::max_pool2d(framework::relu(first_(x)), 3, 2, 1);
    for (const Block& block : blocks_) y = block(y);
    return framework::linear(framework::adaptive_avg_pool2d(y, {1, 1}).flatten(1), weight_, bias_);
  }
  const std::vector<Tensor>& parameters() const { return parameters_; }

 private:
  std::vector<const ConvNorm*> units() const {
    std::vector<const ConvNorm*> all{&first_};
    for (const Block& block : blocks_) {
      for (const ConvNorm& unit : block.main) all.push_back(&unit);
      for (const ConvNorm& unit : block.side) all.push_back(&unit);
    }
    return all;
  }
  ConvNorm first_{3, 64, 7, 2};
  std::vector<Block> blocks_;
  Tensor weight_ = (framework::randn({10, 2048}) * 0.02).requires_grad_();
  Tensor bias_ = framework::zeros({10}).requires_grad_();
  std::vector<Tensor> parameters_;
};

Tensor loss_of(const Tensor& logits, const Tensor& target) {
#ifdef CRESSET
  return cresset::cross_entropy(logits, target);
#else
  return torch::cross_entropy_loss(logits, target);
#endif
}

struct Times {
  double forward = 1e9, backward = 1e9, step = 1e9;
};

void step(const Network& network, framework::optim::SGD& optimizer, const Tensor& x, const Tensor& target, bool lower,
          Times& best) {
  const double start = wall_seconds();
  Tensor loss;
  {
    LowerPrecision precision(lower);
    loss = loss_of(network.forward(x), target);
  }
  const double middle = wall_seconds();
  loss.backward();
  const double after = wall_seconds();
  optimizer.step();
  for (const Tensor& parameter : network.parameters()) parameter.mutable_grad().reset();
  best.forward = std::min(best.forward, middle - start);
  best.backward = std::min(best.backward, after - middle);
  best.step = std::min(best.step, wall_seconds() - start);
}

}  // namespace

int main(int argc, char** argv) {
  auto argument = [&](int i, int missing) { return argc > i ? std::atoi(argv[i]) : missing; };
  framework::set_num_threads(argument(1, 2));
  framework::manual_seed(0);
  const int64_t images = argument(2, 12), side = argument(3, 112);
  Network network;
  framework::optim::SGD optimizer(network.parameters(), framework::optim::SGDOptions(0.001).momentum(0.9));
  Tensor x = framework::randn({images, 3, side, side}), target = framework::zeros({images}, framework::kInt64);
  Times plain, lower, ignored;
  for (int i = 0; i < 2; i++)
    for (bool on : {false, true}) step(network, optimizer, x, target, on, ignored);
  for (int i = 0; i < argument(4, 8); i++) {
    step(network, optimizer, x, target, false, plain);
    step(network, optimizer, x, target, true, lower);
  }
  for (const auto& [name, times] : {std::pair{"float32", plain}, std::pair{"bf16", lower}}) {
    print_row((std::string("forward_") + name).c_str(), 1e3 * times.forward);
    print_row((std::string("backward_") + name).c_str(), 1e3 * times.backward);
    print_row((std::string("step_") + name).c_str(), 1e3 * times.step);
    print_row((std::string("speed_") + name).c_str(), 1 / times.step);
  }
}
