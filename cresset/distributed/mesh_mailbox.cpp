// The lines on which letters of other ranks arrive: how they open, what becomes of them when a rank leaves, and how all
// of it ends.
#include "cresset/distributed/mesh_mailbox.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cresset/core/parallel.h"

namespace cresset::distributed {
namespace {

constexpr size_t kListed = 4;       // offers in a message
constexpr Milliseconds kUnmet{50};  // a receive that waits longer is told to those who have sent something else
constexpr Milliseconds kGoodbyeComes{2000};  // after the connection of whoever has left in good order
// Two that wait in sends to each other are warned after this, or after half of their timeout.
constexpr Milliseconds kHint{3000};
// How the others are told of a send whose caller waits in it.
constexpr std::string_view kWaitsInSend = "itself waits in send of ";
constexpr const char* kNoReceive = ", with no receive posted";

std::string unmet_key(const std::string& group, int receiver, int sender) {
  return message_of("wants/", group, "/", receiver, "/", sender);
}

}  // namespace

std::shared_ptr<MeshGroup::Mailbox> MeshGroup::make_mailbox(int size) {
  return std::make_shared<Mailbox>(static_cast<size_t>(size));
}

// With the mailbox's lock held.
void MeshGroup::check_open() const {
  if (mailbox_->ended) throw Interrupted();
  CRESSET_CHECK_AS(DistributedError, !closed_ && !mailbox_->closing, in_words(name()), " was destroyed");
}

// With the mailbox's lock held.
void MeshGroup::open_line(int peer, OpKind op) {
  const bool offers = op == OpKind::recv;
  Mailbox::Peer& other = mailbox_->peer(peer);
  Line& line = offers ? other.offer_line : other.receipt_line;
  if (line.listener.joinable()) {
    if (!line.ended) return;
    line.listener.join();  // its connection has broken; asking for the next frame says so again
  }
  line.ended = false;
  line.from = peer;
  line.bytes = offers ? kOfferFrame : kReceiptFrame;
  line.places.resize(kFramesAhead * line.bytes);
  line.buffer = transport_->buffer(line.places.data(), line.places.size());
  for (size_t i = 0; i < kFramesAhead; i++)
    line.buffer->recv(peer, offers ? kOffers : kReceipts, i * line.bytes, line.bytes);
  // What is heard on this line is answered.
  if (offers && !other.receipts.buffer) {
    other.receipts.place.resize(kReceiptFrame);
    other.receipts.buffer = transport_->buffer(other.receipts.place.data(), kReceiptFrame);
  }
  if (!offers && !other.offers.buffer) {
    other.offers.places.resize(kFramesAhead * kOfferFrame);
    other.offers.buffer = transport_->buffer(other.offers.places.data(), other.offers.places.size());
  }
  line.listener = std::thread([this, &line, op] { hear(line, op); });
}

void MeshGroup::hear(Line& line, OpKind op) {
  const SerialScope serial;
  const bool offers = op == OpKind::recv;
  const Fingerprint what{.op = op, .root = global_rank(line.from)};
  const auto read = [&] {
    std::vector<char> frame;
    std::exception_ptr broken;
    size_t posted = kFramesAhead;
    for (size_t next = 0; !mailbox_->closing; next = (next + 1) % kFramesAhead) {
      // What had come when the connection broke counts; nothing comes into places that could not be posted again.
      if (posted == 0) std::rethrow_exception(broken);
      line.buffer->wait_recv();
      posted--;
      const char* place = line.places.data() + next * line.bytes;
      FrameHead head;
      std::memcpy(&head, place, sizeof head);
      frame.assign(place, place + head.bytes);
      try {
        if (!broken) line.buffer->recv(line.from, offers ? kOffers : kReceipts, next * line.bytes, line.bytes);
        posted += !broken;
      } catch (const BrokenConnection&) {
        broken = std::current_exception();
      }
      offers ? hear_offers(line.from, frame.data()) : hear_receipts(line.from, frame.data());
    }
  };
  bool unmissed = false;
  explained(
      what, [&] { return std::string(name_of(op)); },
      [&] {
        try {
          read();
        } catch (const BrokenConnection&) {
          unmissed = ends_unmissed(line);
          if (!unmissed) throw;
        }
      });
  if (unmissed) return;
  const std::lock_guard lock(mailbox_->mutex);
  line.ended = true;
}

// Whether it does not matter that the connection to a rank has broken: nobody waits for it, or it has left, of which
// the note may follow. Then the line has ended: whoever comes later opens it again, and no one can come in between.
bool MeshGroup::ends_unmissed(Line& line) {
  const int peer = line.from;
  const auto waits = [&] {
    const auto meant = [&](const std::shared_ptr<Transfer>& transfer) { return transfer->peer == peer; };
    return std::any_of(mailbox_->receives.begin(), mailbox_->receives.end(), meant) ||
           std::any_of(mailbox_->sends.begin(), mailbox_->sends.end(),
                       [&](const auto& send) { return meant(send.second); });
  };
  const auto left = [&] { return mailbox_->closing || dead_ || health_->departure_of(global_rank(peer)); };
  const auto failed = [&] {
    return health_->heard("error/" + name()) || !health_->cause(options_.ranks, name(), nullptr).words.empty();
  };
  bool ended = false;  // from then on this thread may be joined by somebody who has the lock
  const auto over = [&] {
    const bool gone = left();
    const std::lock_guard lock(mailbox_->mutex);
    return ended = line.ended = gone || !waits();
  };
  health_->wait_heard([&] { return over() || failed(); }, Clock::now() + kGoodbyeComes);
  return ended;
}

std::string MeshGroup::offers_in_words(int peer) const {
  const std::lock_guard lock(mailbox_->mutex);
  std::string out;
  size_t count = 0;
  for (const auto& [from, offer, brought] : mailbox_->offers) {
    if (peer >= 0 && from != peer) continue;
    if (count++ >= kListed) continue;
    out += message_of(out.empty() ? "" : ", ", described(static_cast<DType>(offer.dtype), offer.count), " with tag ",
                      offer.tag, " from rank ", global_rank(from));
  }
  if (count > kListed) out += message_of(" and ", count - kListed, " more");
  return out;
}

// All ranks of the group read it: it must say whose send or receive it was.
std::string MeshGroup::transfer_too_late(const Flight& flight) const {
  const Transfer& transfer = *flight.transfer;
  const int self = global_rank(rank()), peer = flight.what.root;
  std::string out = message_of(name_of(flight.what.op), " of rank ", self, whereto(transfer), " did not finish within ",
                               timeout().count(), " ms");
  if (peer >= 0) out += message_of(": ", health_->who(peer), " is ", health_->last_seen(peer));
  if (transfer.sends()) {
    if (const std::string words = in_a_circle(transfer.peer, Clock::now()); !words.empty())
      return message_of("send between ranks ", std::min(self, peer), " and ", std::max(self, peer), " (",
                        in_words(name()), ") did not finish within ", timeout().count(), " ms: ", words);
    const std::string does = health_->heard(unmet_key(name(), peer, self)).value_or("");
    return does.empty() ? out : message_of(out, "; rank ", peer, " ", does);
  }
  const std::string offers = offers_in_words(transfer.peer);
  return message_of(out, peer < 0 ? ": " : "; ",
                    offers.empty() ? "nothing was sent" : "sent and not received: " + offers);
}

// Of two that wait in sends to each other and receive nothing: what each waits for, in words that are the same on both.
// With the lock of the flights held.
std::string MeshGroup::in_a_circle(int peer, Clock::time_point now) const {
  const int self = global_rank(rank()), other = global_rank(peer);
  std::string mine;
  {
    const std::lock_guard lock(mailbox_->mutex);
    mine = doings_towards(peer, now);
  }
  std::string theirs = health_->heard(unmet_key(name(), other, self)).value_or("");
  if (!mine.starts_with(kWaitsInSend) || !theirs.starts_with(kWaitsInSend)) return {};
  const auto named = [](int rank, const std::string& does) {
    const size_t from = std::string_view("itself ").size(), end = does.rfind(kNoReceive);
    return message_of("rank ", rank, " ", does.substr(from, end - from));
  };
  mine = named(self, mine);
  theirs = named(other, theirs);
  return message_of(self < other ? mine : theirs, ", ", self < other ? theirs : mine,
                    ", and neither has posted a receive (one of the two must receive first, or use isend)");
}

// With the lock of the flights held. Nothing is ended by it: a thread of one of them may be about to receive.
void MeshGroup::warn_of_circles(Clock::time_point now) {
  std::map<int, Circle> circles;
  for (const auto& [peer, words] : published_unmet_) {
    if (!words.starts_with(kWaitsInSend)) continue;
    const std::string both = in_a_circle(peer, now);
    if (both.empty()) continue;
    const auto known = circles_.find(peer);
    Circle& circle = circles[peer] =
        known != circles_.end() && known->second.words == both ? known->second : Circle{both, now, false};
    if (circle.told || now - circle.since < std::min(kHint, timeout() / 2)) continue;
    circle.told = true;
    std::fprintf(stderr, "cresset: %s; this ends %lld ms after it began (rank %d, %s)\n", both.c_str(),
                 static_cast<long long>(timeout().count()), global_rank(rank()), in_words(name()).c_str());
  }
  circles_.swap(circles);
}

// What this rank does towards another that does not see its messages taken: "waits for float32[2] with tag 4". With the
// locks of the flights and of the mailbox held.
std::string MeshGroup::doings_towards(int sender, Clock::time_point now) const {
  std::string waits, sends;
  size_t waiting = 0, sending = 0;
  bool stays = false;
  for (const Flight& flight : flights_) {
    if (!flight.transfer || now - flight.started < kUnmet) continue;
    const Transfer& transfer = *flight.transfer;
    if (transfer.matched || !transfer.wants(sender, transfer.what.tag)) continue;
    stays = stays || (transfer.sends() && transfer.caller_waits);
    if ((transfer.sends() ? sending : waiting)++ >= kListed) continue;
    std::string& words = transfer.sends() ? sends : waits;
    words += message_of(words.empty() ? "" : ", ", described(transfer.what.dtype, transfer.what.count), " with tag ",
                        transfer.what.tag, transfer.peer < 0 ? " from any rank" : "");
  }
  const auto more = [](size_t count) {
    return count > kListed ? message_of(" and ", count - kListed, " more") : std::string();
  };
  if (waiting > 0) return message_of("waits for ", waits, more(waiting));
  if (sending == 0) return {};
  const auto posted = [&](const auto& receive) { return receive->wants(sender, receive->what.tag); };
  if (std::any_of(mailbox_->receives.begin(), mailbox_->receives.end(), posted)) return {};
  return message_of(stays ? kWaitsInSend : "itself sends ", sends, more(sending), " to rank ", global_rank(sender),
                    kNoReceive);
}

// With the lock of the flights held. The sender knows only that nobody takes what it has; the receiver knows both. And
// of two that only send to each other, each knows what it does.
void MeshGroup::publish_unmet(Clock::time_point now) {
  std::map<int, std::string> unmet;
  for (const auto& [sender, words] : published_unmet_) unmet[sender];  // what was said may be over
  for (const Flight& flight : flights_)
    if (flight.transfer && flight.transfer->sends() && now - flight.started >= kUnmet) unmet[flight.transfer->peer];
  {
    const std::lock_guard lock(mailbox_->mutex);
    for (const Mailbox::Unwanted& unwanted : mailbox_->offers) unmet[unwanted.from];
    for (auto& [sender, words] : unmet) words = doings_towards(sender, now);
  }
  for (const auto& [sender, words] : unmet) {
    std::string& said = published_unmet_[sender];
    if (said == words) continue;
    said = words;
    health_->post(unmet_key(name(), global_rank(rank()), global_rank(sender)), words);
  }
}

// Nothing comes any more: the group is dead.
void MeshGroup::fail_transfers() {
  std::vector<std::shared_ptr<Transfer>> lost;
  {
    const std::lock_guard lock(mailbox_->mutex);
    mailbox_->ended = true;
    for (const auto& [number, transfer] : mailbox_->sends) lost.push_back(transfer);
    lost.insert(lost.end(), mailbox_->receives.begin(), mailbox_->receives.end());
    mailbox_->changed.notify_all();
  }
  for (const auto& transfer : lost) finish(*transfer, death_of(title_of(*transfer)));
}

void MeshGroup::close_mailbox() {
  Mailbox& box = *mailbox_;
  {
    std::unique_lock lock(box.mutex);
    box.changed.wait(lock,
                     [&] { return box.fetching == 0 && (box.ended || (box.sends.empty() && box.receives.empty())); });
  }
  // Those who sent wait for their receipts; one that is stopped must not hold this rank up for ever.
  const Fingerprint what{.op = OpKind::send};
  std::string title = message_of("destroying ", in_words(name()));
  for (int r = 0; r < size(); r++) {
    Mailbox::Receipts& receipts = box.peer(r).receipts;
    if (!receipts.buffer) continue;
    const auto flight = take_off(what, {}, title, nullptr);
    run_guarded(
        what, [&] { return title; },
        [&] {
          post_receipts(r);
          const std::lock_guard posting(receipts.posting);
          try {
            if (std::exchange(receipts.under_way, false)) receipts.buffer->wait_send();
          } catch (const BrokenConnection&) {
            // It has left without waiting.
          }
        });
    land(flight);
  }
  publish_taken();
  {
    const std::lock_guard lock(box.mutex);
    box.closing = true;
    for (auto* waiting : {&box.changed, &box.fetchable, &box.postable}) waiting->notify_all();
  }
  for (Mailbox::Peer& peer : box.peers)
    for (Line* line : {&peer.offer_line, &peer.receipt_line}) {
      if (!line->listener.joinable()) continue;
      line->buffer->cut_off();
      line->listener.join();
    }
  for (std::thread& thread : box.fetchers) thread.join();
  box.fetchers.clear();
  if (box.postman.joinable()) box.postman.join();
}

void MeshGroup::leave_mailbox_to_parent() {
  const auto leave = [](std::thread& thread) {
    if (thread.joinable()) thread.detach();
  };
  for (Mailbox::Peer& peer : mailbox_->peers)
    for (Line* line : {&peer.offer_line, &peer.receipt_line}) leave(line->listener);
  for (std::thread& thread : mailbox_->fetchers) leave(thread);
  leave(mailbox_->postman);
  new std::shared_ptr<Mailbox>(std::move(mailbox_));
}

}  // namespace cresset::distributed
