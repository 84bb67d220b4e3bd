// How offers and receipts leave: many in a frame, the frames of a rank one after the other.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "cresset/core/parallel.h"
#include "cresset/distributed/health_keys.h"
#include "cresset/distributed/mesh_mailbox.h"

namespace cresset::distributed {
namespace {

std::string taken_key(const std::string& group, int receiver, int sender) {
  return message_of("took/", group, "/", receiver, "/", sender);
}

}  // namespace

// With the lock of these offers held.
void MeshGroup::post_offers(int peer) {
  Mailbox::Offers& offers = mailbox_->peer(peer).offers;
  while (!offers.waiting.empty()) {
    const uint64_t under_way = offers.posted - offers.read;
    const bool full = offers.waiting_bytes >= kOfferFrame - sizeof(FrameHead);
    if (under_way == kFramesAhead || (under_way > 0 && !full)) return;
    const size_t offset = offers.posted % kFramesAhead * kOfferFrame;
    char* place = offers.places.data() + offset;
    FrameHead head{.bytes = sizeof(FrameHead)};
    while (!offers.waiting.empty()) {
      Transfer& transfer = *offers.waiting.front();
      const size_t most = transfer.offer.letter();
      if (head.bytes + most > kOfferFrame) break;
      Offer& offer = transfer.offer;
      // A rank that takes nothing is not sent more and more.
      if (offers.brought + offer.brought() > kBroughtAhead) offer.brings = kToFetch;
      offers.brought += offer.brought();
      if (offer.brings == kToFetch) {
        const size_t bytes = transfer.tensor.nbytes();
        transfer.payload = transport_->buffer(const_cast<char*>(transfer.data->data()), bytes);
        transfer.payload->send(peer, payload_slot(offer.message, rank()), 0, bytes);
      }
      std::memcpy(place + head.bytes, &offer, sizeof offer);
      if (offer.brings > 0) std::memcpy(place + head.bytes + sizeof offer, transfer.data->data(), offer.brought());
      head.bytes += offer.letter();
      head.letters++;
      offers.waiting_bytes -= most;
      offers.waiting.pop_front();
    }
    std::memcpy(place, &head, sizeof head);
    offers.buffer->send(peer, kOffers, offset, head.bytes);
    offers.posted++;
  }
}

void MeshGroup::acknowledge(const Transfer& transfer) {
  Mailbox::Receipts& receipts = mailbox_->peer(transfer.from).receipts;
  const std::lock_guard lock(receipts.mutex);
  receipts.waiting.push_back(transfer.offer.message);
}

void MeshGroup::post_receipts(int peer) {
  Mailbox::Receipts& receipts = mailbox_->peer(peer).receipts;
  constexpr size_t kMost = (kReceiptFrame - sizeof(FrameHead)) / sizeof(uint64_t);
  const std::lock_guard posting(receipts.posting);
  try {
    while (true) {
      FrameHead head;
      std::vector<uint64_t> messages;
      {
        const std::lock_guard lock(receipts.mutex);
        if (receipts.waiting.empty() && receipts.read == receipts.told_read) return;
        const auto end = receipts.waiting.begin() + static_cast<ptrdiff_t>(std::min(kMost, receipts.waiting.size()));
        messages.assign(receipts.waiting.begin(), end);
        receipts.waiting.erase(receipts.waiting.begin(), end);
        head = {sizeof head + messages.size() * sizeof(uint64_t), messages.size(), receipts.read};
        receipts.told_read = receipts.read;
        receipts.last[receipts.frames++ % kFramesAhead] = messages;
      }
      if (receipts.under_way) receipts.buffer->wait_send();
      std::memcpy(receipts.place.data(), &head, sizeof head);
      if (!messages.empty())
        std::memcpy(receipts.place.data() + sizeof head, messages.data(), messages.size() * sizeof(uint64_t));
      receipts.buffer->send(peer, kReceipts, 0, head.bytes);
      receipts.under_way = true;
    }
  } catch (const BrokenConnection&) {
    // Whoever sent has left without waiting, or has died, which is told to those who need it.
  }
}

// For those who have not read the last frames of receipts by the time that the connection is closed.
void MeshGroup::publish_taken() {
  for (int r = 0; r < size(); r++) {
    Mailbox::Receipts& receipts = mailbox_->peer(r).receipts;
    std::string numbers;
    {
      const std::lock_guard lock(receipts.mutex);
      for (const auto& messages : receipts.last)
        for (const uint64_t message : messages) numbers += message_of(message, " ");
    }
    if (!numbers.empty()) health_->post(taken_key(name(), global_rank(rank()), global_rank(r)), numbers);
  }
}

void MeshGroup::hear_what_was_taken() {
  std::set<int> peers;
  {
    const std::lock_guard lock(mailbox_->mutex);
    for (const auto& [message, transfer] : mailbox_->sends) peers.insert(transfer->peer);
  }
  for (const int peer : peers) {
    const auto numbers = health_->heard(taken_key(name(), global_rank(peer), global_rank(rank())));
    if (!numbers) continue;
    std::vector<std::shared_ptr<Transfer>> taken;
    {
      const std::lock_guard lock(mailbox_->mutex);
      for (const std::string& number : split(*numbers, ' ')) {
        const auto found = mailbox_->sends.find(std::strtoull(number.c_str(), nullptr, 10));
        if (found != mailbox_->sends.end()) taken.push_back(found->second);
      }
    }
    for (const auto& transfer : taken) finish(*transfer, nullptr);
  }
}

void MeshGroup::ask_postman(int peer) {
  Mailbox& box = *mailbox_;
  const std::lock_guard lock(box.mutex);
  box.to_post.insert(peer);
  if (!box.postman.joinable()) box.postman = std::thread([this] { carry_post(); });
  box.postable.notify_one();
}

void MeshGroup::carry_post() {
  const SerialScope serial;
  Mailbox& box = *mailbox_;
  std::unique_lock lock(box.mutex);
  while (true) {
    box.postable.wait(lock, [&] { return box.closing || !box.to_post.empty(); });
    if (box.to_post.empty()) return;
    std::set<int> peers;
    peers.swap(box.to_post);
    lock.unlock();
    for (const int peer : peers) {
      const Fingerprint what{.op = OpKind::recv, .root = global_rank(peer)};
      explained(
          what, [] { return std::string("recv"); }, [&] { post_receipts(peer); });
    }
    lock.lock();
  }
}

}  // namespace cresset::distributed
