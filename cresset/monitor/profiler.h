// The profiler: how long each op takes, which ops it calls, and what memory it takes; and scopes of the user's own. It
// listens as a mode above autograd while a Listening lives, and costs nothing otherwise.
//
//   monitor::Profiler profiler;
//   {
//     auto on = profiler.listen();           // this thread; others listen for themselves
//     monitor::RecordFunction scope("step");
//     train_step();
//   }
//   std::cout << profiler.table();
//   profiler.export_chrome_trace("trace.json");  // for chrome://tracing or ui.perfetto.dev
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "cresset/core/export.h"

namespace cresset::monitor {

struct ProfilerOptions {
  bool record_shapes = false;   // of the ops' arguments
  bool profile_memory = false;  // bytes that an op leaves allocated
};

struct ProfilerEvent {
  std::string name;
  int64_t start_ns, duration_ns, self_ns;  // self: without what was called inside
  int64_t bytes = 0;
  int thread, depth;
  bool is_scope;  // a RecordFunction's
  std::string shapes;
};

struct ProfilerRow {
  std::string name;
  int64_t calls = 0, total_ns = 0, self_ns = 0, bytes = 0;
};

class CRESSET_API Profiler {
 public:
  class CRESSET_API Listening {
   public:
    explicit Listening(Profiler& profiler);
    ~Listening();
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;

   private:
    friend class RecordFunction;
    struct Open;
    struct Mode;  // hears the ops
    size_t begin(std::string name, bool is_scope);
    void end(size_t event);

    Profiler& profiler_;
    Listening* outer_;
    int thread_;
    std::vector<ProfilerEvent> events_;
    std::vector<size_t> open_;
    std::unique_ptr<Mode> mode_;
  };

  explicit Profiler(ProfilerOptions options = {});

  [[nodiscard]] Listening listen() { return Listening(*this); }

  // Of all listenings that have ended, by thread and start.
  std::vector<ProfilerEvent> events() const;
  // One row per name, the longest first. sort_by: "self_time", "total_time", "calls" or "memory".
  std::vector<ProfilerRow> key_averages(std::string_view sort_by = "self_time") const;
  std::string table(std::string_view sort_by = "self_time", size_t row_limit = 100) const;
  void export_chrome_trace(const std::string& path) const;
  void clear();

 private:
  ProfilerOptions options_;
  mutable std::mutex mutex_;
  std::vector<ProfilerEvent> events_;
  int threads_ = 0;
};

// A named scope; only seen where a profiler listens on this thread.
class CRESSET_API RecordFunction {
 public:
  explicit RecordFunction(std::string_view name);
  ~RecordFunction();
  RecordFunction(const RecordFunction&) = delete;
  RecordFunction& operator=(const RecordFunction&) = delete;

 private:
  Profiler::Listening* listening_;
  size_t event_ = 0;
};

}  // namespace cresset::monitor
