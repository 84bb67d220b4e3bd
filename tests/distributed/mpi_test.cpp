// The backend mpi, and programs under mpirun that use Gloo: each case is two real processes of mpi_worker.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "cresset/distributed/distributed.h"
#include "tests/distributed/processes.h"

namespace cresset::distributed {
namespace {

#ifdef CRESSET_MPI_WORKER

// What the two processes said, and mpirun's status. mpirun itself ends them after a minute.
std::string under_mpirun(const std::string& mode, int* status) {
  const std::string command =
      "env -u RANK -u WORLD_SIZE -u MASTER_ADDR -u MASTER_PORT OMP_NUM_THREADS=1 "
      "timeout --kill-after=5 90 mpirun -n 2 --oversubscribe --allow-run-as-root " CRESSET_MPI_WORKER " " +
      mode + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return "popen failed";
  std::string out;
  char buffer[4096];
  while (const size_t count = fread(buffer, 1, sizeof buffer, pipe)) out.append(buffer, count);
  *status = pclose(pipe);
  return out;
}

void expect_good(const std::string& mode, const std::string& backend) {
  int status = 0;
  const std::string text = under_mpirun(mode, &status);
  EXPECT_EQ(status, 0) << text;
  for (const char* rank : {"0", "1"})
    EXPECT_NE(text.find(std::string("rank ") + rank + " of 2, local " + rank + ", " + backend + ": good"),
              std::string::npos)
        << text;
}

TEST(Mpi, CarriesEveryCollective) { expect_good("collectives", "mpi"); }

TEST(Mpi, EndsInOrderWithoutDestroyProcessGroup) { expect_good("forgetful", "mpi"); }

TEST(Mpi, StartsProgramsThatUseGloo) { expect_good("gloo", "gloo"); }

TEST(Mpi, ComparesBeforeItSends) {
  int status = 0;
  const std::string text = under_mpirun("mismatch", &status);
  for (const char* rank : {"0", "1"})
    EXPECT_NE(text.find(std::string("rank ") + rank + " of 2, local " + rank +
                        ", mpi: all_reduce #1 (group default): ranks disagree: rank 0 called all_reduce(SUM) of "
                        "float32[10], rank 1 called all_reduce(SUM) of float64[10]"),
              std::string::npos)
        << text;
}

#else

TEST(Mpi, IsRefusedByABuildWithoutIt) {
  const auto outcome = cresset::testing::run_ranks(1, [](int) {
    EXPECT_FALSE(is_mpi_available());
    const std::string error = cresset::test::message_when([] { init_process_group("mpi"); });
    EXPECT_EQ(error.find("init_process_group: the backend mpi is not built in"), 0u) << error;
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

#endif

}  // namespace
}  // namespace cresset::distributed
