#include "tests/distributed/processes.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace cresset::testing {
namespace {

int voice = -1;  // in a child: where its words go

using Clock = std::chrono::steady_clock;

sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

[[noreturn]] void be_child(int rank, int count, uint16_t port, int fd, const Processes::Body& body) {
  voice = fd;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0);
  setenv("RANK", std::to_string(rank).c_str(), 1);
  setenv("WORLD_SIZE", std::to_string(count).c_str(), 1);
  setenv("MASTER_ADDR", "127.0.0.1", 1);
  setenv("MASTER_PORT", std::to_string(port).c_str(), 1);
  setenv("OMP_NUM_THREADS", "1", 1);
  int status = 0;
  try {
    body(rank);
  } catch (const std::exception& error) {
    say(std::string("threw: ") + error.what());
    status = 1;
  }
  if (::testing::Test::HasFailure()) status = 1;
  std::fflush(nullptr);
  // exit, not _exit: how a group ends with its process is part of what is tested.
  std::exit(status);
}

}  // namespace

void pause_for(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

std::string host() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

std::string who(const Processes& processes, int rank) {
  return "rank " + std::to_string(rank) + " (host " + host() + ", pid " + std::to_string(processes.pid(rank)) + ")";
}

bool port_listens(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  const bool connected = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(fd);
  return connected;
}

void say(const std::string& text) {
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = write(voice, text.data() + written, text.size() - written);
    if (count <= 0) return;
    written += static_cast<size_t>(count);
  }
}

bool Outcome::succeeded() const {
  for (const RankOutcome& rank : ranks)
    if (rank.status != 0) return false;
  return true;
}

std::string Outcome::summary() const {
  std::string out;
  for (size_t i = 0; i < ranks.size(); i++)
    out += "rank " + std::to_string(i) + ": status " + std::to_string(ranks[i].status) + ", signal " +
           std::to_string(ranks[i].signal) + (ranks[i].overtime ? " (killed at the deadline)" : "") + ": " +
           ranks[i].text + "\n";
  return out;
}

Processes::Processes(int count, const Body& body) : port_(free_port()) {
  std::fflush(nullptr);
  for (int rank = 0; rank < count; rank++) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
    const pid_t pid = fork();
    if (pid == 0) {
      close(ends[0]);
      for (const Child& other : children_) close(other.fd);
      be_child(rank, count, port_, ends[1], body);
    }
    close(ends[1]);
    children_.push_back({pid, ends[0], {}, false});
  }
}

Processes::~Processes() { wait(std::chrono::milliseconds(0)); }

void Processes::signal(int rank, int number) const { kill(children_[static_cast<size_t>(rank)].pid, number); }

void Processes::read_from(Child& child) {
  char buffer[4096];
  const ssize_t count = read(child.fd, buffer, sizeof buffer);
  if (count > 0) {
    child.outcome.text.append(buffer, static_cast<size_t>(count));
    return;
  }
  close(child.fd);
  child.fd = -1;
  int status = 0;
  waitpid(child.pid, &status, 0);
  child.ended = true;
  if (WIFEXITED(status)) child.outcome.status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) child.outcome.signal = WTERMSIG(status);
}

// True when all have ended. A child's pipe closes when it is gone, and only then.
bool Processes::collect(int timeout_ms) {
  std::vector<pollfd> fds;
  std::vector<Child*> who;
  for (Child& child : children_) {
    if (child.ended) continue;
    fds.push_back({child.fd, POLLIN, 0});
    who.push_back(&child);
  }
  if (fds.empty()) return true;
  poll(fds.data(), fds.size(), timeout_ms);
  for (size_t i = 0; i < fds.size(); i++)
    if (fds[i].revents) read_from(*who[i]);
  return false;
}

bool Processes::wait_for(int rank, const std::string& text) {
  const auto deadline = Clock::now() + kDeadline;
  Child& child = children_[static_cast<size_t>(rank)];
  while (child.outcome.text.find(text) == std::string::npos && !child.ended && Clock::now() < deadline) collect(50);
  return child.outcome.text.find(text) != std::string::npos;
}

Outcome Processes::wait(std::chrono::milliseconds deadline) {
  const auto end = Clock::now() + deadline;
  while (!collect(20)) {
    if (Clock::now() < end) continue;
    for (Child& child : children_)
      if (!child.ended) {
        child.outcome.overtime = true;
        kill(child.pid, SIGKILL);
      }
  }
  Outcome out;
  for (const Child& child : children_) {
    // What the child started must be gone with it.
    if (kill(-child.pid, SIGKILL) == 0) ADD_FAILURE() << "process " << child.pid << " left children behind";
    out.ranks.push_back(child.outcome);
  }
  if (port_listens(port_)) ADD_FAILURE() << "port " << port_ << " is still open";
  return out;
}

Outcome run_ranks(int count, const Processes::Body& body, std::chrono::milliseconds deadline) {
  Processes processes(count, body);
  return processes.wait(deadline);
}

}  // namespace cresset::testing
