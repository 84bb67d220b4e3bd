// The command line of Cresset.
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cresset/core/version.h"
#include "inspect.h"

namespace {

constexpr const char* kHelp =
    "usage: cresset COMMAND\n"
    "\n"
    "  inspect FILE [--json]   what a checkpoint, .pt, safetensors, .npy or .npz file holds: names, dtypes, shapes, "
    "values\n"
    "  run [OPTIONS] PROGRAM   cresset-run: starts a distributed training; run --help lists the options\n"
    "  --version\n"
    "  --help\n";

int usage(const std::string& wrong) {
  std::fprintf(stderr, "cresset: %s\n\n%s", wrong.c_str(), kHelp);
  return 2;
}

int inspect(const std::vector<std::string_view>& arguments) {
  std::string path;
  bool json = false;
  for (std::string_view argument : arguments) {
    if (argument == "--json")
      json = true;
    else if (argument.starts_with("--"))
      return usage("inspect takes a file and --json");
    else if (!path.empty())
      return usage("inspect takes one file");
    else
      path = argument;
  }
  if (path.empty()) return usage("inspect needs a file");
  std::fputs(cresset::tools::inspect(path, json).c_str(), stdout);
  return 0;
}

// The launcher is a program of its own, beside this one, so that only its users load what it needs.
int run(char** arguments) {
  std::error_code unknown;
  const std::string beside = std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path() / "cresset-run";
  execv(beside.c_str(), arguments);
  execvp("cresset-run", arguments);
  std::fprintf(stderr, "cresset: run: there is no cresset-run at %s or in PATH (this build has no Gloo?)\n",
               beside.c_str());
  return 127;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  if (arguments.empty()) return usage("a command is missing");
  if (arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "help") {
    std::fputs(kHelp, stdout);
    return 0;
  }
  if (arguments[0] == "--version") {
    std::printf("cresset %s\n", cresset::version());
    return 0;
  }
  if (arguments[0] == "run") return run(argv + 1);
  if (arguments[0] == "inspect") return inspect({arguments.begin() + 1, arguments.end()});
  return usage("there is no command " + std::string(arguments[0]));
} catch (const std::exception& error) {
  std::fprintf(stderr, "cresset: %s\n", error.what());
  return 1;
}
