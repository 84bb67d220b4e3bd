// Linear regression: a Linear layer learns the weights behind noisy measurements, by stochastic gradient descent on
// batches of a data loader. The true weights are known, so the error of what was learned can be printed.
#include <cresset/cresset.h>

#include <algorithm>
#include <cstdio>

#include "arguments.h"

using cresset::Tensor;
namespace nn = cresset::nn;
namespace data = cresset::data;

int example(const Arguments& arguments) {
  const int epochs = arguments.number("--epochs", arguments.has("--quick") ? 10 : 30);
  cresset::manual_seed(1);

  // y = x w + b + noise
  Tensor true_weight = cresset::tensor({2.0F, -3.4F, 0.7F}), x = cresset::randn({1000, 3});
  const double true_bias = 4.2;
  Tensor y = cresset::matmul(x, true_weight) + true_bias + 0.1 * cresset::randn({1000});

  auto samples = data::datasets::PairDataset(x, y.unsqueeze(1)).map(data::transforms::Stack<>());
  auto loader = data::make_data_loader(std::move(samples), data::DataLoaderOptions().batch_size(50));
  nn::Linear model(3, 1);
  cresset::optim::SGD optimizer(model->parameters(), cresset::optim::SGDOptions(0.03).momentum(0.5));

  for (int epoch = 1; epoch <= epochs; epoch++) {
    double total = 0;
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      Tensor loss = nn::functional::mse_loss(model(batch.data), batch.target);
      loss.backward();
      optimizer.step();
      total += loss.item<double>() * static_cast<double>(batch.data.size(0));
    }
    if (epoch % std::max(1, epochs / 5) == 0) std::printf("epoch %2d   mean squared error %.4f\n", epoch, total / 1000);
  }

  cresset::NoGradGuard no_grad;
  auto weight = model->weight.accessor<float, 2>();
  std::printf("learned  y = %+.3f x0 %+.3f x1 %+.3f x2 %+.3f\n", weight[0][0], weight[0][1], weight[0][2],
              model->bias.item<float>());
  std::printf("the truth    +2.000 x0 -3.400 x1 +0.700 x2 +4.200\n");
  const double error =
      (model->weight[0] - true_weight).abs().max().item<double>() + std::abs(model->bias.item<double>() - true_bias);
  std::printf("largest error %.4f\n", error);
  return error < 0.05 ? 0 : 1;
}

int main(int argc, char** argv) { return run_example(argc, argv, "--epochs N --quick", example); }
