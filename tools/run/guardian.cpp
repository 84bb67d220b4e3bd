// It reads process groups from a pipe, positive to watch and negative to forget; zero says that all is well. The kernel
// closes the pipe when the launcher dies, however it dies.
#include "guardian.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <map>
#include <set>

namespace cresset::run {
namespace {

constexpr pid_t kAllIsWell = 0;

constexpr int kLookMilliseconds = 1000;
constexpr int kMostReplacements = 100;

// Everything below a process, each with the time of its start: the number alone may be somebody else's later.
using Descendants = std::map<pid_t, uint64_t>;
void add_descendants(pid_t pid, pid_t left_out, Descendants& found) {
  for (pid_t child : children_of(pid)) {
    if (child == left_out || !found.emplace(child, start_time(child)).second) continue;
    add_descendants(child, left_out, found);
  }
}

[[noreturn]] void guard(int line, const std::string& mark, pid_t launcher, std::set<pid_t> groups) {
  setsid();
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE}) ::signal(signal, SIG_IGN);
  prctl(PR_SET_NAME, "cresset-guard");
  // It must hold nothing open that others wait for the end of.
  const int nothing = open("/dev/null", O_RDWR);
  for (int fd : {0, 1, 2}) dup2(nothing, fd);
  line = dup2(line, 3);
  close_range(4, ~0u, 0);

  Descendants seen;
  pid_t message = 0;
  while (true) {
    // Processes without the mark, in a session of their own, can be found only while their parents live.
    pollfd polled{line, POLLIN, 0};
    if (poll(&polled, 1, kLookMilliseconds) == 0) {
      seen.clear();
      add_descendants(launcher, getpid(), seen);
      continue;
    }
    const ssize_t count = read(line, &message, sizeof message);
    if (count < 0 && errno == EINTR) continue;
    if (count != sizeof message) break;
    if (message == kAllIsWell) _exit(0);
    if (message > 0)
      groups.insert(message);
    else
      groups.erase(-message);
  }
  // The pipe closes before the kernel lets go of the children. Until then a worker may be at its very start, without
  // the mark; from then on it is dead, or sees that its parent is.
  for (int i = 0; i < 4000 && getppid() == launcher; i++) usleep(500);
  for (pid_t group : groups) kill(-group, SIGKILL);
  for (const auto& [pid, since] : Descendants(seen)) add_descendants(pid, getpid(), seen);
  for (const auto& [pid, since] : seen)
    if (since != 0 && start_time(pid) == since) kill(pid, SIGKILL);
  kill_marked(mark);
  _exit(0);
}

}  // namespace

Guardian::Guardian(const std::string& mark) : mark_(mark) { start(); }

void Guardian::start() {
  Pipe pipe = make_pipe();
  const pid_t launcher = getpid();
  pid_ = fork();
  if (pid_ < 0) throw StartError(126, "the guardian process could not be started");
  if (pid_ == 0) {
    pipe.write.reset();
    line_.reset();
    guard(pipe.read.get(), mark_, launcher, groups_);
  }
  line_ = std::move(pipe.write);
}

Guardian::~Guardian() {
  send(kAllIsWell);
  line_.reset();
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
}

void Guardian::replace() {
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
  if (++replaced_ <= kMostReplacements) start();
}

void Guardian::send(pid_t message) {
  [[maybe_unused]] const ssize_t written = write(line_.get(), &message, sizeof message);
}

void Guardian::watch(pid_t group) {
  groups_.insert(group);
  send(group);
}

void Guardian::forget(pid_t group) {
  groups_.erase(group);
  send(-group);
}

}  // namespace cresset::run
