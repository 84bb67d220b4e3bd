// A cresset-run as a child of the test, with a deadline, and with a look for whatever it might have left behind.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <csignal>
#include <string>
#include <vector>

#include "tests/support/ports.h"

namespace cresset::test {

struct Result {
  int status = -1;  // as a shell has it: 128 and the signal for one that was killed
  std::string out, err;
};

class Launched {
 public:
  // Arguments of cresset-run; variables as NAME=VALUE on top of the test's own environment.
  explicit Launched(const std::vector<std::string>& arguments, const std::vector<std::string>& variables = {});
  ~Launched();
  Launched(const Launched&) = delete;
  Launched& operator=(const Launched&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int signal) const { kill(pid_, signal); }
  std::string out() const;
  std::string err() const;
  // Waits until the text was printed on stdout; fails the test at the deadline, and returns whether it was.
  bool prints(const std::string& text, int times = 1);
  bool complains(const std::string& text);  // on stderr

  // Waits for its end, and for that of all it has started. Fails the test, and ends all, at the deadline.
  Result wait(double seconds = 60);
  // The processes that carry this run's mark, without zombies.
  std::vector<pid_t> processes() const;

 private:
  std::string folder_, mark_;
  pid_t pid_ = -1;
};

Result run(const std::vector<std::string>& arguments, const std::vector<std::string>& variables = {});

// Options, then bash with this script as the program.
std::vector<std::string> with_script(std::vector<std::string> options, const std::string& script);

int count(const std::string& text, const std::string& part);
std::vector<std::string> lines_of(const std::string& text);
using cresset::testing::free_port;
bool can_listen_on(int port);
bool listens(int port);  // waits until somebody does
// What stands between the two texts, at its first place.
std::string between(const std::string& text, const std::string& before, const std::string& after);

// A folder that goes with it.
struct Folder {
  Folder();
  ~Folder();
  std::string path;
};

}  // namespace cresset::test
