// The MPI transport is a library of its own, libcresset_mpi.so, loaded when the backend "mpi" is asked for: programs
// that do not use MPI must not load it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cresset/distributed/transport.h"

namespace cresset::distributed {

// Connects these ranks of MPI's world; `place` is this process's index among them, and all give the same name.
std::shared_ptr<Transport> connect_mpi(const std::string& name, const std::vector<int>& ranks, int place);
// An operation has failed: what the others wait for may never come, and MPI's end would wait for them.
void give_up_mpi();
// At the end of the process, without which mpirun takes it for a crash. Does nothing where MPI was not used, or after
// give_up_mpi.
void finalize_mpi();

// What the library registers when it is loaded.
struct MpiFunctions {
  std::shared_ptr<Transport> (*connect)(const std::string& name, const std::vector<int>& ranks, int place) = nullptr;
  void (*give_up)() = nullptr;
  void (*finalize)() = nullptr;
};
CRESSET_API void register_mpi(const MpiFunctions& functions);

}  // namespace cresset::distributed
