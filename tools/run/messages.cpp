// Fields one after the other, each as its length, a colon and its bytes: a worker's last lines may hold anything.
#include "messages.h"

#include <charconv>
#include <stdexcept>

namespace cresset::run {
namespace {

class Writer {
 public:
  Writer& operator<<(const std::string& field) {
    text_ += std::to_string(field.size()) + ":" + field;
    return *this;
  }
  Writer& operator<<(int64_t number) { return *this << std::to_string(number); }
  Writer& operator<<(double number) { return *this << std::to_string(number); }
  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Reader& operator>>(std::string& field) {
    const size_t colon = text_.find(':');
    const size_t size = static_cast<size_t>(number(text_.substr(0, colon)));
    if (colon == std::string_view::npos || text_.size() - colon - 1 < size) broken();
    field = text_.substr(colon + 1, size);
    text_.remove_prefix(colon + 1 + size);
    return *this;
  }
  Reader& operator>>(int64_t& value) {
    std::string field;
    *this >> field;
    value = number(field);
    return *this;
  }
  Reader& operator>>(int& value) {
    int64_t wide = 0;
    *this >> wide;
    value = static_cast<int>(wide);
    return *this;
  }
  Reader& operator>>(bool& value) {
    int64_t wide = 0;
    *this >> wide;
    value = wide != 0;
    return *this;
  }
  Reader& operator>>(double& value) {
    std::string field;
    *this >> field;
    value = std::strtod(field.c_str(), nullptr);
    return *this;
  }
  void finish() const {
    if (!text_.empty()) broken();
  }
  [[noreturn]] static void broken() { throw std::runtime_error("a message of another launcher could not be read"); }

 private:
  static int64_t number(std::string_view text) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) broken();
    return value;
  }

  std::string_view text_;
};

template <class Kind>
Kind kind_of(int number, Kind last) {
  if (number < 0 || number > static_cast<int>(last)) Reader::broken();
  return static_cast<Kind>(number);
}

}  // namespace

std::string encode(const Event& e) {
  Writer out;
  out << int64_t(e.kind) << int64_t(e.generation) << e.host << e.run_id << e.text << int64_t(e.workers)
      << int64_t(e.node_rank) << int64_t(e.min_nodes) << int64_t(e.max_nodes) << int64_t(e.clean);
  const Death& d = e.death;
  out << int64_t(d.rank) << d.host << d.pid << int64_t(d.wait_status) << d.after << d.at << d.last_lines << d.order;
  return std::move(out).text();
}

Event decode_event(std::string_view text) {
  Event e;
  int kind = 0;
  Reader in(text);
  in >> kind >> e.generation >> e.host >> e.run_id >> e.text >> e.workers >> e.node_rank >> e.min_nodes >>
      e.max_nodes >> e.clean;
  Death& d = e.death;
  in >> d.rank >> d.host >> d.pid >> d.wait_status >> d.after >> d.at >> d.last_lines >> d.order;
  in.finish();
  e.kind = kind_of(kind, Event::Kind::lost);
  return e;
}

std::string encode(const Command& c) {
  Writer out;
  out << int64_t(c.kind) << int64_t(c.generation) << int64_t(c.restarts) << int64_t(c.world_size) << c.grace
      << int64_t(c.status) << c.agent << c.text << int64_t(c.members.size());
  for (const Member& m : c.members)
    out << m.agent << m.host << int64_t(m.node_rank) << int64_t(m.first_rank) << int64_t(m.workers);
  return std::move(out).text();
}

Command decode_command(std::string_view text) {
  Command c;
  int kind = 0;
  int64_t members = 0;
  Reader in(text);
  in >> kind >> c.generation >> c.restarts >> c.world_size >> c.grace >> c.status >> c.agent >> c.text >> members;
  for (int64_t i = 0; i < members; i++) {
    Member& m = c.members.emplace_back();
    in >> m.agent >> m.host >> m.node_rank >> m.first_rank >> m.workers;
  }
  in.finish();
  c.kind = kind_of(kind, Command::Kind::say);
  return c;
}

}  // namespace cresset::run
