// init_process_group and what undoes it: destroy_process_group, the end of the process, and a fork.
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "cresset/distributed/environment.h"
#include "cresset/distributed/flight_recorder.h"
#include "cresset/distributed/gloo/gloo_transport.h"
#include "cresset/distributed/mpi/mpi_loader.h"
#include "cresset/distributed/outside_group.h"
#include "cresset/distributed/rendezvous.h"
#include "cresset/distributed/world.h"

namespace cresset::distributed {
namespace {

// How long rank 0 keeps the store for the others once it is done itself.
constexpr Milliseconds kForOthers{5000};
// How long a rank that is connected waits for those who are not yet.
constexpr Milliseconds kConnects{5000};

struct State {
  std::mutex mutex;
  std::shared_ptr<World> world;
  pid_t forked_from = 0;            // of a child: whose groups these were
  std::map<std::string, int> uses;  // how often a store was met at in this process
  // By store: what this rank's last world there left, to be removed when all ranks have met again.
  std::map<std::string, std::vector<std::string>> left_behind;
};

pid_t initialized_in = 0;  // the process that made a group: a forked child that did not has nothing to take down

State& state() {
  static auto* all = new State;
  return *all;
}

// A child has the groups' memory but not their threads, and must not touch their connections.
void forget_in_child() {
  State& all = state();
  new (&all.mutex) std::mutex;  // another thread of the parent may have held it
  if (!all.world) return;
  all.forked_from = all.world->pid;
  new std::shared_ptr<World>(std::move(all.world));  // never freed
  all.world = nullptr;
  all.uses.clear();
  all.left_behind.clear();
}

std::string store_in_words(const World& world) {
  return message_of(world.root->name(), " ", world.options.group_name, " ", world.generation, " ",
                    world.options.world_size);
}

// All have met again, so nobody looks for what was said in the world before.
void remove_left_behind(const World& world) {
  std::vector<std::string> keys;
  {
    const std::lock_guard lock(state().mutex);
    keys.swap(state().left_behind[store_in_words(world)]);
  }
  if (keys.empty()) return;
  PrefixStore store(world.generation, world.root);
  for (const std::string& key : keys) store.delete_key(key);
}

void take_down(World& world, const std::string& how, bool in_order) {
  std::vector<std::shared_ptr<MeshGroup>> groups = world.groups;
  groups.push_back(world.all);
  for (const auto& group : groups) {
    if (!group) continue;
    if (group->error()) give_up_mpi();
    if (in_order)
      group->finish_queue();
    else
      group->abandon("this process is ending");
  }
  world.health->leave_note(how);
  if (world.keeps_store) world.health->wait_for_others(in_order ? kForOthers : Milliseconds(1000));
  world.health->leave();
  if (!in_order) return;
  {
    const std::lock_guard lock(state().mutex);
    state().left_behind[store_in_words(world)] = world.health->keys_left_behind();
  }
  for (const auto& group : groups)
    if (group) group->shutdown();
}

// main returned or exit was called without destroy_process_group: the others must hear of it, and this process must
// end.
void at_exit(int status, void*) {
  std::shared_ptr<World> world;
  {
    const std::lock_guard lock(state().mutex);
    world = state().world;
  }
  if (getpid() != initialized_in) return;
  if (world) {
    take_down(*world, message_of("exited with status ", status), false);
    new std::shared_ptr<World>(world);  // its threads may still look at it
  }
  // Finalizing waits for all ranks. Those that have to hear of a failure from mpirun must not be kept waiting for it.
  if (status == 0) finalize_mpi();
}

void prepare_process() {
  static std::once_flag once;
  initialized_in = getpid();
  std::call_once(once, [] {
    pthread_atfork(nullptr, nullptr, forget_in_child);
    on_exit(at_exit, nullptr);
  });
}

// A quick rank may be done and leave while a slow one still makes its connections, which would fail. What goes wrong
// here is told by the first operation.
void wait_until_all_are_connected(const World& world, const std::string& name, const std::vector<int>& ranks) {
  Health& health = *world.health;
  const auto connected = [&](int rank) { return message_of("connected/", name, "/", rank); };
  health.post(connected(world.options.rank), "");
  const auto settled = [&] {
    if (!health.cause(ranks, name, nullptr).words.empty()) return true;
    return std::all_of(ranks.begin(), ranks.end(), [&](int rank) {
      return rank == world.options.rank || health.heard(connected(rank)) || health.departure_of(rank);
    });
  };
  health.wait_heard(settled, std::chrono::steady_clock::now() + kConnects);
}

}  // namespace

std::shared_ptr<MeshGroup> make_group(World& world, int number, std::vector<int> ranks, Milliseconds timeout,
                                      const std::string& backend) {
  const std::string name = number == 0 ? "default" : message_of("group ", number);
  auto transport = connect_transport(world, name, ranks, timeout, backend);
  if (ranks.size() > 1) wait_until_all_are_connected(world, name, ranks);
  auto group = std::make_shared<MeshGroup>(std::move(transport), world.health,
                                           MeshOptions{name, number, std::move(ranks), timeout});
  world.health->add(group);
  return group;
}

std::shared_ptr<Transport> connect_transport(const World& world, const std::string& name, const std::vector<int>& ranks,
                                             Milliseconds timeout, const std::string& backend) {
  const auto place = std::find(ranks.begin(), ranks.end(), world.options.rank) - ranks.begin();
  if (backend == "mpi") return connect_mpi(world.names + name, ranks, static_cast<int>(place));
  GlooOptions options;
  options.rank = static_cast<int>(place);
  options.size = static_cast<int>(ranks.size());
  options.ranks = ranks;
  options.group = "mesh/" + world.names + name;
  options.store = std::make_shared<PrefixStore>(options.group, world.root->clone());
  options.token = world.options.token;
  options.master = world.master;
  options.timeout = timeout;
  options.check = [&] {
    world.health->check_meeting();
    const Health::Cause cause = world.health->cause(ranks, name, nullptr);
    CRESSET_CHECK_AS(DistributedError, cause.words.empty(), "init_process_group failed: ", cause.words);
  };
  return connect_gloo(options);
}

void check_backend(const char* op, const std::string& backend) {
  CRESSET_CHECK_AS(ValueError, backend == "gloo" || backend == "mpi", op, ": found backend ", backend,
                   " (expected gloo or mpi)");
}

void init_process_group(const InitOptions& given) {
  prepare_process();
  check_backend("init_process_group", given.backend);
  CRESSET_CHECK_AS(ValueError, given.timeout.count() > 0, "init_process_group: found a timeout of ",
                   given.timeout.count(), " ms (expected more than 0)");
  State& all = state();
  {
    const std::lock_guard lock(all.mutex);
    CRESSET_CHECK_AS(DistributedError, !all.world,
                     "init_process_group: called twice (destroy_process_group comes first)");
  }
  const auto deadline = std::chrono::steady_clock::now() + given.timeout;
  auto world = std::make_shared<World>();
  world->pid = getpid();
  world->options = given;
  const Rendezvous found = open_rendezvous(given);
  world->options.rank = found.rank;
  world->options.world_size = found.world_size;
  world->options.store = nullptr;
  if (given.token.empty()) world->options.token = text_in_environment("CRESSET_TOKEN");
  world->root = found.store;
  world->master = found.master;
  world->keeps_store = found.keeps_store;
  // Names of this generation, and of this use of the store: what an earlier group left must not be taken for ours.
  world->generation = std::to_string(number_in_environment("CRESSET_GENERATION").value_or(0));
  int use;
  {
    const std::lock_guard lock(all.mutex);
    use = all.uses[found.store->name() + " " + given.group_name]++;
  }
  std::string scope = given.group_name.empty() ? "" : given.group_name + "/";
  if (use > 0) scope += "again " + std::to_string(use) + "/";
  world->names = world->generation + "/" + scope;
  HealthOptions health;
  health.rank = found.rank;
  health.world_size = found.world_size;
  health.store = std::make_shared<PrefixStore>(world->generation, found.store);
  health.scope = scope;
  health.launcher_store = found.launcher_store;
  // A store that was given is probably kept by rank 0, too.
  health.keeps_store = found.keeps_store || (given.store && found.rank == 0);
  health.turned_away = found.turned_away;
  world->health = Health::start(health);
  try {
    world->health->join(given.timeout);
    remove_left_behind(*world);
    std::vector<int> everyone(static_cast<size_t>(found.world_size));
    std::iota(everyone.begin(), everyone.end(), 0);
    const auto left = std::chrono::duration_cast<Milliseconds>(deadline - std::chrono::steady_clock::now());
    world->all = make_group(*world, 0, everyone, std::max(left, Milliseconds(1000)), given.backend);
    world->all->set_timeout(given.timeout);
  } catch (...) {
    world->health->leave_note("left");
    world->health->leave();
    throw;
  }
  dump_recorders_on_signal();
  const std::lock_guard lock(all.mutex);
  all.forked_from = 0;
  all.world = world;
}

void init_process_group(const std::string& backend) {
  InitOptions options;
  options.backend = backend;
  init_process_group(options);
}

bool is_available() { return true; }

bool is_initialized() {
  const std::lock_guard lock(state().mutex);
  return state().world != nullptr;
}

std::shared_ptr<World> world_for(const char* op) {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  if (all.world) return all.world;
  CRESSET_CHECK_AS(DistributedError, all.forked_from == 0, op, ": this process was forked from process ",
                   all.forked_from, ", whose groups stay there (call init_process_group here)");
  throw DistributedError(message_of(op, ": there is no process group (call init_process_group first)"));
}

Group group_for(const char* op, const Group& group) {
  if (!group) return world_for(op)->all;
  if (const auto* outside = dynamic_cast<const OutsideGroup*>(group.get())) outside->refuse(op);
  return group;
}

void keep_group(World& world, const std::shared_ptr<MeshGroup>& group) {
  const std::lock_guard lock(state().mutex);
  world.groups.push_back(group);
}

Group default_group() { return world_for("default_group")->all; }

std::shared_ptr<Store> default_store() {
  const auto world = world_for("default_store");
  return std::make_shared<PrefixStore>("user/" + world->names.substr(0, world->names.size() - 1), world->root);
}

void destroy_process_group(const Group& group) {
  State& all = state();
  std::shared_ptr<World> world = world_for("destroy_process_group");
  if (dynamic_cast<const OutsideGroup*>(group.get())) return;
  if (group && group != world->all) {
    std::shared_ptr<MeshGroup> found;
    {
      const std::lock_guard lock(all.mutex);
      const auto at = std::find(world->groups.begin(), world->groups.end(), group);
      CRESSET_CHECK_AS(ValueError, at != world->groups.end(), "destroy_process_group: ", in_words(group->name()),
                       " was destroyed already");
      found = *at;
      world->groups.erase(at);
    }
    if (found->error()) give_up_mpi();
    found->shutdown();
    world->health->close_group(found->name(), found->ranks());
    return;
  }
  {
    const std::lock_guard lock(all.mutex);
    if (all.world != world) return;
    all.world = nullptr;
  }
  take_down(*world, "left", true);
}

// Those who are no members may ask, too.
int get_rank(const Group& group) { return (group ? group : group_for("get_rank", group))->rank(); }
int get_world_size(const Group& group) { return (group ? group : group_for("get_world_size", group))->size(); }
std::string get_backend(const Group& group) { return (group ? group : group_for("get_backend", group))->backend(); }
int get_local_rank() { return local_rank_in_environment().value_or(0); }

}  // namespace cresset::distributed
