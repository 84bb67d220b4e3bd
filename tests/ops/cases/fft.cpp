// Cases of ops/fft and ops/stft, against sums written out.
#include <cmath>

#include "tests/ops/cases/cases.h"

namespace cresset::test {
namespace {

enum class Kind { fft, ifft, rfft, irfft, hfft, ihfft };

int64_t wrapped_dim(int64_t dim, int64_t rank) { return dim < 0 ? dim + rank : dim; }
Array resized(const Array& x, int64_t dim, int64_t n) {
  Ints sizes = x.sizes;
  auto d = static_cast<size_t>(dim);
  sizes[d] = n;
  Array y = Array::filled(sizes);
  for_each_index(sizes, [&](const Index& at) {
    if (at[d] < x.sizes[d]) y[at] = x[at];
  });
  return y;
}
// sum over j of x[j] exp(sign 2 pi i j k / n), for k < out.
Array summed(const Array& x, int64_t dim, int sign, int64_t out) {
  auto d = static_cast<size_t>(dim);
  int64_t n = x.sizes[d];
  Ints sizes = x.sizes;
  sizes[d] = out;
  Array y = Array::filled(sizes);
  for_each_index(sizes, [&](const Index& at) {
    Index from = at;
    Complex total = 0;
    for (from[d] = 0; from[d] < n; from[d]++)
      total += x[from] *
               std::polar(1.0, sign * 2 * M_PI * static_cast<double>(from[d] * at[d] % n) / static_cast<double>(n));
    y[at] = total;
  });
  return y;
}
// The whole of a Hermitian signal of n elements, from its half.
Array completed(const Array& x, int64_t dim, int64_t n) {
  auto d = static_cast<size_t>(dim);
  Ints sizes = x.sizes;
  sizes[d] = n;
  Array y = Array::filled(sizes);
  for_each_index(sizes, [&](const Index& at) {
    Index from = at;
    bool mirrored = at[d] > n / 2;
    if (mirrored) from[d] = n - at[d];
    Complex value = mirrored ? std::conj(x[from]) : x[from];
    y[at] = at[d] == 0 || 2 * at[d] == n ? Complex(value.real()) : value;
  });
  return y;
}

Array transformed(Array x, Kind kind, const Ints& dims, const Ints& sizes, const std::string& norm) {
  bool forward = kind == Kind::fft || kind == Kind::rfft || kind == Kind::hfft;
  int sign = forward ? -1 : 1;
  double count = 1;
  for (int64_t n : sizes) count *= static_cast<double>(n);
  double scale = norm == "ortho" ? 1 / std::sqrt(count) : (norm == "forward") == forward ? 1 / count : 1;
  bool from_half = kind == Kind::irfft || kind == Kind::hfft, to_half = kind == Kind::rfft || kind == Kind::ihfft;
  for (size_t i = 0; i < dims.size(); i++)
    x = resized(x, dims[i], from_half && i + 1 == dims.size() ? sizes[i] / 2 + 1 : sizes[i]);
  for (size_t i = 0; i + 1 < dims.size(); i++) x = summed(x, dims[i], sign, sizes[i]);
  if (from_half) x = completed(x, dims.back(), sizes.back());
  x = summed(x, dims.back(), sign, to_half ? sizes.back() / 2 + 1 : sizes.back());
  for (Complex& value : x.values) value = from_half ? Complex(value.real() * scale) : value * scale;
  return x;
}
std::string norm_of(const Arguments& in, size_t i) {
  return in.given(i) ? std::get<std::string>(in[i]) : std::string("backward");
}
bool from_half(Kind kind) { return kind == Kind::irfft || kind == Kind::hfft; }

DType complex_of(DType dtype) { return to_complex(is_integral(dtype, true) ? default_dtype() : dtype); }
DType real_of(DType dtype) { return to_real(complex_of(dtype)); }

Reference reference_of(Kind kind) {
  return [kind](const Arguments& in) {
    Array x = in.array(0);
    Ints dims, sizes;
    bool one = !in.given(2) || std::holds_alternative<int64_t>(in[2]);
    if (one && in.size() > 2 && in.given(2)) {
      dims = {wrapped_dim(in.integer(2), x.rank())};
    } else {
      dims = in.integers(2);
      if (dims.empty()) {
        auto count = static_cast<int64_t>(in.given(1) ? in.integers(1).size() : x.sizes.size());
        for (int64_t d = x.rank() - count; d < x.rank(); d++) dims.push_back(d);
      }
      for (int64_t& d : dims) d = wrapped_dim(d, x.rank());
    }
    for (size_t i = 0; i < dims.size(); i++) {
      int64_t have = x.sizes[static_cast<size_t>(dims[i])];
      bool half = from_half(kind) && i + 1 == dims.size();
      sizes.push_back(in.given(1) ? in.integers(1)[i] : half ? 2 * (have - 1) : have);
    }
    Array y = transformed(x, kind, dims, sizes, norm_of(in, 3));
    y.dtype = from_half(kind) ? real_of(in.dtype) : complex_of(in.dtype);
    return std::vector{y};
  };
}

std::vector<Sample> line_samples(Make& m) {
  return {{"even", {m.tensor({8})}},
          {"odd", {m.tensor({3, 5})}},
          {"dim 0", {m.tensor({6, 2}), Value(), int64_t{0}}},
          {"cut", {m.tensor({2, 7}), int64_t{4}}},
          {"filled", {m.tensor({2, 4}), int64_t{7}}},
          {"ortho", {m.tensor({2, 6}), Value(), int64_t{-1}, std::string("ortho")}},
          {"forward", {m.tensor({2, 6}), Value(), int64_t{1}, std::string("forward")}},
          {"backward", {m.tensor({2, 6}), Value(), int64_t{1}, std::string("backward")}},
          {"one point", {m.tensor({3, 2}), int64_t{1}}},
          {"no rows", {m.tensor({0, 4})}},
          {"prime", {m.tensor({13})}},
          {"large", {m.tensor({201, 40})}, false}};
}
std::vector<Sample> many_samples(Make& m) {
  return {{"all", {m.tensor({3, 4})}},
          {"some", {m.tensor({2, 3, 4}), Value(), Ints{2, 0}}},
          {"sizes", {m.tensor({2, 3, 4}), Ints{2, 6}}},
          {"sizes and dims", {m.tensor({2, 3, 4}), Ints{4, 3}, Ints{0, 2}}},
          {"ortho", {m.tensor({3, 4}), Value(), Value(), std::string("ortho")}},
          {"forward", {m.tensor({3, 4}), Value(), Ints{1}, std::string("forward")}},
          {"large", {m.tensor({31, 12, 10}), Value(), Ints{0, 1}}, false}};
}
std::vector<Sample> plane_samples(Make& m) {
  return {{"matrix", {m.tensor({3, 4})}},
          {"batch", {m.tensor({2, 3, 5})}},
          {"sizes", {m.tensor({2, 3, 4}), Ints{2, 6}}},
          {"other dims", {m.tensor({2, 3, 4}), Value(), Ints{2, 0}}},
          {"ortho", {m.tensor({3, 4}), Value(), Ints{-2, -1}, std::string("ortho")}},
          {"large", {m.tensor({31, 12, 10})}, false}};
}

OpCase transform_case(std::string name, Kind kind, Samples samples) {
  const std::vector<DType> halves = {kFloat16, kBFloat16}, not_half = without(all_dtypes, {kFloat16, kBFloat16});
  bool real_input = kind == Kind::rfft || kind == Kind::ihfft;
  OpCase c{.name = name,
           .torch = name,
           .samples = samples,
           .reference = reference_of(kind),
           .dtypes = not_half,
           .refused = halves,
           .result_dtype = from_half(kind) ? real_of : complex_of,
           .tolerance = 16,
           .errors = {{"norm",
                       [](Make& m) -> Values {
                         return {m.tensor({4, 4}, kDouble), Value(), Ints{0, 1}, std::string("half")};
                       },
                       "Invalid normalization mode: \"half\""}},
           .same_bits_strided = false};
  if (samples.target<std::vector<Sample> (*)(Make&)>() &&
      *samples.target<std::vector<Sample> (*)(Make&)>() == &line_samples)
    c.errors = {{"norm",
                 [](Make& m) -> Values {
                   return {m.tensor({4, 4}, kDouble), Value(), int64_t{0}, std::string("half")};
                 },
                 "Invalid normalization mode: \"half\""},
                {"points",
                 [](Make& m) -> Values {
                   return {m.tensor({4}, kDouble), int64_t{0}};
                 },
                 name + ": Invalid number of data points (0) specified"},
                {"0-d", [](Make& m) -> Values { return {m.tensor({}, kDouble)}; },
                 name + ": Dimension specified as -1 but tensor has no dimensions"}};
  if (real_input) {
    c.dtypes = without(not_half, {kComplex64, kComplex128});
    c.refused = {kFloat16, kBFloat16, kComplex64, kComplex128};
  }
  return c;
}
void add_family(std::vector<OpCase>& cases, const std::string& name, Kind kind) {
  cases.push_back(transform_case("fft_" + name, kind, line_samples));
  cases.push_back(transform_case("fft_" + name + "2", kind, plane_samples));
  cases.push_back(transform_case("fft_" + name + "n", kind, many_samples));
}

Reference shifted(bool back) {
  return [back](const Arguments& in) {
    Array x = in.array(0);
    Ints dims = in.integers(1);
    if (!in.given(1))
      for (int64_t d = 0; d < x.rank(); d++) dims.push_back(d);
    for (int64_t dim : dims) {
      auto d = static_cast<size_t>(wrapped_dim(dim, x.rank()));
      int64_t n = x.sizes[d], by = back ? (n + 1) / 2 : n / 2;
      x = gathered(x, x.sizes, [&](Index at) {
        at[d] = ((at[d] - by) % n + n) % n;
        return at;
      });
    }
    return std::vector{x};
  };
}
OpCase shift_case(std::string name, bool back) {
  return {.name = name,
          .torch = name,
          .samples = [](Make& m) -> std::vector<Sample> {
            return {{"even", {m.tensor({6})}},
                    {"odd", {m.tensor({3, 5})}},
                    {"one dim", {m.tensor({3, 5}), Ints{1}}},
                    {"empty", {m.tensor({0, 3})}}};
          },
          .reference = shifted(back)};
}
OpCase frequency_case(std::string name, bool half) {
  return {
      .name = name,
      .torch = name,
      .samples =
          [](Make& m) {
            std::vector<Sample> samples;
            for (int64_t n : {1, 2, 7, 8})
              samples.push_back({std::to_string(n), {n, 0.5, TensorOptions(m.dtype)}, false});
            return samples;
          },
      .reference =
          [half](const Arguments& in) {
            int64_t n = in.integer(0);
            Array y = Array::filled({half ? n / 2 + 1 : n});
            for (int64_t k = 0; k < y.numel(); k++)
              y.values[static_cast<size_t>(k)] = static_cast<double>(half || k < (n + 1) / 2 ? k : k - n) /
                                                 (static_cast<double>(n) * in.number(1).real());
            return std::vector{y};
          },
      .dtypes = real_floats,
      .refused = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble, kComplex64, kComplex128}),
      .tolerance = 2,
      .gradient = false,
      .untested = {{kComplex64, "arange, which it is made of, has no complex numbers"}, {kComplex128, "as complex64"}}};
}

// ---- windows
double bessel0(double x) {
  double term = 1, sum = 1;
  for (int k = 1; k < 200; k++) sum += term *= x * x / (4.0 * k * k);
  return sum;
}
OpCase window_case(std::string name, std::string overload, Values more, std::function<double(double)> f) {
  return {.name = name,
          .overload = overload,
          .torch = overload.empty() ? name : name + "." + overload,
          .samples =
              [more](Make& m) {
                std::vector<Sample> samples;
                for (int64_t n : {0, 1, 2, 7, 8, 5000}) {
                  Values values{n};
                  values.insert(values.end(), more.begin(), more.end());
                  values.push_back(TensorOptions(m.dtype));
                  samples.push_back({std::to_string(n), values, false});
                }
                return samples;
              },
          .reference =
              [more, f](const Arguments& in) {
                int64_t n = in.integer(0), steps = more.empty() || std::get<bool>(more[0]) ? n : n - 1;
                Array y = Array::filled({n}, 1);
                for (int64_t k = 0; n > 1 && k < n; k++)
                  y.values[static_cast<size_t>(k)] = f(static_cast<double>(k) / static_cast<double>(steps));
                return std::vector{y};
              },
          .dtypes = real_floats,
          .refused = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble}),
          .tolerance = 8,
          .gradient = false};
}
std::function<double(double)> cosines(double a, double b, double c = 0) {
  return [=](double at) { return a - b * std::cos(2 * M_PI * at) + c * std::cos(4 * M_PI * at); };
}
std::function<double(double)> kaiser(double beta) {
  return [=](double at) {
    return bessel0(beta * std::sqrt(std::max(0.0, 1 - (2 * at - 1) * (2 * at - 1)))) / bessel0(beta);
  };
}
void add_windows(std::vector<OpCase>& cases) {
  struct Named {
    const char* name;
    std::function<double(double)> f;
  };
  const std::vector<Named> windows = {{"hann_window", cosines(0.5, 0.5)},
                                      {"hamming_window", cosines(0.54, 0.46)},
                                      {"blackman_window", cosines(0.42, 0.5, 0.08)},
                                      {"bartlett_window", [](double at) { return 1 - std::abs(2 * at - 1); }},
                                      {"kaiser_window", kaiser(12)}};
  for (const Named& window : windows) {
    cases.push_back(window_case(window.name, "", {}, window.f));
    cases.push_back(window_case(window.name, "periodic", {false}, window.f));
  }
  cases.push_back(window_case("hamming_window", "periodic_alpha", {false, 0.6}, cosines(0.6, 0.46)));
  cases.push_back(window_case("hamming_window", "periodic_alpha_beta", {true, 0.6, 0.3}, cosines(0.6, 0.3)));
  cases.push_back(window_case("kaiser_window", "beta", {false, 8.6}, kaiser(8.6)));
}

// ---- stft
std::vector<Array> stft(const Arguments& in) {
  Array x = in.array(0);
  bool one = x.rank() == 1, complex_input = is_complex(in.dtype);
  if (one) x.sizes.insert(x.sizes.begin(), 1);
  int64_t n_fft = in.integer(1), hop = in.given(2) ? in.integer(2) : n_fft / 4,
          width = in.given(3) ? in.integer(3) : n_fft;
  bool center = in.flag(5), onesided = in.given(8) ? in.flag(8) : !complex_input;
  std::string mode = std::get<std::string>(in[6]);
  int64_t n = x.sizes[1], by = center ? n_fft / 2 : 0, left = (n_fft - width) / 2;
  auto sample = [&](int64_t b, int64_t i) -> Complex {
    if (mode == "constant" && (i < 0 || i >= n)) return 0;
    if (mode == "reflect") i = i < 0 ? -i : i >= n ? 2 * n - 2 - i : i;
    return x[{b, i}];
  };
  int64_t frames = 1 + (n + 2 * by - n_fft) / hop, bins = onesided ? n_fft / 2 + 1 : n_fft;
  bool windowed = in.given(4) && std::get<Tensor>(in[4]).defined();
  double scale = in.flag(7) ? 1 / std::sqrt(static_cast<double>(n_fft)) : 1;
  Array y = Array::filled({x.sizes[0], bins, frames});
  for_each_index(y.sizes, [&](const Index& at) {
    Complex total = 0;
    for (int64_t k = 0; k < n_fft; k++) {
      bool inside = k >= left && k < left + width;
      Complex w = !inside ? Complex(0) : windowed ? in.array(4)[{k - left}] : Complex(1);
      total += w * sample(at[0], at[2] * hop + k - by) *
               std::polar(1.0, -2 * M_PI * static_cast<double>(k * at[1]) / static_cast<double>(n_fft));
    }
    y[at] = total * scale;
  });
  if (one) y.sizes.erase(y.sizes.begin());
  bool as_complex = in.given(9) ? in.flag(9) : true;
  y.dtype = as_complex ? to_complex(in.dtype) : to_real(in.dtype);
  if (as_complex) return {y};
  Array parts = y;
  parts.values.clear();
  parts.sizes.push_back(2);
  for (Complex value : y.values)
    parts.values.insert(parts.values.end(), {Complex(value.real()), Complex(value.imag())});
  return {parts};
}
std::vector<Sample> stft_samples(Make& m) {
  const Value none, hop = int64_t{3};
  Tensor window = m.tensor({8}), narrow = m.tensor({6});
  return {
      {"plain", {m.tensor({20}), int64_t{8}, none, none, none, true, std::string("reflect"), false, none, true}},
      {"windows", {m.tensor({2, 20}), int64_t{8}, hop, none, window, true, std::string("reflect"), false, none, true}},
      {"narrow window",
       {m.tensor({2, 20}), int64_t{8}, hop, int64_t{6}, narrow, false, std::string("reflect"), true, none, true}},
      {"both sides", {m.tensor({20}), int64_t{7}, hop, none, none, true, std::string("constant"), false, false, true}},
      {"parts", {m.tensor({20}), int64_t{8}, hop, none, window, true, std::string("reflect"), false, none, false}}};
}
std::vector<Sample> complex_stft_samples(Make& m) {
  std::vector<Sample> samples = stft_samples(m);
  if (is_complex(m.dtype))
    for (Sample& sample : samples) sample.arguments[8] = false;
  return samples;
}

// The inverse of a transform, here of arbitrary numbers: frames are overlapped and divided by the windows' squares.
std::vector<Array> istft(const Arguments& in) {
  Array x = in.array(0);
  bool one = x.rank() == 2;
  if (one) x.sizes.insert(x.sizes.begin(), 1);
  int64_t n_fft = in.integer(1), hop = in.given(2) ? in.integer(2) : n_fft / 4, count = x.sizes[2];
  bool center = in.flag(5), half = x.sizes[1] != n_fft;
  bool windowed = in.given(4) && std::get<Tensor>(in[4]).defined(), as_complex = in.flag(9);
  double scale = in.flag(6) ? 1 / std::sqrt(static_cast<double>(n_fft)) : 1 / static_cast<double>(n_fft);
  Array spectrum = x;
  if (!as_complex) {
    if (!half) spectrum = resized(spectrum, 1, n_fft / 2 + 1);
    spectrum = completed(spectrum, 1, n_fft);
  }
  Array frames = summed(spectrum, 1, 1, n_fft);
  int64_t whole = n_fft + hop * (count - 1);
  Array sum = Array::filled({x.sizes[0], whole});
  std::vector<Complex> envelope(static_cast<size_t>(whole));
  for (int64_t b = 0; b < x.sizes[0]; b++)
    for (int64_t f = 0; f < count; f++)
      for (int64_t k = 0; k < n_fft; k++) {
        Complex w = windowed ? in.array(4)[{k}] : Complex(1);
        sum[{b, f * hop + k}] += w * frames[{b, k, f}] * scale;
        if (b == 0) envelope[static_cast<size_t>(f * hop + k)] += w * w;
      }
  int64_t start = center ? n_fft / 2 : 0, end = center ? whole - n_fft / 2 : whole;
  if (in.given(8)) end = start + in.integer(8);
  Array y = Array::filled({x.sizes[0], end - start});
  for_each_index(y.sizes, [&](const Index& at) {
    if (start + at[1] < whole) y[at] = sum[{at[0], start + at[1]}] / envelope[static_cast<size_t>(start + at[1])];
  });
  if (one) y.sizes.erase(y.sizes.begin());
  y.dtype = as_complex ? in.dtype : to_real(in.dtype);
  return {y};
}
std::vector<Sample> istft_samples(Make& m) {
  const Value none, hop = int64_t{3};
  Array ramp = Array::filled({8});
  for (size_t i = 0; i < 8; i++) ramp.values[i] = 0.5 + 0.1 * static_cast<double>(i);
  Tensor window = tensor_of(ramp, to_real(m.dtype));
  return {{"plain", {m.tensor({5, 4}), int64_t{8}}},
          {"windows", {m.tensor({2, 5, 4}), int64_t{8}, hop, none, window}},
          {"not centred", {m.tensor({2, 5, 4}), int64_t{8}, hop, none, window, false, true}},
          {"both sides", {m.tensor({2, 8, 3}), int64_t{8}, hop, none, none, true, false, false}},
          {"complex", {m.tensor({2, 8, 3}), int64_t{8}, hop, none, none, true, false, false, none, true}},
          {"length", {m.tensor({5, 4}), int64_t{8}, hop, none, window, true, false, none, int64_t{10}}}};
}

}  // namespace

std::vector<OpCase> fft_cases() {
  std::vector<OpCase> cases;
  add_family(cases, "fft", Kind::fft);
  add_family(cases, "ifft", Kind::ifft);
  add_family(cases, "rfft", Kind::rfft);
  add_family(cases, "irfft", Kind::irfft);
  add_family(cases, "hfft", Kind::hfft);
  add_family(cases, "ihfft", Kind::ihfft);
  cases.push_back(shift_case("fft_fftshift", false));
  cases.push_back(shift_case("fft_ifftshift", true));
  cases.push_back(frequency_case("fft_fftfreq", false));
  cases.push_back(frequency_case("fft_rfftfreq", true));
  add_windows(cases);
  cases.push_back({.name = "stft",
                   .torch = "stft.center",
                   .samples = complex_stft_samples,
                   .reference = stft,
                   .dtypes = {kFloat, kDouble, kComplex64, kComplex128},
                   .refused = without(all_dtypes, {kFloat, kDouble, kComplex64, kComplex128}),
                   .tolerance = 32,
                   .errors = {{"n_fft",
                               [](Make& m) -> Values {
                                 return {m.tensor({5}, kDouble), int64_t{8}, Value(), Value(), Value(), false,
                                         std::string("reflect"), false,      Value(), true};
                               },
                               "stft: expected 0 < n_fft <= 5, but got n_fft=8"}},
                   .same_bits_strided = false});
  cases.push_back({.name = "istft",
                   .torch = "istft",
                   .samples = istft_samples,
                   .reference = istft,
                   .dtypes = {kComplex64, kComplex128},
                   .refused = {kBool},
                   .tolerance = 64,
                   .same_bits_strided = false});
  for (DType dtype : without(all_dtypes, {kComplex64, kComplex128, kBool}))
    cases.back().untested.emplace_back(dtype, "a real input is a complex one in two parts");
  return cases;
}

}  // namespace cresset::test
