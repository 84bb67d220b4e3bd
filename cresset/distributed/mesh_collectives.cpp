// The collectives of a MeshGroup: each checks its arguments before anything is sent, then queues what to do. An
// operation without elements is a barrier, so that ranks which disagree about that are told.
#include <cstring>

#include "cresset/distributed/called_as.h"
#include "cresset/distributed/mesh_group.h"
#include "cresset/distributed/staging.h"

namespace cresset::distributed {
namespace {

using Tensors = std::vector<Tensor>;

void check_root(const char* op, int root, int size) {
  CRESSET_CHECK_AS(ValueError, root >= 0 && root < size, op, ": found rank ", root, " (expected 0 to ", size - 1, ")");
}

void check_number(const char* op, const char* argument, size_t found, size_t wanted) {
  CRESSET_CHECK_AS(ValueError, found == wanted, op, ": found ", found, " ", argument, " (expected ", wanted, ")");
}

void check_bundle(const char* op, const Tensors& tensors, const char* backend) {
  CRESSET_CHECK_AS(ValueError, !tensors.empty(), op, ": found no tensors (expected at least one)");
  for (const Tensor& tensor : tensors) {
    check_output(op, "tensor", tensor, backend);
    CRESSET_CHECK_AS(TypeError, tensor.dtype() == tensors[0].dtype(), op, ": found a tensor of ",
                     cresset::name_of(tensor.dtype()), " after one of ", cresset::name_of(tensors[0].dtype()),
                     " (expected one dtype)");
  }
}

void copy(char* to, const char* from, size_t bytes) {
  if (bytes > 0 && to != from) std::memmove(to, from, bytes);
}

Elements elements(DType dtype, ReduceOp op) { return {dtype, reduction_of(op, dtype), op == ReduceOp::AVG}; }

// Where the parts of a gather land, one per rank.
struct Landing {
  explicit Landing(const Tensors& outputs) {
    for (const Tensor& output : outputs) {
      parts.emplace_back(output, Output::Before::unset);
      places.push_back(parts.back().data());
    }
  }
  void finish() {
    for (Output& part : parts) part.finish();
  }
  std::vector<Output> parts;
  std::vector<char*> places;
};

}  // namespace

Work MeshGroup::all_reduce(Tensors tensors, ReduceOp op) {
  const char* op_name = CalledAs::now("all_reduce");
  check_bundle(op_name, tensors, backend());
  const DType dtype = tensors[0].dtype();
  check_reduction(op_name, op, dtype);
  Fingerprint what{.op = OpKind::all_reduce, .dtype = dtype, .reduce_op = op};
  for (const Tensor& tensor : tensors) what.count += tensor.numel();
  return submit(what, tensors, [tensors, op, dtype](const Exchange& exchange) {
    Bundle data(tensors);
    if (data.count() == 0) return dissemination_barrier(exchange);
    ring_or_direct_all_reduce(exchange, data.data(), static_cast<size_t>(data.count()), elements(dtype, op));
    data.finish();
  });
}

Work MeshGroup::broadcast(Tensors tensors, int root) {
  const char* op_name = CalledAs::now("broadcast");
  check_bundle(op_name, tensors, backend());
  check_root(op_name, root, size());
  Fingerprint what{.op = OpKind::broadcast, .dtype = tensors[0].dtype(), .root = global_rank(root)};
  for (const Tensor& tensor : tensors) what.count += tensor.numel();
  const bool receives = rank() != root;
  return submit(what, receives ? tensors : Tensors(), [tensors, root, receives](const Exchange& exchange) {
    Bundle data(tensors);
    if (data.count() == 0) return dissemination_barrier(exchange);
    tree_broadcast(exchange, data.data(), static_cast<size_t>(data.count()) * tensors[0].itemsize(), root);
    if (receives) data.finish();
  });
}

Work MeshGroup::reduce(Tensor tensor, int root, ReduceOp op) {
  const char* op_name = CalledAs::now("reduce");
  check_output(op_name, "tensor", tensor, backend());
  check_root(op_name, root, size());
  check_reduction(op_name, op, tensor.dtype());
  const Fingerprint what{.op = OpKind::reduce,
                         .dtype = tensor.dtype(),
                         .reduce_op = op,
                         .root = global_rank(root),
                         .count = tensor.numel()};
  const bool receives = rank() == root;
  return submit(what, receives ? Tensors{tensor} : Tensors(), [tensor, root, op, receives](const Exchange& exchange) {
    if (tensor.numel() == 0) return dissemination_barrier(exchange);
    Output data(tensor, Output::Before::kept);
    reduce_to(exchange, data.data(), static_cast<size_t>(tensor.numel()), elements(tensor.dtype(), op), root);
    if (receives) data.finish();
  });
}

Work MeshGroup::all_gather(Tensors outputs, Tensor input) {
  const char* op_name = CalledAs::now("all_gather");
  check_tensor(op_name, "the input", input, backend());
  check_number(op_name, "outputs", outputs.size(), static_cast<size_t>(size()));
  for (const Tensor& output : outputs) check_output(op_name, "an output", output, backend());
  check_alike(op_name, "outputs", outputs, input);
  const Fingerprint what{.op = OpKind::all_gather, .dtype = input.dtype(), .count = input.numel()};
  return submit(what, outputs, [outputs, input](const Exchange& exchange) {
    if (input.numel() == 0) return dissemination_barrier(exchange);
    const Input mine(input);
    Landing landing(outputs);
    copy(landing.places[static_cast<size_t>(exchange.rank())], mine.data(), input.nbytes());
    all_gather_parts(exchange, landing.places, input.nbytes());
    landing.finish();
  });
}

Work MeshGroup::gather(Tensors outputs, Tensor input, int root) {
  const char* op_name = CalledAs::now("gather");
  check_tensor(op_name, "the input", input, backend());
  check_root(op_name, root, size());
  check_number(op_name, rank() == root ? "outputs" : "outputs on a rank that is not the destination", outputs.size(),
               rank() == root ? static_cast<size_t>(size()) : 0);
  for (const Tensor& output : outputs) check_output(op_name, "an output", output, backend());
  check_alike(op_name, "outputs", outputs, input);
  const Fingerprint what{
      .op = OpKind::gather, .dtype = input.dtype(), .root = global_rank(root), .count = input.numel()};
  return submit(what, outputs, [outputs, input, root](const Exchange& exchange) {
    if (input.numel() == 0) return dissemination_barrier(exchange);
    const Input mine(input);
    Landing landing(outputs);
    if (exchange.rank() == root) copy(landing.places[static_cast<size_t>(root)], mine.data(), input.nbytes());
    gather_parts(exchange, landing.places, mine.data(), input.nbytes(), root);
    landing.finish();
  });
}

Work MeshGroup::scatter(Tensor output, Tensors inputs, int root) {
  const char* op_name = CalledAs::now("scatter");
  check_output(op_name, "the output", output, backend());
  check_root(op_name, root, size());
  check_number(op_name, rank() == root ? "inputs" : "inputs on a rank that is not the source", inputs.size(),
               rank() == root ? static_cast<size_t>(size()) : 0);
  for (const Tensor& input : inputs) check_tensor(op_name, "an input", input, backend());
  check_alike(op_name, "inputs", inputs, output);
  const Fingerprint what{
      .op = OpKind::scatter, .dtype = output.dtype(), .root = global_rank(root), .count = output.numel()};
  return submit(what, {output}, [output, inputs, root](const Exchange& exchange) {
    if (output.numel() == 0) return dissemination_barrier(exchange);
    Output mine(output, Output::Before::unset);
    std::vector<Input> parts;
    std::vector<const char*> places;
    for (const Tensor& input : inputs) {
      parts.emplace_back(input);
      places.push_back(parts.back().data());
    }
    scatter_parts(exchange, mine.data(), places, output.nbytes(), root);
    if (exchange.rank() == root) copy(mine.data(), places[static_cast<size_t>(root)], output.nbytes());
    mine.finish();
  });
}

Work MeshGroup::reduce_scatter(Tensor output, Tensors inputs, ReduceOp op) {
  const char* op_name = CalledAs::now("reduce_scatter");
  check_output(op_name, "the output", output, backend());
  check_number(op_name, "inputs", inputs.size(), static_cast<size_t>(size()));
  for (const Tensor& input : inputs) check_tensor(op_name, "an input", input, backend());
  check_alike(op_name, "inputs", inputs, output);
  check_reduction(op_name, op, output.dtype());
  const Fingerprint what{
      .op = OpKind::reduce_scatter, .dtype = output.dtype(), .reduce_op = op, .count = output.numel()};
  return submit(what, {output}, [output, inputs, op](const Exchange& exchange) {
    if (output.numel() == 0) return dissemination_barrier(exchange);
    Output mine(output, Output::Before::unset);
    std::vector<Input> parts;
    std::vector<const char*> places;
    for (const Tensor& input : inputs) {
      parts.emplace_back(input);
      places.push_back(parts.back().data());
    }
    ring_reduce_scatter(exchange, mine.data(), places, static_cast<size_t>(output.numel()),
                        elements(output.dtype(), op));
    mine.finish();
  });
}

Work MeshGroup::all_to_all(Tensors outputs, Tensors inputs) {
  const char* op_name = CalledAs::now("all_to_all");
  check_number(op_name, "outputs", outputs.size(), static_cast<size_t>(size()));
  check_number(op_name, "inputs", inputs.size(), static_cast<size_t>(size()));
  for (const Tensor& output : outputs) check_output(op_name, "an output", output, backend());
  for (const Tensor& input : inputs) check_tensor(op_name, "an input", input, backend());
  std::string detail;
  const DType dtype = inputs[0].dtype();
  for (const Tensor& tensor : inputs) detail += std::to_string(tensor.numel()) + ",";
  detail += "|";
  for (const Tensor& tensor : outputs) detail += std::to_string(tensor.numel()) + ",";
  for (const Tensors& tensors : {inputs, outputs})
    for (const Tensor& tensor : tensors)
      CRESSET_CHECK_AS(TypeError, tensor.dtype() == dtype, op_name, ": found a tensor of ",
                       cresset::name_of(tensor.dtype()), " (expected ", cresset::name_of(dtype),
                       ", the first input's)");
  const auto self = static_cast<size_t>(rank());
  CRESSET_CHECK_AS(ShapeError, inputs[self].numel() == outputs[self].numel(), op_name, ": this rank sends ",
                   inputs[self].numel(), " elements to itself and expects ", outputs[self].numel());
  const Fingerprint what{.op = OpKind::all_to_all, .dtype = dtype};
  return submit(
      what, outputs,
      [outputs, inputs, self](const Exchange& exchange) {
        std::vector<Input> from;
        std::vector<Output> to;
        std::vector<Part> give, take;
        for (const Tensor& input : inputs) {
          from.emplace_back(input);
          give.push_back({const_cast<char*>(from.back().data()), input.nbytes()});
        }
        for (const Tensor& output : outputs) {
          to.emplace_back(output, Output::Before::unset);
          take.push_back({to.back().data(), output.nbytes()});
        }
        copy(take[self].data, give[self].data, take[self].bytes);
        all_to_all_parts(exchange, take, give);
        for (Output& part : to) part.finish();
      },
      detail);
}

Work MeshGroup::barrier() {
  return submit({.op = OpKind::barrier}, {}, [](const Exchange& exchange) { dissemination_barrier(exchange); });
}

}  // namespace cresset::distributed
