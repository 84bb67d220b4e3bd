#include "cresset/distributed/file_log.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <system_error>
#include <thread>

#include "cresset/distributed/store_wire.h"

namespace cresset::distributed {

namespace {

constexpr std::string_view kHeader = "CRstore1";
constexpr size_t kChecksumBytes = 8;
constexpr size_t kRecordHeaderBytes = 4 + kChecksumBytes;
// Others keep the lock for microseconds: whoever waits this long, however short its own time, waits for a stopped one.
constexpr Milliseconds kLockPatience = std::chrono::seconds(2);

std::string checksum(std::string_view body) { return std::string(view_of(sha256(body)).substr(0, kChecksumBytes)); }

std::string read_whole(int fd, uint64_t from, uint64_t to) {
  std::string bytes(to - from, '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(from + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += static_cast<size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

// Whether nobody holds the lock of a will. Asked on another opening of the file, on which even our own lock counts.
bool is_unlocked(int fd) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return ::fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  DIR* const listing = ::opendir(folder.c_str());
  if (!listing) return names;  // no will was left yet
  while (const dirent* entry = ::readdir(listing)) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  ::closedir(listing);
  return names;
}

}  // namespace

FileLog::FileLog(std::string path, int64_t expected_users, Milliseconds timeout)
    : path_(std::move(path)), wills_path_(path_ + ".wills"), expected_users_(expected_users), owner_(::getpid()) {
  for (;;) {
    open_file();
    const FileLock lock(*this, timeout);
    // The last user of an earlier run may have removed the file between our opening and our lock.
    struct stat ours {
    }, named{};
    if (::fstat(fd_.get(), &ours) != 0) fail("cannot be read", errno);
    if (::stat(path_.c_str(), &named) != 0 || ours.st_ino != named.st_ino || ours.st_dev != named.st_dev) continue;
    check_header();
    read_records();
    if (expected_users_ > 0) append(Record::kJoin, {}, {});
    return;
  }
}

FileLog::~FileLog() {
  if (!is_owner() || expected_users_ == 0) return;
  try {
    const FileLock lock(*this, kLockPatience);
    read_records();
    append(Record::kLeave, {}, {});
    // One that was refused, or has come back, has joined beside those that are expected.
    if (left_users_ < std::max(expected_users_, joined_users_)) return;
    for (const std::string& name : files_in(wills_path_)) ::unlink((wills_path_ + "/" + name).c_str());
    ::rmdir(wills_path_.c_str());
    ::unlink(path_.c_str());
  } catch (const Error&) {
    // Then the file stays; a destructor has nobody to tell.
  }
}

bool FileLog::is_owner() const { return ::getpid() == owner_; }

std::unique_lock<std::mutex> FileLog::use() {
  CRESSET_CHECK_AS(DistributedError, is_owner(), "FileStore: ", path_, " was opened by process ", owner_,
                   " and cannot be used in its forked child ", ::getpid(), " (expected a store that the child made)");
  return std::unique_lock(mutex_);
}

void FileLog::fail(const std::string& what, int error) const {
  std::string reason = std::generic_category().message(error);
  reason[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(reason[0])));
  throw IoError(message_of("FileStore: ", path_, " ", what, ": ", reason));
}

void FileLog::open_file() {
  const int fd = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) fail("cannot be opened", errno);
  fd_ = OwnedFd(fd);
  struct stat status {};
  if (::fstat(fd, &status) != 0) fail("cannot be read", errno);
  CRESSET_CHECK_AS(IoError, S_ISREG(status.st_mode), "FileStore: ", path_, " is not a plain file (expected one)");
}

FileLog::FileLock::FileLock(FileLog& log, Milliseconds timeout) : log_(log) {
  // Asked for again and again, because flock itself would wait without end for a process that is stopped.
  const auto patience = std::max(timeout, kLockPatience);
  const auto deadline = deadline_after(patience);
  auto pause = std::chrono::microseconds(20);
  while (::flock(log_.fd_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) log_.fail("cannot be locked", errno);
    CRESSET_CHECK_AS(DistributedError, left_until(deadline) > Milliseconds(0), "FileStore: ", log_.path_,
                     " was kept locked by another process for ", patience.count(), " ms");
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(200));
  }
}

FileLog::FileLock::~FileLock() { ::flock(log_.fd_.get(), LOCK_UN); }

uint64_t FileLog::file_bytes() const {
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) fail("cannot be read", errno);
  return static_cast<uint64_t>(status.st_size);
}

void FileLog::check_header() {
  const std::string found = read_whole(fd_.get(), 0, std::min<uint64_t>(file_bytes(), kHeader.size()));
  CRESSET_CHECK_AS(IoError, kHeader.starts_with(found), "FileStore: ", path_,
                   " holds something else (expected no file, ", "an empty one, or one that begins with '", kHeader,
                   "')");
  if (found.size() < kHeader.size()) write_at_end(kHeader, "begin");
  read_bytes_ = kHeader.size();
}

void FileLog::catch_up(Milliseconds timeout) {
  // Readers need no lock, and so never wait for writers: what is only half there yet, or just being cut off, does not
  // match its checksum and is looked at again.
  if (file_bytes() == read_bytes_ || take_in_records()) return;
  const FileLock lock(*this, timeout);
  read_records();
}

void FileLog::read_records() {
  CRESSET_CHECK_AS(IoError, take_in_records(), "FileStore: ", path_, " is damaged at byte ", read_bytes_);
}

bool FileLog::take_in_records() {
  const uint64_t end = file_bytes();
  CRESSET_CHECK_AS(IoError, end >= read_bytes_, "FileStore: ", path_, " has ", end, " bytes (expected at least ",
                   read_bytes_, "; somebody cut it short)");
  const std::string bytes = read_whole(fd_.get(), read_bytes_, end);
  std::string_view rest = bytes;
  while (rest.size() >= kRecordHeaderBytes) {
    const size_t body_bytes = wire::Reader(rest).number(4);
    if (rest.size() - kRecordHeaderBytes < body_bytes) return true;  // still being written, or its writer died
    const std::string_view body = rest.substr(kRecordHeaderBytes, body_bytes);
    if (rest.substr(4, kChecksumBytes) != checksum(body)) return false;
    wire::Reader reader(body);
    const auto record = static_cast<Record>(reader.number(1));
    const std::string key = reader.text();
    apply(record, key, reader.text());
    rest.remove_prefix(kRecordHeaderBytes + body_bytes);
    read_bytes_ += kRecordHeaderBytes + body_bytes;
  }
  return true;
}

void FileLog::apply(Record record, const std::string& key, std::string_view value) {
  if (record == Record::kSet) table_.set(key, value);
  if (record == Record::kErase) table_.erase(key);
  if (record == Record::kJoin) ++joined_users_;
  if (record == Record::kLeave) ++left_users_;
}

void FileLog::append(Record record, const std::string& key, std::string_view value) {
  wire::Writer body;
  body.number(static_cast<uint8_t>(record), 1);
  body.text(key);
  body.text(value);
  wire::Writer header;
  header.number(body.body().size(), 4);
  const std::string bytes = header.body() + checksum(body.body()) + body.body();
  write_at_end(bytes, "take key '" + key + "'");
  read_bytes_ += bytes.size();
  apply(record, key, value);
}

void FileLog::write_at_end(std::string_view bytes, const std::string& what) {
  const auto end = static_cast<off_t>(read_bytes_);
  if (::ftruncate(fd_.get(), end) != 0) fail("cannot be cut to its whole records", errno);
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::pwrite(fd_.get(), bytes.data() + done, bytes.size() - done, end + static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const int error = count == 0 ? ENOSPC : errno;
      (void)!::ftruncate(fd_.get(), end);  // else the next writer cuts it
      fail("cannot " + what, error);
    }
    done += static_cast<size_t>(count);
  }
}

void FileLog::leave_will(FileWill& before, const std::string& key, std::string_view value, Milliseconds timeout) {
  const auto lock = use();
  if (::mkdir(wills_path_.c_str(), 0700) != 0 && errno != EEXIST) fail("has no place for wills", errno);
  const std::string name = std::to_string(owner_) + "-" + std::to_string(wills_made_++) + "-" +
                           std::to_string(reinterpret_cast<uintptr_t>(this));
  // Under its own name only when it is locked and whole: whoever sees it earlier would take its owner for dead.
  const std::string hidden = wills_path_ + "/." + name;
  OwnedFd fd(::open(hidden.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  struct flock will_lock {};
  will_lock.l_type = F_WRLCK;
  will_lock.l_whence = SEEK_SET;
  wire::Writer body;
  body.text(key);
  body.text(value);
  const auto bytes = static_cast<ssize_t>(body.body().size());
  const std::string visible = before.path.empty() ? wills_path_ + "/" + name : before.path;
  const FileLock file_lock(*this, timeout);
  if (fd) errno = ENOSPC;  // what a short write means, which says nothing itself
  const bool is_made = fd && ::fcntl(fd.get(), F_OFD_SETLK, &will_lock) == 0 &&
                       ::write(fd.get(), body.body().data(), body.body().size()) == bytes &&
                       ::rename(hidden.c_str(), visible.c_str()) == 0;
  if (!is_made) {
    const int error = errno;
    ::unlink(hidden.c_str());
    fail("cannot take the will for key '" + key + "'", error);
  }
  before = FileWill{std::move(fd), visible};
}

void FileLog::withdraw_will(FileWill& will) {
  // Gone before it is unlocked, so that nobody carries it out.
  ::unlink(will.path.c_str());
  will = FileWill();
}

void FileLog::carry_out_wills(Milliseconds timeout) {
  for (const std::string& name : files_in(wills_path_)) {
    const std::string path = wills_path_ + "/" + name;
    const OwnedFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd || !is_unlocked(fd.get())) continue;
    const FileLock lock(*this, timeout);
    carry_out(path);
  }
}

void FileLog::carry_out(const std::string& will_path) {
  // Looked at again under the lock: another process may have been quicker, or the owner has replaced it.
  const OwnedFd fd(::open(will_path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!fd || !is_unlocked(fd.get()) || ::fstat(fd.get(), &status) != 0) return;
  const std::string bytes = read_whole(fd.get(), 0, static_cast<uint64_t>(status.st_size));
  read_records();
  try {
    wire::Reader reader(bytes);
    const std::string key = reader.text();
    append(Record::kSet, key, reader.text());
  } catch (const ValueError&) {
    // Half a will is none.
  }
  ::unlink(will_path.c_str());
}

}  // namespace cresset::distributed
