// A variational autoencoder on drawn digits: the encoder gives mean and spread of eight numbers, the decoder draws the
// digit again from a sample of them. Prints digits with their reconstructions, a walk between two digits, and digits
// that it made up.
#include <cresset/cresset.h>

#include <cstdio>
#include <string>

#include "arguments.h"

namespace nn = cresset::nn;
using cresset::Tensor;

namespace {

constexpr int64_t kSide = 28, kPixels = kSide * kSide, kHidden = 200, kLatent = 8;

struct VaeImpl : nn::Module {
  nn::Sequential encoder{nn::Linear(kPixels, kHidden), nn::ReLU(), nn::Linear(kHidden, 2 * kLatent)};
  nn::Sequential decoder{nn::Linear(kLatent, kHidden), nn::ReLU(), nn::Linear(kHidden, kPixels)};
  VaeImpl() {
    register_module("encoder", encoder);
    register_module("decoder", decoder);
  }
  struct Output {
    Tensor logits, mean, log_variance;
  };
  Output forward(const Tensor& images) {
    auto parts = encoder->forward(images).chunk(2, 1);
    // The sample is a function of mean and spread and of noise from outside, so that gradients reach both.
    Tensor sample = parts[0] + cresset::randn_like(parts[0]) * cresset::exp(parts[1] / 2);
    return {decoder->forward(sample), parts[0], parts[1]};
  }
  Tensor encode(const Tensor& images) { return encoder->forward(images).slice(1, 0, kLatent); }
  Tensor decode(const Tensor& latent) { return cresset::sigmoid(decoder->forward(latent)); }
};
CRESSET_MODULE(Vae);

Tensor digits(size_t count, uint64_t seed) {
  return cresset::data::datasets::DrawnDigits(count, seed).bytes().to(cresset::kFloat).flatten(1) / 255;
}

void draw(const char* title, const Tensor& images) {
  const std::string ink = " .:-=+*#%@";
  Tensor values = images.view({-1, kSide, kSide}).contiguous();
  auto pixel = values.accessor<float, 3>();
  std::printf("%s\n", title);
  for (int64_t row = 0; row < kSide; row += 2) {  // a character is twice as high as wide
    for (int64_t i = 0; i < values.size(0); i++)
      for (int64_t column = 2; column < kSide - 2; column++)
        std::putchar(ink[static_cast<size_t>((pixel[i][row][column] + pixel[i][row + 1][column]) * 4.749F)]);
    std::putchar('\n');
  }
}

}  // namespace

int example(const Arguments& arguments) {
  const bool quick = arguments.has("--quick");
  const int epochs = arguments.number("--epochs", quick ? 12 : 20);
  const int64_t count = quick ? 3000 : 8000, batch = 64;
  cresset::manual_seed(0);
  Tensor train = digits(static_cast<size_t>(count), 1), test = digits(500, 2);
  Vae vae;
  cresset::optim::Adam optimizer(vae->parameters(), cresset::optim::AdamOptions(2e-3));

  for (int epoch = 1; epoch <= epochs; epoch++) {
    Tensor order = cresset::randperm(count);
    double drawn_loss = 0, latent_loss = 0;
    for (int64_t at = 0; at < count; at += batch) {
      Tensor images = train.index_select(0, order.slice(0, at, at + batch));
      auto [logits, mean, log_variance] = vae->forward(images);
      const double size = static_cast<double>(images.size(0));
      Tensor drawing =
          cresset::binary_cross_entropy_with_logits(logits, images, {}, {}, cresset::Reduction::Sum) / size;
      Tensor latent = -0.5 * (1 + log_variance - mean * mean - cresset::exp(log_variance)).sum() / size;
      optimizer.zero_grad();
      (drawing + latent).backward();
      optimizer.step();
      drawn_loss += drawing.item<double>() * size / static_cast<double>(count);
      latent_loss += latent.item<double>() * size / static_cast<double>(count);
    }
    std::printf("epoch %2d  drawing %6.2f  latent %5.2f\n", epoch, drawn_loss, latent_loss);
  }

  cresset::NoGradGuard no_grad;
  Tensor few = test.slice(0, 0, 5), codes = vae->encode(few), steps = cresset::linspace(0, 1, 5).unsqueeze(1);
  draw("digits it has not seen", few);
  draw("and their reconstructions from eight numbers", vae->decode(codes));
  draw("from the first to the second", vae->decode(cresset::lerp(codes[0], codes[1], steps)));
  draw("made up", vae->decode(cresset::randn({5, kLatent})));
  const double error = cresset::mse_loss(vae->decode(vae->encode(test)), test).item<double>();
  const double of_mean = (test - train.mean(0)).pow(2).mean().item<double>();
  const bool learned = error < 0.75 * of_mean;
  std::printf("squared error of a pixel %.4f; drawing the mean digit would have %.4f%s\n", error, of_mean,
              learned ? "" : ": BAD");
  return learned ? 0 : 1;
}

int main(int argc, char** argv) { return run_example(argc, argv, "--epochs N --quick", example); }
