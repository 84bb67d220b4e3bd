// What the fuzzing targets share: seeds written into the corpus folder, and the rule that a reader may only throw
// IoErrors.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "cresset/core/error.h"

namespace cresset::fuzz {

// The last argument, if it is a folder, is the corpus.
inline void write_seeds(int argc, char** argv, const std::vector<std::string>& seeds) {
  struct stat status {};
  if (argc < 2 || ::stat(argv[argc - 1], &status) != 0 || !S_ISDIR(status.st_mode)) return;
  for (size_t i = 0; i < seeds.size(); i++) {
    std::ofstream file(std::string(argv[argc - 1]) + "/seed-" + std::to_string(i), std::ios::binary);
    file.write(seeds[i].data(), static_cast<std::streamsize>(seeds[i].size()));
  }
}

// Anything but an IoError is a finding.
template <class Read>
void survive(Read read) {
  try {
    read();
  } catch (const IoError&) {
  } catch (const std::exception& error) {
    std::fprintf(stderr, "not an IoError: %s\n", error.what());
    std::abort();
  }
}

}  // namespace cresset::fuzz
