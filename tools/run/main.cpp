// cresset-run: starts the processes of a distributed training, and looks after them.
#include <csignal>
#include <cstdio>
#include <exception>
#include <random>

#include "cresset/core/version.h"
#include "launcher.h"

namespace {

int complain(const char* text, int status) {
  std::fprintf(stderr, "[cresset-run] %s\n", text);
  return status;
}

// The secret of --token is not for whoever lists the processes.
void hide_token(int argc, char** argv, const std::string& program) {
  for (int i = 1; i < argc && program != argv[i]; i++) {
    const std::string_view argument = argv[i];
    char* secret = argument.starts_with("--token=") ? argv[i] + 8 : nullptr;
    if (argument == "--token" && i + 1 < argc) secret = argv[++i];
    for (; secret != nullptr && *secret != '\0'; secret++) *secret = '*';
  }
}

// Nobody else on this machine may read the store or forge what it says. Nodes of several machines must be given one.
std::string random_token() {
  std::random_device random;
  char text[33];
  std::snprintf(text, sizeof text, "%08x%08x%08x%08x", random(), random(), random(), random());
  return text;
}

}  // namespace

int main(int argc, char** argv) try {
  using cresset::run::Options;
  Options options = cresset::run::parse_options({argv + 1, argv + argc});
  if (options.asked == Options::Asked::help) {
    std::fputs(cresset::run::help_text(), stdout);
    return 0;
  }
  if (options.asked == Options::Asked::version) {
    std::printf("cresset-run %s\n", cresset::version());
    return 0;
  }
  hide_token(argc, argv, options.program);
  if (options.token.empty() && options.max_nodes == 1) options.token = random_token();
  const cresset::run::Program program = cresset::run::find_program(options.program, options.arguments);

  // Before any thread: all of them leave the signals to the loop, and workers get back the mask of the start.
  sigset_t all, before;
  sigfillset(&all);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT})
    sigdelset(&all, fault);
  sigprocmask(SIG_BLOCK, &all, &before);
  std::signal(SIGCHLD, SIG_DFL);
  std::signal(SIGPIPE, SIG_IGN);
  cresset::run::Launcher launcher(options, program, before);
  return launcher.run();
} catch (const cresset::run::UsageError& error) {
  complain(error.what(), 2);
  std::fputs("[cresset-run] cresset-run --help lists the options\n", stderr);
  return 2;
} catch (const cresset::run::StartError& error) {
  return complain(error.what(), error.status);
} catch (const std::exception& error) {
  return complain(error.what(), 1);
}
