// Work: waiting for an operation and hearing of its end.
#include "cresset/distributed/work.h"

#include <iostream>

#include "cresset/distributed/work_state.h"

namespace cresset::distributed {
namespace {

// On a thread that carries operations out, where waiting for one that comes later would last for ever.
thread_local bool in_callback = false;

void call(const std::function<void(std::exception_ptr)>& callback, const std::exception_ptr& failed) {
  const bool before = std::exchange(in_callback, true);
  try {
    callback(failed);
  } catch (const std::exception& error) {
    // The operation is over, and nobody is there who could hear of it.
    std::cerr << "cresset: what was given to Work::then threw: " << error.what() << std::endl;
  }
  in_callback = before;
}

}  // namespace

void WorkState::finish(const std::exception_ptr& failed) {
  std::vector<std::function<void(std::exception_ptr)>> waiting;
  {
    const std::lock_guard lock(mutex);
    if (done) return;
    done = true;
    error = failed;
    waiting.swap(callbacks);
  }
  changed.notify_all();
  for (auto& callback : waiting) call(callback, failed);
}

void Work::wait() {
  if (!state_) return;
  std::unique_lock lock(state_->mutex);
  CRESSET_CHECK_AS(DistributedError, state_->done || !in_callback,
                   "Work::wait: called inside Work::then, on the thread that would have to carry the operation out "
                   "(expected an operation with async_op there, and its wait elsewhere)");
  // The group's watchdog ends operations that take too long, so this wait needs no limit of its own.
  state_->changed.wait(lock, [&] { return state_->done; });
  if (state_->error) std::rethrow_exception(state_->error);
}

bool Work::wait(Milliseconds at_most) {
  if (!state_) return true;
  std::unique_lock lock(state_->mutex);
  if (!state_->changed.wait_for(lock, at_most, [&] { return state_->done; })) return false;
  if (state_->error) std::rethrow_exception(state_->error);
  return true;
}

bool Work::is_completed() const {
  if (!state_) return true;
  const std::lock_guard lock(state_->mutex);
  return state_->done;
}

bool Work::is_success() const {
  if (!state_) return true;
  const std::lock_guard lock(state_->mutex);
  return state_->done && !state_->error;
}

std::exception_ptr Work::exception() const {
  if (!state_) return nullptr;
  const std::lock_guard lock(state_->mutex);
  return state_->error;
}

void Work::then(std::function<void(std::exception_ptr)> callback) const {
  std::exception_ptr error;
  if (state_) {
    const std::lock_guard lock(state_->mutex);
    if (!state_->done) {
      state_->callbacks.push_back(std::move(callback));
      return;
    }
    error = state_->error;
  }
  callback(error);
}

std::shared_future<std::vector<Tensor>> Work::get_future() const {
  auto promise = std::make_shared<std::promise<std::vector<Tensor>>>();
  then([promise, done = *this](const std::exception_ptr& error) {
    error ? promise->set_exception(error) : promise->set_value(done.result());
  });
  return promise->get_future().share();
}

int Work::source_rank() const {
  if (!state_) return -1;
  const std::lock_guard lock(state_->mutex);
  return state_->source;
}

std::vector<Tensor> Work::result() const {
  if (!state_) return {};
  const std::lock_guard lock(state_->mutex);
  return state_->result;
}

}  // namespace cresset::distributed
