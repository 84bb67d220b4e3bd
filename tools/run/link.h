// The launcher's line to the store. Threads of its own write and listen, because a store on another machine may keep
// one waiting, and the launcher must go on looking after its workers.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "coordinator.h"
#include "cresset/distributed/store.h"

namespace cresset::run {

class Link {
 public:
  using Entry = std::pair<std::string, std::string>;

  // `wake` (an eventfd) is written to when there is news or the line has broken. Nothing is listened to when `prefix`
  // is empty.
  Link(std::shared_ptr<distributed::Store> store, std::string prefix, int wake);
  ~Link();  // writes what is waiting, unless the line has broken
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  void set(std::string key, std::string value);
  // What was set under the prefix since the last call, in that order.
  std::vector<Entry> news();
  // Why the line has broken, if it has.
  std::optional<std::string> broken() const;
  // When the store last answered.
  Time last_answer() const;

 private:
  void write_loop();
  void listen_loop();
  void breaks(const std::string& why);

  const std::shared_ptr<distributed::Store> store_;
  std::shared_ptr<distributed::Store> ear_;
  const std::string prefix_;
  const int wake_;
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Entry> waiting_;
  std::vector<Entry> news_;
  std::optional<std::string> broken_;
  Time answered_;
  bool closing_ = false;
  std::thread writer_, listener_;
};

}  // namespace cresset::run
