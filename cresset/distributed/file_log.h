// FileLog: the file behind a FileStore. Every change is a record at its end, so that all processes that read it come to
// the same table and the same versions. Who changes something holds the file's lock (flock, of which each FileLog has
// its own); a record that a killed process left half written is cut off by the next one who writes.
//
// A last will is a file beside it, in PATH.wills, which its owner keeps locked: the kernel drops the lock when the
// process ends, however it ends, and whoever sees that carries the will out.
#pragma once

#include <mutex>

#include "cresset/distributed/owned_fd.h"
#include "cresset/distributed/store_table.h"

namespace cresset::distributed {

// A will that is in force: the lock and the name of its file.
struct FileWill {
  OwnedFd fd;
  std::string path;
};

class FileLog {
 public:
  // The last to go removes the file when as many as `expected_users` have been there; 0: nobody does.
  FileLog(std::string path, int64_t expected_users, Milliseconds timeout);
  ~FileLog();
  FileLog(const FileLog&) = delete;
  FileLog& operator=(const FileLog&) = delete;

  const std::string& path() const { return path_; }
  bool is_owner() const;

  // Shows `look` the table as it is now; wills of processes that are gone have been carried out.
  template <class Look>
  auto read(Milliseconds timeout, const Look& look) {
    const auto lock = use();
    carry_out_wills(timeout);
    catch_up(timeout);
    return look(static_cast<const StoreTable&>(table_));
  }

  // The same with the file's lock held: `edit` may call set and erase.
  template <class Edit>
  auto change(Milliseconds timeout, const Edit& edit) {
    const auto lock = use();
    const FileLock file_lock(*this, timeout);
    read_records();
    return edit(static_cast<const StoreTable&>(table_));
  }
  void set(const std::string& key, std::string_view value) { append(Record::kSet, key, value); }
  void erase(const std::string& key) { append(Record::kErase, key, {}); }

  // `before` is the will that this one replaces, if there is one.
  void leave_will(FileWill& before, const std::string& key, std::string_view value, Milliseconds timeout);
  void withdraw_will(FileWill& will);

 private:
  enum class Record : uint8_t { kSet = 1, kErase, kJoin, kLeave };

  class FileLock {
   public:
    FileLock(FileLog& log, Milliseconds timeout);
    ~FileLock();
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;

   private:
    FileLog& log_;
  };

  std::unique_lock<std::mutex> use();
  void open_file();
  void check_header();
  void catch_up(Milliseconds timeout);
  void read_records();
  bool take_in_records();  // false: what follows does not match its checksum
  void apply(Record record, const std::string& key, std::string_view value);
  void append(Record record, const std::string& key, std::string_view value);
  void write_at_end(std::string_view bytes, const std::string& what);
  void carry_out_wills(Milliseconds timeout);
  void carry_out(const std::string& will_path);
  uint64_t file_bytes() const;
  [[noreturn]] void fail(const std::string& what, int error) const;

  const std::string path_;
  const std::string wills_path_;
  const int64_t expected_users_;
  const pid_t owner_;
  std::mutex mutex_;
  OwnedFd fd_;
  StoreTable table_;
  uint64_t read_bytes_ = 0;  // up to here the file is in the table
  int64_t joined_users_ = 0, left_users_ = 0;
  uint64_t wills_made_ = 0;
};

}  // namespace cresset::distributed
