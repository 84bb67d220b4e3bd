// Knowledge distillation: a small student learns digits from a large teacher's softened answers (Hinton and others,
// 2015), and from no label at all. Beside it stands a shadow of the student: every few steps its parameters move
// towards the student's, and at the end of an epoch the student takes the shadow's.
#include <cresset/cresset.h>

#include <cstdio>

#include "arguments.h"

namespace nn = cresset::nn;
namespace F = cresset::nn::functional;
using cresset::Tensor;

namespace {

constexpr double kTemperature = 3;
constexpr int64_t kBatch = 64;

struct Digits {
  Tensor images, labels;
  Digits(size_t count, uint64_t seed) {
    cresset::data::datasets::DrawnDigits drawn(count, seed);
    images = drawn.bytes().to(cresset::kFloat).flatten(1) / 255;
    labels = drawn.targets();
  }
};

nn::Sequential network(int64_t hidden) {
  return nn::Sequential(nn::Linear(784, hidden), nn::ReLU(), nn::Linear(hidden, 10));
}

int64_t parameter_count(const nn::Sequential& network) {
  int64_t count = 0;
  for (const Tensor& parameter : network->parameters()) count += parameter.numel();
  return count;
}

double accuracy(nn::Sequential& network, const Digits& digits) {
  cresset::NoGradGuard no_grad;
  return 100 * network->forward(digits.images).argmax(1).eq(digits.labels).to(cresset::kFloat).mean().item<double>();
}

// target = target + share * (source - target), parameter by parameter; a share of 1 copies.
void synchronise(nn::Sequential& target, const nn::Sequential& source, double share) {
  cresset::NoGradGuard no_grad;
  auto into = target->parameters(), from = source->parameters();
  for (size_t i = 0; i < into.size(); i++) into[i].lerp_(from[i], share);
}

// One epoch of steps on loss_of(rows), with something to do after each.
template <class Loss, class AfterStep>
void epoch(cresset::optim::Optimizer& optimizer, int64_t count, Loss loss_of, AfterStep after_step) {
  Tensor order = cresset::randperm(count);
  for (int64_t at = 0, step = 1; at < count; at += kBatch, step++) {
    optimizer.zero_grad();
    loss_of(order.slice(0, at, at + kBatch)).backward();
    optimizer.step();
    after_step(step);
  }
}

}  // namespace

int example(const Arguments& arguments) {
  const bool quick = arguments.has("--quick");
  const int epochs = arguments.number("--epochs", quick ? 4 : 10);
  cresset::manual_seed(0);
  const int64_t count = quick ? 2000 : 6000;
  const Digits labelled(static_cast<size_t>(count), 1), unlabelled(static_cast<size_t>(count), 2), test(1000, 3);

  nn::Sequential teacher = network(256);
  cresset::optim::Adam teacher_step(teacher->parameters(), cresset::optim::AdamOptions(1e-3));
  for (int i = 0; i < epochs; i++)
    epoch(
        teacher_step, count,
        [&](const Tensor& rows) {
          Tensor scores = teacher->forward(labelled.images.index_select(0, rows));
          return F::cross_entropy(scores, labelled.labels.index_select(0, rows));
        },
        [](int64_t) {});
  const double teacher_accuracy = accuracy(teacher, test);
  std::printf("teacher: %lld parameters, accuracy %.1f %%\n", static_cast<long long>(parameter_count(teacher)),
              teacher_accuracy);

  nn::Sequential student = network(24), shadow = network(24);
  synchronise(shadow, student, 1);
  cresset::optim::Adam student_step(student->parameters(), cresset::optim::AdamOptions(3e-3));
  double shadow_accuracy = 0;
  for (int i = 1; i <= epochs; i++) {
    epoch(
        student_step, count,
        [&](const Tensor& rows) {
          Tensor images = unlabelled.images.index_select(0, rows), wanted;
          {
            cresset::NoGradGuard no_grad;
            wanted = cresset::softmax(teacher->forward(images) / kTemperature, 1);
          }
          Tensor answer = cresset::log_softmax(student->forward(images) / kTemperature, 1);
          // Softening divides the gradient by the temperature's square: it is given back.
          return F::kl_div(answer, wanted, F::KLDivFuncOptions().reduction(cresset::kBatchMean)) * kTemperature *
                 kTemperature;
        },
        [&](int64_t step) {
          if (step % 4 == 0) synchronise(shadow, student, 0.2);
        });
    shadow_accuracy = accuracy(shadow, test);
    std::printf("epoch %2d: student %.1f %%, its shadow %.1f %%\n", i, accuracy(student, test), shadow_accuracy);
    synchronise(student, shadow, 1);
  }
  const bool learned = shadow_accuracy > teacher_accuracy - 10 && shadow_accuracy > 60;
  std::printf("student: %lld parameters, accuracy %.1f %% without a single label%s\n",
              static_cast<long long>(parameter_count(student)), shadow_accuracy, learned ? "" : ": BAD");
  return learned ? 0 : 1;
}

int main(int argc, char** argv) { return run_example(argc, argv, "--epochs N --quick", example); }
