// Tracing by listening to ops.
#include "cresset/monitor/graph_trace.h"

#include <algorithm>
#include <unordered_map>

#include "cresset/core/modes.h"

namespace cresset::monitor {
namespace {

template <class F>
void each_tensor(const Value& value, F f) {
  if (auto* tensor = std::get_if<Tensor>(&value)) {
    if (tensor->defined()) f(*tensor);
  } else if (auto* list = std::get_if<std::vector<Tensor>>(&value)) {
    for (const Tensor& tensor : *list)
      if (tensor.defined()) f(tensor);
  }
}

std::string plain_text(const Value& value) {
  if (auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (auto* number = std::get_if<double>(&value)) return message_of(*number);
  if (auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (auto* scalar = std::get_if<Scalar>(&value)) return message_of(*scalar);
  if (auto* list = std::get_if<std::vector<int64_t>>(&value)) return text_of(*list);
  if (auto* text = std::get_if<std::string>(&value)) return *text;
  return {};
}

class Tracer : public modes::AboveMode {
 public:
  void add_leaf(const std::string& name, const char* op, const Tensor& tensor) {
    if (!tensor.defined() || made_.contains(tensor.impl())) return;
    nodes_.push_back({unique(name), op, {}, {tensor.sizes().vec()}, {}});
    remember(tensor, nodes_.back().name);
  }
  void name_parameter(const std::string& name, const Tensor& tensor) {
    std::string path = name;
    std::replace(path.begin(), path.end(), '.', '/');
    add_leaf(path, "Parameter", tensor);
    const size_t end = path.rfind('/');
    if (tensor.defined() && end != std::string::npos) scopes_.emplace(tensor.impl(), path.substr(0, end));
  }
  void add_output(const Tensor& tensor) {
    if (!tensor.defined()) return;
    nodes_.push_back({unique("output"), "output", {source_of(tensor)}, {tensor.sizes().vec()}, {}});
  }
  std::vector<TracedNode> take() { return std::move(nodes_); }

  Value call(const Op& op, Values& arguments) override {
    TracedNode node;
    std::string scope;
    node.op = op.name;
    const std::vector<OpArgument> names = op.parsed_arguments();
    for (size_t i = 0; i < arguments.size(); i++) {
      each_tensor(arguments[i], [&](const Tensor& tensor) {
        node.inputs.push_back(source_of(tensor));
        if (auto found = scopes_.find(tensor.impl()); found != scopes_.end() && scope.empty()) scope = found->second;
      });
      if (const std::string text = plain_text(arguments[i]); !text.empty() && i < names.size())
        node.attributes += (node.attributes.empty() ? "" : ", ") + names[i].name + "=" + text;
    }
    Value result = op.call(arguments);
    node.name = unique(scope.empty() ? op.name : scope + "/" + op.name);
    size_t output = 0;
    each_tensor(result, [&](const Tensor& tensor) {
      node.shapes.push_back(tensor.sizes().vec());
      remember(tensor, output == 0 ? node.name : node.name + ":" + std::to_string(output));
      output++;
    });
    nodes_.push_back(std::move(node));
    return result;
  }

 private:
  std::string unique(const std::string& name) {
    const int times = counts_[name]++;
    return times == 0 ? name : name + "_" + std::to_string(times);
  }
  // Kept, so that no address is used twice.
  void remember(const Tensor& tensor, const std::string& by) {
    made_[tensor.impl()] = by;
    kept_.push_back(tensor);
  }
  std::string source_of(const Tensor& tensor) {
    if (auto found = made_.find(tensor.impl()); found != made_.end()) return found->second;
    add_leaf("constant", "Constant", tensor);
    return made_.at(tensor.impl());
  }

  std::vector<TracedNode> nodes_;
  std::unordered_map<TensorImpl*, std::string> made_, scopes_;
  std::unordered_map<std::string, int> counts_;
  std::vector<Tensor> kept_;
};

}  // namespace

std::vector<TracedNode> trace_graph(const OrderedDict<std::string, Tensor>& named, const std::vector<Tensor>& inputs,
                                    const std::function<std::vector<Tensor>()>& forward) {
  Tracer tracer;
  for (const Tensor& input : inputs) tracer.add_leaf("input", "input", input);
  for (const auto& [name, tensor] : named) tracer.name_parameter(name, tensor);
  std::vector<Tensor> outputs;
  {
    NoGradGuard no_grad;
    modes::AboveScope scope(tracer);
    outputs = forward();
  }
  for (const Tensor& output : outputs) tracer.add_output(output);
  return tracer.take();
}

}  // namespace cresset::monitor
