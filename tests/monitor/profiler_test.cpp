// Ops, scopes, threads, memory, and the trace as JSON.
#include "cresset/monitor/profiler.h"

#include <thread>

#include "cresset/ops/all.h"
#include "tests/core/expect_error.h"
#include "tests/io/support.h"

namespace cresset::monitor {
namespace {

const ProfilerEvent& event_named(const std::vector<ProfilerEvent>& events, const std::string& name) {
  for (const ProfilerEvent& event : events)
    if (event.name == name) return event;
  throw std::runtime_error("no event " + name);
}
std::vector<std::string> names_of(const std::vector<ProfilerEvent>& events) {
  std::vector<std::string> names;
  for (const ProfilerEvent& event : events) names.push_back(event.name);
  return names;
}

TEST(Profiler, ScopesNestAroundOps) {
  Profiler profiler;
  const Tensor x = ones({8, 8});
  {
    auto on = profiler.listen();
    RecordFunction outer("step");
    {
      RecordFunction inner("forward");
      relu(x);
    }
    add(x, x);
  }
  const std::vector<ProfilerEvent> events = profiler.events();
  const ProfilerEvent &step = event_named(events, "step"), &forward = event_named(events, "forward"),
                      &op = event_named(events, "relu"), &sum = event_named(events, "add");
  EXPECT_EQ(step.depth, 0);
  EXPECT_EQ(forward.depth, 1);
  EXPECT_EQ(op.depth, 2);
  EXPECT_EQ(sum.depth, 1);
  EXPECT_TRUE(step.is_scope && !op.is_scope);
  EXPECT_LE(forward.duration_ns + sum.duration_ns, step.duration_ns);
  EXPECT_EQ(step.self_ns, step.duration_ns - forward.duration_ns - sum.duration_ns);
  EXPECT_GE(op.start_ns, forward.start_ns);
}

TEST(Profiler, OpsInsideOpsAreSeen) {
  Profiler profiler;
  {
    auto on = profiler.listen();
    std_mean(ones({4, 4}));
  }
  const std::vector<ProfilerEvent> events = profiler.events();
  EXPECT_EQ(event_named(events, "std_mean").depth, 0);
  int inside = 0;
  for (const ProfilerEvent& event : events) inside += event.depth > 0;
  EXPECT_GT(inside, 0);
}

TEST(Profiler, NothingIsSeenOutsideAndResultsAreTheSame) {
  Profiler profiler;
  RecordFunction unseen("unseen");
  const Tensor x = rand({3, 3}).requires_grad_();
  Tensor inside;
  {
    auto on = profiler.listen();
    inside = matmul(x, x).sum();
    inside.backward();
  }
  EXPECT_TRUE(equal(inside, matmul(x, x).sum()));
  EXPECT_TRUE(x.grad().defined());
  for (const std::string& name : names_of(profiler.events())) EXPECT_NE(name, "unseen");
  const size_t count = profiler.events().size();
  add(x, x);
  EXPECT_EQ(profiler.events().size(), count);
  profiler.clear();
  EXPECT_TRUE(profiler.events().empty());
}

TEST(Profiler, ThreadsListenForThemselves) {
  Profiler profiler;
  const Tensor x = ones({4});
  auto work = [&](const char* name) {
    auto on = profiler.listen();
    for (int i = 0; i < 50; i++) {
      RecordFunction scope(name);
      add(x, x);
    }
  };
  std::thread a(work, "a"), b(work, "b");
  a.join();
  b.join();
  const std::vector<ProfilerEvent> events = profiler.events();
  EXPECT_EQ(events.size(), 200u);
  EXPECT_NE(event_named(events, "a").thread, event_named(events, "b").thread);
  for (const ProfilerRow& row : profiler.key_averages("calls"))
    EXPECT_EQ(row.calls, row.name == "add" ? 100 : 50) << row.name;
}

TEST(Profiler, AnOpThatThrowsIsClosed) {
  Profiler profiler;
  {
    auto on = profiler.listen();
    RecordFunction scope("scope");
    EXPECT_THROW(matmul(ones({2, 3}), ones({2, 3})), Error);
    relu(ones({2}));
  }
  EXPECT_EQ(event_named(profiler.events(), "relu").depth, 1);
}

TEST(Profiler, MemoryAndShapesAreKeptWhenAsked) {
  Profiler profiler({.record_shapes = true, .profile_memory = true});
  Tensor kept;
  const Tensor a = ones({1000, 100}), b = ones({100, 7});
  {
    auto on = profiler.listen();
    kept = cat({a, a});
    matmul(a, b);
  }
  const std::vector<ProfilerEvent> events = profiler.events();
  EXPECT_GE(event_named(events, "cat").bytes, 800'000);
  EXPECT_EQ(event_named(events, "matmul").shapes, "[1000, 100], [100, 7]");
  EXPECT_NE(profiler.table("memory").find("800.31 KiB"), std::string::npos) << profiler.table("memory");
}

TEST(Profiler, TheTableIsSortedAndCut) {
  Profiler profiler;
  {
    auto on = profiler.listen();
    for (int i = 0; i < 3; i++) add(ones({2}), ones({2}));
    relu(ones({2}));
  }
  const std::vector<ProfilerRow> rows = profiler.key_averages("calls");
  ASSERT_GE(rows.size(), 3u);
  EXPECT_GE(rows[0].calls, rows[1].calls);
  const std::string table = profiler.table("calls", 1);
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 3);
  EXPECT_EQ(table.substr(0, 4), "name");
  EXPECT_ERROR(ValueError, profiler.table("color"), "cannot sort by color");
}

TEST(Profiler, TheTraceIsJson) {
  test::TempFolder folder;
  Profiler profiler({.record_shapes = true, .profile_memory = true});
  {
    auto on = profiler.listen();
    RecordFunction scope("a \"quoted\"\nname");
    relu(ones({2, 3}));
  }
  profiler.export_chrome_trace(folder / "trace.json");
  auto ran = test::run(
      test::python() +
      " -c 'import json, sys\nevents = json.load(open(sys.argv[1]))[\"traceEvents\"]\n"
      "scope = events[0]\nassert scope[\"name\"] == \"a \\\"quoted\\\"\\nname\" and scope[\"ph\"] == \"X\", scope\n"
      "relu = [e for e in events if e[\"name\"] == \"relu\"][0]\n"
      "assert relu[\"args\"][\"shapes\"] == \"[2, 3]\" and relu[\"dur\"] <= scope[\"dur\"], relu' " +
      folder / "trace.json");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_ERROR(IoError, profiler.export_chrome_trace(folder / "no/trace.json"), "cannot be written");
}

}  // namespace
}  // namespace cresset::monitor
