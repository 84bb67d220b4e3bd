// A multi-layer perceptron on handwritten digits: the shortest complete training program, with data set, loader, model,
// optimizer, loop and test. It also tells which part of the time went into waiting for the loader's one worker.
#include <cresset/cresset.h>

#include <chrono>
#include <cstdio>

#include "arguments.h"

using cresset::Tensor;
namespace nn = cresset::nn;
namespace data = cresset::data;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Trains on one data set and gives the accuracy on another, in percent.
template <class Digits>
double learn(Digits train_set, Digits test_set, int epochs) {
  const double train_size = static_cast<double>(*train_set.size()), test_size = static_cast<double>(*test_set.size());
  std::printf("%.0f images to learn from, %.0f to test with\n", train_size, test_size);
  auto prepare = [](Digits& set) {
    return set.map(data::transforms::Normalize<>(0.1307, 0.3081)).map(data::transforms::Stack<>());
  };
  auto train = data::make_data_loader(prepare(train_set), data::DataLoaderOptions(64).workers(1));
  auto test = data::make_data_loader<data::samplers::SequentialSampler>(prepare(test_set), 500);

  nn::Sequential model(nn::Flatten(), nn::Linear(784, 256), nn::ReLU(), nn::Linear(256, 10));
  cresset::optim::Adam optimizer(model->parameters(), 1e-3);

  double accuracy = 0, waited = 0, trained = 0;
  for (int epoch = 1; epoch <= epochs; epoch++) {
    model->train();
    double total = 0, since = now();
    const double start = since;
    for (auto& batch : *train) {
      waited += now() - since;
      optimizer.zero_grad();
      Tensor loss = nn::functional::cross_entropy(model->forward(batch.data), batch.target);
      loss.backward();
      optimizer.step();
      total += loss.item<double>() * static_cast<double>(batch.data.size(0));
      since = now();
    }
    trained += now() - start;

    model->eval();
    cresset::NoGradGuard no_grad;
    double right = 0;
    for (auto& batch : *test)
      right += model->forward(batch.data).argmax(1).eq(batch.target).sum().template item<double>();
    accuracy = 100 * right / test_size;
    std::printf("epoch %d   loss %.4f   test accuracy %.2f %%\n", epoch, total / train_size, accuracy);
  }
  std::printf("%.2f s of training, %.1f %% of it spent waiting for data\n", trained, 100 * waited / trained);
  return accuracy;
}

int example(const Arguments& arguments) {
  const bool quick = arguments.has("--quick");
  const int epochs = arguments.number("--epochs", quick ? 3 : 8);
  const std::string folder = arguments.text("--data");
  cresset::manual_seed(1);

  using data::datasets::DrawnDigits, data::datasets::MNIST;
  const double accuracy = folder.empty() ? learn(DrawnDigits(quick ? 2000 : 8000, /*seed=*/1),
                                                 DrawnDigits(quick ? 500 : 2000, /*seed=*/2), epochs)
                                         : learn(MNIST(folder), MNIST(folder, MNIST::Mode::kTest), epochs);
  return accuracy > (quick ? 80 : 93) ? 0 : 1;
}

int main(int argc, char** argv) { return run_example(argc, argv, "--data DIR --epochs N --quick", example); }
