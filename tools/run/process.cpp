// Between fork and exec only system calls run: other threads of the launcher may have held any lock.
#include "process.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
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

// Before the launcher raises its own: programs that use select() rely on it.
const rlimit kFilesAtStart = [] {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit;
}();

[[noreturn]] void become(const Child& child) {
  // The parent may have died before the request was made; then no signal will come.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != child.parent) _exit(127);
  setsid();
  // A shell starts what runs in its background with SIGINT and SIGQUIT ignored; workers must still hear the launcher.
  // An ignored SIGHUP is nohup's, and stays.
  const auto is_kept = [](int signal, const struct sigaction& current) {
    return current.sa_handler == SIG_IGN && signal != SIGPIPE && signal != SIGINT && signal != SIGQUIT &&
           signal != SIGTERM;
  };
  for (int signal = 1; signal < NSIG; signal++) {
    struct sigaction current {};
    if (signal != SIGKILL && signal != SIGSTOP && sigaction(signal, nullptr, &current) == 0 &&
        !is_kept(signal, current)) {
      current = {};
      current.sa_handler = SIG_DFL;
      sigaction(signal, &current, nullptr);
    }
  }
  sigprocmask(SIG_SETMASK, child.signals, nullptr);
  setrlimit(RLIMIT_NOFILE, &kFilesAtStart);
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

std::string end_in_words(int wait_status, const std::string& last_lines) {
  // What the C++ library prints before it aborts; the text may have several lines.
  static constexpr std::string_view kOpening = "terminate called after throwing an instance of '", kWhat = "what():";
  const size_t begin = last_lines.rfind(kOpening);
  if (!WIFSIGNALED(wait_status) || WTERMSIG(wait_status) != SIGABRT || begin == std::string::npos)
    return end_in_words(wait_status);
  const size_t name = begin + kOpening.size(), end = std::min(last_lines.find('\'', name), last_lines.size());
  std::string text = "ended by an uncaught " + last_lines.substr(name, end - name);
  if (const size_t what = last_lines.find(kWhat, end); what != std::string::npos) {
    const size_t first = last_lines.find_first_not_of(' ', what + kWhat.size());
    if (first != std::string::npos) text += ": " + last_lines.substr(first, last_lines.find('\n', first) - first);
  }
  return text + " (SIGABRT)";
}

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", error)) {
    std::ifstream list(task.path() / "children");
    for (pid_t child = 0; list >> child;) children.push_back(child);
  }
  return children;
}

uint64_t start_time(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const size_t name_ends = line.rfind(')');  // the name may hold anything
  if (name_ends == std::string::npos) return 0;
  std::istringstream fields(line.substr(name_ends + 1));
  std::string skipped;
  for (int i = 0; i < 19; i++) fields >> skipped;
  uint64_t ticks = 0;
  fields >> ticks;
  return ticks;
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
