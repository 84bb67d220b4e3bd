#include "cresset/core/launch.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "cresset/core/error.h"
#include "cresset/core/thread_state.h"
#include "cresset/core/warning.h"

namespace cresset {
namespace {

class TaskPool {
 public:
  void add(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    if (idle_ < tasks_.size() && threads_ < most_threads()) {
      std::thread([this] { work(); }).detach();  // the pool is never destroyed, so its threads need not be joined
      threads_++;
    }
    added_.notify_one();
  }

 private:
  static size_t most_threads() { return std::max(2U, std::thread::hardware_concurrency()); }

  [[noreturn]] void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      idle_++;
      added_.wait(lock, [&] { return !tasks_.empty(); });
      idle_--;
      std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      run(task);
      task = nullptr;  // what it holds goes before the next one runs
      lock.lock();
    }
  }
  // Nobody can catch what a task throws: it is said, and the thread goes on.
  static void run(const std::function<void()>& task) {
    try {
      task();
    } catch (const std::exception& error) {
      CRESSET_WARN("launch: a task ended with an exception: ", error.what());
    } catch (...) {
      CRESSET_WARN("launch: a task ended with an exception that is no std::exception");
    }
  }

  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<std::function<void()>> tasks_;
  size_t threads_ = 0, idle_ = 0;
};

}  // namespace

void launch(std::function<void()> task) {
  CRESSET_CHECK_AS(ValueError, task, "launch: found an empty function (expected a callable)");
  static TaskPool* const pool = new TaskPool;
  pool->add([task = std::move(task), grad = thread_state.grad_enabled, inference = thread_state.inference] {
    const ThreadState before = thread_state;
    thread_state.grad_enabled = grad;
    thread_state.inference = inference;
    try {
      task();
    } catch (...) {
      thread_state = before;
      throw;
    }
    thread_state = before;
  });
}

}  // namespace cresset
