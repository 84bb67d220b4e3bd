// Tensors as plain memory: checked before anything is sent, and copied where they are not contiguous.
#pragma once

#include <vector>

#include "cresset/core/tensor.h"

namespace cresset::distributed {

// Refuses undefined tensors and those of another device, by the name of the operation.
void check_tensor(const char* op, const char* argument, const Tensor& tensor, const char* backend);
// Also what cannot be written to: an expanded tensor, whose elements share memory.
void check_output(const char* op, const char* argument, const Tensor& tensor, const char* backend);
// All have the dtype and the number of elements of `like`.
void check_alike(const char* op, const char* argument, const std::vector<Tensor>& tensors, const Tensor& like);

// One tensor to write to: its own memory, or a copy that is put back by finish().
class Output {
 public:
  enum class Before { kept, unset };  // whether its values matter
  Output(const Tensor& tensor, Before before);
  char* data() const { return static_cast<char*>(flat_.data_ptr()); }
  void finish();

 private:
  Tensor tensor_, flat_;
};

// One tensor to read from.
class Input {
 public:
  explicit Input(const Tensor& tensor);
  const char* data() const { return static_cast<const char*>(flat_.data_ptr()); }

 private:
  Tensor flat_;
};

// Several tensors as if they were one.
class Bundle {
 public:
  explicit Bundle(const std::vector<Tensor>& tensors);
  int64_t count() const { return count_; }
  char* data() const { return static_cast<char*>(flat_.data_ptr()); }
  void finish();

 private:
  std::vector<Tensor> tensors_;
  Tensor flat_;
  int64_t count_ = 0;
};

}  // namespace cresset::distributed
