// The coordinator by itself: events in, commands out, on a clock of the test's own.
#include "tools/run/coordinator.h"

#include <gtest/gtest.h>

#include <csignal>

namespace cresset::test {
namespace {

using run::Command;
using run::Coordinator;
using run::Death;
using run::Event;
using Kind = Command::Kind;

struct Scene {
  explicit Scene(Coordinator::Rules rules)
      : coordinator(
            rules, [this](int) { return lost_ranks; }, now) {}

  void hear(const std::string& agent, const Event& event) { coordinator.hear(agent, event, now); }
  void hello(const std::string& agent, int workers, int node_rank = -1) {
    Event event;
    event.host = "host-" + agent;
    event.workers = workers;
    event.node_rank = node_rank;
    hear(agent, event);
  }
  void died(const std::string& agent, int rank, int wait_status, int64_t look, int generation = 0) {
    Event event;
    event.kind = Event::Kind::died;
    event.generation = generation;
    event.death.rank = rank;
    event.death.host = "host-" + agent;
    event.death.wait_status = wait_status;
    event.death.order = look;
    hear(agent, event);
  }
  void ended(const std::string& agent, int unclean, int generation = 0) {
    Event event;
    event.kind = Event::Kind::ended;
    event.generation = generation;
    event.workers = unclean;
    event.clean = unclean == 0;
    hear(agent, event);
  }
  void lost(const std::string& agent) {
    Event event;
    event.kind = Event::Kind::lost;
    event.text = "was lost";
    hear(agent, event);
  }
  void after(double seconds) {
    now += run::from_seconds(seconds);
    coordinator.tick(now);
  }
  // The commands of one kind since the last call for any kind.
  std::vector<Command> commands(Kind kind) {
    for (Command& command : coordinator.take_commands()) waiting.push_back(std::move(command));
    std::vector<Command> found;
    std::erase_if(waiting, [&](const Command& command) {
      if (command.kind == kind) found.push_back(command);
      return command.kind == kind;
    });
    return found;
  }
  Command only(Kind kind) {
    const std::vector<Command> found = commands(kind);
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? Command() : found[0];
  }

  run::Time now = run::Clock::now();
  std::vector<int> lost_ranks;
  Coordinator coordinator;
  std::vector<Command> waiting;
};

int exited(int status) { return status << 8; }

TEST(LauncherCoordinator, StartsWhenAllAreThere) {
  Scene scene({.min_nodes = 2, .max_nodes = 2});
  scene.hello("a", 2);
  EXPECT_TRUE(scene.commands(Kind::start).empty());
  scene.hello("b", 3);
  const Command start = scene.only(Kind::start);
  EXPECT_EQ(start.world_size, 5);
  ASSERT_EQ(start.members.size(), 2u);
  EXPECT_EQ(start.members[1].first_rank, 2);
  scene.ended("a", 0);
  EXPECT_TRUE(scene.commands(Kind::end).empty());
  scene.ended("b", 0);
  EXPECT_EQ(scene.only(Kind::end).status, 0);
}

TEST(LauncherCoordinator, GivesALastCallWhenMoreMayCome) {
  Scene scene({.min_nodes = 1, .max_nodes = 3, .last_call = 3});
  scene.hello("a", 1);
  scene.after(2);
  scene.hello("b", 1);
  EXPECT_TRUE(scene.commands(Kind::start).empty());
  scene.after(1.1);
  EXPECT_EQ(scene.only(Kind::start).members.size(), 2u);
  scene.hello("c", 1);  // late: the group forms anew
  EXPECT_EQ(scene.only(Kind::stop).grace, 0);
  scene.ended("a", 1);
  scene.ended("b", 1);
  const Command again = scene.only(Kind::start);
  EXPECT_EQ(again.members.size(), 3u);
  EXPECT_EQ(again.generation, 1);
  EXPECT_EQ(again.restarts, 0) << "a node that comes uses up no restart";
  scene.hello("d", 1);  // no room
  EXPECT_TRUE(scene.commands(Kind::stop).empty());
}

TEST(LauncherCoordinator, ASpareTakesThePlaceOfALostNode) {
  Scene scene({.min_nodes = 2, .max_nodes = 2});
  scene.hello("a", 1);
  scene.hello("b", 1);
  scene.hello("spare", 1);
  scene.only(Kind::start);
  scene.lost("b");
  EXPECT_EQ(scene.only(Kind::announce).members[0].first_rank, 1);
  scene.ended("a", 1);
  const Command again = scene.only(Kind::start);
  ASSERT_EQ(again.members.size(), 2u);
  EXPECT_EQ(again.members[1].agent, "spare");
}

TEST(LauncherCoordinator, ANodeThatHadFinishedIsNotMissed) {
  Scene scene({.min_nodes = 2, .max_nodes = 2});
  scene.hello("a", 1);
  scene.hello("b", 1);
  scene.ended("b", 0);
  scene.lost("b");
  EXPECT_TRUE(scene.commands(Kind::stop).empty());
  scene.ended("a", 0);
  EXPECT_EQ(scene.only(Kind::end).status, 0);
}

TEST(LauncherCoordinator, ALostNodeIsBlamedBeforeTheWorkersThatMissIt) {
  Scene scene({.min_nodes = 1, .max_nodes = 2});
  scene.hello("a", 1);
  scene.hello("b", 1);
  scene.only(Kind::start);
  scene.died("a", 0, exited(1), 1);
  scene.lost("b");
  scene.ended("a", 1);
  EXPECT_EQ(scene.only(Kind::start).generation, 1) << "no restart is needed for a node that went";
}

TEST(LauncherCoordinator, BlamesTheOneWhoseConnectionBrokeFirst) {
  // A survivor's end was found before that of the worker that caused it.
  Scene scene({});
  scene.hello("a", 3);
  scene.lost_ranks = {2, 0};
  scene.died("a", 0, SIGABRT, 1);
  scene.died("a", 2, exited(5), 2);
  scene.ended("a", 3);
  const Command end = scene.only(Kind::end);
  EXPECT_EQ(end.status, 5);
  EXPECT_NE(end.text.find("failed: rank 2"), std::string::npos) << end.text;
  EXPECT_NE(end.text.find("2 other workers ended because of it"), std::string::npos) << end.text;
}

TEST(LauncherCoordinator, BlamesAKilledOneBeforeThoseFoundDeadWithIt) {
  Scene scene({});
  scene.hello("a", 3);
  scene.died("a", 0, exited(1), 7);
  scene.died("a", 1, SIGABRT, 7);
  scene.died("a", 2, SIGKILL, 7);
  scene.ended("a", 3);
  EXPECT_EQ(scene.only(Kind::end).status, 128 + SIGKILL);
}

TEST(LauncherCoordinator, BlamesOneThatDiedBeforeItJoined) {
  Scene scene({});
  scene.hello("a", 2);
  scene.lost_ranks = {0};
  scene.died("a", 1, exited(3), 1);
  scene.died("a", 0, exited(1), 2);
  scene.ended("a", 2);
  EXPECT_EQ(scene.only(Kind::end).status, 3);
}

TEST(LauncherCoordinator, SaysWhoDiedWhileTheOthersTakeTheirTime) {
  Scene scene({.max_restarts = 1});
  scene.hello("a", 2);
  scene.died("a", 1, SIGKILL, 1);
  EXPECT_NEAR(scene.only(Kind::stop).grace, 0.3, 0.01);
  EXPECT_TRUE(scene.commands(Kind::say).empty());
  scene.after(0.6);
  EXPECT_NE(scene.only(Kind::say).text.find("rank 1"), std::string::npos);
  scene.ended("a", 2);
  EXPECT_EQ(scene.only(Kind::say).text, "1 other worker ended because of it; restart 1 of 1 (generation 1)");
  // What an old generation still has to say is not of interest.
  scene.died("a", 0, exited(1), 2, 0);
  EXPECT_TRUE(scene.commands(Kind::stop).empty());
}

TEST(LauncherCoordinator, RefusesAPlaceThatIsTaken) {
  Scene scene({.min_nodes = 3, .max_nodes = 3});
  scene.hello("a", 1, 0);
  scene.hello("b", 1, 0);
  const Command refused = scene.only(Kind::refuse);
  EXPECT_EQ(refused.agent, "b");
  EXPECT_EQ(refused.text, "--node-rank 0 is taken by host-a");
}

TEST(LauncherMessages, SurviveTheJourney) {
  Event event;
  event.kind = Event::Kind::died;
  event.generation = 7;
  event.death = {3, "host", 99, 9, 1.5, "12:00:00", std::string("a:1\n\0b", 6), 4};
  const Event back = run::decode_event(run::encode(event));
  EXPECT_EQ(back.kind, event.kind);
  EXPECT_EQ(back.death.last_lines, event.death.last_lines);
  EXPECT_EQ(back.death.pid, 99);
  EXPECT_EQ(back.death.after, 1.5);
  Command command;
  command.kind = Kind::start;
  command.members = {{"a", "h", 0, 0, 2}, {"b", "i", 1, 2, 2}};
  EXPECT_EQ(run::decode_command(run::encode(command)).members[1].first_rank, 2);
  for (const char* broken : {"", "1", "1:", "5:x", "-1:x", "1:01:x", "99999999999999999999:x"}) {
    EXPECT_THROW(run::decode_event(broken), std::runtime_error) << broken;
    EXPECT_THROW(run::decode_command(broken), std::runtime_error) << broken;
  }
}

}  // namespace
}  // namespace cresset::test
