// The reductions. Two messages are under way per neighbour, so that the wire is busy while one of them is added up.
#include "cresset/distributed/algorithms.h"

#include <algorithm>
#include <cstring>

#include "cresset/distributed/direct_memory.h"

namespace cresset::distributed {
namespace {

// Below this everyone sends everything to everyone: one round, and its cost is the latency. Between two ranks it moves
// no more than a ring would.
constexpr size_t kDirectBytes = 32 << 10;
constexpr size_t kDirectBytesOfTwo = 256 << 10;
constexpr size_t kSegmentBytes = 512 << 10;

struct Range {
  size_t begin = 0, count = 0;
};

// Part `index` of `parts` nearly equal ones.
Range part_of(size_t count, size_t parts, size_t index) {
  const size_t base = count / parts, more = count % parts;
  return {index * base + std::min(index, more), base + (index < more ? 1 : 0)};
}

// Everyone's data to everyone, added up in the order of the ranks.
void direct_all_reduce(const Exchange& exchange, char* data, size_t count, const Elements& of) {
  const int size = exchange.size(), rank = exchange.rank();
  const size_t bytes = count * of.size();
  char* theirs = exchange.room(bytes * static_cast<size_t>(size));
  auto out = exchange.transport.buffer(data, bytes);
  auto in = exchange.transport.buffer(theirs, bytes * static_cast<size_t>(size));
  for (int i = 1; i < size; i++) {
    const int from = (rank + i) % size;
    in->recv(from, exchange.slot, bytes * static_cast<size_t>(from), bytes);
  }
  for (int i = 1; i < size; i++) out->send((rank + i) % size, exchange.slot, 0, bytes);
  for (int i = 1; i < size; i++) in->wait_recv();
  for (int i = 1; i < size; i++) out->wait_send();
  const auto part = [&](int r) { return r == rank ? data : theirs + bytes * static_cast<size_t>(r); };
  // This rank's own data is an operand and the result's place: the sum so far stays in the scratch until then.
  char* sum = part(0);
  for (int r = 1; r < size; r++) {
    char* into = r >= rank ? data : part(1);
    of.reduction(into, sum, part(r), count);
    sum = into;
  }
  if (of.average) divide(data, of.dtype, count, size);
}

// Segment k of block b of the ring.
struct Ring {
  size_t count, blocks, segments;
  Range at(size_t block, size_t segment) const {
    const Range whole = part_of(count, blocks, block);
    const Range inner = part_of(whole.count, segments, segment);
    return {whole.begin + inner.begin, inner.count};
  }
};

size_t segments_for(size_t block_bytes) {
  return std::max<size_t>(2, (block_bytes + kSegmentBytes - 1) / kSegmentBytes);
}

void ring_all_reduce(const Exchange& exchange, char* data, size_t count, const Elements& of) {
  const auto size = static_cast<size_t>(exchange.size()), rank = static_cast<size_t>(exchange.rank());
  const size_t width = of.size();
  const Ring ring{count, size, segments_for((count + size - 1) / size * width)};
  const size_t steps = (size - 1) * ring.segments;
  const size_t longest = ((count + size - 1) / size + ring.segments - 1) / ring.segments * width;
  char* arrived = exchange.room(2 * longest);
  auto whole = exchange.transport.buffer(data, count * width);
  auto landing = exchange.transport.buffer(arrived, 2 * longest);
  const int next = exchange.next(), previous = exchange.previous();

  // In round r this rank passes on block rank - r and adds block rank - r - 1.
  const auto reduced = [&](size_t step, size_t shift) {
    return ring.at((rank + 2 * size - step / ring.segments - shift) % size, step % ring.segments);
  };
  const auto post_recv = [&](size_t step) {
    const Range range = reduced(step, 1);
    if (step < steps && range.count > 0)
      landing->recv(previous, exchange.slot + step, (step % 2) * longest, range.count * width);
  };
  const auto post_send = [&](size_t step) {
    const Range range = reduced(step, 0);
    if (step < steps && range.count > 0)
      whole->send(next, exchange.slot + step, range.begin * width, range.count * width);
  };
  for (size_t step = 0; step < 2; step++) post_recv(step), post_send(step);
  for (size_t step = 0; step < steps; step++) {
    const Range range = reduced(step, 1);
    if (range.count > 0) {
      landing->wait_recv();
      char* mine = data + range.begin * width;
      of.reduction(mine, mine, arrived + (step % 2) * longest, range.count);
      if (of.average && step / ring.segments == size - 2) divide(mine, of.dtype, range.count, exchange.size());
    }
    post_recv(step + 2);
    if (reduced(step, 0).count > 0) whole->wait_send();
    post_send(step + 2);
  }

  // Now block rank + 1 is whole here: the second time round, whole blocks travel.
  const auto passed = [&](size_t step, size_t shift) {
    return ring.at((rank + 1 + 2 * size - step / ring.segments - shift) % size, step % ring.segments);
  };
  const uint64_t second = exchange.slot + steps;
  const auto post_final_recv = [&](size_t step) {
    const Range range = passed(step, 1);
    if (step < steps && range.count > 0) whole->recv(previous, second + step, range.begin * width, range.count * width);
  };
  const auto post_final_send = [&](size_t step) {
    const Range range = passed(step, 0);
    if (step < steps && range.count > 0) whole->send(next, second + step, range.begin * width, range.count * width);
  };
  for (size_t step = 0; step < 2; step++) post_final_recv(step), post_final_send(step);
  for (size_t step = 0; step < steps; step++) {
    if (passed(step, 1).count > 0) whole->wait_recv();
    post_final_recv(step + 2);
    if (passed(step, 0).count > 0) whole->wait_send();
    post_final_send(step + 2);
  }
}

}  // namespace

void ring_or_direct_all_reduce(const Exchange& exchange, char* data, size_t count, const Elements& of) {
  const auto size = static_cast<size_t>(exchange.size());
  if (size == 1) return;  // an average of one is itself
  if (count * of.size() * (size - 1) <= (size == 2 ? kDirectBytesOfTwo : kDirectBytes) || count < 2 * size)
    return direct_all_reduce(exchange, data, count, of);
  // Flags are named like messages; where messages have no names of their own, data goes with them.
  if (!exchange.transport.names_messages()) return ring_all_reduce(exchange, data, count, of);
  Exchange after = exchange;
  if (!exchange.transport.direct_memory) {
    exchange.transport.direct_memory = DirectMemory::probe(exchange);
    after.slot += DirectMemory::kProbeSlots;
  }
  if (exchange.transport.direct_memory->reaches_all())
    return exchange.transport.direct_memory->all_reduce(after, data, count, of);
  ring_all_reduce(after, data, count, of);
}

void ring_reduce_scatter(const Exchange& exchange, char* output, const std::vector<const char*>& inputs, size_t count,
                         const Elements& of) {
  const auto size = static_cast<size_t>(exchange.size()), rank = static_cast<size_t>(exchange.rank());
  const size_t width = of.size();
  if (size == 1) {
    std::memcpy(output, inputs[0], count * width);
    return;
  }
  // The sums travel and grow: block b starts at rank b + 1 and ends at rank b. Two copies, for the one that leaves and
  // the one that comes.
  const size_t segments = segments_for(count * width);
  const size_t steps = (size - 1) * segments;
  char* sums = exchange.room(2 * count * width);
  auto leaving = exchange.transport.buffer(sums, 2 * count * width);
  auto coming = exchange.transport.buffer(sums, 2 * count * width);
  const auto half = [&](size_t round) { return (round % 2) * count; };
  const auto block = [&](size_t round) { return (rank + 2 * size - 1 - round) % size; };  // leaves in this round
  std::memcpy(sums, inputs[block(0)], count * width);

  const auto post_recv = [&](size_t step) {
    const Range range = part_of(count, segments, step % segments);
    if (step < steps && range.count > 0)
      coming->recv(exchange.previous(), exchange.slot + step, (half(step / segments + 1) + range.begin) * width,
                   range.count * width);
  };
  const auto post_send = [&](size_t step) {
    const Range range = part_of(count, segments, step % segments);
    if (step < steps && range.count > 0)
      leaving->send(exchange.next(), exchange.slot + step, (half(step / segments) + range.begin) * width,
                    range.count * width);
  };
  for (size_t step = 0; step < 2; step++) post_recv(step), post_send(step);
  for (size_t step = 0; step < steps; step++) {
    const size_t round = step / segments;
    const Range range = part_of(count, segments, step % segments);
    if (range.count > 0) {
      coming->wait_recv();
      char* sum = sums + (half(round + 1) + range.begin) * width;
      const char* mine = inputs[block(round + 1)] + range.begin * width;
      char* into = round == size - 2 ? output + range.begin * width : sum;
      of.reduction(into, sum, mine, range.count);
      if (of.average && round == size - 2) divide(into, of.dtype, range.count, exchange.size());
      leaving->wait_send();
    }
    post_recv(step + 2);
    post_send(step + 2);
  }
}

void reduce_to(const Exchange& exchange, char* data, size_t count, const Elements& of, int root) {
  const int size = exchange.size();
  if (size == 1) return;
  const size_t bytes = count * of.size();
  const auto ranks = static_cast<size_t>(size);
  const bool small = bytes <= kDirectBytes || count < 2 * ranks;
  if (!small) {
    // Each rank sums one block, and the root collects them. Others keep their data: sums are made elsewhere.
    const size_t block = (count + ranks - 1) / ranks;
    std::vector<char> padded(block * ranks * of.size()), mine(block * of.size());
    std::memcpy(padded.data(), data, bytes);
    std::vector<const char*> inputs;
    for (size_t r = 0; r < ranks; r++) inputs.push_back(padded.data() + r * mine.size());
    ring_reduce_scatter(exchange, mine.data(), inputs, block, of);
    std::vector<char*> outputs;
    if (exchange.rank() == root)
      for (size_t r = 0; r < ranks; r++) outputs.push_back(padded.data() + r * mine.size());
    const Exchange rest{exchange.transport, exchange.slot + (uint64_t{1} << 40), exchange.scratch};
    gather_parts(rest, outputs, mine.data(), mine.size(), root);
    if (exchange.rank() != root) return;
    std::memcpy(padded.data() + static_cast<size_t>(root) * mine.size(), mine.data(), mine.size());
    std::memcpy(data, padded.data(), bytes);
    return;
  }
  if (exchange.rank() != root) {
    auto out = exchange.transport.buffer(data, bytes);
    out->send(root, exchange.slot, 0, bytes);
    out->wait_send();
    return;
  }
  char* theirs = exchange.room(bytes * ranks);
  auto in = exchange.transport.buffer(theirs, bytes * ranks);
  for (int r = 0; r < size; r++)
    if (r != root) in->recv(r, exchange.slot, bytes * static_cast<size_t>(r), bytes);
  for (int r = 1; r < size; r++) in->wait_recv();
  std::memcpy(theirs + bytes * static_cast<size_t>(root), data, bytes);
  for (int r = 1; r < size; r++) of.reduction(theirs, theirs, theirs + bytes * static_cast<size_t>(r), count);
  std::memcpy(data, theirs, bytes);
  if (of.average) divide(data, of.dtype, count, size);
}

}  // namespace cresset::distributed
