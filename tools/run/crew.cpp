#include "crew.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>

extern char** environ;

namespace cresset::run {
namespace {

std::string time_of_day() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[16];
  std::strftime(text, sizeof text, "%H:%M:%S", &parts);
  return text;
}

}  // namespace

Crew::~Crew() {
  kill();
  for (const Worker& worker : workers_)
    if (worker.alive) waitpid(worker.pid, nullptr, 0);
}

std::vector<std::string> Crew::environment_of(int local_rank) const {
  const Options& options = tools_.options;
  const Assignment& a = assignment_;
  const std::string generation = std::to_string(a.generation), most = std::to_string(options.max_restarts);
  std::vector<std::string> ours = {
      "RANK=" + std::to_string(a.first_rank + local_rank),
      "LOCAL_RANK=" + std::to_string(local_rank),
      "WORLD_SIZE=" + std::to_string(a.world_size),
      "LOCAL_WORLD_SIZE=" + std::to_string(options.workers),
      "GROUP_RANK=" + std::to_string(a.node_rank),
      "GROUP_WORLD_SIZE=" + std::to_string(a.nodes),
      "MASTER_ADDR=" + a.master_addr,
      "MASTER_PORT=" + std::to_string(a.master_port),
      "CRESSET_AGENT_STORE=1",
      "CRESSET_GENERATION=" + generation,
      "TORCHELASTIC_RESTART_COUNT=" + generation,
      "CRESSET_MAX_RESTARTS=" + most,
      "TORCHELASTIC_MAX_RESTARTS=" + most,
      "CRESSET_RUN_ID=" + options.run_id,
      "TORCHELASTIC_RUN_ID=" + options.run_id,
      tools_.mark,
  };
  if (!options.token.empty()) ours.push_back("CRESSET_TOKEN=" + options.token);
  if (std::getenv("OMP_NUM_THREADS") == nullptr)
    ours.push_back("OMP_NUM_THREADS=" + std::to_string(std::max(1, available_cores() / options.workers)));

  for (char** variable = environ; *variable != nullptr; variable++) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('=') + 1);
    const bool replaced =
        std::any_of(ours.begin(), ours.end(), [&](const std::string& own) { return own.starts_with(name); });
    if (!replaced) ours.emplace_back(text);
  }
  return ours;
}

std::string Crew::prefix_of(int rank, const Console& console) const {
  if (!tools_.options.prefix) return {};
  const std::string text = "[rank " + std::to_string(rank) + "]";
  if (!console.coloured()) return text + " ";
  static constexpr const char* kColours[] = {"36", "32", "33", "35", "34", "96", "92", "93", "95", "94"};
  return std::string("\033[") + kColours[rank % 10] + "m" + text + "\033[0m ";
}

// A worker whose output alone is shown, as it is, writes there itself: progress bars see the terminal.
bool Crew::has_the_terminal(int local_rank) const {
  if (tools_.options.prefix || !tools_.options.log_dir.empty()) return false;
  if (!isatty(STDOUT_FILENO) && !isatty(STDERR_FILENO)) return false;
  const std::vector<Streams>& shown = tools_.options.shown;
  const auto any = [](const Streams& streams) { return streams.out || streams.err; };
  const Streams& own = shown[static_cast<size_t>(local_rank)];
  return own.out && own.err && std::count_if(shown.begin(), shown.end(), any) == 1;
}

Descriptor Crew::open_log(int rank, const char* name) {
  if (tools_.options.log_dir.empty()) return Descriptor();
  const std::string logs = tools_.options.log_dir + "/" + tools_.options.run_id;
  const std::filesystem::path folder =
      std::filesystem::path(logs) / ("attempt_" + std::to_string(assignment_.generation)) / std::to_string(rank);
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  const std::string path = folder / name;
  Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.open()) throw StartError(1, "--log-dir: '" + path + "' could not be written: " + std::strerror(errno));
  log_folder_ = logs;
  return file;
}

void Crew::start(const Assignment& assignment) {
  assignment_ = assignment;
  workers_.clear();
  polled_.clear();
  told_ = false;
  term_at_.reset();
  kill_at_.reset();
  unclean_ = 0;
  for (int local_rank = 0; local_rank < tools_.options.workers; local_rank++) start_worker(local_rank);
}

void Crew::start_worker(int local_rank) {
  Pipe out = make_pipe(), err = make_pipe();
  if (has_the_terminal(local_rank)) {
    out.write = Descriptor(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
    err.write = Descriptor(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
  }
  Worker worker;
  worker.rank = assignment_.first_rank + local_rank;
  const Streams shown = tools_.options.shown[static_cast<size_t>(local_rank)];
  Descriptor out_log = open_log(worker.rank, "stdout.log"), err_log = open_log(worker.rank, "stderr.log");
  worker.started = Clock::now();
  worker.pid = run::start(tools_.program, environment_of(local_rank), out, err, tools_.signals);
  tools_.guardian.watch(worker.pid);
  worker.out = std::make_unique<LineStream>(std::move(out.read), shown.out ? &tools_.out : nullptr,
                                            prefix_of(worker.rank, tools_.out), std::move(out_log));
  worker.err = std::make_unique<LineStream>(std::move(err.read), shown.err ? &tools_.err : nullptr,
                                            prefix_of(worker.rank, tools_.err), std::move(err_log));
  workers_.push_back(std::move(worker));
  alive_++;
}

std::vector<Death> Crew::collect() {
  std::vector<Death> deaths;
  const int64_t look = Clock::now().time_since_epoch().count();
  for (Worker& worker : workers_) {
    if (!worker.alive) continue;
    // First a look, so that the process group still has its name when it gets the signal: a child of the worker may
    // hold its sockets, and with them the others' hope that it lives.
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(worker.pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
      continue;
    ::kill(-worker.pid, SIGKILL);
    Death death;
    waitpid(worker.pid, &death.wait_status, 0);
    tools_.guardian.forget(worker.pid);
    worker.alive = false;
    alive_--;
    worker.out->finish();
    worker.err->finish();
    if (death.wait_status != 0) {
      unclean_++;
      death.last_lines = worker.err->last_lines(12);
    }
    death.rank = worker.rank;
    death.host = tools_.host;
    death.pid = worker.pid;
    death.after = std::chrono::duration<double>(Clock::now() - worker.started).count();
    death.at = time_of_day();
    death.order = look;
    deaths.push_back(std::move(death));
  }
  reap_orphans();
  if (alive_ == 0 && !deaths.empty()) end_orphans();
  return deaths;
}

// Processes whose parent, a worker, is gone come to this one.
void Crew::reap_orphans() const {
  siginfo_t info{};
  while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
    const pid_t pid = info.si_pid;
    if (std::any_of(workers_.begin(), workers_.end(), [&](const Worker& w) { return w.alive && w.pid == pid; })) return;
    if (pid == tools_.guardian.pid())
      tools_.guardian.replace();
    else
      waitpid(pid, nullptr, 0);
    info = {};
  }
}

// What has left its worker's process group: orphans come to this process, which is their subreaper, and when one of
// them ends, its children come as well. What is between two parents is found by its environment.
void Crew::end_orphans() const {
  for (int passes = 0; passes < 1000; passes++) {
    std::vector<pid_t> orphans = children_of(getpid());
    std::erase(orphans, tools_.guardian.pid());
    if (orphans.empty()) return;
    if (passes == 0) kill_marked(tools_.mark);
    for (pid_t pid : orphans) ::kill(pid, SIGKILL);
    usleep(1000);
    reap_orphans();
  }
}

void Crew::signal(int signal) {
  for (const Worker& worker : workers_) {
    if (!worker.alive) continue;
    ::kill(-worker.pid, signal);
    // A stopped process would take no notice until somebody wakes it.
    if (signal == SIGTERM || signal == SIGINT || signal == SIGHUP) ::kill(-worker.pid, SIGCONT);
  }
}

void Crew::stop(double grace, Time now) {
  if (told_ || empty()) return;
  term_at_ = now + from_seconds(grace);
  tick(now);
}

void Crew::stop_by(int signal, Time now) {
  told_ = true;
  term_at_.reset();
  kill_at_ = now + from_seconds(tools_.options.stop_grace);
  this->signal(signal);
}

void Crew::kill() {
  told_ = true;
  term_at_.reset();
  kill_at_.reset();
  signal(SIGKILL);
}

void Crew::tick(Time now) {
  if (empty()) return;
  if (term_at_ && now >= *term_at_) stop_by(SIGTERM, now);
  if (kill_at_ && now >= *kill_at_) kill();
}

std::optional<Time> Crew::next_tick() const {
  if (empty()) return std::nullopt;
  return term_at_ ? term_at_ : kill_at_;
}

void Crew::add_to(std::vector<pollfd>& polled) {
  polled_.clear();
  for (const Worker& worker : workers_)
    for (LineStream* stream : {worker.out.get(), worker.err.get()}) {
      if (!stream->open() || stream->held_back()) continue;
      polled.push_back({stream->fd(), POLLIN, 0});
      polled_.push_back(stream);
    }
}

void Crew::pump(const std::vector<pollfd>& polled) {
  const size_t before = polled.size() - polled_.size();
  for (size_t i = 0; i < polled_.size(); i++)
    if (polled[before + i].revents != 0) polled_[i]->read_some();
  polled_.clear();
}

}  // namespace cresset::run
