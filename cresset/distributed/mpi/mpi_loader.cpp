#include "cresset/distributed/mpi/mpi_loader.h"

#include <mutex>

#include "cresset/core/backend_loader.h"
#include "cresset/distributed/collectives.h"

namespace cresset::distributed {
namespace {

MpiFunctions registered;

bool load(std::string& error) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return registered.connect || (load_library("libcresset_mpi.so", error) && registered.connect);
}

}  // namespace

void register_mpi(const MpiFunctions& functions) { registered = functions; }

bool is_mpi_available() {
  std::string error;
  return load(error);
}

std::shared_ptr<Transport> connect_mpi(const std::string& name, const std::vector<int>& ranks, int place) {
  std::string error;
  CRESSET_CHECK_AS(DistributedError, load(error), "init_process_group: the backend mpi is not built in (", error,
                   "); install libopenmpi-dev and build again");
  return registered.connect(name, ranks, place);
}

void give_up_mpi() {
  if (registered.give_up) registered.give_up();
}

void finalize_mpi() {
  if (registered.finalize) registered.finalize();
}

}  // namespace cresset::distributed
