#include "output.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

namespace cresset::run {
namespace {

constexpr size_t kFull = 4 << 20;          // bytes that wait for the console before workers are held back
constexpr size_t kLongestLine = 64 << 20;  // a longer one is broken, or a stream without newlines would fill the memory
constexpr size_t kTail = 8192;

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(static_cast<size_t>(count));
    } else if (errno == EAGAIN) {
      // Somebody made the shared terminal non-blocking.
      pollfd ready{fd, POLLOUT, 0};
      poll(&ready, 1, 1000);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace

Console::Console(int fd, int wake) : fd_(fd), wake_(wake) {
  const char* plain = std::getenv("NO_COLOR");
  coloured_ = isatty(fd) == 1 && (plain == nullptr || *plain == '\0');
  thread_ = std::thread([this] { run(); });
}

Console::~Console() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  arrived_.notify_one();
  thread_.join();
}

void Console::write(std::string text) {
  if (text.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    if (gone_) return;
    bytes_ += text.size();
    was_full_ = was_full_ || bytes_ > kFull;
    waiting_.push_back(std::move(text));
  }
  arrived_.notify_one();
}

bool Console::full() const {
  const std::lock_guard lock(mutex_);
  return bytes_ > kFull;
}

bool Console::empty() const {
  const std::lock_guard lock(mutex_);
  return bytes_ == 0;
}

void Console::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    arrived_.wait(lock, [&] { return closing_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const std::string text = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    const bool written = write_all(fd_, text);
    lock.lock();
    bytes_ -= text.size();
    if (!written) {
      // Nobody reads any more (`| head`): the run goes on, its output does not.
      gone_ = true;
      waiting_.clear();
      bytes_ = 0;
    }
    if ((was_full_ && bytes_ <= kFull / 2) || bytes_ == 0) {
      was_full_ = false;
      wake_up(wake_);
    }
  }
}

LineStream::LineStream(Descriptor source, Console* console, std::string prefix, Descriptor log)
    : source_(std::move(source)), console_(console), prefix_(std::move(prefix)), log_(std::move(log)) {
  fcntl(source_.get(), F_SETFL, fcntl(source_.get(), F_GETFL) | O_NONBLOCK);
}

bool LineStream::read_once() {
  char buffer[65536];
  const ssize_t count = ::read(source_.get(), buffer, sizeof buffer);
  if (count < 0 && errno == EINTR) return true;
  if (count < 0 && errno == EAGAIN) return false;
  if (count <= 0) {
    source_.reset();
    return false;
  }
  take({buffer, static_cast<size_t>(count)});
  return true;
}

void LineStream::read_some() {
  if (open()) read_once();
  if (!open()) finish();
}

void LineStream::finish() {
  // What a worker wrote before its end is in the pipe by now. Something it left running may hold the pipe open and go
  // on writing, so there is a limit.
  for (int reads = 0; reads < 256 && open() && read_once(); reads++) {
  }
  source_.reset();
  if (!partial_.empty()) {
    hand_on(partial_ + "\n");
    partial_.clear();
  }
}

void LineStream::take(std::string_view data) {
  if (log_.open() && !write_all(log_.get(), data)) log_.reset();
  tail_.append(data.substr(data.size() - std::min(data.size(), kTail)));
  if (tail_.size() > 2 * kTail) tail_.erase(0, tail_.size() - kTail);
  if (console_ == nullptr) return;

  const size_t end = data.rfind('\n');
  if (end == std::string_view::npos) {
    partial_.append(data);
    if (partial_.size() > kLongestLine) {
      hand_on(partial_ + "\n");
      partial_.clear();
    }
    return;
  }
  if (partial_.empty()) {
    hand_on(data.substr(0, end + 1));
  } else {
    partial_.append(data.substr(0, end + 1));
    hand_on(partial_);
  }
  partial_.assign(data.substr(end + 1));
}

void LineStream::hand_on(std::string_view lines) {
  if (console_ == nullptr) return;
  std::string text;
  if (prefix_.empty()) {
    text = lines;
  } else {
    text.reserve(lines.size() + lines.size() / 4 + prefix_.size());
    while (!lines.empty()) {
      const size_t length = std::min(lines.find('\n'), lines.size() - 1) + 1;
      text.append(prefix_).append(lines.substr(0, length));
      lines.remove_prefix(length);
    }
  }
  console_->write(std::move(text));
}

std::string LineStream::last_lines(size_t count) const {
  std::string_view text = tail_;
  while (text.ends_with('\n')) text.remove_suffix(1);
  if (text.size() > kTail) text.remove_prefix(text.size() - kTail);
  size_t start = text.size();
  for (size_t lines = 0; lines < count && start != std::string_view::npos && start > 0; lines++)
    start = text.rfind('\n', start - 1);
  return std::string(start == std::string_view::npos || start == 0 ? text : text.substr(start + 1));
}

}  // namespace cresset::run
