// The state behind Generator. A mutex, not two atomics: a reservation must never pair one seed with another's offset.
#include "cresset/core/generator.h"

#include <pthread.h>

#include <mutex>
#include <random>
#include <utility>

namespace cresset {

struct Generator::Stream {
  std::mutex mutex, users_mutex;
  GeneratorState state;
};

Generator::Generator(uint64_t seed) : stream_(std::make_shared<Stream>()) { stream_->state.seed = seed; }

void Generator::set_current_seed(uint64_t seed) { set_state({seed, 0}); }

uint64_t Generator::current_seed() const { return get_state().seed; }

uint64_t Generator::seed() {
  std::random_device entropy;
  const uint64_t high = entropy();
  const uint64_t value = (high << 32) | entropy();
  set_current_seed(value);
  return value;
}

void Generator::set_offset(uint64_t offset) {
  std::lock_guard lock(stream_->mutex);
  stream_->state.offset = offset;
}

uint64_t Generator::get_offset() const { return get_state().offset; }

PhiloxCursor Generator::reserve(uint64_t blocks) {
  std::lock_guard lock(stream_->mutex);
  GeneratorState& state = stream_->state;
  return {state.seed, std::exchange(state.offset, state.offset + blocks)};
}

GeneratorState Generator::get_state() const {
  std::lock_guard lock(stream_->mutex);
  return stream_->state;
}

void Generator::set_state(const GeneratorState& state) {
  std::lock_guard lock(stream_->mutex);
  stream_->state = state;
}

std::mutex& Generator::mutex() { return stream_->users_mutex; }

Generator Generator::clone() const {
  Generator copy;
  copy.set_state(get_state());
  return copy;
}

// Never destroyed, because globals may draw numbers while the process exits; locked across a fork, because loader
// processes draw from it.
Generator& default_generator() {
  static Generator* generator = [] {
    auto* made = new Generator;
    const auto lock = [] { default_generator().stream_->mutex.lock(); };
    const auto unlock = [] { default_generator().stream_->mutex.unlock(); };
    pthread_atfork(lock, unlock, unlock);
    return made;
  }();
  return *generator;
}

Generator manual_seed(uint64_t seed) {
  default_generator().set_current_seed(seed);
  return default_generator();
}

uint64_t seed() { return default_generator().seed(); }

uint64_t initial_seed() { return default_generator().current_seed(); }

}  // namespace cresset
