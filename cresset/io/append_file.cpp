// Locks, in this order: the register, a file's `order` (held while it is written), its `gathered_lock` (held for
// moments). Nobody takes the register while holding a file's. fork() takes all of them, so that the child finds every
// file between two records.
#include "cresset/io/append_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "cresset/io/bytes.h"

namespace cresset::io {

using Clock = std::chrono::steady_clock;

struct AppendFile::State {
  const char* function;
  std::string path;
  std::chrono::milliseconds patience;
  int file = -1;  // under `order`

  std::mutex order;
  std::mutex gathered_lock;
  std::string gathered;
  std::string problem;  // of a write that nobody waited for
  bool closed = false;

  std::optional<Clock::time_point> due;  // under the register's lock

  bool write_out() noexcept;  // false: `problem` says why
  void throw_problem();
};

namespace {

constexpr size_t kMostGathered = size_t{1} << 16;

using State = AppendFile::State;

// All files of the process. Never destroyed: its thread may outlive everything else.
struct Register {
  std::mutex mutex;
  std::deque<std::condition_variable> wakes = std::deque<std::condition_variable>(1);  // the last one is in use
  std::vector<std::shared_ptr<State>> files;
  bool has_thread = false;
};

Register& all_files() {
  static Register* const only = new Register;
  return *only;
}

// First everything is written, since the parent may be about to leave by _exit, as those of daemons do.
void lock_all() {
  AppendFile::flush_all();
  Register& all = all_files();
  all.mutex.lock();
  for (const auto& file : all.files) {
    file->order.lock();
    file->gathered_lock.lock();
  }
}

void unlock_all() {
  Register& all = all_files();
  for (const auto& file : all.files) {
    file->gathered_lock.unlock();
    file->order.unlock();
  }
  all.mutex.unlock();
}

void begin_in_child() {
  Register& all = all_files();
  for (const auto& file : all.files) {
    file->gathered.clear();  // what other threads have added since: the parent writes it
    file->due.reset();
  }
  all.has_thread = false;
  all.wakes.emplace_back();  // the old one counts a waiting thread that is not here
  unlock_all();
}

void write_when_due() {
  Register& all = all_files();
  std::unique_lock lock(all.mutex);
  while (true) {
    std::optional<Clock::time_point> next;
    std::vector<std::shared_ptr<State>> due;
    for (const auto& file : all.files) {
      if (!file->due) continue;
      if (*file->due <= Clock::now()) {
        file->due.reset();
        due.push_back(file);
      } else if (!next || *file->due < *next) {
        next = file->due;
      }
    }
    if (!due.empty()) {
      lock.unlock();
      for (const auto& file : due) file->write_out();
      due.clear();
      lock.lock();
    } else if (next) {
      all.wakes.back().wait_until(lock, *next);
    } else {
      all.wakes.back().wait(lock);
    }
  }
}

// Signals are the program's own threads' business. The register is locked.
void start_thread(Register& all) {
  sigset_t every, before;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  try {
    std::thread(write_when_due).detach();
    all.has_thread = true;
  } catch (const std::system_error&) {  // no thread to be had: the next record tries again
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// Something was gathered where nothing was.
void set_due(State& file) {
  Register& all = all_files();
  const std::lock_guard lock(all.mutex);
  if (file.due) return;
  file.due = Clock::now() + file.patience;
  if (!all.has_thread) start_thread(all);
  all.wakes.back().notify_one();
}

void watch_fork_and_exit() {
  static const bool once = [] {
    pthread_atfork(lock_all, unlock_all, begin_in_child);
    std::atexit([] { AppendFile::flush_all(); });
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace

// Whole records leave by one call as long as the system takes them, which keeps those of other processes apart.
bool AppendFile::State::write_out() noexcept {
  const std::lock_guard in_order(order);
  std::string now;
  {
    const std::lock_guard lock(gathered_lock);
    now.swap(gathered);
  }
  size_t at = 0;
  while (file >= 0 && at < now.size()) {
    const ssize_t written = ::write(file, now.data() + at, now.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error = errno;  // half a record may be in the file; more of it would not help
      const std::lock_guard lock(gathered_lock);
      problem = system_reason(error);
      return false;
    }
    at += static_cast<size_t>(written);
  }
  return true;
}

void AppendFile::State::throw_problem() {
  std::string what;
  {
    const std::lock_guard lock(gathered_lock);
    what.swap(problem);
  }
  if (!what.empty()) fault(function, path, "writing failed: ", what);
}

AppendFile::AppendFile(const char* function, std::string path, std::chrono::milliseconds patience)
    : state_(std::make_shared<State>()) {
  state_->function = function;
  state_->path = std::move(path);
  state_->patience = patience;
  state_->file = ::open(state_->path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (state_->file < 0) fault(function, state_->path, "cannot be written: ", system_reason(errno));
  watch_fork_and_exit();
  const std::lock_guard lock(all_files().mutex);
  all_files().files.push_back(state_);
}

AppendFile::~AppendFile() {
  try {
    close();
  } catch (...) {  // a destructor has nobody to tell; flush() and close() do
  }
}

const std::string& AppendFile::path() const { return state_->path; }

void AppendFile::add(std::string_view record) {
  State& file = *state_;
  bool first = false, full = false;
  {
    const std::lock_guard lock(file.gathered_lock);
    if (file.closed) fault(file.function, file.path, "written to after it was closed");
    first = file.gathered.empty();
    file.gathered += record;
    full = file.patience.count() <= 0 || file.gathered.size() >= kMostGathered;
  }
  if (full) {
    file.write_out();
  } else if (first) {
    set_due(file);
  }
  file.throw_problem();
}

void AppendFile::flush() {
  state_->write_out();
  state_->throw_problem();
}

void AppendFile::close() {
  Register& all = all_files();
  {
    const std::lock_guard lock(all.mutex);
    std::erase(all.files, state_);
  }
  {
    const std::lock_guard lock(state_->gathered_lock);
    state_->closed = true;
  }
  state_->write_out();
  {
    const std::lock_guard lock(state_->order);
    if (state_->file >= 0) ::close(state_->file);
    state_->file = -1;
  }
  state_->throw_problem();
}

void AppendFile::flush_all() noexcept {
  Register& all = all_files();
  std::vector<std::shared_ptr<State>> files;
  {
    const std::lock_guard lock(all.mutex);
    files = all.files;
  }
  for (const auto& file : files) file->write_out();
}

}  // namespace cresset::io
