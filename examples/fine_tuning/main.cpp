// Fine-tuning: a network learns the digits 0 to 4 and is saved; another loads its body, gets a new head, keeps the
// first layer frozen, and learns 5 to 9 from few examples with a learning rate of its own for each part. The same
// network from scratch shows what the loaded body is worth.
#include <cresset/cresset.h>

#include <cstdio>
#include <string>
#include <vector>

#include "arguments.h"

namespace nn = cresset::nn;
namespace optim = cresset::optim;
using cresset::Tensor;

namespace {

struct NetImpl : nn::Module {
  nn::Sequential first{nn::Conv2d(nn::Conv2dOptions(1, 8, 5).stride(2)), nn::ReLU()};
  nn::Sequential second{nn::Conv2d(nn::Conv2dOptions(8, 16, 3).stride(2)), nn::ReLU(), nn::Flatten()};
  nn::Linear head{16 * 5 * 5, 5};
  NetImpl() {
    register_module("first", first);
    register_module("second", second);
    register_module("head", head);
  }
  Tensor forward(const Tensor& images) { return head->forward(second->forward(first->forward(images))); }
};
CRESSET_MODULE(Net);

struct Digits {
  Tensor images, labels;
  // The digits from `lowest` to `lowest` + 4, labelled from 0 to 4.
  Digits(size_t drawn, uint64_t seed, int64_t lowest) {
    cresset::data::datasets::DrawnDigits all(drawn, seed);
    Tensor rows = cresset::nonzero((all.targets() >= lowest) & (all.targets() < lowest + 5)).squeeze(1);
    images = all.bytes().index_select(0, rows).to(cresset::kFloat) / 255;
    labels = all.targets().index_select(0, rows) - lowest;
  }
};

double accuracy(Net& net, const Digits& digits) {
  cresset::NoGradGuard no_grad;
  return 100 * net->forward(digits.images).argmax(1).eq(digits.labels).to(cresset::kFloat).mean().item<double>();
}

void train(Net& net, optim::Optimizer& optimizer, const Digits& digits, int epochs) {
  const int64_t count = digits.labels.size(0);
  for (int epoch = 0; epoch < epochs; epoch++) {
    Tensor order = cresset::randperm(count);
    for (int64_t at = 0; at < count; at += 32) {
      Tensor rows = order.slice(0, at, at + 32);
      optimizer.zero_grad();
      Tensor scores = net->forward(digits.images.index_select(0, rows));
      nn::functional::cross_entropy(scores, digits.labels.index_select(0, rows)).backward();
      optimizer.step();
    }
  }
}

}  // namespace

int example(const Arguments& arguments) {
  const bool quick = arguments.has("--quick");
  const int epochs = arguments.number("--epochs", quick ? 3 : 6);
  const std::string file = arguments.text("--file", "digits_0_to_4.pt");
  cresset::manual_seed(0);
  {
    Digits many(quick ? 3000 : 10000, 1, 0), test(1000, 2, 0);
    Net net;
    optim::Adam optimizer(net->parameters(), optim::AdamOptions(2e-3));
    train(net, optimizer, many, epochs);
    cresset::save(net, file);
    std::printf("digits 0 to 4 from %d examples: accuracy %.1f %%, saved to %s\n",
                static_cast<int>(many.labels.size(0)), accuracy(net, test), file.c_str());
  }

  const Digits few(120, 3, 5), test(1500, 4, 5);
  Net net;
  cresset::load(net, file);
  std::remove(file.c_str());
  net->head = net->replace_module("head", nn::Linear(16 * 5 * 5, 5));
  for (Tensor& weight : net->first->parameters()) weight.requires_grad_(false);
  const Tensor frozen = net->first->parameters()[0].clone();
  // What is frozen gets no gradient; the loaded part moves slowly, the new head quickly.
  std::vector<optim::OptimizerParamGroup> groups;
  groups.emplace_back(net->second->parameters(), std::make_unique<optim::AdamOptions>(5e-4));
  groups.emplace_back(net->head->parameters(), std::make_unique<optim::AdamOptions>(5e-3));
  optim::Adam optimizer(groups, optim::AdamOptions(1e-3));
  train(net, optimizer, few, 12);
  const double tuned = accuracy(net, test);

  Net fresh;
  optim::Adam fresh_optimizer(fresh->parameters(), optim::AdamOptions(2e-3));
  train(fresh, fresh_optimizer, few, 12);
  const double scratch = accuracy(fresh, test);
  const bool kept = cresset::equal(frozen, net->first->parameters()[0]);
  std::printf("digits 5 to 9 from %d examples: fine-tuned %.1f %%, from scratch %.1f %%; the frozen layer %s\n",
              static_cast<int>(few.labels.size(0)), tuned, scratch, kept ? "has not moved" : "has MOVED");
  const bool good = kept && tuned > 60 && tuned > scratch;
  if (!good) std::printf("BAD: fine-tuning should be better\n");
  return good ? 0 : 1;
}

int main(int argc, char** argv) { return run_example(argc, argv, "--epochs N --quick --file PATH", example); }
