// Events are gathered by each thread for itself and handed over when its listening ends (or at a step that ends a
// recording), so that nothing is locked while ops run.
#include "cresset/monitor/profiler.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "cresset/autograd/node_listener.h"
#include "cresset/core/allocator.h"
#include "cresset/core/modes.h"
#include "cresset/core/warning.h"

namespace cresset::monitor {
namespace {

constinit thread_local Profiler::Listening* current = nullptr;

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void add_shape(std::string& text, const Tensor& tensor) {
  if (!text.empty()) text += ", ";
  text += tensor.defined() ? text_of(tensor.sizes()) : "none";
}

std::string shapes_of(const Values& arguments) {
  std::string text;
  for (const Value& value : arguments) {
    if (auto* tensor = std::get_if<Tensor>(&value)) add_shape(text, *tensor);
    if (auto* list = std::get_if<std::vector<Tensor>>(&value))
      for (const Tensor& tensor : *list) add_shape(text, tensor);
  }
  return text;
}

// No two events of a process have one number: a scope that outlives its listening ends nobody else's.
uint64_t first_event_of_listening() {
  static std::atomic<uint64_t> listenings{0};
  return (++listenings << 40) + 1;
}

bool is_recording(ProfilerAction action) {
  return action == ProfilerAction::record || action == ProfilerAction::record_and_save;
}

}  // namespace

ProfilerSchedule schedule(const ScheduleOptions& options) {
  auto check = [](const char* name, int64_t found, int64_t least) {
    CRESSET_CHECK_AS(ValueError, found >= least, "schedule: found ", name, " ", found, " (expected at least ", least,
                     ")");
  };
  check("wait", options.wait, 0);
  check("warmup", options.warmup, 0);
  check("active", options.active, 1);
  check("repeat", options.repeat, 0);
  check("skip_first", options.skip_first, 0);
  return [options](int64_t step) {
    if (step < options.skip_first) return ProfilerAction::none;
    step -= options.skip_first;
    const int64_t cycle = options.wait + options.warmup + options.active;
    if (options.repeat > 0 && step / cycle >= options.repeat) return ProfilerAction::none;
    const int64_t at = step % cycle;
    if (at < options.wait) return ProfilerAction::none;
    if (at < options.wait + options.warmup) return ProfilerAction::warmup;
    return at + 1 < cycle ? ProfilerAction::record : ProfilerAction::record_and_save;
  };
}

struct Profiler::Listening::Open {
  uint64_t number;
  bool kept;  // not of a warm-up
  ProfilerEvent event;
};

struct Profiler::Listening::Mode : modes::AboveMode {
  explicit Mode(Listening& to) : listening(to), scope(static_cast<modes::AboveMode&>(*this)) {}
  Value call(const Op& op, Values& arguments) override {
    if (listening.profiler_.action_ == ProfilerAction::none) return modes::pass(op, arguments);
    const bool shapes = listening.profiler_.options_.record_shapes;
    // Ends the event also when the op throws.
    struct Ended {
      Listening& listening;
      uint64_t event;
      ~Ended() { listening.end(event); }
    } ended{listening, listening.begin(op.name, Kind::op, shapes ? shapes_of(arguments) : std::string())};
    return modes::pass(op, arguments);
  }

  Listening& listening;
  modes::AboveScope scope;
};

struct Profiler::Listening::Nodes : autograd::NodeListener {
  explicit Nodes(Listening& to) : listening(to) {}
  void node_begins(const autograd::Node& node, const Tensor* gradients, size_t count) noexcept override {
    std::string shapes;
    if (listening.profiler_.options_.record_shapes)
      for (size_t i = 0; i < count; i++) add_shape(shapes, gradients[i]);
    running.push_back(listening.begin(node.name(), Kind::node, std::move(shapes)));
  }
  void node_ended() noexcept override {
    if (running.empty()) return;  // it began before this listening did
    listening.end(running.back());
    running.pop_back();
  }

  Listening& listening;
  std::vector<uint64_t> running;  // a node's hook may start another backward
};

Profiler::Listening::Listening(Profiler& profiler)
    : profiler_(profiler), outer_(current), next_event_(first_event_of_listening()) {
  bool is_first;
  {
    std::lock_guard lock(profiler.mutex_);
    thread_ = profiler.threads_++;
    is_first = profiler.live_++ == 0;
  }
  mode_ = std::make_unique<Mode>(*this);
  nodes_ = std::make_unique<Nodes>(*this);
  current = this;
  if (is_first) begin_step();  // others show the steps that they end
}

Profiler::Listening::~Listening() {
  nodes_.reset();
  mode_.reset();
  current = outer_;
  end_all();
  hand_over();
  {
    std::lock_guard lock(profiler_.mutex_);
    if (--profiler_.live_ > 0) return;
  }
  if (!profiler_.keeps()) return;
  try {
    profiler_.ready();
  } catch (const std::exception& error) {  // thrown by the user's callback, and a destructor cannot pass it on
    CRESSET_WARN("Profiler: on_trace_ready threw at the end of the last listening: ", error.what());
  } catch (...) {
    CRESSET_WARN("Profiler: on_trace_ready threw at the end of the last listening");
  }
}

// Time counts for the innermost event that is open, whatever the order in which events end.
void Profiler::Listening::pass_time(int64_t now) {
  if (!open_.empty()) open_.back().event.self_ns += now - last_ns_;
  last_ns_ = now;
}

uint64_t Profiler::Listening::begin(std::string name, Kind kind, std::string shapes) {
  if (profiler_.action_ == ProfilerAction::none) return 0;
  ProfilerEvent event{.name = std::move(name),
                      .start_ns = 0,
                      .duration_ns = 0,
                      .self_ns = 0,
                      .thread = thread_,
                      .depth = static_cast<int>(open_.size()),
                      .is_scope = kind == Kind::scope,
                      .is_node = kind == Kind::node,
                      .shapes = std::move(shapes)};
  if (profiler_.options_.profile_memory) event.bytes = -memory_stats().allocated_bytes;
  event.start_ns = now_ns();
  pass_time(event.start_ns);
  open_.push_back({next_event_++, profiler_.keeps(), std::move(event)});
  return open_.back().number;
}

void Profiler::Listening::end(uint64_t number) {
  const auto found =
      std::find_if(open_.rbegin(), open_.rend(), [&](const Open& open) { return open.number == number; });
  if (found == open_.rend()) return;  // the end of a recording has ended it
  const int64_t now = now_ns();
  pass_time(now);
  ProfilerEvent& event = found->event;
  event.duration_ns = now - event.start_ns;
  if (profiler_.options_.profile_memory) event.bytes += memory_stats().allocated_bytes;
  if (found->kept) ended_.push_back(std::move(event));
  open_.erase(std::next(found).base());
}

void Profiler::Listening::end_all() {
  while (!open_.empty()) end(open_.back().number);
}

void Profiler::Listening::begin_step() {
  if (profiler_.options_.schedule) step_event_ = begin("ProfilerStep#" + std::to_string(profiler_.step_), Kind::scope);
}

void Profiler::Listening::hand_over() {
  std::lock_guard lock(profiler_.mutex_);
  profiler_.events_.insert(profiler_.events_.end(), std::make_move_iterator(ended_.begin()),
                           std::make_move_iterator(ended_.end()));
  ended_.clear();
}

RecordFunction::RecordFunction(std::string_view name) : listening_(current) {
  if (listening_) event_ = listening_->begin(std::string(name), Profiler::Listening::Kind::scope);
}
RecordFunction::RecordFunction(RecordFunction&& other) noexcept
    : listening_(std::exchange(other.listening_, nullptr)), event_(other.event_) {}
RecordFunction& RecordFunction::operator=(RecordFunction&& other) noexcept {
  if (this == &other) return *this;
  end();
  listening_ = std::exchange(other.listening_, nullptr);
  event_ = other.event_;
  return *this;
}

// A listening that has ended, or is another thread's, is not in this thread's list, and is not touched.
void RecordFunction::end() {
  for (Profiler::Listening* live = current; listening_ && live; live = live->outer_)
    if (live == listening_) {
      live->end(event_);
      break;
    }
  listening_ = nullptr;
}

Profiler::Profiler(ProfilerOptions options) : options_(std::move(options)) {
  if (options_.schedule) action_ = options_.schedule(0);
}

Profiler::Listening& Profiler::listening_here() const {
  for (Listening* live = current; live; live = live->outer_)
    if (&live->profiler_ == this) return *live;
  throw Error("Profiler.step: found no listening of this profiler on this thread (expected a call while one lives)");
}

void Profiler::ready() {
  if (options_.on_trace_ready) options_.on_trace_ready(*this);
}

void Profiler::step() {
  Listening& here = listening_here();
  const int64_t next = ++step_;
  if (!options_.schedule) return;
  const ProfilerAction before = action_, after = options_.schedule(next);
  const bool saves = before == ProfilerAction::record_and_save || (is_recording(before) && !is_recording(after));
  const bool starts = is_recording(after) && (saves || !is_recording(before));
  here.end(here.step_event_);
  if (saves || starts) {
    here.end_all();
    here.hand_over();
  }
  if (saves) {
    action_ = ProfilerAction::none;  // what the callback computes is not of the next recording
    try {
      ready();
    } catch (...) {
      action_ = after;
      throw;
    }
  }
  if (starts) clear();
  action_ = after;
  here.begin_step();
}

void Profiler::clear() {
  std::lock_guard lock(mutex_);
  events_.clear();
}

std::vector<ProfilerEvent> Profiler::events() const {
  std::lock_guard lock(mutex_);
  std::vector<ProfilerEvent> sorted = events_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const ProfilerEvent& a, const ProfilerEvent& b) {
    return std::tuple(a.thread, a.start_ns, a.depth) < std::tuple(b.thread, b.start_ns, b.depth);
  });
  return sorted;
}

}  // namespace cresset::monitor
