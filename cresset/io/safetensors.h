// The safetensors format: a JSON header with names, dtypes, shapes and places, then the bytes. Reading maps the file:
// tensors share the mapping, which is private, so that writing to one changes no file and costs the touched pages
// alone.
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

CRESSET_API StateDict load_safetensors(const std::string& path);
CRESSET_API Safetensors read_safetensors(const std::string& path);  // with the metadata
CRESSET_API Safetensors read_safetensors(const Source& source);

}  // namespace cresset::io
