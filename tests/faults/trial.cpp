#include "trial.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <thread>

namespace faults {
namespace {

bool own_network = false;

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// With lo up. Whatever listens there was started by these tests.
bool enter_own_network() {
  if (geteuid() != 0 || unshare(CLONE_NEWNET) != 0) return false;
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  request.ifr_name[0] = 'l';
  request.ifr_name[1] = 'o';
  request.ifr_flags = IFF_UP;
  const bool up = ioctl(fd, SIOCSIFFLAGS, &request) == 0;
  close(fd);
  return up;
}

struct Network : ::testing::Environment {
  void SetUp() override { own_network = enter_own_network(); }
};
const auto* const network = ::testing::AddGlobalTestEnvironment(new Network);

// Some write over their environment (Slurm's daemons), but none leaves its network.
std::vector<pid_t> processes_with(const std::string& mark) {
  std::vector<pid_t> found;
  std::error_code gone;
  const auto here = std::filesystem::read_symlink("/proc/thread-self/ns/net", gone);
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos || name == std::to_string(getpid())) continue;
    const bool marked = read_file(entry.path() / "environ").find(mark) != std::string::npos;
    if (marked || (own_network && std::filesystem::read_symlink(entry.path() / "ns/net", gone) == here))
      found.push_back(std::stoi(name));
  }
  return found;
}

std::string described(pid_t pid) {
  std::string command = read_file("/proc/" + std::to_string(pid) + "/cmdline");
  for (char& c : command)
    if (c == 0) c = ' ';
  return std::to_string(pid) + ": " + command;
}

}  // namespace

std::string launcher() { return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "cresset-run"; }
std::string program(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "faults" / name;
}

Folder::Folder() {
  std::string name = std::filesystem::temp_directory_path() / "cresset-faults-XXXXXX";
  if (!mkdtemp(name.data())) std::abort();
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void pause_ms(int64_t milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Trial::Trial() {
  static int count = 0;
  mark_ = "CRESSET_TRIAL=" + std::to_string(getpid()) + "-" + std::to_string(count++);
}

Trial::~Trial() {
  for (auto& [name, process] : processes_)
    if (!process.ended) finish(name, 0);
  // Those whose launcher was killed are killed by its guardian; that takes a moment.
  const double deadline = seconds_now() + 10;
  std::vector<pid_t> left;
  while (!(left = processes_with(mark_)).empty() && seconds_now() < deadline) pause_ms(20);
  for (const pid_t pid : left) {
    ADD_FAILURE() << "left behind: " << described(pid) << "\n" << everything();
    kill(pid, SIGKILL);
  }
  const std::set<int> ports = listening_ports();
  if (own_network) {
    for (const int port : ports) ADD_FAILURE() << "somebody still listens on port " << port;
  } else if (port_ != 0) {
    EXPECT_FALSE(ports.contains(port_)) << "somebody still listens on port " << port_;
  }
  if (::testing::Test::HasFailure()) std::cerr << everything();
}

void Trial::start(const std::string& name, const Words& command,
                  const std::map<std::string, std::string>& environment) {
  Process& process = processes_[name];
  process.file = folder_.path() + "/" + name;
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const int file = open(process.file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  process.pid = fork();
  if (process.pid != 0) {
    close(file);
    return;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0);
  putenv(const_cast<char*>(mark_.c_str()));
  setenv("OMP_NUM_THREADS", "1", 1);
  for (const auto& [variable, value] : environment) setenv(variable.c_str(), value.c_str(), 1);
  dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
  dup2(file, 1);
  dup2(file, 2);
  execvp(words[0], words.data());
  _exit(127);
}

void Trial::launch(int workers, const Words& options, const Words& command) {
  Words words{launcher(), "--nproc-per-node", std::to_string(workers)};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), command.begin(), command.end());
  start("run", words);
}

void Trial::start_ranks(int workers, const Words& command) {
  port_ = free_port();
  for (int rank = 0; rank < workers; rank++)
    start(std::to_string(rank), command,
          {{"RANK", std::to_string(rank)},
           {"WORLD_SIZE", std::to_string(workers)},
           {"MASTER_ADDR", "127.0.0.1"},
           {"MASTER_PORT", std::to_string(port_)}});
}

int Trial::finish(const std::string& name, double seconds) {
  Process& process = processes_.at(name);
  const double deadline = seconds_now() + seconds;
  while (!process.ended) {
    int status = 0;
    if (waitpid(process.pid, &status, WNOHANG) == process.pid) {
      process.ended = true;
      process.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    } else if (seconds_now() > deadline) {
      kill(process.pid, SIGKILL);
      waitpid(process.pid, nullptr, 0);
      process.ended = true;
      process.status = -1;
    } else {
      pause_ms(5);
    }
  }
  return process.status;
}

std::vector<int> Trial::finish_ranks(int workers, double seconds) {
  const double deadline = seconds_now() + seconds;
  std::vector<int> statuses;
  for (int rank = 0; rank < workers; rank++)
    statuses.push_back(finish(std::to_string(rank), std::max(0.0, deadline - seconds_now())));
  return statuses;
}

bool Trial::running(const std::string& name) const {
  siginfo_t info{};
  const auto pid = static_cast<id_t>(processes_.at(name).pid);
  return !processes_.at(name).ended && waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

void Trial::signal(const std::string& name, int number) const {
  if (!processes_.at(name).ended) kill(processes_.at(name).pid, number);
}

std::string Trial::output(const std::string& name) const { return read_file(processes_.at(name).file); }

std::string Trial::said_by(int rank) const {
  if (processes_.contains(std::to_string(rank))) return output(std::to_string(rank));
  const std::string number = std::to_string(rank), prefixes[] = {"[rank " + number + "] ", number + ": "};
  std::string out, line;
  for (const auto& [name, process] : processes_) {
    std::istringstream lines(read_file(process.file));
    while (std::getline(lines, line))
      for (const std::string& prefix : prefixes)
        if (line.starts_with(prefix)) out += line.substr(prefix.size()) + "\n";
  }
  return out;
}

bool Trial::wait_for(int rank, const std::string& text, double seconds) const {
  const double deadline = seconds_now() + seconds;
  while (said_by(rank).find(text) == std::string::npos) {
    if (seconds_now() > deadline) {
      ADD_FAILURE() << "rank " << rank << " never said \"" << text << "\"\n" << everything();
      return false;
    }
    pause_ms(5);
  }
  return true;
}

bool Trial::wait_for_output(const std::string& name, const std::string& text, double seconds) const {
  const double deadline = seconds_now() + seconds;
  while (output(name).find(text) == std::string::npos) {
    if (seconds_now() > deadline) {
      ADD_FAILURE() << name << " never said \"" << text << "\"\n" << everything();
      return false;
    }
    pause_ms(5);
  }
  return true;
}

pid_t Trial::pid_of(int rank) const {
  const std::string text = after_last(said_by(rank), "pid ");
  return text.empty() ? -1 : std::stoi(text);
}

std::string Trial::everything() const {
  std::string out;
  for (const auto& [name, process] : processes_)
    out += "---- " + name + " (status " + std::to_string(process.status) + ")\n" + read_file(process.file);
  return out;
}

std::string after_last(const std::string& text, const std::string& before) {
  // At the start of a line only: messages have these words, too.
  size_t at = text.rfind("\n" + before);
  if (at != std::string::npos)
    at += 1 + before.size();
  else if (text.starts_with(before))
    at = before.size();
  else
    return {};
  return text.substr(at, text.find('\n', at) - at);
}

Words errors_in(const std::string& text) {
  Words errors;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line))
    if (line.starts_with("error")) errors.push_back(line.substr(line.find(": ") + 2));
  return errors;
}

Words named_in(const std::string& text) {
  Words found = errors_in(text);
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line))
    if (line.starts_with("cresset: ")) found.push_back(line.substr(line.find(": ") + 2));
  return found;
}

std::string pattern_of(int rank, pid_t pid) {
  return "rank " + std::to_string(rank) + " \\(host [^,]+, pid " + std::to_string(pid) + "\\)";
}

bool matches(const std::string& text, const std::string& pattern) {
  return std::regex_search(text, std::regex(pattern));
}

bool blames_only(const std::string& error, int rank) {
  static const std::regex named("rank ([0-9]+) \\(host");
  for (std::sregex_iterator at(error.begin(), error.end(), named), end; at != end; ++at)
    if (std::stoi((*at)[1]) != rank) return false;
  return true;
}

bool is_root() { return geteuid() == 0; }
bool has_own_network() { return own_network; }

std::set<int> listening_ports() {
  std::set<int> ports;
  for (const char* table : {"/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"}) {
    std::istringstream lines(read_file(table));
    std::string line;
    while (std::getline(lines, line)) {
      std::istringstream words(line);
      std::string number, local, remote, state;
      words >> number >> local >> remote >> state;
      if (state == "0A") ports.insert(std::stoi(local.substr(local.rfind(':') + 1), nullptr, 16));
    }
  }
  return ports;
}

int shell(const std::string& command) {
  const int status = std::system((command + " >/dev/null 2>&1").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

}  // namespace faults
