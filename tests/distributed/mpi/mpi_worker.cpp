// What mpi_test.cpp starts under mpirun: mpi_worker collectives|mismatch|gloo|forgetful. Says "rank N: …" and ends with
// 0.
#include <cstdio>
#include <cstring>
#include <thread>

#include "cresset/cresset.h"
#include "cresset/distributed/distributed.h"

namespace {

using namespace cresset;
namespace dist = cresset::distributed;

void expect(bool good, const char* what) {
  if (good) return;
  std::printf("rank %d: wrong: %s\n", dist::get_rank(), what);
  std::fflush(stdout);
  std::exit(1);
}

void check_collectives(int rank) {
  for (const int64_t count : {1, 1000, 300'001}) {
    for (const DType dtype : {kFloat32, kBFloat16, kInt64, kBool}) {
      Tensor x = full({count}, rank + 1, TensorOptions(dtype));
      dist::all_reduce(x);
      expect(equal(x, full({count}, 3, TensorOptions(dtype))), "all_reduce");
      x = full({count}, rank, TensorOptions(dtype));
      dist::broadcast(x, 1);
      expect(equal(x, full({count}, 1, TensorOptions(dtype))), "broadcast");
    }
    Tensor x = full({count}, rank + 1.0f), a = zeros({count}), b = zeros({count});
    dist::all_gather({a, b}, x);
    expect(equal(a, full({count}, 1.0f)) && equal(b, full({count}, 2.0f)), "all_gather");
    dist::reduce_scatter(a, {x, x}, dist::ReduceOp::AVG);
    expect(equal(a, full({count}, 1.5f)), "reduce_scatter");
    dist::all_to_all({a, b}, {x, x});
    expect(equal(a, full({count}, 1.0f)) && equal(b, full({count}, 2.0f)), "all_to_all");
    dist::reduce(x, 0, dist::ReduceOp::MAX);
    if (rank == 0) expect(equal(x, full({count}, 2.0f)), "reduce");
    if (rank == 0) dist::send(full({count}, 5.0f), 1, 2);
    if (rank == 1) expect(dist::recv(a, {}, 2) == 0 && equal(a, full({count}, 5.0f)), "recv from any source");
  }
  std::vector<dist::Work> works;
  std::vector<Tensor> tensors;
  for (int i = 0; i < 10; i++) {
    tensors.push_back(full({10'000}, static_cast<float>(rank + i)));
    works.push_back(dist::all_reduce(tensors.back(), dist::CollectiveOptions::async()));
  }
  for (int i = 0; i < 10; i++) {
    works[static_cast<size_t>(i)].wait();
    expect(tensors[static_cast<size_t>(i)].max().item<float>() == 1 + 2 * i, "asynchronous all_reduce");
  }
  const dist::Group group = dist::new_group({0, 1});
  dist::barrier(group);
  const dist::Group over_sockets = dist::new_group({0, 1}, {}, "gloo");
  Tensor sum = full({100}, rank + 1.0f);
  dist::all_reduce(sum, over_sockets);
  expect(equal(sum, full({100}, 3.0f)) && dist::get_backend(over_sockets) == "gloo", "a group of another backend");
  expect(dist::all_gather_object(std::string(static_cast<size_t>(rank), 'x'))[1] == "x", "objects");
}

}  // namespace

int main(int, char** arguments) {
  const std::string mode = arguments[1];
  dist::InitOptions options;
  options.backend = mode == "gloo" ? "gloo" : "mpi";
  options.timeout = std::chrono::seconds(60);
  dist::init_process_group(options);
  const int rank = dist::get_rank();
  std::string outcome = "good";
  if (mode == "mismatch") {
    try {
      dist::all_reduce(rank == 0 ? ones({10}) : ones({10}, kFloat64));
      outcome = "no error";
    } catch (const std::exception& error) {
      outcome = error.what();
    }
  } else {
    check_collectives(rank);
  }
  std::printf("rank %d of %d, local %d, %s: %s\n", rank, dist::get_world_size(), dist::get_local_rank(),
              dist::get_backend().c_str(), outcome.c_str());
  std::fflush(stdout);
  if (mode == "forgetful") return 0;
  dist::destroy_process_group();
}
