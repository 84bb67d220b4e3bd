// FileStore between processes: the lock, torn records, wills, and disks that are full or closed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>

#include <fstream>
#include <random>

#include "cresset/distributed/file_store.h"
#include "store_support.h"

namespace cresset::distributed {
namespace {

class FileStoreTest : public ::testing::Test {
 protected:
  std::unique_ptr<FileStore> open(int64_t users = 0) const { return std::make_unique<FileStore>(path_, users, 30s); }
  uint64_t bytes() const { return std::filesystem::file_size(path_); }
  void append(const std::string& bytes) const { std::ofstream(path_, std::ios::app | std::ios::binary) << bytes; }

  TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/store";
};

TEST_F(FileStoreTest, ProcessesShareTheTable) {
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(std::make_unique<Child>([&, i] {
      const auto store = open();
      store->set("member/" + std::to_string(i), "here");
      store->wait({"member/0", "member/1", "member/2", "member/3"}, 60s);
      for (int j = 0; j < 50; ++j) store->add("sum", 1);
      const std::string me = std::to_string(i);
      if (store->compare_set("prize", "", me) == me) store->add("wins", 1);
    }));
  }
  for (auto& child : children) EXPECT_EQ(child->wait(), 0);
  const auto store = open();
  EXPECT_EQ(store->get("sum"), "200");
  EXPECT_EQ(store->get("wins"), "1");
}

TEST_F(FileStoreTest, TwoStoresSeeTheSameVersions) {
  const auto a = open(), b = open();
  a->set("x", "1");
  b->set("y", "2");
  a->delete_key("x");
  b->add("n", 1);
  const Changes of_a = a->changes("", 0, 0ms), of_b = b->changes("", 0, 0ms);
  EXPECT_EQ(of_a.version, of_b.version);
  EXPECT_EQ(of_a.entries, of_b.entries);
  EXPECT_EQ(of_a.entries.size(), 2U);
}

TEST_F(FileStoreTest, ATornLastRecordIsCutOffByTheNextWriter) {
  open()->set("a", "1");
  const uint64_t whole = bytes();
  open()->set("b", "a value that is long enough to be torn");
  std::filesystem::resize_file(path_, bytes() - 7);
  const auto store = open();
  EXPECT_EQ(store->get("a"), "1");
  EXPECT_FALSE(store->check({"b"}));
  store->set("c", "3");
  EXPECT_EQ(open()->get("c"), "3");
  EXPECT_EQ(open()->num_keys(), 2);
  append(std::string(3, '\0'));  // torn within the length
  store->set("d", "4");
  EXPECT_EQ(open()->num_keys(), 3);
  EXPECT_GT(bytes(), whole);
}

TEST_F(FileStoreTest, ADamagedRecordIsAnErrorThatNamesTheByte) {
  open()->set("a", "1");
  const uint64_t whole = bytes();
  open()->set("b", "2");
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(bytes() - 1));
    file << "x";
  }
  EXPECT_THROW(open(), IoError);
  EXPECT_EQ(message_when([&] { open(); }), "FileStore: " + path_ + " is damaged at byte " + std::to_string(whole));
}

TEST_F(FileStoreTest, AFileThatHoldsSomethingElseIsLeftAlone) {
  append("a diary");
  EXPECT_TRUE(contains(message_when([&] { open(); }), path_ + " holds something else (expected no file, an empty one"));
  EXPECT_EQ(bytes(), 7U);
  std::filesystem::remove(path_);
  append("");
  open()->set("k", "v");  // an empty one, as mktemp makes them
}

TEST_F(FileStoreTest, PathsThatCannotBeUsedAreNamed) {
  EXPECT_THROW(FileStore("/no/such/folder/store"), IoError);
  EXPECT_EQ(message_when([] { FileStore("/no/such/folder/store"); }),
            "FileStore: /no/such/folder/store cannot be opened: no such file or directory");
  EXPECT_TRUE(contains(message_when([&] { FileStore(folder_.path()); }), "cannot be opened: is a directory"));
  EXPECT_THROW(FileStore("/dev/null"), IoError);
  EXPECT_THROW(FileStore(""), ValueError);
  EXPECT_THROW(FileStore(path_, -1), ValueError);
}

TEST_F(FileStoreTest, AFullDiskIsAnErrorAndTheFileStaysWhole) {
  open()->set("a", "1");
  Child child([&] {
    // A limit on the size of files stands in for a small disk.
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{20'000, 20'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto store = open();
    const std::string text = message_when([&] { store->set("large", std::string(50'000, 'x')); });
    if (!contains(text, "FileStore: " + path_ + " cannot take key 'large': ")) throw Error(text);
    if (store->check({"large"})) throw Error("a value that was not written is there");
    store->set("small", "2");
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(open()->get("small"), "2");
  EXPECT_FALSE(open()->check({"large"}));
}

TEST_F(FileStoreTest, KilledWritersNeverDamageTheFile) {
  const auto store = open();
  std::mt19937 random(7);
  int64_t last = 0;
  for (int round = 0; round < 15; ++round) {
    Child child([&] {
      const auto own = open();
      const std::string value(50'000, static_cast<char>('a' + round));
      own->set("ready/" + std::to_string(round), "");
      // Some pauses, or nobody else would be given the lock.
      for (;; std::this_thread::sleep_for(100us)) own->add("sum", 1), own->set("large", value);
    });
    store->wait({"ready/" + std::to_string(round)}, 60s);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 8000));
    child.signal(SIGKILL);
    EXPECT_EQ(child.wait(), -SIGKILL);
    const int64_t sum = store->add("sum", 1);
    EXPECT_GT(sum, last);
    last = sum;
    EXPECT_EQ(open()->get("sum"), std::to_string(sum));
  }
}

TEST_F(FileStoreTest, TheLastUserRemovesTheFile) {
  auto first = open(2), second = open(2);
  auto copy = first->clone();
  second->last_will("w", "");
  first.reset();
  second.reset();
  EXPECT_TRUE(std::filesystem::exists(path_));  // a clone is still there
  copy.reset();
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(FileStoreTest, WillsAreDoneForKilledAndExitedProcesses) {
  const auto store = open();
  Child killed([&] {
    const auto own = open();
    own->last_will("death/0", "replaced");
    own->last_will("death/0", "lost");
    own->set("ready", "");
    pause();
  });
  Child exited([&] {
    const auto own = open();
    own->last_will("death/1", "left early");
    own->last_will("withdrawn", "");
    own->withdraw_will("withdrawn");
    open()->last_will("goodbye", "");
    _exit(3);
  });
  EXPECT_EQ(store->get("death/1", 60s), "left early");
  store->wait({"ready"}, 60s);
  EXPECT_FALSE(store->check({"death/0"}));
  const uint64_t since = store->changes("", 0, 0ms).version;
  killed.signal(SIGKILL);
  const Changes changes = store->changes("death/", since, 60s);
  ASSERT_EQ(changes.entries.size(), 1U);
  EXPECT_EQ(changes.entries[0].second, "lost");
  EXPECT_FALSE(store->check({"withdrawn"}));
  EXPECT_FALSE(store->check({"goodbye"}));
  EXPECT_EQ(exited.wait(), 3);
}

TEST_F(FileStoreTest, AWillIsDoneOnceByManyWatchers) {
  const auto store = open();
  store->set("watching", "0");
  std::vector<std::unique_ptr<Child>> watchers;
  for (int i = 0; i < 3; ++i) {
    watchers.push_back(std::make_unique<Child>([&] {
      const auto store = open();
      store->add("watching", 1);
      store->get("death", 60s);
      std::this_thread::sleep_for(50ms);
      const Changes changes = store->changes("death", 0, 0ms);
      store->set("version/" + std::to_string(changes.version), "");
    }));
  }
  while (store->add("watching", 0) < 3) std::this_thread::sleep_for(1ms);
  Child child([&] {
    const auto own = open();
    own->last_will("death", "lost");
    raise(SIGKILL);
  });
  for (auto& watcher : watchers) EXPECT_EQ(watcher->wait(), 0);
  // 1 start, 3 additions, 1 will, 3 versions: nothing was set twice.
  EXPECT_EQ(store->changes("", 0, 0ms).version, 8U);
}

TEST_F(FileStoreTest, AWillIsDoneThoughTheForkedChildOfItsOwnerLives) {
  const auto store = open();
  const Grandparent grandparent;
  Child child([&] {
    const auto own = open();
    own->last_will("death", "lost");
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      alarm(60);
      pause();
    }
    own->set("grandchild", std::to_string(grandchild));
    pause();
  });
  const std::string grandchild = store->get("grandchild", 60s);
  child.signal(SIGKILL);
  EXPECT_EQ(store->get("death", 30s), "lost");
  EXPECT_EQ(child.wait(), -SIGKILL);
  EXPECT_TRUE(Grandparent::end(grandchild));
}

TEST_F(FileStoreTest, AForkedChildIsRefused) {
  auto store = open(1);
  store->last_will("death", "lost");
  Child child([&] {
    const std::string text = message_when([&] { store->set("k", "v"); });
    store.reset();
    _exit(contains(text, "cannot be used in its forked child") ? 0 : 1);
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_FALSE(store->check({"death"}));
  store->set("k", "v");
}

TEST_F(FileStoreTest, ALockThatIsNeverReleasedIsAnErrorAtTheDeadline) {
  FileStore store(path_, 0, 100ms);
  const int fd = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(fd, LOCK_EX), 0);
  EXPECT_EQ(message_when([&] { store.set("k", "v"); }),
            "FileStore: " + path_ + " was kept locked by another process for 2000 ms");
  close(fd);
  store.set("k", "v");
}

}  // namespace
}  // namespace cresset::distributed
