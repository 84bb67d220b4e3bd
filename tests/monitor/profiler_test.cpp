// Ops, scopes, threads, memory, and the trace as JSON.
#include "cresset/monitor/profiler.h"

#include <future>
#include <map>
#include <optional>
#include <thread>

#include "cresset/autograd/autograd.h"
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

TEST(Profiler, NodesOfABackwardAreRowsUnderTheirNames) {
  Profiler profiler({.record_shapes = true});
  const Tensor x = ones({2, 3}).requires_grad_();
  {
    auto on = profiler.listen();
    RecordFunction scope("step");
    mul(x, x).sum().backward();
  }
  const std::vector<ProfilerEvent> events = profiler.events();
  const ProfilerEvent& node = event_named(events, "MulBackward0");
  EXPECT_TRUE(node.is_node && !node.is_scope);
  EXPECT_EQ(node.depth, 1);
  EXPECT_EQ(node.shapes, "[2, 3]");
  EXPECT_EQ(event_named(events, "SumBackward0").shapes, "[]");
  EXPECT_EQ(event_named(events, "AccumulateGrad").depth, 1);
  EXPECT_FALSE(event_named(events, "mul").is_node);
  for (const ProfilerEvent& event : events) EXPECT_GE(event.self_ns, 0) << event.name;
}

TEST(Profiler, ANodeHoldsTheOpsOfItsHooksAndOfABackwardInside) {
  Profiler profiler;
  const Tensor x = ones({2}).requires_grad_(), z = ones({3}).requires_grad_();
  {
    auto on = profiler.listen();
    Tensor y = mul(x, x);
    y.grad_fn()->add_post_hook([&](const autograd::variable_list& outgoing, const autograd::variable_list&) {
      AutoGradMode with_graph(true);
      z.exp().sum().backward();
      return outgoing;
    });
    y.sum().backward();
  }
  const std::vector<ProfilerEvent> events = profiler.events();
  EXPECT_EQ(event_named(events, "MulBackward0").depth, 0);
  EXPECT_EQ(event_named(events, "ExpBackward0").depth, 1);
}

TEST(Profiler, NodesThatDoNotRunAreNoRows) {
  Profiler profiler, outer;
  const Tensor x = ones({2}).requires_grad_(), y = ones({2}).requires_grad_();
  const Tensor z = add(x.exp(), y.sin()).sum();
  {
    auto around = outer.listen();
    auto on = profiler.listen();
    autograd::grad({z}, {x});
  }
  const std::vector<std::string> names = names_of(profiler.events());
  EXPECT_EQ(std::count(names.begin(), names.end(), "ExpBackward0"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "SinBackward0"), 0);
  EXPECT_EQ(names_of(outer.events()), names);  // an outer listening hears the same
}

TEST(Profiler, ANodeThatThrowsIsClosed) {
  Profiler profiler;
  const Tensor x = ones({2}).requires_grad_();
  {
    auto on = profiler.listen();
    Tensor y = mul(x, x);
    y.grad_fn()->add_post_hook(
        [](const autograd::variable_list&, const autograd::variable_list&) -> autograd::variable_list {
          throw std::runtime_error("hook");
        });
    EXPECT_THROW(y.sum().backward(), std::runtime_error);
    relu(ones({2}));
  }
  EXPECT_EQ(event_named(profiler.events(), "MulBackward0").depth, 0);
  EXPECT_EQ(event_named(profiler.events(), "relu").depth, 0);
}

TEST(Profiler, RowsCanBeGroupedByShapes) {
  Profiler profiler({.record_shapes = true});
  {
    auto on = profiler.listen();
    for (int64_t size : {3, 4, 3}) relu(ones({size, 2}));
  }
  std::map<std::string, int64_t> calls;
  for (const ProfilerRow& row : profiler.key_averages("calls", GroupBy::name_and_shapes))
    if (row.name == "relu") calls[row.shapes] = row.calls;
  EXPECT_EQ(calls, (std::map<std::string, int64_t>{{"[3, 2]", 2}, {"[4, 2]", 1}}));
  EXPECT_EQ(profiler.table().find("[3, 2]"), std::string::npos);
  const std::string table = profiler.table("calls", 100, GroupBy::name_and_shapes);
  EXPECT_NE(table.find("  shapes\n"), std::string::npos) << table;
  EXPECT_NE(table.find("  [3, 2]\n"), std::string::npos) << table;
}

TEST(Profiler, ScopesMoveAndEndInAnyOrder) {
  Profiler profiler;
  {
    auto on = profiler.listen();
    std::optional<RecordFunction> first(std::in_place, "first");
    std::vector<RecordFunction> kept;
    kept.emplace_back("second");
    kept.push_back(RecordFunction("third"));  // and the list moves what it holds
    first.reset();
    relu(ones({2}));
    kept[0] = RecordFunction("fourth");  // ends the second
    kept[1].end();
    add(ones({2}), ones({2}));
    kept.clear();
    neg(ones({2}));
  }
  const std::vector<ProfilerEvent> events = profiler.events();
  int64_t self = 0;
  for (const char* name : {"first", "second", "third", "fourth"}) {
    const std::vector<std::string> names = names_of(events);
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << name;
    EXPECT_GE(event_named(events, name).self_ns, 0) << name;
    EXPECT_LE(event_named(events, name).self_ns, event_named(events, name).duration_ns) << name;
  }
  for (const ProfilerEvent& event : events) self += event.self_ns;
  EXPECT_LE(self, events.back().start_ns + events.back().duration_ns - events.front().start_ns);
  EXPECT_EQ(event_named(events, "relu").depth, 2);
  EXPECT_EQ(event_named(events, "add").depth, 1);
  EXPECT_EQ(event_named(events, "neg").depth, 0);
}

TEST(Profiler, AScopeMayOutliveItsListening) {
  Profiler profiler;
  std::optional<RecordFunction> scope;
  {
    auto on = profiler.listen();
    scope.emplace("long");
    relu(ones({2}));
  }
  EXPECT_GT(event_named(profiler.events(), "long").duration_ns, 0);
  Profiler next;
  {
    auto on = next.listen();
    RecordFunction other("other");
    scope.reset();  // ends nothing of the new listening
    relu(ones({2}));
  }
  EXPECT_EQ(event_named(next.events(), "relu").depth, 1);
}

TEST(Profiler, AScheduleWaitsWarmsUpRecordsAndRepeats) {
  using enum ProfilerAction;
  const ProfilerSchedule when = schedule({.wait = 1, .warmup = 1, .active = 2, .repeat = 2, .skip_first = 1});
  std::vector<ProfilerAction> actions;
  for (int64_t step = 0; step < 11; step++) actions.push_back(when(step));
  EXPECT_EQ(actions, (std::vector{none, none, warmup, record, record_and_save, none, warmup, record, record_and_save,
                                  none, none}));

  std::vector<std::vector<std::string>> traces;
  Profiler profiler({.schedule = when, .on_trace_ready = [&](Profiler& ready) {
                       neg(ones({2}));  // not recorded
                       traces.push_back({});
                       for (const std::string& name : names_of(ready.events()))
                         if (name != "ones") traces.back().push_back(name);
                     }});
  const Tensor x = ones({2});
  {
    auto on = profiler.listen();
    for (int step = 0; step < 11; step++) {
      RecordFunction scope("step " + std::to_string(step));
      relu(x);
      profiler.step();
    }
  }
  EXPECT_EQ(profiler.step_number(), 11);
  EXPECT_EQ(traces, (std::vector<std::vector<std::string>>{
                        {"ProfilerStep#3", "step 3", "relu", "ProfilerStep#4", "step 4", "relu"},
                        {"ProfilerStep#7", "step 7", "relu", "ProfilerStep#8", "step 8", "relu"}}));
}

TEST(Profiler, OtherThreadsKeepWhatTheyHeardInARecording) {
  Profiler profiler({.schedule = schedule({.warmup = 1, .active = 1, .repeat = 1})});
  const Tensor x = ones({2});
  std::promise<void> heard, recording, over;
  auto on = profiler.listen();
  std::thread other([&] {
    auto there = profiler.listen();
    neg(x);  // warming up
    heard.set_value();
    recording.get_future().wait_for(std::chrono::seconds(30));
    relu(x);
    over.set_value();
  });
  heard.get_future().wait_for(std::chrono::seconds(30));
  profiler.step();
  recording.set_value();
  over.get_future().wait_for(std::chrono::seconds(30));
  profiler.step();
  other.join();
  const std::vector<std::string> names = names_of(profiler.events());
  EXPECT_EQ(std::count(names.begin(), names.end(), "relu"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "neg"), 0);
}

TEST(Profiler, ARecordingThatTheEndCutsOffIsReady) {
  int traces = 0;
  {
    Profiler profiler({.schedule = schedule({.warmup = 1, .active = 5}), .on_trace_ready = [&](Profiler& ready) {
                         traces++;
                         EXPECT_EQ(names_of(ready.events()), (std::vector<std::string>{"ProfilerStep#1", "relu"}));
                       }});
    const Tensor x = ones({2});
    auto on = profiler.listen();
    relu(x);
    profiler.step();
    relu(x);
  }
  EXPECT_EQ(traces, 1);
}

TEST(Profiler, StepsAndSchedulesSayWhatIsWrong) {
  Profiler profiler;
  EXPECT_ERROR(Error, profiler.step(), "found no listening of this profiler on this thread");
  EXPECT_ERROR(ValueError, schedule({.active = 0}), "schedule: found active 0 (expected at least 1)");
  EXPECT_ERROR(ValueError, schedule({.wait = -2}), "schedule: found wait -2 (expected at least 0)");
}

TEST(Profiler, TheTraceIsJson) {
  test::TempFolder folder;
  Profiler profiler({.record_shapes = true, .profile_memory = true});
  {
    auto on = profiler.listen();
    RecordFunction scope("a \"quoted\"\nname");
    relu(ones({2, 3}).requires_grad_()).sum().backward();
  }
  profiler.export_chrome_trace(folder / "trace.json");
  auto ran = test::run(
      test::python() +
      " -c 'import json, sys\nevents = json.load(open(sys.argv[1]))[\"traceEvents\"]\n"
      "scope = events[0]\nassert scope[\"name\"] == \"a \\\"quoted\\\"\\nname\" and scope[\"ph\"] == \"X\", scope\n"
      "relu = [e for e in events if e[\"name\"] == \"relu\"][0]\n"
      "assert relu[\"args\"][\"shapes\"] == \"[2, 3]\" and relu[\"dur\"] <= scope[\"dur\"], relu\n"
      "node = [e for e in events if e[\"name\"] == \"ReluBackward0\"][0]\n"
      "assert node[\"cat\"] == \"backward\" and node[\"args\"][\"shapes\"] == \"[2, 3]\", node' " +
      folder / "trace.json");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_ERROR(IoError, profiler.export_chrome_trace(folder / "no/trace.json"), "cannot be written");
}

}  // namespace
}  // namespace cresset::monitor
