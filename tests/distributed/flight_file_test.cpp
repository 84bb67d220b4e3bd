// The flight recorder's files lie in a folder where others may write, too, under names that they can guess.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cresset/distributed/flight_recorder.h"
#include "store_support.h"

namespace cresset::distributed {
namespace flight_files {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

size_t files_in(const std::string& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(FlightFile, ReplacesALinkInsteadOfWritingWhereItLeads) {
  const TemporaryFolder folder;
  const FlightRecorder recorder("group 1", 0, 2, 4);
  const fs::path victim = fs::path(folder.path()) / "victim";
  std::ofstream(victim) << "precious";
  const fs::path name = fs::path(folder.path()) / ("flight_group_1_rank0_" + std::to_string(getpid()) + ".json");
  fs::create_symlink(victim, name);
  EXPECT_EQ(recorder.dump_into(folder.path()), name.string());
  EXPECT_EQ(content_of(victim), "precious");
  struct stat status {};
  ASSERT_EQ(lstat(name.c_str(), &status), 0);
  EXPECT_TRUE(S_ISREG(status.st_mode));
  EXPECT_EQ(status.st_mode & 0777, 0600u) << "what a program did is its user's affair";
  EXPECT_EQ(content_of(name), recorder.json());
  // Once more, over its own file.
  recorder.dump_into(folder.path());
  EXPECT_EQ(files_in(folder.path()), 2u);
}

TEST(FlightFile, IsWholeOrNotThere) {
  const TemporaryFolder folder;
  const FlightRecorder recorder("default", 3, 4, 4);
  const std::string name = folder.path() + "/flight_default_rank3_" + std::to_string(getpid()) + ".json";
  fs::create_directory(name);
  EXPECT_EQ(message_when([&] { recorder.dump_into(folder.path()); }),
            "FlightRecorder: cannot write " + name + ": Is a directory");
  EXPECT_EQ(files_in(folder.path()), 1u);
}

}  // namespace flight_files
}  // namespace cresset::distributed
