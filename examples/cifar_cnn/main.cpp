// A residual network on small colour images, with augmentation (random crops and flips), batch norm, weight decay and a
// one-cycle learning rate. CIFAR-10 with --data; without, images of ten coloured shapes drawn here.
#include <cresset/cresset.h>

#include <cstdio>

#include "arguments.h"

using cresset::Tensor;
namespace nn = cresset::nn;
namespace data = cresset::data;
namespace transforms = cresset::data::transforms;
using data::datasets::PairDataset;

// Shape 0 to 4 (disc, square, ring, cross, stripes), filled (even labels) or on a bright ground (odd ones). Colour,
// place and size are random, so that none of them gives the class away.
PairDataset shapes(int64_t count) {
  Tensor label = cresset::randint(0, 10, {count}, cresset::kLong), kind = label.div(2, "floor").view({count, 1, 1});
  auto random = [&](double low, double high) { return cresset::rand({count, 1, 1}) * (high - low) + low; };
  Tensor axis = cresset::arange(32, cresset::kFloat), size = random(6, 11);
  Tensor dx = axis.view({1, 1, 32}) - random(11, 21), dy = axis.view({1, 32, 1}) - random(11, 21);
  Tensor far = cresset::maximum(dx.abs(), dy.abs()), near = cresset::minimum(dx.abs(), dy.abs());
  Tensor radius = (dx * dx + dy * dy).sqrt(), disc = radius.lt(size), square = far.lt(size * 0.85);
  Tensor ring = disc.logical_and(radius.gt(size * 0.6)), cross = far.lt(size).logical_and(near.lt(size * 0.3));
  Tensor stripes = square.logical_and((dx + dy).remainder(6).lt(3));
  Tensor inside = cresset::zeros({count, 32, 32}, cresset::kBool);
  int64_t number = 0;
  for (const Tensor& shape : {disc, square, ring, cross, stripes})
    inside = inside.logical_or(shape.logical_and(kind.eq(number++)));

  Tensor bright = cresset::rand({count, 3, 1, 1}) * 0.5 + 0.5, dark = cresset::rand({count, 3, 1, 1}) * 0.4;
  Tensor lit = inside.unsqueeze(1).logical_xor(label.remainder(2).eq(1).view({count, 1, 1, 1}));
  Tensor images = cresset::where(lit, bright, dark) + 0.1 * cresset::randn({count, 3, 32, 32});
  return {images.clamp(0, 1), label};
}

struct ResidualImpl : nn::Module {
  ResidualImpl(int64_t in, int64_t out, int64_t stride) {
    auto conv = [](int64_t from, int64_t to, int64_t size, int64_t step) {
      return nn::Conv2d(nn::Conv2dOptions(from, to, size).stride(step).padding(size / 2).bias(false));
    };
    body = register_module("body", nn::Sequential(conv(in, out, 3, stride), nn::BatchNorm2d(out), nn::ReLU(),
                                                  conv(out, out, 3, 1), nn::BatchNorm2d(out)));
    shortcut = register_module("shortcut", nn::Sequential(conv(in, out, 1, stride), nn::BatchNorm2d(out)));
  }
  Tensor forward(const Tensor& x) { return cresset::relu(body->forward(x) + shortcut->forward(x)); }
  nn::Sequential body{nullptr}, shortcut{nullptr};
};
CRESSET_MODULE(Residual);

// Trains on one set of images and gives the accuracy on another, in percent.
template <class Images>
double learn(Images train_set, Images test_set, int epochs, int64_t width) {
  transforms::Normalize<> normalize({0.49, 0.48, 0.45}, {0.25, 0.24, 0.26});
  transforms::Compose<> augment{transforms::RandomHorizontalFlip(), transforms::RandomCrop(32, /*padding=*/4),
                                normalize};
  auto train = data::make_data_loader(train_set.map(augment).map(transforms::Stack<>()),
                                      data::DataLoaderOptions(64).workers(1).drop_last(true));
  auto test = data::make_data_loader<data::samplers::SequentialSampler>(
      test_set.map(normalize).map(transforms::Stack<>()), 256);

  nn::Sequential net(Residual(3, width, 1), Residual(width, 2 * width, 2), Residual(2 * width, 4 * width, 2),
                     nn::AdaptiveAvgPool2d(1), nn::Flatten(), nn::Linear(4 * width, 10));
  cresset::optim::AdamW optimizer(net->parameters(), cresset::optim::AdamWOptions(1e-3).weight_decay(1e-2));
  const int64_t steps = static_cast<int64_t>(*train->size());
  cresset::optim::OneCycleLR schedule(optimizer, /*max_lr=*/1e-2, epochs * steps);

  double accuracy = 0;
  for (int epoch = 1; epoch <= epochs; epoch++) {
    net->train();
    double total = 0;
    for (auto& batch : *train) {
      optimizer.zero_grad();
      Tensor loss = nn::functional::cross_entropy(net->forward(batch.data), batch.target);
      loss.backward();
      optimizer.step();
      schedule.step();
      total += loss.item<double>();
    }
    net->eval();
    cresset::NoGradGuard no_grad;
    double right = 0;
    for (auto& batch : *test)
      right += net->forward(batch.data).argmax(1).eq(batch.target).sum().template item<double>();
    accuracy = 100 * right / static_cast<double>(*test_set.size());
    std::printf("epoch %2d   loss %.4f   test accuracy %.1f %%\n", epoch, total / static_cast<double>(steps), accuracy);
    std::fflush(stdout);
  }
  return accuracy;
}

int example(const Arguments& arguments) {
  const bool quick = arguments.has("--quick");
  const int epochs = arguments.number("--epochs", quick ? 3 : 6), width = quick ? 8 : 16;
  const std::string folder = arguments.text("--data");
  cresset::manual_seed(1);
  using data::datasets::CIFAR10;
  const double accuracy = folder.empty() ? learn(shapes(quick ? 768 : 4000), shapes(quick ? 256 : 1000), epochs, width)
                                         : learn(CIFAR10(folder), CIFAR10(folder, CIFAR10::Mode::kTest), epochs, width);
  return accuracy > (quick ? 40 : folder.empty() ? 90 : 60) ? 0 : 1;
}

int main(int argc, char** argv) { return run_example(argc, argv, "--data DIR --epochs N --quick", example); }
