// What options of a group and states of a parameter have in common: fields() lists what is saved, or libtorch's pair of
// serialize writes and reads it.
#pragma once

#include "cresset/io/archivable.h"

namespace cresset::optim {

class CRESSET_API Serialized {
 public:
  virtual ~Serialized() = default;
  // Refuse: the class overrides neither these nor fields().
  virtual void serialize(cresset::serialize::OutputArchive& archive) const;
  virtual void serialize(cresset::serialize::InputArchive& archive);

 protected:
  Serialized() = default;
  Serialized(const Serialized&) = default;
  Serialized& operator=(const Serialized&) = default;
};

}  // namespace cresset::optim
