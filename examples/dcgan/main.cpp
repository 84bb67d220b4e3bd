// A deep convolutional GAN on 16x16 pictures of discs, squares and crosses. Generator and discriminator are Sequentials
// with their own optimizers; what the generator draws is printed, and measured against the nearest true pictures.
#include <cresset/cresset.h>

#include <cmath>
#include <cstdio>
#include <string>

#include "arguments.h"

namespace nn = cresset::nn;
using cresset::Tensor;

namespace {

constexpr int64_t kSide = 16, kLatent = 16, kBatch = 32;

// One shape of random kind, place and size in each picture; values from -1 to 1.
Tensor shapes(int64_t count) {
  Tensor grid = cresset::arange(kSide).to(cresset::kFloat);
  Tensor kind = cresset::randint(0, 3, {count, 1, 1});
  Tensor radius = cresset::rand({count, 1, 1}) * 2 + 3;
  Tensor y = (grid.view({1, kSide, 1}) - 7.5 + cresset::rand({count, 1, 1}) * 5 - 2.5).abs();
  Tensor x = (grid.view({1, 1, kSide}) - 7.5 + cresset::rand({count, 1, 1}) * 5 - 2.5).abs();
  Tensor disc = cresset::sqrt(x * x + y * y), square = cresset::maximum(x, y) + 0.5;
  Tensor cross = cresset::maximum(cresset::maximum(x, y), cresset::minimum(x, y) + radius - 1.5);
  Tensor distance = cresset::where(kind == 0, disc, cresset::where(kind == 1, square, cross));
  return ((radius - distance) * 2).clamp(-1, 1).unsqueeze(1);
}

void draw(const Tensor& pictures) {
  const std::string ink = " .:-=+*#%@";
  Tensor values = pictures.squeeze(1).contiguous();
  auto pixel = values.accessor<float, 3>();
  for (int64_t row = 0; row < kSide; row += 2) {  // a character is twice as high as wide
    for (int64_t i = 0; i < values.size(0); i++) {
      for (int64_t column = 0; column < kSide; column++) {
        const float light = (pixel[i][row][column] + pixel[i][row + 1][column] + 2) / 4;
        std::putchar(ink[static_cast<size_t>(light * 9.49F)]);
      }
      std::printf("  ");
    }
    std::putchar('\n');
  }
}

// How far each picture is from the nearest true one, in the mean.
double distance_to_true(const Tensor& pictures) {
  Tensor truth = shapes(2000).flatten(1);
  return std::get<0>(cresset::cdist(pictures.flatten(1), truth).min(1)).mean().item<double>() / kSide;
}

nn::Sequential generator() {
  auto up = [](int64_t in, int64_t out) { return nn::ConvTranspose2dOptions(in, out, 4).stride(2).padding(1); };
  return nn::Sequential(nn::ConvTranspose2d(nn::ConvTranspose2dOptions(kLatent, 32, 4).bias(false)),
                        nn::BatchNorm2d(32), nn::ReLU(), nn::ConvTranspose2d(up(32, 16).bias(false)),
                        nn::BatchNorm2d(16), nn::ReLU(), nn::ConvTranspose2d(up(16, 1)), nn::Tanh());
}

nn::Sequential discriminator() {
  auto down = [](int64_t in, int64_t out) { return nn::Conv2dOptions(in, out, 4).stride(2).padding(1); };
  auto leaky = [] { return nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)); };
  return nn::Sequential(nn::Conv2d(down(1, 16)), leaky(), nn::Conv2d(down(16, 32).bias(false)), nn::BatchNorm2d(32),
                        leaky(), nn::Conv2d(nn::Conv2dOptions(32, 1, 4)), nn::Flatten());
}

}  // namespace

int example(const Arguments& arguments) {
  const int epochs = arguments.number("--epochs", arguments.has("--quick") ? 5 : 15);  // of 100 steps
  cresset::manual_seed(4);
  nn::Sequential artist = generator(), critic = discriminator();
  const auto options = cresset::optim::AdamOptions(1e-3).betas(std::make_tuple(0.5, 0.99));
  cresset::optim::Adam artist_step(artist->parameters(), options), critic_step(critic->parameters(), options);
  auto score = [&](const Tensor& pictures, double wanted) {
    Tensor guess = critic->forward(pictures);
    return cresset::binary_cross_entropy_with_logits(guess, cresset::full_like(guess, wanted));
  };
  auto noise = [](int64_t count) { return cresset::randn({count, kLatent, 1, 1}); };
  std::printf("true pictures\n");
  draw(shapes(6));
  Tensor probe = noise(64);
  const double untrained = distance_to_true(artist->forward(probe).detach());

  for (int epoch = 1; epoch <= epochs; epoch++) {
    double critic_loss = 0, artist_loss = 0;
    for (int step = 0; step < 100; step++) {
      Tensor drawn = artist->forward(noise(kBatch));
      critic_step.zero_grad();
      Tensor loss = score(shapes(kBatch), 0.9) + score(drawn.detach(), 0);
      loss.backward();
      critic_step.step();
      critic_loss += loss.item<double>() / 100;

      artist_step.zero_grad();
      loss = score(drawn, 1);
      loss.backward();
      artist_step.step();
      artist_loss += loss.item<double>() / 100;
    }
    std::printf("epoch %2d  critic %.3f  artist %.3f\n", epoch, critic_loss, artist_loss);
  }
  cresset::NoGradGuard no_grad;
  artist->eval();
  Tensor drawn = artist->forward(probe);
  std::printf("drawn from noise\n");
  draw(drawn.slice(0, 0, 6));
  const double distance = distance_to_true(drawn), variety = drawn.std(0).mean().item<double>();
  const bool learned = distance < 0.6 * untrained && variety > 0.15;
  std::printf("distance to the nearest true picture %.3f (untrained %.3f), variety %.2f (true %.2f)%s\n", distance,
              untrained, variety, shapes(64).std(0).mean().item<double>(), learned ? "" : ": BAD");
  return learned ? 0 : 1;
}

int main(int argc, char** argv) { return run_example(argc, argv, "--epochs N --quick", example); }
