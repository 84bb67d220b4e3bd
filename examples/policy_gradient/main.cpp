// REINFORCE with a learned baseline on CartPole: sixteen carts play at once, then one step of gradient ascent on
// log-probability times advantage. Actions are drawn without a graph; the graph is built once, for all states together.
#include <cresset/cresset.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "arguments.h"
#include "cartpole.h"

namespace nn = cresset::nn;
using cresset::Tensor;

namespace {

constexpr int kCarts = 16;
constexpr float kDiscount = 0.99F;

struct ActorCriticImpl : nn::Module {
  nn::Linear body{4, 64}, policy{64, 2}, value{64, 1};
  ActorCriticImpl() {
    register_module("body", body);
    register_module("policy", policy);
    register_module("value", value);
  }
  // Log-probabilities of both actions, and the return that is expected from here.
  std::pair<Tensor, Tensor> forward(const Tensor& states) {
    Tensor hidden = cresset::tanh(body->forward(states));
    return {cresset::log_softmax(policy->forward(hidden), 1), value->forward(hidden).squeeze(1)};
  }
};
CRESSET_MODULE(ActorCritic);

// What happened to all carts, step after step of each cart.
struct Experience {
  std::vector<float> states, returns;
  std::vector<int64_t> actions;
  double mean_length = 0;
};

Experience play(ActorCritic& model, std::vector<CartPole>& carts) {
  cresset::NoGradGuard no_grad;
  struct Episode {
    std::vector<CartPole::State> states;
    std::vector<int64_t> actions;
  };
  std::vector<Episode> episodes(carts.size());
  for (CartPole& cart : carts) cart.reset();
  Tensor states = cresset::zeros({kCarts, 4});
  for (bool playing = true; playing;) {
    auto row = states.accessor<float, 2>();
    for (int i = 0; i < kCarts; i++)
      for (int j = 0; j < 4; j++) row[i][j] = carts[i].state()[j];
    Tensor actions = model->forward(states).first.exp().multinomial(1);
    playing = false;
    for (int i = 0; i < kCarts; i++) {
      if (carts[i].over()) continue;
      const int64_t action = actions[i].item<int64_t>();
      episodes[i].states.push_back(carts[i].state());
      episodes[i].actions.push_back(action);
      carts[i].push(action == 1);
      playing = playing || !carts[i].over();
    }
  }
  Experience all;
  for (const Episode& episode : episodes) {
    const size_t length = episode.actions.size(), start = all.returns.size();
    for (const auto& state : episode.states) all.states.insert(all.states.end(), state.begin(), state.end());
    all.actions.insert(all.actions.end(), episode.actions.begin(), episode.actions.end());
    all.returns.resize(start + length);
    float sum = 0;
    for (size_t i = length; i-- > 0;) all.returns[start + i] = sum = 1 + kDiscount * sum;
    all.mean_length += static_cast<double>(length) / kCarts;
  }
  return all;
}

}  // namespace

int example(const Arguments& arguments) {
  const int epochs = arguments.number("--epochs", arguments.has("--quick") ? 40 : 120);  // of sixteen episodes
  cresset::manual_seed(2);
  ActorCritic model;
  cresset::optim::Adam optimizer(model->parameters(), cresset::optim::AdamOptions(1e-2));
  std::vector<CartPole> carts;
  for (unsigned i = 0; i < kCarts; i++) carts.emplace_back(i);

  double first = 0, best = 0;
  for (int epoch = 1; epoch <= epochs; epoch++) {
    Experience seen = play(model, carts);
    const auto count = static_cast<int64_t>(seen.actions.size());
    Tensor states = cresset::from_blob(seen.states.data(), {count, 4});
    Tensor actions = cresset::from_blob(seen.actions.data(), {count}, cresset::kLong);
    Tensor returns = cresset::from_blob(seen.returns.data(), {count}) / 50;  // of the size that a network likes
    auto [log_probability, value] = model->forward(states);
    Tensor advantage = (returns - value).detach();
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6);
    Tensor gain = (log_probability.gather(1, actions.unsqueeze(1)).squeeze(1) * advantage).mean();
    Tensor entropy = -(log_probability.exp() * log_probability).sum(1).mean();
    Tensor loss = -gain - 0.01 * entropy + cresset::mse_loss(value, returns);
    optimizer.zero_grad();
    loss.backward();
    nn::utils::clip_grad_norm_(model->parameters(), 1.0);
    optimizer.step();

    if (epoch == 1) first = seen.mean_length;
    best = std::max(best, seen.mean_length);
    if (epoch == 1 || epoch % 10 == 0)
      std::printf("after %4d episodes: the pole stands for %3.0f %s\n", epoch * kCarts, seen.mean_length,
                  std::string(static_cast<size_t>(seen.mean_length / 10), '#').c_str());
  }
  const bool learned = best > 100 && best > 3 * first;
  std::printf("best: %.0f of %d, at first %.0f%s\n", best, CartPole::kLongest, first, learned ? "" : ": BAD");
  return learned ? 0 : 1;
}

int main(int argc, char** argv) { return run_example(argc, argv, "--epochs N --quick", example); }
