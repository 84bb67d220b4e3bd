// The mesh is connected on a thread of its own: Gloo waits for peers that may have died, and cannot be stopped.
#include "cresset/distributed/gloo/gloo_transport.h"

#include <gloo/common/error.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/device.h>
#include <gloo/transport/tcp/device.h>
#include <signal.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>
#include <unordered_set>

#include "cresset/distributed/gloo/interface.h"

namespace cresset::distributed {
namespace {

// Gloo adds it to the clock, so not the largest number there is.
constexpr Milliseconds kNoLimit = std::chrono::hours(24 * 365);

using Clock = std::chrono::steady_clock;

// Our store as Gloo sees it; stops waiting when the one who asked has given up.
class GlooStore final : public ::gloo::rendezvous::Store {
 public:
  GlooStore(std::shared_ptr<distributed::Store> store, Clock::time_point deadline)
      : store_(std::move(store)), deadline_(deadline) {}

  void set(const std::string& key, const std::vector<char>& data) override {
    store_->set(key, std::string_view(data.data(), data.size()));
  }
  std::vector<char> get(const std::string& key) override {
    while (!abandoned_) {
      const auto left = std::chrono::duration_cast<Milliseconds>(deadline_ - Clock::now());
      CRESSET_CHECK_AS(DistributedError, left.count() > 0, "the address of rank ", key, " did not come");
      const std::vector<std::string> keys{key};
      if (!store_->check(keys)) {
        std::this_thread::sleep_for(Milliseconds(2));
        continue;
      }
      const std::string value = store_->get(key);
      return {value.begin(), value.end()};
    }
    throw Interrupted();
  }
  void wait(const std::vector<std::string>& keys) override {
    for (const std::string& key : keys) get(key);
  }
  void wait(const std::vector<std::string>& keys, const Milliseconds&) override { wait(keys); }

  void abandon() { abandoned_ = true; }

 private:
  std::shared_ptr<distributed::Store> store_;
  Clock::time_point deadline_;
  std::atomic<bool> abandoned_{false};
};

class GlooTransport;

class GlooBuffer final : public TransportBuffer {
 public:
  GlooBuffer(GlooTransport& transport, std::unique_ptr<::gloo::transport::UnboundBuffer> buffer);
  ~GlooBuffer() override;
  void send(int peer, uint64_t slot, size_t offset, size_t bytes) override;
  void recv(int peer, uint64_t slot, size_t offset, size_t bytes) override;
  void recv_any(const std::vector<int>& peers, uint64_t slot, size_t offset, size_t bytes) override;
  void wait_send() override;
  int wait_recv() override;
  void cut_off() override {
    buffer_->abortWaitRecv();
    buffer_->abortWaitSend();
  }

 private:
  template <class F>
  auto translated(int peer, F&& f);

  GlooTransport& transport_;
  std::unique_ptr<::gloo::transport::UnboundBuffer> buffer_;
  void note(int peer) { peer_ = peer_ == kNoPeer || peer_ == peer ? peer : -1; }

  static constexpr int kNoPeer = -2;
  int peer_ = kNoPeer;  // -1: there are several, and Gloo does not say whose connection broke
};

// Gloo puts the place in its own sources in front: "[./gloo/transport/tcp/pair.cc:589] Read error …".
std::string without_place(const std::string& words) {
  if (!words.starts_with("[")) return words;
  const size_t end = words.find("] ");
  return end == std::string::npos ? words : words.substr(end + 2);
}

class GlooTransport final : public Transport {
 public:
  explicit GlooTransport(std::shared_ptr<::gloo::Context> context) : context_(std::move(context)) {}
  ~GlooTransport() override { close(); }

  int rank() const override { return context_->rank; }
  int size() const override { return context_->size; }
  const char* name() const override { return "gloo"; }
  bool names_messages() const override { return true; }

  std::unique_ptr<TransportBuffer> buffer(void* data, size_t bytes) override {
    return std::make_unique<GlooBuffer>(*this, context_->createUnboundBuffer(data, bytes));
  }

  void interrupt() override {
    const std::lock_guard lock(mutex_);
    interrupted_ = true;
    for (GlooBuffer* buffer : live_) buffer->cut_off();
  }

  void close() override {
    if (closed_.exchange(true)) return;
    if (context_->size > 1) context_->closeConnections();
  }

  bool interrupted() const { return interrupted_; }
  void add(GlooBuffer* buffer) {
    const std::lock_guard lock(mutex_);
    live_.insert(buffer);
  }
  void remove(GlooBuffer* buffer) {
    const std::lock_guard lock(mutex_);
    live_.erase(buffer);
  }

 private:
  std::shared_ptr<::gloo::Context> context_;
  std::mutex mutex_;
  std::unordered_set<GlooBuffer*> live_;
  std::atomic<bool> interrupted_{false};
  std::atomic<bool> closed_{false};
};

GlooBuffer::GlooBuffer(GlooTransport& transport, std::unique_ptr<::gloo::transport::UnboundBuffer> buffer)
    : transport_(transport), buffer_(std::move(buffer)) {
  transport_.add(this);
}

GlooBuffer::~GlooBuffer() { transport_.remove(this); }

template <class F>
auto GlooBuffer::translated(int peer, F&& f) {
  if (transport_.interrupted()) throw Interrupted();
  try {
    return f();
  } catch (const std::exception& error) {
    // Not only gloo::Exception: its checks throw a type of their own.
    throw BrokenConnection(peer, without_place(error.what()));
  }
}

void GlooBuffer::send(int peer, uint64_t slot, size_t offset, size_t bytes) {
  note(peer);
  translated(peer, [&] { buffer_->send(peer, slot, offset, bytes); });
}

void GlooBuffer::recv(int peer, uint64_t slot, size_t offset, size_t bytes) {
  note(peer);
  translated(peer, [&] { buffer_->recv(peer, slot, offset, bytes); });
}

void GlooBuffer::recv_any(const std::vector<int>& peers, uint64_t slot, size_t offset, size_t bytes) {
  peer_ = -1;
  translated(-1, [&] { buffer_->recv(peers, slot, offset, bytes); });
}

// Gloo, once woken, looks for errors first: whoever sends and leaves at once would have sent nothing. What had arrived
// by then is found by asking again.
template <class F>
bool asked_twice(const F& wait) {
  try {
    return wait();
  } catch (const std::exception&) {
    return wait();
  }
}

void GlooBuffer::wait_send() {
  const auto wait = [&] { return buffer_->waitSend(nullptr, kNoLimit); };
  if (!translated(peer_, [&] { return asked_twice(wait); })) throw Interrupted();
}

int GlooBuffer::wait_recv() {
  int from = -1;
  const auto wait = [&] { return buffer_->waitRecv(&from, kNoLimit); };
  if (!translated(peer_, [&] { return asked_twice(wait); })) throw Interrupted();
  return from;
}

// Gloo writes to sockets whose other end may be gone, and the signal for that would end the process. A handler, not
// SIG_IGN: programs that this one starts must not inherit it. One that the program has chosen itself stays.
void survive_broken_pipes() {
  struct sigaction current {};
  if (sigaction(SIGPIPE, nullptr, &current) != 0 || current.sa_handler != SIG_DFL) return;
  struct sigaction nothing {};
  nothing.sa_handler = [](int) {};
  nothing.sa_flags = SA_RESTART;
  sigaction(SIGPIPE, &nothing, nullptr);
}

// What the connecting thread and the one who waits for it share; whoever leaves last frees it.
struct Connecting {
  std::shared_ptr<GlooStore> store;
  std::shared_ptr<::gloo::rendezvous::Context> context;
  std::shared_ptr<::gloo::transport::Device> device;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::exception_ptr error;
};

// One device, which is one thread that serves the sockets, for all groups of the process while any of them lives.
std::shared_ptr<::gloo::transport::Device> shared_device(const std::string& master) {
  static auto* mutex = new std::mutex;
  static auto* last = new std::pair<std::string, std::weak_ptr<::gloo::transport::Device>>;
  const std::string address = outgoing_address(master);
  const std::lock_guard lock(*mutex);
  if (auto device = last->second.lock(); device && last->first == address) return device;
  ::gloo::transport::tcp::attr attributes;
  attributes.hostname = address;
  auto device = ::gloo::transport::tcp::CreateDevice(attributes);
  *last = {address, device};
  return device;
}

}  // namespace

std::shared_ptr<Transport> connect_gloo(const GlooOptions& options) {
  survive_broken_pipes();
  auto state = std::make_shared<Connecting>();
  const auto deadline = Clock::now() + options.timeout;
  state->store = std::make_shared<GlooStore>(options.store, deadline);
  state->context = std::make_shared<::gloo::rendezvous::Context>(options.rank, options.size);
  // Gloo waits five times as long for a connection.
  state->context->setTimeout(std::max(Milliseconds(1000), options.timeout / 5));
  try {
    state->device = shared_device(options.master);
  } catch (const ::gloo::Exception& error) {
    throw DistributedError(message_of("init_process_group: gloo cannot use the address of ", options.master, ": ",
                                      without_place(error.what())));
  }
  std::thread([state] {
    std::exception_ptr error;
    try {
      state->context->connectFullMesh(*state->store, state->device);
    } catch (const Error&) {
      error = std::current_exception();
    } catch (const std::exception& failed) {
      error =
          std::make_exception_ptr(DistributedError(message_of("init_process_group: ", without_place(failed.what()))));
    }
    const std::lock_guard lock(state->mutex);
    state->done = true;
    state->error = error;
    state->changed.notify_all();
  }).detach();

  std::unique_lock lock(state->mutex);
  while (!state->changed.wait_for(lock, Milliseconds(20), [&] { return state->done; })) {
    try {
      if (options.check) options.check();
      CRESSET_CHECK_AS(DistributedError, Clock::now() < deadline, "init_process_group: the connections between the ",
                       options.size, " ranks were not made within ", options.timeout.count(), " ms");
    } catch (...) {
      state->store->abandon();
      throw;
    }
  }
  if (state->error) {
    lock.unlock();
    // Usually another rank has died, and the news is on its way.
    for (const auto until = Clock::now() + Milliseconds(500); options.check && Clock::now() < until;) {
      options.check();
      std::this_thread::sleep_for(Milliseconds(10));
    }
    try {
      std::rethrow_exception(state->error);
    } catch (const std::exception& error) {
      // Addresses that an earlier run left in a file lead nowhere.
      const std::string name = options.store->name();
      throw DistributedError(
          message_of("init_process_group: rank ", options.rank, " could not connect to all others: ", error.what(),
                     name.starts_with("file:") ? " (" + name + "; remove the file if an earlier run left it)" : ""));
    }
  }
  return std::make_shared<GlooTransport>(state->context);
}

}  // namespace cresset::distributed
