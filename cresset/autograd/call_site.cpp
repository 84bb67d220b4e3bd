// libbacktrace, which comes with GCC, turns addresses into functions, files and lines: lines if the program was built
// with -g, functions if it was not stripped. Without either, file and offset are left for addr2line.
#include "cresset/autograd/call_site.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#ifdef CRESSET_HAS_BACKTRACE
#include <backtrace.h>
#endif

namespace cresset::autograd {
namespace {

constexpr int kFrames = 48;
constexpr size_t kShown = 8;

struct Line {
  std::string function, place;  // place: file and line
};

std::string demangled(const char* name) {
  int status = 0;
  char* plain = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string text = plain ? plain : name;
  std::free(plain);
  return text;
}

#ifdef CRESSET_HAS_BACKTRACE
void ignore(void*, const char*, int) {}

backtrace_state* state() {
  static backtrace_state* made = backtrace_create_state(nullptr, /*threaded=*/1, ignore, nullptr);
  return made;
}
int add_line(void* lines, uintptr_t, const char* file, int line, const char* function) {
  if (file)
    static_cast<std::vector<Line>*>(lines)->push_back(
        {function ? demangled(function) : "", std::string(file) + ":" + std::to_string(line)});
  return 0;
}
void set_name(void* name, uintptr_t, const char* symbol, uintptr_t, uintptr_t) {
  if (symbol) *static_cast<std::string*>(name) = demangled(symbol);
}

// The source lines of one address, inlined calls first. Empty without debug information.
std::vector<Line> lines_at(uintptr_t address) {
  std::vector<Line> lines;
  backtrace_pcinfo(state(), address, add_line, ignore, &lines);
  return lines;
}
std::string function_at(uintptr_t address) {
  std::string name;
  backtrace_syminfo(state(), address, set_name, ignore, &name);
  return name;
}
#else
std::vector<Line> lines_at(uintptr_t) { return {}; }
std::string function_at(uintptr_t) { return {}; }
#endif

// File and offset, as addr2line wants them.
std::string offset_of(void* address) {
  Dl_info info{};
  if (!dladdr(address, &info) || !info.dli_fname) return "?";
  std::string file = info.dli_fname;
  if (size_t slash = file.rfind('/'); slash != std::string::npos) file = file.substr(slash + 1);
  char place[32];
  std::snprintf(place, sizeof place, "+0x%zx",
                static_cast<size_t>(static_cast<char*>(address) - static_cast<char*>(info.dli_fbase)));
  return file + place;
}

std::vector<Line> described(void* return_address) {
  void* address = static_cast<char*>(return_address) - 1;  // in the call itself
  std::vector<Line> lines = lines_at(reinterpret_cast<uintptr_t>(address));
  if (!lines.empty()) return lines;
  Dl_info info{};
  std::string name = function_at(reinterpret_cast<uintptr_t>(address));
  if (name.empty() && dladdr(address, &info) && info.dli_sname) name = demangled(info.dli_sname);
  return {{name, offset_of(address)}};
}

// Of Cresset itself, though compiled into the program: a static build, or a template like Function<T>::apply.
// Without -g the full name tells; with it, the file.
bool is_ours(const Line& line) {
  for (const char* room : {"/cresset/core/", "/cresset/autograd/", "/cresset/ops/", "/cresset/nn/"})
    if (line.place.find(room) != std::string::npos && line.place.find(".h:") != std::string::npos) return true;
  size_t at = line.function.find("cresset::");  // a template's name stands after its return type
  return at == 0 || (at != std::string::npos && at < line.function.find('(') && line.function[at - 1] == ' ');
}

// The shared library: frames in it are not the user's call site.
bool in_library(void* address) {
  Dl_info here{}, there{};
  return dladdr(reinterpret_cast<void*>(&CallSite::here), &here) && dladdr(address, &there) &&
         here.dli_fbase == there.dli_fbase;
}

}  // namespace

CallSite CallSite::here() {
  void* frames[kFrames];
  int count = backtrace(frames, kFrames), from = 1;
  while (from < count && in_library(frames[from])) from++;
  if (from == count) from = 1;  // a static build: all is one file
  CallSite site;
  site.frames_.assign(frames + from, frames + count);
  return site;
}

std::string CallSite::text() const {
  std::vector<Line> lines;
  for (void* frame : frames_) {
    if (lines.size() >= kShown) break;
    for (Line& line : described(frame))
      if (!lines.empty() || !is_ours(line)) lines.push_back(std::move(line));
  }
  std::string out;
  for (size_t i = 0; i < std::min(lines.size(), kShown); i++)
    out += "\n    " + (lines[i].function.empty() ? "" : lines[i].function + " at ") + lines[i].place;
  return out;
}

}  // namespace cresset::autograd
