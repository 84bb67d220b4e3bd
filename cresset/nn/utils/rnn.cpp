// Packing and padding are one gather and one scatter of rows, whatever the number of steps.
#include "cresset/nn/utils/rnn.h"

#include "cresset/ops/all.h"

namespace cresset::nn::utils::rnn {

namespace {

Tensor int_tensor(const std::vector<int64_t>& values, Device device = Device(kCPU)) {
  return tensor(ArrayRef<int64_t>(values), TensorOptions(kLong)).to(device);
}

// Where the packed rows stand among the rows of the padded tensor.
Tensor packed_rows(const std::vector<int64_t>& batch_sizes, int64_t steps, int64_t batch, bool batch_first,
                   Device device) {
  std::vector<int64_t> rows;
  for (size_t t = 0; t < batch_sizes.size(); t++)
    for (int64_t b = 0; b < batch_sizes[t]; b++)
      rows.push_back(batch_first ? b * steps + static_cast<int64_t>(t) : static_cast<int64_t>(t) * batch + b);
  return int_tensor(rows, device);
}

}  // namespace

Tensor invert_permutation(const Tensor& permutation) {
  if (!permutation.defined()) return {};
  Tensor positions = arange(permutation.numel(), permutation.options());
  return empty_like(permutation).scatter_(0, permutation, positions);
}

PackedSequence::PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices, Tensor unsorted_indices)
    : data_(std::move(data)),
      batch_sizes_(std::move(batch_sizes)),
      sorted_indices_(std::move(sorted_indices)),
      unsorted_indices_(unsorted_indices.defined() ? unsorted_indices : invert_permutation(sorted_indices_)) {
  CRESSET_CHECK_AS(DeviceError, batch_sizes_.is_cpu(), "PackedSequence: batch_sizes should always be on CPU, found ",
                   batch_sizes_.device().str());
}

PackedSequence PackedSequence::to(const TensorOptions& options) const {
  Tensor data = data_.to(options);
  if (data.is_same(data_)) return *this;
  auto moved = [&](const Tensor& indices) { return indices.defined() ? indices.to(data.device()) : Tensor(); };
  return PackedSequence(data, batch_sizes_, moved(sorted_indices_), moved(unsorted_indices_));
}

PackedSequence pack_padded_sequence(const Tensor& input, const Tensor& lengths, bool batch_first, bool enforce_sorted) {
  CRESSET_CHECK_AS(ShapeError, input.dim() >= 2, "pack_padded_sequence: found an input of ", input.dim(),
                   " dimensions (expected 2 or more)");
  CRESSET_CHECK_AS(ValueError, input.numel() > 0, "pack_padded_sequence: Cannot pack empty tensors. Found shape ",
                   text_of(input.sizes()));
  Tensor in_order = lengths.to(kLong), sorted_indices, padded = input;
  int64_t batch_dim = batch_first ? 0 : 1, batch = input.size(batch_dim), steps = input.size(1 - batch_dim);
  CRESSET_CHECK_AS(ShapeError, lengths.dim() == 1 && lengths.size(0) == batch,
                   "pack_padded_sequence: Expected `len(lengths)` to be equal to batch_size, but got ", lengths.numel(),
                   " (batch_size=", batch, ")");
  CRESSET_CHECK_AS(DeviceError, lengths.is_cpu(), "pack_padded_sequence: 'lengths' should be a 1D CPU int64 tensor, ",
                   "found one on ", lengths.device().str());
  if (!enforce_sorted) {
    std::tie(in_order, sorted_indices) = sort(in_order, /*stable=*/true, /*dim=*/0, /*descending=*/true);
    sorted_indices = sorted_indices.to(input.device());
    padded = input.index_select(batch_dim, sorted_indices);
  }
  std::vector<int64_t> sizes = in_order.tolist<int64_t>();
  for (size_t i = 0; i < sizes.size(); i++) {
    CRESSET_CHECK_AS(ValueError, sizes[i] > 0,
                     "pack_padded_sequence: Length of all samples has to be greater than 0, but found an element in "
                     "'lengths' that is <= 0");
    CRESSET_CHECK_AS(ValueError, i == 0 || sizes[i] <= sizes[i - 1],
                     "pack_padded_sequence: `lengths` array must be sorted in decreasing order when `enforce_sorted` "
                     "is True. You can pass `enforce_sorted=False` to pack_padded_sequence to sidestep this "
                     "requirement");
  }
  CRESSET_CHECK_AS(ValueError, sizes.empty() || sizes[0] <= steps, "pack_padded_sequence: found a length of ",
                   sizes.empty() ? 0 : sizes[0], " (expected at most the input's ", steps, " steps)");
  std::vector<int64_t> batch_sizes;
  for (int64_t t = 0; !sizes.empty() && t < sizes[0]; t++) {
    while (sizes[static_cast<size_t>(batch) - 1] <= t) batch--;
    batch_sizes.push_back(batch);
  }
  Tensor rows = packed_rows(batch_sizes, steps, input.size(batch_dim), batch_first, input.device());
  Tensor data = padded.flatten(0, 1).index_select(0, rows);
  return PackedSequence(data, int_tensor(batch_sizes), sorted_indices);
}

std::tuple<Tensor, Tensor> pad_packed_sequence(const PackedSequence& sequence, bool batch_first, double padding_value,
                                               std::optional<int64_t> total_length) {
  std::vector<int64_t> batch_sizes = sequence.batch_sizes().tolist<int64_t>();
  CRESSET_CHECK_AS(ValueError, !batch_sizes.empty(), "pad_packed_sequence: found a sequence without steps");
  auto longest = static_cast<int64_t>(batch_sizes.size());
  int64_t steps = total_length.value_or(longest), batch = batch_sizes[0];
  CRESSET_CHECK_AS(ValueError, steps >= longest,
                   "pad_packed_sequence: Expected total_length to be at least the length of the longest sequence in "
                   "input, but got total_length=",
                   steps, " and max sequence length being ", longest);
  const Tensor& data = sequence.data();
  std::vector<int64_t> shape{steps * batch}, unflattened{steps, batch}, lengths(static_cast<size_t>(batch), 0);
  if (batch_first) std::swap(unflattened[0], unflattened[1]);
  for (int64_t i = 1; i < data.dim(); i++) shape.push_back(data.size(i));
  for (int64_t size : batch_sizes)
    for (int64_t b = 0; b < size; b++) lengths[static_cast<size_t>(b)]++;
  Tensor rows = packed_rows(batch_sizes, steps, batch, batch_first, data.device());
  Tensor padded = full(shape, padding_value, data.options()).index_copy(0, rows, data).unflatten(0, unflattened);
  Tensor all_lengths = int_tensor(lengths);
  if (!sequence.unsorted_indices().defined()) return {padded, all_lengths};
  return {padded.index_select(batch_first ? 0 : 1, sequence.unsorted_indices()),
          all_lengths.index_select(0, sequence.unsorted_indices().cpu())};
}

Tensor pad_sequence(TensorList sequences, bool batch_first, double padding_value, std::string_view padding_side) {
  CRESSET_CHECK_AS(ValueError, !sequences.empty(), "pad_sequence: received an empty list of sequences");
  CRESSET_CHECK_AS(ValueError, padding_side == "left" || padding_side == "right",
                   "pad_sequence: Expected padding_side to be one of left or right, but got ", padding_side, ".");
  int64_t longest = 0;
  for (const Tensor& sequence : sequences) {
    CRESSET_CHECK_AS(ShapeError, sequence.dim() > 0,
                     "pad_sequence: found a 0-d tensor (expected 1 or more dimensions)");
    longest = std::max(longest, sequence.size(0));
  }
  std::vector<Tensor> padded;
  padded.reserve(sequences.size());
  for (const Tensor& sequence : sequences) {
    std::vector<int64_t> by(static_cast<size_t>(2 * sequence.dim()), 0);
    int64_t& added = padding_side == "right" ? by.back() : by[by.size() - 2];
    added = longest - sequence.size(0);
    padded.push_back(added == 0 ? sequence : constant_pad_nd(sequence, by, padding_value));
  }
  return stack(padded, batch_first ? 0 : 1);
}

PackedSequence pack_sequence(TensorList sequences, bool enforce_sorted) {
  std::vector<int64_t> lengths;
  for (const Tensor& sequence : sequences) lengths.push_back(sequence.size(0));
  return pack_padded_sequence(pad_sequence(sequences), int_tensor(lengths), /*batch_first=*/false, enforce_sorted);
}

}  // namespace cresset::nn::utils::rnn
