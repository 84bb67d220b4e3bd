// The profiler: how long each op and each node of a backward takes, which ops it calls, and what memory it takes; and
// scopes of the user's own. It listens as a mode above autograd while a Listening lives, and costs nothing otherwise.
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

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "cresset/core/export.h"

namespace cresset::monitor {

class Profiler;

// What becomes of a step. The last one of a recording is record_and_save.
enum class ProfilerAction : uint8_t { none, warmup, record, record_and_save };

struct ScheduleOptions {
  int64_t wait = 0;        // steps of a cycle that are left alone,
  int64_t warmup = 0;      // then listened to without keeping anything,
  int64_t active = 1;      // then recorded
  int64_t repeat = 0;      // how many cycles; 0: until the end
  int64_t skip_first = 0;  // steps before the first cycle
};
using ProfilerSchedule = std::function<ProfilerAction(int64_t step)>;
CRESSET_API ProfilerSchedule schedule(const ScheduleOptions& options);

struct ProfilerOptions {
  bool record_shapes = false;   // of the ops' arguments and of the gradients that nodes get
  bool profile_memory = false;  // bytes that an op leaves allocated
  // Which steps are recorded; without one, all that happens.
  ProfilerSchedule schedule = {};
  // With a schedule after each recording, otherwise when the last listening has ended; events() are that recording's.
  std::function<void(Profiler&)> on_trace_ready = {};
};

struct ProfilerEvent {
  std::string name;
  int64_t start_ns, duration_ns, self_ns;  // self: without what was called inside
  int64_t bytes = 0;
  int thread, depth;
  bool is_scope;  // a RecordFunction's
  bool is_node;   // an autograd node's, in a backward
  std::string shapes;
};

struct ProfilerRow {
  std::string name;
  int64_t calls = 0, total_ns = 0, self_ns = 0, bytes = 0;
  std::string shapes;  // if grouped by them
};

enum class GroupBy : uint8_t { name, name_and_shapes };

class CRESSET_API Profiler {
 public:
  class CRESSET_API Listening {
   public:
    explicit Listening(Profiler& profiler);
    ~Listening();
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;

   private:
    friend class Profiler;
    friend class RecordFunction;
    enum class Kind : uint8_t { op, scope, node };
    struct Open;   // an event that has not ended
    struct Mode;   // hears the ops
    struct Nodes;  // hears the nodes
    // Zero: nothing is recorded.
    uint64_t begin(std::string name, Kind kind, std::string shapes = {});
    void end(uint64_t event);
    void end_all();
    void pass_time(int64_t now);
    void begin_step();
    void hand_over();

    Profiler& profiler_;
    Listening* outer_;
    int thread_;
    uint64_t next_event_;
    uint64_t step_event_ = 0;
    int64_t last_ns_ = 0;  // when an event last began or ended
    std::vector<Open> open_;
    std::vector<ProfilerEvent> ended_;
    std::unique_ptr<Mode> mode_;
    std::unique_ptr<Nodes> nodes_;
  };

  explicit Profiler(ProfilerOptions options = {});

  [[nodiscard]] Listening listen() { return Listening(*this); }

  // Ends a step, on a thread that listens: the schedule says what the next one is for. Scopes that are open when a
  // recording starts or ends are cut there. Other listening threads hand over their events when their listening ends.
  void step();
  int64_t step_number() const { return step_; }

  // Of all listenings that have ended, or of the schedule's last recording; by thread and start.
  std::vector<ProfilerEvent> events() const;
  // One row per name, the longest first. sort_by: "self_time", "total_time", "calls" or "memory".
  std::vector<ProfilerRow> key_averages(std::string_view sort_by = "self_time", GroupBy group = GroupBy::name) const;
  std::string table(std::string_view sort_by = "self_time", size_t row_limit = 100,
                    GroupBy group = GroupBy::name) const;
  void export_chrome_trace(const std::string& path) const;
  void clear();

 private:
  bool keeps() const { return action_ == ProfilerAction::record || action_ == ProfilerAction::record_and_save; }
  Listening& listening_here() const;
  void ready();

  ProfilerOptions options_;
  mutable std::mutex mutex_;
  std::vector<ProfilerEvent> events_;
  int threads_ = 0, live_ = 0;  // listenings ever, and now
  std::atomic<int64_t> step_ = 0;
  std::atomic<ProfilerAction> action_ = ProfilerAction::record;
};

// A named scope; only seen where a profiler listens on this thread. It may be moved, kept and ended in any order; it
// ends on the thread where it began, at the latest with the listening.
class CRESSET_API RecordFunction {
 public:
  explicit RecordFunction(std::string_view name);
  ~RecordFunction() { end(); }
  RecordFunction(RecordFunction&& other) noexcept;
  RecordFunction& operator=(RecordFunction&& other) noexcept;
  RecordFunction(const RecordFunction&) = delete;
  RecordFunction& operator=(const RecordFunction&) = delete;

  void end();  // earlier than its life does

 private:
  Profiler::Listening* listening_;
  uint64_t event_ = 0;
};

}  // namespace cresset::monitor
