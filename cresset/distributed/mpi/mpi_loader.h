// The MPI transport is a library of its own, libcresset_mpi.so, loaded when the backend "mpi" is asked for: programs
// that do not use MPI must not load it.
#pragma once

#include <memory>
#include <vector>

#include "cresset/distributed/transport.h"

namespace cresset::distributed {

// Connects these ranks of MPI's world; `place` is this process's index among them.
std::shared_ptr<Transport> connect_mpi(const std::vector<int>& ranks, int place);

// For the library: it registers how to connect when it is loaded.
using MpiConnect = std::shared_ptr<Transport> (*)(const std::vector<int>& ranks, int place);
CRESSET_API void register_mpi(MpiConnect connect);

}  // namespace cresset::distributed
