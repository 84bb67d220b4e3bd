// SPIKE 4. Two processes on Gloo: the gradients of a Linear are views of one flat buffer, which is reduced from the
// after-accumulation hook; the result is that of one process on the whole batch. The program starts itself twice, as
// real processes, with a deadline, and checks that nothing of them is left.
#include <fcntl.h>
#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "cresset/autograd/autograd.h"
#include "cresset/cresset.h"

namespace fs = std::filesystem;

namespace cresset {
namespace {

constexpr int kWorld = 2, kBatch = 8, kIn = 5, kOut = 3, kSteps = 3;
constexpr auto kDeadline = std::chrono::seconds(60);

// Small whole numbers: sums of their products are exact in any order.
Tensor whole_numbers(IntArrayRef sizes, int64_t seed) {
  Tensor x = empty(sizes);
  for (int64_t i = 0; i < x.numel(); i++) x.data_ptr<float>()[i] = static_cast<float>((i * 7 + seed * 3) % 11 - 5);
  return x;
}

struct Linear {
  Tensor weight = whole_numbers({kOut, kIn}, 1).requires_grad_();
  Tensor bias = whole_numbers({kOut}, 2).requires_grad_();
  void backward(const Tensor& x) const {
    Tensor y = linear(x, weight, bias);
    (y * y).sum().backward();
  }
};

Tensor batch_of_step(int step) { return whole_numbers({kBatch, kIn}, 10 + step); }

// What DDP will be: a flat buffer, gradients that are views of it, one reduction when the last gradient has arrived.
class FlatGradients {
 public:
  FlatGradients(std::vector<Tensor> parameters, std::shared_ptr<gloo::Context> context)
      : parameters_(std::move(parameters)), context_(std::move(context)) {
    int64_t total = 0, at = 0;
    for (const Tensor& p : parameters_) total += p.numel();
    flat_ = zeros({total});
    for (const Tensor& p : parameters_) {
      autograd::set_grad_destination(p, flat_.slice(0, at, at + p.numel()).view(p.sizes()));
      at += p.numel();
      p.register_post_accumulate_grad_hook([this](const Tensor&) {
        if (++arrived_ % parameters_.size() == 0) reduce();
      });
    }
  }
  const Tensor& flat() const { return flat_; }

 private:
  void reduce() {
    gloo::AllreduceOptions options(context_);
    options.setOutput(flat_.data_ptr<float>(), static_cast<size_t>(flat_.numel()));
    options.setReduceFunction(
        [](void* out, const void* a, const void* b, size_t n) { gloo::sum<float>(out, a, b, n); });
    gloo::allreduce(options);
  }

  std::vector<Tensor> parameters_;
  std::shared_ptr<gloo::Context> context_;
  Tensor flat_;
  size_t arrived_ = 0;
};

std::string values_of(const Tensor& x) {
  Tensor dense = x.contiguous();
  return {static_cast<char*>(dense.data_ptr()), dense.nbytes()};
}

// The inodes of this process's sockets: in /proc/net/tcp they name a connection for as long as somebody holds it.
std::set<std::string> own_sockets() {
  std::set<std::string> inodes;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    std::string target = fs::read_symlink(entry.path(), gone).string();
    if (target.starts_with("socket:[")) inodes.insert(target.substr(8, target.size() - 9));
  }
  return inodes;
}
std::set<std::string> open_tcp_inodes() {
  std::set<std::string> inodes;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream in(table);
    std::string line;
    std::getline(in, line);
    while (std::getline(in, line)) {
      std::istringstream fields(line);
      std::string field;
      for (int i = 0; i < 10; i++) fields >> field;
      inodes.insert(field);
    }
  }
  return inodes;
}

#define WORKER_CHECK(condition) \
  if (!(condition)) return std::fprintf(stderr, "rank %d: " #condition "\n", rank), 1

int work(int rank, const std::string& folder, std::chrono::seconds patience) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  alarm(50);
  gloo::transport::tcp::attr address("127.0.0.1");
  auto device = gloo::transport::tcp::CreateDevice(address);
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, kWorld);
  context->setTimeout(patience);
  gloo::rendezvous::FileStore store(folder);
  context->connectFullMesh(store, device);
  {
    std::ofstream sockets(folder + "/sockets." + std::to_string(rank));
    for (const std::string& inode : own_sockets()) sockets << inode << "\n";
  }

  Linear model, alone;
  FlatGradients gradients({model.weight, model.bias}, context);
  for (int step = 0; step < kSteps; step++) {
    Tensor whole = batch_of_step(step);
    model.backward(whole.slice(0, rank * kBatch / kWorld, (rank + 1) * kBatch / kWorld));
    alone.backward(whole);
    for (auto [mine, reference] : {std::pair(model.weight, alone.weight), std::pair(model.bias, alone.bias)}) {
      WORKER_CHECK(mine.grad().is_alias_of(gradients.flat()));
      WORKER_CHECK(values_of(mine.grad()) == values_of(reference.grad()));
      mine.mutable_grad().reset();  // as zero_grad(set_to_none) does: the next gradient goes into the buffer again
      reference.mutable_grad().reset();
    }
  }
  return 0;
}

pid_t start(int rank, const std::string& folder, int patience) {
  std::string rank_text = std::to_string(rank), seconds = std::to_string(patience);
  const char* argv[] = {"spike_gloo_grads", "--worker", rank_text.c_str(), folder.c_str(), seconds.c_str(), nullptr};
  pid_t child = -1;
  if (posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, const_cast<char**>(argv), environ) != 0) return -1;
  return child;
}

// The exit status of each child; those that outlive the deadline are killed.
std::vector<int> wait_for(const std::vector<pid_t>& children) {
  const auto end = std::chrono::steady_clock::now() + kDeadline;
  std::vector<int> statuses(children.size(), -1);
  for (size_t i = 0; i < children.size(); i++) {
    while (waitpid(children[i], &statuses[i], WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > end) kill(children[i], SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  return statuses;
}

class SpikeGlooGrads : public ::testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/cresset_gloo_XXXXXX";
    ASSERT_NE(mkdtemp(pattern), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string folder_;
};

TEST_F(SpikeGlooGrads, TwoHalvesReducedEqualTheWholeBatchAndNothingIsLeft) {
  std::vector<pid_t> children;
  for (int rank = 0; rank < kWorld; rank++) children.push_back(start(rank, folder_, 20));

  std::vector<int> statuses = wait_for(children);

  for (int rank = 0; rank < kWorld; rank++) {
    EXPECT_GT(children[rank], 0);
    EXPECT_TRUE(WIFEXITED(statuses[rank]) && WEXITSTATUS(statuses[rank]) == 0)
        << "rank " << rank << " ended with status " << statuses[rank];
  }
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
  std::set<std::string> open = open_tcp_inodes();
  for (int rank = 0; rank < kWorld; rank++) {
    std::ifstream sockets(folder_ + "/sockets." + std::to_string(rank));
    int count = 0;
    for (std::string inode; sockets >> inode; count++) EXPECT_FALSE(open.count(inode)) << "a socket is left";
    EXPECT_GT(count, 0) << "rank " << rank << " had no socket";
  }
}

TEST_F(SpikeGlooGrads, ARankThatWaitsForNobodyGivesUpInTime) {
  std::vector<int> statuses = wait_for({start(0, folder_, 2)});
  EXPECT_TRUE(WIFEXITED(statuses[0]) && WEXITSTATUS(statuses[0]) == 3) << statuses[0];
}

}  // namespace
}  // namespace cresset

int main(int argc, char** argv) {
  if (argc == 5 && std::string(argv[1]) == "--worker") try {
      return cresset::work(std::stoi(argv[2]), argv[3], std::chrono::seconds(std::stoi(argv[4])));
    } catch (const std::exception& error) {
      std::fprintf(stderr, "rank %s: %s\n", argv[2], error.what());
      return 3;
    }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
