// Deep Q-learning on CartPole: a replay buffer, an exploring policy, and a target network that follows the learned one
// slowly. The next action's value is the target's, of the action that the learned network likes best (double DQN).
#include <cresset/cresset.h>

#include <algorithm>
#include <cstdio>

#include "arguments.h"
#include "cartpole.h"

namespace nn = cresset::nn;
using cresset::Tensor;

namespace {

constexpr int64_t kBatch = 64, kCapacity = 20000;
constexpr double kDiscount = 0.99, kFollow = 0.01;

nn::Sequential q_network() {
  return nn::Sequential(nn::Linear(4, 64), nn::ReLU(), nn::Linear(64, 64), nn::ReLU(), nn::Linear(64, 2));
}

Tensor as_tensor(const CartPole& cart) { return cresset::tensor(cresset::ArrayRef<float>(cart.state())); }

// The last kCapacity transitions, one row each.
class Replay {
 public:
  struct Batch {
    Tensor state, action, next, alive;
  };
  void add(const Tensor& state, int64_t action, const Tensor& next, bool alive) {
    const int64_t row = count_++ % kCapacity;
    state_[row].copy_(state);
    next_[row].copy_(next);
    action_[row].fill_(action);
    alive_[row].fill_(alive ? 1 : 0);
  }
  int64_t size() const { return std::min(count_, kCapacity); }
  Batch sample() const {
    Tensor rows = cresset::randint(0, size(), {kBatch}, cresset::kLong);
    return {state_.index_select(0, rows), action_.index_select(0, rows), next_.index_select(0, rows),
            alive_.index_select(0, rows)};
  }

 private:
  int64_t count_ = 0;
  Tensor state_ = cresset::zeros({kCapacity, 4}), next_ = cresset::zeros({kCapacity, 4});
  Tensor action_ = cresset::zeros({kCapacity}, cresset::kLong), alive_ = cresset::zeros({kCapacity});
};

int64_t best_action(nn::Sequential& network, const Tensor& state) {
  cresset::NoGradGuard no_grad;
  return network->forward(state.unsqueeze(0)).argmax(1).item<int64_t>();
}

void learn(nn::Sequential& network, nn::Sequential& target, const Replay::Batch& batch,
           cresset::optim::Adam& optimizer) {
  Tensor wanted;
  {
    cresset::NoGradGuard no_grad;
    Tensor chosen = network->forward(batch.next).argmax(1, /*keepdim=*/true);
    wanted = 1 + kDiscount * batch.alive * target->forward(batch.next).gather(1, chosen).squeeze(1);
  }
  Tensor value = network->forward(batch.state).gather(1, batch.action.unsqueeze(1)).squeeze(1);
  Tensor loss = cresset::smooth_l1_loss(value, wanted);
  optimizer.zero_grad();
  loss.backward();
  nn::utils::clip_grad_norm_(network->parameters(), 10.0);
  optimizer.step();
  cresset::NoGradGuard no_grad;
  auto slow = target->parameters(), fast = network->parameters();
  for (size_t i = 0; i < slow.size(); i++) slow[i].lerp_(fast[i], kFollow);
}

double mean_length(nn::Sequential& network, int episodes) {
  CartPole cart(1000);
  double pushes = 0;
  for (int i = 0; i < episodes; i++) {
    for (cart.reset(); !cart.over();) cart.push(best_action(network, as_tensor(cart)) == 1);
    pushes += cart.pushes();
  }
  return pushes / episodes;
}

}  // namespace

int example(const Arguments& arguments) {
  const int epochs = arguments.number("--epochs", arguments.has("--quick") ? 8 : 20);  // of 1,000 pushes
  cresset::manual_seed(1);
  nn::Sequential network = q_network(), target = q_network();
  target->load_state_dict(network->state_dict());
  cresset::optim::Adam optimizer(network->parameters(), cresset::optim::AdamOptions(1e-3));
  Replay replay;
  CartPole cart(1);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  const double untrained = mean_length(network, 5);
  std::printf("untrained: the pole stands for %.0f pushes\n", untrained);

  double best = 0;
  for (int epoch = 1; epoch <= epochs; epoch++) {
    for (int step = 0; step < 1000; step++) {
      const double explore = std::max(0.05, 1 - ((epoch - 1) * 1000 + step) / 3000.0);
      Tensor state = as_tensor(cart);
      const int64_t action = uniform(random) < explore ? random() % 2 : best_action(network, state);
      cart.push(action == 1);
      replay.add(state, action, as_tensor(cart), !cart.fell());
      if (cart.over()) cart.reset();
      if (replay.size() >= 500) learn(network, target, replay.sample(), optimizer);
    }
    const double length = mean_length(network, 5);
    best = std::max(best, length);
    std::printf("after %5d pushes: it stands for %3.0f %s\n", epoch * 1000, length,
                std::string(static_cast<size_t>(length / 10), '#').c_str());
  }
  const bool learned = best > 100 && best > 3 * untrained;
  std::printf("best of all evaluations: %.0f of %d%s\n", best, CartPole::kLongest, learned ? "" : ": BAD");
  return learned ? 0 : 1;
}

int main(int argc, char** argv) { return run_example(argc, argv, "--epochs N --quick", example); }
