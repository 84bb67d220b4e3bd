// The aliases, in the order of PyTorch's documentation.
#include "cresset/ops/alias_table.h"

namespace cresset {

const std::vector<OpAlias>& op_aliases() {
  static const std::vector<OpAlias> table = {
      {"negative", "neg"},
      {"subtract", "sub"},
      {"multiply", "mul"},
      {"divide", "div"},
      {"true_divide", "div"},
      {"fft::fft", "fft_fft"},
      {"fft::ifft", "fft_ifft"},
      {"fft::rfft", "fft_rfft"},
      {"fft::irfft", "fft_irfft"},
      {"fft::hfft", "fft_hfft"},
      {"fft::ihfft", "fft_ihfft"},
      {"fft::fft2", "fft_fft2"},
      {"fft::ifft2", "fft_ifft2"},
      {"fft::rfft2", "fft_rfft2"},
      {"fft::irfft2", "fft_irfft2"},
      {"fft::hfft2", "fft_hfft2"},
      {"fft::ihfft2", "fft_ihfft2"},
      {"fft::fftn", "fft_fftn"},
      {"fft::ifftn", "fft_ifftn"},
      {"fft::rfftn", "fft_rfftn"},
      {"fft::irfftn", "fft_irfftn"},
      {"fft::hfftn", "fft_hfftn"},
      {"fft::ihfftn", "fft_ihfftn"},
      {"fft::fftfreq", "fft_fftfreq"},
      {"fft::rfftfreq", "fft_rfftfreq"},
      {"fft::fftshift", "fft_fftshift"},
      {"fft::ifftshift", "fft_ifftshift"},
  };
  return table;
}

}  // namespace cresset
