// Loads libcresset_image.so once.
#include "cresset/io/codecs.h"

#include <mutex>

#include "cresset/core/backend_loader.h"
#include "cresset/core/error.h"

namespace cresset::io {

constinit Codecs codecs;

namespace {

[[maybe_unused]] std::once_flag once;
constinit std::string* load_error = nullptr;

}  // namespace

void load_codecs() {
#ifndef CRESSET_DNN_STATIC  // a static build has filled the table before main, or has nothing to fill it with
  std::call_once(once, [] {
    if (codecs.decode_png || codecs.decode_jpeg || codecs.gunzip) return;  // linked in by the program
    std::string error;
    if (!load_library("libcresset_image.so", error)) load_error = new std::string(std::move(error));
  });
#endif
}

void missing_codec(const char* function, const std::string& name, const char* library) {
  throw IoError(message_of(function, ": ", name, ": this build of Cresset has no ", library,
                           load_error ? " (" + *load_error + ")" : std::string()));
}

}  // namespace cresset::io
