// Where a run of several processes goes on. Each rank keeps files of its own (its random numbers and its place in the
// data differ from the others'), and a rank that was killed may lack the last one:
//
//   io::Checkpoint checkpoint("runs/mnist/" + std::to_string(get_rank()));
//   checkpoint.add("model", model).add("optimizer", optimizer).add("loader", *loader);
//   int64_t step = distributed::load_newest(checkpoint).value_or(0);
#pragma once

#include "cresset/distributed/collectives.h"
#include "cresset/io/checkpoint.h"

namespace cresset::distributed {

// Loads the newest step that all ranks of the run that saved it have whole, or nothing; every rank calls it, before it
// saves. A rank that is new takes the file of rank r modulo their number. Files say whose they are: one that was copied
// from another rank's folder is passed over with a word, and if nothing else is there, that is an error. It also works
// with one folder for all, whose files belong to nobody.
CRESSET_API std::optional<int64_t> load_newest(io::Checkpoint& checkpoint, const Group& group = nullptr);

}  // namespace cresset::distributed
