// PyTorch's Python form: one number format for the whole tensor, nested brackets, lines broken by element count, and
// suffixes for what the text alone does not tell (dtype, device, graph).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <mutex>

#include "cresset/core/print.h"

namespace cresset {
namespace {

struct Settings {
  int64_t precision = 4, threshold = 1000, edgeitems = 3, linewidth = 80;
  std::optional<bool> sci_mode;
};
struct SharedSettings {
  std::mutex mutex;
  Settings now;
};
SharedSettings& shared_settings() {
  static SharedSettings* settings = new SharedSettings;  // tensors are printed also while the process exits
  return *settings;
}
Settings current_settings() {
  SharedSettings& shared = shared_settings();
  std::lock_guard lock(shared.mutex);
  return shared.now;
}

enum class Notation : uint8_t { fixed, scientific };

std::string number_text(double value, int64_t precision, Notation notation) {
  if (std::isnan(value)) return "nan";  // printf may write -nan
  char text[512];
  const char* form = notation == Notation::fixed ? "%.*f" : "%.*e";
  int length = std::snprintf(text, sizeof text, form, static_cast<int>(precision), value);
  return {text, static_cast<size_t>(std::min<int>(length, sizeof text - 1))};
}

std::string padded(std::string text, size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

// A part of the tensor: what is left after some leading indices were chosen.
struct Part {
  const char* data;
  IntArrayRef sizes, strides;
  DType dtype;

  Part at(int64_t i) const {
    return {data + i * strides[0] * static_cast<int64_t>(element_size(dtype)), sizes.slice(1), strides.slice(1), dtype};
  }
};

double real_of(const Part& element) {
  return dispatch(element.dtype, [&](auto* p) -> double {
    auto value = *reinterpret_cast<const std::remove_pointer_t<decltype(p)>*>(element.data);
    if constexpr (requires { value.real(); })
      return static_cast<double>(value.real());
    else
      return static_cast<double>(value);
  });
}
double imaginary_of(const Part& element) {
  return element.dtype == kComplexFloat ? reinterpret_cast<const float*>(element.data)[1]
                                        : reinterpret_cast<const double*>(element.data)[1];
}
std::string integer_text(const Part& element) {
  if (element.dtype == kBool) return *reinterpret_cast<const bool*>(element.data) ? "True" : "False";
  return dispatch(element.dtype, [&](auto* p) -> std::string {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (std::is_integral_v<T>)
      return std::to_string(static_cast<int64_t>(*reinterpret_cast<const T*>(element.data)));
    else
      return {};
  });
}

// One format for all numbers that are shown; found by looking at each of them.
class NumberFormat {
 public:
  explicit NumberFormat(const Settings& settings) : settings_(settings) {}

  void fit_texts(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) width_ = std::max(width_, text.size());
  }
  void fit(std::vector<double> values) {
    std::erase_if(values, [](double x) { return !std::isfinite(x) || x == 0; });
    if (values.empty()) return;
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (double x : values) {
      least = std::min(least, std::fabs(x));
      most = std::max(most, std::fabs(x));
      whole_ = whole_ && x == std::ceil(x);
    }
    bool scientific = most / least > 1000 || most > 1e8 || (!whole_ && least < 1e-4);
    for (double x : values) width_ = std::max(width_, bare_text(x, scientific).size());
    scientific_ = settings_.sci_mode.value_or(scientific);
  }
  size_t width() const { return width_; }
  std::string text(double value) const { return padded(bare_text(value, scientific_), width_); }

 private:
  std::string bare_text(double value, bool scientific) const {
    if (scientific) return number_text(value, settings_.precision, Notation::scientific);
    if (!whole_) return number_text(value, settings_.precision, Notation::fixed);
    return number_text(value, 0, Notation::fixed) + (std::isfinite(value) ? "." : "");
  }

  const Settings& settings_;
  size_t width_ = 1;
  bool whole_ = true, scientific_ = false;
};

class Writer {
 public:
  Writer(const Tensor& tensor, const Settings& settings, int64_t margin)
      : settings_(settings), real_(settings), imaginary_(settings), dtype_(tensor.dtype()) {
    summarize_ = tensor.numel() > settings.threshold;
    Part all{static_cast<const char*>(tensor.data_ptr()), tensor.sizes(), tensor.strides(), dtype_};
    std::vector<std::string> texts;
    std::vector<double> reals, imaginaries;
    visit(all, [&](const Part& element) {
      if (is_integral(dtype_, true))
        texts.push_back(integer_text(element));
      else
        reals.push_back(real_of(element));
      if (is_complex(dtype_)) imaginaries.push_back(imaginary_of(element));
    });
    real_.fit_texts(texts);
    real_.fit(std::move(reals));
    imaginary_.fit(std::move(imaginaries));
    text_ = write(all, margin);
  }
  std::string take() { return std::move(text_); }

 private:
  bool cut(const Part& part) const { return summarize_ && part.sizes[0] > 2 * settings_.edgeitems; }

  template <class F>
  void visit(const Part& part, const F& f) const {
    if (part.sizes.empty()) return f(part);
    for_shown(
        part, [&](int64_t i) { visit(part.at(i), f); }, [] {});
  }
  template <class Each, class Gap>
  void for_shown(const Part& part, const Each& each, const Gap& gap) const {
    const int64_t n = part.sizes[0];
    if (!cut(part)) {
      for (int64_t i = 0; i < n; i++) each(i);
      return;
    }
    for (int64_t i = 0; i < settings_.edgeitems; i++) each(i);
    gap();
    for (int64_t i = n - settings_.edgeitems; i < n; i++) each(i);
  }

  std::string element(const Part& part) const {
    if (is_integral(dtype_, true)) return padded(integer_text(part), real_.width());
    if (!is_complex(dtype_)) return real_.text(real_of(part));
    std::string imaginary = imaginary_.text(imaginary_of(part));
    imaginary.erase(0, imaginary.find_first_not_of(' '));
    std::string both = real_.text(real_of(part));
    if (imaginary[0] != '-') both += '+';
    return both.append(imaginary).append("j");
  }

  std::string write(const Part& part, int64_t indent) const {
    if (part.sizes.empty()) return element(part);
    if (part.sizes.size() == 1) return write_row(part, indent);
    std::vector<std::string> inner;
    for_shown(
        part, [&](int64_t i) { inner.push_back(write(part.at(i), indent + 1)); }, [&] { inner.push_back("..."); });
    return bracketed(inner, std::string(part.sizes.size() - 1, '\n'), indent);
  }

  std::string write_row(const Part& part, int64_t indent) const {
    std::vector<std::string> elements;
    for_shown(
        part, [&](int64_t i) { elements.push_back(element(part.at(i))); }, [&] { elements.push_back(" ..."); });
    int64_t element_width = static_cast<int64_t>(real_.width()) + 2;
    if (is_complex(dtype_)) element_width += static_cast<int64_t>(imaginary_.width()) + 1;
    const auto per_line = static_cast<size_t>(std::max<int64_t>(1, (settings_.linewidth - indent) / element_width));
    std::vector<std::string> lines;
    for (size_t i = 0; i < elements.size(); i++) {
      if (i % per_line == 0)
        lines.push_back(std::move(elements[i]));
      else
        lines.back().append(", ").append(elements[i]);
    }
    return bracketed(lines, "\n", indent);
  }

  static std::string bracketed(const std::vector<std::string>& parts, const std::string& line_breaks, int64_t indent) {
    std::string all = "[";
    for (size_t i = 0; i < parts.size(); i++) {
      if (i != 0) all.append(",").append(line_breaks).append(static_cast<size_t>(indent + 1), ' ');
      all += parts[i];
    }
    all += ']';
    return all;
  }

  const Settings& settings_;
  NumberFormat real_, imaginary_;
  DType dtype_;
  bool summarize_;
  std::string text_;
};

std::string tuple_text(IntArrayRef sizes) {
  std::string text = "(";
  for (size_t i = 0; i < sizes.size(); i++) text.append(i ? ", " : "").append(std::to_string(sizes[i]));
  return text.append(sizes.size() == 1 ? ",)" : ")");
}

// Readers take these for granted: a number's text already says them.
bool dtype_goes_without_saying(DType dtype) {
  DType complex_default = default_dtype() == kDouble ? kComplexDouble : kComplexFloat;
  return dtype == default_dtype() || dtype == complex_default || dtype == kLong || dtype == kBool;
}

std::vector<std::string> suffixes_of(const Tensor& tensor) {
  std::vector<std::string> suffixes;
  Device device = tensor.device();
  if (device.is_cuda() && !device.has_index()) device = Device(kCUDA, 0);
  if (!device.is_cpu()) suffixes.push_back(message_of("device='", device, "'"));
  const bool valueless = tensor.is_meta() || tensor.numel() == 0;
  if (tensor.is_meta() || (valueless && tensor.dim() != 1))
    suffixes.push_back(message_of("size=", tuple_text(tensor.sizes())));
  if (valueless ? tensor.dtype() != default_dtype() : !dtype_goes_without_saying(tensor.dtype()))
    suffixes.push_back(message_of("dtype=torch.", name_of(tensor.dtype())));
  std::string node = grad_fn_name(tensor);
  if (!node.empty())
    suffixes.push_back(message_of("grad_fn=<", node.substr(node.rfind(':') + 1), ">"));
  else if (tensor.requires_grad())
    suffixes.push_back("requires_grad=True");
  return suffixes;
}

void apply_profile(const std::string& profile, Settings& settings) {
  CRESSET_CHECK_AS(ValueError, profile == "default" || profile == "short" || profile == "full",
                   "set_printoptions: found profile \"", profile, "\" (expected default, short or full)");
  std::optional<bool> sci_mode = settings.sci_mode;
  settings = Settings{};
  settings.sci_mode = sci_mode;
  if (profile == "short") settings.precision = settings.edgeitems = 2;
  if (profile == "full") settings.threshold = std::numeric_limits<int64_t>::max();
}

void apply_number(const char* name, const std::optional<int64_t>& given, int64_t least, int64_t most,
                  int64_t& setting) {
  if (!given) return;
  CRESSET_CHECK_AS(ValueError, *given >= least && *given <= most, "set_printoptions: found ", name, " ", *given,
                   " (expected ", least, " to ", most, ")");
  setting = *given;
}

}  // namespace

void set_printoptions(const PrintOptions& changes) {
  constexpr int64_t any = std::numeric_limits<int64_t>::max();
  Settings settings = current_settings();
  if (changes.profile) apply_profile(*changes.profile, settings);
  apply_number("precision", changes.precision, 0, 100, settings.precision);
  apply_number("threshold", changes.threshold, 0, any, settings.threshold);
  apply_number("edgeitems", changes.edgeitems, 1, any / 2, settings.edgeitems);
  apply_number("linewidth", changes.linewidth, 1, any, settings.linewidth);
  settings.sci_mode = changes.sci_mode;
  SharedSettings& shared = shared_settings();
  std::lock_guard lock(shared.mutex);
  shared.now = settings;
}

PrintOptions get_printoptions() {
  Settings now = current_settings();
  return {.precision = now.precision,
          .threshold = now.threshold,
          .edgeitems = now.edgeitems,
          .linewidth = now.linewidth,
          .sci_mode = now.sci_mode};
}

std::string detail::bracketed(const Tensor& tensor) {
  Settings settings = current_settings();
  settings.threshold = std::numeric_limits<int64_t>::max();
  return Writer(readable(tensor), settings, 0).take();
}

std::string to_python_repr(const Tensor& tensor) {
  if (!tensor.defined()) return "None";
  Settings settings = current_settings();
  std::string text = "tensor(";
  if (tensor.is_meta())
    text += "...";
  else if (tensor.numel() == 0)
    text += "[]";
  else
    text += Writer(detail::readable(tensor), settings, 7).take();  // as wide as "tensor("
  // PyTorch counts two characters more than the last line has (one for a line break that may not be there).
  size_t line_break = text.rfind('\n');
  auto line_length =
      static_cast<int64_t>(line_break == std::string::npos ? text.size() + 2 : text.size() - line_break + 1);
  for (const std::string& suffix : suffixes_of(tensor)) {
    auto length = static_cast<int64_t>(suffix.size());
    if (line_length + length + 2 > settings.linewidth) {
      text.append(",\n       ").append(suffix);
      line_length = 7 + length;
    } else {
      text.append(", ").append(suffix);
      line_length += length + 2;
    }
  }
  return text.append(")");
}

}  // namespace cresset
