// It reads process groups from a pipe, positive to watch and negative to forget. The kernel closes the pipe when the
// launcher dies, however it dies.
#include "guardian.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <set>

namespace cresset::run {
namespace {

[[noreturn]] void guard(int line, const std::string& mark) {
  setsid();
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE}) ::signal(signal, SIG_IGN);
  prctl(PR_SET_NAME, "cresset-guard");
  // It must hold nothing open that others wait for the end of.
  const int nothing = open("/dev/null", O_RDWR);
  for (int fd : {0, 1, 2}) dup2(nothing, fd);
  line = dup2(line, 3);
  close_range(4, ~0u, 0);

  std::set<pid_t> groups;
  pid_t message = 0;
  while (true) {
    const ssize_t count = read(line, &message, sizeof message);
    if (count < 0 && errno == EINTR) continue;
    if (count != sizeof message) break;
    if (message > 0)
      groups.insert(message);
    else
      groups.erase(-message);
  }
  if (!groups.empty()) {
    for (pid_t group : groups) kill(-group, SIGKILL);
    kill_marked(mark);
  }
  _exit(0);
}

}  // namespace

Guardian::Guardian(const std::string& mark) {
  Pipe pipe = make_pipe();
  pid_ = fork();
  if (pid_ < 0) throw StartError(126, "the guardian process could not be started");
  if (pid_ == 0) {
    pipe.write.reset();
    guard(pipe.read.get(), mark);
  }
  line_ = std::move(pipe.write);
}

Guardian::~Guardian() {
  line_.reset();
  waitpid(pid_, nullptr, 0);
}

void Guardian::watch(pid_t group) { [[maybe_unused]] const ssize_t written = write(line_.get(), &group, sizeof group); }

void Guardian::forget(pid_t group) { watch(-group); }

}  // namespace cresset::run
