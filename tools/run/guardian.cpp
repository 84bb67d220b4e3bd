// It reads process groups from a pipe, positive to watch and negative to forget; zero says that all is well. The kernel
// closes the pipe when the launcher dies, however it dies.
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

constexpr pid_t kAllIsWell = 0;

[[noreturn]] void guard(int line, const std::string& mark, pid_t launcher) {
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
  kill_marked(mark);
  _exit(0);
}

}  // namespace

Guardian::Guardian(const std::string& mark) {
  Pipe pipe = make_pipe();
  const pid_t launcher = getpid();
  pid_ = fork();
  if (pid_ < 0) throw StartError(126, "the guardian process could not be started");
  if (pid_ == 0) {
    pipe.write.reset();
    guard(pipe.read.get(), mark, launcher);
  }
  line_ = std::move(pipe.write);
}

Guardian::~Guardian() {
  watch(kAllIsWell);
  line_.reset();
  waitpid(pid_, nullptr, 0);
}

void Guardian::watch(pid_t group) { [[maybe_unused]] const ssize_t written = write(line_.get(), &group, sizeof group); }

void Guardian::forget(pid_t group) { watch(-group); }

}  // namespace cresset::run
