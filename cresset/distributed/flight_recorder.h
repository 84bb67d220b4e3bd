// FlightRecorder: a group's last operations and when each began and ended. Written to a file when an operation fails
// (CRESSET_FLIGHT_RECORDER_DIR names the folder; without it nothing is written) and on SIGUSR1.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "cresset/distributed/fingerprint.h"

namespace cresset::distributed {

class CRESSET_API FlightRecorder {
 public:
  using Clock = std::chrono::steady_clock;
  enum class State : uint8_t { queued, started, done, failed };
  struct Entry {
    uint64_t sequence = 0;    // of a send or receive: its own count
    std::string op;           // "all_reduce"
    std::string description;  // "all_reduce(SUM) of float32[1000]"
    State state = State::queued;
    Clock::time_point queued, started, ended;
    std::string error;
  };

  // Keeps the last `capacity` operations; by default 1024, or as many as CRESSET_FLIGHT_RECORDER says.
  FlightRecorder(std::string group, int rank, int size, size_t capacity = default_capacity());
  ~FlightRecorder();
  FlightRecorder(const FlightRecorder&) = delete;
  FlightRecorder& operator=(const FlightRecorder&) = delete;
  static size_t default_capacity();

  std::vector<Entry> entries() const;  // oldest first
  std::string json() const;            // times in microseconds since 1970
  void dump(const std::string& path) const;
  // Into `folder`, under a name of the group's and rank's own; returns the path.
  std::string dump_into(const std::string& folder) const;

  // For the group: a place is named by the number that `queued` gave.
  uint64_t queued(const Fingerprint& what);
  void started(uint64_t number);
  void ended(uint64_t number, const std::string& error = {});

 private:
  struct Slot {
    uint64_t number = 0;
    Fingerprint what;
    State state = State::queued;
    Clock::time_point queued, started, ended;
    std::string error;
  };
  Slot* at(uint64_t number);

  std::string group_;
  int rank_, size_;
  mutable std::mutex mutex_;
  std::vector<Slot> slots_;
  uint64_t next_ = 1;
};

CRESSET_API const char* name_of(FlightRecorder::State state);

// On SIGUSR1 every recorder alive writes itself into CRESSET_FLIGHT_RECORDER_DIR or, without it, the folder for
// temporary files. A handler that the program has installed itself stays in place.
void dump_recorders_on_signal();

}  // namespace cresset::distributed
