// A program's own functions are not in its dynamic symbol table, so their names are read from the symbol table of the
// file, if it was not stripped. addr2line turns what stands behind the name (file and offset) into a line.
#include "cresset/autograd/call_site.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>

namespace cresset::autograd {
namespace {

constexpr int kFrames = 48, kShown = 8;

struct Symbol {
  uint64_t start, size;
  std::string name;
};

// The functions of an ELF file, sorted by address; empty if it cannot be read as one.
std::vector<Symbol> functions_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<Symbol> found;
  auto read = [&](auto& into, uint64_t at) {
    if (at > bytes.size() || bytes.size() - at < sizeof(into)) return false;
    std::memcpy(&into, bytes.data() + at, sizeof(into));
    return true;
  };
  Elf64_Ehdr header;
  if (!read(header, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
    return found;
  for (int s = 0; s < header.e_shnum; s++) {
    Elf64_Shdr section, names;
    if (!read(section, header.e_shoff + static_cast<uint64_t>(s) * sizeof(section)) || section.sh_type != SHT_SYMTAB)
      continue;
    if (!read(names, header.e_shoff + uint64_t{section.sh_link} * sizeof(names))) continue;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      if (!read(symbol, section.sh_offset + at) || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_size == 0)
        continue;
      uint64_t name = names.sh_offset + symbol.st_name;
      if (name < bytes.size()) found.push_back({symbol.st_value, symbol.st_size, bytes.c_str() + name});
    }
  }
  std::sort(found.begin(), found.end(), [](const Symbol& a, const Symbol& b) { return a.start < b.start; });
  return found;
}

std::string function_at(const std::string& path, uint64_t offset) {
  static auto* mutex = new std::mutex;
  static auto* files = new std::map<std::string, std::vector<Symbol>>;
  std::lock_guard lock(*mutex);
  auto [it, added] = files->try_emplace(path);
  if (added) it->second = functions_in(path);
  auto after = std::upper_bound(it->second.begin(), it->second.end(), offset,
                                [](uint64_t at, const Symbol& symbol) { return at < symbol.start; });
  if (after == it->second.begin()) return {};
  const Symbol& symbol = *std::prev(after);
  return offset < symbol.start + symbol.size ? symbol.name : std::string();
}

std::string demangled(const std::string& name) {
  int status = 0;
  char* plain = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string text = plain ? plain : name;
  std::free(plain);
  return text;
}

std::string described(void* return_address) {
  auto* address = static_cast<char*>(return_address) - 1;  // in the call itself
  Dl_info info{};
  if (!dladdr(address, &info) || !info.dli_fname) return "?";
  auto offset = static_cast<uint64_t>(address - static_cast<char*>(info.dli_fbase));
  std::string path = info.dli_fname, file = path;
  if (size_t slash = file.rfind('/'); slash != std::string::npos) file = file.substr(slash + 1);
  std::string name = info.dli_sname ? info.dli_sname : function_at(path, offset);
  if (name.empty()) name = function_at("/proc/self/exe", offset);  // a program started by another name
  char place[32];
  std::snprintf(place, sizeof place, "+0x%llx", static_cast<unsigned long long>(offset));
  return (name.empty() ? "" : demangled(name) + " in ") + file + place;
}

// The library itself: frames in it are not the user's call site.
bool is_ours(void* address) {
  Dl_info here{}, there{};
  return dladdr(reinterpret_cast<void*>(&CallSite::here), &here) && dladdr(address, &there) &&
         here.dli_fbase == there.dli_fbase;
}

}  // namespace

CallSite CallSite::here() {
  void* frames[kFrames];
  int count = backtrace(frames, kFrames), from = 1;
  while (from < count && is_ours(frames[from])) from++;
  if (from == count) from = 1;  // a static build: all is one file
  CallSite site;
  site.frames_.assign(frames + from, frames + std::min(count, from == 1 ? 2 * kShown : from + kShown));
  return site;
}

std::string CallSite::text() const {
  std::string out;
  for (void* frame : frames_) out += "\n    " + described(frame);
  return out;
}

}  // namespace cresset::autograd
