// Starting one program as a child that cannot outlive this process, and saying in words how a child ended.
#pragma once

#include <csignal>
#include <stdexcept>
#include <string>
#include <vector>

namespace cresset::run {

// A file descriptor, closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  int release();
  void reset();

 private:
  int fd_;
};

struct Pipe {
  Descriptor read, write;
};
void wake_up(int eventfd);  // whoever waits for it to be readable

Pipe make_pipe();  // neither end reaches a program that is started

// A program that cannot be started; the shell's status for it (127 not found, 126 not executable).
struct StartError : std::runtime_error {
  StartError(int status, const std::string& text) : std::runtime_error(text), status(status) {}
  int status;
};

struct Program {
  std::string path;  // of the file that is executed
  std::vector<std::string> arguments;
};
// Looks for the program as a shell does; a .py file is given to python3.
Program find_program(const std::string& name, const std::vector<std::string>& arguments);

// Starts it in a session of its own, with nothing to read and with what it writes in the two pipes. It gets SIGKILL
// when the calling thread ends, so that thread must be the main one. `signals` is the mask it starts with.
pid_t start(const Program& program, const std::vector<std::string>& environment, const Pipe& out, const Pipe& err,
            const sigset_t& signals);

std::string signal_name(int signal);
// "killed by SIGKILL", "exited with status 3", from what wait says.
std::string end_in_words(int wait_status);
// The same, with the uncaught exception that the last lines on stderr tell of, if it was one.
std::string end_in_words(int wait_status, const std::string& last_lines);
// The processes that this one is the parent of, in any of its threads: its own and orphans that came to it.
std::vector<pid_t> children_of(pid_t pid);
// When the process was started, in the kernel's ticks, or 0 if there is none: with the number, it names one for ever.
uint64_t start_time(pid_t pid);
// The status a shell would give: 3, or 128 and the signal.
int shell_status(int wait_status);

// Ends every process that has this text among its environment variables, except this one.
void kill_marked(const std::string& mark);

}  // namespace cresset::run
