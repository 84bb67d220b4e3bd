// The demo: a convolutional network learns to read digits, drawn ones or MNIST's (--data DIR), on as many processes as
// cresset-run starts. It shows its progress and some of what it reads, logs for TensorBoard, and leaves checkpoints
// from which --resume goes on.
#include <cresset/cresset.h>
#include <cresset/distributed/checkpoint.h>
#include <cresset/distributed/distributed.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "arguments.h"
#include "draw.h"

using cresset::Tensor;
namespace nn = cresset::nn;
namespace data = cresset::data;
namespace dist = cresset::distributed;
namespace fs = std::filesystem;

struct NetImpl : nn::Module {
  NetImpl() {
    conv1 = register_module("conv1", nn::Conv2d(nn::Conv2dOptions(1, 32, 3)));
    conv2 = register_module("conv2", nn::Conv2d(nn::Conv2dOptions(32, 64, 3)));
    dropout = register_module("dropout", nn::Dropout(0.5));
    fc1 = register_module("fc1", nn::Linear(9216, 128));
    fc2 = register_module("fc2", nn::Linear(128, 10));
  }
  Tensor forward(Tensor x) {
    x = cresset::relu(conv1(x));
    x = cresset::max_pool2d(cresset::relu(conv2(x)), 2);
    return fc2(dropout(cresset::relu(fc1(x.flatten(1)))));
  }
  nn::Conv2d conv1{nullptr}, conv2{nullptr};
  nn::Dropout dropout{nullptr};
  nn::Linear fc1{nullptr}, fc2{nullptr};
};
CRESSET_MODULE(Net);

// runs/demo-<date> for a new run; the newest such folder to go on with one. Rank 0 chooses.
std::string run_folder(bool resume) {
  std::string newest;
  if (resume && fs::exists("runs"))
    for (const auto& entry : fs::directory_iterator("runs"))
      if (entry.path().filename().string().rfind("demo-", 0) == 0) newest = std::max(newest, entry.path().string());
  std::vector<std::string> folder{newest};
  char date[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%d-%H%M%S", std::localtime(&now));
  if (newest.empty()) folder[0] = std::string("runs/demo-") + date;
  dist::broadcast_object_list(folder);
  return folder[0];
}

// Digits that were read wrongly first (at most half), then others.
void show_samples(const Tensor& images, const Tensor& labels, const Tensor& guesses,
                  cresset::monitor::SummaryWriter& log) {
  winsize window{};
  const bool terminal = ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0;
  const size_t columns = terminal ? window.ws_col : 80, wanted = 2 * std::clamp<size_t>(columns / 24, 1, 6);
  std::vector<Picture> pictures;
  for (bool right : {false, true})
    for (int64_t i = 0; i < labels.size(0) && pictures.size() < (right ? wanted : wanted / 2); i++) {
      const int64_t label = labels[i].item<int64_t>(), guess = guesses[i].item<int64_t>();
      if ((label == guess) != right) continue;
      const std::string caption = right ? "reads " + std::to_string(guess)
                                        : "reads " + std::to_string(guess) + ", WRONG: is " + std::to_string(label);
      pictures.push_back({images[i][0].slice(0, 3, 25).slice(1, 3, 25), caption, !right});
    }
  std::printf("\n%s", draw(pictures, columns, terminal).c_str());
  log.add_images("test/digits", images.narrow(0, 0, std::min<int64_t>(64, images.size(0))));
}

template <class Digits>
bool learn(Digits train_set, Digits test_set, int epochs, double wanted, bool resume) {
  const auto train_size = static_cast<double>(*train_set.size()), test_size = static_cast<double>(*test_set.size());
  const int processes = dist::get_world_size();
  const bool speaks = dist::get_rank() == 0;
  const data::transforms::Normalize<> normalize(0.1307, 0.3081);
  auto train = data::make_data_loader(train_set.map(normalize).map(data::transforms::Stack<>()),
                                      dist::DistributedSampler(*train_set.size()),
                                      data::DataLoaderOptions(64 / static_cast<size_t>(processes)).workers(1));
  auto test = data::make_data_loader<data::samplers::SequentialSampler>(
      test_set.map(normalize).map(data::transforms::Stack<>()), 250);

  Net net;
  dist::DistributedDataParallel model(net);
  cresset::optim::Adam optimizer(model.parameters(), 1e-3);
  cresset::optim::ExponentialLR schedule(optimizer, 0.7);

  const std::string folder = run_folder(resume);
  std::optional<cresset::monitor::SummaryWriter> log;
  // Each rank keeps its own random numbers; all go on from the newest step that all of them have.
  cresset::io::Checkpoint checkpoint(folder + "/rank" + std::to_string(dist::get_rank()));
  checkpoint.add("model", model).add("optimizer", optimizer).add("schedule", schedule).add("loader", *train);
  int64_t step = 0, parameters = 0;
  if (auto found = dist::load_newest(checkpoint)) {
    step = *found;
    if (speaks) std::printf("going on from step %ld of %s\n", static_cast<long>(step), folder.c_str());
  }
  // What a run that was killed has logged after its last checkpoint is hidden.
  if (speaks) log.emplace(folder, cresset::monitor::SummaryWriterOptions{.purge_step = step + 1});
  if (speaks && step == 0) log->add_graph(net, cresset::zeros({1, 1, 28, 28}));
  for (const Tensor& parameter : net->parameters()) parameters += parameter.numel();
  if (speaks)
    std::printf("%ld parameters; %d process%s of %d thread%s; %.0f digits to learn from, %.0f to test with\n",
                static_cast<long>(parameters), processes, processes == 1 ? "" : "es",
                static_cast<int>(cresset::get_num_threads()), cresset::get_num_threads() == 1 ? "" : "s", train_size,
                test_size);

  double accuracy = 0;
  std::vector<Tensor> guesses;
  const auto steps = static_cast<int64_t>(*train->size()), before = step / steps;
  for (int64_t epoch = before + 1; epoch <= before + epochs; epoch++) {
    model->train();
    dist::Average losses;
    cresset::monitor::ProgressBar bar(steps, "epoch " + std::to_string(epoch));
    for (auto& batch : *train) {
      optimizer.zero_grad();
      Tensor loss = nn::functional::cross_entropy(model(batch.data), batch.target);
      loss.backward();
      optimizer.step();
      losses.add(loss, static_cast<double>(batch.data.size(0)));
      step++;
      if (log) log->add_scalar("train/loss", loss, step);
      bar.show("loss", loss.item<double>()).update();
    }
    bar.finish();
    schedule.step();

    model->eval();
    cresset::NoGradGuard no_grad;
    guesses.clear();
    for (auto& batch : *test) guesses.push_back(net(batch.data).argmax(1));
    accuracy = 100 * cresset::cat(guesses).eq(test_set.targets()).sum().template item<double>() / test_size;
    const double mean_loss = losses.reduce();
    checkpoint.set("accuracy", accuracy);
    checkpoint.save(step);
    if (!log) continue;
    log->add_scalar("train/learning rate", optimizer.param_groups()[0].options().get_lr(), step);
    log->add_histogram("conv1.weight", net->conv1->weight, step);
    log->add_scalar("test/accuracy", accuracy, step);
    std::printf("epoch %ld   loss %.4f   test accuracy %.2f %%\n", static_cast<long>(epoch), mean_loss, accuracy);
    std::fflush(stdout);
  }
  if (!log) return accuracy > wanted;

  show_samples(test_set.bytes().to(cresset::kFloat) / 255, test_set.targets(), cresset::cat(guesses), *log);
  std::printf("%.2f %% of %.0f digits that it had never seen are read correctly\n", accuracy, test_size);
  std::printf("in %s: checkpoints (--resume goes on) and logs (tensorboard --logdir runs)\n", folder.c_str());
  return accuracy > wanted;
}

int example(const Arguments& arguments) {
  const bool quick = arguments.has("--quick"), resume = arguments.has("--resume");
  const int epochs = arguments.number("--epochs", quick ? 1 : 4);
  const std::string folder = arguments.text("--data");
  // Without the launcher: one process.
  dist::InitOptions alone;
  if (!std::getenv("WORLD_SIZE")) {
    alone.rank = 0, alone.world_size = 1;
    alone.store = std::make_shared<dist::HashStore>();
  }
  dist::init_process_group(alone);
  cresset::manual_seed(1);

  using data::datasets::DrawnDigits, data::datasets::MNIST;
  const double wanted = quick ? 60 : 95;
  const bool good = folder.empty() ? learn(DrawnDigits(quick ? 2000 : 6000, /*seed=*/1),
                                           DrawnDigits(quick ? 250 : 1000, /*seed=*/2), epochs, wanted, resume)
                                   : learn(MNIST(folder), MNIST(folder, MNIST::Mode::kTest), epochs, wanted, resume);
  dist::destroy_process_group();
  return good ? 0 : 1;
}

int main(int argc, char** argv) { return run_example(argc, argv, "--data DIR --epochs N --resume --quick", example); }
