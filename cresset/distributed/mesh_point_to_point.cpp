// Sends and receives stand beside the queue of collectives. An offer says what a send has to give (a receive of another
// size or dtype is an error, where Gloo would end the process) and brings what is small along; a receipt says that it
// was taken, and ends the send. What an offer does not bring is fetched by the caller, if it waits, or by one of a few
// threads.
//
// Offers and receipts travel in frames, because waking the threads on both sides costs ten times what a small message
// does. A frame that is not full waits for company while another is under way, and a frame of receipts says how many of
// offers were read: a lone message leaves at once, a stream is carried in full frames. Memory is bounded: frames under
// way to a rank stand in `kFramesAhead` places, and when it has not taken `kBroughtAhead` bytes that were brought,
// further offers bring nothing and are fetched.
//
// For each rank that is talked to, one thread hears its offers and one its receipts, so any number of sends and
// receives may be under way. Nobody waits in a circle: who hears receipts never waits, who hears offers or fetches
// waits for a receipt to be heard or for bytes that are on their way.
#include <algorithm>
#include <cstring>

#include "cresset/core/parallel.h"
#include "cresset/distributed/mesh_mailbox.h"

namespace cresset::distributed {
namespace {

constexpr size_t kFetchers = 4;
// A receipt is on its way when its sender leaves.
constexpr Milliseconds kReceiptComes{300};

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
  transfer->tensor = tensor;
  transfer->peer = peer;
  transfer->caller_waits = CallerWaits::now();
  transfer->work = std::make_shared<WorkState>();
  if (!sends) {
    transfer->work->result = {tensor};
    if (!tensor.is_inference()) tensor.impl()->version().fetch_add(1, std::memory_order_relaxed);
  }
  transfer->record = recorder_.queued(what);
  calls_++;
  transfer->flight = take_off(what, {}, {}, transfer);
  recorder_.started(transfer->record);
  health_->note_operation(what, options_.number);
  const std::exception_ptr failed = run_guarded(
      what, [&] { return title_of(*transfer); }, [&] { sends ? make_offer(transfer) : look_for_offer(transfer); });
  if (failed)
    finish(*transfer, failed);
  else if (!sends && transfer->caller_waits)
    fetch_when_matched(*transfer);
  return Work(transfer->work);
}

std::string MeshGroup::whereto(const Transfer& transfer) const {
  const Fingerprint& what = transfer.what;
  return message_of(transfer.sends() ? " to " : " from ",
                    what.root < 0 ? std::string("any rank") : message_of("rank ", what.root), " (",
                    described(what.dtype, what.count), ", tag ", what.tag, ", ", in_words(name()), ")");
}

std::string MeshGroup::title_of(const Transfer& transfer) const {
  return name_of(transfer.what.op) + whereto(transfer);
}

void MeshGroup::make_offer(const std::shared_ptr<Transfer>& transfer) {
  const Tensor& tensor = transfer->tensor;
  const size_t bytes = tensor.nbytes();
  const uint64_t message = transfer->what.sequence;
  if (bytes > 0) transfer->data.emplace(tensor);
  {
    const std::lock_guard lock(mailbox_->mutex);
    check_open();
    open_line(transfer->peer, OpKind::send);
    mailbox_->sends.emplace_hint(mailbox_->sends.end(), message, transfer);
  }
  Mailbox::Offers& offers = mailbox_->peer(transfer->peer).offers;
  const std::lock_guard lock(offers.mutex);
  transfer->offer = {message, transfer->what.count, static_cast<uint32_t>(transfer->what.dtype), transfer->what.tag,
                     bytes <= kLargestBrought ? static_cast<int64_t>(bytes) : kToFetch};
  offers.waiting.push_back(transfer);
  offers.waiting_bytes += transfer->offer.letter();
  post_offers(transfer->peer);
}

void MeshGroup::look_for_offer(const std::shared_ptr<Transfer>& transfer) {
  std::vector<char> brought;
  {
    const std::lock_guard lock(mailbox_->mutex);
    check_open();
    auto& offers = mailbox_->offers;
    const auto found = std::find_if(offers.begin(), offers.end(), [&](const Mailbox::Unwanted& unwanted) {
      return transfer->wants(unwanted.from, unwanted.offer.tag);
    });
    if (found == offers.end()) {
      for (int r = 0; r < size(); r++)
        if (r != rank() && (r == transfer->peer || (transfer->peer < 0 && !health_->departure_of(global_rank(r)))))
          open_line(r, OpKind::recv);
      mailbox_->receives.push_back(transfer);
      return;
    }
    brought = std::move(found->brought);
    match(*transfer, found->from, found->offer);
    offers.erase(found);
    if (transfer->offer.brings == kToFetch) return let_fetch(transfer);
  }
  take(*transfer, brought.data());
  acknowledge(*transfer);
  // Whoever starts one receive after the other does not send as many frames.
  transfer->caller_waits ? post_receipts(transfer->from) : ask_postman(transfer->from);
  finish(*transfer, nullptr);
}

// With the mailbox's lock held.
void MeshGroup::match(Transfer& transfer, int from, const Offer& offer) {
  transfer.from = from;
  transfer.offer = offer;
  transfer.matched = true;
  mailbox_->fetching++;
  const std::lock_guard lock(transfer.work->mutex);
  transfer.work->source = global_rank(from);
}

// With the mailbox's lock held.
void MeshGroup::let_fetch(const std::shared_ptr<Transfer>& transfer) {
  Mailbox& box = *mailbox_;
  if (transfer->caller_waits) {
    transfer->left_to_caller = true;
    return box.changed.notify_all();
  }
  box.to_fetch.push_back(transfer);
  if (box.idle < box.to_fetch.size() && box.fetchers.size() < kFetchers)
    box.fetchers.emplace_back([this] { fetch_for_others(); });
  box.fetchable.notify_one();
}

void MeshGroup::hear_receipts(int from, const char* frame) {
  FrameHead head;
  std::memcpy(&head, frame, sizeof head);
  std::vector<std::shared_ptr<Transfer>> taken;
  {
    const std::lock_guard lock(mailbox_->mutex);
    for (uint64_t i = 0; i < head.letters; i++) {
      uint64_t message;
      std::memcpy(&message, frame + sizeof head + i * sizeof message, sizeof message);
      const auto found = mailbox_->sends.find(message);
      if (found != mailbox_->sends.end()) taken.push_back(found->second);
    }
  }
  // Those that were taken end, also if the connection has broken since: whoever reads from it will find that out.
  const auto unless_broken = [](const auto& body) {
    try {
      body();
    } catch (const BrokenConnection&) {
    }
  };
  unless_broken([&] {
    Mailbox::Offers& offers = mailbox_->peer(from).offers;
    const std::lock_guard lock(offers.mutex);
    for (const auto& transfer : taken) offers.brought -= transfer->offer.brought();
    // What was read has left: the waits are short.
    for (; offers.read < head.read; offers.read++) offers.buffer->wait_send();
    post_offers(from);
  });
  for (const auto& transfer : taken) {
    if (transfer->payload) unless_broken([&] { transfer->payload->wait_send(); });
    finish(*transfer, nullptr);
  }
}

void MeshGroup::hear_offers(int from, const char* frame) {
  FrameHead head;
  std::memcpy(&head, frame, sizeof head);
  const char* at = frame + sizeof head;
  std::vector<std::shared_ptr<Transfer>> taken;
  for (uint64_t i = 0; i < head.letters; i++) {
    Offer offer;
    std::memcpy(&offer, at, sizeof offer);
    const char* brought = at + sizeof offer;
    at = brought + offer.brought();
    const std::shared_ptr<Transfer> transfer = receiver_of(from, offer, brought);
    if (!transfer) continue;
    const auto failed = run_guarded(
        transfer->what, [&] { return title_of(*transfer); }, [&] { take(*transfer, brought); });
    if (failed) {
      finish(*transfer, failed);
      continue;
    }
    acknowledge(*transfer);
    taken.push_back(transfer);
  }
  {
    Mailbox::Receipts& receipts = mailbox_->peer(from).receipts;
    const std::lock_guard lock(receipts.mutex);
    receipts.read++;
  }
  // One frame for all of them, and before their callers are woken, who may want this core.
  const Fingerprint what{.op = OpKind::recv, .root = global_rank(from)};
  const auto failed = run_guarded(
      what, [] { return std::string("recv"); }, [&] { post_receipts(from); });
  for (const auto& transfer : taken) finish(*transfer, failed ? death_of(title_of(*transfer)) : nullptr);
}

// Who takes what the offer brings, at once. Null: nobody yet, or somebody else fetches it.
std::shared_ptr<MeshGroup::Transfer> MeshGroup::receiver_of(int from, const Offer& offer, const char* brought) {
  const std::lock_guard lock(mailbox_->mutex);
  auto& receives = mailbox_->receives;
  const auto found = std::find_if(receives.begin(), receives.end(),
                                  [&](const auto& receive) { return receive->wants(from, offer.tag); });
  if (found == receives.end()) {
    mailbox_->offers.push_back({from, offer, {brought, brought + offer.brought()}});
    return nullptr;
  }
  std::shared_ptr<Transfer> transfer = std::move(*found);
  receives.erase(found);
  match(*transfer, from, offer);
  if (offer.brings != kToFetch) return transfer;
  let_fetch(transfer);
  return nullptr;
}

void MeshGroup::fetch_when_matched(Transfer& transfer) {
  Mailbox& box = *mailbox_;
  {
    std::unique_lock lock(box.mutex);
    box.changed.wait(lock, [&] { return transfer.left_to_caller || transfer.ended; });
    if (!transfer.left_to_caller) return;
  }
  fetch(transfer);
}

void MeshGroup::fetch_for_others() {
  const SerialScope serial;
  Mailbox& box = *mailbox_;
  std::unique_lock lock(box.mutex);
  while (true) {
    box.idle++;
    box.fetchable.wait(lock, [&] { return box.closing || !box.to_fetch.empty(); });
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

// Nothing is written before both sides are known to mean the same.
void MeshGroup::check_fits(const Transfer& transfer) {
  const Offer& offer = transfer.offer;
  const Tensor& tensor = transfer.tensor;
  const auto dtype = static_cast<DType>(offer.dtype);
  if (offer.count == tensor.numel() && dtype == tensor.dtype()) return;
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

void MeshGroup::take(const Transfer& transfer, const char* brought) {
  check_fits(transfer);
  if (transfer.offer.brings == 0) return;
  Output data(transfer.tensor, Output::Before::unset);
  std::memcpy(data.data(), brought, transfer.offer.brought());
  data.finish();
}

void MeshGroup::fetch(Transfer& transfer) {
  const auto error = run_guarded(
      transfer.what, [&] { return title_of(transfer); },
      [&] {
        check_fits(transfer);
        Output data(transfer.tensor, Output::Before::unset);
        const size_t bytes = transfer.tensor.nbytes();
        const auto buffer = transport_->buffer(data.data(), bytes);
        buffer->recv(transfer.from, payload_slot(transfer.offer.message, transfer.from), 0, bytes);
        buffer->wait_recv();
        data.finish();
        acknowledge(transfer);
        post_receipts(transfer.from);
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
    if (transfer.sends())
      box.sends.erase(transfer.what.sequence);
    else if (transfer.matched)
      box.fetching--;
    else
      std::erase_if(box.receives, [&](const auto& other) { return other.get() == &transfer; });
    box.changed.notify_all();
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
