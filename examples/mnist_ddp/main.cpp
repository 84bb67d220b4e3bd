// Handwritten digits on several processes: each learns from its share of the images, and the gradients are averaged
// while backward runs, so that all have the same model.
//
//   cresset-run --nproc-per-node 2 build/release/bin/examples/mnist_ddp
#include <cresset/cresset.h>
#include <cresset/distributed/distributed.h>

#include <cstdio>

#include "arguments.h"

using cresset::Tensor;
namespace nn = cresset::nn;
namespace data = cresset::data;
namespace dist = cresset::distributed;

template <class Digits>
double learn(Digits train_set, Digits test_set, int epochs, const std::string& checkpoints) {
  const size_t train_size = *train_set.size(), test_size = *test_set.size();
  auto prepare = [](Digits& set) {
    return set.map(data::transforms::Normalize<>(0.1307, 0.3081)).map(data::transforms::Stack<>());
  };
  dist::SamplerOptions once;  // of the test images none comes twice
  once.shuffle = false;
  once.remainder = dist::Remainder::kKeep;
  auto train = data::make_data_loader(prepare(train_set), dist::DistributedSampler(train_size),
                                      data::DataLoaderOptions(32).workers(1));
  auto test = data::make_data_loader(prepare(test_set), dist::DistributedSampler(test_size, once), 500);

  nn::Sequential net(nn::Flatten(), nn::Linear(784, 256), nn::ReLU(), nn::Linear(256, 10));
  dist::DistributedDataParallel model(net);
  cresset::optim::Adam optimizer(model.parameters(), 1e-3);

  double accuracy = 0;
  for (int epoch = 1; epoch <= epochs; epoch++) {
    model->train();
    dist::Average loss_so_far;
    for (auto& batch : *train) {
      optimizer.zero_grad();
      Tensor loss = nn::functional::cross_entropy(model(batch.data), batch.target);
      loss.backward();
      optimizer.step();
      loss_so_far.add(loss, static_cast<double>(batch.data.size(0)));
    }
    model->eval();
    cresset::NoGradGuard no_grad;
    dist::Accuracy right;
    for (auto& batch : *test) right.add(model(batch.data), batch.target);
    const auto all = dist::reduce_metrics({{"loss", loss_so_far}, {"accuracy", right.average()}});
    accuracy = 100 * all.at("accuracy");
    if (dist::get_rank() == 0)
      std::printf("epoch %d   loss %.4f   test accuracy %.2f %%\n", epoch, all.at("loss"), accuracy);
  }
  if (!checkpoints.empty() && dist::get_rank() == 0) cresset::save(net, checkpoints + "/mnist_ddp.pt");
  return accuracy;
}

int example(const Arguments& arguments) {
  const bool quick = arguments.has("--quick");
  const int epochs = arguments.number("--epochs", quick ? 4 : 8);
  const std::string folder = arguments.text("--data");
  dist::init_process_group();
  cresset::manual_seed(1);
  if (dist::get_rank() == 0) std::printf("%d processes\n", dist::get_world_size());

  using data::datasets::DrawnDigits, data::datasets::MNIST;
  const double accuracy =
      folder.empty() ? learn(DrawnDigits(quick ? 2000 : 8000, /*seed=*/1), DrawnDigits(quick ? 500 : 2000, /*seed=*/2),
                             epochs, arguments.text("--save"))
                     : learn(MNIST(folder), MNIST(folder, MNIST::Mode::kTest), epochs, arguments.text("--save"));
  dist::destroy_process_group();
  return accuracy > (quick ? 80 : 93) ? 0 : 1;
}

int main(int argc, char** argv) { return run_example(argc, argv, "--data DIR --save DIR --epochs N --quick", example); }
