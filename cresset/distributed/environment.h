// What the launcher, mpirun or srun tell a process about itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cresset/core/export.h"

namespace cresset::distributed {

// A whole number in an environment variable; nothing when it is not set, an error that names it when it is no number.
CRESSET_API std::optional<int64_t> number_in_environment(const char* variable);
std::string text_in_environment(const char* variable);  // empty when not set

// Each from torchrun's names, then mpirun's, then srun's.
CRESSET_API std::optional<int> rank_in_environment();
CRESSET_API std::optional<int> world_size_in_environment();
CRESSET_API std::optional<int> local_rank_in_environment();
CRESSET_API std::optional<int> local_world_size_in_environment();

struct Master {
  std::string host;
  uint16_t port = 0;
};
// MASTER_ADDR and MASTER_PORT. Without them: under srun and mpirun on one host loopback, under srun on several the
// first host of the step, and a port that follows from the number of the job.
CRESSET_API Master master_in_environment();

// The first name of Slurm's list of nodes: "node[003-007,9]" gives "node003".
CRESSET_API std::string first_of_nodelist(const std::string& list);

// Of Slurm's list of tasks per node: "4(x2),3" gives 4, 4 and 3 for the nodes 0, 1 and 2, and nothing behind them.
CRESSET_API std::optional<int> tasks_on_node(const std::string& list, int node);

// "Without rank …": how to give what is missing.
std::string how_to_set(const char* variable);

}  // namespace cresset::distributed
