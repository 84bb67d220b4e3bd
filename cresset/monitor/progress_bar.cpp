// Drawing over one line of the terminal, and taking that line away before others write.
#include "cresset/monitor/progress_bar.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <streambuf>

#include "cresset/core/error.h"

namespace cresset::monitor {
namespace {

std::string time_text(double seconds) {
  const auto whole = static_cast<int64_t>(std::clamp(seconds, 0., 359'999.));
  char text[32];
  if (whole >= 3600)
    std::snprintf(text, sizeof text, "%d:%02d:%02d", static_cast<int>(whole / 3600), static_cast<int>(whole / 60 % 60),
                  static_cast<int>(whole % 60));
  else
    std::snprintf(text, sizeof text, "%02d:%02d", static_cast<int>(whole / 60), static_cast<int>(whole % 60));
  return text;
}

std::string number_text(const char* format, double value) {
  char text[48];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

int terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// This process's rank in its job, from whoever started it; none outside a job. (The distributed library knows more, but
// a bar needs no library for that.)
std::optional<int64_t> rank_of_job() {
  auto number = [](const char* variable) -> std::optional<int64_t> {
    const char* text = std::getenv(variable);
    if (!text || !*text) return {};
    return std::strtoll(text, nullptr, 10);
  };
  if (std::getenv("WORLD_SIZE"))
    if (auto rank = number("RANK")) return rank;
  if (auto rank = number("OMPI_COMM_WORLD_RANK")) return rank;
  return std::getenv("SLURM_STEP_ID") ? number("SLURM_PROCID") : std::nullopt;
}

constexpr double kLineSecondsOfAJob = 10;

}  // namespace

// Shared with the streams beside the bar, which other threads may write to.
class ProgressBar::Line {
 public:
  explicit Line(std::function<void(std::string_view)> write) : write_(std::move(write)) {}

  // False if somebody's line has not ended: a bar would be drawn over it.
  bool draw(const std::string& text, bool last) {
    std::lock_guard lock(mutex_);
    if (unfinished_ && !last) return false;
    drawing_ = true;
    struct Drawn {
      bool& drawing;
      ~Drawn() { drawing = false; }
    } drawn{drawing_};
    // The rest of the old line is cleared.
    write_(message_of(unfinished_ ? "\n" : "\r", text, "\x1B[K", last ? "\n" : ""));
    shown_ = !last;
    unfinished_ = false;
    return true;
  }

  // Runs `write`, which writes `text` to the terminal, where the bar stood.
  template <class Write>
  void beside(std::string_view text, Write write) {
    std::lock_guard lock(mutex_);
    if (drawing_ || text.empty()) return write();
    if (std::exchange(shown_, false)) write_("\r\x1B[K");
    unfinished_ = text.back() != '\n';
    write();
  }

 private:
  std::recursive_mutex mutex_;  // a bar's own way of writing may be one of the streams beside it
  std::function<void(std::string_view)> write_;
  bool shown_ = false, drawing_ = false, unfinished_ = false;
};

// Stands between a stream and its buffer while the bar lives. Never destroyed but used again, because another thread
// may be writing by it when the bar ends, and who has redirected the stream meanwhile may come back to it.
class ProgressBar::Neighbor : public std::streambuf {
 public:
  static Neighbor* of(std::ostream& stream, std::shared_ptr<Line> line) {
    static std::mutex mutex;
    static auto* const all = new std::vector<std::unique_ptr<Neighbor>>;
    std::lock_guard lock(mutex);
    auto idle = std::find_if(all->begin(), all->end(), [](const auto& one) { return !one->busy_; });
    if (idle == all->end()) idle = all->insert(idle, std::make_unique<Neighbor>());
    (*idle)->enter(stream, std::move(line));
    return idle->get();
  }
  void leave() {
    std::lock_guard lock(mutex_);
    line_.reset();
    if (stream_->rdbuf() != this) return;
    put(sink_);
    busy_ = false;
  }

 protected:
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    const char one = traits_type::to_char_type(c);
    return xsputn(&one, 1) == 1 ? c : traits_type::eof();
  }
  std::streamsize xsputn(const char* text, std::streamsize count) override {
    const auto [line, sink] = now();
    if (!line) return sink->sputn(text, count);
    const std::string_view written(text, static_cast<size_t>(count));
    std::streamsize done = 0;
    line->beside(written, [&, to = sink] {
      done = to->sputn(text, count);
      // What waited in a buffer would come out behind the next drawing.
      if (written.ends_with('\n')) to->pubsync();
    });
    return done;
  }
  int sync() override { return now().second->pubsync(); }

 private:
  void enter(std::ostream& stream, std::shared_ptr<Line> line) {
    std::lock_guard lock(mutex_);
    stream_ = &stream;
    line_ = std::move(line);
    sink_ = stream.rdbuf();
    busy_ = true;
    put(this);
  }
  // Copied, so that nothing is locked while the sink writes.
  std::pair<std::shared_ptr<Line>, std::streambuf*> now() {
    std::lock_guard lock(mutex_);
    return {line_, sink_};
  }
  void put(std::streambuf* buffer) {
    const std::ios::iostate state = stream_->rdstate();
    stream_->rdbuf(buffer);
    stream_->clear(state);  // a new buffer has reset it
  }

  std::mutex mutex_;
  std::ostream* stream_ = nullptr;
  std::shared_ptr<Line> line_;
  std::streambuf* sink_ = nullptr;
  std::atomic<bool> busy_ = false;
};

ProgressBar::ProgressBar(int64_t total, std::string title, ProgressOptions options)
    : total_(total), done_(options.initial), title_(std::move(title)), options_(std::move(options)) {
  CRESSET_CHECK_AS(ValueError, options_.initial >= 0, "ProgressBar: found initial ", options_.initial,
                   " (expected at least 0)");
  const std::optional<int64_t> rank = rank_of_job();
  silent_ = rank.value_or(0) != 0 && !options_.every_rank;
  terminal_ = !silent_ && options_.terminal.value_or(::isatty(STDERR_FILENO));
  line_seconds_ = silent_ ? 0 : options_.line_seconds.value_or(rank ? kLineSecondsOfAJob : 0);
  if (!options_.clock)
    options_.clock = [] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    };
  started_ = drawn_ = options_.clock();
  std::vector<std::ostream*> beside;
  if (options_.beside) {
    beside = *options_.beside;
  } else if (!options_.write) {
    beside = {&std::cerr, &std::clog};
    if (::isatty(STDOUT_FILENO)) beside.push_back(&std::cout);
  }
  write_ = options_.write ? options_.write : [](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  };
  if (!terminal_) return;
  line_ = std::make_shared<Line>(write_);
  for (std::ostream* stream : beside) neighbors_.push_back(Neighbor::of(*stream, line_));
}

ProgressBar::~ProgressBar() {
  try {
    finish();
  } catch (...) {  // a bar is not worth ending a program for
  }
}

ProgressBar& ProgressBar::show(const std::string& name, double value) {
  for (auto& held : values_)
    if (held.first == name) {
      held.second = value;
      return *this;
    }
  values_.emplace_back(name, value);
  return *this;
}

std::string ProgressBar::text() const {
  const double seconds = options_.clock() - started_,
               rate = seconds > 0 ? static_cast<double>(done_ - options_.initial) / seconds : 0;
  std::string line = title_.empty() ? "" : title_ + " ", end = message_of(" ", done_);
  if (total_ > 0) end += message_of("/", total_);
  end += message_of(" [", time_text(seconds));
  if (total_ > 0 && rate > 0)
    end += message_of("<", time_text(static_cast<double>(std::max<int64_t>(total_ - done_, 0)) / rate));
  end += message_of(", ", number_text(rate >= 100 ? "%.0f" : "%.2f", rate), "/s]");
  for (const auto& [name, value] : values_) end += message_of(" ", name, " ", number_text("%.4g", value));
  if (total_ <= 0) return line + end.substr(1);
  const double part = std::clamp(static_cast<double>(done_) / static_cast<double>(total_), 0., 1.);
  line += number_text("%3.0f%%", 100 * part);
  const int width = options_.width > 0 ? options_.width : terminal_width();
  const int room = std::min(width - 1 - static_cast<int>(line.size() + end.size()) - 3, 40);
  if (terminal_ && room >= 5) {
    const auto filled = static_cast<size_t>(part * room);
    line += message_of(" |", std::string(filled, '#'), std::string(static_cast<size_t>(room) - filled, '-'), "|");
  }
  return line + end;
}

void ProgressBar::draw(bool last) {
  drawn_ = options_.clock();
  if (!terminal_) return write_(text() + "\n");
  // A line longer than the terminal would not be drawn over.
  const int width = options_.width > 0 ? options_.width : terminal_width();
  line_->draw(text().substr(0, static_cast<size_t>(std::max(width - 1, 1))), last);
}

void ProgressBar::update(int64_t more) {
  done_ += more;
  if (finished_) return;
  const double wait = terminal_ ? options_.redraw_seconds : line_seconds_;
  if (!terminal_ && wait <= 0) return;
  if (options_.clock() - drawn_ >= wait) draw(false);
}

void ProgressBar::print(std::string_view line) {
  const std::string text = message_of(line, "\n");
  auto write = [&] {
    if (options_.write) return options_.write(text);
    std::cout << text << std::flush;
  };
  if (!terminal_ || finished_) return write();
  // std::cout is beside the bar if it is the same terminal, and elsewhere does not touch it.
  if (options_.write)
    line_->beside(text, write);
  else
    write();
  draw(false);
}

void ProgressBar::finish() {
  if (finished_) return;
  finished_ = true;
  for (size_t i = neighbors_.size(); i-- > 0;) neighbors_[i]->leave();
  if (terminal_ || line_seconds_ > 0) draw(true);
}

}  // namespace cresset::monitor
