// The mesh is connected on a thread of its own, which may wait for a store that does not answer; whoever asked for it
// hears of deaths meanwhile.
#include "cresset/distributed/gloo/gloo_transport.h"

#include <gloo/common/error.h>
#include <gloo/transport/unbound_buffer.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>
#include <unordered_set>

#include "cresset/distributed/gloo/interface.h"
#include "cresset/distributed/gloo/meeting.h"
#include "cresset/distributed/gloo/peer_context.h"

namespace cresset::distributed {
namespace {

// Gloo adds it to the clock, so not the largest number there is.
constexpr Milliseconds kNoLimit = std::chrono::hours(24 * 365);

using Clock = std::chrono::steady_clock;

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
  explicit GlooTransport(std::shared_ptr<PeerContext> context) : context_(std::move(context)) {}
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
    context_->close();
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
  std::shared_ptr<PeerContext> context_;
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

using GlooDevice = ::gloo::transport::tcp::Device;

// One device, which is one thread that serves the sockets, for all groups of the process while any of them lives.
std::shared_ptr<GlooDevice> shared_device(const std::string& address) {
  static auto* mutex = new std::mutex;
  static auto* last = new std::pair<std::string, std::weak_ptr<GlooDevice>>;
  const std::lock_guard lock(*mutex);
  // A forked child has its parent's device, but not the thread.
  const std::string place = message_of(getpid(), " ", address);
  if (auto device = last->second.lock(); device && last->first == place) return device;
  ::gloo::transport::tcp::attr attributes;
  attributes.hostname = address;
  auto device = std::dynamic_pointer_cast<GlooDevice>(::gloo::transport::tcp::CreateDevice(attributes));
  *last = {place, device};
  return device;
}

// What the connecting thread and the one who waits for it share; whoever leaves last frees it.
struct Connecting {
  Connecting(MeetingOptions meet, std::shared_ptr<PeerContext> peers)
      : context(std::move(peers)), meeting(std::move(meet)) {}

  void run() {
    std::exception_ptr failed;
    try {
      context->adopt(meeting.run());
    } catch (const std::exception&) {
      failed = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    done = true;
    error = failed;
    changed.notify_all();
  }

  std::shared_ptr<PeerContext> context;
  Meeting meeting;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::exception_ptr error;
};

std::shared_ptr<Connecting> begin_connecting_to(const GlooOptions& options) {
  try {
    const std::string address = outgoing_address(options.master);
    auto context = std::make_shared<PeerContext>(shared_device(address), options.rank, options.size, kNoLimit);
    MeetingOptions meeting;
    meeting.rank = options.rank;
    meeting.size = options.size;
    meeting.names = options.ranks;
    meeting.store = options.store;
    meeting.host = address;
    meeting.token = options.token;
    meeting.group = options.group;
    meeting.timeout = options.timeout;
    return std::make_shared<Connecting>(std::move(meeting), std::move(context));
  } catch (const ::gloo::Exception& error) {
    throw DistributedError(message_of("init_process_group: gloo cannot use the address of ", options.master, ": ",
                                      without_place(error.what())));
  } catch (const SocketError& error) {
    throw DistributedError(message_of("init_process_group: cannot listen for the other ranks: ", error.msg()));
  }
}

// Until the connections are made, with or without success.
void wait_for(Connecting& state, const GlooOptions& options) {
  // The meeting knows its end itself, and whom it missed; this is for a store that does not answer.
  const auto deadline = Clock::now() + options.timeout + Milliseconds(2000);
  std::unique_lock lock(state.mutex);
  while (!state.changed.wait_for(lock, Milliseconds(20), [&] { return state.done; })) {
    try {
      if (options.check) options.check();
      CRESSET_CHECK_AS(DistributedError, Clock::now() < deadline, "init_process_group: the connections between the ",
                       options.size, " ranks were not made within ", options.timeout.count(), " ms");
    } catch (...) {
      state.meeting.abandon();
      throw;
    }
  }
}

[[noreturn]] void throw_failure(const Connecting& state, const GlooOptions& options) {
  // Usually another rank has died, and the news is on its way.
  for (const auto until = Clock::now() + Milliseconds(500); options.check && Clock::now() < until;) {
    options.check();
    std::this_thread::sleep_for(Milliseconds(10));
  }
  try {
    std::rethrow_exception(state.error);
  } catch (const std::exception& error) {
    // Addresses that an earlier run left in a file lead nowhere.
    const std::string name = options.store->name();
    const int rank = options.ranks.empty() ? options.rank : options.ranks[static_cast<size_t>(options.rank)];
    throw DistributedError(
        message_of("init_process_group: rank ", rank, " could not connect to all others: ", without_place(error.what()),
                   name.starts_with("file:") ? " (" + name + "; remove the file if an earlier run left it)" : ""));
  }
}

}  // namespace

std::shared_ptr<Transport> connect_gloo(const GlooOptions& options) {
  survive_broken_pipes();
  const std::shared_ptr<Connecting> state = begin_connecting_to(options);
  std::thread([state] { state->run(); }).detach();
  wait_for(*state, options);
  if (state->error) throw_failure(*state, options);
  return std::make_shared<GlooTransport>(state->context);
}

}  // namespace cresset::distributed
