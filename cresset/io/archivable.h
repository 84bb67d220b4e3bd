// What an archive (io/serialize.h) saves and loads by virtual functions: modules and optimizers. Apart from the
// archives, so that their headers do not include them.
#pragma once

#include "cresset/core/export.h"

namespace cresset::serialize {

class OutputArchive;
class InputArchive;

class CRESSET_API Archivable {
 public:
  virtual ~Archivable() = default;
  virtual void save(OutputArchive& archive) const = 0;
  virtual void load(InputArchive& archive) = 0;

 protected:
  Archivable() = default;
  Archivable(const Archivable&) = default;
  Archivable& operator=(const Archivable&) = default;
};

inline OutputArchive& operator<<(OutputArchive& archive, const Archivable& object) {
  object.save(archive);
  return archive;
}
inline InputArchive& operator>>(InputArchive& archive, Archivable& object) {
  object.load(archive);
  return archive;
}

}  // namespace cresset::serialize
