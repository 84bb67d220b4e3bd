// Runs a function in a forked child and waits for it with a deadline: what deadlocks after a fork fails its test
// instead of hanging the suite.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

namespace cresset::testing {

// "ok" when the function returned true.
template <class F>
std::string outcome_in_child(const F& f, std::chrono::seconds deadline = std::chrono::seconds(30)) {
  const pid_t child = fork();
  if (child < 0) return "fork failed";
  if (child == 0) _exit(f() ? 0 : 1);
  const auto end = std::chrono::steady_clock::now() + deadline;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return "the child hung";
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (WIFSIGNALED(status)) return "the child died of signal " + std::to_string(WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "ok" : "the child found an error";
}

}  // namespace cresset::testing
