// env:// and tcp:// meet at a TcpStore that rank 0 keeps (or the launcher, which says so), file:// in a file.
#include "cresset/distributed/rendezvous.h"

#include <unistd.h>

#include <map>
#include <mutex>

#include "cresset/distributed/environment.h"
#include "cresset/distributed/file_store.h"
#include "cresset/distributed/gloo/interface.h"
#include "cresset/distributed/tcp_store.h"

namespace cresset::distributed {
namespace {

Master parse_address(const std::string& url) {
  std::string rest = url.substr(std::string_view("tcp://").size());
  const size_t colon = rest.rfind(':');
  Master master{rest.substr(0, colon), 0};
  if (master.host.starts_with("[") && master.host.ends_with("]"))
    master.host = master.host.substr(1, master.host.size() - 2);
  const std::string port = colon == std::string::npos ? "" : rest.substr(colon + 1);
  const bool digits = !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string::npos;
  const int number = digits ? std::stoi(port) : 0;
  CRESSET_CHECK_AS(ValueError, !master.host.empty() && number > 0 && number < 65536, "init_process_group: found ", url,
                   " (expected tcp://HOST:PORT with a port from 1 to 65535)");
  master.port = static_cast<uint16_t>(number);
  return master;
}

struct KeptServer {
  std::shared_ptr<TcpStore> store;
  size_t turned_away = 0;  // before this meeting
};

// A server stays when its group is destroyed: another rank may meet there for the next group already.
KeptServer kept_server(const TcpStoreOptions& options) {
  static auto* mutex = new std::mutex;
  static auto* servers = new std::map<std::string, std::shared_ptr<TcpStore>>;
  const std::lock_guard lock(*mutex);
  const std::string name =
      std::to_string(getpid()) + " " + options.host + " " + std::to_string(options.port) + " " + options.token;
  std::shared_ptr<TcpStore>& server = (*servers)[name];
  // Those who come to a new one are of this meeting, also while it is being made.
  const size_t before = server ? server->turned_away().size() : 0;
  if (!server) server = std::make_shared<TcpStore>(options);
  server->set_timeout(options.timeout);
  return {server, before};
}

void meet_at(const Master& master, const InitOptions& options, Rendezvous& out) {
  TcpStoreOptions tcp;
  tcp.host = master.host;
  tcp.port = master.port;
  tcp.timeout = options.timeout;
  tcp.token = options.token.empty() ? text_in_environment("CRESSET_TOKEN") : options.token;
  tcp.is_server = out.rank == 0 && !out.launcher_store;
  out.master = master.host;
  out.keeps_store = tcp.is_server;
  if (local_world_size_in_environment().value_or(out.world_size) < out.world_size) {
    // Others come from elsewhere, and know this machine by another address, or by several.
    if (const auto address = address_behind_own_name(master.host)) {
      out.master = *address;
      if (tcp.is_server) tcp.host = "0.0.0.0";
    }
  }
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  tcp.introduction = message_of("rank ", out.rank, " (host ", std::string(host).substr(0, 64), ", pid ", getpid(), ")");
  if (!tcp.is_server) {
    out.store = std::make_shared<TcpStore>(tcp);
    return;
  }
  const KeptServer server = kept_server(tcp);
  out.store = server.store;
  out.turned_away = [server, self = tcp.introduction] {
    const std::vector<std::string> all = server.store->turned_away();
    return all.size() > server.turned_away ? message_of(all[server.turned_away], "; the store is kept by ", self) : "";
  };
}

}  // namespace

Rendezvous open_rendezvous(const InitOptions& options) {
  Rendezvous out;
  const auto rank = options.rank >= 0 ? std::optional(options.rank) : rank_in_environment();
  const auto world_size = options.world_size > 0 ? std::optional(options.world_size) : world_size_in_environment();
  CRESSET_CHECK_AS(DistributedError, rank.has_value(), how_to_set("RANK"));
  CRESSET_CHECK_AS(DistributedError, world_size.has_value(), how_to_set("WORLD_SIZE"));
  out.rank = *rank;
  out.world_size = *world_size;
  CRESSET_CHECK_AS(ValueError, out.world_size > 0 && out.rank < out.world_size, "init_process_group: found rank ",
                   out.rank, " of ", out.world_size, " (expected 0 to the world size - 1)");
  const std::string& method = options.init_method;
  if (const std::string master = text_in_environment("MASTER_ADDR"); !master.empty()) out.master = master;
  if (options.store) {
    out.store = options.store;
  } else if (method == "env://") {
    out.launcher_store = text_in_environment("CRESSET_AGENT_STORE") == "1";
    meet_at(master_in_environment(), options, out);
  } else if (method.starts_with("tcp://")) {
    meet_at(parse_address(method), options, out);
  } else if (method.starts_with("file://")) {
    out.store =
        std::make_shared<FileStore>(method.substr(std::string_view("file://").size()), out.world_size, options.timeout);
  } else {
    throw ValueError("init_process_group: found init_method " + method +
                     " (expected env://, tcp://HOST:PORT or file:///PATH)");
  }
  return out;
}

}  // namespace cresset::distributed
