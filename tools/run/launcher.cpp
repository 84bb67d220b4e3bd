#include "launcher.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <random>

#include "endpoint.h"

namespace cresset::run {
namespace {

constexpr const char* kCommands = "agents/command/";
constexpr const char* kReports = "agents/report/";  // AGENT/NUMBER: an event; AGENT/lost: its last will; AGENT/beat

std::string host_name() {
  char name[256] = "localhost";
  gethostname(name, sizeof name - 1);
  return name;
}

std::string fresh_number() {
  std::random_device random;
  char text[40];
  std::snprintf(text, sizeof text, "%08x%08x%08x%08x", random(), random(), random(), random());
  return text;
}

std::string numbered(int number) {
  char text[16];
  std::snprintf(text, sizeof text, "%09d", number);
  return text;
}

int signal_descriptor() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) sigaddset(&set, signal);
  return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

}  // namespace

Launcher::Launcher(const Options& options, const Program& program, const sigset_t& signals)
    : options_(options),
      host_(host_name()),
      mark_("CRESSET_LAUNCHER=" + fresh_number()),
      id_(host_ + "-" + std::to_string(getpid()) + "-" + fresh_number().substr(0, 8)),
      guardian_(mark_),
      wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      signals_(signal_descriptor()),
      out_(STDOUT_FILENO, wake_.get()),
      err_(STDERR_FILENO, wake_.get()),
      crew_({options, program, guardian_, out_, err_, mark_, host_, signals}) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  // The store has a descriptor for each client, and each worker takes some here. Workers get the old limit back.
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
    files.rlim_cur = std::min<rlim_t>(files.rlim_max, 65536);
    setrlimit(RLIMIT_NOFILE, &files);
  }
}

Launcher::~Launcher() = default;

void Launcher::say(const std::string& text) {
  if (text.empty()) return;
  std::string lines = "[cresset-run] ";
  for (char c : text) {
    lines += c;
    if (c == '\n') lines += "[cresset-run] ";
  }
  err_.write(lines + "\n");
}

void Launcher::open_store() {
  const Listening listening = listen_for_store(options_);
  if (!listening.note.empty()) say("note: " + listening.note);
  if (listening.fd >= 0 && options_.token.empty())
    say("note: no token: whoever reaches the store's port can read it and end this run (--token-file FILE on every "
        "node)");
  if (listening.fd < 0 && !wait_for_store(options_, signals_.get())) return read_signals();
  distributed::TcpStoreOptions store;
  store.host = options_.host.empty() ? "127.0.0.1" : options_.host;
  store.port = listening.port;
  store.is_server = listening.fd >= 0;
  store.listen_fd = listening.fd;
  store.token = options_.token;
  store.timeout = std::chrono::milliseconds(static_cast<int64_t>(options_.rendezvous_timeout * 1000));
  store_ = std::make_shared<distributed::TcpStore>(store);
  // Connecting may take as long as the nodes take to come; an answer may not.
  store_->set_timeout(std::chrono::seconds(5));
  if (!store.is_server) {
    const std::string reports = kReports + id_ + "/";
    Event lost;
    lost.kind = Event::Kind::lost;
    lost.text = "was lost: the connection to its launcher has ended";
    store_->last_will(reports + "lost", encode(lost));
    link_ = std::make_unique<Link>(store_, kCommands, wake_.get());
    return;
  }
  link_ = std::make_unique<Link>(store_, others_may_come() ? kReports : "", wake_.get());
  Coordinator::Rules rules;
  rules.min_nodes = options_.min_nodes;
  rules.max_nodes = options_.max_nodes;
  rules.max_restarts = options_.max_restarts;
  rules.rendezvous_timeout = options_.rendezvous_timeout;
  rules.last_call = options_.last_call;
  rules.run_id = options_.run_id;
  // A rank that ends by an exception says so before it is gone, and those who hear it may be gone sooner.
  auto lost_ranks = [this](int generation) {
    const std::string prefix = std::to_string(generation) + "/", death = prefix + "death/", left = prefix + "left/";
    std::vector<int> ranks;
    for (const auto& [key, value] : store_->changes(prefix, 0, std::chrono::milliseconds(0)).entries) {
      if (key.starts_with(death)) ranks.push_back(std::atoi(key.c_str() + death.size()));
      if (key.starts_with(left) && value.starts_with("exited with"))
        ranks.push_back(std::atoi(key.c_str() + left.size()));
    }
    return ranks;
  };
  coordinator_ = std::make_unique<Coordinator>(rules, lost_ranks, Clock::now());
}

int Launcher::run() {
  for (const std::string& note : options_.notes) say("note: " + note);
  if (options_.workers > 1 && std::getenv("OMP_NUM_THREADS") == nullptr) {
    const int cores = available_cores(), threads = std::max(1, cores / options_.workers);
    say("OMP_NUM_THREADS=" + std::to_string(threads) + ": " + std::to_string(cores) + " cores shared out among " +
        std::to_string(options_.workers) + " workers");
  }
  open_store();
  Event hello;
  hello.host = host_;
  hello.run_id = options_.run_id;
  hello.workers = options_.workers;
  hello.node_rank = options_.node_rank;
  hello.min_nodes = options_.min_nodes;
  hello.max_nodes = options_.max_nodes;
  if (!status_) tell(hello);
  while (!done()) wait_for_something();
  if (!coordinator_) take_leave("has ended");
  link_.reset();
  coordinator_.reset();
  store_.reset();
  leaving_ = true;
  while (!out_.empty() || !err_.empty()) wait_for_something();
  return *status_;
}

bool Launcher::done() const {
  if (!status_ || !crew_.empty()) return false;
  // The store goes with this process: the others must have heard how it ended.
  return !coordinator_ || coordinator_->agents_left() <= 1 || Clock::now() >= *leave_by_;
}

std::optional<Time> Launcher::next_tick() const {
  std::optional<Time> next = crew_.next_tick();
  auto also = [&](std::optional<Time> time) {
    if (time && (!next || *time < *next)) next = time;
  };
  if (coordinator_) also(coordinator_->next_tick());
  if (others_may_come() && link_) also(beaten_ + from_seconds(options_.monitor_interval));
  if (link_) also(leave_by_);
  return next;
}

void Launcher::wait_for_something() {
  std::vector<pollfd> polled{{signals_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
  crew_.add_to(polled);
  int timeout = -1;
  if (const std::optional<Time> next = next_tick()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - Clock::now()).count();
    timeout = static_cast<int>(std::clamp<int64_t>(left, 0, 60'000));
  }
  if (poll(polled.data(), polled.size(), timeout) < 0) return;
  uint64_t wakes = 0;
  [[maybe_unused]] const ssize_t count = read(wake_.get(), &wakes, sizeof wakes);
  crew_.pump(polled);
  if (polled[0].revents != 0) read_signals();
  read_news();
  const Time now = Clock::now();
  crew_.tick(now);
  if (coordinator_) coordinator_->tick(now);
  look_for_silence();
  obey_coordinator();
}

void Launcher::read_signals() {
  signalfd_siginfo info{};
  bool children = false;
  while (read(signals_.get(), &info, sizeof info) == sizeof info) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD)
      children = true;
    else if (signal == SIGUSR1 || signal == SIGUSR2)
      crew_.signal(signal);
    else
      interrupted_by(signal);
  }
  if (children) look_at_workers();
}

void Launcher::interrupted_by(int signal) {
  // All that is missing is somebody to read the rest of the output.
  if (leaving_) _exit(128 + signal);
  if (++interrupted_ > 1) {
    crew_.kill();
    leave_by_ = Clock::now();
    return;
  }
  if (status_) return;
  crew_.stop_by(signal, Clock::now());
  if (coordinator_) {
    coordinator_->give_up(128 + signal,
                          "stopped by " + signal_name(signal) + (options_.max_nodes > 1 ? " on " + host_ : ""));
    obey_coordinator();
    return;
  }
  take_leave("was stopped by " + signal_name(signal));
  end(128 + signal, "stopped by " + signal_name(signal));
}

void Launcher::take_leave(const std::string& why) {
  Event bye;
  bye.kind = Event::Kind::bye;
  bye.text = why;
  tell(bye);
}

void Launcher::look_at_workers() {
  const int generation = crew_.assignment().generation;
  for (const Death& death : crew_.collect()) {
    // Those that the launcher itself told to end are not to be blamed.
    if (crew_.told_to_end()) continue;
    announce(generation, death.rank, end_in_words(death.wait_status, death.last_lines));
    Event died;
    died.kind = Event::Kind::died;
    died.generation = generation;
    died.death = death;
    tell(died);
  }
  if (!crew_.empty() || reported_end_) return;
  reported_end_ = true;
  Event ended;
  ended.kind = Event::Kind::ended;
  ended.generation = generation;
  ended.clean = crew_.unclean() == 0 && !crew_.told_to_end();
  ended.workers = crew_.unclean();
  tell(ended);
}

void Launcher::announce(int generation, int rank, const std::string& how) {
  link_->set(std::to_string(generation) + "/exit/" + std::to_string(rank), how);
}

void Launcher::tell(const Event& event) {
  if (coordinator_) {
    coordinator_->hear(id_, event, Clock::now());
    obey_coordinator();
  } else if (link_) {
    link_->set(kReports + id_ + "/" + numbered(events_sent_++), encode(event));
  }
}

void Launcher::obey_coordinator() {
  if (!coordinator_) return;
  // Obeying may give the coordinator something to hear, and that new commands.
  for (std::vector<Command> commands; !(commands = coordinator_->take_commands()).empty();)
    for (const Command& command : commands) {
      const bool for_all = command.kind != Command::Kind::say && command.kind != Command::Kind::announce;
      if (others_may_come() && for_all) link_->set(kCommands + numbered(commands_sent_++), encode(command));
      obey(command);
    }
}

void Launcher::obey(const Command& command) {
  switch (command.kind) {
    case Command::Kind::start:
      if (!status_) start(command);
      break;
    case Command::Kind::stop:
      if (command.generation == crew_.assignment().generation) crew_.stop(command.grace, Clock::now());
      break;
    case Command::Kind::announce:
      for (const Member& member : command.members)
        for (int i = 0; i < member.workers; i++) announce(command.generation, member.first_rank + i, command.text);
      break;
    case Command::Kind::refuse:
      if (command.agent == id_) end(1, "this node was refused: " + command.text);
      break;
    case Command::Kind::end:
      end(command.status, command.text);
      break;
    case Command::Kind::say:
      say(command.text);
      break;
  }
}

void Launcher::start(const Command& command) {
  const auto own = std::find_if(command.members.begin(), command.members.end(),
                                [&](const Member& member) { return member.agent == id_; });
  if (own == command.members.end()) {
    // Once in, a node stays in, unless the first one could not hear it any more.
    if (took_part_) return end(1, "the others have gone on without this node, because it was silent for too long");
    say("generation " + std::to_string(command.generation) + " has all its nodes; this one waits to be needed");
    return;
  }
  Assignment assignment;
  assignment.generation = command.generation;
  assignment.restarts = command.restarts;
  assignment.world_size = command.world_size;
  assignment.nodes = static_cast<int>(command.members.size());
  assignment.node_rank = own->node_rank;
  assignment.first_rank = own->first_rank;
  assignment.master_addr = options_.host.empty() ? "127.0.0.1" : options_.host;
  assignment.master_port = store_->port();
  reported_end_ = false;
  took_part_ = true;
  try {
    crew_.start(assignment);
  } catch (const StartError& error) {
    crew_.kill();
    if (coordinator_) return coordinator_->give_up(error.status, error.what());
    take_leave(std::string("could not start its workers: ") + error.what());
    end(error.status, error.what());
  }
}

void Launcher::end(int status, const std::string& text) {
  if (status_) return;
  status_ = status;
  leave_by_ = Clock::now() + std::chrono::seconds(5);
  crew_.stop(0, Clock::now());
  say(text);
  if (!crew_.log_folder().empty() && (status != 0 || !text.empty())) say("logs: " + crew_.log_folder());
}

void Launcher::read_news() {
  if (!link_ || !others_may_come()) return;
  const std::vector<Link::Entry> news = link_->news();
  if (coordinator_) {
    hear_agents(news);
  } else {
    for (const Link::Entry& entry : news) obey(decode_command(entry.second));
    if (const std::optional<std::string> why = link_->broken(); why && !status_)
      end(1, "the store on " + options_.host +
                 ", which the first node keeps, is gone, and this node cannot go on without it (" + *why + ")");
  }
}

void Launcher::hear_agents(const std::vector<Link::Entry>& news) {
  const size_t begin = std::string(kReports).size();
  for (const auto& [key, value] : news) {
    const std::string agent = key.substr(begin, key.find('/', begin) - begin);
    heard_[agent] = Clock::now();
    if (key.ends_with("/beat")) continue;
    const Event event = decode_event(value);
    coordinator_->hear(agent, event, Clock::now());
    if (event.kind == Event::Kind::lost || event.kind == Event::Kind::bye) heard_.erase(agent);
    obey_coordinator();
  }
}

void Launcher::look_for_silence() {
  if (!others_may_come() || !link_) return;
  const Time now = Clock::now();
  const double limit = std::max(15.0, 6 * options_.monitor_interval);
  // If it was this process that slept (stopped, or a suspended machine), the others have their time again.
  if (now - looked_ > from_seconds(limit / 3)) awake_since_ = now;
  looked_ = now;
  if (now >= beaten_ + from_seconds(options_.monitor_interval)) {
    beaten_ = now;
    link_->set(kReports + id_ + "/beat", std::to_string(now.time_since_epoch().count()));
  }
  if (!coordinator_) {
    if (now - std::max(link_->last_answer(), awake_since_) > from_seconds(limit) && !status_)
      end(1, "the store on " + options_.host + ", which the first node keeps, has not answered for " +
                 std::to_string(static_cast<int>(limit)) + " s");
    return;
  }
  std::erase_if(heard_, [&](const auto& entry) {
    if (entry.first == id_ || now - std::max(entry.second, awake_since_) < from_seconds(limit)) return false;
    Event lost;
    lost.kind = Event::Kind::lost;
    lost.text = "was lost: its launcher has been silent for " + std::to_string(static_cast<int>(limit)) + " s";
    coordinator_->hear(entry.first, lost, now);
    return true;
  });
}

}  // namespace cresset::run
