// How many multiply-adds one core does, in GFLOP/s: what a row of matrix products can reach at most.
#include <cstdio>

#include "plain_loop.h"

int main() { std::printf("fma_peak %f GFLOP/s\n", fma_gflops()); }
