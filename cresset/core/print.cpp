// libtorch's C++ form: every value as a double, one format for a vector or for each matrix, wide matrices cut into
// column groups, more dimensions as a list of matrices. The stream's own flags shine through where libtorch lets them.
#include "cresset/core/print.h"

#include <atomic>
#include <cmath>
#include <iomanip>
#include <ios>
#include <iostream>
#include <ostream>

#include "cresset/core/indexing.h"

namespace cresset {
namespace {

class RestoredFormat {
 public:
  explicit RestoredFormat(std::ostream& out) : out_(out), saved_(nullptr) { saved_.copyfmt(out); }
  ~RestoredFormat() { out_.copyfmt(saved_); }
  RestoredFormat(const RestoredFormat&) = delete;
  RestoredFormat& operator=(const RestoredFormat&) = delete;

 private:
  std::ostream& out_;
  std::ios saved_;
};

struct Matrix {
  const double* values;
  int64_t rows, columns;
};

// All values in order. Complex ones do not come here.
template <class T>
void append(std::vector<double>& values, const T* data, IntArrayRef sizes, IntArrayRef strides) {
  if (sizes.empty()) {
    if constexpr (!requires { data->real(); }) values.push_back(static_cast<double>(*data));
    return;
  }
  for (int64_t i = 0; i < sizes[0]; i++) append(values, data + i * strides[0], sizes.slice(1), strides.slice(1));
}
std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> values;
  if (tensor.numel() == 0) return values;
  try {
    values.reserve(static_cast<size_t>(tensor.numel()));
  } catch (const std::exception&) {
    throw OutOfMemoryError(message_of("print: no memory for the ", tensor.numel(), " elements of shape ",
                                      text_of(tensor.sizes()), " (print a slice of it)"));
  }
  Tensor here = detail::readable(tensor);
  dispatch(here.dtype(), [&](auto* p) {
    append(values, static_cast<const std::remove_pointer_t<decltype(p)>*>(here.data_ptr()), here.sizes(),
           here.strides());
  });
  return values;
}

struct Format {
  double scale = 1;
  int width = 0;
};

// How many digits stand before the point.
double digits(double magnitude) { return magnitude != 0 ? std::floor(std::log10(magnitude)) + 1 : 1; }

struct Range {
  bool whole = true;
  double least = 1, most = 1;  // digits of the smallest and of the largest magnitude
};
Range range_of(const double* values, int64_t count) {
  Range range;
  bool any = false;
  double least = 0, most = 0;
  for (int64_t i = 0; i < count; i++) {
    if (!std::isfinite(values[i])) continue;
    double magnitude = std::fabs(values[i]);
    range.whole = range.whole && values[i] == std::ceil(values[i]);
    if (!any) least = most = magnitude;
    any = true;
    least = std::min(least, magnitude);
    // libtorch compares the signed value here, so a large negative number does not widen the columns.
    if (values[i] > most) most = magnitude;
  }
  if (any) range.least = digits(least), range.most = digits(most);
  return range;
}

// Sets the stream's notation and returns width and scale.
Format choose_format(std::ostream& out, const double* values, int64_t count) {
  if (count == 0) return {};
  Range range = range_of(values, count);
  if (range.whole) {
    if (range.most > 9) {
      out << std::scientific << std::setprecision(4);
      return {1, 11};
    }
    out << std::defaultfloat;
    return {1, static_cast<int>(range.most) + 1};
  }
  if (range.most - range.least > 4) {
    out << std::scientific << std::setprecision(4);
    return {1, std::fabs(range.most) > 99 || std::fabs(range.least) > 99 ? 12 : 11};
  }
  out << std::fixed << std::setprecision(4);
  if (range.most > 5 || range.most < 0) return {std::pow(10.0, range.most - 1), 7};
  return {1, range.most == 0 ? 7 : static_cast<int>(range.most) + 6};
}

void print_scale(std::ostream& out, double scale) {
  RestoredFormat format(out);
  out << std::defaultfloat << scale << " *\n";
}

void print_vector(std::ostream& out, const std::vector<double>& values) {
  Format format = choose_format(out, values.data(), static_cast<int64_t>(values.size()));
  if (format.scale != 1) print_scale(out, format.scale);
  for (double value : values) out << std::setw(format.width) << value / format.scale << '\n';
}

void print_matrix(std::ostream& out, const Matrix& matrix, int64_t linesize, int indent) {
  const std::string margin(static_cast<size_t>(indent), ' ');
  Format format = choose_format(out, matrix.values, matrix.rows * matrix.columns);
  const bool scaled = format.scale != 1;
  const int64_t per_line = std::max<int64_t>(1, (linesize - indent) / (format.width + 1));
  out << margin;
  for (int64_t first = 0; first < matrix.columns; first += per_line) {
    const int64_t last = std::min(first + per_line, matrix.columns) - 1;
    if (per_line < matrix.columns) {
      if (first != 0) out << '\n';
      out << "Columns " << first + 1 << " to " << last + 1 << margin;
    }
    if (scaled) {
      print_scale(out, format.scale);
      out << margin;
    }
    for (int64_t row = 0; row < matrix.rows; row++) {
      if (row != 0) out << margin << (scaled ? " " : "");
      for (int64_t column = first; column <= last; column++)
        out << std::setw(format.width) << matrix.values[row * matrix.columns + column] / format.scale
            << (column == last ? '\n' : ' ');
    }
  }
}

// The matrices one after the other; the first of the leading dimensions runs fastest.
void print_matrices(std::ostream& out, const std::vector<double>& values, IntArrayRef sizes, int64_t linesize) {
  const size_t leading = sizes.size() - 2;
  const int64_t rows = sizes[leading], columns = sizes[leading + 1];
  std::vector<int64_t> at(leading, 0);
  for (bool start = true;; start = false) {
    if (!start) out << '\n';
    int64_t position = 0;
    out << '(';
    for (size_t i = 0; i < leading; i++) {
      position = position * sizes[i] + at[i];
      out << at[i] + 1 << ',';
    }
    out << ".,.) = \n";
    print_matrix(out, {values.data() + position * rows * columns, rows, columns}, linesize, 1);
    size_t i = 0;
    while (i < leading && ++at[i] == sizes[i]) at[i++] = 0;
    if (i == leading) return;
  }
}

void print_kind(std::ostream& out, const Tensor& tensor) {
  out << "[ " << tensor.toString() << '{';
  const char* comma = "";
  for (int64_t n : tensor.sizes()) {
    out << comma << n;
    comma = ",";
  }
  out << "} ]";
}

}  // namespace

Tensor detail::readable(const Tensor& tensor) {
  return tensor.is_cpu() ? tensor : tensor.variable_data().to(Device(kCPU));
}

std::ostream& print(std::ostream& out, const Tensor& tensor, int64_t linesize) {
  if (!tensor.defined()) return out << "[ Tensor (undefined) ]";
  RestoredFormat format(out);
  if (tensor.is_complex() && !tensor.is_meta() && tensor.numel() > 0) {
    out << detail::bracketed(tensor) << '\n';  // libtorch loses the imaginary parts here
  } else if (!tensor.is_meta()) {
    std::vector<double> values = values_of(tensor);
    if (tensor.dim() == 0)
      out << std::defaultfloat << values[0] << '\n';
    else if (values.empty())
      ;  // only what it is
    else if (tensor.dim() == 1)
      print_vector(out, values);
    else if (tensor.dim() == 2)
      print_matrix(out, {values.data(), tensor.size(0), tensor.size(1)}, linesize, 0);
    else
      print_matrices(out, values, tensor.sizes(), linesize);
  }
  print_kind(out, tensor);
  return out;
}

void Tensor::print() const {
  if (defined())
    std::cerr << '[' << toString() << ' ' << text_of(sizes()) << "]\n";
  else
    std::cerr << "[UndefinedTensor]\n";
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  if (print_style() == PrintStyle::libtorch) return print(out, tensor, 80);
  return out << to_python_repr(tensor);
}

static std::atomic<PrintStyle> current_print_style{PrintStyle::python};
PrintStyle print_style() { return current_print_style.load(std::memory_order_relaxed); }
PrintStyle set_print_style(PrintStyle style) { return current_print_style.exchange(style); }

std::ostream& operator<<(std::ostream& out, MemoryFormat format) {
  switch (format) {
    case MemoryFormat::Contiguous:
      return out << "Contiguous";
    case MemoryFormat::Preserve:
      return out << "Preserve";
    case MemoryFormat::ChannelsLast:
      return out << "ChannelsLast";
    case MemoryFormat::ChannelsLast3d:
      return out << "ChannelsLast3d";
  }
  return out << '?';
}
std::ostream& operator<<(std::ostream& out, Layout layout) {
  return out << (layout == kStrided ? "Strided" : "Sparse");
}

std::ostream& operator<<(std::ostream& out, const TensorOptions& options) {
  auto unless_given = [](bool given) { return given ? "" : " (default)"; };
  auto flag = [](bool value) { return value ? "true" : "false"; };
  out << "TensorOptions(dtype=" << options.dtype() << unless_given(options.has_dtype());
  out << ", device=" << options.device() << unless_given(options.has_device());
  out << ", layout=" << options.layout() << unless_given(options.has_layout());
  out << ", requires_grad=" << flag(options.requires_grad()) << unless_given(options.has_requires_grad());
  out << ", pinned_memory=" << flag(options.pinned_memory()) << unless_given(options.has_pinned_memory());
  out << ", memory_format=";
  if (options.has_memory_format())
    out << *options.memory_format_opt();
  else
    out << "(nullopt)";
  return out << ')';
}

std::ostream& operator<<(std::ostream& out, const DeprecatedTypeProperties& type) { return out << type.toString(); }
std::ostream& operator<<(std::ostream& out, Half value) { return out << static_cast<float>(value); }
std::ostream& operator<<(std::ostream& out, BFloat16 value) { return out << static_cast<float>(value); }

namespace indexing {

std::ostream& operator<<(std::ostream& out, const Slice& slice) {
  return out << slice.start() << ':' << slice.stop() << ':' << slice.step();
}

std::ostream& operator<<(std::ostream& out, const TensorIndex& index) {
  switch (index.kind()) {
    case TensorIndex::Kind::none:
      return out << "None";
    case TensorIndex::Kind::ellipsis:
      return out << "...";
    case TensorIndex::Kind::integer:
      return out << index.integer();
    case TensorIndex::Kind::boolean:
      return out << (index.boolean() ? "true" : "false");
    case TensorIndex::Kind::slice:
      return out << index.slice();
    case TensorIndex::Kind::tensor:
      return out << index.tensor();
  }
  return out;
}

std::ostream& operator<<(std::ostream& out, const std::vector<TensorIndex>& indices) {
  out << '(';
  for (size_t i = 0; i < indices.size(); i++) out << (i ? ", " : "") << indices[i];
  return out << ')';
}

}  // namespace indexing

}  // namespace cresset
