#include "ddp_support.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include <sys/mman.h>
#include <sys/wait.h>
#include <atomic>
#include <signal.h>

namespace ddp_test {
namespace {

struct Ended {
  int status = 0;
  std::string text;
};

std::vector<Ended> start(int ranks, const std::function<void(int)>& body) {
  // Nobody leaves before all have said what they have to say: rank 0 takes the store with it.
  auto* said = static_cast<std::atomic<int>*>(
      mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  new (said) std::atomic<int>(0);
  struct Child { pid_t pid; int out; };
  std::vector<Child> children;
  for (int rank = 0; rank < ranks; rank++) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("pipe");
    const pid_t pid = fork();
    if (pid == 0) {
      close(ends[0]);
      alarm(120);
      int status = 0;
      std::string text;
      try {
        dist::InitOptions options;
        options.init_method = "tcp://127.0.0.1:" + std::to_string(20000 + getppid() % 20000);
        options.rank = rank;
        options.world_size = ranks;
        dist::init_process_group(options);
        body(rank);
        dist::destroy_process_group();
      } catch (const std::exception& error) {
        status = 1;
        text = error.what();
      }
      (void)!write(ends[1], text.data(), text.size());
      ++*said;
      for (int i = 0; status != 0 && *said < ranks && i < 2000; i++) usleep(10000);
      _exit(status);
    }
    close(ends[1]);
    children.push_back({pid, ends[0]});
  }
  std::vector<Ended> all;
  for (const Child& child : children) {
    Ended ended;
    char buffer[4096];
    for (ssize_t n; (n = read(child.out, buffer, sizeof buffer)) > 0;) ended.text.append(buffer, static_cast<size_t>(n));
    close(child.out);
    waitpid(child.pid, &ended.status, 0);
    all.push_back(ended);
  }
  munmap(said, sizeof *said);
  return all;
}

}  // namespace

void run(int ranks, const std::function<void(int)>& body) {
  const auto all = start(ranks, body);
  for (size_t r = 0; r < all.size(); r++) EXPECT_EQ(all[r].status, 0) << "rank " << r << ": " << all[r].text;
}
std::vector<std::string> errors_of(int ranks, const std::function<void(int)>& body) {
  std::vector<std::string> errors;
  for (auto& ended : start(ranks, body)) {
    EXPECT_NE(ended.status, 0);
    errors.push_back(ended.text);
    if (ended.text.empty()) ADD_FAILURE() << "status " << ended.status;
  }
  return errors;
}

void require_at(bool holds, const char* what, const char* file, int line) {
  if (!holds) throw std::runtime_error(std::string(std::strrchr(file, '/') + 1) + ":" + std::to_string(line) + ": " + what);
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
