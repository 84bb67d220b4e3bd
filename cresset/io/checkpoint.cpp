// Checkpoint files. The digest stands in the zip archive's comment, behind everything that it covers.
#include "cresset/io/checkpoint.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>

#include "cresset/io/append_file.h"
#include "cresset/io/atomic_file.h"
#include "cresset/io/checksum.h"
#include "cresset/io/pt.h"

namespace cresset::io {
namespace {

constexpr const char* kLoad = "Checkpoint";
constexpr const char* kFormat = "cresset checkpoint";
constexpr std::string_view kMark = "cresset-xxh64:";
constexpr size_t kCommentSize = kMark.size() + 16;

std::string comment_of(const Digest& digest) {
  char hex[17];
  std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(digest.value()));
  return std::string(kMark) + hex;
}

// Digests what it passes on.
class DigestSink : public Sink {
 public:
  explicit DigestSink(Sink& to) : to_(to) {}
  std::string comment() const { return comment_of(digest_); }

 private:
  void put(const char* data, size_t size) override {
    digest_.add(data, size);
    to_.write(data, size);
  }
  Sink& to_;
  Digest digest_;
};

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  DIR* open = ::opendir(folder.c_str());
  if (!open) {
    if (errno == ENOENT) return names;
    fault(kLoad, folder, "cannot be listed: ", system_reason(errno));
  }
  while (const dirent* entry = ::readdir(open)) names.emplace_back(entry->d_name);
  ::closedir(open);
  return names;
}

// The step in "step-00001000.ckpt"; -1 for other names.
int64_t step_of(const std::string& name) {
  constexpr std::string_view before = "step-", after = ".ckpt";
  if (name.size() < 11 || name.size() > 29 || !name.starts_with(before) || !name.ends_with(after)) return -1;
  int64_t step = 0;
  for (char c : name.substr(before.size(), name.size() - before.size() - after.size())) {
    if (c < '0' || c > '9' || __builtin_mul_overflow(step, 10, &step) || __builtin_add_overflow(step, c - '0', &step))
      return -1;
  }
  return step;
}

IValue state_of_generator(const Generator& generator) {
  const GeneratorState state = generator.get_state();
  IValue::Dict dict;
  dict["seed"] = static_cast<int64_t>(state.seed);
  dict["offset"] = static_cast<int64_t>(state.offset);
  return dict;
}

void set_generator(Generator& generator, const IValue& value) {
  const IValue::Dict& dict = value.toDict();
  generator.set_state(
      {static_cast<uint64_t>(dict.at("seed").toInt()), static_cast<uint64_t>(dict.at("offset").toInt())});
}

// A right digest says that the file is as it was written, not by whom: every entry that is read later is looked at
// here, where the file can be named and nothing has been changed.
void check_entries(const std::string& path, const IValue::Dict& held) {
  const auto entry = [&](const IValue::Dict& dict, const char* name, bool needed, auto is_right, const char* wanted) {
    const IValue* value = dict.find(name);
    if (value ? !is_right(*value) : needed)
      fault(kLoad, path, "its entry '", name, "' is ", value ? value->tagKind() : std::string("missing"), " (expected ",
            wanted, ")");
  };
  const auto is_int = [](const IValue& value) { return value.isInt(); };
  const auto is_dict = [](const IValue& value) { return value.isDict(); };
  entry(held, "step", true, is_int, "a whole number");
  entry(held, "state", true, is_dict, "a dict");
  entry(held, "values", true, is_dict, "a dict");
  entry(held, "rank", false, is_int, "a whole number");
  entry(held, "rng", false, is_dict, "a dict");
  if (const IValue* rng = held.find("rng"))
    for (const char* name : {"seed", "offset"}) entry(rng->toDict(), name, true, is_int, "a whole number");
}

IValue read_checked(const std::string& path, Device device) {
  const Source source = Source::map(path, kLoad);
  if (!is_checkpoint(source)) fault(kLoad, path, "has no digest at its end: cut off, or no checkpoint");
  const size_t covered = source.size() - kCommentSize;
  Digest digest;
  digest.add(source.data(), covered);
  const std::string found(source.text().substr(covered));
  if (comment_of(digest) != found)
    fault(kLoad, path, "damaged: its digest is ", comment_of(digest), " (expected ", found, ")");
  IValue value = load_pt(source, device);
  const IValue* format = value.isDict() ? value.toDict().find("format") : nullptr;
  if (!format || !format->isString() || format->toStringRef() != kFormat) fault(kLoad, path, "not a checkpoint");
  check_entries(path, value.toDict());
  return value;
}

// "found the checkpoint of rank 0 (expected rank 1's)"; empty where they agree or the file does not say.
std::string foreign(const IValue& held, std::optional<int64_t> rank) {
  const std::optional<int64_t> found = rank_in_checkpoint(held);
  if (!rank || !found || *rank == *found) return {};
  return message_of("found the checkpoint of rank ", *found, " (expected rank ", *rank, "'s)");
}

}  // namespace

bool is_checkpoint(const Source& source) {
  return source.size() > kCommentSize && source.text().substr(source.size() - kCommentSize).starts_with(kMark);
}

IValue read_checkpoint(const std::string& path, Device device) { return read_checked(path, device); }

std::optional<int64_t> rank_in_checkpoint(const IValue& held) {
  const IValue* rank = held.toDict().find("rank");
  return rank ? std::optional(rank->toInt()) : std::nullopt;
}

Checkpoint::Checkpoint(std::string folder, CheckpointOptions options)
    : folder_(std::move(folder)), options_(options), parts_("Checkpoint: part") {
  CRESSET_CHECK_AS(ValueError, !folder_.empty(), "Checkpoint: the folder has no name");
  CRESSET_CHECK_AS(ValueError, options_.keep >= 0, "Checkpoint: keep is ", options_.keep, " (expected 0 or more)");
}

Checkpoint& Checkpoint::add_part(const std::string& name, Part part) {
  parts_.insert(name, std::move(part));
  return *this;
}

Checkpoint& Checkpoint::add(const std::string& name, Generator generator) {
  return add_part(name, {[generator] { return state_of_generator(generator); },
                         [generator](const IValue& value) mutable { set_generator(generator, value); }});
}

Checkpoint& Checkpoint::add(const std::string& name, const Tensor& tensor) {
  return add_part(name, {[tensor] { return IValue(tensor.detach()); },
                         [tensor](const IValue& value) {
                           NoGradGuard no_grad;
                           tensor.copy_(value.toTensor());
                         }});
}

void Checkpoint::set(const std::string& key, IValue value) { values_[key] = std::move(value); }

std::string Checkpoint::save(int64_t step) {
  CRESSET_CHECK_AS(ValueError, step >= 0, "Checkpoint: step is ", step, " (expected 0 or more)");
  IValue::Dict state, whole;
  for (const auto& [name, part] : parts_) state[name] = part.state();
  whole["format"] = kFormat;
  whole["version"] = 1;
  whole["step"] = step;
  if (options_.rank) whole["rank"] = *options_.rank;
  whole["state"] = std::move(state);
  if (options_.rng) whole["rng"] = state_of_generator(default_generator());
  whole["values"] = values_;

  make_folders(folder_);
  char name[40];
  std::snprintf(name, sizeof name, "step-%08lld.ckpt", static_cast<long long>(step));
  std::string path = folder_ + "/" + name;
  AppendFile::flush_all();
  AtomicFile file(path);
  DigestSink digest(file);
  write_pt_archive(digest, whole, kCommentSize);
  file.write(digest.comment());
  file.commit();
  prune(path);
  return path;
}

std::vector<std::string> Checkpoint::files() const {
  std::vector<std::pair<int64_t, std::string>> found;
  for (const std::string& name : names_in(folder_))
    if (const int64_t step = step_of(name); step >= 0) found.emplace_back(step, folder_ + "/" + name);
  std::sort(found.begin(), found.end());
  std::vector<std::string> paths;
  paths.reserve(found.size());
  for (auto& file : found) paths.push_back(std::move(file.second));
  return paths;
}

// Files of later steps, broken ones or another run's, push none of this run's out.
void Checkpoint::prune(const std::string& newest) const {
  const std::vector<std::string> paths = files();
  const auto until = static_cast<size_t>(std::find(paths.begin(), paths.end(), newest) - paths.begin() + 1);
  if (options_.keep > 0)
    for (size_t i = 0; i + static_cast<size_t>(options_.keep) < until; i++) ::unlink(paths[i].c_str());
  // What a crash left behind. An hour is longer than any write that is still on its way.
  for (const std::string& name : names_in(folder_)) {
    const size_t end = name.find(".tmp-");
    struct stat status {};
    if (end == std::string::npos || step_of(name.substr(0, end)) < 0) continue;
    const std::string path = folder_ + "/" + name;
    if (::stat(path.c_str(), &status) == 0 && status.st_mtime < std::time(nullptr) - 3600) ::unlink(path.c_str());
  }
}

void Checkpoint::apply(const std::string& path, const IValue::Dict& held) {
  const IValue::Dict& state = held.at("state").toDict();
  std::string missing;
  for (const auto& [name, part] : parts_)
    if (!state.contains(name)) missing += (missing.empty() ? "'" : ", '") + name + "'";
  // Before anything is changed.
  if (!missing.empty()) fault(kLoad, path, "does not hold ", missing);
  for (const auto& [name, part] : parts_) {
    try {
      part.set_state(state.at(name));
    } catch (Error& error) {
      error.set_message(message_of(kLoad, ": ", path, ": part '", name, "': ", error.msg()));
      throw;
    }
  }
  if (options_.rng)
    if (const IValue* rng = held.find("rng")) set_generator(default_generator(), *rng);
  values_ = held.at("values").toDict();
}

int64_t Checkpoint::load(const std::string& path) {
  const IValue whole = read_checked(path, kCPU);
  if (const std::string other = foreign(whole, options_.rank); !other.empty())
    fault(kLoad, path, other, "; read_checkpoint reads any rank's");
  const int64_t step = whole.toDict().at("step").toInt();
  apply(path, whole.toDict());
  return step;
}

std::optional<int64_t> Checkpoint::load_newest() {
  skipped_.clear();
  std::vector<std::string> paths = files();
  const auto pass_over = [&](const std::string& why) {
    skipped_.push_back(why);
    std::fprintf(stderr, "%s; passed over\n", why.c_str());
  };
  std::string others;  // what the newest file of another rank says
  for (size_t i = paths.size(); i-- > 0;) {
    IValue whole;
    try {
      whole = read_checked(paths[i], kCPU);
    } catch (const Error& error) {
      pass_over(error.what());
      continue;
    }
    if (const std::string other = foreign(whole, options_.rank); !other.empty()) {
      pass_over(message_of(kLoad, ": ", paths[i], ": ", other));
      if (others.empty()) others = skipped_.back();
      continue;
    }
    apply(paths[i], whole.toDict());
    return whole.toDict().at("step").toInt();
  }
  // To begin anew, and to push these files out one by one, cannot be meant.
  CRESSET_CHECK_AS(IoError, others.empty(), others, ", and the folder has none of this rank");
  return std::nullopt;
}

}  // namespace cresset::io
