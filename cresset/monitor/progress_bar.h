// A progress bar for terminals: part done, rate, time left, and values such as the loss.
//
//   ProgressBar bar(steps, "epoch 1", {.initial = step % steps});  // initial: done before a resume
//   for (…) { …; bar.show("loss", loss).update(); }
//
// What is written to std::cout, std::cerr or std::clog meanwhile stands above the bar; for printf there is print().
// Where the output is not a terminal it writes nothing, unless options.line_seconds asks for a plain line now and then.
// Of the processes of one job (launcher, mpirun, srun) only rank 0 shows its bars, and without a terminal it writes
// such lines by itself.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cresset/core/export.h"

namespace cresset::monitor {

struct ProgressOptions {
  int64_t initial = 0;  // done before: counted in the part done, not in the rate
  double redraw_seconds = 0.1;
  // Without a terminal: a line each so many seconds; 0: none. Unset: 10 for rank 0 of a job, otherwise none.
  std::optional<double> line_seconds = {};
  bool every_rank = false;  // the bars of other ranks than 0 are shown, too
  int width = 0;            // columns; 0: the terminal's
  // For other places than stderr, and for tests.
  std::optional<bool> terminal = {};
  std::function<void(std::string_view)> write = {};
  std::function<double()> clock = {};  // seconds
  // Streams that end up on the bar's terminal. Unset: none if `write` is given, otherwise std::cerr, std::clog and, if
  // it is a terminal, std::cout.
  std::optional<std::vector<std::ostream*>> beside = {};
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
  // Writes a line above the bar: to std::cout, or by options.write.
  void print(std::string_view line);
  void finish();  // draws the end; nothing is drawn after it

  int64_t done() const { return done_; }
  std::string text() const;  // what would be drawn now

 private:
  class Line;      // of the terminal: what stands on it
  class Neighbor;  // a stream beside the bar

  void draw(bool last);

  int64_t total_, done_;
  std::string title_;
  ProgressOptions options_;
  bool terminal_, silent_, finished_ = false;
  double line_seconds_;
  std::function<void(std::string_view)> write_;
  double started_, drawn_;
  std::vector<std::pair<std::string, double>> values_;
  std::shared_ptr<Line> line_;  // of a terminal only
  std::vector<Neighbor*> neighbors_;
};

}  // namespace cresset::monitor
