// Zip archives. Sizes are taken from the central directory (local headers may leave them out), and every one of them is
// checked against the file before anything is read.
#include "cresset/io/zip.h"

#include <algorithm>
#include <bit>

#include "cresset/io/checksum.h"
#include "cresset/io/codecs.h"

namespace cresset::io {
namespace {

static_assert(std::endian::native == std::endian::little, "files are little-endian and read as they are");

constexpr uint32_t kLocal = 0x04034B50, kCentral = 0x02014B50, kEnd = 0x06054B50, kEnd64 = 0x06064B50,
                   kLocator64 = 0x07064B50;
constexpr uint64_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22, kEnd64Size = 56, kLocatorSize = 20;
constexpr uint16_t kNames8Bit = 1 << 11, kEncrypted = 1;
constexpr uint64_t kMostEntries = 1 << 20;
// No DEFLATE stream grows by more.
constexpr uint64_t kGreatestRatio = 1032;

class Record {
 public:
  template <class Integer>
  Record& put(Integer value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Record& put16(uint64_t value) { return put(static_cast<uint16_t>(value)); }
  Record& put32(uint64_t value) { return put(static_cast<uint32_t>(value)); }
  Record& put64(uint64_t value) { return put(value); }
  std::string& text() { return text_; }

 private:
  std::string text_;
};

}  // namespace

ZipReader::ZipReader(const char* function, Source source, const UnpackLimits& limits)
    : function_(function), source_(std::move(source)), limits_(limits) {
  const Directory directory = find_directory();
  read_directory(directory);
  check_overlap();
}

void ZipReader::broken(const std::string& what) const { fault(function_, source_.name(), what); }

ZipReader::Directory ZipReader::find_directory() const {
  const uint64_t size = source_.size();
  if (size < 4 || source_.at<uint32_t>(0) != kLocal)
    if (size < kEndSize || source_.at<uint32_t>(0) != kEnd) broken("not a zip archive (no PK at the beginning)");
  if (size < kEndSize) broken(message_of("cut off: ", size, " bytes are no whole zip archive"));
  // A comment may follow the end record.
  const uint64_t lowest = size > kEndSize + 0xFFFF ? size - kEndSize - 0xFFFF : 0;
  for (uint64_t at = size - kEndSize + 1; at-- > lowest;) {
    if (source_.at<uint32_t>(at) != kEnd || at + kEndSize + source_.at<uint16_t>(at + 20) != size) continue;
    Directory found{source_.at<uint32_t>(at + 16), source_.at<uint32_t>(at + 12), source_.at<uint16_t>(at + 10)};
    uint64_t end = at;
    if (at >= kLocatorSize && source_.at<uint32_t>(at - kLocatorSize) == kLocator64) {
      const auto at64 = source_.at<uint64_t>(at - kLocatorSize + 8);
      if (!source_.holds(at64, kEnd64Size) || at64 + kEnd64Size > at - kLocatorSize ||
          source_.at<uint32_t>(at64) != kEnd64)
        broken("the zip64 end record is not where it is said to be");
      found = {source_.at<uint64_t>(at64 + 48), source_.at<uint64_t>(at64 + 40), source_.at<uint64_t>(at64 + 32)};
      end = at64;
    }
    if (found.offset > end || found.size > end - found.offset)
      broken(message_of("the directory (", found.size, " bytes at ", found.offset, ") does not lie inside the file"));
    if (found.count > kMostEntries || found.count > found.size / kCentralSize)
      broken(message_of("the directory says that there are ", found.count, " entries, which do not fit into its ",
                        found.size, " bytes"));
    return found;
  }
  broken("cut off: the end of the zip archive is missing");
}

void ZipReader::read_directory(const Directory& directory) {
  uint64_t at = directory.offset;
  const uint64_t end = directory.offset + directory.size;
  entries_.reserve(directory.count);
  for (uint64_t i = 0; i < directory.count; i++) {
    if (end - at < kCentralSize || source_.at<uint32_t>(at) != kCentral)
      broken(message_of("entry ", i, " of the directory is damaged"));
    const uint64_t name = source_.at<uint16_t>(at + 28), extra = source_.at<uint16_t>(at + 30),
                   comment = source_.at<uint16_t>(at + 32);
    if (end - at - kCentralSize < name + extra + comment)
      broken(message_of("entry ", i, " of the directory is cut off"));
    Entry entry;
    entry.name.assign(source_.data() + at + kCentralSize, name);
    const auto flags = source_.at<uint16_t>(at + 8), method = source_.at<uint16_t>(at + 10);
    entry.crc = source_.at<uint32_t>(at + 16);
    entry.stored_size = source_.at<uint32_t>(at + 20);
    entry.size = source_.at<uint32_t>(at + 24);
    uint64_t header = source_.at<uint32_t>(at + 42);
    // The zip64 field holds those of the three that did not fit, in this order.
    const uint64_t extra_end = at + kCentralSize + name + extra;
    for (uint64_t field = at + kCentralSize + name; field + 4 <= extra_end;) {
      const uint64_t id = source_.at<uint16_t>(field), length = source_.at<uint16_t>(field + 2);
      field += 4;
      if (length > extra_end - field) break;
      if (id == 1) {
        uint64_t left = length, from = field;
        for (uint64_t* value : {&entry.size, &entry.stored_size, &header}) {
          if (*value != 0xFFFFFFFF || left < 8) continue;
          *value = source_.at<uint64_t>(from);
          from += 8, left -= 8;
        }
      }
      field += length;
    }
    if (flags & kEncrypted) broken("entry '" + entry.name + "' is encrypted");
    if (method != 0 && method != 8)
      broken(message_of("entry '", entry.name, "' is compressed by method ", method,
                        " (expected 0, stored, or 8, deflated)"));
    entry.deflated = method == 8;
    place_data(entry, header, directory.offset);
    if (!index_.emplace(entry.name, entries_.size()).second) broken("entry '" + entry.name + "' is there twice");
    entries_.push_back(std::move(entry));
    at += kCentralSize + name + extra + comment;
  }
}

void ZipReader::place_data(Entry& entry, uint64_t header, uint64_t directory) {
  if (header > directory || directory - header < kLocalSize || source_.at<uint32_t>(header) != kLocal)
    broken("entry '" + entry.name + "' does not lie where the directory says");
  entry.offset = header + kLocalSize + source_.at<uint16_t>(header + 26) + source_.at<uint16_t>(header + 28);
  if (entry.offset > directory || entry.stored_size > directory - entry.offset)
    broken(message_of("entry '", entry.name, "' (", entry.stored_size, " bytes) does not lie inside the file"));
  if (!entry.deflated && entry.size != entry.stored_size)
    broken("entry '" + entry.name + "' is stored, but has two sizes");
  if (entry.deflated && entry.size / kGreatestRatio > entry.stored_size)
    broken(message_of("entry '", entry.name, "' says that ", entry.stored_size, " bytes grow to ", entry.size));
}

// Entries that share data would let a small file grow without end.
void ZipReader::check_overlap() const {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const Entry& entry : entries_)
    if (entry.stored_size > 0) ranges.emplace_back(entry.offset, entry.offset + entry.stored_size);
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); i++)
    if (ranges[i].first < ranges[i - 1].second) broken("two entries share their data");
}

const ZipReader::Entry* ZipReader::find(const std::string& name) const {
  auto found = index_.find(name);
  return found == index_.end() ? nullptr : &entries_[found->second];
}

const ZipReader::Entry& ZipReader::at(const std::string& name) const {
  if (const Entry* entry = find(name)) return *entry;
  broken("there is no entry '" + name + "'");
}

void ZipReader::check_growth(const Entry& entry) const {
  const uint64_t most = limits_.of(source_.size());
  if (entry.deflated && (entry.size > most || inflated_ > most - entry.size))
    broken(message_of("entry '", entry.name, "': found ", entry.size, " bytes, with those before it ",
                      inflated_ + entry.size, " ", limits_.text(source_.size())));
}

void ZipReader::read(const Entry& entry, char* out) {
  if (entry.deflated) {
    check_growth(entry);
    inflated_ += entry.size;
    const auto inflate = codec(&Codecs::inflate, function_, entry.name, "zlib");
    const auto* stored = reinterpret_cast<const uint8_t*>(source_.data() + entry.offset);
    if (const char* wrong = inflate({stored, entry.stored_size}, out, entry.size))
      broken("entry '" + entry.name + "': " + wrong);
  } else if (entry.size > 0) {
    std::memcpy(out, source_.data() + entry.offset, entry.size);
  }
  const uint32_t found = crc32(out, entry.size);
  if (found != entry.crc)
    broken(message_of("entry '", entry.name, "' is damaged: its CRC is ", found, " (expected ", entry.crc, ")"));
}

std::vector<char> ZipReader::read(const Entry& entry) {
  check_growth(entry);  // before memory is asked for
  std::vector<char> data(entry.size);
  read(entry, data.data());
  return data;
}

ZipWriter::ZipWriter(Sink& sink, uint64_t limit) : sink_(sink), limit_(limit) {}

void ZipWriter::add(const std::string& name, const void* data, size_t size, size_t alignment) {
  const uint64_t header = sink_.position();
  const bool wide = size > limit_;
  const uint32_t crc = crc32(data, size);
  Record extra;
  if (wide) extra.put16(1).put16(16).put64(size).put64(size);
  // PyTorch pads with a field "FB" of Zs; an unused header of four bytes is needed even for no padding.
  if (alignment > 1) {
    const uint64_t before = header + kLocalSize + name.size() + extra.text().size() + 4;
    const uint64_t padding = (alignment - before % alignment) % alignment;
    extra.put('F').put('B').put16(padding);
    extra.text().append(padding, 'Z');
  }
  Record local;
  local.put32(kLocal).put16(wide ? 45 : 20).put16(kNames8Bit).put16(0);
  local.put32(0x00210000);  // 1980-01-01: equal content gives equal files
  local.put32(crc).put32(wide ? 0xFFFFFFFF : size).put32(wide ? 0xFFFFFFFF : size);
  local.put16(name.size()).put16(extra.text().size());
  sink_.write(local.text());
  sink_.write(name);
  sink_.write(extra.text());
  sink_.write(data, size);
  written_.push_back({name, header, size, crc});
}

void ZipWriter::finish(uint16_t comment_size) {
  const uint64_t start = sink_.position();
  for (const Written& entry : written_) {
    const bool wide = entry.size > limit_, far = entry.header > limit_;
    Record extra;
    if (wide || far) extra.put16(1).put16((wide ? 16 : 0) + (far ? 8 : 0));
    if (wide) extra.put64(entry.size).put64(entry.size);
    if (far) extra.put64(entry.header);
    Record record;
    record.put32(kCentral).put16(45).put16(wide || far ? 45 : 20).put16(kNames8Bit).put16(0).put32(0x00210000);
    record.put32(entry.crc).put32(wide ? 0xFFFFFFFF : entry.size).put32(wide ? 0xFFFFFFFF : entry.size);
    record.put16(entry.name.size()).put16(extra.text().size()).put16(0).put16(0).put16(0).put32(0);
    record.put32(far ? 0xFFFFFFFF : entry.header);
    sink_.write(record.text());
    sink_.write(entry.name);
    sink_.write(extra.text());
  }
  const uint64_t end = sink_.position(), count = written_.size();
  if (count > 0xFFFE || end > limit_) {
    Record record;
    record.put32(kEnd64).put64(kEnd64Size - 12).put16(45).put16(45).put32(0).put32(0);
    record.put64(count).put64(count).put64(end - start).put64(start);
    record.put32(kLocator64).put32(0).put64(end).put32(1);
    sink_.write(record.text());
  }
  Record record;
  record.put32(kEnd)
      .put16(0)
      .put16(0)
      .put16(std::min<uint64_t>(count, 0xFFFF))
      .put16(std::min<uint64_t>(count, 0xFFFF));
  record.put32(end - start > limit_ ? 0xFFFFFFFF : end - start).put32(start > limit_ ? 0xFFFFFFFF : start);
  record.put16(comment_size);
  sink_.write(record.text());
}

}  // namespace cresset::io
