#include "cresset/distributed/environment.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <initializer_list>

#include "cresset/core/error.h"

namespace cresset::distributed {
namespace {

// The launcher reads what a worker writes through a pipe, which the C library would fill 4 KB at a time: lines would
// come late, and those of a worker that is killed never.
[[maybe_unused]] const bool lines_leave_at_once =
    std::getenv("CRESSET_AGENT_STORE") && !isatty(STDOUT_FILENO) && std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ) == 0;

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

// Ports that neither the system hands out by itself (from 32768) nor anybody else is likely to use.
uint16_t port_of_job(const std::string& job) {
  return static_cast<uint16_t>(20000 + std::hash<std::string>()(job) % 12000);
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

std::optional<int> rank_in_environment() { return first_number({"RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"}); }
std::optional<int> world_size_in_environment() {
  return first_number({"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"});
}
std::optional<int> local_rank_in_environment() {
  return first_number({"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"});
}
std::optional<int> local_world_size_in_environment() {
  return first_number({"LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "SLURM_NTASKS_PER_NODE"});
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
  return message_of(
      "init_process_group: ", variable,
      " is not known: start the program with cresset-run (or mpirun, srun), set the environment variable ", variable,
      ", or give it in InitOptions");
}

Master master_in_environment() {
  Master master{text_in_environment("MASTER_ADDR"), 0};
  if (const auto port = number_in_environment("MASTER_PORT")) {
    CRESSET_CHECK_AS(ValueError, *port > 0 && *port < 65536, "MASTER_PORT: found ", *port, " (expected 1 to 65535)");
    master.port = static_cast<uint16_t>(*port);
  }
  const std::string slurm_job = text_in_environment("SLURM_JOB_ID");
  const bool slurm = number_in_environment("SLURM_PROCID") && !slurm_job.empty();
  const bool mpirun = number_in_environment("OMPI_COMM_WORLD_RANK").has_value();
  if (master.host.empty() && mpirun) {
    // Other hosts would have to be told where rank 0 is, and mpirun does not say.
    const auto local = number_in_environment("OMPI_COMM_WORLD_LOCAL_SIZE"),
               all = number_in_environment("OMPI_COMM_WORLD_SIZE");
    CRESSET_CHECK_AS(DistributedError, local == all, "init_process_group: mpirun spread ", all.value_or(0),
                     " ranks over several hosts: give the address of rank 0's (mpirun -x MASTER_ADDR=HOST -x "
                     "MASTER_PORT=PORT)");
    master.host = "127.0.0.1";
  } else if (master.host.empty() && slurm) {
    master.host = first_of_nodelist(text_in_environment("SLURM_NODELIST"));
  }
  if (master.port == 0 && mpirun) {
    std::string job = text_in_environment("PMIX_NAMESPACE");
    if (job.empty()) job = text_in_environment("OMPI_MCA_ess_base_jobid");
    master.port = port_of_job(job.empty() ? std::to_string(getppid()) : job);
  } else if (master.port == 0 && slurm) {
    master.port = port_of_job(slurm_job + "." + text_in_environment("SLURM_STEP_ID"));
  }
  CRESSET_CHECK_AS(DistributedError, !master.host.empty(), how_to_set("MASTER_ADDR"), " (init_method tcp://HOST:PORT)");
  CRESSET_CHECK_AS(DistributedError, master.port != 0, how_to_set("MASTER_PORT"), " (init_method tcp://HOST:PORT)");
  return master;
}

}  // namespace cresset::distributed
