// A barrier through the store: it needs no connection between the ranks, and can say who did not come.
#include "cresset/distributed/mesh_group.h"

namespace cresset::distributed {

void MeshGroup::monitored_barrier(Milliseconds timeout, bool name_all) {
  check_alive("monitored_barrier");
  uint64_t number;
  {
    const std::lock_guard lock(mutex_);
    number = ++monitored_;
  }
  const std::string base = "monitored/" + name() + "/" + std::to_string(number) + "/";
  const std::string title = "monitored_barrier #" + std::to_string(number) + " (" + in_words(name()) + ")";
  // Through the writer: a store whose host is stopped must not hold up the timeout.
  health_->post(base + std::to_string(global_rank(rank())), "");
  std::vector<int> missing;
  Health::Cause failed;
  const bool complete = health_->wait_heard(
      [&] {
        failed = health_->cause(options_.ranks, name(), nullptr);
        missing.clear();
        for (const int global : options_.ranks)
          if (!health_->heard(base + std::to_string(global))) missing.push_back(global);
        return missing.empty() || !failed.words.empty() || dead_ || health_->heard(base + "outcome");
      },
      Clock::now() + timeout);
  if (dead_) std::rethrow_exception(death_of(title));
  CRESSET_CHECK_AS(DistributedError, failed.words.empty(), title, " failed: ", failed.words);
  std::string outcome = "passed";
  if (!complete) {
    std::string names;
    for (const int global : missing) {
      names += (names.empty() ? "" : ", ") + health_->who(global) + " (" + health_->last_seen(global) + ")";
      if (!name_all) break;
    }
    outcome = title + ": " + names + " did not come within " + std::to_string(timeout.count()) + " ms";
  }
  // One outcome for all: who comes when the others have given up must not pass.
  health_->propose(base + "outcome", outcome);
  health_->wait_heard([&] { return health_->heard(base + "outcome").has_value(); }, Clock::now() + Milliseconds(1000));
  const std::string agreed = health_->heard(base + "outcome").value_or(outcome);
  if (agreed == "passed") {
    // All have come, so all are done with the one before.
    health_->forget("monitored/" + name() + "/" + std::to_string(number - 1) + "/");
    return;
  }
  health_->let_others_hear(base + "outcome");
  throw DistributedError(agreed);
}

}  // namespace cresset::distributed
