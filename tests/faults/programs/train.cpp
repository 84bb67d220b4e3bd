// A small training, the same to the last bit in every run without faults, and the place where faults happen to it. Each
// rank says who it is, how far it has come, what error it met, and in the end the digest of all that it has learned.
//
//   train --steps 20 --checkpoints DIR --fault kill:forward:5:2   # rank 2 dies in the forward of step 5, at its first
//   start
//
// What: kill, stop (by SIGSTOP), exit (with 0), throw, wait (forever). Where: start, rendezvous, forward, collective,
// checkpoint. With --timer-hz 1000 a signal with a handler comes so often meanwhile, and each step has a product whose
// library code must not be interrupted by it.
#include <cresset/cresset.h>
#include <cresset/distributed/checkpoint.h>
#include <cresset/distributed/ddp.h>
#include <cresset/distributed/environment.h>
#include <cresset/distributed/sampler.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <stdexcept>
#include <thread>

using cresset::Tensor;
namespace nn = cresset::nn;
namespace data = cresset::data;
namespace dist = cresset::distributed;
using std::chrono::milliseconds;

namespace {

// Seconds on the clock that all processes of a machine share.
double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Arguments {
  std::map<std::string, std::string> values;
  Arguments(int count, char** texts) {
    for (int i = 1; i + 1 < count; i += 2) values[texts[i]] = texts[i + 1];
  }
  std::string text(const char* name) const { return values.contains(name) ? values.at(name) : ""; }
  int64_t number(const char* name, int64_t otherwise) const {
    return values.contains(name) ? std::stoll(values.at(name)) : otherwise;
  }
};

int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : 0;
}

struct Fault {
  std::string what, where;
  int64_t step = -1;
  int rank = -1;
  bool mine = false;

  explicit Fault(const std::string& text) {
    std::istringstream parts(text);
    std::string word;
    std::getline(parts, what, ':');
    std::getline(parts, where, ':');
    if (std::getline(parts, word, ':')) step = std::stoll(word);
    if (std::getline(parts, word, ':')) rank = std::stoi(word);
    // The first start only: what is started again goes on in peace.
    mine = rank == dist::rank_in_environment() && number_in("CRESSET_GENERATION") == 0;
  }
  bool is_at(const std::string& place, int64_t at) const { return where == place && step == at; }

  [[noreturn]] void kill_now() const {
    std::printf("killed at %.6f\n", now());
    std::fflush(stdout);
    ::kill(getpid(), SIGKILL);
    std::abort();
  }
  void happen() const {
    std::printf("%s in %s\n", what.c_str(), where.c_str());
    std::fflush(stdout);
    if (what == "kill") kill_now();
    if (what == "exit") std::exit(0);
    if (what == "throw") throw std::runtime_error("the disk of rank " + std::to_string(rank) + " is on fire");
    if (what == "stop") ::raise(SIGSTOP);
    if (what == "wait") std::this_thread::sleep_for(std::chrono::hours(1));
  }
  void here(const std::string& place, int64_t at) const {
    if (mine && is_at(place, at)) happen();
  }
};

// Where the fault meets the forward pass.
struct TroubleImpl : nn::Module {
  const Fault* fault;
  const int64_t* step;
  int64_t pause;
  TroubleImpl(const Fault& fault, const int64_t& step, int64_t pause) : fault(&fault), step(&step), pause(pause) {}
  Tensor forward(const Tensor& x) {
    if (pause > 0) std::this_thread::sleep_for(milliseconds(pause));
    fault->here("forward", *step);
    return x;
  }
};
CRESSET_MODULE(Trouble);

uint64_t digest(uint64_t so_far, const Tensor& tensor) {
  const Tensor whole = tensor.detach().contiguous();
  const auto* bytes = static_cast<const unsigned char*>(whole.data_ptr());
  for (size_t i = 0; i < whole.nbytes(); i++) so_far = (so_far ^ bytes[i]) * 1099511628211u;
  return so_far;
}

// Dies when a file that is being written has some bytes, but not all.
void kill_while_writing(const Fault& fault, const std::string& folder) {
  std::thread([&fault, folder] {
    while (true) {
      std::error_code ignored;
      for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
        if (entry.path().string().find(".tmp-") != std::string::npos && entry.file_size(ignored) > 1'000'000)
          fault.kill_now();
    }
  }).detach();
}

std::atomic<int64_t> ticks{0};

void start_timer(int64_t hertz) {
  struct sigaction action {};
  action.sa_handler = [](int) { ticks++; };
  sigaction(SIGALRM, &action, nullptr);  // without SA_RESTART: system calls end early
  const auto microseconds = static_cast<suseconds_t>(1'000'000 / hertz);
  const itimerval every{{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_REAL, &every, nullptr);
}

void multiply_under_the_timer() {
  const Tensor x = cresset::ones({300, 300});
  if (!(cresset::mm(x, x) == 300).all().item<bool>()) throw std::runtime_error("a product is wrong");
}

void train(const Arguments& arguments) {
  const Fault fault(arguments.text("--fault"));
  const int64_t steps = arguments.number("--steps", 20), every = arguments.number("--every", 2);
  const milliseconds later{600};
  fault.here("start", fault.step);
  if (fault.where == "rendezvous" && number_in("CRESSET_GENERATION") == 0) {
    // All wait for the rank behind the one that dies, which comes late.
    const int size = dist::world_size_in_environment().value_or(1);
    if (dist::rank_in_environment() == (fault.rank + 1) % size) std::this_thread::sleep_for(3 * later);
    if (fault.mine)
      std::thread([&] {
        std::this_thread::sleep_for(later);
        fault.happen();
      }).detach();
  }
  dist::InitOptions init;
  init.timeout = milliseconds(arguments.number("--timeout-ms", 120'000));
  dist::init_process_group(init);
  const int rank = dist::get_rank();
  std::printf("joined at %.6f\n", now());
  std::fflush(stdout);

  int64_t step = 0;
  cresset::manual_seed(7);
  const Tensor inputs = cresset::randn({96, 8}), targets = cresset::randn({96, 4});
  nn::Sequential net(nn::Linear(8, 64), nn::Tanh(), Trouble(fault, step, arguments.number("--pause-ms", 0)),
                     nn::Dropout(0.2), nn::Linear(64, 64), nn::Tanh(), nn::Linear(64, 4));
  cresset::manual_seed(static_cast<uint64_t>(100 + rank));
  auto loader = data::make_data_loader(data::datasets::PairDataset(inputs, targets).map(data::transforms::Stack<>()),
                                       dist::DistributedSampler(96), 4);
  dist::DistributedDataParallel model(net, dist::DDPOptions().bucket_cap_mb(0.01).first_bucket_mb(0.001));
  cresset::optim::Adam optimizer(model.parameters(), 1e-2);
  cresset::optim::StepLR schedule(optimizer, 5, 0.9);
  const Tensor ballast = cresset::ones({arguments.number("--ballast-mb", 0) * 250'000});
  const Tensor message = cresset::ones({arguments.number("--message-mb", 32) * 250'000});

  const std::string folder = arguments.text("--checkpoints") + "/" + std::to_string(rank);
  const bool keeps = !arguments.text("--checkpoints").empty();
  cresset::io::Checkpoint checkpoint(folder);
  checkpoint.add("model", model).add("optimizer", optimizer).add("schedule", schedule).add("loader", *loader);
  checkpoint.add("ballast", ballast);
  if (keeps) step = dist::load_newest(checkpoint).value_or(0);
  std::printf("begins at step %ld\n", static_cast<long>(step));
  std::fflush(stdout);

  const bool under_timer = arguments.number("--timer-hz", 0) > 0;
  // With --epochs the passes are counted, as most programs do it; otherwise the steps.
  const auto in_epoch = static_cast<int64_t>(*loader->size());
  const int64_t epochs = arguments.number("--epochs", 0);
  for (int64_t epoch = step / in_epoch; epochs > 0 ? epoch < epochs : step < steps; epoch++)
    for (auto& batch : *loader) {
      if (under_timer) multiply_under_the_timer();
      optimizer.zero_grad();
      nn::functional::mse_loss(model(batch.data), batch.target).backward();
      if (fault.is_at("collective", step) && number_in("CRESSET_GENERATION") == 0) {
        if (fault.mine)
          std::thread([&] {
            std::this_thread::sleep_for(milliseconds(4));
            fault.happen();
          }).detach();
        for (int i = 0; i < 100; i++) dist::all_reduce(message);
      }
      optimizer.step();
      schedule.step();
      step++;
      std::printf("step %ld at %.6f\n", static_cast<long>(step), now());
      std::fflush(stdout);
      if (keeps && step % every == 0) {
        if (fault.where == "checkpoint" && fault.mine && step >= fault.step) kill_while_writing(fault, folder);
        checkpoint.save(step);
      }
      if (epochs == 0 && step == steps) break;
    }

  uint64_t bits = 14695981039346656037u;
  for (const Tensor& parameter : net->parameters()) bits = digest(bits, parameter);
  bits = digest(bits, cresset::rand({8}));
  dist::destroy_process_group();
  std::printf("ended at step %ld\n", static_cast<long>(step));
  if (under_timer && ticks == 0) throw std::runtime_error("the timer's signal never came");
  std::printf("bits %016lx rate %.17g\n", static_cast<unsigned long>(bits), schedule.get_last_lr()[0]);
}

}  // namespace

int main(int count, char** texts) {
  const Arguments arguments(count, texts);
  const char* port = std::getenv("MASTER_PORT");
  std::printf("pid %d port %s generation %d\n", getpid(), port ? port : "?", number_in("CRESSET_GENERATION"));
  std::fflush(stdout);
  // So that a full disk is an error of write(), as it is on a real one.
  if (const int64_t bytes = arguments.number("--file-limit", 0); bytes > 0) {
    const rlimit limit{static_cast<rlim_t>(bytes), static_cast<rlim_t>(bytes)};
    setrlimit(RLIMIT_FSIZE, &limit);
    ::signal(SIGXFSZ, SIG_IGN);
  }
  if (const int64_t hertz = arguments.number("--timer-hz", 0); hertz > 0) start_timer(hertz);
  try {
    train(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error at %.6f: %s\n", now(), error.what());
    return 3;
  }
  return 0;
}
