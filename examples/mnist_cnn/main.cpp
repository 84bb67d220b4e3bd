// A convolutional network on handwritten digits, as a module of one's own: layers registered in the constructor,
// forward written out, dropout that train() switches on and eval() off. The weights are saved and loaded again at the
// end.
#include <cresset/cresset.h>

#include <cstdio>
#include <iostream>

#include "arguments.h"

using cresset::Tensor;
namespace nn = cresset::nn;
namespace data = cresset::data;

struct NetImpl : nn::Cloneable<NetImpl> {
  NetImpl() { reset(); }
  void reset() override {
    conv1 = register_module("conv1", nn::Conv2d(nn::Conv2dOptions(1, 32, 3)));
    conv2 = register_module("conv2", nn::Conv2d(nn::Conv2dOptions(32, 64, 3)));
    dropout1 = register_module("dropout1", nn::Dropout(0.25));
    dropout2 = register_module("dropout2", nn::Dropout(0.5));
    fc1 = register_module("fc1", nn::Linear(9216, 128));
    fc2 = register_module("fc2", nn::Linear(128, 10));
  }
  Tensor forward(Tensor x) {
    x = cresset::relu(conv1(x));
    x = cresset::max_pool2d(cresset::relu(conv2(x)), 2);
    x = cresset::relu(fc1(dropout1(x).flatten(1)));
    return fc2(dropout2(x));
  }
  nn::Conv2d conv1{nullptr}, conv2{nullptr};
  nn::Dropout dropout1{nullptr}, dropout2{nullptr};
  nn::Linear fc1{nullptr}, fc2{nullptr};
};
CRESSET_MODULE(Net);

template <class Loader>
double accuracy_of(Net net, Loader& loader) {
  cresset::NoGradGuard no_grad;
  net->eval();
  int64_t right = 0, count = 0;
  for (auto& batch : loader) {
    right += net(batch.data).argmax(1).eq(batch.target).sum().template item<int64_t>();
    count += batch.data.size(0);
  }
  net->train();
  return 100.0 * static_cast<double>(right) / static_cast<double>(count);
}

// True if it reads the test digits well enough, also after saving and loading.
template <class Digits>
bool learn(Digits train_set, Digits test_set, int epochs, double wanted) {
  auto prepare = [](Digits& set) {
    return set.map(data::transforms::Normalize<>(0.1307, 0.3081)).map(data::transforms::Stack<>());
  };
  auto train = data::make_data_loader(prepare(train_set), data::DataLoaderOptions(64).workers(1));
  auto test = data::make_data_loader<data::samplers::SequentialSampler>(prepare(test_set), 250);

  Net net;
  std::cout << net << "\n";
  cresset::optim::Adam optimizer(net->parameters(), cresset::optim::AdamOptions(1e-3));
  double accuracy = 0;
  for (int epoch = 1; epoch <= epochs; epoch++) {
    double total = 0;
    for (auto& batch : *train) {
      optimizer.zero_grad();
      Tensor loss = nn::functional::cross_entropy(net(batch.data), batch.target);
      loss.backward();
      optimizer.step();
      total += loss.item<double>();
    }
    accuracy = accuracy_of(net, *test);
    std::printf("epoch %d   loss %.4f   test accuracy %.2f %%\n", epoch, total / static_cast<double>(*train->size()),
                accuracy);
    std::fflush(stdout);
  }

  cresset::save(net, "mnist_cnn.pt");  // torch.load reads it too
  Net again;
  cresset::load(again, "mnist_cnn.pt");
  const bool same = accuracy_of(again, *test) == accuracy;
  std::printf("saved to mnist_cnn.pt; loaded again it %s\n", same ? "does as well" : "DIFFERS");
  return same && accuracy > wanted;
}

int example(const Arguments& arguments) {
  const bool quick = arguments.has("--quick");
  const int epochs = arguments.number("--epochs", quick ? 1 : 6);
  const std::string folder = arguments.text("--data");
  cresset::manual_seed(1);

  using data::datasets::DrawnDigits, data::datasets::MNIST;
  const double wanted = quick ? 60 : 97;
  const bool good = folder.empty() ? learn(DrawnDigits(quick ? 2000 : 8000, /*seed=*/1),
                                           DrawnDigits(quick ? 250 : 2000, /*seed=*/2), epochs, wanted)
                                   : learn(MNIST(folder), MNIST(folder, MNIST::Mode::kTest), epochs, wanted);
  return good ? 0 : 1;
}

int main(int argc, char** argv) { return run_example(argc, argv, "--data DIR --epochs N --quick", example); }
