// Sends and receives stand beside the queue of collectives. An offer says what a send has to give (a receive of another
// size or dtype is an error, where Gloo would end the process) and brings what is small along; a receipt says that it
// was taken. For each rank that is talked to, one thread hears its offers and one its receipts, so any number of sends
// and receives may be under way. What has been matched is fetched by the caller, if it waits, or by one of a few
// threads. Nobody waits in a circle: who hears receipts never waits, who hears offers or fetches waits for a receipt to
// be heard or for bytes that are on their way.
#include <algorithm>
#include <cstring>

#include "cresset/core/parallel.h"
#include "cresset/distributed/mesh_mailbox.h"

namespace cresset::distributed {
namespace {

constexpr uint64_t kPayload = 0x64617461;
constexpr size_t kFetchers = 4;
// A receipt is on its way when its sender leaves.
constexpr Milliseconds kReceiptComes{300};

uint64_t payload_slot(uint64_t message, int sender) {
  return mix(kPayload, mix(message, static_cast<uint64_t>(sender)));
}

}  // namespace

Work MeshGroup::send(Tensor tensor, int destination, int tag) {
  CRESSET_CHECK_AS(ValueError, destination >= 0 && destination < size() && destination != rank(), "send: found rank ",
                   destination, " (expected another rank of the group, 0 to ", size() - 1, ")");
  return start_point_to_point(OpKind::send, tensor, destination, tag);
}

Work MeshGroup::recv(Tensor tensor, int source, int tag) {
  CRESSET_CHECK_AS(ValueError, source >= -1 && source < size() && source != rank(), "recv: found rank ", source,
                   " (expected another rank of the group, 0 to ", size() - 1, ")");
  CRESSET_CHECK_AS(ValueError, size() > 1, "recv: the group has no other rank to receive from");
  return start_point_to_point(OpKind::recv, tensor, source, tag);
}

Work MeshGroup::start_point_to_point(OpKind op, const Tensor& tensor, int peer, int tag) {
  const bool sends = op == OpKind::send;
  if (sends)
    check_tensor("send", "the tensor", tensor, backend());
  else
    check_output("recv", "the tensor", tensor, backend());
  CRESSET_CHECK_AS(ValueError, tag >= 0, name_of(op), ": found tag ", tag, " (expected 0 or more)");
  check_alive(name_of(op));
  auto transfer = std::make_shared<Transfer>();
  Fingerprint& what = transfer->what;
  what = {.op = op, .dtype = tensor.dtype(), .tag = tag, .count = tensor.numel()};
  what.root = peer < 0 ? -1 : global_rank(peer);
  what.sequence = ++messages_;
  transfer->with =
      message_of(sends ? " to " : " from ", peer < 0 ? std::string("any rank") : message_of("rank ", what.root), " (",
                 described(what.dtype, what.count), ", tag ", tag, ", ", in_words(name()), ")");
  transfer->title = name_of(op) + transfer->with;
  transfer->tensor = tensor;
  transfer->peer = peer;
  transfer->caller_fetches = !sends && CallerWaits::now();
  transfer->work = std::make_shared<WorkState>();
  if (!sends) {
    transfer->work->result = {tensor};
    if (!tensor.is_inference()) tensor.impl()->version().fetch_add(1, std::memory_order_relaxed);
  }
  transfer->record = recorder_.queued(what);
  calls_++;
  transfer->flight = take_off(what, {}, transfer->title, transfer);
  recorder_.started(transfer->record);
  const std::exception_ptr failed =
      run_guarded(what, transfer->title, [&] { sends ? make_offer(transfer) : look_for_offer(transfer); });
  if (failed)
    finish(*transfer, failed);
  else if (transfer->caller_fetches)
    fetch_when_matched(*transfer);
  return Work(transfer->work);
}

void MeshGroup::make_offer(const std::shared_ptr<Transfer>& transfer) {
  const std::lock_guard order(post_mutex_);  // offers arrive in the order of the calls
  const Fingerprint& what = transfer->what;
  const Tensor& tensor = transfer->tensor;
  {
    const std::lock_guard lock(mailbox_->mutex);
    check_open();
    open_line(transfer->peer, OpKind::send);
    mailbox_->sends[what.sequence] = transfer;
  }
  Offer& offer = transfer->offer;
  offer.message = what.sequence;
  offer.count = what.count;
  offer.dtype = static_cast<uint64_t>(what.dtype);
  offer.tag = what.tag;
  if (tensor.numel() > 0) {
    transfer->data.emplace(tensor);
    if (tensor.nbytes() <= kBrought) {
      std::memcpy(offer.brought, transfer->data->data(), tensor.nbytes());
    } else {
      transfer->payload = transport_->buffer(const_cast<char*>(transfer->data->data()), tensor.nbytes());
      transfer->payload->send(transfer->peer, payload_slot(what.sequence, rank()), 0, tensor.nbytes());
    }
  }
  transfer->letter = transport_->buffer(&offer, sizeof offer);
  transfer->letter->send(transfer->peer, kOffers, 0, sizeof offer);
}

void MeshGroup::look_for_offer(const std::shared_ptr<Transfer>& transfer) {
  const std::lock_guard lock(mailbox_->mutex);
  check_open();
  auto& offers = mailbox_->offers;
  for (auto at = offers.begin(); at != offers.end(); ++at) {
    if (!transfer->wants(at->from, at->offer.tag)) continue;
    transfer->from = at->from;
    transfer->offer = at->offer;
    offers.erase(at);
    match(*transfer);
    if (!transfer->caller_fetches) let_fetch(transfer);
    return;
  }
  for (int r = 0; r < size(); r++)
    if (r != rank() && (r == transfer->peer || (transfer->peer < 0 && !health_->departure_of(global_rank(r)))))
      open_line(r, OpKind::recv);
  mailbox_->receives.push_back(transfer);
}

// With the mailbox's lock held.
void MeshGroup::match(Transfer& transfer) {
  transfer.matched = true;
  mailbox_->fetching++;
  const std::lock_guard lock(transfer.work->mutex);
  transfer.work->source = global_rank(transfer.from);
}

// With the mailbox's lock held.
void MeshGroup::let_fetch(const std::shared_ptr<Transfer>& transfer) {
  Mailbox& box = *mailbox_;
  box.to_fetch.push_back(transfer);
  if (box.idle < box.to_fetch.size() && box.fetchers.size() < kFetchers)
    box.fetchers.emplace_back([this] { fetch_for_others(); });
  box.changed.notify_all();
}

void MeshGroup::hear_receipt(uint64_t message) {
  std::shared_ptr<Transfer> transfer;
  {
    // The thread that posts it may not be back yet.
    const std::lock_guard posted(post_mutex_);
    const std::lock_guard lock(mailbox_->mutex);
    const auto found = mailbox_->sends.find(message);
    if (found == mailbox_->sends.end()) return;
    transfer = found->second;
  }
  // It was taken, so all of it has left: the waits are short.
  transfer->letter->wait_send();
  if (transfer->payload) transfer->payload->wait_send();
  finish(*transfer, nullptr);
}

void MeshGroup::hear_offer(int from, const Offer& offer) {
  std::shared_ptr<Transfer> transfer;
  {
    const std::lock_guard lock(mailbox_->mutex);
    auto& receives = mailbox_->receives;
    const auto found = std::find_if(receives.begin(), receives.end(),
                                    [&](const auto& receive) { return receive->wants(from, offer.tag); });
    if (found == receives.end()) return void(mailbox_->offers.push_back({from, offer}));
    transfer = *found;
    receives.erase(found);
    transfer->from = from;
    transfer->offer = offer;
    match(*transfer);
    if (transfer->caller_fetches) return mailbox_->changed.notify_all();
    if (transfer->tensor.nbytes() > kBrought) return let_fetch(transfer);
  }
  fetch(*transfer);
}

void MeshGroup::fetch_when_matched(Transfer& transfer) {
  Mailbox& box = *mailbox_;
  {
    std::unique_lock lock(box.mutex);
    box.changed.wait(lock, [&] { return transfer.matched || transfer.ended; });
  }
  if (transfer.matched) fetch(transfer);
}

void MeshGroup::fetch_for_others() {
  const SerialScope serial;
  Mailbox& box = *mailbox_;
  std::unique_lock lock(box.mutex);
  while (true) {
    box.idle++;
    box.changed.wait(lock, [&] { return box.closing || !box.to_fetch.empty(); });
    box.idle--;
    if (box.to_fetch.empty()) return;
    std::shared_ptr<Transfer> next = std::move(box.to_fetch.front());
    box.to_fetch.pop_front();
    lock.unlock();
    fetch(*next);
    next = nullptr;
    lock.lock();
  }
}

void MeshGroup::fetch(Transfer& transfer) {
  const Offer& offer = transfer.offer;
  const Tensor& tensor = transfer.tensor;
  const std::exception_ptr error = run_guarded(transfer.what, transfer.title, [&] {
    const auto dtype = static_cast<DType>(offer.dtype);
    if (offer.count != tensor.numel() || dtype != tensor.dtype()) {
      const int sender = global_rank(transfer.from), self = global_rank(rank());
      const std::string sentence =
          message_of("recv of rank ", self, " from rank ", sender, " (tag ", transfer.what.tag, ", ", in_words(name()),
                     "): rank ", sender, " sent ", described(dtype, offer.count), ", rank ", self, " expects ",
                     described(tensor.dtype(), tensor.numel()));
      health_->propose("error/" + name(), sentence);
      health_->flush(Milliseconds(1000));
      die(sentence, Words::sentence);
      throw Interrupted();
    }
    if (tensor.numel() > 0) {
      Output data(tensor, Output::Before::unset);
      if (tensor.nbytes() <= kBrought) {
        std::memcpy(data.data(), offer.brought, tensor.nbytes());
      } else {
        const auto buffer = transport_->buffer(data.data(), tensor.nbytes());
        buffer->recv(transfer.from, payload_slot(offer.message, transfer.from), 0, tensor.nbytes());
        buffer->wait_recv();
      }
      data.finish();
    }
    Mailbox::Receipt& receipt = mailbox_->receipts.at(transfer.from);
    const std::lock_guard lock(receipt.mutex);
    if (receipt.under_way) receipt.buffer->wait_send();
    receipt.message = offer.message;
    receipt.buffer->send(transfer.from, kReceipts, 0, sizeof receipt.message);
    receipt.under_way = true;
  });
  finish(transfer, error);
}

void MeshGroup::finish(Transfer& transfer, const std::exception_ptr& error) {
  if (transfer.ended.exchange(true)) return;
  land(transfer.flight);
  recorder_.ended(transfer.record, error ? "failed" : "");
  calls_--;
  const std::shared_ptr<WorkState> work = transfer.work;
  {
    Mailbox& box = *mailbox_;
    const std::lock_guard lock(box.mutex);
    if (transfer.matched) box.fetching--;
    std::erase_if(box.receives, [&](const auto& other) { return other.get() == &transfer; });
    box.changed.notify_all();
    if (transfer.sends()) box.sends.erase(transfer.what.sequence);
  }
  work->finish(error);
}

std::string MeshGroup::nobody_left(const Flight& flight) const {
  const Transfer& transfer = *flight.transfer;
  if (transfer.matched) return {};
  std::string words;
  for (int r = 0; r < size(); r++) {
    if (r == rank() || (transfer.peer >= 0 && r != transfer.peer)) continue;
    const auto gone = health_->departure_of(global_rank(r));
    if (!gone || (transfer.sends() && Clock::now() - gone->when < kReceiptComes)) return {};
    words += (words.empty() ? "" : ", ") + gone->words;
  }
  return words;
}

}  // namespace cresset::distributed
