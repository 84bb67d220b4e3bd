// One table of options; each entry says how its value is read.
#include "options.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>

namespace cresset::run {
namespace {

[[noreturn]] void wrong(const std::string& option, const std::string& found, const std::string& wanted) {
  throw UsageError("--" + option + ": found '" + found + "' (expected " + wanted + ")");
}

std::optional<int> number_in(const std::string& text, int least, int most) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) return std::nullopt;
  return value;
}

int whole_number(const std::string& option, const std::string& text, int least, int most, const std::string& wanted) {
  const std::optional<int> value = number_in(text, least, most);
  if (!value) wrong(option, text, wanted);
  return *value;
}

double seconds(const std::string& option, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value) || value < 0 || value > 1e7)
    wrong(option, text, "a number of seconds");
  return value;
}

int gpus_of_this_machine() {
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
    const std::string list = visible;
    return list.empty() ? 0 : static_cast<int>(std::count(list.begin(), list.end(), ',')) + 1;
  }
  int count = 0;
  while (std::filesystem::exists("/dev/nvidia" + std::to_string(count))) count++;
  return count;
}

int workers_of(const std::string& option, const std::string& text) {
  const int gpus = text == "auto" || text == "gpu" ? gpus_of_this_machine() : 0;
  if (text == "cpu" || (text == "auto" && gpus == 0)) return available_cores();
  if (text == "gpu" && gpus == 0)
    throw UsageError("--nproc-per-node: found 'gpu', but this machine shows no GPU (expected a number, auto or cpu)");
  if (text == "auto" || text == "gpu") return gpus;
  return whole_number(option, text, 1, 4096, "a number from 1 to 4096, auto, cpu or gpu");
}

void read_nodes(Options& options, const std::string& option, const std::string& text) {
  const size_t colon = text.find(':');
  const std::optional<int> least = number_in(text.substr(0, colon), 1, 65536);
  const std::optional<int> most = colon == std::string::npos ? least : number_in(text.substr(colon + 1), 1, 65536);
  if (!least || !most) wrong(option, text, "a number of nodes, or MIN:MAX");
  if (*most < *least) wrong(option, text, "MIN:MAX with MIN not above MAX");
  options.min_nodes = *least;
  options.max_nodes = *most;
}

void read_endpoint(Options& options, const std::string& option, const std::string& text) {
  const size_t colon = text.rfind(':');
  const std::optional<int> port =
      colon == std::string::npos || colon == 0 ? std::nullopt : number_in(text.substr(colon + 1), 0, 65535);
  if (!port) wrong(option, text, "HOST:PORT, such as node0:29400 or [::1]:29400");
  options.port = static_cast<uint16_t>(*port);
  options.host = text.substr(0, colon);
  if (options.host.front() == '[' && options.host.back() == ']')
    options.host = options.host.substr(1, options.host.size() - 2);
}

// Streams as torchrun numbers them, for all local ranks ("3") or for some ("0:3,1:1"), the others then having none.
struct StreamTable {
  std::map<int, Streams> of_rank;
  Streams of_others;

  Streams of(int local_rank) const {
    const auto found = of_rank.find(local_rank);
    return found == of_rank.end() ? of_others : found->second;
  }
};

Streams streams_of(const std::string& option, const std::string& text) {
  if (text == "all") return {true, true};
  const int bits = whole_number(option, text, 0, 3, "0 for none, 1 for stdout, 2 for stderr, 3 or all for both");
  return {(bits & 1) != 0, (bits & 2) != 0};
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

StreamTable stream_table(const std::string& option, const std::string& text) {
  StreamTable table;
  if (text.find(':') == std::string::npos) {
    table.of_others = streams_of(option, text);
    return table;
  }
  for (const std::string& part : split(text, ',')) {
    const size_t colon = part.find(':');
    if (colon == std::string::npos) wrong(option, text, "0 to 3, all, or RANK:STREAMS with commas between");
    const int rank = whole_number(option, part.substr(0, colon), 0, 4095, "a local rank before the colon");
    table.of_rank[rank] = streams_of(option, part.substr(colon + 1));
  }
  return table;
}

std::string read_token_file(const std::string& path) {
  std::ifstream file(path);
  std::string token;
  if (!file || !std::getline(file, token) || token.empty())
    throw UsageError("--token-file: found no token in '" + path + "' (expected a file whose first line is the token)");
  return token;
}

// What must be known as a whole before it can be put to use.
struct Raw {
  std::optional<StreamTable> tee, redirects;
  std::optional<std::vector<int>> filter;
  std::string master_addr, master_port;
  bool standalone = false;
};

struct Option {
  bool takes_value;
  std::function<void(const std::string& name, const std::string& value)> read;
};

std::map<std::string, Option> option_table(Options& o, Raw& raw) {
  using Text = const std::string&;
  return {
      {"nproc-per-node", {true, [&](Text n, Text v) { o.workers = workers_of(n, v); }}},
      {"nnodes", {true, [&](Text n, Text v) { read_nodes(o, n, v); }}},
      {"node-rank", {true, [&](Text n, Text v) { o.node_rank = whole_number(n, v, 0, 65535, "a number from 0"); }}},
      {"rdzv-endpoint", {true, [&](Text n, Text v) { read_endpoint(o, n, v); }}},
      {"rdzv-id", {true, [&](Text, Text v) { o.run_id = v; }}},
      {"rdzv-backend",
       {true,
        [&](Text n, Text v) {
          if (v != "c10d" && v != "static") wrong(n, v, "c10d or static; Cresset's own store serves for both");
          o.notes.push_back("--rdzv-backend " + v + " is not needed: the launchers meet in Cresset's own store");
        }}},
      {"rdzv-timeout", {true, [&](Text n, Text v) { o.rendezvous_timeout = seconds(n, v); }}},
      {"last-call", {true, [&](Text n, Text v) { o.last_call = seconds(n, v); }}},
      {"standalone", {false, [&](Text, Text) { raw.standalone = true; }}},
      {"master-addr", {true, [&](Text, Text v) { raw.master_addr = v; }}},
      {"master-port",
       {true,
        [&](Text n, Text v) {
          whole_number(n, v, 0, 65535, "a port from 0 to 65535");
          raw.master_port = v;
        }}},
      {"max-restarts",
       {true, [&](Text n, Text v) { o.max_restarts = whole_number(n, v, 0, 1000000, "a number from 0"); }}},
      {"monitor-interval", {true, [&](Text n, Text v) { o.monitor_interval = std::max(0.1, seconds(n, v)); }}},
      {"stop-grace", {true, [&](Text n, Text v) { o.stop_grace = seconds(n, v); }}},
      {"log-dir", {true, [&](Text, Text v) { o.log_dir = v; }}},
      {"tee", {true, [&](Text n, Text v) { raw.tee = stream_table(n, v); }}},
      {"redirects", {true, [&](Text n, Text v) { raw.redirects = stream_table(n, v); }}},
      {"local-ranks-filter",
       {true,
        [&](Text n, Text v) {
          raw.filter.emplace();
          for (const std::string& part : split(v, ','))
            raw.filter->push_back(whole_number(n, part, 0, 4095, "local ranks with commas between"));
        }}},
      {"token", {true, [&](Text, Text v) { o.token = v; }}},
      {"token-file", {true, [&](Text, Text v) { o.token = read_token_file(v); }}},
      {"no-prefix", {false, [&](Text, Text) { o.prefix = false; }}},
      {"help", {false, [&](Text, Text) { o.asked = Options::Asked::help; }}},
      {"version", {false, [&](Text, Text) { o.asked = Options::Asked::version; }}},
  };
}

void settle_nodes(Options& o, const Raw& raw) {
  if (!raw.master_addr.empty() || !raw.master_port.empty()) {
    if (!o.host.empty())
      throw UsageError("--rdzv-endpoint and --master-addr both say where the store is (expected one of them)");
    o.host = raw.master_addr.empty() ? "127.0.0.1" : raw.master_addr;
    o.port = raw.master_port.empty() ? 0 : static_cast<uint16_t>(std::stoi(raw.master_port));
  }
  if (raw.standalone && o.max_nodes > 1)
    throw UsageError("--standalone is for one node, but --nnodes is up to " + std::to_string(o.max_nodes));
  if (raw.standalone) {
    if (!o.host.empty()) o.notes.push_back("--standalone: the store is on loopback, not at " + o.host);
    o.host.clear();
    o.port = 0;
  }
  if (o.max_nodes > 1 && (o.host.empty() || o.port == 0))
    throw UsageError("--nnodes: found " + std::to_string(o.max_nodes) +
                     " nodes, which must know where to meet (expected --rdzv-endpoint HOST:PORT of the first node)");
  if (o.node_rank >= o.max_nodes)
    throw UsageError("--node-rank: found " + std::to_string(o.node_rank) + " (expected less than --nnodes, " +
                     std::to_string(o.max_nodes) + ")");
}

void settle_streams(Options& o, const Raw& raw) {
  if (raw.redirects && o.log_dir.empty())
    throw UsageError("--redirects sends streams to files (expected --log-dir with it)");
  if (raw.tee && o.log_dir.empty())
    throw UsageError("--tee says what is shown beside the log files (expected --log-dir with it)");
  for (int rank = 0; rank < o.workers; rank++) {
    Streams shown{true, true};
    if (raw.redirects) shown = {!raw.redirects->of(rank).out, !raw.redirects->of(rank).err};
    if (raw.tee) {
      const Streams tee = raw.tee->of(rank);
      shown = raw.redirects ? Streams{shown.out || tee.out, shown.err || tee.err} : tee;
    }
    if (raw.filter && std::find(raw.filter->begin(), raw.filter->end(), rank) == raw.filter->end()) shown = {};
    o.shown.push_back(shown);
  }
}

std::string fresh_run_id() {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &parts);
  return std::string(text) + "-" + std::to_string(getpid());
}

void settle(Options& o, const Raw& raw) {
  if (o.program.empty()) throw UsageError("the program is missing (expected cresset-run [OPTIONS] PROGRAM [ARGS])");
  settle_nodes(o, raw);
  settle_streams(o, raw);
  if (const char* token = std::getenv("CRESSET_TOKEN"); token && o.token.empty()) o.token = token;
  if (o.run_id.empty()) o.run_id = o.max_nodes > 1 ? "default" : fresh_run_id();
  if (o.run_id.find('/') != std::string::npos) wrong("rdzv-id", o.run_id, "a name without slashes");
}

}  // namespace

Options parse_options(const std::vector<std::string>& arguments) {
  Options options;
  Raw raw;
  const std::map<std::string, Option> table = option_table(options, raw);
  size_t i = 0;
  for (; i < arguments.size(); i++) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      i++;
      break;
    }
    if (argument.size() < 2 || argument[0] != '-') break;
    if (argument == "-h") {
      options.asked = Options::Asked::help;
      return options;
    }
    const size_t equals = argument.find('=');
    std::string name = argument.substr(0, equals);
    std::replace(name.begin(), name.end(), '_', '-');
    const auto found = name.starts_with("--") ? table.find(name.substr(2)) : table.end();
    if (found == table.end()) throw UsageError("there is no option " + argument.substr(0, equals));
    const auto& [key, option] = *found;
    std::string value;
    if (!option.takes_value) {
      if (equals != std::string::npos) throw UsageError("--" + key + " takes no value");
    } else if (equals != std::string::npos) {
      value = argument.substr(equals + 1);
    } else {
      if (i + 1 == arguments.size()) throw UsageError("--" + key + " needs a value");
      value = arguments[++i];
    }
    if (option.takes_value && value.empty()) throw UsageError("--" + key + " needs a value");
    option.read(key, value);
    if (options.asked != Options::Asked::run) return options;
  }
  if (i < arguments.size()) {
    options.program = arguments[i];
    options.arguments.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
  }
  settle(options, raw);
  return options;
}

int available_cores() {
  // The mask of a large machine does not fit the fixed type.
  for (size_t cpus = 1024; cpus <= (1u << 20); cpus *= 2) {
    cpu_set_t* set = CPU_ALLOC(cpus);
    const size_t bytes = CPU_ALLOC_SIZE(cpus);
    const bool known = sched_getaffinity(0, bytes, set) == 0;
    const int count = known ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (known) return std::max(1, count);
  }
  return 1;
}

const char* help_text() {
  return
      R"(usage: cresset-run [OPTIONS] PROGRAM [ARGS...]

Starts PROGRAM once per worker, with RANK, WORLD_SIZE, MASTER_ADDR and the like in the environment, as torchrun does.
When a worker dies, it says which and why, stops the others, and starts all again while restarts are left.
A PROGRAM that ends in .py is run by python3.

  --nproc-per-node N       workers on this node: a number, cpu (one per core), gpu, or auto (default 1)
  --max-restarts N         how often all workers are started again after one has failed (default 0)
  --stop-grace SECONDS     from SIGTERM to SIGKILL for a worker that is to stop (default 5)

output
  --log-dir DIR            also writes DIR/ID/attempt_N/RANK/stdout.log and stderr.log
  --tee STREAMS            what is still shown with --log-dir: 0 nothing, 1 stdout, 2 stderr, 3 or all both (default);
                           for some local ranks only: 0:3,1:2
  --redirects STREAMS      what goes to the files of --log-dir only
  --local-ranks-filter A,B shows the output of these local ranks only
  --no-prefix              lines are shown without "[rank N] "
                           (with one rank shown, that worker writes to the terminal itself)

several nodes (one cresset-run on each, with the same options)
  --nnodes N | MIN:MAX     how many nodes (default 1); with MIN:MAX nodes may come and go
  --rdzv-endpoint HOST:PORT  where the first node keeps the store; whoever can bind it is the first node
  --node-rank N            the place of this node; 0 keeps the store (default: the order of arrival)
  --master-addr HOST, --master-port PORT   the same as --rdzv-endpoint HOST:PORT
  --rdzv-id NAME           the run's name, the same on all nodes
  --rdzv-timeout SECONDS   how long nodes wait for each other (default 300)
  --last-call SECONDS      how long MIN nodes wait for more (default 3)
  --monitor-interval SECONDS  between two signs of life of a node (default 1); a worker's death is seen at once
  --standalone             one node, store on loopback (the default)
  --rdzv-backend NAME      accepted: c10d, static

  --token TEXT             the secret that workers and nodes must share; better --token-file FILE or CRESSET_TOKEN; random on one node
  --help, --version
)";
}

}  // namespace cresset::run
