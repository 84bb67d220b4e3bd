// What two ranks of a group say to each other before their connection is Gloo's, so that no stranger takes a rank's
// place. Whoever accepts sends a challenge; whoever came answers with a greeting that holds its rank and a proof; then
// the other side proves itself, too. A proof is an HMAC under the token over both nonces, both ranks, the group's name
// and the ticket that the listener left in the store beside its address: one that was overheard serves nobody else,
// nowhere else and never again. Without a token the ticket is all that a stranger would have to know.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "cresset/core/export.h"

namespace cresset::distributed {

// What the proofs of one connection are about.
struct PeerSecret {
  std::string token;   // may be empty
  std::string group;   // generation and name: a proof is of no use in another one
  std::string ticket;  // of the side that listens
};

inline constexpr std::string_view kPeerMagic = "CRpeer1\n";
inline constexpr size_t kTicketBytes = 32;
inline constexpr size_t kPeerNonceBytes = 32;
inline constexpr size_t kPeerProofBytes = 32;
inline constexpr size_t kChallengeBytes = kPeerMagic.size() + kPeerNonceBytes;
inline constexpr size_t kGreetingBytes = kPeerMagic.size() + 8 + kPeerNonceBytes + kPeerProofBytes;

// Who connects to whom, and the nonces of both.
struct PeerExchange {
  int from = 0;
  int to = 0;
  std::string listener_nonce, visitor_nonce;
};

CRESSET_API std::string visitor_proof(const PeerSecret& secret, const PeerExchange& exchange);
CRESSET_API std::string listener_proof(const PeerSecret& secret, const PeerExchange& exchange);

CRESSET_API std::string challenge_of(std::string_view nonce);
// The nonce in it; empty: this is no challenge.
CRESSET_API std::string nonce_of(std::string_view challenge);
CRESSET_API std::string greeting_of(const PeerSecret& secret, const PeerExchange& exchange);
// Fills `from` and the visitor's nonce. False: no greeting, for another rank, or its proof is wrong.
CRESSET_API bool accepts(const PeerSecret& secret, std::string_view greeting, PeerExchange& exchange);

}  // namespace cresset::distributed
