// The algorithms that only move data: broadcast, gather, scatter, all-to-all, barrier.
#include <algorithm>
#include <cstring>

#include "cresset/distributed/algorithms.h"

namespace cresset::distributed {
namespace {

constexpr size_t kChainBytes = 256 << 10;
constexpr size_t kMovedBytes = 512 << 10;
constexpr size_t kRingBytes = 64 << 10;

// Rank after rank, segment after segment: every link is busy at once.
void chain_broadcast(const Exchange& exchange, char* data, size_t bytes, int root) {
  const int size = exchange.size();
  const int place = (exchange.rank() - root + size) % size;
  const size_t segments = (bytes + kMovedBytes - 1) / kMovedBytes;
  auto in = exchange.transport.buffer(data, bytes);
  auto out = exchange.transport.buffer(data, bytes);
  const auto length = [&](size_t segment) { return std::min(kMovedBytes, bytes - segment * kMovedBytes); };
  const bool receives = place > 0, sends = place + 1 < size;
  const auto post_recv = [&](size_t segment) {
    if (receives && segment < segments)
      in->recv(exchange.previous(), exchange.slot + segment, segment * kMovedBytes, length(segment));
  };
  for (size_t segment = 0; segment < 2; segment++) post_recv(segment);
  for (size_t segment = 0; segment < segments; segment++) {
    if (receives) in->wait_recv();
    post_recv(segment + 2);
    if (sends) out->send(exchange.next(), exchange.slot + segment, segment * kMovedBytes, length(segment));
    if (sends && segment > 0) out->wait_send();
  }
  if (sends) out->wait_send();
}

}  // namespace

void tree_broadcast(const Exchange& exchange, char* data, size_t bytes, int root) {
  const int size = exchange.size();
  if (size == 1) return;
  if (bytes > kChainBytes) return chain_broadcast(exchange, data, bytes, root);
  const int place = (exchange.rank() - root + size) % size;
  const auto rank_at = [&](int p) { return (p + root) % size; };
  auto buffer = exchange.transport.buffer(data, bytes);
  // Who has the data gives it to the rank `distance` further on, and the distance doubles.
  int distance = 1;
  while (distance <= place) distance *= 2;
  if (place > 0) {
    buffer->recv(rank_at(place - distance / 2), exchange.slot, 0, bytes);
    buffer->wait_recv();
  }
  int sent = 0;
  for (; place + distance < size; distance *= 2, sent++)
    buffer->send(rank_at(place + distance), exchange.slot, 0, bytes);
  for (int i = 0; i < sent; i++) buffer->wait_send();
}

void all_gather_parts(const Exchange& exchange, const std::vector<char*>& outputs, size_t bytes) {
  const int size = exchange.size(), rank = exchange.rank();
  if (size == 1) return;
  std::vector<std::unique_ptr<TransportBuffer>> buffers;
  buffers.reserve(outputs.size());
  for (char* output : outputs) buffers.push_back(exchange.transport.buffer(output, bytes));
  const auto buffer = [&](int r) -> TransportBuffer& { return *buffers[static_cast<size_t>((r + 2 * size) % size)]; };
  if (bytes <= kRingBytes) {
    for (int i = 1; i < size; i++) buffer(rank - i).recv((rank - i + size) % size, exchange.slot, 0, bytes);
    for (int i = 1; i < size; i++) buffer(rank).send((rank + i) % size, exchange.slot, 0, bytes);
    for (int i = 1; i < size; i++) buffer(rank - i).wait_recv();
    for (int i = 1; i < size; i++) buffer(rank).wait_send();
    return;
  }
  // Pieces, so that one is passed on while the next arrives.
  const size_t pieces = std::max<size_t>(2, (bytes + kMovedBytes - 1) / kMovedBytes);
  const size_t piece = (bytes + pieces - 1) / pieces;
  const auto offset = [&](size_t k) { return std::min(bytes, k * piece); };
  const auto steps = static_cast<size_t>(size - 1) * pieces;
  const auto round = [&](size_t step) { return static_cast<int>(step / pieces); };
  const auto length = [&](size_t step) { return offset(step % pieces + 1) - offset(step % pieces); };
  const auto post_recv = [&](size_t step) {
    if (step < steps && length(step) > 0)
      buffer(rank - 1 - round(step))
          .recv(exchange.previous(), exchange.slot + step, offset(step % pieces), length(step));
  };
  const auto post_send = [&](size_t step) {
    if (step < steps && length(step) > 0)
      buffer(rank - round(step)).send(exchange.next(), exchange.slot + step, offset(step % pieces), length(step));
  };
  for (size_t step = 0; step < 2; step++) post_recv(step), post_send(step);
  for (size_t step = 0; step < steps; step++) {
    if (length(step) > 0) buffer(rank - 1 - round(step)).wait_recv();
    post_recv(step + 2);
    if (length(step) > 0) buffer(rank - round(step)).wait_send();
    post_send(step + 2);
  }
}

void gather_parts(const Exchange& exchange, const std::vector<char*>& outputs, const char* input, size_t bytes,
                  int root) {
  const int size = exchange.size();
  if (exchange.rank() != root) {
    auto out = exchange.transport.buffer(const_cast<char*>(input), bytes);
    out->send(root, exchange.slot, 0, bytes);
    out->wait_send();
    return;
  }
  std::vector<std::unique_ptr<TransportBuffer>> in;
  for (int r = 0; r < size; r++) {
    if (r == root) continue;
    in.push_back(exchange.transport.buffer(outputs[static_cast<size_t>(r)], bytes));
    in.back()->recv(r, exchange.slot, 0, bytes);
  }
  for (auto& buffer : in) buffer->wait_recv();
}

void scatter_parts(const Exchange& exchange, char* output, const std::vector<const char*>& inputs, size_t bytes,
                   int root) {
  const int size = exchange.size();
  if (exchange.rank() != root) {
    auto in = exchange.transport.buffer(output, bytes);
    in->recv(root, exchange.slot, 0, bytes);
    in->wait_recv();
    return;
  }
  std::vector<std::unique_ptr<TransportBuffer>> out;
  for (int r = 0; r < size; r++) {
    if (r == root) continue;
    out.push_back(exchange.transport.buffer(const_cast<char*>(inputs[static_cast<size_t>(r)]), bytes));
    out.back()->send(r, exchange.slot, 0, bytes);
  }
  for (auto& buffer : out) buffer->wait_send();
}

void all_to_all_parts(const Exchange& exchange, const std::vector<Part>& outputs, const std::vector<Part>& inputs) {
  const int size = exchange.size(), rank = exchange.rank();
  std::vector<std::unique_ptr<TransportBuffer>> in, out;
  // An empty part still sends a byte: the other side may expect more.
  char nothing_out = 0, nothing_in = 0;
  const auto slot = [&](size_t bytes) { return exchange.slot ^ (static_cast<uint64_t>(bytes) * 0x9e3779b97f4a7c15u); };
  for (int i = 1; i < size; i++) {
    const int from = (rank - i + size) % size;
    const Part part = outputs[static_cast<size_t>(from)];
    in.push_back(exchange.transport.buffer(part.bytes ? part.data : &nothing_in, std::max<size_t>(1, part.bytes)));
    in.back()->recv(from, slot(part.bytes), 0, std::max<size_t>(1, part.bytes));
  }
  for (int i = 1; i < size; i++) {
    const int to = (rank + i) % size;
    const Part part = inputs[static_cast<size_t>(to)];
    out.push_back(exchange.transport.buffer(part.bytes ? part.data : &nothing_out, std::max<size_t>(1, part.bytes)));
    out.back()->send(to, slot(part.bytes), 0, std::max<size_t>(1, part.bytes));
  }
  for (auto& buffer : in) buffer->wait_recv();
  for (auto& buffer : out) buffer->wait_send();
}

void dissemination_barrier(const Exchange& exchange) {
  const int size = exchange.size(), rank = exchange.rank();
  char bytes[2] = {0, 0};
  auto out = exchange.transport.buffer(bytes, 1);
  auto in = exchange.transport.buffer(bytes + 1, 1);
  uint64_t slot = exchange.slot;
  for (int distance = 1; distance < size; distance *= 2, slot++) {
    in->recv((rank - distance + size) % size, slot, 0, 1);
    out->send((rank + distance) % size, slot, 0, 1);
    in->wait_recv();
    out->wait_send();
  }
}

}  // namespace cresset::distributed
