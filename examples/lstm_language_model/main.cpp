// A word-level language model with an LSTM, trained by truncated backpropagation: the state goes from piece to piece,
// the gradient does not. The text comes from a small grammar whose sentences agree in number across other words, so the
// perplexity that no model can beat is known and printed beside the model's.
#include <cresset/cresset.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <random>

#include "arguments.h"

using cresset::Tensor;
namespace nn = cresset::nn;

// Words drawn from the grammar, with the mean of -log(chance) per word: the entropy.
struct Grammar {
  std::mt19937 random{1};
  std::map<std::string, int64_t> numbers;
  std::vector<std::string> words;
  std::vector<int64_t> text;
  double surprise = 0;

  void say(const std::string& word) {
    auto [at, fresh] = numbers.emplace(word, static_cast<int64_t>(words.size()));
    if (fresh) words.push_back(word);
    text.push_back(at->second);
  }
  size_t choose(const std::vector<double>& chances) {
    const size_t chosen = std::discrete_distribution<size_t>(chances.begin(), chances.end())(random);
    surprise -= std::log(chances[chosen]);
    return chosen;
  }
  size_t one_of(size_t count) { return choose(std::vector<double>(count, 1.0 / static_cast<double>(count))); }

  // A noun with its article, perhaps with an adjective or a clause between it and its verb. True: plural.
  bool noun(bool clause) {
    const std::string nouns[] = {"keeper", "sailor", "pilot", "dog", "light", "ship"};
    const std::string adjectives[] = {"old", "small", "quiet", "distant"};
    say("the");
    if (choose({0.6, 0.4}) == 1) say(adjectives[one_of(4)]);
    const size_t which = one_of(12);
    say(nouns[which / 2] + (which % 2 == 1 ? "s" : ""));
    if (clause && choose({0.7, 0.3}) == 1) {
      say("near");
      noun(false);
    }
    return which % 2 == 1;
  }
  void sentence() {
    const std::string verbs[] = {"see", "follow", "hear", "leave"};
    const bool plural = noun(true);
    say(verbs[one_of(4)] + (plural ? "" : "s"));
    noun(false);
    say(".");
  }
};

struct ModelImpl : nn::Module {
  using State = std::tuple<Tensor, Tensor>;
  ModelImpl(int64_t words, int64_t width) {
    embedding = register_module("embedding", nn::Embedding(words, width));
    lstm = register_module("lstm", nn::LSTM(nn::LSTMOptions(width, width).num_layers(2)));
    out = register_module("out", nn::Linear(width, words));
  }
  std::tuple<Tensor, State> forward(const Tensor& ids, const State& state) {
    auto [sequence, last] = lstm(embedding(ids), state);
    return {out(sequence), last};
  }
  nn::Embedding embedding{nullptr};
  nn::LSTM lstm{nullptr};
  nn::Linear out{nullptr};
};
CRESSET_MODULE(Model);

int example(const Arguments& arguments) {
  const bool quick = arguments.has("--quick");
  const int epochs = arguments.number("--epochs", quick ? 4 : 5);
  const int64_t batch = 20, piece = 25, width = quick ? 48 : 96;
  cresset::manual_seed(1);

  Grammar grammar;
  while (grammar.text.size() < (quick ? 20000U : 100000U)) grammar.sentence();
  const double best = std::exp(grammar.surprise / static_cast<double>(grammar.text.size()));
  const int64_t words = static_cast<int64_t>(grammar.words.size());
  // One long text cut into `batch` columns that are read side by side; the last tenth is for the test.
  const int64_t rows = static_cast<int64_t>(grammar.text.size()) / batch, train_rows = rows * 9 / 10;
  Tensor columns = cresset::tensor(grammar.text, cresset::kLong).narrow(0, 0, rows * batch).view({batch, rows}).t();

  Model model(words, width);
  cresset::optim::Adam optimizer(model->parameters(), 5e-3);
  // Goes through rows [from, to) and gives the perplexity.
  auto run = [&](int64_t from, int64_t to, bool training) {
    ModelImpl::State state{cresset::zeros({2, batch, width}), cresset::zeros({2, batch, width})};
    double total = 0, count = 0;
    for (int64_t at = from; at + piece < to; at += piece, count++) {
      auto [scores, last] = model(columns.narrow(0, at, piece), state);
      state = {std::get<0>(last).detach(), std::get<1>(last).detach()};
      Tensor target = columns.narrow(0, at + 1, piece).reshape({-1});
      Tensor loss = nn::functional::cross_entropy(scores.view({-1, words}), target);
      total += loss.item<double>();
      if (!training) continue;
      optimizer.zero_grad();
      loss.backward();
      nn::utils::clip_grad_norm_(model->parameters(), 1.0);
      optimizer.step();
    }
    return std::exp(total / count);
  };

  std::printf("%zu words, %ld different; no model can do better than perplexity %.3f\n", grammar.text.size(),
              static_cast<long>(words), best);
  double perplexity = 0;
  for (int epoch = 1; epoch <= epochs; epoch++) {
    const double training = run(0, train_rows, true);
    cresset::NoGradGuard no_grad;
    perplexity = run(train_rows, rows, false);
    std::printf("epoch %d   perplexity %.3f in training, %.3f in the test\n", epoch, training, perplexity);
    std::fflush(stdout);
  }

  cresset::NoGradGuard no_grad;
  ModelImpl::State state{cresset::zeros({2, 1, width}), cresset::zeros({2, 1, width})};
  Tensor word = cresset::full({1, 1}, grammar.numbers["."], cresset::kLong);
  for (int i = 0; i < 40; i++) {
    auto [scores, last] = model(word, state);
    state = last;
    word = cresset::multinomial(cresset::softmax(scores.view({-1}), 0), 1).view({1, 1});
    std::printf("%s%s", grammar.words[static_cast<size_t>(word.item<int64_t>())].c_str(), i % 20 == 19 ? "\n" : " ");
  }
  return perplexity < best * (quick ? 1.25 : 1.1) ? 0 : 1;
}

int main(int argc, char** argv) { return run_example(argc, argv, "--epochs N --quick", example); }
