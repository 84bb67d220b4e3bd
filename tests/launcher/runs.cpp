#include "runs.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

extern char** environ;

namespace cresset::test {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool within(double seconds, const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    usleep(5000);
  }
  return true;
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Folder::Folder() {
  std::string pattern = std::filesystem::temp_directory_path() / "cresset-launcher-XXXXXX";
  path = mkdtemp(pattern.data());
}

Folder::~Folder() { std::filesystem::remove_all(path); }

Launched::Launched(const std::vector<std::string>& arguments, const std::vector<std::string>& variables) {
  static std::atomic<int> runs = 0;
  std::string pattern = std::filesystem::temp_directory_path() / "cresset-run-XXXXXX";
  folder_ = mkdtemp(pattern.data());
  mark_ = "CRESSET_TEST_RUN=" + std::to_string(getpid()) + "-" + std::to_string(runs++);

  std::vector<std::string> argv = {CRESSET_RUN_PROGRAM};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  std::vector<std::string> env = {mark_};
  env.insert(env.end(), variables.begin(), variables.end());
  for (char** variable = environ; *variable != nullptr; variable++)
    if (!std::string_view(*variable).starts_with("OMP_NUM_THREADS=")) env.emplace_back(*variable);
  const std::vector<char*> argument_pointers = pointers_to(argv), variable_pointers = pointers_to(env);
  const std::string out = folder_ + "/out", err = folder_ + "/err";
  pid_ = fork();
  if (pid_ == 0) {
    // In a group of its own, with the signals that a shell gives.
    setpgid(0, 0);
    for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(signal, SIG_DFL);
    dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
    dup2(open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
    execve(CRESSET_RUN_PROGRAM, argument_pointers.data(), variable_pointers.data());
    _exit(127);
  }
}

Launched::~Launched() {
  if (pid_ > 0) wait(0);
  std::filesystem::remove_all(folder_);
}

std::string Launched::out() const { return read_file(folder_ + "/out"); }
std::string Launched::err() const { return read_file(folder_ + "/err"); }

bool Launched::prints(const std::string& text, int times) {
  const bool did = within(60, [&] { return count(out(), text) >= times; });
  EXPECT_TRUE(did) << "not printed: " << text << "\nout:\n" << out() << "err:\n" << err();
  return did;
}

bool Launched::complains(const std::string& text) {
  const bool did = within(60, [&] { return count(err(), text) > 0; });
  EXPECT_TRUE(did) << "not on stderr: " << text << "\nout:\n" << out() << "err:\n" << err();
  return did;
}

Result Launched::wait(double seconds) {
  Result result;
  int status = 0;
  const bool ended = within(seconds, [&] { return waitpid(pid_, &status, WNOHANG) == pid_; });
  if (!ended) {
    ADD_FAILURE() << "cresset-run did not end within " << seconds << " s\nout:\n" << out() << "err:\n" << err();
    kill(pid_, SIGKILL);
    waitpid(pid_, &status, 0);
  }
  pid_ = -1;
  if (!within(10, [&] { return processes().empty(); })) {
    for (pid_t pid : processes()) {
      ADD_FAILURE() << "left behind: " << pid << " " << read_file("/proc/" + std::to_string(pid) + "/cmdline");
      kill(pid, SIGKILL);
    }
  }
  result.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  result.out = out();
  result.err = err();
  return result;
}

std::vector<pid_t> Launched::processes() const {
  std::vector<pid_t> found;
  DIR* folder = opendir("/proc");
  while (const dirent* entry = readdir(folder)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid <= 0) continue;
    const std::string variables = '\0' + read_file(std::string("/proc/") + entry->d_name + "/environ");
    if (variables.find('\0' + mark_ + '\0') != std::string::npos) found.push_back(pid);
  }
  closedir(folder);
  return found;
}

Result run(const std::vector<std::string>& arguments, const std::vector<std::string>& variables) {
  return Launched(arguments, variables).wait();
}

std::vector<std::string> with_script(std::vector<std::string> options, const std::string& script) {
  options.insert(options.end(), {"bash", "-c", script});
  return options;
}

int count(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) count++;
  return count;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int listening_socket(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in address = loopback(port);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 && listen(fd, 1) == 0) return fd;
  close(fd);
  return -1;
}

}  // namespace

bool can_listen_on(int port) {
  const int fd = listening_socket(port);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

bool listens(int port) {
  return within(60, [&] {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(port);
    const bool reached = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    close(fd);
    return reached;
  });
}

std::string between(const std::string& text, const std::string& before, const std::string& after) {
  const size_t begin = text.find(before);
  if (begin == std::string::npos) return {};
  const size_t from = begin + before.size();
  return text.substr(from, text.find(after, from) - from);
}

}  // namespace cresset::test
