#include "cresset/distributed/join.h"

#include <exception>

#include "cresset/distributed/called_as.h"
#include "cresset/distributed/collectives.h"
#include "cresset/distributed/ddp.h"
#include "cresset/distributed/throw_together.h"
#include "cresset/ops/all.h"

namespace cresset::distributed {

Join::Join(DataParallelBase& model, JoinOptions options)
    : model_(model), options_(options), exceptions_(std::uncaught_exceptions()) {
  if (options_.enable) model_.begin_join(options_);
}

Join::~Join() noexcept(false) {
  if (std::uncaught_exceptions() > exceptions_) {
    model_.joining_ = false;
    return;
  }
  finish();
}

void Join::finish() {
  if (!open_) return;
  open_ = false;
  if (options_.enable) model_.shadow_others();
}

void DataParallelBase::join(const std::function<void()>& loop, JoinOptions options) {
  Join scope(*this, options);
  loop();
  scope.finish();
}

void DataParallelBase::begin_join(const JoinOptions& options) {
  CRESSET_CHECK_AS(ValueError, !joining_, "DistributedDataParallel: join: one join is inside another");
  join_options_ = options;
  joining_ = true;
  authority_ = 0;
}

// Says what this rank does next and hears what the others do. Those that still have inputs do the same thing; those
// that have not keep them company in it.
std::vector<DataParallelBase::Event> DataParallelBase::announce(Event event) {
  Tensor mine = full({1}, static_cast<int64_t>(event), TensorOptions(kLong));
  std::vector<Tensor> all;
  all.reserve(static_cast<size_t>(group_->size()));
  for (int r = 0; r < group_->size(); r++) all.push_back(empty({1}, TensorOptions(kLong)));
  const CalledAs called("DistributedDataParallel's join");
  all_gather(all, mine, group_);
  std::vector<Event> events;
  int active = 0, first = -1, first_out = -1;
  for (int r = 0; r < group_->size(); r++) {
    events.push_back(static_cast<Event>(all[static_cast<size_t>(r)].item<int64_t>()));
    const bool out = events.back() == Event::out_of_inputs;
    if (out && first_out < 0) first_out = r;
    if (out) continue;
    active++;
    if (first < 0) first = r;
  }
  if (first >= 0) authority_ = first;
  reducer_->set_authority(authority_);
  reducer_->set_divisor(join_options_.divide_by_initial_world_size || active == group_->size() ? 0 : active);
  if (join_options_.throw_on_early_termination && active > 0 && first_out >= 0) {
    joining_ = false;
    throw_together(*group_, message_of("DistributedDataParallel: join: rank ", group_->global_rank(first_out),
                                       " has run out of inputs, while others have more (throw_on_early_termination)"));
  }
  return events;
}

void DataParallelBase::shadow_others() {
  shadowing_ = true;
  try {
    while (true) {
      const std::vector<Event> events = announce(Event::out_of_inputs);
      Event what = Event::out_of_inputs;
      for (Event event : events)
        if (event != Event::out_of_inputs) what = event;
      if (what == Event::out_of_inputs) break;
      if (what == Event::buffers) {
        send_buffers(authority_);
      } else {
        reducer_->shadow_round();
      }
    }
    share_values(authority_);
  } catch (...) {
    shadowing_ = joining_ = false;
    throw;
  }
  shadowing_ = joining_ = false;
  reducer_->set_divisor(0);
  reducer_->set_authority(0);
}

}  // namespace cresset::distributed
