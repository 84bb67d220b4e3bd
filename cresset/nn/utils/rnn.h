// Sequences of different lengths: padded to one length, or packed without the padding for RNN, LSTM and GRU.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <tuple>

#include "cresset/core/tensor.h"

namespace cresset::nn::utils::rnn {

CRESSET_API Tensor invert_permutation(const Tensor& permutation);

// Steps of all sequences, longest first: step t has batch_sizes[t] rows of data. Made by the functions below.
class CRESSET_API PackedSequence {
 public:
  explicit PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices = {}, Tensor unsorted_indices = {});

  const Tensor& data() const { return data_; }
  const Tensor& batch_sizes() const { return batch_sizes_; }
  // Undefined when the sequences were sorted already.
  const Tensor& sorted_indices() const { return sorted_indices_; }
  const Tensor& unsorted_indices() const { return unsorted_indices_; }
  PackedSequence to(const TensorOptions& options) const;
  PackedSequence cpu() const { return to(TensorOptions().device(Device(kCPU))); }
  PackedSequence cuda() const { return to(TensorOptions().device(Device(kCUDA))); }
  bool is_cuda() const { return data_.is_cuda(); }
  PackedSequence pin_memory() const { return *this; }  // as Tensor's
  bool is_pinned() const { return data_.is_pinned(); }

 private:
  Tensor data_, batch_sizes_, sorted_indices_, unsorted_indices_;
};

// input [time, batch, …] (or batch first); lengths of each sequence, in falling order unless enforce_sorted is false.
CRESSET_API PackedSequence pack_padded_sequence(const Tensor& input, const Tensor& lengths, bool batch_first = false,
                                                bool enforce_sorted = true);
// The padded sequences, in their original order, and their lengths.
CRESSET_API std::tuple<Tensor, Tensor> pad_packed_sequence(const PackedSequence& sequence, bool batch_first = false,
                                                           double padding_value = 0.0,
                                                           std::optional<int64_t> total_length = std::nullopt);
// padding_side: "right", behind the steps, or "left".
CRESSET_API Tensor pad_sequence(TensorList sequences, bool batch_first = false, double padding_value = 0,
                                std::string_view padding_side = "right");
inline Tensor pad_sequence(const std::vector<Tensor>& sequences, bool batch_first = false, double padding_value = 0,
                           std::string_view padding_side = "right") {
  return pad_sequence(TensorList(sequences), batch_first, padding_value, padding_side);
}
inline Tensor pad_sequence(std::initializer_list<Tensor> sequences, bool batch_first = false, double padding_value = 0,
                           std::string_view padding_side = "right") {
  return pad_sequence(TensorList(sequences), batch_first, padding_value, padding_side);
}
CRESSET_API PackedSequence pack_sequence(TensorList sequences, bool enforce_sorted = true);
inline PackedSequence pack_sequence(const std::vector<Tensor>& sequences, bool enforce_sorted = true) {
  return pack_sequence(TensorList(sequences), enforce_sorted);
}
inline PackedSequence pack_sequence(std::initializer_list<Tensor> sequences, bool enforce_sorted = true) {
  return pack_sequence(TensorList(sequences), enforce_sorted);
}

}  // namespace cresset::nn::utils::rnn
