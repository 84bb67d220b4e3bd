// Loads libcresset_image.so once.
#include "cresset/io/codecs.h"

#include <mutex>

#include "cresset/core/backend_loader.h"
#include "cresset/core/error.h"

namespace cresset::io {

constinit Codecs codecs;

namespace {

std::once_flag once;
constinit std::string* load_error = nullptr;

}  // namespace

void load_codecs() {
  // In a static build the codecs have filled the table before main.
  std::call_once(once, [] {
    if (codecs.decode_png || codecs.decode_jpeg || codecs.gunzip) return;
    std::string error;
    if (!load_library("libcresset_image.so", error)) load_error = new std::string(std::move(error));
  });
}

void missing_codec(const char* function, const std::string& name, const char* library) {
  throw IoError(message_of(function, ": ", name, ": this build of Cresset has no ", library,
                           load_error ? " (" + *load_error + ")" : std::string()));
}

}  // namespace cresset::io
