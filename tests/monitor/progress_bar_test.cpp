// What the bar draws, when, and when it keeps quiet.
#include "cresset/monitor/progress_bar.h"

#include <gtest/gtest.h>

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

TEST(ProgressBar, AnUnknownTotalShowsTheCount) {
  Screen screen;
  ProgressBar bar(0, "read", screen.options(true));
  screen.now += 2;
  bar.update(500);
  EXPECT_EQ(bar.text(), "read 500 [00:02, 250/s]");
}

}  // namespace
}  // namespace cresset::monitor
