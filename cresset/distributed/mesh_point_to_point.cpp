// Sends and receives stand beside the queue of collectives. A header goes first, in the order of the calls, and says
// what follows: a receive of another size or dtype is an error, where Gloo would end the process. The thread that calls
// posts the header; who waits for the rest is the caller itself or a thread of the pool.
#include "cresset/core/parallel.h"
#include "cresset/distributed/mesh_group.h"
#include "cresset/distributed/staging.h"

namespace cresset::distributed {
namespace {

struct Header {
  uint64_t message = 0;
  int64_t count = 0;
  uint64_t dtype = 0;
};

constexpr uint64_t kHeaders = 0x68656164;
constexpr uint64_t kPayload = 0x64617461;

std::string described(DType dtype, int64_t count) {
  return std::string(cresset::name_of(dtype)) + "[" + std::to_string(count) + "]";
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
  Fingerprint what{.op = op, .dtype = tensor.dtype(), .tag = tag, .count = tensor.numel()};
  what.root = peer < 0 ? -1 : global_rank(peer);
  what.sequence = ++messages_;

  struct Transfer {
    Header header;
    std::unique_ptr<TransportBuffer> buffer;
  };
  auto transfer = std::make_shared<Transfer>();
  auto work = std::make_shared<WorkState>();
  if (!sends) {
    work->result = {tensor};
    if (!tensor.is_inference()) tensor.impl()->version().fetch_add(1, std::memory_order_relaxed);
  }
  const uint64_t record = recorder_.queued(what);
  const std::string title = std::string(name_of(op)) + (sends ? " to " : " from ") +
                            (peer < 0 ? "any rank" : "rank " + std::to_string(what.root)) + " (" +
                            described(what.dtype, what.count) + ", tag " + std::to_string(tag) + ", " +
                            in_words(name()) + ")";
  const uint64_t slot = mix(kHeaders, static_cast<uint32_t>(tag));
  const std::exception_ptr failed = run_guarded(what, title, [&] {
    const std::lock_guard lock(post_mutex_);
    CRESSET_CHECK_AS(DistributedError, !closed_, in_words(name()), " was destroyed");
    transfer->header = {mix(what.sequence, static_cast<uint64_t>(rank())), what.count,
                        static_cast<uint64_t>(what.dtype)};
    transfer->buffer = transport_->buffer(&transfer->header, sizeof(Header));
    if (sends) {
      transfer->buffer->send(peer, slot, 0, sizeof(Header));
    } else if (peer >= 0) {
      transfer->buffer->recv(peer, slot, 0, sizeof(Header));
    } else {
      std::vector<int> others;
      for (int r = 0; r < size(); r++)
        if (r != rank()) others.push_back(r);
      transfer->buffer->recv_any(others, slot, 0, sizeof(Header));
    }
  });
  recorder_.started(record);

  const auto move_payload = [this, transfer, tensor, peer, sends, work] {
    if (sends) {
      if (tensor.numel() > 0) {
        const Input data(tensor);
        auto buffer = transport_->buffer(const_cast<char*>(data.data()), tensor.nbytes());
        buffer->send(peer, mix(kPayload, transfer->header.message), 0, tensor.nbytes());
        transfer->buffer->wait_send();
        buffer->wait_send();
      } else {
        transfer->buffer->wait_send();
      }
      return;
    }
    const int from = transfer->buffer->wait_recv();
    {
      const std::lock_guard lock(work->mutex);
      work->source = global_rank(from);
    }
    const Header& header = transfer->header;
    if (header.count != tensor.numel() || header.dtype != static_cast<uint64_t>(tensor.dtype()))
      throw DistributedError(message_of("rank ", global_rank(from), " sent ",
                                        described(static_cast<DType>(header.dtype), header.count),
                                        ", the tensor here is ", described(tensor.dtype(), tensor.numel())));
    if (tensor.numel() == 0) return;
    Output data(tensor, Output::Before::unset);
    auto buffer = transport_->buffer(data.data(), tensor.nbytes());
    buffer->recv(from, mix(kPayload, header.message), 0, tensor.nbytes());
    buffer->wait_recv();
    data.finish();
  };
  const auto task = [this, what, title, record, work, failed, move_payload] {
    std::exception_ptr error = failed;
    if (!error)
      error = run_guarded(what, title, [&] {
        const auto flight = take_off(what, {}, title);
        try {
          move_payload();
        } catch (const DistributedError& mismatch) {
          land(flight);
          const std::string sentence = title + ": " + mismatch.what();
          health_->propose("error/" + name(), sentence);
          die(sentence, Words::sentence);
          throw Interrupted();
        } catch (...) {
          land(flight);
          throw;
        }
        land(flight);
      });
    recorder_.ended(record, error ? "failed" : "");
    work->finish(error);
  };
  if (failed || CallerWaits::now())
    task();
  else
    run_later(task);
  return Work(std::move(work));
}

// Each waits in the transport, so each needs a thread; idle ones are used again.
void MeshGroup::run_later(std::function<void()> task) {
  const std::lock_guard lock(pool_mutex_);
  pool_tasks_.push_back(std::move(task));
  if (pool_idle_ >= pool_tasks_.size()) {
    pool_changed_.notify_one();
    return;
  }
  pool_.emplace_back([this] {
    const SerialScope serial;
    std::unique_lock pool_lock(pool_mutex_);
    while (true) {
      pool_idle_++;
      pool_changed_.wait(pool_lock, [&] { return pool_closed_ || !pool_tasks_.empty(); });
      pool_idle_--;
      if (pool_tasks_.empty()) return;
      std::function<void()> next = std::move(pool_tasks_.front());
      pool_tasks_.pop_front();
      pool_lock.unlock();
      next();
      next = nullptr;
      pool_lock.lock();
    }
  });
}

void MeshGroup::close_pool() {
  {
    const std::lock_guard lock(pool_mutex_);
    pool_closed_ = true;
    pool_changed_.notify_all();
  }
  for (std::thread& thread : pool_) thread.join();
  pool_.clear();
}

}  // namespace cresset::distributed
