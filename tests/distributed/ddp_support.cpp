#include "ddp_support.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "processes.h"

namespace ddp_test {
namespace {

using cresset::testing::Outcome;

// Nobody leaves before all have said what they have to say: rank 0 takes the store with it.
class Together {
 public:
  explicit Together(int ranks) : ranks_(ranks) {
    void* memory = mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("mmap failed");
    said_ = new (memory) std::atomic<int>(0);
  }
  ~Together() { munmap(said_, sizeof *said_); }
  Together(const Together&) = delete;
  Together& operator=(const Together&) = delete;
  void wait() const {
    ++*said_;
    for (int i = 0; *said_ < ranks_ && i < 2000; i++) usleep(10000);
  }

 private:
  int ranks_;
  std::atomic<int>* said_;
};

}  // namespace

void run(int ranks, const std::function<void(int)>& body) {
  const Outcome outcome = cresset::testing::run_ranks(ranks, [&](int rank) {
    dist::init_process_group();
    body(rank);
    dist::destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

std::vector<std::string> errors_of(int ranks, const std::function<void(int)>& body) {
  const Together together(ranks);
  const Outcome outcome = cresset::testing::run_ranks(ranks, [&](int rank) {
    dist::init_process_group();
    cresset::testing::say(cresset::test::message_when([&] { body(rank); }));
    together.wait();
  });
  std::vector<std::string> errors;
  for (const auto& rank : outcome.ranks) errors.push_back(rank.text);
  return errors;
}

void require_at(bool holds, const char* what, const char* file, int line) {
  if (!holds)
    throw std::runtime_error(std::string(std::strrchr(file, '/') + 1) + ":" + std::to_string(line) + ": " + what);
}

double relative_difference(const Tensor& a, const Tensor& b) {
  if (!(a.sizes() == b.sizes())) return INFINITY;
  cresset::NoGradGuard no_grad;
  const double apart = (a.detach().to(cresset::kDouble) - b.detach().to(cresset::kDouble)).abs().max().item<double>();
  const double size = b.detach().to(cresset::kDouble).abs().max().item<double>();
  return apart == 0 ? 0 : apart / size;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() && dist::digest_of(a) == dist::digest_of(b);
}

void require_same_everywhere(const Tensor& tensor, const std::string& name) {
  REQUIRE(tensor.defined());
  try {
    dist::check_parameters(std::vector<Tensor>{tensor});
  } catch (const cresset::DistributedError& error) {
    throw std::runtime_error(name + " is not the same on all ranks: " + error.what());
  }
}

nn::Sequential mlp(std::vector<int64_t> widths) {
  nn::Sequential net;
  for (size_t i = 0; i + 1 < widths.size(); i++) {
    if (i > 0) net->push_back(nn::Tanh());
    net->push_back(nn::Linear(widths[i], widths[i + 1]));
  }
  return net;
}

Tensor rows_of(const Tensor& batch, int rank, int ranks) {
  const int64_t rows = batch.size(0) / ranks;
  return batch.slice(0, rank * rows, (rank + 1) * rows);
}

Tensor mean_square(const Tensor& output, const Tensor& target) { return (output - target).square().mean(); }

}  // namespace ddp_test
