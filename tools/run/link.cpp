#include "link.h"

#include "process.h"

namespace cresset::run {
namespace {

// Set at the end, so that the listener need not sit out its wait.
constexpr const char* kRouse = "rouse/";

}  // namespace

Link::Link(std::shared_ptr<distributed::Store> store, std::string prefix, int wake)
    : store_(std::move(store)), prefix_(std::move(prefix)), wake_(wake), answered_(Clock::now()) {
  writer_ = std::thread([this] { write_loop(); });
  if (prefix_.empty()) return;
  ear_ = store_->clone();
  listener_ = std::thread([this] { listen_loop(); });
}

Link::~Link() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    if (!prefix_.empty()) waiting_.emplace_back(prefix_ + kRouse + std::to_string(getpid()), "");
  }
  arrived_.notify_one();
  writer_.join();
  if (listener_.joinable()) listener_.join();
}

void Link::set(std::string key, std::string value) {
  {
    const std::lock_guard lock(mutex_);
    if (broken_) return;
    waiting_.emplace_back(std::move(key), std::move(value));
  }
  arrived_.notify_one();
}

std::vector<Link::Entry> Link::news() {
  const std::lock_guard lock(mutex_);
  std::vector<Entry> news;
  news.swap(news_);
  return news;
}

std::optional<std::string> Link::broken() const {
  const std::lock_guard lock(mutex_);
  return broken_;
}

Time Link::last_answer() const {
  const std::lock_guard lock(mutex_);
  return answered_;
}

void Link::breaks(const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    if (!broken_) broken_ = why;
    waiting_.clear();
  }
  arrived_.notify_one();
  wake_up(wake_);
}

void Link::write_loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    arrived_.wait(lock, [&] { return closing_ || broken_ || !waiting_.empty(); });
    if (broken_ || waiting_.empty()) return;
    const Entry entry = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    try {
      store_->set(entry.first, entry.second);
    } catch (const std::exception& error) {
      return breaks(error.what());
    }
    lock.lock();
    answered_ = Clock::now();
  }
}

void Link::listen_loop() {
  uint64_t version = 0;
  while (true) {
    distributed::Changes changes;
    try {
      changes = ear_->changes(prefix_, version, std::chrono::seconds(1));
    } catch (const std::exception& error) {
      return breaks(error.what());
    }
    version = changes.version;
    const std::lock_guard lock(mutex_);
    answered_ = Clock::now();
    if (closing_ || broken_) return;
    for (Entry& entry : changes.entries)
      if (!entry.first.starts_with(prefix_ + kRouse)) news_.push_back(std::move(entry));
    if (!news_.empty()) wake_up(wake_);
  }
}

}  // namespace cresset::run
