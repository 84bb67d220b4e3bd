// Which pixels made the network decide? A small CNN tells a plus from a cross that stands somewhere in noise; then the
// gradient of its score by the picture (saliency) and integrated gradients (Sundararajan and others, 2017) are drawn
// in the terminal. Integrated gradients must sum to the difference of the scores: this is checked.
#include <cresset/cresset.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "arguments.h"

namespace nn = cresset::nn;
using cresset::Tensor;

namespace {

constexpr int64_t kSide = 16;

struct Pictures {
  Tensor images, labels, marks;  // marks: 1 where the sign is
};

Pictures generate(int64_t count) {
  Tensor labels = cresset::randint(0, 2, {count}, cresset::kLong), marks = cresset::zeros({count, 1, kSide, kSide});
  Tensor corners = cresset::randint(0, kSide - 4, {count, 2}, cresset::kLong);
  auto label = labels.accessor<int64_t, 1>();
  auto corner = corners.accessor<int64_t, 2>();
  auto mark = marks.accessor<float, 4>();
  for (int64_t n = 0; n < count; n++)
    for (int64_t i = 0; i < 5; i++) {
      const int64_t y = corner[n][0], x = corner[n][1];
      mark[n][0][y + i][x + (label[n] == 0 ? 2 : i)] = 1;
      mark[n][0][y + (label[n] == 0 ? 2 : i)][x + (label[n] == 0 ? i : 4 - i)] = 1;
    }
  return {marks + 0.15 * cresset::randn({count, 1, kSide, kSide}), labels, marks};
}

void draw(const char* title, Tensor map) {
  const std::string ink = " .:-=+*#%@";
  map = (map.abs() / map.abs().max()).view({kSide, kSide}).contiguous();
  auto value = map.accessor<float, 2>();
  std::printf("%s\n", title);
  for (int64_t y = 0; y < kSide; y++) {
    std::printf("  ");
    for (int64_t x = 0; x < kSide; x++) {
      const char c = ink[static_cast<size_t>(value[y][x] * 9.49F)];
      std::putchar(c), std::putchar(c);
    }
    std::putchar('\n');
  }
}

// How much the right score exceeds the wrong one.
Tensor margin(nn::Sequential& network, const Tensor& images, int64_t label) {
  Tensor scores = network->forward(images);
  return scores.select(1, label) - scores.select(1, 1 - label);
}

Tensor gradient(nn::Sequential& network, const Tensor& images, int64_t label) {
  Tensor input = images.detach().clone().requires_grad_();
  margin(network, input, label).sum().backward();
  return input.grad();
}

// (x - baseline) times the mean gradient on the way from the baseline to x, by the midpoint rule.
Tensor integrated_gradients(nn::Sequential& network, const Tensor& image, int64_t label, int64_t steps) {
  Tensor way = ((cresset::arange(steps).to(cresset::kFloat) + 0.5) / static_cast<double>(steps)).view({steps, 1, 1, 1});
  return image * gradient(network, way * image, label).mean(0, /*keepdim=*/true);  // the baseline is a black picture
}

}  // namespace

int example(const Arguments& arguments) {
  const int epochs = arguments.number("--epochs", arguments.has("--quick") ? 2 : 6);
  cresset::manual_seed(0);
  nn::Sequential network(nn::Conv2d(nn::Conv2dOptions(1, 8, 3).padding(1)), nn::ReLU(), nn::MaxPool2d(2),
                         nn::Conv2d(nn::Conv2dOptions(8, 16, 3).padding(1)), nn::ReLU(), nn::AdaptiveMaxPool2d(1),
                         nn::Flatten(), nn::Linear(16, 2));
  cresset::optim::Adam optimizer(network->parameters(), cresset::optim::AdamOptions(1e-2));
  for (int epoch = 1; epoch <= epochs; epoch++)
    for (int step = 0; step < 100; step++) {
      Pictures batch = generate(32);
      optimizer.zero_grad();
      nn::functional::cross_entropy(network->forward(batch.images), batch.labels).backward();
      optimizer.step();
    }
  Pictures test = generate(200);
  const double accuracy =
      network->forward(test.images).argmax(1).eq(test.labels).to(cresset::kFloat).mean().item<double>();
  std::printf("accuracy %.1f %%\n", 100 * accuracy);

  // Over some pictures: the share of each map that lies on the sign (9 of 256 pixels: 3.5 % by chance), and whether
  // the attributions add up.
  double on_sign = 0, saliency_on_sign = 0, worst = 0;
  const int64_t count = 20;
  for (int64_t i = 0; i < count; i++) {
    Tensor image = test.images.slice(0, i, i + 1), mark = test.marks[i];
    const int64_t label = test.labels[i].item<int64_t>();
    Tensor saliency = gradient(network, image, label).abs(), parts = integrated_gradients(network, image, label, 300);
    const double difference =
        (margin(network, image, label) - margin(network, cresset::zeros_like(image), label)).item<double>();
    worst = std::max(worst, std::abs(parts.sum().item<double>() - difference) / std::max(1.0, std::abs(difference)));
    saliency_on_sign += ((saliency * mark).sum() / saliency.sum()).item<double>() / count;
    on_sign += ((parts.abs() * mark).sum() / parts.abs().sum()).item<double>() / count;
    if (i > 0) continue;
    draw(label == 0 ? "a plus" : "a cross", image);
    draw("saliency: the gradient of the score", saliency);
    draw("integrated gradients", parts);
  }
  const bool good = accuracy > 0.9 && worst < 0.02 && on_sign > 0.25 && saliency_on_sign > 0.07;
  std::printf("on the sign: saliency %.0f %%, integrated gradients %.0f %% (3.5 %% by chance)\n",
              100 * saliency_on_sign, 100 * on_sign);
  std::printf("the attributions sum to the difference of the scores within %.2f %%%s\n", 100 * worst,
              good ? "" : ": BAD");
  return good ? 0 : 1;
}

int main(int argc, char** argv) { return run_example(argc, argv, "--epochs N --quick", example); }
