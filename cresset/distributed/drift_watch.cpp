#include "cresset/distributed/drift_watch.h"

#include <cstdlib>
#include <cstring>
#include <deque>
#include <iostream>
#include <map>
#include <mutex>
#include <unordered_map>

#include "cresset/distributed/collectives.h"
#include "cresset/distributed/drift.h"
#include "cresset/distributed/flight_recorder.h"
#include "cresset/io/checksum.h"
#include "cresset/optim/step_observer.h"

namespace cresset::distributed {
namespace {

using Clock = FlightRecorder::Clock;
// Elements in one message that may still be losses and metrics.
constexpr int64_t kFew = 64;
constexpr int64_t kEvery = 100;
constexpr size_t kOpen = 16;
// At this step it is clear whether ranks whose parameters began apart exchange anything but losses.
constexpr int64_t kClear = 8;

// What is known of one optimizer.
struct WatchedOptimizer {
  size_t number = 0;  // the same on all ranks, if they make their optimizers in the same order
  int64_t calls = 0;
  bool silent = false;       // this is no data parallelism
  bool began_apart = false;  // the same shapes, but not the same values
  // Steps whose digests the others have not all left yet, oldest first.
  std::deque<std::pair<int64_t, std::vector<uint64_t>>> open;
  int64_t look_again = 0;
  Clock::time_point since;
};

struct State {
  std::mutex mutex;
  bool enabled = true;
  std::map<std::pair<const void*, const void*>, WatchedOptimizer> optimizers;
  std::unordered_map<const TensorImpl*, int> exempt;
  std::unordered_map<const TensorImpl*, std::string> names;
};
State& state() {
  static State* one = [] {
    auto* made = new State;
    const char* wish = std::getenv("CRESSET_DRIFT_WATCH");
    made->enabled = !wish || std::strcmp(wish, "0") != 0;
    return made;
  }();
  return *one;
}

bool is_checked(int64_t step) {
  if (step <= 64) return (step & (step - 1)) == 0;
  return step % kEvery == 0;
}

std::vector<Tensor> parameters_of(const optim::Optimizer& optimizer) {
  std::vector<Tensor> all;
  for (const auto& group : optimizer.param_groups())
    all.insert(all.end(), group.params().begin(), group.params().end());
  return all;
}

// First the digest of the shapes, then one of each tensor.
std::vector<uint64_t> digests_of(const std::vector<Tensor>& parameters) {
  io::Digest shapes;
  std::vector<uint64_t> digests(1);
  for (const Tensor& parameter : parameters) {
    const std::string text = message_of(name_of(parameter.dtype()), text_of(parameter.sizes()), ';');
    shapes.add(text.data(), text.size());
    digests.push_back(digest_of(parameter));
  }
  digests[0] = shapes.value();
  return digests;
}

std::string key_of(const WatchedOptimizer& watched, int64_t step, int rank) {
  return message_of("drift/", watched.number, '/', step, '/', rank);
}

// The number of elements in a description like "all_reduce(SUM) of float32[1000]"; -1 where there is none.
int64_t elements_in(const std::string& description) {
  const size_t open = description.rfind('[');
  if (open == std::string::npos) return -1;
  int64_t count = 1;
  bool any = false;
  const char* at = description.c_str() + open + 1;
  for (char* end = nullptr; *at && *at != ']'; at = *end == ',' ? end + 1 : end) {
    count *= std::strtoll(at, &end, 10);
    if (end == at) return -1;
    any = true;
  }
  return any ? count : 1;
}

// Whether the ranks told each other a few numbers, and nothing else, since then.
bool only_losses_were_exchanged(ProcessGroup& group, Clock::time_point since, size_t& reductions) {
  reductions = 0;
  for (const FlightRecorder::Entry& entry : group.recorder().entries()) {
    if (entry.queued < since) continue;
    const int64_t count = elements_in(entry.description);
    if (count > kFew || entry.op == "send" || entry.op == "recv") return false;
    if (count > 0 && (entry.op == "all_reduce" || entry.op == "reduce" || entry.op == "all_gather")) reductions++;
  }
  return reductions > 0;
}

std::string name_of_parameter(const Tensor& parameter, size_t index) {
  const auto found = state().names.find(parameter.impl());
  return found != state().names.end() ? found->second
                                      : message_of("parameter ", index, " of the optimizer, ",
                                                   name_of(parameter.dtype()), text_of(parameter.sizes()));
}

[[noreturn]] void drifted(const Tensor& parameter, size_t index, int other, int64_t step, size_t reductions) {
  throw DistributedError(
      message_of("parameters drifted: ", name_of_parameter(parameter, index), " differs between rank ", get_rank(),
                 " and rank ", other, " after ", step, step == 1 ? " step" : " steps",
                 ", though all parameters were equal at the first. The ranks exchanged only a few numbers at a "
                 "time meanwhile (",
                 reductions,
                 " small reductions, as of a loss), so the gradients were not reduced, and each rank "
                 "trains a model of its own. Wrap the model in distributed::DistributedDataParallel, or all_reduce "
                 "every gradient before "
                 "the optimizer's step (CRESSET_DRIFT_WATCH=0 switches this check off)"));
}

void warn_of_different_starts(size_t reductions) {
  if (get_rank() != 0) return;
  std::cerr
      << "cresset: warning: the ranks train parameters of the same shapes that were different from the start, and "
         "exchanged only a few numbers at a time since ("
      << reductions
      << " small reductions, as of a loss): each trains a model of its own. If that is not meant, wrap the model "
         "in distributed::DistributedDataParallel (CRESSET_DRIFT_WATCH=0 switches this check off)"
      << std::endl;
}

// Looks at what the others left for the oldest step; false if they have not come so far.
bool compare(WatchedOptimizer& watched, const std::vector<Tensor>& parameters) {
  const Group group = default_group();
  const std::shared_ptr<Store> store = default_store();
  const auto& [step, mine] = watched.open.front();
  std::vector<std::vector<uint64_t>> all;
  for (int r = 0; r < group->size(); r++) {
    if (r == group->rank()) {
      all.push_back(mine);
      continue;
    }
    const auto text = store->try_get(key_of(watched, step, r));
    if (!text) return false;
    std::vector<uint64_t> digests(text->size() / sizeof(uint64_t));
    std::memcpy(digests.data(), text->data(), digests.size() * sizeof(uint64_t));
    all.push_back(std::move(digests));
  }
  int other = -1;
  size_t index = 0;
  for (int r = 0; r < group->size() && other < 0; r++) {
    const auto& theirs = all[static_cast<size_t>(r)];
    if (theirs.size() != mine.size() || theirs[0] != mine[0]) {
      watched.silent = true;  // other shapes
      return true;
    }
    for (index = 0; index < parameters.size(); index++)
      if (theirs[index + 1] != mine[index + 1]) break;
    if (index < parameters.size()) other = r;
  }
  size_t reductions = 0;
  if (step == 0) watched.began_apart = other >= 0;
  if (watched.began_apart) {
    const bool clear = step >= kClear;
    if (clear && only_losses_were_exchanged(*group, watched.since, reductions)) warn_of_different_starts(reductions);
    watched.silent = clear;
    return true;
  }
  if (other >= 0 && step > 0 && only_losses_were_exchanged(*group, watched.since, reductions))
    drifted(parameters[index], index, other, step, reductions);
  watched.silent = other >= 0;
  return true;
}

void observe(optim::Optimizer& optimizer) {
  State& all = state();
  if (!all.enabled || !is_initialized() || get_world_size() < 2) return;
  std::lock_guard lock(all.mutex);
  const auto& groups = optimizer.param_groups();
  if (groups.empty() || groups[0].params().empty()) return;
  const TensorImpl* first = groups[0].params()[0].impl();
  if (all.exempt.contains(first)) return;
  auto [found, is_new] = all.optimizers.try_emplace({&optimizer, first});
  WatchedOptimizer& watched = found->second;
  if (is_new) watched.number = all.optimizers.size();
  const int64_t step = watched.calls++;
  if (watched.silent) return;
  const bool due = is_checked(step) && watched.open.size() < kOpen;
  if (!due && (watched.open.empty() || step < watched.look_again)) return;
  const std::vector<Tensor> parameters = parameters_of(optimizer);
  if (due) {
    if (step == 0) watched.since = Clock::now();
    const std::vector<uint64_t>& mine = watched.open.emplace_back(step, digests_of(parameters)).second;
    default_store()->set(key_of(watched, step, default_group()->rank()),
                         {reinterpret_cast<const char*>(mine.data()), mine.size() * sizeof(uint64_t)});
  }
  while (!watched.silent && !watched.open.empty()) {
    if (!compare(watched, parameters)) break;
    watched.open.pop_front();
  }
  // Later and later, if a rank does not come.
  if (!watched.open.empty()) watched.look_again = step + 1 + (step - watched.open.front().first) / 2;
}

}  // namespace

void watch(const nn::Module& module) {
  std::lock_guard lock(state().mutex);
  for (const auto& [name, parameter] : module.named_parameters()) state().names[parameter.impl()] = name;
}

namespace drift_watch {

void set_enabled(bool on) {
  std::lock_guard lock(state().mutex);
  state().enabled = on;
}
bool install() {
  optim::set_step_observer(&observe);
  return true;
}
bool is_exempt(const Tensor& parameter) {
  std::lock_guard lock(state().mutex);
  return state().exempt.contains(parameter.impl());
}
void exempt(const std::vector<Tensor>& parameters) {
  std::lock_guard lock(state().mutex);
  for (const Tensor& parameter : parameters) state().exempt[parameter.impl()]++;
}
void end_exemption(const std::vector<Tensor>& parameters) {
  std::lock_guard lock(state().mutex);
  for (const Tensor& parameter : parameters)
    if (--state().exempt[parameter.impl()] <= 0) state().exempt.erase(parameter.impl());
}

}  // namespace drift_watch
}  // namespace cresset::distributed
