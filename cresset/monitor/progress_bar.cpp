// Drawing over one line of the terminal.
#include "cresset/monitor/progress_bar.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

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

}  // namespace

ProgressBar::ProgressBar(int64_t total, std::string title, ProgressOptions options)
    : total_(total), title_(std::move(title)), options_(std::move(options)) {
  if (!options_.write)
    options_.write = [](std::string_view text) {
      std::fwrite(text.data(), 1, text.size(), stderr);
      std::fflush(stderr);
    };
  if (!options_.clock)
    options_.clock = [] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    };
  terminal_ = options_.terminal.value_or(::isatty(STDERR_FILENO));
  started_ = drawn_ = options_.clock();
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
  const double seconds = options_.clock() - started_, rate = seconds > 0 ? static_cast<double>(done_) / seconds : 0;
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
  if (!terminal_) {
    options_.write(text() + "\n");
    return;
  }
  // The rest of the old line is cleared; a line longer than the terminal would not be drawn over.
  const int width = options_.width > 0 ? options_.width : terminal_width();
  const std::string line = text().substr(0, static_cast<size_t>(std::max(width - 1, 1)));
  options_.write(message_of("\r", line, "\x1B[K", last ? "\n" : ""));
}

void ProgressBar::update(int64_t more) {
  done_ += more;
  if (finished_) return;
  const double wait = terminal_ ? options_.redraw_seconds : options_.line_seconds;
  if (!terminal_ && wait <= 0) return;
  if (options_.clock() - drawn_ >= wait) draw(false);
}

void ProgressBar::finish() {
  if (finished_) return;
  finished_ = true;
  if (terminal_ || options_.line_seconds > 0) draw(true);
}

}  // namespace cresset::monitor
