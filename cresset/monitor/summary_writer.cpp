// Files and folders of a run.
#include "cresset/monitor/summary_writer.h"

#include <pthread.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <set>

#include "cresset/io/atomic_file.h"
#include "cresset/monitor/event_file.h"
#include "cresset/monitor/summaries.h"
#include "cresset/ops/all.h"

namespace cresset::monitor {
namespace {

std::string default_folder(const std::string& comment) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char date[32], host[256] = {};
  std::strftime(date, sizeof date, "%b%d_%H-%M-%S", &local);
  if (::gethostname(host, sizeof host - 1) != 0) std::snprintf(host, sizeof host, "localhost");
  return std::string("runs/") + date + "_" + host + comment;
}

// A tag as a folder's name.
std::string folder_name(const std::string& tag) {
  std::string name = tag;
  for (char& c : name)
    if (c == '/' || c == ' ' || static_cast<unsigned char>(c) < 32) c = '_';
  return name;
}

// As PyTorch's: characters that would break a path are escaped.
std::string path_name(const std::string& tag) {
  std::string name;
  for (char c : tag) {
    char hex[8];
    if (std::isalnum(static_cast<unsigned char>(c)) || std::string_view("-_.").find(c) != std::string_view::npos) {
      name += c;
    } else {
      std::snprintf(hex, sizeof hex, "%%%02x", static_cast<unsigned char>(c));
      name += hex;
    }
  }
  return name;
}

std::string tsv_of(const Tensor& points) {
  const std::vector<double> values = points.detach().to(kDouble).tolist<double>();
  const auto columns = static_cast<size_t>(points.size(1));
  std::string text;
  for (size_t i = 0; i < values.size(); i++) {
    char number[32];
    std::snprintf(number, sizeof number, "%.9g", values[i]);
    text += number;
    text += (i + 1) % columns == 0 ? '\n' : '\t';
  }
  return text;
}

std::string lines_of(const std::vector<std::string>& labels) {
  std::string text;
  for (std::string label : labels) {
    for (char& c : label)
      if (c == '\n') c = ' ';
    text += label + "\n";
  }
  return text;
}

Message graph_def(const std::vector<TracedNode>& nodes) {
  Message graph;
  for (const TracedNode& node : nodes) {
    Message shapes;
    for (const auto& sizes : node.shapes) {
      Message shape;
      for (int64_t size : sizes) shape.message(2, Message().integer(1, size));
      shapes.message(7, shape);
    }
    Message def;
    def.text(1, node.name).text(2, node.op);
    for (const std::string& input : node.inputs) def.text(3, input);
    def.text(4, "/device:CPU:0");
    auto attribute = [&](const char* name, const Message& value) {
      def.message(5, Message().text(1, name).message(2, value));
    };
    attribute("_output_shapes", Message().message(1, shapes));
    if (!node.attributes.empty()) attribute("attr", Message().text(2, node.attributes));
    graph.message(1, def);
  }
  return graph.message(4, Message().integer(1, 22));
}

}  // namespace

namespace {

// One for all writers, and held for moments: a fork takes it, so that the child of a program whose threads are logging
// does not find it locked for ever.
std::mutex& files_mutex() {
  static auto* const only = new std::mutex;
  return *only;
}

// After the first file is there: handlers that are registered later lock first, and files are opened under this lock.
void watch_fork() {
  static const int once =
      pthread_atfork([] { files_mutex().lock(); }, [] { files_mutex().unlock(); }, [] { files_mutex().unlock(); });
  static_cast<void>(once);
}

}  // namespace

struct SummaryWriter::Files {
  std::string suffix;
  double flush_secs = 0;
  std::optional<int64_t> purge_step;  // for each folder's first file
  std::set<std::string> purged;
  std::shared_ptr<EventFile> main;  // made when first written to
  OrderedDict<std::string, std::shared_ptr<EventFile>> others;
  std::string projector;

  // After close() a new file is begun, as PyTorch does it. Only a folder's first one hides what was there before.
  std::shared_ptr<EventFile> file_in(const std::string& folder, const std::string& suffix) {
    const bool first = purged.insert(folder).second;
    return std::make_shared<EventFile>(folder, EventFileOptions{suffix, flush_secs, first ? purge_step : std::nullopt});
  }
  std::shared_ptr<EventFile> main_in(const std::string& folder) {
    const std::lock_guard lock(files_mutex());
    if (!main) main = file_in(folder, suffix);
    return main;
  }
  std::shared_ptr<EventFile> other_in(const std::string& folder) {
    const std::lock_guard lock(files_mutex());
    if (!others.contains(folder)) others.insert(folder, file_in(folder, ""));
    return others[folder];
  }
  std::vector<std::shared_ptr<EventFile>> all() const {
    const std::lock_guard lock(files_mutex());
    std::vector<std::shared_ptr<EventFile>> files = others.values();
    if (main) files.push_back(main);
    return files;
  }
};

SummaryWriter::SummaryWriter(std::string log_dir, SummaryWriterOptions options)
    : folder_(log_dir.empty() ? default_folder(options.comment) : std::move(log_dir)),
      files_(std::make_unique<Files>()) {
  files_->suffix = std::move(options.filename_suffix);
  files_->flush_secs = options.flush_secs;
  files_->purge_step = options.purge_step;
  files_->main_in(folder_);
  watch_fork();
}
SummaryWriter::SummaryWriter(std::string log_dir) : SummaryWriter(std::move(log_dir), SummaryWriterOptions()) {}
SummaryWriter::~SummaryWriter() = default;
SummaryWriter::SummaryWriter(SummaryWriter&&) noexcept = default;
SummaryWriter& SummaryWriter::operator=(SummaryWriter&&) noexcept = default;

void SummaryWriter::add_event(const Message& event, int64_t step, double time) {
  files_->main_in(folder_)->add(event, step, time);
}

void SummaryWriter::add(const Message& value, int64_t step, std::optional<double> walltime) {
  add_event(summary_event(value), step, walltime.value_or(wall_time()));
}

void SummaryWriter::add_scalar(const std::string& tag, double value, int64_t step, std::optional<double> walltime) {
  add(scalar_value(tag, value), step, walltime);
}

void SummaryWriter::add_scalar(const std::string& tag, const Tensor& value, int64_t step,
                               std::optional<double> walltime) {
  CRESSET_CHECK_AS(ShapeError, value.numel() == 1, "add_scalar: '", tag, "' has shape ", text_of(value.sizes()),
                   " (expected one value)");
  add_scalar(tag, value.item<double>(), step, walltime);
}

void SummaryWriter::add_scalars(const std::string& main_tag, const Scalars& values, int64_t step,
                                std::optional<double> walltime) {
  for (const auto& [tag, value] : values) {
    const std::string folder = folder_ + "/" + folder_name(main_tag) + "_" + folder_name(tag);
    files_->other_in(folder)->add(summary_event(scalar_value(main_tag, value)), step, walltime.value_or(wall_time()));
  }
}

void SummaryWriter::add_histogram(const std::string& tag, const Tensor& values, int64_t step,
                                  std::optional<double> walltime) {
  add(histogram_value(tag, values), step, walltime);
}

void SummaryWriter::add_image(const std::string& tag, const Tensor& image, int64_t step, const std::string& dataformats,
                              std::optional<double> walltime) {
  add(image_value(tag, to_image("add_image", image, dataformats)), step, walltime);
}

void SummaryWriter::add_images(const std::string& tag, const Tensor& images, int64_t step,
                               const std::string& dataformats, std::optional<double> walltime) {
  add(image_value(tag, to_image("add_images", images, dataformats)), step, walltime);
}

void SummaryWriter::add_figure(const std::string& tag, std::string_view png, int64_t step,
                               std::optional<double> walltime) {
  add(png_value(tag, png), step, walltime);
}

void SummaryWriter::add_figure(const std::string& tag, const std::vector<uint8_t>& png, int64_t step,
                               std::optional<double> walltime) {
  add_figure(tag, std::string_view(reinterpret_cast<const char*>(png.data()), png.size()), step, walltime);
}

void SummaryWriter::add_figure(const std::string& tag, const Tensor& image, int64_t step,
                               std::optional<double> walltime) {
  add(image_value(tag, to_image("add_figure", image, "CHW")), step, walltime);
}

void SummaryWriter::add_text(const std::string& tag, const std::string& text, int64_t step,
                             std::optional<double> walltime) {
  add(text_value(tag, text), step, walltime);
}

void SummaryWriter::add_pr_curve(const std::string& tag, const Tensor& labels, const Tensor& predictions, int64_t step,
                                 int num_thresholds, const Tensor& weights, std::optional<double> walltime) {
  add(pr_curve_value(tag, labels, predictions, num_thresholds, weights), step, walltime);
}

void SummaryWriter::add_hparams(const IValue::Dict& hparams, const Scalars& metrics, const std::string& run_name,
                                int64_t step) {
  std::vector<std::string> names;
  for (const auto& metric : metrics) names.push_back(metric.first);
  const std::string folder =
      folder_ + "/" +
      (run_name.empty() ? std::to_string(static_cast<int64_t>(wall_time() * 1e6)) : folder_name(run_name));
  const std::vector<Message> values = hparams_values(hparams, names);
  EventFile file(folder);
  for (const Message& value : values) file.add(summary_event(value), 0, wall_time());
  for (const auto& [tag, value] : metrics) file.add(summary_event(scalar_value(tag, value)), step, wall_time());
  file.close();
}

void SummaryWriter::add_hparams(std::initializer_list<std::pair<std::string, IValue>> hparams, const Scalars& metrics,
                                const std::string& run_name, int64_t step) {
  IValue::Dict dict;
  for (const auto& [name, value] : hparams) dict[name] = value;
  add_hparams(dict, metrics, run_name, step);
}

void SummaryWriter::add_embedding(const Tensor& points, const std::vector<std::string>& metadata,
                                  const Tensor& label_img, int64_t step, const std::string& tag) {
  CRESSET_CHECK_AS(ShapeError, points.dim() == 2 && points.numel() > 0, "add_embedding: found shape ",
                   text_of(points.sizes()), " (expected [points, dimensions])");
  const int64_t count = points.size(0);
  CRESSET_CHECK_AS(ValueError, metadata.empty() || static_cast<int64_t>(metadata.size()) == count,
                   "add_embedding: found ", metadata.size(), " labels (expected ", count, ", one for each point)");
  CRESSET_CHECK_AS(ShapeError, !label_img.defined() || (label_img.dim() == 4 && label_img.size(0) == count),
                   "add_embedding: the images have shape ", label_img.defined() ? text_of(label_img.sizes()) : "",
                   " (expected [", count, ", C, H, W])");
  char number[24];
  std::snprintf(number, sizeof number, "%05lld", static_cast<long long>(step));
  const std::string subfolder = std::string(number) + "/" + path_name(tag), folder = folder_ + "/" + subfolder;
  io::make_folders(folder);
  io::write_text_file(folder + "/tensors.tsv", tsv_of(points));
  const std::lock_guard lock(files_mutex());
  std::string& projector = files_->projector;
  projector += "embeddings {\n  tensor_name: \"" + path_name(tag) + ":" + number + "\"\n  tensor_path: \"" + subfolder +
               "/tensors.tsv\"\n";
  if (!metadata.empty()) {
    io::write_text_file(folder + "/metadata.tsv", lines_of(metadata));
    projector += "  metadata_path: \"" + subfolder + "/metadata.tsv\"\n";
  }
  if (label_img.defined()) {
    // The sprite must be as many images high as it is wide.
    const auto side = static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(count))));
    Tensor padded = zeros({side * side, label_img.size(1), label_img.size(2), label_img.size(3)}, label_img.options());
    padded.slice(0, 0, count).copy_(label_img.detach());
    io::write_text_file(folder + "/sprite.png", png_of(to_image("add_embedding", grid_of(padded, side), "CHW")));
    projector += message_of("  sprite {\n    image_path: \"", subfolder,
                            "/sprite.png\"\n    single_image_dim: ", label_img.size(3),
                            "\n    single_image_dim: ", label_img.size(2), "\n  }\n");
  }
  projector += "}\n";
  io::write_text_file(folder_ + "/projector_config.pbtxt", projector);
}

void SummaryWriter::add_graph(const std::vector<TracedNode>& nodes) {
  add_event(Message().text(4, graph_def(nodes).bytes()), 0, wall_time());
}

void SummaryWriter::flush() {
  for (const auto& file : files_->all()) file->flush();
}

void SummaryWriter::close() {
  const std::vector<std::shared_ptr<EventFile>> files = files_->all();
  {
    const std::lock_guard lock(files_mutex());
    files_->main.reset();
    files_->others.clear();
  }
  for (const auto& file : files) file->close();
}

}  // namespace cresset::monitor
