// LibraryCall: stands around what calls oneDNN and OpenBLAS. Gives them this thread's count, keeps signals off every
// thread that they use (core/signal_guard.h says why), and keeps threads out of them once exit() takes them down.
#pragma once

#include "cresset/core/signal_guard.h"

namespace cresset::cpu {

class LibraryCall {
 public:
  LibraryCall();
  ~LibraryCall();
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;

  // False while another thread ends the process: kernels of Cresset's own do the work.
  bool allowed() const { return allowed_; }
  // For what has no other kernel: the thread waits for the end.
  void wait_unless_allowed() const;

 private:
  SignalGuard guard_;  // OpenMP's threads that are made under it inherit its mask
  bool allowed_;
};

}  // namespace cresset::cpu
