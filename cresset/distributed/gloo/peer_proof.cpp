#include "cresset/distributed/gloo/peer_proof.h"

#include "cresset/distributed/store_wire.h"

namespace cresset::distributed {
namespace {

// Every field has its length in front, so that no two messages of different fields are the same bytes.
std::string proof_of(const char* side, const PeerSecret& secret, const PeerExchange& exchange) {
  wire::Writer message;
  message.text(side);
  message.text(secret.group);
  message.text(secret.ticket);
  message.number(static_cast<uint64_t>(exchange.from), 4);
  message.number(static_cast<uint64_t>(exchange.to), 4);
  message.text(exchange.listener_nonce);
  message.text(exchange.visitor_nonce);
  return std::string(view_of(hmac_sha256(secret.token, message.body())));
}

}  // namespace

std::string visitor_proof(const PeerSecret& secret, const PeerExchange& exchange) {
  return proof_of("cresset peer: visitor", secret, exchange);
}

std::string listener_proof(const PeerSecret& secret, const PeerExchange& exchange) {
  return proof_of("cresset peer: listener", secret, exchange);
}

std::string challenge_of(std::string_view nonce) { return std::string(kPeerMagic) + std::string(nonce); }

std::string nonce_of(std::string_view challenge) {
  if (challenge.size() != kChallengeBytes || !challenge.starts_with(kPeerMagic)) return {};
  return std::string(challenge.substr(kPeerMagic.size()));
}

std::string greeting_of(const PeerSecret& secret, const PeerExchange& exchange) {
  wire::Writer ranks;
  ranks.number(static_cast<uint64_t>(exchange.from), 4);
  ranks.number(static_cast<uint64_t>(exchange.to), 4);
  return std::string(kPeerMagic) + ranks.body() + exchange.visitor_nonce + visitor_proof(secret, exchange);
}

bool accepts(const PeerSecret& secret, std::string_view greeting, PeerExchange& exchange) {
  if (greeting.size() != kGreetingBytes || !greeting.starts_with(kPeerMagic)) return false;
  wire::Reader ranks(greeting.substr(kPeerMagic.size(), 8));
  exchange.from = static_cast<int>(ranks.number(4));
  if (static_cast<int>(ranks.number(4)) != exchange.to) return false;
  exchange.visitor_nonce = greeting.substr(kPeerMagic.size() + 8, kPeerNonceBytes);
  return equal_in_constant_time(greeting.substr(kGreetingBytes - kPeerProofBytes), visitor_proof(secret, exchange));
}

}  // namespace cresset::distributed
