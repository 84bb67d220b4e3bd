// Logs that others read while they grow: what is gathered is written in time, once, and whole.
#include "cresset/io/append_file.h"

#include <atomic>
#include <map>
#include <thread>

#include "cresset/io/checkpoint.h"
#include "tests/core/expect_error.h"
#include "tests/io/support.h"

namespace cresset::io {
namespace {

using std::chrono::milliseconds;
using test::contents_of;
using test::TempFolder;

constexpr milliseconds kNever = std::chrono::hours(1), kSoon{20};

// True once it is so; false after a minute, which nothing here takes.
template <class Condition>
bool comes_true(const Condition& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return true;
}

// Runs `body` in a child, which it must end itself; how it ended.
template <class Body>
int status_of_child(const Body& body) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    body();
    ::_exit(99);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(AppendFile, IsWrittenInTimeThoughNothingFollows) {
  TempFolder folder;
  AppendFile quick("test", folder / "quick", kSoon), slow("test", folder / "slow", kNever);
  slow.add("later\n");
  quick.add("one\n");
  EXPECT_TRUE(comes_true([&] { return contents_of(folder / "quick") == "one\n"; }));
  quick.add("two\n");
  EXPECT_TRUE(comes_true([&] { return contents_of(folder / "quick") == "one\ntwo\n"; }));
  EXPECT_EQ(contents_of(folder / "slow"), "");
  slow.flush();
  EXPECT_EQ(contents_of(folder / "slow"), "later\n");
}

TEST(AppendFile, WithoutPatienceOrWithMuchAtOnce) {
  TempFolder folder;
  AppendFile at_once("test", folder / "a", milliseconds(0)), slow("test", folder / "b", kNever);
  at_once.add("one\n");
  EXPECT_EQ(contents_of(folder / "a"), "one\n");
  slow.add(std::string(100'000, 'x'));
  EXPECT_EQ(contents_of(folder / "b").size(), 100'000u);
}

TEST(AppendFile, ACheckpointTakesTheLogsWithIt) {
  TempFolder folder;
  AppendFile log("test", folder / "log", kNever);
  log.add("step 1\n");
  Checkpoint(folder / "run").save(1);
  EXPECT_EQ(contents_of(folder / "log"), "step 1\n");
}

TEST(AppendFile, ThreadsKeepTheirRecordsWhole) {
  TempFolder folder;
  AppendFile file("test", folder / "log", milliseconds(1));
  std::vector<std::thread> threads;
  for (char name : {'a', 'b', 'c', 'd'})
    threads.emplace_back([&, name] {
      for (int i = 0; i < 2000; i++) file.add(std::string(static_cast<size_t>(i % 90), name) + "\n");
    });
  for (std::thread& thread : threads) thread.join();
  file.close();
  std::ifstream in(folder / "log");
  std::map<char, std::vector<size_t>> lengths;
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) {
      EXPECT_EQ(line.find_first_not_of(line[0]), std::string::npos) << line;
      lengths[line[0]].push_back(line.size());
    }
  EXPECT_EQ(lengths.size(), 4u);
  for (const auto& [name, found] : lengths) {
    ASSERT_EQ(found.size(), 2000u - 23) << name;  // i % 90 == 0 leaves an empty line
    for (size_t i = 1; i < found.size(); i++) EXPECT_EQ(found[i], found[i - 1] % 89 + 1) << name << i;
  }
}

TEST(AppendFile, AForkedChildGoesOnWithTheFileAndRepeatsNothing) {
  TempFolder folder;
  AppendFile file("test", folder / "log", kNever), timed("test", folder / "timed", kSoon);
  timed.add("parent\n");  // the thread is there
  ASSERT_TRUE(comes_true([&] { return contents_of(folder / "timed") == "parent\n"; }));
  file.add("parent\n");
  const int status = status_of_child([&] {
    file.add("child\n");
    file.flush();
    timed.add("child\n");  // by a thread of the child's own
    ::_exit(comes_true([&] { return contents_of(folder / "timed") == "parent\nchild\n"; }) ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
  file.close();
  EXPECT_EQ(contents_of(folder / "log"), "parent\nchild\n");
}

// Other threads hold the locks at any moment, also when somebody forks.
TEST(AppendFile, ForksWhileThreadsWrite) {
  TempFolder folder;
  AppendFile file("test", folder / "log", milliseconds(1));
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; i++)
    threads.emplace_back([&] {
      while (!over) file.add("busy\n");
    });
  for (int i = 0; i < 20; i++) {
    const int status = status_of_child([&] {
      file.add("child\n");
      file.flush();
      ::_exit(0);
    });
    EXPECT_EQ(status, 0);
  }
  over = true;
  for (std::thread& thread : threads) thread.join();
  file.close();
  std::ifstream in(folder / "log");
  int children = 0;
  for (std::string line; std::getline(in, line);) {
    EXPECT_TRUE(line == "busy" || line == "child") << line;
    children += line == "child" ? 1 : 0;
  }
  EXPECT_EQ(children, 20);
}

TEST(AppendFile, ExitWritesWhatIsLeft) {
  TempFolder folder;
  const int status = status_of_child([&] {
    auto* never_destroyed = new AppendFile("test", folder / "log", kNever);
    never_destroyed->add("last words\n");
    std::exit(0);
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(contents_of(folder / "log"), "last words\n");
}

TEST(AppendFile, WhatWentWrongInTheBackgroundIsToldOnce) {
  AppendFile file("test", "/dev/full", kSoon);
  std::string said;
  EXPECT_TRUE(comes_true([&] {
    try {
      file.add("x");
    } catch (const IoError& error) {
      said = error.what();
    }
    return !said.empty();
  }));
  EXPECT_EQ(said, "test: /dev/full: writing failed: No space left on device");
  EXPECT_ERROR(IoError, (file.add("x"), file.flush()), "No space left on device");
  EXPECT_NO_THROW(file.close());
  EXPECT_ERROR(IoError, file.add("x"), "test: /dev/full: written to after it was closed");
}

}  // namespace
}  // namespace cresset::io
