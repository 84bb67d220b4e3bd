// Numbers and layouts follow PyTorch's own SummaryWriter, so that both draw the same pictures.
#include "cresset/monitor/summaries.h"

#include <algorithm>
#include <cmath>

#include "cresset/io/image.h"
#include "cresset/ops/all.h"

namespace cresset::monitor {
namespace {

// DataType of TensorProto, and of the hparams plugin.
constexpr int kDtFloat = 1, kDtString = 7;
constexpr int kHparamString = 1, kHparamBool = 2, kHparamFloat = 3;

Message plugin(const char* name, const Message& content) {
  return Message().message(1, Message().text(1, name).text(2, content.bytes()));
}

Message shape_of(IntArrayRef sizes) {
  Message shape;
  for (int64_t size : sizes) shape.message(2, Message().integer(1, size));
  return shape;
}

const std::vector<double>& bucket_limits() {
  static const auto* limits = [] {
    std::vector<double> positive;
    for (double v = 1e-12; v < 1e20; v *= 1.1) positive.push_back(v);
    auto* all = new std::vector<double>;
    for (size_t i = positive.size(); i-- > 0;) all->push_back(-positive[i]);
    all->push_back(0);
    all->insert(all->end(), positive.begin(), positive.end());
    return all;
  }();
  return *limits;
}

}  // namespace

Message summary_event(const Message& value) { return Message().message(5, Message().message(1, value)); }

Message scalar_value(const std::string& tag, double value) {
  return Message().text(1, tag).single(2, static_cast<float>(value));
}

Message histogram_value(const std::string& tag, const Tensor& values) {
  const std::vector<double>& limits = bucket_limits();
  std::vector<double> counts(limits.size() - 1);
  double least = HUGE_VAL, most = -HUGE_VAL, count = 0, sum = 0, squares = 0;
  for (double value : values.detach().to(kDouble).tolist<double>()) {
    if (!std::isfinite(value)) continue;
    least = std::min(least, value), most = std::max(most, value);
    count++, sum += value, squares += value * value;
    const double clamped = std::clamp(value, limits.front(), limits.back());
    const auto above = std::upper_bound(limits.begin(), limits.end(), clamped) - limits.begin();
    counts[static_cast<size_t>(std::min<std::ptrdiff_t>(above, static_cast<std::ptrdiff_t>(counts.size())) - 1)]++;
  }
  CRESSET_CHECK_AS(ValueError, count > 0, "add_histogram: '", tag, "' has no finite value among ", values.numel());
  size_t first = 0, last = counts.size();
  while (counts[first] == 0) first++;
  while (counts[last - 1] == 0) last--;
  // Only right limits are written; an empty bucket in front gives the first one its left.
  std::vector<double> shown_counts{0}, shown_limits{limits[first]};
  for (size_t i = first; i < last; i++) {
    shown_counts.push_back(counts[i]);
    shown_limits.push_back(limits[i + 1]);
  }
  Message histogram;
  histogram.real(1, least).real(2, most).real(3, count).real(4, sum).real(5, squares);
  histogram.reals(6, shown_limits).reals(7, shown_counts);
  return Message().text(1, tag).message(5, histogram);
}

std::string png_of(const Tensor& image) {
  const std::vector<uint8_t> png = io::encode_png(image);
  return {png.begin(), png.end()};
}

Message image_value(const std::string& tag, const Tensor& image) {
  Message encoded;
  encoded.integer(1, image.size(1)).integer(2, image.size(2)).integer(3, image.size(0)).text(4, png_of(image));
  return Message().text(1, tag).message(4, encoded);
}

Message png_value(const std::string& tag, std::string_view png) {
  CRESSET_CHECK_AS(ValueError, png.size() >= 33 && png.starts_with("\x89PNG\r\n\x1A\n"), "add_figure: '", tag, "' has ",
                   png.size(), " bytes that are no PNG");
  auto number = [&](size_t at) {
    int64_t value = 0;
    for (size_t i = 0; i < 4; i++) value = value << 8 | static_cast<unsigned char>(png[at + i]);
    return value;
  };
  constexpr int64_t channels_of[] = {1, 0, 3, 3, 2, 0, 4};
  const auto kind = static_cast<unsigned char>(png[25]);
  CRESSET_CHECK_AS(ValueError, kind <= 6 && channels_of[kind], "add_figure: '", tag, "' is a damaged PNG");
  Message encoded;
  encoded.integer(1, number(20)).integer(2, number(16)).integer(3, channels_of[kind]).text(4, png);
  return Message().text(1, tag).message(4, encoded);
}

Message text_value(const std::string& tag, const std::string& text) {
  Message tensor;
  tensor.integer(1, kDtString).message(2, shape_of({1})).text(8, text);
  return Message().text(1, tag + "/text_summary").message(8, tensor).message(9, plugin("text", Message()));
}

Message pr_curve_value(const std::string& tag, const Tensor& labels, const Tensor& predictions, int thresholds,
                       const Tensor& weights) {
  CRESSET_CHECK_AS(ShapeError, labels.sizes() == predictions.sizes(), "add_pr_curve: labels have shape ",
                   text_of(labels.sizes()), " and predictions ", text_of(predictions.sizes()), " (expected the same)");
  CRESSET_CHECK_AS(ValueError, thresholds >= 2, "add_pr_curve: found ", thresholds, " thresholds (expected 2 or more)");
  const std::vector<double> truth = labels.detach().to(kDouble).tolist<double>(),
                            guess = predictions.detach().to(kDouble).tolist<double>(),
                            weight = weights.defined() ? weights.detach().to(kDouble).tolist<double>()
                                                       : std::vector<double>(truth.size(), 1);
  CRESSET_CHECK_AS(ShapeError, weight.size() == truth.size(), "add_pr_curve: found ", weight.size(),
                   " weights (expected ", truth.size(), ")");
  const auto n = static_cast<size_t>(thresholds);
  std::vector<double> tp(n), fp(n);
  for (size_t i = 0; i < truth.size(); i++) {
    CRESSET_CHECK_AS(ValueError, guess[i] >= 0 && guess[i] <= 1, "add_pr_curve: a prediction is ", guess[i],
                     " (expected 0 to 1)");
    const auto bucket = static_cast<size_t>(std::floor(guess[i] * (thresholds - 1)));
    tp[bucket] += truth[i] * weight[i];
    fp[bucket] += (1 - truth[i]) * weight[i];
  }
  for (size_t i = n - 1; i-- > 0;) tp[i] += tp[i + 1], fp[i] += fp[i + 1];
  std::vector<double> rows[6];
  for (size_t i = 0; i < n; i++) {
    const double tn = fp[0] - fp[i], fn = tp[0] - tp[i];
    const double values[] = {
        tp[i], fp[i], tn, fn, tp[i] / std::max(1e-7, tp[i] + fp[i]), tp[i] / std::max(1e-7, tp[i] + fn)};
    for (size_t k = 0; k < 6; k++) rows[k].push_back(values[k]);
  }
  std::vector<double> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  Message tensor;
  tensor.integer(1, kDtFloat).message(2, shape_of({6, thresholds})).singles(5, all);
  const Message content = Message().integer(2, thresholds);
  return Message().text(1, tag).message(8, tensor).message(9, plugin("pr_curves", content));
}

std::vector<Message> hparams_values(const IValue::Dict& hparams, const std::vector<std::string>& metrics) {
  Message experiment, start;
  for (const auto& [key, value] : hparams) {
    const std::string& name = key.toStringRef();
    Message held;
    int type = kHparamFloat;
    if (value.isString()) {
      held.text(3, value.toStringRef());
      type = kHparamString;
    } else if (value.isBool()) {
      held.integer(4, value.toBool());
      type = kHparamBool;
    } else {
      CRESSET_CHECK_AS(TypeError, value.isNumber() || value.isTensor(), "add_hparams: '", name, "' is a ",
                       value.tagKind(), " (expected a number, a bool or a text)");
      held.real(2, value.isTensor() ? value.toTensor().item<double>() : value.toDouble());
    }
    start.message(1, Message().text(1, name).message(2, held));
    experiment.message(4, Message().text(1, name).integer(4, type));
  }
  for (const std::string& metric : metrics) experiment.message(5, Message().message(1, Message().text(2, metric)));
  const Message end = Message().integer(1, 1);  // success
  auto value = [](const char* tag, const Message& data) {
    return Message().text(1, std::string("_hparams_/") + tag).message(9, plugin("hparams", data));
  };
  return {value("experiment", Message().message(2, experiment)),
          value("session_start_info", Message().message(3, start)),
          value("session_end_info", Message().message(4, end))};
}

Tensor grid_of(const Tensor& images, int64_t columns) {
  const int64_t count = images.size(0), rows = (count + columns - 1) / columns, height = images.size(2),
                width = images.size(3);
  Tensor grid = zeros({images.size(1), rows * height, columns * width}, images.options());
  for (int64_t i = 0; i < count; i++) {
    const int64_t y = i / columns * height, x = i % columns * width;
    Tensor place = grid.slice(1, y, y + height).slice(2, x, x + width);
    place.copy_(images[i]);
  }
  return grid;
}

Tensor to_image(const char* function, const Tensor& given, const std::string& layout) {
  NoGradGuard no_grad;
  CRESSET_CHECK_AS(ShapeError, given.dim() == static_cast<int64_t>(layout.size()), function, ": found shape ",
                   text_of(given.sizes()), " (expected ", layout, ")");
  Tensor image = given.detach().to(Device(kCPU));
  // Floating values count from 0 to 1, others from 0 to 255.
  if (image.is_floating_point()) image = image.to(kFloat).mul(255).clamp(0, 255);
  image = image.to(kByte);
  if (layout == "HW") {
    image = image.unsqueeze(0);
  } else if (layout == "HWC") {
    image = image.permute({2, 0, 1});
  } else if (layout == "NHWC" || layout == "NCHW") {
    if (layout == "NHWC") image = image.permute({0, 3, 1, 2});
    CRESSET_CHECK_AS(ShapeError, image.size(0) > 0, function, ": found an empty batch (expected an image or more)");
    image = grid_of(image, std::min<int64_t>(8, image.size(0)));
  } else {
    CRESSET_CHECK_AS(ValueError, layout == "CHW", function, ": found layout ", layout,
                     " (expected CHW, HWC, HW, NCHW or NHWC)");
  }
  CRESSET_CHECK_AS(ShapeError, image.size(0) >= 1 && image.size(0) <= 4 && image.numel() > 0, function,
                   ": found shape ", text_of(given.sizes()), " in ", layout,
                   " (expected 1 to 4 channels and a size that is not 0)");
  return image;
}

}  // namespace cresset::monitor
