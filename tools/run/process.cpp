// Between fork and exec only system calls run: other threads of the launcher may have held any lock.
#include "process.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace cresset::run {
namespace {

enum class Found : uint8_t { yes, no, not_executable };

Found look_at(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return Found::no;
  return S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0 ? Found::yes : Found::not_executable;
}

std::string search(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    const Found found = look_at(name);
    if (found == Found::no) throw StartError(127, "there is no program '" + name + "'");
    if (found == Found::not_executable) throw StartError(126, "'" + name + "' is not an executable file");
    return name;
  }
  const char* path = std::getenv("PATH");
  std::string_view folders = path ? path : "/usr/local/bin:/usr/bin:/bin";
  while (true) {
    const size_t colon = folders.find(':');
    const std::string folder(folders.substr(0, colon));
    std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (look_at(candidate) == Found::yes) return candidate;
    if (colon == std::string_view::npos) break;
    folders.remove_prefix(colon + 1);
  }
  if (look_at(name) != Found::no)
    throw StartError(127, "there is no program '" + name + "' in PATH (the one in this folder is ./" + name + ")");
  throw StartError(127, "there is no program '" + name + "' in PATH");
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

struct Child {
  const char* path;
  char* const* arguments;
  char* const* environment;
  int in, out, err, report;
  pid_t parent;
  const sigset_t* signals;
};

[[noreturn]] void become(const Child& child) {
  // The parent may have died before the request was made; then no signal will come.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != child.parent) _exit(127);
  setsid();
  for (int signal = 1; signal < NSIG; signal++) {
    struct sigaction current {};
    if (signal != SIGKILL && signal != SIGSTOP && sigaction(signal, nullptr, &current) == 0 &&
        (signal == SIGPIPE || current.sa_handler != SIG_IGN)) {
      current = {};
      current.sa_handler = SIG_DFL;
      sigaction(signal, &current, nullptr);
    }
  }
  sigprocmask(SIG_SETMASK, child.signals, nullptr);
  if (dup2(child.in, 0) >= 0 && dup2(child.out, 1) >= 0 && dup2(child.err, 2) >= 0)
    execve(child.path, child.arguments, child.environment);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(child.report, &error, sizeof error);
  _exit(127);
}

}  // namespace

int Descriptor::release() {
  const int fd = fd_;
  fd_ = -1;
  return fd;
}

void Descriptor::reset() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

void wake_up(int fd) {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(fd, &one, sizeof one);
}

Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

Program find_program(const std::string& name, const std::vector<std::string>& arguments) {
  Program program;
  if (name.ends_with(".py")) {
    if (!std::filesystem::exists(name)) throw StartError(127, "there is no program '" + name + "'");
    // Unbuffered, or the last words of a killed worker would be lost.
    program = {search("python3"), {"python3", "-u", name}};
  } else {
    program = {search(name), {name}};
  }
  program.arguments.insert(program.arguments.end(), arguments.begin(), arguments.end());
  return program;
}

pid_t start(const Program& program, const std::vector<std::string>& environment, const Pipe& out, const Pipe& err,
            const sigset_t& signals) {
  const std::vector<char*> arguments = pointers_to(program.arguments);
  const std::vector<char*> variables = pointers_to(environment);
  const Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  Pipe report = make_pipe();
  const Child child{program.path.c_str(), arguments.data(),   variables.data(), nothing.get(), out.write.get(),
                    err.write.get(),      report.write.get(), getpid(),         &signals};
  const pid_t pid = fork();
  if (pid == 0) become(child);
  if (pid < 0) throw StartError(126, std::string("no process could be started: ") + std::strerror(errno));
  report.write.reset();
  int error = 0;
  ssize_t count = 0;
  do count = read(report.read.get(), &error, sizeof error);
  while (count < 0 && errno == EINTR);
  if (count == sizeof error) {
    waitpid(pid, nullptr, 0);
    const std::string why = error == ENOEXEC  ? "it is neither a program for this machine nor a script with a #! line"
                            : error == ENOENT ? "the interpreter of its #! line is missing"
                                              : std::strerror(error);
    throw StartError(126, "'" + program.path + "' could not be started: " + why);
  }
  return pid;
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

std::string end_in_words(int wait_status) {
  if (WIFSIGNALED(wait_status)) return "killed by " + signal_name(WTERMSIG(wait_status));
  return "exited with status " + std::to_string(WEXITSTATUS(wait_status));
}

int shell_status(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

namespace {

bool has_mark(const char* pid, const std::string& mark) {
  const Descriptor file(open((std::string("/proc/") + pid + "/environ").c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open()) return false;
  std::string text(1, '\0');
  char buffer[16384];
  for (ssize_t count = 0; (count = read(file.get(), buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(count));
  text += '\0';
  return text.find('\0' + mark + '\0') != std::string::npos;
}

}  // namespace

void kill_marked(const std::string& mark) {
  // A process may be forking while the list is read: again, until two whole passes find none. (One that was killed and
  // that nobody has reaped yet has no environment.)
  for (int passes = 0, empty = 0; passes < 200 && empty < 2; passes++) {
    empty++;
    DIR* folder = opendir("/proc");
    if (folder == nullptr) return;
    while (const dirent* entry = readdir(folder)) {
      const int pid = std::atoi(entry->d_name);
      if (pid <= 1 || pid == getpid() || !has_mark(entry->d_name, mark)) continue;
      empty = 0;
      kill(pid, SIGKILL);
    }
    closedir(folder);
    usleep(1000);
  }
}

}  // namespace cresset::run
