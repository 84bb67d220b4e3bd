#include "cresset/distributed/staging.h"

#include <cstring>

#include "cresset/core/error.h"

namespace cresset::distributed {

void check_tensor(const char* op, const char* argument, const Tensor& tensor, const char* backend) {
  CRESSET_CHECK_AS(ValueError, tensor.defined(), op, ": ", argument,
                   " is an undefined tensor (expected a defined one)");
  if (tensor.is_cpu()) return;
  throw DeviceError(message_of(op, ": found a tensor on ", tensor.device(), " (the ", backend,
                               " backend exchanges CPU tensors",
                               tensor.is_cuda() ? "; NCCL is not built in yet)" : ")"));
}

void check_output(const char* op, const char* argument, const Tensor& tensor, const char* backend) {
  check_tensor(op, argument, tensor, backend);
  for (int64_t d = 0; d < tensor.dim(); d++)
    CRESSET_CHECK_AS(ValueError, tensor.stride(d) != 0 || tensor.size(d) < 2, op, ": ", argument,
                     " is expanded: its elements share memory (expected one that can be written to)");
}

void check_alike(const char* op, const char* argument, const std::vector<Tensor>& tensors, const Tensor& like) {
  for (size_t i = 0; i < tensors.size(); i++) {
    CRESSET_CHECK_AS(TypeError, tensors[i].dtype() == like.dtype(), op, ": ", argument, "[", i, "] is ",
                     cresset::name_of(tensors[i].dtype()), " (expected ", cresset::name_of(like.dtype()), ")");
    CRESSET_CHECK_AS(ShapeError, tensors[i].numel() == like.numel(), op, ": ", argument, "[", i, "] has ",
                     tensors[i].numel(), " elements (expected ", like.numel(), ")");
  }
}

Output::Output(const Tensor& tensor, Before before) : tensor_(alias(tensor)) {
  const NoGradGuard no_grad;
  flat_ = tensor_.is_contiguous()  ? tensor_
          : before == Before::kept ? tensor_.contiguous()
                                   : empty_contiguous(tensor_.sizes(), tensor_.dtype(), tensor_.device());
}

void Output::finish() {
  if (flat_.is_same(tensor_)) return;
  const NoGradGuard no_grad;
  tensor_.copy_(flat_);
}

Input::Input(const Tensor& tensor) {
  const NoGradGuard no_grad;
  flat_ = alias(tensor).contiguous();
}

Bundle::Bundle(const std::vector<Tensor>& tensors) {
  const NoGradGuard no_grad;
  for (const Tensor& tensor : tensors) {
    tensors_.push_back(alias(tensor));
    count_ += tensor.numel();
  }
  if (tensors_.size() == 1) {
    flat_ = tensors_[0].contiguous();
    return;
  }
  flat_ = empty_contiguous({count_}, tensors_[0].dtype(), tensors_[0].device());
  char* at = data();
  for (const Tensor& tensor : tensors_) {
    const Tensor part = tensor.contiguous();
    if (part.nbytes() > 0) std::memcpy(at, part.data_ptr(), part.nbytes());
    at += part.nbytes();
  }
}

void Bundle::finish() {
  const NoGradGuard no_grad;
  if (tensors_.size() == 1) {
    if (!flat_.is_same(tensors_[0])) tensors_[0].copy_(flat_);
    return;
  }
  int64_t begin = 0;
  for (Tensor& tensor : tensors_) {
    if (tensor.is_contiguous()) {
      if (tensor.nbytes() > 0)
        std::memcpy(tensor.data_ptr(), data() + static_cast<size_t>(begin) * tensor.itemsize(), tensor.nbytes());
    } else {
      tensor.copy_(flat_.narrow(0, begin, tensor.numel()).view(tensor.sizes()));
    }
    begin += tensor.numel();
  }
}

}  // namespace cresset::distributed
