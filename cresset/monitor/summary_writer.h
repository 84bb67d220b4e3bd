// SummaryWriter: event files for TensorBoard, with the methods of PyTorch's. Events are gathered and written together:
// after flush_secs at the latest, also when no further one comes, with each io::Checkpoint that is saved, on flush(),
// on close() and when the program ends. A program that is killed loses the last flush_secs. Threads may share a writer.
//
//   monitor::SummaryWriter writer("runs/mnist");
//   writer.add_scalar("loss", loss.item<double>(), step);
#pragma once

#include <concepts>
#include <initializer_list>
#include <memory>
#include <optional>

#include "cresset/core/ivalue.h"
#include "cresset/core/ordered_dict.h"
#include "cresset/monitor/graph_trace.h"

namespace cresset::monitor {

class Message;

struct SummaryWriterOptions {
  std::string comment = {};  // of the folder's name, where none is given
  // On resuming: the first step that is logged anew. TensorBoard hides what an earlier run, which was killed later than
  // its last checkpoint, has logged from there on.
  std::optional<int64_t> purge_step = {};
  double flush_secs = 2;  // 0: every event is written at once
  std::string filename_suffix = {};
};

class CRESSET_API SummaryWriter {
 public:
  using Scalars = std::vector<std::pair<std::string, double>>;

  // Without a folder: runs/<date>_<host><comment>.
  explicit SummaryWriter(std::string log_dir = "");
  // SummaryWriter("runs/mnist", {.purge_step = step + 1})
  SummaryWriter(std::string log_dir, SummaryWriterOptions options);
  // A template, or {.flush_secs = 0} might be meant for a text.
  template <std::convertible_to<std::string> Comment>
  SummaryWriter(std::string log_dir, const Comment& comment, std::string filename_suffix = "")
      : SummaryWriter(std::move(log_dir),
                      SummaryWriterOptions{.comment = comment, .filename_suffix = std::move(filename_suffix)}) {}
  ~SummaryWriter();
  SummaryWriter(SummaryWriter&&) noexcept;
  SummaryWriter& operator=(SummaryWriter&&) noexcept;

  void add_scalar(const std::string& tag, double value, int64_t global_step = 0, std::optional<double> walltime = {});
  void add_scalar(const std::string& tag, const Tensor& value, int64_t global_step = 0,
                  std::optional<double> walltime = {});
  // Several lines in one chart; each is a run of its own below this one's folder, as PyTorch does it.
  void add_scalars(const std::string& main_tag, const Scalars& values, int64_t global_step = 0,
                   std::optional<double> walltime = {});
  void add_histogram(const std::string& tag, const Tensor& values, int64_t global_step = 0,
                     std::optional<double> walltime = {});
  // uint8 from 0 to 255, or floating from 0 to 1. A batch (NCHW) is drawn as a grid.
  void add_image(const std::string& tag, const Tensor& image, int64_t global_step = 0,
                 const std::string& dataformats = "CHW", std::optional<double> walltime = {});
  void add_images(const std::string& tag, const Tensor& images, int64_t global_step = 0,
                  const std::string& dataformats = "NCHW", std::optional<double> walltime = {});
  // A drawing: the bytes of a PNG, or an image [C, H, W].
  void add_figure(const std::string& tag, std::string_view png, int64_t global_step = 0,
                  std::optional<double> walltime = {});
  void add_figure(const std::string& tag, const std::vector<uint8_t>& png, int64_t global_step = 0,
                  std::optional<double> walltime = {});
  void add_figure(const std::string& tag, const Tensor& image, int64_t global_step = 0,
                  std::optional<double> walltime = {});
  void add_text(const std::string& tag, const std::string& text, int64_t global_step = 0,
                std::optional<double> walltime = {});
  void add_pr_curve(const std::string& tag, const Tensor& labels, const Tensor& predictions, int64_t global_step = 0,
                    int num_thresholds = 127, const Tensor& weights = {}, std::optional<double> walltime = {});
  // Numbers, bools and texts against the metrics they led to; a run of its own below this one's folder.
  void add_hparams(const IValue::Dict& hparams, const Scalars& metrics, const std::string& run_name = "",
                   int64_t global_step = 0);
  // add_hparams({{"lr", 0.1}, {"optimizer", "sgd"}}, {{"accuracy", 0.9}})
  void add_hparams(std::initializer_list<std::pair<std::string, IValue>> hparams, const Scalars& metrics,
                   const std::string& run_name = "", int64_t global_step = 0);
  // Points for the projector: [N, D], with a label for each and small images [N, C, H, W] if given.
  void add_embedding(const Tensor& points, const std::vector<std::string>& metadata = {}, const Tensor& label_img = {},
                     int64_t global_step = 0, const std::string& tag = "default");

  // The graph of a module (object, pointer or holder) on these inputs, named by its parameters.
  template <class Model>
  void add_graph(const Model& model, const std::vector<Tensor>& inputs) {
    if constexpr (requires { model->named_parameters(); })
      add_module(*model, inputs);
    else
      add_module(model, inputs);
  }
  template <class Model>
  void add_graph(const Model& model, const Tensor& input) {
    add_graph(model, std::vector<Tensor>{input});
  }
  void add_graph(const std::vector<TracedNode>& nodes);

  void flush();
  void close();
  const std::string& get_logdir() const { return folder_; }
  const std::string& log_dir() const { return folder_; }

 private:
  template <class Module>
  void add_module(const Module& given, const std::vector<Tensor>& inputs) {
    auto& module = const_cast<Module&>(given);  // forward may keep statistics
    OrderedDict<std::string, Tensor> named = module.named_parameters();
    if constexpr (requires { module.named_buffers(); })
      for (const auto& item : module.named_buffers())
        if (!named.contains(item.key())) named.insert(item.key(), item.value());
    add_graph(trace_graph(named, inputs, [&]() -> std::vector<Tensor> {
      if constexpr (requires { module.forward(inputs[0]); }) {
        CRESSET_CHECK_AS(ValueError, inputs.size() == 1, "add_graph: found ", inputs.size(), " inputs (expected 1)");
        return outputs_of(module.forward(inputs[0]));
      } else if constexpr (requires { module.forward(inputs[0], inputs[1]); }) {
        CRESSET_CHECK_AS(ValueError, inputs.size() == 2, "add_graph: found ", inputs.size(), " inputs (expected 2)");
        return outputs_of(module.forward(inputs[0], inputs[1]));
      } else {
        CRESSET_CHECK_AS(ValueError, inputs.size() == 3, "add_graph: found ", inputs.size(), " inputs (expected 3)");
        return outputs_of(module.forward(inputs[0], inputs[1], inputs[2]));
      }
    }));
  }
  static std::vector<Tensor> outputs_of(const Tensor& output) { return {output}; }
  static std::vector<Tensor> outputs_of(const std::vector<Tensor>& outputs) { return outputs; }
  template <class... Parts>
  static std::vector<Tensor> outputs_of(const std::tuple<Parts...>& outputs) {
    std::vector<Tensor> all;
    auto append = [&](const auto& part) {
      for (const Tensor& tensor : outputs_of(part)) all.push_back(tensor);
    };
    std::apply([&](const auto&... part) { (append(part), ...); }, outputs);
    return all;
  }

  struct Files;
  void add(const Message& value, int64_t step, std::optional<double> walltime);
  void add_event(const Message& event, int64_t step, double time);

  std::string folder_;
  std::unique_ptr<Files> files_;
};

}  // namespace cresset::monitor
