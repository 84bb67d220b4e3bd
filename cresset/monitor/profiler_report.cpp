// What the profiler shows: rows, the table, and the trace for Chrome.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "cresset/core/error.h"
#include "cresset/io/atomic_file.h"
#include "cresset/monitor/profiler.h"

namespace cresset::monitor {
namespace {

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

std::vector<ProfilerRow> Profiler::key_averages(std::string_view sort_by, GroupBy group) const {
  int64_t ProfilerRow::*key = sort_by == "self_time"    ? &ProfilerRow::self_ns
                              : sort_by == "total_time" ? &ProfilerRow::total_ns
                              : sort_by == "calls"      ? &ProfilerRow::calls
                              : sort_by == "memory"     ? &ProfilerRow::bytes
                                                        : nullptr;
  CRESSET_CHECK_AS(ValueError, key, "Profiler: cannot sort by ", sort_by,
                   " (expected self_time, total_time, calls or memory)");
  std::map<std::pair<std::string, std::string>, size_t> places;
  const std::string none;
  std::vector<ProfilerRow> rows;
  for (const ProfilerEvent& event : events()) {
    const std::string& shapes = group == GroupBy::name ? none : event.shapes;
    auto [place, is_new] = places.emplace(std::pair(event.name, shapes), rows.size());
    if (is_new) rows.push_back({.name = event.name, .shapes = shapes});
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

std::string Profiler::table(std::string_view sort_by, size_t row_limit, GroupBy group) const {
  const std::vector<ProfilerRow> rows = key_averages(sort_by, group);
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
                 const std::string& average, const std::string& calls, const std::string& bytes,
                 const std::string& shapes) {
    std::snprintf(line, sizeof line, "%-*.*s %8s %12s %12s %12s %8s", static_cast<int>(width), static_cast<int>(width),
                  name.c_str(), share, self.c_str(), total.c_str(), average.c_str(), calls.c_str());
    out += line;
    // Shapes may be of any length and come last.
    if (options_.profile_memory) out += std::string(bytes.size() < 12 ? 13 - bytes.size() : 1, ' ') + bytes;
    if (group == GroupBy::name_and_shapes && !shapes.empty()) out += "  " + shapes;
    out += '\n';
  };
  add("name", "self %", "self", "total", "average", "calls", "memory", "shapes");
  for (size_t i = 0; i < rows.size() && i < row_limit; i++) {
    const ProfilerRow& row = rows[i];
    char share[16];
    std::snprintf(share, sizeof share, "%.2f%%",
                  whole > 0 ? 100. * static_cast<double>(row.self_ns) / static_cast<double>(whole) : 0.);
    add(row.name, share, duration_text(row.self_ns), duration_text(row.total_ns),
        duration_text(row.total_ns / row.calls), std::to_string(row.calls), bytes_text(row.bytes), row.shapes);
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
               (event.is_scope  ? "scope"
                : event.is_node ? "backward"
                                : "op") +
               "\", \"ph\": \"X\", " + times + ", \"args\": {" + arguments + "}}");
    first = false;
  }
  file.write("\n]}\n");
  file.commit();
}

}  // namespace cresset::monitor
