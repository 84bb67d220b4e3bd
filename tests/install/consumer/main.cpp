// A user's program: built against an installed Cresset, it needs the ops' registrations, a gradient and a heavy kernel.
#include <cresset/cresset.h>

#include <cstdio>

int main() {
  const auto sum = (cresset::ones({2, 3}) + cresset::ones({2, 3})).sum().item<float>();

  auto x = cresset::full({4}, 3.0f).requires_grad_(true);
  (x * x).sum().backward();
  const auto slope = x.grad().sum().item<float>();

  const auto product = cresset::mm(cresset::ones({256, 256}), cresset::ones({256, 256})).sum().item<float>();

  std::printf("sum %g, slope %g, product %g\n", sum, slope, product);
  return sum == 12 && slope == 24 && product == 256 * 256 * 256 ? 0 : 1;
}
