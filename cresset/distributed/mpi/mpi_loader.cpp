#include "cresset/distributed/mpi/mpi_loader.h"

#include <mutex>

#include "cresset/core/backend_loader.h"
#include "cresset/distributed/collectives.h"

namespace cresset::distributed {
namespace {

MpiConnect registered = nullptr;

bool load(std::string& error) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return registered || (load_library("libcresset_mpi.so", error) && registered);
}

}  // namespace

void register_mpi(MpiConnect connect) { registered = connect; }

bool is_mpi_available() {
  std::string error;
  return load(error);
}

std::shared_ptr<Transport> connect_mpi(const std::vector<int>& ranks, int place) {
  std::string error;
  CRESSET_CHECK_AS(DistributedError, load(error), "init_process_group: the backend mpi is not built in (", error,
                   "); install libopenmpi-dev and build again");
  return registered(ranks, place);
}

}  // namespace cresset::distributed
