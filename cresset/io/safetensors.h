// The safetensors format: a JSON header with names, dtypes, shapes and places, then the bytes.
#pragma once

#include "cresset/core/ordered_dict.h"
#include "cresset/core/tensor.h"
#include "cresset/io/bytes.h"

namespace cresset::io {

using StateDict = OrderedDict<std::string, Tensor>;
using Metadata = OrderedDict<std::string, std::string>;

struct Safetensors {
  StateDict tensors;  // in the order of their data
  Metadata metadata;
};

// Tensors are written row by row in the dtypes that the format has; complex128 is refused.
CRESSET_API void save_safetensors(const std::string& path, const StateDict& tensors,
                                  const Metadata& metadata = Metadata());
CRESSET_API void save_safetensors(Sink& sink, const StateDict& tensors, const Metadata& metadata = Metadata());

struct SafetensorsOptions {
  // Tensors share a private mapping of the file instead of being read: large files are there at once and cost the pages
  // that are touched, and writing to a tensor changes no file. The file must stay as it is while a tensor lives. Where
  // it is truncated, or rewritten in place, the next look at a missing page ends the program with SIGBUS; renaming a
  // new file over it, as Cresset does, and removing it are safe.
  bool map = false;
};

CRESSET_API StateDict load_safetensors(const std::string& path, const SafetensorsOptions& options = {});
// With the metadata.
CRESSET_API Safetensors read_safetensors(const std::string& path, const SafetensorsOptions& options = {});
CRESSET_API Safetensors read_safetensors(const Source& source);  // tensors share what the source owns

}  // namespace cresset::io
