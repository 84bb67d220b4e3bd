// What the bar draws, when, and when it keeps quiet.
#include "cresset/monitor/progress_bar.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <sstream>
#include <thread>
#include <utility>

#include "cresset/core/error.h"
#include "cresset/core/warning.h"
#include "tests/core/expect_error.h"

namespace cresset::monitor {
namespace {

struct Screen {
  double now = 100;
  std::string written;
  ProgressOptions options(bool terminal) {
    ProgressOptions options;
    options.terminal = terminal;
    options.width = 80;
    options.clock = [this] { return now; };
    options.write = [this](std::string_view text) { written += text; };
    return options;
  }
};

TEST(ProgressBar, ShowsRateLossAndTimeLeft) {
  Screen screen;
  ProgressBar bar(1000, "epoch 1", screen.options(true));
  screen.now += 10;
  bar.show("loss", 0.12345).update(250);
  EXPECT_EQ(bar.text(), "epoch 1  25% |#####---------------| 250/1000 [00:10<00:30, 25.00/s] loss 0.1235");
  EXPECT_EQ(screen.written, "\r" + bar.text().substr(0, 79) + "\x1B[K");
  bar.show("loss", 0.1);
  screen.now += 3600;
  bar.update(750);
  bar.finish();
  EXPECT_NE(screen.written.find("1000/1000 [1:00:10<00:00, 0.28/s] loss 0.1\x1B[K\n"), std::string::npos)
      << screen.written;
  const std::string before = screen.written;
  bar.update();
  EXPECT_EQ(screen.written, before);
}

TEST(ProgressBar, DrawsAtMostTenTimesASecond) {
  Screen screen;
  ProgressBar bar(1000, "", screen.options(true));
  for (int i = 0; i < 1000; i++) {
    screen.now += 0.001;
    bar.update();
  }
  EXPECT_LE(std::count(screen.written.begin(), screen.written.end(), '\r'), 10);
  EXPECT_GE(std::count(screen.written.begin(), screen.written.end(), '\r'), 9);
}

TEST(ProgressBar, IsQuietWithoutATerminal) {
  Screen screen;
  {
    ProgressBar bar(10, "", screen.options(false));
    for (int i = 0; i < 10; i++) {
      screen.now += 60;
      bar.update();
    }
  }
  EXPECT_EQ(screen.written, "");
}

TEST(ProgressBar, PlainLinesCanBeAskedFor) {
  Screen screen;
  ProgressOptions options = screen.options(false);
  options.line_seconds = 30;
  {
    ProgressBar bar(4, "train", options);
    for (int i = 0; i < 4; i++) {
      screen.now += 20;
      bar.update();
    }
  }
  EXPECT_EQ(screen.written,
            "train  50% 2/4 [00:40<00:40, 0.05/s]\ntrain 100% 4/4 [01:20<00:00, 0.05/s]\ntrain 100% 4/4 [01:20<00:00, "
            "0.05/s]\n");
}

// What a terminal shows after these bytes: "\r" goes to the line's start, "\x1B[K" clears from there on.
std::string shown(const std::string& bytes) {
  std::string done, line;
  size_t at = 0;
  for (size_t i = 0; i < bytes.size(); i++) {
    if (bytes[i] == '\r') {
      at = 0;
    } else if (bytes[i] == '\n') {
      done += std::exchange(line, "") + "\n";
      at = 0;
    } else if (bytes.compare(i, 3, "\x1B[K") == 0) {
      line.resize(at);
      i += 2;
    } else {
      line.resize(std::max(line.size(), at + 1), ' ');
      line[at++] = bytes[i];
    }
  }
  return done + line;
}

// A stream that ends up on the screen, as std::cout does.
struct ScreenStream : std::ostream, std::streambuf {
  explicit ScreenStream(Screen& on) : std::ostream(this), screen(on) {}
  int overflow(int c) override {
    screen.written += static_cast<char>(c);
    return c;
  }
  Screen& screen;
};

TEST(ProgressBar, PrintingKeepsItWhole) {
  Screen screen;
  ProgressBar bar(4, "train", screen.options(true));
  screen.now += 1;
  bar.update();
  bar.print("saved");
  EXPECT_EQ(shown(screen.written), "saved\n" + bar.text());
  screen.now += 1;
  bar.update();
  bar.finish();
  bar.print("end");
  EXPECT_EQ(shown(screen.written), "saved\n" + bar.text() + "\nend\n");
}

TEST(ProgressBar, StreamsBesideItDoNotTearIt) {
  Screen screen;
  ScreenStream out(screen);
  ProgressOptions options = screen.options(true);
  options.beside = {{&out}};
  std::string end;
  {
    ProgressBar bar(4, "train", options);
    auto step = [&] {
      screen.now += 1;
      bar.update();
    };
    step();
    out << "loss " << 0.5 << "\n";
    EXPECT_EQ(shown(screen.written), "loss 0.5\n");
    step();
    EXPECT_EQ(shown(screen.written), "loss 0.5\n" + bar.text());
    out << "no newline";
    step();  // waits for the line's end
    EXPECT_EQ(shown(screen.written), "loss 0.5\nno newline");
    out << " yet" << std::endl;
    step();
    EXPECT_EQ(shown(screen.written), "loss 0.5\nno newline yet\n" + bar.text());
    out << "cut";
    bar.finish();
    end = "loss 0.5\nno newline yet\ncut\n" + bar.text() + "\n";
  }
  out << "after\n";
  EXPECT_EQ(shown(screen.written), end + "after\n");
  EXPECT_EQ(out.rdbuf(), &out);
}

TEST(ProgressBar, AStreamThatIsRedirectedMeanwhileStaysUsable) {
  Screen screen;
  ScreenStream out(screen);
  ProgressOptions options = screen.options(true);
  options.beside = {{&out}};
  std::stringbuf other;
  auto outer = std::make_unique<ProgressBar>(4, "outer", options);
  auto inner = std::make_unique<ProgressBar>(4, "inner", options);
  std::streambuf* before = out.rdbuf(&other);
  outer.reset();
  inner.reset();
  out << "elsewhere";
  EXPECT_EQ(other.str(), "elsewhere");
  screen.written.clear();
  out.rdbuf(before);
  out << "here";
  EXPECT_EQ(screen.written, "here");
  out.rdbuf(&out);
}

TEST(ProgressBar, WarningsDoNotTearIt) {
  Screen screen;
  ScreenStream terminal(screen);
  std::streambuf* before = std::cerr.rdbuf(&terminal);
  ProgressOptions options = screen.options(true);
  options.beside = {{&std::cerr}};
  {
    ProgressBar bar(4, "train", options);
    screen.now += 1;
    bar.update();
    warn("careful");
    screen.now += 1;
    bar.update();
    EXPECT_EQ(shown(screen.written), "Warning: careful\n" + bar.text());
  }
  std::cerr.rdbuf(before);
}

TEST(ProgressBar, AThreadMayWriteWhileItEnds) {
  Screen screen;
  std::mutex mutex;
  struct Sink : std::streambuf {
    int overflow(int c) override {
      count++;
      return c;
    }
    std::atomic<int> count = 0;
  } sink;
  std::ostream out(&sink);
  ProgressOptions options = screen.options(true);
  options.write = [&](std::string_view text) {
    std::lock_guard lock(mutex);
    screen.written += text;
  };
  options.beside = {{&out}};
  options.redraw_seconds = 0;
  ProgressBar outer(100, "outer", options);
  std::streambuf* entrance = out.rdbuf();
  std::thread writer([&] {
    for (int i = 0; i < 2000; i++) entrance->sputn("a\n", 2);
  });
  for (int i = 0; i < 100; i++) {
    outer.update();
    outer.print("line");
  }
  outer.finish();
  writer.join();
  EXPECT_EQ(sink.count, 4000);
}

TEST(ProgressBar, AResumedEpochStartsWhereItIs) {
  Screen screen;
  ProgressOptions options = screen.options(true);
  options.initial = 600;
  ProgressBar bar(1000, "", options);
  EXPECT_EQ(bar.done(), 600);
  screen.now += 10;
  bar.update(100);
  EXPECT_EQ(bar.text(), " 70% |############################------------| 700/1000 [00:10<00:30, 10.00/s]");
  options.initial = -1;
  EXPECT_ERROR(ValueError, ProgressBar(10, "", options), "ProgressBar: found initial -1 (expected at least 0)");
}

// The environment of a process of a job, for a while.
class InJob {
 public:
  InJob(const char* variable, int rank) : variable_(variable) {
    ::setenv("WORLD_SIZE", "2", 1);
    ::setenv(variable, std::to_string(rank).c_str(), 1);
  }
  ~InJob() {
    ::unsetenv("WORLD_SIZE");
    ::unsetenv(variable_);
  }
  InJob(const InJob&) = delete;

 private:
  const char* variable_;
};

std::string written_in_a_minute(bool terminal, bool every_rank) {
  Screen screen;
  ProgressOptions options = screen.options(terminal);
  options.every_rank = every_rank;
  {
    ProgressBar bar(12, "train", options);
    for (int i = 0; i < 12; i++) {
      screen.now += 5;
      bar.update();
    }
  }
  return screen.written;
}

TEST(ProgressBar, OfAJobRankZeroAloneShowsIt) {
  for (const char* variable : {"RANK", "OMPI_COMM_WORLD_RANK"}) {
    {
      InJob rank_zero(variable, 0);
      const std::string lines = written_in_a_minute(false, false);
      EXPECT_TRUE(lines.starts_with("train  17% 2/12 [00:10<00:50, 0.20/s]\n")) << lines;
      EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 7) << lines;
      EXPECT_NE(written_in_a_minute(true, false).find("\r"), std::string::npos);
    }
    InJob rank_one(variable, 1);
    EXPECT_EQ(written_in_a_minute(false, false), "");
    EXPECT_EQ(written_in_a_minute(true, false), "");
    EXPECT_NE(written_in_a_minute(true, true).find("\r"), std::string::npos);
  }
}

TEST(ProgressBar, AnUnknownTotalShowsTheCount) {
  Screen screen;
  ProgressBar bar(0, "read", screen.options(true));
  screen.now += 2;
  bar.update(500);
  EXPECT_EQ(bar.text(), "read 500 [00:02, 250/s]");
}

}  // namespace
}  // namespace cresset::monitor
