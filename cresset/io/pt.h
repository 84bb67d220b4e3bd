// PyTorch's .pt files: a zip archive with a pickle of the values and one entry for each storage.
//
// Reading: two tensors that share a storage in the file share it again, with their offsets and strides. Tensors saved
// on another device come to the CPU. Files of PyTorch before 1.6 (no zip) and of torch.jit.save are refused; archives
// of libtorch's C++ torch::save become dicts.
//
// Writing: what torch.load reads (1.6 and newer, also with weights_only). A storage that several tensors share is
// written once. It is written whole, unless the tensors in the file reach over less than half of it: then only that
// part, so that a small slice of a big tensor makes a small file. Everything is written as being on the CPU, and loads
// anywhere.
#pragma once

#include "cresset/core/ivalue.h"
#include "cresset/io/bytes.h"
#include "cresset/io/unpack_limits.h"

namespace cresset::io {

CRESSET_API void save_pt(const std::string& path, const IValue& value);
CRESSET_API void save_pt(Sink& sink, const IValue& value);

// kMeta gives the shapes alone and reads no data. Nothing that torch.save writes is packed; `limits` is for archives
// that other programs have packed.
CRESSET_API IValue load_pt(const std::string& path, Device device = kCPU, const UnpackLimits& limits = {});
CRESSET_API IValue load_pt(const Source& source, Device device = kCPU, const UnpackLimits& limits = {});

// For containers around a .pt (checkpoints): announces a zip comment that the caller writes after it.
CRESSET_API void write_pt_archive(Sink& sink, const IValue& value, uint16_t comment_size);

}  // namespace cresset::io
