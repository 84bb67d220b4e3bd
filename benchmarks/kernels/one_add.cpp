// The smallest program: its compile time, its whole run from exec to exit, and its peak memory are rows.
#ifdef CRESSET
#include <cresset/cresset.h>
namespace framework = cresset;
#else
#include <torch/torch.h>
namespace framework = torch;
#endif

int main() {
  framework::Tensor sum = framework::ones({64}) + framework::ones({64});
  return *sum.data_ptr<float>() == 2 ? 0 : 1;
}
