// What the io tests share: a folder that goes away, and running a Python script.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include "tests/support/paths.h"

namespace cresset::test {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "cresset-io-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  size_t count() const { return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path_), {})); }

 private:
  std::string path_;
};

inline std::string contents_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
inline void write_contents(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
}

struct Ran {
  int status;
  std::string output;
};
inline Ran run(const std::string& command) {
  FILE* pipe = ::popen((command + " 2>&1 </dev/null").c_str(), "r");
  std::string output;
  char piece[4096];
  while (size_t n = std::fread(piece, 1, sizeof piece, pipe)) output.append(piece, n);
  const int status = ::pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), output};
}

inline std::string python() {
  const char* chosen = std::getenv("CRESSET_TEST_PYTHON");
  return chosen ? chosen : "/usr/bin/python3";
}
// tests/<script> ARGS; scripts exit with 77 when a package is not there.
inline Ran run_script(const std::string& script, const std::string& arguments) {
  return run("OMP_NUM_THREADS=1 " + python() + " " + source_path("tests/" + script) + " " + arguments);
}

#define SKIP_OR_EXPECT_SUCCESS(ran, what)                        \
  do {                                                           \
    if ((ran).status == 77) GTEST_SKIP() << "skipped: no " what; \
    ASSERT_EQ((ran).status, 0) << (ran).output;                  \
  } while (false)

}  // namespace cresset::test
