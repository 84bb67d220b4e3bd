// cresset inspect: what a checkpoint, .pt, safetensors, .npy or .npz file holds.
#pragma once

#include <string>

namespace cresset::tools {

// The report, as a table or as JSON. Reads shapes, not values; throws an IoError for a file that is broken.
std::string inspect(const std::string& path, bool as_json);

}  // namespace cresset::tools
