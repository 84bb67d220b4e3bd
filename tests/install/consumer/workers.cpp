// Several processes of an installed library, as cresset-run starts them: their ranks add up.
#include <cresset/distributed/distributed.h>
#include <cresset/ops/all.h>

#include <cstdio>

namespace dist = cresset::distributed;

int main() {
  dist::init_process_group();
  const int size = dist::get_world_size();
  cresset::Tensor ranks = cresset::full({1000}, dist::get_rank() + 1.0);
  dist::all_reduce(ranks);
  const bool right = ranks.eq(size * (size + 1) / 2.0).all().item<bool>();
  dist::destroy_process_group();
  if (!right) std::printf("a wrong sum\n");
  return right && size == 2 ? 0 : 1;
}
