#include "cresset/distributed/environment.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <sstream>

#include "cresset/core/error.h"

namespace cresset::distributed {
namespace {

// A task that srun started. A batch script has a rank and a number of tasks, too, but it is one process, and those
// tasks are still to be started; only a step has a number.
bool in_slurm_step() { return std::getenv("SLURM_STEP_ID") && std::getenv("SLURM_PROCID"); }

// The launcher and srun read what a worker writes through a pipe, which the C library would fill 4 KB at a time: lines
// would come late, and those of a worker that is killed never.
[[maybe_unused]] const bool lines_leave_at_once = (std::getenv("CRESSET_AGENT_STORE") || in_slurm_step()) &&
                                                  !isatty(STDOUT_FILENO) &&
                                                  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ) == 0;

std::optional<int> first_number(std::initializer_list<const char*> variables) {
  for (const char* variable : variables) {
    const auto value = number_in_environment(variable);
    if (!value) continue;
    CRESSET_CHECK_AS(ValueError, *value >= 0 && *value < (1 << 24), variable, ": found ", *value,
                     " (expected a number from 0)");
    return static_cast<int>(*value);
  }
  return {};
}

std::optional<int> number_of_step(const char* variable) {
  return in_slurm_step() ? first_number({variable}) : std::nullopt;
}

// Ports that neither the system hands out by itself (from 32768) nor anybody else is likely to use.
uint16_t port_of_job(size_t job) { return static_cast<uint16_t>(20000 + job % 12000); }

// Jobs that share a node have numbers near each other, and so have a job's steps: none of these has another's port.
uint16_t port_of_slurm_step() {
  const auto job = number_in_environment("SLURM_JOB_ID"), step = number_in_environment("SLURM_STEP_ID");
  return port_of_job(static_cast<size_t>(job.value_or(0)) * 101 + static_cast<size_t>(step.value_or(0)));
}

uint16_t port_of_mpirun() {
  std::string job = text_in_environment("PMIX_NAMESPACE");
  if (job.empty()) job = text_in_environment("OMPI_MCA_ess_base_jobid");
  return port_of_job(std::hash<std::string>()(job.empty() ? std::to_string(getppid()) : job));
}

// Other hosts would have to be told where rank 0 is, and mpirun does not say.
std::string host_of_mpirun() {
  const auto local = number_in_environment("OMPI_COMM_WORLD_LOCAL_SIZE"),
             all = number_in_environment("OMPI_COMM_WORLD_SIZE");
  CRESSET_CHECK_AS(DistributedError, local == all, "init_process_group: mpirun spread ", all.value_or(0),
                   " ranks over several hosts: give the address of rank 0's (mpirun -x MASTER_ADDR=HOST -x "
                   "MASTER_PORT=PORT)");
  return "127.0.0.1";
}

// Of the step: the job may have more nodes, and others first.
std::string host_of_slurm_step() {
  if (number_in_environment("SLURM_STEP_NUM_NODES") == 1) return "127.0.0.1";
  return first_of_nodelist(text_in_environment("SLURM_STEP_NODELIST"));
}

}  // namespace

std::string text_in_environment(const char* variable) {
  const char* text = std::getenv(variable);
  return text ? text : "";
}

std::optional<int64_t> number_in_environment(const char* variable) {
  const std::string text = text_in_environment(variable);
  if (text.empty()) return {};
  errno = 0;
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  CRESSET_CHECK_AS(ValueError, errno == 0 && *end == 0, variable, ": found \"", text, "\" (expected a whole number)");
  return value;
}

std::optional<int> rank_in_environment() {
  const auto rank = first_number({"RANK", "OMPI_COMM_WORLD_RANK"});
  return rank ? rank : number_of_step("SLURM_PROCID");
}
std::optional<int> world_size_in_environment() {
  const auto size = first_number({"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE"});
  return size ? size : number_of_step("SLURM_STEP_NUM_TASKS");
}
std::optional<int> local_rank_in_environment() {
  const auto rank = first_number({"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK"});
  return rank ? rank : number_of_step("SLURM_LOCALID");
}
std::optional<int> local_world_size_in_environment() {
  const auto size = first_number({"LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"});
  const auto node = number_of_step("SLURM_NODEID");
  return size || !node ? size : tasks_on_node(text_in_environment("SLURM_STEP_TASKS_PER_NODE"), *node);
}

std::optional<int> tasks_on_node(const std::string& list, int node) {
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');) {
    int tasks = 0, nodes = 1;
    if (std::sscanf(part.c_str(), "%d(x%d)", &tasks, &nodes) < 1) return {};
    if (node < nodes) return tasks;
    node -= nodes;
  }
  return {};
}

std::string first_of_nodelist(const std::string& list) {
  const size_t end = list.find_first_of(",[");
  if (end == std::string::npos || list[end] == ',') return list.substr(0, end);
  const size_t close = list.find_first_of(",-]", end);
  if (close == std::string::npos) return list.substr(0, end);
  std::string name = list.substr(0, end) + list.substr(end + 1, close - end - 1);
  // What may stand behind the brackets belongs to every name.
  const size_t bracket = list.find(']', close);
  if (bracket == std::string::npos) return name;
  return name + list.substr(bracket + 1, list.find(',', bracket) - bracket - 1);
}

std::string how_to_set(const char* variable) {
  const bool in_batch_script = std::getenv("SLURM_JOB_ID") && !in_slurm_step();
  return message_of(
      "init_process_group: ", variable,
      " is not known: start the program with cresset-run (or mpirun, srun), set the environment variable ", variable,
      ", or give it in InitOptions",
      in_batch_script ? " (this process is in a Slurm job, but none of its tasks: srun PROGRAM starts those)" : "");
}

Master master_in_environment() {
  Master master{text_in_environment("MASTER_ADDR"), 0};
  if (const auto port = number_in_environment("MASTER_PORT")) {
    CRESSET_CHECK_AS(ValueError, *port > 0 && *port < 65536, "MASTER_PORT: found ", *port, " (expected 1 to 65535)");
    master.port = static_cast<uint16_t>(*port);
  }
  const bool mpirun = number_in_environment("OMPI_COMM_WORLD_RANK").has_value();
  if (mpirun || in_slurm_step()) {
    if (master.host.empty()) master.host = mpirun ? host_of_mpirun() : host_of_slurm_step();
    if (master.port == 0) master.port = mpirun ? port_of_mpirun() : port_of_slurm_step();
  }
  CRESSET_CHECK_AS(DistributedError, !master.host.empty(), how_to_set("MASTER_ADDR"), " (init_method tcp://HOST:PORT)");
  CRESSET_CHECK_AS(DistributedError, master.port != 0, how_to_set("MASTER_PORT"), " (init_method tcp://HOST:PORT)");
  return master;
}

}  // namespace cresset::distributed
