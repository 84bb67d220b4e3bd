// What the server does for those who were let in: the requests, those that wait, and what is too much.
#include <algorithm>

#include "cresset/distributed/tcp_store_connection.h"

namespace cresset::distributed {

using wire::Answer;
using wire::Ask;

namespace {

constexpr size_t kMaxWills = 1024;
constexpr size_t kNamedMissing = 16;

// What the client is told; it goes on.
struct RefusedRequest {
  std::string words;
};

template <class F>
void or_refuse(const F& change) {
  try {
    change();
  } catch (const ValueError& error) {
    throw RefusedRequest{error.msg()};
  }
}

}  // namespace

void TcpStoreServer::leave_will(Connection& connection, const std::string& key, std::string value) {
  const auto found = connection.wills.find(key);
  const size_t before = found == connection.wills.end() ? 0 : key.size() + found->second.size();
  CRESSET_CHECK_AS(ValueError, before > 0 || connection.wills.size() < kMaxWills, "last_will: a client has at most ",
                   kMaxWills, " wills");
  const size_t bytes = will_bytes_ - before + key.size() + value.size();
  CRESSET_CHECK_AS(ValueError, bytes <= limits_.max_bytes / 16, "last_will: the wills of all clients would have ",
                   bytes, " bytes (expected at most ", limits_.max_bytes / 16, ")");
  will_bytes_ = bytes;
  connection.wills[key] = std::move(value);
}

// A full table is the asker's affair: the connection stays.
void TcpStoreServer::handle(Connection& connection, Ask ask, wire::Reader& body) {
  try {
    carry_out(connection, ask, body);
  } catch (const RefusedRequest& refused) {
    reply(connection, Answer::kBadValue, refused.words);
  }
}

void TcpStoreServer::carry_out(Connection& connection, Ask ask, wire::Reader& body) {
  wire::Writer out;
  switch (ask) {
    case Ask::kSet: {
      const std::string key = body.key();
      const std::string value = body.text();
      body.end();
      or_refuse([&] { table_.set(key, value); });
      return reply(connection, Answer::kDone);
    }
    case Ask::kTryGet: {
      const std::string* value = table_.find(body.key());
      return value ? reply(connection, Answer::kDone, *value) : reply(connection, Answer::kNo);
    }
    case Ask::kAdd: {
      const std::string key = body.key();
      const auto amount = static_cast<int64_t>(body.number());
      body.end();
      or_refuse([&] { out.number(static_cast<uint64_t>(table_.add(key, amount))); });
      return reply(connection, Answer::kDone, out.body());
    }
    case Ask::kCompareSet: {
      const std::string key = body.key();
      const std::string expected = body.text();
      const std::string desired = body.text();
      body.end();
      std::string standing;
      or_refuse([&] { standing = table_.compare_set(key, expected, desired); });
      return reply(connection, Answer::kDone, standing);
    }
    case Ask::kGet:
    case Ask::kWait:
    case Ask::kChanges: {
      Parked parked;
      parked.ask = ask;
      parked.deadline = deadline_after(Milliseconds(static_cast<int64_t>(body.number())));
      parked.since = body.number();
      parked.keys = body.keys();
      body.end();
      CRESSET_CHECK_AS(ValueError, ask == Ask::kWait || parked.keys.size() == 1, "one key is wanted");
      return park(connection, std::move(parked));
    }
    case Ask::kCheck:
      return reply(connection, missing_keys(table_, body.keys()).empty() ? Answer::kDone : Answer::kNo);
    case Ask::kDelete:
      return reply(connection, table_.erase(body.key()) ? Answer::kDone : Answer::kNo);
    case Ask::kNumKeys:
      out.number(static_cast<uint64_t>(table_.size()));
      return reply(connection, Answer::kDone, out.body());
    case Ask::kLastWill: {
      const std::string key = body.key();
      std::string value = body.text();
      body.end();
      or_refuse([&] { leave_will(connection, key, std::move(value)); });
      return reply(connection, Answer::kDone);
    }
    case Ask::kWithdrawWill: {
      const auto found = connection.wills.find(body.key());
      if (found != connection.wills.end()) {
        will_bytes_ -= found->first.size() + found->second.size();
        connection.wills.erase(found);
      }
      return reply(connection, Answer::kDone);
    }
    case Ask::kGoodbye:
      for (const auto& [key, value] : connection.wills) will_bytes_ -= key.size() + value.size();
      connection.wills.clear();
      return reply(connection, Answer::kDone);
    case Ask::kHello:
    case Ask::kProof:
      break;
  }
  throw ValueError("an unknown request");
}

void TcpStoreServer::park(Connection& connection, Parked parked) {
  connection.parked = std::make_unique<Parked>(std::move(parked));
  const bool is_late = connection.parked->deadline <= std::chrono::steady_clock::now();
  if (!answer_if_ready(connection, is_late)) parked_.insert(connection.id);
}

bool TcpStoreServer::answer_if_ready(Connection& connection, bool is_late) {
  Parked& parked = *connection.parked;
  wire::Writer out;
  auto answer = Answer::kDone;
  if (parked.ask == Ask::kChanges) {
    const Changes changes = table_.changes(parked.keys.front(), parked.since);
    parked.since = std::max(parked.since, changes.version);
    if (changes.entries.empty() && !is_late) return false;
    out.number(changes.version);
    out.number(changes.entries.size(), 4);
    for (const auto& [key, value] : changes.entries) out.text(key), out.text(value);
  } else {
    // A key that was there once may be gone by the time the last one comes; only then is everything looked at again.
    while (parked.present < parked.keys.size() && table_.contains(parked.keys[parked.present])) ++parked.present;
    std::vector<std::string> missing;
    if (parked.present == parked.keys.size() || is_late) missing = missing_keys(table_, parked.keys);
    const bool is_complete = parked.present == parked.keys.size() && missing.empty();
    if (!is_complete && !is_late) {
      parked.present = missing.empty() ? parked.present : 0;
      return false;
    }
    if (!missing.empty()) {
      answer = Answer::kLate;
      out.number(missing.size());
      missing.resize(std::min(missing.size(), kNamedMissing));
      out.texts(missing);
    }
  }
  const bool is_get = parked.ask == Ask::kGet && answer == Answer::kDone;
  const std::string key = is_get ? parked.keys.front() : std::string();
  connection.parked.reset();
  parked_.erase(connection.id);
  is_get ? reply(connection, answer, *table_.find(key)) : reply(connection, answer, out.body());
  return true;
}

void TcpStoreServer::answer_parked() {
  uint64_t version = 0;
  do {
    version = table_.version();
    const std::vector<Id> ids(parked_.begin(), parked_.end());
    const auto now = std::chrono::steady_clock::now();
    for (const Id id : ids) {
      Connection& connection = *connections_.at(id);
      try {
        answer_if_ready(connection, connection.parked->deadline <= now);
      } catch (const std::exception&) {
        drop(id);
      }
    }
  } while (table_.version() != version);  // a connection broke just now, and its will was done
}

}  // namespace cresset::distributed
