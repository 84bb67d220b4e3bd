// The lines on which letters of other ranks arrive: how they open, what becomes of them when a rank leaves, and how all
// of it ends.
#include "cresset/distributed/mesh_mailbox.h"

#include <algorithm>
#include <cstring>

#include "cresset/core/parallel.h"

namespace cresset::distributed {
namespace {

constexpr size_t kListed = 4;       // offers in a message
constexpr Milliseconds kUnmet{50};  // a receive that waits longer is told to those who have sent something else

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
  explained(
      what, [&] { return std::string(name_of(op)); },
      [&] {
        try {
          read();
        } catch (const BrokenConnection&) {
          if (is_waited_for(line.from)) throw;
        }
      });
  const std::lock_guard lock(mailbox_->mutex);
  line.ended = true;
}

// Whether it matters that the connection to a rank has broken. Not if it has left: the note of that may follow.
bool MeshGroup::is_waited_for(int peer) const {
  const auto enough = [&] { return mailbox_->closing || dead_ || health_->departure_of(global_rank(peer)); };
  if (health_->wait_heard(enough, Clock::now() + Milliseconds(500))) return false;
  const std::lock_guard lock(mailbox_->mutex);
  const auto meant = [&](const std::shared_ptr<Transfer>& transfer) { return transfer->peer == peer; };
  return std::any_of(mailbox_->receives.begin(), mailbox_->receives.end(), meant) ||
         std::any_of(mailbox_->sends.begin(), mailbox_->sends.end(),
                     [&](const auto& send) { return meant(send.second); });
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
    const std::string does = health_->heard(unmet_key(name(), peer, self)).value_or("");
    return does.empty() ? out : message_of(out, "; rank ", peer, " ", does);
  }
  const std::string offers = offers_in_words(transfer.peer);
  return message_of(out, peer < 0 ? ": " : "; ",
                    offers.empty() ? "nothing was sent" : "sent and not received: " + offers);
}

// What this rank does towards another that does not see its messages taken: "waits for float32[2] with tag 4". With the
// locks of the flights and of the mailbox held.
std::string MeshGroup::doings_towards(int sender, Clock::time_point now) const {
  std::string waits, sends;
  size_t waiting = 0, sending = 0;
  for (const Flight& flight : flights_) {
    if (!flight.transfer || now - flight.started < kUnmet) continue;
    const Transfer& transfer = *flight.transfer;
    if (transfer.matched || !transfer.wants(sender, transfer.what.tag)) continue;
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
  return message_of("itself waits in send of ", sends, more(sending), " to rank ", global_rank(sender),
                    ", with no receive posted");
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
  const std::string title = message_of("destroying ", in_words(name()));
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
