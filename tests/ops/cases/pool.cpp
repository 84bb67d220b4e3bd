// Cases of ops/pool.
#include <cmath>
#include <limits>

#include "tests/ops/cases/cases.h"

namespace cresset::test {
namespace {

const int64_t one = 1, two = 2, three = 3;

Ints expanded(Ints list, size_t rank) {
  if (list.size() == 1) list.assign(rank, list[0]);
  return list;
}

// The inputs of one result along one direction.
struct Span {
  Ints inputs;
  int64_t length;  // with padding
};
using Spans = std::vector<std::vector<Span>>;  // [direction][result]

Spans windows(const Array& x, const Ints& kernel, const Ints& given_stride, const Ints& padding, const Ints& dilation,
              bool ceil_mode) {
  const size_t rank = kernel.size();
  Ints stride = given_stride.empty() ? kernel : given_stride;
  Spans lines(rank);
  for (size_t d = 0; d < rank; d++) {
    const int64_t in = x.sizes[x.sizes.size() - rank + d];
    for (int64_t start = -padding[d];; start += stride[d]) {
      const int64_t last = start + dilation[d] * (kernel[d] - 1);
      if (ceil_mode ? start >= in || last - stride[d] >= in + padding[d] - 1 : last >= in + padding[d]) break;
      Span line{{}, std::min(last + 1, in + padding[d]) - start};
      for (int64_t i = start; i <= last; i += dilation[d])
        if (i >= 0 && i < in) line.inputs.push_back(i);
      lines[d].push_back(line);
    }
  }
  return lines;
}
Spans adaptive(const Array& x, const Ints& out) {
  Spans lines(out.size());
  for (size_t d = 0; d < out.size(); d++) {
    const int64_t in = x.sizes[x.sizes.size() - out.size() + d];
    for (int64_t o = 0; o < out[d]; o++) {
      Span line{{}, 0};
      for (int64_t i = o * in / out[d]; i * out[d] < (o + 1) * in; i++) line.inputs.push_back(i);
      line.length = static_cast<int64_t>(line.inputs.size());
      lines[d].push_back(line);
    }
  }
  return lines;
}

// Calls f(index of the result, lines' places) for each result.
Array pooled(const Array& x, const Spans& lines,
             const std::function<Complex(const Index& at, const std::vector<const Span*>&)>& f) {
  const size_t rank = lines.size(), lead = x.sizes.size() - rank;
  Ints sizes = x.sizes;
  for (size_t d = 0; d < rank; d++) sizes[lead + d] = static_cast<int64_t>(lines[d].size());
  Array y = Array::filled(sizes);
  for_each_index(sizes, [&](const Index& at) {
    std::vector<const Span*> of;
    for (size_t d = 0; d < rank; d++) of.push_back(&lines[d][static_cast<size_t>(at[lead + d])]);
    y[at] = f(at, of);
  });
  return y;
}
void for_each_input(const Index& at, const std::vector<const Span*>& of, const std::function<void(const Index&)>& f) {
  Ints counts;
  for (const Span* line : of) counts.push_back(static_cast<int64_t>(line->inputs.size()));
  for_each_index(counts, [&](const Index& k) {
    Index from = at;
    for (size_t d = 0; d < of.size(); d++) from[at.size() - of.size() + d] = of[d]->inputs[static_cast<size_t>(k[d])];
    f(from);
  });
}

std::vector<Array> maxima(const Array& x, const Spans& lines) {
  auto best = [&](const Index& at, const std::vector<const Span*>& of, bool index) -> Complex {
    double value = -std::numeric_limits<double>::infinity();
    int64_t place = -1;
    for_each_input(at, of, [&](const Index& from) {
      const double v = x[from].real();
      if (!(place < 0 || v > value || std::isnan(v))) return;
      value = v;
      place = 0;
      for (size_t d = at.size() - of.size(); d < at.size(); d++) place = place * x.sizes[d] + from[d];
    });
    return index ? static_cast<double>(place) : value;
  };
  Array values = pooled(x, lines, [&](auto& at, auto& of) { return best(at, of, false); });
  Array indices = pooled(x, lines, [&](auto& at, auto& of) { return best(at, of, true); });
  indices.dtype = kInt64;
  return {values, indices};
}
Array means(const Array& x, const Spans& lines, bool include_pad, int64_t divisor) {
  return pooled(x, lines, [&](const Index& at, const std::vector<const Span*>& of) -> Complex {
    Complex sum = 0;
    int64_t count = 0, length = 1;
    for_each_input(at, of, [&](const Index& from) {
      sum += x[from];
      count++;
    });
    for (const Span* line : of) length *= line->length;
    return count == 0 ? 0 : sum / static_cast<double>(divisor != 0 ? divisor : include_pad ? length : count);
  });
}

Reference max_reference(size_t rank, bool with_indices) {
  return [rank, with_indices](const Arguments& in) {
    Ints stride = in.integers(2);
    auto both =
        maxima(in.array(0),
               windows(in.array(0), expanded(in.integers(1), rank), stride.empty() ? stride : expanded(stride, rank),
                       expanded(in.integers(3), rank), expanded(in.integers(4), rank), in.flag(5)));
    if (!with_indices) both.pop_back();
    return both;
  };
}
Reference avg_reference(size_t rank) {
  return [rank](const Arguments& in) {
    Ints stride = in.integers(2);
    Array y =
        means(in.array(0),
              windows(in.array(0), expanded(in.integers(1), rank), stride.empty() ? stride : expanded(stride, rank),
                      expanded(in.integers(3), rank), Ints(rank, 1), in.flag(4)),
              in.flag(5), rank > 1 && in.given(6) ? in.integer(6) : 0);
    if (in.dtype == kInt64)
      for (Complex& value : y.values) value = std::trunc(value.real());
    return std::vector{y};
  };
}
Reference adaptive_avg_reference(size_t rank) {
  return [rank](const Arguments& in) {
    return std::vector{means(in.array(0), adaptive(in.array(0), expanded(in.integers(1), rank)), false, 0)};
  };
}
Reference adaptive_max_reference(size_t rank) {
  return [rank](const Arguments& in) {
    return maxima(in.array(0), adaptive(in.array(0), expanded(in.integers(1), rank)));
  };
}

Tensor channels_last(const Tensor& x) {
  Tensor last = empty_strided(x.sizes(), channels_last_strides(x.sizes()), x.options());
  write(last, read(x));
  return last;
}
Tensor special_image(Make& m, Ints sizes) {
  Tensor x = m.tensor(std::move(sizes));
  if (!is_floating_point(m.dtype)) return x;
  Array values = read(x);
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (size_t i = 0; i < values.values.size(); i++)
    if (i % 5 == 0) values.values[i] = i % 3 == 0 ? -inf : i % 2 ? nan : inf;
  write(x, values);
  return x;
}

Ints with_positions(Ints lead, Ints positions) {
  lead.insert(lead.end(), positions.begin(), positions.end());
  return lead;
}
// Positions for each rank, small enough for finite differences.
Ints some(size_t rank, int64_t first) {
  return rank == 1 ? Ints{first + 2} : rank == 2 ? Ints{first, first + 1} : Ints{first - 1, first, first - 1};
}

std::vector<Sample> max_samples(Make& m, size_t rank) {
  auto x = [&](Ints lead, int64_t first) { return m.tensor(with_positions(std::move(lead), some(rank, first))); };
  std::vector<Sample> samples = {
      {"plain", {x({1, 2}, 4), two}},
      {"without batch", {x({2}, 4), two}},
      {"overlapping, padded", {x({1, 1}, 4), three, two, one}},
      {"dilated", {x({1, 1}, 5), two, one, one, two}},
      {"ceil", {x({1, 1}, 4), Ints(rank, 3), Ints(rank, 2), int64_t{0}, one, true}},
      {"ceil, padded", {x({2, 1}, 5), two, three, one, one, true}},
      {"empty batch", {m.tensor(with_positions({0, 2}, some(rank, 4))), two}, false},
      {"inf and nan", {special_image(m, with_positions({1, 2}, some(rank, 6))), three, two, one}, false}};
  if (rank > 1) samples.push_back({"channels last", {channels_last(x({2, 5}, 4)), three, two, one}});
  samples.push_back({"large",
                     {m.tensor(with_positions({3, 4}, rank == 3   ? Ints{6, 20, 21}
                                                      : rank == 2 ? Ints{40, 41}
                                                                  : Ints{900})),
                      three, two, one},
                     false});
  return samples;
}
std::vector<Sample> avg_samples(Make& m, size_t rank) {
  auto x = [&](Ints lead, int64_t first) { return m.tensor(with_positions(std::move(lead), some(rank, first))); };
  std::vector<Sample> samples = {
      {"plain", {x({1, 2}, 4), two}},
      {"without batch", {x({2}, 4), two}},
      {"overlapping, padded", {x({1, 1}, 4), three, two, one}},
      {"padding not counted", {x({1, 1}, 4), three, two, one, false, false}},
      {"ceil", {x({1, 1}, 4), Ints(rank, 3), Ints(rank, 2), int64_t{0}, true}},
      {"ceil, padded", {x({2, 1}, 5), two, three, one, true, true}},
      {"ceil, padding not counted", {x({2, 1}, 5), three, two, one, true, false}},
      {"empty batch", {m.tensor(with_positions({0, 2}, some(rank, 4))), two}, false},
      {"inf and nan", {special_image(m, with_positions({1, 2}, some(rank, 6))), three, two, one}, false}};
  if (rank > 1) {
    samples.push_back({"divisor", {x({1, 1}, 4), two, one, one, false, true, three}});
    samples.push_back({"channels last", {channels_last(x({2, 5}, 4)), three, two, one}});
  }
  samples.push_back({"large",
                     {m.tensor(with_positions({3, 4}, rank == 3   ? Ints{6, 20, 21}
                                                      : rank == 2 ? Ints{40, 41}
                                                                  : Ints{900})),
                      three, two, one},
                     false});
  return samples;
}
std::vector<Sample> adaptive_samples(Make& m, size_t rank) {
  auto x = [&](Ints lead, int64_t first) { return m.tensor(with_positions(std::move(lead), some(rank, first))); };
  Ints growing(rank), fewer(rank), ones(rank, 1);
  for (size_t d = 0; d < rank; d++) {
    growing[d] = static_cast<int64_t>(d) + 6;
    fewer[d] = static_cast<int64_t>(d) + 2;
  }
  std::vector<Sample> samples = {
      {"fewer", {x({1, 2}, 5), fewer}},
      {"more", {x({1, 1}, 4), growing}},
      {"one", {x({2, 2}, 4), ones}},
      {"without batch", {x({2}, 4), fewer}},
      {"empty batch", {m.tensor(with_positions({0, 2}, some(rank, 4))), fewer}, false},
      {"inf and nan", {special_image(m, with_positions({1, 2}, some(rank, 6))), fewer}, false}};
  if (rank > 1) samples.push_back({"channels last", {channels_last(x({2, 5}, 5)), fewer}});
  samples.push_back({"large",
                     {m.tensor(with_positions({3, 4}, rank == 3   ? Ints{6, 20, 21}
                                                      : rank == 2 ? Ints{40, 41}
                                                                  : Ints{900})),
                      fewer},
                     false});
  return samples;
}

// ---- fractional
std::vector<Sample> fractional_samples(Make& m, size_t rank) {
  auto samples = [&](int64_t batch, int64_t channels) {
    Tensor t = m.tensor({batch, channels, static_cast<int64_t>(rank)});
    Array values = read(t);
    for (size_t i = 0; i < values.values.size(); i++) values.values[i] = static_cast<double>(i % 8) / 8;
    write(t, values);
    return t;
  };
  const Ints in = rank == 2 ? Ints{6, 7} : Ints{4, 5, 6}, out = rank == 2 ? Ints{3, 4} : Ints{2, 3, 3};
  return {{"plain", {m.tensor(with_positions({1, 2}, in)), Ints(rank, 2), out, samples(1, 2)}},
          {"without batch", {m.tensor(with_positions({2}, in)), Ints(rank, 2), out, samples(1, 2)}},
          {"one", {m.tensor(with_positions({2, 1}, in)), Ints(rank, 3), Ints(rank, 1), samples(2, 1)}},
          {"large",
           {m.tensor(with_positions({3, 4}, rank == 2 ? Ints{40, 41} : Ints{8, 20, 21})), Ints(rank, 2), out,
            samples(3, 4)},
           false}};
}
Reference fractional_reference(size_t rank) {
  return [rank](const Arguments& in) {
    Array x = in.array(0), samples = in.array(3);
    Ints kernel = expanded(in.integers(1), rank), out = expanded(in.integers(2), rank);
    const bool batched = x.sizes.size() == rank + 2;
    Ints sizes = x.sizes;
    for (size_t d = 0; d < rank; d++) sizes[sizes.size() - rank + d] = out[d];
    Array values = Array::filled(sizes), indices = Array::filled(sizes);
    indices.dtype = kInt64;
    for_each_index(sizes, [&](const Index& at) {
      const size_t lead = at.size() - rank;
      double best = -std::numeric_limits<double>::infinity(), place = 0;
      for_each_index(kernel, [&](const Index& k) {
        Index from = at;
        int64_t flat = 0;
        for (size_t d = 0; d < rank; d++) {
          const int64_t which = static_cast<int64_t>(rank == 2 ? 1 - d : d), size = x.sizes[lead + d];
          const double u = samples[{batched ? at[0] : 0, at[lead - 1], which}].real();
          const double alpha = out[d] > 1 ? static_cast<double>(size - kernel[d]) / static_cast<double>(out[d] - 1) : 0;
          const int64_t o = at[lead + d];
          const int64_t begin = o == out[d] - 1 ? size - kernel[d]
                                                : static_cast<int64_t>((static_cast<double>(o) + u) * alpha) -
                                                      static_cast<int64_t>(u * alpha);
          from[lead + d] = begin + k[d];
          flat = flat * size + from[lead + d];
        }
        if (x[from].real() > best) {
          best = x[from].real();
          place = static_cast<double>(flat);
        }
      });
      values[at] = best;
      indices[at] = place;
    });
    return std::vector{values, indices};
  };
}

// ---- unpool
std::vector<Sample> unpool_samples(Make& m, size_t rank) {
  const Ints in = rank == 1 ? Ints{3} : rank == 2 ? Ints{2, 3} : Ints{2, 2, 2};
  const Ints out = rank == 1 ? Ints{6} : rank == 2 ? Ints{4, 5} : Ints{4, 3, 5};
  auto sample = [&](const char* label, Ints lead, bool last) -> Sample {
    Tensor x = m.tensor(with_positions(lead, in));
    Tensor places = m.integers(with_positions(lead, in), 0, 2);  // each in a range of its own: no two are the same
    Array values = read(places);
    const size_t plane = static_cast<size_t>(count(in));
    const int64_t room = count(out) / count(in);
    for (size_t i = 0; i < values.values.size(); i++)
      values.values[i] += static_cast<double>(static_cast<int64_t>(i % plane) * room);
    write(places, values);
    if (last) x = channels_last(x);
    if (last) places = channels_last(places);
    Values all{x, places, out};
    if (rank == 3) all.insert(all.end(), {Ints{2, 2, 2}, Ints{0, 0, 0}});
    return {label, all};
  };
  std::vector<Sample> samples = {sample("plain", {1, 2}, false), sample("without batch", {2}, false),
                                 sample("batch", {3, 2}, false)};
  if (rank == 2) samples.push_back(sample("channels last", {2, 5}, true));
  return samples;
}
Reference unpool_reference(size_t rank) {
  return [rank](const Arguments& in) {
    Array x = in.array(0), indices = in.array(1);
    Ints out = in.integers(2), sizes = x.sizes;
    for (size_t d = 0; d < rank; d++) sizes[sizes.size() - rank + d] = out[d];
    Array y = Array::filled(sizes);
    for_each_index(x.sizes, [&](const Index& at) {
      Index to = at;
      int64_t flat = static_cast<int64_t>(indices[at].real());
      for (size_t d = rank; d-- > 0;) {
        to[at.size() - rank + d] = flat % out[d];
        flat /= out[d];
      }
      y[to] = x[at];
    });
    return std::vector{y};
  };
}

// ---- p-norms
std::vector<Sample> norm_samples(Make& m, size_t rank) {
  auto positive = [&](Ints sizes) {
    Tensor x = m.tensor(std::move(sizes));
    Array values = read(x);
    for (Complex& value : values.values) value = std::abs(value);
    write(x, values);
    return x;
  };
  auto x = [&](Ints lead, int64_t first) { return positive(with_positions(std::move(lead), some(rank, first))); };
  return {{"squares", {x({1, 2}, 4), Scalar(2), two}},
          {"cubes, overlapping", {x({2}, 4), Scalar(3), three, one}},
          {"broken", {x({1, 1}, 4), Scalar(1.5), two, two, true}},
          {"large", {positive(with_positions({3, 4}, rank == 1 ? Ints{900} : Ints{40, 41})), Scalar(2), two}, false}};
}
Reference norm_reference(size_t rank) {
  return [rank](const Arguments& in) {
    const double p = in.number(1).real();
    Array x = in.array(0);
    for (Complex& value : x.values) value = std::pow(value.real(), p);
    Ints kernel = expanded(in.integers(2), rank), stride = in.integers(3);
    Array y = means(
        x, windows(x, kernel, stride.empty() ? stride : expanded(stride, rank), Ints(rank), Ints(rank, 1), in.flag(4)),
        true, 0);
    for (Complex& value : y.values) value = std::pow(value.real() * static_cast<double>(count(kernel)), 1 / p);
    return std::vector{y};
  };
}

std::string named(const char* stem, size_t rank, const char* end = "d") { return stem + std::to_string(rank) + end; }

const std::initializer_list<DType> not_ordered = {kBool, kComplex64, kComplex128};

ErrorCase bad(std::string label, Ints sizes, Values rest, std::string text) {
  return {std::move(label),
          [sizes, rest](Make& m) {
            Values all{m.tensor(sizes)};
            all.insert(all.end(), rest.begin(), rest.end());
            return all;
          },
          std::move(text)};
}

}  // namespace

std::vector<OpCase> pool_cases() {
  const std::vector<DType> real_numbers = without(all_dtypes, not_ordered);
  const std::vector<DType> floats_and_long = {kFloat16, kBFloat16, kFloat, kDouble, kInt64};
  std::vector<OpCase> cases;
  for (size_t rank : {1, 2, 3}) {
    const std::string max_name = named("max_pool", rank), avg_name = named("avg_pool", rank);
    const Ints image = with_positions({1, 1}, some(rank, 4));
    std::vector<ErrorCase> max_errors = {
        bad("padding", image, {two, one, two}, max_name + ": pad should be at most half of kernel size"),
        bad("stride", image, {two, int64_t{0}}, max_name + ": stride should be greater than zero"),
        bad("too_small", image, {int64_t{9}}, "Output size is too small"),
        bad("rank", {3}, {two}, max_name + ": Expected")};
    max_errors[2].torch_refuses = rank > 1;  // there, lines without a whole window give nothing, unless for a gradient
    cases.push_back({.name = max_name,
                     .torch = max_name,
                     .samples = [rank](Make& m) { return max_samples(m, rank); },
                     .reference = max_reference(rank, false),
                     .dtypes = real_numbers,
                     .refused = not_ordered,
                     .errors = max_errors});
    cases.push_back({.name = max_name + "_with_indices",
                     .torch = max_name + "_with_indices",
                     .samples = [rank](Make& m) { return max_samples(m, rank); },
                     .reference = max_reference(rank, true),
                     .dtypes = real_numbers,
                     .refused = not_ordered});
    cases.push_back(
        {.name = avg_name,
         .torch = avg_name,
         .samples = [rank](Make& m) { return avg_samples(m, rank); },
         .reference = avg_reference(rank),
         .dtypes = floats_and_long,
         .refused = {kBool, kUInt8, kInt8, kInt16, kInt32, kComplex64, kComplex128},
         .errors = {bad("padding", image, {two, one, two}, avg_name + ": pad should be at most half of kernel size"),
                    bad("too_small", image, {int64_t{9}}, "Output size is too small")},
         .same_bits_strided = false});
    cases.push_back({.name = named("adaptive_avg_pool", rank),
                     .torch = named("adaptive_avg_pool", rank),
                     .samples = [rank](Make& m) { return adaptive_samples(m, rank); },
                     .reference = adaptive_avg_reference(rank),
                     .dtypes = real_floats,
                     .refused = {kBool, kUInt8, kInt8, kInt16, kInt32, kInt64, kComplex64, kComplex128},
                     .tolerance = 4,
                     .errors = {bad("rank", {3}, {Ints(rank, 2)}, "Expected")},
                     .same_bits_strided = false});
    cases.push_back({.name = named("adaptive_max_pool", rank),
                     .torch = named("adaptive_max_pool", rank),
                     .samples = [rank](Make& m) { return adaptive_samples(m, rank); },
                     .reference = adaptive_max_reference(rank),
                     .dtypes = real_numbers,
                     .refused = not_ordered,
                     .errors = {bad("rank", {3}, {Ints(rank, 2)}, "Expected")}});
    OpCase unpool{.name = named("max_unpool", rank),
                  .samples = [rank](Make& m) { return unpool_samples(m, rank); },
                  .reference = unpool_reference(rank),
                  .dtypes = real_numbers,
                  .refused = not_ordered};
    if (rank == 1)
      unpool.not_in_torch = "it is a function of nn there";
    else
      unpool.torch = unpool.name;
    if (rank == 2)
      unpool.errors = {{"index",
                        [](Make& m) -> Values {
                          return {m.tensor({1, 1, 2, 2}), m.integers({1, 1, 2, 2}, 20, 30), Ints{4, 4}};
                        },
                        "max_unpool2d: Found an invalid max index"}};
    cases.push_back(unpool);
    if (rank < 3)
      cases.push_back({.name = named("lp_pool", rank),
                       .not_in_torch = "it is a function of nn there",
                       .samples = [rank](Make& m) { return norm_samples(m, rank); },
                       .reference = norm_reference(rank),
                       .dtypes = real_floats,
                       .refused = {kBool, kUInt8, kInt8, kInt16, kInt32, kInt64, kComplex64, kComplex128},
                       .tolerance = 4});
    if (rank == 1) continue;
    cases.push_back({.name = named("fractional_max_pool", rank),
                     .torch = named("fractional_max_pool", rank),
                     .samples = [rank](Make& m) { return fractional_samples(m, rank); },
                     .reference = fractional_reference(rank),
                     .dtypes = real_floats,
                     .refused = {kBool, kUInt8, kInt8, kInt16, kInt32, kInt64, kComplex64, kComplex128},
                     .any_layout = false,  // libtorch reads the samples as if they were contiguous
                     .constants = {3}});
  }
  return cases;
}

}  // namespace cresset::test
