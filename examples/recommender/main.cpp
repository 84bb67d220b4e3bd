// Predicts the ratings that users would give to films they have not seen, by matrix factorisation (the product of two
// embeddings, and biases) and by a network on top of embeddings. The ratings are generated from hidden tastes.
#include <cresset/cresset.h>

#include <cmath>
#include <cstdio>
#include <utility>

#include "arguments.h"

namespace nn = cresset::nn;
using cresset::Tensor;

namespace {

constexpr int64_t kUsers = 300, kItems = 200, kTastes = 3, kRatings = 12000;
constexpr double kNoise = 0.25;

struct FactorisationImpl : nn::Module {
  nn::Embedding user{kUsers, 8}, item{kItems, 8}, user_bias{kUsers, 1}, item_bias{kItems, 1};
  Tensor mean = register_parameter("mean", cresset::full({1}, 3.0));
  FactorisationImpl() {
    register_module("user", user);
    register_module("item", item);
    register_module("user_bias", user_bias);
    register_module("item_bias", item_bias);
    for (Tensor& weight : parameters())
      if (weight.dim() == 2) nn::init::normal_(weight, 0, 0.1);
  }
  Tensor forward(const Tensor& users, const Tensor& items) {
    Tensor product = (user->forward(users) * item->forward(items)).sum(1);
    return product + user_bias->forward(users).squeeze(1) + item_bias->forward(items).squeeze(1) + mean;
  }
};
CRESSET_MODULE(Factorisation);

struct NeuralImpl : nn::Module {
  nn::Embedding user{kUsers, 8}, item{kItems, 8};
  nn::Sequential rest{nn::Linear(24, 64), nn::ReLU(), nn::Dropout(0.1), nn::Linear(64, 1)};
  NeuralImpl() {
    register_module("user", user);
    register_module("item", item);
    register_module("rest", rest);
    nn::init::normal_(user->weight, 0, 0.3);
    nn::init::normal_(item->weight, 0, 0.3);
  }
  // The network sees both embeddings and their product: products are what it learns with most trouble.
  Tensor forward(const Tensor& users, const Tensor& items) {
    Tensor u = user->forward(users), i = item->forward(items);
    return rest->forward(cresset::cat({u, i, u * i}, 1)).squeeze(1) + 3;
  }
};
CRESSET_MODULE(Neural);

struct Ratings {
  Tensor users, items, stars;
  Ratings part(int64_t from, int64_t to) const {
    return {users.slice(0, from, to), items.slice(0, from, to), stars.slice(0, from, to)};
  }
};

// Each user likes some hidden tastes, each film serves some; a rating is between 1 and 5 stars, with noise.
Ratings generate() {
  Tensor user = cresset::randn({kUsers, kTastes}), item = cresset::randn({kItems, kTastes});
  Tensor quality = cresset::randn({kItems}) * 0.4;
  Tensor pairs = cresset::randperm(kUsers * kItems).slice(0, 0, kRatings);
  Tensor users = pairs.div(kItems, "floor").to(cresset::kLong), items = pairs.remainder(kItems);
  Tensor liking = (user.index_select(0, users) * item.index_select(0, items)).sum(1) * 0.5;
  Tensor stars = 3 + liking + quality.index_select(0, items) + kNoise * cresset::randn({kRatings});
  return {users, items, stars.clamp(1, 5)};
}

template <class Model>
double root_mean_square_error(Model& model, const Ratings& ratings) {
  cresset::NoGradGuard no_grad;
  model->eval();
  return std::sqrt(
      cresset::mse_loss(model->forward(ratings.users, ratings.items), ratings.stars).template item<double>());
}

template <class Model>
double train(const char* name, Model model, const Ratings& seen, const Ratings& hidden, int epochs) {
  cresset::optim::AdamW optimizer(model->parameters(), cresset::optim::AdamWOptions(1e-2).weight_decay(0.3));
  cresset::optim::StepLR schedule(optimizer, static_cast<unsigned>(epochs / 3 + 1), 0.3);
  const int64_t count = seen.stars.size(0), batch = 250;
  for (int epoch = 1; epoch <= epochs; epoch++) {
    model->train();
    Tensor order = cresset::randperm(count);
    for (int64_t at = 0; at < count; at += batch) {
      Tensor rows = order.slice(0, at, at + batch);
      optimizer.zero_grad();
      Tensor guess = model->forward(seen.users.index_select(0, rows), seen.items.index_select(0, rows));
      cresset::mse_loss(guess, seen.stars.index_select(0, rows)).backward();
      optimizer.step();
    }
    schedule.step();
  }
  const double error = root_mean_square_error(model, hidden);
  std::printf("%-22s off by %.3f stars on ratings it has not seen (%.3f on those it has)\n", name, error,
              root_mean_square_error(model, seen));
  return error;
}

}  // namespace

int example(const Arguments& arguments) {
  const int epochs = arguments.number("--epochs", arguments.has("--quick") ? 20 : 40);
  cresset::manual_seed(0);
  Ratings all = generate(), seen = all.part(0, kRatings * 9 / 10), hidden = all.part(kRatings * 9 / 10, kRatings);
  const double plain = std::sqrt((hidden.stars - seen.stars.mean()).pow(2).mean().item<double>());
  std::printf("%-22s off by %.3f stars (the noise is %.2f)\n", "always the mean", plain, kNoise);
  Factorisation factorisation;
  const double product = train("matrix factorisation", factorisation, seen, hidden, epochs);
  const double network = train("network on embeddings", Neural(), seen, hidden, epochs);

  cresset::NoGradGuard no_grad;
  Tensor guess = factorisation->forward(cresset::zeros({kItems}, cresset::kLong), cresset::arange(kItems));
  auto [stars, films] = guess.topk(3);
  std::printf("user 0 may like");
  for (int64_t i = 0; i < 3; i++) std::printf("  film %d (%.1f stars)", films[i].item<int>(), stars[i].item<double>());
  const bool learned = product < 0.6 * plain && network < 0.6 * plain;
  std::printf("%s\n", learned ? "" : "\nBAD: no better than the mean");
  return learned ? 0 : 1;
}

int main(int argc, char** argv) { return run_example(argc, argv, "--epochs N --quick", example); }
