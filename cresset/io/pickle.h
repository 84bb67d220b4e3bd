// Pickle as torch.save uses it: values, containers, and tensors whose storages lie beside it. The reader executes
// nothing: it knows a handful of names (tensors, storages, OrderedDict, sizes, dtypes, devices), and refuses every
// other by name.
#pragma once

#include <functional>

#include "cresset/core/ivalue.h"
#include "cresset/io/bytes.h"

namespace cresset::io {

// A storage that a pickle points to.
struct StorageKey {
  std::string key;
  DType dtype = kFloat;
  uint64_t numel = 0;
};
using StorageReader = std::function<Ref<StorageImpl>(const StorageKey&)>;

// `source` is the pickle alone. Tensors lie on `device`: the CPU, or meta for their shapes only. Bytes and dtypes and
// devices become strings, sets become lists, torch.Size becomes a tuple.
CRESSET_API IValue read_pickle(const char* function, const Source& source, const StorageReader& storage_of,
                               Device device);

// Gives a tensor's storage its key and says where in it the tensor begins, in elements.
struct StoragePlace {
  std::string key;
  uint64_t numel;
  int64_t offset;
};
using StorageNamer = std::function<StoragePlace(const Tensor&)>;
CRESSET_API std::string write_pickle(const IValue& value, const StorageNamer& place_of);

// Nesting of containers, in both directions.
inline constexpr int kDeepestNesting = 64;

}  // namespace cresset::io
