// Events are gathered by each thread for itself and handed over when its listening ends, so that nothing is locked
// while ops run.
#include "cresset/monitor/profiler.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <unordered_map>

#include "cresset/core/allocator.h"
#include "cresset/core/modes.h"
#include "cresset/io/atomic_file.h"

namespace cresset::monitor {
namespace {

constinit thread_local Profiler::Listening* current = nullptr;

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string shapes_of(const Values& arguments) {
  std::string text;
  auto add = [&](const Tensor& tensor) {
    if (!text.empty()) text += ", ";
    text += tensor.defined() ? text_of(tensor.sizes()) : "none";
  };
  for (const Value& value : arguments) {
    if (auto* tensor = std::get_if<Tensor>(&value)) add(*tensor);
    if (auto* list = std::get_if<std::vector<Tensor>>(&value))
      for (const Tensor& tensor : *list) add(tensor);
  }
  return text;
}

std::string json_text(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    char hex[8];
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::snprintf(hex, sizeof hex, "\\u%04x", static_cast<unsigned char>(c));
      out += hex;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string duration_text(int64_t ns) {
  char text[32];
  const auto value = static_cast<double>(ns);
  if (ns >= 1'000'000'000)
    std::snprintf(text, sizeof text, "%.3f s", value / 1e9);
  else if (ns >= 1'000'000)
    std::snprintf(text, sizeof text, "%.3f ms", value / 1e6);
  else
    std::snprintf(text, sizeof text, "%.3f us", value / 1e3);
  return text;
}

std::string bytes_text(int64_t bytes) {
  char text[32];
  const auto value = static_cast<double>(bytes);
  if (std::abs(value) >= 1 << 20)
    std::snprintf(text, sizeof text, "%.2f MiB", value / (1 << 20));
  else if (std::abs(value) >= 1 << 10)
    std::snprintf(text, sizeof text, "%.2f KiB", value / (1 << 10));
  else
    std::snprintf(text, sizeof text, "%lld B", static_cast<long long>(bytes));
  return text;
}

}  // namespace

// Ends an event also when the op throws.
struct Profiler::Listening::Open {
  Listening& listening;
  size_t event;
  ~Open() { listening.end(event); }
};

struct Profiler::Listening::Mode : modes::AboveMode {
  explicit Mode(Listening& to) : listening(to), scope(static_cast<modes::AboveMode&>(*this)) {}
  Value call(const Op& op, Values& arguments) override {
    Open open{listening, listening.begin(op.name, false)};
    if (listening.profiler_.options_.record_shapes) listening.events_[open.event].shapes = shapes_of(arguments);
    return modes::pass(op, arguments);
  }

  Listening& listening;
  modes::AboveScope scope;
};

Profiler::Listening::Listening(Profiler& profiler) : profiler_(profiler), outer_(current) {
  {
    std::lock_guard lock(profiler.mutex_);
    thread_ = profiler.threads_++;
  }
  mode_ = std::make_unique<Mode>(*this);
  current = this;
}

Profiler::Listening::~Listening() {
  mode_.reset();
  current = outer_;
  std::lock_guard lock(profiler_.mutex_);
  profiler_.events_.insert(profiler_.events_.end(), std::make_move_iterator(events_.begin()),
                           std::make_move_iterator(events_.end()));
}

size_t Profiler::Listening::begin(std::string name, bool is_scope) {
  ProfilerEvent event{std::move(name), 0, 0, 0, 0, thread_, static_cast<int>(open_.size()), is_scope, {}};
  if (profiler_.options_.profile_memory) event.bytes = -memory_stats().allocated_bytes;
  event.start_ns = now_ns();
  events_.push_back(std::move(event));
  open_.push_back(events_.size() - 1);
  return open_.back();
}

void Profiler::Listening::end(size_t index) {
  ProfilerEvent& event = events_[index];
  event.duration_ns = now_ns() - event.start_ns;
  event.self_ns += event.duration_ns;  // what ran inside has been taken off already
  if (profiler_.options_.profile_memory) event.bytes += memory_stats().allocated_bytes;
  open_.pop_back();
  if (!open_.empty()) events_[open_.back()].self_ns -= event.duration_ns;
}

RecordFunction::RecordFunction(std::string_view name) : listening_(current) {
  if (listening_) event_ = listening_->begin(std::string(name), true);
}
RecordFunction::~RecordFunction() {
  if (listening_) listening_->end(event_);
}

Profiler::Profiler(ProfilerOptions options) : options_(options) {}

void Profiler::clear() {
  std::lock_guard lock(mutex_);
  events_.clear();
}

std::vector<ProfilerEvent> Profiler::events() const {
  std::lock_guard lock(mutex_);
  std::vector<ProfilerEvent> sorted = events_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const ProfilerEvent& a, const ProfilerEvent& b) {
    return std::pair(a.thread, a.start_ns) < std::pair(b.thread, b.start_ns);
  });
  return sorted;
}

std::vector<ProfilerRow> Profiler::key_averages(std::string_view sort_by) const {
  int64_t ProfilerRow::*key = sort_by == "self_time"    ? &ProfilerRow::self_ns
                              : sort_by == "total_time" ? &ProfilerRow::total_ns
                              : sort_by == "calls"      ? &ProfilerRow::calls
                              : sort_by == "memory"     ? &ProfilerRow::bytes
                                                        : nullptr;
  CRESSET_CHECK_AS(ValueError, key, "Profiler: cannot sort by ", sort_by,
                   " (expected self_time, total_time, calls or memory)");
  std::unordered_map<std::string, size_t> places;
  std::vector<ProfilerRow> rows;
  for (const ProfilerEvent& event : events()) {
    auto [place, is_new] = places.emplace(event.name, rows.size());
    if (is_new) rows.emplace_back().name = event.name;
    ProfilerRow& row = rows[place->second];
    row.calls++;
    row.total_ns += event.duration_ns;
    row.self_ns += event.self_ns;
    row.bytes += event.bytes;
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const ProfilerRow& a, const ProfilerRow& b) { return a.*key > b.*key; });
  return rows;
}

std::string Profiler::table(std::string_view sort_by, size_t row_limit) const {
  const std::vector<ProfilerRow> rows = key_averages(sort_by);
  int64_t whole = 0;
  size_t width = 4;
  for (const ProfilerRow& row : rows) {
    whole += row.self_ns;
    width = std::max(width, row.name.size());
  }
  width = std::min<size_t>(width, 60);
  std::string out;
  char line[256];
  auto add = [&](const std::string& name, const char* share, const std::string& self, const std::string& total,
                 const std::string& average, const std::string& calls, const std::string& bytes) {
    std::snprintf(line, sizeof line, "%-*.*s %8s %12s %12s %12s %8s%s%s\n", static_cast<int>(width),
                  static_cast<int>(width), name.c_str(), share, self.c_str(), total.c_str(), average.c_str(),
                  calls.c_str(), options_.profile_memory ? " " : "", options_.profile_memory ? bytes.c_str() : "");
    out += line;
  };
  add("name", "self %", "self", "total", "average", "calls", "memory");
  for (size_t i = 0; i < rows.size() && i < row_limit; i++) {
    const ProfilerRow& row = rows[i];
    char share[16];
    std::snprintf(share, sizeof share, "%.2f%%",
                  whole > 0 ? 100. * static_cast<double>(row.self_ns) / static_cast<double>(whole) : 0.);
    add(row.name, share, duration_text(row.self_ns), duration_text(row.total_ns),
        duration_text(row.total_ns / row.calls), std::to_string(row.calls), bytes_text(row.bytes));
  }
  return message_of(out, "all ", duration_text(whole), "\n");
}

void Profiler::export_chrome_trace(const std::string& path) const {
  io::AtomicFile file(path);
  file.write("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [");
  bool first = true;
  for (const ProfilerEvent& event : events()) {
    char times[96];
    std::snprintf(times, sizeof times, "\"ts\": %.3f, \"dur\": %.3f, \"pid\": %d, \"tid\": %d",
                  static_cast<double>(event.start_ns) / 1e3, static_cast<double>(event.duration_ns) / 1e3,
                  static_cast<int>(::getpid()), event.thread);
    std::string arguments;
    if (!event.shapes.empty()) arguments = "\"shapes\": " + json_text(event.shapes);
    if (options_.profile_memory) arguments += message_of(arguments.empty() ? "" : ", ", "\"bytes\": ", event.bytes);
    file.write(std::string(first ? "\n" : ",\n") + "{\"name\": " + json_text(event.name) + ", \"cat\": \"" +
               (event.is_scope ? "scope" : "op") + "\", \"ph\": \"X\", " + times + ", \"args\": {" + arguments + "}}");
    first = false;
  }
  file.write("\n]}\n");
  file.commit();
}

}  // namespace cresset::monitor
