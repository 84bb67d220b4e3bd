// Fourier transforms of one complex line beside FFTW, which plans by measuring and writes into memory of its own. Both
// in the usual measure, 5 n log2(n) operations.
#include <fftw3.h>

#include <cmath>
#include <cstring>
#include <string>

#include "framework.h"

int main() {
  framework::set_num_threads(1);
  for (int n : {1024, 65536, 1000, 10007}) {
    framework::Tensor x = framework::randn({n}, framework::kComplexFloat);
    fftwf_complex *in = fftwf_alloc_complex(static_cast<size_t>(n)), *out = fftwf_alloc_complex(static_cast<size_t>(n));
    fftwf_plan plan = fftwf_plan_dft_1d(n, in, out, FFTW_FORWARD, FFTW_MEASURE);
    std::memcpy(in, x.data_ptr(), sizeof(fftwf_complex) * static_cast<size_t>(n));

    const double work = 5e-9 * n * std::log2(n);
    const int calls = std::max(1, 4'000'000 / n);
    double ours = 1e9, theirs = 1e9;
    for (int round = 0; round < 5; round++) {
      ours = std::min(ours, best_seconds(processor_seconds, calls / 10 + 1, 4, [&] { framework::fft_fft(x); }));
      theirs = std::min(theirs, best_seconds(processor_seconds, calls / 10 + 1, 4, [&] { fftwf_execute(plan); }));
    }
    print_row(("cresset_" + std::to_string(n)).c_str(), work / ours);
    print_row(("fftw_" + std::to_string(n)).c_str(), work / theirs);
    fftwf_destroy_plan(plan);
    fftwf_free(in);
    fftwf_free(out);
  }
}
