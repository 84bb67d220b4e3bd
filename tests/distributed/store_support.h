// What the tests of the stores share: a process that a test can kill or stop, and stores to talk to.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "cresset/distributed/tcp_store.h"
#include "tests/support/message_when.h"

namespace cresset::distributed {

using namespace std::chrono_literals;

using cresset::test::message_when;

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A forked process. It ends without destructors of what the test holds, with status 1 and its error on stderr when the
// body throws; it never outlives the test.
class Child {
 public:
  explicit Child(const std::function<void()>& body) {
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(2);
    alarm(120);
    try {
      body();
    } catch (const std::exception& error) {
      fprintf(stderr, "child: %s\n", error.what());
      _exit(1);
    }
    _exit(0);
  }
  ~Child() {
    if (pid_ <= 0) return;
    signal(SIGKILL);
    wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const { ::kill(pid_, number); }
  // The exit status, or minus the signal; kills a child that has not ended after a minute.
  int wait() {
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    int status = 0;
    while (waitpid(pid_, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > deadline) signal(SIGKILL);
      std::this_thread::sleep_for(1ms);
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t pid_ = -1;
};

// Takes over the children of a child that dies, so that the test can end them.
class Grandparent {
 public:
  Grandparent() { prctl(PR_SET_CHILD_SUBREAPER, 1); }
  ~Grandparent() { prctl(PR_SET_CHILD_SUBREAPER, 0); }
  Grandparent(const Grandparent&) = delete;
  Grandparent& operator=(const Grandparent&) = delete;

  static bool end(const std::string& pid) {
    const auto grandchild = static_cast<pid_t>(std::stoi(pid));
    return ::kill(grandchild, SIGKILL) == 0 && waitpid(grandchild, nullptr, 0) == grandchild;
  }
};

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "cresset-store-XXXXXX").string();
    if (!mkdtemp(name.data())) throw IoError("no temporary folder: " + name);
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::shared_ptr<TcpStore> make_server(const std::string& token = "", uint16_t port = 0) {
  TcpStoreOptions options;
  options.is_server = true;
  options.port = port;
  options.token = token;
  options.timeout = 30s;
  return std::make_shared<TcpStore>(options);
}

inline std::shared_ptr<TcpStore> make_client(uint16_t port, const std::string& token = "", Milliseconds timeout = 30s) {
  TcpStoreOptions options;
  options.port = port;
  options.token = token;
  options.timeout = timeout;
  return std::make_shared<TcpStore>(options);
}

}  // namespace cresset::distributed
