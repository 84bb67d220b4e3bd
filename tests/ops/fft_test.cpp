// Fourier transforms against sums in long double: how exact they are for every kind of length, that lines side by side,
// strided ones and single ones agree, and that the number of threads changes nothing.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <vector>

#include "cresset/core/parallel.h"
#include "cresset/cresset.h"

namespace cresset {
namespace {

using Exact = std::complex<long double>;

class ExactSums {
 public:
  explicit ExactSums(int64_t n) : n_(n) {
    for (int64_t k = 0; k < n; k++)
      roots_.push_back(
          std::polar(1.0L, -2 * std::acos(-1.0L) * static_cast<long double>(k) / static_cast<long double>(n)));
  }
  Exact at(const Exact* x, int64_t k) const {
    Exact sum = 0;
    for (int64_t j = 0, turn = 0; j < n_; j++, turn = (turn + k) % n_) sum += x[j] * roots_[static_cast<size_t>(turn)];
    return sum;
  }

 private:
  int64_t n_;
  std::vector<Exact> roots_;
};

template <class T>
std::vector<Exact> exact_values(const Tensor& x) {
  Tensor dense = x.contiguous();
  const auto* data = static_cast<const std::complex<T>*>(dense.data_ptr());
  return {data, data + dense.numel()};
}

// The error of the transform beside its size, in units of the type's precision; at `samples` frequencies if they are
// fewer.
template <class T>
double fft_error(int64_t n, int64_t samples) {
  manual_seed(static_cast<uint64_t>(n));
  Tensor x = randn({n}, sizeof(T) == 4 ? kComplexFloat : kComplexDouble);
  const auto from = exact_values<T>(x), found = exact_values<T>(fft_fft(x));
  const ExactSums sums(n);
  long double wrong = 0, size = 0;
  const int64_t step = std::max<int64_t>(1, n / samples);
  for (int64_t k = 0; k < n; k += step) {
    const Exact wanted = sums.at(from.data(), k);
    wrong += std::norm(found[static_cast<size_t>(k)] - wanted);
    size += std::norm(wanted);
  }
  return static_cast<double>(std::sqrt(wrong / size)) / std::numeric_limits<T>::epsilon();
}
// In units of the root of log2(2 n), FFTW's errors are 0.2 to 0.5, and 0.3 to 0.8 where a prime factor is large.
double permitted_error(int64_t n) {
  int64_t rest = n;
  for (int64_t p = 2; p <= 31; p++)
    while (rest % p == 0) rest /= p;
  return (rest > 1 ? 0.8 : 0.6) * std::sqrt(std::log2(2.0 * static_cast<double>(n)));
}

TEST(Fft, IsAsExactAsTheTypeForEveryLength) {
  for (int64_t n = 1; n <= 130; n++) {
    EXPECT_LE(fft_error<float>(n, n), permitted_error(n)) << "float, n " << n;
    EXPECT_LE(fft_error<double>(n, n), permitted_error(n)) << "double, n " << n;
  }
}

TEST(Fft, IsAsExactForLongLengths) {
  // Powers of 2, 3, 5 and 7, mixed ones, and primes, of which the last squared.
  for (int64_t n :
       {243, 256, 343, 512, 625, 720, 1000, 1001, 1009, 1024, 2310, 4096, 4288, 10007, 16384, 44100, 65536, 100489}) {
    EXPECT_LE(fft_error<float>(n, 48), permitted_error(n)) << "float, n " << n;
    EXPECT_LE(fft_error<double>(n, 48), permitted_error(n)) << "double, n " << n;
  }
}

// The lines of [many, n] along the last dimension, and of its transpose along the first, against each line by itself.
TEST(Fft, LinesSideBySideAndStridedOnesAreThoseOfSingleOnes) {
  for (int64_t n : {1, 2, 3, 5, 8, 16, 31, 60, 64, 67, 101, 250, 1024})
    for (int64_t many : {1, 2, 7, 16, 19, 33}) {
      Tensor x = randn({many, n}, kComplexDouble);
      Tensor lines = fft_fft(x), strided = fft_fft(x.t().contiguous().t()),
             across = fft_fft(x.t().contiguous(), {}, 0).t();
      Tensor back = fft_ifft(lines);
      for (int64_t i = 0; i < many; i++) {
        Tensor one = fft_fft(x[i]);
        EXPECT_TRUE(allclose(lines[i], one, 1e-12, 1e-12)) << n << " elements, line " << i << " of " << many;
        EXPECT_TRUE(allclose(strided[i], one, 1e-12, 1e-12)) << n << " elements, strided line " << i << " of " << many;
        EXPECT_TRUE(allclose(across[i], one, 1e-12, 1e-12)) << n << " elements, column " << i << " of " << many;
      }
      EXPECT_TRUE(allclose(back, x, 1e-12, 1e-12)) << n << " elements there and back, " << many << " lines";
    }
}

TEST(Fft, RealLinesAreTheHalfOfComplexOnesAndComeBack) {
  for (int64_t n : {1, 2, 3, 4, 7, 16, 30, 31, 62, 64, 100, 134, 202, 1000, 1025, 40000})
    for (int64_t many : {1, 3, 20}) {
      if (n * many > 100000) continue;
      for (DType dtype : {kFloat, kDouble}) {
        const double tolerance = dtype == kFloat ? 2e-5 : 1e-13;
        Tensor x = randn({many, n}, dtype);
        Tensor half = fft_rfft(x), whole = fft_fft(x).narrow(-1, 0, n / 2 + 1);
        const double size = std::sqrt(static_cast<double>(n));
        EXPECT_TRUE(allclose(half, whole, tolerance, tolerance * size)) << many << " lines of " << n;
        EXPECT_TRUE(allclose(fft_irfft(half, n), x, tolerance, tolerance)) << many << " lines of " << n << ", back";
        EXPECT_TRUE(allclose(fft_rfft(x.t().contiguous(), {}, 0).t(), half, tolerance, tolerance * size))
            << many << " columns of " << n;
      }
    }
}

TEST(Fft, SeveralDimensionsAreOneAfterTheOther) {
  Tensor x = randn({3, 12, 20, 5}, kComplexDouble);
  Tensor wanted = fft_fft(fft_fft(fft_fft(x, {}, 0), {}, 2), {}, 3);
  EXPECT_TRUE(allclose(fft_fftn(x, {}, IntArrayRef{0, 2, 3}), wanted, 1e-12, 1e-12));
  EXPECT_TRUE(allclose(fft_ifftn(wanted, {}, IntArrayRef{0, 2, 3}), x, 1e-12, 1e-12));
}

// A line that holds a nan is its own affair.
TEST(Fft, LinesSideBySideDoNotTouchEachOther) {
  for (int64_t n : {8, 64, 67, 90}) {
    Tensor x = randn({5, n});
    Tensor clean = fft_rfft(x);
    x[2][1].fill_(std::numeric_limits<float>::quiet_NaN());
    Tensor found = fft_rfft(x);
    for (int64_t line : {0, 1, 3, 4}) EXPECT_TRUE(equal(found[line], clean[line])) << "n " << n << ", line " << line;
    EXPECT_TRUE(isnan(found[2]).all().item<bool>());
  }
}

TEST(Fft, HasTheSameBitsOnAnyNumberOfThreads) {
  const int before = get_num_threads();
  struct Shape {
    int64_t lines, n;
  };
  for (Shape shape : {Shape{1, 65536}, Shape{1, 70001}, Shape{3, 40000}, Shape{1000, 64}, Shape{130, 1000}}) {
    Tensor x = randn({shape.lines, shape.n}, kComplexFloat), real = randn({shape.lines, shape.n});
    set_num_threads(1);
    Tensor one = fft_fft(x), first = fft_fft(x, {}, 0), half = fft_rfft(real);
    for (int threads : {2, 3}) {
      set_num_threads(threads);
      EXPECT_TRUE(equal(fft_fft(x), one)) << shape.lines << " x " << shape.n << " on " << threads;
      EXPECT_TRUE(equal(fft_fft(x, {}, 0), first)) << shape.lines << " x " << shape.n << " on " << threads;
      EXPECT_TRUE(equal(fft_rfft(real), half)) << shape.lines << " x " << shape.n << " on " << threads;
    }
  }
  set_num_threads(before);
}

}  // namespace
}  // namespace cresset
