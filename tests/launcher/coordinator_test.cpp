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
      : rules(rules),
        coordinator(
            rules, [this](int) { return lost_ranks; }, now) {}

  void hear(const std::string& agent, const Event& event) { coordinator.hear(agent, event, now); }
  void hello(const std::string& agent, int workers, int node_rank = -1) {
    Event event;
    event.host = "host-" + agent;
    event.workers = workers;
    event.node_rank = node_rank;
    event.min_nodes = rules.min_nodes;
    event.max_nodes = rules.max_nodes;
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
    event.death.pid = 100 + rank;
    event.death.after = 0.1 * static_cast<double>(look);
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

  const Coordinator::Rules rules;
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
  EXPECT_NE(end.text.find("1 other worker failed, too; 1 more ended because of it"), std::string::npos) << end.text;
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

TEST(LauncherCoordinator, NamesTheOneThatEndedWellBeforeTheOthersFailed) {
  Scene scene({.max_restarts = 1});
  const std::string early = "rank 1 (pid 101 on host-a) had ended with status 0, 0.2 s before";
  for (int generation : {0, 1}) {
    if (generation == 0) scene.hello("a", 4);
    scene.died("a", 1, exited(0), 3, generation);
    EXPECT_EQ(scene.commands(Kind::stop).size(), 0u) << "it may have been the last thing it had to do";
    scene.died("a", 2, exited(1), 5, generation);
    scene.died("a", 0, exited(1), 6, generation);
    scene.died("a", 3, exited(0), 6, generation);  // later: it is not the reason
    scene.ended("a", 2, generation);
    scene.only(Kind::stop);
  }
  const std::string restart = scene.only(Kind::say).text;
  EXPECT_NE(restart.find("0.5 s after its start; " + early +
                         ": the likely cause if still needed; 1 other worker failed"
                         ", too; restart 1 of 1"),
            std::string::npos)
      << restart;
  const std::string summary = scene.only(Kind::end).text;
  EXPECT_NE(summary.find("\n  " + early + ": the likely cause if still needed\n"), std::string::npos) << summary;
  EXPECT_NE(summary.find("\n  1 other worker failed, too\n"), std::string::npos) << summary;
  EXPECT_NE(summary.find("before that, generation 0: rank 2"), std::string::npos) << summary;
  EXPECT_EQ(summary.find("rank 3"), std::string::npos) << summary;
}

TEST(LauncherCoordinator, CountsTheOthersThatEndedWellAndForgetsThemWhenAllIsWell) {
  Scene scene({.max_restarts = 1});
  scene.hello("a", 3);
  scene.lost_ranks = {2, 0, 1};
  scene.died("a", 1, exited(1), 4);  // found together: the connections tell the order
  scene.died("a", 0, exited(0), 4);
  scene.died("a", 2, exited(0), 4);
  scene.ended("a", 1);
  const std::string restart = scene.only(Kind::say).text;
  EXPECT_NE(
      restart.find("rank 2 (pid 102 on host-a) and 1 other worker had ended with status 0, the first 0.0 s before"),
      std::string::npos)
      << restart;
  scene.lost_ranks.clear();
  scene.died("a", 0, exited(3), 1, 1);  // what ended well before is of another generation
  scene.ended("a", 1, 1);
  const std::string summary = scene.only(Kind::end).text;
  EXPECT_EQ(summary.substr(0, summary.find("before that")).find("had ended"), std::string::npos) << summary;
}

TEST(LauncherCoordinator, DoesNotBlameAWellEndedOneForASignalFromOutside) {
  Scene scene({});
  scene.hello("a", 2);
  scene.died("a", 1, exited(0), 1);
  scene.died("a", 0, SIGKILL, 2);
  scene.ended("a", 1);
  const std::string text = scene.only(Kind::end).text;
  EXPECT_EQ(text.find("had ended"), std::string::npos) << text;
}

TEST(LauncherCoordinator, EndsForAllWhenNodesDisagreeAboutTheirNumber) {
  Scene scene({.min_nodes = 2, .max_nodes = 2});
  scene.hello("a", 1);
  Event other;
  other.host = "host-b";
  other.workers = 1;
  other.min_nodes = 2;
  other.max_nodes = 3;
  scene.hear("b", other);
  EXPECT_TRUE(scene.commands(Kind::start).empty());
  const Command end = scene.only(Kind::end);
  EXPECT_EQ(end.status, 1);
  EXPECT_EQ(end.text, "nodes disagree about --nnodes: 2 on the first node (host-a), 2:3 on host-b");
  EXPECT_EQ(scene.coordinator.agents_left(), 2) << "the other one must be given the time to hear of it";
}

TEST(LauncherCoordinator, RefusesALateOneThatDisagreesAboutTheNumberOfNodes) {
  Scene scene({.min_nodes = 1, .max_nodes = 2, .last_call = 0});
  scene.hello("a", 1);
  scene.after(0.1);
  scene.only(Kind::start);
  Event other;
  other.host = "host-b";
  other.min_nodes = other.max_nodes = 2;
  scene.hear("b", other);
  EXPECT_EQ(scene.only(Kind::refuse).text, "found --nnodes 2 (expected 1:2)");
  EXPECT_TRUE(scene.commands(Kind::stop).empty()) << "those that train are not to be disturbed";
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
