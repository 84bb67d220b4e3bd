// A progress bar for terminals: part done, rate, time left, and values such as the loss.
//
//   ProgressBar bar(steps, "epoch 1");
//   for (…) { …; bar.show("loss", loss).update(); }
//
// Where the output is not a terminal it writes nothing, unless options.line_seconds asks for a plain line now and then.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cresset/core/export.h"

namespace cresset::monitor {

struct ProgressOptions {
  double redraw_seconds = 0.1;
  double line_seconds = 0;  // without a terminal: a line each so many seconds; 0: none
  int width = 0;            // columns; 0: the terminal's
  // For other places than stderr, and for tests.
  std::optional<bool> terminal;
  std::function<void(std::string_view)> write;
  std::function<double()> clock;  // seconds
};

class CRESSET_API ProgressBar {
 public:
  // A total of 0 is not known: counts and rate are shown alone.
  explicit ProgressBar(int64_t total = 0, std::string title = "", ProgressOptions options = {});
  ~ProgressBar();  // finishes
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void update(int64_t more = 1);
  ProgressBar& show(const std::string& name, double value);
  void finish();  // draws the end; nothing is drawn after it

  int64_t done() const { return done_; }
  std::string text() const;  // what would be drawn now

 private:
  void draw(bool last);

  int64_t total_, done_ = 0;
  std::string title_;
  ProgressOptions options_;
  bool terminal_, finished_ = false;
  double started_, drawn_;
  std::vector<std::pair<std::string, double>> values_;
};

}  // namespace cresset::monitor
