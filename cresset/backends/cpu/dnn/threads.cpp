// OpenMP's threads, which oneDNN and OpenBLAS share where they are not called on one thread.
#include <omp.h>

#include "cresset/core/library_threads.h"

namespace cresset::cpu {
namespace {

constexpr detail::LibraryThreads threads{omp_get_max_threads, omp_set_num_threads,
                                         [] { return omp_in_parallel() != 0; }, omp_get_thread_num};
[[maybe_unused]] const bool registered = (detail::register_library_threads(&threads), true);

}  // namespace
}  // namespace cresset::cpu
