// The recorder costs an operation three short locks; words are made only when somebody asks.
#include "cresset/distributed/flight_recorder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <system_error>
#include <thread>

#include "cresset/core/error.h"
#include "cresset/core/signal_guard.h"

namespace cresset::distributed {
namespace {

// All recorders of the process, for the signal. Never destroyed: the thread may outlive main.
struct Recorders {
  std::mutex mutex;
  std::set<const FlightRecorder*> alive;
};
Recorders& recorders() {
  static auto* all = new Recorders;
  return *all;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      out += ' ';
    else
      out += c;
  }
  return out + "\"";
}

std::string folder_of_dumps() {
  for (const char* variable : {"CRESSET_FLIGHT_RECORDER_DIR", "TMPDIR"}) {
    const char* folder = std::getenv(variable);
    if (folder && *folder) return folder;
  }
  return "/tmp";
}

// Whole or not at all, and for this user alone. Others may write to the folder of temporary files, too, and can guess
// the name: what stands there is replaced, and a link is not followed.
int write_privately(const std::string& path, const std::string& text) {
  std::string temporary = path + ".XXXXXX";
  const int file = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0) return errno;
  int error = 0;
  for (size_t at = 0; at < text.size() && error == 0;) {
    const ssize_t count = ::write(file, text.data() + at, text.size() - at);
    if (count < 0 && errno != EINTR) error = errno;
    if (count > 0) at += static_cast<size_t>(count);
  }
  if (::close(file) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) ::unlink(temporary.c_str());
  return error;
}

int signal_pipe[2] = {-1, -1};
std::atomic<pid_t> signal_owner{0};

extern "C" void on_dump_signal(int) {
  if (signal_owner != getpid()) return;
  const int was = errno;  // of the code that the signal interrupts
  const char byte = 1;
  [[maybe_unused]] const ssize_t written = write(signal_pipe[1], &byte, 1);
  errno = was;
}

}  // namespace

const char* name_of(FlightRecorder::State state) {
  constexpr const char* names[] = {"queued", "started", "done", "failed"};
  return names[static_cast<int>(state)];
}

size_t FlightRecorder::default_capacity() {
  const char* text = std::getenv("CRESSET_FLIGHT_RECORDER");
  if (!text || !*text) return 1024;
  char* end = nullptr;
  const long long value = std::strtoll(text, &end, 10);
  CRESSET_CHECK_AS(ValueError, *end == 0 && value >= 0 && value <= 10'000'000, "CRESSET_FLIGHT_RECORDER: found ", text,
                   " (expected how many operations to keep, 0 to 10000000)");
  return static_cast<size_t>(value);
}

FlightRecorder::FlightRecorder(std::string group, int rank, int size, size_t capacity)
    : group_(std::move(group)), rank_(rank), size_(size), slots_(capacity) {
  const std::lock_guard lock(recorders().mutex);
  recorders().alive.insert(this);
}

FlightRecorder::~FlightRecorder() {
  const std::lock_guard lock(recorders().mutex);
  recorders().alive.erase(this);
}

FlightRecorder::Slot* FlightRecorder::at(uint64_t number) {
  if (slots_.empty()) return nullptr;
  Slot& slot = slots_[number % slots_.size()];
  return slot.number == number ? &slot : nullptr;
}

uint64_t FlightRecorder::queued(const Fingerprint& what) {
  const std::lock_guard lock(mutex_);
  const uint64_t number = next_++;
  if (!slots_.empty()) slots_[number % slots_.size()] = {number, what, State::queued, Clock::now(), {}, {}, {}};
  return number;
}

void FlightRecorder::started(uint64_t number) {
  const std::lock_guard lock(mutex_);
  if (Slot* slot = at(number)) {
    slot->state = State::started;
    slot->started = Clock::now();
  }
}

void FlightRecorder::ended(uint64_t number, const std::string& error) {
  const std::lock_guard lock(mutex_);
  if (Slot* slot = at(number)) {
    slot->state = error.empty() ? State::done : State::failed;
    slot->ended = Clock::now();
    slot->error = error;
  }
}

std::vector<FlightRecorder::Entry> FlightRecorder::entries() const {
  const std::lock_guard lock(mutex_);
  std::vector<const Slot*> used;
  for (const Slot& slot : slots_)
    if (slot.number != 0) used.push_back(&slot);
  std::sort(used.begin(), used.end(), [](const Slot* a, const Slot* b) { return a->number < b->number; });
  std::vector<Entry> out;
  out.reserve(used.size());
  for (const Slot* slot : used)
    out.push_back({slot->what.sequence, name_of(slot->what.op), slot->what.text(), slot->state, slot->queued,
                   slot->started, slot->ended, slot->error});
  return out;
}

std::string FlightRecorder::json() const {
  using std::chrono::duration_cast;
  using std::chrono::microseconds;
  const auto epoch = std::chrono::system_clock::now().time_since_epoch();
  const auto now = Clock::now();
  const auto stamp = [&](Clock::time_point time) -> std::string {
    if (time == Clock::time_point()) return "null";
    return std::to_string(duration_cast<microseconds>(epoch).count() + duration_cast<microseconds>(time - now).count());
  };
  std::string out = "{\"group\": " + quoted(group_) + ", \"rank\": " + std::to_string(rank_) +
                    ", \"size\": " + std::to_string(size_) + ", \"pid\": " + std::to_string(getpid()) +
                    ", \"entries\": [";
  bool first = true;
  for (const Entry& entry : entries()) {
    out += first ? "\n" : ",\n";
    first = false;
    out += "  {\"sequence\": " + std::to_string(entry.sequence) + ", \"op\": " + quoted(entry.op) +
           ", \"description\": " + quoted(entry.description) + ", \"state\": " + quoted(name_of(entry.state)) +
           ", \"queued\": " + stamp(entry.queued) + ", \"started\": " + stamp(entry.started) +
           ", \"ended\": " + stamp(entry.ended);
    if (!entry.error.empty()) out += ", \"error\": " + quoted(entry.error);
    out += "}";
  }
  return out + "]}\n";
}

void FlightRecorder::dump(const std::string& path) const {
  const std::string text = json();
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    // A pipe or a terminal, which the caller has named.
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    CRESSET_CHECK_AS(IoError, file.good(), "FlightRecorder: cannot write ", path);
    return;
  }
  const int error = write_privately(path, text);
  CRESSET_CHECK_AS(IoError, error == 0, "FlightRecorder: cannot write ", path, ": ",
                   std::generic_category().message(error));
}

std::string FlightRecorder::dump_into(const std::string& folder) const {
  std::string group = group_;
  std::replace_if(
      group.begin(), group.end(), [](char c) { return c == ' ' || c == '/'; }, '_');
  std::string path =
      folder + "/flight_" + group + "_rank" + std::to_string(rank_) + "_" + std::to_string(getpid()) + ".json";
  const int error = write_privately(path, json());
  CRESSET_CHECK_AS(IoError, error == 0, "FlightRecorder: cannot write ", path, ": ",
                   std::generic_category().message(error));
  return path;
}

void dump_recorders_on_signal() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  // A forked child has neither the thread nor the right to wake its parent's.
  if (signal_owner == getpid()) return;
  struct sigaction current {};
  if (sigaction(SIGUSR1, nullptr, &current) != 0) return;
  if (current.sa_handler != SIG_DFL && current.sa_handler != on_dump_signal) return;
  if (pipe2(signal_pipe, O_CLOEXEC) != 0) return;
  fcntl(signal_pipe[1], F_SETFL, O_NONBLOCK);  // a handler must not wait; a full pipe wakes the thread as well
  signal_owner = getpid();
  // The handler only writes a byte; what may lock and allocate happens on a thread, which takes no signals itself.
  const SignalGuard inherited;
  std::thread([] {
    char asked[64];  // several signals at once are answered by one file
    while (read(signal_pipe[0], asked, sizeof asked) > 0) {
      const std::lock_guard recorders_lock(recorders().mutex);
      for (const FlightRecorder* recorder : recorders().alive) {
        try {
          const std::string path = recorder->dump_into(folder_of_dumps());
          std::fprintf(stderr, "cresset: wrote the last operations of this group to %s\n", path.c_str());
        } catch (const Error& error) {
          std::fprintf(stderr, "cresset: %s\n", error.what());
        }
      }
    }
  }).detach();
  struct sigaction ours {};
  ours.sa_handler = on_dump_signal;
  ours.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &ours, nullptr);
}

}  // namespace cresset::distributed
