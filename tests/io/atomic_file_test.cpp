// Files that are there whole or not at all.
#include "cresset/io/atomic_file.h"

#include <sys/resource.h>

#include <csignal>

#include "cresset/io/gzip.h"
#include "tests/core/expect_error.h"
#include "tests/io/support.h"

namespace cresset::io {
namespace {

using test::contents_of;
using test::TempFolder;

TEST(AtomicFile, NothingIsThereBeforeTheCommitAndAllOfItAfter) {
  TempFolder folder;
  const std::string path = folder / "a.bin";
  AtomicFile file(path);
  file.write("first ");
  EXPECT_FALSE(std::filesystem::exists(path));
  const std::string long_part(200'000, 'x');
  file.write(long_part);
  file.write("last");
  EXPECT_EQ(file.position(), 200'010u);
  file.commit();
  EXPECT_EQ(contents_of(path), "first " + long_part + "last");
  EXPECT_EQ(folder.count(), 1u);
}

TEST(AtomicFile, AnAbandonedFileLeavesTheOldOne) {
  TempFolder folder;
  write_text_file(folder / "a", "old");
  {
    AtomicFile file(folder / "a");
    file.write(std::string(100'000, 'n'));
  }
  EXPECT_EQ(contents_of(folder / "a"), "old");
  EXPECT_EQ(folder.count(), 1u);
}

TEST(AtomicFile, ALinkStaysALink) {
  TempFolder folder;
  write_text_file(folder / "target", "old");
  std::filesystem::create_symlink(folder / "target", folder / "link");
  write_text_file(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(contents_of(folder / "target"), "new");
}

TEST(AtomicFile, BytesGoTheSameWay) {
  TempFolder folder;
  const std::vector<uint8_t> bytes{'n', 'e', 'w'};
  write_text_file(folder / "target", "old");
  std::filesystem::create_symlink(folder / "target", folder / "link");
  write_file(folder / "link", bytes);
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(contents_of(folder / "target"), "new");
  EXPECT_EQ(folder.count(), 2u);
  EXPECT_ERROR(IoError, write_file(folder.path(), bytes), "is a folder");
  EXPECT_ERROR(IoError, write_file("/dev/null", bytes), "is not a plain file");
}

TEST(AtomicFile, ErrorsNameThePathAndTheReason) {
  TempFolder folder;
  EXPECT_ERROR(IoError, write_text_file(folder / "no/such/a", "x"), "no/such/a: cannot be written: No such file");
  EXPECT_ERROR(IoError, write_text_file(folder.path(), "x"), "is a folder");
  EXPECT_ERROR(IoError, write_text_file("/dev/null", "x"), "is not a plain file");
  if (::geteuid() != 0) {
    std::filesystem::permissions(folder.path(),
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    EXPECT_ERROR(IoError, write_text_file(folder / "a", "x"), "Permission denied");
    std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
  }
}

// A limit on file sizes stands for a full disk.
TEST(AtomicFile, AFullDiskKeepsTheOldFileAndRemovesTheTemporary) {
  TempFolder folder;
  write_text_file(folder / "a", "old");
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small { 100'000, before.rlim_max };
  ::setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_ERROR(IoError, write_text_file(folder / "a", std::string(300'000, 'x')), "writing failed: File too large");
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(contents_of(folder / "a"), "old");
  EXPECT_EQ(folder.count(), 1u);
}

TEST(Source, RefusesWhatIsNoFile) {
  TempFolder folder;
  EXPECT_ERROR(IoError, Source::map(folder / "missing"), "No such file or directory");
  EXPECT_ERROR(IoError, Source::map(folder.path()), "not a plain file");
}

}  // namespace
}  // namespace cresset::io
