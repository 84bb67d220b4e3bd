// torch.distributed's functions: ranks of the world become the group's, and whoever waits says so beforehand.
#include "cresset/distributed/collectives.h"

#include "cresset/distributed/called_as.h"
#include "cresset/distributed/world.h"

namespace cresset::distributed {
namespace {

int rank_in(const char* op, const ProcessGroup& group, int global_rank) {
  const int rank = group.rank_of(global_rank);
  CRESSET_CHECK_AS(ValueError, rank >= 0, op, ": rank ", global_rank, " is not a member of ", in_words(group.name()));
  return rank;
}

template <class F>
Work run(const char* op, const CollectiveOptions& options, F&& start) {
  const CalledAs called(op);
  const Group group = group_for(op, options.group);
  if (options.async_op) return start(*group);
  const CallerWaits waits(true);
  Work work = start(*group);
  work.wait();
  return work;
}

// `whole` cut along its first dimension, as all_gather_into_tensor and its kin lay parts out.
Tensors parts_of(const char* op, const char* argument, const Tensor& whole, int parts) {
  CRESSET_CHECK_AS(ValueError, whole.defined(), op, ": ", argument, " is an undefined tensor (expected a defined one)");
  CRESSET_CHECK_AS(ShapeError, whole.is_contiguous(), op, ": ", argument, " is not contiguous");
  CRESSET_CHECK_AS(ShapeError, whole.numel() % parts == 0, op, ": ", argument, " has ", whole.numel(),
                   " elements (expected a multiple of the group's ", parts, " ranks)");
  const int64_t each = whole.numel() / parts;
  Tensors out;
  for (int i = 0; i < parts; i++) out.push_back(alias(whole, {each}, {1}, whole.storage_offset() + i * each));
  return out;
}

// Parts along the first dimension, of the sizes given, or equal ones.
Tensors split(const char* argument, const Tensor& whole, const std::vector<int64_t>& sizes, int parts) {
  if (sizes.empty()) {
    CRESSET_CHECK_AS(ValueError, whole.defined(), "all_to_all_single: ", argument, " is an undefined tensor");
    CRESSET_CHECK_AS(ShapeError, whole.dim() > 0 && whole.size(0) % parts == 0, "all_to_all_single: ", argument,
                     " cannot be cut into ", parts, " equal parts along its first dimension");
    return parts_of("all_to_all_single", argument, whole, parts);
  }
  CRESSET_CHECK_AS(ValueError, whole.defined() && whole.dim() > 0 && whole.is_contiguous(),
                   "all_to_all_single: ", argument, " must be contiguous and have a first dimension to split");
  CRESSET_CHECK_AS(ValueError, sizes.size() == static_cast<size_t>(parts), "all_to_all_single: found ", sizes.size(),
                   " split sizes for ", argument, " (expected ", parts, ")");
  int64_t row = 1, begin = 0;
  for (int64_t d = 1; d < whole.dim(); d++) row *= whole.size(d);
  Tensors out;
  for (const int64_t rows : sizes) {
    CRESSET_CHECK_AS(ValueError, rows >= 0 && begin + rows <= whole.size(0), "all_to_all_single: the split sizes of ",
                     argument, " do not add up to its ", whole.size(0), " rows");
    out.push_back(alias(whole, {rows * row}, {1}, whole.storage_offset() + begin * row));
    begin += rows;
  }
  CRESSET_CHECK_AS(ValueError, begin == whole.size(0), "all_to_all_single: the split sizes of ", argument,
                   " add up to ", begin, " (expected ", whole.size(0), ")");
  return out;
}

Tensor bytes_of(std::string_view text) {
  Tensor out = empty_contiguous({static_cast<int64_t>(text.size())}, kUInt8, Device(kCPU));
  if (!text.empty()) std::copy(text.begin(), text.end(), static_cast<char*>(out.data_ptr()));
  return out;
}

std::string text_of(const Tensor& bytes, int64_t length) {
  const char* data = static_cast<const char*>(bytes.data_ptr());
  return length == 0 ? std::string() : std::string(data, static_cast<size_t>(length));
}

Tensor numbers(const std::vector<int64_t>& values) {
  Tensor out = empty_contiguous({static_cast<int64_t>(values.size())}, kInt64, Device(kCPU));
  std::copy(values.begin(), values.end(), out.data_ptr<int64_t>());
  return out;
}

// Every rank's length, and room for texts as long as the longest.
std::vector<int64_t> all_lengths(std::string_view object, const Group& group, int size) {
  Tensors lengths;
  for (int i = 0; i < size; i++) lengths.push_back(numbers({0}));
  all_gather(lengths, numbers({static_cast<int64_t>(object.size())}), CollectiveOptions(group));
  std::vector<int64_t> out;
  for (const Tensor& length : lengths) out.push_back(*length.data_ptr<int64_t>());
  return out;
}

Tensor padded(std::string_view object, int64_t length) {
  std::string text(object);
  text.resize(static_cast<size_t>(length));
  return bytes_of(text);
}

}  // namespace

Work all_reduce(const Tensor& tensor, const CollectiveOptions& options) {
  return run("all_reduce", options, [&](ProcessGroup& group) { return group.all_reduce({tensor}, options.op); });
}

Work all_reduce_coalesced(const Tensors& tensors, const CollectiveOptions& options) {
  return run("all_reduce_coalesced", options,
             [&](ProcessGroup& group) { return group.all_reduce(tensors, options.op); });
}

Work broadcast(const Tensor& tensor, int src, const CollectiveOptions& options) {
  return run("broadcast", options,
             [&](ProcessGroup& group) { return group.broadcast({tensor}, rank_in("broadcast", group, src)); });
}

Work broadcast_coalesced(const Tensors& tensors, int src, const CollectiveOptions& options) {
  return run("broadcast_coalesced", options,
             [&](ProcessGroup& group) { return group.broadcast(tensors, rank_in("broadcast_coalesced", group, src)); });
}

Work reduce(const Tensor& tensor, int dst, const CollectiveOptions& options) {
  return run("reduce", options,
             [&](ProcessGroup& group) { return group.reduce(tensor, rank_in("reduce", group, dst), options.op); });
}

Work all_gather(const Tensors& outputs, const Tensor& input, const CollectiveOptions& options) {
  return run("all_gather", options, [&](ProcessGroup& group) { return group.all_gather(outputs, input); });
}

Work all_gather_into_tensor(const Tensor& output, const Tensor& input, const CollectiveOptions& options) {
  return run("all_gather_into_tensor", options, [&](ProcessGroup& group) {
    return group.all_gather(parts_of("all_gather_into_tensor", "the output", output, group.size()), input);
  });
}

Work all_gather_coalesced(const std::vector<Tensors>& outputs, const Tensors& inputs,
                          const CollectiveOptions& options) {
  CRESSET_CHECK_AS(ValueError, !inputs.empty(), "all_gather_coalesced: found no inputs (expected at least one)");
  const Group group = group_for("all_gather_coalesced", options.group);
  CRESSET_CHECK_AS(ValueError, outputs.size() == static_cast<size_t>(group->size()), "all_gather_coalesced: found ",
                   outputs.size(), " lists of outputs (expected ", group->size(), ", one per rank)");
  for (const Tensors& list : outputs)
    CRESSET_CHECK_AS(ValueError, list.size() == inputs.size(), "all_gather_coalesced: found ", list.size(),
                     " outputs for a rank (expected ", inputs.size(), ")");
  return run("all_gather_coalesced", options, [&](ProcessGroup& chosen) {
    Work last;
    for (size_t i = 0; i < inputs.size(); i++) {
      Tensors column;
      for (const Tensors& list : outputs) column.push_back(list[i]);
      // They end in the order in which they begin: the last one stands for all.
      last = chosen.all_gather(column, inputs[i]);
    }
    return last;
  });
}

Work gather(const Tensor& input, const Tensors& outputs, int dst, const CollectiveOptions& options) {
  return run("gather", options,
             [&](ProcessGroup& group) { return group.gather(outputs, input, rank_in("gather", group, dst)); });
}

Work scatter(const Tensor& output, const Tensors& inputs, int src, const CollectiveOptions& options) {
  return run("scatter", options,
             [&](ProcessGroup& group) { return group.scatter(output, inputs, rank_in("scatter", group, src)); });
}

Work reduce_scatter(const Tensor& output, const Tensors& inputs, const CollectiveOptions& options) {
  return run("reduce_scatter", options,
             [&](ProcessGroup& group) { return group.reduce_scatter(output, inputs, options.op); });
}

Work reduce_scatter_tensor(const Tensor& output, const Tensor& input, const CollectiveOptions& options) {
  return run("reduce_scatter_tensor", options, [&](ProcessGroup& group) {
    return group.reduce_scatter(output, parts_of("reduce_scatter_tensor", "the input", input, group.size()),
                                options.op);
  });
}

Work all_to_all(const Tensors& outputs, const Tensors& inputs, const CollectiveOptions& options) {
  return run("all_to_all", options, [&](ProcessGroup& group) { return group.all_to_all(outputs, inputs); });
}

Work all_to_all_single(const Tensor& output, const Tensor& input, std::vector<int64_t> output_split_sizes,
                       std::vector<int64_t> input_split_sizes, const CollectiveOptions& options) {
  return run("all_to_all_single", options, [&](ProcessGroup& group) {
    return group.all_to_all(split("the output", output, output_split_sizes, group.size()),
                            split("the input", input, input_split_sizes, group.size()));
  });
}

Work barrier(const CollectiveOptions& options) {
  return run("barrier", options, [](ProcessGroup& group) { return group.barrier(); });
}

void monitored_barrier(const Group& group, std::optional<Milliseconds> timeout, bool wait_all_ranks) {
  const Group chosen = group_for("monitored_barrier", group);
  auto* mesh = dynamic_cast<MeshGroup*>(chosen.get());
  CRESSET_CHECK_AS(NotImplementedError, mesh, "monitored_barrier: the backend ", chosen->backend(),
                   " does not have it");
  mesh->monitored_barrier(timeout.value_or(chosen->timeout()), wait_all_ranks);
}

void send(const Tensor& tensor, int dst, int tag, const Group& group) {
  const Group chosen = group_for("send", group);
  const CallerWaits waits(true);
  chosen->send(tensor, rank_in("send", *chosen, dst), tag).wait();
}

int recv(const Tensor& tensor, std::optional<int> src, int tag, const Group& group) {
  const Group chosen = group_for("recv", group);
  const CallerWaits waits(true);
  Work work = chosen->recv(tensor, src ? rank_in("recv", *chosen, *src) : -1, tag);
  work.wait();
  return work.source_rank();
}

Work isend(const Tensor& tensor, int dst, int tag, const Group& group) {
  const Group chosen = group_for("isend", group);
  return chosen->send(tensor, rank_in("isend", *chosen, dst), tag);
}

Work irecv(const Tensor& tensor, std::optional<int> src, int tag, const Group& group) {
  const Group chosen = group_for("irecv", group);
  return chosen->recv(tensor, src ? rank_in("irecv", *chosen, *src) : -1, tag);
}

std::vector<std::string> all_gather_object(std::string_view object, const Group& group) {
  const CalledAs called("all_gather_object");
  const Group chosen = group_for("all_gather_object", group);
  const std::vector<int64_t> lengths = all_lengths(object, chosen, chosen->size());
  const int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  Tensors outputs;
  for (int i = 0; i < chosen->size(); i++) outputs.push_back(padded("", longest));
  all_gather(outputs, padded(object, longest), CollectiveOptions(chosen));
  std::vector<std::string> out;
  for (size_t i = 0; i < outputs.size(); i++) out.push_back(text_of(outputs[i], lengths[i]));
  return out;
}

void broadcast_object_list(std::vector<std::string>& objects, int src, const Group& group) {
  const CalledAs called("broadcast_object_list");
  const Group chosen = group_for("broadcast_object_list", group);
  CRESSET_CHECK_AS(ValueError, !objects.empty(),
                   "broadcast_object_list: found an empty list (expected as many objects on every rank)");
  const bool gives = chosen->rank() == rank_in("broadcast_object_list", *chosen, src);
  std::vector<int64_t> lengths(objects.size(), 0);
  if (gives)
    for (size_t i = 0; i < objects.size(); i++) lengths[i] = static_cast<int64_t>(objects[i].size());
  const Tensor sizes = numbers(lengths);
  broadcast(sizes, src, CollectiveOptions(chosen));
  std::string all;
  int64_t total = 0;
  for (size_t i = 0; i < objects.size(); i++) {
    lengths[i] = sizes.data_ptr<int64_t>()[i];
    total += lengths[i];
    if (gives) all += objects[i];
  }
  const Tensor bytes = gives ? bytes_of(all) : padded("", total);
  broadcast(bytes, src, CollectiveOptions(chosen));
  if (gives) return;
  all = text_of(bytes, total);
  size_t begin = 0;
  for (size_t i = 0; i < objects.size(); i++) {
    objects[i] = all.substr(begin, static_cast<size_t>(lengths[i]));
    begin += static_cast<size_t>(lengths[i]);
  }
}

std::vector<std::string> gather_object(std::string_view object, int dst, const Group& group) {
  const CalledAs called("gather_object");
  const Group chosen = group_for("gather_object", group);
  const bool takes = chosen->rank() == rank_in("gather_object", *chosen, dst);
  const std::vector<int64_t> lengths = all_lengths(object, chosen, chosen->size());
  const int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  Tensors outputs;
  if (takes)
    for (int i = 0; i < chosen->size(); i++) outputs.push_back(padded("", longest));
  gather(padded(object, longest), outputs, dst, CollectiveOptions(chosen));
  std::vector<std::string> out;
  for (size_t i = 0; i < outputs.size(); i++) out.push_back(text_of(outputs[i], lengths[i]));
  return out;
}

std::string scatter_object_list(const std::vector<std::string>& objects, int src, const Group& group) {
  const CalledAs called("scatter_object_list");
  const Group chosen = group_for("scatter_object_list", group);
  const bool gives = chosen->rank() == rank_in("scatter_object_list", *chosen, src);
  const auto size = static_cast<size_t>(chosen->size());
  CRESSET_CHECK_AS(ValueError, !gives || objects.size() == size, "scatter_object_list: found ", objects.size(),
                   " objects (expected ", size, ", one per rank)");
  std::vector<int64_t> lengths(size, 0);
  int64_t longest = 0;
  if (gives)
    for (size_t i = 0; i < size; i++) longest = std::max(longest, lengths[i] = static_cast<int64_t>(objects[i].size()));
  lengths.push_back(longest);
  const Tensor sizes = numbers(lengths);
  broadcast(sizes, src, CollectiveOptions(chosen));
  longest = sizes.data_ptr<int64_t>()[size];
  const int64_t mine = sizes.data_ptr<int64_t>()[chosen->rank()];
  Tensors inputs;
  if (gives)
    for (const std::string& object : objects) inputs.push_back(padded(object, longest));
  const Tensor output = padded("", longest);
  scatter(output, inputs, src, CollectiveOptions(chosen));
  return text_of(output, mine);
}

}  // namespace cresset::distributed
